//! Servers on demand: started once, reused by lesson after lesson.

use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::binary::Binary;
use super::connection::Observer;
use super::error::ServersError;
use super::folder::RunFolder;
use super::node::{Mode, Role};
use super::set::{ScriptEnd, Set};
use super::{CrashKind, Setup};

/// Sets that wait for their next lesson. An idle server is cheap, but not free.
const POOL: usize = 4;
/// Renewing takes milliseconds. A set that needs longer (a script may still run in it) is given up for a new one.
const RENEWAL: Duration = Duration::from_secs(2);

type Pool = RefCell<Vec<Set>>;

/// Private servers of this process. All of it, and what it gives out, belongs to one tokio runtime.
#[derive(Debug)]
pub struct Fleet {
    binary: Binary,
    run: OnceCell<Arc<RunFolder>>,
    pool: Rc<Pool>,
}

impl Fleet {
    /// A fleet that has no server yet.
    #[must_use]
    pub fn new(binary: Binary) -> Self {
        Self { binary, run: OnceCell::new(), pool: Rc::default() }
    }

    /// The program that its servers run.
    #[must_use]
    pub fn binary(&self) -> &Binary {
        &self.binary
    }

    /// Servers as after a fresh start, for one lesson: empty, roles and links as the setup says, only the lesson's keys
    /// within reach. Reuses servers of the same setup that were given back.
    ///
    /// # Errors
    /// When a server cannot be started or does not do what it should.
    pub async fn prepare(&self, setup: &Setup) -> Result<Servers, ServersError> {
        let used = {
            let mut pool = self.pool.borrow_mut();
            let fits = |set: &Set| set.shape == setup.shape && set.persistence == setup.persistence;
            pool.iter().rposition(fits).map(|place| pool.remove(place))
        };
        if let Some(mut set) = used
            && !set.is_spent().await
            && let Ok(Ok(())) = timeout(RENEWAL, set.renew(setup)).await
        {
            return Ok(self.give_out(set));
        }
        let mut set = Set::new(self.run()?, &self.binary, setup)?;
        set.renew(setup).await?;
        Ok(self.give_out(set))
    }

    fn run(&self) -> Result<&Arc<RunFolder>, ServersError> {
        if let Some(run) = self.run.get() {
            return Ok(run);
        }
        let run = RunFolder::shared()?;
        Ok(self.run.get_or_init(|| run))
    }

    /// The folder that holds everything the fleet's servers write, once there is one.
    #[must_use]
    pub fn folder(&self) -> Option<&std::path::Path> {
        self.run.get().map(|run| run.path())
    }

    fn give_out(&self, set: Set) -> Servers {
        Servers { set: Some(set), pool: Rc::downgrade(&self.pool), run: self.run.get().cloned() }
    }
}

/// What a node is to the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeRole {
    /// Takes writes.
    Master,
    /// Follows the node of this name.
    ReplicaOf(String),
}

/// The servers of one lesson. Dropping them gives them back to their fleet.
///
/// Nodes are called by name, and keep it whatever their role: `redis`, or `m`, `r1`, `r2` …. A replication link is
/// called by its replica.
#[derive(Debug)]
pub struct Servers {
    /// Empty only while it is dropped.
    pub(super) set: Option<Set>,
    pool: Weak<Pool>,
    run: Option<Arc<RunFolder>>,
}

impl Drop for Servers {
    fn drop(&mut self) {
        // Without a fleet the set is dropped here, and its processes with it.
        if let (Some(set), Some(pool)) = (self.set.take(), self.pool.upgrade()) {
            set.stop_sentinels();
            let mut pool = pool.borrow_mut();
            pool.push(set);
            if pool.len() > POOL {
                pool.remove(0);
            }
        }
    }
}

impl Servers {
    pub(super) fn at(&self, name: &str) -> Result<(&Set, usize), ServersError> {
        let set = self.set.as_ref().ok_or_else(|| ServersError::Unknown(format!("node {name}")))?;
        Ok((set, set.index(name)?))
    }

