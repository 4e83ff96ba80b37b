//! What-ifs on real servers: whatever a student changes can be run, and what is saved of it passes a check.

mod common;

use std::sync::Arc;

use common::{engine, prove};
use lockscope::engine::Engine;
use lockscope::lesson::catalogue::{builtin, load_all};
use lockscope::lesson::whatif::Written;
use lockscope::lesson::{self, Lesson, RunLesson, Source};
use lockscope::trace::{Lang, LessonTime};
use lockscope::tui::app::Run;
use lockscope::tui::keys::Action;
use lockscope::tui::save::write_new;
use lockscope::tui::whatif::rows::Row;
use lockscope::tui::{App, Recording, Theme};

const PLAIN: Theme = Theme { ascii: false, colour: false };

/// The player on a built-in lesson, every run made.
fn opened(engine: &mut Engine, id: &str) -> App {
    let entries = load_all(builtin());
    let at = entries.iter().position(|entry| entry.id() == id).expect("a built-in lesson");
    let mut app = App::new(entries, Some(at), PLAIN, Lang::En);
    run_all(&mut app, engine);
    app
}

/// Does what the worker does.
fn run_all(app: &mut App, engine: &mut Engine) {
    // What may have no end is run twice.
    for _ in 0..2 {
        for request in app.take_requests() {
            let run = match engine.run(&request.plan) {
                Ok(trace) => Run::Ready(Arc::new(Recording::new(&request.plan, trace))),
                Err(failure) => Run::Failed(failure.to_string()),
            };
            app.ran(request.key, run);
        }
    }
}

/// Answers nothing, and goes to this tenth of the run.
fn go(app: &mut App, tenth: u8) {
    while app.recording().is_some_and(|recording| app.player.as_ref().is_some_and(|p| p.wall(&recording).is_some())) {
        app.update(Action::End);
        app.update(Action::Skip);
    }
    app.update(Action::Jump(tenth));
}

/// Selects the line that is so; whether there is one.
fn select(app: &mut App, so: impl Fn(&Row) -> bool) -> bool {
    let Some(at) = app.whatif_rows().iter().position(so) else { return false };
    let whatif = app.player.as_mut().and_then(|player| player.whatif.as_mut()).expect("it is open");
    whatif.selected = at;
    true
}

fn loaded(written: &Written) -> Lesson {
    let source = Source::new("saved.yaml", written.text("saved"));
    lesson::load(Arc::clone(&source)).unwrap_or_else(|errors| panic!("{}", lesson::render_all(&source, &errors)))
}

/// Every line of the list at that moment of a variant: it can be turned, run, saved and checked, and undone. Returns how
/// many could be saved.
fn turn_everything(id: &str, variant: usize, tenth: u8) -> usize {
    let mut engine = engine();
    let mut app = opened(&mut engine, id);
    app.player.as_mut().expect("it is open").change_variant(variant);
    go(&mut app, tenth);
    app.update(Action::WhatIf);
    let at = app.player.as_ref().expect("it is open").playhead;
    let before = app.recording().expect("a run");
    let (mut saved, mut inconclusive) = (0, 0);
    for row in app.whatif_rows().into_iter().filter(|row| *row != Row::Variant) {
        assert!(select(&mut app, |other| *other == row), "{row:?} has gone");
        app.update(Action::More);
        run_all(&mut app, &mut engine);
        let whatif = app.whatif().expect("it is open");
        assert_eq!(whatif.edits.len(), 1, "{row:?}: {:?}", app.notice);
        assert!(whatif.is_settled(), "{row:?}: {:?}", whatif.failed);
        let edits = whatif.edits.clone();
        app.update(Action::Save);
        if let Some(written) = app.take_written() {
            let lesson = loaded(&written);
            prove(&mut engine, lesson.plans.last().expect("the new variant"));
            saved += 1;
        } else {
            let notice = app.notice.clone().unwrap_or_default();
            assert!(notice.contains("never ran"), "{row:?}: {notice}");
            inconclusive += 1;
        }
        app.update(Action::Undo);
        assert!(app.whatif().is_some_and(|whatif| whatif.edits.is_empty()), "{row:?}");
        assert!(Arc::ptr_eq(&app.recording().expect("a run"), &before), "{row:?}");
        assert_eq!(app.player.as_ref().expect("it is open").playhead, at, "{row:?}");
        app.update(Action::Redo);
        assert_eq!(app.whatif().map(|whatif| &whatif.edits), Some(&edits), "{row:?}");
        app.update(Action::Undo);
        drop(app.take_requests());
    }
    app.update(Action::Back);
    app.update(Action::Back);
    assert!(app.whatif().is_none() && app.player.is_some(), "the way back to the lesson as it is");
    assert!(inconclusive * 5 < saved, "{inconclusive} could not be saved, {saved} could");
    saved
}

