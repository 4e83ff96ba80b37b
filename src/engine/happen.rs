//! What happens *to* clients and nodes; links have a file of their own.

use std::rc::Rc;

use super::agenda::{Class, Hanging, file_order};
use super::lifetimes::Lifetimes;
use super::slot::SlotKind;
use super::world::{Due, Trouble, World};
use crate::lesson::{Do, LinkChange, Subject};
use crate::servers::{CrashKind, NodeRole};
use crate::trace::{Cause, LinkState, Role, What};

impl World {
    /// A happening strikes.
    pub(super) async fn happen(self: &Rc<Self>, event: usize) -> Result<(), Trouble> {
        let plan = Rc::clone(&self.plan);
        let spec = &plan.events[event];
        if let Subject::Client { client, .. } = &spec.subject {
            let Some(client) = self.client_index(client) else { return Ok(()) };
            if self.clients.borrow()[client].crashed || !self.may_run(event, client) {
                self.skip(event);
                return Ok(());
            }
        } else if !self.may_run(event, 0) {
            self.skip(event);
            return Ok(());
        }
        if let Some(because) = self.impossible(event) {
            self.event_run(event, |run| run.impossible = true);
            self.record(What::EventNotRun { event, because });
            return Ok(());
        }
        self.start(event);
        let mut span = None;
        match (&spec.subject, &spec.what) {
            (Subject::Client { client, task }, Do::Crash { .. }) => {
                self.crash_client(client, task.as_deref()).await?;
            }
            (Subject::Client { client, task }, Do::Pause { span: pause }) => {
                span = *pause;
                let until = pause.map(|pause| crate::trace::LessonTime(self.now()) + pause);
                self.record(What::ClientPaused { client: client.clone(), task: task.clone(), until });
                for slot in self.aimed_at(client, task.as_deref()) {
                    self.pause_slot(slot);
                }
                if span.is_none() {
                    return Ok(());
                }
            }
            (Subject::Node(node), what) => self.happen_to_node(node, what, spec.lock).await?,
            (Subject::Link(left, right), Do::Link { change, way, span: lasts }) => {
                span = *lasts;
                self.change_links(left, right, *change, *way).await?;
            }
            _ => {}
        }
        match span {
            Some(span) => {
                let t = self.now() + span.ms();
                self.schedule(t, Class::Happening, file_order(event, Hanging::Event), Due::HappeningEnd(event));
            }
            None => self.happening_ended(event),
        }
        Ok(())
    }

    /// Why a happening cannot strike now; none: it can.
    fn impossible(&self, event: usize) -> Option<String> {
        let spec = &self.plan.events[event];
        let Subject::Node(node) = &spec.subject else { return None };
        let (up, role) = {
            let run = self.nodes.borrow().get(node).map(|run| (run.up, run.role));
            run.or_else(|| Some((self.sentinel_is_up(node)?, Role::Replica)))?
        };
        match &spec.what {
            Do::Restart if up => Some(format!("{node} was up")),
            Do::Restart => None,
            _ if !up => Some(format!("{node} was down")),
            Do::Promote { .. } if role == Role::Master => Some(format!("{node} was a master already")),
            Do::Demote if role == Role::Replica => Some(format!("{node} was a replica already")),
            Do::Demote if self.successor_of(node).is_none() => {
                Some(format!("there was no other master for {node} to follow"))
            }
            Do::Flush | Do::Evict if role == Role::Replica => {
                Some(format!("{node} was a replica, which takes no writes"))
            }
            _ => None,
        }
    }

    /// A happening with `for:` is over.
    pub(super) async fn happening_over(self: &Rc<Self>, event: usize) -> Result<(), Trouble> {
        let plan = Rc::clone(&self.plan);
        match (&plan.events[event].subject, &plan.events[event].what) {
            (Subject::Client { client, task }, Do::Pause { .. }) => {
                let crashed = self.client_index(client).is_some_and(|client| self.clients.borrow()[client].crashed);
                if !crashed {
                    self.record(What::ClientResumed { client: client.clone(), task: task.clone() });
                    for slot in self.aimed_at(client, task.as_deref()) {
                        self.resume_slot(slot);
                    }
                }
            }
            (Subject::Link(left, right), Do::Link { way, .. }) => {
                self.change_links(left, right, LinkChange::Heal, *way).await?;
            }
            _ => {}
        }
        self.happening_ended(event);
        Ok(())
    }

