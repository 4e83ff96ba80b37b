//! What can go wrong with servers, told so that a person knows what to do next.

use std::path::PathBuf;

/// Why there is no server, or why it does not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ServersError {
    /// No server program was found anywhere.
    #[error(
        "no redis-server found: neither redis-server nor valkey-server is on PATH\n  install one:  {install}\n  or name one:  \
         --redis-server PATH, or LOCKSCOPE_REDIS_SERVER=PATH"
    )]
    NotFound {
        /// The command that installs one on this platform.
        install: String,
    },
    /// The program that was named cannot be used as a server.
    #[error("{} is not a redis-server: {why}", path.display())]
    NotAServer {
        /// The program.
        path: PathBuf,
        /// What it said or did instead.
        why: String,
    },
    /// The server is older than what lockscope needs.
    #[error("{} is {name} {}, and lockscope needs {least} or newer", path.display(), dotted(*version))]
    TooOld {
        /// The program.
        path: PathBuf,
        /// `redis` or `valkey`.
        name: String,
        /// Its version.
        version: (u32, u32, u32),
        /// The oldest that will do.
        least: &'static str,
    },
    /// A file, a folder, a socket or a child process could not be made.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A server ended, or did not answer in time, while it was started.
    #[error("{node} did not start: {why}{}", last_lines(log))]
    Start {
        /// The node.
        node: String,
        /// What happened.
        why: String,
        /// The last lines it logged.
        log: String,
    },
    /// There is no such node, or it has no such link.
    #[error("there is no {0}")]
    Unknown(String),
    /// The node is down.
    #[error("{0} is down")]
    Down(String),
    /// The server answered an engine's command with an error.
    #[error("{node}: {command} was answered with {error}")]
    Refused {
        /// The node.
        node: String,
        /// The command.
        command: String,
        /// The answer.
        error: String,
    },
    /// The connection to a node ended in the middle of something.
    #[error("{node}: {source}")]
    Lost {
        /// The node.
        node: String,
        /// How.
        source: Broken,
    },
    /// Something that always happens at once has not happened for seconds.
    #[error("gave up waiting until {0}")]
    Stuck(String),
}

/// A connection ended before the reply came: whether the command was executed is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is broken: {0}")]
pub struct Broken(pub String);

/// Why a client got no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// Nobody listens: the node is down.
    #[error("connection refused: {0} is down")]
    Refused(String),
    /// There is no such node.
    #[error("there is no {0}")]
    Unknown(String),
    /// The server was there and did not let the client in.
    #[error("{node} did not let the client in: {why}")]
    Failed {
        /// The node.
        node: String,
        /// What it said.
        why: String,
    },
}

impl ServersError {
    /// An error of the operating system while doing `what` (a verb phrase: "make the folder …").
    pub(super) fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { what: what.into(), source }
    }

    /// A broken connection to `node`.
    pub(super) fn lost(node: &str) -> impl FnOnce(Broken) -> Self {
        move |source| Self::Lost { node: node.to_owned(), source }
    }
}

fn dotted((major, minor, patch): (u32, u32, u32)) -> String {
    format!("{major}.{minor}.{patch}")
}

fn last_lines(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!("\n  its last words:\n    {}", log.replace('\n', "\n    ")) }
}
