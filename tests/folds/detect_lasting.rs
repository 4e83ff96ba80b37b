//! `overlap`, `orphan`, `abandoned`, `ghost_renewal`, `deadlock`, `starved`.

use lockscope::trace::{Cause, EventKind, KeyOp, LessonTime, Outcome, What, findings};

use crate::hand::{Hand, LOCK, violations};

const NOTHING: [&str; 0] = [];

// --- overlap ---

#[test]
fn who_leaves_and_who_enters_at_one_instant_do_not_overlap() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    run.at(10_000).expire();
    // B's records come first, and it is still no overlap.
    run.grant("B");
    run.program_ends("A");
    run.at(11_000).program_ends("B");
    assert_eq!(violations(&run.done()), NOTHING);
}

#[test]
fn one_millisecond_is_an_overlap() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    run.at(10_000).expire();
    run.grant("B");
    run.at(10_001).program_ends("A");
    run.at(11_000).program_ends("B");
    assert_eq!(violations(&run.done()), ["- {overlap: [A, B], from: 10s, to: 10001ms}"]);
}

#[test]
fn who_works_without_believing_is_inside() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    run.works("A", true);
    run.at(5_000).believes("A", false).by("A", KeyOp::Removed, None);
    run.at(6_000).grant("B");
    run.at(8_000).works("A", false);
    run.at(9_000).program_ends("B");
    assert_eq!(violations(&run.done()), ["- {overlap: [A, B], from: 6s, to: 8s}"]);
}

#[test]
fn leaving_and_entering_again_at_one_instant_is_one_overlap() {
    let mut run = Hand::single(&["A", "B"]);
    run.works("A", true).works("B", true);
    run.at(3_000).works("A", false).works("A", true);
    run.at(5_000).works("A", false);
    run.at(7_000).works("A", true);
    run.at(8_000).works("B", false);
    let trace = run.done();
    assert_eq!(violations(&trace), ["- {overlap: [A, B], from: 0ms, to: 5s}", "- {overlap: [A, B], from: 7s, to: 8s}"]);
    let first = &findings(&trace)[0];
    assert_eq!(first.record, 1, "it began when the second one came in");
    assert_eq!(first.end_record, Some(4), "it ended when the first one left for good");
}

#[test]
fn three_inside_are_three_pairs_in_the_lessons_order_and_what_is_open_stays_open() {
    let mut run = Hand::single(&["B", "A", "C"]);
    run.works("A", true);
    run.at(1_000).works("C", true);
    run.at(2_000).works("B", true);
    let trace = run.at(3_000).works("C", false);
    let _ = trace;
    assert_eq!(
        violations(&run.done()),
        [
            "- {overlap: [A, C], from: 1s, to: 3s}",
            "- {overlap: [B, A], from: 2s, to: end}",
            "- {overlap: [B, C], from: 2s, to: 3s}",
        ]
    );
}

#[test]
fn two_locks_are_two_doors() {
    let mut run = Hand::with_locks(&["A", "B"], &["x", "y"]);
    run.grant_until("A", "x", Some(10_000));
    run.grant_until("B", "y", Some(10_000));
    run.at(1_000).believes_in("B", "x", true);
    run.at(2_000).believes_in("B", "x", false);
    assert_eq!(violations(&run.done()), ["- {overlap: [A, B], from: 1s, to: 2s, lock: x}"]);
}

// --- orphan ---

/// A sends SETNX at 0 and crashes at 1 s, before EXPIRE.
fn setnx_crash() -> Hand {
    let mut run = Hand::single(&["A", "B"]);
    let event = run.event(EventKind::Acquire, "A");
    run.start(event).send(event, "A", &["SETNX", "lock:lock", "token"]);
    run.by("A", KeyOp::Created, Some(Hand::value("A", None)));
    run.at(1_000).crash("A");
    run
}

#[test]
fn a_lock_without_ttl_is_an_orphan_from_its_owners_crash_on() {
    let mut run = setnx_crash();
    run.at(2_000).wait_for("B", LOCK);
    run.at(60_000);
    assert_eq!(violations(&run.done()), ["- {orphan: A, from: 1s, to: end}", "- {starved: B, while: held, at: end}"]);
}

#[test]
fn an_orphan_ends_when_the_key_goes() {
    let mut run = setnx_crash();
    run.at(9_000).by("B", KeyOp::Removed, None);
    assert_eq!(violations(&run.done()), ["- {orphan: A, from: 1s, to: 9s}"]);
}

#[test]
fn a_lock_is_no_orphan_while_its_owner_is_acquiring_believes_or_if_it_has_a_ttl() {
    let mut run = Hand::single(&["A"]);
    let event = run.event(EventKind::Acquire, "A");
    run.start(event).by("A", KeyOp::Created, Some(Hand::value("A", None)));
    run.at(1_000).believes("A", true).end(event, Outcome::Granted);
    run.at(2_000).by("A", KeyOp::Retimed, Some(Hand::value("A", Some(9_000))));
    run.at(3_000).program_ends("A");
    assert_eq!(violations(&run.done()), NOTHING);
}

