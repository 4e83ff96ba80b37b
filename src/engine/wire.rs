//! The way of a command to the server and back, with everything that can happen to it on the way.
//!
//! Lesson time does not pass for a command unless a link says so. Every fault is made here, by the engine itself, so it
//! always knows who waits for what: a request that is cut is not sent; a reply that is cut is awaited and dropped; what is
//! slow or held is a [`Message`], which arrives by the agenda.

use std::cell::Cell;
use std::rc::Rc;

use super::agenda::Class;
use super::blocked::{Waits, waits_for};
use super::database::Request;
use super::execute::Done;
use super::links::state_of;
use super::notify::News;
use super::slot::{Tag, WakeAt};
use super::world::{Due, Trouble, World};
use crate::lesson::{Net, Way};
use crate::servers::ConnectError;
use crate::trace::{DATABASE, LinkState, Reply, What};

/// What a client knows after a command.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// The server's reply.
    Reply(Reply),
    /// Nothing came in time.
    Unknown,
    /// The connection was refused or broke.
    Refused,
}

/// A request or a reply under way.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) client: usize,
    pub(super) node: String,
    pub(super) cmd: u32,
    pub(super) argv: Vec<String>,
    /// It goes to the database, and this is what it asks.
    pub(super) sql: Option<Rc<Request>>,
    /// The event that it is sent for.
    pub(super) event: Option<usize>,
    pub(super) net: Option<Net>,
    /// None: it is a request. Else what comes back; `Err`: the connection was refused.
    pub(super) reply: Option<Result<Reply, ()>>,
    /// When the reply came to a client that waited for it, ms.
    pub(super) delivered: Option<u64>,
    /// The task that waits; none: it has given up, or is no more.
    pub(super) waiter: Option<Waiter>,
    /// A watchdog that is armed by a reply nobody waits for any more.
    pub(super) late: Option<LateGrant>,
    /// It answers nothing: it is a message that command `cmd` has published.
    pub(super) news: Option<News>,
}

impl Message {
    /// The task that waits for the answer; none: it has given up.
    pub(super) fn waiter_slot(&self) -> Option<usize> {
        self.waiter.map(|waiter| waiter.slot)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) slot: usize,
    pub(super) class: Class,
    pub(super) order: u64,
}

/// What a late granting reply sets off (`arms_on: reply`).
#[derive(Clone, Copy, Debug)]
pub(super) struct LateGrant {
    /// The acquire.
    pub(super) event: usize,
    /// Its lock.
    pub(super) lock: usize,
}

/// What a program, watchdog or deadline acts with: who it is, and where it stands in the order of an instant.
pub(super) struct Ctx {
    pub(super) world: Rc<World>,
    pub(super) slot: usize,
    pub(super) client: usize,
    pub(super) task: String,
    pub(super) event: usize,
    pub(super) class: Class,
    pub(super) order: u64,
    /// The fault on the action's own messages, until its first command has met it.
    pub(super) net: Cell<Option<Net>>,
    pub(super) late: Cell<Option<LateGrant>>,
}

impl Ctx {
    /// Waits until lesson time `t`.
    pub(super) async fn sleep_until(&self, t: u64) {
        let wake = WakeAt { t, class: self.class, order: self.order, tag: Tag::Time, moves: false };
        self.world.park(self.slot, vec![wake]).await;
    }

    /// Waits so many ms.
    pub(super) async fn sleep(&self, ms: u64) {
        self.sleep_until(self.world.now().saturating_add(ms)).await;
    }

    /// Sends a command to the client's usual node and waits for the answer, as long as the client's timeout; repeats it if
    /// its library does.
    pub(super) async fn command(&self, argv: Vec<String>) -> Result<Answer, Trouble> {
        self.command_to(None, argv).await
    }

    /// The same with one of the author's own commands, which may name its node (`via`).
    pub(super) async fn own_command(&self, argv: Vec<String>) -> Result<Answer, Trouble> {
        let plan = Rc::clone(&self.world.plan);
        self.command_to(plan.events[self.event].via.as_ref().map(|via| via.value.as_str()), argv).await
    }

