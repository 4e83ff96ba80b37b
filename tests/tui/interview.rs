//! The interview: predictions, free answers, and the page after the last event.

use insta::assert_snapshot;
use lockscope::trace::{Lang, LessonTime};
use lockscope::tui::App;
use lockscope::tui::player::{Given, Grade};

use super::wrong_delete::{PLAIN, opened, opened_asking};
use super::{press, screen};

fn given(app: &App) -> Option<Given> {
    app.question().and_then(|(_, given)| given)
}

const PREDICT: &str = "predict: {granted: C, at: _}";
const MODEL: &str = "model: {en: 'B’s: DEL looks at no value.', zh: 'B 的：DEL 不看值。'}";

#[test]
fn a_time_is_typed_as_people_write_it() {
    for (keys, ms) in [
        ("1 2 . 5", 12_500),
        ("1 2 . 5 s", 12_500),
        ("1 2 5 0 0 m s", 12_500),
        ("9 backspace 1 2 . 5 秒", 12_500),
        ("1 3", 13_000),
    ] {
        let mut app = opened_asking(PREDICT, Lang::En);
        press(&mut app, &format!("end {keys} enter"));
        assert_eq!(given(&app), Some(Given::Time(LessonTime(ms))), "{keys}");
        let said = screen(&app, 80, 24);
        assert_eq!(said.contains("Right: the run shows it."), ms == 12_500, "{said}");
        assert!(said.contains("It is 12.5 s."), "{said}");
    }
    // What is no time is not taken, and can be corrected.
    let mut app = opened_asking(PREDICT, Lang::En);
    press(&mut app, "end 1 . . 2 enter");
    assert_eq!(given(&app), None);
    assert!(screen(&app, 80, 24).contains("> 1..2_"));
    press(&mut app, "backspace backspace 4 enter");
    assert_eq!(given(&app), Some(Given::Time(LessonTime(1_400))));
}

#[test]
fn s_skips_only_where_no_number_stands() {
    let mut app = opened_asking(PREDICT, Lang::En);
    press(&mut app, "end s");
    assert_eq!(given(&app), Some(Given::Skipped));
    assert_eq!(app.progress.lessons["wrong-delete"].score().text(), "0/1");
}

#[test]
fn a_time_that_is_close_is_right_and_says_so() {
    let mut app = opened_asking(PREDICT, Lang::En);
    press(&mut app, "end 1 2 . 4 9 enter");
    let said = screen(&app, 80, 24);
    assert!(said.contains("12.49 s is right: close enough.") && said.contains("It is 12.5 s."), "{said}");
    assert_eq!(app.progress.lessons["wrong-delete"].score().text(), "1/1");
}

#[test]
fn a_free_answer_is_graded_by_who_gave_it() {
    for (key, grade, score) in [("1", Grade::Right, "1/1"), ("2", Grade::Half, "0.5/1"), ("3", Grade::Wrong, "0/1")] {
        let mut app = opened_asking(MODEL, Lang::En);
        press(&mut app, "end");
        assert!(!screen(&app, 120, 36).contains("looks at no value"), "not before it is asked for");
        press(&mut app, "enter");
        assert_eq!(given(&app), Some(Given::Revealed));
        assert_eq!(app.progress.lessons["wrong-delete"].score().of, 0, "nobody has said yet");
        assert!(screen(&app, 120, 36).contains("looks at no value"));
        press(&mut app, key);
        assert_eq!(given(&app), Some(Given::Graded(grade)));
        assert_eq!(app.progress.lessons["wrong-delete"].score().text(), score);
    }
    let mut app = opened_asking(MODEL, Lang::Zh);
    press(&mut app, "end enter");
    assert_snapshot!("model-answer-zh", screen(&app, 80, 24));
}

#[test]
fn the_page_at_the_end_gives_nothing_away_before_it() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "e");
    assert!(app.ending().is_none());
    assert!(screen(&app, 80, 24).contains("See the lesson to its end first"));
    press(&mut app, "end 2 end e");
    assert!(app.ending().is_some());
    // Later it is there from anywhere.
    press(&mut app, "esc home e");
    assert!(app.ending().is_some());
}

#[test]
fn the_page_opens_item_by_item() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end 2 end e");
    assert_snapshot!("ending", screen(&app, 120, 36));
    let closed = screen(&app, 80, 24);
    assert!(!closed.contains("The lease ran out, B got the lock"), "{closed}");
    press(&mut app, "enter");
    assert!(screen(&app, 80, 24).contains("The lease ran out, B got the lock"));
    press(&mut app, "down enter down down enter");
    assert_snapshot!("ending-open", screen(&app, 120, 36));
    assert_snapshot!("ending-open-80", screen(&app, 80, 24));
    press(&mut app, "l");
    assert_snapshot!("ending-open-zh", screen(&app, 80, 24));
    press(&mut app, "esc");
    assert!(app.ending().is_none() && app.player.is_some(), "esc leads back to the timeline");
}

#[test]
fn a_misconception_leads_to_where_it_is_refuted() {
    let mut app = opened(PLAIN, Lang::En);
    // In the variant with the script there is no wrong delete: the other one is shown.
    press(&mut app, "end 2 end v end s end e down enter enter");
    let player = app.player.as_ref().expect("a lesson is open");
    assert_eq!((player.variant, player.playhead.t()), (0, LessonTime(12_000)));
    assert!(app.ending().is_none());
    let seen = screen(&app, 120, 36);
    assert!(seen.contains("Wrong delete: A removed the lock that B holds.") && seen.contains("e: back to the page"));
    // The overlap is in both: the variant that is shown stays.
    press(&mut app, "v e down down enter enter");
    let player = app.player.as_ref().expect("a lesson is open");
    assert_eq!((player.variant, player.playhead.t()), (1, LessonTime(11_000)));
}

#[test]
fn keys_of_the_timeline_do_nothing_below_the_page() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end 2 end e v 3 [ s");
    let player = app.player.as_ref().expect("a lesson is open");
    assert_eq!((player.variant, player.playhead.t(), player.playing), (0, LessonTime(16_000), false));
    press(&mut app, "q");
    assert!(app.quit);
}

#[test]
fn the_page_fits_every_size() {
    for keys in ["end 2 end e", "end 2 end e down enter end enter"] {
        let mut app = opened(PLAIN, Lang::Zh);
        press(&mut app, keys);
        for (width, height) in (0..=250).step_by(7).flat_map(|w| (0..=80).step_by(3).map(move |h| (w, h))) {
            screen(&app, width, height);
        }
    }
}
