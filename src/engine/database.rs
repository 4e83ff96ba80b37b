//! The other end of the way to the database: it executes what arrives, and what it did is written down.

use std::sync::{Arc, Mutex, PoisonError};

use super::wire::Message;
use super::world::{Trouble, World};
use crate::lesson::{self, Do, Plan, ResourceKind};
use crate::resource::{Database, DatabaseError, Guard, Snapshot, Statement, Stored, Table, TableKind, Write};
use crate::servers::Servers;
use crate::trace::data::{self, Guarded, ResourceInfo, Shape, Sql, SqlValue};
use crate::trace::{Reply, What};

/// What is asked of the database.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Request {
    /// A row; `snapshot`: as it was when the client's transaction began.
    Read { table: String, snapshot: bool },
    /// The next fencing token of a lock.
    Draw { lock: String },
    /// These writes; `commit`: as one transaction, all or none.
    Write { writes: Vec<Pending>, commit: bool },
}

/// A write with all that it takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pending {
    /// The event that wants it.
    pub(super) event: usize,
    pub(super) write: Write,
    /// The version from which its value was computed.
    pub(super) read: Option<i64>,
}

/// The engine's database: opened for the first lesson that needs one, and used again.
#[derive(Clone, Debug, Default)]
pub struct Store(Arc<Mutex<Option<Database>>>);

impl From<DatabaseError> for Trouble {
    fn from(error: DatabaseError) -> Self {
        Self::Environment(error.to_string())
    }
}

impl Store {
    /// Makes it ready for a run of `plan`; the file is beside the servers.
    pub(super) fn prepare(&self, servers: &Servers, plan: &Plan) -> Result<(), Trouble> {
        if plan.resources.is_empty() && !draws_fences(plan) {
            return Ok(());
        }
        let mut database = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if database.is_none() {
            *database = Some(Database::open(&servers.subfolder()?.join("resources.db"))?);
        }
        let locks: Vec<String> = plan.locks.iter().map(|lock| lock.name.clone()).collect();
        match database.as_ref() {
            Some(database) => Ok(database.renew(&tables(plan), &locks)?),
            None => Ok(()),
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Database) -> T) -> Result<T, Trouble> {
        let mut database = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_mut().ok_or_else(|| Trouble::Engine("the lesson has no database".to_owned()))?;
        Ok(act(database))
    }

    /// Everything as it is now.
    pub(super) fn snapshot(&self) -> Result<Snapshot, Trouble> {
        Ok(self.with(|database| database.snapshot())??)
    }
}

fn draws_fences(plan: &Plan) -> bool {
    let draws = |what: &Do| matches!(what, Do::Acquire(acquire) if acquire.fence == lesson::Fence::Database);
    plan.events.iter().any(|event| draws(&event.what))
}

fn tables(plan: &Plan) -> Vec<Table> {
    let table = |resource: &lesson::Resource| {
        let kind = match resource.kind {
            ResourceKind::Row { value, .. } => TableKind::Row { value },
            ResourceKind::Log { .. } => TableKind::Log { unique: is_unique(plan, &resource.name) },
        };
        Table { name: resource.name.clone(), kind }
    };
    plan.resources.iter().map(table).collect()
}

/// Whether a log's table has a unique index: it has, if nobody wants to append without looking.
fn is_unique(plan: &Plan, log: &str) -> bool {
    let mut appends = plan.events.iter().filter_map(|event| match &event.what {
        Do::Write { resource, guard, .. } if resource == log => Some(*guard),
        _ => None,
    });
    appends.all(|guard| guard == lesson::Guard::Once)
}

/// The resources as the trace's header has them.
pub(super) fn infos(plan: &Plan) -> Vec<ResourceInfo> {
    let info = |resource: &lesson::Resource| {
        let shape = match &resource.kind {
            ResourceKind::Row { value, min } => Shape::Row { value: *value, min: *min },
            ResourceKind::Log { once } => Shape::Log { once: once.clone() },
        };
        ResourceInfo { name: resource.name.clone(), shape }
    };
    plan.resources.iter().map(info).collect()
}

