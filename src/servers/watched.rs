//! A set that Sentinels watch: they are started when the nodes stand as the setup says, and stopped before anybody else
//! touches them; what they change meanwhile is found out and taken over.

use std::time::Duration;

use redis::Value;
use tokio::time::{sleep, timeout};

use super::Shape;
use super::error::ServersError;
use super::front::Front;
use super::node::{Node, PATIENCE, Role};
use super::sentinel::{Around, Ears, Sentinel, SentinelNews, news};
use super::set::Set;
use super::voice::EVERYTHING;

/// Sentinels look at everybody ten times a second, so they have met after two or three looks.
const MEET_AGAIN: Duration = Duration::from_millis(10);
/// How often a replica is started anew until its run id stands in its place: of two it is right every other time.
const TRIES: u32 = 50;

/// What a set of Sentinels has, and is not a node.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) sentinels: Vec<Sentinel>,
    ears: Ears,
}

impl Set {
    /// The replicas of a set that Sentinels watch.
    fn watched_replicas(&self) -> Option<usize> {
        match self.shape {
            Shape::Sentinel { replicas } => Some(usize::from(replicas)),
            _ => None,
        }
    }

    /// Gives every node its address, and makes the Sentinels; once in the life of a set.
    pub(super) async fn get_addresses(&mut self) -> Result<(), ServersError> {
        if self.watched_replicas().is_none() || !self.watch.sentinels.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = self.nodes.iter().map(|node| node.name.clone()).collect();
        for node in &mut self.nodes {
            let front = Front::open(node.socket(), names.clone()).await;
            node.front = Some(front.map_err(|source| ServersError::io("open a port for a node", source))?);
        }
        for number in 1..=super::sentinel::COUNT {
            let password = self.nodes[0].door.password.clone();
            self.watch.sentinels.push(Sentinel::new(&self.run, number, &password).await?);
        }
        Ok(())
    }

    /// Names the replicas in the order of their run ids, and tells every node who it is. Of replicas that have come
    /// equally far Sentinels choose the one with the smallest run id, which is drawn by lot at each start: so it is the
    /// name that is given last, and a lesson can say which replica it will be.
    pub(super) async fn name_replicas(&mut self) -> Result<(), ServersError> {
        if self.watched_replicas().is_none() {
            return Ok(());
        }
        let mut ids = Vec::new();
        for node in &self.nodes {
            ids.push(run_id(node).await?);
        }
        for place in 1..self.nodes.len() {
            let Some(smallest) = (place..self.nodes.len()).min_by_key(|at| ids[*at].clone()) else { continue };
            if smallest != place {
                let (before, after) = self.nodes.split_at_mut(smallest);
                std::mem::swap(&mut before[place].name, &mut after[0].name);
                self.nodes.swap(place, smallest);
                ids.swap(place, smallest);
            }
        }
        for node in &self.nodes {
            self.introduce(node).await?;
        }
        Ok(())
    }

    /// A node that Sentinels watch is a user of its own where it replicates, and has an address.
    async fn introduce(&self, node: &Node) -> Result<(), ServersError> {
        let Some(front) = &node.front else { return Ok(()) };
        let mut command = redis::cmd("CONFIG");
        command.arg("SET").arg("masteruser").arg(&node.name);
        command.arg("replica-announce-ip").arg("127.0.0.1").arg("replica-announce-port").arg(front.port());
        node.ask(&command).await.map(drop)
    }

    /// A replica that has just been started again keeps its place among the others (see [`Set::name_replicas`]).
    pub(super) async fn keep_place(&self, index: usize) -> Result<(), ServersError> {
        let node = &self.nodes[index];
        if self.watched_replicas().is_none() {
            return Ok(());
        }
        for _ in 0..TRIES {
            let id = run_id(node).await?;
            let mut fits = true;
            for (other, there) in self.nodes.iter().enumerate().skip(1).filter(|(_, there)| there.is_up()) {
                fits &= index == 0 || other == index || (other < index) == (run_id(there).await? < id);
            }
            if fits {
                break;
            }
            node.kill();
            node.spawn(&self.binary)?;
            node.ready().await?;
        }
        self.introduce(node).await
    }

    /// Starts the Sentinels, as if there had never been any, and waits until they all have met.
    pub(super) async fn start_sentinels(&mut self) -> Result<(), ServersError> {
        let Some(replicas) = self.watched_replicas() else { return Ok(()) };
        let ports: Vec<u16> = self.nodes.iter().filter_map(|node| node.front.as_ref().map(Front::port)).collect();
        let sentinels: Vec<(String, u16)> = self.watch.sentinels.iter().map(Sentinel::identity).collect();
        let around = Around {
            password: &self.nodes[0].door.password,
            lesson: &self.lesson.password,
            master: ports[0],
            replicas: &ports[1..],
            sentinels: &sentinels,
        };
        self.watch.ears = Ears::default();
        for sentinel in &mut self.watch.sentinels {
            sentinel.kill();
            sentinel.front.clear();
            sentinel.configure(&around)?;
            sentinel.spawn(&self.binary)?;
        }
        for (number, sentinel) in self.watch.sentinels.iter().enumerate() {
            sentinel.ready(number, &self.watch.ears.sender).await?;
            sentinel.hurry(true).await?;
        }
        let met = async {
            for sentinel in &self.watch.sentinels {
                while !sentinel.knows_everybody(replicas).await? {
                    sleep(MEET_AGAIN).await;
                }
            }
            Ok(())
        };
        timeout(PATIENCE, met)
            .await
            .unwrap_or_else(|_| Err(ServersError::Stuck("the Sentinels have met".to_owned())))?;
        for sentinel in &self.watch.sentinels {
            sentinel.hurry(false).await?;
        }
        // What they said while they met is nobody's business.
        while self.watch.ears.receiver.lock().await.try_recv().is_ok() {}
        Ok(())
    }

