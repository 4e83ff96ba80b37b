//! Whole screens, as a student sees them.

use insta::assert_snapshot;
use lockscope::lesson::Source;
use lockscope::lesson::catalogue::{builtin, load_all};
use lockscope::trace::Lang;
use lockscope::tui::{App, Theme};

use super::wrong_delete::{PLAIN, entries, opened, run_all};
use super::{press, screen};

fn shown(keys: &str, lang: Lang, (width, height): (u16, u16)) -> String {
    let mut app = opened(PLAIN, lang);
    press(&mut app, keys);
    screen(&app, width, height)
}

const SMALL: (u16, u16) = (80, 24);
const MIDDLE: (u16, u16) = (120, 36);
const LARGE: (u16, u16) = (200, 50);

#[test]
fn the_catalogue_lists_what_loads_and_what_does_not() {
    let mut app = App::new(entries(), None, PLAIN, Lang::En);
    assert_snapshot!("catalogue", screen(&app, 120, 36));
    press(&mut app, "end");
    assert_snapshot!("catalogue-failed-80", screen(&app, 80, 24));
}

#[test]
fn before_the_first_event_the_story_is_told_and_the_future_is_dark() {
    assert_snapshot!("opening", shown("", Lang::En, MIDDLE));
}

#[test]
fn b_enters_while_a_is_inside() {
    assert_snapshot!("b-enters", shown("right right right", Lang::En, MIDDLE));
}

#[test]
fn the_question_stops_everything() {
    assert_snapshot!("question", shown("end", Lang::En, MIDDLE));
    assert_snapshot!("question-80", shown("end h", Lang::En, SMALL));
    assert_snapshot!("question-zh", shown("end", Lang::Zh, MIDDLE));
}

#[test]
fn an_answer_is_proven() {
    assert_snapshot!("answered-right", shown("end 2", Lang::En, MIDDLE));
    assert_snapshot!("answered-wrong-80", shown("end 1", Lang::En, SMALL));
}

#[test]
fn the_wrong_delete() {
    assert_snapshot!("wrong-delete", shown("end 2 right", Lang::En, MIDDLE));
    assert_snapshot!("wrong-delete-80", shown("end 2 right", Lang::En, SMALL));
    assert_snapshot!("wrong-delete-200", shown("end 2 right", Lang::En, LARGE));
    assert_snapshot!("wrong-delete-zh", shown("end 2 right", Lang::Zh, MIDDLE));
    assert_snapshot!("wrong-delete-zh-80", shown("end 2 right", Lang::Zh, SMALL));
}

#[test]
fn the_end_says_what_came_of_it() {
    assert_snapshot!("the-end", shown("end s end", Lang::En, MIDDLE));
}

#[test]
fn the_same_moment_with_the_script() {
    assert_snapshot!("lua", shown("v end s right", Lang::En, MIDDLE));
}

#[test]
fn ascii_is_ascii() {
    let mut app = opened(Theme { ascii: true, colour: false }, Lang::En);
    press(&mut app, "end 2 right");
    // The name of the other language stands in its own letters.
    let shown = screen(&app, 120, 36).replace("中文", "zh");
    assert!(shown.is_ascii(), "{}", shown.lines().find(|line| !line.is_ascii()).unwrap_or_default());
    assert_snapshot!("ascii", shown);
    press(&mut app, "?");
    assert!(screen(&app, 120, 60).replace("中文", "zh").is_ascii());
    press(&mut app, "esc esc");
    let catalogue = screen(&app, 100, 30).replace("中文", "");
    assert!(catalogue.is_ascii(), "{catalogue}");
}

#[test]
fn the_help_shows_the_keys_of_where_we_are() {
    assert_snapshot!("help", shown("?", Lang::En, (100, 60)));
    assert_snapshot!("help-zh", shown("?", Lang::Zh, (100, 60)));
}

#[test]
fn the_help_turns_pages_on_a_small_screen() {
    let first = shown("?", Lang::En, SMALL);
    let second = shown("? pagedown", Lang::En, SMALL);
    assert!(!first.contains("Signs on the timeline") && second != first, "{second}");
    assert_eq!(shown("? pagedown pageup", Lang::En, SMALL), first);
}

/// Six lessons on three levels: what does not fit makes room, and says that there is more.
#[test]
fn a_small_catalogue_shows_all_lessons_and_that_the_text_goes_on() {
    let many = |i: usize, level| {
        let yaml = include_str!("wrong_delete.yaml").replace("id: wrong-delete", &format!("id: lesson-{i}"));
        Source::new(format!("lesson-{i}.yaml"), yaml.replace("level: intro", &format!("level: {level}")))
    };
    let levels = ["intro", "intro", "intro", "core", "core", "advanced"];
    let sources = levels.iter().enumerate().map(|(i, level)| many(i, level));
    let shown = screen(&App::new(load_all(sources), None, PLAIN, Lang::En), 80, 24);
    for i in 0..6 {
        assert!(shown.contains(&format!("lesson-{i}")), "{shown}");
    }
    assert!(shown.contains(" ↓ "), "{shown}");
}

#[test]
fn a_name_is_cut_only_where_there_is_no_room() {
    let shown = shown("v + +", Lang::En, SMALL);
    let header = shown.lines().next().unwrap_or_default();
    // The word "variant" goes first, and the variant's own name last.
    assert!(header.contains("…  2/2 compare and delete in Lua  "), "{header}");
}

#[test]
fn a_run_that_failed_says_why() {
    let mut app = App::new(entries(), Some(1), PLAIN, Lang::En);
    assert!(screen(&app, 80, 24).contains("running on Redis"));
    run_all(&mut app);
    let shown = screen(&app, 80, 24);
    assert!(shown.contains("no redis-server was found"), "{shown}");
}

#[test]
fn who_waits_for_real_time_is_told_so() {
    let entries = load_all(builtin());
    let sentinel = entries.iter().position(|entry| entry.id() == "failover-sentinel");
    let app = App::new(entries, sentinel, PLAIN, Lang::En);
    let shown = screen(&app, 80, 24);
    assert!(shown.contains("in real time: Sentinels have a clock"), "{shown}");
}

/// Without colour, nothing may look the same that is not.
#[test]
fn moments_that_differ_in_meaning_differ_in_text() {
    for size in [SMALL, MIDDLE, LARGE] {
        for lang in [Lang::En, Lang::Zh] {
            let mut app = opened(PLAIN, lang);
            press(&mut app, "end s home");
            let mut seen = vec![screen(&app, size.0, size.1)];
            for _ in 0..7 {
                press(&mut app, "right");
                seen.push(screen(&app, size.0, size.1));
            }
            for (i, one) in seen.iter().enumerate() {
                assert!(!seen[..i].contains(one), "step {i} looks like an earlier one at {size:?}");
            }
            let safe = shown("right right", lang, size);
            let broken = shown("right right right", lang, size);
            let word = |english, chinese| if lang == Lang::En { english } else { chinese };
            assert!(safe.contains(word("SAFE", "安全")), "{safe}");
            assert!(broken.contains(word("BROKEN since 11 s", "自 11 秒起失效")), "{broken}");
        }
    }
}
