//! Stretches in which nothing happens, for a timeline that has better things to do with its columns.

use super::{LessonTime, Stop};

/// A stretch is worth squeezing when it is at least one part in so many of the run.
const SHARE: u64 = 8;

/// The long stretches between two stops of a run that ends at `end`, in order.
pub(super) fn idle(stops: &[Stop], end: LessonTime) -> Vec<(LessonTime, LessonTime)> {
    let times = stops.iter().map(|stop| stop.t).chain([end]);
    let pairs = times.clone().zip(times.skip(1));
    pairs.filter(|(from, to)| from < to && to.saturating_sub(*from).ms() * SHARE >= end.ms()).collect()
}
