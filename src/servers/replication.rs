//! Who follows whom, through which link, and how far it has come.
//!
//! Every wait here is a barrier on something that certainly comes: an offset, an end. The only sleeps are between two
//! looks while Redis syncs, which takes milliseconds.

use std::sync::Arc;

use redis::Value;
use tokio::time::{sleep, timeout};

use super::Persistence;
use super::acks::acknowledgements;
use super::error::ServersError;
use super::node::{Base, LOOK_AGAIN, Mode, Node, PATIENCE, Role, info_says};
use super::relay::{OPEN, Relay};
use super::set::Set;
use super::voice::EVERYTHING;

impl Set {
    /// The nodes that follow `master` and are up.
    pub(super) fn followers(&self, master: usize) -> Vec<usize> {
        let follows = |node: &Node| node.is_up() && node.role.get() == Role::ReplicaOf(master);
        self.nodes.iter().enumerate().filter(|(_, node)| follows(node)).map(|(index, _)| index).collect()
    }

    /// Makes `replica` follow `master` through a new, open link, and waits until it has everything. Whatever was in the
    /// old link is lost.
    pub(super) async fn attach(&self, replica: usize, master: usize) -> Result<(), ServersError> {
        self.nodes[master].observer()?;
        let old = self.link(replica, master).await?;
        drop(old);
        self.wait_synced(replica, master).await
    }

    /// Waits until a replica has everything, and notes where its link stands then.
    pub(super) async fn wait_synced(&self, replica: usize, master: usize) -> Result<(), ServersError> {
        let node = &self.nodes[replica];
        let synced = timeout(PATIENCE, self.synced(node, &self.nodes[master])).await;
        let base = synced.unwrap_or_else(|_| {
            Err(ServersError::Stuck(format!("{} has synced with {}", node.name, self.nodes[master].name)))
        })?;
        node.base.set(base);
        Ok(())
    }

    /// [`Set::attach`], where the master is still not told what its replica gets, if it was not.
    async fn attach_anew(&self, replica: usize, master: usize) -> Result<(), ServersError> {
        let keeps = self.nodes[replica].acks.get() != EVERYTHING;
        self.attach(replica, master).await?;
        if keeps { self.keep_acks(replica).await } else { Ok(()) }
    }

    /// [`Set::attach`] for a link that the lesson has shaped: a cut or held one stays as it is, without a connection,
    /// until it is healed; a slow one is slow again.
    pub(super) async fn attach_as_before(&self, replica: usize, master: usize) -> Result<(), ServersError> {
        match self.nodes[replica].mode.get() {
            Mode::Open => self.attach_anew(replica, master).await,
            Mode::Slow => {
                self.attach_anew(replica, master).await?;
                self.close_to(replica, Mode::Slow).await
            }
            mode @ (Mode::Held | Mode::Cut) => {
                self.follow_nobody(replica, master).await?;
                self.nodes[replica].mode.set(mode);
                Ok(())
            }
        }
    }

    /// Makes a node a replica that cannot reach its master.
    pub(super) async fn follow_nobody(&self, replica: usize, master: usize) -> Result<(), ServersError> {
        let (mode, acks) = (self.nodes[replica].mode.get(), self.nodes[replica].acks.get());
        let old = self.link(replica, master).await?;
        drop(old);
        if let Some(relay) = self.nodes[replica].relay() {
            relay.cut().await;
        }
        self.nodes[replica].mode.set(mode);
        self.nodes[replica].acks.set(acks);
        Ok(())
    }

