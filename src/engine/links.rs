//! The ways between clients, nodes and replicas: what each lets pass, what waits in it, and what a happening changes.

use std::collections::BTreeMap;

use super::acks::WayBack;
use super::wire::Message;
use super::world::{Due, Trouble, World};
use crate::lesson::{LinkChange, Way};
use crate::trace::{Cause, LinkState, What};

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

impl World {
    /// Something happens to the ways between each of `left` and each of `right`.
    pub(super) async fn change_links(
        &self,
        left: &[String],
        right: &[String],
        change: LinkChange,
        way: Way,
    ) -> Result<(), Trouble> {
        for a in left {
            for b in right {
                match (self.client_index(a), self.client_index(b)) {
                    (Some(client), None) => self.change_link(client, b, change, way),
                    (None, Some(client)) => self.change_link(client, a, change, way),
                    _ if self.change_watch(a, b, change) => {}
                    _ => {
                        self.follow_by_order(&[a, b]).await?;
                        let follows = |x: &str, y: &str| {
                            self.nodes.borrow().get(x).is_some_and(|run| run.follows.as_deref() == Some(y))
                        };
                        let replica = if follows(b, a) {
                            b
                        } else if follows(a, b) {
                            a
                        } else {
                            continue;
                        };
                        self.change_replication(replica, change, way).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What the master sends is changed first: what its replica gets by that, it says before anything is kept.
    async fn change_replication(&self, replica: &str, change: LinkChange, way: Way) -> Result<(), Trouble> {
        if way != Way::Reply {
            self.change_writes(replica, change).await?;
        }
        if way != Way::Request {
            self.change_acks(replica, change).await?;
        }
        self.acks_leave(replica).await?;
        self.record_way_back(replica);
        Ok(())
    }

    async fn change_writes(&self, replica: &str, change: LinkChange) -> Result<(), Trouble> {
        let state = state_of(change);
        let before = self.nodes.borrow().get(replica).map_or(LinkState::Open, |run| run.link);
        if !matches!(state, LinkState::Slow { .. }) {
            self.agenda.borrow_mut().remove_where(|due| matches!(due, Due::Bytes { replica: r, .. } if r == replica));
        }
        match state {
            LinkState::Held => self.servers.hold(replica).await?,
            LinkState::Slow { .. } => self.servers.slow(replica).await?,
            LinkState::Cut => self.servers.cut(replica).await?,
            LinkState::Open => self.servers.heal(replica).await?,
        }
        if let Some(run) = self.nodes.borrow_mut().get_mut(replica) {
            run.link = state;
            run.way_back.follows(state);
            if matches!(state, LinkState::Open | LinkState::Cut) {
                run.waiting = 0;
            }
        }
        self.record_replication_link(replica);
        match (before, state) {
            // What was kept begins its way now.
            (LinkState::Held, LinkState::Slow { by }) if self.is_up(replica) => {
                let waiting = self.nodes.borrow().get(replica).map_or(0, |run| run.waiting);
                self.send_bytes(replica, by.ms(), waiting).await?;
                self.arrived(replica, &Cause::Replication)?;
            }
            // A link that was cut is made anew for this, and brings what was missed.
            (_, LinkState::Open) | (LinkState::Cut, LinkState::Slow { .. }) if self.is_up(replica) => {
                self.arrived(replica, &Cause::Replication)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Bytes of a slow link are at the replica.
    pub(super) async fn bytes_arrive(&self, replica: &str, upto: u64, writes: u64) -> Result<(), Trouble> {
        self.servers.arrive(replica, upto).await?;
        let changed = {
            let mut nodes = self.nodes.borrow_mut();
            nodes.get_mut(replica).is_some_and(|run| {
                let waited = run.waiting.min(writes);
                run.waiting -= waited;
                waited > 0
            })
        };
        if changed {
            self.record_replication_link(replica);
        }
        self.acks_leave(replica).await?;
        self.arrived(replica, &Cause::Replication)
    }

    /// A replica's link has ended, or is another one from now on: what was under way is gone, and nothing is kept.
    pub(super) fn link_ends(&self, replica: &str) {
        let of_it =
            |due: &Due| matches!(due, Due::Bytes { replica: r, .. } | Due::Acks { replica: r, .. } if r == replica);
        self.agenda.borrow_mut().remove_where(of_it);
        if let Some(run) = self.nodes.borrow_mut().get_mut(replica) {
            run.link = LinkState::Open;
            run.waiting = 0;
            run.way_back = WayBack::default();
        }
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
