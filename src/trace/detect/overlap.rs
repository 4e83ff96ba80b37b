//! `overlap`: more are inside one lock than it lets in.

use super::spells::Spells;
use super::{Detector, Finding, FindingKind, Step};
use crate::trace::{LockInfo, State};

/// Opens when two clients are inside one lock at once, that is, each of them believes that it holds it or works in its
/// critical section; closes when one of them is inside no longer. Three inside are three overlaps, one for each pair.
/// Two readers do not overlap; a reader and a writer do.
///
/// A lock with several permits lets in so many. When there are more, the overlap is of all that are inside.
///
/// Being inside is looked at on the lesson clock: who leaves at 12 s and who enters at 12 s do not overlap, whatever
/// the order of their records, and who leaves and enters again at 12 s was inside all the time.
#[derive(Default)]
pub(super) struct Overlap(Spells<(String, Vec<String>)>);

impl Detector for Overlap {
    fn see(&mut self, step: &Step<'_>) {
        let locks = &step.header.locks;
        self.0.close_where(step, |(lock, who), _| {
            locks.iter().find(|info| info.name == *lock).is_none_or(|lock| !overlapping(step, lock).contains(who))
        });
        for lock in locks {
            for who in overlapping(step, lock) {
                let finding = || {
                    let found = step.finding(FindingKind::Overlap, Some(&lock.name));
                    who.iter().fold(found, |found, client| found.of(client))
                };
                self.0.open(step, &(lock.name.clone(), who.clone()), finding);
            }
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.0.all()
    }
}

/// Those who must not be inside together now: pairs, or, with several permits, all of them.
fn overlapping(step: &Step<'_>, lock: &LockInfo) -> Vec<Vec<String>> {
    let state = step.after;
    let names = step.header.clients.iter().map(|client| client.name.as_str());
    let inside: Vec<&str> = names.filter(|client| state.inside(client, &lock.name)).collect();
    if lock.permits > 1 {
        let crowd = inside.iter().filter(|client| !reads(state, client, &lock.name)).map(|name| (*name).to_owned());
        let crowd: Vec<String> = crowd.collect();
        return if crowd.len() > lock.permits as usize { vec![crowd] } else { Vec::new() };
    }
    let pairs = inside.iter().enumerate().flat_map(|(i, a)| inside[i + 1..].iter().map(move |b| (*a, *b)));
    pairs
        .filter(|(a, b)| !(reads(state, a, &lock.name) && reads(state, b, &lock.name)))
        .map(|(a, b)| vec![a.to_owned(), b.to_owned()])
        .collect()
}

/// Whether `client` is inside as a reader.
fn reads(state: &State, client: &str, lock: &str) -> bool {
    state.clients.get(client).is_some_and(|client| client.reads.contains(lock))
}
