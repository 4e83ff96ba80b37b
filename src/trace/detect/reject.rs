//! `wrong_reject` and `rejected_write`: a guard refused a write.

use std::collections::{BTreeMap, BTreeSet};

use super::grants::Grants;
use super::{Detector, Finding, FindingKind, Step};
use crate::trace::data::Guarded;
use crate::trace::{DATABASE, What};

/// The database refused a write because of its guard, at the instant it executed the statement (the sender may have
/// given up long before).
///
/// - `wrong_reject`: the write belongs to the latest grant of the lock, its client held the lock when it sent the write
///   (or the commit that carries it), and the guard was one that tells the holder from those before it: `fence` or
///   `version`. The right one was shut out.
/// - `rejected_write`: any other. A guard that asks the data alone, `at_least` or `once`, is right whoever it refuses:
///   the stock is sold out, or the order has been dealt with, for the holder of the lock too.
#[derive(Default)]
pub(super) struct Reject {
    grants: Grants,
    /// The locks that its sender held when a message was sent, by command.
    held: BTreeMap<u32, BTreeSet<String>>,
    found: Vec<Finding>,
}

impl Detector for Reject {
    fn see(&mut self, step: &Step<'_>) {
        self.grants.see(step);
        match &step.record.what {
            What::Send { cmd, client, node, .. } if node == DATABASE => {
                let locks = step.header.locks.iter().map(|lock| &lock.name);
                let held = locks.filter(|lock| step.before.holds(step.header, client, lock)).cloned();
                self.held.insert(*cmd, held.collect());
            }
            What::Sql(sql) if sql.is_rejected() => {
                let of_order = matches!(sql.guard, Some(Guarded::Fence | Guarded::Version));
                let held = self.held.get(&sql.cmd);
                let grants = self.grants.of_write(sql.event);
                let wrong = grants.iter().find(|(lock, grant)| {
                    of_order && held.is_some_and(|held| held.contains(lock)) && self.grants.is_latest(lock, *grant)
                });
                let (kind, lock) = match wrong {
                    Some((lock, _)) => (FindingKind::WrongReject, Some(lock.as_str())),
                    None => (FindingKind::RejectedWrite, grants.first().map(|(lock, _)| lock.as_str())),
                };
                self.found.push(step.finding(kind, lock).of(&sql.client));
            }
            _ => {}
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.found
    }
}
