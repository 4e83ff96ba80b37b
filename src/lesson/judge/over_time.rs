//! What was true when: anything that a state tells, as stretches of lesson time.

use crate::lesson::expect::ExpectTime;
use crate::trace::{LessonTime, State, Trace};

/// A stretch of lesson time, from `from` up to, and without, `to` (none: until the end of the run, and with it).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stretch<T> {
    pub from: LessonTime,
    pub to: Option<LessonTime>,
    pub value: T,
}

impl<T> Stretch<T> {
    /// Whether it contains an instant that `at` speaks of: the instant itself, any of a range, the end of the run.
    pub(super) fn covers(&self, at: ExpectTime) -> bool {
        match at {
            ExpectTime::At(t) => self.from <= t && self.to.is_none_or(|to| t < to),
            ExpectTime::Between(a, b) => self.from <= b && self.to.is_none_or(|to| a < to),
            ExpectTime::End => self.to.is_none(),
            ExpectTime::Asked => true,
        }
    }
}

/// What `sample` says of the run's state, as stretches in which it says the same. The state at an instant is the one
/// after everything that happened then, expiries included; what was true within an instant only does not show.
pub(super) fn over_time<T: PartialEq>(trace: &Trace, sample: impl Fn(&State) -> T) -> Vec<Stretch<T>> {
    let mut state = State::new(&trace.header);
    let mut stretches: Vec<Stretch<T>> = Vec::new();
    let mut note = |t: LessonTime, value: T| {
        if stretches.last().is_some_and(|last| last.value == value) {
            return;
        }
        if let Some(last) = stretches.last_mut() {
            last.to = Some(t);
        }
        stretches.push(Stretch { from: t, to: None, value });
    };
    for record in &trace.records {
        if record.t > state.t {
            note(state.t, sample(&state));
        }
        state.apply(&trace.header, record);
    }
    note(state.t, sample(&state));
    stretches
}

/// Whether `t` is what `at` asks for; `end` is when the run ended.
pub(super) fn is_then(at: Option<ExpectTime>, t: LessonTime, end: LessonTime) -> bool {
    match at {
        None | Some(ExpectTime::Asked) => true,
        Some(ExpectTime::At(expected)) => t == expected,
        Some(ExpectTime::Between(a, b)) => a <= t && t <= b,
        Some(ExpectTime::End) => t == end,
    }
}

/// Whether something that lasts ended when `to` asks; `end` there means that it was still so when the run ended.
pub(super) fn ends_then(to: Option<ExpectTime>, ended: Option<LessonTime>) -> bool {
    match (to, ended) {
        (None | Some(ExpectTime::Asked), _) | (Some(ExpectTime::End), None) => true,
        (Some(ExpectTime::End), Some(_)) | (Some(_), None) => false,
        (Some(to), Some(ended)) => is_then(Some(to), ended, ended),
    }
}
