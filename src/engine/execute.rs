//! What happens to a command at the server: it is executed, and what it did to the keys is written down.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use super::blocked::{Begun, Waits, waits_for};
use super::lifetimes::{Lifetimes, is_script};
use super::look::Seen;
use super::notify::is_subscribe;
use super::server::reply_of;
use super::wire::Message;
use super::world::{Trouble, World};
use crate::lesson::{Do, Subject};
use crate::servers::{Broken, Conn, ConnectError};
use crate::trace::{Cause, Reply, What};

/// A script that runs longer than this, in *real* time, is ended: nobody else is served meanwhile. The server calls it
/// busy after 200 ms (`busy-reply-threshold`), so the lesson has its error within a second.
const SCRIPT_LIMIT: Duration = Duration::from_millis(300);

/// What has become of a request at its node.
pub(super) enum Done {
    /// Nobody is there.
    Nobody,
    /// It was executed.
    Reply(Reply),
    /// The server keeps it waiting.
    Waits,
}

impl World {
    /// Executes a request on its node: the command itself, then what it did to the keys, then what waited for that.
    /// `own`: on its client's own connection.
    pub(super) async fn execute(
        self: &Rc<Self>,
        conn: Option<&Rc<Conn>>,
        message: &Message,
        own: bool,
    ) -> Result<Done, Trouble> {
        if let Some(request) = &message.sql {
            return Ok(Done::Reply(self.execute_sql(message, request)?));
        }
        let node = &message.node;
        let (Some(conn), true) = (conn, self.is_up(node)) else { return Ok(Done::Nobody) };
        if is_subscribe(&message.argv) {
            return Ok(self.subscribe(message)?.map_or(Done::Nobody, Done::Reply));
        }
        if self.sentinel_is_up(node).is_some() {
            return Ok(match conn.ask(&message.argv).and_then(|()| conn.answer()) {
                Ok(value) => Done::Reply(self.sentinel_answered(message, reply_of(value))),
                Err(_) => Done::Nobody,
            });
        }
        self.freeze(node).await?;
        let answer = if waits_for(&message.argv) == Waits::Never {
            // A Sentinel throws out everybody when it changes a node's role.
            if conn.ask(&message.argv).is_err() && self.is_watched() {
                return Ok(Done::Nobody);
            }
            match self.reply(conn, message).await? {
                Some(Ok(reply)) => reply,
                Some(Err(died)) => return Ok(Done::Reply(died)),
                None => return Ok(Done::Nobody),
            }
        } else {
            match self.begin_waiting(conn, message).await? {
                Begun::Answered(answer) => reply_of(answer),
                Begun::Waits => return Ok(Done::Waits),
            }
        };
        let reply = self.executed(message, answer, own).await?;
        self.serve_blocked().await?;
        Ok(Done::Reply(reply))
    }

    /// Executes requests to different nodes at the same time, on their client's own connections. Commands that are answered
    /// at once only.
    pub(super) async fn execute_each(self: &Rc<Self>, messages: &[&Message]) -> Result<Vec<Done>, Trouble> {
        let up: Vec<&&Message> = messages.iter().filter(|message| self.is_up(&message.node)).collect();
        let nodes: Vec<&str> = up.iter().map(|message| message.node.as_str()).collect();
        self.freeze_each(&nodes).await?;
        let mut conns = Vec::with_capacity(messages.len());
        for message in messages {
            let conn = self.conn(message.client, &message.node)?;
            conn.iter().try_for_each(|conn| conn.ask(&message.argv))?;
            conns.push(conn);
        }
        let mut answers = Vec::with_capacity(messages.len());
        for (message, conn) in messages.iter().zip(&conns) {
            answers.push(match conn {
                Some(conn) => self.reply(conn, message).await?,
                None => None,
            });
        }
        let answered = |node: &&str| self.is_up(node);
        let nodes: Vec<&str> = nodes.into_iter().filter(answered).collect();
        let mut seen: BTreeMap<&str, Seen> = nodes.iter().copied().zip(self.look_each(&nodes, false)?).collect();
        let mut done = Vec::with_capacity(messages.len());
        for (message, answer) in messages.iter().zip(answers) {
            done.push(match answer {
                None => Done::Nobody,
                Some(Err(died)) => Done::Reply(died),
                Some(Ok(reply)) => {
                    let seen = seen.remove(message.node.as_str());
                    Done::Reply(self.executed_and_seen(message, reply, true, seen).await?)
                }
            });
        }
        self.serve_blocked().await?;
        Ok(done)
    }

    /// Waits for the reply to a command that was sent, of a script not for ever. `Err`: its script never ended, and the
    /// server is dead. None: the connection had been closed.
    async fn reply(&self, conn: &Conn, message: &Message) -> Result<Option<Result<Reply, Reply>>, Trouble> {
        let node = &message.node;
        let broken = |error: Broken| Trouble::Environment(format!("{node}: {error}"));
        let scripted = is_script(&message.argv);
        let answer = if scripted { conn.answer_within(SCRIPT_LIMIT) } else { conn.answer().map(Some) };
        let answer = match answer {
            Ok(None) => {
                self.servers.end_script(node).await?;
                conn.answer()
            }
            Ok(Some(answer)) => Ok(answer),
            Err(error) => Err(error),
        };
        match answer {
            // It was killed for a script that had ended: what was slow was the machine.
            Ok(_) if scripted && !self.servers.is_up(node)? => Err(Trouble::Slip),
            Ok(value) => Ok(Some(Ok(reply_of(value)))),
            // How the connection broke differs from run to run, and is nobody's business.
            Err(_) if scripted && !self.servers.is_up(node)? => {
                let text = "ERR the script did not end and could not be stopped: the server was killed";
                let reply = Reply::Error(text.to_owned());
                self.record(What::Exec { cmd: message.cmd, reply: reply.clone() });
                self.node_died(node);
                Ok(Some(Err(reply)))
            }
            // A Sentinel throws out everybody when it changes a node's role.
            Err(_) if self.is_watched() => Ok(None),
            Err(error) => Err(broken(error)),
        }
    }