    /// The tasks that a happening is aimed at.
    fn aimed_at(&self, client: &str, task: Option<&str>) -> Vec<usize> {
        let Some(client) = self.client_index(client) else { return Vec::new() };
        self.slots_where(|slot| {
            slot.client == client
                && match task {
                    None => true,
                    Some("watchdog") => matches!(slot.kind, SlotKind::Watchdog(_)),
                    Some(task) => slot.kind == SlotKind::Program && slot.task == task,
                }
        })
    }

    /// A crash: programs end where they stand, nothing is cleaned up. What was sent still arrives.
    async fn crash_client(&self, name: &str, task: Option<&str>) -> Result<(), Trouble> {
        let Some(client) = self.client_index(name) else { return Ok(()) };
        self.record(What::ClientCrashed { client: name.to_owned(), task: task.map(str::to_owned) });
        let hit = self.aimed_at(name, task);
        self.end_blocked(client, task.map(|_| hit.as_slice())).await?;
        let mut left: Vec<usize> = Vec::new();
        for slot in hit {
            let events = self.slots.borrow()[slot].events.clone();
            let working = std::mem::take(&mut self.slots.borrow_mut()[slot].working);
            if !working.is_empty() {
                self.record_works(slot, &working, false);
            }
            self.set_busy(slot, false);
            self.end_transaction(client, Some(slot));
            left.extend(events);
            self.end_slot(slot);
            self.stop_listening(slot).await?;
        }
        if task.is_none() || task == Some("main") {
            self.end_transaction(client, None);
            self.clients.borrow_mut()[client].main_over = true;
            self.all_beliefs_end(client);
        }
        if task.is_none() {
            let conns = {
                let mut clients = self.clients.borrow_mut();
                clients[client].crashed = true;
                clients[client].queued.clear();
                std::mem::take(&mut clients[client].conns)
            };
            drop(conns);
        }
        for event in left {
            if self.event_run(event, |run| run.started.is_none() && !run.skipped) {
                self.skip(event);
            }
        }
        Ok(())
    }

    async fn happen_to_node(&self, node: &str, what: &Do, lock: Option<usize>) -> Result<(), Trouble> {
        if self.sentinel_is_up(node).is_some() {
            return self.sentinel_comes_or_goes(node, matches!(what, Do::Restart)).await;
        }
        match what {
            Do::Crash { power } => {
                self.servers.crash(node, if *power { CrashKind::Power } else { CrashKind::Process }).await?;
                self.node_died(node);
            }
            Do::Restart => self.restart(node).await?,
            Do::Promote { stays } => self.promote(node, stays).await?,
            Do::Demote => {
                if let Some(master) = self.successor_of(node) {
                    self.servers.demote(node, &master).await?;
                    self.set_role(node, Role::Replica, Some(master.clone()));
                    self.record(What::NodeDemoted { node: node.to_owned(), master });
                    self.silence(node).await?;
                    self.arrived(node, &Cause::Demote)?;
                }
            }
            Do::Flush => {
                self.freeze(node).await?;
                self.servers.flush(node).await?;
                self.clock.forget(node);
                self.observe(node, Cause::Flush, None, Lifetimes::default()).await?;
            }
            Do::Evict => {
                let Some(lock) = lock else { return Ok(()) };
                self.freeze(node).await?;
                let unlink = redis::cmd("UNLINK").arg(&self.plan.locks[lock].key).to_owned();
                self.servers.look_each(&[(node, unlink)], true)?;
                self.observe(node, Cause::Evict, None, Lifetimes::default()).await?;
            }
            Do::ClockJump { by_ms } => self.clock_jumps(node, *by_ms).await?,
            _ => {}
        }
        Ok(())
    }

