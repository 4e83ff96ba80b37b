//! `--check`: exit codes and reports, with runners that hand out traces.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use lockscope::check::{Exit, Job, Options, Summary, check, colour_wanted};
use lockscope::lesson::{Plan, RunFailure, RunLesson};
use lockscope::trace::{EventKind, FindingKind, Lang, LessonTime, Trace, Verdict, What, jsonl};

use crate::hand::{Hand, wrong_delete};
use crate::plan::{Entry, finding, lesson, plan};
use FindingKind::{Overlap, Refused, WrongDelete};

/// Hands out one answer per variant, always the same one; a `twist` may change the trace by how often it ran.
#[derive(Clone)]
struct Shelf {
    answers: Arc<BTreeMap<String, Result<Trace, RunFailure>>>,
    twist: Option<fn(usize, &mut Trace)>,
    runs: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl RunLesson for Shelf {
    fn run(&mut self, plan: &Plan) -> Result<Trace, RunFailure> {
        let mut runs = self.runs.lock().unwrap();
        let run = runs.entry(plan.variant.clone()).or_default();
        *run += 1;
        let mut answer = self.answers[&plan.variant].clone();
        if let (Ok(trace), Some(twist)) = (&mut answer, self.twist) {
            twist(*run, trace);
        }
        answer
    }
}

/// One lesson with these variants, and what running them gives.
struct Bench {
    jobs: Vec<Job>,
    shelf: Shelf,
}

impl Bench {
    fn new(variants: Vec<(&str, Plan, Result<Trace, RunFailure>)>) -> Self {
        let answers = variants.iter().map(|(id, _, answer)| ((*id).to_owned(), answer.clone())).collect();
        let plans = variants.into_iter().map(|(id, plan, _)| (id, plan)).collect();
        let jobs = vec![Job::Lesson(Box::new(lesson("wrong-delete", plans)))];
        Self { jobs, shelf: Shelf { answers: Arc::new(answers), twist: None, runs: Arc::default() } }
    }

