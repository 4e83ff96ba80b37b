//! The report as text: a line per variant while it runs, then a block per failure, then the closing line.

use std::io::{self, Write};

use super::blocks::{Blocks, Mood};
use super::run::{Judged, Outcome, Unit};
use super::words::fill;
use super::{Exit, Options, Summary};

pub(super) struct Report<'a> {
    out: &'a mut dyn Write,
    /// How things are written.
    style: Blocks,
    /// What is printed after the lines.
    blocks: Vec<String>,
    summary: Summary,
    empty: bool,
}

impl<'a> Report<'a> {
    /// A report on `units`.
    pub(super) fn new(out: &'a mut dyn Write, options: &Options, units: &[Unit<'_>]) -> io::Result<Self> {
        Ok(Self {
            out,
            style: Blocks::new(options, units)?,
            blocks: Vec::new(),
            summary: Summary { passed: 0, failed: 0, skipped: 0, exit: Exit::Fine },
            empty: units.is_empty(),
        })
    }

    /// One more result, in order.
    pub(super) fn result(&mut self, unit: &Unit<'_>, outcome: Outcome) -> io::Result<()> {
        let words = &self.style.words;
        let (exit, mood, word, block) = match outcome {
            Outcome::Judged(judged) => return self.judged(unit, &judged),
            Outcome::Skipped(reason) => {
                self.summary.skipped += 1;
                let line = self.style.line(Mood::Quiet, &words.skipped, unit, &reason);
                return writeln!(self.out, "{line}");
            }
            Outcome::Differs(difference) => {
                (Exit::Failed, Mood::Bad, &words.failed, self.style.differs(unit, &difference))
            }
            Outcome::Broken => {
                let diagnostics = match unit {
                    Unit::Broken { diagnostics, .. } => diagnostics,
                    Unit::Plan(_) => "",
                };
                (Exit::Lesson, Mood::Bad, &words.broken_file, diagnostics.to_owned())
            }
            Outcome::Environment(text) => (Exit::Environment, Mood::Bad, &words.not_started, text),
            Outcome::NotWritten { path, error } => {
                let text = fill(&words.trace_not_written, &[("path", &path), ("error", &error)]);
                (Exit::Environment, Mood::Bad, &words.not_started, text)
            }
            Outcome::Engine(text) => {
                let block = self.style.block(unit, &words.engine, &[(None, text)]);
                (Exit::Inconclusive, Mood::Bad, &words.inconclusive_run, block)
            }
            // Why is said by the one that met the failure; its exit code stands for both.
            Outcome::NotStarted => (Exit::Fine, Mood::Quiet, &words.not_started, String::new()),
        };
        let line = self.style.line(mood, word, unit, "");
        self.failed(exit);
        self.add(&block);
        writeln!(self.out, "{line}")
    }

    /// The blocks and the closing line.
    pub(super) fn finish(mut self, options: &Options) -> io::Result<Summary> {
        let words = &self.style.words;
        if self.empty {
            let text = match &options.filter {
                Some(filter) => fill(&words.nothing_matches, &[("filter", filter)]),
                None => words.nothing_selected.clone(),
            };
            writeln!(self.out, "{text}")?;
            self.summary.exit = Exit::Usage;
        }
        for block in &self.blocks {
            write!(self.out, "\n{block}")?;
        }
        let Summary { passed, failed, skipped, exit } = self.summary;
        let [passed, failed, skipped] = [passed, failed, skipped].map(|n| n.to_string());
        let values = [("passed", passed.as_str()), ("failed", &failed), ("skipped", &skipped)];
        let mood = if exit == Exit::Fine { Mood::Good } else { Mood::Bad };
        let mut closing = fill(&words.summary, &values);
        if options.repeat > 1 && self.summary.passed > 0 {
            closing.push_str(&fill(&words.repeated, &[("n", &options.repeat.to_string())]));
        }
        writeln!(self.out, "\n{}", self.style.paint(mood, &closing))?;
        self.out.flush()?;
        Ok(self.summary)
    }

    fn failed(&mut self, exit: Exit) {
        self.summary.failed += 1;
        self.summary.exit = self.summary.exit.and(exit);
    }

    /// Adds a block, unless it is empty or has been said already (every thread may meet the same missing server).
    fn add(&mut self, block: &str) {
        let block = format!("{}\n", block.trim_end());
        if block != "\n" && !self.blocks.contains(&block) {
            self.blocks.push(block);
        }
    }

    fn judged(&mut self, unit: &Unit<'_>, judged: &Judged) -> io::Result<()> {
        let judgement = &judged.judgement;
        let words = &self.style.words;
        let (exit, mood, word) = if judgement.is_as_expected() {
            (Exit::Fine, Mood::Good, &words.ok)
        } else if judgement.failures.is_empty() {
            (Exit::Inconclusive, Mood::Bad, &words.inconclusive_run)
        } else {
            (Exit::Failed, Mood::Bad, &words.failed)
        };
        writeln!(self.out, "{}", self.style.line(mood, word, unit, &self.style.figures(judged)))?;
        if exit == Exit::Fine {
            self.summary.passed += 1;
        } else {
            self.failed(exit);
        }
        for failure in &judgement.failures {
            self.blocks.push(self.style.failure(unit, failure));
        }
        for unrun in &judgement.unrun {
            let text = fill(&self.style.words.unrun, &[("because", &unrun.because)]);
            self.blocks.push(self.style.block(unit, "", &[(Some(unrun.span), text)]));
        }
        for (line, text) in &judged.warnings {
            self.blocks.push(self.style.warning(unit, *line, text));
        }
        Ok(())
    }
}
