//! The folds over traces: detectors, verdict, judge, JSON Lines, and the report of `--check`, from hand-written traces.

#![expect(clippy::unwrap_used, reason = "a hand-written trace that is not as it was written has failed the test")]

mod check;
mod detect_data;
mod detect_lasting;
mod detect_wrong;
mod facts;
mod hand;
mod jsonl;
mod judge;
mod notes;
mod plan;
mod quorum;
mod shared;
mod steady;
