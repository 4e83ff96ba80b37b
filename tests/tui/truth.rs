//! What the player says must be so: moments in which a sentence or a sign could be false.

use std::sync::Arc;

use lockscope::trace::{Fill, KeyOp, LaneKind, Lang, LinkState, Outcome, Reply, Role, Timeline, Trace, What, findings};
use lockscope::tui::app::Run;
use lockscope::tui::{App, Recording};

use super::scribe::{KEY, Scribe, token};
use super::wrong_delete::{PLAIN, entries, infos, plan};
use super::{press, screen};

/// Events of the lesson that these runs tell.
const A_LOCK: usize = 0;
const A_WORK: usize = 1;
const B_LOCK: usize = 2;
const B_WORK: usize = 3;
const A_RELEASE: usize = 5;

fn scribe() -> Scribe {
    Scribe::new(&[("redis", Role::Master)], &["A", "B", "C"], infos(&plan(0)))
}

/// The player on `trace`.
fn player(trace: &Trace, lang: Lang) -> App {
    let mut app = App::new(entries(), Some(0), PLAIN, lang);
    for request in app.take_requests() {
        app.ran(request.key, Run::Ready(Arc::new(Recording::new(&request.plan, trace.clone()))));
    }
    app
}

/// A dies at 5 s, in the middle of its job.
fn crash() -> Trace {
    let mut s = scribe();
    s.at(0).granted("A", A_LOCK, 10_000).start(A_WORK).works("A", true);
    s.at(5_000).push(What::ClientCrashed { client: "A".to_owned(), task: None });
    s.works("A", false).believes("A", false).push(What::EventSkipped { event: A_RELEASE });
    s.at(10_000).expires().push(What::End);
    s.trace
}

#[test]
fn a_job_that_a_crash_cut_short_is_not_done() {
    let mut app = player(&crash(), Lang::En);
    press(&mut app, "right right");
    let shown = screen(&app, 120, 50);
    assert!(shown.contains("A crashes. It tells nobody"), "{shown}");
    assert!(!shown.contains("job is done"), "{shown}");
    // The reader does not know the file: a step has a name, not a line.
    assert!(shown.contains("A: the release is skipped."), "{shown}");
    assert!(!shown.contains(": line "), "{shown}");
    let mut app = player(&crash(), Lang::Zh);
    press(&mut app, "right right");
    assert!(screen(&app, 120, 50).contains("A：跳过释放。"));
}

#[test]
fn a_job_that_ends_by_itself_is_done() {
    let mut s = scribe();
    s.at(0).granted("A", A_LOCK, 10_000).start(A_WORK).works("A", true);
    s.at(5_000).works("A", false).end(A_WORK, Outcome::Done).push(What::End);
    let mut app = player(&s.trace, Lang::En);
    press(&mut app, "end");
    assert!(screen(&app, 120, 50).contains("A's job is done."));
}

/// A reads its token at 9.9 s and deletes at 10.2 s what is B's by then: GET, then DEL.
fn late_delete() -> Trace {
    let mut s = scribe();
    s.at(0).granted("A", A_LOCK, 10_000).start(A_WORK).works("A", true);
    s.at(9_900).works("A", false).end(A_WORK, Outcome::Done).start(A_RELEASE).believes("A", false);
    s.command("A", "main", A_RELEASE, &["GET", KEY], Reply::Bulk(token("A")), None);
    s.at(10_000).expires().granted("B", B_LOCK, 10_000).start(B_WORK).works("B", true);
    s.at(10_200).command("A", "main", A_RELEASE, &["DEL", KEY], Reply::Int(1), Some((KeyOp::Removed, None)));
    s.end(A_RELEASE, Outcome::Released).task_ended("A");
    s.at(15_000).works("B", false).end(B_WORK, Outcome::Done).believes("B", false).task_ended("B").push(What::End);
    s.trace
}

#[test]
fn who_is_releasing_has_left_nothing_behind() {
    let mut app = player(&late_delete(), Lang::En);
    press(&mut app, "right right");
    let shown = screen(&app, 120, 50);
    assert!(shown.contains("9.900 / 15 s"), "{shown}");
    assert!(shown.contains("Redis: yes ← releasing"), "{shown}");
    assert!(!shown.contains("left behind"), "{shown}");
    // The token that was read looks like the one that was written.
    assert!(shown.contains("gets \"7f3e…\""), "{shown}");
}

