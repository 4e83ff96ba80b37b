//! Which answer to a question is right: the run decides, nobody writes it down.

use std::collections::BTreeMap;

use crate::lesson::judge::{choice_holds, predicted};
use crate::lesson::{Answer, Ask, Do, Plan};
use crate::trace::{Finding, LessonTime, Trace};

/// The right answer to one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// This choice, from 0.
    Choice(usize),
    /// This time.
    Time(LessonTime),
    /// The student compares with the model answer.
    Compare,
    /// The run does not say. `--check` fails such a lesson; the player has to show it all the same.
    Unknown,
}

/// The right answers to all questions of a plan, by event.
#[must_use]
pub fn proofs(plan: &Plan, trace: &Trace, findings: &[Finding]) -> BTreeMap<usize, Proof> {
    let asks = plan.events.iter().enumerate().filter_map(|(i, event)| match &event.what {
        Do::Ask(ask) => Some((i, ask)),
        _ => None,
    });
    asks.map(|(i, ask)| (i, proof(ask, trace, findings))).collect()
}

fn proof(ask: &Ask, trace: &Trace, findings: &[Finding]) -> Proof {
    match &ask.answer {
        Answer::Choices(choices) => {
            let holds = choice_holds(trace, findings, choices);
            holds.iter().position(|holds| *holds).map_or(Proof::Unknown, Proof::Choice)
        }
        Answer::Predict(expect) => predicted(trace, expect).map_or(Proof::Unknown, Proof::Time),
        Answer::Model(_) => Proof::Compare,
    }
}
