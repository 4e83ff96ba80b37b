//! Connections to one server: a lesson client's own, the one on which it is told things, and the engine's observer.
//!
//! None of them repairs itself. A client library that silently reconnects or sends again hides exactly what a lesson is
//! there to show.

use std::path::PathBuf;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, IntoConnectionInfo, Pipeline, ProtocolVersion, PushInfo,
    PushKind, RedisConnectionInfo, RedisError, Value,
};

use super::config::{ADMIN, EYES};
use super::error::Broken;
use super::socket::{Socket, broken};

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
    /// A client that speaks the newer protocol, in which the server may say something by itself.
    pub(super) fn client(&self, user: &str) -> Result<Client, RedisError> {
        // Older servers do not know CLIENT SETINFO, and a lesson's MONITOR should show the lesson.
        let settings = RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP3).set_skip_set_lib_name();
        let settings = settings.set_username(user).set_password(&self.password);
        let info = ConnectionAddr::Unix(self.socket.clone()).into_connection_info()?.set_redis_settings(settings);
        Client::open(info)
    }

    /// The same, as a connection on which one waits.
    fn socket(&self, user: &str) -> Result<Socket, RedisError> {
        let socket = Socket::connect(&self.socket)?;
        let mut hello = redis::cmd("HELLO");
        hello.arg(3).arg("AUTH").arg(user).arg(&self.password);
        socket.ask(&hello.get_packed_command())?;
        socket.answer()?.extract_error()?;
        Ok(socket)
    }
}

/// Time is the engine's business: a lesson's timeout is lesson time, and a reply is awaited however long it takes.
fn patient() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None)
}

/// A lesson client's own connection: its user is the lesson's, its name the client's. Dropping it closes it.
pub struct Conn {
    socket: Socket,
    id: i64,
}

/// A connection whose client has introduced itself, and has not been answered yet: so several can be opened at once.
pub(super) struct Dialled(Socket);

impl Dialled {
    /// Connects, and gives the connection a name that `CLIENT LIST` shows. It speaks RESP2, as redis-cli does by default:
    /// replies look like those in every book.
    pub(super) fn dial(door: &Door, user: &str, name: &str) -> Result<Self, RedisError> {
        let socket = Socket::connect(&door.socket)?;
        // All in one go: a lesson has several clients, and each is to cost one round trip.
        let mut introduction = redis::pipe();
        introduction.cmd("AUTH").arg(user).arg(&door.password).cmd("CLIENT").arg("SETNAME").arg(name);
        introduction.cmd("CLIENT").arg("ID");
        socket.ask(&introduction.get_packed_pipeline())?;
        Ok(Self(socket))
    }

    /// Waits until the server has let it in.
    pub(super) fn enter(self) -> Result<Conn, RedisError> {
        let Self(socket) = self;
        for _ in ["AUTH", "CLIENT SETNAME"] {
            socket.answer()?.extract_error()?;
        }
        let id = redis::from_redis_value(socket.answer()?.extract_error()?)?;
        Ok(Conn { socket, id })
    }
}

impl Conn {
    /// The server's number for this connection, as in `CLIENT LIST ID`.
    #[must_use]
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Sends one command, its words as they are, and does not wait. The next [`Conn::answer`] is its reply.
    ///
    /// # Errors
    /// [`Broken`] when the connection has ended.
    pub fn ask(&self, words: &[String]) -> Result<(), Broken> {
        self.socket.ask(&Cmd::new().arg(words).get_packed_command()).map_err(|error| broken(&error))
    }

    /// Waits for the reply, the whole thread with it. Errors of the server are replies ([`Value::ServerError`], inside
    /// lists too).
    ///
    /// # Errors
    /// [`Broken`] when the connection ended before the reply came.
    pub fn answer(&self) -> Result<Value, Broken> {
        self.socket.answer().map_err(|error| broken(&error))
    }

    /// The reply, if it comes within `limit` (real time). None: it has not; it can be waited for again.
    ///
    /// # Errors
    /// [`Broken`] when the connection ended before the reply came.
    pub fn answer_within(&self, limit: Duration) -> Result<Option<Value>, Broken> {
        self.socket.answer_within(limit).map_err(|error| broken(&error))
    }
}

impl std::fmt::Debug for Conn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conn").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A connection of a lesson client's on which messages come to it, and nothing else. Dropping it closes it.
///
/// The engine's user makes it: the lesson's may not subscribe, since on its ordinary connections whatever comes by itself
/// would be taken for a reply. Of a lesson nothing travels here but the name of a channel.
pub struct Subscriber {
    socket: Socket,
    id: i64,
}

impl Subscriber {
    /// Connects, names the connection as its client, and subscribes.
    pub(super) fn open(door: &Door, name: &str, channel: &str) -> Result<Self, RedisError> {
        let socket = door.socket(ADMIN)?;
        let mut introduction = redis::pipe();
        introduction.cmd("CLIENT").arg("SETNAME").arg(name).cmd("CLIENT").arg("ID");
        // Its confirmation is no reply but comes by itself, before the answer to anything that is asked later.
        introduction.cmd("SUBSCRIBE").arg(channel);
        socket.ask(&introduction.get_packed_pipeline())?;
        socket.answer()?.extract_error()?;
        let id = redis::from_redis_value(socket.answer()?.extract_error()?)?;
        Ok(Self { socket, id })
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
        let asked = self.socket.ask(&redis::cmd("PING").get_packed_command()).and_then(|()| self.socket.answer());
        asked.map_err(|error| broken(&error))?;
        let text = |push: PushInfo| match (push.kind, push.data.as_slice()) {
            (PushKind::Message, [_, Value::BulkString(text)]) => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        };
        Ok(self.socket.take_pushes().into_iter().filter_map(text).collect())
    }
}

impl std::fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscriber").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The engine's own two connections to one node: may do everything, and hear every key event of the node.
///
/// Most of what the engine asks is a look at the keys, several per step of a lesson. Looks have a connection of their own
/// that simply waits in the system call; on the other, every key event would wake somebody as soon as it comes, although
/// nobody wants it before the next look.
pub struct Observer {
    connection: MultiplexedConnection,
    eyes: Socket,
}

impl Observer {
    pub(super) async fn open(door: &Door) -> Result<Self, RedisError> {
        let connection = door.client(ADMIN)?.get_multiplexed_async_connection_with_config(&patient()).await?;
        let eyes = door.socket(EYES)?;
        let mut listen = redis::cmd("PSUBSCRIBE");
        for events in HEARD {
            listen.arg(format!("{KEY_EVENTS}{events}"));
        }
        eyes.ask(&listen.get_packed_command())?;
        Ok(Self { connection, eyes })
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
        self.begin_look(command)?;
        self.end_look()
    }

    /// The first half of a look: asks. So several nodes can be looked at at the same time.
    ///
    /// # Errors
    /// [`Broken`] when the node is down.
    pub fn begin_look(&self, command: &Cmd) -> Result<(), Broken> {
        self.eyes.ask(&command.get_packed_command()).map_err(|error| broken(&error))
    }

    /// The second half: waits for the answer.
    ///
    /// # Errors
    /// [`Broken`] when the node is down.
    pub fn end_look(&self) -> Result<Value, Broken> {
        self.eyes.answer().map_err(|error| broken(&error))
    }

    /// The key events that have come and were not yet taken, in order. Those of everything that the node had executed
    /// before it executed the last look are certainly among them; those that this look caused itself may come with the
    /// next one (newer servers send them after the reply).
    pub fn drain_events(&self) -> Vec<KeyEvent> {
        self.eyes.take_pushes().iter().filter_map(key_event).collect()
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
