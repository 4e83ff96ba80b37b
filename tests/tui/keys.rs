//! Keys, through the table of bindings, on a lesson.

use lockscope::trace::Lang;
use lockscope::tui::player::Given;
use lockscope::tui::{Action, App};

use super::press;
use super::wrong_delete::{PLAIN, opened};

fn t(app: &App) -> u64 {
    app.player.as_ref().expect("a lesson is open").playhead.t().ms()
}

fn pos(app: &App) -> usize {
    app.player.as_ref().expect("a lesson is open").playhead.pos
}

fn app() -> App {
    opened(PLAIN, Lang::En)
}

/// With the question out of the way.
fn skipped() -> App {
    let mut app = app();
    press(&mut app, "end s home");
    app
}

#[test]
fn stepping_lands_on_each_event_both_ways() {
    let mut app = skipped();
    let mut there = vec![(t(&app), pos(&app))];
    for _ in 0..7 {
        press(&mut app, "right");
        there.push((t(&app), pos(&app)));
    }
    let times: Vec<u64> = there.iter().map(|(t, _)| *t).collect();
    // The beginning, A's SET, the expiry, B's SET, the question, A's DEL, C's SET, C is done.
    assert_eq!(times, [0, 0, 10_000, 11_000, 12_000, 12_000, 12_500, 14_500]);
    for expected in there.iter().rev().skip(1) {
        press(&mut app, "left");
        assert_eq!((t(&app), pos(&app)), *expected);
    }
    press(&mut app, "left left");
    assert_eq!((t(&app), pos(&app)), (0, 0));
}

#[test]
fn between_two_events_back_leads_to_the_one_before() {
    let mut app = skipped();
    press(&mut app, "right right . .");
    assert_eq!(t(&app), 10_200);
    press(&mut app, "left");
    assert_eq!(t(&app), 10_000);
    press(&mut app, "left");
    assert_eq!(t(&app), 0);
}

#[test]
fn an_open_question_is_a_wall() {
    for keys in [
        "end",
        "9",
        "! ] ] ]",
        "shift-right shift-right shift-right shift-right shift-right shift-right shift-right shift-right",
        "right right right right right right right",
    ] {
        let mut app = app();
        press(&mut app, keys);
        assert_eq!(t(&app), 12_000, "{keys}");
        let player = app.player.as_ref().expect("a lesson is open");
        let recording = app.recording().expect("it has been run");
        assert_eq!(player.limit(&recording), pos(&app), "{keys}");
        assert!(app.question().is_some_and(|(_, given)| given.is_none()), "{keys}");
    }
}

#[test]
fn playing_stops_at_the_question_and_goes_on_after_it() {
    let mut app = app();
    press(&mut app, "space");
    let mut ticks = 0;
    while app.is_playing() {
        app.tick(33_000);
        ticks += 1;
        assert!(ticks < 5_000, "it never stops");
    }
    assert_eq!(t(&app), 12_000);
    press(&mut app, "space");
    assert!(!app.is_playing(), "a question is not played past");
    press(&mut app, "2 space");
    while app.is_playing() {
        app.tick(33_000);
        ticks += 1;
        assert!(ticks < 10_000, "it never ends");
    }
    assert_eq!(t(&app), 16_000);
    // Play at the end begins again.
    press(&mut app, "space");
    assert!(app.is_playing() && t(&app) == 0);
}

#[test]
fn playing_shows_every_stop() {
    let mut app = skipped();
    let recording = app.recording().expect("it has been run");
    press(&mut app, "space");
    let mut seen = std::collections::BTreeSet::new();
    while app.is_playing() {
        seen.insert(pos(&app));
        app.tick(33_000);
    }
    seen.insert(pos(&app));
    for stop in &recording.timeline.stops {
        assert!(seen.contains(&stop.end), "the stop at {} was passed over", stop.t);
    }
}

#[test]
fn an_answer_is_kept_per_variant() {
    let mut app = app();
    press(&mut app, "end 4");
    assert!(app.question().is_some_and(|(_, given)| given.is_none()), "there is no fourth choice");
    press(&mut app, "1");
    assert_eq!(app.question().and_then(|(_, given)| given), Some(Given::Choice(0)));
    press(&mut app, "2");
    assert_eq!(app.question().and_then(|(_, given)| given), Some(Given::Choice(0)), "answered once");
    press(&mut app, "v end");
    assert!(app.question().is_some_and(|(_, given)| given.is_none()), "the other variant asks again");
    press(&mut app, "V 7");
    assert_eq!(t(&app), 11_200);
}

#[test]
fn violations_and_markers() {
    let mut app = skipped();
    press(&mut app, "!");
    assert_eq!(t(&app), 11_000);
    let mut times = Vec::new();
    for _ in 0..4 {
        press(&mut app, "]");
        times.push(t(&app));
    }
    // The question, the wrong delete, B and C; then there is no more.
    assert_eq!(times, [12_000, 12_000, 12_500, 12_500]);
    let before = pos(&app);
    press(&mut app, "[");
    assert!(t(&app) == 12_000 && pos(&app) < before);
    press(&mut app, "[ [ [");
    assert_eq!(t(&app), 0);
}

#[test]
fn jumps_and_speeds() {
    let mut app = skipped();
    press(&mut app, "5");
    assert_eq!(t(&app), 8_000);
    press(&mut app, "shift-right");
    assert_eq!(t(&app), 9_600);
    press(&mut app, "shift-left shift-left ,");
    assert_eq!(t(&app), 6_300);
    press(&mut app, "+ + . ");
    assert_eq!(t(&app), 6_700, "a small step grows with the speed");
    press(&mut app, "end");
    assert_eq!(t(&app), 16_000);
    press(&mut app, "0");
    assert_eq!((t(&app), pos(&app)), (0, 0));
}

#[test]
fn the_help_covers_everything_and_pauses() {
    let mut app = skipped();
    press(&mut app, "space ?");
    assert!(!app.is_playing());
    let before = pos(&app);
    press(&mut app, "right 5 v");
    assert_eq!(pos(&app), before);
    press(&mut app, "q");
    assert!(!app.quit && app.help.is_none(), "q closes the help first");
    press(&mut app, "q");
    assert!(app.quit);
}

#[test]
fn back_language_and_quit() {
    let mut app = app();
    press(&mut app, "l");
    assert_eq!(app.lang, Lang::Zh);
    press(&mut app, "esc");
    assert!(app.player.is_none());
    press(&mut app, "down down enter");
    assert!(app.player.is_none(), "a file that does not load cannot be opened");
    press(&mut app, "ctrl-c");
    assert!(app.quit);
}

#[test]
fn coming_back_to_a_lesson_does_not_run_it_again() {
    let mut app = app();
    press(&mut app, "esc enter");
    assert!(app.take_requests().is_empty());
    assert!(app.recording().is_some());
    app.update(Action::NextVariant);
    assert!(app.recording().is_some());
}
