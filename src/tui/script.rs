//! Lua as a student reads it: words apart, and which `return` the script took.
//!
//! The server does not say which branch it went through; its reply does, together with whether a key changed. Where
//! that leaves more than one possibility, nothing is claimed.

use crate::trace::Reply;

/// What a piece of Lua is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `if`, `return`, …
    Keyword,
    /// A text in quotes.
    Text,
    /// A comment.
    Comment,
    /// All else.
    Plain,
}

const KEYWORDS: [&str; 21] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or",
    "repeat", "return", "then", "true", "until", "while",
];

/// A line of Lua in pieces.
#[must_use]
pub fn pieces(line: &str) -> Vec<(Kind, &str)> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let (kind, len) = if rest.starts_with("--") {
            (Kind::Comment, rest.len())
        } else if first == '\'' || first == '"' {
            let closing = rest[1..].find(first).map_or(rest.len(), |at| at + 2);
            (Kind::Text, closing)
        } else if is_word(first) {
            let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            (if KEYWORDS.contains(&&rest[..len]) { Kind::Keyword } else { Kind::Plain }, len)
        } else {
            (Kind::Plain, first.len_utf8())
        };
        let (piece, after) = rest.split_at(len);
        pieces.push((kind, piece));
        rest = after;
    }
    pieces
}

/// Where a script decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// The line (from 0) of the `return` that was taken.
    pub returned: usize,
    /// The lines of the conditions on the way there, and whether each was true.
    pub conditions: Vec<(usize, bool)>,
}

/// What a `return` gives back.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Gives {
    /// This number; `true` is 1.
    Number(i64),
    /// Nothing; `false` too.
    Nothing,
    /// What a command answers.
    Call,
    /// Something computed.
    Unknown,
}

/// A `return`, and the conditions on the way to it.
struct Return {
    line: usize,
    gives: Gives,
    conditions: Vec<(usize, bool)>,
}

/// Which `return` of `script` gave `reply`; `changed`: the script changed a key.
#[must_use]
pub fn decision(script: &str, reply: &Reply, changed: bool) -> Option<Decision> {
    let returns = returns(script);
    let says = |gives: &Gives| match (gives, reply) {
        (Gives::Number(n), Reply::Int(m)) => n == m,
        (Gives::Nothing, Reply::Nil) => true,
        _ => false,
    };
    let only = |wanted: &dyn Fn(&Gives) -> bool| {
        let mut fitting = returns.iter().filter(|found| wanted(&found.gives));
        fitting.next().filter(|_| fitting.next().is_none())
    };
    // Something computed may give anything.
    if reply.is_error() || returns.iter().any(|found| found.gives == Gives::Unknown) {
        return None;
    }
    let is_call = |gives: &Gives| *gives == Gives::Call;
    let taken = if changed { only(&is_call).or_else(|| only(&says)) } else { only(&says).or_else(|| only(&is_call)) };
    taken.map(|taken| Decision { returned: taken.line, conditions: taken.conditions.clone() })
}

/// All `return`s of a script.
fn returns(script: &str) -> Vec<Return> {
    let lines = script.lines().enumerate();
    let words: Vec<(usize, &str)> = lines
        .flat_map(|(i, line)| pieces(line).into_iter().map(move |(kind, piece)| (i, kind, piece)))
        .filter(|(_, kind, piece)| *kind != Kind::Comment && !piece.trim().is_empty())
        .map(|(i, _, piece)| (i, piece))
        .collect();
    // Open blocks: for an `if` the line of its condition and whether we are behind it or in its `else`.
    let mut open: Vec<Option<(usize, bool)>> = Vec::new();
    // Conditions that are behind us: who comes here did not go through the `return` in them.
    let mut passed: Vec<(usize, bool)> = Vec::new();
    let mut has_return: Vec<bool> = Vec::new();
    let mut found = Vec::new();
    for (at, (line, word)) in words.iter().enumerate() {
        match *word {
            "if" => {
                open.push(Some((*line, true)));
                has_return.push(false);
            }
            "elseif" => {
                if let Some(Some(block)) = open.last_mut() {
                    *block = (*line, true);
                }
            }
            "else" => {
                if let Some(Some(block)) = open.last_mut() {
                    block.1 = false;
                }
            }
            "do" | "function" | "repeat" => {
                open.push(None);
                has_return.push(false);
            }
            "end" | "until" => {
                let returned = has_return.pop().unwrap_or(false);
                if let (Some(Some((line, true))), true) = (open.pop(), returned) {
                    passed.push((line, false));
                }
            }
            "return" => {
                if let Some(last) = has_return.last_mut() {
                    *last = true;
                }
                let inner = open.iter().flatten().copied();
                let conditions = passed.iter().copied().chain(inner).collect();
                found.push(Return { line: *line, gives: gives(&words[at + 1..]), conditions });
            }
            _ => {}
        }
    }
    found
}

