//! Runs the selected variants on some threads, and hands on the results in order.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::{Job, Options};
use crate::lesson::{Judgement, Plan, RunFailure, RunLesson, Source, judge};
use crate::trace::{LessonTime, Trace, What, jsonl};

/// One line of the report.
pub(super) enum Unit<'a> {
    /// A variant to run.
    Plan(&'a Plan),
    /// A file that cannot be read.
    Broken { name: &'a str, diagnostics: &'a str },
}

/// What came of a unit.
pub(super) enum Outcome {
    /// It ran and was judged.
    Judged(Box<Judged>),
    /// It ran several times, and not always in the same way.
    Differs(Box<Difference>),
    /// The server cannot do what it needs.
    Skipped(String),
    /// The file cannot be read.
    Broken,
    /// No server.
    Environment(String),
    /// The trace could not be kept where it was asked for.
    NotWritten { path: String, error: String },
    /// The engine gave up.
    Engine(String),
    /// The environment had failed before its turn came.
    NotStarted,
}

/// A run and its judgement.
pub(super) struct Judged {
    pub judgement: Judgement,
    /// It ran in real time, because it cannot do otherwise.
    pub real: bool,
    /// How much lesson time went by.
    pub lesson_time: LessonTime,
    /// How long the (first) run really took, in microseconds, where the trace says so.
    pub real_us: Option<u64>,
    /// What a careful author wants to know: the event's line, and the text.
    pub warnings: Vec<(Option<usize>, String)>,
}

/// The first difference between two runs.
pub(super) struct Difference {
    /// Which run was different, from 2.
    pub run: usize,
    /// The index of the first record that differs; none: the headers differ.
    pub record: Option<usize>,
    /// What the first run had there, as JSON; none: it had ended.
    pub first: Option<String>,
    /// What the other run had there.
    pub other: Option<String>,
}

impl Unit<'_> {
    /// `lesson/variant`; the lesson alone where it has no variants.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Plan(plan) if plan.variant.is_empty() => plan.lesson.clone(),
            Self::Plan(plan) => format!("{}/{}", plan.lesson, plan.variant),
            Self::Broken { name, .. } => (*name).to_owned(),
        }
    }

    /// Whether it runs in real time.
    fn is_real(&self) -> bool {
        matches!(self, Self::Plan(plan) if plan.is_on_real_clock())
    }

    /// The file it stands in.
    pub(super) fn source(&self) -> Option<&Arc<Source>> {
        match self {
            Self::Plan(plan) => Some(&plan.source),
            Self::Broken { .. } => None,
        }
    }
}

/// What is to be run.
pub(super) fn units<'a>(jobs: &'a [Job], filter: Option<&str>) -> Vec<Unit<'a>> {
    let mut units = Vec::new();
    for job in jobs {
        match job {
            Job::Lesson(lesson) => units.extend(lesson.plans.iter().map(Unit::Plan)),
            Job::Broken { name, diagnostics } => units.push(Unit::Broken { name, diagnostics }),
        }
    }
    // What a file that cannot be read would contain is not known, so a filter does not hide it.
    units.retain(|unit| matches!(unit, Unit::Broken { .. }) || filter.is_none_or(|part| unit.name().contains(part)));
    units
}

/// How many lessons in real time run at once. They hardly need a processor, but each has six servers.
const REAL_AT_ONCE: usize = 6;

