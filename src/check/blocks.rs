//! How the report writes things: a line, a block, a failure.

use std::fmt::Write as _;
use std::io;

use unicode_width::UnicodeWidthStr;

use super::Options;
use super::run::{Difference, Judged, Unit};
use super::words::{Words, fill};
use crate::lesson::judge::{Failure, Promise, Seen, reply_yaml};
use crate::lesson::{Source, Span};
use crate::trace::{Lang, LessonTime};

/// How a piece of text is to look.
#[derive(Clone, Copy)]
pub(super) enum Mood {
    Good,
    Bad,
    Quiet,
}

/// The report's words and widths.
pub(super) struct Blocks {
    pub(super) words: Words,
    lang: Lang,
    colour: bool,
    /// Width of the first column, in cells.
    word_width: usize,
    /// Width of the names' column, in cells.
    name_width: usize,
}

impl Blocks {
    /// Made to fit `units`.
    pub(super) fn new(options: &Options, units: &[Unit<'_>]) -> io::Result<Self> {
        let words = Words::new(options.lang)?;
        let name_width = units.iter().map(|unit| unit.name().width()).max().unwrap_or(0);
        let first =
            [&words.ok, &words.failed, &words.skipped, &words.inconclusive_run, &words.broken_file, &words.not_started];
        let word_width = first.iter().map(|word| word.width()).max().unwrap_or(0);
        Ok(Self { words, lang: options.lang, colour: options.colour, word_width, name_width })
    }

    /// `ok       lesson/variant   …`
    pub(super) fn line(&self, mood: Mood, word: &str, unit: &Unit<'_>, rest: &str) -> String {
        let (word, name) = (self.paint(mood, &pad(word, self.word_width)), pad(&unit.name(), self.name_width));
        format!("{word}  {name}  {rest}").trim_end().to_owned()
    }

    /// Verdict, lesson time, real time.
    pub(super) fn figures(&self, judged: &Judged) -> String {
        let verdict = self.words.verdict(judged.judgement.verdict);
        let real = judged.real_us.map_or_else(String::new, |us| {
            let tenths = (us + 50) / 100;
            format!("{:>6}.{} ms", tenths / 10, tenths % 10)
        });
        let note = if judged.real { format!("   {}", self.words.real_clock) } else { String::new() };
        format!("{} {:>9} s {real}{note}", pad(verdict, 12), judged.lesson_time)
    }

    /// A block on `unit`: a headline, then places with what is to be said of them.
    pub(super) fn block(&self, unit: &Unit<'_>, headline: &str, places: &[(Option<Span>, String)]) -> String {
        let mut lines = vec![self.headline(unit)];
        if !headline.is_empty() {
            lines.push(format!("  {headline}"));
        }
        for (span, text) in places {
            match (span, unit.source()) {
                (Some(span), Some(source)) => {
                    lines.push(format!("  {}: {text}", source.at(*span)));
                    lines.extend(excerpt(source, *span));
                }
                _ => lines.push(format!("  {text}")),
            }
        }
        joined(&lines)
    }

    /// Something that a careful author wants to know.
    pub(super) fn warning(&self, unit: &Unit<'_>, line: Option<usize>, text: &str) -> String {
        let file = unit.source().map_or("", |source| &source.name);
        let place = line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"));
        joined(&[format!("{}: {}", self.words.warning, unit.name()), format!("  {place}: {text}")])
    }

    /// A promise that was not kept: where it stands, what it is, what was seen instead.
    pub(super) fn failure(&self, unit: &Unit<'_>, failure: &Failure) -> String {
        let mut lines = vec![self.headline(unit)];
        lines.extend(unit.source().map(|source| format!("  {}", source.at(failure.span))));
        let width = self.words.expected.width().max(self.words.seen.width()) + 2;
        lines.push(format!("  {}{}", pad(&self.words.expected, width), self.expected(failure)));
        let mut seen = self.seen(&failure.seen);
        if let (Some(line), Some(last)) = (failure.cause_line, seen.last_mut()) {
            let cause = fill(&self.words.caused_at, &[("line", &line.to_string())]);
            // Writing to a String cannot fail.
            let _ = write!(last, "   # {cause}");
        }
        for (i, seen) in seen.iter().enumerate() {
            lines.push(format!("  {}{seen}", pad(if i == 0 { &self.words.seen } else { "" }, width)));
        }
        joined(&lines)
    }

    fn expected(&self, failure: &Failure) -> String {
        match failure.promise {
            Promise::NothingElse => self.words.nothing_else.clone(),
            Promise::OneChoice => self.words.one_choice.clone(),
            Promise::OneValue => fill(&self.words.one_value, &[("entry", &failure.expected)]),
            Promise::Reply => format!("reply: {}", failure.expected),
            Promise::Verdict | Promise::Happens | Promise::Fact => failure.expected.clone(),
        }
    }

    /// What was seen, a line for each thing.
    fn seen(&self, seen: &Seen) -> Vec<String> {
        let words = &self.words;
        match seen {
            Seen::Instead(entries) if !entries.is_empty() => return entries.clone(),
            _ => {}
        }
        vec![match seen {
            Seen::Instead(_) => words.nothing.clone(),
            Seen::Verdict(verdict) => format!("verdict: {}", verdict.name()),
            Seen::Times(n) => fill(&words.times, &[("n", &n.to_string())]),
            Seen::Choices(right) if right.is_empty() => words.no_choice.clone(),
            Seen::Choices(right) => {
                let right: Vec<String> = right.iter().map(ToString::to_string).collect();
                fill(&words.choices, &[("list", &self.list(&right))])
            }
            Seen::Values(values) if values.is_empty() => words.no_value.clone(),
            Seen::Values(values) => {
                let values: Vec<String> = values.iter().copied().map(LessonTime::yaml).collect();
                fill(&words.values, &[("list", &self.list(&values))])
            }
            Seen::Reply { at, reply: None } => fill(&words.no_reply, &[("t", &at.yaml())]),
            Seen::Reply { at, reply: Some(reply) } => {
                let reply = format!("reply: {}", reply_yaml(reply));
                fill(&words.reply, &[("reply", &reply), ("t", &at.yaml())])
            }
            Seen::RunEnded(t) => fill(&words.run_ended, &[("t", &t.yaml())]),
        }]
    }

    /// Two runs that were not the same.
    pub(super) fn differs(&self, unit: &Unit<'_>, difference: &Difference) -> String {
        let words = &self.words;
        let run = difference.run.to_string();
        let place = match difference.record {
            Some(record) => fill(&words.differs_at, &[("n", &(record + 1).to_string())]),
            None => words.differs_header.clone(),
        };
        let mut lines = vec![self.headline(unit), format!("  {} ({place})", fill(&words.differs, &[("n", &run)]))];
        let other = fill(&words.other_run, &[("n", &run)]);
        let width = words.first_run.width().max(other.width()) + 2;
        for (name, record) in [(&words.first_run, &difference.first), (&other, &difference.other)] {
            lines.push(format!("  {}{}", pad(name, width), record.as_ref().unwrap_or(&words.no_record)));
        }
        joined(&lines)
    }

    /// `text`, looking as `mood` has it, where that is allowed.
    pub(super) fn paint(&self, mood: Mood, text: &str) -> String {
        let code = match mood {
            _ if !self.colour => return text.to_owned(),
            Mood::Good => "32",
            Mood::Bad => "1;31",
            Mood::Quiet => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    fn headline(&self, unit: &Unit<'_>) -> String {
        self.paint(Mood::Bad, &unit.name())
    }

    fn list(&self, items: &[String]) -> String {
        items.join(match self.lang {
            Lang::En => ", ",
            Lang::Zh => "、",
        })
    }
}

/// Lines as a block.
fn joined(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

/// `text`, filled up with blanks to `width` cells.
fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// The line of the file at `span`.
fn excerpt(source: &Source, span: Span) -> Option<String> {
    let line = source.text.lines().nth(span.line.saturating_sub(1)).map(str::trim);
    line.filter(|line| !line.is_empty()).map(|line| format!("    {line}"))
}
