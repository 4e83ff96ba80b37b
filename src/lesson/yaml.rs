//! YAML text to a tree in which everything knows its place. The only file that knows serde-saphyr.
//!
//! serde-saphyr's derive stops at the first unknown key or wrong type, and a lesson's author wants all errors at once.
//! So only its event parser is used here; what the keys mean is read from the tree by `reader` and the `lower` files.
//! A tree is small by construction: text, nodes (aliases spelled out) and depth all have a limit that no honest lesson
//! comes near.

use std::collections::HashMap;

use serde_saphyr::granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span as Place, StructureStyle};

use super::diagnostic::{Diagnostic, quoted};
use super::source::{Source, Span, Spanned};

/// The longest lesson file, in bytes. The longest lesson that ships has about a twentieth of it.
pub(crate) const MAX_BYTES: usize = 512 * 1024;
const MAX_NODES: usize = 20_000;
const MAX_DEPTH: usize = 32;
/// The text of all values together, aliases spelled out.
const MAX_TEXT: usize = 4 * 1024 * 1024;

/// One value of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub span: Span,
    pub kind: Kind,
}

/// What a value is. Scalars stay text: what a `1` or a `true` means depends on the key it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// `plain`: written without quotes.
    Scalar { text: String, plain: bool },
    /// `[…]`, or lines that begin with `-`.
    List(Vec<Node>),
    /// `{…}`, or lines of `key: value`.
    Map(Vec<Entry>),
}

/// One `key: value`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub key: Spanned<String>,
    pub value: Node,
}

impl Node {
    /// `null`, `~`, or nothing at all.
    pub fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null"))
    }

    /// The value of `key`, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.kind {
            Kind::Map(entries) => entries.iter().find(|entry| entry.key.value == key).map(|entry| &entry.value),
            _ => None,
        }
    }

    /// The text, if this is a scalar.
    pub fn scalar(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// What this is, for a message.
    pub fn describe(&self) -> String {
        match &self.kind {
            _ if self.is_null() => "nothing".to_owned(),
            Kind::Scalar { text, .. } => quoted(text),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
        }
    }
}

/// Reads the whole text.
///
/// # Errors
/// The first error of syntax, or all misuses of YAML (a comma in an unquoted text, a key written twice, a tag).
pub(super) fn parse(source: &Source) -> Result<Node, Vec<Diagnostic>> {
    let text = &source.text;
    if text.len() > MAX_BYTES {
        let message = format!("a lesson has at most {} KiB; this file has {}", MAX_BYTES / 1024, text.len() / 1024);
        return Err(vec![Diagnostic::new(Span { line: 1, column: 1, ..Span::default() }, message)]);
    }
    let mut builder = Builder::new(source);
    for event in Parser::new_from_str(text) {
        let step = match event {
            Ok((event, place)) => builder.take(event, &place),
            Err(error) => Err(syntax(source, &error)),
        };
        if let Err(fatal) = step {
            builder.errors.push(fatal);
            return Err(builder.errors);
        }
    }
    match builder.root {
        Some(root) if builder.errors.is_empty() => Ok(root),
        Some(_) => Err(builder.errors),
        None => Err(vec![
            Diagnostic::new(Span { line: 1, column: 1, ..Span::default() }, "the file is empty")
                .with_help("a lesson begins with `format: 1`"),
        ]),
    }
}

/// A list or a map whose end has not been seen yet.
struct Open {
    span: Span,
    flow: bool,
    anchor: usize,
    what: Container,
}

enum Container {
    List(Vec<Node>),
    /// `lines`: where each key was written.
    Map {
        entries: Vec<Entry>,
        key: Option<Spanned<String>>,
        lines: HashMap<String, usize>,
    },
}

struct Builder<'a> {
    source: &'a Source,
    open: Vec<Open>,
    anchors: HashMap<usize, (Node, Size)>,
    nodes: usize,
    text: usize,
    root: Option<Node>,
    errors: Vec<Diagnostic>,
}

impl<'a> Builder<'a> {
    fn new(source: &'a Source) -> Self {
        Self { source, open: Vec::new(), anchors: HashMap::new(), nodes: 0, text: 0, root: None, errors: Vec::new() }
    }

