//! What happened to the protected data: each kind, and the nearest things that are not it.

use lockscope::trace::data::Guarded;
use lockscope::trace::{EventKind, KeyOp, Outcome, Reply, Trace, Verdict, What, findings, verdict};

use crate::hand::{Hand, line, row, violations};

fn verdict_of(trace: &Trace) -> Verdict {
    verdict(trace, &findings(trace))
}

/// A's lease runs out while it works; B takes the lock. The clock stands at 11 s, B inside.
fn lapsed() -> Hand {
    let mut run = Hand::single(&["A", "B"]);
    run.row("stock", 5, Some(0)).log("charges", &[]);
    run.grant("A");
    run.at(10_000).expire();
    run.believes("A", false); // so that nothing but the data is in question
    run.at(11_000).grant("B");
    run
}

/// The same; A has sent a write while it held the lock, and it is still on its way. Answers its event and number.
fn lapsed_with_a_write_under_way() -> (Hand, usize, u32) {
    let mut run = Hand::single(&["A", "B"]);
    run.row("stock", 5, Some(0)).log("charges", &[]);
    run.grant("A");
    let event = run.at(9_000).event(EventKind::Write, "A");
    let cmd = run.start(event).sends_to_data("A", event);
    run.at(10_000).expire();
    run.believes("A", false);
    run.at(11_000).grant("B");
    (run, event, cmd)
}

#[test]
fn a_write_after_one_of_a_later_grant_is_stale() {
    let mut run = lapsed();
    run.write("B", "stock", Guarded::None, row(4, 2));
    run.at(12_000).write("A", "stock", Guarded::None, row(3, 3));
    let run = run.done();
    let seen = violations(&run);
    assert!(seen.contains(&"- {stale_write: {by: A, after: B}, at: 12s}".to_owned()), "{seen:?}");
    assert_eq!(verdict_of(&run), Verdict::Broken);
}

#[test]
fn a_late_write_that_comes_first_is_not_stale() {
    let (mut run, event, cmd) = lapsed_with_a_write_under_way();
    run.at(12_000).executes(cmd, "A", event, "stock", Guarded::Fence, row(4, 2));
    run.write("B", "stock", Guarded::Fence, row(3, 3));
    assert_eq!(violations(&run.done()), Vec::<String>::new());
}

#[test]
fn a_write_belongs_to_the_grant_under_which_it_was_made() {
    // A gets the lock once more before its first write arrives: that one is of the first grant all the same.
    let (mut run, event, cmd) = lapsed_with_a_write_under_way();
    run.write("B", "stock", Guarded::None, row(4, 2));
    run.release("B");
    run.at(13_000).grant("A");
    run.executes(cmd, "A", event, "stock", Guarded::None, row(3, 3));
    run.release("A");
    assert_eq!(violations(&run.done()), ["- {stale_write: {by: A, after: B}, at: 13s}"]);
}

#[test]
fn the_order_of_grants_is_that_of_redis_not_that_of_the_answers() {
    let mut run = Hand::single(&["A", "B"]);
    run.row("stock", 5, None);
    // A's answer is long on its way: when it comes, B has got the lock, written, and let go.
    let first = run.event(EventKind::Acquire, "A");
    run.start(first).send(first, "A", &["SET"]).by("A", KeyOp::Created, Some(Hand::value("A", Some(10_000))));
    run.at(10_000).expire();
    run.grant("B");
    run.write("B", "stock", Guarded::None, row(4, 2));
    run.release("B");
    run.at(12_000).believes("A", true).end(first, Outcome::Granted);
    run.write("A", "stock", Guarded::None, row(3, 3));
    run.believes("A", false);
    assert_eq!(violations(&run.done()), ["- {stale_write: {by: A, after: B}, at: 12s}"]);
}

