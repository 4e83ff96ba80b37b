//! A lock on most of several masters: who holds it, and what of that counts.

use lockscope::trace::{Cause, KeyOp, LessonTime, State, Trace};

use crate::hand::{Hand, LOCK, violations};

const NOTHING: [&str; 0] = [];

/// `client` gets the key on these nodes now, until `deadline` on each.
fn votes(run: &mut Hand, client: &str, nodes: &[(&str, u64)]) {
    for (node, deadline) in nodes {
        let cause = run.command(client);
        run.key_on(node, LOCK, KeyOp::Created, cause, Some(Hand::value(client, Some(*deadline))));
    }
}

fn vanish(run: &mut Hand, node: &str, cause: Cause) {
    run.key_on(node, LOCK, KeyOp::Removed, cause, None);
}

fn last(trace: &Trace) -> State {
    State::after(&trace.header, &trace.records, trace.records.len())
}

#[test]
fn whoever_owns_more_than_half_of_all_nodes_holds_it() {
    let mut run = Hand::quorum(&["A", "B"]);
    votes(&mut run, "A", &[("n1", 10_000)]);
    votes(&mut run, "B", &[("n2", 10_000)]);
    let trace = run.done();
    assert_eq!(last(&trace).holders(&trace.header, LOCK), NOTHING);
    assert_eq!(last(&trace).key_seen_by(&trace.header, "A", LOCK), None);

    let mut run = Hand::quorum(&["A", "B"]);
    votes(&mut run, "B", &[("n2", 10_000), ("n3", 10_000)]);
    run.rec(lockscope::trace::What::NodeCrashed { node: "n3".to_owned() });
    let trace = run.done();
    assert_eq!(last(&trace).holders(&trace.header, LOCK), ["B"], "a node that is down keeps its vote");
    assert_eq!(last(&trace).votes(&trace.header, "B", LOCK), 2);
}

#[test]
fn a_majority_lasts_until_the_vote_that_it_cannot_lose() {
    let mut run = Hand::quorum(&["A"]);
    votes(&mut run, "A", &[("n1", 3_000), ("n2", 10_000), ("n3", 7_000)]);
    let trace = run.done();
    let state = last(&trace);
    let key = state.key_seen_by(&trace.header, "A", LOCK).unwrap();
    assert_eq!(key.deadline, Some(LessonTime(7_000)));
}

#[test]
fn a_vote_may_go_and_the_majority_may_not() {
    let mut run = Hand::quorum(&["A"]);
    votes(&mut run, "A", &[("n1", 10_000), ("n2", 10_000), ("n3", 10_000)]);
    run.believes("A", true);
    vanish(run.at(1_000), "n1", Cause::Restart);
    let two = run.next();
    vanish(run.at(2_000), "n2", Cause::ClockJump);
    let trace = run.done();
    assert_eq!(violations(&trace), ["- {lost_lock: {of: A, by: clock_jump}, at: 2s}"]);
    assert_eq!(lockscope::trace::findings(&trace)[0].record, two);
}

#[test]
fn votes_that_run_out_are_not_lost() {
    let mut run = Hand::quorum(&["A"]);
    votes(&mut run, "A", &[("n1", 1_000), ("n2", 1_000)]);
    run.believes("A", true);
    run.at(1_000).key_on("n1", LOCK, KeyOp::Expired, Cause::Expiry, None);
    vanish(run.at(1_500), "n2", Cause::Flush);
    assert_eq!(violations(&run.done()), NOTHING);
}

#[test]
fn one_release_that_removes_several_votes_of_another_is_one_wrong_delete() {
    let mut run = Hand::quorum(&["A", "B"]);
    votes(&mut run, "B", &[("n1", 10_000), ("n2", 10_000), ("n3", 10_000)]);
    run.believes("B", true);
    run.at(1_000);
    for node in ["n1", "n2", "n3"] {
        let cause = run.command("A");
        run.key_on(node, LOCK, KeyOp::Removed, cause, None);
    }
    assert_eq!(violations(&run.done()), ["- {wrong_delete: {by: A, owner: B}, at: 1s}"]);
}

#[test]
fn whoever_is_refused_for_want_of_votes_may_stand_before_a_lock_that_nobody_is_behind() {
    use lockscope::trace::{EventKind, Outcome, Why};
    let mut run = Hand::quorum(&["A", "B"]);
    votes(&mut run, "A", &[("n1", 10_000), ("n2", 10_000)]);
    run.at(1_000);
    let event = run.event(EventKind::Acquire, "B");
    run.start(event).end_why(event, Outcome::Refused, Why::NoQuorum);
    run.at(10_000);
    for node in ["n1", "n2"] {
        run.key_on(node, LOCK, KeyOp::Expired, Cause::Expiry, None);
    }
    assert_eq!(violations(&run.done()), ["- {abandoned: {of: A, victim: B}, from: 1s, to: 10s}"]);
}