    /// One event of the parser. An `Err` ends the reading.
    fn take(&mut self, event: Event<'_>, place: &Place) -> Result<(), Diagnostic> {
        let span = span_of(place);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(span, tag.is_some());
                self.count(span, Size { nodes: 1, text: text.len() })?;
                let plain = style == ScalarStyle::Plain;
                // An absent value arrives as a `~` of no length.
                let text = if plain && span.start == span.end { String::new() } else { text.into_owned() };
                let size = Size { nodes: 1, text: text.len() };
                self.place(Node { span, kind: Kind::Scalar { text, plain } }, anchor, size)
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.refuse_tag(span, tag.is_some());
                self.enter(span, style, anchor, Container::List(Vec::new()))
            }
            Event::MappingStart(style, anchor, tag) => {
                self.refuse_tag(span, tag.is_some());
                self.enter(
                    span,
                    style,
                    anchor,
                    Container::Map { entries: Vec::new(), key: None, lines: HashMap::new() },
                )
            }
            Event::SequenceEnd | Event::MappingEnd => self.leave(span),
            Event::Alias(anchor) => {
                let Some((node, size)) = self.anchors.get(&anchor).cloned() else {
                    return Err(Diagnostic::new(span, "this alias stands inside what it names"));
                };
                self.count(span, size)?;
                self.place(node, 0, size)
            }
            Event::DocumentStart(..) if self.root.is_some() => {
                Err(Diagnostic::new(span, "a lesson file holds one lesson; a second document begins here"))
            }
            _ => Ok(()),
        }
    }

    fn enter(&mut self, span: Span, style: StructureStyle, anchor: usize, what: Container) -> Result<(), Diagnostic> {
        self.count(span, Size { nodes: 1, text: 0 })?;
        if self.open.len() >= MAX_DEPTH {
            return Err(Diagnostic::new(span, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        self.open.push(Open { span, flow: style == StructureStyle::Flow, anchor, what });
        Ok(())
    }

    fn leave(&mut self, end: Span) -> Result<(), Diagnostic> {
        let Some(Open { mut span, flow, anchor, what }) = self.open.pop() else { return Ok(()) };
        let kind = match what {
            Container::List(items) => Kind::List(items),
            Container::Map { entries, .. } => Kind::Map(if flow { self.mend(entries) } else { entries }),
        };
        // A block ends where its last value ends; the parser says so only when it sees the next token.
        span.end = match &kind {
            _ if flow => end.end,
            Kind::List(items) => items.last().map_or(span.end, |item| item.span.end),
            Kind::Map(entries) => entries.last().map_or(span.end, |entry| entry.value.span.end.max(entry.key.span.end)),
            Kind::Scalar { .. } => span.end,
        }
        .max(span.start);
        let node = Node { span, kind };
        let size = if anchor == 0 { Size::default() } else { size(&node) };
        self.place(node, anchor, size)
    }

    /// Puts a finished value where it belongs: into the list or map that is open, or at the top.
    fn place(&mut self, node: Node, anchor: usize, size: Size) -> Result<(), Diagnostic> {
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), size));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.what {
            Container::List(items) => items.push(node),
            Container::Map { entries, key, lines } => match key.take() {
                Some(key) => entries.push(Entry { key, value: node }),
                None => match node.kind {
                    Kind::Scalar { text, .. } => {
                        if let Some(first) = lines.insert(text.clone(), node.span.line) {
                            let message = format!("{} is written twice; first in line {first}", quoted(&text));
                            self.errors.push(Diagnostic::new(node.span, message));
                        }
                        *key = Some(Spanned { value: text, span: node.span });
                    }
                    _ => return Err(Diagnostic::new(node.span, "a key must be a word, not a list or a map")),
                },
            },
        }
        Ok(())
    }

    /// Reports `{en: Hello, world}`, where YAML reads `world` as a key without a value, and joins the text again so
    /// that it causes no further errors.
    fn mend(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        let mut mended: Vec<Entry> = Vec::with_capacity(entries.len());
        let mut broken = false;
        for entry in entries {
            let after = self.source.text.get(entry.key.span.end..).unwrap_or_default();
            let bare = entry.value.span.start == entry.value.span.end && !after.trim_start().starts_with(':');
            match mended.last_mut() {
                Some(Entry { value: Node { span, kind: Kind::Scalar { text, plain: true } }, .. }) if bare => {
                    text.push_str(", ");
                    text.push_str(&entry.key.value);
                    span.end = entry.key.span.end;
                    broken = true;
                }
                _ if bare => {
                    let message = format!("{} has no value", quoted(&entry.key.value));
                    let help = "a comma ends a text that is not in quotes; put the whole text in quotes";
                    self.errors.push(Diagnostic::new(entry.key.span, message).with_help(help));
                }
                _ => {
                    self.report_comma(&mended, &mut broken);
                    mended.push(entry);
                }
            }
        }
        self.report_comma(&mended, &mut broken);
        mended
    }

    fn report_comma(&mut self, mended: &[Entry], broken: &mut bool) {
        if let (true, Some(entry)) = (std::mem::take(broken), mended.last()) {
            let text = entry.value.scalar().unwrap_or_default();
            self.errors.push(
                Diagnostic::new(entry.value.span, "inside `{}` a comma ends a text that is not in quotes")
                    .with_help(format!("put the text in quotes: {}: {text:?}", entry.key.value))
                    .with_help("if it is a key, give it a value"),
            );
        }
    }

    fn count(&mut self, span: Span, more: Size) -> Result<(), Diagnostic> {
        self.nodes += more.nodes;
        self.text += more.text;
        if self.text > MAX_TEXT {
            return Err(Diagnostic::new(span, "too much text (aliases spelled out)"));
        }
        if self.nodes > MAX_NODES {
            return Err(Diagnostic::new(span, format!("more than {MAX_NODES} values (aliases spelled out)")));
        }
        Ok(())
    }

    fn refuse_tag(&mut self, span: Span, tagged: bool) {
        if tagged {
            self.errors.push(Diagnostic::new(span, "the lesson format has no `!tags`").with_help("leave the tag out"));
        }
    }
}

