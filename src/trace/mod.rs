//! What happened in one run, as plain data, and what follows from it.
//!
//! A [`Trace`] is a header (who there was) and a list of [`Record`]s (what happened, in order). Everything that a
//! reader is shown is a fold over these: the [`State`] at a playhead, the [`Finding`]s, the [`Verdict`]. Nothing in
//! here knows Redis, the engine, or a terminal.

mod about;
pub mod data;
mod detect;
pub mod event;
pub mod finding;
mod holding;
pub mod jsonl;
pub mod key;
pub mod reply;
pub mod state;
mod steady;
pub mod text;
pub mod time;
pub mod timeline;
mod verdict;

pub use data::{DATABASE, ResourceInfo, ResourceState, Sql, SqlValue};
pub use detect::findings;
pub use event::{
    Cause, ClientInfo, EventInfo, EventKind, Header, KeyOp, LinkState, LockInfo, NodeInfo, Outcome, Record, Role,
    Trace, What, Why,
};
pub use finding::{Finding, FindingKind, Group, Verdict};
pub use key::{KeyState, Value};
pub use reply::Reply;
pub use state::State;
pub use text::{Lang, Text};
pub use time::LessonTime;
pub use timeline::{
    Fill, Lane, LaneKind, Mark, Marker, MarkerKind, Sign, Standing, Stop, Stretch, Sweep, Timeline, forward,
};
pub use verdict::verdict;
