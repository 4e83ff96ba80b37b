//! `ghost_renewal`: a lock is kept alive for somebody who does not count on it.

use super::spells::Spells;
use super::{Detector, Finding, FindingKind, Step, believes};
use crate::trace::What;
use crate::trace::event::{EventKind, Outcome};
use crate::trace::state::client_of;

/// Opens when a renewal (the watchdog's, or a `renew`) succeeds for a client that does not believe that it holds the
/// lock, at the instant it learns of the success; it is the first such renewal that counts. Closes when the value that
/// was renewed goes, or when the client believes again.
#[derive(Default)]
pub(super) struct GhostRenewal(Spells<Ghost>);

/// Lock, client, and the owner of what was renewed (a blind renewal may have hit another's).
type Ghost = (String, String, Option<String>);

impl Detector for GhostRenewal {
    fn see(&mut self, step: &Step<'_>) {
        let state = step.after;
        self.0.close_where(step, |(lock, by, owner), _| {
            let key = state.key_seen_by(step.header, by, lock);
            key.is_none_or(|key| !owner.as_ref().map_or(key.owner.is_none(), |owner| key.is_owned_by(owner)))
                || believes(state, by, lock)
        });
        let Some((by, lock)) = renewed(step) else { return };
        let Some(key) = state.key_seen_by(step.header, by, lock) else { return };
        // Of a lock that several own, it is its own part.
        let owner = if key.is_owned_by(by) { Some(by.to_owned()) } else { key.owner.clone() };
        if !believes(step.before, by, lock) {
            let ghost = (lock.to_owned(), by.to_owned(), owner);
            self.0.open(step, &ghost, || step.finding(FindingKind::GhostRenewal, Some(lock)).with("by", by));
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.0.all()
    }
}

/// The client and the lock for which this record reports a renewal that succeeded.
fn renewed<'a>(step: &Step<'a>) -> Option<(&'a str, &'a str)> {
    match &step.record.what {
        What::Tick { client, lock, outcome: Outcome::Renewed } => Some((client, lock)),
        What::EventEnd { event, outcome: Outcome::Renewed, .. } => {
            let info = step.header.events.get(*event).filter(|info| info.kind == EventKind::Renew)?;
            Some((client_of(&info.subject), info.lock.as_deref()?))
        }
        _ => None,
    }
}
