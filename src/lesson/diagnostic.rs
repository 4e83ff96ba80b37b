//! What is wrong with a lesson file: where, what, and what to write instead.

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::source::{Source, Span};

/// How much of a line is shown before and after the beginning of the place, in bytes.
const BEFORE: usize = 300;
const AFTER: usize = 300;

/// One error in a lesson file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to write instead, or what else the reader needs to know.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error at a place.
    #[must_use]
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: clean(&message.into()), help: Vec::new() }
    }

    /// One that nobody will read: it says nothing, and no help is kept with it.
    pub(super) const fn unread(span: Span) -> Self {
        Self { span, message: String::new(), help: Vec::new() }
    }

    /// The same error, with one more line of help.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(clean(&help.into()));
        self
    }

    /// Adds a line of help.
    pub(super) fn help(&mut self, help: impl Into<String>) -> &mut Self {
        if !self.message.is_empty() {
            self.help.push(clean(&help.into()));
        }
        self
    }

    /// File, line and column, the line itself with a caret under the place, and the help.
    #[must_use]
    pub fn render(&self, source: &Source) -> String {
        // One line of context is all that is shown, so only that line is handed over: a long file with many errors
        // would be scanned from its beginning for each of them.
        let text = &source.text;
        let start = floor(text, self.span.start);
        let first = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let last = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = floor(text, self.span.end).clamp(start, last);
        // Of a very long line, what is around the place.
        let (from, to) =
            (floor(text, start.saturating_sub(BEFORE)).max(first), floor(text, start + AFTER).clamp(start, last));
        let line = text[from..to].trim_end_matches('\r');
        let mark = (start - from).min(line.len())..(end.min(to) - from).min(line.len());
        let shown_column = line[..mark.start].chars().count() + 1;
        let snippet = Snippet::source(line)
            .line_start(self.span.line.max(1))
            .path(source.name.as_str())
            .annotation(AnnotationKind::Primary.span(mark));
        let group = Level::ERROR
            .primary_title(self.message.as_str())
            .element(snippet)
            .elements(self.help.iter().map(|help| Level::HELP.message(help.as_str())));
        let shown = Renderer::plain().render(&[group]);
        if from == first {
            return shown;
        }
        // The renderer counts columns from where it was given the line.
        let place = |column: usize| format!("{}:{}:{column}\n", source.name, self.span.line);
        shown.replacen(&place(shown_column), &place(self.span.column), 1)
    }
}

/// Renders all errors of a file, an empty line between two of them.
#[must_use]
pub fn render_all(source: &Source, diagnostics: &[Diagnostic]) -> String {
    const SHOWN: usize = 100;
    let mut out = String::new();
    for diagnostic in diagnostics.iter().take(SHOWN) {
        out.push_str(&diagnostic.render(source));
        out.push_str("\n\n");
    }
    if let Some(more) = diagnostics.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(out, "… and {more} more errors in {}\n", source.name);
    }
    out.truncate(out.trim_end().len());
    out
}

/// The nearest boundary between characters, not after `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A message may quote the file: no control character of it reaches the terminal, and no text of it fills the screen.
fn clean(text: &str) -> String {
    const LONGEST: usize = 2000;
    text.chars().take(LONGEST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Names for a message: all of them, or the first few.
pub(super) fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 40;
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(SHOWN)].join(", "))
}

/// A word from a file, fit for a message: in backticks, on one line, not too long.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    let shown: String = text.chars().take(LONGEST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(LONGEST).is_some() { format!("`{shown}…`") } else { format!("`{shown}`") }
}

/// The one of `names` that somebody who wrote `word` may have meant.
pub(super) fn closest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Looking at more names than a lesson ever has would make a hostile file slow.
    const COMPARED: usize = 200;
    let limit = (word.chars().count() / 3).max(1);
    names
        .into_iter()
        .take(COMPARED)
        .map(|name| (distance(&word.to_lowercase(), &name.to_lowercase()), name))
        // A word of one letter is one change away from every other: no guess is better than that one.
        .filter(|(far, name)| *far <= limit && *far < name.chars().count().min(word.chars().count()))
        .min_by_key(|(far, _)| *far)
        .map(|(_, name)| name)
}

/// How many letters to change, add, remove or swap with their neighbour (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (last[j - 1] + change).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before_last[j - 2] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_line_and_a_caret_below_wide_characters() {
        let source = Source::new("l.yaml", "a: 1\nzh: 锁的 {x}\n");
        let start = source.text.find('x').unwrap();
        let span = Span { start, end: start + 1, line: 2, column: 8 };
        let shown = Diagnostic::new(span, "unknown `x`").with_help("leave it out").render(&source);
        let expected = "\
error: unknown `x`
 --> l.yaml:2:9
  |
2 | zh: 锁的 {x}
  |           ^
  |
  = help: leave it out";
        assert_eq!(shown, expected);
    }

    #[test]
    fn guesses_only_what_is_near() {
        let names = ["acquire", "release", "renew", "A"];
        assert_eq!(closest("aquire", names), Some("acquire"));
        assert_eq!(closest("relaese", names), Some("release"));
        assert_eq!(closest("D", names), None);
        assert_eq!(closest("explode", names), None);
    }

    #[test]
    fn a_word_for_a_message_is_short_and_has_no_control_characters() {
        assert_eq!(quoted("a\u{1b}[2Jb"), "`a\u{fffd}[2Jb`");
        assert_eq!(quoted(&"x".repeat(200)).chars().count(), 63);
    }
}
