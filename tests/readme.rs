//! The screens in the READMEs are the program's own: a lesson run on a real server, played to its end, and drawn.
//!
//! `BLESS=1 cargo test --test readme` draws them anew.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::sync::Arc;

use lockscope::engine::{ClockKind, Engine};
use lockscope::lesson::RunLesson;
use lockscope::lesson::catalogue::{builtin, load_all};
use lockscope::servers::Binary;
use lockscope::trace::Lang;
use lockscope::tui::app::Run;
use lockscope::tui::keys::Action;
use lockscope::tui::{App, Recording, Theme, view};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const LESSON: &str = "wrong-delete";
/// As wide as a page on the web shows without scrolling.
const SIZE: (u16, u16) = (110, 38);
const BEGIN: &str = "```text\n";
const END: &str = "```\n";

/// The player at the lesson's end, its question skipped.
fn screen(lang: Lang) -> String {
    let entries = load_all(builtin());
    let lesson = entries.iter().position(|entry| entry.id() == LESSON).unwrap();
    let mut app = App::new(entries, Some(lesson), Theme { ascii: false, colour: false }, lang);
    let mut engine = Engine::new(Binary::find(None).unwrap(), ClockKind::Warp).unwrap();
    for request in app.take_requests() {
        let recording = Recording::new(&request.plan, engine.run(&request.plan).unwrap());
        app.ran(request.key, Run::Ready(Arc::new(recording)));
    }
    for action in [Action::End, Action::Skip, Action::End] {
        app.update(action);
    }
    let mut buffer = Buffer::empty(Rect::new(0, 0, SIZE.0, SIZE.1));
    view::draw(&app, &mut buffer);
    let mut text = String::new();
    for y in 0..SIZE.1 {
        let mut line = String::new();
        let mut covered = 0;
        for x in 0..SIZE.0 {
            let symbol = buffer[(x, y)].symbol();
            // The second cell of a wide character is its own.
            if covered == 0 {
                line.push_str(symbol);
                covered = ratatui::text::Span::raw(symbol).width().saturating_sub(1);
            } else {
                covered -= 1;
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn keep(page: &str, made: &str) {
    let path = format!("{}/{page}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, format!("{before}{BEGIN}{made}{END}{after}")).unwrap();
    } else {
        assert_eq!(shown, made, "{page}: run `BLESS=1 cargo test --test readme`");
    }
}

#[test]
fn the_screens_of_the_readmes_are_what_the_program_shows() {
    keep("README.md", &screen(Lang::En));
    keep("README.zh.md", &screen(Lang::Zh));
}
