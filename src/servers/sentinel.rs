//! A Sentinel: a process that watches the nodes of a set, agrees with the others, and makes a replica the master.
//!
//! Everything that Sentinels would find out about each other in their first seconds stands in their configuration from
//! the beginning, as they would write it there themselves. They live for one lesson: what they have learned, voted and
//! remembered ends with their processes.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, PushInfo, PushKind, Value};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::Persistence;
use super::acl::LESSON;
use super::binary::Binary;
use super::config::{ADMIN, SOCKET};
use super::connection::Door;
use super::error::ServersError;
use super::folder::RunFolder;
use super::front::Front;
use super::node::{LOOK_AGAIN, PATIENCE};
use super::process::{Home, Process};

/// The name under which Sentinels know the master.
pub const MASTER_NAME: &str = "lock";

/// How many there are.
pub(super) const COUNT: usize = 3;
/// How many must miss the master before it counts as down.
const QUORUM: usize = 2;
/// How long the master may be silent. Sentinels ask each second at most; below that a busy machine looks like a dead one.
const DOWN_AFTER: Duration = Duration::from_secs(1);
/// A failover that gets stuck (each Sentinel has voted for itself, say) is given up after this, and tried again after
/// twice as long.
const FAILOVER_TIMEOUT: Duration = Duration::from_secs(3);

/// Redis's own pace.
const PING_PERIOD: Duration = Duration::from_secs(1);
/// How often it asks a node what it is. Redis's own pace is ten seconds, and one second while a master is missed: nobody
/// wants to watch an old master, back from its absence, for so long until it is called to order.
const INFO_PERIOD: Duration = Duration::from_secs(1);
/// How often Sentinels greet each other (two seconds, for the same reason): four greetings later they dare to change what
/// a node says that it is.
const PUBLISH_PERIOD: Duration = Duration::from_millis(500);

/// What a Sentinel has said, as on its channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentinelNews {
    /// Who says it: `s1`.
    pub sentinel: String,
    /// What: `+sdown`, `+odown`, `+switch-master`, …
    pub event: String,
    /// The node (or Sentinel) that it is about; of `+switch-master`, the new master.
    pub about: Option<String>,
}

/// What comes by itself, before it is understood.
type Pushes = mpsc::UnboundedSender<(usize, PushInfo)>;

#[derive(Debug)]
pub(super) struct Sentinel {
    pub(super) name: String,
    /// Forty hex digits, as Redis wants it: by it the others know it again.
    id: String,
    home: Home,
    pub(super) front: Front,
    door: Door,
    process: RefCell<Option<Process>>,
    connection: RefCell<Option<MultiplexedConnection>>,
}

/// What a Sentinel's configuration says of the others.
pub(super) struct Around<'a> {
    /// The engine's password, and everybody's in the set.
    pub(super) password: &'a str,
    /// That of the lesson's clients.
    pub(super) lesson: &'a str,
    /// The port of the master.
    pub(super) master: u16,
    /// Those of the replicas.
    pub(super) replicas: &'a [u16],
    /// Id and port of all Sentinels.
    pub(super) sentinels: &'a [(String, u16)],
}

impl Sentinel {
    /// One that is down, in a folder of its own.
    pub(super) async fn new(run: &Arc<RunFolder>, number: usize, password: &str) -> Result<Self, ServersError> {
        let home = Home::new(run, Persistence::None, String::new())?;
        let front = Front::open(home.socket(), Vec::new())
            .await
            .map_err(|source| ServersError::io("open a port for a Sentinel", source))?;
        let door = Door { socket: home.socket(), password: password.to_owned() };
        // By nothing but its id a Sentinel is told from the one that had its place in the lesson before.
        let id = format!("{}{number:08x}", uuid::Uuid::new_v4().simple());
        let (process, connection) = (RefCell::default(), RefCell::default());
        Ok(Self { name: format!("s{number}"), id, home, front, door, process, connection })
    }

    /// How the others find it.
    pub(super) fn identity(&self) -> (String, u16) {
        (self.id.clone(), self.front.port())
    }

    pub(super) fn is_up(&self) -> bool {
        self.connection.borrow().is_some()
    }

    /// Where lesson clients find it; `password`: theirs.
    pub(super) fn door_of_lesson(&self, password: &str) -> Door {
        Door { socket: self.door.socket.clone(), password: password.to_owned() }
    }

