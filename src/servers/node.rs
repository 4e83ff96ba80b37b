//! One node: a process that comes and goes, its place on disk, and what is known of its part in replication.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, Value};
use tokio::time::{Instant, sleep};

use super::Persistence;
use super::binary::Binary;
use super::config::{self, ADMIN};
use super::connection::{Door, Observer};
use super::error::ServersError;
use super::folder::RunFolder;
use super::front::Front;
use super::log::LogEnd;
use super::process::{Home, Process};
use super::relay::Relay;
use super::voice::EVERYTHING;

/// A server answers 9–40 ms after its start; a loaded machine may take its time.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// Things that take a millisecond when all is well; at a load of thirty they have taken more than ten seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at something that takes milliseconds.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// What a node is to the others. Nodes are known by their place in the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Takes writes.
    Master,
    /// Follows this node.
    ReplicaOf(usize),
}

/// What the lesson has made of a replica's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Everything passes at once.
    Open,
    /// What is sent from now on stays, and dies with the master.
    Held,
    /// What is sent is under way, and arrives when it is told to.
    Slow,
    /// Nothing passes, nothing is kept.
    Cut,
}

/// Which byte of the relay is which offset of the master's stream: after the sync they differ by a constant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Base {
    /// The master's replication offset …
    pub(super) offset: i64,
    /// … when the relay had read so many bytes …
    pub(super) bytes: u64,
    /// … of so many connections.
    pub(super) connections: u64,
}

impl Base {
    /// The relay's count at the master's `offset`.
    pub(super) fn bytes_at(self, offset: i64) -> u64 {
        self.bytes.saturating_add_signed(offset - self.offset)
    }

    /// The stream's offset after `bytes` have passed.
    pub(super) fn offset_at(self, bytes: u64) -> i64 {
        self.offset.saturating_add_unsigned(bytes).saturating_sub_unsigned(self.bytes)
    }
}

/// A node of a set.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    home: Home,
    pub(super) door: Door,
    process: RefCell<Option<Process>>,
    observer: RefCell<Option<Rc<Observer>>>,
    pub(super) role: Cell<Role>,
    pub(super) mode: Cell<Mode>,
    /// Of a replica: how far its master may be told that it has come.
    pub(super) acks: Cell<i64>,
    pub(super) relay: RefCell<Option<Arc<Relay>>>,
    /// Its one address, where others look for it by that (with Sentinels).
    pub(super) front: Option<Front>,
    pub(super) base: Cell<Base>,
    /// How much of the log of commands is on disk for certain.
    flushed: RefCell<Option<LogEnd>>,
}

impl Node {
    /// A node that is down. `password`: the engine's. `users`: replicas and Sentinels that come as what they are.
    pub(super) fn new(
        run: &Arc<RunFolder>,
        name: String,
        role: Role,
        persistence: Persistence,
        password: &str,
        users: (&[String], &[String]),
    ) -> Result<Self, ServersError> {
        let home = Home::new(run, persistence, config::text(persistence, password, users.0, users.1))?;
        let door = Door { socket: home.socket(), password: password.to_owned() };
        Ok(Self {
            name,
            home,
            door,
            process: RefCell::default(),
            observer: RefCell::default(),
            role: Cell::new(role),
            mode: Cell::new(Mode::Open),
            acks: Cell::new(EVERYTHING),
            relay: RefCell::default(),
            front: None,
            base: Cell::default(),
            flushed: RefCell::default(),
        })
    }

    /// What is in the log of commands now survives a power failure.
    pub(super) fn note_flushed(&self) -> Result<(), ServersError> {
        *self.flushed.borrow_mut() = self.home.log_end()?;
        Ok(())
    }

    /// A power failure: what the log has got since [`Node::note_flushed`] was still in the system's memory. The node is
    /// down.
    pub(super) fn lose_unflushed(&self) -> Result<(), ServersError> {
        let Some(now) = self.home.log_end()? else { return Ok(()) };
        // Redis has begun another file meanwhile: the one before, which it has made complete, is on disk.
        let keep = self.flushed.borrow().as_ref().filter(|end| end.file == now.file).map_or(0, |end| end.bytes);
        now.cut_to(keep)
    }

    pub(super) fn is_up(&self) -> bool {
        self.observer.borrow().is_some()
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.home.socket()
    }

    /// Starts the process; [`Node::ready`] waits for it. Two steps, so that several nodes can start at once.
    pub(super) fn spawn(&self, binary: &Binary) -> Result<(), ServersError> {
        *self.process.borrow_mut() = Some(self.home.start(&binary.path, &[])?);
        Ok(())
    }

