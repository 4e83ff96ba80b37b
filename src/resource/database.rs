//! The database file, and what can be done with it.
//!
//! Durability is not what a lesson about locks teaches, so the file is not synced; all else is a database's own: a
//! transaction is a transaction, and a snapshot is a second connection that reads what was there when it began.

use std::path::{Path, PathBuf};

use rusqlite::types::{ToSql, ToSqlOutput};
use rusqlite::{Connection, TransactionBehavior, params_from_iter};

use super::sql::{Param, Statement, Table, TableKind, name};

/// The database failed, in its own words.
#[derive(Debug, thiserror::Error)]
#[error("the database: {0}")]
pub struct DatabaseError(#[from] rusqlite::Error);

/// A database in a file.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    connection: Connection,
}

/// What is in a table after a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The row.
    Row {
        /// Its value.
        value: i64,
        /// Goes up by one with each write.
        version: i64,
        /// The fencing token of the last guarded write; 0: none yet.
        fence: i64,
    },
    /// The line that was appended to a log.
    Line {
        /// Its key.
        key: String,
    },
}

/// What came of one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// How many rows it affected.
    pub affected: u64,
    /// What is stored then; none: it affected nothing.
    pub now: Option<Stored>,
}

/// What came of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its statements, up to the one that affected nothing.
    pub done: Vec<Done>,
    /// Whether it was committed; else all of it was rolled back.
    pub committed: bool,
}

impl ToSql for Param {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Int(n) => n.to_sql(),
            Self::Text(text) => text.to_sql(),
        }
    }
}

impl Database {
    /// Opens (or makes) the file.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        let connection = Connection::open(path)?;
        // With a write-ahead log a snapshot and a writer do not disturb each other.
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "off")?;
        Ok(Self { path: path.to_owned(), connection })
    }

    /// Makes everything new: these tables and no others, and a counter of fencing tokens for each of these locks.
    ///
    /// # Errors
    /// When two tables have the same name; upper and lower case are the same to SQL.
    pub fn renew(&self, tables: &[Table], locks: &[String]) -> Result<(), DatabaseError> {
        let old: Vec<String> = {
            let mut names = self.connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
            let names = names.query_map([], |row| row.get(0))?;
            names.collect::<Result<_, _>>()?
        };
        let mut script = vec!["BEGIN".to_owned()];
        script.extend(old.iter().map(|table| format!("DROP TABLE {}", name(table))));
        script.push("CREATE TABLE fence_counter (lock TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT".to_owned());
        for Table { name: table, kind } in tables {
            let table = name(table);
            script.push(match kind {
                TableKind::Row { value } => format!(
                    "CREATE TABLE {table} (value INTEGER NOT NULL, version INTEGER NOT NULL, fence INTEGER NOT NULL) STRICT;
                     INSERT INTO {table} VALUES ({value}, 1, 0)"
                ),
                TableKind::Log { unique } => format!(
                    "CREATE TABLE {table} (key TEXT NOT NULL {}, fence INTEGER) STRICT",
                    if *unique { "UNIQUE" } else { "" }
                ),
            });
        }
        script.push("COMMIT".to_owned());
        if let Err(error) = self.connection.execute_batch(&script.join(";")) {
            // Whatever was begun must not stand in the way of the next.
            let _ = self.connection.execute_batch("ROLLBACK");
            return Err(error.into());
        }
        for lock in locks {
            self.connection.execute("INSERT INTO fence_counter VALUES (?, 0)", [lock])?;
        }
        Ok(())
    }

    /// Executes a statement that answers one row of numbers.
    ///
    /// # Errors
    /// When it cannot be executed.
    pub fn query(&self, statement: &Statement) -> Result<Vec<i64>, DatabaseError> {
        query(&self.connection, statement)
    }

    /// Executes writes in one transaction. One that affects nothing ends it: all is rolled back.
    ///
    /// # Errors
    /// When a statement cannot be executed; nothing is written then.
    pub fn write(&mut self, statements: &[Statement]) -> Result<Written, DatabaseError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut done = Vec::new();
        for statement in statements {
            let affected =
                transaction.prepare_cached(&statement.text)?.execute(params_from_iter(statement.params.iter()))? as u64;
            let now = if affected > 0 { Some(stored(&transaction, statement)?) } else { None };
            done.push(Done { affected, now });
            if affected == 0 {
                transaction.rollback()?;
                return Ok(Written { done, committed: false });
            }
        }
        transaction.commit()?;
        Ok(Written { done, committed: true })
    }

    /// Everything as it is now, for later.
    ///
    /// # Errors
    /// When the file cannot be opened once more.
    pub fn snapshot(&self) -> Result<Snapshot, DatabaseError> {
        let connection = Connection::open(&self.path)?;
        // A transaction takes its snapshot with its first read.
        connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;")?;
        Ok(Snapshot(connection))
    }
}

/// The database as it was at an instant. Dropping it ends the transaction that keeps it.
#[derive(Debug)]
pub struct Snapshot(Connection);

impl Snapshot {
    /// Executes a statement that answers one row of numbers.
    ///
    /// # Errors
    /// When it cannot be executed.
    pub fn query(&self, statement: &Statement) -> Result<Vec<i64>, DatabaseError> {
        query(&self.0, statement)
    }
}

fn query(connection: &Connection, statement: &Statement) -> Result<Vec<i64>, DatabaseError> {
    let mut prepared = connection.prepare_cached(&statement.text)?;
    let columns = prepared.column_count();
    let numbers = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
    Ok(prepared.query_row(params_from_iter(statement.params.iter()), numbers)?)
}