    async fn command_to(&self, via: Option<&str>, argv: Vec<String>) -> Result<Answer, Trouble> {
        let resend = self.world.plan.clients[self.client].resend;
        let mut net = self.net.take();
        for _ in 0..resend {
            match self.once(via, &argv, net.take()).await? {
                Answer::Unknown => {}
                answer => return Ok(answer),
            }
        }
        self.once(via, &argv, net).await
    }

    async fn once(&self, via: Option<&str>, argv: &[String], net: Option<Net>) -> Result<Answer, Trouble> {
        let node = match via {
            Some(node) => node.to_owned(),
            None => match self.master().await? {
                Some(node) => node,
                None => return Ok(Answer::Refused),
            },
        };
        self.exchange(self.send(node, argv.to_vec(), None, net)).await
    }

    /// Asks the database and waits for the answer, as long as the client's timeout.
    pub(super) async fn query(&self, request: Request) -> Result<Answer, Trouble> {
        let told = self.world.told(&request);
        let message = self.send(DATABASE.to_owned(), told, Some(Rc::new(request)), self.net.take());
        self.exchange(message).await
    }

    /// A message that leaves its client now.
    pub(super) fn send(&self, node: String, argv: Vec<String>, sql: Option<Rc<Request>>, net: Option<Net>) -> Message {
        let world = &self.world;
        let (cmd, event) = (world.next_cmd(), Some(self.event));
        world.record(What::Send {
            cmd,
            client: world.client_name(self.client).to_owned(),
            task: self.task.clone(),
            node: node.clone(),
            argv: argv.clone(),
            event,
        });
        Message {
            client: self.client,
            node,
            cmd,
            argv,
            sql,
            event,
            net,
            reply: None,
            delivered: None,
            waiter: Some(Waiter { slot: self.slot, class: self.class, order: self.order }),
            late: self.late.get(),
            news: None,
        }
    }

    /// Waits for what comes back.
    pub(super) async fn exchange(&self, mut message: Message) -> Result<Answer, Trouble> {
        let world = &self.world;
        let cmd = message.cmd;
        let to_data = message.sql.is_some();
        let mut kept = None;
        if world.passage(&message) == LinkState::Open {
            let conn = if to_data { None } else { world.conn(self.client, &message.node)? };
            match world.execute(conn.as_ref(), &message, true).await? {
                Done::Nobody => {
                    world.record(What::Refused { cmd });
                    world.thrown_out(self.client, &message.node);
                    return Ok(Answer::Refused);
                }
                Done::Waits => kept = conn,
                Done::Reply(reply) => {
                    message.reply = Some(Ok(reply.clone()));
                    if world.passage(&message) == LinkState::Open {
                        world.record(What::Read { cmd });
                        return Ok(Answer::Reply(reply));
                    }
                }
            }
        }
        world.slots.borrow_mut()[self.slot].excused = true;
        // A command that waits on the server says itself how long its client is to wait for it.
        let timeout = match waits_for(&message.argv) {
            Waits::Never => Some(world.plan.clients[self.client].timeout.ms()),
            Waits::AtMost(ms) => Some(ms),
            Waits::ForEver => None,
        };
        let id = world.next_message();
        match kept {
            Some(conn) => world.keep_waiting(id, message, conn, true).await?,
            None => world.travel(id, message),
        }
        let wake = timeout.map(|timeout| WakeAt {
            t: world.now().saturating_add(timeout),
            class: self.class,
            order: self.order,
            tag: Tag::Timeout,
            moves: false,
        });
        world.set_busy(self.slot, to_data);
        let tag = world.park(self.slot, wake.into_iter().collect()).await;
        world.set_busy(self.slot, false);
        if tag == Tag::Reply {
            let message = world.messages.borrow_mut().remove(&id);
            return Ok(if let Some(Ok(reply)) = message.and_then(|message| message.reply) {
                world.record(What::Read { cmd });
                Answer::Reply(reply)
            } else {
                world.record(What::Refused { cmd });
                Answer::Refused
            });
        }
        if let Some(message) = world.messages.borrow_mut().get_mut(&id) {
            message.waiter = None;
        }
        if let Some(blocked) = world.blocked.borrow_mut().get_mut(&id) {
            blocked.message.waiter = None;
        }
        world.record(What::Timeout { cmd });
        Ok(Answer::Unknown)
    }
}