impl World {
    /// The statements of a request.
    fn statements(&self, request: &Request) -> Vec<Statement> {
        match request {
            Request::Read { table, .. } => vec![Statement::select(table)],
            Request::Draw { lock } => vec![Statement::next_fence(lock)],
            Request::Write { writes, .. } => writes
                .iter()
                .map(|pending| Statement::write(&pending.write, is_unique(&self.plan, &pending.write.table)))
                .collect(),
        }
    }

    /// A request as it is told: its statements, with their values filled in.
    pub(super) fn told(&self, request: &Request) -> Vec<String> {
        let mut told: Vec<String> = self.statements(request).iter().map(ToString::to_string).collect();
        if matches!(request, Request::Write { commit: true, .. }) {
            told.insert(0, "BEGIN".to_owned());
            told.push("COMMIT".to_owned());
        }
        told
    }

    /// Executes a request and writes down what it did.
    pub(super) fn execute_sql(&self, message: &Message, request: &Request) -> Result<Reply, Trouble> {
        let statements = self.statements(request);
        let sql = |statement: &Statement, affected| Sql {
            cmd: message.cmd,
            client: self.client_name(message.client).to_owned(),
            event: message.event,
            resource: None,
            text: statement.text.clone(),
            params: statement.params.iter().map(value).collect(),
            affected,
            guard: None,
            read: None,
            undone: false,
            now: None,
        };
        let mut done: Vec<Sql> = Vec::new();
        let reply = match request {
            Request::Read { table, snapshot } => {
                let snapshot = if *snapshot { self.snapshot_of(message.client) } else { None };
                let row = match snapshot {
                    Some(snapshot) => snapshot.query(&statements[0]),
                    None => self.database.with(|database| database.query(&statements[0]))?,
                };
                row.map(|row| {
                    done.push(Sql { resource: Some(table.clone()), ..sql(&statements[0], 1) });
                    Reply::List(row.into_iter().map(Reply::Int).collect())
                })
            }
            Request::Draw { .. } => self.database.with(|database| database.query(&statements[0]))?.map(|drawn| {
                done.push(sql(&statements[0], 1));
                Reply::List(drawn.into_iter().map(Reply::Int).collect())
            }),
            Request::Write { writes, commit } => {
                self.database.with(|database| database.write(&statements))?.map(|written| {
                    let each = writes.iter().zip(&statements).zip(&written.done);
                    done.extend(each.map(|((pending, statement), effect)| Sql {
                        event: Some(pending.event),
                        resource: Some(pending.write.table.clone()),
                        guard: Some(guarded(pending.write.guard)),
                        read: pending.read,
                        undone: !written.committed && effect.affected > 0,
                        now: effect.now.clone().filter(|_| written.committed).map(stored),
                        ..sql(statement, effect.affected)
                    }));
                    match (*commit, written.committed) {
                        (true, true) => Reply::Status("COMMIT".to_owned()),
                        (true, false) => Reply::Status("ROLLBACK".to_owned()),
                        (false, committed) => Reply::Int(i64::from(committed)),
                    }
                })
            }
        };
        let reply = reply.unwrap_or_else(|error| Reply::Error(format!("ERR {error}")));
        self.record(What::Exec { cmd: message.cmd, reply: reply.clone() });
        for sql in done {
            self.record(What::Sql(sql));
        }
        Ok(reply)
    }
}

fn value(param: &crate::resource::Param) -> SqlValue {
    match param {
        crate::resource::Param::Int(n) => SqlValue::Int(*n),
        crate::resource::Param::Text(text) => SqlValue::Text(text.clone()),
    }
}

const fn guarded(guard: Guard) -> Guarded {
    match guard {
        Guard::None => Guarded::None,
        Guard::Fence(_) => Guarded::Fence,
        Guard::Version(_) => Guarded::Version,
        Guard::AtLeast(_) => Guarded::AtLeast,
        Guard::Once => Guarded::Once,
    }
}

fn stored(now: Stored) -> data::Stored {
    match now {
        Stored::Row { value, version, fence } => data::Stored::Row { value, version, fence },
        Stored::Line { key } => data::Stored::Line(key),
    }
}
