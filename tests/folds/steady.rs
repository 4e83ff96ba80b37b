//! Two runs in real time are the same if the same came of them, whatever the times; and different if not.

use lockscope::trace::{KeyOp, Outcome, Trace, What};

use crate::hand::{Hand, LOCK};

/// A run in which B tries `tries` times until it is let in `after` ms; `owner`: of the key in the end.
fn run(tries: usize, after: u64, owner: &str) -> Trace {
    let mut run = Hand::quorum(&["A", "B"]);
    run.at(after);
    for _ in 0..tries {
        run.rec(What::TryFailed { event: 0, outcome: Outcome::Error });
        run.rec(What::SentinelSays {
            sentinel: "s1".to_owned(),
            event: "+sdown".to_owned(),
            about: Some("m".to_owned()),
        });
    }
    let cause = run.command(owner);
    run.key_on("n1", LOCK, KeyOp::Created, cause, Some(Hand::value(owner, Some(after + 10_000))));
    run.rec(What::Belief { client: owner.to_owned(), lock: "lock".to_owned(), on: true, read: false });
    run.done()
}

#[test]
fn neither_times_nor_tries_count_but_what_came_of_them() {
    assert_eq!(run(1, 2000, "B").steady(), run(5, 4000, "B").steady());
    assert_ne!(run(1, 2000, "B").steady(), run(1, 2000, "A").steady());
}

#[test]
fn what_is_about_two_may_come_in_any_order_what_is_about_one_may_not() {
    let believes =
        |client: &str, on| What::Belief { client: client.to_owned(), lock: "lock".to_owned(), on, read: false };
    let told = |records: [What; 3]| {
        let mut run = Hand::quorum(&["A", "B"]);
        for what in records {
            run.rec(what);
        }
        run.done().steady()
    };
    let died = || What::NodeCrashed { node: "n1".to_owned() };
    let first = told([believes("A", true), died(), believes("A", false)]);
    assert_eq!(first, told([died(), believes("A", true), believes("A", false)]));
    assert_ne!(first, told([believes("A", false), died(), believes("A", true)]));
}
