//! Commands that wait on the server (`BLPOP`, `WAIT`, …), in lesson time.
//!
//! They are sent exactly as shown, and the server itself keeps them waiting: `CLIENT LIST` shows flag `b` then, and the
//! client's task parks. Whatever happens on the node may answer them, so after everything that happens it is looked at
//! again. When their own time is up on the *lesson* clock, `CLIENT UNBLOCK … TIMEOUT` gives the very reply of a timeout.

use std::rc::Rc;
use std::time::Duration;

use redis::Value as Raw;

use super::acks::is_wait;
use super::agenda::Class;
use super::server::reply_of;
use super::wire::Message;
use super::world::{Due, Trouble, World};
use crate::servers::Conn;
use crate::trace::What;

/// How long a server may take, in *real* time, to answer a command or to say that it keeps it waiting.
const PATIENCE: Duration = Duration::from_secs(5);

/// Among what comes back at one instant, a server's timeouts are last: an answer at the last moment is in time.
const LAST: u64 = 1 << 40;

/// A command that a server keeps waiting.
pub(super) struct Blocked {
    pub(super) message: Message,
    /// A connection is busy as long as its command waits, and belongs to nobody else.
    conn: Rc<Conn>,
    /// Its client's own connection, which goes back to it.
    own: bool,
}

/// How a command that may wait has begun.
pub(super) enum Begun {
    /// There is an answer at once.
    Answered(Raw),
    /// The server keeps it waiting.
    Waits,
}

/// How long a command may wait on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// It is answered at once, as most are.
    Never,
    /// So many ms at most.
    AtMost(u64),
    /// As long as it takes.
    ForEver,
}

/// How long a command may wait on the server, as it says itself.
pub(super) fn waits_for(argv: &[String]) -> Waits {
    let name = argv.first().map(|name| name.to_ascii_uppercase()).unwrap_or_default();
    let ms = match name.as_str() {
        "WAIT" => argv.get(2).and_then(|ms| ms.parse::<u64>().ok()),
        "BLPOP" | "BRPOP" | "BLMOVE" | "BZPOPMIN" => argv.last().and_then(|seconds| ms_of(seconds)),
        _ => return Waits::Never,
    };
    ms.filter(|ms| *ms > 0).map_or(Waits::ForEver, Waits::AtMost)
}

/// Seconds as Redis reads a timeout (`1.5`), in ms, rounded up as Redis does: a wait is never shorter than it says.
fn ms_of(seconds: &str) -> Option<u64> {
    let seconds: f64 = seconds.parse().ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a timeout in ms; the cast saturates, and what is no timeout Redis refuses"
    )]
    let ms = (seconds * 1000.0).ceil() as u64;
    Some(ms)
}

/// Whether this reply is what the server gives when nothing came in time.
fn is_timeout(argv: &[String], reply: &Raw) -> bool {
    match (argv.first().map(|name| name.to_ascii_uppercase()).as_deref(), reply) {
        (Some("WAIT"), Raw::Int(acknowledged)) => {
            let wanted = argv.get(1).and_then(|n| n.parse::<i64>().ok()).unwrap_or(0);
            *acknowledged < wanted
        }
        (_, reply) => *reply == Raw::Nil,
    }
}

fn stuck(node: &str) -> Trouble {
    Trouble::Engine(format!("{node} has neither answered a command for {} s nor kept it waiting", PATIENCE.as_secs()))
}

impl World {
    /// Sends a command that may wait, until it is clear which it does. A server that says its time is up knows only *real*
    /// time, and on a busy machine that can be over before anybody has looked: then it is sent again.
    pub(super) async fn begin_waiting(&self, conn: &Rc<Conn>, message: &Message) -> Result<Begun, Trouble> {
        loop {
            match self.try_waiting(conn, message).await? {
                Begun::Answered(answer) if is_timeout(&message.argv, &answer) => {
                    self.keep_place(&message.node)?;
                }
                begun => return Ok(begun),
            }
        }
    }

    /// A command must be sent again. Where others wait on that node, too, its place among them is lost, and the run begins
    /// anew.
    fn keep_place(&self, node: &str) -> Result<(), Trouble> {
        let others = self.blocked.borrow().values().any(|other| other.message.node == node);
        if others { Err(Trouble::Slip) } else { Ok(()) }
    }

