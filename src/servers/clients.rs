//! How a lesson's clients get in, and how their servers forget them.

use super::acl;
use super::connection::{Conn, Dialled, Door, Subscriber};
use super::error::{ConnectError, ServersError};
use super::fleet::Servers;

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
        let (set, index) = self.at(node).map_err(|_| ConnectError::Unknown(format!("node {node}")))?;
        let door = Door { socket: set.nodes[index].socket(), password: set.lesson().password.clone() };
        Dialled::dial(&door, acl::LESSON, name).map_err(|error| self.not_let_in(node, &error))
    }

    fn not_let_in(&self, node: &str, error: &redis::RedisError) -> ConnectError {
        if self.is_up(node).unwrap_or(false) && !error.is_connection_refusal() {
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
}
