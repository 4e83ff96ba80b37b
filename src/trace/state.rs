//! Everything that is true at one playhead: the fold of the first records of a trace.

use std::collections::{BTreeMap, BTreeSet};

use super::data::{self, ResourceState};
use super::event::{EventKind, Header, LinkState, Record, Role, What};
use super::key::KeyState;
use super::{LessonTime, Outcome};

/// The state of the run after some records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Time of the last record.
    pub t: LessonTime,
    /// By name.
    pub nodes: BTreeMap<String, NodeState>,
    /// By name.
    pub clients: BTreeMap<String, ClientState>,
    /// Links that are not simply open, or hold something; by their two ends.
    pub links: BTreeMap<(String, String), LinkView>,
    /// The protected data, by name.
    pub resources: BTreeMap<String, ResourceState>,
    /// Who stands in line, the first one first, by lock; a line that is empty is not there.
    pub lines: BTreeMap<String, Vec<String>>,
    /// The run has ended.
    pub ended: bool,
}

/// One server.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeState {
    /// The process runs.
    pub up: bool,
    /// Its role.
    pub role: Role,
    /// Its master, where it is a replica.
    pub follows: Option<String>,
    /// The lesson's keys on it. A node that is down keeps its last state here.
    pub keys: BTreeMap<String, KeyState>,
}

/// One client.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientState {
    /// It has crashed as a whole.
    pub crashed: bool,
    /// It stands still as a whole, until then (none: until the end).
    pub paused: Option<Option<LessonTime>>,
    /// The node that it talks to.
    pub master: String,
    /// Locks that it believes it holds, by name, with the beginning of the belief.
    pub believes: BTreeMap<String, LessonTime>,
    /// Locks that it last took as a reader, by name.
    pub reads: BTreeSet<String>,
    /// Locks in whose critical section it works, by name, with the beginning and how many works there are.
    pub works: BTreeMap<String, (LessonTime, u32)>,
    /// How many of its tasks are busy with data: in a transaction, or waiting for the database.
    pub busy: u32,
    /// Acquires under way: event, with its lock, its beginning, and whether a try was refused already.
    pub acquiring: BTreeMap<usize, Acquiring>,
    /// Releases under way, between the first command and the last answer: event, with its lock.
    pub releasing: BTreeMap<usize, String>,
    /// Main program has ended.
    pub ended: bool,
}

/// An acquire under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Acquiring {
    /// The lock, by name.
    pub lock: String,
    /// Since when.
    pub since: LessonTime,
    /// A try has failed, or the server keeps it waiting: the client waits.
    pub waits: bool,
}

/// A link at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkView {
    /// What it lets pass.
    pub state: LinkState,
    /// Bytes (replication) or messages (clients) that wait in it.
    pub held: u64,
}

impl State {
    /// The state before the first record.
    #[must_use]
    pub fn new(header: &Header) -> Self {
        let master = header
            .nodes
            .iter()
            .find(|node| node.role == Role::Master)
            .map_or_else(String::new, |node| node.name.clone());
        let nodes = header.nodes.iter().map(|node| {
            let follows = (node.role == Role::Replica).then(|| master.clone());
            (node.name.clone(), NodeState { up: true, role: node.role, follows, keys: BTreeMap::new() })
        });
        let clients = header
            .clients
            .iter()
            .map(|client| (client.name.clone(), ClientState { master: master.clone(), ..ClientState::default() }));
        let resources = data::initial(&header.resources);
        Self { nodes: nodes.collect(), clients: clients.collect(), resources, ..Self::default() }
    }

    /// The state after the first `count` records.
    #[must_use]
    pub fn after(header: &Header, records: &[Record], count: usize) -> Self {
        let mut state = Self::new(header);
        for record in records.iter().take(count) {
            state.apply(header, record);
        }
        state
    }

