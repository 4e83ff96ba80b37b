//! A server's reply, kept as data and shown as redis-cli shows it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One reply. Bytes that are not UTF-8 are kept as U+FFFD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// A status such as `OK`.
    Status(String),
    /// An integer.
    Int(i64),
    /// A string.
    Bulk(String),
    /// No value.
    Nil,
    /// An error, code first: `WRONGTYPE Operation against …`.
    Error(String),
    /// A list.
    List(Vec<Reply>),
}

impl Reply {
    /// Whether this is an error.
    #[must_use]
    pub const fn is_error(&self) -> bool {
        matches!(self, Self::Error(_))
    }
}

/// As redis-cli prints it, on one line.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(text) => f.write_str(text),
            Self::Int(n) => write!(f, "(integer) {n}"),
            Self::Bulk(text) => write!(f, "\"{}\"", text.escape_debug()),
            Self::Nil => f.write_str("(nil)"),
            Self::Error(text) => write!(f, "(error) {text}"),
            Self::List(items) if items.is_empty() => f.write_str("(empty array)"),
            Self::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{}) {item}", if i == 0 { "" } else { " " }, i + 1)?;
                }
                Ok(())
            }
        }
    }
}
