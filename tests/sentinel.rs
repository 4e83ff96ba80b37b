//! Lessons with Sentinels: each is what it says, the same each time in all that does not hang on the real clock, and
//! nothing of one is in the next.

mod common;

use std::path::Path;

use common::prove;
use lockscope::engine::{ClockKind, Engine};
use lockscope::lesson::{self, Plan, Source, catalogue};
use lockscope::servers::Binary;
use lockscope::trace::{KeyOp, Trace, What};

/// All variants that run in real time, the program's own and those of this test.
fn plans() -> Vec<Plan> {
    let own = catalogue::load_dir(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lessons/sentinel"));
    let sources = own.expect("the folder is there").into_iter().chain(lesson::builtin());
    let plans = sources.flat_map(|source| {
        let loaded = lesson::load(source.clone());
        loaded.unwrap_or_else(|errors| panic!("{}", lesson::render_all(&source, &errors))).plans
    });
    plans.filter(Plan::is_on_real_clock).collect()
}

/// An engine that was asked for the lesson clock: it must not matter.
fn engine() -> Engine {
    let binary = Binary::find(None).expect("tests need a redis-server; `make test` gets one");
    Engine::new(binary, ClockKind::Warp).expect("an engine")
}

/// Runs every plan `times` times, all at once: they wait more than they work.
fn run_all(plans: &[Plan], times: usize) -> Vec<Vec<Trace>> {
    std::thread::scope(|scope| {
        let runs = plans.iter().map(|plan| {
            scope.spawn(move || {
                let mut engine = engine();
                (0..times).map(|_| prove(&mut engine, plan)).collect::<Vec<Trace>>()
            })
        });
        let runs: Vec<_> = runs.collect();
        runs.into_iter().map(|run| run.join().expect("it is what it says")).collect()
    })
}

#[test]
fn each_is_what_it_says_and_the_same_each_time() {
    let plans = plans();
    assert!(plans.len() >= 7, "only {} lessons run in real time", plans.len());
    for (plan, traces) in plans.iter().zip(run_all(&plans, 2)) {
        let name = format!("{}/{}", plan.lesson, plan.variant);
        let steady: Vec<_> = traces.iter().map(Trace::steady).collect();
        assert_eq!(steady[0], steady[1], "{name}");
        for trace in &traces {
            assert_eq!(trace.header.clock, "wall", "{name}");
            assert_eq!(trace.header.nodes[0].name, "m", "{name}: the first master is who it always was");
        }
    }
}

/// What a failover leaves behind would be met by the lesson that gets the same servers after it.
#[test]
fn nothing_of_a_failover_is_in_the_next_lesson() {
    let plans = plans();
    let failover = plans.iter().find(|plan| plan.lesson == "sentinel-failover").expect("it is there");
    let text = "\
format: 1
id: after
level: core
title: After a failover
servers: sentinel
lock: {key: \"lock:order\", ttl: 30s}
clients: [A]
events:
  - {client: A, do: acquire, id: first}
  - {client: A, do: redis, run: \"GET {key}\", id: look}
  - {client: A, do: release}
verdict: held
expect: [{granted: A, at: 0s}]
";
    let after = lesson::load(Source::new("after.yaml", text)).expect("it loads").plans.remove(0);
    let mut engine = engine();
    let alone = prove(&mut engine, &after).steady();
    prove(&mut engine, failover);
    let trace = prove(&mut engine, &after);
    assert_eq!(trace.steady(), alone);
    let created = |what: &What| matches!(what, What::Key { node, op: KeyOp::Created, .. } if node == "m");
    assert_eq!(trace.records.iter().filter(|record| created(&record.what)).count(), 1, "A's, on m, and nothing else");
    let strange =
        trace.records.iter().find(|record| matches!(record.what, What::NodePromoted { .. } | What::NodeDemoted { .. }));
    assert_eq!(strange, None);
}
