//! A set of nodes that belong together: started, put right and emptied between two lessons, crashed and restarted.

use std::time::Duration;

use redis::Value;
use tokio::time::{sleep, timeout};

use super::binary::Binary;
use super::error::ServersError;
use super::node::{LOOK_AGAIN, Mode, Node, PATIENCE, Role, info_says};
use super::watched::Watch;
use super::{CrashKind, Persistence, Setup, Shape, acl, config};

/// How long a server with an endless script may take to hear `SCRIPT KILL`. One that is inside a single function of Lua's
/// library (a pattern match that tries everything) hears nobody, perhaps for hours.
const DEAF: Duration = Duration::from_millis(600);

/// How an endless script was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptEnd {
    /// Redis stopped it: it had written nothing, and nothing remains of it.
    Stopped,
    /// It had written already, so Redis refuses to stop it, or Redis could not even be asked: the node was killed
    /// (crashed).
    NodeKilled,
    /// No script was running any more.
    NotRunning,
}

/// The nodes of one topology.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) binary: Binary,
    pub(super) run: std::sync::Arc<super::folder::RunFolder>,
    pub(super) shape: Shape,
    pub(super) persistence: Persistence,
    pub(super) nodes: Vec<Node>,
    pub(super) lesson: Lesson,
    /// The Sentinels, where there are any.
    pub(super) watch: Watch,
}

/// Whom the servers let in beside the engine: changes with each lesson.
#[derive(Debug, Default)]
pub(super) struct Lesson {
    pub(super) password: String,
    pub(super) keys: Vec<String>,
    pub(super) config: Vec<(String, String)>,
    pub(super) scripts: Vec<&'static str>,
}

impl Set {
    /// Nodes that are all down, in folders of their own.
    pub(super) fn new(
        run: &std::sync::Arc<super::folder::RunFolder>,
        binary: &Binary,
        setup: &Setup,
    ) -> Result<Self, ServersError> {
        // One password for the set: replicas need that of their master, whoever it will be.
        let password = acl::password();
        let names = |letter: char, count: u8| (1..=count).map(move |number| format!("{letter}{number}"));
        let (mut users, mut sentinels) = (Vec::new(), Vec::new());
        if let Shape::Sentinel { replicas } = setup.shape {
            users.push("m".to_owned());
            users.extend(names('r', replicas));
            sentinels.extend((1..=super::sentinel::COUNT).map(|number| format!("s{number}")));
        }
        let node = |name: String, role| Node::new(run, name, role, setup.persistence, &password, (&users, &sentinels));
        let nodes = match setup.shape {
            Shape::Single => vec![node("redis".to_owned(), Role::Master)?],
            Shape::Replicated { replicas } | Shape::Sentinel { replicas } => {
                let mut nodes = vec![node("m".to_owned(), Role::Master)?];
                for name in names('r', replicas) {
                    nodes.push(node(name, Role::ReplicaOf(0))?);
                }
                nodes
            }
            Shape::Quorum { nodes } => {
                names('n', nodes).map(|name| node(name, Role::Master)).collect::<Result<_, _>>()?
            }
        };
        Ok(Self {
            binary: binary.clone(),
            run: std::sync::Arc::clone(run),
            shape: setup.shape,
            persistence: setup.persistence,
            nodes,
            lesson: Lesson::default(),
            watch: Watch::default(),
        })
    }

    pub(super) fn lesson(&self) -> &Lesson {
        &self.lesson
    }

    pub(super) fn index(&self, name: &str) -> Result<usize, ServersError> {
        let found = self.nodes.iter().position(|node| node.name == name);
        found.ok_or_else(|| ServersError::Unknown(format!("node {name}")))
    }

