//! Facts: true, not true, and what is true instead.

use lockscope::lesson::expect::KeyTtl;
use lockscope::lesson::judge::{Promise, Seen, judge};
use lockscope::lesson::{ExpectTime, Fact, ReplyPattern};
use lockscope::trace::data::Guarded;
use lockscope::trace::{Cause, EventKind, KeyOp, KeyState, LessonTime, Outcome, Trace, Value, What, findings, verdict};

use crate::hand::{Hand, LOCK, line, row, wrong_delete};
use crate::plan::{Entry, fact, plan};

/// What is seen instead of the fact; none: it is true.
fn seen(trace: &Trace, entry: Entry) -> Option<Seen> {
    let verdict = verdict(trace, &findings(trace));
    let judgement = judge(&plan(trace, verdict, &[entry]), trace);
    let mut facts = judgement.failures.into_iter().filter(|failure| failure.promise == Promise::Fact);
    let seen = facts.next().map(|failure| failure.seen);
    assert!(facts.next().is_none());
    seen
}

fn is_true(trace: &Trace, entry: Entry) -> bool {
    seen(trace, entry).is_none()
}

#[expect(clippy::unnecessary_wraps, reason = "it is compared with what `seen` answers")]
fn instead(entries: &[&str]) -> Option<Seen> {
    Some(Seen::Instead(entries.iter().map(|entry| (*entry).to_owned()).collect()))
}

fn holder(client: &str) -> Entry {
    let client = (client != "nobody").then(|| client.to_owned());
    fact("holder", Fact::Holder { client, node: None })
}

fn key(value: Option<ReplyPattern>, ttl: Option<KeyTtl>, count: Option<i64>) -> Entry {
    fact("key", Fact::Key { key: None, value, ttl, count, node: None })
}

#[expect(clippy::unnecessary_wraps, reason = "it stands where a TTL may be left out")]
fn left(ms: u64) -> Option<KeyTtl> {
    Some(KeyTtl::Left(LessonTime(ms)))
}

#[test]
fn the_holder_at_an_instant_is_the_one_after_everything_that_happens_then() {
    let run = wrong_delete();
    for (name, at) in [("A", 0), ("A", 9_999), ("nobody", 10_000), ("B", 11_000), ("B", 11_999), ("nobody", 12_000)] {
        assert!(is_true(&run, holder(name).at(at)), "{name} at {at}");
    }
    assert_eq!(seen(&run, holder("A").at(12_000)), instead(&["- {holder: nobody, at: 12s}"]));
    assert_eq!(seen(&run, holder("nobody").at(11_500)), instead(&["- {holder: B, at: 11500ms}"]));
    assert!(is_true(&run, holder("C").when(ExpectTime::End)));
    assert_eq!(seen(&run, holder("B").when(ExpectTime::End)), instead(&["- {holder: C, at: end}"]));
    assert!(is_true(&run, holder("B")), "at some time");
    assert_eq!(seen(&run, holder("D")), instead(&[]));
}

#[test]
fn a_range_asks_for_some_instant_of_it() {
    let run = wrong_delete();
    assert!(is_true(&run, holder("A").between(9_999, 20_000)));
    assert!(!is_true(&run, holder("A").between(10_000, 16_000)));
    assert_eq!(
        seen(&run, holder("A").between(10_500, 11_500)),
        instead(&["- {holder: nobody, at: 10500ms}", "- {holder: B, at: 11s}"])
    );
}

#[test]
fn past_the_end_nothing_is_so() {
    let run = wrong_delete();
    assert!(is_true(&run, holder("C").at(16_000)));
    assert_eq!(seen(&run, holder("C").at(16_001)), Some(Seen::RunEnded(LessonTime(16_000))));
    assert_eq!(seen(&run, holder("nobody").at(99_000)), Some(Seen::RunEnded(LessonTime(16_000))));
}

#[test]
fn two_masters_can_have_two_holders_and_a_node_can_be_asked() {
    let mut run = Hand::replicated(&["A", "B"]);
    run.grant("A");
    run.at(3_000).rec(What::NodePromoted { node: "r1".to_owned(), stays: vec!["A".to_owned()], by: None });
    let by_b = Cause::Command { cmd: 9, client: "B".to_owned() };
    run.at(4_000).key_on("r1", LOCK, KeyOp::Created, by_b, Some(Hand::value("B", Some(14_000))));
    run.at(5_000);
    let run = run.done();
    assert!(is_true(&run, holder("A").at(4_000)));
    assert!(is_true(&run, holder("B").at(4_000)));
    let on = |client: Option<&str>, node: &str| {
        fact("holder", Fact::Holder { client: client.map(str::to_owned), node: Some(node.to_owned()) })
    };
    assert!(is_true(&run, on(Some("B"), "r1").at(4_000)));
    assert!(is_true(&run, on(None, "r1").at(3_999)));
    assert_eq!(seen(&run, on(Some("B"), "m").at(4_000)), instead(&["- {holder: A, at: 4s, node: m}"]));
}

