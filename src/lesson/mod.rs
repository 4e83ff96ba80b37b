//! What an instructor writes, and what it means.
//!
//! `parse` reads YAML with positions, `lower` turns one variant of it into a typed [`Plan`] (the only thing that the
//! engine sees), and `judge` compares a trace with what the plan expects. Knows the names of `trace`, nothing of Redis.
//!
//! From a file to a plan: `yaml` makes a tree of the text, `patch` applies a variant to it, `cast` reads who there is,
//! `event_lower` and its kin read the story, `expect_lower` what must come of it, and `validate` looks at the whole (`combinations`: at what does not go together).
//! And back: `whatif` changes a variant as another one would, and `emit` writes a tree as a file.

mod action_lower;
mod ask_lower;
mod cast;
pub mod catalogue;
mod combinations;
pub mod commands;
pub mod diagnostic;
mod duration;
mod emit;
mod event_lower;
pub mod expect;
mod expect_lower;
mod happening_lower;
pub mod judge;
mod lua;
pub mod model;
mod parse;
mod patch;
pub mod placeholder;
mod reader;
pub mod run;
mod run_lower;
mod scene;
mod sentinel;
pub mod source;
mod validate;
mod vocabulary;
mod wait_lower;
pub mod whatif;
mod words;
mod yaml;

pub use cast::CONFIG_ALLOWED;
pub use catalogue::builtin;
pub use commands::forbidden;
pub use diagnostic::{Diagnostic, render_all};
pub use expect::{Expect, ExpectTime, Expected, Fact};
pub use judge::{Judgement, judge};
pub use model::*;
pub use parse::load;
pub use run::{RunFailure, RunLesson};
pub use scene::node_names;
pub use source::{Source, Span, Spanned};
