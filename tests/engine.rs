//! The engine on real servers: what each action and happening does, the same trace every time, on the wall clock too.

mod common;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{engine, prove, prove_where_it_can};
use lockscope::engine::{ClockKind, Engine};
use lockscope::lesson::{self, Lesson, Plan, RunLesson, catalogue};
use lockscope::servers::Binary;
use lockscope::trace::{Trace, What, jsonl};

fn lessons(folder: &str) -> Vec<Lesson> {
    let sources =
        catalogue::load_dir(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("the folder is there");
    assert!(!sources.is_empty(), "{folder} has no lesson");
    sources
        .into_iter()
        .map(|source| {
            lesson::load(source.clone()).unwrap_or_else(|errors| panic!("{}", lesson::render_all(&source, &errors)))
        })
        .collect()
}

/// All variants but those in real time, of which `sentinel.rs` says what must be so.
fn plans(folder: &str) -> Vec<Plan> {
    let plans = lessons(folder).into_iter().flat_map(|lesson| lesson.plans);
    plans.filter(|plan| !plan.is_on_real_clock()).collect()
}

/// A trace as text, without what may differ between two runs.
fn text(trace: &Trace) -> String {
    let mut bytes = Vec::new();
    jsonl::write(&trace.without_real_times(), &mut bytes).expect("a vector takes everything");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// The first line in which two traces differ, from both.
fn difference(a: &str, b: &str) -> Option<String> {
    let mut lines = a.lines().zip(b.lines()).enumerate();
    if let Some((i, (a, b))) = lines.find(|(_, (a, b))| a != b) {
        return Some(format!("line {}:\n  {a}\n  {b}", i + 1));
    }
    (a.lines().count() != b.lines().count()).then(|| "one is longer".to_owned())
}

#[test]
fn every_action_and_happening_does_what_its_lesson_says() {
    let mut engine = engine();
    for plan in plans("tests/lessons/engine") {
        let ran = prove_where_it_can(&mut engine, &plan);
        // Only newer servers have the command that compares and deletes (`make check-valkey` runs it on one).
        assert!(ran || plan.lesson == "delex", "{}/{} was skipped", plan.lesson, plan.variant);
    }
}

#[test]
fn the_examples_are_as_they_say() {
    let mut engine = engine();
    let plans = plans("tests/lessons/examples");
    assert_eq!(plans.len(), 22);
    for plan in &plans {
        prove(&mut engine, plan);
    }
}

#[test]
fn the_same_lesson_gives_the_same_trace() {
    let mut engine = engine();
    for plan in plans("tests/lessons/engine").iter().chain(&plans("lessons")) {
        let Some(first) = common::trace(&mut engine, plan).as_ref().map(text) else { continue };
        for ahead in [false, true] {
            if ahead {
                engine.get_ready(plan);
            }
            let again = text(&engine.run(plan).expect("it runs"));
            assert_eq!(difference(&first, &again), None, "{}/{}", plan.lesson, plan.variant);
        }
        // Other servers, freshly started.
        let fresh = text(&common::engine().run(plan).expect("it runs"));
        assert_eq!(difference(&first, &fresh), None, "{}/{} on fresh servers", plan.lesson, plan.variant);
    }
}

/// Warp moves TTLs so that nobody waits; on the wall clock nothing is moved and everybody does. Both must tell the same
/// story.
#[test]
fn the_wall_clock_tells_the_same_story() {
    const LONGEST_MS: u64 = 20_000;
    /// Waiting costs nothing, so many lessons wait at once; not all, since each has up to five servers of its own.
    const AT_ONCE: usize = 8;
    let binary = Binary::find(None).expect("a redis-server");
    let mut warp = engine();
    let mut stories: Vec<(u64, Plan, String)> = Vec::new();
    // A script that computes with PTTL sees the real clock, and on a busy wall that is late.
    let reads_the_clock = |plan: &Plan| plan.lesson == "lifetimes";
    let candidates = plans("lessons").into_iter().chain(plans("tests/lessons/engine"));
    for plan in candidates.filter(|plan| !reads_the_clock(plan)) {
        let Some(trace) = common::trace(&mut warp, &plan) else { continue };
        let end = trace.records.last().map_or(0, |record| record.t.ms());
        if end <= LONGEST_MS {
            stories.push((end, plan, text(&trace)));
        }
    }
    drop(warp);
    assert!(stories.len() >= 40, "only {} lessons are short enough", stories.len());
    // The longest first, so that the threads end together.
    stories.sort_by_key(|(end, ..)| std::cmp::Reverse(*end));
    let (next, differences) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let mut wall = Engine::new(binary.clone(), ClockKind::Wall).expect("an engine");
                while let Some((_, plan, warped)) = stories.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let real = wall.run(plan);
                    let real = real.unwrap_or_else(|why| panic!("{}/{}: {why}", plan.lesson, plan.variant));
                    let real = text(&real);
                    // The header says which clock it was; all else must be the same.
                    let real = real.replacen("\"clock\":\"wall\"", "\"clock\":\"warp\"", 1);
                    if let Some(difference) = difference(warped, &real) {
                        let difference = format!("{}/{}: {difference}", plan.lesson, plan.variant);
                        differences.lock().expect("no panic").push(difference);
                    }
                }
            });
        }
    });
    let differences = differences.into_inner().expect("no panic");
    assert!(differences.is_empty(), "warp and wall differ:\n{}", differences.join("\n"));
}