#[test]
fn belief_is_half_open_too() {
    let run = wrong_delete();
    let believes = |name: &str| fact("believes", Fact::Believes(name.to_owned()));
    assert!(is_true(&run, believes("A").at(11_999)));
    assert_eq!(seen(&run, believes("A").at(12_000)), instead(&["- {believes: B, at: 12s}"]));
}

#[test]
fn grants_and_expiries_and_stops_are_instants() {
    let mut run = Hand::single(&["A"]);
    run.grant("A");
    let work = run.event(EventKind::Work, "A");
    run.start(work).at(10_000).expire();
    run.at(11_000).end(work, Outcome::Stopped);
    let again = run.at(12_000).event(EventKind::Acquire, "A");
    run.id("again").start(again).end(again, Outcome::Granted);
    let run = run.done();
    let granted = |event: Option<&str>| {
        fact("granted", Fact::Granted { client: "A".to_owned(), event: event.map(str::to_owned) })
    };
    assert!(is_true(&run, granted(None).at(0)));
    assert!(is_true(&run, granted(Some("again")).between(12_000, 13_000)));
    assert!(is_true(&run, granted(None).when(ExpectTime::End)));
    assert!(!is_true(&run, granted(Some("again")).at(0)));
    assert_eq!(seen(&run, granted(None).at(1)), instead(&["- {granted: A, at: 0ms}", "- {granted: A, at: 12s}"]));
    let expired = || fact("expired", Fact::Expired(LOCK.to_owned()));
    assert!(is_true(&run, expired().at(10_000)));
    assert_eq!(seen(&run, expired().at(9_999)), instead(&["- {expired: lock, at: 10s}"]));
    assert!(!is_true(&run, fact("expired", Fact::Expired("other".to_owned()))));
    assert!(is_true(&run, fact("stopped", Fact::Stopped("A".to_owned())).at(11_000)));
    assert_eq!(seen(&run, fact("stopped", Fact::Stopped("B".to_owned()))), instead(&[]));
}

#[test]
fn unprotected_is_from_the_loss_to_the_end_of_the_belief() {
    let run = wrong_delete();
    let unprotected = |name: &str| fact("unprotected", Fact::Unprotected(name.to_owned()));
    assert!(is_true(&run, unprotected("A").at(10_000).until_ms(12_000)));
    assert!(is_true(&run, unprotected("B").at(12_000).until_ms(16_000)));
    assert_eq!(
        seen(&run, unprotected("A").at(10_000).until(ExpectTime::End)),
        instead(&["- {unprotected: A, from: 10s, to: 12s}"])
    );
    assert_eq!(seen(&run, unprotected("C")), instead(&[]), "C was protected as long as it believed");
}

#[test]
fn waited_is_the_longest_acquire() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    let b = run.at(1_000).wait_for("B", LOCK);
    run.at(4_000).release("A");
    run.at(4_500).end(b, Outcome::Granted);
    run.at(6_000).refuse("B");
    run.at(7_000).wait_for("A", LOCK);
    run.at(9_000);
    let run = run.done();
    let waited = |name: &str, ms| fact("waited", Fact::Waited { client: name.to_owned(), at_most: LessonTime(ms) });
    assert!(is_true(&run, waited("B", 3_500)));
    assert_eq!(seen(&run, waited("B", 3_499)), instead(&["- {waited: B, at_most: 3500ms}"]));
    assert_eq!(seen(&run, waited("A", 1_000)), instead(&["- {waited: A, at_most: 2s}"]), "it waits to the end");
    assert_eq!(seen(&run, waited("C", 1_000)), instead(&[]), "it never asked");
}

#[test]
fn commands_are_counted_and_grants_are_ordered() {
    let run = wrong_delete();
    let commands = |at_most| fact("commands", Fact::Commands { client: "A".to_owned(), at_most });
    assert!(is_true(&run, commands(2)));
    assert_eq!(seen(&run, commands(1)), instead(&["- {commands: A, at_most: 2}"]));
    let order = |names: &[&str]| fact("order", Fact::Order(names.iter().map(|n| (*n).to_owned()).collect()));
    assert!(is_true(&run, order(&["A", "B", "C"])));
    assert!(is_true(&run, order(&["B", "C"])), "only those that are named are looked at");
    assert_eq!(seen(&run, order(&["C", "B"])), instead(&["- {order: [B, C]}"]));
    assert!(!is_true(&run, order(&["B", "B", "C"])));
}

#[test]
fn a_key_is_compared_by_value_ttl_and_count() {
    let text = |text: &str| Some(ReplyPattern::Text(text.to_owned()));
    let run = wrong_delete();
    assert!(is_true(&run, key(text("token-of-A"), left(7_000), None).at(3_000)));
    assert!(is_true(&run, key(Some(ReplyPattern::Nil), None, None).at(10_000)));
    assert!(!is_true(&run, key(text("token-of-A"), None, None).at(10_000)));
    assert_eq!(
        seen(&run, key(None, left(6_999), None).at(3_000)),
        instead(&["- {key: {value: token-of-A, ttl: 7s}, at: 3s}"])
    );
    assert_eq!(
        seen(&run, key(None, Some(KeyTtl::None), None).at(10_500)),
        instead(&["- {key: {value: nil}, at: 10500ms}"])
    );
    // A TTL without a time: at some instant so much was left.
    assert!(is_true(&run, key(text("token-of-A"), left(1), None)));
    assert!(!is_true(&run, key(text("token-of-A"), left(10_001), None)));
    assert!(is_true(&run, key(None, left(6_000), None).between(3_000, 5_000)));
    assert!(!is_true(&run, key(None, left(6_000), None).between(3_000, 3_999)));
}

