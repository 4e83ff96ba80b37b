//! Two variants over one axis.

use insta::assert_snapshot;
use lockscope::trace::{Lang, LessonTime};
use lockscope::tui::app::App;
use lockscope::tui::compare::{Entered, bought, parting};
use lockscope::tui::{Recording, Theme};

use super::wrong_delete::{PLAIN, opened, opened_asking, plan, trace};
use super::{press, screen};

/// Both variants watched, the second beside the first, the playhead at the end.
fn compared(theme: Theme, lang: Lang) -> App {
    let mut app = opened(theme, lang);
    press(&mut app, "v end s v end s end c");
    assert!(app.is_comparing());
    app
}

#[test]
fn two_runs_part_where_they_first_differ() {
    let (del, lua) = (trace(&plan(0)), trace(&plan(1)));
    let found = parting(&del, &lua).expect("they differ");
    assert_eq!(found.t, LessonTime(12_000), "until the release they are the same");
    assert_eq!(parting(&del, &del), None);
    // A run that stops earlier differs where the other goes on.
    let mut cut = del.clone();
    cut.records.retain(|record| record.t < LessonTime(12_500));
    let found = parting(&del, &cut).expect("one goes on");
    assert_eq!((found.t, found.records.1), (LessonTime(12_500), cut.records.len()));
    // The random part of a token is no difference.
    let text = serde_json::to_string(&del).expect("a trace is JSON").replace("7f3e19c2-", "00000000-");
    let other = serde_json::from_str(&text).expect("it is still one");
    assert_ne!(del, other);
    assert_eq!(parting(&del, &other), None);
}

#[test]
fn what_a_change_bought_is_what_went_wrong_and_does_not_now() {
    let [del, lua] = [0, 1].map(|variant| Recording::new(&plan(variant), trace(&plan(variant))));
    let names = |findings: Vec<&lockscope::trace::Finding>| -> Vec<String> {
        findings.iter().map(|finding| format!("{} {}", finding.kind.name(), finding.who.join("+"))).collect()
    };
    let there = bought(&del, &lua);
    assert_eq!(names(there.stays), ["overlap A+B"]);
    assert_eq!(there.gone.len(), 2, "the wrong delete and the overlap of B and C");
    assert!(names(there.gone).contains(&"overlap B+C".to_owned()));
    assert!(there.new.is_empty());
    let never = Entered { client: "C", before: Some(LessonTime(12_500)), after: None };
    assert_eq!(there.entered, [never], "the others get in when they did");
    let back = bought(&lua, &del);
    assert_eq!((back.gone.len(), back.new.len()), (0, 2));
}

#[test]
fn both_are_shown_with_what_the_change_buys() {
    let mut app = compared(PLAIN, Lang::En);
    assert_snapshot!("compare-80", screen(&app, 80, 24));
    assert_snapshot!("compare", screen(&app, 120, 36));
    assert_snapshot!("compare-200", screen(&app, 200, 50));
    press(&mut app, "l");
    assert_snapshot!("compare-zh", screen(&app, 120, 36));
    let app = compared(Theme { ascii: true, colour: false }, Lang::En);
    let shown = screen(&app, 120, 36).replace("中文", "");
    assert!(shown.is_ascii(), "{shown}");
}

#[test]
fn the_first_difference_is_marked_and_can_be_gone_to() {
    let mut app = compared(PLAIN, Lang::En);
    let shown = screen(&app, 120, 36);
    assert_eq!(shown.lines().filter(|line| line.contains('≠')).count(), 3, "on both axes, and in words\n{shown}");
    press(&mut app, "home d");
    assert_eq!(app.player.as_ref().map(|player| player.playhead.t()), Some(LessonTime(12_000)));
    press(&mut app, "v");
    assert!(app.is_comparing() && screen(&app, 120, 36).contains("new: wrong delete"), "the other way round");
    press(&mut app, "esc");
    assert!(!app.is_comparing() && app.player.is_some());
    press(&mut app, "esc");
    assert!(app.player.is_none());
}

#[test]
fn comparing_gives_no_answer_away() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end 2 end c");
    let shown = screen(&app, 120, 36);
    assert!(shown.contains("hidden: answer first") && shown.contains("is still open"), "{shown}");
    assert!(!shown.contains("gone:") && !shown.contains('≠'), "{shown}");
    // The open question itself takes the screen.
    press(&mut app, "v end");
    let shown = screen(&app, 120, 36);
    assert!(shown.contains("the interviewer asks") && !shown.contains("what the change buys"), "{shown}");
    press(&mut app, "3");
    assert!(screen(&app, 120, 36).contains("what the change buys"));
    // At a question nothing is begun that would show nothing.
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end c");
    assert!(!app.is_comparing() && app.notice.as_deref().is_some_and(|notice| notice.contains("Answer first")));
}

#[test]
fn after_the_last_variant_comes_the_first_again() {
    let mut app = opened_asking("predict: {granted: C, at: _}", Lang::En);
    assert!(app.lesson(0).is_some_and(|lesson| lesson.plans.len() == 2), "this one has two");
    press(&mut app, "end s c c c");
    assert!(app.is_comparing(), "after the last comes the first again");
    assert_eq!(app.player.as_ref().and_then(|player| player.compare.as_ref()).map(|compare| compare.other), Some(1));
}

#[test]
fn a_comparison_fits_every_size() {
    let app = compared(PLAIN, Lang::Zh);
    for (width, height) in (0..=250).step_by(9).flat_map(|w| (0..=80).step_by(3).map(move |h| (w, h))) {
        screen(&app, width, height);
    }
}
