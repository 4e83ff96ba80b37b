//! The world of one run: who is where, what has happened, and the record of it.
//!
//! Everything here is data with short methods; what waits or talks to a server is in `wire`, `happen` and `sched`. One
//! thread, one program at a time: the cells are never borrowed across an await.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::acks::{Acks, WayBack};
use super::agenda::{Agenda, Place};
use super::blocked::Blocked;
use super::clock::Clock;
use super::data::DataRun;
use super::database::Store;
use super::keys::{Change, Keys};
use super::links::Links;
use super::needs::CompareAndDelete;
use super::notify::Ear;
use super::sentinel::Watchers;
use super::slot::{Slot, Tag};
use super::token;
use super::wire::Message;
use crate::lesson::{Do, Plan, Subject};
use crate::servers::{Conn, NodeRole, Servers};
use crate::trace::{Cause, KeyOp, LessonTime, LinkState, Outcome, Record, Reply, Role, What, Why};

/// Why a run cannot go on.
#[derive(Clone, Debug)]
pub(super) enum Trouble {
    /// A key expired before its lesson deadline: the machine was so busy that the freeze did not hold. Nothing that was
    /// recorded is used; the run is begun anew.
    Slip,
    /// A server or a connection failed.
    Environment(String),
    /// The engine lost its footing.
    Engine(String),
}

impl From<crate::servers::ServersError> for Trouble {
    fn from(error: crate::servers::ServersError) -> Self {
        Self::Environment(error.to_string())
    }
}

impl From<crate::servers::Broken> for Trouble {
    fn from(error: crate::servers::Broken) -> Self {
        Self::Environment(error.to_string())
    }
}

/// An entry of the agenda.
#[derive(Clone, Debug)]
pub(super) enum Due {
    /// A happening strikes.
    Happening(usize),
    /// A happening with `for:` ends.
    HappeningEnd(usize),
    /// A message is at its other end.
    Arrive(u64),
    /// A command has waited on its server as long as it said.
    Unblock(u64),
    /// Bytes of a slow replication link are at the replica, up to this watermark; so many writes of clients are in them.
    Bytes { replica: String, upto: u64, writes: u64 },
    /// What a replica has acknowledged, up to this offset, is at its master.
    Acks { replica: String, upto: i64 },
    /// A task is woken.
    Wake { slot: usize, tag: Tag },
}

/// An event's course.
#[derive(Clone, Debug, Default)]
pub(super) struct EventRun {
    pub(super) started: Option<u64>,
    pub(super) ended: Option<u64>,
    pub(super) skipped: bool,
    /// A happening that could not strike (its node was down, …).
    pub(super) impossible: bool,
    pub(super) outcome: Option<Outcome>,
    pub(super) reply: Option<Reply>,
    /// The token of an acquire (of its latest try).
    pub(super) token: Option<String>,
    /// The value that it has read.
    pub(super) value: Option<i64>,
    /// An acquire whose lock was lost later, as its client was told.
    pub(super) lost: bool,
    /// Tasks that wait for its start or end.
    pub(super) waiting_slots: Vec<usize>,
    /// Happenings that are anchored to it.
    pub(super) anchored: Vec<usize>,
}

/// A client's view of one lock.
#[derive(Clone, Debug, Default)]
pub(super) struct LockRun {
    /// It has asked for it.
    pub(super) asked: bool,
    /// How its latest acquire ended; none: not yet.
    pub(super) latest: Option<Outcome>,
    /// The event of its latest acquire.
    pub(super) latest_event: Option<usize>,
    /// The token of its latest acquire.
    pub(super) token: Option<String>,
    /// The fencing token of its latest grant.
    pub(super) fence: Option<i64>,
    /// It was told that the lock is lost.
    pub(super) told: bool,
    /// It believes that it holds the lock.
    pub(super) believes: bool,
    /// Acquires that were granted and not released yet.
    pub(super) depth: u32,
}

/// A client.
pub(super) struct ClientRun {
    pub(super) master: String,
    /// With Sentinels: it has asked where the master is, and had no reason to ask again.
    pub(super) asked: bool,
    pub(super) crashed: bool,
    pub(super) main_over: bool,
    pub(super) locks: Vec<LockRun>,
    pub(super) conns: BTreeMap<String, Rc<Conn>>,
    /// What waits for its EXEC, by node: a transaction belongs to a connection.
    pub(super) queued: BTreeMap<String, Vec<Vec<String>>>,
    /// What it knows of the protected data.
    pub(super) data: DataRun,
    pub(super) rng: fastrand::Rng,
}

/// A node.
#[derive(Clone, Debug)]
pub(super) struct NodeRun {
    pub(super) up: bool,
    pub(super) role: Role,
    pub(super) follows: Option<String>,
    /// Of a replica: what its link lets pass.
    pub(super) link: LinkState,
    /// Of a replica: writes that wait in its link.
    pub(super) waiting: u64,
    /// Of a replica: the way back, on which it says what it has.
    pub(super) way_back: WayBack,
    /// When it became a master, by the count of messages: of two masters the newer has the greater one.
    pub(super) since: u64,
    /// How far its own clock is ahead of the others', ms.
    pub(super) clock_ahead: i64,
}