    /// Makes everything as it is after a fresh start, for a lesson that may reach `keys`: processes, roles and links
    /// first, then what is in the servers.
    pub(super) async fn renew(&mut self, setup: &Setup) -> Result<(), ServersError> {
        self.lesson = Lesson {
            password: acl::password(),
            keys: setup.keys.clone(),
            config: setup.config.clone(),
            scripts: setup.scripts.clone(),
        };
        self.get_addresses().await?;
        let fresh: Vec<bool> = self.nodes.iter().map(|node| !node.is_up()).collect();
        for node in self.nodes.iter().filter(|node| !node.is_up()) {
            node.spawn(&self.binary)?;
        }
        for (node, _) in self.nodes.iter().zip(&fresh).filter(|(_, fresh)| **fresh) {
            node.ready().await?;
        }
        self.name_replicas().await?;
        if self.nodes[0].role.get() != Role::Master {
            self.make_master(0).await?;
        }
        // A master is emptied before it is followed: then there is little to copy.
        let masters = if matches!(self.shape, Shape::Quorum { .. }) { self.nodes.len() } else { 1 };
        for master in &self.nodes[..masters] {
            self.empty(master, true).await?;
        }
        for replica in masters..self.nodes.len() {
            let node = &self.nodes[replica];
            self.empty(node, false).await?;
            let linked = node.relay().is_some_and(|relay| !relay.progress().ended);
            let untouched = !fresh[0] && !fresh[replica] && linked && node.role.get() == Role::ReplicaOf(0);
            if !untouched || node.mode.get() == Mode::Cut {
                self.attach(replica, 0).await?;
            } else {
                self.heal(replica).await?;
                self.open_acks(replica).await?;
            }
        }
        for (index, node) in self.nodes.iter().enumerate() {
            self.configure(node).await?;
            if self.persistence == Persistence::EverySec {
                self.flush_to_disk(index).await?;
            }
            // What this itself has caused is nobody's business.
            node.observer()?.events().map_err(ServersError::lost(&node.name))?;
        }
        self.start_sentinels().await
    }

    /// Throws out everybody and everything, and lets the lesson's user in.
    async fn empty(&self, node: &Node, with_data: bool) -> Result<(), ServersError> {
        let mut pipeline = redis::pipe();
        // The lesson's connections go with its user (below); here go those that became nobody's, and strangers of ours.
        for user in ["default", config::ADMIN] {
            for kind in ["pubsub", "normal"] {
                pipeline.cmd("CLIENT").arg("KILL").arg("TYPE").arg(kind).arg("USER").arg(user);
            }
        }
        // First of all: some settings make a server refuse the rest.
        pipeline.cmd("CONFIG").arg("SET");
        for (name, value) in config::RESTORED {
            pipeline.arg(name).arg(value);
        }
        pipeline.cmd("SCRIPT").arg("FLUSH").arg("SYNC");
        if with_data {
            // A replica gets these from its master; scripts are not replicated.
            pipeline.cmd("FLUSHALL").arg("SYNC");
            pipeline.cmd("FUNCTION").arg("FLUSH").arg("SYNC");
        }
        pipeline.cmd("CONFIG").arg("RESETSTAT");
        pipeline.cmd("ACL").arg("LOG").arg("RESET");
        pipeline.cmd("SLOWLOG").arg("RESET");
        pipeline.cmd("ACL").arg("DELUSER").arg(acl::LESSON);
        self.send_all(node, pipeline).await
    }

    /// Lets the lesson's user in, after whatever is in `pipeline`.
    async fn send_all(&self, node: &Node, mut pipeline: redis::Pipeline) -> Result<(), ServersError> {
        pipeline.add_command(acl::create(&self.lesson.password, &self.lesson.keys));
        let required = pipeline.len();
        for command in acl::optional() {
            pipeline.add_command(command);
        }
        for script in &self.lesson.scripts {
            pipeline.cmd("SCRIPT").arg("LOAD").arg(script);
        }
        let replies = node.observer()?.pipeline(&pipeline).await.map_err(ServersError::lost(&node.name))?;
        match replies
            .iter()
            .take(required)
            .find_map(|reply| if let Value::ServerError(error) = reply { Some(error) } else { None })
        {
            Some(error) => Err(node.refused("preparing it for a lesson", &error.to_string())),
            None => Ok(()),
        }
    }

