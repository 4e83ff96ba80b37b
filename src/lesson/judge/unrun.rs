//! Events that never ran, and whether the lesson expects that.

use std::collections::BTreeSet;

use crate::lesson::model::{At, Plan, Subject};
use crate::lesson::source::Span;
use crate::trace::{EventKind, Trace, What};

/// An event that never ran, although nothing in the lesson says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrun {
    /// Where the event stands.
    pub span: Span,
    /// Why it did not run, in the engine's words.
    pub because: String,
}

/// The events that did not run and are not explained.
///
/// What a client had still to do is explained if an entry expects it to be starved, or in a deadlock. What waits for
/// such an event (`at:`), or stands behind an explained one in the same program, is explained with it. Texts and
/// questions do nothing; whether they are reached is the player's concern.
pub(super) fn unexplained(plan: &Plan, trace: &Trace, waiting: &[String]) -> Vec<Unrun> {
    let unrun: Vec<(usize, &String)> = trace
        .records
        .iter()
        .filter_map(|record| match &record.what {
            What::EventNotRun { event, because } => Some((*event, because)),
            _ => None,
        })
        .filter(|(event, _)| {
            let info = trace.header.events.get(*event);
            info.is_none_or(|info| !matches!(info.kind, EventKind::Say | EventKind::Ask))
        })
        .collect();
    let mut explained: BTreeSet<usize> = BTreeSet::new();
    // An explanation may need another one first, in any order of the file.
    loop {
        let more: Vec<usize> = unrun
            .iter()
            .map(|(event, _)| *event)
            .filter(|event| !explained.contains(event) && is_explained(plan, *event, waiting, &explained))
            .collect();
        if more.is_empty() {
            break;
        }
        explained.extend(more);
    }
    unrun
        .into_iter()
        .filter(|(event, _)| !explained.contains(event))
        .map(|(event, because)| {
            let span = plan.events.get(event).map_or(plan.span, |event| event.span);
            Unrun { span, because: because.clone() }
        })
        .collect()
}

fn is_explained(plan: &Plan, event: usize, waiting: &[String], explained: &BTreeSet<usize>) -> bool {
    let Some(this) = plan.events.get(event) else { return false };
    let behind_another = || {
        let earlier = explained.range(..event).filter_map(|i| plan.events.get(*i));
        matches!(this.subject, Subject::Client { .. }) && earlier.into_iter().any(|other| other.subject == this.subject)
    };
    let waits = matches!(&this.subject, Subject::Client { client, .. } if waiting.contains(client));
    let anchored = matches!(this.at, Some(At::Anchor { event: anchor, .. }) if explained.contains(&anchor));
    waits || anchored || behind_another()
}
