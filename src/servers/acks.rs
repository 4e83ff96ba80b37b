//! What replicas have, and what their masters know of it.
//!
//! A replica says how far it has come when it is asked, and each *real* second by itself. What a lesson keeps from a
//! master is therefore not this or that acknowledgement, but all that would tell it of more than an offset.

use redis::Value;
use tokio::time::timeout;

use super::error::ServersError;
use super::fleet::Servers;
use super::node::{Mode, Node, PATIENCE, Role};
use super::replication::{no_link, replica_offset};
use super::set::Set;
use super::voice::EVERYTHING;

impl Set {
    /// How many replicas have applied all up to `offset` of their master's stream, and may say so.
    pub(super) async fn replicas_with(&self, master: usize, offset: i64) -> Result<usize, ServersError> {
        self.count(master, offset, offset).await
    }

    /// The followers that have applied all up to `applied`, and may say that they have `said`.
    async fn count(&self, master: usize, applied: i64, said: i64) -> Result<usize, ServersError> {
        let mut have = 0;
        for replica in self.followers(master) {
            let node = &self.nodes[replica];
            let has = replica_offset(node).await?.is_some_and(|offset| offset >= applied);
            have += usize::from(has && node.acks.get() >= said);
        }
        Ok(have)
    }

    /// Waits until the master has heard from as many replicas that they have `offset` as have got more than that, and may
    /// say so.
    async fn acknowledged(&self, master: usize, offset: i64) -> Result<(), ServersError> {
        // What comes right after it is the question.
        let asked = self.count(master, offset + 1, offset).await?;
        let node = &self.nodes[master];
        let heard = async {
            while acknowledgements(node).await?.iter().filter(|said| **said >= offset).count() < asked {
                tokio::task::yield_now().await;
            }
            Ok(())
        };
        timeout(PATIENCE, heard).await.unwrap_or_else(|_| {
            Err(ServersError::Stuck(format!("{} has heard from {asked} replicas what they have", node.name)))
        })
    }

    /// From here on the master is told of nothing that is new; what its replica has now, it is told first.
    pub(super) async fn keep_acks(&self, replica: usize) -> Result<(), ServersError> {
        let node = &self.nodes[replica];
        if node.acks.get() != EVERYTHING {
            return Ok(());
        }
        if node.mode.get() == Mode::Open {
            self.barrier(replica).await?;
        }
        let connected = if node.is_up() { replica_offset(node).await? } else { None };
        let offset = connected.unwrap_or(0);
        self.limit_acks(replica, offset)?;
        self.tell(replica, offset).await
    }

    /// The master is told that its replica has come as far as `offset`.
    async fn acks_arrive(&self, replica: usize, offset: i64) -> Result<(), ServersError> {
        let limit = self.nodes[replica].acks.get();
        if limit < offset {
            self.limit_acks(replica, offset)?;
            self.tell(replica, offset).await?;
        }
        Ok(())
    }

    /// Nothing is kept from the master any more.
    pub(super) async fn open_acks(&self, replica: usize) -> Result<(), ServersError> {
        let node = &self.nodes[replica];
        if node.acks.get() == EVERYTHING {
            return Ok(());
        }
        self.limit_acks(replica, EVERYTHING)?;
        let applied = if node.is_up() { replica_offset(node).await? } else { None };
        self.tell(replica, applied.unwrap_or(0)).await
    }

    /// The master is told at once what all its replicas have that may say so.
    async fn tell_all(&self, master: usize) -> Result<(), ServersError> {
        for replica in self.followers(master) {
            let node = &self.nodes[replica];
            if node.acks.get() != EVERYTHING {
                continue;
            }
            if node.mode.get() == Mode::Open {
                self.barrier(replica).await?;
            }
            if let Some(applied) = replica_offset(node).await? {
                self.tell(replica, applied).await?;
            }
        }
        Ok(())
    }

    fn limit_acks(&self, replica: usize, offset: i64) -> Result<(), ServersError> {
        let node = &self.nodes[replica];
        node.relay().ok_or_else(|| no_link(node))?.set_acks(offset);
        node.acks.set(offset);
        Ok(())
    }

