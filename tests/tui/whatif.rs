//! What if: the list of what can be changed, the run that comes of it, and the way back. Here the runs are written by
//! hand; a changed plan "runs" as the variant with the script does.

use insta::assert_snapshot;
use lockscope::lesson::whatif::Edit;
use lockscope::trace::{Lang, LessonTime};
use lockscope::tui::app::{App, Run};
use lockscope::tui::{Recording, Theme};
use std::sync::Arc;

use super::wrong_delete::{PLAIN, opened, plan, run_all, trace};
use super::{press, screen};

/// The wrong delete, and what if A released with a script; the list is open.
fn changed(theme: Theme, lang: Lang) -> App {
    let mut app = opened(theme, lang);
    press(&mut app, "end 2 right w down down down down enter");
    run_all(&mut app);
    assert!(app.shown().is_some(), "{}", screen(&app, 120, 36));
    app
}

#[test]
fn the_list_says_what_can_be_changed() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end 2 right w");
    assert_snapshot!("list", screen(&app, 120, 36));
    assert_snapshot!("list-80", screen(&app, 80, 24));
    press(&mut app, "l");
    assert_snapshot!("list-zh", screen(&app, 120, 36));
}

#[test]
fn a_change_is_seen_where_it_changes_something_and_in_words() {
    assert_snapshot!("changed", screen(&changed(PLAIN, Lang::En), 120, 36));
    assert_snapshot!("changed-80", screen(&changed(PLAIN, Lang::En), 80, 24));
    assert_snapshot!("changed-zh-80", screen(&changed(PLAIN, Lang::Zh), 80, 24));
    assert_snapshot!("changed-200", screen(&changed(PLAIN, Lang::En), 200, 50));
    let mut app = changed(PLAIN, Lang::En);
    press(&mut app, "esc");
    assert_snapshot!("changed-closed", screen(&app, 120, 36));
    press(&mut app, "c");
    assert_snapshot!("changed-compared", screen(&app, 120, 36));
}

#[test]
fn the_playhead_stays_at_its_time() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end 2 right");
    let before = app.player.as_ref().map(|player| player.playhead);
    press(&mut app, "w down down down down enter");
    run_all(&mut app);
    assert_eq!(app.player.as_ref().map(|player| player.playhead.t()), Some(LessonTime(12_000)));
    press(&mut app, "u");
    assert!(app.shown().is_none());
    assert_eq!(app.player.as_ref().map(|player| player.playhead), before, "it is back exactly where it was");
    press(&mut app, "U");
    run_all(&mut app);
    assert!(app.shown().is_some(), "and forth again");
    press(&mut app, "ctrl-r");
    assert!(app.notice.is_some(), "there is no more to redo");
}

#[test]
fn esc_leads_out_step_by_step() {
    let mut app = changed(PLAIN, Lang::En);
    press(&mut app, "esc");
    assert!(app.shown().is_some() && !app.is_changing(), "the list is closed, the change is there");
    press(&mut app, "left left right");
    assert!(app.shown().is_some(), "it can be played like any other");
    press(&mut app, "esc");
    assert!(app.whatif().is_none() && app.player.is_some(), "as the author wrote it");
    press(&mut app, "esc");
    assert!(app.player.is_none());
}

#[test]
fn a_run_that_comes_too_late_is_not_shown() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end 2 right w down down down down enter");
    let late = app.take_requests().pop().expect("a run is wanted");
    press(&mut app, "u");
    let recording = Arc::new(Recording::new(&late.plan, trace(&late.plan)));
    assert!(!app.ran(late.key, Run::Ready(recording)), "nobody waits for it");
    assert!(app.shown().is_none() && !app.is_running());
    // Neither is it one of the next what-if.
    press(&mut app, "esc w down down enter");
    let next = app.take_requests().pop().expect("a run is wanted");
    assert_ne!(next.key, late.key);
}

