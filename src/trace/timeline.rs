//! A trace prepared for looking at: what a player draws and where it can stop.
//!
//! Everything here is computed once per run and then only looked up, by binary search: a frame costs the same for a
//! lesson of ten records as for a soak test of ten thousand, but for a logarithm.

mod checkpoints;
mod idle;
mod lanes;
mod standing;
mod stops;

pub use lanes::{Fill, Lane, LaneKind, Mark, Sign, Stretch, Sweep, forward};
pub use standing::Standing;
pub use stops::{Marker, MarkerKind, Stop};

use super::{Finding, LessonTime, Record, State, Trace};
use checkpoints::Checkpoints;

/// What can be looked up in a trace at any playhead. A playhead is a number of records that have happened (`pos`),
/// together with a lesson time; several records share one instant, so the time alone does not say.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// When the run ended.
    pub end: LessonTime,
    /// What is drawn over the time axis, from top to bottom.
    pub lanes: Vec<Lane>,
    /// Where stepping stops: each command with what it caused, each expiry, each happening. Never empty.
    pub stops: Vec<Stop>,
    /// What is worth a jump, in order.
    pub markers: Vec<Marker>,
    /// When these are, close together in memory.
    pub marker_times: Vec<LessonTime>,
    /// Long stretches in which nothing happens, in order.
    pub idle: Vec<(LessonTime, LessonTime)>,
    standings: Vec<(usize, Standing)>,
    checkpoints: Checkpoints,
}

impl Timeline {
    /// Prepares `trace`, whose findings are `findings`.
    #[must_use]
    pub fn new(trace: &Trace, findings: &[Finding]) -> Self {
        let end = trace.records.last().map_or(LessonTime::ZERO, |record| record.t);
        let stops = stops::stops(trace);
        let markers = stops::markers(trace, findings);
        Self {
            end,
            lanes: lanes::lanes(trace, findings, end),
            marker_times: markers.iter().map(|marker| marker.t).collect(),
            markers,
            standings: standing::standings(trace, findings),
            checkpoints: Checkpoints::new(trace),
            idle: idle::idle(&stops, end),
            stops,
        }
    }

    /// The state after the first `pos` records of `trace`, which must be the one that this was made from.
    #[must_use]
    pub fn state_at(&self, trace: &Trace, pos: usize) -> State {
        self.checkpoints.state_at(trace, pos)
    }

    /// How things stand after the first `pos` records.
    #[must_use]
    pub fn standing(&self, pos: usize) -> Standing {
        let known = self.standings.partition_point(|(record, _)| *record < pos);
        known.checked_sub(1).map_or(Standing::Safe, |i| self.standings[i].1)
    }

    /// The last stop at or before `pos`.
    #[must_use]
    pub fn stop_at(&self, pos: usize) -> usize {
        self.stops.partition_point(|stop| stop.end <= pos).saturating_sub(1)
    }

    /// The stop in which record `record` happens.
    #[must_use]
    pub fn stop_of(&self, record: usize) -> usize {
        self.stops.partition_point(|stop| stop.end <= record).min(self.stops.len().saturating_sub(1))
    }
}

/// How many of `records` have happened when the instant `t` is over.
#[must_use]
pub fn happened(records: &[Record], t: LessonTime) -> usize {
    records.partition_point(|record| record.t <= t)
}