    /// Waits until the server has loaded its data and answers.
    pub(super) async fn ready(&self) -> Result<(), ServersError> {
        let deadline = Instant::now() + START_PATIENCE;
        loop {
            let why = match Observer::open(&self.door).await {
                Ok(observer) => match observer.send(&redis::cmd("PING")).await {
                    Ok(Value::ServerError(error)) => error.to_string(),
                    Ok(_) => {
                        *self.observer.borrow_mut() = Some(Rc::new(observer));
                        return Ok(());
                    }
                    Err(error) => error.to_string(),
                },
                Err(error) => error.to_string(),
            };
            let ended = self.process.borrow_mut().as_mut().map_or(Some("it was not started".to_owned()), |process| {
                process.ended().map(|status| format!("it ended at once ({status})"))
            });
            let why = match ended {
                None if Instant::now() < deadline => {
                    sleep(LOOK_AGAIN).await;
                    continue;
                }
                None => format!("it does not answer ({why})"),
                Some(ended) => ended,
            };
            self.kill();
            return Err(ServersError::Start { node: self.name.clone(), why, log: self.home.last_words() });
        }
    }

    /// Kills the process, if there is one. When this returns, it is gone.
    pub(super) fn kill(&self) {
        self.observer.borrow_mut().take();
        // Taken out first: the borrow must not last while the process is waited for.
        let process = self.process.borrow_mut().take();
        if let Some(process) = process {
            process.kill();
        }
    }

    /// The engine's connection.
    pub(super) fn observer(&self) -> Result<Rc<Observer>, ServersError> {
        self.observer.borrow().clone().ok_or_else(|| ServersError::Down(self.name.clone()))
    }

    /// Makes the engine's connection anew, where a Sentinel has closed it: it throws out everybody when it changes a
    /// node's role.
    pub(super) async fn reconnect(&self) -> Result<(), ServersError> {
        let observer = self.observer()?;
        if observer.send(&redis::cmd("PING")).await.is_ok() && observer.events().is_ok() {
            return Ok(());
        }
        let observer =
            Observer::open(&self.door).await.map_err(|error| self.refused("connecting", &error.to_string()))?;
        *self.observer.borrow_mut() = Some(Rc::new(observer));
        Ok(())
    }

    /// Whether the server has left its configuration as it was written for it.
    pub(super) fn has_own_config(&self) -> bool {
        self.home.has_own_config()
    }

    /// Nothing that a lesson has done to its link is left.
    pub(super) fn open_link(&self) {
        self.mode.set(Mode::Open);
        self.acks.set(EVERYTHING);
    }

    /// A client for further connections as the engine's user.
    pub(super) fn admin(&self) -> Result<redis::Client, ServersError> {
        self.door.client(ADMIN).map_err(|error| self.refused("connecting", &error.to_string()))
    }

    pub(super) fn relay(&self) -> Option<Arc<Relay>> {
        self.relay.borrow().clone()
    }

    /// Sends a command of the engine's own (one that may as well be sent twice); an error reply is an error.
    pub(super) async fn ask(&self, command: &Cmd) -> Result<Value, ServersError> {
        let mut reply = self.observer()?.send(command).await;
        if reply.is_err() && self.front.is_some() {
            // A Sentinel may have thrown us out.
            self.reconnect().await?;
            reply = self.observer()?.send(command).await;
        }
        let reply = reply.map_err(ServersError::lost(&self.name))?;
        match reply {
            Value::ServerError(error) => Err(self.refused(&spelled(command), &error.to_string())),
            reply => Ok(reply),
        }
    }

    pub(super) fn refused(&self, command: &str, error: &str) -> ServersError {
        ServersError::Refused { node: self.name.clone(), command: command.to_owned(), error: error.to_owned() }
    }
}

/// A command's first two words, enough for an error.
fn spelled(command: &Cmd) -> String {
    let words = command.args_iter().filter_map(|argument| match argument {
        redis::Arg::Simple(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    });
    words.take(2).collect::<Vec<_>>().join(" ")
}

/// Whether `field` of an `INFO` text is `value`. A field that is not there is not.
pub(super) fn info_says(info: &Value, field: &str, value: &str) -> bool {
    let text = match info {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes),
        Value::VerbatimString { text, .. } => text.as_str().into(),
        _ => return false,
    };
    text.lines().any(|line| line.split_once(':').is_some_and(|(name, said)| name == field && said == value))
}
