//! What a client does with the protected data: read, write, and transactions.
//!
//! A transaction is what an ORM makes of it: reads go to the database, writes are kept by the client, and the commit
//! sends them all in one database transaction. Until then they are its own business, and nobody sees them.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::database::{Pending, Request};
use super::program::End;
use super::wire::{Answer, Ctx};
use super::world::{Trouble, World};
use crate::lesson::{Change, Guard};
use crate::resource::{self, Snapshot, Write};
use crate::trace::{Outcome, Reply, What};

/// What a client knows of the data.
#[derive(Debug, Default)]
pub(super) struct DataRun {
    /// What it has read last, by resource.
    read: BTreeMap<String, Row>,
    /// Its transaction, if one is open.
    transaction: Option<Transaction>,
}

/// A row as a client has read it.
#[derive(Clone, Copy, Debug)]
struct Row {
    value: i64,
    version: i64,
}

#[derive(Debug)]
struct Transaction {
    /// The task that began it.
    slot: usize,
    /// What its reads see; none: what is committed at that moment.
    snapshot: Option<Rc<Snapshot>>,
    /// Its writes, in order.
    writes: Vec<Pending>,
}

impl World {
    /// The snapshot that a client's reads see.
    pub(super) fn snapshot_of(&self, client: usize) -> Option<Rc<Snapshot>> {
        let clients = self.clients.borrow();
        clients[client].data.transaction.as_ref().and_then(|transaction| transaction.snapshot.clone())
    }

    /// Ends a client's transaction, if one is open (and was begun by `slot`, where one is named). Answers its writes.
    pub(super) fn end_transaction(&self, client: usize, slot: Option<usize>) -> Option<Vec<Pending>> {
        let transaction = {
            let open = &mut self.clients.borrow_mut()[client].data.transaction;
            open.take_if(|open| slot.is_none_or(|slot| open.slot == slot))
        }?;
        self.record_busy(transaction.slot, false);
        Some(transaction.writes)
    }

    /// A task begins (or ceases) to wait for the database.
    pub(super) fn set_busy(&self, slot: usize, on: bool) {
        if std::mem::replace(&mut self.slots.borrow_mut()[slot].busy, on) != on {
            self.record_busy(slot, on);
        }
    }

    /// A task begins (or ceases) to be busy with data.
    pub(super) fn record_busy(&self, slot: usize, on: bool) {
        let (client, task) = {
            let slot = &self.slots.borrow()[slot];
            (slot.client, slot.task.clone())
        };
        self.record(What::Works { client: self.client_name(client).to_owned(), task, on, locks: Vec::new() });
    }
}

impl Ctx {
    /// Reads a row, and remembers its value and version.
    pub(super) async fn read(&self, resource: &str) -> Result<End, Trouble> {
        let world = &self.world;
        let snapshot = world.snapshot_of(self.client).is_some();
        let (value, version) = match self.query(Request::Read { table: resource.to_owned(), snapshot }).await? {
            Answer::Reply(Reply::List(row)) => match row.as_slice() {
                [Reply::Int(value), Reply::Int(version)] => (*value, *version),
                _ => return Err(Trouble::Engine(format!("the database answered {row:?} for a row"))),
            },
            answer => return Ok(neither(answer)),
        };
        let value = self.with_own_writes(resource, value);
        let read = Row { value, version };
        world.clients.borrow_mut()[self.client].data.read.insert(resource.to_owned(), read);
        world.event_run(self.event, |run| run.value = Some(value));
        Ok(End::with(Outcome::Done, Reply::Int(value)))
    }

    /// What a transaction reads where it has written itself.
    fn with_own_writes(&self, resource: &str, committed: i64) -> i64 {
        let clients = self.world.clients.borrow();
        let Some(transaction) = &clients[self.client].data.transaction else { return committed };
        let mine = transaction.writes.iter().filter(|pending| pending.write.table == resource);
        mine.fold(committed, |value, pending| match &pending.write.change {
            resource::Change::Set(value) => *value,
            resource::Change::Add(by) => value.saturating_add(*by),
            resource::Change::Append(_) => value,
        })
    }

    /// Writes; in a transaction, when that is committed.
    pub(super) async fn write(&self, resource: &str, change: &Change, guard: Guard) -> Result<End, Trouble> {
        let pending = match self.pending(resource, change, guard) {
            Ok(pending) => pending,
            Err(text) => return Ok(error(text)),
        };
        let pending = {
            let mut clients = self.world.clients.borrow_mut();
            match &mut clients[self.client].data.transaction {
                Some(transaction) => {
                    transaction.writes.push(pending);
                    None
                }
                None => Some(pending),
            }
        };
        let Some(pending) = pending else { return Ok(End::of(Outcome::Accepted)) };
        let answer = self.query(Request::Write { writes: vec![pending], commit: false }).await?;
        Ok(verdict(answer, |reply| matches!(reply, Reply::Int(1..))))
    }

