//! Waiting that goes wrong: what a check says of it.

#![expect(clippy::unwrap_used, reason = "a test whose lesson does not load has failed")]

mod common;

use lockscope::lesson::{self, Plan, Source};
use lockscope::trace::Verdict;

/// The lesson's only variant.
fn plan(body: &str) -> Plan {
    let head = "format: 1\nid: waits\nlevel: core\ntitle: Waits\nlock: {key: \"lock:order\", ttl: 10s}\n";
    let source = Source::new("waits.yaml", format!("{head}{body}"));
    let lesson =
        lesson::load(source.clone()).unwrap_or_else(|errors| panic!("{}", lesson::render_all(&source, &errors)));
    lesson.plans.into_iter().next().unwrap()
}

#[test]
fn a_command_that_waits_for_ever_leaves_the_run_inconclusive() {
    let plan = plan(
        r#"
keys: ["queue:*"]
clients: [A, B]
events:
  - {client: A, do: redis, run: "BLPOP queue:jobs 0"}
  - {client: A, do: acquire}
  - {client: B, do: redis, run: "BLPOP queue:jobs 5", reply: nil}
verdict: inconclusive
expect: []
"#,
    );
    let (_, judgement) = common::run(&mut common::engine(), &plan);
    let unrun: Vec<(usize, &str)> = judgement.unrun.iter().map(|u| (u.span.line, u.because.as_str())).collect();
    let waits = "its client was still waiting when the run ended";
    assert_eq!(unrun, [(10, waits), (11, waits)]);
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
}
