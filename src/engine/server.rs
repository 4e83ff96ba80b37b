//! Bringing the servers to lesson time, and writing down what happens to their keys.

use redis::Value as Raw;

use super::clock::Clock;
use super::keys::{Change, Writer};
use super::lifetimes::Lifetimes;
use super::look::Seen;
use super::slips::slipped;
use super::world::{Due, Trouble, World};
use crate::trace::{Cause, KeyOp, LinkState, Reply, Role, What};

/// How long the engine waits for Redis to expire a key that is due, in *real* time.
const EXPIRY_LIMIT: u32 = 25_000; // × 0.2 ms = 5 s

impl World {
    /// Brings a master to lesson time before a command, if it is not there.
    pub(super) async fn freeze(&self, node: &str) -> Result<(), Trouble> {
        self.freeze_each(&[node]).await
    }

    /// Brings several masters to lesson time, those that are not there.
    pub(super) async fn freeze_each(&self, nodes: &[&str]) -> Result<(), Trouble> {
        for replica in nodes.iter().filter(|node| !self.is_up_master(node)) {
            self.freeze_replica(replica).await?;
        }
        let stale = nodes.iter().filter(|node| self.is_up_master(node) && self.clock.is_stale(node));
        let stale: Vec<&str> = stale.copied().collect();
        for (node, Seen { look, heard }) in stale.iter().zip(self.look_each(&stale, true)?) {
            let writer = Writer { t: self.now(), ..Writer::default() };
            let changes = self.keys.borrow_mut().after_command(node, &look, &heard, &writer);
            // Nobody has sent anything: what changes here has been evicted, or has expired before its time.
            let evicted = |key: &str| heard.iter().any(|(event, name)| event == "evicted" && name == key);
            if changes.iter().any(|change| !evicted(&change.key)) {
                return Err(Trouble::Slip);
            }
            self.record_changes(node, changes, &Cause::Evict);
        }
        Ok(())
    }

    /// A replica moves no TTLs itself; it gets those that its master has moved.
    async fn freeze_replica(&self, replica: &str) -> Result<(), Trouble> {
        let (master, link) = {
            let nodes = self.nodes.borrow();
            let Some(run) = nodes.get(replica) else { return Ok(()) };
            (run.follows.clone().unwrap_or_default(), run.link)
        };
        if !self.clock.moves() {
            return Ok(());
        }
        if link == LinkState::Open && self.is_up_master(&master) {
            Box::pin(self.freeze(&master)).await?;
            return Ok(self.servers.barrier(replica).await?);
        }
        // Its keys still stand at an earlier lesson time. That shows only in a key that is over since: Redis does not know it.
        let look = self.look(replica, false)?.look;
        let keys = self.keys.borrow();
        let over = look.keys.iter().find(|(key, seen)| seen.value.is_some() && keys.get(replica, key).is_none());
        over.map_or(Ok(()), |(key, _)| {
            Err(Trouble::Engine(format!(
                "a client asks {replica}, where the time of {key} is over, and as its link is not open no lesson clock can \
                 tell it so: only `--clock wall` can show that"
            )))
        })
    }

    /// Looks at a master after something was done to it, and records what changed. True: it has written.
    pub(super) async fn observe(
        &self,
        node: &str,
        cause: Cause,
        client: Option<&str>,
        lifetimes: Lifetimes,
    ) -> Result<bool, Trouble> {
        // Nothing is moved here: a key of which nobody knew yet would stay behind, and the marker would be wrong for it.
        let seen = self.look(node, false)?;
        self.observed(node, seen, cause, client, lifetimes).await
    }

    /// The same, where the look was taken already.
    pub(super) async fn observed(
        &self,
        node: &str,
        Seen { mut look, mut heard }: Seen,
        cause: Cause,
        client: Option<&str>,
        lifetimes: Lifetimes,
    ) -> Result<bool, Trouble> {
        let frozen_at = self.clock.frozen_at(node, self.keys.borrow().epoch);
        let unknown: Vec<String> = {
            let watched = self.watched.borrow();
            heard.iter().map(|(_, key)| key).filter(|key| !watched.contains(*key)).cloned().collect()
        };
        if !unknown.is_empty() {
            self.watched.borrow_mut().extend(unknown);
            let again = self.look(node, false)?;
            look = again.look;
            heard.extend(again.heard);
        }
        let t = self.now();
        let by_command = matches!(cause, Cause::Command { .. });
        if slipped(&self.keys.borrow(), node, &look, &heard, by_command) {
            return Err(Trouble::Slip);
        }
        let writer = Writer { client: client.map(str::to_owned), t, lifetimes, window: look.now - frozen_at };
        let changes = self.keys.borrow_mut().after_command(node, &look, &heard, &writer);
        let wrote = !heard.is_empty() || !changes.is_empty();
        // A command that needs memory can cost other keys their life, and the very key that it writes.
        let (evicted, changes) = part_evicted(changes, &heard);
        self.record_changes(node, evicted, &Cause::Evict);
        self.record_changes(node, changes, &cause);
        self.record_lines(node, &look.lists);
        if wrote {
            self.replicate(node, 1).await?;
        }
        Ok(wrote)
    }

