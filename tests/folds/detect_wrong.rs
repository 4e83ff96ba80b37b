//! `wrong_delete`, `wrong_renewal`, `wrong_overwrite`, `lost_lock`.

use lockscope::trace::{Cause, EventKind, KeyOp, Outcome, Role, What, findings};

use crate::hand::{Hand, LOCK, violations, wrong_delete};

const NOTHING: [&str; 0] = [];

#[test]
fn the_first_lesson_shows_what_its_page_says() {
    let trace = wrong_delete();
    assert_eq!(
        violations(&trace),
        [
            "- {overlap: [A, B], from: 11s, to: 12s}",
            "- {wrong_delete: {by: A, owner: B}, at: 12s}",
            "- {overlap: [B, C], from: 12500ms, to: 14500ms}",
        ]
    );
}

#[test]
fn a_wrong_delete_points_to_the_change_of_the_key() {
    let trace = wrong_delete();
    let found = findings(&trace);
    let finding = found.iter().find(|f| f.kind.name() == "wrong_delete").unwrap();
    assert!(matches!(&trace.records[finding.record].what, What::Key { op: KeyOp::Removed, .. }));
    assert_eq!((finding.to, finding.end_record), (None, None));
}

#[test]
fn deleting_ones_own_lock_or_one_nobody_believes_in_is_no_wrong_delete() {
    let mut own = Hand::single(&["A", "B"]);
    own.grant("A");
    own.at(5_000).release("A");
    assert_eq!(violations(&own.done()), NOTHING);

    let mut forgotten = Hand::single(&["A", "B"]);
    forgotten.grant("A");
    forgotten.at(5_000).program_ends("A");
    forgotten.at(6_000).by("B", KeyOp::Removed, None);
    assert_eq!(violations(&forgotten.done()), NOTHING);
}

#[test]
fn a_late_delete_counts_when_the_server_executes_it_even_if_its_sender_is_dead() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    let release = run.at(9_000).event(EventKind::Release, "A");
    run.start(release).believes("A", false).send(release, "A", &["DEL", "lock:lock"]);
    run.at(9_500).crash("A");
    run.at(10_000).expire();
    run.at(11_000).grant("B");
    run.at(12_000).rec(What::Key {
        node: "redis".to_owned(),
        key: "lock:lock".to_owned(),
        op: KeyOp::Removed,
        cause: Cause::Command { cmd: 2, client: "A".to_owned() },
        now: None,
    });
    run.at(13_000).program_ends("B");
    assert_eq!(violations(&run.done()), ["- {wrong_delete: {by: A, owner: B}, at: 12s}"]);
}

#[test]
fn a_blind_renewal_of_anothers_lock_is_wrong_and_ones_own_is_not() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    run.at(3_000).by("A", KeyOp::Retimed, Some(Hand::value("A", Some(13_000))));
    run.at(4_000).by("B", KeyOp::Retimed, Some(Hand::value("A", Some(14_000))));
    // Taking the TTL away is a change of it, too.
    run.at(5_000).by("B", KeyOp::Retimed, Some(Hand::value("A", None)));
    // The same deadline again changes nothing.
    run.at(6_000).by("B", KeyOp::Retimed, Some(Hand::value("A", None)));
    let trace = run.done();
    assert_eq!(
        violations(&trace),
        ["- {wrong_renewal: {by: B, owner: A}, at: 4s}", "- {wrong_renewal: {by: B, owner: A}, at: 5s}"]
    );
}

#[test]
fn a_counter_that_refuses_is_changed_and_not_overwritten() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    run.at(1_000).by("B", KeyOp::Changed, Some(Hand::value("A", Some(10_000))));
    run.at(2_000).by("B", KeyOp::Changed, Some(Hand::value("A", Some(12_000))));
    assert_eq!(violations(&run.done()), ["- {wrong_renewal: {by: B, owner: A}, at: 2s}"]);
}

#[test]
fn writing_over_anothers_lock_is_wrong_even_with_the_same_text() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    run.at(2_000).by("A", KeyOp::Replaced, Some(Hand::value("A", Some(12_000))));
    run.at(4_000).by("B", KeyOp::Replaced, Some(Hand::value("B", Some(14_000))));
    // Now the value is B's, and B does not believe: A takes nothing from it.
    run.at(5_000).by("A", KeyOp::Replaced, Some(Hand::value("A", Some(15_000))));
    assert_eq!(violations(&run.done()), ["- {wrong_overwrite: {by: B, owner: A}, at: 4s}"]);
}