    /// The nodes' names, the first master first.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.set.iter().flat_map(|set| &set.nodes).map(|node| node.name.clone()).collect()
    }

    /// A new, empty folder beside those of the servers; it goes when theirs do.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn subfolder(&self) -> Result<PathBuf, ServersError> {
        let run = self.run.as_ref().ok_or_else(|| ServersError::Unknown("folder".to_owned()))?;
        run.subfolder()
    }

    /// Whether the node's process runs.
    ///
    /// # Errors
    /// There is no such node.
    pub fn is_up(&self, node: &str) -> Result<bool, ServersError> {
        if let Some((_, sentinel)) = self.sentinel(node) {
            return Ok(sentinel.is_up());
        }
        let (set, index) = self.at(node)?;
        Ok(set.nodes[index].is_up())
    }

    /// The node's part. Of a node that is down: the part it will take when it comes back.
    ///
    /// # Errors
    /// There is no such node.
    pub fn role(&self, node: &str) -> Result<NodeRole, ServersError> {
        let (set, index) = self.at(node)?;
        Ok(match set.nodes[index].role.get() {
            Role::Master => NodeRole::Master,
            Role::ReplicaOf(master) => NodeRole::ReplicaOf(set.nodes[master].name.clone()),
        })
    }

    /// The engine's own connection to a node. After a restart of the node it is another one.
    ///
    /// # Errors
    /// There is no such node, or it is down.
    pub fn observer(&self, node: &str) -> Result<Rc<Observer>, ServersError> {
        let (set, index) = self.at(node)?;
        set.nodes[index].observer()
    }

    /// A client that opens further connections as the engine's user (for `MONITOR`, or to look from outside).
    ///
    /// # Errors
    /// There is no such node.
    pub fn admin(&self, node: &str) -> Result<redis::Client, ServersError> {
        let (set, index) = self.at(node)?;
        set.nodes[index].admin()
    }

    /// kill -9. When this returns, the process is gone; open replication links have delivered all that it wrote, what is
    /// under way on slow ones will arrive, what is in held ones is lost. A node that is down stays down.
    ///
    /// # Errors
    /// When it cannot be made sure that everything has left the node.
    pub async fn crash(&self, node: &str, kind: CrashKind) -> Result<(), ServersError> {
        if let Some((_, sentinel)) = self.sentinel(node) {
            sentinel.kill();
            return Ok(());
        }
        let (set, index) = self.at(node)?;
        set.crash(index, kind).await
    }

    /// From now on everything that the node has written so far survives a power failure.
    ///
    /// # Errors
    /// The node is down, or does not write.
    pub async fn flush_to_disk(&self, node: &str) -> Result<(), ServersError> {
        let (set, index) = self.at(node)?;
        set.flush_to_disk(index).await
    }

    /// Whether every node is there and answers.
    #[must_use]
    pub fn answer(&self) -> bool {
        let names = self.names();
        let asked: Vec<_> = names.iter().map(|name| (name.as_str(), redis::cmd("PING"))).collect();
        self.look_each(&asked, false).is_ok()
    }

    /// Asks several nodes at the same time, each one command of the engine's own, and waits for all replies; an error of
    /// the server is a reply. `writes`: the lesson's settings must not refuse it.
    ///
    /// # Errors
    /// A node is down.
    pub fn look_each(&self, asked: &[(&str, redis::Cmd)], writes: bool) -> Result<Vec<redis::Value>, ServersError> {
        let asked = asked.iter().map(|(node, command)| Ok((self.at(node)?.1, command)));
        let asked: Vec<(usize, &redis::Cmd)> = asked.collect::<Result<_, ServersError>>()?;
        self.set.as_ref().map_or_else(|| Ok(Vec::new()), |set| set.look_each(&asked, writes))
    }

    /// Starts a node that is down, with what persistence has kept, in the part that it has by now (see
    /// [`Servers::role`]). Its replicas come back to it, unless their links are held or cut.
    ///
    /// # Errors
    /// When it does not start, or does not sync.
    pub async fn restart(&self, node: &str) -> Result<(), ServersError> {
        if let (Some(set), Some((number, _))) = (&self.set, self.sentinel(node)) {
            return set.restart_sentinel(number).await;
        }
        let (set, index) = self.at(node)?;
        set.restart(index).await
    }

    /// Makes a replica a master, with what has arrived; the other replicas follow it, through open links.
    ///
    /// # Errors
    /// The node is down, or another does not sync with it.
    pub async fn promote(&self, node: &str) -> Result<(), ServersError> {
        let (set, index) = self.at(node)?;
        set.promote(index).await
    }

    /// Makes a node a replica of `master` through an open link, and waits until it has synced: what it alone had is
    /// gone.
    ///
    /// # Errors
    /// One of the two is down, or `master` is not one.
    pub async fn demote(&self, node: &str, master: &str) -> Result<(), ServersError> {
        let (set, index) = self.at(node)?;
        set.demote(index, set.index(master)?).await
    }

    /// Removes all keys of a master and, through open links, of its replicas.
    ///
    /// # Errors
    /// The node is down, or a replica.
    pub async fn flush(&self, node: &str) -> Result<(), ServersError> {
        let (set, index) = self.at(node)?;
        set.flush(index).await
    }

    /// Ends a script that runs for ever: within a second, one way or the other.
    ///
    /// # Errors
    /// The node is down.
    pub async fn end_script(&self, node: &str) -> Result<ScriptEnd, ServersError> {
        let (set, index) = self.at(node)?;
        set.end_script(index).await
    }

    /// The watermark of all that the replica's master has written up to now (in bytes of the link): wait for it with
    /// [`Servers::arrive`].
    ///
    /// # Errors
    /// There is no such link, or it is stuck.
    pub async fn mark(&self, replica: &str) -> Result<u64, ServersError> {
        let (set, index) = self.at(replica)?;
        set.mark(index).await
    }

    /// How far the master has written its replication stream, bytes.
    ///
    /// # Errors
    /// The node is down, or no master.
    pub async fn offset(&self, master: &str) -> Result<i64, ServersError> {
        let (set, index) = self.at(master)?;
        set.offset(index).await
    }

    /// Waits until the replica has applied all that may pass its link.
    ///
    /// # Errors
    /// There is no such link, or it is stuck.
    pub async fn barrier(&self, replica: &str) -> Result<(), ServersError> {
        let (set, index) = self.at(replica)?;
        set.barrier(index).await
    }

    /// From now on what the master sends stays in the link, and dies with the master.
    ///
    /// # Errors
    /// There is no such link, or it is stuck.
    pub async fn hold(&self, replica: &str) -> Result<(), ServersError> {
        let (set, index) = self.at(replica)?;
        set.close_to(index, Mode::Held).await
    }

    /// From now on what the master sends is under way until [`Servers::arrive`] says that it arrives; it survives the
    /// master's death.
    ///
    /// # Errors
    /// There is no such link, or it is stuck.
    pub async fn slow(&self, replica: &str) -> Result<(), ServersError> {
        let (set, index) = self.at(replica)?;
        set.close_to(index, Mode::Slow).await
    }

    /// On a slow link, what was sent up to the watermark arrives, and has been applied when this returns. On any other
    /// link nothing happens.
    ///
    /// # Errors
    /// There is no such link, or it is stuck.
    pub async fn arrive(&self, replica: &str, watermark: u64) -> Result<(), ServersError> {
        let (set, index) = self.at(replica)?;
        set.arrive(index, watermark).await
    }

    /// Closes the link at both ends. Nothing passes, nothing is kept.
    ///
    /// # Errors
    /// There is no such link.
    pub async fn cut(&self, replica: &str) -> Result<(), ServersError> {
        let (set, index) = self.at(replica)?;
        set.cut(index).await
    }

    /// Lets what the master sends pass again. What was held or under way arrives at once and in order; after a cut the replica syncs
    /// anew. When this returns, the replica has everything.
    ///
    /// # Errors
    /// There is no such link, or it is stuck.
    pub async fn heal(&self, replica: &str) -> Result<(), ServersError> {
        let (set, index) = self.at(replica)?;
        set.heal(index).await
    }

    /// How many bytes are in the link: what the replica would miss if its master died now.
    ///
    /// # Errors
    /// There is no such link.
    pub fn held_bytes(&self, replica: &str) -> Result<u64, ServersError> {
        let (set, index) = self.at(replica)?;
        let relay = set.nodes[index].relay();
        relay
            .map(|relay| relay.progress().kept)
            .ok_or_else(|| ServersError::Unknown(format!("replication link to {replica}")))
    }
}
