//! Connections to one server: a lesson client's own, the one on which it is told things, and the engine's observer.
//!
//! None of them repairs itself. A client library that silently reconnects or sends again hides exactly what a lesson is
//! there to show.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, Cmd, Connection, ConnectionAddr, ConnectionLike, IntoConnectionInfo, Pipeline,
    ProtocolVersion, PushInfo, PushKind, RedisConnectionInfo, RedisError, Value,
};

use super::config::{ADMIN, EYES};
use super::error::Broken;

/// Channels of key events in the one database that there is.
const KEY_EVENTS: &str = "__keyevent@0__:";

/// All events but `expire` and `setrange`: the engine's own clock script causes these two with every step of a lesson, and
/// what they say of a lesson's key its expiry says better (`SETRANGE` itself no lesson may send).
const HEARD: [&str; 5] = ["[^es]*", "s[^e]*", "set", "expired", "evicted"];

/// What Redis told of a key: `set`, `expire`, `expired`, `del`, …
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEvent {
    /// What happened, in Redis's word.
    pub event: String,
    /// The key.
    pub key: String,
}

/// Where a server listens, and whom it lets in.
#[derive(Clone, Debug)]
pub(super) struct Door {
    pub(super) socket: PathBuf,
    pub(super) password: String,
}

impl Door {
    pub(super) fn client(&self, user: &str, protocol: ProtocolVersion) -> Result<Client, RedisError> {
        open(&self.socket, Some((user, &self.password)), protocol)
    }
}

fn open(socket: &Path, who: Option<(&str, &str)>, protocol: ProtocolVersion) -> Result<Client, RedisError> {
    // Older servers do not know CLIENT SETINFO, and a lesson's MONITOR should show the lesson.
    let mut settings = RedisConnectionInfo::default().set_protocol(protocol).set_skip_set_lib_name();
    if let Some((user, password)) = who {
        settings = settings.set_username(user).set_password(password);
    }
    let info = ConnectionAddr::Unix(socket.to_owned()).into_connection_info()?.set_redis_settings(settings);
    Client::open(info)
}

/// Time is the engine's business: a lesson's timeout is lesson time, and a reply is awaited however long it takes.
fn patient() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None)
}

fn broken(error: &RedisError) -> Broken {
    Broken(error.to_string())
}

/// A lesson client's own connection: its user is the lesson's, its name the client's. Dropping it closes it.
#[derive(Debug)]
pub struct Conn {
    connection: MultiplexedConnection,
    id: i64,
}

impl Conn {
    /// Connects, and gives the connection a name that `CLIENT LIST` shows.
    pub(super) async fn open(door: &Door, user: &str, name: &str) -> Result<Self, RedisError> {
        // RESP2, as redis-cli speaks by default: replies look like those in every book.
        let client = open(&door.socket, None, ProtocolVersion::RESP2)?;
        let mut connection = client.get_multiplexed_async_connection_with_config(&patient()).await?;
        // All in one go: a lesson has several clients, and each is to cost one round trip.
        let mut introduction = redis::pipe();
        introduction.cmd("AUTH").arg(user).arg(&door.password).ignore();
        introduction.cmd("CLIENT").arg("SETNAME").arg(name).ignore().cmd("CLIENT").arg("ID");
        let (id,): (i64,) = introduction.query_async(&mut connection).await?;
        Ok(Self { connection, id })
    }

    /// The server's number for this connection, as in `CLIENT LIST ID`.
    #[must_use]
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Sends one command, its words as they are, and waits for its reply. Errors of the server are replies
    /// ([`Value::ServerError`], inside lists too). If the future is dropped, the command may still be executed.
    ///
    /// # Errors
    /// [`Broken`] when the connection ended before the reply came.
    pub async fn send(&self, words: &[String]) -> Result<Value, Broken> {
        let mut command = Cmd::new();
        command.arg(words);
        let mut connection = self.connection.clone();
        connection.send_packed_command(&command).await.map_err(|error| broken(&error))
    }
}

/// A connection of a lesson client's on which messages come to it, and nothing else. Dropping it closes it.
///
/// The engine's user makes it: the lesson's may not subscribe, since on its ordinary connections whatever comes by itself
/// would be taken for a reply. Of a lesson nothing travels here but the name of a channel.
pub struct Subscriber {
    connection: RefCell<Connection>,
    pushes: Receiver<PushInfo>,
    id: i64,
}

impl Subscriber {
    /// Connects, names the connection as its client, and subscribes.
    pub(super) fn open(admin: &Client, name: &str, channel: &str) -> Result<Self, RedisError> {
        let mut connection = admin.get_connection()?;
        connection.set_read_timeout(Some(LOOK_LIMIT))?;
        let mut introduction = redis::pipe();
        introduction.cmd("CLIENT").arg("SETNAME").arg(name).ignore().cmd("CLIENT").arg("ID");
        let (id,): (i64,) = introduction.query(&mut connection)?;
        let (sender, pushes) = mpsc::channel();
        connection.set_push_sender(sender);
        connection.subscribe_resp3(channel)?;
        Ok(Self { connection: RefCell::new(connection), pushes, id })
    }

