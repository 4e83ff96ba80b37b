//! A tree back to YAML, in the style in which lessons are written by hand: what is short stands on one line in `{}`,
//! what is long gets lines of its own, and a long English text is folded.
//!
//! The text is read back as the same tree: a scalar that stood in quotes does again, so that `"1"` stays a text.

use unicode_width::UnicodeWidthStr;

use super::yaml::{Entry, Kind, Node};

/// Cells of a line, about as many as hand-written lessons have.
const WIDE: usize = 116;

/// Lists that tell a story: an entry a line, even where all would fit on one.
const BLOCKS: [&str; 7] = ["events", "variants", "expect", "add", "misconceptions", "follow_ups", "choices"];

/// Keys of the top level that begin a new part of the file.
const PARTS: [&str; 5] = ["events", "variants", "answer", "misconceptions", "follow_ups"];

/// `root`, a map, as the text of a file.
#[must_use]
pub(super) fn emit(root: &Node) -> String {
    let mut out = String::new();
    if let Kind::Map(entries) = &root.kind {
        for entry in entries {
            if PARTS.contains(&entry.key.value.as_str()) && !out.is_empty() {
                out.push('\n');
            }
            self::entry(&mut out, entry, 0);
        }
    }
    out
}

/// `key: value`, and the end of the line. The caller has written the indentation of the first line.
fn entry(out: &mut String, entry: &Entry, indent: usize) {
    let key = scalar(&entry.key.value, true);
    out.push_str(&key);
    out.push(':');
    let block =
        BLOCKS.contains(&entry.key.value.as_str()) && matches!(&entry.value.kind, Kind::List(l) if !l.is_empty());
    value(out, &entry.value, indent, indent + key.width() + 2, block);
}

/// A value behind `key:` or `-`; `used` cells of the line are taken.
fn value(out: &mut String, node: &Node, indent: usize, used: usize, block: bool) {
    let flow = flow(node);
    if !block && used + flow.width() <= WIDE {
        out.push(' ');
        out.push_str(&flow);
        out.push('\n');
        return;
    }
    match &node.kind {
        Kind::Scalar { text, .. } => {
            let Some(lines) = folded(text, WIDE.saturating_sub(indent + 2)) else {
                out.push(' ');
                out.push_str(&flow);
                out.push('\n');
                return;
            };
            out.push_str(" >-\n");
            for line in lines {
                pad(out, indent + 2);
                out.push_str(&line);
                out.push('\n');
            }
        }
        Kind::Map(entries) => {
            out.push('\n');
            for entry in entries {
                pad(out, indent + 2);
                self::entry(out, entry, indent + 2);
            }
        }
        Kind::List(items) => {
            out.push('\n');
            for item in items {
                pad(out, indent + 2);
                self::item(out, item, indent + 2);
            }
        }
    }
}

/// `- value`
fn item(out: &mut String, node: &Node, indent: usize) {
    out.push('-');
    let flow = flow(node);
    match &node.kind {
        Kind::Map(entries) if indent + 2 + flow.width() > WIDE => {
            // The first key stands behind the dash, the others below it.
            for (i, entry) in entries.iter().enumerate() {
                if i == 0 {
                    out.push(' ');
                } else {
                    pad(out, indent + 2);
                }
                self::entry(out, entry, indent + 2);
            }
        }
        _ => value(out, node, indent, indent + 2, false),
    }
}

fn pad(out: &mut String, cells: usize) {
    out.extend(std::iter::repeat_n(' ', cells));
}

