//! Lessons and traces written by hand, for the player's tests: no Redis, and every record is known.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub mod scribe;
pub mod wrong_delete;
