//! `lost_lock`: a lock vanished early under its owner.

use super::{Detector, Finding, FindingKind, Step, believes};
use crate::trace::{Cause, What};

/// A client that believes held the lock, and after this record it does not, though the lock's time was not up: because
/// a node restarted without it, another master took over that never had it, an old master gave up what it alone had,
/// the keys were flushed, the key was evicted, or the client's own command removed it (a late `DEL` of its own, or one
/// that is no release; a release ends the belief before it is sent).
///
/// What counts is the master that the client talks to, before and after; on a quorum, whether it owns a majority. A node that is down keeps what it last had;
/// if the deadline passes meanwhile, the lock has run out and is not lost. A failover tells its news in several
/// records; who holds the lock again by the end of the same instant has not lost it.
#[derive(Default)]
pub(super) struct LostLock {
    found: Vec<Finding>,
    /// Not yet sure: the instant is not over.
    suspects: Vec<Finding>,
}

impl Detector for LostLock {
    fn see(&mut self, step: &Step<'_>) {
        if step.t() > step.before.t || step.record.what == What::End {
            self.settle(step);
        }
        let Some(by) = reason(step) else { return };
        for (lock, client) in step.locks_and_clients() {
            let own =
                matches!(&step.record.what, What::Key { cause: Cause::Command { client: c, .. }, .. } if c != client);
            let Some(was) = step.before.key_seen_by(step.header, client, lock) else { continue };
            if !own
                && was.is_owned_by(client)
                && was.deadline.is_none_or(|deadline| deadline > step.t())
                && believes(step.before, client, lock)
                && !step.after.holds(step.header, client, lock)
            {
                let lost = step.finding(FindingKind::LostLock, Some(lock)).with("of", client).with("by", by);
                self.suspects.push(lost);
            }
        }
    }

    fn found(mut self: Box<Self>) -> Vec<Finding> {
        self.found.append(&mut self.suspects);
        self.found
    }
}

impl LostLock {
    /// The instant of the suspects is over: `before` is how it ended.
    fn settle(&mut self, step: &Step<'_>) {
        self.found.extend(self.suspects.drain(..).filter(|lost| {
            let client = lost.fields.get("of").map_or("", String::as_str);
            !step.before.holds(step.header, client, lost.lock.as_deref().unwrap_or_default())
        }));
    }
}

/// What kind of loss this record could be.
const fn reason(step: &Step<'_>) -> Option<&'static str> {
    match &step.record.what {
        // It goes to the new master only now.
        What::NodePromoted { .. } | What::ClientFollows { .. } => Some("promote"),
        What::NodeDemoted { .. } => Some("demote"),
        What::Key { cause, .. } => match cause {
            Cause::Restart => Some("restart"),
            Cause::Promote => Some("promote"),
            Cause::Demote => Some("demote"),
            Cause::Flush => Some("flush"),
            Cause::Evict => Some("evict"),
            Cause::Command { .. } => Some("own_command"),
            Cause::ClockJump => Some("clock_jump"),
            Cause::Expiry | Cause::Replication => None,
        },
        _ => None,
    }
}