/// What the table of a statement holds after it.
fn stored(connection: &Connection, statement: &Statement) -> Result<Stored, DatabaseError> {
    if let (true, Some(Param::Text(key))) = (statement.text.starts_with("INSERT"), statement.params.first()) {
        return Ok(Stored::Line { key: key.clone() });
    }
    let text = format!("SELECT value, version, fence FROM {}", name(&statement.table));
    let row = connection
        .prepare_cached(&text)?
        .query_row([], |row| Ok(Stored::Row { value: row.get(0)?, version: row.get(1)?, fence: row.get(2)? }))?;
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::super::sql::{Change, Guard, Write};
    use super::*;

    fn database(tables: &[(&str, TableKind)]) -> (tempfile::TempDir, Database) {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&folder.path().join("data.db")).unwrap();
        let tables: Vec<Table> =
            tables.iter().map(|(name, kind)| Table { name: (*name).to_owned(), kind: *kind }).collect();
        database.renew(&tables, &["lock".to_owned()]).unwrap();
        (folder, database)
    }

    fn write(table: &str, change: Change, guard: Guard, unique: bool) -> Statement {
        Statement::write(&Write { table: table.to_owned(), change, guard }, unique)
    }

    fn accepted(database: &mut Database, change: Change, guard: Guard) -> bool {
        database.write(&[write("stock", change, guard, false)]).unwrap().committed
    }

    #[test]
    fn each_guard_lets_the_right_writes_through() {
        let (_folder, mut db) = database(&[("stock", TableKind::Row { value: 1 })]);
        assert!(accepted(&mut db, Change::Set(5), Guard::Fence(34)));
        assert!(!accepted(&mut db, Change::Set(6), Guard::Fence(33)), "an older token");
        assert!(!accepted(&mut db, Change::Set(6), Guard::Fence(34)), "the same token");
        assert_eq!(db.query(&Statement::select("stock")).unwrap(), [5, 2]);
        assert!(!accepted(&mut db, Change::Set(6), Guard::Version(1)), "somebody has written since");
        assert!(accepted(&mut db, Change::Add(-5), Guard::Version(2)));
        assert!(!accepted(&mut db, Change::Add(-1), Guard::AtLeast(1)), "nothing is left");
        assert!(accepted(&mut db, Change::Add(-1), Guard::None));
        assert_eq!(db.query(&Statement::select("stock")).unwrap(), [-1, 4]);
    }

    #[test]
    fn a_key_that_is_to_be_there_once_is() {
        for unique in [true, false] {
            let (_folder, mut db) = database(&[("order", TableKind::Log { unique })]);
            let append = |key: &str, guard| write("order", Change::Append(key.to_owned()), guard, unique);
            let mut write = |key: &str, guard| db.write(&[append(key, guard)]).unwrap().done[0].affected;
            assert_eq!(write("17", Guard::Once), 1);
            assert_eq!(write("17", Guard::Once), 0);
            assert_eq!(write("18", Guard::Fence(2)), 1);
            assert_eq!(write("19", Guard::Fence(1)), 0);
            if !unique {
                assert_eq!(write("17", Guard::None), 1, "who does not look appends again");
            }
        }
    }

    #[test]
    fn a_transaction_is_all_or_nothing() {
        let tables = [("stock", TableKind::Row { value: 1 }), ("charges", TableKind::Log { unique: false })];
        let (_folder, mut db) = database(&tables);
        let charge = write("charges", Change::Append("17".to_owned()), Guard::None, false);
        let sell = write("stock", Change::Add(-1), Guard::AtLeast(1), false);
        let both = [charge, sell];
        let first = db.write(&both).unwrap();
        assert!(first.committed);
        assert_eq!(first.done[1].now, Some(Stored::Row { value: 0, version: 2, fence: 0 }));
        let second = db.write(&both).unwrap();
        assert!(!second.committed);
        assert_eq!(second.done.iter().map(|done| done.affected).collect::<Vec<_>>(), [1, 0]);
        let lines = Statement { text: "SELECT count(*) FROM charges".to_owned(), ..both[0].clone() };
        assert_eq!(db.query(&Statement { params: Vec::new(), ..lines }).unwrap(), [1]);
    }

    #[test]
    fn a_snapshot_does_not_see_what_comes_later() {
        let (_folder, mut db) = database(&[("stock", TableKind::Row { value: 233 })]);
        let snapshot = db.snapshot().unwrap();
        assert!(accepted(&mut db, Change::Add(-1), Guard::None));
        assert_eq!(snapshot.query(&Statement::select("stock")).unwrap(), [233, 1]);
        assert_eq!(db.query(&Statement::select("stock")).unwrap(), [232, 2]);
        drop(snapshot);
        db.renew(&[], &[]).unwrap();
        assert!(db.query(&Statement::select("stock")).is_err(), "the old table is gone");
    }

    #[test]
    fn fencing_tokens_only_grow() {
        let (_folder, db) = database(&[]);
        let draw = || db.query(&Statement::next_fence("lock")).unwrap();
        assert_eq!([draw(), draw(), draw()], [[1], [2], [3]]);
    }

    #[test]
    fn a_number_that_does_not_fit_is_an_error_and_writes_nothing() {
        let (_folder, mut db) = database(&[("stock", TableKind::Row { value: i64::MAX })]);
        let over = write("stock", Change::Add(1), Guard::None, false);
        assert!(db.write(&[over]).is_err());
        assert_eq!(db.query(&Statement::select("stock")).unwrap(), [i64::MAX, 1]);
    }
}
