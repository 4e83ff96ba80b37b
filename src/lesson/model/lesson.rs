//! What a reader is told: the lesson, its questions and answers.

use std::sync::Arc;

use super::super::expect::Expect;
use super::super::source::Source;
use super::plan::Plan;
use crate::trace::{LessonTime, Text};

/// A whole lesson file.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// The file.
    pub source: Arc<Source>,
    /// Unique among the lessons.
    pub id: String,
    /// How much it asks of the reader.
    pub level: Level,
    /// Its title.
    pub title: Text,
    /// What it is about.
    pub story: Option<Text>,
    /// What the interviewer asks.
    pub question: Option<Text>,
    /// The model answer.
    pub answer: Option<Text>,
    /// The one line to remember.
    pub hook: Option<Text>,
    /// What people wrongly believe, and what refutes it.
    pub misconceptions: Vec<Misconception>,
    /// What the interviewer asks next.
    pub follow_ups: Vec<FollowUp>,
    /// One plan per variant, in file order; a lesson without variants has one, with an empty variant id.
    pub plans: Vec<Plan>,
}

/// How much a lesson asks of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are the format's own words")]
pub enum Level {
    Intro,
    Core,
    Advanced,
}

/// A misconception and its refutation.
#[derive(Clone, Debug)]
pub struct Misconception {
    /// What people say.
    pub claim: Text,
    /// What is so.
    pub truth: Text,
    /// Where it can be seen.
    pub see: Option<See>,
}

/// Where something can be seen.
#[derive(Clone, Debug)]
pub enum See {
    /// At this time.
    Time(LessonTime),
    /// Where this holds.
    Expect(Box<Expect>),
}

/// A follow-up question.
#[derive(Clone, Debug)]
pub struct FollowUp {
    /// The question.
    pub question: Text,
    /// Its answer.
    pub answer: Text,
}

/// A question.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The question.
    pub text: Text,
    /// How it is answered.
    pub answer: Answer,
    /// A hint.
    pub hint: Option<Text>,
    /// Why the right answer is right.
    pub why: Option<Text>,
}

/// How a question is answered.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Exactly one of these holds: the run decides.
    Choices(Vec<Choice>),
    /// The student types the time that stands for `_`.
    Predict(Box<Expect>),
    /// Free text, compared by the student.
    Model(Text),
}

/// One choice.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Its text.
    pub text: Text,
    /// It is right if all of these hold; [`super::Expected::Otherwise`]: if none of the others does.
    pub when: Vec<Expect>,
}
