//! What if: a variant with a few changes, its run beside the one that was seen, and the way back.
//!
//! The changes are values; each set of them is a plan of its own, and its run is made like any other. While it is being
//! made, the last one stays on the screen.

mod endless;
pub mod rows;
pub mod turn;
pub mod words;

pub use endless::{all_done, may_be_endless};

use std::sync::Arc;

use super::compare::Parting;
use super::player::Playhead;
use super::recording::Recording;
use crate::lesson::Plan;
use crate::lesson::whatif::{Draft, Edit};
use crate::trace::LessonTime;
use rows::Row;

/// The variant that answers to a run of a what-if: no lesson has so many.
pub const VARIANT: usize = usize::MAX;

/// A variant being changed.
#[derive(Clone, Debug)]
pub struct WhatIf {
    /// The variant, ready for changes.
    pub draft: Arc<Draft>,
    /// It as it is, with an id for each event.
    pub base: Arc<Plan>,
    /// What is changed.
    pub edits: Vec<Edit>,
    /// What is to be run.
    pub plan: Arc<Plan>,
    /// Counts the plans that were asked for, so that a run which comes late is known as such.
    pub revision: u32,
    /// The run that is on the screen; none: the variant's own.
    pub shown: Option<Shown>,
    /// The plan may have no end, so its run is looked at until then; none: it has one.
    pub until: Option<LessonTime>,
    /// Why the plan could not be run.
    pub failed: Option<String>,
    /// The list of what can be changed is open.
    pub open: bool,
    /// Which line of it is selected.
    pub selected: usize,
    /// Where the student is: the playhead comes back here whatever a change does to the run.
    pub home: Playhead,
    before: Vec<Moment>,
    after: Vec<Moment>,
    /// The row whose number was turned last: turning it on is one step back, not twenty.
    turning: Option<Row>,
}

/// A run with changes.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The changes.
    pub edits: Vec<Edit>,
    /// What was run.
    pub plan: Arc<Plan>,
    /// Where a run without end was cut.
    pub until: Option<LessonTime>,
    /// What happened.
    pub recording: Arc<Recording>,
    /// Where it parts from the run without them.
    pub parting: Option<Parting>,
    /// Events of which the author's words are not true any more, by index.
    pub untold: Vec<usize>,
}

/// What can be gone back to.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// The variant.
    pub variant: usize,
    /// What was changed in it.
    pub edits: Vec<Edit>,
}

impl Shown {
    /// The changes, and with them the end that was given to a run without one.
    #[must_use]
    pub fn all_edits(&self) -> Vec<Edit> {
        let until = self.until.map(|at| Edit::Until { at });
        self.edits.iter().cloned().chain(until).collect()
    }
}

impl WhatIf {
    /// A variant without changes.
    #[must_use]
    pub fn new(draft: Draft, base: Plan, home: Playhead) -> Self {
        let base = Arc::new(base);
        Self {
            draft: Arc::new(draft),
            plan: Arc::clone(&base),
            base,
            edits: Vec::new(),
            revision: 0,
            shown: None,
            until: None,
            failed: None,
            open: true,
            selected: 0,
            home,
            before: Vec::new(),
            after: Vec::new(),
            turning: None,
        }
    }

    /// Takes over another variant, and the changes that go with it.
    pub fn rebase(&mut self, draft: Draft, base: Plan) {
        self.draft = Arc::new(draft);
        self.base = Arc::new(base);
        self.plan = Arc::clone(&self.base);
    }

    /// Whether the run on the screen is the one that was asked for.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.failed.is_none() && self.shown.as_ref().map_or(&[][..], |shown| &shown.edits) == self.edits
    }

    /// Whether there is nothing to go back to.
    #[must_use]
    pub const fn is_fresh(&self) -> bool {
        self.edits.is_empty() && self.before.is_empty() && self.after.is_empty()
    }

    /// Remembers how things were before a change by way of `row`.
    pub fn note(&mut self, was: Moment, row: Option<Row>) {
        let goes_on = row.is_some() && self.turning == row && !self.before.is_empty();
        if !goes_on {
            self.before.push(was);
        }
        self.turning = row;
        self.after.clear();
    }

    /// One change back (or, with `again`, forward): what was there then. `now` is what is there now.
    pub fn step(&mut self, again: bool, now: Moment) -> Option<Moment> {
        let (from, to) = if again { (&mut self.after, &mut self.before) } else { (&mut self.before, &mut self.after) };
        let moment = from.pop()?;
        to.push(now);
        self.turning = None;
        Some(moment)
    }
}