    /// Stops the Sentinels: from here on nobody changes a node but us.
    pub(super) fn stop_sentinels(&self) {
        self.watch.sentinels.iter().for_each(Sentinel::kill);
    }

    /// Whether anything of a lesson remains that only a fresh start can put right: what Sentinels have changed is in the
    /// nodes' configurations, too.
    pub(super) async fn is_spent(&self) -> bool {
        if self.watched_replicas().is_none() {
            return false;
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let role = if index == 0 { Role::Master } else { Role::ReplicaOf(0) };
            let stands = node.is_up() && node.role.get() == role && node.has_own_config();
            if !stands || self.role_now(node).await.ok() != Some(role) {
                return true;
            }
        }
        false
    }

    /// What a node says that it is.
    async fn role_now(&self, node: &Node) -> Result<Role, ServersError> {
        let said = node.ask(&redis::cmd("ROLE")).await?;
        let port = match &said {
            Value::Array(fields) => match fields.as_slice() {
                [Value::BulkString(role), _, Value::Int(port), ..] if role == b"slave" => Some(*port),
                _ => None,
            },
            _ => None,
        };
        let Some(port) = port else { return Ok(Role::Master) };
        let is = |node: &Node| node.front.as_ref().is_some_and(|front| i64::from(front.port()) == port);
        let master = self.nodes.iter().position(is);
        master.map(Role::ReplicaOf).ok_or_else(|| ServersError::Unknown(format!("master of {}", node.name)))
    }

    /// Takes over what a Sentinel has made of a node. True: it is something else now.
    pub(super) async fn adopt(&self, index: usize) -> Result<bool, ServersError> {
        let node = &self.nodes[index];
        if !node.is_up() {
            return Ok(false);
        }
        node.reconnect().await?;
        let (was, is) = (node.role.get(), self.role_now(node).await?);
        if was == is {
            return Ok(false);
        }
        node.role.set(is);
        node.open_link();
        match is {
            Role::Master => {
                if let Some(relay) = node.relay.replace(None) {
                    relay.cut().await;
                }
            }
            Role::ReplicaOf(master) => {
                let front = self.nodes[master].front.as_ref();
                node.relay.replace(front.map(|front| front.link(&node.name)));
                if let Some(relay) = node.relay() {
                    relay.set_acks(EVERYTHING);
                }
                if self.nodes[master].is_up() {
                    self.nodes[master].reconnect().await?;
                    self.wait_synced(index, master).await?;
                }
            }
        }
        Ok(true)
    }

    /// The next that a Sentinel says. Never, where there are none.
    pub(super) async fn hear(&self) -> SentinelNews {
        let receiver = std::rc::Rc::clone(&self.watch.ears.receiver);
        let mut receiver = receiver.lock().await;
        loop {
            // The set itself keeps a sender: this does not end.
            let Some((number, push)) = receiver.recv().await else { std::future::pending().await };
            let Some((event, port)) = news(&push) else { continue };
            let Some(sentinel) = self.watch.sentinels.get(number) else { continue };
            let about = port.and_then(|port| self.name_at(port));
            return SentinelNews { sentinel: sentinel.name.clone(), event, about };
        }
    }

    /// Who has this port.
    pub(super) fn name_at(&self, port: u16) -> Option<String> {
        let node = self.nodes.iter().find(|node| node.front.as_ref().is_some_and(|front| front.port() == port));
        let sentinel = self.watch.sentinels.iter().find(|sentinel| sentinel.front.port() == port);
        node.map(|node| node.name.clone()).or_else(|| sentinel.map(|sentinel| sentinel.name.clone()))
    }

    pub(super) fn sentinel(&self, name: &str) -> Option<(usize, &Sentinel)> {
        self.watch.sentinels.iter().enumerate().find(|(_, sentinel)| sentinel.name == name)
    }

    /// Starts a Sentinel that is down, with what it had written down.
    pub(super) async fn restart_sentinel(&self, number: usize) -> Result<(), ServersError> {
        let sentinel = &self.watch.sentinels[number];
        if sentinel.is_up() {
            return Ok(());
        }
        sentinel.spawn(&self.binary)?;
        sentinel.ready(number, &self.watch.ears.sender).await
    }

    /// Parts a Sentinel from a node or another Sentinel, or brings them together again.
    pub(super) fn part(&self, one: &str, other: &str, apart: bool) {
        for (who, whom) in [(one, other), (other, one)] {
            let front = match self.sentinel(whom) {
                Some((_, sentinel)) => Some(&sentinel.front),
                None => self.index(whom).ok().and_then(|index| self.nodes[index].front.as_ref()),
            };
            if let Some(front) = front {
                front.bar(who, apart);
            }
        }
    }
}

async fn run_id(node: &Node) -> Result<String, ServersError> {
    let mut info = redis::cmd("INFO");
    info.arg("server");
    let text = match node.ask(&info).await? {
        Value::BulkString(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Value::VerbatimString { text, .. } => text,
        _ => String::new(),
    };
    let id = text.lines().find_map(|line| line.strip_prefix("run_id:"));
    Ok(id.unwrap_or_default().trim().to_owned())
}
