//! A whole lesson in a real terminal, as a student goes through it: from the catalogue to the question, the answer, a
//! what-if that is undone, a comparison, and back out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cli_support;

use cli_support::pty::{CTRL_R, DOWN, END, ENTER, ESC, LEFT, RIGHT, Terminal};
use cli_support::{Home, LOCKSCOPE};

/// Presses a key until the picture is so.
#[track_caller]
fn press_until(terminal: &mut Terminal, key: &str, most: usize, so: impl Fn(&str) -> bool) -> String {
    for _ in 0..most {
        let picture = terminal.press(key);
        if so(&picture) {
            return picture;
        }
    }
    panic!("{most} times {key:?} do not lead there")
}

#[test]
fn a_whole_lesson_from_the_catalogue_and_back() {
    let home = Home::new();
    let mut terminal = Terminal::open((120, 36), LOCKSCOPE.as_ref(), &[], home.path(), &home.environment());

    // The catalogue: find the lesson, and play it.
    terminal.wait("the catalogue", |picture| picture.contains("see a Redis lock fail"));
    // While something is typed the cursor is to be seen, so no frame ends as others do.
    terminal.send("/wrong-delete");
    terminal.send(ENTER);
    let found = terminal.wait("what was looked for", |picture| !picture.contains("setnx-crash"));
    assert!(found.contains("wrong-delete") && !found.contains("setnx-crash"), "{found}");
    terminal.press(ENTER);
    terminal.wait("the run", |picture| picture.contains("0.000 / 16 s"));

    // Play it up to the question.
    for _ in 0..8 {
        terminal.press("+");
    }
    terminal.press(" ");
    let asked = terminal.wait("the question", |picture| picture.contains("Whose lock does it remove?"));
    assert!(asked.contains("hidden: answer first") && !asked.contains("removed by A"), "{asked}");

    // A wrong answer, and the proof.
    let answered = terminal.press("1");
    assert!(answered.contains("✘ 1 A's") && answered.contains("✓ 2 B's"), "{answered}");
    let delete = terminal.press(RIGHT);
    assert!(delete.contains("Wrong delete: A removed the lock that B holds."), "{delete}");

    // What if A's job took nine seconds? The timeline follows, and the playhead stays where it is.
    let list = terminal.press("w");
    assert!(list.contains("what if … at 12 s"), "{list}");
    press_until(&mut terminal, DOWN, 20, |picture| picture.contains("►   A's job takes"));
    for _ in 0..5 {
        terminal.press(LEFT);
    }
    terminal.press(LEFT);
    let changed = terminal.wait("the changed run", |picture| picture.contains("‹ 9 s ›") && picture.contains("SAFE"));
    assert!(changed.contains("gone: overlap A+B") && changed.contains("12.000 / "), "{changed}");
    terminal.press("u");
    let undone = terminal.wait("the run as it was", |picture| picture.contains("BROKEN since 11 s"));
    assert!(undone.contains("‹ 12 s ›") && undone.contains("12.000 / 16 s"), "{undone}");
    terminal.press(CTRL_R);
    terminal.wait("the changed run again", |picture| picture.contains("‹ 9 s ›") && picture.contains("SAFE"));

    // Keep it: a lesson of its own, which passes a check.
    let saved = terminal.press("S");
    assert!(saved.contains("Saved: wrong-delete-what-if.yaml"), "{saved}");

    // Beside the run as it was; then out of it all, step by step.
    let compared = terminal.press("c");
    assert!(compared.contains("naive DEL · ✘ BROKEN") && compared.contains("what if A's job takes 9 s"), "{compared}");
    terminal.press(ESC);
    terminal.wait("one run", |picture| !picture.contains("what the change buys"));
    terminal.press(ESC);
    let back = terminal.wait("the lesson as it is", |picture| picture.contains("BROKEN since 11 s"));
    assert!(back.contains("variant 1/3 naive DEL"), "{back}");
    let end = terminal.press(END);
    assert!(end.contains("Mutual exclusion broke at 11 s."), "{end}");
    terminal.press(ESC);
    terminal
        .wait("the catalogue again", |picture| picture.contains("wrong-delete") && picture.contains("1/3 variants"));
    terminal.send("q");
    let left = terminal.left();
    assert!(left.status.success(), "{:?}", left.status);
    left.is_sane();
    assert!(home.left_behind().is_empty(), "servers or their folders are left");
    home.run(&["--check", "wrong-delete-what-if.yaml"]).exits(0).closes(4, 0, 0);
}
