//! What tests share: lessons run on real servers.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub mod monitor;

use lockscope::engine::{ClockKind, Engine};
use lockscope::lesson::{Judgement, Plan, RunFailure, RunLesson, judge};
use lockscope::servers::Binary;
use lockscope::trace::Trace;

/// An engine on whichever server there is: the lesson clock, nobody waits.
pub fn engine() -> Engine {
    let binary = Binary::find(None).expect("tests need a redis-server; `make test` gets one");
    Engine::new(binary, ClockKind::Warp).expect("an engine")
}

/// Runs one variant and holds it against what it says.
pub fn run(engine: &mut Engine, plan: &Plan) -> (Trace, Judgement) {
    let trace = engine.run(plan).unwrap_or_else(|failure| panic!("{}: {failure:#?}", name(plan)));
    let judgement = judge(plan, &trace);
    (trace, judgement)
}

/// The trace of one variant; none where the server here lacks what it needs.
pub fn trace(engine: &mut Engine, plan: &Plan) -> Option<Trace> {
    match engine.run(plan) {
        Ok(trace) => Some(trace),
        Err(RunFailure::Skipped(_)) => None,
        Err(failure) => panic!("{}: {failure:#?}", name(plan)),
    }
}

/// Runs one variant and wants it to be all that it says.
pub fn prove(engine: &mut Engine, plan: &Plan) -> Trace {
    let (trace, judgement) = run(engine, plan);
    as_it_says(plan, &judgement);
    trace
}

/// The same; false where the server here lacks what it needs.
pub fn prove_where_it_can(engine: &mut Engine, plan: &Plan) -> bool {
    let Some(trace) = trace(engine, plan) else { return false };
    as_it_says(plan, &judge(plan, &trace));
    true
}

fn as_it_says(plan: &Plan, judgement: &Judgement) {
    assert!(
        judgement.is_as_expected(),
        "{} is not what it says: {:#?}\n{:#?}\n(found: {:#?})",
        name(plan),
        judgement.failures,
        judgement.unrun,
        judgement.findings
    );
}

/// File, lesson and variant.
fn name(plan: &Plan) -> String {
    format!("{}: {}/{}", plan.source.name, plan.lesson, plan.variant)
}
