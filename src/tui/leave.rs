//! Being asked to go: signals, and a terminal that is gone.
//!
//! The loop looks at a flag and leaves in good order. It cannot when it is held inside a read from a terminal that no
//! longer exists (the event reader then reads nothing, for ever, as fast as it can), so after a moment of grace the
//! process ends anyway; its servers end with it, whatever ends it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::terminal::restore;

/// How long the loop has to leave by itself: it looks five times a second.
const GRACE: Duration = Duration::from_secs(1);

/// Watches for reasons to leave. Dropped when the player has left: nothing is forced any more.
#[derive(Debug)]
pub struct Leave {
    asked: Arc<AtomicBool>,
    left: Arc<AtomicBool>,
}

impl Leave {
    /// Starts to watch.
    ///
    /// # Errors
    /// When a handler or a thread cannot be installed.
    pub fn watch() -> io::Result<Self> {
        let leave = Self { asked: Arc::default(), left: Arc::default() };
        let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
        let (asked, left) = (Arc::clone(&leave.asked), Arc::clone(&leave.left));
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                ask(&asked, &left, signal);
            }
        })?;
        let (asked, left) = (Arc::clone(&leave.asked), Arc::clone(&leave.left));
        std::thread::Builder::new().name("hang-up".to_owned()).spawn(move || {
            let stdin = io::stdin();
            // Asked for nothing, poll still tells of a hang-up, and of nothing else.
            let mut terminal = [PollFd::new(&stdin, PollFlags::empty())];
            while matches!(poll(&mut terminal, None), Err(rustix::io::Errno::INTR)) {}
            ask(&asked, &left, SIGHUP);
        })?;
        Ok(leave)
    }

    /// Whether it is time to go.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        self.left.store(true, Ordering::Relaxed);
    }
}

/// Asks the loop to leave, and ends the process if it does not.
#[expect(
    clippy::disallowed_methods,
    reason = "the loop may be held where nothing can reach it; what remains is time, and exit"
)]
fn ask(asked: &AtomicBool, left: &AtomicBool, signal: i32) {
    asked.store(true, Ordering::Relaxed);
    std::thread::sleep(GRACE);
    if !left.load(Ordering::Relaxed) {
        restore();
        std::process::exit(128 + signal);
    }
}
