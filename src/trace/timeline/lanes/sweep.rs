//! Looking at a lane column by column, from left to right.

use super::{Lane, Mark, Stretch};
use crate::trace::LessonTime;

/// A lane, of which only the first records may be known, and how far it has been looked at.
///
/// What is in a column is looked for from where the column before it ended, in steps that double: a column costs the
/// logarithm of what it holds, and nothing where nothing changes. Columns must be asked for in order.
#[derive(Clone, Debug)]
pub struct Sweep<'a> {
    lane: &'a Lane,
    limit: usize,
    /// When the stretches begin that may be known.
    stretches: &'a [LessonTime],
    /// When the marks are that may be known.
    marks: &'a [LessonTime],
    /// Stretches that have begun.
    begun: usize,
    /// Marks that lie before the column.
    passed: usize,
}

impl<'a> Sweep<'a> {
    /// At the beginning of `lane`, of which only the first `limit` records may be known.
    #[must_use]
    pub fn new(lane: &'a Lane, limit: usize) -> Self {
        let stretches = lane.stretches.partition_point(|stretch| stretch.record < limit);
        let marks = lane.marks.partition_point(|mark| mark.record < limit);
        Self {
            lane,
            limit,
            stretches: &lane.index.stretches[..stretches],
            marks: &lane.index.marks[..marks],
            begun: 0,
            passed: 0,
        }
    }

    /// What is to be seen of the stretches between `from` (included) and `until` (not included). Of several, the one
    /// that begins last.
    pub fn stretch_in(&mut self, from: LessonTime, until: LessonTime) -> Option<&'a Stretch> {
        self.begun = forward(self.stretches, self.begun, |begin| *begin < until);
        let last = self.lane.stretches.get(self.begun.checked_sub(1)?)?;
        // A stretch of no length is still seen in the column in which it begins.
        (last.from >= from || last.to > from || last.end_record >= self.limit).then_some(last)
    }

    /// The first mark between `from` (included) and `until` (not included).
    pub fn mark_in(&mut self, from: LessonTime, until: LessonTime) -> Option<&'a Mark> {
        self.passed = forward(self.marks, self.passed, |t| *t < from);
        self.marks.get(self.passed).filter(|t| **t < until)?;
        self.lane.marks.get(self.passed)
    }
}

/// Like `partition_point`, when it is known that the first `known` items come before it: in steps that double.
pub fn forward<T>(items: &[T], known: usize, comes_before: impl Fn(&T) -> bool) -> usize {
    let (mut low, mut step) = (known, 1);
    while items.get(low + step - 1).is_some_and(&comes_before) {
        low += step;
        step *= 2;
    }
    let high = (low + step - 1).min(items.len());
    low + items.get(low..high).map_or(0, |tail| tail.partition_point(comes_before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_finds_what_partition_point_finds() {
        for len in 0..40_usize {
            let items: Vec<usize> = (0..len).collect();
            for point in 0..=len {
                for known in 0..=point {
                    assert_eq!(forward(&items, known, |item| *item < point), point, "{len} {point} {known}");
                }
            }
        }
    }
}
