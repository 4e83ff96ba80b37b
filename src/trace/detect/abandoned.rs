//! `abandoned`: somebody stands before a lock that nobody is behind.

use super::spells::Spells;
use super::{Detector, Finding, FindingKind, Step, believes};
use crate::trace::event::{EventKind, Outcome, Why};
use crate::trace::state::client_of;
use crate::trace::{State, What};

/// Opens when a client is refused, or waits, at a key with a TTL whose owner lives (has not crashed: a program that has
/// ended without a release lives) and neither believes nor is acquiring. `victim` is the first who met it; of several
/// who wait already, the one who waits longest. Closes when that value goes, or when its owner believes again.
///
/// Belief ends with the first command of a release, so a release that takes lesson time leaves the lock abandoned
/// while it is on its way, if somebody waits for it. One that takes none does not: what lasts no time never was.
/// The victim may be the owner itself: a client whose granting reply was lost asks again and is refused by its own lock.
/// (As long as it *waits* for it, it is acquiring, and this is a `deadlock` of one.)
#[derive(Default)]
pub(super) struct Abandoned(Spells<(String, String)>);

impl Detector for Abandoned {
    fn see(&mut self, step: &Step<'_>) {
        let state = step.after;
        self.0.close_where(step, |(lock, owner), new| {
            let seen = step.header.clients.iter().any(|client| is_owner_at(step, state, &client.name, lock, owner));
            !seen || believes(state, owner, lock) || (new && state.is_acquiring(owner, lock))
        });
        if let Some((victim, lock)) = refused(step) {
            self.meet(step, state, victim, lock);
        }
        for lock in step.header.locks.iter().map(|lock| lock.name.as_str()) {
            for victim in waiting(state, lock) {
                self.meet(step, state, victim, lock);
            }
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.0.all()
    }
}

impl Abandoned {
    /// `victim` stands before `lock`.
    fn meet(&mut self, step: &Step<'_>, state: &State, victim: &str, lock: &str) {
        let Some(key) = state.key_seen_by(step.header, victim, lock) else { return };
        if key.deadline.is_none() {
            return;
        }
        for owner in key.owners() {
            let lives = state.clients.get(owner).is_some_and(|owner| !owner.crashed);
            if lives && !believes(state, owner, lock) && !state.is_acquiring(owner, lock) {
                self.0.open(step, &(lock.to_owned(), owner.to_owned()), || {
                    step.finding(FindingKind::Abandoned, Some(lock)).with("of", owner).with("victim", victim)
                });
            }
        }
    }
}

/// Whether `owner` owns `lock`'s value on the node that `client` talks to.
fn is_owner_at(step: &Step<'_>, state: &State, client: &str, lock: &str, owner: &str) -> bool {
    state.key_seen_by(step.header, client, lock).is_some_and(|key| key.is_owned_by(owner))
}

/// The client that this record refuses because of somebody's lock, and the lock.
fn refused<'a>(step: &Step<'a>) -> Option<(&'a str, &'a str)> {
    let What::EventEnd { event, outcome: Outcome::Refused, why: None | Some(Why::Held | Why::NoQuorum), .. } =
        &step.record.what
    else {
        return None;
    };
    let info = step.header.events.get(*event).filter(|info| info.kind == EventKind::Acquire)?;
    Some((client_of(&info.subject), info.lock.as_deref()?))
}

/// The clients that wait for `lock`, longest first.
fn waiting<'a>(state: &'a State, lock: &str) -> Vec<&'a str> {
    let mut waiting: Vec<_> = state
        .clients
        .iter()
        .flat_map(|(name, client)| client.acquiring.values().map(move |acquiring| (acquiring, name.as_str())))
        .filter(|(acquiring, _)| acquiring.waits && acquiring.lock == lock)
        .collect();
    waiting.sort_by_key(|(acquiring, _)| acquiring.since);
    waiting.into_iter().map(|(_, name)| name).collect()
}