#[test]
fn what_is_not_a_lock_is_nobodys() {
    let mut run = Hand::single(&["A", "B"]);
    run.grant("A");
    let other = |op, now| What::Key {
        node: "redis".to_owned(),
        key: "queue".to_owned(),
        op,
        cause: Cause::Command { cmd: 1, client: "B".to_owned() },
        now,
    };
    run.at(1_000).rec(other(KeyOp::Created, Some(Hand::value("A", None))));
    run.at(2_000).rec(other(KeyOp::Removed, None));
    assert_eq!(violations(&run.done()), NOTHING);
}

/// A on a master whose replica never got the lock: crash at 2 s, promotion at `promoted`.
fn failover(promoted: u64, replica_has_it: bool, stays: &[&str]) -> Hand {
    let mut run = Hand::replicated(&["A", "B"]);
    run.grant("A");
    if replica_has_it {
        run.key_on("r1", LOCK, KeyOp::Created, Cause::Replication, Some(Hand::value("A", Some(10_000))));
    }
    run.at(2_000).rec(What::NodeCrashed { node: "m".to_owned() });
    let stays = stays.iter().map(|name| (*name).to_owned()).collect();
    run.at(promoted).rec(What::NodePromoted { node: "r1".to_owned(), stays, by: None });
    run
}

#[test]
fn a_promotion_loses_what_the_replica_never_had() {
    let run = failover(3_000, false, &[]);
    let promoted = run.next() - 1;
    let trace = run.done();
    assert_eq!(violations(&trace), ["- {lost_lock: {of: A, by: promote}, at: 3s}"]);
    assert_eq!(findings(&trace)[0].record, promoted);
}

#[test]
fn a_promotion_loses_nothing_that_the_replica_has() {
    assert_eq!(violations(&failover(3_000, true, &[]).done()), NOTHING);
}

#[test]
fn a_promotion_that_is_told_in_several_records_is_one_instant() {
    let mut run = failover(3_000, false, &[]);
    run.key_on("r1", LOCK, KeyOp::Created, Cause::Promote, Some(Hand::value("A", Some(10_000))));
    run.at(4_000).program_ends("A");
    assert_eq!(violations(&run.done()), NOTHING);
}

#[test]
fn a_lock_that_had_run_out_is_not_lost() {
    assert_eq!(violations(&failover(10_000, false, &[]).done()), NOTHING);
    assert_eq!(violations(&failover(9_999, false, &[]).done()).len(), 1);
}

#[test]
fn who_stays_with_the_old_master_loses_the_lock_when_it_is_demoted() {
    let mut run = failover(3_000, false, &["A"]);
    run.at(5_000).rec(What::NodeRestarted { node: "m".to_owned(), role: Role::Master });
    run.at(6_000).rec(What::NodeDemoted { node: "m".to_owned(), master: "r1".to_owned() });
    run.key_on("m", LOCK, KeyOp::Removed, Cause::Demote, None);
    assert_eq!(violations(&run.done()), ["- {lost_lock: {of: A, by: demote}, at: 6s}"]);
}

#[test]
fn restart_flush_and_evict_lose_the_lock_of_who_believes() {
    for (cause, by) in [(Cause::Restart, "restart"), (Cause::Flush, "flush"), (Cause::Evict, "evict")] {
        let mut run = Hand::single(&["A"]);
        run.grant("A");
        run.at(4_000).key_on("redis", LOCK, KeyOp::Removed, cause.clone(), None);
        assert_eq!(violations(&run.done()), [format!("- {{lost_lock: {{of: A, by: {by}}}, at: 4s}}")]);

        let mut run = Hand::single(&["A"]);
        run.grant("A");
        run.at(3_000).program_ends("A");
        run.at(4_000).key_on("redis", LOCK, KeyOp::Removed, cause, None);
        assert_eq!(violations(&run.done()), NOTHING);
    }
}

#[test]
fn ones_own_command_can_lose_the_lock_and_a_release_does_not() {
    let mut run = Hand::single(&["A"]);
    run.grant("A");
    run.at(4_000).by("A", KeyOp::Removed, None);
    assert_eq!(violations(&run.done()), ["- {lost_lock: {of: A, by: own_command}, at: 4s}"]);
}

#[test]
fn expiry_is_no_loss() {
    let mut run = Hand::single(&["A"]);
    let event = run.grant("A");
    run.at(10_000).expire();
    run.at(12_000).end(event, Outcome::Done);
    assert_eq!(violations(&run.done()), NOTHING);
}
