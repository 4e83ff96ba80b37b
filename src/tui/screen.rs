//! The loop: keys, results, time, and a frame when something has changed.

use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use crossterm::event;
use ratatui::Frame;

use super::app::App;
use super::keeper::{self, Keeper, Loaded};
use super::keys::dispatch;
use super::leave::Leave;
use super::progress::Progress;
use super::save;
use super::strings::Ui;
use super::terminal::Borrowed;
use super::theme::Theme;
use super::view;
use super::worker::{Message, Worker};
use crate::lesson::RunLesson;
use crate::lesson::catalogue::Entry;
use crate::trace::Lang;

/// How to show it.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Language at the start.
    pub lang: Lang,
    /// Only ASCII, borders included.
    pub ascii: bool,
}

/// Between two frames while playing: 30 a second.
const FRAME: Duration = Duration::from_millis(33);
/// How long a result may wait to be noticed while a lesson is being run: some ms.
const RUNNING: Duration = Duration::from_millis(2);
/// How long a signal may wait to be noticed while nothing moves.
const IDLE: Duration = Duration::from_millis(200);

/// Shows the catalogue (or the lesson `start`) until the user leaves. `make_runner` is called on a thread of its own.
///
/// # Errors
/// When standard input and output are no terminal, when the terminal fails, or when running lessons panicked.
pub fn run(
    lessons: Vec<Entry>,
    start: Option<usize>,
    make_runner: impl FnOnce() -> Box<dyn RunLesson> + Send + 'static,
    options: Options,
) -> anyhow::Result<()> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        bail!("the player needs a terminal; without one, use `lockscope --check`");
    }
    let leave = Leave::watch().context("cannot listen for signals")?;
    let (progress, keeper, notice) = remembered(options.lang);
    let mut app = App::remembering(lessons, start, Theme::from_env(options.ascii), options.lang, progress);
    app.notice = notice;
    let mut terminal = Borrowed::take().context("cannot use the terminal")?;
    // The first frame before the first thread: it shows at once, whatever the servers do.
    draw(&mut terminal, &app)?;
    let worker = Worker::start(make_runner).context("cannot start a thread for the lessons")?;

    let mut last = Instant::now();
    let mut changed = false;
    while !app.quit {
        for request in app.take_requests() {
            worker.request(request);
        }
        while let Some(message) = worker.message() {
            match message {
                Message::Ran(key, run) => changed |= app.ran(key, run),
                Message::Panicked => {
                    let said = terminal.panics();
                    drop(terminal);
                    bail!("running the lessons failed, which is a mistake in lockscope itself:\n{said}");
                }
            }
        }
        if let Some(keeper) = &keeper {
            if let Some((progress, touched)) = app.take_save() {
                keeper.save(progress, touched);
            }
            if let Some(why) = keeper.failure() {
                app.notice = Some(Ui::new(app.lang).fill("notice.not_saved", &[("why", &why)]));
                changed = true;
            }
        }
        if let Some(written) = app.take_written() {
            let saved = save::write_new(Path::new("."), &written);
            let ui = Ui::new(app.lang);
            app.notice = Some(match saved {
                Ok(file) => {
                    let folder = std::env::current_dir().unwrap_or_default();
                    ui.fill("whatif.saved", &[("file", &file), ("folder", &folder.display().to_string())])
                }
                Err(error) => ui.fill("whatif.not_saved", &[("why", &error.to_string())]),
            });
            changed = true;
        }
        let now = Instant::now();
        let passed = u64::try_from((now - last).as_micros()).unwrap_or(0);
        // A laptop that slept must not find the lesson over.
        changed |= app.tick(passed.min(200_000));
        last = now;
        if changed {
            draw(&mut terminal, &app)?;
            changed = false;
        }
        if leave.asked() {
            break;
        }
        let spent = now.elapsed();
        let wait = match (app.is_playing(), app.is_running()) {
            (true, _) => FRAME.saturating_sub(spent),
            (false, true) => RUNNING,
            (false, false) => IDLE,
        };
        let was_playing = app.is_playing();
        if event::poll(wait)? {
            changed |= take_events(&mut app)?;
        }
        if !was_playing {
            // The time spent waiting for a key is not time in which the lesson went on.
            last = Instant::now();
        }
    }
    drop(terminal);
    app.settle();
    if let (Some(keeper), Some((progress, touched))) = (&keeper, app.take_save()) {
        keeper.save(progress, touched);
    }
    Ok(())
}

/// What was done before, who keeps what is done now, and what to tell about it. Without a home folder, or where it
/// cannot be used, everything works but nothing is kept.
fn remembered(lang: Lang) -> (Progress, Option<Keeper>, Option<String>) {
    let ui = Ui::new(lang);
    let unkept = |why: &str| (Progress::default(), None, Some(ui.fill("notice.not_saved", &[("why", why)])));
    let Some(path) = keeper::place() else { return unkept("$HOME") };
    let (progress, notice) = match keeper::load(&path) {
        Loaded::Fine(progress) => (progress, None),
        Loaded::Aside(aside) => {
            let aside = aside.display().to_string();
            (Progress::default(), Some(ui.fill("notice.aside", &[("file", &aside)])))
        }
        Loaded::Unusable(why) => return unkept(&why),
    };
    match Keeper::start(path) {
        Ok(keeper) => (progress, Some(keeper), notice),
        Err(error) => unkept(&error.to_string()),
    }
}

/// Takes all that has been typed: a held arrow key must not queue up frames. Returns whether anything may have changed.
fn take_events(app: &mut App) -> anyhow::Result<bool> {
    let mut changed = false;
    while event::poll(Duration::ZERO)? {
        let event = event::read()?;
        if let Some(key) = event.as_key_press_event() {
            if let Some(action) = dispatch(&app.layers(), key) {
                app.update(action);
                changed = true;
            }
        } else if event.is_resize() {
            changed = true;
        }
    }
    Ok(changed)
}

fn draw(terminal: &mut Borrowed, app: &App) -> anyhow::Result<()> {
    let draw = |frame: &mut Frame<'_>| {
        if let Some(cursor) = view::draw(app, frame.buffer_mut()) {
            frame.set_cursor_position(cursor);
        }
    };
    terminal.screen.draw(draw).context("cannot draw")?;
    Ok(())
}
