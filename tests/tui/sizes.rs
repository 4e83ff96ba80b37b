//! Any size, at any moment.

use lockscope::trace::Lang;
use lockscope::tui::{App, Theme};

use super::wrong_delete::{PLAIN, entries, opened};
use super::{press, screen};

/// Every width at heights where something changes, and every height at such widths.
fn sizes() -> impl Iterator<Item = (u16, u16)> {
    let wide = (0..=250).flat_map(|width| [1, 16, 24].map(move |height| (width, height)));
    let high = (0..=80).flat_map(|height| [0, 1, 60, 80, 100, 250].map(move |width| (width, height)));
    wide.chain(high)
}

fn draw_all(app: &App) {
    for (width, height) in sizes() {
        screen(app, width, height);
    }
}

#[test]
fn the_catalogue_fits_every_size() {
    let mut app = App::new(entries(), None, PLAIN, Lang::Zh);
    press(&mut app, "end");
    draw_all(&app);
}

#[test]
fn a_question_fits_every_size() {
    let mut app = opened(PLAIN, Lang::Zh);
    press(&mut app, "end h");
    draw_all(&app);
}

#[test]
fn a_moment_and_the_help_fit_every_size() {
    let mut app = opened(Theme { ascii: true, colour: true }, Lang::En);
    press(&mut app, "end 2 right");
    draw_all(&app);
    press(&mut app, "?");
    draw_all(&app);
}

#[test]
fn too_small_says_so() {
    let app = opened(PLAIN, Lang::En);
    assert!(screen(&app, 59, 24).contains("60×16"));
    assert!(screen(&app, 60, 15).contains("60×16"));
    assert!(!screen(&app, 60, 16).contains("60×16"));
}