    /// Writes its configuration as for a fresh start.
    pub(super) fn configure(&mut self, around: &Around<'_>) -> Result<(), ServersError> {
        let text = self.text(around);
        self.home.configure(text)
    }

    fn text(&self, around: &Around<'_>) -> String {
        let Around { password, lesson, .. } = around;
        let (down, patience) = (DOWN_AFTER.as_millis(), FAILOVER_TIMEOUT.as_millis());
        let mut lines = vec![
            "port 0".to_owned(),
            format!("unixsocket {SOCKET}"),
            "unixsocketperm 700".to_owned(),
            "logfile \"\"".to_owned(),
            "user default reset off".to_owned(),
            format!("user {ADMIN} on >{password} ~* &* +@all"),
            format!(
                "user {LESSON} on >{lesson} resetkeys resetchannels -@all +sentinel|get-master-addr-by-name \
                 +client|setname +client|id +ping"
            ),
        ];
        for number in 1..=around.sentinels.len() {
            lines.push(format!("user s{number} on >{password} ~* &* +@all"));
        }
        lines.push(format!("sentinel myid {}", self.id));
        lines.push("sentinel announce-ip 127.0.0.1".to_owned());
        lines.push(format!("sentinel announce-port {}", self.front.port()));
        lines.push(format!("sentinel sentinel-user {}", self.name));
        lines.push(format!("sentinel sentinel-pass {password}"));
        lines.push(format!("sentinel monitor {MASTER_NAME} 127.0.0.1 {} {QUORUM}", around.master));
        lines.push(format!("sentinel auth-user {MASTER_NAME} {}", self.name));
        lines.push(format!("sentinel auth-pass {MASTER_NAME} {password}"));
        lines.push(format!("sentinel down-after-milliseconds {MASTER_NAME} {down}"));
        lines.push(format!("sentinel failover-timeout {MASTER_NAME} {patience}"));
        lines.push(format!("sentinel parallel-syncs {MASTER_NAME} {}", around.replicas.len().max(1)));
        for port in around.replicas {
            lines.push(format!("sentinel known-replica {MASTER_NAME} 127.0.0.1 {port}"));
        }
        for (id, port) in around.sentinels.iter().filter(|(id, _)| *id != self.id) {
            lines.push(format!("sentinel known-sentinel {MASTER_NAME} 127.0.0.1 {port} {id}"));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    pub(super) fn spawn(&self, binary: &Binary) -> Result<(), ServersError> {
        *self.process.borrow_mut() = Some(self.home.start(&binary.path, &["--sentinel"])?);
        Ok(())
    }

    /// Waits until it answers, and listens to all that it says from then on. `number`: under which to hand it on.
    pub(super) async fn ready(&self, number: usize, pushes: &Pushes) -> Result<(), ServersError> {
        let answers = async {
            loop {
                let ended = self.process.borrow_mut().as_mut().and_then(Process::ended);
                if let Some(status) = ended {
                    return Err(format!("it ended at once ({status})"));
                }
                match self.listen(number, pushes).await {
                    Ok(connection) => return Ok(connection),
                    Err(_) => sleep(LOOK_AGAIN).await,
                }
            }
        };
        match timeout(PATIENCE, answers).await {
            Ok(Ok(connection)) => {
                *self.connection.borrow_mut() = Some(connection);
                Ok(())
            }
            failed => {
                let why = failed.map_or_else(|_| "it does not answer".to_owned(), |why| why.err().unwrap_or_default());
                self.kill();
                Err(ServersError::Start { node: self.name.clone(), why, log: self.home.last_words() })
            }
        }
    }

    async fn listen(&self, number: usize, pushes: &Pushes) -> Result<MultiplexedConnection, redis::RedisError> {
        let client = self.door.client(ADMIN)?;
        let pushes = pushes.clone();
        let settings = AsyncConnectionConfig::new()
            .set_response_timeout(None)
            .set_connection_timeout(None)
            .set_push_sender(move |push| pushes.send((number, push)).map_err(|_| redis::aio::SendError));
        let mut connection = client.get_multiplexed_async_connection_with_config(&settings).await?;
        connection.psubscribe("*").await?;
        Ok(connection)
    }

    pub(super) fn kill(&self) {
        self.connection.borrow_mut().take();
        let process = self.process.borrow_mut().take();
        if let Some(process) = process {
            process.kill();
        }
    }

    async fn ask(&self, words: &[&str]) -> Result<Value, ServersError> {
        let connection = self.connection.borrow().clone();
        let mut connection = connection.ok_or_else(|| ServersError::Down(self.name.clone()))?;
        let mut command = Cmd::new();
        command.arg(words);
        connection.send_packed_command(&command).await.map_err(|error| ServersError::Refused {
            node: self.name.clone(),
            command: words.join(" "),
            error: error.to_string(),
        })
    }

    /// Sets its pace. While they meet, ten times as quick as usual: a Sentinel that has started a little later would be
    /// missed for a second.
    pub(super) async fn hurry(&self, hurry: bool) -> Result<(), ServersError> {
        let ping = if hurry { PING_PERIOD / 10 } else { PING_PERIOD };
        let pace = [("PING-PERIOD", ping), ("INFO-PERIOD", INFO_PERIOD), ("PUBLISH-PERIOD", PUBLISH_PERIOD)];
        for (name, period) in pace {
            self.ask(&["SENTINEL", "DEBUG", name, &period.as_millis().to_string()]).await?;
        }
        Ok(())
    }

    /// Whether it has met everybody: the master, the replicas, and the other Sentinels, and has nothing to say against
    /// them.
    pub(super) async fn knows_everybody(&self, replicas: usize) -> Result<bool, ServersError> {
        let master = self.ask(&["SENTINEL", "MASTER", MASTER_NAME]).await?;
        let slaves = self.ask(&["SENTINEL", "REPLICAS", MASTER_NAME]).await?;
        let others = self.ask(&["SENTINEL", "SENTINELS", MASTER_NAME]).await?;
        let (slaves, others) = (items(&slaves), items(&others));
        let met = |instance: &Value| says(instance, "runid").is_some_and(|id| !id.is_empty());
        Ok(says(&master, "flags").as_deref() == Some("master")
            && met(&master)
            && slaves.len() == replicas
            && slaves.iter().all(|slave| says(slave, "flags").as_deref() == Some("slave") && met(slave))
            && slaves.iter().all(|slave| says(slave, "master-link-status").as_deref() == Some("ok"))
            && others.len() + 1 == COUNT
            && others.iter().all(|other| says(other, "flags").as_deref() == Some("sentinel")))
    }
}

/// A push as a Sentinel's news: its event, and the port of whomever it is about.
pub(super) fn news(push: &PushInfo) -> Option<(String, Option<u16>)> {
    if push.kind != PushKind::PMessage {
        return None;
    }
    let [_, Value::BulkString(event), Value::BulkString(text)] = push.data.as_slice() else { return None };
    let (event, text) = (String::from_utf8_lossy(event), String::from_utf8_lossy(text));
    let words: Vec<&str> = text.split_whitespace().collect();
    // `lock 127.0.0.1 7001 127.0.0.1 7002`, or `slave NAME 127.0.0.1 7002 @ lock 127.0.0.1 7001`.
    let place = if event == "+switch-master" { 4 } else { 3 };
    Some((event.into_owned(), words.get(place).and_then(|port| port.parse().ok())))
}

fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        _ => &[],
    }
}

/// A field of what a Sentinel tells of an instance.
fn says(instance: &Value, field: &str) -> Option<String> {
    let is = |name: &Value| matches!(name, Value::BulkString(bytes) if bytes == field.as_bytes());
    let found = match instance {
        Value::Map(pairs) => pairs.iter().find(|(name, _)| is(name)).map(|(_, value)| value),
        Value::Array(flat) => flat.chunks_exact(2).find(|pair| is(&pair[0])).map(|pair| &pair[1]),
        _ => None,
    };
    match found? {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

/// What all Sentinels of a set say, in the order in which it came.
#[derive(Debug)]
pub(super) struct Ears {
    pub(super) sender: Pushes,
    pub(super) receiver: Rc<tokio::sync::Mutex<mpsc::UnboundedReceiver<(usize, PushInfo)>>>,
}

impl Default for Ears {
    fn default() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self { sender, receiver: Rc::new(tokio::sync::Mutex::new(receiver)) }
    }
}
