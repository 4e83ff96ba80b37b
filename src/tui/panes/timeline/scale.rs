//! From lesson time to columns and back: all of the run or a part of it, idle stretches as long as they are or squeezed.
//!
//! ```text
//! lesson time ──(idle stretches squeezed)──▶ axis ──(window around the playhead)──▶ columns
//! ```

use crate::trace::LessonTime;

/// What one millisecond that is not squeezed takes of the axis.
const MS: u64 = 1000;

/// A squeezed stretch takes one part in so many of all that is not squeezed.
const SQUEEZED: u64 = 10;

/// A window is never narrower than this many milliseconds.
const NARROWEST: u64 = 20;

/// How much of the run is shown, and how.
#[derive(Clone, Copy, Debug)]
pub struct Lens {
    /// The window is the whole, halved so many times.
    pub zoom: u8,
    /// Whether idle stretches are squeezed.
    pub squeeze: bool,
    /// What the window is centred on.
    pub centre: LessonTime,
    /// Where the axis ends.
    pub end: LessonTime,
}

/// A table of when each column begins.
#[derive(Clone, Debug)]
pub struct Scale {
    /// First column of the screen.
    pub left: u16,
    /// Number of columns.
    pub columns: u16,
    /// How many milliseconds are shown, squeezed ones left out: what the labels of the axis have to share.
    pub span: u64,
    /// The stretches that are squeezed.
    pub squeezed: Vec<(LessonTime, LessonTime)>,
    /// When each half column begins, and when the last one ends.
    halves: Vec<LessonTime>,
}

/// A point where the axis changes its pace: lesson time in ms, and place on the axis.
type Knot = (u64, u64);

impl Scale {
    /// `columns` columns from `left` on for what `lens` shows of a run with these `idle` stretches.
    #[must_use]
    pub fn new(left: u16, columns: u16, idle: &[(LessonTime, LessonTime)], lens: Lens) -> Self {
        let end = lens.end.ms().max(1);
        let idle = if lens.squeeze { idle } else { &[] };
        let idle_ms: u64 = idle.iter().map(|(from, to)| to.saturating_sub(*from).ms()).sum();
        let busy = (end - idle_ms.min(end)) * MS;
        // A run in which nothing happens has nothing to make room for.
        let idle = if busy == 0 { &[] } else { idle };
        let mut knots: Vec<Knot> = vec![(0, 0)];
        let mut shift = |to: u64, length: Option<u64>| {
            let (t, place) = knots[knots.len() - 1];
            knots.push((to, place + length.unwrap_or((to - t) * MS)));
        };
        for (from, to) in idle {
            shift(from.ms(), None);
            shift(to.ms(), Some((busy / SQUEEZED).clamp(1, to.saturating_sub(*from).ms() * MS)));
        }
        shift(end, None);
        let whole = knots[knots.len() - 1].1;
        let span = (whole >> lens.zoom.min(40)).max(NARROWEST * MS).min(whole);
        let first = place_of(&knots, lens.centre.ms()).saturating_sub(span / 2).min(whole - span);
        let last = u64::from(columns.saturating_sub(1)).max(1);
        let halves = (0..=u64::from(columns) * 2)
            .map(|half| LessonTime(time_of(&knots, first + (half * span).div_ceil(last * 2))))
            .collect();
        Self { left, columns, span: span / MS, squeezed: idle.to_vec(), halves }
    }

    /// The column of `t`, counted from [`Self::left`]; of what is not shown, the nearest.
    #[must_use]
    pub fn column(&self, t: LessonTime) -> u16 {
        // Only the beginnings of whole columns count: the table is sorted, so the half before never lies later.
        let halves = self.halves.partition_point(|start| *start <= t).saturating_sub(1);
        u16::try_from(halves / 2).unwrap_or(u16::MAX).min(self.columns.saturating_sub(1))
    }

    /// The first instant of a column.
    #[must_use]
    pub fn start(&self, column: u16) -> LessonTime {
        let last = self.halves.len() - 1;
        self.halves[(usize::from(column) * 2).min(last)]
    }

    /// The first instant of a column's second half.
    #[must_use]
    pub fn middle(&self, column: u16) -> LessonTime {
        let last = self.halves.len() - 1;
        self.halves[(usize::from(column) * 2 + 1).min(last)]
    }

    /// Whether `t` is in the window.
    #[must_use]
    pub fn shows(&self, t: LessonTime) -> bool {
        self.start(0) <= t && t < self.start(self.columns)
    }
}