impl World {
    /// What the way of a message lets pass at this moment: its own fault, else the link's.
    pub(super) fn passage(&self, message: &Message) -> LinkState {
        let reply = message.reply.is_some();
        if let Some(net) = message.net
            && (net.way == Way::Both || (net.way == Way::Reply) == reply)
        {
            // A request that is slow both ways is late once on each.
            return state_of(net.change);
        }
        self.link_passage(message)
    }

    /// Sends a message on a way that is not open: it is lost, kept, or arrives later. Answers its number.
    pub(super) fn put_on_the_way(&self, message: Message) -> u64 {
        let id = self.next_message();
        self.travel(id, message);
        id
    }

    fn travel(&self, id: u64, message: Message) {
        match self.passage(&message) {
            LinkState::Open => self.arrive_at(self.now(), id, &message),
            LinkState::Slow { by } => self.arrive_at(self.now() + by.ms(), id, &message),
            LinkState::Held => return self.keep(id, message),
            LinkState::Cut => return self.drop_message(&message),
        }
        self.messages.borrow_mut().insert(id, message);
    }

    /// A message is gone for good.
    pub(super) fn drop_message(&self, message: &Message) {
        if let Some(news) = &message.news {
            return self.record_news(message.client, news, message.cmd, false);
        }
        self.record(What::Dropped { cmd: message.cmd, reply: message.reply.is_some() });
    }

    pub(super) fn arrive_at(&self, t: u64, id: u64, message: &Message) {
        let class = if message.reply.is_some() { Class::Reply } else { Class::Request };
        self.schedule(t, class, id, Due::Arrive(id));
    }

    /// A message is at its other end: a request is executed and its reply begins its way; a reply is read.
    pub(super) async fn arrive(self: &Rc<Self>, id: u64) -> Result<(), Trouble> {
        let Some(mut message) = self.messages.borrow_mut().remove(&id) else { return Ok(()) };
        match self.link_passage(&message) {
            LinkState::Cut => {
                self.drop_message(&message);
                return Ok(());
            }
            LinkState::Held => {
                self.keep(id, message);
                return Ok(());
            }
            LinkState::Open | LinkState::Slow { .. } => {}
        }
        if message.reply.is_some() {
            self.deliver(id, message);
            return Ok(());
        }
        // The client may be gone, and its connection with it: what it has sent travels on a connection of its own.
        let connected = match message.sql {
            Some(_) => None,
            None => Some(self.servers.connect(&message.node, self.client_name(message.client))),
        };
        let conn = match connected {
            Some(Ok(conn)) => Some(Rc::new(conn)),
            None | Some(Err(ConnectError::Refused(_))) => None,
            Some(Err(error)) => return Err(Trouble::Environment(error.to_string())),
        };
        match (self.execute(conn.as_ref(), &message, false).await?, conn) {
            (Done::Reply(reply), _) => message.reply = Some(Ok(reply)),
            (Done::Waits, Some(conn)) => return self.keep_waiting(id, message, conn, false).await,
            (Done::Waits | Done::Nobody, _) => message.reply = Some(Err(())),
        }
        self.go_back(id, message);
        Ok(())
    }

    /// An answer begins its way back.
    pub(super) fn go_back(self: &Rc<Self>, id: u64, message: Message) {
        if self.passage(&message) == LinkState::Open {
            self.deliver(id, message);
        } else {
            self.travel(id, message);
        }
    }

    /// A reply is at its client.
    fn deliver(self: &Rc<Self>, id: u64, mut message: Message) {
        if self.clients.borrow()[message.client].crashed {
            return;
        }
        if let Some(news) = message.news {
            self.tell(news, message.cmd);
        } else if let Some(waiter) = message.waiter {
            message.delivered = Some(self.now());
            self.messages.borrow_mut().insert(id, message);
            self.answer(waiter.slot, waiter.class, waiter.order);
        } else if let (Some(late), Some(Ok(reply))) = (message.late, &message.reply) {
            self.late_grant(message.client, late, reply);
        }
    }
}
