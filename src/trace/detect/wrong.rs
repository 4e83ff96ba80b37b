//! `wrong_delete`, `wrong_renewal`, `wrong_overwrite`: a client's command hit a lock that another owns.

use super::{Detector, Finding, FindingKind, Step, believes};
use crate::trace::{Cause, KeyOp, What};

/// A client's command removed, retimed or replaced a value that *another* client owns and believes in, at the instant
/// the server executed it (the sender may have crashed, or given up, long before).
///
/// - removed: `wrong_delete`; replaced, with the same text too: `wrong_overwrite`; its TTL changed (or was taken away)
///   and the value stayed: `wrong_renewal`.
/// - What a command changes *in* the value (the counter of an `INCR` lock, a field of a hash) is none of these: to be
///   refused by such a lock means to change it. If the TTL moved as well, that is a `wrong_renewal`.
/// - The owner is that of the value on the node where the command ran. An owner that no longer believes has lost
///   nothing that it counted on.
/// - One action that does the same on several nodes at the same instant has done it once.
#[derive(Default)]
pub(super) struct Wrong(Vec<Finding>);

impl Detector for Wrong {
    fn see(&mut self, step: &Step<'_>) {
        let What::Key { node, key, op, cause: Cause::Command { client: by, .. }, now } = &step.record.what else {
            return;
        };
        let Some(was) = step.before.nodes.get(node).and_then(|node| node.keys.get(key)) else { return };
        let Some(owner) = was.owner.as_ref().filter(|owner| *owner != by) else { return };
        let retimed = now.as_ref().is_some_and(|now| now.deadline != was.deadline);
        let kind = match op {
            KeyOp::Removed => FindingKind::WrongDelete,
            KeyOp::Replaced => FindingKind::WrongOverwrite,
            KeyOp::Retimed | KeyOp::Changed if retimed => FindingKind::WrongRenewal,
            KeyOp::Retimed | KeyOp::Changed | KeyOp::Created | KeyOp::Expired => return,
        };
        for lock in step.locks_in(key).filter(|lock| believes(step.before, owner, lock)) {
            let found = step.finding(kind, Some(lock)).with("by", by).with("owner", owner);
            let same = |other: &Finding| {
                (other.kind, other.from, &other.lock, &other.fields)
                    == (found.kind, found.from, &found.lock, &found.fields)
            };
            if !(step.header.is_quorum() && self.0.iter().any(same)) {
                self.0.push(found);
            }
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.0
    }
}
