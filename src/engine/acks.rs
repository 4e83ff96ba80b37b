//! `WAIT`: what replicas have, and when their master knows it.
//!
//! A replica says how far it has come when its master asks (`REPLCONF GETACK`), and `WAIT` makes it ask. That question is
//! in the stream like any write: a slow link brings it later, a held one not at all. The answers come back at once, but in
//! *real* time; so before anything is concluded, the master must have those that are certainly on their way.
//!
//! A lesson can hold or slow the way back alone. Then a replica has a write, and its master does not know it: what the
//! replica had before is known, and each question's answer is kept, or arrives so much later.

use std::collections::BTreeMap;

use super::agenda::Class;
use super::links::state_of;
use super::wire::Message;
use super::world::{Due, Trouble, World};
use crate::lesson::{AcquireHow, Do, LinkChange, ReleaseHow, RenewHow, Run};
use crate::trace::{LinkState, Reply, What};

/// Whether a command waits for replicas.
pub(super) fn is_wait(argv: &[String]) -> bool {
    argv.first().is_some_and(|name| name.eq_ignore_ascii_case("WAIT"))
}

/// Who has written how far, and what replicas were asked.
#[derive(Debug, Default)]
pub(super) struct Acks {
    /// By client and node: the offset of the last write. A `WAIT` is about that.
    written: BTreeMap<(usize, String), i64>,
    /// Questions that were sent. They are asked once, and heard by all that wait.
    questions: Vec<Question>,
}

#[derive(Debug)]
struct Question {
    node: String,
    /// How far its master's stream was, right before it.
    offset: i64,
    /// The `WAIT` that asks, and whether it asks for the first time.
    cmd: u32,
    first: bool,
}

/// A replica's way back to its master.
#[derive(Clone, Debug)]
pub(super) struct WayBack {
    state: LinkState,
    /// Answers that wait in it.
    unheard: u64,
    /// On a slow one: answers up to this offset are under way.
    under_way: i64,
    /// As it was last recorded: its master, its state, the answers in it. None: as the way there is.
    shown: Option<(String, LinkState, u64)>,
}

impl Default for WayBack {
    fn default() -> Self {
        Self { state: LinkState::Open, unheard: 0, under_way: i64::MIN, shown: None }
    }
}

impl WayBack {
    /// What the master sends is let through or slowed from now on: then a connection that was cut is there again.
    pub(super) fn follows(&mut self, there: LinkState) {
        if self.state == LinkState::Cut && matches!(there, LinkState::Open | LinkState::Slow { .. }) {
            self.state = LinkState::Open;
        }
    }
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

    /// Before a `WAIT` is sent. Replicas say what they have each *real* second, too, and whether that is before the `WAIT`
    /// or after it must not matter: its master knows it by now.
    pub(super) async fn note_wait(&self, message: &Message) -> Result<(), Trouble> {
        if is_wait(&message.argv) && self.is_up_master(&message.node) {
            self.servers.tell_all(&message.node).await?;
            let offset = self.servers.offset(&message.node).await?;
            let mut acks = self.acks.borrow_mut();
            let first = acks.questions.iter().all(|question| question.cmd != message.cmd);
            acks.questions.push(Question { node: message.node.clone(), offset, cmd: message.cmd, first });
        }
        Ok(())
    }

    /// A `WAIT` was answered at once. If its master knew enough already, it has not asked.
    pub(super) async fn wait_answered(&self, message: &Message) -> Result<(), Trouble> {
        if is_wait(&message.argv) && self.is_up_master(&message.node) {
            let offset = self.servers.offset(&message.node).await?;
            let unasked = |question: &Question| question.cmd == message.cmd && question.offset == offset;
            self.acks.borrow_mut().questions.retain(|question| !unasked(question));
        }
        Ok(())
    }

    /// A node's replication stream has ended; another one begins at another offset.
    pub(super) fn forget_acks(&self, node: &str) {
        let mut acks = self.acks.borrow_mut();
        acks.questions.retain(|question| question.node != node);
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
        let asked: Vec<i64> = {
            let acks = self.acks.borrow();
            acks.questions.iter().filter(|question| question.node == master).map(|question| question.offset).collect()
        };
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
        for (replica, _) in self.replicas_of(master) {
            self.acks_leave(&replica).await?;
        }
        Ok(())
    }

    /// A `WAIT` that is over says how many replicas have the write at this instant, and may say so. (Redis counts those
    /// that have said so already, and of two that say it at once it may have heard one.)
    pub(super) async fn exact_count(&self, message: &Message, reply: Reply) -> Result<Reply, Trouble> {
        if !is_wait(&message.argv) || !matches!(reply, Reply::Int(_)) || !self.is_up_master(&message.node) {
            return Ok(reply);
        }
        let written = self.acks.borrow().written.get(&(message.client, message.node.clone())).copied();
        let have = self.servers.replicas_with(&message.node, written.unwrap_or(0)).await?;
        Ok(Reply::Int(i64::try_from(have).unwrap_or(i64::MAX)))
    }
}

