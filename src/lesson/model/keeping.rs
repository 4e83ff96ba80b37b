//! How a client keeps a lock, and gives it back.

use super::event::Run;
use crate::trace::LessonTime;

/// `watchdog:` (FORMAT §3.2)
#[derive(Clone, Debug, PartialEq)]
pub struct Watchdog {
    /// Between renewals.
    pub every: LessonTime,
    /// With which commands.
    pub how: RenewHow,
    /// Give up after so many.
    pub max_renewals: Option<u32>,
    /// Give up so long after the grant.
    pub max_total: Option<LessonTime>,
    /// What a loss means.
    pub on_loss: OnLoss,
    /// `on_error: die`.
    pub dies_on_error: bool,
    /// `arms_on: reply`: armed even when the caller has given up.
    pub arms_on_reply: bool,
}

/// What a client does when it is told of a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum OnLoss {
    #[default]
    Stop,
    Ignore,
}

/// `do: renew`
#[derive(Clone, Debug, PartialEq)]
pub struct Renew {
    /// With which commands.
    pub how: RenewHow,
    /// The new lease; none: for ever.
    pub ttl: Option<LessonTime>,
    /// `on_short: release`.
    pub on_short_release: bool,
}

/// With which commands a lease is prolonged.
#[derive(Clone, Debug, PartialEq)]
pub enum RenewHow {
    /// Lua: PEXPIRE if the value is mine.
    PexpireIfMine,
    /// A blind PEXPIRE.
    Pexpire,
    /// A blind SET … PX.
    Set,
    /// Lua: SET … PX if the key is free or mine.
    SetIfFreeOrMine,
    /// The author's own.
    Run(Run),
}

/// `do: release`
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// With which commands.
    pub how: ReleaseHow,
    /// Whose token; none: the latest acquire's.
    pub token_of: Option<usize>,
    /// Whether a message is published; none: when somebody waits for it.
    pub publish: Option<bool>,
}

/// With which commands a lock is let go.
#[derive(Clone, Debug, PartialEq)]
pub enum ReleaseHow {
    /// Lua: DEL if the value is mine.
    Lua,
    /// DEL.
    Del,
    /// GET, then, so much later, DEL if GET said mine.
    GetDel { gap: LessonTime },
    /// The server's own compare-and-delete command.
    Delex,
    /// The author's own.
    Run(Run),
}
