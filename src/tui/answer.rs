//! Answers to questions: what can be given, how a time is typed, and what an answer is worth.

use serde::{Deserialize, Serialize};

use super::proof::Proof;
use crate::trace::LessonTime;

/// What the student answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Given {
    /// This choice, from 0.
    Choice(usize),
    /// This time, in milliseconds.
    Time(LessonTime),
    /// Asked for the model answer, and has not said yet how the own one compares.
    Revealed,
    /// Compared the own answer with the model answer.
    Graded(Grade),
    /// Passed.
    Skipped,
}

/// What an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// All of it.
    Right,
    /// Half of it.
    Half,
    /// Nothing.
    Wrong,
}

impl Grade {
    /// In half points.
    #[must_use]
    pub const fn halves(self) -> usize {
        match self {
            Self::Right => 2,
            Self::Half => 1,
            Self::Wrong => 0,
        }
    }

    /// The grade behind key 1, 2 or 3 of the self-grading.
    #[must_use]
    pub const fn from_key(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Right),
            2 => Some(Self::Half),
            3 => Some(Self::Wrong),
            _ => None,
        }
    }
}

/// What `given` is worth where the run says `proof`; none: nobody can say (yet).
#[must_use]
pub fn grade(given: Given, proof: Proof) -> Option<Grade> {
    let when = |right| Some(if right { Grade::Right } else { Grade::Wrong });
    match (given, proof) {
        (Given::Graded(grade), _) => Some(grade),
        (Given::Revealed, _) | (_, Proof::Unknown) => None,
        (Given::Choice(chosen), Proof::Choice(right)) => when(chosen == right),
        (Given::Time(said), Proof::Time(right)) => when(is_close(said, right)),
        (Given::Choice(_) | Given::Time(_) | Given::Skipped, _) => Some(Grade::Wrong),
    }
}

/// Whether a predicted time counts as right: who says 3.3 s where it is 3.333 s has understood. One part in a hundred
/// is forgiven, and always 10 ms.
#[must_use]
pub fn is_close(said: LessonTime, right: LessonTime) -> bool {
    said.ms().abs_diff(right.ms()) <= (right.ms() / 100).max(10)
}

/// A time as people type it: `12`, `12.5`, `12s`, `12.5 s`, `12500ms`, `2m`, `12秒`, `500毫秒`; to the millisecond.
#[must_use]
pub fn typed_time(typed: &str) -> Option<LessonTime> {
    let typed = typed.trim();
    let end = typed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(typed.len());
    let (number, unit) = typed.split_at(end);
    let ms_per_unit: u64 = match unit.trim() {
        "" | "s" | "秒" => 1000,
        "ms" | "毫秒" => 1,
        "m" | "分" => 60_000,
        _ => return None,
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && part.is_empty() || part.len() > 6 || !part.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // In millionths of the unit; what is finer than a millisecond is refused, not rounded.
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    let fine = part * ms_per_unit;
    fine.is_multiple_of(1_000_000).then_some(())?;
    Some(LessonTime(whole.checked_mul(ms_per_unit)?.checked_add(fine / 1_000_000)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_type_them() {
        for (typed, ms) in [
            ("12", 12_000),
            ("12.5", 12_500),
            (".05", 50),
            ("12.", 12_000),
            ("12s", 12_000),
            ("12.5 s", 12_500),
            ("12500ms", 12_500),
            ("1.5m", 90_000),
            ("12秒", 12_000),
            ("500毫秒", 500),
            ("3.333", 3_333),
        ] {
            assert_eq!(typed_time(typed), Some(LessonTime(ms)), "{typed}");
        }
        for typed in ["", ".", "s", "ms", "1.2.3", "1.2345", "1.5ms", "12h", "12 s s", "99999999999999999999"] {
            assert_eq!(typed_time(typed), None, "{typed}");
        }
    }

    #[test]
    fn a_time_is_right_to_one_part_in_a_hundred() {
        let close = |said, right| is_close(LessonTime(said), LessonTime(right));
        assert!(close(12_000, 12_000) && close(3_300, 3_333) && close(10, 0));
        assert!(!close(11_000, 12_000) && !close(10_000, 9_000) && !close(11, 0));
    }

    #[test]
    fn an_answer_is_worth_what_the_run_says() {
        assert_eq!(grade(Given::Choice(1), Proof::Choice(1)), Some(Grade::Right));
        assert_eq!(grade(Given::Choice(0), Proof::Choice(1)), Some(Grade::Wrong));
        assert_eq!(grade(Given::Skipped, Proof::Choice(1)), Some(Grade::Wrong));
        assert_eq!(grade(Given::Skipped, Proof::Compare), Some(Grade::Wrong));
        assert_eq!(grade(Given::Revealed, Proof::Compare), None);
        assert_eq!(grade(Given::Graded(Grade::Half), Proof::Compare), Some(Grade::Half));
        assert_eq!(grade(Given::Choice(0), Proof::Unknown), None, "the run does not decide it");
    }
}