    /// A new relay and `REPLICAOF`. The old relay is handed back: its port must stay taken until the replica knows the
    /// new one.
    async fn link(&self, replica: usize, master: usize) -> Result<Option<Arc<Relay>>, ServersError> {
        let node = &self.nodes[replica];
        let counted = node.relay().map_or(0, |relay| relay.progress().read);
        let mut pipeline = redis::pipe();
        let relay = if let Some(front) = &self.nodes[master].front {
            // The master has one address for all. Redis takes the same address again for a wish that is fulfilled already,
            // so its replica is a master in between, which nobody sees.
            pipeline.cmd("MULTI").cmd("REPLICAOF").arg("NO").arg("ONE");
            pipeline.cmd("REPLICAOF").arg("127.0.0.1").arg(front.port()).cmd("EXEC");
            front.new_link(&node.name, counted)
        } else {
            let relay = Relay::start(self.nodes[master].socket(), counted)
                .await
                .map_err(|source| ServersError::io("open a port for the replication link", source))?;
            // A new port each time, for the same reason.
            pipeline.cmd("REPLICAOF").arg("127.0.0.1").arg(relay.port());
            Arc::new(relay)
        };
        let old = node.relay.replace(Some(relay));
        node.role.set(Role::ReplicaOf(master));
        node.open_link();
        let replies = node.observer()?.pipeline(&pipeline).await.map_err(ServersError::lost(&node.name))?;
        match replies.iter().find_map(|reply| if let Value::ServerError(error) = reply { Some(error) } else { None }) {
            Some(error) => Err(node.refused("REPLICAOF", &error.to_string())),
            None => Ok(old),
        }
    }

    /// Waits until the replica is connected and has all that its master has written.
    async fn synced(&self, replica: &Node, master: &Node) -> Result<Base, ServersError> {
        while replica_offset(replica).await?.is_none() {
            sleep(LOOK_AGAIN).await;
        }
        let relay = replica.relay().ok_or_else(|| no_link(replica))?;
        let base = loop {
            // The same offset on both sides, with nothing written meanwhile: then the relay's count belongs to it.
            let before = master_offset(master).await?;
            let there = replica_offset(replica).await?;
            let bytes = relay.progress().read;
            if Some(before) == there && master_offset(master).await? == before {
                break Base { offset: before, bytes, connections: relay.progress().connections };
            }
            if relay.progress().ended && master.front.is_none() {
                return Err(ServersError::Stuck(format!("{} stays connected", replica.name)));
            }
        };
        if self.persistence != Persistence::None {
            // After a full sync a replica writes its log anew; a crash before that is done would lose everything.
            let mut info = redis::cmd("INFO");
            info.arg("persistence");
            loop {
                let said = replica.ask(&info).await?;
                let idle = |field| info_says(&said, field, "0");
                if idle("aof_rewrite_in_progress") && idle("aof_rewrite_scheduled") && idle("aof_buffer_length") {
                    break;
                }
                sleep(LOOK_AGAIN).await;
            }
        }
        Ok(base)
    }

    /// Cuts the node loose: from here on it is a master, with what it has.
    pub(super) async fn make_master(&self, index: usize) -> Result<(), ServersError> {
        let node = &self.nodes[index];
        node.observer()?;
        if let Some(relay) = node.relay() {
            relay.cut().await;
        }
        let mut command = redis::cmd("REPLICAOF");
        command.arg("NO").arg("ONE");
        node.ask(&command).await?;
        node.role.set(Role::Master);
        node.open_link();
        node.relay.replace(None);
        Ok(())
    }

    /// Promotes a replica; the others that followed its old master follow it from now on, each through an open link. The
    /// old master, if it is up, goes on as a master of its own until it is demoted; if it is down, it will come back as a
    /// replica of the new one.
    pub(super) async fn promote(&self, index: usize) -> Result<(), ServersError> {
        let Role::ReplicaOf(old) = self.nodes[index].role.get() else { return Ok(()) };
        if self.nodes[index].mode.get() == Mode::Open {
            self.barrier(index).await?;
        }
        self.make_master(index).await?;
        for (other, node) in self.nodes.iter().enumerate() {
            if node.role.get() == Role::ReplicaOf(old) {
                if node.is_up() {
                    self.attach(other, index).await?;
                } else {
                    node.role.set(Role::ReplicaOf(index));
                    node.open_link();
                }
            }
        }
        let old = &self.nodes[old];
        if !old.is_up() {
            old.role.set(Role::ReplicaOf(index));
            old.open_link();
        }
        Ok(())
    }