#[test]
fn a_change_that_cannot_be_run_says_why_and_leaves_the_last_run_on_the_screen() {
    let mut app = changed(PLAIN, Lang::En);
    press(&mut app, "up up up up right");
    let request = app.take_requests().pop().expect("a run is wanted");
    assert!(request.key.whatif != 0 && request.plan.locks[0].ttl == Some(LessonTime(10_500)));
    app.ran(request.key, Run::Failed("the server has gone".to_owned()));
    let shown = screen(&app, 120, 36);
    assert!(shown.contains("the server has gone") && shown.contains("A's watchdog"), "{shown}");
    press(&mut app, "S");
    assert!(app.take_written().is_none() && app.notice.is_some(), "what was not run cannot be saved");
    press(&mut app, "u");
    run_all(&mut app);
    assert!(!screen(&app, 120, 36).contains("the server has gone"));
}

/// What was answered is known; what was not stays hidden, in the changed run too.
#[test]
fn an_open_question_stays_one() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "right w down down down down enter");
    run_all(&mut app);
    let shown = screen(&app, 120, 36);
    assert!(shown.contains("hidden: answer first") && shown.contains("is still open"), "{shown}");
    assert!(!shown.contains('≠') || !shown.contains("→ ✓"), "{shown}");
    press(&mut app, "esc end");
    let shown = screen(&app, 120, 36);
    assert!(shown.contains("the interviewer asks"), "{shown}");
    press(&mut app, "3 end");
    assert!(app.is_at_end());
    let played = app.progress.lessons.get("wrong-delete").expect("a step was made before");
    assert!(played.watched.is_empty() && played.answers.is_empty(), "it is no progress in the lesson");
    press(&mut app, "esc end");
    assert!(screen(&app, 120, 36).contains("the interviewer asks"), "there it is still to be answered");
}

#[test]
fn in_a_changed_run_the_author_says_nothing_of_another_one() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end 2 right");
    assert!(screen(&app, 120, 36).contains("DEL asks nobody"));
    press(&mut app, "w down down down down enter esc");
    run_all(&mut app);
    let shown = screen(&app, 120, 36);
    assert!(!shown.contains("DEL asks nobody") && shown.contains("nothing is removed"), "{shown}");
    press(&mut app, "left left");
    assert!(screen(&app, 120, 36).contains("The lease ran out a second ago"), "until they part, it is true");
}

/// What is turned itself is spoken of before the runs part.
#[test]
fn of_what_was_changed_the_author_says_nothing() {
    let plan = plan(0);
    let says = |recording: &Recording| -> Vec<usize> {
        let events = recording.trace.header.events.iter().enumerate();
        events.filter(|(_, event)| event.say.is_some()).map(|(i, _)| i).collect()
    };
    let mut recording = Recording::new(&plan, trace(&plan));
    let said = says(&recording);
    assert!(said.len() > 1, "{said:?}");
    let last = recording.trace.records.len() - 1;
    assert_eq!(recording.untell(last, |event| event == said[0]), said[..1]);
    assert_eq!(says(&recording), said[1..]);

    let length = Edit::Length { event: "a-work".to_owned(), span: LessonTime(9000) };
    assert!(length.concerns(Some("a-work")) && !length.concerns(Some("b-work")) && !length.concerns(None));
    let lease = Edit::Ttl { lock: "lock".to_owned(), ttl: LessonTime(9000) };
    assert!(lease.concerns(None), "a lease is spoken of everywhere");
}

#[test]
fn a_what_if_fits_every_size() {
    let mut app = changed(PLAIN, Lang::Zh);
    for (width, height) in (0..=250).step_by(9).flat_map(|w| (0..=80).step_by(3).map(move |h| (w, h))) {
        screen(&app, width, height);
    }
    press(&mut app, "down down down enter right right");
    run_all(&mut app);
    for height in 16..40 {
        screen(&app, 60, height);
    }
}
