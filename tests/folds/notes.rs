//! The notes, and the verdict.

use std::collections::BTreeMap;

use lockscope::trace::{
    EventKind, Finding, FindingKind, LessonTime, Outcome, Trace, Verdict, What, Why, findings, verdict,
};

use crate::hand::{Hand, LOCK, notes};

fn told_lost(client: &str, why: Option<Why>) -> What {
    What::ToldLost { client: client.to_owned(), lock: LOCK.to_owned(), why }
}

#[test]
fn outcomes_that_are_no_success_are_notes_with_event_and_reason() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    run.at(1_000).refuse("B");
    let late = run.event(EventKind::Acquire, "B/side");
    run.id("late").start(late).end_why(late, Outcome::Refused, Why::TooLate);
    let release = run.at(2_000).event(EventKind::Release, "B");
    run.start(release).end(release, Outcome::NotOwner);
    let raw = run.at(3_000).event(EventKind::Redis, "A");
    run.start(raw).end(raw, Outcome::Error);
    let cut = run.event(EventKind::Renew, "A");
    run.start(cut).at(4_000).end(cut, Outcome::Unknown);
    let trace = run.done();
    assert_eq!(
        notes(&trace),
        [
            "- {refused: B, at: 1s}",
            "- {refused: B, why: too_late, at: 1s}",
            "- {not_owner: B, at: 2s}",
            "- {error: A, at: 3s}",
            "- {unknown: A, at: 4s}",
        ]
    );
    let found = findings(&trace);
    let late = found.iter().find(|f| f.fields.get("why").is_some_and(|why| why == "too_late")).unwrap();
    assert_eq!(late.fields["event"], "late");
    assert_eq!(late.lock.as_deref(), Some(LOCK));
    assert!(matches!(trace.records[late.record].what, What::EventEnd { .. }));
}

#[test]
fn tries_and_ticks_have_no_outcome() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    let waits = run.at(1_000).wait_for("B", LOCK);
    run.at(2_000).tick("A", Outcome::Lost).tick("A", Outcome::Error);
    run.end(waits, Outcome::Granted);
    assert_eq!(notes(&run.done()), [""; 0]);
}

#[test]
fn a_renewal_that_ends_lost_is_one_note_in_either_order() {
    for told_first in [true, false] {
        let mut run = Hand::single(&["A"]);
        run.grant("A");
        let renew = run.at(11_000).event(EventKind::Renew, "A");
        run.id("again").start(renew);
        if told_first {
            run.rec(told_lost("A", None)).end(renew, Outcome::Lost);
        } else {
            run.end(renew, Outcome::Lost).rec(told_lost("A", None));
        }
        let trace = run.done();
        assert_eq!(notes(&trace), ["- {lost: A, at: 11s}"]);
        assert_eq!(findings(&trace)[0].fields["event"], "again");
    }
}

#[test]
fn a_watchdogs_loss_is_told_once_and_a_second_loss_is_a_second_note() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    run.at(11_000).tick("A", Outcome::Lost).rec(told_lost("A", None)).rec(told_lost("B", Some(Why::Max)));
    run.at(12_000).rec(told_lost("A", Some(Why::Deadline)));
    // A `renew` that runs in spite of a known loss ends lost as well: an action ended so.
    let renew = run.at(13_000).event(EventKind::Renew, "A");
    run.start(renew).end(renew, Outcome::Lost);
    assert_eq!(
        notes(&run.done()),
        [
            "- {lost: A, at: 11s}",
            "- {lost: B, why: max, at: 11s}",
            "- {lost: A, why: deadline, at: 12s}",
            "- {lost: A, at: 13s}",
        ]
    );
}

// --- the verdict ---

fn one(kind: FindingKind) -> Finding {
    let (fields, from) = (BTreeMap::new(), LessonTime::ZERO);
    Finding { kind, who: Vec::new(), fields, lock: None, from, to: None, record: 0, end_record: None }
}

fn of(kinds: &[FindingKind], unrun: bool) -> Verdict {
    let mut run = Hand::single(&["A"]);
    if unrun {
        let event = run.event(EventKind::Work, "A");
        run.rec(What::EventNotRun { event, because: "its anchor never came".to_owned() });
    }
    let trace: Trace = run.done();
    verdict(&trace, &kinds.iter().map(|kind| one(*kind)).collect::<Vec<_>>())
}

#[test]
fn each_kind_alone_gives_the_verdict_of_its_group() {
    use lockscope::trace::Group;
    for kind in FindingKind::ALL {
        let expected = match kind.group() {
            Group::Broken => Verdict::Broken,
            Group::Stuck => Verdict::Stuck,
            Group::Contained => Verdict::Contained,
            Group::Note => Verdict::Held,
        };
        assert_eq!(of(&[kind], false), expected, "{}", kind.name());
    }
}

#[test]
fn the_first_verdict_that_fits_is_taken() {
    use FindingKind::{Orphan, Overlap, Refused, RejectedWrite, StaleWrite, WrongReject};
    assert_eq!(of(&[], false), Verdict::Held);
    assert_eq!(of(&[], true), Verdict::Inconclusive);
    assert_eq!(of(&[Refused], true), Verdict::Inconclusive);
    assert_eq!(of(&[Orphan], true), Verdict::Stuck);
    assert_eq!(of(&[Orphan, Overlap], true), Verdict::Broken);
    assert_eq!(of(&[Overlap, RejectedWrite], false), Verdict::Contained);
    assert_eq!(of(&[RejectedWrite, Orphan], true), Verdict::Contained);
    assert_eq!(of(&[Overlap, RejectedWrite, StaleWrite], false), Verdict::Broken);
    assert_eq!(of(&[Overlap, RejectedWrite, WrongReject], false), Verdict::Broken);
    assert_eq!(of(&[RejectedWrite, WrongReject], false), Verdict::Stuck);
}
