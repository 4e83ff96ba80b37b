//! Where a student is: at a place of the recording, and at a pane of the screen.

use crate::trace::LessonTime;

/// A place in a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Playhead {
    /// Lesson time in microseconds: finer than a record's, so that a slow playhead still moves smoothly.
    pub us: u64,
    /// How many records have happened.
    pub pos: usize,
}

impl Playhead {
    /// The lesson time, in whole milliseconds.
    #[must_use]
    pub const fn t(self) -> LessonTime {
        LessonTime(self.us / 1000)
    }

    pub(super) const fn at(t: LessonTime, pos: usize) -> Self {
        Self { us: t.ms() * 1000, pos }
    }
}

/// The panes that can be scrolled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the panes")]
pub enum Focus {
    Timeline,
    #[default]
    Story,
    Inspector,
    Log,
}

impl Focus {
    const ALL: [Self; 4] = [Self::Timeline, Self::Story, Self::Inspector, Self::Log];

    pub(super) const fn turned(self, by: usize) -> Self {
        Self::ALL[(self as usize + by) % Self::ALL.len()]
    }
}
