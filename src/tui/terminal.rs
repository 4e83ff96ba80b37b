//! The terminal, borrowed and given back as it was, whatever happens.

use std::cell::Cell;
use std::io::{self, BufWriter, Stdout, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crossterm::cursor::{Hide, Show};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

/// What frames are drawn to.
pub type Screen = Terminal<CrosstermBackend<BufWriter<Stdout>>>;

/// The terminal in raw mode on its alternate screen; dropping it gives the terminal back.
pub struct Borrowed {
    /// Draw here.
    pub screen: Screen,
    panics: Panics,
    _restore: Restore,
}

/// What to do last, whichever way we leave.
struct Restore;

impl Drop for Restore {
    fn drop(&mut self) {
        restore();
    }
}

/// Whether the terminal is ours.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Gives the terminal back, once: leaving the alternate screen puts the cursor where it was before, and a second time
/// that would be on top of what has been printed since, which after a panic is the reason of it.
///
/// Errors are of no use here: there is nobody left to tell.
pub(super) fn restore() {
    if !TAKEN.swap(false, Ordering::Relaxed) {
        return;
    }
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    let _ = stdout().flush();
}

thread_local! {
    /// Whether this is the thread that draws.
    static DRAWS: Cell<bool> = const { Cell::new(false) };
}

/// Panics of other threads, kept until the terminal can show them.
type Panics = Arc<Mutex<Vec<String>>>;

impl Borrowed {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When it cannot be put into raw mode or written to.
    pub fn take() -> io::Result<Self> {
        DRAWS.set(true);
        let panics = install_panic_hook();
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::Relaxed);
        // From here on every way out restores.
        let restore = Restore;
        execute!(stdout(), EnterAlternateScreen, Hide)?;
        let screen = Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(1 << 16, stdout())))?;
        Ok(Self { screen, panics, _restore: restore })
    }

    /// What other threads said when they panicked.
    #[must_use]
    pub fn panics(&self) -> String {
        self.panics.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }
}

/// A panic of the drawing thread gives the terminal back before it is reported; one of another thread is kept, as
/// printing it now would tear the screen, and leaving raw mode would break the keys of a program that still runs.
fn install_panic_hook() -> Panics {
    let panics = Panics::default();
    let kept = Arc::clone(&panics);
    let before = std::panic::take_hook();
    let active = Arc::downgrade(&panics);
    std::panic::set_hook(Box::new(move |info| {
        // `kept` and the screen's own: fewer than two means that the screen is gone, and so is the reason to wait.
        if DRAWS.get() {
            restore();
            before(info);
        } else if active.strong_count() > 1 {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(info.to_string());
        } else {
            before(info);
        }
    }));
    panics
}