    /// kill -9. What has left the node before (all of it on an open link, what is under way on a slow one) arrives.
    pub(super) async fn crash(&self, index: usize, kind: CrashKind) -> Result<(), ServersError> {
        let node = &self.nodes[index];
        if !node.is_up() {
            return Ok(());
        }
        if self.persistence == Persistence::EverySec {
            self.written(node).await?;
        }
        for replica in self.followers(index) {
            match self.nodes[replica].mode.get() {
                Mode::Open => self.barrier(replica).await?,
                Mode::Slow => _ = self.mark(replica).await?,
                Mode::Held | Mode::Cut => {}
            }
        }
        self.kill(index).await;
        self.missed_by_master(index).await?;
        if kind == CrashKind::Power && self.persistence == Persistence::EverySec {
            node.lose_unflushed()?;
        }
        Ok(())
    }

    /// What the node has written up to now is on its disk.
    pub(super) async fn flush_to_disk(&self, index: usize) -> Result<(), ServersError> {
        let node = &self.nodes[index];
        self.written(node).await?;
        node.note_flushed()
    }

    /// Sets what the lesson wants set.
    async fn configure(&self, node: &Node) -> Result<(), ServersError> {
        if self.lesson.config.is_empty() {
            return Ok(());
        }
        let mut command = redis::cmd("CONFIG");
        command.arg("SET");
        for (name, value) in &self.lesson.config {
            command.arg(name).arg(value);
        }
        node.ask(&command).await.map(drop)
    }

    /// The lesson's settings that can refuse a write, the engine's too: too few replicas, no memory.
    fn hindrances(&self) -> impl Iterator<Item = &(String, String)> {
        let hinders = |name: &str| matches!(name, "min-replicas-to-write" | "maxmemory");
        self.lesson.config.iter().filter(move |(name, _)| hinders(name))
    }

    /// Asks several nodes at the same time, and waits for all of them. `writes`: a lesson's settings may refuse writes, but
    /// not those of the engine's own.
    pub(super) fn look_each(&self, asked: &[(usize, &redis::Cmd)], writes: bool) -> Result<Vec<Value>, ServersError> {
        if writes && self.hindrances().next().is_some() {
            return asked.iter().map(|(index, command)| self.unhindered(*index, command)).collect();
        }
        let lost = |index: usize| ServersError::lost(&self.nodes[index].name);
        let ask = |(index, command): &(usize, &redis::Cmd)| {
            let observer = self.nodes[*index].observer()?;
            observer.begin_look(command).map_err(lost(*index))?;
            Ok((*index, observer))
        };
        // Whoever was asked must be heard, or would answer the next question with this answer.
        let begun: Vec<Result<_, ServersError>> = asked.iter().map(ask).collect();
        let ended = begun.into_iter().map(|begun| {
            let (index, observer) = begun?;
            observer.end_look().map_err(lost(index))
        });
        let ended: Vec<_> = ended.collect();
        ended.into_iter().collect()
    }

    fn unhindered(&self, index: usize, command: &redis::Cmd) -> Result<Value, ServersError> {
        let node = &self.nodes[index];
        let observer = node.observer()?;
        if self.hindrances().next().is_none() {
            return observer.look(command).map_err(ServersError::lost(&node.name));
        }
        let (mut lift, mut put_back) = (redis::cmd("CONFIG"), redis::cmd("CONFIG"));
        lift.arg("SET");
        put_back.arg("SET");
        for (name, value) in self.hindrances() {
            lift.arg(name).arg(0);
            put_back.arg(name).arg(value);
        }
        // Not a transaction: what these settings forbid is refused when it is queued. No client sends anything meanwhile.
        let look = |command: &redis::Cmd| observer.look(command).map_err(ServersError::lost(&node.name));
        match (look(&lift)?, look(command)?, look(&put_back)?) {
            (Value::Okay, reply, Value::Okay) => Ok(reply),
            other => Err(node.refused("lifting the lesson's settings", &format!("{other:?}"))),
        }
    }

