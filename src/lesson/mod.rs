//! What an instructor writes, and what it means.
//!
//! `parse` reads YAML with positions, `lower` turns one variant of it into a typed [`Plan`] (the only thing that the
//! engine sees), and `judge` compares a trace with what the plan expects. Knows the names of `trace`, nothing of Redis.

pub mod expect;
pub mod judge;
pub mod model;
pub mod run;
pub mod source;

pub use expect::{Expect, ExpectTime, Expected, Fact};
pub use judge::{Judgement, judge};
pub use model::*;
pub use run::{RunFailure, RunLesson};
pub use source::{Source, Span, Spanned};

pub fn forbidden(_: &[String]) -> Option<String> {
    None
}