impl World {
    /// Something happens to the way on which a replica says what it has.
    pub(super) async fn change_acks(&self, replica: &str, change: LinkChange) -> Result<(), Trouble> {
        let state = state_of(change);
        if !matches!(state, LinkState::Slow { .. }) {
            self.agenda.borrow_mut().remove_where(|due| matches!(due, Due::Acks { replica: r, .. } if r == replica));
        }
        match state {
            LinkState::Held | LinkState::Slow { .. } => self.servers.keep_acks(replica).await?,
            // With a link that is cut, the way back is gone, too.
            LinkState::Open | LinkState::Cut => self.servers.open_acks(replica).await?,
        }
        if let Some(run) = self.nodes.borrow_mut().get_mut(replica) {
            run.way_back.state = state;
            if !matches!(state, LinkState::Slow { .. }) {
                run.way_back.under_way = i64::MIN;
            }
            if matches!(state, LinkState::Open | LinkState::Cut) {
                run.way_back.unheard = 0;
            }
        }
        Ok(())
    }

    /// A replica may have got a question: on a slow way back its answer begins its way, on a held one it waits.
    pub(super) async fn acks_leave(&self, replica: &str) -> Result<(), Trouble> {
        let (master, way_back) = match self.nodes.borrow().get(replica) {
            Some(run) if run.up => (run.follows.clone().unwrap_or_default(), run.way_back.clone()),
            _ => return Ok(()),
        };
        let Some(known) = self.servers.acks_kept_after(replica)? else { return Ok(()) };
        let applied = self.servers.applied(replica).await?.unwrap_or(known);
        let (unheard, last) = {
            let acks = self.acks.borrow();
            let got = |question: &&Question| {
                question.node == master && (known < question.offset && question.offset < applied)
            };
            let got: Vec<&Question> = acks.questions.iter().filter(got).collect();
            (got.iter().filter(|question| question.first).count(), got.iter().map(|question| question.offset).max())
        };
        if let (LinkState::Slow { by }, Some(upto)) = (way_back.state, last)
            && upto > way_back.under_way
        {
            let earlier = |due: &Due| matches!(due, Due::Acks { replica: r, .. } if r == replica);
            let t = self.agenda.borrow().last_time(earlier).unwrap_or(0).max(self.now() + by.ms());
            let acks = Due::Acks { replica: replica.to_owned(), upto };
            self.schedule(t, Class::Request, self.next_message(), acks);
            if let Some(run) = self.nodes.borrow_mut().get_mut(replica) {
                run.way_back.under_way = upto;
            }
        }
        self.count_unheard(replica, unheard as u64);
        Ok(())
    }

    /// What a replica has acknowledged is at its master, with whatever else comes at this instant: all of it is there
    /// before a `WAIT` is answered.
    pub(super) async fn acks_arrive(&self, replica: &str, upto: i64) -> Result<(), Trouble> {
        let others = self.agenda.borrow_mut().take_at(self.now(), |due| matches!(due, Due::Acks { .. }));
        let mut come = vec![(replica.to_owned(), upto)];
        come.extend(others.into_iter().filter_map(|due| match due {
            Due::Acks { replica, upto } => Some((replica, upto)),
            _ => None,
        }));
        for (replica, upto) in come {
            self.servers.acks_arrive(&replica, upto).await?;
            self.acks_leave(&replica).await?;
        }
        Ok(())
    }

    /// Nothing that a replica has said is under way any more.
    pub(super) fn nothing_unheard(&self, replica: &str) {
        if let Some(run) = self.nodes.borrow_mut().get_mut(replica) {
            run.way_back.under_way = i64::MIN;
        }
        self.count_unheard(replica, 0);
    }

    fn count_unheard(&self, replica: &str, unheard: u64) {
        let changed = {
            let mut nodes = self.nodes.borrow_mut();
            nodes.get_mut(replica).is_some_and(|run| std::mem::replace(&mut run.way_back.unheard, unheard) != unheard)
        };
        if changed {
            self.record_way_back(replica);
        }
    }

    /// Records what the way back lets pass, where that is not what the way there does: one line of a link is enough.
    pub(super) fn record_way_back(&self, replica: &str) {
        let record = {
            let mut nodes = self.nodes.borrow_mut();
            let Some(run) = nodes.get_mut(replica) else { return };
            let WayBack { state, unheard, .. } = run.way_back;
            let differs = state != LinkState::Open && state != run.link;
            let now = run.follows.clone().filter(|_| differs).map(|master| (master, state, unheard));
            let before = std::mem::replace(&mut run.way_back.shown, now.clone());
            if now == before { None } else { now.or(before.map(|(master, ..)| (master, LinkState::Open, 0))) }
        };
        if let Some((b, state, held)) = record {
            self.record(What::Link { a: replica.to_owned(), b, state, held });
        }
    }
}

fn runs_wait(how: &AcquireHow) -> bool {
    matches!(how, AcquireHow::Run(run) if has_wait(run))
}

fn has_wait(run: &Run) -> bool {
    run.commands.iter().any(|command| is_wait(&command.words))
}
