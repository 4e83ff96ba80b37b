//! What of a run in real time is the same each time: what came about, and in which order for whom; not when.
//!
//! Sentinels look, ask and vote at moments of their own. How often a client tried meanwhile, which of them noticed first,
//! and when a replica was told to follow the new master, is different each time, and so are all times, and with them what of
//! two things that have nothing to do with each other came first. What must not be different: each client's own course
//! (how its events ended, what it believed, when it worked), what became of each key on each master, who died, who was
//! promoted, and what follows from all of it.

use serde::Serialize;

use super::event::{Cause, Header, KeyOp, Outcome, Trace, What, Why};
use super::state::client_of;
use super::{findings, verdict};

/// One thing that must be the same, without its time.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Steady<'a> {
    Started { event: usize },
    Ended { event: usize, outcome: Outcome, why: Option<Why> },
    Key { key: &'a str, op: KeyOp, owner: Option<&'a str> },
    Promoted { node: &'a str, stays: &'a [String] },
    As(&'a What),
}

impl Trace {
    /// The steady part of the run: one line for each thing, by whom or what it is about, each in its own order; at the end
    /// what follows.
    #[must_use]
    pub fn steady(&self) -> Vec<String> {
        let lines = self.records.iter().filter_map(|record| {
            let (about, steady) = steady(&self.header, &record.what)?;
            // Plain data always has a JSON text; if it had none, the runs would differ.
            Some((about, serde_json::to_string(&steady).unwrap_or_default()))
        });
        let mut lines: Vec<(String, String)> = lines.collect();
        lines.sort_by(|(a, _), (b, _)| a.cmp(b)); // keeps the order of what is about the same
        let mut lines: Vec<String> = lines.into_iter().map(|(about, line)| format!("{about}: {line}")).collect();
        let found = findings(self);
        let mut told: Vec<String> = found
            .iter()
            .map(|finding| {
                let fields: Vec<String> =
                    finding.fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                format!("found: {} {}", finding.kind.name(), fields.join(", "))
            })
            .collect();
        told.sort();
        lines.append(&mut told);
        lines.push(format!("verdict: {:?}", verdict(self, &found)));
        lines
    }
}

/// A record's steady part, and whom or what it is about.
fn steady<'a>(header: &'a Header, what: &'a What) -> Option<(String, Steady<'a>)> {
    let subject = |event: usize| {
        let subject = header.events.get(event).map_or("", |info| info.subject.as_str());
        client_of(subject).to_owned()
    };
    Some(match what {
        What::EventStart { event } => (subject(*event), Steady::Started { event: *event }),
        What::EventEnd { event, outcome, why, .. } => {
            (subject(*event), Steady::Ended { event: *event, outcome: *outcome, why: *why })
        }
        What::EventSkipped { event } | What::EventNotRun { event, .. } => (subject(*event), Steady::As(what)),
        What::Key { cause: Cause::Replication | Cause::Demote, .. } => return None,
        What::Key { node, key, op, now, .. } => {
            let owner = now.as_ref().and_then(|now| now.owner.as_deref());
            (format!("{key} on {node}"), Steady::Key { key, op: *op, owner })
        }
        What::NodePromoted { node, stays, .. } => ("switch".to_owned(), Steady::Promoted { node, stays }),
        What::Belief { client, .. }
        | What::Works { client, .. }
        | What::ToldLost { client, .. }
        | What::ClientCrashed { client, .. }
        | What::ClientResumed { client, .. }
        | What::TaskEnded { client, .. } => (client.clone(), Steady::As(what)),
        What::NodeCrashed { node } | What::NodeRestarted { node, .. } => (node.clone(), Steady::As(what)),
        _ => return None,
    })
}
