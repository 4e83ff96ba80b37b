//! `--check`: runs lessons, judges them, and says in words and in an exit code what came of it.
//!
//! Whoever calls [`check`] hands in the lessons and a way to run one; nothing in here knows the engine or Redis.

mod blocks;
mod exit;
mod run;
mod text;
mod words;

pub use exit::Exit;
pub use words::language;

use std::io::{self, Write};
use std::path::PathBuf;

use crate::lesson::{Lesson, RunLesson};
use crate::trace::Lang;

/// One lesson file to check.
pub enum Job {
    /// A lesson that could be read.
    Lesson(Box<Lesson>),
    /// A file that could not: exit code 2.
    Broken {
        /// The file's name, as it is to be shown.
        name: String,
        /// What is wrong with it, ready to be printed.
        diagnostics: String,
    },
}

/// How to check.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many variants run at once; at least one.
    pub jobs: usize,
    /// How often each variant runs; all its runs must give the same trace. At least once.
    pub repeat: usize,
    /// Only variants whose `lesson/variant` contains this. A file that cannot be read is reported in any case.
    pub filter: Option<String>,
    /// The language of the report.
    pub lang: Lang,
    /// Whether the report may use colour.
    pub colour: bool,
    /// Where to write each run's trace, as `LESSON.VARIANT.jsonl`.
    pub traces: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { jobs: 1, repeat: 1, filter: None, lang: Lang::En, colour: false, traces: None }
    }
}

/// What came of it all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Variants that were as expected.
    pub passed: usize,
    /// Variants and files that were not, or of which nothing can be said.
    pub failed: usize,
    /// Variants that this server cannot run.
    pub skipped: usize,
    /// The exit code.
    pub exit: Exit,
}

/// Checks all selected variants of `jobs` and writes the report to `out`, in the order of the jobs, as results come in.
///
/// Each of the threads makes one runner for itself with `make_runner` and keeps it. When the environment fails (no
/// server), what has not begun yet is not begun any more.
///
/// # Errors
/// What `out` answers.
pub fn check(
    jobs: &[Job],
    options: &Options,
    make_runner: &(dyn Fn() -> Box<dyn RunLesson> + Sync),
    out: &mut dyn Write,
) -> io::Result<Summary> {
    let units = run::units(jobs, options.filter.as_deref());
    let mut report = text::Report::new(out, options, &units)?;
    run::all(&units, options, make_runner, |index, result| report.result(&units[index], result))?;
    report.finish(options)
}

/// Whether a report to a stream may use colour: only a terminal gets it, and `NO_COLOR` (set, and not empty) forbids it.
#[must_use]
pub fn colour_wanted(is_terminal: bool, no_color: Option<&str>) -> bool {
    is_terminal && no_color.is_none_or(str::is_empty)
}