#[test]
fn a_release_that_takes_no_time_leaves_no_orphan() {
    let mut run = Hand::single(&["A"]);
    run.grant_until("A", LOCK, None);
    run.at(3_000).release("A");
    assert_eq!(violations(&run.done()), NOTHING);
}

#[test]
fn asking_again_at_once_with_the_same_token_leaves_no_orphan_and_asking_later_does() {
    for pause in [0, 500] {
        let mut run = Hand::single(&["A"]);
        let first = run.event(EventKind::Acquire, "A");
        run.start(first).by("A", KeyOp::Created, Some(Hand::value("A", None)));
        run.at(1_000).end(first, Outcome::Unknown);
        let again = run.at(1_000 + pause).event(EventKind::Acquire, "A");
        run.start(again).believes("A", true).end(again, Outcome::Granted);
        run.at(5_000).release("A");
        let expected: &[&str] = if pause == 0 { &[] } else { &["- {orphan: A, from: 1s, to: 1500ms}"] };
        assert_eq!(violations(&run.done()), expected, "after {pause} ms");
    }
}

#[test]
fn an_orphan_that_begins_with_the_last_record_stays() {
    let mut run = Hand::single(&["A"]);
    run.grant_until("A", LOCK, None);
    run.at(5_000).program_ends("A");
    assert_eq!(violations(&run.done()), ["- {orphan: A, from: 5s, to: end}"]);
}

// --- abandoned ---

#[test]
fn a_forgotten_release_is_found_by_the_first_who_is_refused() {
    let mut run = Hand::single(&["A", "B", "C"]);
    run.grant("A");
    run.at(4_000).program_ends("A");
    run.at(5_000).refuse("B");
    run.at(6_000).refuse("C");
    run.at(10_000).expire();
    run.at(11_000);
    assert_eq!(violations(&run.done()), ["- {abandoned: {of: A, victim: B}, from: 5s, to: 10s}"]);
}

#[test]
fn who_waits_already_is_the_victim_from_the_moment_nobody_is_behind_the_lock() {
    let mut run = Hand::single(&["A", "B", "C"]);
    run.grant("A");
    run.at(1_000).wait_for("C", LOCK);
    run.at(2_000).wait_for("B", LOCK);
    run.at(4_000).program_ends("A");
    run.at(10_000).expire();
    let trace = run.done();
    assert_eq!(violations(&trace)[0], "- {abandoned: {of: A, victim: C}, from: 4s, to: 10s}");
}

#[test]
fn a_dead_owner_and_a_believing_one_abandon_nothing() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    run.at(1_000).refuse("B");
    run.at(4_000).crash("A");
    run.at(5_000).refuse("B");
    run.at(10_000).expire();
    assert_eq!(violations(&run.done()), NOTHING);
}

#[test]
fn a_release_with_a_waiter_abandons_nothing_if_it_takes_no_time_and_does_if_it_is_on_its_way() {
    for gap in [0, 300] {
        let mut run = Hand::single(&["A", "B"]);
        run.grant("A");
        let waits = run.at(1_000).wait_for("B", LOCK);
        run.at(4_000).believes("A", false);
        run.at(4_000 + gap).by("A", KeyOp::Removed, None);
        run.at(5_000).end(waits, Outcome::Granted);
        let expected: &[&str] =
            if gap == 0 { &[] } else { &["- {abandoned: {of: A, victim: B}, from: 4s, to: 4300ms}"] };
        assert_eq!(violations(&run.done()), expected, "with a gap of {gap} ms");
    }
}

#[test]
fn who_is_refused_by_its_own_lock_is_a_victim_too_and_who_waits_for_it_is_in_a_deadlock() {
    for waits in [false, true] {
        let mut run = Hand::single(&["A"]);
        run.grant("A");
        run.at(1_000).believes("A", false);
        run.at(2_000);
        let event = if waits { run.wait_for("A", LOCK) } else { run.refuse("A") };
        run.at(10_000).expire();
        if waits {
            run.at(11_000).end(event, Outcome::Granted);
        }
        let expected = if waits {
            "- {deadlock: [A], from: 2s, to: 10s}"
        } else {
            "- {abandoned: {of: A, victim: A}, from: 2s, to: 10s}"
        };
        assert_eq!(violations(&run.done()), [expected]);
    }
}

// --- ghost_renewal ---