    fn check(&self, options: &Options) -> (Summary, String) {
        let mut out = Vec::new();
        let make = || -> Box<dyn RunLesson> { Box::new(self.shelf.clone()) };
        let summary = check(&self.jobs, options, &make, &mut out).unwrap();
        (summary, String::from_utf8(out).unwrap())
    }
}

fn right() -> Vec<Entry> {
    vec![
        finding(Overlap, &["A", "B"]).at(11_000).until_ms(12_000),
        finding(WrongDelete, &[]).with("by", "A").with("owner", "B").at(12_000),
        finding(Overlap, &["B", "C"]),
    ]
}

fn good(id: &str) -> (&str, Plan, Result<Trace, RunFailure>) {
    (id, plan(&wrong_delete(), Verdict::Broken, &right()), Ok(wrong_delete()))
}

fn failing(id: &str, failure: RunFailure) -> (&str, Plan, Result<Trace, RunFailure>) {
    (id, plan(&wrong_delete(), Verdict::Broken, &right()), Err(failure))
}

fn wrong(id: &str) -> (&str, Plan, Result<Trace, RunFailure>) {
    let mut entries = right();
    entries[0] = finding(Overlap, &["A", "B"]).at(11_000).until_ms(13_000);
    entries.push(finding(Refused, &["C"]));
    entries.remove(1);
    (id, plan(&wrong_delete(), Verdict::Held, &entries), Ok(wrong_delete()))
}

fn unrun(id: &str) -> (&str, Plan, Result<Trace, RunFailure>) {
    let mut run = Hand::single(&["A"]);
    run.grant("A");
    let work = run.event(EventKind::Work, "A");
    run.at(5_000).release("A");
    run.rec(What::EventNotRun { event: work, because: "its anchor `b` never came".to_owned() });
    let trace = run.done();
    (id, plan(&trace, Verdict::Held, &[]), Ok(trace))
}

#[test]
fn all_as_expected_is_exit_0_and_a_line_each() {
    let bench = Bench::new(vec![good("del"), good("again")]);
    let (summary, report) = bench.check(&Options::default());
    assert_eq!(summary, Summary { passed: 2, failed: 0, skipped: 0, exit: Exit::Fine });
    let expected = "\
ok          wrong-delete/del    broken          16.000 s    112.0 ms
ok          wrong-delete/again  broken          16.000 s    112.0 ms

2 passed, 0 failed, 0 skipped
";
    assert_eq!(report, expected);
}

#[test]
fn what_is_not_as_expected_is_exit_4_with_place_promise_and_what_can_be_pasted() {
    let (summary, report) = Bench::new(vec![wrong("del")]).check(&Options::default());
    assert_eq!((summary.exit.code(), summary.failed), (4, 1));
    let expected = "\
FAILED      wrong-delete/del  broken          16.000 s    112.0 ms

wrong-delete/del
  lessons/by-hand.yaml:2
  expected  verdict: held
  seen      verdict: broken

wrong-delete/del
  lessons/by-hand.yaml:4
  expected  {overlap: [A, B], at: 11s, to: 13s}
  seen      - {overlap: [A, B], from: 11s, to: 12s}   # by the event in line 11

wrong-delete/del
  lessons/by-hand.yaml:6
  expected  {refused: [C]}
  seen      nothing of the kind

wrong-delete/del
  lessons/by-hand.yaml:2
  expected  nothing else: no entry expects what happened
  seen      - {wrong_delete: {by: A, owner: B}, at: 12s}   # by the event in line 12

0 passed, 1 failed, 0 skipped
";
    assert_eq!(report, expected);
}

#[test]
fn the_report_speaks_chinese() {
    let options = Options { lang: Lang::Zh, ..Options::default() };
    let (_, report) = Bench::new(vec![good("del"), wrong("bad")]).check(&options);
    let expected = "\
通过    wrong-delete/del  失效            16.000 s    112.0 ms
失败    wrong-delete/bad  失效            16.000 s    112.0 ms

wrong-delete/bad
  lessons/by-hand.yaml:2
  预期  verdict: held
  实际  verdict: broken
";
    assert!(report.starts_with(expected), "{report}");
    assert!(report.ends_with("\n通过 1，失败 1，跳过 0\n"), "{report}");
}

#[test]
fn each_failure_has_its_exit_code() {
    let with = |variant| Bench::new(vec![good("del"), variant]).check(&Options::default());
    let environment = || RunFailure::Environment("no redis-server found\ntry: apt-get install redis-server".to_owned());
    let cases = [
        (failing("x", environment()), 3, "not run     wrong-delete/x"),
        (wrong("x"), 4, "FAILED      wrong-delete/x"),
        (unrun("x"), 5, "no answer   wrong-delete/x    inconclusive     5.000 s"),
        (failing("x", RunFailure::Engine("no park for 5 s".to_owned())), 5, "no answer   wrong-delete/x"),
    ];
    for (variant, code, line) in cases {
        let (summary, report) = with(variant);
        assert_eq!((summary.exit.code(), summary.passed, summary.failed), (code, 1, 1), "{report}");
        assert!(report.contains(line), "{report}");
    }
}

#[test]
fn a_skipped_variant_is_no_failure_and_says_why() {
    let skip = RunFailure::Skipped("needs DELEX, which redis 7.0.15 does not have".to_owned());
    let (summary, report) = Bench::new(vec![good("del"), failing("delex", skip)]).check(&Options::default());
    assert_eq!(summary, Summary { passed: 1, failed: 0, skipped: 1, exit: Exit::Fine });
    assert!(report.contains("skipped     wrong-delete/delex  needs DELEX, which redis 7.0.15"), "{report}");
}

#[test]
fn of_several_failures_the_lowest_code_counts() {
    let exit = |variants| Bench::new(variants).check(&Options::default()).0.exit;
    assert_eq!(exit(vec![unrun("a"), wrong("b"), good("c")]), Exit::Failed);
    let environment = failing("c", RunFailure::Environment("no redis-server found".to_owned()));
    assert_eq!(exit(vec![unrun("a"), wrong("b"), environment]), Exit::Environment);
    assert_eq!(exit(vec![good("a"), unrun("b")]), Exit::Inconclusive);
}

#[test]
fn an_event_that_never_ran_is_shown_with_its_line() {
    let (_, report) = Bench::new(vec![unrun("x")]).check(&Options::default());
    let text = "  lessons/by-hand.yaml:11: this event never ran: its anchor `b` never came\n";
    assert!(report.contains(text), "{report}");
}

#[test]
fn a_file_that_cannot_be_read_is_exit_2_even_if_the_filter_would_not_have_it() {
    let mut bench = Bench::new(vec![good("del")]);
    let diagnostics = "error: unknown key `dooo`\n --> lessons/bad.yaml:3:5\n".to_owned();
    bench.jobs.insert(0, Job::Broken { name: "lessons/bad.yaml".to_owned(), diagnostics });
    let options = Options { filter: Some("del".to_owned()), ..Options::default() };
    let (summary, report) = bench.check(&options);
    assert_eq!((summary.exit.code(), summary.passed, summary.failed), (2, 1, 1));
    assert!(report.starts_with("unreadable  lessons/bad.yaml\nok          wrong-delete/del  "), "{report}");
    assert!(report.contains("\n\nerror: unknown key `dooo`\n --> lessons/bad.yaml:3:5\n\n"), "{report}");
}

#[test]
fn a_missing_server_is_said_once_and_nothing_more_is_begun() {
    let missing = || RunFailure::Environment("no redis-server found".to_owned());
    let bench = Bench::new(vec![failing("a", missing()), failing("b", missing()), good("c")]);
    let (summary, report) = bench.check(&Options::default());
    assert_eq!((summary.exit, summary.passed, summary.failed), (Exit::Environment, 0, 3));
    assert_eq!(report.matches("no redis-server found").count(), 1, "{report}");
    assert_eq!(bench.shelf.runs.lock().unwrap().values().sum::<usize>(), 1);
}

#[test]
fn a_filter_selects_and_nothing_selected_is_wrong_usage() {
    let bench = Bench::new(vec![good("del"), good("lua"), good("lua-watchdog")]);
    let filter = |text: &str| Options { filter: Some(text.to_owned()), ..Options::default() };
    assert_eq!(bench.check(&filter("/lua")).0.passed, 2);
    assert_eq!(bench.check(&filter("delete/del")).0.passed, 1);
    let (summary, report) = bench.check(&filter("redlock"));
    assert_eq!(summary.exit.code(), 1);
    assert!(report.starts_with("Nothing matches `redlock`"), "{report}");
    let none = Bench { jobs: Vec::new(), ..bench };
    assert_eq!(none.check(&Options::default()).0.exit, Exit::Usage);
}

#[test]
fn repeated_runs_that_differ_only_in_real_time_are_the_same() {
    let mut bench = Bench::new(vec![good("del")]);
    bench.shelf.twist = Some(|run, trace| {
        for record in &mut trace.records {
            record.real_us = record.real_us.map(|us| us + run as u64);
        }
    });
    let (summary, report) = bench.check(&Options { repeat: 7, ..Options::default() });
    assert_eq!(summary.exit, Exit::Fine, "{report}");
    assert_eq!(bench.shelf.runs.lock().unwrap()["del"], 7);
    assert!(report.ends_with("\n1 passed, 0 failed, 0 skipped; what passed ran 7 times, always alike\n"), "{report}");
}

#[test]
fn a_run_that_differs_fails_with_the_first_difference_of_both() {
    let mut bench = Bench::new(vec![good("del")]);
    bench.shelf.twist = Some(|run, trace| {
        if run == 3 {
            trace.records[8].t = LessonTime(10_001);
        }
    });
    let (summary, report) = bench.check(&Options { repeat: 5, ..Options::default() });
    assert_eq!(summary.exit, Exit::Failed);
    let expected = "\
FAILED      wrong-delete/del

wrong-delete/del
  run 3 gave another trace than run 1 (record 9)
  run 1  {\"t\":10000,\"what\":\"key\",\"node\":\"redis\",\"key\":\"lock:lock\",\"op\":\"expired\",\"cause\":\"expiry\"}
  run 3  {\"t\":10001,\"what\":\"key\",\"node\":\"redis\",\"key\":\"lock:lock\",\"op\":\"expired\",\"cause\":\"expiry\"}

0 passed, 1 failed, 0 skipped
";
    assert_eq!(report, expected);

    bench.shelf.runs.lock().unwrap().clear();
    bench.shelf.twist = Some(|run, trace| {
        if run == 2 {
            trace.records.truncate(1);
        }
    });
    let (_, report) = bench.check(&Options { repeat: 2, ..Options::default() });
    assert!(report.contains("run 2 gave another trace than run 1 (record 2)\n"), "{report}");
    assert!(report.contains("  run 2  (the run had ended)\n"), "{report}");
}

/// A runner for which the first variants take longest: the last ones are done first.
struct Slow(Shelf, Arc<AtomicUsize>);

impl RunLesson for Slow {
    fn run(&mut self, plan: &Plan) -> Result<Trace, RunFailure> {
        // `a` is not done before two others are; that needs a second thread.
        if plan.variant == "a" {
            while self.1.load(Ordering::SeqCst) < 2 {
                std::thread::yield_now();
            }
        } else {
            self.1.fetch_add(1, Ordering::SeqCst);
        }
        self.0.run(plan)
    }
}

#[test]
fn results_are_printed_in_the_lessons_order_whoever_is_done_first() {
    let bench = Bench::new(vec![good("a"), good("b"), good("c"), good("d")]);
    let done = Arc::new(AtomicUsize::new(0));
    let make = || -> Box<dyn RunLesson> { Box::new(Slow(bench.shelf.clone(), Arc::clone(&done))) };
    let mut out = Vec::new();
    let options = Options { jobs: 2, ..Options::default() };
    let summary = check(&bench.jobs, &options, &make, &mut out).unwrap();
    assert_eq!(summary.passed, 4);
    let report = String::from_utf8(out).unwrap();
    let names: Vec<&str> = report.lines().filter_map(|line| line.split_whitespace().nth(1)).take(4).collect();
    assert_eq!(names, ["wrong-delete/a", "wrong-delete/b", "wrong-delete/c", "wrong-delete/d"]);
}

#[test]
fn traces_are_kept_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("deep/er");
    let bench = Bench::new(vec![good("del")]);
    assert_eq!(bench.check(&Options { traces: Some(deep.clone()), ..Options::default() }).0.exit, Exit::Fine);
    let file = std::fs::read(deep.join("wrong-delete.del.jsonl")).unwrap();
    assert_eq!(jsonl::read(file.as_slice()).unwrap(), wrong_delete());

    let in_the_way = folder.path().join("file");
    std::fs::write(&in_the_way, "").unwrap();
    let (summary, report) = bench.check(&Options { traces: Some(in_the_way), ..Options::default() });
    assert_eq!(summary.exit, Exit::Environment);
    assert!(report.contains("the trace could not be written to "), "{report}");
}

#[test]
fn warnings_are_shown_and_fail_nothing() {
    let mut run = Hand::single(&["A"]);
    let event = run.grant("A");
    run.rec(What::Warning { event: Some(event), text: "it ran 2 s late".to_owned() });
    run.at(5_000).release("A");
    let trace = run.done();
    let (summary, report) =
        Bench::new(vec![("x", plan(&trace, Verdict::Held, &[]), Ok(trace))]).check(&Options::default());
    assert_eq!(summary.exit, Exit::Fine);
    assert!(report.contains("\nwarning: wrong-delete/x\n  lessons/by-hand.yaml:10: it ran 2 s late\n"), "{report}");
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    assert!(colour_wanted(true, None) && colour_wanted(true, Some("")));
    assert!(!colour_wanted(true, Some("1")) && !colour_wanted(false, None));
    let bench = Bench::new(vec![good("a"), wrong("b")]);
    let (_, plain) = bench.check(&Options::default());
    let (_, coloured) = bench.check(&Options { colour: true, ..Options::default() });
    assert!(!plain.contains('\u{1b}'));
    let mut without = coloured.clone();
    for code in ["\u{1b}[0m", "\u{1b}[32m", "\u{1b}[1;31m", "\u{1b}[2m"] {
        without = without.replace(code, "");
    }
    assert!(coloured != plain && without == plain, "{coloured}");
}
