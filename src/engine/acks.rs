//! `WAIT`: what replicas have, and when their master knows it.
//!
//! A replica says how far it has come when its master asks (`REPLCONF GETACK`), and `WAIT` makes it ask. That question is
//! in the stream like any write: a slow link brings it later, a held one not at all. The answers come back at once, but in
//! *real* time; so before anything is concluded, the master must have those that are certainly on their way.

use std::collections::BTreeMap;

use super::wire::Message;
use super::world::{Trouble, World};
use crate::lesson::{AcquireHow, Do, ReleaseHow, RenewHow, Run};
use crate::trace::{LinkState, Reply};

/// Whether a command waits for replicas.
pub(super) fn is_wait(argv: &[String]) -> bool {
    argv.first().is_some_and(|name| name.eq_ignore_ascii_case("WAIT"))
}

/// Who has written how far, and what replicas were asked.
#[derive(Debug, Default)]
pub(super) struct Acks {
    /// By client and node: the offset of the last write. A `WAIT` is about that.
    written: BTreeMap<(usize, String), i64>,
    /// Questions that were sent, by node: the offset right before each. They are asked once, and heard by all that wait.
    questions: Vec<(String, i64)>,
}

impl World {
    /// Whether anybody in this lesson waits for replicas.
    fn counts_replicas(&self) -> bool {
        self.plan.events.iter().any(|event| match &event.what {
            Do::Acquire(acquire) => acquire.wait_replicas.is_some() || runs_wait(&acquire.how),
            Do::Redis(run) => has_wait(run),
            Do::Release(release) => matches!(&release.how, ReleaseHow::Run(run) if has_wait(run)),
            Do::Renew(renew) => matches!(&renew.how, RenewHow::Run(run) if has_wait(run)),
            _ => false,
        })
    }

    /// A client has written something on a master.
    pub(super) async fn note_write(&self, client: usize, node: &str) -> Result<(), Trouble> {
        if self.counts_replicas() && self.is_up_master(node) {
            let offset = self.servers.offset(node).await?;
            self.acks.borrow_mut().written.insert((client, node.to_owned()), offset);
        }
        Ok(())
    }

    /// Before a `WAIT` is sent.
    pub(super) async fn note_wait(&self, message: &Message) -> Result<(), Trouble> {
        if is_wait(&message.argv) && self.is_up_master(&message.node) {
            let offset = self.servers.offset(&message.node).await?;
            self.acks.borrow_mut().questions.push((message.node.clone(), offset));
        }
        Ok(())
    }

    /// A node's replication stream has ended; another one begins at another offset.
    pub(super) fn forget_acks(&self, node: &str) {
        let mut acks = self.acks.borrow_mut();
        acks.questions.retain(|(name, _)| name != node);
        acks.written.retain(|(_, name), _| name != node);
    }

    /// A `WAIT` is kept waiting: its master's question is on its way to the replicas.
    pub(super) async fn ask_replicas(&self, message: &Message) -> Result<(), Trouble> {
        if !is_wait(&message.argv) {
            return Ok(());
        }
        for (replica, link) in self.replicas_of(&message.node) {
            if let LinkState::Slow { by } = link {
                self.send_bytes(&replica, by.ms(), 0).await?;
            }
        }
        self.hear_replicas(&message.node).await
    }

    /// Waits until the master has the answers of all replicas that its questions have reached.
    pub(super) async fn hear_replicas(&self, master: &str) -> Result<(), Trouble> {
        let asked: Vec<i64> =
            self.acks.borrow().questions.iter().filter(|(node, _)| node == master).map(|(_, offset)| *offset).collect();
        if asked.is_empty() || !self.is_up_master(master) {
            return Ok(());
        }
        for (replica, link) in self.replicas_of(master) {
            if link == LinkState::Open {
                self.servers.barrier(&replica).await?;
            }
        }
        for offset in asked {
            self.servers.acknowledged(master, offset).await?;
        }
        Ok(())
    }

    /// A `WAIT` that is over says how many replicas have the write at this instant. (Redis counts those that have said so
    /// already, and of two that say it at once it may have heard one.)
    pub(super) async fn exact_count(&self, message: &Message, reply: Reply) -> Result<Reply, Trouble> {
        if !is_wait(&message.argv) || !matches!(reply, Reply::Int(_)) || !self.is_up_master(&message.node) {
            return Ok(reply);
        }
        let written = self.acks.borrow().written.get(&(message.client, message.node.clone())).copied();
        let have = self.servers.replicas_with(&message.node, written.unwrap_or(0)).await?;
        Ok(Reply::Int(i64::try_from(have).unwrap_or(i64::MAX)))
    }
}

fn runs_wait(how: &AcquireHow) -> bool {
    matches!(how, AcquireHow::Run(run) if has_wait(run))
}

fn has_wait(run: &Run) -> bool {
    run.commands.iter().any(|command| is_wait(&command.words))
}