    async fn try_waiting(&self, conn: &Rc<Conn>, message: &Message) -> Result<Begun, Trouble> {
        let node = message.node.as_str();
        self.note_wait(message).await?;
        conn.ask(&message.argv)?;
        let clear = async {
            loop {
                let answer = conn.answer_within(Duration::ZERO)?;
                if answer.is_some() || self.is_kept(node, conn.id()).await? {
                    return Ok(answer);
                }
            }
        };
        let clear: Result<_, Trouble> = tokio::time::timeout(PATIENCE, clear).await.map_err(|_| stuck(node))?;
        if let Some(answer) = clear? {
            self.wait_answered(message).await?;
            return Ok(Begun::Answered(answer));
        }
        self.ask_replicas(message).await?;
        Ok(Begun::Waits)
    }

    /// Whether the server keeps a connection's command waiting (flag `b`, blocked).
    async fn is_kept(&self, node: &str, conn: i64) -> Result<bool, Trouble> {
        let listed = self.servers.observer(node)?.send(redis::cmd("CLIENT").arg("LIST").arg("ID").arg(conn)).await?;
        let list = match listed {
            Raw::BulkString(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Raw::VerbatimString { text, .. } | Raw::SimpleString(text) => text,
            _ => String::new(),
        };
        let flags = list.split(' ').find_map(|word| word.strip_prefix("flags="));
        Ok(flags.is_some_and(|flags| flags.contains('b')))
    }

    /// A command waits on the server from now on. Its client does not hold its connection meanwhile: whatever its other
    /// tasks send goes over another one, as from a pool.
    pub(super) async fn keep_waiting(
        &self,
        id: u64,
        message: Message,
        conn: Rc<Conn>,
        own: bool,
    ) -> Result<(), Trouble> {
        if self.clients.borrow()[message.client].crashed {
            return self.hang_up(&message.node, conn).await;
        }
        if own {
            self.clients.borrow_mut()[message.client].conns.remove(&message.node);
        }
        self.record(What::Waits { cmd: message.cmd, event: message.event });
        if let Waits::AtMost(ms) = waits_for(&message.argv) {
            self.schedule(self.now().saturating_add(ms), Class::Reply, LAST + id, Due::Unblock(id));
        }
        self.blocked.borrow_mut().insert(id, Blocked { message, conn, own });
        Ok(())
    }

    /// Closes a connection whose command waits, and lets the server forget it: what comes later is for the living.
    async fn hang_up(&self, node: &str, conn: Rc<Conn>) -> Result<(), Trouble> {
        let id = conn.id();
        drop(conn);
        if self.is_up(node) { Ok(self.servers.closed(node, id).await?) } else { Ok(()) }
    }

    /// Something has happened: commands that wait may have been answered by it, one perhaps by the answer to another.
    pub(super) async fn serve_blocked(self: &Rc<Self>) -> Result<(), Trouble> {
        loop {
            let waiting: Vec<u64> = self.blocked.borrow().keys().copied().collect();
            let mut served = false;
            for id in waiting {
                served |= self.serve_one(id).await?;
            }
            if !served {
                return Ok(());
            }
        }
    }

    /// True: it waits no longer.
    async fn serve_one(self: &Rc<Self>, id: u64) -> Result<bool, Trouble> {
        let Some(mut blocked) = self.blocked.borrow_mut().remove(&id) else { return Ok(false) };
        let node = blocked.message.node.clone();
        if !self.is_up(&node) {
            self.take_back_timeout(id);
            blocked.message.reply = Some(Err(()));
            self.go_back(id, blocked.message);
            return Ok(true);
        }
        if is_wait(&blocked.message.argv) {
            self.hear_replicas(&node).await?;
        }
        if self.is_kept(&node, blocked.conn.id()).await? {
            self.blocked.borrow_mut().insert(id, blocked);
            return Ok(false);
        }
        let answer = answer_of(&node, &blocked.conn)?;
        if is_timeout(&blocked.message.argv, &answer) {
            return self.wait_again(id, blocked).await;
        }
        self.answered(id, blocked, answer).await?;
        Ok(true)
    }

    /// The server's own timeout is real time, and has passed though that of the lesson has not: it waits on.
    async fn wait_again(self: &Rc<Self>, id: u64, blocked: Blocked) -> Result<bool, Trouble> {
        self.keep_place(&blocked.message.node)?;
        match self.begin_waiting(&blocked.conn, &blocked.message).await? {
            Begun::Waits => {
                self.blocked.borrow_mut().insert(id, blocked);
                Ok(false)
            }
            Begun::Answered(answer) => {
                self.answered(id, blocked, answer).await?;
                Ok(true)
            }
        }
    }

    /// A command has waited as long as it said.
    pub(super) async fn unblock(self: &Rc<Self>, id: u64) -> Result<(), Trouble> {
        let Some(blocked) = self.blocked.borrow_mut().remove(&id) else { return Ok(()) };
        let node = blocked.message.node.clone();
        self.freeze(&node).await?;
        if is_wait(&blocked.message.argv) {
            self.hear_replicas(&node).await?;
        }
        let mut unblock = redis::cmd("CLIENT");
        unblock.arg("UNBLOCK").arg(blocked.conn.id()).arg("TIMEOUT");
        self.servers.observer(&node)?.send(&unblock).await?;
        let answer = answer_of(&node, &blocked.conn)?;
        self.answered(id, blocked, answer).await
    }

    /// The server has answered: the connection is its client's again, and the answer goes back.
    async fn answered(self: &Rc<Self>, id: u64, blocked: Blocked, answer: Raw) -> Result<(), Trouble> {
        let Blocked { mut message, conn, own } = blocked;
        self.take_back_timeout(id);
        if own && !self.clients.borrow()[message.client].queued.contains_key(&message.node) {
            self.clients.borrow_mut()[message.client].conns.insert(message.node.clone(), conn);
        }
        let reply = self.executed(&message, reply_of(answer), own).await?;
        message.reply = Some(Ok(reply));
        self.go_back(id, message);
        Ok(())
    }

    fn take_back_timeout(&self, id: u64) {
        self.agenda.borrow_mut().remove_where(|due| matches!(due, Due::Unblock(other) if *other == id));
    }

    /// Ends what waits for a client (or one task of it) that has crashed. The server must have forgotten it before
    /// anything else happens: the dead take nothing.
    pub(super) async fn end_blocked(&self, client: usize, slots: Option<&[usize]>) -> Result<(), Trouble> {
        let hit: Vec<u64> = {
            let blocked = self.blocked.borrow();
            let ends = |blocked: &Blocked| {
                let waiter = blocked.message.waiter_slot();
                blocked.message.client == client
                    && slots.is_none_or(|slots| waiter.is_some_and(|slot| slots.contains(&slot)))
            };
            blocked.iter().filter(|(_, blocked)| ends(blocked)).map(|(id, _)| *id).collect()
        };
        for id in hit {
            self.take_back_timeout(id);
            let Some(Blocked { message, conn, .. }) = self.blocked.borrow_mut().remove(&id) else { continue };
            self.hang_up(&message.node, conn).await?;
        }
        Ok(())
    }
}

fn answer_of(node: &str, conn: &Conn) -> Result<Raw, Trouble> {
    conn.answer_within(PATIENCE)?.ok_or_else(|| stuck(node))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn knows_which_commands_wait_and_how_long() {
        for (line, waits) in [
            ("BLPOP a b 5", Waits::AtMost(5000)),
            ("brpop a 0", Waits::ForEver),
            ("BLMOVE a b LEFT RIGHT 0.0001", Waits::AtMost(1)),
            ("BZPOPMIN z 1.5", Waits::AtMost(1500)),
            ("WAIT 1 100", Waits::AtMost(100)),
            ("WAIT 1 0", Waits::ForEver),
            ("LPOP a", Waits::Never),
        ] {
            assert_eq!(waits_for(&words(line)), waits, "{line}");
        }
    }

    #[test]
    fn knows_the_reply_of_a_timeout() {
        assert!(is_timeout(&words("BLPOP a 5"), &Raw::Nil));
        assert!(!is_timeout(&words("BLPOP a 5"), &Raw::Array(Vec::new())));
        assert!(is_timeout(&words("WAIT 2 100"), &Raw::Int(1)));
        assert!(!is_timeout(&words("wait 2 100"), &Raw::Int(2)));
    }
}
