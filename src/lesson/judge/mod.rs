//! Compares a trace with what its plan promises.
//!
//! The world is closed: every violation and every note that happened must be expected by exactly one entry, and every
//! entry must have happened. Facts must be true, every question must have exactly one right answer, every `reply:`
//! must be what Redis answered, and the verdict must be the one that is written. What is not so is a [`Failure`].

mod ask;
mod data;
mod facts;
mod instead;
mod matching;
mod over_time;
mod reply;
mod unrun;
mod yaml;

pub use ask::{choice_holds, predicted};
pub use unrun::Unrun;
pub use yaml::{reply_yaml, yaml_of};

use super::expect::{Expect, Expected};
use super::model::Plan;
use super::source::Span;
use crate::trace::{self, Finding, LessonTime, Reply, Trace, Verdict, What};

/// What came of a run, held against its plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Everything that the run shows.
    pub findings: Vec<Finding>,
    /// Its verdict.
    pub verdict: Verdict,
    /// The promises that it does not keep. Empty for an inconclusive run that was to be something else: nothing can
    /// be said of it, and [`Self::unrun`] says why.
    pub failures: Vec<Failure>,
    /// Events that never ran, for a reason that the lesson does not expect.
    pub unrun: Vec<Unrun>,
}

impl Judgement {
    /// Whether the run is all that its plan promises.
    #[must_use]
    pub const fn is_as_expected(&self) -> bool {
        self.failures.is_empty() && self.unrun.is_empty()
    }
}

/// A promise of the plan that the run does not keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Where the promise stands. For what no entry expects: where the verdict of the variant stands.
    pub span: Span,
    /// Which kind of promise.
    pub promise: Promise,
    /// The promise as the file writes it, on one line; empty for [`Promise::NothingElse`].
    pub expected: String,
    /// What was seen instead.
    pub seen: Seen,
    /// The line of the event that did what was seen, where one did.
    pub cause_line: Option<usize>,
}

/// The kinds of promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Promise {
    /// `verdict:`
    Verdict,
    /// An entry of `expect`: this violation or note happens.
    Happens,
    /// The closed world: nothing happens that no entry expects.
    NothingElse,
    /// An entry of `expect` that states a fact.
    Fact,
    /// Exactly one choice of a question is right.
    OneChoice,
    /// What a question lets the student predict has exactly one value.
    OneValue,
    /// `reply:` of an event.
    Reply,
}

/// What was seen instead of what was promised. YAML is such that it can be pasted into `expect`, with its time.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// This verdict.
    Verdict(Verdict),
    /// This, as entries for `expect`. None: nothing of the kind.
    Instead(Vec<String>),
    /// The same, but so many times.
    Times(u32),
    /// These choices are right, counted from 1.
    Choices(Vec<usize>),
    /// These values fit.
    Values(Vec<LessonTime>),
    /// The event was answered so, or not at all.
    Reply {
        /// When the event ended.
        at: LessonTime,
        /// The answer.
        reply: Option<Reply>,
    },
    /// The run had ended by then.
    RunEnded(LessonTime),
}

/// Holds `trace` against `plan`.
#[must_use]
pub fn judge(plan: &Plan, trace: &Trace) -> Judgement {
    let findings = trace::findings(trace);
    let verdict = trace::verdict(trace, &findings);
    let run = Run { trace, findings: &findings };
    let closed_world = matching::closed_world(plan, &run);
    let unrun = unrun::unexplained(plan, trace, &closed_world.explained);
    let mut failures = Vec::new();
    if verdict != Verdict::Inconclusive || plan.verdict.value == Verdict::Inconclusive {
        failures.extend(verdict_failure(plan, verdict));
        failures.extend(closed_world.failures);
        failures.extend(plan.expect.iter().filter_map(|expect| fact_failure(plan, &run, expect)));
        failures.extend(ask::failures(plan, &run));
        failures.extend(reply_failures(plan, trace));
    }
    Judgement { findings, verdict, failures, unrun }
}

/// A trace and what was found in it.
struct Run<'a> {
    trace: &'a Trace,
    findings: &'a [Finding],
}

impl Run<'_> {
    /// When the run ended.
    fn end(&self) -> LessonTime {
        self.trace.records.last().map_or(LessonTime::ZERO, |record| record.t)
    }

    /// Whether entries must name their lock.
    fn several_locks(&self) -> bool {
        self.trace.header.locks.len() > 1
    }

    /// Whether `expect` is true of this run, seen alone.
    fn shows(&self, expect: &Expect) -> bool {
        match &expect.what {
            Expected::Finding { .. } => {
                let count = self.findings.iter().filter(|finding| matching::fits(expect, finding, self.end())).count();
                count >= expect.times.max(1) as usize
            }
            Expected::Fact(fact) => facts::check(self, expect, fact).is_ok(),
            Expected::Otherwise => false,
        }
    }
}

fn verdict_failure(plan: &Plan, verdict: Verdict) -> Option<Failure> {
    (plan.verdict.value != verdict).then(|| Failure {
        span: plan.verdict.span,
        promise: Promise::Verdict,
        expected: format!("verdict: {}", plan.verdict.value.name()),
        seen: Seen::Verdict(verdict),
        cause_line: None,
    })
}

fn fact_failure(plan: &Plan, run: &Run<'_>, expect: &Expect) -> Option<Failure> {
    let Expected::Fact(fact) = &expect.what else { return None };
    let seen = facts::check(run, expect, fact).err()?;
    let expected = yaml::as_written(&plan.source, expect.span);
    Some(Failure { span: expect.span, promise: Promise::Fact, expected, seen, cause_line: None })
}

/// An event has one outcome at most, so each `reply:` is compared once.
fn reply_failures(plan: &Plan, trace: &Trace) -> Vec<Failure> {
    let ends = trace.records.iter().filter_map(|record| match &record.what {
        What::EventEnd { event, reply, .. } => Some((record.t, *event, reply)),
        _ => None,
    });
    ends.filter_map(|(at, event, reply)| {
        let promise = plan.events.get(event)?.reply.as_ref()?;
        if reply.as_ref().is_some_and(|reply| promise.value.matches(reply)) {
            return None;
        }
        Some(Failure {
            span: promise.span,
            promise: Promise::Reply,
            expected: yaml::as_written(&plan.source, promise.span),
            seen: Seen::Reply { at, reply: reply.clone() },
            cause_line: None,
        })
    })
    .collect()
}