#[test]
fn whatever_is_changed_in_wrong_delete_can_be_run_saved_and_checked() {
    assert!(turn_everything("wrong-delete", 0, 7) > 25);
}

#[test]
fn whatever_is_changed_of_a_variant_that_changes_the_lesson_itself() {
    assert!(turn_everything("wrong-delete", 2, 0) > 25);
}

/// Without a TTL, or without A, B waits for ever: such a run has to be given an end.
#[test]
fn whatever_is_changed_where_somebody_may_wait_for_ever() {
    assert!(turn_everything("setnx-crash", 1, 0) > 10);
}

#[test]
fn whatever_is_changed_beside_a_watchdog() {
    assert!(turn_everything("watchdog", 1, 6) > 10);
}

#[test]
fn whatever_is_changed_where_there_are_replicas() {
    assert!(turn_everything("failover-lost-lock", 0, 3) > 15);
}

/// The other variants stay as they are, and the author's file is not touched; names that are taken stay taken.
#[test]
fn what_is_saved_is_a_lesson_of_its_own_that_is_never_written_over() {
    let mut engine = engine();
    let mut app = opened(&mut engine, "wrong-delete");
    go(&mut app, 0);
    app.update(Action::WhatIf);
    assert!(select(&mut app, |row| matches!(row, Row::Ttl(_))));
    for _ in 0..8 {
        app.update(Action::More);
    }
    run_all(&mut app, &mut engine);
    assert_eq!(app.recording().expect("a run").timeline.end, LessonTime(14_500), "C is the last to leave");
    app.update(Action::Save);
    let written = app.take_written().expect("it can be saved");
    let folder = tempfile::tempdir().expect("a folder");
    let names: Vec<String> = (0..3).map(|_| write_new(folder.path(), &written).expect("it is written")).collect();
    assert_eq!(names, ["wrong-delete-what-if.yaml", "wrong-delete-what-if-2.yaml", "wrong-delete-what-if-3.yaml"]);
    let sources = lesson::catalogue::load_dir(folder.path()).expect("the folder is there");
    let ids: Vec<String> = load_all(sources)
        .into_iter()
        .map(|entry| {
            let lesson = entry.lesson.unwrap_or_else(|errors| panic!("{}", lesson::render_all(&entry.source, &errors)));
            lesson.plans.iter().for_each(|plan| drop(prove(&mut engine, plan)));
            lesson.id
        })
        .collect();
    assert_eq!(ids.len(), 3);
    assert!(ids.contains(&"wrong-delete-what-if-2".to_owned()), "each has an id of its own: {ids:?}");
    // What the author says of a run is not said of another one.
    let saved = written.text("saved");
    let variant = saved.split("id: what-if").nth(1).expect("the new variant");
    assert!(variant.contains("b-lock: {say: null}"), "{variant}");
}

/// Several changes, on top of a variant; the number that is turned up and down is one step back.
#[test]
fn changes_add_up_and_come_away_one_by_one() {
    let mut engine = engine();
    let mut app = opened(&mut engine, "wrong-delete");
    go(&mut app, 5);
    app.update(Action::WhatIf);
    assert!(select(&mut app, |row| matches!(row, Row::New(_))), "A can crash");
    app.update(Action::Submit);
    app.update(Action::More);
    app.update(Action::More);
    run_all(&mut app, &mut engine);
    assert_eq!(app.whatif().map(|whatif| whatif.edits.len()), Some(1));
    assert!(select(&mut app, |row| matches!(row, Row::Watchdog(_))));
    app.update(Action::Submit);
    run_all(&mut app, &mut engine);
    assert_eq!(app.whatif().map(|whatif| whatif.edits.len()), Some(2));
    app.update(Action::NextVariant);
    run_all(&mut app, &mut engine);
    assert_eq!(app.player.as_ref().map(|player| player.variant), Some(1));
    assert_eq!(app.whatif().map(|whatif| whatif.edits.len()), Some(2), "they go with the other variant too");
    // Back: the variant, the watchdog, the time of the crash, the crash.
    for (variant, edits) in [(0, 2), (0, 1), (0, 1), (0, 0)] {
        app.update(Action::Undo);
        run_all(&mut app, &mut engine);
        assert_eq!(app.player.as_ref().map(|player| player.variant), Some(variant));
        assert_eq!(app.whatif().map(|whatif| whatif.edits.len()), Some(edits));
    }
    app.update(Action::Undo);
    assert!(app.notice.as_ref().is_some_and(|notice| notice.contains("nothing to undo")));
    assert!(app.shown().is_none());
}