    /// Makes `index` a replica of `master`; what it alone had is gone.
    pub(super) async fn demote(&self, index: usize, master: usize) -> Result<(), ServersError> {
        if index == master || self.nodes[master].role.get() != Role::Master {
            let (node, master) = (&self.nodes[index].name, &self.nodes[master].name);
            return Err(ServersError::Unknown(format!("master {master} for {node} to follow")));
        }
        self.attach(index, master).await
    }

    /// The relay's count that corresponds to all that the master has written: waits until the relay has read it. Of a
    /// master that is down, or behind a cut: what has come.
    pub(super) async fn mark(&self, replica: usize) -> Result<u64, ServersError> {
        let node = &self.nodes[replica];
        let Role::ReplicaOf(master) = node.role.get() else { return Err(no_link(node)) };
        let relay = node.relay().ok_or_else(|| no_link(node))?;
        let master = &self.nodes[master];
        if !master.is_up() || relay.progress().ended {
            return Ok(relay.progress().read);
        }
        if relay.progress().connections != node.base.get().connections && node.mode.get() == Mode::Open {
            // The replica has come back by itself; what was said at the beginning is not in the master's stream.
            self.wait_synced(replica, self.index(&master.name)?).await?;
        }
        let target = node.base.get().bytes_at(master_offset(master).await?);
        let read = timeout(PATIENCE, relay.until(|progress| progress.read >= target)).await;
        if read.is_err() || relay.progress().read < target {
            return Err(ServersError::Stuck(format!(
                "the link of {} has read all that {} wrote",
                node.name, master.name
            )));
        }
        Ok(target)
    }

    /// Waits until the replica has applied all that may pass its link.
    pub(super) async fn barrier(&self, replica: usize) -> Result<(), ServersError> {
        let node = &self.nodes[replica];
        let relay = node.relay().ok_or_else(|| no_link(node))?;
        if relay.progress().ended {
            return Ok(());
        }
        let target = match node.mode.get() {
            Mode::Cut => return Ok(()),
            Mode::Open => self.mark(replica).await?,
            Mode::Held | Mode::Slow => relay.limit().min(relay.progress().read),
        };
        let wanted = node.base.get().offset_at(target);
        let applied = async {
            while replica_offset(node).await?.is_none_or(|offset| offset < wanted) {
                // A link may end here by itself: its master was killed and it was open.
                if relay.progress().ended {
                    break;
                }
            }
            Ok(())
        };
        timeout(PATIENCE, applied)
            .await
            .unwrap_or_else(|_| Err(ServersError::Stuck(format!("{} has applied what it was sent", node.name))))
    }

    /// How far a master has written.
    pub(super) async fn offset(&self, master: usize) -> Result<i64, ServersError> {
        master_offset(&self.nodes[master]).await
    }

    /// Lets pass what has been sent so far, and nothing after it. A link that was cut and shall be slow is made anew first.
    pub(super) async fn close_to(&self, replica: usize, mode: Mode) -> Result<(), ServersError> {
        let node = &self.nodes[replica];
        let Role::ReplicaOf(master) = node.role.get() else { return Err(no_link(node)) };
        let relay = node.relay().ok_or_else(|| no_link(node))?;
        if mode == Mode::Slow && relay.progress().ended && node.is_up() && self.nodes[master].is_up() {
            self.attach_anew(replica, master).await?;
        }
        let relay = node.relay().ok_or_else(|| no_link(node))?;
        if node.mode.get() == Mode::Open {
            // Stopped first, then let go up to the mark: so not a byte of later slips through while it is asked for.
            relay.set_limit(relay.progress().read);
            let mark = self.mark(replica).await?;
            relay.set_limit(mark);
        }
        // A link that was cut has no connection until it is healed, and what would wait in it waits at the master.
        node.mode.set(mode);
        self.barrier(replica).await
    }

