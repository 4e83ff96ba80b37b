//! What of a run in real time is the same each time: what came about, and in which order; not when.
//!
//! Sentinels look, ask and vote at moments of their own. How often a client tried meanwhile, which of them noticed first,
//! and when a replica was told to follow the new master, is different each time, and so are all times. What must not be
//! different: how each event ended, who believed and worked, what became of the lock on the masters, who died, and who was
//! promoted.

use serde::Serialize;

use super::event::{Cause, KeyOp, Outcome, Trace, What, Why};

/// One thing that must be the same, without its time.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Steady<'a> {
    Event { started: usize },
    Ended { event: usize, outcome: Outcome, why: Option<Why> },
    Key { node: &'a str, key: &'a str, op: KeyOp, owner: Option<&'a str> },
    Promoted { node: &'a str, stays: &'a [String] },
    As(&'a What),
}

impl Trace {
    /// The steady part of the run, as one JSON text for each thing.
    #[must_use]
    pub fn steady(&self) -> Vec<String> {
        let steady = self.records.iter().filter_map(|record| steady(&record.what));
        // Plain data always has a JSON text; if it had none, the runs would differ.
        steady.map(|steady| serde_json::to_string(&steady).unwrap_or_default()).collect()
    }
}

fn steady(what: &What) -> Option<Steady<'_>> {
    Some(match what {
        What::EventStart { event } => Steady::Event { started: *event },
        What::EventEnd { event, outcome, why, .. } => Steady::Ended { event: *event, outcome: *outcome, why: *why },
        What::Key { cause: Cause::Replication | Cause::Demote, .. } => return None,
        What::Key { node, key, op, now, .. } => {
            let owner = now.as_ref().and_then(|now| now.owner.as_deref());
            Steady::Key { node, key, op: *op, owner }
        }
        What::NodePromoted { node, stays, .. } => Steady::Promoted { node, stays },
        What::EventSkipped { .. }
        | What::EventNotRun { .. }
        | What::Belief { .. }
        | What::Works { .. }
        | What::ToldLost { .. }
        | What::ClientCrashed { .. }
        | What::ClientResumed { .. }
        | What::TaskEnded { .. }
        | What::NodeCrashed { .. }
        | What::NodeRestarted { .. }
        | What::End => Steady::As(what),
        _ => return None,
    })
}
