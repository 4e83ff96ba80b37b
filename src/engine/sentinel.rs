//! Sentinels: what they say comes when it comes, on the real clock, and clients ask them where the master is.
//!
//! A lesson with Sentinels runs on the wall clock, whatever was asked for: they live in real time. What they say is heard
//! between two steps of the lesson and happens at the real time since the run began, in whole milliseconds. Who is the
//! master is theirs to say; the engine finds out what they have made of the nodes, and writes it down.

use std::collections::{BTreeMap, BTreeSet};

use super::wire::{Answer, Ctx, Message};
use super::world::{Trouble, World};
use crate::lesson::LinkChange;
use crate::servers::{CrashKind, MASTER_NAME, NodeRole, SentinelNews, Servers};
use crate::trace::{Cause, LinkState, Reply, Role, What};

/// What is known of the Sentinels.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    /// By name: whether it runs.
    up: BTreeMap<String, bool>,
    /// Whom the lesson has parted from somebody: then a master that lives can be taken for dead.
    parted: BTreeSet<String>,
}

impl Watchers {
    pub(super) fn of(servers: &Servers) -> Self {
        Self { up: servers.sentinels().into_iter().map(|name| (name, true)).collect(), parted: BTreeSet::new() }
    }

    /// All run, and the lesson has parted nobody.
    fn undisturbed(&self) -> bool {
        self.parted.is_empty() && self.up.values().all(|up| *up)
    }
}

impl World {
    /// Whether there are Sentinels, and clients have to ask them.
    pub(super) fn is_watched(&self) -> bool {
        !self.watchers.borrow().up.is_empty()
    }

    /// Whether `name` is a Sentinel, and if so, whether it runs.
    pub(super) fn sentinel_is_up(&self, name: &str) -> Option<bool> {
        self.watchers.borrow().up.get(name).copied()
    }

    /// Takes what Sentinels say before lesson time `t`, if they say anything.
    pub(super) async fn hear_sentinels(&self, t: u64) -> Result<bool, Trouble> {
        if !self.is_watched() {
            return Ok(false);
        }
        match self.clock.before(t, self.servers.hear()).await {
            Some(news) => self.sentinel_says(news).await.map(|()| true),
            None => Ok(false),
        }
    }

    async fn sentinel_says(&self, news: SentinelNews) -> Result<(), Trouble> {
        let SentinelNews { sentinel, event, about } = news;
        if event == "-failover-abort-not-elected" && self.watchers.borrow().undisturbed() {
            // Each has voted for itself, which happens when they notice in the same moment. They would try again after some
            // seconds; a lesson does not hang on that lot.
            return Err(Trouble::Slip);
        }
        // Whoever is missed while another serves is of no interest.
        let replaced = about.as_ref().is_some_and(|about| self.replaced(about));
        let told = match event.as_str() {
            "+sdown" | "-sdown" | "+odown" => !replaced,
            "+elected-leader" | "+switch-master" | "+convert-to-slave" => true,
            other => other.starts_with("-failover-abort"),
        };
        if told {
            let event = event.clone();
            self.record(What::SentinelSays { sentinel: sentinel.clone(), event, about: about.clone() });
        }
        let Some(about) = about.filter(|name| self.is_up(name)) else { return Ok(()) };
        match event.as_str() {
            "+switch-master" => self.switched(&about, &sentinel).await,
            "+slave-reconf-done" | "+role-change" => self.follows_by_order(&about).await,
            _ => Ok(()),
        }
    }

    /// Whether `node` is no master any more, or was none.
    fn replaced(&self, node: &str) -> bool {
        let nodes = self.nodes.borrow();
        nodes.contains_key(node) && nodes.iter().any(|(other, run)| other != node && run.up && run.role == Role::Master)
    }

    /// A Sentinel has made `node` the master (heard, or answered by one).
    async fn switched(&self, node: &str, sentinel: &str) -> Result<(), Trouble> {
        if self.is_up_master(node) {
            return Ok(());
        }
        self.servers.adopt(node).await?;
        if self.servers.role(node)? != NodeRole::Master {
            return Ok(()); // and that is over already
        }
        let old = self.nodes.borrow().get(node).and_then(|run| run.follows.clone()).unwrap_or_default();
        let master_lives = self.is_up(&old);
        if master_lives && !self.watchers.borrow().parted.contains(&old) {
            // Nothing in the lesson could make them miss it: this machine was so busy that it did not answer in time.
            return Err(Trouble::Slip);
        }
        self.set_role(node, Role::Master, None);
        self.link_ends(node);
        // Whoever has no reason to ask goes on as before.
        let mut stays = Vec::new();
        for (client, run) in self.clients.borrow_mut().iter_mut().enumerate() {
            if master_lives && run.master == old && run.conns.contains_key(&old) {
                stays.push(self.client_name(client).to_owned());
            } else {
                node.clone_into(&mut run.master);
                run.asked = false;
            }
        }
        self.record(What::NodePromoted { node: node.to_owned(), stays, by: Some(sentinel.to_owned()) });
        self.arrived(node, &Cause::Promote)
    }