    /// Takes one more record into account.
    pub fn apply(&mut self, header: &Header, record: &Record) {
        self.t = record.t;
        match &record.what {
            What::EventStart { event } => self.event_started(header, *event),
            What::TryFailed { event, .. } | What::Waits { event: Some(event), .. } => {
                if let Some(acquiring) = self.acquiring_mut(*event) {
                    acquiring.waits = true;
                }
            }
            What::EventEnd { event, .. } => self.forget_event(*event),
            What::Key { node, key, now, .. } => {
                if let Some(node) = self.nodes.get_mut(node) {
                    match now {
                        Some(state) => node.keys.insert(key.clone(), state.clone()),
                        None => node.keys.remove(key),
                    };
                }
            }
            What::Belief { client, lock, on, read } => {
                if let Some(client) = self.clients.get_mut(client) {
                    if *on {
                        if *read {
                            client.reads.insert(lock.clone());
                        } else {
                            client.reads.remove(lock);
                        }
                        client.believes.entry(lock.clone()).or_insert(record.t);
                    } else {
                        client.believes.remove(lock);
                    }
                }
            }
            What::Works { client, on, locks, .. } => self.works(record.t, client, *on, locks),
            What::Sql(sql) => self.executed(sql),
            What::ClientCrashed { client, task } => self.client_crashed(header, client, task.as_deref()),
            What::ClientPaused { client, task: None, until } => {
                if let Some(client) = self.clients.get_mut(client) {
                    client.paused = Some(*until);
                }
            }
            What::ClientResumed { client, task: None } => {
                if let Some(client) = self.clients.get_mut(client) {
                    client.paused = None;
                }
            }
            What::TaskEnded { client, task } if task == "main" => {
                if let Some(client) = self.clients.get_mut(client) {
                    client.ended = true;
                }
            }
            What::NodeCrashed { node } => {
                if let Some(node) = self.nodes.get_mut(node) {
                    node.up = false;
                }
            }
            What::NodeRestarted { node, role } => {
                if let Some(node) = self.nodes.get_mut(node) {
                    node.up = true;
                    node.role = *role;
                }
            }
            What::ClientFollows { client, node } => {
                if let Some(client) = self.clients.get_mut(client) {
                    node.clone_into(&mut client.master);
                }
            }
            What::NodePromoted { node, stays, .. } => self.promoted(node, stays),
            What::NodeDemoted { node, master } => {
                self.follows(node, Some(master));
                if let Some(node) = self.nodes.get_mut(node) {
                    node.role = Role::Replica;
                }
            }
            What::Link { a, b, state, held } => {
                let ends = (a.clone(), b.clone());
                if *state == LinkState::Open && *held == 0 {
                    self.links.remove(&ends);
                } else {
                    self.links.insert(ends, LinkView { state: *state, held: *held });
                }
            }
            What::Line { lock, waiting } if waiting.is_empty() => _ = self.lines.remove(lock),
            What::Line { lock, waiting } => _ = self.lines.insert(lock.clone(), waiting.clone()),
            What::End => self.ended = true,
            _ => {}
        }
    }

    /// Whether the link from `one` to `other` is the way back of replication, on which a replica says what it has.
    #[must_use]
    pub fn is_way_back(&self, one: &str, other: &str) -> bool {
        self.nodes.get(one).is_some_and(|node| node.follows.as_deref() == Some(other))
    }

    /// Whether `client` is inside: it believes, or works.
    #[must_use]
    pub fn inside(&self, client: &str, lock: &str) -> bool {
        self.clients
            .get(client)
            .is_some_and(|client| client.believes.contains_key(lock) || client.works.contains_key(lock))
    }

    /// Whether `client` has an acquire of `lock` under way.
    #[must_use]
    pub fn is_acquiring(&self, client: &str, lock: &str) -> bool {
        self.clients.get(client).is_some_and(|client| client.acquiring.values().any(|acquiring| acquiring.lock == lock))
    }