    /// Waits until the master has heard that its replica has `offset`, which it has.
    async fn tell(&self, replica: usize, offset: i64) -> Result<(), ServersError> {
        let node = &self.nodes[replica];
        let Role::ReplicaOf(master) = node.role.get() else { return Ok(()) };
        let (master, relay) = (&self.nodes[master], node.relay().ok_or_else(|| no_link(node))?);
        if !node.is_up() || !master.is_up() || relay.progress().ended {
            return Ok(());
        }
        // Asked by anybody, a replica tells its master; it says nothing to whoever has asked, so that one asks more.
        let mut ask = redis::cmd("REPLCONF");
        ask.arg("GETACK").arg("*");
        let observer = node.observer()?;
        let asked = observer.begin_look(&ask).and_then(|()| observer.look(&redis::cmd("PING")));
        asked.map_err(ServersError::lost(&node.name))?;
        let told = timeout(PATIENCE, relay.until(|progress| progress.told >= offset)).await;
        told.map_err(|_| ServersError::Stuck(format!("{} has said what it has", node.name)))?;
        // What was written to the master before it is asked, it has read when it answers.
        master.ask(&redis::cmd("PING")).await.map(drop)
    }
}

impl Servers {
    /// How many replicas have all that their master had written up to `offset`, and may say so.
    ///
    /// # Errors
    /// A node does not answer.
    pub async fn replicas_with(&self, master: &str, offset: i64) -> Result<usize, ServersError> {
        let (set, index) = self.at(master)?;
        set.replicas_with(index, offset).await
    }

    /// Waits until the master knows of each replica that has got more than what stands at `offset` that it has got that:
    /// of those that were asked (`WAIT`) right after it, and may say so.
    ///
    /// # Errors
    /// The node is down, or an answer does not come.
    pub async fn acknowledged(&self, master: &str, offset: i64) -> Result<(), ServersError> {
        let (set, index) = self.at(master)?;
        set.acknowledged(index, offset).await
    }

    /// The master knows now what its replicas have. By themselves they would tell it at some moment of the next *real*
    /// second, unless they may not say so.
    ///
    /// # Errors
    /// The node is down, or a link is stuck.
    pub async fn tell_all(&self, master: &str) -> Result<(), ServersError> {
        let (set, index) = self.at(master)?;
        set.tell_all(index).await
    }

    /// How far a replica has applied its master's stream; none while it is not connected.
    ///
    /// # Errors
    /// The node is down.
    pub async fn applied(&self, replica: &str) -> Result<Option<i64>, ServersError> {
        let (set, index) = self.at(replica)?;
        replica_offset(&set.nodes[index]).await
    }

    /// Up to which offset the replica's master may be told what it has; none: there is no limit.
    ///
    /// # Errors
    /// There is no such node.
    pub fn acks_kept_after(&self, replica: &str) -> Result<Option<i64>, ServersError> {
        let (set, index) = self.at(replica)?;
        Ok(Some(set.nodes[index].acks.get()).filter(|limit| *limit != EVERYTHING))
    }

    /// From now on the master is not told what its replica gets. It knows of all that the replica has by now.
    ///
    /// # Errors
    /// There is no such link, or it is stuck.
    pub async fn keep_acks(&self, replica: &str) -> Result<(), ServersError> {
        let (set, index) = self.at(replica)?;
        set.keep_acks(index).await
    }

    /// Where the master is not told: it is told now that its replica has what it wrote up to `offset`.
    ///
    /// # Errors
    /// There is no such link, or it is stuck.
    pub async fn acks_arrive(&self, replica: &str, offset: i64) -> Result<(), ServersError> {
        let (set, index) = self.at(replica)?;
        set.acks_arrive(index, offset).await
    }

    /// The master is told everything again, what was kept from it first.
    ///
    /// # Errors
    /// There is no such link, or it is stuck.
    pub async fn open_acks(&self, replica: &str) -> Result<(), ServersError> {
        let (set, index) = self.at(replica)?;
        set.open_acks(index).await
    }
}

/// How far a master's replicas have said that they are: one offset for each that is connected.
pub(super) async fn acknowledgements(node: &Node) -> Result<Vec<i64>, ServersError> {
    let Value::Array(fields) = node.ask(&redis::cmd("ROLE")).await? else { return Ok(Vec::new()) };
    let Some(Value::Array(replicas)) = fields.get(2) else { return Ok(Vec::new()) };
    // Address, port, offset.
    let said = replicas.iter().map(|replica| match replica {
        Value::Array(parts) => match parts.get(2) {
            Some(Value::BulkString(offset)) => String::from_utf8_lossy(offset).parse().unwrap_or(-1),
            _ => -1,
        },
        _ => -1,
    });
    Ok(said.collect())
}