pub(super) struct World {
    pub(super) plan: Rc<Plan>,
    pub(super) servers: Rc<Servers>,
    pub(super) database: Store,
    pub(super) clock: Clock,
    /// How the servers spell `how: delex`, where the plan needs it and they have it.
    pub(super) delex: Option<CompareAndDelete>,
    pub(super) agenda: RefCell<Agenda<Due>>,
    pub(super) slots: RefCell<Vec<Slot>>,
    pub(super) clients: RefCell<Vec<ClientRun>>,
    pub(super) events: RefCell<Vec<EventRun>>,
    pub(super) nodes: RefCell<BTreeMap<String, NodeRun>>,
    pub(super) watchers: RefCell<Watchers>,
    pub(super) keys: RefCell<Keys>,
    /// Keys that are looked at: the locks', and whatever a command has touched.
    pub(super) watched: RefCell<BTreeSet<String>>,
    pub(super) links: RefCell<Links>,
    pub(super) messages: RefCell<BTreeMap<u64, Message>>,
    /// Commands that wait on their servers, by message, in the order in which they began to.
    pub(super) blocked: RefCell<BTreeMap<u64, Blocked>>,
    pub(super) acks: RefCell<Acks>,
    /// Tasks that are subscribed to a channel, in the order in which they subscribed.
    pub(super) ears: RefCell<BTreeMap<u64, Ear>>,
    /// Who stands in line for a lock, as it was last recorded.
    pub(super) lines: RefCell<BTreeMap<usize, Vec<String>>>,
    /// Set by a task that parks; looked at by the scheduler.
    pub(super) parked: Cell<bool>,
    /// What went wrong inside a task.
    pub(super) trouble: RefCell<Option<Trouble>>,
    /// Texts and questions that have not been told, by event, with the event before which they stand.
    pub(super) untold: RefCell<Vec<(usize, usize)>>,
    records: RefCell<Vec<Record>>,
    next_cmd: Cell<u32>,
    next_message: Cell<u64>,
}

impl World {
    pub(super) fn new(
        plan: Rc<Plan>,
        servers: Rc<Servers>,
        database: Store,
        clock: Clock,
        delex: Option<CompareAndDelete>,
    ) -> Self {
        let names = servers.names();
        let master = names.first().cloned().unwrap_or_default();
        let node = |name: &String| {
            let follows = match servers.role(name) {
                Ok(NodeRole::ReplicaOf(master)) => Some(master),
                Ok(NodeRole::Master) | Err(_) => None,
            };
            let role = if follows.is_some() { Role::Replica } else { Role::Master };
            let (link, way_back) = (LinkState::Open, WayBack::default());
            (name.clone(), NodeRun { up: true, role, follows, link, waiting: 0, way_back, since: 0, clock_ahead: 0 })
        };
        let nodes = names.iter().map(node).collect();
        let clients = plan.clients.iter().map(|client| ClientRun {
            master: master.clone(),
            asked: false,
            crashed: false,
            main_over: false,
            locks: vec![LockRun::default(); plan.locks.len()],
            conns: BTreeMap::new(),
            queued: BTreeMap::new(),
            data: DataRun::default(),
            rng: token::generator(plan.seed, &client.name),
        });
        let untold = plan.events.iter().enumerate().filter(|(_, event)| event.subject == Subject::None);
        let untold = untold.map(|(i, _)| (i, i + 1)).collect();
        Self {
            clients: RefCell::new(clients.collect()),
            events: RefCell::new(vec![EventRun::default(); plan.events.len()]),
            nodes: RefCell::new(nodes),
            watchers: RefCell::new(Watchers::of(&servers)),
            watched: RefCell::new(plan.locks.iter().map(|lock| lock.key.clone()).collect()),
            untold: RefCell::new(untold),
            plan,
            servers,
            database,
            clock,
            delex,
            agenda: RefCell::default(),
            slots: RefCell::default(),
            keys: RefCell::default(),
            links: RefCell::default(),
            messages: RefCell::default(),
            acks: RefCell::default(),
            blocked: RefCell::default(),
            ears: RefCell::default(),
            lines: RefCell::default(),
            parked: Cell::new(false),
            trouble: RefCell::new(None),
            records: RefCell::default(),
            next_cmd: Cell::new(1),
            next_message: Cell::new(1),
        }
    }

    /// Lesson time, ms.
    pub(super) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// How many records there are.
    pub(super) fn record_count(&self) -> usize {
        self.records.borrow().len()
    }

    /// Writes down what happened now.
    pub(super) fn record(&self, what: What) {
        let record = Record { t: LessonTime(self.now()), real_us: Some(self.clock.real_us()), what };
        self.records.borrow_mut().push(record);
    }