    fn event_started(&mut self, header: &Header, event: usize) {
        let Some(info) = header.events.get(event) else { return };
        let (Some(lock), Some(client)) = (&info.lock, self.clients.get_mut(client_of(&info.subject))) else { return };
        match info.kind {
            EventKind::Acquire => {
                client.acquiring.insert(event, Acquiring { lock: lock.clone(), since: self.t, waits: false });
            }
            EventKind::Release => _ = client.releasing.insert(event, lock.clone()),
            _ => {}
        }
    }

    fn acquiring_mut(&mut self, event: usize) -> Option<&mut Acquiring> {
        self.clients.values_mut().find_map(|client| client.acquiring.get_mut(&event))
    }

    fn forget_event(&mut self, event: usize) {
        for client in self.clients.values_mut() {
            client.acquiring.remove(&event);
            client.releasing.remove(&event);
        }
    }

    fn works(&mut self, t: LessonTime, client: &str, on: bool, locks: &[String]) {
        let Some(client) = self.clients.get_mut(client) else { return };
        if locks.is_empty() {
            client.busy = if on { client.busy + 1 } else { client.busy.saturating_sub(1) };
        }
        for lock in locks {
            if on {
                client.works.entry(lock.clone()).or_insert((t, 0)).1 += 1;
            } else if let Some((_, count)) = client.works.get_mut(lock) {
                *count -= 1;
                if *count == 0 {
                    client.works.remove(lock);
                }
            }
        }
    }

    /// The engine ends beliefs and works with records of their own; what remains is what only a crash ends.
    fn client_crashed(&mut self, header: &Header, name: &str, task: Option<&str>) {
        let Some(client) = self.clients.get_mut(name) else { return };
        client.crashed |= task.is_none();
        let goes_on = |event: &usize| {
            let subject = header.events.get(*event).map_or("", |info| info.subject.as_str());
            task.is_some_and(|task| task_of(subject) != task)
        };
        client.acquiring.retain(|event, _| goes_on(event));
        client.releasing.retain(|event, _| goes_on(event));
    }

    /// A node follows another master from now on, or none: what was done to the link with the one before is over.
    fn follows(&mut self, name: &str, master: Option<&str>) {
        let Some(node) = self.nodes.get_mut(name) else { return };
        let before = std::mem::replace(&mut node.follows, master.map(str::to_owned));
        if let Some(before) = before.filter(|before| Some(before.as_str()) != master) {
            self.links.retain(|(a, b), _| !((a == name && *b == before) || (b == name && *a == before)));
        }
    }

    fn promoted(&mut self, name: &str, stays: &[String]) {
        let Some(node) = self.nodes.get_mut(name) else { return };
        node.role = Role::Master;
        self.follows(name, None);
        let old_masters: BTreeSet<String> = self
            .nodes
            .iter()
            .filter(|(other, n)| *other != name && n.role == Role::Master)
            .map(|(n, _)| n.clone())
            .collect();
        let comes_along = |(other, node): &(&String, &NodeState)| {
            *other != name
                && node.up
                && node.role == Role::Replica
                && node.follows.as_ref().is_none_or(|m| old_masters.contains(m))
        };
        let followers: Vec<String> = self.nodes.iter().filter(comes_along).map(|(other, _)| other.clone()).collect();
        for follower in followers {
            self.follows(&follower, Some(name));
        }
        for (client_name, client) in &mut self.clients {
            if !stays.contains(client_name) {
                name.clone_into(&mut client.master);
            }
        }
    }
}

/// `A` of `A/watchdog`.
#[must_use]
pub fn client_of(subject: &str) -> &str {
    subject.split_once('/').map_or(subject, |(client, _)| client)
}

/// `watchdog` of `A/watchdog`; of `A`, `main`.
fn task_of(subject: &str) -> &str {
    subject.split_once('/').map_or("main", |(_, task)| task)
}

/// Whether an outcome ends a try without the lock.
#[must_use]
pub const fn failed(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Refused | Outcome::Unknown | Outcome::Error)
}
