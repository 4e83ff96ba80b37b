//! What a student has done: counted, kept in a file, and found again.

use std::collections::BTreeSet;
use std::fs;

use insta::assert_snapshot;
use lockscope::trace::{Lang, LessonTime};
use lockscope::tui::keeper::{Keeper, Loaded, load, save};
use lockscope::tui::player::{Given, Grade};
use lockscope::tui::progress::{Answered, Next, Place, Played};
use lockscope::tui::{App, Progress, Theme};

use super::wrong_delete::{PLAIN, entries, opened, run_all};
use super::{press, screen};

fn of<'a>(app: &'a App, id: &str) -> &'a Played {
    &app.progress.lessons[id]
}

#[test]
fn answers_and_ends_are_counted() {
    let mut app = opened(PLAIN, Lang::En);
    assert!(app.progress.is_empty(), "opening a lesson is not playing it");
    press(&mut app, "end 2");
    assert_eq!(of(&app, "wrong-delete").score().text(), "1/1");
    assert!(of(&app, "wrong-delete").watched.is_empty());
    press(&mut app, "end");
    assert_eq!(of(&app, "wrong-delete").watched, BTreeSet::from(["del".to_owned()]));
    press(&mut app, "v end 2 end");
    // With the script, nobody's lock is removed: the same answer is wrong there.
    assert_eq!(of(&app, "wrong-delete").score().text(), "1/2");
    assert!(of(&app, "wrong-delete").is_done(app.lesson(0).expect("it loads")));
}

#[test]
fn a_lesson_goes_on_where_it_was_left() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "v end s left left esc");
    let (progress, touched) = app.take_save().expect("something has changed");
    assert_eq!(touched, BTreeSet::from(["wrong-delete".to_owned()]));
    assert_eq!(
        progress.lessons["wrong-delete"].last,
        Some(Place { variant: "lua".to_owned(), ms: LessonTime(10_000) })
    );
    assert!(app.take_save().is_none(), "it is saved once");

    // A new start, with what was saved.
    let mut app = App::remembering(entries(), None, PLAIN, Lang::En, progress);
    assert_eq!(app.progress.next(&app.entries), Next::GoOn(0));
    press(&mut app, "enter");
    run_all(&mut app);
    let player = app.player.as_ref().expect("it is open");
    assert_eq!((player.variant, player.playhead.t()), (1, LessonTime(10_000)));
    press(&mut app, "end");
    assert!(
        app.player.as_ref().is_some_and(|player| player.playhead.t() > LessonTime(12_000)),
        "answered stays answered"
    );
}

#[test]
fn what_comes_next_is_what_was_begun_then_what_is_new_then_what_was_missed() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end s end esc");
    assert_eq!(app.progress.next(&app.entries), Next::Variant(0, 1));
    press(&mut app, "enter");
    assert_eq!(app.player.as_ref().map(|player| player.variant), Some(1), "enter plays what comes next");
    press(&mut app, "end s end esc");
    assert_eq!(app.progress.next(&app.entries), Next::Begin(1));
    let other = Played { watched: ["del", "lua"].map(str::to_owned).into(), ..Played::default() };
    app.progress.lessons.insert("other".to_owned(), other);
    assert_eq!(app.progress.next(&app.entries), Next::Again(0), "both questions were skipped");
    let answers = &mut app.progress.lessons.get_mut("wrong-delete").expect("played").answers;
    for answer in answers {
        answer.grade = Some(Grade::Right);
    }
    assert_eq!(app.progress.next(&app.entries), Next::Nothing);
}

#[test]
fn resetting_asks_first() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end 2 esc x");
    assert_snapshot!("asking", screen(&app, 80, 24));
    press(&mut app, "n");
    assert!(!app.progress.is_empty());
    press(&mut app, "x y");
    assert!(app.progress.is_empty());
    let (_, touched) = app.take_save().expect("that must be saved, too");
    assert!(touched.contains("wrong-delete"));
    press(&mut app, "enter end");
    assert!(app.question().is_some_and(|(_, given)| given.is_none()), "the question is open again");
    press(&mut app, "2 esc X");
    assert!(app.asking.is_some());
    press(&mut app, "esc");
    assert!(app.asking.is_none() && !app.progress.is_empty() && !app.quit);
}

#[test]
fn the_catalogue_shows_how_far_one_has_come() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end 2 end left esc");
    assert_snapshot!("catalogue-begun", screen(&app, 120, 24));
    assert_snapshot!("catalogue-begun-80", screen(&app, 80, 24));
    press(&mut app, "enter end 3 end esc l");
    assert_snapshot!("catalogue-done-zh", screen(&app, 120, 24));
}