    /// The event that last sent a command.
    pub(super) fn last_sender(&self) -> Option<usize> {
        self.records.borrow().iter().rev().find_map(|record| match record.what {
            What::Send { event, .. } => event,
            _ => None,
        })
    }

    pub(super) fn take_records(&self) -> Vec<Record> {
        std::mem::take(&mut self.records.borrow_mut())
    }

    pub(super) fn record_changes(&self, node: &str, changes: Vec<Change>, cause: &Cause) {
        for Change { key, op, now } in changes {
            if now.as_ref().is_some_and(|now| now.approximate) && op != KeyOp::Changed {
                let text = format!("the deadline of {key} is not exact: it follows from no number of the command");
                self.record(What::Warning { event: None, text });
            }
            self.record(What::Key { node: node.to_owned(), key, op, cause: cause.clone(), now });
        }
    }

    pub(super) fn next_cmd(&self) -> u32 {
        self.next_cmd.replace(self.next_cmd.get() + 1)
    }

    pub(super) fn next_message(&self) -> u64 {
        self.next_message.replace(self.next_message.get() + 1)
    }

    pub(super) fn client_index(&self, name: &str) -> Option<usize> {
        self.plan.clients.iter().position(|client| client.name == name)
    }

    pub(super) fn client_name(&self, client: usize) -> &str {
        &self.plan.clients[client].name
    }

    pub(super) fn lock_name(&self, lock: usize) -> &str {
        &self.plan.locks[lock].name
    }

    pub(super) fn is_up(&self, node: &str) -> bool {
        let is_up = self.nodes.borrow().get(node).map(|node| node.up);
        is_up.or_else(|| self.sentinel_is_up(node)).unwrap_or(false)
    }

    pub(super) fn is_up_master(&self, node: &str) -> bool {
        self.nodes.borrow().get(node).is_some_and(|node| node.up && node.role == Role::Master)
    }

    /// Replicas of `master` that run, with what their links let pass.
    pub(super) fn replicas_of(&self, master: &str) -> Vec<(String, LinkState)> {
        let nodes = self.nodes.borrow();
        let follows = nodes.iter().filter(|(_, node)| node.up && node.follows.as_deref() == Some(master));
        follows.map(|(name, node)| (name.clone(), node.link)).collect()
    }

    pub(super) fn schedule(&self, t: u64, class: super::agenda::Class, order: u64, due: Due) -> Place {
        self.agenda.borrow_mut().insert(t, class, order, due)
    }

    /// Changes a client's view of a lock.
    pub(super) fn lock_run<T>(&self, client: usize, lock: usize, change: impl FnOnce(&mut LockRun) -> T) -> T {
        change(&mut self.clients.borrow_mut()[client].locks[lock])
    }

    pub(super) fn event_run<T>(&self, event: usize, change: impl FnOnce(&mut EventRun) -> T) -> T {
        change(&mut self.events.borrow_mut()[event])
    }

    /// A client begins to believe (once more).
    pub(super) fn granted(&self, client: usize, lock: usize) {
        let begins = self.lock_run(client, lock, |run| {
            run.told = false;
            run.depth = if run.believes { run.depth + 1 } else { 1 };
            !std::mem::replace(&mut run.believes, true)
        });
        if begins {
            self.record_belief(client, lock, true);
        }
    }

    /// A client ceases to believe, if it did.
    pub(super) fn belief_ends(&self, client: usize, lock: usize) {
        let ends = self.lock_run(client, lock, |run| {
            run.depth = 0;
            std::mem::replace(&mut run.believes, false)
        });
        if ends {
            self.record_belief(client, lock, false);
        }
    }

    /// A client ceases to believe anything.
    pub(super) fn all_beliefs_end(&self, client: usize) {
        for lock in 0..self.plan.locks.len() {
            self.belief_ends(client, lock);
        }
    }

    fn record_belief(&self, client: usize, lock: usize, on: bool) {
        let latest = self.lock_run(client, lock, |run| run.latest_event);
        let read = latest
            .is_some_and(|event| matches!(&self.plan.events[event].what, Do::Acquire(acquire) if acquire.read_mode));
        let (client, lock) = (self.client_name(client).to_owned(), self.lock_name(lock).to_owned());
        self.record(What::Belief { client, lock, on, read: on && read });
    }

    /// A client learns that its lock is lost: it believes no more, its watchdog ends, its work stops.
    pub(super) fn told_lost(&self, client: usize, lock: usize, why: Option<Why>) {
        let event = self.lock_run(client, lock, |run| {
            run.told = true;
            run.latest_event
        });
        if let Some(event) = event {
            self.event_run(event, |run| run.lost = true);
        }
        let (name, lock_name) = (self.client_name(client).to_owned(), self.lock_name(lock).to_owned());
        self.record(What::ToldLost { client: name, lock: lock_name, why });
        self.belief_ends(client, lock);
        self.end_guards(client, lock);
        self.stop_work(client, lock);
    }
}