    /// Lets what a master has written reach its replicas, as far as their links let it.
    pub(super) async fn replicate(&self, master: &str, writes: u64) -> Result<(), Trouble> {
        for (replica, link) in self.replicas_of(master) {
            match link {
                LinkState::Open => {
                    self.servers.barrier(&replica).await?;
                    self.arrived(&replica, &Cause::Replication)?;
                }
                LinkState::Slow { by } => {
                    self.send_bytes(&replica, by.ms(), writes).await?;
                    self.count_waiting(&replica, writes);
                }
                LinkState::Held => self.count_waiting(&replica, writes),
                LinkState::Cut => {}
            }
        }
        Ok(())
    }

    /// All that a master has written so far arrives at its replica `by` ms later, but not before what it wrote earlier:
    /// a link keeps the order.
    pub(super) async fn send_bytes(&self, replica: &str, by: u64, writes: u64) -> Result<(), Trouble> {
        let upto = self.servers.mark(replica).await?;
        let last = self.agenda.borrow().last_time(|due| matches!(due, Due::Bytes { replica: r, .. } if r == replica));
        let t = last.unwrap_or(0).max(self.now() + by);
        let bytes = Due::Bytes { replica: replica.to_owned(), upto, writes };
        self.schedule(t, super::agenda::Class::Request, self.next_message(), bytes);
        Ok(())
    }

    fn count_waiting(&self, replica: &str, writes: u64) {
        if let Some(node) = self.nodes.borrow_mut().get_mut(replica) {
            node.waiting += writes;
        }
        self.record_replication_link(replica);
    }

    /// Records what a replica's link lets pass, and what waits in it.
    pub(super) fn record_replication_link(&self, replica: &str) {
        let view = self.nodes.borrow().get(replica).map(|node| (node.follows.clone(), node.link, node.waiting));
        if let Some((Some(master), state, held)) = view {
            self.record(What::Link { a: master, b: replica.to_owned(), state, held });
        }
    }

    /// Looks at a node to which something came by replication, from its disk, or from a new master.
    pub(super) fn arrived(&self, node: &str, cause: &Cause) -> Result<(), Trouble> {
        let look = self.look(node, false)?.look;
        let changes = self.keys.borrow_mut().after_arrival(node, &look, self.now());
        self.record_changes(node, changes, cause);
        self.record_lines(node, &look.lists);
        Ok(())
    }

    /// Lets Redis expire what is due at this instant, and records it.
    pub(super) async fn expire(&self) -> Result<(), Trouble> {
        let now = self.now();
        let due = self.keys.borrow().due(now);
        let masters: Vec<String> = self.nodes.borrow().keys().cloned().collect();
        let masters: Vec<String> = masters.into_iter().filter(|node| self.is_up_master(node)).collect();
        let hit: Vec<&String> = masters.iter().filter(|node| due.iter().any(|(at, _)| at == *node)).collect();
        // On several nodes the last millisecond runs at the same time.
        self.look_each(&hit.iter().skip(1).map(|node| node.as_str()).collect::<Vec<_>>(), true)?;
        for node in hit {
            self.wait_until_gone(node, &due)?;
            for (_, key) in due.iter().filter(|(at, _)| at == node) {
                self.record_expired(node, key);
            }
            // The instant is frozen again: what has passed while Redis expired the key belongs to no lesson time.
            self.look(node, true)?;
            self.replicate_expiry(node).await?;
        }
        // What is left expires where no server says so: on a node that is down, or on a replica, which only hides it.
        for (node, key) in due {
            self.record_expired(&node, &key);
        }
        Ok(())
    }

    async fn replicate_expiry(&self, master: &str) -> Result<(), Trouble> {
        for (replica, link) in self.replicas_of(master) {
            match link {
                LinkState::Open => self.servers.barrier(&replica).await?,
                LinkState::Slow { by } => self.send_bytes(&replica, by.ms(), 0).await?,
                LinkState::Held | LinkState::Cut => {}
            }
        }
        Ok(())
    }

