//! Lesson time: whole milliseconds since the run began.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// An instant or a span on the lesson clock, in whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LessonTime(pub u64);

impl LessonTime {
    /// The instant a run begins.
    pub const ZERO: Self = Self(0);

    /// Milliseconds.
    #[must_use]
    pub const fn ms(self) -> u64 {
        self.0
    }

    /// `self - other`, or zero where that would be before the beginning.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// As a lesson file writes it: `12s` where it is whole seconds, else `12500ms`.
    #[must_use]
    pub fn yaml(self) -> String {
        if self.0 != 0 && self.0.is_multiple_of(1000) { format!("{}s", self.0 / 1000) } else { format!("{}ms", self.0) }
    }
}

impl Add for LessonTime {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for LessonTime {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

/// Seconds with three decimals: `12.500`.
impl fmt::Display for LessonTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{:03}", self.0 / 1000, self.0 % 1000))
    }
}
