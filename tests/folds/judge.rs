//! The closed world, questions, replies, and events that never ran.

use lockscope::lesson::judge::{Promise, Seen, choice_holds, judge, predicted};
use lockscope::lesson::{Answer, ExpectTime, Fact, ReplyPattern};
use lockscope::trace::{EventKind, FindingKind, LessonTime, Outcome, Reply, Trace, Verdict, What, findings};

use crate::hand::{Hand, LOCK, wrong_delete};
use crate::plan::{Entry, add_event, after, ask, choices, fact, finding, otherwise, plan, reply};
use FindingKind::{Orphan, Overlap, Refused, Starved, WrongDelete};

fn all_of_wrong_delete() -> Vec<Entry> {
    vec![
        finding(Overlap, &["B", "A"]).at(11_000).until_ms(12_000),
        finding(WrongDelete, &[]).with("by", "A").with("owner", "B").at(12_000),
        finding(Overlap, &["B", "C"]).at(12_500).until_ms(14_500),
    ]
}

/// What a judgement complains of: line, promise, and what was seen.
fn complaints(trace: &Trace, verdict: Verdict, entries: &[Entry]) -> Vec<(usize, Promise, Seen)> {
    let judgement = judge(&plan(trace, verdict, entries), trace);
    assert_eq!(judgement.is_as_expected(), judgement.failures.is_empty() && judgement.unrun.is_empty());
    judgement.failures.into_iter().map(|failure| (failure.span.line, failure.promise, failure.seen)).collect()
}

fn instead(entries: &[&str]) -> Seen {
    Seen::Instead(entries.iter().map(|entry| (*entry).to_owned()).collect())
}

#[test]
fn a_run_that_is_all_it_promises_has_no_failures() {
    assert_eq!(complaints(&wrong_delete(), Verdict::Broken, &all_of_wrong_delete()), []);
}

#[test]
fn a_flipped_verdict_fails_at_its_line() {
    let complaints = complaints(&wrong_delete(), Verdict::Held, &all_of_wrong_delete());
    assert_eq!(complaints, [(2, Promise::Verdict, Seen::Verdict(Verdict::Broken))]);
}

#[test]
fn a_dropped_entry_fails_with_what_can_be_pasted_and_the_events_line() {
    let trace = wrong_delete();
    let mut entries = all_of_wrong_delete();
    entries.remove(1);
    let judgement = judge(&plan(&trace, Verdict::Broken, &entries), &trace);
    let [failure] = judgement.failures.as_slice() else { panic!("{judgement:?}") };
    assert_eq!((failure.promise, failure.span.line), (Promise::NothingElse, 2));
    assert_eq!(failure.seen, instead(&["- {wrong_delete: {by: A, owner: B}, at: 12s}"]));
    assert_eq!(failure.cause_line, Some(12), "A's release is the third event");
}

#[test]
fn a_changed_entry_fails_with_what_was_seen_instead_and_only_once() {
    let mut entries = all_of_wrong_delete();
    entries[0] = finding(Overlap, &["A", "B"]).at(11_000).until_ms(13_000);
    let complaints = complaints(&wrong_delete(), Verdict::Broken, &entries);
    assert_eq!(complaints, [(4, Promise::Happens, instead(&["- {overlap: [A, B], from: 11s, to: 12s}"]))]);
}

#[test]
fn an_entry_that_nothing_comes_near_fails_alone() {
    let mut entries = all_of_wrong_delete();
    entries.push(finding(Refused, &["C"]));
    let trace = wrong_delete();
    let judgement = judge(&plan(&trace, Verdict::Broken, &entries), &trace);
    let [failure] = judgement.failures.as_slice() else { panic!("{judgement:?}") };
    assert_eq!((failure.span.line, &failure.seen), (7, &instead(&[])));
    assert_eq!(failure.expected, "{refused: [C]}", "as the file writes it");
}

#[test]
fn two_changed_entries_are_each_told_what_came_nearest() {
    let mut entries = all_of_wrong_delete();
    entries[0] = finding(Overlap, &["B", "C"]).at(1_000);
    entries[2] = finding(Overlap, &["A", "B"]).at(2_000);
    let complaints = complaints(&wrong_delete(), Verdict::Broken, &entries);
    assert_eq!(
        complaints,
        [
            (4, Promise::Happens, instead(&["- {overlap: [B, C], from: 12500ms, to: 14500ms}"])),
            (6, Promise::Happens, instead(&["- {overlap: [A, B], from: 11s, to: 12s}"])),
        ]
    );
}