#[test]
fn counts_of_hashes_strings_and_lists() {
    let mut run = Hand::single(&["A"]);
    let value = |value: Value, approximate: bool| KeyState {
        value,
        deadline: Some(LessonTime(10_000)),
        approximate,
        owner: Some("A".to_owned()),
        also: Vec::new(),
    };
    let hash = Value::Hash(vec![("A".to_owned(), "2".to_owned())]);
    run.by("A", KeyOp::Created, Some(value(hash, false)));
    run.at(1_000).by("A", KeyOp::Replaced, Some(value(Value::String("41".to_owned()), true)));
    let list = Value::Other { r#type: "list".to_owned(), len: 3 };
    run.at(2_000).by("A", KeyOp::Replaced, Some(value(list, false)));
    let run = run.done();
    assert!(is_true(&run, key(None, None, Some(2)).at(0)));
    let flat = ReplyPattern::List(["A", "2"].map(|word| ReplyPattern::Text(word.to_owned())).to_vec());
    assert!(is_true(&run, key(Some(flat), None, None).at(0)));
    assert!(is_true(&run, key(Some(ReplyPattern::Int(41)), None, Some(41)).at(1_000)));
    assert!(is_true(&run, key(None, None, Some(3)).at(2_000)));
    assert_eq!(seen(&run, key(None, None, Some(1)).at(0)), instead(&["- {key: {count: 2, ttl: 10s}, at: 0ms}"]));
    assert_eq!(
        seen(&run, key(None, None, Some(1)).at(1_000)),
        instead(&["- {key: {value: \"41\", ttl: 9s}, at: 1s}"]),
        "a number that is text is quoted"
    );
    // Ten milliseconds of grace where Redis's own answer was computed with; none where it was not.
    assert!(is_true(&run, key(None, left(8_990), None).at(1_000)));
    assert!(!is_true(&run, key(None, left(8_989), None).at(1_000)));
    assert!(!is_true(&run, key(None, left(9_990), None).at(0)));
}

#[test]
fn where_there_are_several_locks_the_entry_can_name_one() {
    let mut run = Hand::with_locks(&["A"], &["x", "y"]);
    run.grant_until("A", "x", Some(10_000));
    run.at(1_000);
    let run = run.done();
    assert!(is_true(&run, holder("A").at(0).lock("x")));
    assert_eq!(seen(&run, holder("A").at(0).lock("y")), instead(&["- {holder: nobody, at: 0ms, lock: y}"]));
    assert!(is_true(&run, holder("A").at(0)));
    assert!(!is_true(&run, holder("nobody").at(0)));
}

#[test]
fn rows_and_effects_are_those_of_the_end_unless_a_time_is_asked_for() {
    let mut run = Hand::single(&["A"]);
    run.row("stock", 2, None).log("charges", &[]);
    run.grant("A");
    let write = run.event(EventKind::Write, "A");
    run.at(1_000).start(write).wrote("A", write, "stock", Guarded::None, row(1, 2));
    let append = run.event(EventKind::Write, "A");
    run.at(2_000).start(append).wrote("A", append, "charges", Guarded::None, line("order-17"));
    run.at(3_000);
    let run = run.done();
    let stock = |is| fact("row", Fact::Row { resource: "stock".to_owned(), is });
    let charges = |count| fact("effects", Fact::Effects { resource: "charges".to_owned(), count });
    assert!(is_true(&run, stock(1)));
    assert!(is_true(&run, stock(2).at(999)) && is_true(&run, stock(1).at(1_000)));
    assert_eq!(seen(&run, stock(2)), instead(&["- {row: stock, is: 1}"]));
    assert_eq!(seen(&run, stock(1).at(500)), instead(&["- {row: stock, is: 2, at: 500ms}"]));
    assert_eq!(seen(&run, stock(1).at(4_000)), Some(Seen::RunEnded(LessonTime(3_000))));
    assert!(is_true(&run, charges(1)) && is_true(&run, charges(0).at(1_999)));
    assert_eq!(seen(&run, charges(2)), instead(&["- {effects: charges, count: 1}"]));
}

#[test]
fn statements_are_no_redis_commands() {
    let mut run = Hand::single(&["A"]);
    run.row("stock", 2, None);
    run.grant("A");
    let write = run.event(EventKind::Write, "A");
    run.start(write).wrote("A", write, "stock", Guarded::None, row(1, 2));
    let run = run.done();
    assert!(is_true(&run, fact("commands", Fact::Commands { client: "A".to_owned(), at_most: 1 })));
}
