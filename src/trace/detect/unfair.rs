//! `unfair`: somebody got in before one who had waited longer.

use std::collections::BTreeSet;

use super::{Detector, Finding, FindingKind, Step};
use crate::trace::event::{EventKind, Outcome};
use crate::trace::state::client_of;
use crate::trace::{LessonTime, What};

/// A lock with `order: fifo` is granted to a client (`second`) while another (`first`) waits for it whose acquire began
/// earlier. Whoever was passed over by one grant has a finding each. An owner that takes its own lock once more passes
/// nobody: it was inside already.
#[derive(Default)]
pub(super) struct Unfair {
    found: Vec<Finding>,
    /// Who has begun to believe with a grant that has not ended its acquire yet: client and lock.
    begun: BTreeSet<(String, String)>,
}

impl Detector for Unfair {
    fn see(&mut self, step: &Step<'_>) {
        if let What::Belief { client, lock, on, .. } = &step.record.what {
            let whose = (client.clone(), lock.clone());
            _ = if *on { self.begun.insert(whose) } else { self.begun.remove(&whose) };
        }
        let Some((event, second, lock)) = granted(step) else { return };
        // Belief begins with the first grant itself, just before the event ends; with no further one.
        let was_inside = !self.begun.remove(&(second.to_owned(), lock.to_owned()));
        let since = |client: &str, event: usize| -> Option<LessonTime> {
            Some(step.before.clients.get(client)?.acquiring.get(&event)?.since)
        };
        let Some(began) = since(second, event) else { return };
        if was_inside {
            return;
        }
        for first in step.header.clients.iter().map(|client| client.name.as_str()).filter(|first| *first != second) {
            let Some(client) = step.before.clients.get(first) else { continue };
            let waits_longer =
                client.acquiring.values().any(|other| other.waits && other.lock == lock && other.since < began);
            if waits_longer {
                let found = step.finding(FindingKind::Unfair, Some(lock)).with("first", first).with("second", second);
                self.found.push(found);
            }
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.found
    }
}

/// The acquire that this record ends with a grant: its event, its client, and its lock, if that is to be fair.
fn granted<'a>(step: &Step<'a>) -> Option<(usize, &'a str, &'a str)> {
    let What::EventEnd { event, outcome: Outcome::Granted, .. } = &step.record.what else { return None };
    let info = step.header.events.get(*event).filter(|info| info.kind == EventKind::Acquire)?;
    let lock = info.lock.as_deref()?;
    let fifo = step.header.locks.iter().any(|info| info.name == lock && info.fifo);
    fifo.then(|| (*event, client_of(&info.subject), lock))
}
