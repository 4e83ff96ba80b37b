//! The vocabulary of a trace.
//!
//! The engine writes these records and nothing else; the player, the checker and the exporters read them and nothing
//! else. The order of the records is the order in which things happened; records of one instant share a `t`.

#![expect(missing_docs, reason = "fields are named in the doc of their variant")]

use serde::{Deserialize, Serialize};

use super::data::{ResourceInfo, Sql};
use super::key::KeyState;
use super::{LessonTime, Reply, Text};

/// One run: who there was, and what happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Who there was.
    pub header: Header,
    /// What happened, in order. The last record is [`What::End`].
    pub records: Vec<Record>,
}

/// Who there was, and which lesson it is: all that a reader needs besides the records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The lesson's id.
    pub lesson: String,
    /// The lesson's title.
    pub title: Text,
    /// The variant's id.
    pub variant: String,
    /// The variant's title.
    pub variant_title: Text,
    /// `warp` or `wall`.
    pub clock: String,
    /// The seed of tokens and jitter.
    pub seed: u64,
    /// The server's name and version, for example `redis 7.0.15`.
    pub server: String,
    /// The nodes, in the lesson's order.
    pub nodes: Vec<NodeInfo>,
    /// The clients, in the lesson's order.
    pub clients: Vec<ClientInfo>,
    /// The locks, in the lesson's order.
    pub locks: Vec<LockInfo>,
    /// The protected data, in the lesson's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceInfo>,
    /// The lesson's events (this variant's), in file order; records point into this list.
    pub events: Vec<EventInfo>,
}

/// A server process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeInfo {
    /// `redis`, `m`, `r1`, …: the name of the machine; it stays when roles change.
    pub name: String,
    /// The role at the beginning.
    pub role: Role,
}

/// What a node is in a replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Takes writes.
    Master,
    /// Follows a master.
    Replica,
}

/// A client of the lesson.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientInfo {
    /// Its name: `A`.
    pub name: String,
}

/// A lock: the key and the protocol around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockInfo {
    /// Its name in the lesson; `lock` where there is only one.
    pub name: String,
    /// The Redis key.
    pub key: String,
    /// How long a grant lasts unless renewed; none: for ever.
    pub ttl: Option<LessonTime>,
    /// How many may be inside at once.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub permits: u32,
    /// Whoever has waited longest is to be next.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fifo: bool,
}

impl Default for LockInfo {
    fn default() -> Self {
        Self { name: String::new(), key: String::new(), ttl: None, permits: 1, fifo: false }
    }
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
const fn is_one(n: &u32) -> bool {
    *n == 1
}

/// One event of the lesson file, as the reader is told about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventInfo {
    /// The id that the file gives it.
    pub id: Option<String>,
    /// The line of the lesson file, from 1.
    pub line: usize,
    /// What kind of event it is.
    pub kind: EventKind,
    /// Client, node or link, as the file writes it: `A`, `A/watchdog`, `m`, `m-r1`; empty for `ask` and `say`.
    pub subject: String,
    /// The lock it is about, by name.
    pub lock: Option<String>,
    /// What is told when it starts.
    pub say: Option<Text>,
}

/// The `do:` of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum EventKind {
    Acquire,
    Work,
    Idle,
    Renew,
    Release,
    Read,
    Write,
    Begin,
    Commit,
    Rollback,
    Redis,
    Crash,
    Pause,
    Restart,
    Promote,
    Demote,
    Flush,
    Evict,
    ClockJump,
    Cut,
    Hold,
    Slow,
    Heal,
    Say,
    Ask,
}

/// How an action ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum Outcome {
    Granted,
    Refused,
    Unknown,
    Error,
    Done,
    Stopped,
    Renewed,
    Lost,
    Released,
    NotOwner,
    Accepted,
    Rejected,
    Ok,
}

/// Why an action ended as it did, where the outcome alone does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum Why {
    Held,
    TooLate,
    NoQuorum,
    NotReplicated,
    Max,
    Deadline,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// When, on the lesson clock.
    pub t: LessonTime,
    /// When it really happened: microseconds since the run began. The one field that differs between two runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_us: Option<u64>,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What can happen. Names of clients, nodes and locks are those of the [`Header`]; `event` is an index into