#[test]
fn the_filter_narrows_the_list_in_any_script() {
    let mut app = App::new(entries(), None, PLAIN, Lang::En);
    press(&mut app, "/");
    for c in "typo".chars() {
        press(&mut app, &c.to_string());
    }
    assert_eq!(app.listed(), [2]);
    assert_eq!(app.selected, 2, "what can be seen is selected");
    assert!(!app.quit);
    press(&mut app, "esc");
    assert_eq!(app.listed().len(), 3);
    // A title says more than an id; who types one means it.
    app.selected = 2;
    press(&mut app, "/");
    for c in app.entries[0].id().to_owned().chars() {
        press(&mut app, &c.to_string());
    }
    assert_eq!(app.selected, 0);
    press(&mut app, "esc");
    // Letters that are keys elsewhere are letters here.
    press(&mut app, "/ q l x ?");
    assert!(!app.quit && app.help.is_none() && app.asking.is_none() && app.lang == Lang::En);
    assert!(app.listed().is_empty());
    press(&mut app, "enter enter");
    assert!(app.player.is_none(), "what is not listed is not opened");
    press(&mut app, "esc / 误 删");
    assert_eq!(app.listed(), [0, 1]);
    assert_snapshot!("filter", screen(&app, 80, 24));
    press(&mut app, "backspace backspace enter");
    assert!(app.filter.is_none(), "an empty filter is none");
    press(&mut app, "/ ctrl-c");
    assert!(app.quit);
}

#[test]
fn the_cursor_stands_where_text_is_typed() {
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    let mut app = App::new(entries(), None, PLAIN, Lang::En);
    let cursor = |app: &App| lockscope::tui::view::draw(app, &mut Buffer::empty(Rect::new(0, 0, 80, 24)));
    assert_eq!(cursor(&app), None);
    press(&mut app, "/");
    let empty = cursor(&app).expect("a filter is typed");
    press(&mut app, "锁");
    assert_eq!(cursor(&app).map(|at| at.x), Some(empty.x + 2), "a wide character takes two cells");
}

fn played(variant: &str) -> Played {
    let answer = Answered {
        variant: variant.to_owned(),
        question: "whose?".to_owned(),
        given: Given::Choice(1),
        grade: Some(Grade::Right),
    };
    Played { watched: BTreeSet::from([variant.to_owned()]), last: None, answers: vec![answer] }
}

fn progress(id: &str, variant: &str) -> (Progress, BTreeSet<String>) {
    let mut progress = Progress { latest: Some(id.to_owned()), ..Progress::default() };
    progress.lessons.insert(id.to_owned(), played(variant));
    (progress, BTreeSet::from([id.to_owned()]))
}

#[test]
fn the_file_gives_back_what_was_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state").join("progress.json");
    assert_eq!(load(&path), Loaded::Fine(Progress::default()), "no file is a first start");
    let (one, touched) = progress("one", "a");
    save(&path, &one, &touched).expect("it is saved");
    assert_eq!(load(&path), Loaded::Fine(one));
    let text = fs::read_to_string(&path).expect("it is text");
    assert!(text.contains("\"grade\": \"right\"") && text.lines().count() > 10, "a person can read it:\n{text}");
    // Nothing but the file itself is left in the folder.
    assert_eq!(fs::read_dir(path.parent().expect("a folder")).expect("it is there").count(), 1);
}

#[test]
fn two_players_do_not_undo_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("progress.json");
    let (one, touched_one) = progress("one", "a");
    let (two, touched_two) = progress("two", "b");
    save(&path, &one, &touched_one).expect("it is saved");
    save(&path, &two, &touched_two).expect("it is saved");
    let Loaded::Fine(both) = load(&path) else { panic!("it is whole") };
    assert_eq!(both.lessons.keys().collect::<Vec<_>>(), ["one", "two"]);
    // What is forgotten is gone from the file, too.
    save(&path, &Progress::default(), &touched_one).expect("it is saved");
    let Loaded::Fine(rest) = load(&path) else { panic!("it is whole") };
    assert_eq!(rest.lessons.keys().collect::<Vec<_>>(), ["two"]);
}

#[test]
fn an_unreadable_file_is_kept_aside() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("progress.json");
    for (i, text) in ["{\"lessons\": {\"one\"", "not json at all", "\u{0}\u{1}"].into_iter().enumerate() {
        fs::write(&path, text).expect("it is written");
        let Loaded::Aside(aside) = load(&path) else { panic!("{text} was understood") };
        assert_eq!(fs::read_to_string(aside).expect("it is kept"), text);
        assert!(!path.exists());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), i + 1, "none is overwritten");
    }
    // A folder in its place can neither be read nor written.
    fs::create_dir(&path).expect("a folder");
    assert!(matches!(load(&path), Loaded::Unusable(_)));
    let (one, touched) = progress("one", "a");
    assert!(save(&path, &one, &touched).is_err());
}

#[test]
fn the_keeper_has_saved_all_when_it_is_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("progress.json");
    let keeper = Keeper::start(path.clone()).expect("a thread");
    for i in 0..50 {
        let (progress, touched) = progress(&format!("lesson-{i}"), "a");
        keeper.save(progress, touched);
    }
    drop(keeper);
    let Loaded::Fine(saved) = load(&path) else { panic!("it is whole") };
    // Each save held one lesson; of saves that were merged only the last one's lessons are known to it.
    assert!(saved.lessons.contains_key("lesson-49"));
    assert_eq!(saved.latest.as_deref(), Some("lesson-49"));
}

#[test]
fn the_catalogue_with_progress_is_ascii_too() {
    let mut app = opened(Theme { ascii: true, colour: false }, Lang::En);
    press(&mut app, "end 2 end esc");
    let shown = screen(&app, 120, 36).replace("中文", "");
    assert!(shown.is_ascii(), "{shown}");
}
