//! `wrong_delete`, `wrong_renewal`, `wrong_overwrite`: a client's command hit a lock that another owns.

use std::collections::BTreeSet;

use super::{Detector, Finding, FindingKind, Step, believes};
use crate::trace::{Cause, EventKind, KeyOp, What};

/// A client's command removed, retimed or replaced a value that *another* client owns and believes in, at the instant
/// the server executed it (the sender may have crashed, or given up, long before).
///
/// - removed: `wrong_delete`; replaced, with the same text too: `wrong_overwrite`; its TTL changed (or was taken away)
///   and the value stayed: `wrong_renewal`.
/// - What a command changes *in* the value (the counter of an `INCR` lock, a field of a hash) is none of these: to be
///   refused by such a lock means to change it. If the TTL moved as well, that is a `wrong_renewal`, unless the sender
///   owns a part of the value too.
/// - A *release* that takes another's field out of a hash is a `wrong_delete`. (What an acquire takes out of a semaphore
///   has run out.)
/// - The owner is that of the value on the node where the command ran. An owner that no longer believes has lost
///   nothing that it counted on.
/// - One action that does the same on several nodes at the same instant has done it once.
#[derive(Default)]
pub(super) struct Wrong {
    found: Vec<Finding>,
    /// The commands of releases.
    releases: BTreeSet<u32>,
}

impl Detector for Wrong {
    fn see(&mut self, step: &Step<'_>) {
        if let What::Send { cmd, event: Some(event), .. } = &step.record.what
            && step.header.events.get(*event).is_some_and(|event| event.kind == EventKind::Release)
        {
            self.releases.insert(*cmd);
        }
        let What::Key { node, key, op, cause: Cause::Command { cmd, client: by }, now } = &step.record.what else {
            return;
        };
        let Some(was) = step.before.nodes.get(node).and_then(|node| node.keys.get(key)) else { return };
        let retimed = now.as_ref().is_some_and(|now| now.deadline != was.deadline);
        // Who owns a part of it has a right to its TTL.
        let shares = was.is_owned_by(by) || now.as_ref().is_some_and(|now| now.is_owned_by(by));
        let kind = match op {
            KeyOp::Removed => FindingKind::WrongDelete,
            KeyOp::Replaced => FindingKind::WrongOverwrite,
            KeyOp::Retimed | KeyOp::Changed if retimed && !shares => FindingKind::WrongRenewal,
            KeyOp::Changed if self.releases.contains(cmd) => FindingKind::WrongDelete,
            KeyOp::Retimed | KeyOp::Changed | KeyOp::Created | KeyOp::Expired => return,
        };
        // Of a part that is still there nobody was robbed.
        let robbed = |owner: &&str| {
            let kept = *op == KeyOp::Changed && kind == FindingKind::WrongDelete;
            *owner != by && !(kept && now.as_ref().is_some_and(|now| now.is_owned_by(owner)))
        };
        let owners: Vec<&str> = was.owners().filter(robbed).collect();
        let hit = owners.iter().flat_map(|owner| step.locks_in(key).map(move |lock| (*owner, lock)));
        for (owner, lock) in hit.filter(|(owner, lock)| believes(step.before, owner, lock)) {
            let found = step.finding(kind, Some(lock)).with("by", by).with("owner", owner);
            let same = |other: &Finding| {
                (other.kind, other.from, &other.lock, &other.fields)
                    == (found.kind, found.from, &found.lock, &found.fields)
            };
            if !(step.header.is_quorum() && self.found.iter().any(same)) {
                self.found.push(found);
            }
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.found
    }
}