    /// The write with all that it takes from what its client knows now.
    fn pending(&self, resource: &str, change: &Change, guard: Guard) -> Result<Pending, &'static str> {
        let read = self.world.clients.borrow()[self.client].data.read.get(resource).copied();
        let (change, from) = match change {
            Change::Set(value) => (resource::Change::Set(*value), None),
            Change::SetRead(by) => {
                let row = read.ok_or("ERR nothing has been read that could be written back")?;
                let value = row.value.checked_add(*by).ok_or("ERR the number is too great")?;
                (resource::Change::Set(value), Some(row.version))
            }
            Change::Add(by) => (resource::Change::Add(*by), None),
            Change::Append(key) => (resource::Change::Append(key.clone()), None),
        };
        let guard = match guard {
            Guard::None => resource::Guard::None,
            Guard::Fence => resource::Guard::Fence(self.fence().ok_or("ERR there is no fencing token")?),
            Guard::Version => {
                let row = read.ok_or("ERR nothing has been read whose version could be compared")?;
                resource::Guard::Version(row.version)
            }
            Guard::AtLeast(least) => resource::Guard::AtLeast(least),
            Guard::Once => resource::Guard::Once,
        };
        Ok(Pending { event: self.event, write: Write { table: resource.to_owned(), change, guard }, read: from })
    }

    /// The client's fencing token: of the event's lock, else of the lock that it asked for last.
    pub(super) fn fence(&self) -> Option<i64> {
        let clients = self.world.clients.borrow();
        let locks = &clients[self.client].locks;
        match self.world.plan.events[self.event].lock {
            Some(lock) => locks[lock].fence,
            None => locks.iter().filter(|run| run.fence.is_some()).max_by_key(|run| run.latest_event)?.fence,
        }
    }

    /// Begins a transaction.
    pub(super) fn begin(&self, snapshot: bool) -> Result<End, Trouble> {
        let world = &self.world;
        if world.clients.borrow()[self.client].data.transaction.is_some() {
            return Ok(error("ERR a transaction is open already"));
        }
        let snapshot = if snapshot { Some(Rc::new(world.database.snapshot()?)) } else { None };
        let transaction = Transaction { slot: self.slot, snapshot, writes: Vec::new() };
        world.clients.borrow_mut()[self.client].data.transaction = Some(transaction);
        world.record_busy(self.slot, true);
        Ok(End::of(Outcome::Done))
    }

    /// Sends the writes of the transaction. All of them are accepted, or none.
    pub(super) async fn commit(&self) -> Result<End, Trouble> {
        let writes = {
            let mut clients = self.world.clients.borrow_mut();
            match &mut clients[self.client].data.transaction {
                Some(transaction) => std::mem::take(&mut transaction.writes),
                None => return Ok(error("ERR there is no transaction")),
            }
        };
        let answer = self.query(Request::Write { writes, commit: true }).await?;
        self.world.end_transaction(self.client, None);
        Ok(verdict(answer, |reply| matches!(reply, Reply::Status(text) if text == "COMMIT")))
    }

    /// Forgets the writes of the transaction: nobody has seen them.
    pub(super) fn rollback(&self) -> End {
        match self.world.end_transaction(self.client, None) {
            Some(_) => End::of(Outcome::Done),
            None => error("ERR there is no transaction"),
        }
    }

    /// Draws a fencing token for a lock from the counter that lives beside the data. An outcome: it could not be had.
    pub(super) async fn draw_fence(&self, lock: usize) -> Result<Option<End>, Trouble> {
        let lock_name = self.world.lock_name(lock).to_owned();
        match self.query(Request::Draw { lock: lock_name }).await? {
            Answer::Reply(Reply::List(drawn)) => {
                let [Reply::Int(fence)] = drawn.as_slice() else {
                    return Err(Trouble::Engine(format!("the database answered {drawn:?} for a token")));
                };
                self.world.lock_run(self.client, lock, |run| run.fence = Some(*fence));
                Ok(None)
            }
            answer => Ok(Some(neither(answer))),
        }
    }
}

fn error(text: &str) -> End {
    End::with(Outcome::Error, Reply::Error(text.to_owned()))
}

/// An answer that is neither yes nor no.
fn neither(answer: Answer) -> End {
    match answer {
        Answer::Unknown => End::of(Outcome::Unknown),
        Answer::Refused => End::of(Outcome::Error),
        Answer::Reply(reply) => End::with(Outcome::Error, reply),
    }
}

fn verdict(answer: Answer, yes: impl Fn(&Reply) -> bool) -> End {
    match answer {
        Answer::Reply(reply) if !reply.is_error() => {
            let outcome = if yes(&reply) { Outcome::Accepted } else { Outcome::Rejected };
            End::with(outcome, reply)
        }
        answer => neither(answer),
    }
}