    /// Takes over what a Sentinel may have made of these nodes, and not have told yet.
    pub(super) async fn follow_by_order(&self, nodes: &[&str]) -> Result<(), Trouble> {
        for node in nodes {
            self.follows_by_order(node).await?;
        }
        Ok(())
    }

    /// A node follows the new master, because a Sentinel has told it to.
    async fn follows_by_order(&self, node: &str) -> Result<(), Trouble> {
        if !self.is_watched() || !self.is_up(node) || !self.servers.adopt(node).await? {
            return Ok(());
        }
        let NodeRole::ReplicaOf(master) = self.servers.role(node)? else { return Ok(()) };
        let was_master = self.is_up_master(node);
        self.set_role(node, Role::Replica, Some(master.clone()));
        self.link_ends(node);
        self.record(What::NodeDemoted { node: node.to_owned(), master });
        if was_master {
            // Its clients were thrown out, and those who listen too.
            self.drop_conns(node);
            self.ears.borrow_mut().retain(|_, ear| ear.node != node);
        }
        self.arrived(node, if was_master { &Cause::Demote } else { &Cause::Replication })
    }

    /// A happening strikes a Sentinel.
    pub(super) async fn sentinel_comes_or_goes(&self, name: &str, comes: bool) -> Result<(), Trouble> {
        self.watchers.borrow_mut().up.insert(name.to_owned(), comes);
        let node = name.to_owned();
        if comes {
            self.servers.restart(name).await?;
            self.record(What::SentinelSays { sentinel: node, event: "restarted".to_owned(), about: None });
        } else {
            self.servers.crash(name, CrashKind::Process).await?;
            self.drop_conns(name);
            self.record(What::NodeCrashed { node });
        }
        Ok(())
    }

    /// Something happens to the way between two processes of which one is a Sentinel. False: none is.
    pub(super) fn change_watch(&self, a: &str, b: &str, change: LinkChange) -> bool {
        if self.sentinel_is_up(a).is_none() && self.sentinel_is_up(b).is_none() {
            return false;
        }
        let apart = change == LinkChange::Cut;
        self.servers.part(a, b, apart);
        if apart {
            self.watchers.borrow_mut().parted.extend([a.to_owned(), b.to_owned()]);
        }
        let state = if apart { LinkState::Cut } else { LinkState::Open };
        self.record(What::Link { a: a.to_owned(), b: b.to_owned(), state, held: 0 });
        true
    }

    /// A Sentinel's answer as a lesson sees it: where it names an address, the node that has it, at Redis's usual port.
    /// (Private servers have ports that are others each time.)
    pub(super) fn named(&self, reply: Reply) -> Reply {
        let Reply::List(parts) = &reply else { return reply };
        let [_, Reply::Bulk(port)] = parts.as_slice() else { return reply };
        match port.parse().ok().and_then(|port| self.servers.name_at(port)) {
            Some(name) => Reply::List(vec![Reply::Bulk(name), Reply::Bulk("6379".to_owned())]),
            None => reply,
        }
    }

    /// A question to a Sentinel is answered: nothing changes by it.
    pub(super) fn sentinel_answered(&self, message: &Message, reply: Reply) -> Reply {
        let reply = self.named(reply);
        self.record(What::Exec { cmd: message.cmd, reply: reply.clone() });
        reply
    }

    /// A client's connection to a node has been closed by the other side: it will ask where the master is.
    pub(super) fn thrown_out(&self, client: usize, node: &str) {
        let run = &mut self.clients.borrow_mut()[client];
        run.conns.remove(node);
        run.queued.remove(node);
        run.asked = false;
    }
}

impl Ctx {
    /// The node that this client's next command goes to. With Sentinels: the one that it is connected to, else what the
    /// first of them that answers says. None: nobody can say.
    pub(super) async fn master(&self) -> Result<Option<String>, Trouble> {
        let world = &self.world;
        let (master, asked) = {
            let run = &world.clients.borrow()[self.client];
            (run.master.clone(), run.asked)
        };
        if asked || !world.is_watched() {
            return Ok(Some(master));
        }
        let sentinels: Vec<String> = world.watchers.borrow().up.keys().cloned().collect();
        for sentinel in sentinels {
            let words = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER_NAME].map(str::to_owned).to_vec();
            let answer = self.exchange(self.send(sentinel.clone(), words, None, None)).await?;
            let Answer::Reply(Reply::List(parts)) = answer else { continue };
            let Some(Reply::Bulk(node)) = parts.first() else { continue };
            // It may know more than was heard of it so far.
            if world.is_up(node) && !world.is_up_master(node) {
                world.switched(node, &sentinel).await?;
            }
            let changed = {
                let run = &mut world.clients.borrow_mut()[self.client];
                run.asked = true;
                let changed = run.master != *node;
                node.clone_into(&mut run.master);
                changed
            };
            if changed {
                let client = world.client_name(self.client).to_owned();
                world.record(What::ClientFollows { client, node: node.clone() });
            }
            return Ok(Some(node.clone()));
        }
        Ok(None)
    }
}
