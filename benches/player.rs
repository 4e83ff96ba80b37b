//! What a student waits for:
//!
//! - from a key to the frame that answers it, through a real pseudo-terminal (the aim: under 20 ms);
//! - from a change in a what-if to the frame that shows its run, on the built-in lesson whose run is the longest, the run
//!   on a real server included (the aim: under 50 ms).

#![expect(clippy::unwrap_used, reason = "shares the tests' terminal, which cannot go on without one")]

#[path = "../tests/cli_support/mod.rs"]
mod cli_support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cli_support::pty::{DOWN, LEFT, RIGHT, Terminal};
use cli_support::{Home, LOCKSCOPE};
use lockscope::engine::{ClockKind, Engine};
use lockscope::lesson::RunLesson;
use lockscope::lesson::catalogue::{builtin, load_all};
use lockscope::servers::Binary;
use lockscope::tui::app::Run;
use lockscope::tui::keys::Action;
use lockscope::tui::whatif::rows::Row;
use lockscope::tui::{App, Recording, Theme};

const TIMES: usize = 40;
/// A student looks before pressing again, if only for a moment: keys that are held down come about this often.
const BETWEEN: Duration = Duration::from_millis(40);

fn main() {
    keys();
    let binary = Binary::find(None).expect("a redis-server");
    let mut engine = Engine::new(binary, ClockKind::Warp).expect("an engine");
    changes(&mut engine);
}

/// Steps through a lesson, there and back.
fn keys() {
    for size in [(80, 24), (120, 36), (200, 50)] {
        let home = Home::new();
        let args = ["watchdog"];
        let mut terminal = Terminal::open(size, LOCKSCOPE.as_ref(), &args, home.path(), &home.environment());
        terminal.wait("the run", |picture| picture.contains("0.000 / "));
        let mut times: Vec<Duration> = (0..TIMES)
            .map(|i| {
                let begin = Instant::now();
                terminal.press(if i % 8 < 4 { RIGHT } else { LEFT });
                begin.elapsed()
            })
            .collect();
        report(&format!("key to frame, {}×{}", size.0, size.1), &mut times);
        terminal.send("q");
        terminal.left();
    }
}

/// Turns the lease of the lesson with the most records up and down.
fn changes(engine: &mut Engine) {
    let entries = load_all(builtin());
    let mut longest = (0, 0, 0);
    for (i, entry) in entries.iter().enumerate() {
        let Ok(lesson) = &entry.lesson else { continue };
        for (variant, plan) in lesson.plans.iter().enumerate() {
            let records = engine.run(plan).map_or(0, |trace| trace.records.len());
            longest = longest.max((records, i, variant));
        }
    }
    let (records, entry, variant) = longest;
    let mut app = App::new(entries, Some(entry), Theme { ascii: false, colour: true }, lockscope::trace::Lang::En);
    run_all(&mut app, engine);
    let id = app.lesson(entry).map_or_else(String::new, |lesson| lesson.id.clone());
    if let Some(player) = &mut app.player {
        player.change_variant(variant);
    }
    app.update(Action::WhatIf);
    let at = app.whatif_rows().iter().position(|row| matches!(row, Row::Ttl(_))).expect("a lease");
    report(&format!("what-if to frame, {id} ({records} records)"), &mut turned(&id, variant, at));
}

/// Turns what stands in a line of a what-if, there and back: from the key to the frame that shows the run which it asks
/// for.
#[expect(clippy::disallowed_methods, reason = "a student's pause waits for nothing")]
fn turned(id: &str, variant: usize, line: usize) -> Vec<Duration> {
    let home = Home::new();
    let mut terminal = Terminal::open((200, 50), LOCKSCOPE.as_ref(), &[id], home.path(), &home.environment());
    let settled = |picture: &str| !picture.contains("running on Redis");
    for _ in 0..variant {
        terminal.send("v");
    }
    let there = format!("variant {}/", variant + 1);
    terminal
        .wait("the variant", |picture| picture.contains(&there) && picture.contains("0.000 / ") && settled(picture));
    terminal.send("w");
    for _ in 0..line {
        terminal.send(DOWN);
    }
    let value = |picture: &str| {
        let (_, rest) = picture.split_once('‹')?;
        Some(rest.split_once('›')?.0.trim().to_owned())
    };
    let mut before =
        value(&terminal.wait("a lease", |picture| value(picture).is_some_and(|value| value.ends_with('s'))));
    let mut times = Vec::new();
    for i in 0..TIMES {
        std::thread::sleep(BETWEEN);
        let begin = Instant::now();
        terminal.send(if i % 8 < 4 { RIGHT } else { LEFT });
        let after = terminal.wait("the run", |picture| value(picture) != before && settled(picture));
        times.push(begin.elapsed());
        before = value(&after);
    }
    terminal.send("q");
    terminal.left();
    times
}

/// Does what the worker does; what may have no end is run twice.
fn run_all(app: &mut App, engine: &mut Engine) {
    for _ in 0..2 {
        for request in app.take_requests() {
            let run = match engine.run(&request.plan) {
                Ok(trace) => Run::Ready(Arc::new(Recording::new(&request.plan, trace))),
                Err(failure) => Run::Failed(failure.to_string()),
            };
            app.ran(request.key, run);
        }
    }
}

fn report(what: &str, times: &mut [Duration]) {
    times.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let (median, worst) = (ms(times[times.len() / 2]), ms(times[times.len() - 1]));
    println!("{what}: median {median:.1} ms, worst {worst:.1} ms");
}
