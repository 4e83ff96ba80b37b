//! Runs that have no end: a change can make a client wait for ever, and then so would the student.
//!
//! Where that may be, the run is given up at a time by which the author's own run would long be over: that somebody still
//! waits is what there is to be seen then.

use crate::lesson::{Do, Plan, Subject, Wait};
use crate::trace::{LessonTime, Trace, What};

/// So many times the author's run, and at least so long, is looked at.
const TIMES: u64 = 3;
const LEAST_MS: u64 = 30_000;
/// In whole stretches of this.
const ROUND_MS: u64 = 10_000;

/// Until when the run of `plan` is looked at, if it may have no end; `base` is the end of the run without changes.
#[must_use]
pub fn may_be_endless(plan: &Plan, base: LessonTime) -> Option<LessonTime> {
    let waits = |what: &Do| match what {
        Do::Acquire(acquire) => match &acquire.wait {
            Wait::None => false,
            Wait::Retry { span, .. } | Wait::Notify { span, .. } | Wait::Queue { span, .. } => span.is_none(),
        },
        _ => false,
    };
    if plan.until.is_some() || !plan.events.iter().any(|event| waits(&event.what)) {
        return None;
    }
    // What happens late in the plan must still happen.
    let times = plan.events.iter().filter_map(|event| match event.at {
        Some(crate::lesson::At::Time(at)) => Some(at.ms()),
        _ => None,
    });
    let latest = times.max().unwrap_or(0).max(base.ms());
    Some(LessonTime((latest * TIMES).max(LEAST_MS).next_multiple_of(ROUND_MS)))
}

/// Whether everybody's main program has come to its end, or to the client's.
#[must_use]
pub fn all_done(plan: &Plan, trace: &Trace) -> bool {
    let ended = |name: &str| {
        trace.records.iter().any(|record| match &record.what {
            What::TaskEnded { client, task } => client == name && task == "main",
            What::ClientCrashed { client, task } => client == name && task.as_deref().is_none_or(|task| task == "main"),
            _ => false,
        })
    };
    let acts = |name: &str| {
        plan.events
            .iter()
            .any(|event| matches!(&event.subject, Subject::Client { client, task: None } if client == name))
    };
    plan.clients.iter().all(|client| !acts(&client.name) || ended(&client.name))
}