/// A value on one line.
fn flow(node: &Node) -> String {
    match &node.kind {
        _ if node.is_null() => "null".to_owned(),
        Kind::Scalar { text, plain } => scalar(text, *plain),
        Kind::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Kind::Map(entries) => {
            let entries =
                entries.iter().map(|entry| format!("{}: {}", scalar(&entry.key.value, true), flow(&entry.value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A scalar that is read back as the same text; without quotes if `plain` and if that is safe anywhere.
fn scalar(text: &str, plain: bool) -> String {
    let begins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '+' | '/' | '(');
    let first = text.chars().next();
    let begins =
        first.is_some_and(begins) || (first == Some('-') && text[1..].starts_with(|c: char| c.is_ascii_digit()));
    let safe = begins
        && !text.ends_with([':', ' '])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.chars().any(|c| matches!(c, ',' | '[' | ']' | '{' | '}' | '"') || c.is_control());
    // A JSON string is a YAML double-quoted one.
    if plain && safe { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// A text in lines that YAML folds back into the same text; none where it would not: folding knows blanks only.
fn folded(text: &str, wide: usize) -> Option<Vec<String>> {
    let foldable =
        !text.starts_with(' ') && !text.ends_with(' ') && !text.contains("  ") && !text.chars().any(char::is_control);
    if !foldable {
        return None;
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        if word.width() > wide {
            return None;
        }
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= wide => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::catalogue::builtin;
    use crate::lesson::source::{Source, Span, Spanned};
    use crate::lesson::yaml::parse;

    /// A tree without its places; nothing at all is `null`.
    fn placeless(node: &Node) -> Node {
        let kind = match &node.kind {
            _ if node.is_null() => Kind::Scalar { text: "null".to_owned(), plain: true },
            // Quotes matter where a text could be taken for something else.
            Kind::Scalar { text, plain } => {
                let plain =
                    *plain && (text.parse::<f64>().is_ok() || ["true", "false", "nil"].contains(&text.as_str()));
                Kind::Scalar { text: text.clone(), plain }
            }
            Kind::List(items) => Kind::List(items.iter().map(placeless).collect()),
            Kind::Map(entries) => {
                let entry = |entry: &Entry| Entry {
                    key: Spanned { value: entry.key.value.clone(), span: Span::default() },
                    value: placeless(&entry.value),
                };
                Kind::Map(entries.iter().map(entry).collect())
            }
        };
        Node { span: Span::default(), kind }
    }

    #[test]
    fn every_lesson_is_read_back_as_it_was() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lessons");
        let mut sources = builtin();
        for sub in ["valid", "examples", "engine"] {
            let files = std::fs::read_dir(format!("{folder}/{sub}")).expect("lessons");
            for path in files.map(|file| file.expect("a file").path()) {
                let text = std::fs::read_to_string(&path).expect("a text");
                sources.push(Source::new(path.display().to_string(), text));
            }
        }
        for source in sources {
            let tree = parse(&source).expect("it is YAML");
            let text = emit(&tree);
            let again = parse(&Source::new("again", text.clone())).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
            assert_eq!(placeless(&again), placeless(&tree), "{}\n{text}", source.name);
        }
    }

    #[test]
    fn what_would_be_read_otherwise_stands_in_quotes() {
        let cases = [
            "",
            " a",
            "a ",
            "a: b",
            "a #b",
            "a, b",
            "- a",
            "#",
            "*x",
            "&x",
            "[a]",
            "{a}",
            "\"",
            "'",
            "a\nb",
            "a\tb",
            "null",
            "~",
            "true",
            "1",
            "锁：一 二",
            "-",
            "?",
            "!x",
            "%x",
            "@x",
            "`x`",
            "|",
            ">",
        ];
        for text in cases {
            for plain in [true, false] {
                let node = Node { span: Span::default(), kind: Kind::Scalar { text: text.to_owned(), plain } };
                let key = Spanned { value: "key".to_owned(), span: Span::default() };
                let list = Node { span: Span::default(), kind: Kind::List(vec![node.clone(), node.clone()]) };
                let entries = vec![
                    Entry { key: key.clone(), value: node.clone() },
                    Entry { key: Spanned { value: "list".to_owned(), ..key }, value: list },
                ];
                let root = Node { span: Span::default(), kind: Kind::Map(entries) };
                let yaml = emit(&root);
                let again =
                    parse(&Source::new("again", yaml.clone())).unwrap_or_else(|error| panic!("{error:?}\n{yaml}"));
                assert_eq!(placeless(&again), placeless(&root), "{yaml}");
            }
        }
    }

    #[test]
    fn a_long_text_is_folded_and_chinese_is_not() {
        let long = "The master answers before its replicas have the write. ".repeat(6);
        let zh = "锁过期了，键没了。".repeat(20);
        let text = |text: &str| Node {
            span: Span::default(),
            kind: Kind::Scalar { text: text.trim().to_owned(), plain: false },
        };
        let entry = |key: &str, value| Entry { key: Spanned { value: key.to_owned(), span: Span::default() }, value };
        let root =
            Node { span: Span::default(), kind: Kind::Map(vec![entry("en", text(&long)), entry("zh", text(&zh))]) };
        let yaml = emit(&root);
        assert!(yaml.starts_with("en: >-\n  The master"), "{yaml}");
        assert!(yaml.contains("\nzh: \"锁过期了"), "{yaml}");
        assert!(yaml.lines().filter(|line| line.is_ascii()).all(|line| line.len() <= WIDE), "{yaml}");
        assert_eq!(placeless(&parse(&Source::new("again", yaml)).expect("YAML")), placeless(&root));
    }
}
