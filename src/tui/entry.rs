//! A line of the catalogue: a lesson, or a file that did not become one.

use crate::lesson::Lesson;

/// One lesson file. A file that cannot be read is shown with its errors, never hidden: its author is looking for it.
#[derive(Clone, Debug)]
pub enum Entry {
    /// It can be played.
    Lesson(Box<Lesson>),
    /// It has errors.
    Failed {
        /// The file, as it is to be shown.
        name: String,
        /// What is wrong with it, as `--check` would print it, without colours.
        errors: String,
    },
}

impl Entry {
    /// The lesson, if it is one.
    #[must_use]
    pub const fn lesson(&self) -> Option<&Lesson> {
        match self {
            Self::Lesson(lesson) => Some(lesson),
            Self::Failed { .. } => None,
        }
    }
}
