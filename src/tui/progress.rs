//! What a student has done so far, by lesson, and what to do next.
//!
//! Everything is kept under names that survive an edit of the lesson (variant ids, the question's own words), so an
//! answer to a question that no longer exists is simply not found.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::player::{Given, Grade};
use crate::lesson::Lesson;
use crate::lesson::catalogue::Entry;
use crate::trace::LessonTime;

/// All lessons that have been played.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// The lesson that was played last, by id.
    pub latest: Option<String>,
    /// By lesson id.
    pub lessons: BTreeMap<String, Played>,
}

/// One lesson.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Played {
    /// The variants whose end was seen, by id.
    pub watched: BTreeSet<String>,
    /// Where the student left.
    pub last: Option<Place>,
    /// The answers, in the order in which they were given.
    pub answers: Vec<Answered>,
}

/// A place in a lesson.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The variant, by id.
    pub variant: String,
    /// Milliseconds of lesson time.
    pub ms: LessonTime,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// The variant, by id.
    pub variant: String,
    /// The question, in its author's first language.
    pub question: String,
    /// What was answered.
    pub given: Given,
    /// What it was worth; none: nobody can say, or the student has not said yet.
    pub grade: Option<Grade>,
}

/// Answers, counted in halves: a half-right answer is half a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Half points.
    pub halves: usize,
    /// Answers that could be graded.
    pub of: usize,
}

impl Score {
    /// Takes one more answer in.
    pub const fn add(&mut self, grade: Option<Grade>) {
        if let Some(grade) = grade {
            self.of += 1;
            self.halves += grade.halves();
        }
    }

    /// Whether nothing was missed.
    #[must_use]
    pub const fn is_full(self) -> bool {
        self.halves == self.of * 2
    }

    /// `2/3`, `2.5/3`.
    #[must_use]
    pub fn text(self) -> String {
        let half = if self.halves.is_multiple_of(2) { "" } else { ".5" };
        format!("{}{half}/{}", self.halves / 2, self.of)
    }
}

impl Played {
    /// The answers given so far, counted.
    #[must_use]
    pub fn score(&self) -> Score {
        let mut score = Score::default();
        for answer in &self.answers {
            score.add(answer.grade);
        }
        score
    }

    /// How many of the lesson's variants have been seen to their end.
    #[must_use]
    pub fn watched_of(&self, lesson: &Lesson) -> usize {
        lesson.plans.iter().filter(|plan| self.watched.contains(&plan.variant)).count()
    }

    /// Whether all of them have.
    #[must_use]
    pub fn is_done(&self, lesson: &Lesson) -> bool {
        self.watched_of(lesson) == lesson.plans.len()
    }

    /// The first variant whose end has not been seen, by index.
    #[must_use]
    pub fn unseen(&self, lesson: &Lesson) -> Option<usize> {
        lesson.plans.iter().position(|plan| !self.watched.contains(&plan.variant))
    }
}

/// What to do next, and with which entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A lesson that was not touched yet.
    Begin(usize),
    /// On from where the student left.
    GoOn(usize),
    /// Another variant of a lesson that was begun.
    Variant(usize, usize),
    /// A lesson whose questions were not all answered well.
    Again(usize),
    /// All is done, and well.
    Nothing,
}

impl Next {
    /// The entry it is about.
    #[must_use]
    pub const fn entry(self) -> Option<usize> {
        match self {
            Self::Begin(entry) | Self::GoOn(entry) | Self::Variant(entry, _) | Self::Again(entry) => Some(entry),
            Self::Nothing => None,
        }
    }
}

impl Progress {
    /// Whether nothing has ever been played.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lessons.is_empty()
    }

    /// What there is about a lesson.
    #[must_use]
    pub fn of(&self, lesson: &Lesson) -> Option<&Played> {
        self.lessons.get(&lesson.id)
    }

    /// What a good teacher would suggest: finish what was begun, then the first lesson that is new, then those in
    /// which something was missed.
    #[must_use]
    pub fn next(&self, entries: &[Entry]) -> Next {
        let lessons =
            || entries.iter().enumerate().filter_map(|(i, e)| e.lesson.as_ref().ok().map(|lesson| (i, lesson)));
        let begun = |(i, lesson): (usize, &Lesson)| {
            let played = self.of(lesson)?;
            let variant = played.unseen(lesson)?;
            let on = played.last.as_ref().is_some_and(|last| !played.watched.contains(&last.variant));
            Some(if on { Next::GoOn(i) } else { Next::Variant(i, variant) })
        };
        let is_latest = |lesson: &Lesson| self.latest.as_ref() == Some(&lesson.id);
        lessons()
            .filter(|(_, lesson)| is_latest(lesson))
            .find_map(begun)
            .or_else(|| lessons().find_map(begun))
            .or_else(|| lessons().find(|(_, lesson)| self.of(lesson).is_none()).map(|(i, _)| Next::Begin(i)))
            .or_else(|| {
                let missed = |lesson: &Lesson| self.of(lesson).is_some_and(|played| !played.score().is_full());
                lessons().find(|(_, lesson)| missed(lesson)).map(|(i, _)| Next::Again(i))
            })
            .unwrap_or(Next::Nothing)
    }
}