/// B is refused at 1, 2 and 3 s.
fn three_refusals() -> Trace {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    for second in 1..=3 {
        run.at(second * 1_000).refuse("B");
    }
    run.at(5_000).release("A");
    run.done()
}

#[test]
fn times_stands_for_so_many() {
    let trace = three_refusals();
    assert_eq!(complaints(&trace, Verdict::Held, &[finding(Refused, &["B"]).times(3)]), []);
    let too_many = complaints(&trace, Verdict::Held, &[finding(Refused, &["B"]).times(4)]);
    assert_eq!(too_many, [(4, Promise::Happens, Seen::Times(3))]);
    let too_few = complaints(&trace, Verdict::Held, &[finding(Refused, &["B"]).times(2)]);
    assert_eq!(too_few.len(), 1);
    assert_eq!(too_few[0].1, Promise::NothingElse);
}

#[test]
fn a_vague_entry_does_not_take_what_an_exact_one_needs() {
    let vague = || finding(Refused, &[]);
    let exact = |ms| finding(Refused, &["B"]).at(ms);
    let trace = three_refusals();
    assert_eq!(complaints(&trace, Verdict::Held, &[vague(), exact(1_000), vague()]), []);
    // A range that fits two findings, and an equally exact one that fits only the first of them.
    let range = |a, b| finding(Refused, &["B"]).between(a, b);
    assert_eq!(complaints(&trace, Verdict::Held, &[range(1_000, 2_000), range(0, 1_000), exact(3_000)]), []);
}

#[test]
fn where_not_all_can_be_right_the_vague_one_is_wrong() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    run.at(1_000).refuse("B");
    run.at(5_000).release("A");
    let trace = run.done();
    let entries = [finding(Refused, &["B"]), finding(Refused, &["B"]).at(1_000)];
    assert_eq!(complaints(&trace, Verdict::Held, &entries), [(4, Promise::Happens, instead(&[]))]);
}

#[test]
fn times_of_entries_are_exact_ranges_or_the_end() {
    let mut run = Hand::single(&["A"]);
    run.grant_until("A", LOCK, None);
    run.at(5_000).program_ends("A");
    run.at(9_000);
    let trace = run.done();
    let is_right = |entry: Entry| complaints(&trace, Verdict::Stuck, &[entry]).is_empty();
    let orphan = || finding(Orphan, &["A"]);
    assert!(is_right(orphan().at(5_000).until(ExpectTime::End)));
    assert!(is_right(orphan().between(5_000, 6_000)));
    assert!(is_right(orphan().between(4_000, 5_000)));
    assert!(!is_right(orphan().between(5_001, 6_000)));
    assert!(!is_right(orphan().until_ms(9_000)), "it is still open at 9 s");
    assert!(!is_right(orphan().when(ExpectTime::End)));
    assert!(!is_right(orphan().lock("other")));
}

#[test]
fn fields_that_are_written_are_compared() {
    let trace = three_refusals();
    let is_right = |entry: Entry| complaints(&trace, Verdict::Held, &[entry.times(3)]).is_empty();
    assert!(is_right(finding(Refused, &["B"]).with("why", "held")));
    assert!(!is_right(finding(Refused, &["B"]).with("why", "max")));
    assert!(!is_right(finding(Refused, &["B"]).with("event", "b")));
    assert!(!is_right(finding(Refused, &["A"])));
}

// --- questions ---

#[test]
fn exactly_one_choice_must_hold() {
    let trace = wrong_delete();
    let holder = |name: Option<&str>| fact("holder", Fact::Holder { client: name.map(str::to_owned), node: None });
    let seen = |conditions: &[&[Entry]]| {
        let mut plan = plan(&trace, Verdict::Broken, &all_of_wrong_delete());
        let index = add_event(&mut plan, choices(conditions));
        let judgement = judge(&plan, &trace);
        let line = plan.events[index].span.line;
        assert!(judgement.failures.iter().all(|failure| failure.span.line == line));
        judgement.failures.into_iter().map(|failure| (failure.promise, failure.seen)).next()
    };
    let a = [holder(Some("A")).at(11_999)];
    let b = [finding(WrongDelete, &[]).with("owner", "B")];
    let nobody = [finding(FindingKind::NotOwner, &["A"])];
    assert_eq!(seen(&[&a, &b, &nobody]), None);
    assert_eq!(seen(&[&a, &nobody, &[otherwise()]]), None);
    assert_eq!(seen(&[&b, &[otherwise()]]), None);
    assert_eq!(seen(&[&a, &nobody]), Some((Promise::OneChoice, Seen::Choices(vec![]))));
    let also_right = [holder(None).at(12_000)];
    assert_eq!(seen(&[&a, &b, &also_right]), Some((Promise::OneChoice, Seen::Choices(vec![2, 3]))));
    let both: Vec<Entry> = a.iter().chain(&b).cloned().collect();
    assert_eq!(seen(&[&both, &b]), None, "all conditions of a choice must hold");
}

