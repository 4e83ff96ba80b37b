//! lockscope: run a lock lesson on real Redis servers, record it, and play it back.

pub mod check;
pub mod cli;
pub mod engine;
pub mod lesson;
pub mod resource;
pub mod servers;
pub mod trace;
pub mod tui;
