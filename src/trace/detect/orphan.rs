//! `orphan`: a lock without a TTL, and nobody who will let it go.

use super::spells::Spells;
use super::{Detector, Finding, FindingKind, Step, believes, left_behind};
use crate::trace::State;

/// Opens when the key has no TTL and its owner neither believes nor is acquiring (it crashed between two commands, it
/// gave up on a lost reply, it forgot to release). Closes when that value goes, or when its owner believes again: then
/// somebody can release it. That the owner asks once more, and is refused by its own lock, does not close it.
#[derive(Default)]
pub(super) struct Orphan(Spells<(String, String)>);

impl Detector for Orphan {
    fn see(&mut self, step: &Step<'_>) {
        let state = step.after;
        self.0.close_where(step, |(lock, owner), new| {
            !state.holds(step.header, owner, lock)
                || believes(state, owner, lock)
                || (new && !is_orphan(step, state, owner, lock))
        });
        for (lock, owner) in step.locks_and_clients() {
            if is_orphan(step, state, owner, lock) {
                let key = (lock.to_owned(), owner.to_owned());
                self.0.open(step, &key, || step.finding(FindingKind::Orphan, Some(lock)).of(owner));
            }
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.0.all()
    }
}

fn is_orphan(step: &Step<'_>, state: &State, owner: &str, lock: &str) -> bool {
    left_behind(step, state, owner, lock)
        && state.key_seen_by(step.header, owner, lock).is_some_and(|key| key.deadline.is_none())
}
