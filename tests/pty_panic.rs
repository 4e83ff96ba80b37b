//! A panic gives the terminal back, and what it said can be read.
//!
//! The program has no key for a panic. So this test starts itself once more, in a terminal, as the program that panics.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cli_support;

use cli_support::Home;
use cli_support::pty::{Left, Terminal};
use lockscope::lesson::{Plan, RunFailure, RunLesson, catalogue};
use lockscope::trace::{Lang, Trace};
use lockscope::tui::{self, Options};

const SAID: &str = "there is no such thing";

/// Runs one of the ignored tests of this file in a terminal.
fn in_a_terminal(name: &str) -> Left {
    let home = Home::new();
    let program = std::env::current_exe().unwrap();
    let args = ["--ignored", "--exact", name, "--nocapture"];
    Terminal::open((100, 30), &program, &args, home.path(), &home.environment()).left()
}

#[test]
fn a_panic_while_drawing_gives_the_terminal_back_first() {
    let left = in_a_terminal("panics_while_drawing");
    assert!(!left.status.success());
    left.is_sane();
    assert!(left.picture.contains(SAID), "the message is on the usual screen:\n{}", left.picture);
}

#[test]
fn a_panic_while_a_lesson_runs_ends_the_player_and_is_told_after_it() {
    let left = in_a_terminal("panics_while_a_lesson_runs");
    assert!(!left.status.success());
    left.is_sane();
    assert!(left.picture.contains(SAID), "the message is on the usual screen:\n{}", left.picture);
    assert!(left.picture.contains("a mistake in lockscope itself"), "{}", left.picture);
}

#[test]
#[ignore = "started by a test above, in a terminal of its own"]
fn panics_while_drawing() {
    let _terminal = tui::terminal::Borrowed::take().unwrap();
    panic!("{SAID}");
}

struct Panics;

impl RunLesson for Panics {
    fn run(&mut self, _: &Plan) -> Result<Trace, RunFailure> {
        panic!("{SAID}");
    }
}

#[test]
#[ignore = "started by a test above, in a terminal of its own"]
fn panics_while_a_lesson_runs() {
    let entries = catalogue::load_all(vec![catalogue::builtin().remove(0)]);
    let options = Options { lang: Lang::En, ascii: false };
    tui::run(entries, Some(0), || Box::new(Panics), options).unwrap();
}
