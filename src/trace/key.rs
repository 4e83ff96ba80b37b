//! A key at an instant: what is in it, until when, and whose it is.

use serde::{Deserialize, Serialize};

use super::LessonTime;

/// A key at an instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyState {
    /// What is in it.
    pub value: Value,
    /// When Redis will remove it; none: it has no TTL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<LessonTime>,
    /// The deadline could not be computed exactly from the command's own numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approximate: bool,
    /// The client whose command last created or replaced the value; of a hash of counts, the one that made its first
    /// field with a count above zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Of a hash of counts: whoever made its other fields, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

impl KeyState {
    /// Everybody who owns a part of it. As a rule it is one client, or nobody.
    pub fn owners(&self) -> impl Iterator<Item = &str> {
        self.owner.iter().chain(&self.also).map(String::as_str)
    }

    /// Whether `client` is one of its owners.
    #[must_use]
    pub fn is_owned_by(&self, client: &str) -> bool {
        self.owners().any(|owner| owner == client)
    }
}

/// A key's content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A string.
    String(String),
    /// A hash: field and value, in order of the field's name.
    Hash(Vec<(String, String)>),
    /// Another type, by its name, with its length.
    Other {
        /// `list`, `zset`, `set`.
        r#type: String,
        /// Number of elements.
        len: u64,
    },
}
