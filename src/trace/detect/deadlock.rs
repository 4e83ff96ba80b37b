//! `deadlock`: each waits for what the next one owns.

use std::collections::{BTreeMap, BTreeSet};

use super::spells::Spells;
use super::{Detector, Finding, FindingKind, Step};
use crate::trace::{Outcome, State, What};

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
    /// The circles there are now: the members in the lesson's order, and the locks they wait for.
    fn circles<'a>(&self, step: &Step<'a>) -> BTreeMap<Vec<String>, BTreeSet<&'a str>> {
        let edges = self.edges(step, step.after);
        let mut circles = BTreeMap::new();
        for start in 0..edges.len() {
            walk(&edges, start, &mut vec![start], &mut BTreeSet::new(), &mut |members, locks| {
                let mut members = members.to_vec();
                members.sort_unstable();
                let names =
                    members.iter().filter_map(|i| step.header.clients.get(*i)).map(|c| c.name.clone()).collect();
                circles.insert(names, locks.clone());
            });
        }
        circles
    }

    /// For each client, in the lesson's order: the clients that own what it waits for, and which lock that is.
    fn edges<'a>(&self, step: &Step<'_>, state: &'a State) -> Vec<Vec<(usize, &'a str)>> {
        let clients = &step.header.clients;
        let of_client = |waiter: &str| -> Vec<(usize, &'a str)> {
            let Some(client) = state.clients.get(waiter) else { return Vec::new() };
            let waits = client.acquiring.iter().filter(|(_, acquiring)| acquiring.waits);
            let edges = waits.filter_map(|(event, acquiring)| {
                let owner = state.key_seen_by(step.header, waiter, &acquiring.lock)?.owner.as_deref()?;
                let blocked = owner != waiter || self.refused_by_itself.contains(event);
                let next = clients.iter().position(|client| client.name == owner)?;
                blocked.then_some((next, acquiring.lock.as_str()))
            });
            edges.collect()
        };
        clients.iter().map(|client| of_client(&client.name)).collect()
    }
}

/// Every way from `path`'s beginning back to it that passes only through later clients, so that each circle is walked
/// once, from its first member.
fn walk<'a>(
    edges: &[Vec<(usize, &'a str)>],
    start: usize,
    path: &mut Vec<usize>,
    locks: &mut BTreeSet<&'a str>,
    found: &mut impl FnMut(&[usize], &BTreeSet<&'a str>),
) {
    let here = path.last().copied().unwrap_or(start);
    for (next, lock) in edges.get(here).into_iter().flatten() {
        if *next < start || (*next != start && path.contains(next)) {
            continue;
        }
        let added = locks.insert(lock);
        if *next == start {
            found(path, locks);
        } else {
            path.push(*next);
            walk(edges, start, path, locks, found);
            path.pop();
        }
        if added {
            locks.remove(lock);
        }
    }
}

fn waits_for_itself(step: &Step<'_>, event: usize) -> bool {
    step.after.clients.iter().any(|(name, client)| {
        client.acquiring.get(&event).is_some_and(|acquiring| step.after.holds(step.header, name, &acquiring.lock))
    })
}