/// A gives back what it has no more: because nothing is there, or because it is another's.
#[test]
fn nothing_given_back_has_one_of_two_reasons() {
    let late = |taken: bool| {
        let mut s = scribe();
        s.at(0).granted("A", A_LOCK, 10_000).start(A_WORK).works("A", true);
        s.at(10_000).expires();
        if taken {
            s.granted("B", B_LOCK, 10_000).start(B_WORK).works("B", true);
        }
        s.at(12_000).works("A", false).end(A_WORK, Outcome::Done).start(A_RELEASE).believes("A", false);
        s.command("A", "main", A_RELEASE, &["DEL", KEY], Reply::Int(0), None).end(A_RELEASE, Outcome::NotOwner);
        s.push(What::End);
        s.trace
    };
    let said = |taken: bool| {
        let mut app = player(&late(taken), Lang::En);
        press(&mut app, "end left right");
        screen(&app, 120, 50)
    };
    let (gone, taken) = (said(false), said(true));
    assert!(gone.contains("There is nothing of A's left to remove."), "{gone}");
    assert!(taken.contains("The value in Redis is not A's, so nothing is removed."), "{taken}");
}

/// A deletes B's lock at the moment at which C takes it: whose it is from there on stands beside the mark.
#[test]
fn a_new_owner_has_a_letter_beside_the_mark() {
    let mut s = scribe();
    s.at(0).granted("A", A_LOCK, 10_000);
    s.at(5_000).command("A", "main", A_RELEASE, &["DEL", KEY], Reply::Int(1), Some((KeyOp::Removed, None)));
    s.end(A_RELEASE, Outcome::Released).believes("A", false).granted("B", B_LOCK, 10_000);
    s.at(12_000).push(What::End);
    let mut app = player(&s.trace, Lang::En);
    press(&mut app, "end");
    let shown = screen(&app, 120, 36);
    let lane = shown.lines().find(|line| line.starts_with("│ redis")).expect("the key's lane");
    assert!(lane.contains("▓┤B▒"), "{lane}");
}

/// Five masters have no roles to tell apart, and the lanes of their keys say which is down.
#[test]
fn masters_among_themselves_have_no_lane_of_roles() {
    let down = |roles: [Role; 2]| {
        let nodes = [("n1", roles[0]), ("n2", roles[1])];
        let mut s = Scribe::new(&nodes, &["A", "B", "C"], infos(&plan(0)));
        s.at(1_000).push(What::NodeCrashed { node: "n1".to_owned() });
        s.at(2_000).push(What::End);
        let mut app = player(&s.trace, Lang::En);
        press(&mut app, "end");
        screen(&app, 120, 36)
    };
    let masters = down([Role::Master, Role::Master]);
    assert!(masters.contains("† down") && !masters.contains(" role "), "{masters}");
    let pair = down([Role::Master, Role::Replica]);
    assert!(pair.contains("n1 role") && pair.contains("n2 role"), "{pair}");
}

#[test]
fn a_lock_can_fail_before_two_are_inside() {
    let mut app = player(&late_delete(), Lang::En);
    press(&mut app, "end");
    let shown = screen(&app, 120, 50);
    assert!(shown.contains("The lock failed at 10.2 s."), "{shown}");
    assert!(!shown.contains("Mutual exclusion"), "{shown}");
}

/// Nothing waits in the link of a server that has died, and nobody can ask what is on it.
#[test]
fn a_dead_server_holds_nothing_back() {
    let nodes = [("m", Role::Master), ("r1", Role::Replica)];
    let mut s = Scribe::new(&nodes, &["A", "B", "C"], infos(&plan(0)));
    let link = |held| What::Link { a: "m".to_owned(), b: "r1".to_owned(), state: LinkState::Held, held };
    s.at(0).push(link(0)).granted("A", A_LOCK, 10_000).push(link(1)).start(A_WORK).works("A", true);
    s.at(2_000).push(What::NodeCrashed { node: "m".to_owned() }).push(link(0));
    s.at(6_000).push(What::End);

    let timeline = Timeline::new(&s.trace, &findings(&s.trace));
    let wanted = LaneKind::Link { a: "m".to_owned(), b: "r1".to_owned() };
    let lane = timeline.lanes.iter().find(|lane| lane.kind == wanted).expect("the lane");
    let seen: Vec<_> = lane.stretches.iter().map(|s| (s.from.ms(), s.to.ms(), s.fill.clone())).collect();
    let held = |waiting| Fill::Held { waiting, shut: true };
    assert_eq!(seen, [(0, 0, held(0)), (0, 2_000, held(1))]);

    let mut app = player(&s.trace, Lang::En);
    press(&mut app, "right right");
    assert!(screen(&app, 120, 50).contains("m→r1 lags: 1 wait in it"));
    press(&mut app, "end");
    let shown = screen(&app, 120, 50);
    assert!(!shown.contains("m→r1 lags"), "{shown}");
    assert!(!shown.contains("TTL"), "{shown}");
}

