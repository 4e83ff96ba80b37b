//! `starved`: it never got in.

use super::{Detector, Finding, FindingKind, Step};
use crate::trace::What;

/// When the run ends, a client still waits for a lock: a try of its acquire has failed, and it would go on trying.
/// `while` says whether the key was there then (`held`) or not (`free`: nobody told the waiter). It happens at the end
/// of the run, since only then is it known that the waiting had no end.
#[derive(Default)]
pub(super) struct Starved(Vec<Finding>);

impl Detector for Starved {
    fn see(&mut self, step: &Step<'_>) {
        if step.record.what != What::End {
            return;
        }
        for client in step.header.clients.iter().map(|client| client.name.as_str()) {
            let Some(state) = step.before.clients.get(client) else { continue };
            for acquiring in state.acquiring.values().filter(|acquiring| acquiring.waits) {
                let held = step.before.key_seen_by(step.header, client, &acquiring.lock).is_some();
                let starved = step.finding(FindingKind::Starved, Some(&acquiring.lock)).of(client);
                self.0.push(starved.with("while", if held { "held" } else { "free" }));
            }
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.0
    }
}
