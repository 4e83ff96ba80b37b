//! What the trace says was executed is what the server executed: a `MONITOR` on the server is held against it.

mod common;

use std::collections::BTreeMap;

use common::monitor::{Watched, watch};
use lockscope::lesson::{self, Do, Plan, ReleaseHow, Source, Subject, commands};
use lockscope::trace::{Reply, Trace, What};

/// A run, what the lesson's clients had executed in it, and what the ACL refused.
async fn watched(plan: &Plan) -> (Trace, Vec<Vec<String>>, Vec<String>) {
    let Watched { trace, mut seen, refused } = watch(plan).await;
    // All connections come through one socket, so they cannot be told apart by where they come from. What the engine
    // sends for itself is what no lesson can send, or names a key that no lesson can reach. And a connection says who it
    // is before its client sends anything.
    seen.retain(|words| {
        // A lesson may not write SUBSCRIBE, but who waits for a release's message does send it.
        let waits = words.first().is_some_and(|name| name == "SUBSCRIBE");
        let forbidden = commands::forbidden(words).is_some() && !waits;
        // After each release the engine asks the waiters' connections what has come. No built-in lesson says PING itself.
        let own = words.iter().any(|word| word == "lockscope:marker") || forbidden || *words == ["PING"];
        !own && !words.starts_with(&["CLIENT".to_owned(), "SETNAME".to_owned()])
    });
    (trace, seen, refused)
}

/// The commands that the trace says the watched node executed, the first one, in order; those that the ACL refused apart.
/// What goes to other nodes, or to the database, that monitor cannot see.
fn told(trace: &Trace) -> (Vec<Vec<String>>, usize) {
    let first = trace.header.nodes.first().map(|node| &node.name);
    let sent: BTreeMap<u32, Vec<String>> = trace
        .records
        .iter()
        .filter_map(|record| match &record.what {
            What::Send { cmd, argv, node, .. } if Some(node) == first => Some((*cmd, argv.clone())),
            _ => None,
        })
        .collect();
    let mut refused = 0;
    let mut executed = Vec::new();
    for record in &trace.records {
        let What::Exec { cmd, reply } = &record.what else { continue };
        let Some(sent) = sent.get(cmd) else { continue };
        if matches!(reply, Reply::Error(text) if text.starts_with("NOPERM")) {
            refused += 1;
        } else {
            executed.push(sent.clone());
        }
    }
    (executed, refused)
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

#[test]
fn the_server_executed_what_the_trace_says() {
    let mut commands = 0;
    for source in lesson::builtin() {
        for plan in lesson::load(source).expect("it loads").plans {
            let dies =
                |event: &lesson::Event| matches!((&event.subject, &event.what), (Subject::Node(_), Do::Crash { .. }));
            if plan.events.iter().any(dies) || plan.is_on_real_clock() {
                continue; // the monitor would die with its node, or be thrown out by a Sentinel
            }
            let newer =
                |event: &lesson::Event| matches!(&event.what, Do::Release(release) if release.how == ReleaseHow::Delex);
            if !plan.needs.command.is_empty() || plan.events.iter().any(newer) {
                continue; // the server here may not have it
            }
            let (trace, seen, refused) = run(watched(&plan));
            let (executed, _) = told(&trace);
            assert_eq!(executed, seen, "{}/{}", plan.lesson, plan.variant);
            assert_eq!(refused, Vec::<String>::new(), "{}/{}", plan.lesson, plan.variant);
            commands += seen.len();
        }
    }
    assert!(commands > 50, "only {commands} commands were compared");
}

#[test]
fn messages_that_are_lost_on_the_way_are_not_executed() {
    let text = include_str!("lessons/engine/faults-on-messages.yaml");
    let lesson = lesson::load(Source::new("faults-on-messages.yaml", text)).expect("it loads");
    for plan in lesson.plans {
        let (trace, seen, _) = run(watched(&plan));
        assert_eq!(told(&trace).0, seen, "{}", plan.variant);
    }
}

#[test]
fn what_the_acl_refuses_stands_in_its_log_and_in_the_trace() {
    let text = r#"
format: 1
id: refused
level: core
title: A script that builds a name
lock: {key: "lock:order", ttl: 10s}
clients: [A]
events:
  - {client: A, do: acquire}
  - {client: A, do: redis, run: {lua: "return redis.pcall(ARGV[1])", keys: [], args: [flushall]}}
  - {client: A, do: redis, run: {lua: "return redis.call('SET', ARGV[1], '1')", keys: [], args: [foreign]}}
  - {client: A, do: redis, run: "GET {key}"}
verdict: held
expect: [{error: A, at: 0s, times: 2}]
"#;
    let lesson = lesson::load(Source::new("refused.yaml", text)).expect("it loads");
    let plan = &lesson.plans[0];
    let (trace, _, refused) = run(watched(plan));
    let judgement = lesson::judge(plan, &trace);
    assert!(judgement.is_as_expected(), "{judgement:#?}");
    // The newest first.
    assert_eq!(refused, ["foreign", "flushall"]);
    let holder = trace.records.iter().filter(|record| matches!(record.what, What::Key { .. })).count();
    assert_eq!(holder, 1, "the lock was made, and nothing else was touched");
}