/// What a replica has and its master does not know, is a lane and a line of its own, until the replica is the master.
#[test]
fn a_master_that_is_not_told_is_shown() {
    let nodes = [("m", Role::Master), ("r1", Role::Replica)];
    let mut s = Scribe::new(&nodes, &["A", "B", "C"], infos(&plan(0)));
    let back = |held| What::Link { a: "r1".to_owned(), b: "m".to_owned(), state: LinkState::Held, held };
    s.at(0).granted("A", A_LOCK, 10_000).start(A_WORK).works("A", true);
    s.at(1_000).push(back(0)).push(back(1));
    s.at(2_000).push(What::NodePromoted { node: "r1".to_owned(), stays: Vec::new(), by: None });
    s.at(6_000).push(What::End);

    let timeline = Timeline::new(&s.trace, &findings(&s.trace));
    let wanted = LaneKind::Link { a: "r1".to_owned(), b: "m".to_owned() };
    let lane = timeline.lanes.iter().find(|lane| lane.kind == wanted).expect("the lane");
    let seen: Vec<_> = lane.stretches.iter().map(|s| (s.from.ms(), s.to.ms(), s.fill.clone())).collect();
    let held = |waiting| Fill::Held { waiting, shut: true };
    assert_eq!(seen, [(1_000, 1_000, held(0)), (1_000, 2_000, held(1))]);

    for (lang, line, story) in [
        (Lang::En, "r1→m lags; answers in it: 1", "The way back r1→m is held"),
        (Lang::Zh, "r1→m 滞后：1 个确认还在途中", "r1→m 的回程停滞"),
    ] {
        let mut app = player(&s.trace, lang);
        let mut told = String::new();
        for _ in 0..4 {
            press(&mut app, "right");
            told.push_str(&screen(&app, 120, 50));
        }
        assert!(told.contains(line) && told.contains(story), "{told}");
        press(&mut app, "end");
        let shown = screen(&app, 120, 50);
        assert!(!shown.contains(line), "{shown}");
    }
}

/// Who stands in line is told, and shown below the lock.
#[test]
fn the_line_is_shown_as_the_server_has_it() {
    let line = |waiting: &[&str]| {
        let waiting = waiting.iter().map(ToString::to_string).collect();
        What::Line { lock: "lock".to_owned(), waiting }
    };
    let mut s = scribe();
    s.at(0).granted("A", A_LOCK, 30_000).start(A_WORK).works("A", true);
    s.at(2_000)
        .start(B_LOCK)
        .push(line(&["C", "B"]))
        .push(What::TryFailed { event: B_LOCK, outcome: Outcome::Refused });
    s.at(3_000).push(What::ClientCrashed { client: "C".to_owned(), task: None }).push(line(&[]));
    s.at(6_000).push(What::End);
    let mut app = player(&s.trace, Lang::En);
    press(&mut app, "right right");
    let shown = screen(&app, 120, 50);
    assert!(shown.contains("In line for the lock: C, B."), "{shown}");
    assert!(shown.contains("in line  C B"), "{shown}");
    press(&mut app, "right");
    let shown = screen(&app, 120, 50);
    assert!(shown.contains("Nobody is in line any more."), "{shown}");
    assert!(!shown.contains("in line  "), "{shown}");
}

/// B asks every second: a word with marks in it could not be read.
#[test]
fn the_word_for_waiting_is_whole_or_not_there() {
    let mut s = scribe();
    s.at(0).granted("A", A_LOCK, 30_000).start(A_WORK).works("A", true);
    s.at(2_000).start(B_LOCK);
    for t in 2..20 {
        s.at(t * 1_000).push(What::TryFailed { event: B_LOCK, outcome: Outcome::Refused });
    }
    s.at(40_000).push(What::End);
    let mut app = player(&s.trace, Lang::En);
    press(&mut app, "end");
    let shown = screen(&app, 80, 24);
    let lane = shown.lines().find(|line| line.contains("B believes") || line.contains("│ B ")).expect("B's lane");
    let letters: String = lane
        .trim_start_matches("│ B")
        .trim_start_matches(" believes")
        .chars()
        .filter(char::is_ascii_alphabetic)
        .collect();
    assert_eq!(letters, "", "{lane}");
    // With one refusal there is room for it.
    let mut s = scribe();
    s.at(0).granted("A", A_LOCK, 30_000).start(A_WORK).works("A", true);
    s.at(2_000).start(B_LOCK).push(What::TryFailed { event: B_LOCK, outcome: Outcome::Refused });
    s.at(40_000).push(What::End);
    let mut app = player(&s.trace, Lang::En);
    press(&mut app, "end");
    assert!(screen(&app, 120, 36).contains("× waits ┄"));
}
