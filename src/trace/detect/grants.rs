//! Whose write it is: the grants, in the order in which Redis gave them.

use std::collections::BTreeMap;

use super::Step;
use crate::trace::event::{EventKind, KeyOp, Outcome};
use crate::trace::state::client_of;
use crate::trace::{Cause, What};

/// A grant: the record with which its client wrote the lock's key. A greater one is a later grant.
pub(super) type Grant = usize;

/// Keeps count of the grants.
///
/// What counts is when Redis gave the lock, not when the client heard of it: an answer may be long on its way. An
/// acquire that is granted and wrote nothing (one hold more of a reentrant lock) belongs to the grant before.
#[derive(Default)]
pub(super) struct Grants {
    /// When a client last wrote a lock's key, by lock and client.
    written: BTreeMap<(String, String), Grant>,
    /// The latest grant, by lock and client.
    latest: BTreeMap<(String, String), Grant>,
    /// The grants under which an event began, by event: lock and grant.
    of_event: BTreeMap<usize, Vec<(String, Grant)>>,
}

impl Grants {
    /// Takes one more record into account.
    pub(super) fn see(&mut self, step: &Step<'_>) {
        match &step.record.what {
            What::Key { key, op: KeyOp::Created | KeyOp::Replaced, cause: Cause::Command { client, .. }, .. } => {
                for lock in step.locks_in(key) {
                    self.written.insert((lock.to_owned(), client.clone()), step.index);
                }
            }
            What::EventEnd { event, outcome: Outcome::Granted, .. } => {
                let Some(info) = step.header.events.get(*event) else { return };
                let Some(lock) = &info.lock else { return };
                let key = (lock.clone(), client_of(&info.subject).to_owned());
                let grant = self.written.get(&key).copied().unwrap_or(step.index);
                self.latest.insert(key, grant);
            }
            What::EventStart { event } => {
                let Some(info) = step.header.events.get(*event).filter(|info| info.kind == EventKind::Write) else {
                    return;
                };
                let client = client_of(&info.subject);
                let mine = self
                    .latest
                    .iter()
                    .filter(|((lock, name), _)| name == client && info.lock.as_ref().is_none_or(|named| named == lock));
                let mine = mine.map(|((lock, _), grant)| (lock.clone(), *grant)).collect();
                self.of_event.insert(*event, mine);
            }
            _ => {}
        }
    }

    /// The grants (lock and grant) under which a write was made; the client has asked for one lock, as a rule.
    pub(super) fn of_write(&self, event: Option<usize>) -> &[(String, Grant)] {
        event.and_then(|event| self.of_event.get(&event)).map_or(&[], Vec::as_slice)
    }

    /// Whether nobody was granted `lock` after `grant`.
    pub(super) fn is_latest(&self, lock: &str, grant: Grant) -> bool {
        self.latest.iter().all(|((name, _), other)| name != lock || *other <= grant)
    }
}
