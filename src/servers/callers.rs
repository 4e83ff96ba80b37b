//! Those who come from outside: the connections of a lesson's clients, and what Sentinels tell whoever listens.

use super::acl;
use super::connection::{Conn, Dialled, Door, Subscriber};
use super::error::{ConnectError, ServersError};
use super::fleet::Servers;
use super::sentinel::{Sentinel, SentinelNews};

impl Servers {
    /// Opens a lesson client's own connection, as the lesson's user, with the client's name.
    ///
    /// # Errors
    /// [`ConnectError::Refused`] when the node is down.
    pub fn connect(&self, node: &str, name: &str) -> Result<Conn, ConnectError> {
        self.dial(node, name)?.enter().map_err(|error| self.not_let_in(node, &error))
    }

    /// The same for several, each a node and a client's name; the servers let them in at the same time.
    #[must_use]
    pub fn connect_each(&self, whom: &[(&str, &str)]) -> Vec<Result<Conn, ConnectError>> {
        let dialled: Vec<_> = whom.iter().map(|(node, name)| self.dial(node, name)).collect();
        let entered = whom
            .iter()
            .zip(dialled)
            .map(|((node, _), dialled)| dialled?.enter().map_err(|error| self.not_let_in(node, &error)));
        entered.collect()
    }

    fn dial(&self, node: &str, name: &str) -> Result<Dialled, ConnectError> {
        let unknown = || ConnectError::Unknown(format!("node {node}"));
        let set = self.set.as_ref().ok_or_else(unknown)?;
        let password = set.lesson().password.clone();
        let door = if let Some((_, sentinel)) = set.sentinel(node) {
            sentinel.door_of_lesson(&password)
        } else {
            let index = set.index(node).map_err(|_| unknown())?;
            Door { socket: set.nodes[index].socket(), password }
        };
        Dialled::dial(&door, acl::LESSON, name).map_err(|error| self.not_let_in(node, &error))
    }

    fn not_let_in(&self, node: &str, error: &redis::RedisError) -> ConnectError {
        let sentinel = self.sentinel(node).map(|(_, sentinel)| sentinel.is_up());
        let is_up = sentinel.unwrap_or_else(|| self.is_up(node).unwrap_or(false));
        if is_up && !error.is_connection_refusal() {
            ConnectError::Failed { node: node.to_owned(), why: error.to_string() }
        } else {
            ConnectError::Refused(node.to_owned())
        }
    }

    /// Opens a connection on which a lesson client hears what is published on `channel`.
    ///
    /// # Errors
    /// There is no such node, or it cannot be reached.
    pub fn listen(&self, node: &str, name: &str, channel: &str) -> Result<Subscriber, ConnectError> {
        let (set, index) = self.at(node).map_err(|_| ConnectError::Unknown(format!("node {node}")))?;
        Subscriber::open(&set.nodes[index].door, name, channel)
            .map_err(|error| ConnectError::Failed { node: node.to_owned(), why: error.to_string() })
    }

    /// Waits until the node has forgotten a connection that was dropped (see [`Conn::id`]).
    ///
    /// # Errors
    /// The node is down, or the connection stays.
    pub async fn closed(&self, node: &str, id: i64) -> Result<(), ServersError> {
        let (set, index) = self.at(node)?;
        set.closed(index, id).await
    }

    /// The Sentinels' names: none, or `s1`, `s2`, `s3`.
    #[must_use]
    pub fn sentinels(&self) -> Vec<String> {
        self.set.iter().flat_map(|set| &set.watch.sentinels).map(|sentinel| sentinel.name.clone()).collect()
    }

    pub(super) fn sentinel(&self, name: &str) -> Option<(usize, &Sentinel)> {
        self.set.as_ref()?.sentinel(name)
    }

    /// The next that any Sentinel says. Never, where there is none.
    pub async fn hear(&self) -> SentinelNews {
        match &self.set {
            Some(set) => set.hear().await,
            None => std::future::pending().await,
        }
    }

    /// Takes over what a Sentinel has made of a node: its role, its master. True: it is something else now than it was
    /// (see [`Servers::role`]).
    ///
    /// # Errors
    /// There is no such node, or it does not sync with its new master.
    pub async fn adopt(&self, node: &str) -> Result<bool, ServersError> {
        let (set, index) = self.at(node)?;
        set.adopt(index).await
    }

    /// Parts a Sentinel from a node or from another Sentinel: what is open between them is closed, and nothing new is
    /// answered. Or brings them together again.
    pub fn part(&self, one: &str, other: &str, apart: bool) {
        if let Some(set) = &self.set {
            set.part(one, other, apart);
        }
    }

    /// Who is found at a port that a Sentinel has named.
    #[must_use]
    pub fn name_at(&self, port: u16) -> Option<String> {
        self.set.as_ref()?.name_at(port)
    }
}