    /// The server's number for this connection, as in `CLIENT LIST ID`.
    #[must_use]
    pub fn id(&self) -> i64 {
        self.id
    }

    /// The messages that have come and were not yet taken, in order: everything that was published before is among them.
    /// Asks the server once (`PING`), whose answer comes after them.
    ///
    /// # Errors
    /// [`Broken`] when the node is down.
    pub fn messages(&self) -> Result<Vec<String>, Broken> {
        self.connection.borrow_mut().req_command(&redis::cmd("PING")).map_err(|error| broken(&error))?;
        let text = |push: PushInfo| match (push.kind, push.data.as_slice()) {
            (PushKind::Message, [_, Value::BulkString(text)]) => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        };
        Ok(self.pushes.try_iter().filter_map(text).collect())
    }
}

impl std::fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscriber").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The engine's own two connections to one node: may do everything, and hear every key event of the node.
///
/// Most of what the engine asks is a look at the keys, several per step of a lesson, and it can do nothing else until it
/// has seen. So looks have a connection of their own that simply waits in the system call; through the runtime (wake the
/// socket's task, pass the reply on, wake the one who asked) each would take longer, and every key event would wake
/// somebody as soon as it comes, although nobody wants it before the next look.
pub struct Observer {
    connection: MultiplexedConnection,
    eyes: RefCell<Connection>,
    pushes: Receiver<PushInfo>,
}

/// A server that does not answer a look within this *real* time never will: looks are taken when nobody else keeps it.
const LOOK_LIMIT: Duration = Duration::from_secs(30);

impl Observer {
    pub(super) async fn open(door: &Door) -> Result<Self, RedisError> {
        let client = door.client(ADMIN, ProtocolVersion::RESP3)?;
        let connection = client.get_multiplexed_async_connection_with_config(&patient()).await?;
        let mut eyes = door.client(EYES, ProtocolVersion::RESP3)?.get_connection()?;
        eyes.set_read_timeout(Some(LOOK_LIMIT))?;
        let (sender, pushes) = mpsc::channel();
        eyes.set_push_sender(sender);
        for events in HEARD {
            eyes.psubscribe_resp3(format!("{KEY_EVENTS}{events}"))?;
        }
        Ok(Self { connection, eyes: RefCell::new(eyes), pushes })
    }

    /// Sends one command and waits for its reply; errors of the server are replies ([`Value::ServerError`]).
    ///
    /// # Errors
    /// [`Broken`] when the node is down.
    pub async fn send(&self, command: &Cmd) -> Result<Value, Broken> {
        let mut connection = self.connection.clone();
        connection.send_packed_command(command).await.map_err(|error| broken(&error))
    }

    /// Sends several commands in one go and waits for all their replies, one per command (so not for an atomic
    /// pipeline: write `MULTI` and `EXEC` as commands). Errors of the server are replies.
    ///
    /// # Errors
    /// [`Broken`] when the node is down.
    pub async fn pipeline(&self, commands: &Pipeline) -> Result<Vec<Value>, Broken> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let mut connection = self.connection.clone();
        connection.send_packed_commands(commands, 0, commands.len()).await.map_err(|error| broken(&error))
    }

    /// Sends one short command and waits for its reply, the whole thread with it: for looks, never for what the server may
    /// keep waiting. Errors of the server are replies.
    ///
    /// # Errors
    /// [`Broken`] when the node is down.
    pub fn look(&self, command: &Cmd) -> Result<Value, Broken> {
        self.eyes.borrow_mut().req_command(command).map_err(|error| broken(&error))
    }

    /// The key events that have come and were not yet taken, in order. Those of everything that the node had executed
    /// before it executed the last look are certainly among them; those that this look caused itself may come with the
    /// next one (newer servers send them after the reply).
    pub fn drain_events(&self) -> Vec<KeyEvent> {
        self.pushes.try_iter().filter_map(|push| key_event(&push)).collect()
    }

    /// All key events that were not yet taken, in order: everything that the node has executed up to now is included.
    /// Asks the server once (`PING`), whose answer comes after them.
    ///
    /// # Errors
    /// [`Broken`] when the node is down.
    pub fn events(&self) -> Result<Vec<KeyEvent>, Broken> {
        self.look(&redis::cmd("PING"))?;
        Ok(self.drain_events())
    }
}

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observer").finish_non_exhaustive()
    }
}

/// `pmessage`, pattern, channel, payload.
fn key_event(push: &PushInfo) -> Option<KeyEvent> {
    if push.kind != PushKind::PMessage {
        return None;
    }
    let [_, Value::BulkString(channel), Value::BulkString(key)] = push.data.as_slice() else { return None };
    let event = String::from_utf8_lossy(channel);
    let event = event.strip_prefix(KEY_EVENTS)?.to_owned();
    Some(KeyEvent { event, key: String::from_utf8_lossy(key).into_owned() })
}
