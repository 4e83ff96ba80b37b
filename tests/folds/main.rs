//! The folds over traces: detectors, verdict, judge, JSON Lines, and the report of `--check`, from hand-written traces.

mod check;
mod detect_lasting;
mod detect_wrong;
mod facts;
mod hand;
mod jsonl;
mod judge;
mod notes;
mod plan;