    /// A node is dead: whatever waited in its links has died with it.
    pub(super) fn node_died(&self, node: &str) {
        self.drop_conns(node);
        self.ears.borrow_mut().retain(|_, ear| ear.node != node);
        self.clock.forget(node);
        self.forget_acks(node);
        if let Some(run) = self.nodes.borrow_mut().get_mut(node) {
            run.up = false;
        }
        self.record(What::NodeCrashed { node: node.to_owned() });
        // A dead replica gets nothing more; when it comes back, it asks for everything.
        let to_it =
            |due: &Due| matches!(due, Due::Bytes { replica, .. } | Due::Acks { replica, .. } if replica == node);
        self.agenda.borrow_mut().remove_where(to_it);
        self.nothing_unheard(node);
        let waited = self.nodes.borrow_mut().get_mut(node).is_some_and(|run| std::mem::take(&mut run.waiting) > 0);
        if waited {
            self.record_replication_link(node);
        }
        for (replica, link) in self.replicas_of(node) {
            // What a slow link carries has left the host; what a held one keeps has not.
            if link == LinkState::Held {
                let lost = self.nodes.borrow_mut().get_mut(&replica).map(|run| std::mem::take(&mut run.waiting));
                if lost.is_some_and(|lost| lost > 0) {
                    self.record_replication_link(&replica);
                }
            }
        }
    }

    async fn restart(&self, node: &str) -> Result<(), Trouble> {
        self.servers.restart(node).await?;
        if let Some(run) = self.nodes.borrow_mut().get_mut(node) {
            run.up = true;
        }
        match self.servers.role(node)? {
            NodeRole::Master => {
                self.record(What::NodeRestarted { node: node.to_owned(), role: Role::Master });
                self.catch_up(node)?;
                self.arrived(node, &Cause::Restart)?;
                self.replicate(node, 0).await
            }
            NodeRole::ReplicaOf(master) => {
                self.set_role(node, Role::Replica, Some(master.clone()));
                self.record(What::NodeRestarted { node: node.to_owned(), role: Role::Replica });
                self.record(What::NodeDemoted { node: node.to_owned(), master });
                self.arrived(node, &Cause::Restart)
            }
        }
    }

    async fn promote(&self, node: &str, stays: &[String]) -> Result<(), Trouble> {
        let old = self.nodes.borrow().get(node).and_then(|run| run.follows.clone());
        self.servers.promote(node).await?;
        self.set_role(node, Role::Master, None);
        // Bytes that are still under way end with the link.
        self.link_ends(node);
        self.goes_by_own_clock(node, old.as_deref()).await?;
        self.catch_up(node)?;
        let followers: Vec<String> = {
            let nodes = self.nodes.borrow();
            let follows = |run: &super::world::NodeRun| run.up && run.role == Role::Replica && run.follows == old;
            nodes.iter().filter(|(_, run)| follows(run)).map(|(name, _)| name.clone()).collect()
        };
        for (client, run) in self.clients.borrow_mut().iter_mut().enumerate() {
            if !stays.iter().any(|name| name == self.client_name(client)) {
                node.clone_into(&mut run.master);
            }
        }
        self.record(What::NodePromoted { node: node.to_owned(), stays: stays.to_vec(), by: None });
        self.arrived(node, &Cause::Promote)?;
        for follower in followers {
            if let Some(run) = self.nodes.borrow_mut().get_mut(&follower) {
                run.follows = Some(node.to_owned());
            }
            self.link_ends(&follower);
            // What the new master has done to its keys since it is one comes through the runtime: not before it is let.
            self.servers.barrier(&follower).await?;
            self.arrived(&follower, &Cause::Replication)?;
        }
        Ok(())
    }

    /// Brings a server that has just become reachable as a master to lesson time, and lets it expire what is overdue.
    fn catch_up(&self, node: &str) -> Result<(), Trouble> {
        let look = self.look(node, true)?.look;
        let epoch = self.keys.borrow().epoch;
        let overdue = |expiry: i64| expiry - epoch + look.marker <= i64::try_from(self.now()).unwrap_or(i64::MAX);
        let due: Vec<(String, String)> = look
            .keys
            .iter()
            .filter(|(_, seen)| seen.expiry.is_some_and(overdue))
            .map(|(key, _)| (node.to_owned(), key.clone()))
            .collect();
        if due.is_empty() { Ok(()) } else { self.wait_until_gone(node, &due) }
    }

    /// The master that a node would follow: another one that runs.
    fn successor_of(&self, node: &str) -> Option<String> {
        let nodes = self.nodes.borrow();
        nodes
            .iter()
            .find(|(name, run)| name.as_str() != node && run.up && run.role == Role::Master)
            .map(|(name, _)| name.clone())
    }
}
