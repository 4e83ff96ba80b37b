//! `deadlock`: each waits for what the next one owns.

use std::collections::{BTreeMap, BTreeSet};

use super::spells::Spells;
use super::{Detector, Finding, FindingKind, Step};
use crate::trace::{KeyState, Outcome, State, What};

/// Opens when clients wait in a circle: each of them waits (a try of its acquire has failed, and it goes on trying)
/// for a lock that the next one owns; closes when one of them waits no longer, or owns no longer what another waits
/// for. A client that waits for its own lock is a circle of one, from the moment it is *refused* by it: as long as a
/// try is on its way, or was left without an answer, the lock may be what the client is about to be told of.
///
/// That a TTL will end it one day does not matter: until then they stand still.
#[derive(Default)]
pub(super) struct Deadlock {
    spells: Spells<Vec<String>>,
    /// Acquires whose last try was refused by the client's own lock.
    refused_by_itself: BTreeSet<usize>,
}

impl Detector for Deadlock {
    fn see(&mut self, step: &Step<'_>) {
        match &step.record.what {
            What::TryFailed { event, outcome } => {
                if *outcome == Outcome::Refused && waits_for_itself(step, *event) {
                    self.refused_by_itself.insert(*event);
                } else if *outcome == Outcome::Refused {
                    self.refused_by_itself.remove(event);
                }
            }
            What::EventEnd { event, .. } => {
                self.refused_by_itself.remove(event);
            }
            // Nobody waits, or waits no longer, because of these.
            What::Send { .. } | What::Exec { .. } | What::Read { .. } | What::Works { .. } | What::Link { .. } => {
                return;
            }
            _ => {}
        }
        let circles = self.circles(step);
        self.spells.close_where(step, |members, _| !circles.contains_key(members));
        for (members, locks) in circles {
            self.spells.open(step, &members, || {
                let lock = if locks.len() == 1 { locks.first().copied() } else { None };
                Finding { who: members.clone(), ..step.finding(FindingKind::Deadlock, lock) }
            });
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.spells.all()
    }
}

impl Deadlock {
    /// The circles there are now: the members in the lesson's order, and the locks they wait for. Of all circles through a
    /// wait, the shortest: who stands in many has enough of one, and all of them could be more than anybody can count.
    fn circles<'a>(&self, step: &Step<'a>) -> BTreeMap<Vec<String>, BTreeSet<&'a str>> {
        let edges = self.edges(step, step.after);
        let mut circles = BTreeMap::new();
        for start in (0..edges.len()).filter(|start| !edges[*start].is_empty()) {
            let ways = ways_to(&edges, start);
            for (next, lock) in &edges[start] {
                let (mut members, mut locks, mut at) = (vec![start], BTreeSet::from([*lock]), *next);
                while at != start {
                    let Some((further, lock)) = ways[at] else { break };
                    members.push(at);
                    locks.insert(lock);
                    at = further;
                }
                if at == start {
                    members.sort_unstable();
                    let names = members.iter().filter_map(|i| step.header.clients.get(*i)).map(|c| c.name.clone());
                    circles.entry(names.collect()).or_insert(locks);
                }
            }
        }
        circles
    }

    /// For each client, in the lesson's order: the clients that own what it waits for, and which lock that is.
    fn edges<'a>(&self, step: &Step<'_>, state: &'a State) -> Vec<Vec<(usize, &'a str)>> {
        let clients = &step.header.clients;
        let of_client = |waiter: &str| -> Vec<(usize, &'a str)> {
            let Some(client) = state.clients.get(waiter) else { return Vec::new() };
            let waits = client.acquiring.iter().filter(|(_, acquiring)| acquiring.waits);
            let edges = waits.flat_map(|(event, acquiring)| {
                let key = state.key_seen_by(step.header, waiter, &acquiring.lock);
                let owners = key.into_iter().flat_map(KeyState::owners);
                owners.filter_map(move |owner| {
                    let blocked = owner != waiter || self.refused_by_itself.contains(event);
                    let next = clients.iter().position(|client| client.name == owner)?;
                    blocked.then_some((next, acquiring.lock.as_str()))
                })
            });
            edges.collect()
        };
        only_hopeless(clients.iter().map(|client| of_client(&client.name)).collect())
    }
}

/// Of a lock with several owners, each of them can let a waiter in. So whoever waits for one that can still go on waits
/// for nobody in particular: what is left are those for whom all owners are stuck, too.
fn only_hopeless(mut edges: Vec<Vec<(usize, &str)>>) -> Vec<Vec<(usize, &str)>> {
    let mut stuck: Vec<bool> = edges.iter().map(|waits| !waits.is_empty()).collect();
    loop {
        let can_go_on =
            |from: usize| stuck[from] && edges[from].len() > 1 && edges[from].iter().any(|(owner, _)| !stuck[*owner]);
        let Some(free) = (0..edges.len()).find(|from| can_go_on(*from)) else { return edges };
        stuck[free] = false;
        edges[free].clear();
    }
}

/// For each client from which a chain of waits leads to `goal`: the first step of the shortest such chain.
fn ways_to<'a>(edges: &[Vec<(usize, &'a str)>], goal: usize) -> Vec<Option<(usize, &'a str)>> {
    let mut ways = vec![None; edges.len()];
    let mut reached = vec![goal];
    while !reached.is_empty() {
        let mut newly = Vec::new();
        for (from, waits) in edges.iter().enumerate().filter(|(from, _)| *from != goal) {
            if ways[from].is_none()
                && let Some(step) = waits.iter().find(|(to, _)| reached.contains(to))
            {
                ways[from] = Some(*step);
                newly.push(from);
            }
        }
        reached = newly;
    }
    ways
}

fn waits_for_itself(step: &Step<'_>, event: usize) -> bool {
    step.after.clients.iter().any(|(name, client)| {
        client.acquiring.get(&event).is_some_and(|acquiring| step.after.holds(step.header, name, &acquiring.lock))
    })
}