    /// On a slow link: what was sent up to `watermark` arrives now.
    pub(super) async fn arrive(&self, replica: usize, watermark: u64) -> Result<(), ServersError> {
        let node = &self.nodes[replica];
        let relay = node.relay().ok_or_else(|| no_link(node))?;
        if node.mode.get() == Mode::Slow {
            relay.set_limit(relay.limit().max(watermark));
            self.barrier(replica).await?;
        }
        Ok(())
    }

    /// Closes the link at both ends; what is in it is lost.
    pub(super) async fn cut(&self, replica: usize) -> Result<(), ServersError> {
        let node = &self.nodes[replica];
        node.relay().ok_or_else(|| no_link(node))?.cut().await;
        node.mode.set(Mode::Cut);
        self.missed_by_master(replica).await
    }

    /// Waits until the master of a replica that has gone has noticed it: settings may make it refuse writes from then on.
    pub(super) async fn missed_by_master(&self, replica: usize) -> Result<(), ServersError> {
        let Role::ReplicaOf(index) = self.nodes[replica].role.get() else { return Ok(()) };
        let master = &self.nodes[index];
        if !master.is_up() {
            return Ok(());
        }
        let linked = |other: &usize| self.nodes[*other].relay().is_some_and(|relay| !relay.progress().ended);
        let expected = self.followers(index).iter().filter(|other| linked(other)).count();
        let noticed = async {
            while acknowledgements(master).await?.len() > expected {
                sleep(LOOK_AGAIN).await;
            }
            Ok(())
        };
        timeout(PATIENCE, noticed).await.unwrap_or_else(|_| {
            let (master, node) = (&master.name, &self.nodes[replica].name);
            Err(ServersError::Stuck(format!("{master} has noticed that {node} is gone")))
        })
    }

    /// Ends whatever was done to what the master sends: what was kept arrives in order; a link that was cut is made anew.
    pub(super) async fn heal(&self, replica: usize) -> Result<(), ServersError> {
        let node = &self.nodes[replica];
        let Role::ReplicaOf(master) = node.role.get() else { return Err(no_link(node)) };
        let relay = node.relay().ok_or_else(|| no_link(node))?;
        node.mode.set(Mode::Open);
        if relay.progress().ended {
            // Whoever is down gets a link when it comes back.
            return if node.is_up() && self.nodes[master].is_up() {
                self.attach_anew(replica, master).await
            } else {
                Ok(())
            };
        }
        relay.set_limit(OPEN);
        self.barrier(replica).await
    }
}

pub(super) fn no_link(node: &Node) -> ServersError {
    ServersError::Unknown(format!("replication link to {}", node.name))
}

/// How far a replica has applied its master's stream; none while it is not connected.
pub(super) async fn replica_offset(node: &Node) -> Result<Option<i64>, ServersError> {
    let role = node.ask(&redis::cmd("ROLE")).await?;
    Ok(match &role {
        Value::Array(fields) => match fields.as_slice() {
            [_, _, _, Value::BulkString(state), Value::Int(offset), ..] if state == b"connected" => Some(*offset),
            _ => None,
        },
        _ => None,
    })
}

/// How far a master has written its stream.
async fn master_offset(node: &Node) -> Result<i64, ServersError> {
    let role = node.ask(&redis::cmd("ROLE")).await?;
    match &role {
        Value::Array(fields) if matches!(fields.get(1), Some(Value::Int(_))) => match fields.get(1) {
            Some(Value::Int(offset)) => Ok(*offset),
            _ => Ok(0),
        },
        _ => Err(node.refused("ROLE", "that it is not a master")),
    }
}