#[test]
fn the_player_gets_the_same_answers() {
    let trace = wrong_delete();
    let lockscope::lesson::Do::Ask(question) = choices(&[
        &[fact("granted", Fact::Granted { client: "B".to_owned(), event: None }).at(10_000)],
        &[otherwise()],
    ]) else {
        unreachable!()
    };
    let Answer::Choices(choices) = &question.answer else { unreachable!() };
    assert_eq!(choice_holds(&trace, &findings(&trace), choices), [false, true]);
    let granted = |name: &str| fact("granted", Fact::Granted { client: name.to_owned(), event: None });
    assert_eq!(predicted(&trace, &granted("C").when(ExpectTime::Asked).expect()), Some(LessonTime(12_500)));
    assert_eq!(predicted(&trace, &granted("D").when(ExpectTime::Asked).expect()), None);
    let overlap = finding(Overlap, &["A", "B"]).at(11_000).until(ExpectTime::Asked).expect();
    assert_eq!(predicted(&trace, &overlap), Some(LessonTime(12_000)));
}

#[test]
fn what_is_predicted_must_have_one_value() {
    let trace = three_refusals();
    let seen = |entry: Entry| {
        let mut plan = plan(&trace, Verdict::Held, &[finding(Refused, &["B"]).times(3)]);
        add_event(&mut plan, ask(Answer::Predict(Box::new(entry.expect()))));
        judge(&plan, &trace).failures.into_iter().map(|failure| failure.seen).next()
    };
    let released = fact("holder", Fact::Holder { client: None, node: None });
    assert_eq!(seen(released.when(ExpectTime::Asked)), None);
    let refused = finding(Refused, &["B"]).when(ExpectTime::Asked);
    let at = [1_000, 2_000, 3_000].map(LessonTime);
    assert_eq!(seen(refused), Some(Seen::Values(at.to_vec())));
    let lost = finding(FindingKind::Lost, &[]).when(ExpectTime::Asked);
    assert_eq!(seen(lost), Some(Seen::Values(vec![])));
}

#[test]
fn a_question_that_was_skipped_or_is_answered_freely_is_not_proven() {
    let mut run = Hand::single(&["A"]);
    run.grant("A");
    let skipped = run.event(EventKind::Ask, "");
    run.rec(What::EventSkipped { event: skipped });
    run.at(5_000).release("A");
    let trace = run.done();
    let mut plan = plan(&trace, Verdict::Held, &[]);
    plan.events[skipped].what = choices(&[&[finding(Overlap, &[])], &[finding(Orphan, &[])]]);
    add_event(&mut plan, ask(Answer::Model(lockscope::trace::Text::plain("…"))));
    assert_eq!(judge(&plan, &trace).failures, []);
}

// --- replies ---

#[test]
fn replies_are_compared_with_what_the_file_writes() {
    let text = |text: &str| ReplyPattern::Text(text.to_owned());
    let name = |text: &str| text.to_owned();
    let list = |items: &[ReplyPattern]| ReplyPattern::List(items.to_vec());
    let same = [
        (text("OK"), Reply::Status(name("OK"))),
        (text("1"), Reply::Bulk(name("1"))),
        (text("WRONGTYPE"), Reply::Error(name("WRONGTYPE Operation against a key"))),
        (ReplyPattern::Int(1), Reply::Int(1)),
        (ReplyPattern::Nil, Reply::Nil),
        (list(&[ReplyPattern::Int(1), text("a")]), Reply::List(vec![Reply::Int(1), Reply::Bulk(name("a"))])),
    ];
    for (i, (pattern, _)) in same.iter().enumerate() {
        for (j, (_, reply)) in same.iter().enumerate() {
            assert_eq!(pattern.matches(reply), i == j, "{pattern:?} and {reply:?}");
        }
    }
    assert!(!list(&[ReplyPattern::Int(1)]).matches(&Reply::List(vec![Reply::Int(1), Reply::Int(1)])));
}