    /// Kills the process without waiting for anything it may still have to say.
    async fn kill(&self, index: usize) {
        let node = &self.nodes[index];
        node.kill();
        if let Some(relay) = node.relay() {
            relay.cut().await;
        }
        for replica in self.followers(index) {
            let node = &self.nodes[replica];
            let Some(relay) = node.relay() else { continue };
            match node.mode.get() {
                Mode::Open => relay.until(|_| false).await,
                Mode::Held => relay.lose().await,
                Mode::Slow | Mode::Cut => {}
            }
        }
    }

    /// With `everysec` Redis may answer before it has handed a write to the system, when a flush is under way. That is
    /// a matter of luck; a lesson's crash comes when there is nothing in that buffer.
    async fn written(&self, node: &Node) -> Result<(), ServersError> {
        let mut info = redis::cmd("INFO");
        info.arg("persistence");
        let all = async {
            while !info_says(&node.ask(&info).await?, "aof_buffer_length", "0") {
                sleep(LOOK_AGAIN).await;
            }
            Ok(())
        };
        timeout(PATIENCE, all)
            .await
            .unwrap_or_else(|_| Err(ServersError::Stuck(format!("{} has written its log", node.name))))
    }

    /// Starts a node that is down, in its old folder: with persistence it finds its data there. It takes the part that
    /// it has by now: a master's, or that of a replica of whoever was promoted in its place.
    pub(super) async fn restart(&self, index: usize) -> Result<(), ServersError> {
        let node = &self.nodes[index];
        if node.is_up() {
            return Ok(());
        }
        node.spawn(&self.binary)?;
        node.ready().await?;
        self.keep_place(index).await?;
        self.send_all(node, redis::pipe()).await?;
        self.configure(node).await?;
        match node.role.get() {
            Role::ReplicaOf(master) if self.nodes[master].is_up() => self.attach_as_before(index, master).await?,
            Role::ReplicaOf(master) => self.follow_nobody(index, master).await?,
            Role::Master => {
                for replica in self.followers(index) {
                    self.attach_as_before(replica, index).await?;
                }
            }
        }
        node.observer()?.events().map_err(ServersError::lost(&node.name))?;
        Ok(())
    }

    /// Removes every key of a node (and, through open links, of its replicas).
    pub(super) async fn flush(&self, index: usize) -> Result<(), ServersError> {
        let mut command = redis::cmd("FLUSHALL");
        command.arg("SYNC");
        self.unhindered(index, &command)?;
        for replica in self.followers(index) {
            self.barrier(replica).await?;
        }
        Ok(())
    }

    /// Ends a script that would run for ever.
    pub(super) async fn end_script(&self, index: usize) -> Result<ScriptEnd, ServersError> {
        let node = &self.nodes[index];
        let mut command = redis::cmd("SCRIPT");
        command.arg("KILL");
        let observer = node.observer()?;
        // Until the script has run for `busy-reply-threshold`, the server hears nobody.
        match timeout(DEAF, observer.send(&command)).await {
            Ok(Ok(Value::ServerError(error))) if error.code() == "NOTBUSY" => Ok(ScriptEnd::NotRunning),
            Ok(Ok(Value::ServerError(_))) | Err(_) => {
                self.kill(index).await;
                Ok(ScriptEnd::NodeKilled)
            }
            Ok(Ok(_)) => Ok(ScriptEnd::Stopped),
            Ok(Err(broken)) => Err(ServersError::lost(&node.name)(broken)),
        }
    }

    /// Waits until the server has forgotten a client's connection.
    pub(super) async fn closed(&self, index: usize, id: i64) -> Result<(), ServersError> {
        let node = &self.nodes[index];
        let mut command = redis::cmd("CLIENT");
        command.arg("LIST").arg("ID").arg(id);
        let gone = async {
            loop {
                match node.ask(&command).await? {
                    Value::BulkString(list) if list.is_empty() => return Ok(()),
                    Value::VerbatimString { text, .. } if text.is_empty() => return Ok(()),
                    _ => tokio::task::yield_now().await,
                }
            }
        };
        timeout(PATIENCE, gone)
            .await
            .unwrap_or_else(|_| Err(ServersError::Stuck(format!("{} has closed connection {id}", node.name))))
    }
}