    /// A command has been executed: writes down its reply, and what it did to the keys.
    pub(super) async fn executed(&self, message: &Message, reply: Reply, own: bool) -> Result<Reply, Trouble> {
        self.executed_and_seen(message, reply, own, None).await
    }

    /// The same, where the look at its node was taken already.
    async fn executed_and_seen(
        &self,
        message: &Message,
        reply: Reply,
        own: bool,
        seen: Option<Seen>,
    ) -> Result<Reply, Trouble> {
        let node = &message.node;
        let queued = if own { self.transaction(message, &reply) } else { Vec::new() };
        let lifetimes = Lifetimes::of(&message.argv, &reply, &queued);
        let reply = self.exact_ttl(message, &queued, &lifetimes, reply);
        let reply = self.exact_count(message, reply).await?;
        self.record(What::Exec { cmd: message.cmd, reply: reply.clone() });
        let client = self.client_name(message.client).to_owned();
        let cause = Cause::Command { cmd: message.cmd, client: client.clone() };
        let seen = match seen {
            Some(seen) => seen,
            None => self.look(node, false)?,
        };
        if self.observed(node, seen, cause, Some(&client), lifetimes).await? {
            self.note_write(message.client, node).await?;
        }
        self.hear(message)?;
        Ok(reply)
    }

    /// Keeps count of a client's transaction. Answers what has been executed, if this was its end.
    fn transaction(&self, message: &Message, reply: &Reply) -> Vec<Vec<String>> {
        let queued = &mut self.clients.borrow_mut()[message.client].queued;
        let name = message.argv.first().map(|name| name.to_ascii_uppercase()).unwrap_or_default();
        match (name.as_str(), reply) {
            ("MULTI", Reply::Status(_)) => _ = queued.insert(message.node.clone(), Vec::new()),
            ("EXEC" | "DISCARD", _) => return queued.remove(&message.node).unwrap_or_default(),
            (_, Reply::Status(text)) if text == "QUEUED" => {
                queued.entry(message.node.clone()).or_default().push(message.argv.clone());
            }
            _ => {}
        }
        Vec::new()
    }

    /// A client's own connection to a node. None: refused.
    pub(super) fn conn(&self, client: usize, node: &str) -> Result<Option<Rc<Conn>>, Trouble> {
        if !self.is_up(node) {
            return Ok(None);
        }
        if let Some(conn) = self.clients.borrow()[client].conns.get(node) {
            return Ok(Some(Rc::clone(conn)));
        }
        self.connected(client, node, self.servers.connect(node, self.client_name(client)))
    }

    fn connected(
        &self,
        client: usize,
        node: &str,
        conn: Result<Conn, ConnectError>,
    ) -> Result<Option<Rc<Conn>>, Trouble> {
        match conn {
            Ok(conn) => {
                let conn = Rc::new(conn);
                self.clients.borrow_mut()[client].conns.insert(node.to_owned(), Rc::clone(&conn));
                Ok(Some(conn))
            }
            Err(ConnectError::Refused(_)) => Ok(None),
            Err(error) => Err(Trouble::Environment(error.to_string())),
        }
    }

    /// Opens the connections of all clients that will need one, at the same time: one after another, each would cost the
    /// run a round trip.
    pub(super) fn connect_all(&self, masters: &[String]) -> Result<(), Trouble> {
        if self.is_watched() {
            return Ok(()); // they do not know yet where to connect to
        }
        let asks = |name: &str| {
            self.plan.events.iter().any(|event| {
                matches!(&event.subject, Subject::Client { client, .. } if client == name)
                    && matches!(event.what, Do::Acquire(_) | Do::Renew(_) | Do::Release(_) | Do::Redis(_))
            })
        };
        let clients: Vec<usize> =
            (0..self.plan.clients.len()).filter(|client| asks(self.client_name(*client))).collect();
        let whom: Vec<(usize, &str)> =
            clients.into_iter().flat_map(|client| masters.iter().map(move |node| (client, node.as_str()))).collect();
        let names: Vec<(&str, &str)> = whom.iter().map(|(client, node)| (*node, self.client_name(*client))).collect();
        for ((client, node), conn) in whom.iter().zip(self.servers.connect_each(&names)) {
            self.connected(*client, node, conn)?;
        }
        Ok(())
    }

    /// Forgets every connection to a node that has died.
    pub(super) fn drop_conns(&self, node: &str) {
        for client in self.clients.borrow_mut().iter_mut() {
            if client.conns.remove(node).is_some() || client.master == node {
                client.asked = false;
            }
            client.queued.remove(node);
        }
    }
}