#[test]
fn a_reply_that_differs_or_never_came_fails_at_its_line() {
    let mut run = Hand::single(&["A"]);
    let first = run.event(EventKind::Redis, "A");
    run.start(first).at(2_000).end_reply(first, Outcome::Ok, Reply::Int(0));
    let second = run.event(EventKind::Redis, "A");
    run.start(second).at(3_000).end(second, Outcome::Done);
    let trace = run.done();
    let mut plan = plan(&trace, Verdict::Held, &[]);
    reply(&mut plan, first, ReplyPattern::Int(1));
    reply(&mut plan, second, ReplyPattern::Nil);
    let seen: Vec<_> = judge(&plan, &trace).failures.into_iter().map(|f| (f.span.line, f.promise, f.seen)).collect();
    assert_eq!(
        seen,
        [
            (10, Promise::Reply, Seen::Reply { at: LessonTime(2_000), reply: Some(Reply::Int(0)) }),
            (11, Promise::Reply, Seen::Reply { at: LessonTime(3_000), reply: None }),
        ]
    );
    reply(&mut plan, first, ReplyPattern::Int(0));
    plan.events[second].reply = None;
    assert!(judge(&plan, &trace).is_as_expected());
}

// --- events that never ran ---

fn not_run(event: usize) -> What {
    What::EventNotRun { event, because: "its time never came".to_owned() }
}

#[test]
fn an_event_that_never_ran_is_reported_and_the_verdict_is_no_failure() {
    let mut run = Hand::single(&["A"]);
    run.grant("A");
    let work = run.event(EventKind::Work, "A");
    run.at(5_000).release("A");
    run.rec(not_run(work));
    let trace = run.done();
    let judgement = judge(&plan(&trace, Verdict::Held, &[]), &trace);
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    assert_eq!(judgement.failures, []);
    assert_eq!(judgement.unrun.len(), 1);
    assert_eq!((judgement.unrun[0].span.line, judgement.unrun[0].because.as_str()), (11, "its time never came"));
    assert!(!judgement.is_as_expected());
}

#[test]
fn it_is_reported_beside_a_verdict_that_fits() {
    let mut trace = wrong_delete();
    let end = trace.records.pop().unwrap();
    let record = lockscope::trace::Record { what: not_run(0), ..end.clone() };
    trace.records.extend([record, end]);
    let judgement = judge(&plan(&trace, Verdict::Broken, &all_of_wrong_delete()), &trace);
    assert_eq!((judgement.failures.len(), judgement.unrun.len()), (0, 1));
}

/// B waits to the end; its work never runs, nor does what C does after it, and then.
fn starving() -> (Trace, [usize; 3]) {
    let mut run = Hand::single(&["A", "B", "C"]);
    run.grant_until("A", LOCK, None);
    run.at(1_000).crash("A");
    run.at(2_000).wait_for("B", LOCK);
    let work = run.event(EventKind::Work, "B");
    let after_it = run.event(EventKind::Idle, "C");
    let and_then = run.event(EventKind::Idle, "C");
    run.at(60_000).rec(not_run(work)).rec(not_run(after_it)).rec(not_run(and_then));
    (run.done(), [work, after_it, and_then])
}

#[test]
fn what_waits_for_the_starved_is_explained_if_starving_is_expected() {
    let (trace, [work, after_it, _]) = starving();
    let entries = [finding(Orphan, &["A"]), finding(Starved, &["B"])];
    let mut plan = plan(&trace, Verdict::Stuck, &entries);
    assert_eq!(judge(&plan, &trace).unrun.len(), 2, "C has nothing to do with B yet");
    after(&mut plan, after_it, work);
    assert!(judge(&plan, &trace).is_as_expected());
    plan.expect.pop();
    let judgement = judge(&plan, &trace);
    assert_eq!((judgement.failures.len(), judgement.unrun.len()), (1, 3));
}

#[test]
fn a_question_that_was_never_reached_is_the_players_concern() {
    let mut run = Hand::single(&["A"]);
    let ask = run.event(EventKind::Ask, "");
    run.grant("A");
    run.at(5_000).release("A");
    run.rec(not_run(ask));
    let trace = run.done();
    assert_eq!(judge(&plan(&trace, Verdict::Held, &[]), &trace).unrun, []);
}