/// What stands behind a `return`.
fn gives(words: &[(usize, &str)]) -> Gives {
    let end = words.iter().position(|(_, word)| matches!(*word, "end" | "else" | "elseif" | "until" | ";"));
    let words: Vec<&str> = words[..end.unwrap_or(words.len())].iter().map(|(_, word)| *word).collect();
    match words.as_slice() {
        [] | ["false" | "nil"] => Gives::Nothing,
        ["true"] => Gives::Number(1),
        ["-", number] => number.parse().map_or(Gives::Unknown, |n: i64| Gives::Number(-n)),
        [number] => number.parse().map_or(Gives::Unknown, Gives::Number),
        ["redis", ".", "call" | "pcall", "(", .., ")"] => Gives::Call,
        _ => Gives::Unknown,
    }
}

/// The file of ours that this script is.
#[must_use]
pub fn file(script: &str) -> Option<&'static str> {
    macro_rules! files {
        ($($name:literal),* $(,)?) => {
            &[$((concat!("assets/lua/", $name, ".lua"), include_str!(concat!("../../assets/lua/", $name, ".lua")))),*]
        };
    }
    // All that clients send; the lesson clock's own script is nobody's command.
    const FILES: &[(&str, &str)] = files![
        "acquire_fenced",
        "permit_acquire",
        "permit_release",
        "permit_renew",
        "queue_acquire",
        "queue_leave",
        "queue_permit_acquire",
        "queue_permit_leave",
        "queue_permit_release",
        "queue_reentrant_acquire",
        "queue_reentrant_release",
        "queue_release",
        "queue_renew",
        "queue_tell",
        "reentrant_acquire",
        "reentrant_acquire_fenced",
        "reentrant_release",
        "reentrant_renew",
        "release",
        "release_tell",
        "renew",
        "renew_or_take",
    ];
    FILES.iter().find(|(_, text)| text.trim() == script.trim()).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELEASE: &str = include_str!("../../assets/lua/release.lua");
    const RENEW_OR_TAKE: &str = include_str!("../../assets/lua/renew_or_take.lua");

    #[test]
    fn the_reply_tells_which_branch_was_taken() {
        // 0: the comment, 1: if, 2: return DEL, 3: end, 4: return 0.
        let deleted = decision(RELEASE, &Reply::Int(1), true);
        assert_eq!(deleted, Some(Decision { returned: 2, conditions: vec![(1, true)] }));
        let refused = decision(RELEASE, &Reply::Int(0), false);
        assert_eq!(refused, Some(Decision { returned: 4, conditions: vec![(1, false)] }));
    }

    #[test]
    fn a_number_is_a_branch_too() {
        let taken = decision(RENEW_OR_TAKE, &Reply::Int(1), true).expect("one return gives 1");
        assert_eq!(RENEW_OR_TAKE.lines().nth(taken.returned).map(str::trim), Some("return 1"));
        let not = decision(RENEW_OR_TAKE, &Reply::Int(0), false).expect("one return gives 0");
        assert_eq!(RENEW_OR_TAKE.lines().nth(not.returned).map(str::trim), Some("return 0"));
    }

    #[test]
    fn else_is_the_other_branch() {
        let script = "if redis.call('EXISTS', KEYS[1]) == 1 then\n  return 7\nelse\n  return -1\nend";
        assert_eq!(
            decision(script, &Reply::Int(-1), false).map(|d| (d.returned, d.conditions)),
            Some((3, vec![(0, false)]))
        );
        assert_eq!(
            decision(script, &Reply::Int(7), false).map(|d| (d.returned, d.conditions)),
            Some((1, vec![(0, true)]))
        );
    }

    #[test]
    fn what_cannot_be_known_is_not_claimed() {
        let error = Reply::Error("ERR no".to_owned());
        assert_eq!(decision(RELEASE, &error, false), None);
        assert_eq!(decision("if a then return 1 end return 1", &Reply::Int(1), false), None, "two of them give 1");
        assert_eq!(decision("local n = 1 return n", &Reply::Int(1), false), None, "it is computed");
        assert_eq!(decision("", &Reply::Nil, false), None);
    }

    #[test]
    fn nothing_of_a_line_is_lost() {
        for line in RELEASE.lines().chain(["local s = 'it -- is' -- 锁", "x = \"open", "  end"]) {
            let text: String = pieces(line).into_iter().map(|(_, piece)| piece).collect();
            assert_eq!(text, line);
        }
        assert_eq!(pieces("return 'end'")[2], (Kind::Text, "'end'"));
    }

    #[test]
    fn our_own_scripts_are_known_by_name() {
        assert_eq!(file("return 1"), None);
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/lua");
        let mut unknown = Vec::new();
        for entry in std::fs::read_dir(folder).expect("the scripts") {
            let path = entry.expect("an entry").path();
            let name = format!("assets/lua/{}", path.file_name().expect("a name").to_string_lossy());
            if file(&std::fs::read_to_string(&path).expect("a script")) != Some(name.as_str()) {
                unknown.push(name);
            }
        }
        // The lesson clock is the engine's own.
        assert_eq!(unknown, ["assets/lua/clock.lua"]);
    }
}