/// What replicas say by themselves, they say in real time; a lesson must not show whether that was before a `WAIT`.
#[test]
fn a_wait_whose_answer_is_known_asks_nobody() {
    let plan = plans("tests/lessons/engine")
        .into_iter()
        .find(|plan| (&*plan.lesson, &*plan.variant) == ("acks", "one-of-two"));
    let trace = prove(&mut engine(), &plan.expect("it is there"));
    let kept = trace.records.iter().filter_map(|record| match &record.what {
        What::Link { a, held, .. } if a == "r1" => Some((record.t.ms(), *held)),
        _ => None,
    });
    assert_eq!(kept.collect::<Vec<_>>(), [(1000, 0), (2000, 1)], "r1 was asked by A's first WAIT alone");
}

#[test]
fn no_deadline_has_to_be_guessed() {
    let mut engine = engine();
    for plan in plans("tests/lessons/engine").iter().chain(&plans("lessons")) {
        let Some(trace) = common::trace(&mut engine, plan) else { continue };
        let guessed = trace.records.iter().find(|record| match &record.what {
            What::Key { now: Some(now), .. } => now.approximate,
            _ => false,
        });
        assert_eq!(guessed, None, "{}/{}", plan.lesson, plan.variant);
    }
}

/// A replica behind a held link does not hear of the lesson clock. Where that shows, it is said; real time shows it as it is.
#[test]
fn what_the_lesson_clock_cannot_show_is_said() {
    let text = r#"
format: 1
id: behind
level: core
title: A replica that cannot know that the time is over
servers: {kind: replicated, replicas: 1}
lock: {key: "lock:order", ttl: 1s}
clients: [A, B]
events:
  - {client: A, do: acquire, token: {fixed: "A:1"}}
  - {link: [m, r1], at: 500ms, do: hold}
  - {client: B, at: 900ms, do: redis, via: r1, run: "GET {key}", reply: "A:1"}
  - {client: B, at: 1500ms, do: redis, via: r1, run: "GET {key}", reply: nil}
verdict: held
expect: [{expired: lock, at: 1s}]
"#;
    let lesson = lesson::load(lesson::Source::new("behind.yaml", text)).expect("it loads");
    let plan = &lesson.plans[0];
    let said = engine().run(plan).expect_err("the key is still there");
    assert!(matches!(&said, lesson::RunFailure::Engine(text) if text.contains("only `--clock wall`")), "{said:?}");
    let mut wall = Engine::new(Binary::find(None).expect("a redis-server"), ClockKind::Wall).expect("an engine");
    prove(&mut wall, plan);
}
