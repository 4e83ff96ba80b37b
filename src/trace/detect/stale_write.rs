//! `stale_write`: a write got through after one of a later grant.

use std::collections::BTreeMap;

use super::grants::{Grant, Grants};
use super::{Detector, Finding, FindingKind, Step};
use crate::trace::What;

/// The database accepted a write that was made under an earlier grant of the lock than a write to the same resource
/// that it had accepted before. `after` is who had written under the later grant (it may be the same client, whose
/// first request was long on its way).
///
/// The grant is the one that the client had when it made the write, however late that arrives or is committed. A late
/// write that comes *before* any of the later holder is none: nothing is destroyed yet, and no fence could know.
#[derive(Default)]
pub(super) struct StaleWrite {
    grants: Grants,
    /// The latest grant that has written, and its client, by resource and lock.
    newest: BTreeMap<(String, String), (Grant, String)>,
    found: Vec<Finding>,
}

impl Detector for StaleWrite {
    fn see(&mut self, step: &Step<'_>) {
        self.grants.see(step);
        let What::Sql(sql) = &step.record.what else { return };
        let Some(resource) = sql.resource.as_ref().filter(|_| sql.is_accepted()) else { return };
        let mut stale = None;
        for (lock, grant) in self.grants.of_write(sql.event) {
            let newest =
                self.newest.entry((resource.clone(), lock.clone())).or_insert_with(|| (*grant, sql.client.clone()));
            if newest.0 > *grant {
                stale.get_or_insert_with(|| (lock.clone(), newest.1.clone()));
            } else {
                *newest = (*grant, sql.client.clone());
            }
        }
        if let Some((lock, after)) = stale {
            let finding = step.finding(FindingKind::StaleWrite, Some(&lock));
            self.found.push(finding.with("by", &sql.client).with("after", &after));
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.found
    }
}
