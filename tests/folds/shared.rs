//! Locks that several own, or may be inside at once: permits, readers, counts; and whose turn it is.

use lockscope::trace::{EventKind, KeyOp, KeyState, LessonTime, Outcome, Trace, Value, What};

use super::hand::{Hand, LOCK, violations};

/// A hash with one field for each of these clients.
fn shared(owners: &[&str]) -> KeyState {
    let fields = owners.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect();
    KeyState {
        value: Value::Hash(fields),
        deadline: Some(LessonTime(60_000)),
        approximate: false,
        owner: owners.first().map(|name| (*name).to_owned()),
        also: owners.iter().skip(1).map(|name| (*name).to_owned()).collect(),
    }
}

/// `client` takes a part of the lock, which is then as `now` says.
fn take(run: &mut Hand, client: &str, now: &[&str]) {
    let event = run.event(EventKind::Acquire, client);
    let op = if now.len() == 1 { KeyOp::Created } else { KeyOp::Changed };
    run.start(event).send(event, client, &["EVAL"]).by(client, op, Some(shared(now)));
    run.believes(client, true).end(event, Outcome::Granted);
}

fn gives_back(run: &mut Hand, client: &str, now: &[&str]) {
    let event = run.event(EventKind::Release, client);
    run.start(event).believes(client, false).send(event, client, &["EVAL"]);
    run.by(client, KeyOp::Changed, Some(shared(now))).end(event, Outcome::Released);
}

#[test]
fn as_many_as_there_are_permits_do_not_overlap() {
    let mut run = Hand::single(&["A", "B", "C"]);
    run.lock(|lock| lock.permits = 2);
    take(&mut run, "A", &["A"]);
    run.at(1_000);
    take(&mut run, "B", &["A", "B"]);
    run.at(2_000);
    take(&mut run, "C", &["A", "B", "C"]);
    run.at(3_000);
    gives_back(&mut run, "B", &["A", "C"]);
    assert_eq!(violations(&run.done()), ["- {overlap: [A, B, C], from: 2s, to: 3s}"]);
}

#[test]
fn readers_overlap_with_writers_only() {
    let mut run = Hand::single(&["A", "B", "C"]);
    let reads = |client: &str, on| What::Belief { client: client.to_owned(), lock: LOCK.to_owned(), on, read: on };
    run.rec(reads("A", true)).rec(reads("B", true));
    run.at(1_000).believes("C", true);
    run.at(2_000).rec(reads("A", false)).rec(reads("B", false));
    // A comes back to write.
    run.at(3_000).believes("A", true);
    run.at(4_000).believes("C", false);
    assert_eq!(
        violations(&run.done()),
        [
            "- {overlap: [A, C], from: 1s, to: 2s}",
            "- {overlap: [B, C], from: 1s, to: 2s}",
            "- {overlap: [A, C], from: 3s, to: 4s}"
        ]
    );
}

#[test]
fn a_release_that_takes_another_s_part_is_a_wrong_delete_and_an_acquire_that_clears_up_is_not() {
    let mut run = Hand::single(&["A", "B", "C"]);
    run.lock(|lock| lock.permits = 2);
    take(&mut run, "A", &["A"]);
    take(&mut run, "B", &["A", "B"]);
    run.at(1_000);
    gives_back(&mut run, "B", &["B"]);
    assert_eq!(violations(&run.done()), ["- {wrong_delete: {by: B, owner: A}, at: 1s}"]);

    let mut run = Hand::single(&["A", "B", "C"]);
    run.lock(|lock| lock.permits = 2);
    take(&mut run, "A", &["A"]);
    take(&mut run, "B", &["A", "B"]);
    run.at(1_000);
    // A's time was over: C takes its place, and moves the TTL of all.
    take(&mut run, "C", &["B", "C"]);
    run.at(2_000).believes("A", false);
    assert_eq!(violations(&run.done()), ["- {overlap: [A, B, C], from: 1s, to: 2s}"]);
}

#[test]
fn who_waits_for_several_is_stuck_only_if_all_of_them_are() {
    let story = |b_waits: bool| {
        let mut run = Hand::with_locks(&["A", "B", "C"], &["lock", "other"]);
        run.lock(|lock| lock.permits = 2);
        take(&mut run, "A", &["A"]);
        take(&mut run, "B", &["A", "B"]);
        run.grant_until("C", "other", Some(60_000));
        run.at(1_000).wait_for("C", "lock");
        run.at(2_000).wait_for("A", "other");
        if b_waits {
            run.at(3_000).wait_for("B", "other");
        }
        run.at(4_000);
        let found = violations(&run.done());
        found.into_iter().filter(|line| line.contains("deadlock")).collect::<Vec<_>>()
    };
    assert_eq!(story(false), Vec::<String>::new(), "B can still let C in");
    assert_eq!(story(true).len(), 2, "C stands in two circles, one with each owner");
}

#[test]
fn the_earlier_waiter_is_passed_over() {
    let story = |fifo: bool| {
        let mut run = Hand::single(&["A", "B", "C", "D"]);
        run.lock(|lock| lock.fifo = fifo);
        run.grant("A");
        run.at(1_000).wait_for("B", LOCK);
        run.at(2_000).wait_for("C", LOCK);
        run.at(3_000).release("A");
        run.grant("D");
        run.at(4_000).release("D");
        // The same instant is no later.
        let both = run.at(5_000).wait_for("D", LOCK);
        run.grant("A");
        run.end(both, Outcome::Refused);
        run.at(6_000);
        run.done()
    };
    let unfair = |run: Trace| violations(&run).into_iter().filter(|line| line.contains("unfair")).collect::<Vec<_>>();
    assert_eq!(
        unfair(story(true)),
        [
            "- {unfair: {first: B, second: D}, at: 3s}",
            "- {unfair: {first: C, second: D}, at: 3s}",
            "- {unfair: {first: B, second: A}, at: 5s}",
            "- {unfair: {first: C, second: A}, at: 5s}"
        ]
    );
    assert_eq!(unfair(story(false)), Vec::<String>::new());
}

#[test]
fn an_owner_that_enters_once_more_passes_nobody() {
    let mut run = Hand::single(&["A", "B", "C"]);
    run.lock(|lock| lock.fifo = true);
    run.grant("A");
    let first = run.at(1_000).wait_for("B", LOCK);
    run.at(2_000).wait_for("C", LOCK);
    let again = run.event(EventKind::Acquire, "A");
    run.start(again).end(again, Outcome::Granted);
    // At the very instant of the first time, too.
    run.at(3_000).release("A");
    run.believes("B", true).end(first, Outcome::Granted);
    let again = run.event(EventKind::Acquire, "B");
    run.start(again).end(again, Outcome::Granted);
    run.at(4_000);
    let found = violations(&run.done());
    assert!(found.iter().all(|line| !line.contains("unfair")), "{found:?}");
}
