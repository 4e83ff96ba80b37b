//! The protected resources in a trace: what there is, what the database executed, and what is stored then.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::state::State;

/// The database's name where records name an end of a way: `A`–`db`.
pub const DATABASE: &str = "db";

/// A protected resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceInfo {
    /// Its name: that of its table.
    pub name: String,
    /// What it is.
    #[serde(flatten)]
    pub shape: Shape,
}

/// What a resource is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// One row.
    Row {
        /// Its value in the beginning.
        value: i64,
        /// It must not be less than this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<i64>,
    },
    /// A list of effects.
    Log {
        /// Each of these keys must be there exactly once when all is done.
        once: Vec<String>,
    },
}

/// A statement that the database has executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sql {
    /// The message that carried it.
    pub cmd: u32,
    /// Who sent it.
    pub client: String,
    /// The event that wanted it: of a commit, each write that it carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<usize>,
    /// The resource; none: the counter of fencing tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The statement, with a `?` for each parameter.
    pub text: String,
    /// What was bound, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<SqlValue>,
    /// How many rows it found (a read) or changed.
    pub affected: u64,
    /// Of a write: its condition; none: it is no write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<Guarded>,
    /// Of a write whose value was computed from one that was read: the version that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<i64>,
    /// It was rolled back with its transaction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
    /// What a write has stored; none: it changed nothing, or was undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<Stored>,
}

impl Sql {
    /// A write that was let through.
    #[must_use]
    pub const fn is_accepted(&self) -> bool {
        self.now.is_some()
    }

    /// A write that its guard refused. (One that is rolled back because of another is neither.)
    #[must_use]
    pub const fn is_rejected(&self) -> bool {
        self.guard.is_some() && self.affected == 0
    }
}

/// A value that is bound to a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "they are what they say")]
pub enum SqlValue {
    Int(i64),
    Text(String),
}

/// The condition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum Guarded {
    None,
    Fence,
    Version,
    AtLeast,
    Once,
}

/// What a write has stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stored {
    /// The row, after it.
    Row {
        /// Its value.
        value: i64,
        /// Goes up by one with each write; the first is 1.
        version: i64,
        /// The greatest fencing token that has written; 0: none.
        fence: i64,
    },
    /// The key of the line that was appended.
    Line(String),
}

/// A resource at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceState {
    /// The row.
    Row {
        /// Its value.
        value: i64,
        /// Its version.
        version: i64,
        /// The greatest fencing token that has written; 0: none.
        fence: i64,
        /// Who wrote it last.
        writer: Option<String>,
    },
    /// The lines of a log: key and writer.
    Log(Vec<(String, String)>),
}

/// The resources before anything has happened to them.
pub(super) fn initial(resources: &[ResourceInfo]) -> BTreeMap<String, ResourceState> {
    let each = resources.iter().map(|resource| {
        let state = match &resource.shape {
            Shape::Row { value, .. } => ResourceState::Row { value: *value, version: 1, fence: 0, writer: None },
            Shape::Log { .. } => ResourceState::Log(Vec::new()),
        };
        (resource.name.clone(), state)
    });
    each.collect()
}

impl State {
    /// Takes a statement into account.
    pub(super) fn executed(&mut self, sql: &Sql) {
        let (Some(name), Some(now)) = (&sql.resource, &sql.now) else { return };
        let Some(resource) = self.resources.get_mut(name) else { return };
        match (resource, now) {
            (ResourceState::Log(lines), Stored::Line(key)) => lines.push((key.clone(), sql.client.clone())),
            (row @ ResourceState::Row { .. }, Stored::Row { value, version, fence }) => {
                let (value, version, fence) = (*value, *version, *fence);
                *row = ResourceState::Row { value, version, fence, writer: Some(sql.client.clone()) };
            }
            _ => {}
        }
    }
}