/// Where on the axis a time is.
fn place_of(knots: &[Knot], t: u64) -> u64 {
    let i = knots.partition_point(|knot| knot.0 <= t).clamp(1, knots.len().max(2) - 1);
    let (from, to) = (knots[i - 1], knots[i]);
    if t >= to.0 {
        return to.1;
    }
    from.1 + (t - from.0) * (to.1 - from.1) / (to.0 - from.0).max(1)
}

/// The first millisecond at or after a place on the axis; behind its end time goes on.
fn time_of(knots: &[Knot], place: u64) -> u64 {
    let i = knots.partition_point(|knot| knot.1 < place);
    let Some(to) = knots.get(i) else {
        let end = knots[knots.len() - 1];
        return end.0 + (place - end.1).div_ceil(MS);
    };
    let Some(from) = i.checked_sub(1).map(|i| knots[i]) else { return to.0 };
    from.0 + ((place - from.1) * (to.0 - from.0)).div_ceil((to.1 - from.1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Record, Timeline, Trace, What};

    /// Something happens at these times, and the run ends with the last of them.
    fn timeline(times: &[u64]) -> Timeline {
        let records =
            times.iter().map(|t| Record { t: LessonTime(*t), real_us: None, what: What::EventStart { event: 0 } });
        Timeline::new(&Trace { records: records.collect(), ..Trace::default() }, &[])
    }

    const ALL: Lens = Lens { zoom: 0, squeeze: false, centre: LessonTime::ZERO, end: LessonTime::ZERO };

    fn scale(columns: u16, timeline: &Timeline, lens: Lens) -> Scale {
        Scale::new(5, columns, &timeline.idle, Lens { end: timeline.end, ..lens })
    }

    #[test]
    fn the_whole_run_takes_the_columns_evenly() {
        let table = scale(101, &timeline(&[0, 500, 1000]), ALL);
        for (t, column) in [(0, 0), (9, 0), (10, 1), (499, 49), (500, 50), (1000, 100)] {
            assert_eq!(table.column(LessonTime(t)), column, "{t}");
        }
        assert_eq!(
            (table.start(1), table.middle(1), table.start(100)),
            (LessonTime(10), LessonTime(15), LessonTime(1000))
        );
    }

    #[test]
    fn each_column_begins_where_its_times_begin() {
        for columns in [1, 2, 37, 200] {
            for lens in [ALL, Lens { zoom: 3, centre: LessonTime(10_003), ..ALL }, Lens { squeeze: true, ..ALL }] {
                let table = scale(columns, &timeline(&[0, 3, 10_000, 10_005, 10_007, 20_000]), lens);
                for column in 0..columns {
                    assert!(table.start(column) <= table.middle(column), "{column} of {columns}");
                    assert!(table.middle(column) <= table.start(column + 1), "{column} of {columns}");
                    let start = table.start(column);
                    if table.start(column + 1) > start && columns > 1 {
                        assert_eq!(table.column(start), column, "{column} of {columns}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_window_keeps_what_it_is_centred_on_and_stays_inside() {
        let timeline = timeline(&[0, 16_000]);
        for centre in [0, 1000, 8000, 15_900, 16_000] {
            for zoom in 0..12 {
                let centre = LessonTime(centre);
                let table = scale(80, &timeline, Lens { zoom, centre, ..ALL });
                assert!(table.shows(centre), "{centre} at {zoom}");
                assert!(table.start(79) <= LessonTime(16_000), "{centre} at {zoom}");
                assert_eq!(table.span, (16_000 >> zoom).max(20), "{zoom}");
            }
        }
    }

    #[test]
    fn squeezing_gives_room_to_what_happens() {
        let timeline = timeline(&[0, 10_000, 10_002, 10_006]);
        assert_eq!(timeline.idle, [(LessonTime(0), LessonTime(10_000))]);
        let wide = scale(100, &timeline, ALL);
        assert_eq!(wide.column(LessonTime(10_002)), wide.column(LessonTime(10_000)), "they cannot be told apart");
        let squeezed = scale(100, &timeline, Lens { squeeze: true, ..ALL });
        let [a, b, c] = [10_000, 10_002, 10_006].map(|t| squeezed.column(LessonTime(t)));
        assert!(a < 12 && b > a + 20 && c == 99, "{a} {b} {c}");
    }

    #[test]
    fn nothing_at_all_has_a_scale_too() {
        for squeeze in [false, true] {
            for columns in [0, 1, 80] {
                let table = scale(columns, &timeline(&[]), Lens { squeeze, ..ALL });
                assert_eq!(table.column(LessonTime(0)), 0);
            }
        }
    }
}
