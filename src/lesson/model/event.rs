//! One event: when it comes, what it does, and what passes on its way.

use super::super::source::{Span, Spanned};
use super::keeping::{OnLoss, Release, Renew};
use super::lesson::Ask;
use super::taking::Acquire;
use crate::trace::{EventKind, LessonTime, Outcome, Text};

/// One entry of `events`.
#[derive(Clone, Debug)]
pub struct Event {
    /// The id that the file gives it.
    pub id: Option<String>,
    /// Where it stands.
    pub span: Span,
    /// Who or what it is about.
    pub subject: Subject,
    /// What is done.
    pub what: Do,
    /// Not before (an action); exactly then (a happening).
    pub at: Option<At>,
    /// Under which condition.
    pub when: When,
    /// What is told when it starts.
    pub say: Option<Text>,
    /// What Redis must answer.
    pub reply: Option<Spanned<ReplyPattern>>,
    /// The lock it is about: an index into [`Plan::locks`]. Filled in where there is only one.
    pub lock: Option<usize>,
    /// Whether the file names the lock (`when` asks).
    pub lock_named: bool,
    /// A fault on this action's own messages.
    pub net: Option<Net>,
    /// The node that a raw command goes to.
    pub via: Option<Spanned<String>>,
}

impl Event {
    /// The kind, as the trace names it.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        match &self.what {
            Do::Acquire(_) => EventKind::Acquire,
            Do::Work { .. } => EventKind::Work,
            Do::Idle { .. } => EventKind::Idle,
            Do::Renew(_) => EventKind::Renew,
            Do::Release(_) => EventKind::Release,
            Do::Redis(_) => EventKind::Redis,
            Do::Read { .. } => EventKind::Read,
            Do::Write { .. } => EventKind::Write,
            Do::Begin { .. } => EventKind::Begin,
            Do::Commit => EventKind::Commit,
            Do::Rollback => EventKind::Rollback,
            Do::Crash { .. } => EventKind::Crash,
            Do::Pause { .. } => EventKind::Pause,
            Do::Restart => EventKind::Restart,
            Do::Promote { .. } => EventKind::Promote,
            Do::Demote => EventKind::Demote,
            Do::Flush => EventKind::Flush,
            Do::Evict => EventKind::Evict,
            Do::ClockJump { .. } => EventKind::ClockJump,
            Do::Link { change, .. } => match change {
                LinkChange::Cut => EventKind::Cut,
                LinkChange::Hold => EventKind::Hold,
                LinkChange::Slow { .. } => EventKind::Slow,
                LinkChange::Heal => EventKind::Heal,
            },
            Do::Say => EventKind::Say,
            Do::Ask(_) => EventKind::Ask,
        }
    }
}

/// Who or what an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A client or one of its tasks: `A`, `A/main`, `A/watchdog`, `A/log`. For an action without a task, and for a
    /// happening aimed at the whole client, `task` is none.
    Client { client: String, task: Option<String> },
    /// A server.
    Node(String),
    /// A link: every pair of an end on the left and an end on the right. `all` is already spelled out.
    Link(Vec<String>, Vec<String>),
    /// `say:` and `ask:`.
    None,
}

/// What is done.
#[derive(Clone, Debug)]
pub enum Do {
    /// Ask for a lock.
    Acquire(Box<Acquire>),
    /// Work in the critical section; `None`: for ever.
    Work { span: Option<LessonTime>, on_loss: OnLoss },
    /// Time outside the critical section; `None`: for ever.
    Idle { span: Option<LessonTime> },
    /// Prolong the own lease.
    Renew(Renew),
    /// Let go.
    Release(Release),
    /// Raw commands.
    Redis(Run),
    /// Read a resource.
    Read { resource: String },
    /// Write a resource.
    Write { resource: String, change: Change, guard: Guard },
    /// Begin a database transaction.
    Begin { snapshot: bool },
    /// Commit it.
    Commit,
    /// Roll it back.
    Rollback,
    /// A client's or a node's crash; `power` (nodes): what was not on disk is gone.
    Crash { power: bool },
    /// Stop the world; `None`: until the end.
    Pause { span: Option<LessonTime> },
    /// A node comes back.
    Restart,
    /// A node becomes a master; these clients go on talking to the old one.
    Promote { stays: Vec<String> },
    /// An old master becomes a replica.
    Demote,
    /// All keys of a node go.
    Flush,
    /// One key goes: that of the event's lock.
    Evict,
    /// A node's clock steps by so many milliseconds.
    ClockJump { by_ms: i64 },
    /// Something happens to a link; `span`: it ends by itself after so long.
    Link { change: LinkChange, way: Way, span: Option<LessonTime> },
    /// A text between events.
    Say,
    /// A question between events.
    Ask(Box<Ask>),
}

/// What happens to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkChange {
    /// Nothing passes, nothing is kept.
    Cut,
    /// Everything is kept until it ends.
    Hold,
    /// Everything arrives so much later.
    Slow { by: LessonTime },
    /// All of these end.
    Heal,
}

/// Which messages are hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum Way {
    #[default]
    Both,
    Request,
    Reply,
}

/// A fault on one action's own messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Net {
    /// What happens to them (never `Heal`).
    pub change: LinkChange,
    /// Which of them.
    pub way: Way,
}

/// When an event is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// At this time.
    Time(LessonTime),
    /// So long after another event's start or end.
    Anchor {
        /// Index into [`Plan::events`].
        event: usize,
        /// Counted from its start, not its end.
        start: bool,
        /// So much later.
        plus: LessonTime,
    },
}

/// Under which condition an event runs (FORMAT §8).
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    /// As its kind has it.
    Default,
    /// If the client lives.
    Always,
    /// If the client's latest acquire ended so (or, `lost`, it was told of a loss).
    Latest(Vec<Outcome>),
    /// If all of these hold.
    Events(Vec<EventTest>),
}

/// One line of `when: {…}`.
#[derive(Clone, Debug, PartialEq)]
pub struct EventTest {
    /// Index into [`Plan::events`].
    pub event: usize,
    /// What of it.
    pub test: Test,
}

/// What `when` asks of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// It ended in one of these.
    Outcome(Vec<Outcome>),
    /// Its last reply was this.
    Reply(ReplyPattern),
    /// It read this value.
    Value(i64),
}

/// What a reply is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyPattern {
    /// `nil`.
    Nil,
    /// An integer reply.
    Int(i64),
    /// A status or a string; for an error, its first word.
    Text(String),
    /// A list, entry by entry.
    List(Vec<ReplyPattern>),
}

/// Raw commands and what makes them a success.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// One after another.
    pub commands: Vec<RawCommand>,
    /// The last reply that means success; none: anything but an error.
    pub ok_if: Option<ReplyPattern>,
}

/// One raw command; placeholders such as `{key}` still stand in it.
#[derive(Clone, Debug, PartialEq)]
pub struct RawCommand {
    /// Where it stands.
    pub span: Span,
    /// What is sent. Lua is already in the form `EVAL script numkeys key… arg…`.
    pub words: Vec<String>,
}

/// What a `write` does.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// `set: 5`
    Set(i64),
    /// `set: read-1`: the value last read, and so much.
    SetRead(i64),
    /// `add: -1`
    Add(i64),
    /// `append: KEY`
    Append(String),
}

/// Under which condition a write is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum Guard {
    None,
    Fence,
    Version,
    AtLeast(i64),
    Once,
}
