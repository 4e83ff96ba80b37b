//! Private redis-server processes: found, started, waited for, made to fail, reused and stopped.
//!
//! Knows nothing of lessons. [`Binary`] finds the program, a [`Fleet`] starts and keeps servers, [`Servers`] are those of
//! one lesson: [`Conn`] is a lesson client's connection, [`Observer`] the engine's.
//!
//! | file | its idea |
//! | --- | --- |
//! | `binary` | which program, and what to say to people who have none |
//! | `guard`, `folder`, `process` | children and files that never outlive this process |
//! | `config`, `acl` | what a server is set to, and what a lesson may do there |
//! | `connection`, `socket` | connections that never repair themselves |
//! | `log` | what a power failure leaves of what was written |
//! | `node`, `set` | one server, and those that belong together: crash, restart, renewal |
//! | `relay`, `replication` | the replication link, and who follows whom through it |
//! | `front` | the one address of a node, and who comes there (with Sentinels) |
//! | `sentinel`, `watched` | a Sentinel, and what Sentinels make of the nodes |
//! | `callers` | the connections of a lesson's clients |
//! | `fleet` | what others use |

mod acks;
mod acl;
mod binary;
mod callers;
mod config;
mod connection;
mod error;
mod fleet;
mod folder;
mod front;
mod guard;
mod log;
mod node;
mod process;
mod relay;
mod replication;
mod sentinel;
mod set;
mod socket;
mod voice;
mod watched;

pub use binary::{BINARY_VARIABLE, Binary};
pub use connection::{Conn, KeyEvent, Observer, Subscriber};
pub use error::{Broken, ConnectError, ServersError};
pub use fleet::{Fleet, NodeRole, Servers};
pub use sentinel::{MASTER_NAME, SentinelNews};
pub use set::ScriptEnd;

/// Which processes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One: `redis`.
    Single,
    /// A master `m`, and replicas `r1`, `r2` …, each behind a replication link.
    Replicated {
        /// How many replicas.
        replicas: u8,
    },
    /// Masters `n1`, `n2` … that know nothing of each other.
    Quorum {
        /// How many.
        nodes: u8,
    },
    /// As [`Shape::Replicated`], with three Sentinels `s1`–`s3` that watch it and change it by themselves.
    Sentinel {
        /// How many replicas.
        replicas: u8,
    },
}

/// What survives a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Persistence {
    /// Nothing.
    None,
    /// A log of commands, flushed to disk each second (a crash of the process alone loses nothing).
    EverySec,
    /// A log of commands, flushed to disk before each reply.
    Always,
}

/// How a node goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CrashKind {
    /// The process alone: what it has written to its files stays there.
    Process,
    /// The machine loses power: what it has written since the last [`Servers::flush_to_disk`] is gone, unless each write
    /// was flushed by itself.
    Power,
}

/// What a lesson needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Setup {
    /// Which processes.
    pub shape: Shape,
    /// What survives a restart.
    pub persistence: Persistence,
    /// Settings of all nodes: name and value. Only those that are put back for the next lesson may be among them
    /// (see `config`).
    pub config: Vec<(String, String)>,
    /// The keys (and channels) that its clients may reach: names or patterns, as in ACL rules.
    pub keys: Vec<String>,
    /// Scripts that each server knows before it is asked for the first time (`EVALSHA`).
    pub scripts: Vec<&'static str>,
}
