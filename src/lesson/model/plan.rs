//! One variant: who and what takes part.

use std::sync::Arc;

use super::super::expect::Expect;
use super::super::source::{Source, Span, Spanned};
use super::event::Event;
use crate::trace::{LessonTime, Text, Verdict};

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
    /// No part of the lesson: when to give up a run in which somebody still goes on, as if `until` had said so.
    pub give_up: Option<LessonTime>,
    /// What the server must be able to do.
    pub needs: Needs,
    /// For tokens and jitter.
    pub seed: u64,
    /// What must come of it.
    pub verdict: Spanned<Verdict>,
    /// What must be seen, and nothing else.
    pub expect: Vec<Expect>,
}

impl Plan {
    /// Whether it runs in real time, whatever clock is asked for, so that times differ from run to run: with Sentinels,
    /// which have clocks of their own.
    #[must_use]
    pub const fn is_on_real_clock(&self) -> bool {
        matches!(self.servers.kind, ServersKind::Sentinel { .. })
    }
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
