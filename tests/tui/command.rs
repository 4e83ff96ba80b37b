//! One command in full, and the script behind it.

use insta::assert_snapshot;
use lockscope::trace::Lang;
use lockscope::tui::Theme;

use super::wrong_delete::{PLAIN, opened};
use super::{press, screen};

#[test]
fn enter_opens_the_command_at_the_playhead() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "enter");
    assert!(app.opened_command().is_none(), "nothing has been sent yet");
    assert!(screen(&app, 80, 24).contains("No command has been sent yet."));
    press(&mut app, "end 2 right enter");
    let shown = screen(&app, 120, 36);
    assert!(shown.contains("DEL lock:order:123") && shown.contains("(integer) 1"), "{shown}");
    assert!(shown.contains("c41b0a55-0d5b-4c1e-9a77-2b8f6d1c0e44\", B's"), "before it, the key was B's\n{shown}");
    // Space is for playing, and the page is closed by what opened it.
    press(&mut app, "space enter");
    assert!(app.opened_command().is_none() && app.player.is_some() && !app.is_playing());
}

#[test]
fn the_script_shows_which_way_it_went() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "v end s right enter");
    assert_snapshot!("script", screen(&app, 120, 36));
    assert_snapshot!("script-80", screen(&app, 80, 24));
    press(&mut app, "l");
    assert_snapshot!("script-zh", screen(&app, 80, 24));
    press(&mut app, "down down esc");
    assert!(app.opened_command().is_none());
    let mut app = opened(Theme { ascii: true, colour: false }, Lang::En);
    press(&mut app, "v end s right enter");
    let shown = screen(&app, 120, 36).replace("中文", "");
    assert!(shown.is_ascii(), "{shown}");
}

#[test]
fn at_a_step_without_a_command_the_last_one_is_shown() {
    let mut app = opened(PLAIN, Lang::En);
    // 10 s: the key expires.
    press(&mut app, "right right enter");
    let shown = screen(&app, 120, 36);
    assert!(shown.contains("a command of A at 0.000") && shown.contains("NX PX 10000"), "{shown}");
}

#[test]
fn a_command_fits_every_size() {
    let mut app = opened(PLAIN, Lang::Zh);
    press(&mut app, "v end s right enter");
    for (width, height) in (0..=250).step_by(9).flat_map(|w| (0..=80).step_by(3).map(move |h| (w, h))) {
        screen(&app, width, height);
    }
}
