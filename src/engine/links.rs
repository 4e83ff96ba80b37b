//! The ways between clients and nodes: what each lets pass, and what waits in it.

use std::collections::BTreeMap;

use super::wire::Message;
use super::world::World;
use crate::lesson::{LinkChange, Way};
use crate::trace::{LinkState, What};

/// The ways between clients and nodes that are not simply open.
#[derive(Debug, Default)]
pub(super) struct Links(BTreeMap<(usize, String), ClientLink>);

#[derive(Clone, Debug)]
struct ClientLink {
    request: LinkState,
    reply: LinkState,
    held: Vec<u64>,
}

impl Default for ClientLink {
    fn default() -> Self {
        Self { request: LinkState::Open, reply: LinkState::Open, held: Vec::new() }
    }
}

impl World {
    /// What a link lets pass of a message at this moment.
    pub(super) fn link_passage(&self, message: &Message) -> LinkState {
        let links = self.links.borrow();
        links
            .0
            .get(&(message.client, message.node.clone()))
            .map_or(LinkState::Open, |link| if message.reply.is_some() { link.reply } else { link.request })
    }

    /// Keeps a message in its link until that opens.
    pub(super) fn keep(&self, id: u64, message: Message) {
        let pair = (message.client, message.node.clone());
        self.links.borrow_mut().0.entry(pair.clone()).or_default().held.push(id);
        self.messages.borrow_mut().insert(id, message);
        self.record_link(&pair);
    }

    /// Something happens to the way between a client and a node.
    pub(super) fn change_link(&self, client: usize, node: &str, change: LinkChange, way: Way) {
        let pair = (client, node.to_owned());
        let state = state_of(change);
        let freed = {
            let mut links = self.links.borrow_mut();
            let link = links.0.entry(pair.clone()).or_default();
            if way != Way::Reply {
                link.request = state;
            }
            if way != Way::Request {
                link.reply = state;
            }
            if state == LinkState::Held { Vec::new() } else { std::mem::take(&mut link.held) }
        };
        for id in freed {
            let Some(message) = self.messages.borrow_mut().remove(&id) else { continue };
            match self.link_passage(&message) {
                LinkState::Held => self.links.borrow_mut().0.entry(pair.clone()).or_default().held.push(id),
                LinkState::Cut => {
                    self.drop_message(&message);
                    continue;
                }
                LinkState::Open => self.arrive_at(self.now(), id, &message),
                LinkState::Slow { by } => self.arrive_at(self.now() + by.ms(), id, &message),
            }
            self.messages.borrow_mut().insert(id, message);
        }
        self.record_link(&pair);
    }

    fn record_link(&self, pair: &(usize, String)) {
        let view = self.links.borrow().0.get(pair).cloned().unwrap_or_default();
        let state = if view.request == LinkState::Open { view.reply } else { view.request };
        let held = view.held.len() as u64;
        self.record(What::Link { a: self.client_name(pair.0).to_owned(), b: pair.1.clone(), state, held });
    }
}

/// What a link lets pass after a change.
pub(super) const fn state_of(change: LinkChange) -> LinkState {
    match change {
        LinkChange::Cut => LinkState::Cut,
        LinkChange::Hold => LinkState::Held,
        LinkChange::Slow { by } => LinkState::Slow { by },
        LinkChange::Heal => LinkState::Open,
    }
}
