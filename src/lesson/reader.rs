//! Reading typed values from the tree, with an error for each one that is not what it should be.
//!
//! Nothing here stops at an error: a reader says what is wrong and gives back nothing, its caller goes on with a
//! default, and a lesson with any error is never run.

use super::diagnostic::{Diagnostic, closest, listed, quoted};
use super::source::{Span, Spanned};
use super::yaml::{Entry, Kind, Node};
use crate::trace::Text;

/// The errors found so far.
#[derive(Debug, Default)]
pub(super) struct Cx {
    pub errors: Vec<Diagnostic>,
    /// Takes what comes after [`MOST`] errors.
    sink: Vec<Diagnostic>,
    /// Only keys and types are looked at. Names are not: in the base of a lesson with variants, what is named may be
    /// added by a variant.
    pub shape_only: bool,
}

/// Nobody reads more errors than this (of one variant); a hostile file has many thousands.
const MOST: usize = 300;

impl Cx {
    /// For the base of a lesson with variants.
    pub fn shape() -> Self {
        Self { shape_only: true, ..Self::default() }
    }

    /// Something is wrong with the file as it stands.
    pub fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        if self.is_full() {
            // Nobody will read it, and a hostile file has very many of them.
            return self.push(Diagnostic::unread(span));
        }
        self.push(Diagnostic::new(span, message))
    }

    fn push(&mut self, error: Diagnostic) -> &mut Diagnostic {
        let full = self.is_full();
        let errors = if full { &mut self.sink } else { &mut self.errors };
        if full {
            errors.clear();
        }
        errors.push(error);
        let last = errors.len() - 1;
        &mut errors[last]
    }

    /// Nobody will read any further error.
    pub fn is_full(&self) -> bool {
        self.errors.len() >= MOST
    }

    /// Something does not fit the rest of the lesson. Not looked for in the base of a lesson with variants.
    pub fn misfit(&mut self, span: Span, message: impl Into<String>, help: &[&str]) {
        if !self.shape_only {
            self.error(span, message).help.extend(help.iter().map(|line| (*line).to_owned()));
        }
    }

    /// A name that is not there: `unknown client `D`; the lesson has A, B, C`.
    pub fn unknown(&mut self, span: Span, kind: &str, name: &str, known: &[&str]) {
        if self.is_full() {
            return;
        }
        let there = match (known, kind) {
            ([], "event") => "no event has an id".to_owned(),
            ([], _) => "there is none".to_owned(),
            (known, _) => format!("the lesson has {}", listed(known)),
        };
        let guess = closest(name, known.iter().copied()).map(|guess| format!("did you mean `{guess}`?"));
        let help: Vec<&str> = guess.as_deref().into_iter().collect();
        self.misfit(span, format!("unknown {kind} {}; {there}", quoted(name)), &help);
    }

    /// Text without structure. Null is an error.
    pub fn scalar<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n str> {
        match &node.kind {
            Kind::Scalar { text, .. } if !node.is_null() => Some(text),
            _ => {
                self.error(node.span, format!("`{what}` must be a text or a number, not {}", node.describe()));
                None
            }
        }
    }

    /// A text that is not empty.
    pub fn string(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        let text = self.scalar(node, what)?;
        if text.is_empty() {
            self.error(node.span, format!("`{what}` is empty"));
            return None;
        }
        Some(Spanned { value: text.to_owned(), span: node.span })
    }

    /// A name or an id: letters, digits, `-`.
    pub fn name(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        let name = self.string(node, what)?;
        self.is_name(&name, what).then_some(name)
    }

    /// Whether a key or a value is a name; an error if it is not.
    pub fn is_name(&mut self, name: &Spanned<String>, what: &str) -> bool {
        let good = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if name.value.is_empty() || !name.value.chars().all(good) {
            self.error(name.span, format!("{} is not a name", quoted(&name.value)))
                .help(format!("`{what}` has letters, digits and `-` only"));
            return false;
        }
        true
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, node: &Node, what: &str) -> Option<bool> {
        match &node.kind {
            Kind::Scalar { text, plain: true } if text == "true" => Some(true),
            Kind::Scalar { text, plain: true } if text == "false" => Some(false),
            _ => {
                self.error(node.span, format!("`{what}` must be `true` or `false`, not {}", node.describe()));
                None
            }
        }
    }

    /// A whole number in a range.
    pub fn integer(&mut self, node: &Node, what: &str, least: i64, most: i64) -> Option<i64> {
        let text = self.scalar(node, what)?;
        match text.parse::<i64>() {
            Ok(n) if (least..=most).contains(&n) => Some(n),
            _ => {
                let range = match (least, most) {
                    (i64::MIN, _) => "a whole number".to_owned(),
                    (_, i64::MAX) => format!("a whole number, {least} or more"),
                    _ => format!("a whole number from {least} to {most}"),
                };
                self.error(node.span, format!("`{what}` must be {range}, not {}", node.describe()));
                None
            }
        }
    }

    /// A number in a range.
    pub fn number(&mut self, node: &Node, what: &str, least: f64, most: f64) -> Option<f64> {
        let text = self.scalar(node, what)?;
        match text.parse::<f64>() {
            Ok(n) if n >= least && n <= most => Some(n),
            _ => {
                self.error(
                    node.span,
                    format!("`{what}` must be a number from {least} to {most}, not {}", quoted(text)),
                );
                None
            }
        }
    }

    /// One of a few words.
    pub fn choose<T: Clone>(&mut self, node: &Node, what: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.scalar(node, what)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| value.clone());
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let error = Diagnostic::new(
                node.span,
                format!("unknown `{what}: {}`; there is {}", quoted(text).trim_matches('`'), names.join(", ")),
            );
            self.push(match closest(text, names) {
                Some(guess) => error.with_help(format!("did you mean `{guess}`?")),
                None => error,
            });
        }
        found
    }

    /// A list; with `or_one`, anything else is a list of one.
    pub fn list<'n>(&mut self, node: &'n Node, what: &str, or_one: bool) -> &'n [Node] {
        match &node.kind {
            Kind::List(items) => items,
            _ if or_one && !node.is_null() => std::slice::from_ref(node),
            _ => {
                self.error(node.span, format!("`{what}` must be a list, not {}", node.describe()))
                    .help(format!("write `{what}: [...]`, or one line with `- ` for each entry"));
                &[]
            }
        }
    }

    /// A text for readers: a string, or a map of languages.
    pub fn text(&mut self, node: &Node, what: &str) -> Option<Text> {
        let Kind::Map(entries) = &node.kind else {
            return self.string(node, what).map(|text| Text::plain(text.value));
        };
        let mut text = Text::default();
        for Entry { key, value } in entries {
            let code = key.value.as_str();
            if !is_language(code) {
                self.error(key.span, format!("{} is no language", quoted(code)))
                    .help("a text is a string or a map of languages, `{en: \"…\", zh: \"…\"}`");
            }
            if let Some(value) = self.string(value, code) {
                text.0.insert(code.to_owned(), value.value);
            }
        }
        if entries.is_empty() {
            self.error(node.span, format!("`{what}` is empty"));
        }
        Some(text)
    }
}

