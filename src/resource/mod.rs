//! The protected resource: a real database (`SQLite`, embedded) with a table for each row or log that a lesson protects.
//!
//! Knows nothing of lessons, locks or time. [`Write`] is what somebody wants to be written and under which condition,
//! [`Statement`] the SQL for it, [`Database`] executes it and says how many rows it affected.

mod database;
mod sql;

pub use database::{Database, DatabaseError, Done, Snapshot, Stored, Written};
pub use sql::{Change, Guard, Param, Statement, Table, TableKind, Write};
