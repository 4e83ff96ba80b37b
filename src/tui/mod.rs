//! The player: a catalogue of lessons, and a timeline that is played, stepped and questioned.
//!
//! ```text
//! keys ──Action──▶ app (state) ──▶ view ──▶ panes ──▶ canvas (theme) ──▶ terminal
//!                    ▲    │
//!          recording ┘    └ request ──▶ worker (runs lessons on a thread of its own)
//! ```
//!
//! State changes by [`App::update`] and nothing else; drawing only reads it. Nothing in here knows Redis or the
//! engine: the worker is handed something that runs a plan.

pub mod answer;
pub mod app;
pub mod canvas;
pub mod compare;
pub mod ending;
pub mod keeper;
pub mod keys;
pub mod leave;
pub mod narrate;
pub mod panes;
pub mod player;
pub mod progress;
pub mod proof;
pub mod recording;
pub mod save;
pub mod screen;
pub mod script;
pub mod strings;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod view;
pub mod whatif;
pub mod worker;

pub use app::{App, Request, RunKey};
pub use keys::Action;
pub use progress::Progress;
pub use recording::Recording;
pub use screen::{Options, run};
pub use theme::Theme;