/// Two or three small letters, with more after a `-`: `en`, `zh`, `zh-Hant`.
fn is_language(code: &str) -> bool {
    let (main, rest) = code.split_once('-').unwrap_or((code, "x"));
    matches!(main.len(), 2 | 3)
        && main.chars().all(|c| c.is_ascii_lowercase())
        && !rest.is_empty()
        && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// The keys of a map, taken one after another; what nobody has taken is unknown.
pub(super) struct Fields<'n> {
    /// The whole map.
    pub span: Span,
    entries: &'n [Entry],
    taken: Vec<bool>,
    known: Vec<&'static str>,
    missing: Vec<(&'static str, Diagnostic)>,
}

impl<'n> Fields<'n> {
    /// The keys of `node`, which must be a map.
    pub fn of(cx: &mut Cx, node: &'n Node, what: &str) -> Option<Self> {
        if let Kind::Map(entries) = &node.kind {
            let taken = vec![false; entries.len()];
            return Some(Self { span: node.span, entries, taken, known: Vec::new(), missing: Vec::new() });
        }
        cx.error(node.span, format!("{what} must be a map, not {}", node.describe()))
            .help("a map is `{key: value, …}`, or a line `key: value` for each key");
        None
    }

    /// Whether the key is there and has a value.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key.value == key && !entry.value.is_null())
    }

    /// Whether the key is written, even without a value.
    pub fn has_key(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key.value == key)
    }

    /// The key and its value, whoever has taken it.
    pub fn peek(&self, key: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|entry| entry.key.value == key && !entry.value.is_null())
    }

    /// The value of a key that may be there. A key without a value is an error.
    pub fn take(&mut self, cx: &mut Cx, key: &'static str) -> Option<&'n Node> {
        self.known.push(key);
        let at = self.entries.iter().position(|entry| entry.key.value == key)?;
        self.taken[at] = true;
        let Entry { key: name, value } = &self.entries[at];
        if value.is_null() {
            cx.error(name.span, format!("`{key}` has no value"));
            return None;
        }
        Some(value)
    }

    /// The value of a key that may be there, and may be `null` (where that means something).
    pub fn take_any(&mut self, key: &'static str) -> Option<&'n Node> {
        self.known.push(key);
        let at = self.entries.iter().position(|entry| entry.key.value == key)?;
        self.taken[at] = true;
        Some(&self.entries[at].value)
    }

    /// The value of a key that must be there.
    /// That it is missing is told by [`Self::finish`], unless it is there with a slip of the pen.
    pub fn need(&mut self, cx: &mut Cx, key: &'static str, of: &str, example: &str) -> Option<&'n Node> {
        if !self.entries.iter().any(|entry| entry.key.value == key) {
            self.known.push(key);
            let error = Diagnostic::new(self.span, format!("{of} needs `{key}`"));
            self.missing.push((key, error.with_help(format!("for example `{key}: {example}`"))));
            return None;
        }
        self.take(cx, key)
    }

    /// The key has been dealt with, and does not belong here.
    pub fn mark(&mut self, key: &str) {
        if let Some(at) = self.entries.iter().position(|entry| entry.key.value == key) {
            self.taken[at] = true;
        }
    }

    /// Whatever has not been taken.
    fn rest(&self) -> impl Iterator<Item = &'n Entry> {
        self.entries.iter().zip(&self.taken).filter(|(_, taken)| !**taken).map(|(entry, _)| entry)
    }

    /// Every key that nobody has taken is an error; `why` may know more about one of them.
    pub fn finish(self, cx: &mut Cx, of: &str, why: impl Fn(&str) -> Option<String>) {
        for (key, error) in &self.missing {
            if !self.rest().take(MOST).any(|entry| closest(&entry.key.value, [*key]).is_some()) {
                cx.push(error.clone());
            }
        }
        let mut known = self.known.clone();
        known.sort_unstable();
        known.dedup();
        let there = if known.is_empty() { "no keys".to_owned() } else { known.join(", ") };
        for entry in self.rest() {
            if cx.is_full() {
                break;
            }
            let key = &entry.key;
            if let Some(message) = why(&key.value) {
                cx.error(key.span, message);
                continue;
            }
            let error = Diagnostic::new(key.span, format!("unknown key {}; {of} has {there}", quoted(&key.value)));
            cx.push(match closest(&key.value, known.iter().copied()) {
                Some(guess) => error.with_help(format!("did you mean `{guess}`?")),
                None => error,
            });
        }
    }

    /// As [`Self::finish`], with nothing more to say.
    pub fn end(self, cx: &mut Cx, of: &str) {
        self.finish(cx, of, |_| None);
    }
}
