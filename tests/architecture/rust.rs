//! Reads just enough Rust for the rules: what is code, what is in quotes, what is a comment, and where a path stands.

use std::collections::BTreeSet;

/// What a stretch of Rust is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Code only: comments and what is in quotes become blanks.
    Code,
    /// Code and what is in quotes: comments become blanks.
    Quotes,
}

/// `text` with everything else blanked out; lines stay where they are.
pub fn only(text: &str, keep: Keep) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let (end, quoted) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), false)
        } else if rest.starts_with("/*") {
            (block_comment(rest), false)
        } else if let Some(end) = quotes(rest, out.as_bytes().last().copied()) {
            (end, true)
        } else {
            let next = rest.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..next]);
            at += next;
            continue;
        };
        if quoted && keep == Keep::Quotes {
            out.push_str(&rest[..end]);
        } else {
            out.extend(rest[..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        }
        at += end;
    }
    out
}

/// Where a block comment that begins here ends. They nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Where a string or character that begins here ends; `None` where none begins. `before` tells `r"` from `for"`.
fn quotes(rest: &str, before: Option<u8>) -> Option<usize> {
    let in_word = before.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !in_word && (rest.starts_with("r\"") || rest.starts_with("r#") || rest.starts_with("br")) {
        let hashes = rest.trim_start_matches('b').trim_start_matches('r');
        let count = hashes.len() - hashes.trim_start_matches('#').len();
        if hashes[count..].starts_with('"') {
            let start = rest.len() - hashes.len() + count + 1;
            let close = format!("\"{}", "#".repeat(count));
            return Some(rest[start..].find(&close).map_or(rest.len(), |at| start + at + close.len()));
        }
    }
    let mut chars = rest.char_indices();
    match chars.next()?.1 {
        '"' => loop {
            match chars.next() {
                Some((_, '\\')) => drop(chars.next()),
                Some((at, '"')) => return Some(at + 1),
                Some(_) => {}
                None => return Some(rest.len()),
            }
        },
        // 'a' and '\n' are characters, 'a is a lifetime.
        '\'' => match chars.next()?.1 {
            '\\' => {
                chars.next();
                chars.find(|(_, c)| *c == '\'').map(|(at, _)| at + 1)
            }
            _ => chars.next().filter(|(_, c)| *c == '\'').map(|(at, _)| at + 1),
        },
        _ => None,
    }
}

/// Every place where `path` (such as `crate::` or `Color::`) stands as a path of its own: what follows it.
pub fn after<'a>(code: &'a str, path: &'a str) -> impl Iterator<Item = &'a str> {
    code.match_indices(path).filter_map(move |(at, _)| {
        let before = code[..at].chars().next_back();
        let inside = before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
        (!inside).then(|| &code[at + path.len()..])
    })
}

/// The first names of what follows a path: one, or those of a `{…}` list.
pub fn first_names(rest: &str) -> BTreeSet<String> {
    let name =
        |text: &str| -> String { text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let Some(list) = rest.trim_start().strip_prefix('{') else { return BTreeSet::from([name(rest)]) };
    let mut names = BTreeSet::from([name(list)]);
    let mut depth = 0_usize;
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => drop(names.insert(name(&list[at + 1..]))),
            _ => {}
        }
    }
    names
}

#[test]
fn quotes_and_comments_are_told_apart() {
    let text = r##"let a = 'x'; let b: &'a str = "// no"; let c = r#"a " b"#; let d = '\''; /* one /* two */ three */ end // x"##;
    let code = only(text, Keep::Code);
    assert_eq!(code.len(), text.len());
    let words: Vec<_> = code.split_whitespace().collect();
    assert_eq!(
        words,
        ["let", "a", "=", ";", "let", "b:", "&'a", "str", "=", ";", "let", "c", "=", ";", "let", "d", "=", ";", "end"]
    );
    assert!(only(text, Keep::Quotes).contains("// no"));
    assert!(!only(text, Keep::Quotes).contains("three"));
}