#[test]
fn other_resources_and_refused_writes_are_not_stale() {
    let mut run = lapsed();
    run.write("B", "stock", Guarded::None, row(4, 2));
    run.at(12_000).write("A", "charges", Guarded::None, line("order-17"));
    run.write("A", "stock", Guarded::Fence, None);
    let run = run.done();
    assert_eq!(violations(&run), ["- {rejected_write: A, at: 12s}"]);
    assert_eq!(verdict_of(&run), Verdict::Contained);
}

#[test]
fn an_update_is_lost_if_its_version_was_not_read() {
    let mut run = Hand::single(&["A", "B"]);
    run.row("stock", 5, None);
    run.write("A", "stock", Guarded::None, row(4, 2));
    run.at(1_000).write("B", "stock", Guarded::None, row(4, 3));
    run.computed_from(1);
    let run = run.done();
    assert_eq!(violations(&run), ["- {lost_update: {by: B, of: A}, at: 1s}"]);
    assert_eq!(verdict_of(&run), Verdict::Broken);
}

#[test]
fn no_update_is_lost_that_was_read_or_is_ones_own() {
    let mut run = Hand::single(&["A", "B"]);
    run.row("stock", 5, None);
    run.write("A", "stock", Guarded::None, row(4, 2));
    run.write("B", "stock", Guarded::None, row(3, 3));
    run.computed_from(2);
    run.write("B", "stock", Guarded::None, row(2, 4)); // computed by the database, or set: no read
    run.write("B", "stock", Guarded::None, row(2, 5));
    run.computed_from(3); // only its own writes came since
    assert_eq!(violations(&run.done()), Vec::<String>::new());
}

#[test]
fn an_update_is_lost_under_ones_own_too() {
    let mut run = Hand::single(&["A", "B"]);
    run.row("stock", 5, None);
    run.write("A", "stock", Guarded::None, row(4, 2));
    run.write("B", "stock", Guarded::None, row(9, 3));
    run.write("B", "stock", Guarded::None, row(4, 4));
    run.computed_from(1);
    assert_eq!(violations(&run.done()), ["- {lost_update: {by: B, of: A}, at: 0ms}"]);
}

#[test]
fn a_row_below_its_minimum_is_oversold_until_it_is_not() {
    let mut run = Hand::single(&["A"]);
    run.row("stock", 1, Some(0)).row("other", 0, None);
    run.at(1_000).write("A", "stock", Guarded::None, row(0, 2));
    run.at(2_000).write("A", "stock", Guarded::None, row(-1, 3));
    run.at(3_000).write("A", "other", Guarded::None, row(-9, 2));
    run.at(4_000).write("A", "stock", Guarded::None, row(0, 4));
    run.at(5_000).write("A", "stock", Guarded::None, row(-2, 5));
    let run = run.done();
    assert_eq!(violations(&run), ["- {oversold: stock, from: 2s, to: 4s}", "- {oversold: stock, from: 5s, to: end}"]);
    assert_eq!(verdict_of(&run), Verdict::Broken);
}

#[test]
fn what_is_to_be_done_once_is_done_once() {
    let mut run = Hand::single(&["A", "B"]);
    run.log("charges", &["order-17", "order-18"]);
    run.write("A", "charges", Guarded::None, line("order-17"));
    run.write("A", "charges", Guarded::None, line("other"));
    run.write("B", "charges", Guarded::None, line("other"));
    run.at(2_000).write("B", "charges", Guarded::None, line("order-17"));
    run.at(3_000);
    let run = run.done();
    assert_eq!(
        violations(&run),
        [
            "- {duplicate: {log: charges, key: order-17}, at: 2s}",
            "- {never_done: {log: charges, key: order-18}, at: end}"
        ]
    );
    assert_eq!(verdict_of(&run), Verdict::Broken);
}

#[test]
fn what_was_refused_is_not_done() {
    let mut run = Hand::single(&["A", "B"]);
    run.log("charges", &["order-17"]);
    run.write("A", "charges", Guarded::Once, None);
    let run = run.done();
    assert_eq!(
        violations(&run),
        ["- {rejected_write: A, at: 0ms}", "- {never_done: {log: charges, key: order-17}, at: end}"]
    );
    // Nothing broke; that the effect is missing does not take back that a guard held.
    assert_eq!(verdict_of(&run), Verdict::Contained);
}

