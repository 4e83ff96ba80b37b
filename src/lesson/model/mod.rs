//! A lesson as the engine, the checker and the player use it: typed, complete, with every default filled in.
//!
//! A [`Lesson`] is what its readers are told; each of its variants is lowered to a [`Plan`] of its own, in which
//! patches have been applied, durations such as `ttl/3` have become milliseconds, and references have become indices.

#![expect(missing_docs, reason = "fields are named in the doc of their variant, and as the format spells them")]

mod event;
mod keeping;
mod lesson;
mod plan;
mod taking;

pub use event::*;
pub use keeping::*;
pub use lesson::*;
pub use plan::*;
pub use taking::*;
