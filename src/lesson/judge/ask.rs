//! Questions: the run decides which answer is right.

use super::{Failure, Promise, Run, Seen, facts, matching, yaml};
use crate::lesson::expect::{Expect, ExpectTime, Expected};
use crate::lesson::model::{Answer, Choice, Do, Plan};
use crate::trace::{self, Finding, LessonTime, Trace, What};

/// Which of `choices` are right in this run, one by one: all conditions of a choice must hold; `otherwise` is right if
/// none of the others is. `findings` are those of `trace`.
#[must_use]
pub fn choice_holds(trace: &Trace, findings: &[Finding], choices: &[Choice]) -> Vec<bool> {
    holding(&Run { trace, findings }, choices)
}

/// The time that stands for `_` in this run: the first, where there are several; none, if there is none.
#[must_use]
pub fn predicted(trace: &Trace, expect: &Expect) -> Option<LessonTime> {
    let findings = trace::findings(trace);
    values(&Run { trace, findings: &findings }, expect).first().copied()
}

/// Each question of `plan` that the student gets to see must have exactly one right answer.
pub(super) fn failures(plan: &Plan, run: &Run<'_>) -> Vec<Failure> {
    let skipped: Vec<usize> = run
        .trace
        .records
        .iter()
        .filter_map(|record| match record.what {
            What::EventSkipped { event } | What::EventNotRun { event, .. } => Some(event),
            _ => None,
        })
        .collect();
    let asks = plan.events.iter().enumerate().filter(|(i, _)| !skipped.contains(i));
    let asks = asks.filter_map(|(_, event)| match &event.what {
        Do::Ask(ask) => Some((event, ask)),
        _ => None,
    });
    asks.filter_map(|(event, ask)| {
        let failure = |span, promise, seen| Failure {
            span,
            promise,
            expected: match promise {
                Promise::OneValue => yaml::as_written(&plan.source, span),
                _ => String::new(),
            },
            seen,
            cause_line: None,
        };
        match &ask.answer {
            Answer::Choices(choices) => {
                let holding: Vec<usize> =
                    holding(run, choices).iter().enumerate().filter(|(_, h)| **h).map(|(i, _)| i + 1).collect();
                (holding.len() != 1).then(|| failure(event.span, Promise::OneChoice, Seen::Choices(holding)))
            }
            Answer::Predict(expect) => {
                let values = values(run, expect);
                (values.len() != 1).then(|| failure(expect.span, Promise::OneValue, Seen::Values(values)))
            }
            Answer::Model(_) => None,
        }
    })
    .collect()
}

fn holding(run: &Run<'_>, choices: &[Choice]) -> Vec<bool> {
    let is_otherwise = |choice: &Choice| choice.when.iter().any(|expect| expect.what == Expected::Otherwise);
    let mut holds: Vec<bool> = choices
        .iter()
        .map(|choice| !is_otherwise(choice) && choice.when.iter().all(|expect| run.shows(expect)))
        .collect();
    let none = !holds.contains(&true);
    for (holds, choice) in holds.iter_mut().zip(choices) {
        *holds |= none && is_otherwise(choice);
    }
    holds
}

/// All times that fit for `_`, in order, each once.
fn values(run: &Run<'_>, expect: &Expect) -> Vec<LessonTime> {
    let to_is_asked = expect.to == Some(ExpectTime::Asked);
    let mut values: Vec<LessonTime> = match &expect.what {
        Expected::Finding { .. } => {
            let fitting = run.findings.iter().filter(|finding| matching::fits(expect, finding, run.end()));
            fitting.filter_map(|finding| if to_is_asked { finding.to } else { Some(finding.from) }).collect()
        }
        Expected::Fact(fact) => {
            let fitting = facts::fitting(run, expect, fact);
            fitting.iter().filter_map(|(from, to)| if to_is_asked { *to } else { Some(*from) }).collect()
        }
        Expected::Otherwise => Vec::new(),
    };
    values.sort_unstable();
    values.dedup();
    values
}
