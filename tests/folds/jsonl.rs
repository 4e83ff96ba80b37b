//! JSON Lines: written, read, and refused with the line where that fails.

use lockscope::trace::event::LinkState;
use lockscope::trace::{
    Cause, EventKind, KeyOp, KeyState, LessonTime, Outcome, Reply, Role, Trace, Value, What, jsonl,
};

use crate::hand::{Hand, LOCK, wrong_delete};

fn text(trace: &Trace) -> String {
    let mut bytes = Vec::new();
    jsonl::write(trace, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// A trace with every kind of record, reply, value and cause.
fn everything() -> Trace {
    let mut run = Hand::replicated(&["A", "B"]);
    let event = run.grant("A");
    let name = |name: &str| name.to_owned();
    let list = Reply::List(vec![Reply::Int(-3), Reply::Nil, Reply::Bulk("锁 \"q\"\n".to_owned()), Reply::List(vec![])]);
    run.rec(What::EventSkipped { event }).rec(What::TryFailed { event, outcome: Outcome::Unknown });
    run.rec(What::EventNotRun { event, because: name("its node was down") });
    run.rec(What::Exec { cmd: 1, reply: list }).rec(What::Exec { cmd: 1, reply: Reply::Error(name("WRONGTYPE x")) });
    run.rec(What::Dropped { cmd: 1, reply: true }).rec(What::Refused { cmd: 1 }).rec(What::Timeout { cmd: 1 });
    let hash = Value::Hash(vec![(name("A"), name("2")), (name("B"), name("1"))]);
    let causes =
        [Cause::Restart, Cause::Promote, Cause::Demote, Cause::Flush, Cause::Evict, Cause::ClockJump, Cause::Expiry];
    for cause in causes {
        let now = KeyState {
            value: hash.clone(),
            deadline: Some(LessonTime(7)),
            approximate: true,
            owner: None,
            also: vec![name("B")],
        };
        run.key_on("m", LOCK, KeyOp::Changed, cause, Some(now));
    }
    let other = Value::Other { r#type: name("zset"), len: u64::MAX };
    let now = KeyState { value: other, deadline: None, approximate: false, owner: Some(name("A")), also: Vec::new() };
    run.key_on("r1", LOCK, KeyOp::Retimed, Cause::Replication, Some(now));
    run.works("A", true).tick("A", Outcome::Renewed);
    run.rec(What::ToldLost { client: name("A"), lock: name(LOCK), why: None });
    run.rec(What::ClientPaused { client: name("A"), task: Some(name("main")), until: Some(LessonTime(5)) });
    run.rec(What::ClientResumed { client: name("A"), task: None }).crash("B");
    run.rec(What::NodeCrashed { node: name("m") });
    run.rec(What::NodeRestarted { node: name("m"), role: Role::Replica });
    run.rec(What::NodePromoted { node: name("r1"), stays: vec![name("A")] });
    run.rec(What::NodeDemoted { node: name("m"), master: name("r1") });
    for state in [LinkState::Open, LinkState::Held, LinkState::Cut, LinkState::Slow { by: LessonTime(3) }] {
        run.rec(What::Link { a: name("m"), b: name("r1"), state, held: 33 });
    }
    let (client, channel, text) = (name("B"), name("lock:released"), name("released"));
    run.rec(What::News { cmd: 1, client, event, channel, text, got: true });
    run.rec(What::Line { lock: name(LOCK), waiting: vec![name("B")] });
    run.rec(What::Warning { event: None, text: name("late") });
    run.event(EventKind::Ask, "");
    run.done()
}

#[test]
fn what_is_written_is_read() {
    for trace in [everything(), wrong_delete(), Hand::single(&[]).done()] {
        let text = text(&trace);
        assert_eq!(text.lines().count(), trace.records.len() + 1);
        assert_eq!(jsonl::read(text.as_bytes()).unwrap(), trace);
    }
}

#[test]
fn the_first_line_names_the_version() {
    assert!(text(&wrong_delete()).starts_with(r#"{"lockscope_trace":1,"header":{"lesson":"by-hand","#));
}

#[test]
fn without_real_times_two_runs_are_the_same_bytes() {
    let one = wrong_delete();
    let mut other = one.clone();
    for record in &mut other.records {
        record.real_us = record.real_us.map(|us| us + 1);
    }
    assert_ne!(text(&one), text(&other));
    assert_eq!(text(&one.without_real_times()), text(&other.without_real_times()));
    assert!(!text(&one.without_real_times()).contains("real_us"));
}

/// What reading `text` says, changed by `change` (which gets the lines).
fn error(change: impl Fn(&mut Vec<String>)) -> String {
    let mut lines: Vec<String> = text(&wrong_delete()).lines().map(str::to_owned).collect();
    change(&mut lines);
    jsonl::read(lines.join("\n").as_bytes()).unwrap_err().to_string()
}

#[test]
fn what_is_no_trace_is_refused_with_its_line() {
    assert!(error(Vec::clear).starts_with("line 1: this is not a lockscope trace"));
    assert!(error(|lines| lines[0] = "format: 1".to_owned()).starts_with("line 1: this is not a lockscope trace"));
    assert!(
        error(|lines| lines[0] = "{\"lockscope_trace\":1}".to_owned()).starts_with("line 1: this is not a lockscope")
    );
    let newer = "{\"lockscope_trace\":2,\"header\":\"who knows\"}".to_owned();
    let says = error(|lines| lines[0].clone_from(&newer));
    assert_eq!(says, "line 1: this trace has version 2; this lockscope reads version 1");
}

#[test]
fn a_broken_line_is_named() {
    assert!(error(|lines| lines[4] = "{\"t\":0,".to_owned()).starts_with("line 5: this is not a record of a trace"));
    let unknown = "{\"t\":0,\"what\":\"magic\"}".to_owned();
    assert!(error(|lines| lines[2].clone_from(&unknown)).starts_with("line 3: this is not a record"));
    let no_event = "{\"t\":0,\"what\":\"event_start\",\"event\":99}".to_owned();
    assert_eq!(error(|lines| lines[2].clone_from(&no_event)), "line 3: there is no event 99; the header has 4");
}

#[test]
fn a_file_that_was_cut_off_goes_on_too_long_or_runs_backwards_is_noticed() {
    let last = text(&wrong_delete()).lines().count();
    let cut = error(|lines| {
        lines.pop();
    });
    assert_eq!(cut, format!("line {last}: the file ends here, and the run does not"));
    let more = error(|lines| lines.push(lines[1].clone()));
    assert_eq!(more, format!("line {}: the run has ended on the line before", last + 1));
    let backwards = error(|lines| lines.insert(last - 1, lines[1].clone()));
    assert_eq!(backwards, format!("line {last}: this record is earlier than the one before it"));
}
