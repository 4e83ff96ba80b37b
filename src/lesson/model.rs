//! A lesson as the engine, the checker and the player use it: typed, complete, with every default filled in.
//!
//! A [`Lesson`] is what its readers are told; each of its variants is lowered to a [`Plan`] of its own, in which
//! patches have been applied, durations such as `ttl/3` have become milliseconds, and references have become indices.

#![expect(missing_docs, reason = "fields are named in the doc of their variant, and as the format spells them")]

use std::sync::Arc;

use super::expect::Expect;
use super::source::{Source, Span, Spanned};
use crate::trace::{EventKind, LessonTime, Outcome, Text, Verdict};

/// A whole lesson file.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// The file.
    pub source: Arc<Source>,
    /// Unique among the lessons.
    pub id: String,
    /// How much it asks of the reader.
    pub level: Level,
    /// Its title.
    pub title: Text,
    /// What it is about.
    pub story: Option<Text>,
    /// What the interviewer asks.
    pub question: Option<Text>,
    /// The model answer.
    pub answer: Option<Text>,
    /// The one line to remember.
    pub hook: Option<Text>,
    /// What people wrongly believe, and what refutes it.
    pub misconceptions: Vec<Misconception>,
    /// What the interviewer asks next.
    pub follow_ups: Vec<FollowUp>,
    /// One plan per variant, in file order; a lesson without variants has one, with an empty variant id.
    pub plans: Vec<Plan>,
}

/// How much a lesson asks of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum Level {
    Intro,
    Core,
    Advanced,
}

/// A misconception and its refutation.
#[derive(Clone, Debug)]
pub struct Misconception {
    /// What people say.
    pub claim: Text,
    /// What is so.
    pub truth: Text,
    /// Where it can be seen.
    pub see: Option<See>,
}

/// Where something can be seen.
#[derive(Clone, Debug)]
pub enum See {
    /// At this time.
    Time(LessonTime),
    /// Where this holds.
    Expect(Box<Expect>),
}

/// A follow-up question.
#[derive(Clone, Debug)]
pub struct FollowUp {
    /// The question.
    pub question: Text,
    /// Its answer.
    pub answer: Text,
}

/// One variant, ready to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The file.
    pub source: Arc<Source>,
    /// The lesson's id.
    pub lesson: String,
    /// The lesson's title.
    pub title: Text,
    /// The variant's id; empty where the lesson has no variants.
    pub variant: String,
    /// The variant's title.
    pub variant_title: Text,
    /// Where the variant begins in the file.
    pub span: Span,
    /// The servers.
    pub servers: Servers,
    /// The locks; at least one unless the lesson has none at all.
    pub locks: Vec<Lock>,
    /// The clients.
    pub clients: Vec<Client>,
    /// The protected data.
    pub resources: Vec<Resource>,
    /// Further keys that raw commands use: patterns.
    pub keys: Vec<Spanned<String>>,
    /// The story, in file order.
    pub events: Vec<Event>,
    /// The run ends exactly then.
    pub until: Option<LessonTime>,
    /// What the server must be able to do.
    pub needs: Needs,
    /// For tokens and jitter.
    pub seed: u64,
    /// What must come of it.
    pub verdict: Spanned<Verdict>,
    /// What must be seen, and nothing else.
    pub expect: Vec<Expect>,
}

/// `servers:`
#[derive(Clone, Debug, PartialEq)]
pub struct Servers {
    /// Which processes.
    pub kind: ServersKind,
    /// What survives a restart.
    pub persistence: Persistence,
    /// Settings from the allow-list, name and value.
    pub config: Vec<(Spanned<String>, String)>,
    /// Where it is written.
    pub span: Span,
}

/// Which server processes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum ServersKind {
    /// One: `redis`.
    Single,
    /// `m` and `r1` … .
    Replicated { replicas: u8 },
    /// `n1` … .
    Quorum { nodes: u8, node_timeout: LessonTime },
    /// `m`, `r1` … and `s1`–`s3`.
    Sentinel { replicas: u8 },
}

/// What survives a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum Persistence {
    None,
    EverySec,
    Always,
}

/// A lock.
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    /// Its name; `lock` where the lesson has only one.
    pub name: String,
    /// The Redis key.
    pub key: String,
    /// How long a grant lasts; none: `forever`.
    pub ttl: Option<LessonTime>,
    /// `order: fifo`.
    pub fifo: bool,
    /// How many may be inside at once.
    pub permits: u32,
    /// Where it is written.
    pub span: Span,
}

/// A client.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// The process it belongs to (default: one of its own, named like the client).
    pub process: String,
    /// The thread in it.
    pub thread: u32,
    /// How long it waits for an answer.
    pub timeout: LessonTime,
    /// How often its library repeats a timed-out command.
    pub resend: u32,
    /// Its clock minus lesson time, in milliseconds.
    pub clock_skew_ms: i64,
    /// Where it is written.
    pub span: Span,
}

/// A protected resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: ResourceKind,
    /// Where it is written.
    pub span: Span,
}

/// What a resource is.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceKind {
    /// One row.
    Row { value: i64, min: Option<i64> },
    /// A list of effects; each `once` key must appear exactly once.
    Log { once: Vec<String> },
}

/// `needs:`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Needs {
    /// The least version, `>=7.0` read as `(7, 0)`.
    pub redis: Option<(u32, u32)>,
    /// Any one of these commands.
    pub command: Vec<String>,
}

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

/// A question.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The question.
    pub text: Text,
    /// How it is answered.
    pub answer: Answer,
    /// A hint.
    pub hint: Option<Text>,
    /// Why the right answer is right.
    pub why: Option<Text>,
}

/// How a question is answered.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Exactly one of these holds: the run decides.
    Choices(Vec<Choice>),
    /// The student types the time that stands for `_`.
    Predict(Box<Expect>),
    /// Free text, compared by the student.
    Model(Text),
}

/// One choice.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Its text.
    pub text: Text,
    /// It is right if all of these hold; [`super::Expected::Otherwise`]: if none of the others does.
    pub when: Vec<Expect>,
}
