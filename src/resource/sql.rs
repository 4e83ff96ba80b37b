//! The SQL that a service would send: one conditional statement per write, its condition in the `WHERE`.

use std::fmt;

/// A table for one protected resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub kind: TableKind,
}

/// What a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// One row: value, version and fence.
    Row {
        /// The value in the beginning.
        value: i64,
    },
    /// One line for each effect.
    Log {
        /// Each key can be there once only: the table has a unique index.
        unique: bool,
    },
}

/// A write that somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The table's name.
    pub table: String,
    /// What is to be written.
    pub change: Change,
    /// Under which condition.
    pub guard: Guard,
}

/// What is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// This value.
    Set(i64),
    /// So much more than what is there.
    Add(i64),
    /// One more line, with this key.
    Append(String),
}

/// The condition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// None.
    None,
    /// No write with this fencing token, or a later one, came before.
    Fence(i64),
    /// Nobody has written since this version.
    Version(i64),
    /// The value is at least this.
    AtLeast(i64),
    /// The key is not there yet.
    Once,
}

/// A value that is bound to a `?` of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Param {
    /// A number.
    Int(i64),
    /// A text.
    Text(String),
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(n) => write!(f, "{n}"),
            Self::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
        }
    }
}

/// One SQL statement with what is bound to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The text, with a `?` for each parameter.
    pub text: String,
    /// What is bound, in order.
    pub params: Vec<Param>,
    /// The table it is about.
    pub table: String,
}

/// The statement with its parameters filled in, as a reader likes it. (It is sent with `?`.)
impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut params = self.params.iter();
        for (i, piece) in self.text.split('?').enumerate() {
            if i > 0 {
                match params.next() {
                    Some(param) => write!(f, "{param}")?,
                    None => write!(f, "?")?,
                }
            }
            write!(f, "{piece}")?;
        }
        Ok(())
    }
}

impl Statement {
    /// Reads a row: value and version.
    #[must_use]
    pub fn select(table: &str) -> Self {
        let text = format!("SELECT value, version FROM {}", name(table));
        Self { text, params: Vec::new(), table: table.to_owned() }
    }

    /// Draws the next fencing token of `lock` from the counter that lives beside the data.
    #[must_use]
    pub fn next_fence(lock: &str) -> Self {
        let text = "UPDATE fence_counter SET last = last + 1 WHERE lock = ? RETURNING last".to_owned();
        Self { text, params: vec![Param::Text(lock.to_owned())], table: "fence_counter".to_owned() }
    }

    /// The statement for a write. `unique`: the table is a log with a unique index on its keys.
    #[must_use]
    pub fn write(write: &Write, unique: bool) -> Self {
        let (text, params) = match &write.change {
            Change::Set(value) => update(&write.table, "value = ?", *value, write.guard),
            Change::Add(by) => update(&write.table, "value = value + ?", *by, write.guard),
            Change::Append(key) => insert(&write.table, key, write.guard, unique),
        };
        Self { text, params, table: write.table.clone() }
    }
}

/// The row learns a new value, a new version, and which fencing token wrote it. Where the condition is not met, no row is
/// affected: compare and set are one step, so nobody can come between.
fn update(table: &str, set: &str, value: i64, guard: Guard) -> (String, Vec<Param>) {
    let mut text = format!("UPDATE {} SET {set}, version = version + 1", name(table));
    let mut params = vec![Param::Int(value)];
    let (condition, bound) = match guard {
        // `once` speaks of the keys of a log.
        Guard::None | Guard::Once => return (text, params),
        Guard::Fence(fence) => {
            text.push_str(", fence = ?");
            params.push(Param::Int(fence));
            (" WHERE fence < ?", fence)
        }
        Guard::Version(version) => (" WHERE version = ?", version),
        Guard::AtLeast(least) => (" WHERE value >= ?", least),
    };
    text.push_str(condition);
    params.push(Param::Int(bound));
    (text, params)
}

fn insert(table: &str, key: &str, guard: Guard, unique: bool) -> (String, Vec<Param>) {
    let name = name(table);
    let key = Param::Text(key.to_owned());
    match guard {
        Guard::Fence(fence) => (
            format!(
                "INSERT INTO {name} (key, fence) SELECT ?, ? WHERE (SELECT coalesce(max(fence), 0) FROM {name}) < ?"
            ),
            vec![key, Param::Int(fence), Param::Int(fence)],
        ),
        Guard::Once if unique => {
            (format!("INSERT INTO {name} (key) VALUES (?) ON CONFLICT (key) DO NOTHING"), vec![key])
        }
        // Somebody else appends without looking, so the table cannot have a unique index.
        Guard::Once => (
            format!("INSERT INTO {name} (key) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM {name} WHERE key = ?)"),
            vec![key.clone(), key],
        ),
        // A log has no version and no value.
        Guard::None | Guard::Version(_) | Guard::AtLeast(_) => {
            (format!("INSERT INTO {name} (key) VALUES (?)"), vec![key])
        }
    }
}

/// A table's name as SQL writes it: in quotes unless it is a plain word that means nothing else.
pub(super) fn name(table: &str) -> String {
    let letters = table.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = letters && table.chars().all(|c| c.is_ascii_alphanumeric());
    let keyword = KEYWORDS.split_whitespace().any(|word| table.eq_ignore_ascii_case(word));
    if plain && !keyword { table.to_owned() } else { format!("\"{}\"", table.replace('"', "\"\"")) }
}

/// Words that the database keeps for itself (the page "SQL Keywords" of its documentation).
const KEYWORDS: &str = "
    abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade case
    cast check collate column commit conflict constraint create cross current current_date current_time current_timestamp
    database default deferrable deferred delete desc detach distinct do drop each else end escape except exclude exclusive
    exists explain fail filter first following for foreign from full generated glob group groups having if ignore immediate
    in index indexed initially inner insert instead intersect into is isnull join key last left like limit match materialized
    natural no not nothing notnull null nulls of offset on or order others outer over partition plan pragma preceding primary
    query raise range recursive references regexp reindex release rename replace restrict returning right rollback row rows
    savepoint select set table temp temporary then ties to transaction trigger unbounded union unique update using vacuum
    values view virtual when where window with without";

#[cfg(test)]
mod tests {
    use super::*;

    fn text(change: Change, guard: Guard, unique: bool) -> String {
        Statement::write(&Write { table: "stock".to_owned(), change, guard }, unique).to_string()
    }

    #[test]
    fn the_condition_stands_in_the_statement() {
        let set = Change::Set(5);
        assert_eq!(text(set.clone(), Guard::None, false), "UPDATE stock SET value = 5, version = version + 1");
        assert_eq!(
            text(set.clone(), Guard::Fence(34), false),
            "UPDATE stock SET value = 5, version = version + 1, fence = 34 WHERE fence < 34"
        );
        assert_eq!(
            text(set, Guard::Version(7), false),
            "UPDATE stock SET value = 5, version = version + 1 WHERE version = 7"
        );
        assert_eq!(
            text(Change::Add(-1), Guard::AtLeast(1), false),
            "UPDATE stock SET value = value + -1, version = version + 1 WHERE value >= 1"
        );
        assert_eq!(
            text(Change::Append("it's".to_owned()), Guard::Once, true),
            "INSERT INTO stock (key) VALUES ('it''s') ON CONFLICT (key) DO NOTHING"
        );
    }

    #[test]
    fn names_that_mean_something_are_quoted() {
        assert_eq!(
            ["stock", "order", "Order", "to-do", "2nd"].map(name),
            ["stock", "\"order\"", "\"Order\"", "\"to-do\"", "\"2nd\""]
        );
    }
}
