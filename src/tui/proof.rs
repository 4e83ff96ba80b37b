//! Which answer to a question is right: the run decides, nobody writes it down.

use std::collections::BTreeMap;

use crate::lesson::{Answer, Do, Plan};
use crate::trace::{Finding, LessonTime, Trace};

/// What the player asks of those who judge. They are handed in, so that the player is not tied to them.
#[derive(Clone, Copy, Debug)]
pub struct Judge {
    /// The findings of a run.
    pub findings: fn(&Trace) -> Vec<Finding>,
    /// Per event of the plan that is a question, which answer this run proves right.
    pub right: fn(&Plan, &Trace, &[Finding], event: usize) -> Proof,
}

/// The right answer to one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// This choice.
    Choice(usize),
    /// This time.
    Time(LessonTime),
    /// The student compares with the model answer.
    Compare,
    /// The run does not say.
    Unknown,
}

/// The proofs of all questions of a plan, by event.
#[must_use]
pub fn proofs(judge: &Judge, plan: &Plan, trace: &Trace, findings: &[Finding]) -> BTreeMap<usize, Proof> {
    let asks = plan.events.iter().enumerate().filter_map(|(i, event)| match &event.what {
        Do::Ask(ask) => Some((i, ask)),
        _ => None,
    });
    asks.map(|(i, ask)| match ask.answer {
        Answer::Model(_) => (i, Proof::Compare),
        _ => (i, (judge.right)(plan, trace, findings, i)),
    })
    .collect()
}
