//! The same command on several nodes, at once or one after another.
//!
//! At once: all requests leave at the same instant, and whoever waits does so for all of them together. A node that does
//! not answer within its own, short time is given up, and what comes later from it is not read.

use std::collections::BTreeMap;

use super::execute::Done;
use super::slot::{Tag, WakeAt};
use super::wire::{Answer, Ctx, Message};
use super::world::{Trouble, World};
use crate::lesson::{Net, ServersKind};
use crate::trace::{LinkState, Reply, What};

/// In which order the nodes are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    /// All of them at the same instant.
    AtOnce,
    /// The next one when the last has answered, or had its time.
    OneByOne,
}

impl World {
    /// How long a client waits for one node of a quorum, ms.
    fn node_timeout(&self) -> u64 {
        match self.plan.servers.kind {
            ServersKind::Quorum { node_timeout, .. } => node_timeout.ms(),
            _ => 0,
        }
    }
}

impl Ctx {
    /// Sends `argv` to each of `nodes`; one answer per node. The client's library repeats what was not answered, to each
    /// node by itself. A fault on the action's own messages hits all that are sent first.
    pub(super) async fn ask(&self, nodes: &[String], argv: &[String], asking: Asking) -> Result<Vec<Answer>, Trouble> {
        let net = self.net.take();
        if asking == Asking::AtOnce {
            return self.ask_at_once(nodes, argv, net).await;
        }
        let mut answers = Vec::new();
        for node in nodes {
            answers.extend(self.ask_at_once(std::slice::from_ref(node), argv, net).await?);
        }
        Ok(answers)
    }

    async fn ask_at_once(&self, nodes: &[String], argv: &[String], net: Option<Net>) -> Result<Vec<Answer>, Trouble> {
        let mut answers = self.round(nodes, argv, net).await?;
        for _ in 0..self.world.plan.clients[self.client].resend {
            let silent: Vec<usize> = (0..nodes.len()).filter(|i| answers[*i] == Answer::Unknown).collect();
            let again: Vec<String> = silent.iter().map(|i| nodes[*i].clone()).collect();
            for (i, answer) in silent.into_iter().zip(self.round(&again, argv, None).await?) {
                answers[i] = answer;
            }
        }
        Ok(answers)
    }

    async fn round(&self, nodes: &[String], argv: &[String], net: Option<Net>) -> Result<Vec<Answer>, Trouble> {
        let world = &self.world;
        let messages: Vec<Message> = nodes
            .iter()
            .map(|node| Message { late: None, ..self.send(node.clone(), argv.to_vec(), None, net) })
            .collect();
        let arrives: Vec<&Message> =
            messages.iter().filter(|message| world.passage(message) == LinkState::Open).collect();
        let cmds: Vec<u32> = arrives.iter().map(|message| message.cmd).collect();
        let mut done: BTreeMap<u32, Done> = cmds.into_iter().zip(world.execute_each(&arrives).await?).collect();
        let mut answers = vec![Answer::Unknown; nodes.len()];
        let mut pending = Vec::new();
        for (i, mut message) in messages.into_iter().enumerate() {
            let cmd = message.cmd;
            match done.remove(&cmd) {
                None => {}
                Some(Done::Reply(reply)) => {
                    message.reply = Some(Ok(reply.clone()));
                    if world.passage(&message) == LinkState::Open {
                        world.record(What::Read { cmd });
                        answers[i] = Answer::Reply(reply);
                        continue;
                    }
                }
                Some(Done::Nobody | Done::Waits) => {
                    world.record(What::Refused { cmd });
                    answers[i] = Answer::Refused;
                    continue;
                }
            }
            pending.push(Pending { place: i, cmd, id: world.put_on_the_way(message) });
        }
        self.wait_for(pending, &mut answers).await;
        Ok(answers)
    }

    /// Waits until all that are pending have answered, or their time is over.
    async fn wait_for(&self, mut pending: Vec<Pending>, answers: &mut [Answer]) {
        let world = &self.world;
        let deadline = world.now() + world.node_timeout();
        if !pending.is_empty() {
            world.slots.borrow_mut()[self.slot].excused = true;
        }
        while !pending.is_empty() {
            let wake = WakeAt { t: deadline, class: self.class, order: self.order, tag: Tag::Timeout, moves: false };
            let tag = world.park(self.slot, vec![wake]).await;
            pending.retain(|one| {
                let Some(reply) = world.take_answer(one.id, deadline) else { return true };
                answers[one.place] = if let Ok(reply) = reply {
                    world.record(What::Read { cmd: one.cmd });
                    Answer::Reply(reply)
                } else {
                    world.record(What::Refused { cmd: one.cmd });
                    Answer::Refused
                };
                false
            });
            // After a pause both can be long ago.
            if tag == Tag::Timeout || world.now() > deadline {
                for one in pending.drain(..) {
                    world.nobody_waits_for(one.id);
                    world.record(What::Timeout { cmd: one.cmd });
                }
            }
        }
    }
}

/// A command of a round that was not answered at once.
struct Pending {
    place: usize,
    cmd: u32,
    id: u64,
}

impl World {
    /// What has come in answer to message `id` by lesson time `deadline`.
    fn take_answer(&self, id: u64, deadline: u64) -> Option<Result<Reply, ()>> {
        let mut messages = self.messages.borrow_mut();
        let came = messages.get(&id).is_some_and(|message| message.delivered.is_some_and(|t| t <= deadline));
        if came { messages.remove(&id)?.reply } else { None }
    }

    fn nobody_waits_for(&self, id: u64) {
        let mut messages = self.messages.borrow_mut();
        if messages.get(&id).is_some_and(|message| message.delivered.is_some()) {
            messages.remove(&id);
        } else if let Some(message) = messages.get_mut(&id) {
            message.waiter = None;
        }
    }
}