#[test]
fn a_guard_that_shuts_the_holder_out_is_wrong() {
    for (guard, seen) in [
        (Guarded::Fence, "- {wrong_reject: A, at: 1s}"),
        (Guarded::Version, "- {wrong_reject: A, at: 1s}"),
        // These ask the data alone.
        (Guarded::AtLeast, "- {rejected_write: A, at: 1s}"),
        (Guarded::Once, "- {rejected_write: A, at: 1s}"),
    ] {
        let mut run = Hand::single(&["A"]);
        run.row("stock", 5, None);
        run.grant("A");
        run.at(1_000).write("A", "stock", guard, None);
        run.release("A");
        let run = run.done();
        assert_eq!(violations(&run), [seen], "{guard:?}");
        let wrong = seen.contains("wrong_reject");
        assert_eq!(verdict_of(&run), if wrong { Verdict::Stuck } else { Verdict::Contained });
    }
}

#[test]
fn who_holds_no_more_or_was_followed_is_refused_rightly() {
    // The lease has run out, nobody came.
    let mut run = Hand::single(&["A"]);
    run.row("stock", 5, None);
    run.grant("A");
    run.at(10_000).expire();
    run.believes("A", false).at(11_000).write("A", "stock", Guarded::Version, None);
    assert_eq!(violations(&run.done()), ["- {rejected_write: A, at: 11s}"]);

    // It was sent in time, and arrives when there is a later grant.
    let (mut run, event, cmd) = lapsed_with_a_write_under_way();
    run.at(12_000).executes(cmd, "A", event, "stock", Guarded::Fence, None);
    assert_eq!(violations(&run.done()), ["- {rejected_write: A, at: 12s}"]);

    // Nobody has a lock at all.
    let mut run = Hand::single(&["A"]);
    run.row("stock", 5, None);
    run.write("A", "stock", Guarded::Version, None);
    assert_eq!(violations(&run.done()), ["- {rejected_write: A, at: 0ms}"]);
}

#[test]
fn a_write_that_is_undone_with_another_is_neither_accepted_nor_refused() {
    let mut run = Hand::single(&["A"]);
    run.row("stock", 0, Some(0)).log("charges", &[]);
    let event = run.event(EventKind::Write, "A");
    let cmd = run.start(event).sends_to_data("A", event);
    run.executes(cmd, "A", event, "charges", Guarded::None, None);
    run.undone();
    run.executes(cmd, "A", event, "stock", Guarded::AtLeast, None);
    let run = run.done();
    assert_eq!(violations(&run), ["- {rejected_write: A, at: 0ms}"]);
}

#[test]
fn a_broken_lock_is_contained_only_if_the_data_is_whole() {
    let build = |harm: bool| {
        let mut run = lapsed();
        run.believes("A", true); // two inside
        run.write("B", "stock", Guarded::Fence, row(4, 2));
        run.at(12_000).write("A", "stock", Guarded::Fence, None);
        if harm {
            run.at(13_000).write("B", "stock", Guarded::None, row(-1, 3));
        }
        run.believes("A", false);
        run.done()
    };
    assert_eq!(verdict_of(&build(false)), Verdict::Contained);
    assert_eq!(verdict_of(&build(true)), Verdict::Broken);
}

#[test]
fn statements_survive_a_trip_through_a_file() {
    let mut run = lapsed();
    run.write("B", "stock", Guarded::Fence, row(4, 2));
    run.computed_from(1);
    run.write("B", "charges", Guarded::Once, line("order-17"));
    run.write("A", "stock", Guarded::AtLeast, None);
    run.rec(What::Exec { cmd: 3, reply: Reply::Int(0) });
    let run = run.done();
    let mut file = Vec::new();
    lockscope::trace::jsonl::write(&run, &mut file).unwrap();
    assert_eq!(lockscope::trace::jsonl::read(file.as_slice()).unwrap(), run);
}
