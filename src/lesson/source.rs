//! Where in a lesson file something stands.

use std::sync::Arc;

/// A lesson file's name and text, shared by all that point into it.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// As it is to be shown: a path, or `lessons/wrong-delete.yaml` for a built-in one.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A stretch of a lesson file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// Column of the first byte in characters, from 1.
    pub column: usize,
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl Source {
    /// A source ready to be shared.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into() })
    }

    /// `file:line`, as a failure names it.
    #[must_use]
    pub fn at(&self, span: Span) -> String {
        format!("{}:{}", self.name, span.line)
    }
}