#[test]
fn a_watchdog_that_goes_on_after_its_client_is_a_ghost_from_its_first_success_on() {
    let mut run = Hand::single(&["A"]);
    run.grant("A");
    run.at(3_000).by("A", KeyOp::Retimed, Some(Hand::value("A", Some(13_000)))).tick("A", Outcome::Renewed);
    run.at(5_000).program_ends("A");
    run.at(6_000).by("A", KeyOp::Retimed, Some(Hand::value("A", Some(16_000)))).tick("A", Outcome::Renewed);
    run.at(9_000).by("A", KeyOp::Retimed, Some(Hand::value("A", Some(19_000)))).tick("A", Outcome::Renewed);
    run.at(19_000).expire();
    run.at(20_000).tick("A", Outcome::Lost);
    assert_eq!(violations(&run.done()), ["- {ghost_renewal: {by: A}, from: 6s, to: 19s}"]);
}

#[test]
fn a_renewal_that_found_nothing_is_no_ghost() {
    let mut run = Hand::single(&["A"]);
    run.grant("A");
    run.at(5_000).program_ends("A");
    run.at(10_000).expire();
    run.at(12_000).tick("A", Outcome::Lost);
    let renew = run.event(EventKind::Renew, "A");
    run.start(renew).end(renew, Outcome::Unknown);
    assert_eq!(violations(&run.done()), NOTHING);
}

// --- deadlock ---

#[test]
fn two_that_wait_for_each_other_are_a_deadlock_until_one_stops() {
    let mut run = Hand::with_locks(&["B", "A"], &["x", "y"]);
    run.grant_until("A", "x", Some(20_000));
    run.grant_until("B", "y", Some(20_000));
    run.at(1_000).wait_for("A", "y");
    let b = run.at(2_000).wait_for("B", "x");
    let begins = run.next() - 1;
    run.at(9_000).end(b, Outcome::Refused);
    let trace = run.done();
    let found = findings(&trace);
    let deadlock = found.iter().find(|f| f.kind.name() == "deadlock").unwrap();
    assert_eq!(deadlock.who, ["B", "A"], "in the lesson's order");
    assert_eq!((deadlock.from, deadlock.to), (LessonTime(2_000), Some(LessonTime(9_000))));
    assert_eq!(deadlock.record, begins);
    assert_eq!(deadlock.lock, None, "it is about two locks");
}

#[test]
fn a_chain_is_no_circle_and_three_can_make_one() {
    let mut run = Hand::with_locks(&["A", "B", "C"], &["x", "y", "z"]);
    for (client, lock) in [("A", "x"), ("B", "y"), ("C", "z")] {
        run.grant_until(client, lock, Some(20_000));
    }
    run.at(1_000).wait_for("A", "y");
    run.wait_for("B", "z");
    run.at(3_000).wait_for("C", "x");
    run.at(4_000);
    assert_eq!(violations(&run.done())[0], "- {deadlock: [A, B, C], from: 3s, to: end}");
}

#[test]
fn waiting_for_ones_own_lock_is_a_deadlock_of_one() {
    let mut run = Hand::single(&["A"]);
    run.grant("A");
    let again = run.at(1_000).wait_for("A", LOCK);
    run.at(1_500).send(again, "A", &["SET"]).rec(What::TryFailed { event: again, outcome: Outcome::Refused });
    run.at(10_000).expire();
    run.by("A", KeyOp::Created, Some(Hand::value("A", Some(20_000)))).end(again, Outcome::Granted);
    run.program_ends("A");
    assert_eq!(violations(&run.done()), ["- {deadlock: [A], from: 1s, to: 10s}"]);
}

#[test]
fn a_grant_whose_answer_is_slow_is_no_deadlock() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("B");
    let waits = run.at(1_000).wait_for("A", LOCK);
    run.at(4_000).release("B");
    run.at(5_000).send(waits, "A", &["SET"]).by("A", KeyOp::Created, Some(Hand::value("A", Some(15_000))));
    // The answer gets lost; the next try finds its own value and accepts it.
    run.at(6_000).rec(What::TryFailed { event: waits, outcome: Outcome::Unknown });
    run.at(7_000).believes("A", true).end(waits, Outcome::Granted);
    run.at(8_000).program_ends("A");
    assert_eq!(violations(&run.done()), NOTHING);
}

// --- starved ---

#[test]
fn starved_is_who_still_waits_at_the_end_and_it_says_whether_the_lock_was_free() {
    let mut run = Hand::single(&["A", "B", "C"]);
    run.grant("A");
    run.at(1_000).wait_for("B", LOCK);
    let c = run.wait_for("C", LOCK);
    run.at(2_000).end(c, Outcome::Refused);
    run.at(4_000).release("A");
    run.at(30_000);
    let trace = run.done();
    assert_eq!(violations(&trace), ["- {starved: B, while: free, at: end}"]);
    assert_eq!(findings(&trace).last().unwrap().from, LessonTime(30_000));
}

#[test]
fn a_first_try_under_way_is_not_starved() {
    let mut run = Hand::single(&["A"]);
    let event = run.event(EventKind::Acquire, "A");
    run.start(event).send(event, "A", &["SET"]);
    run.at(500).key_on("redis", LOCK, KeyOp::Created, Cause::Replication, Some(Hand::value("A", Some(9_000))));
    assert_eq!(violations(&run.done()), NOTHING);
}
