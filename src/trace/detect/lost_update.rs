//! `lost_update`: somebody computed from an old value, and wrote over what came after it.

use std::collections::BTreeMap;

use super::{Detector, Finding, FindingKind, Step};
use crate::trace::What;
use crate::trace::data::Stored;

/// The database accepted a `set: read…` whose writer had not read the version that it replaced, because another has
/// written since. `of` is whose update is gone: the last other writer of the versions that were not read. What a client
/// itself has written since it read is no loss to it.
///
/// An `add` computes in the database, and a plain `set` never meant to keep what was there: neither can lose an update.
#[derive(Default)]
pub(super) struct LostUpdate {
    /// Who wrote which version, by resource.
    writers: BTreeMap<String, BTreeMap<i64, String>>,
    found: Vec<Finding>,
}

impl Detector for LostUpdate {
    fn see(&mut self, step: &Step<'_>) {
        let What::Sql(sql) = &step.record.what else { return };
        let (Some(resource), Some(Stored::Row { version, .. })) = (&sql.resource, &sql.now) else { return };
        let writers = self.writers.entry(resource.clone()).or_default();
        if let Some(read) = sql.read {
            let unread = writers.range(read.saturating_add(1)..).rev();
            if let Some((_, of)) = unread.into_iter().find(|(_, writer)| **writer != sql.client) {
                let finding = step.finding(FindingKind::LostUpdate, None);
                self.found.push(finding.with("by", &sql.client).with("of", of));
            }
        }
        writers.insert(*version, sql.client.clone());
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.found
    }
}
