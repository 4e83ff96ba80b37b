//! How a client takes a lock.

use super::event::Run;
use super::keeping::Watchdog;
use crate::trace::LessonTime;

/// `do: acquire`
#[derive(Clone, Debug, PartialEq)]
pub struct Acquire {
    /// With which commands.
    pub how: AcquireHow,
    /// How long the grant lasts; none: for ever.
    pub ttl: Option<LessonTime>,
    /// What is written into the key.
    pub token: Token,
    /// If refused, GET; if the value is mine, it is granted.
    pub accept_own: bool,
    /// Where a fencing token comes from.
    pub fence: Fence,
    /// What to do when refused.
    pub wait: Wait,
    /// Wait for replicas after the grant.
    pub wait_replicas: Option<WaitReplicas>,
    /// Whether the time that acquiring took is held against the grant.
    pub validity: Validity,
    /// Stop by itself when the validity ends.
    pub deadline_stop: bool,
    /// Renew in the background.
    pub watchdog: Option<Watchdog>,
    /// A reader (for overlap only).
    pub read_mode: bool,
}

/// With which commands a lock is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum AcquireHow {
    /// `SET key token NX PX ttl`.
    SetNxPx,
    /// `SETNX key token`: no TTL.
    Setnx,
    /// `SETNX`, then, so much later, `PEXPIRE` (or `EXPIRE`).
    SetnxExpire { gap: LessonTime },
    /// A hash owner → count.
    Reentrant,
    /// On a majority of independent masters.
    Redlock { cleanup: bool, sequential: bool },
    /// The author's own.
    Run(Run),
}

/// What is written into the key.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A new one for each acquisition.
    Unique,
    /// Always this text.
    Fixed(String),
    /// Made of the client's process, and its thread too.
    Parts { process: bool, thread: bool },
    /// That of an earlier event (index).
    Of(usize),
}

/// Where a fencing token comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum Fence {
    None,
    Script,
    Database,
}

/// What to do when refused (FORMAT §3.1).
#[derive(Clone, Debug, PartialEq)]
pub enum Wait {
    /// Nothing: the acquire ends refused.
    None,
    /// Try again and again.
    Retry {
        /// First pause.
        every: LessonTime,
        /// ± this share of a pause, 0 to 1.
        jitter: f64,
        /// Each pause is so many times the last.
        backoff: f64,
        /// Longest pause.
        max: Option<LessonTime>,
        /// Give up after so long.
        span: Option<LessonTime>,
        /// A new token for each try.
        new_token: bool,
    },
    /// Subscribe to the release message.
    Notify { recheck: bool, subscribe_after: LessonTime, cap: Cap, span: Option<LessonTime> },
    /// Stand in line: an entry counts so long, and a living waiter renews its own.
    Queue { entry: LessonTime, refresh: bool, cap: Cap, span: Option<LessonTime> },
}

/// The longest sleep without a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum Cap {
    Ttl,
    None,
    Of(LessonTime),
}

/// `wait_replicas:`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitReplicas {
    /// How many.
    pub n: u32,
    /// How long.
    pub timeout: LessonTime,
    /// Whether the answer is looked at.
    pub check: bool,
}

/// `validity:` and `measured_from:`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Whether `ttl − elapsed − drift ≤ 0` is refused.
    pub checked: bool,
    /// From where elapsed time counts.
    pub measured_from: MeasuredFrom,
}

/// From where elapsed time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum MeasuredFrom {
    Send,
    FirstTry,
    Reply,
}