/// How large a tree is, in values and in bytes of text.
#[derive(Clone, Copy, Default)]
struct Size {
    nodes: usize,
    text: usize,
}

/// Measures a tree. Its depth is at most [`MAX_DEPTH`].
fn size(node: &Node) -> Size {
    let add = |a: Size, b: Size| Size { nodes: a.nodes + b.nodes, text: a.text + b.text };
    let own = Size { nodes: 1, text: node.scalar().map_or(0, str::len) };
    match &node.kind {
        Kind::Scalar { .. } => own,
        Kind::List(items) => items.iter().map(size).fold(own, add),
        Kind::Map(entries) => entries.iter().fold(own, |sum, entry| {
            let key = Size { nodes: 1, text: entry.key.value.len() };
            add(add(sum, key), size(&entry.value))
        }),
    }
}

fn span_of(place: &Place) -> Span {
    let range = place.byte_range().unwrap_or(0..0);
    Span { start: range.start, end: range.end, line: place.start.line(), column: place.start.col() + 1 }
}

/// What is wrong with the YAML, in the words of somebody who writes lessons.
fn syntax(source: &Source, error: &ScanError) -> Diagnostic {
    let marker = error.marker();
    let start = marker.byte_offset().unwrap_or(0).min(source.text.len());
    let end = source.text[start..].chars().next().map_or(start, |c| start + c.len_utf8());
    let span = Span { start, end, line: marker.line(), column: marker.col() + 1 };
    let (message, help) = match error.kind() {
        ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::ExpectedFlowSequenceSeparator
            if source.text[start..].starts_with(':') =>
        {
            ("a colon ends a text that is not in quotes".to_owned(), "put the whole text in quotes")
        }
        ErrorKind::ExpectedFlowMappingSeparator => ("expected `,` or `}` here".to_owned(), "put texts in quotes"),
        ErrorKind::ExpectedFlowSequenceSeparator => ("expected `,` or `]` here".to_owned(), "put texts in quotes"),
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => (
            "the text goes on after its closing quote".to_owned(),
            "inside '…' write '' for a quote; inside \"…\" write \\\"",
        ),
        ErrorKind::UnclosedQuotedScalar => ("this quote is never closed".to_owned(), "close it on the same line"),
        ErrorKind::UnclosedFlowCollection { open } => {
            let close = if *open == '{' { '}' } else { ']' };
            (
                format!("this `{open}` is never closed"),
                if close == '}' { "close it with `}`" } else { "close it with `]`" },
            )
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            (format!("this `{open}` is closed by `{close}`"), "close the brackets in the order they were opened")
        }
        ErrorKind::UnexpectedCharacter { character } => {
            (format!("a text may not begin with {}", quoted(&character.to_string())), "put the text in quotes")
        }
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => (
            "no `key: value` can stand here".to_owned(),
            "check the indentation; if this is a text with a colon, put it in quotes",
        ),
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart => ("a tab cannot indent".to_owned(), "indent with spaces"),
        ErrorKind::RecursionLimitExceeded => (format!("nested more than {MAX_DEPTH} levels deep"), ""),
        ErrorKind::UnknownAnchor => {
            ("nothing is named so before this alias".to_owned(), "a text that begins with `*` needs quotes")
        }
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::SimpleKeyExpected => {
            ("expected `key: value` here".to_owned(), "check the indentation")
        }
        ErrorKind::ExpectedBlockSequenceEntry => ("expected `- …` here".to_owned(), "check the indentation"),
        ErrorKind::InvalidIndentation => ("the indentation fits nothing above".to_owned(), "line it up"),
        other => (format!("not valid YAML: {other}"), ""),
    };
    let diagnostic = Diagnostic::new(span, message);
    if help.is_empty() { diagnostic } else { diagnostic.with_help(help) }
}