    fn record_expired(&self, node: &str, key: &str) {
        self.record_over(node, key, Cause::Expiry);
    }

    /// Records that a key's time is over, and why.
    pub(super) fn record_over(&self, node: &str, key: &str, cause: Cause) {
        if self.keys.borrow_mut().forget(node, key) {
            let (node, key) = (node.to_owned(), key.to_owned());
            self.record(What::Key { node, key, op: KeyOp::Expired, cause, now: None });
        }
    }

    /// Waits until Redis itself has removed the keys that are due on `node`.
    pub(super) fn wait_until_gone(&self, node: &str, due: &[(String, String)]) -> Result<(), Trouble> {
        for round in 0..EXPIRY_LIMIT {
            // Moved once: what is due has 1 ms left then. To freeze it again and again would keep it alive.
            let look = self.look(node, round == 0)?.look;
            let there = |key: &String| look.keys.get(key).is_some_and(|seen| seen.value.is_some());
            if !due.iter().any(|(at, key)| at == node && there(key)) {
                return Ok(());
            }
            Clock::breathe();
        }
        Err(Trouble::Engine(format!("{node} has not expired a key that was due at {} ms", self.now())))
    }

    /// Under warp the first look of a run sets the epoch: the server's own clock.
    pub(super) async fn begin(&self) -> Result<(), Trouble> {
        let masters: Vec<String> =
            self.servers.names().iter().filter(|name| self.is_up_master(name)).cloned().collect();
        self.connect_all(&masters)?;
        for (i, node) in masters.iter().enumerate() {
            if i == 0 {
                let observer = self.servers.observer(node)?;
                let time: (i64, i64) = redis::from_redis_value(observer.look(&redis::cmd("TIME"))?)
                    .map_err(|error| Trouble::Environment(error.to_string()))?;
                self.keys.borrow_mut().epoch = time.0 * 1000 + time.1 / 1000;
                self.clock.begin_now();
            }
        }
        self.look_each(&masters.iter().map(String::as_str).collect::<Vec<_>>(), true)?;
        for master in &masters {
            for (replica, _) in self.replicas_of(master) {
                self.servers.barrier(&replica).await?;
            }
        }
        Ok(())
    }

    /// A node's place among the others has changed: whatever was known of its clock is void.
    pub(super) fn set_role(&self, node: &str, role: Role, follows: Option<String>) {
        self.clock.forget(node);
        self.forget_acks(node);
        if let Some(run) = self.nodes.borrow_mut().get_mut(node) {
            if role == Role::Master {
                run.since = self.next_message();
            }
            run.role = role;
            run.follows = follows;
        }
    }
}

/// What was evicted, and what the command itself has done.
fn part_evicted(changes: Vec<Change>, heard: &[(String, String)]) -> (Vec<Change>, Vec<Change>) {
    let was_evicted = |key: &str| heard.iter().any(|(event, name)| event == "evicted" && name == key);
    let (mut evicted, mut own) = (Vec::new(), Vec::new());
    for change in changes {
        if !was_evicted(&change.key) {
            own.push(change);
            continue;
        }
        evicted.push(Change { key: change.key.clone(), op: KeyOp::Removed, now: None });
        if change.now.is_some() {
            own.push(Change { op: KeyOp::Created, ..change });
        }
    }
    (evicted, own)
}

/// A reply as the trace keeps it.
pub(super) fn reply_of(value: Raw) -> Reply {
    match value {
        Raw::Nil => Reply::Nil,
        Raw::Int(n) => Reply::Int(n),
        Raw::Okay => Reply::Status("OK".to_owned()),
        Raw::SimpleString(text) => Reply::Status(text),
        Raw::BulkString(bytes) => Reply::Bulk(String::from_utf8_lossy(&bytes).into_owned()),
        Raw::Array(items) | Raw::Set(items) => Reply::List(items.into_iter().map(reply_of).collect()),
        Raw::Map(pairs) => {
            Reply::List(pairs.into_iter().flat_map(|(key, value)| [reply_of(key), reply_of(value)]).collect())
        }
        Raw::Boolean(yes) => Reply::Int(i64::from(yes)),
        Raw::Double(n) => Reply::Bulk(n.to_string()),
        Raw::VerbatimString { text, .. } => Reply::Bulk(text),
        Raw::Attribute { data, .. } => reply_of(*data),
        Raw::ServerError(error) => {
            let text = error
                .details()
                .map_or_else(|| error.code().to_owned(), |details| format!("{} {details}", error.code()));
            Reply::Error(text)
        }
        other => Reply::Bulk(format!("{other:?}")),
    }
}