/// [`Header::events`]; `cmd` numbers the commands of a run from 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    /// An event of the lesson starts (a happening strikes; a `say` or `ask` is reached).
    EventStart { event: usize },
    /// An action has ended.
    EventEnd {
        event: usize,
        outcome: Outcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<Why>,
        /// The reply that decided, where there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<Reply>,
    },
    /// Its `when` was false, or its client had crashed, or what it names was skipped.
    EventSkipped { event: usize },
    /// The run is over and this event never ran, for a reason that is not in the lesson.
    EventNotRun { event: usize, because: String },
    /// One try of an acquire that waits and tries again was refused (or ended unknown or in an error).
    TryFailed { event: usize, outcome: Outcome },
    /// A message that command `cmd` published: a client that waits for it with `event` has read it (`got`), or it was lost
    /// on its way there.
    News { cmd: u32, client: String, event: usize, channel: String, text: String, got: bool },
    /// Who stands in line for a lock (`wait: {queue: …}`), the first one first, as the server has it: the dead as well. What
    /// stands there and is nobody's token is told as it is.
    Line { lock: String, waiting: Vec<String> },
    /// A client sends a command. `task` is `main`, `watchdog` or a task's own name.
    Send {
        cmd: u32,
        client: String,
        task: String,
        node: String,
        argv: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        event: Option<usize>,
    },
    /// The server keeps it waiting (`BLPOP`, `WAIT`): it is executed later, when what it waits for comes, or its time is up.
    Waits {
        cmd: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        event: Option<usize>,
    },
    /// The server executed it and answered.
    Exec { cmd: u32, reply: Reply },
    /// The database has executed a statement. What a client sends to the database is told like a command: its node is
    /// [`super::DATABASE`], its words are the statements.
    Sql(Sql),
    /// The client has read the reply.
    Read { cmd: u32 },
    /// The request never reached the server (cut, or the server died first), or the reply never reached the client.
    Dropped { cmd: u32, reply: bool },
    /// The connection was refused or reset: the client knows at once.
    Refused { cmd: u32 },
    /// The client has waited long enough and goes on without an answer.
    Timeout { cmd: u32 },
    /// A key of the lesson changed on a node.
    Key {
        node: String,
        key: String,
        op: KeyOp,
        cause: Cause,
        /// What the key is now; none: it is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        now: Option<KeyState>,
    },
    /// A client begins (or ceases) to believe that it holds a lock.
    /// `read`: as a reader, who may be inside beside other readers.
    Belief {
        client: String,
        lock: String,
        on: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        read: bool,
    },
    /// A client begins (or ceases) to work in the critical section of these locks. Without locks: it is busy with data, which
    /// by itself is not being inside.
    Works { client: String, task: String, on: bool, locks: Vec<String> },
    /// A client learns that its lock is lost.
    ToldLost {
        client: String,
        lock: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<Why>,
    },
    /// The watchdog of a client has renewed, or has tried to.
    Tick { client: String, lock: String, outcome: Outcome },
    /// A client (or one task of it) crashed.
    ClientCrashed { client: String, task: Option<String> },
    /// A client (or one task of it) stands still until `until`.
    ClientPaused { client: String, task: Option<String>, until: Option<LessonTime> },
    /// The pause is over.
    ClientResumed { client: String, task: Option<String> },
    /// A task's program has come to its end.
    TaskEnded { client: String, task: String },
    /// A node died.
    NodeCrashed { node: String },
    /// A node came back, in this role.
    NodeRestarted { node: String, role: Role },
    /// A node became a master; clients talk to it from now on, except `stays`.
    /// `by`: the Sentinel that told of it, where nobody did it by hand.
    NodePromoted {
        node: String,
        stays: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A node follows `master` from now on.
    NodeDemoted { node: String, master: String },
    /// A client has asked a Sentinel, and talks to this node from now on.
    ClientFollows { client: String, node: String },
    /// A Sentinel says, in its own words (`+sdown`, `+odown`, …), what it has noticed or done; `restarted`: it is back.
    SentinelSays {
        sentinel: String,
        event: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<String>,
    },
    /// A link changed, or the bytes waiting in it did. Ends are names of clients or nodes. `held`: bytes (replication)
    /// or messages (clients) that wait in it. From a replica to its master: what it acknowledges; `held` counts answers.
    Link { a: String, b: String, state: LinkState, held: u64 },
    /// Something that a careful author wants to know; `event` says where.
    Warning { event: Option<usize>, text: String },
    /// The run is over.
    End,
}

/// What a link lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkState {
    /// Everything, at once.
    Open,
    /// Nothing; what is sent waits.
    Held,
    /// Everything, `by` later.
    Slow {
        /// How much later.
        by: LessonTime,
    },
    /// Nothing; what is sent is gone.
    Cut,
}

/// What was done to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyOp {
    /// It was not there before.
    Created,
    /// Its value was written anew (with the same text, too). The writer is the new owner.
    Replaced,
    /// Its content changed in place (a field, a counter).
    Changed,
    /// Only its TTL changed.
    Retimed,
    /// It was removed.
    Removed,
    /// Its TTL ran out.
    Expired,
}

/// What did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A client's command.
    Command {
        /// Its number.
        cmd: u32,
        /// Who sent it.
        client: String,
    },
    /// Time.
    Expiry,
    /// It came through the replication link.
    Replication,
    /// The node came back without it (or with what its disk had).
    Restart,
    /// The node became a master.
    Promote,
    /// The node became a replica and took over what its master has.
    Demote,
    /// `flush`.
    Flush,
    /// `evict`.
    Evict,
    /// `clock_jump`.
    ClockJump,
}
