//! Any size, at any moment.

use lockscope::trace::Lang;
use lockscope::tui::{App, Theme};

use super::wrong_delete::{PLAIN, entries, opened};
use super::{press, screen};

/// All that are too small, every width and every height once, and those that terminals have.
fn sizes() -> impl Iterator<Item = (u16, u16)> {
    let small = (0..=60).flat_map(|width| (0..=16).map(move |height| (width, height)));
    let wide = (60..=250).map(|width| (width, 16 + width * 7 % 65));
    let high = (16..=80).map(|height| (60 + height * 37 % 191, height));
    let usual = [(80, 24), (100, 30), (120, 36), (160, 45), (200, 50), (250, 80), (60, 80), (250, 16)];
    small.chain(wide).chain(high).chain(usual)
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