/// Runs all `units`; those that run in real time beside the others, on threads of their own, so that all of it takes no
/// longer than the longest of them. `done` gets each result once, in the order of the units, as soon as it and all before it are there.
pub(super) fn all(
    units: &[Unit<'_>],
    options: &Options,
    make_runner: &(dyn Fn() -> Box<dyn RunLesson> + Sync),
    mut done: impl FnMut(usize, Outcome) -> io::Result<()>,
) -> io::Result<()> {
    let (real, quick): (Vec<usize>, Vec<usize>) = (0..units.len()).partition(|index| units[*index].is_real());
    let lanes = [(real, REAL_AT_ONCE), (quick, options.jobs)];
    let lanes = lanes.map(|(work, threads)| (AtomicUsize::new(0), threads.clamp(1, work.len().max(1)), work));
    let stop = AtomicBool::new(false);
    let (results, arrivals) = mpsc::channel();
    thread::scope(|scope| {
        let threads = lanes.iter().flat_map(|lane| std::iter::repeat_n(lane, lane.1));
        for (next, _, work) in threads {
            let (stop, results) = (&stop, results.clone());
            scope.spawn(move || {
                // A runner starts servers when it first needs them; a thread that gets nothing to do has none.
                let mut runner = None;
                while let Some(&index) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let unit = &units[index];
                    let outcome = match unit {
                        Unit::Broken { .. } => Outcome::Broken,
                        Unit::Plan(_) if stop.load(Ordering::Relaxed) => Outcome::NotStarted,
                        Unit::Plan(plan) => one(plan, options, runner.get_or_insert_with(make_runner).as_mut()),
                    };
                    if matches!(outcome, Outcome::Environment(_) | Outcome::NotWritten { .. }) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    if results.send((index, outcome)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(results);
        let mut early = BTreeMap::new();
        let mut turn = 0;
        for (index, outcome) in arrivals {
            early.insert(index, outcome);
            while let Some(outcome) = early.remove(&turn) {
                done(turn, outcome)?;
                turn += 1;
            }
        }
        Ok(())
    })
}

/// Runs one variant as often as asked, and judges its first run.
fn one(plan: &Plan, options: &Options, runner: &mut dyn RunLesson) -> Outcome {
    let first = match runner.run(plan) {
        Ok(trace) => trace,
        Err(failure) => return failed(failure),
    };
    if let Some(folder) = &options.traces
        && let Err((path, error)) = keep(&first, folder, plan)
    {
        return Outcome::NotWritten { path, error };
    }
    if options.repeat > 1 {
        let lines = lines(plan, &first);
        for run in 2..=options.repeat {
            let other = match runner.run(plan) {
                Ok(trace) => trace,
                Err(failure) => return failed(failure),
            };
            if let Some(difference) = difference(&lines, &self::lines(plan, &other), run) {
                return Outcome::Differs(Box::new(difference));
            }
        }
    }
    let warnings = first.records.iter().filter_map(|record| match &record.what {
        What::Warning { event, text } => {
            Some((event.and_then(|e| first.header.events.get(e)).map(|e| e.line), text.clone()))
        }
        _ => None,
    });
    Outcome::Judged(Box::new(Judged {
        judgement: judge(plan, &first),
        real: plan.is_on_real_clock(),
        lesson_time: first.records.last().map_or(LessonTime::ZERO, |record| record.t),
        real_us: first.records.iter().rev().find_map(|record| record.real_us),
        warnings: warnings.collect(),
    }))
}

fn failed(failure: RunFailure) -> Outcome {
    match failure {
        RunFailure::Skipped(reason) => Outcome::Skipped(reason),
        RunFailure::Environment(text) => Outcome::Environment(text),
        RunFailure::Engine(text) => Outcome::Engine(text),
    }
}

/// A trace as it is compared: one line for the header, one per record; of a run in real time, what must be the same.
fn lines(plan: &Plan, trace: &Trace) -> Vec<String> {
    if plan.is_on_real_clock() {
        return trace.steady();
    }
    let mut bytes = Vec::new();
    // Writing to memory does not fail; if it did, the lines would be missing and the runs would differ.
    let _ = jsonl::write(&trace.without_real_times(), &mut bytes);
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

fn difference(first: &[String], other: &[String], run: usize) -> Option<Difference> {
    let at = (0..first.len().max(other.len())).find(|i| first.get(*i) != other.get(*i))?;
    Some(Difference { run, record: at.checked_sub(1), first: first.get(at).cloned(), other: other.get(at).cloned() })
}

/// Writes the trace; on failure, where to and what the system said.
fn keep(trace: &Trace, folder: &Path, plan: &Plan) -> Result<(), (String, String)> {
    let variant = if plan.variant.is_empty() { String::new() } else { format!(".{}", plan.variant) };
    let path = folder.join(format!("{}{variant}.jsonl", plan.lesson));
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::File::create(&path))
        .and_then(|file| jsonl::write(trace, io::BufWriter::new(file)));
    written.map_err(|error| (path.display().to_string(), error.to_string()))
}
