//! The lesson clock. The only file of the engine that reads the wall clock.
//!
//! Under *warp* nothing waits: time on the agenda is made up for by moving the TTLs on the servers. On the *wall* clock
//! the same agenda sleeps for real and no TTL is touched: the proof that warp does not lie.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How lesson time passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockKind {
    /// At once; TTLs are moved.
    #[default]
    Warp,
    /// As on the wall; nothing is moved.
    Wall,
}

impl ClockKind {
    /// As the trace's header names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warp => "warp",
            Self::Wall => "wall",
        }
    }
}

/// A freeze older than this is renewed before a command: the shorter the window between freeze and command, the closer
/// the server's expiry is to the lesson's. A round trip takes 0.04 ms (ENGINE figures), so it is hardly ever reached.
const STALE: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Clock {
    pub(super) kind: ClockKind,
    begin: Cell<Instant>,
    now: Cell<u64>,
    frozen: RefCell<BTreeMap<String, Frozen>>,
}

/// When a server was last brought to lesson time.
#[derive(Clone, Copy, Debug)]
struct Frozen {
    t: u64,
    at: Instant,
    server_ms: i64,
}

impl Clock {
    pub(super) fn start(kind: ClockKind) -> Self {
        Self { kind, begin: Cell::new(Instant::now()), now: Cell::new(0), frozen: RefCell::default() }
    }

    /// Lesson time 0 is now. Called when the server's own clock at that instant (the epoch) has been read: the epoch must
    /// not be later, or on the wall a command would seem to be executed before its time.
    pub(super) fn begin_now(&self) {
        self.begin.set(Instant::now());
    }

    /// Lesson time, ms.
    pub(super) fn now(&self) -> u64 {
        self.now.get()
    }

    /// Real time since the run began, µs.
    pub(super) fn real_us(&self) -> u64 {
        u64::try_from(self.begin.get().elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Goes to lesson time `t`; on the wall clock this takes as long as it says.
    pub(super) async fn advance(&self, t: u64) {
        if t <= self.now.get() {
            return;
        }
        if self.kind == ClockKind::Wall {
            tokio::time::sleep_until((self.begin.get() + Duration::from_millis(t)).into()).await;
        }
        self.now.set(t);
    }

    /// What comes of `what` before lesson time `t`, on the wall clock; then it is that time. None: `t` is near, and nothing
    /// has come.
    pub(super) async fn before<T>(&self, t: u64, what: impl Future<Output = T>) -> Option<T> {
        let end = self.begin.get() + Duration::from_millis(t);
        tokio::select! {
            biased;
            come = what => {
                let real = self.real_us() / 1000;
                // What was planned for `t` has not happened yet, however late it is.
                self.now.set(self.now.get().max(real.min(t)));
                Some(come)
            }
            () = tokio::time::sleep_until(end.into()) => None,
        }
    }

    /// Whether TTLs are moved.
    pub(super) const fn moves(&self) -> bool {
        matches!(self.kind, ClockKind::Warp)
    }

    /// Whether `node` must be frozen (again) before a command.
    pub(super) fn is_stale(&self, node: &str) -> bool {
        self.moves()
            && self
                .frozen
                .borrow()
                .get(node)
                .is_none_or(|frozen| frozen.t != self.now.get() || frozen.at.elapsed() > STALE)
    }

    /// Notes that `node` stands at lesson time now; `server_ms` is its own clock at that instant.
    pub(super) fn froze(&self, node: &str, server_ms: i64) {
        let frozen = Frozen { t: self.now.get(), at: Instant::now(), server_ms };
        self.frozen.borrow_mut().insert(node.to_owned(), frozen);
    }

    /// Forgets a node that has died or came back: whatever it stood at, it does no more.
    pub(super) fn forget(&self, node: &str) {
        self.frozen.borrow_mut().remove(node);
    }

    /// `node`'s own clock, ms since 1970, at which the present instant began there. A command of this instant was executed
    /// so much later as that clock has gone on since.
    pub(super) fn frozen_at(&self, node: &str, epoch: i64) -> i64 {
        match self.kind {
            ClockKind::Warp => self.frozen.borrow().get(node).map_or(epoch, |frozen| frozen.server_ms),
            ClockKind::Wall => epoch + i64::try_from(self.now.get()).unwrap_or(0),
        }
    }

    /// Lets a fifth of a millisecond pass while Redis expires a key. Polling without a pause sends dozens of useless
    /// commands per expiry, and the runtime's own timer is no finer than a millisecond.
    #[expect(
        clippy::disallowed_methods,
        reason = "an expiry sends no word of itself: the key has to be looked at again"
    )]
    pub(super) fn breathe() {
        std::thread::sleep(Duration::from_micros(200));
    }
}
