//! `run:`, `ok_if:` and `reply:`: raw commands and what they must answer.

use super::commands;
use super::model::{RawCommand, ReplyPattern, Run};
use super::placeholder::{self, Piece};
use super::reader::{Cx, Fields};
use super::scene::Scene;
use super::source::{Span, Spanned};
use super::vocabulary::has_reply;
use super::words;
use super::yaml::{Kind, Node};
use crate::trace::EventKind;

/// What placeholders stand for in one event.
#[derive(Clone, Copy)]
pub(super) struct Around<'s> {
    pub scene: &'s Scene,
    /// The event's lock.
    pub lock: Option<usize>,
    /// Further keys: the lesson's `keys:`.
    pub keys: &'s [Spanned<String>],
    /// Whether the TTL that `{ttl}` stands for is known not to be there.
    pub no_ttl: bool,
}

/// `run:` (and the `ok_if:` beside it).
pub(super) fn run(cx: &mut Cx, around: Around<'_>, run: &Node, ok_if: Option<&Node>) -> Run {
    let items = cx.list(run, "run", true);
    if items.is_empty() && matches!(run.kind, Kind::List(_)) {
        cx.error(run.span, "`run` has no command");
    }
    let commands: Vec<RawCommand> = items.iter().filter_map(|item| command(cx, around, item)).collect();
    Run { commands, ok_if: ok_if.and_then(|node| reply(cx, node, "ok_if")) }
}

fn command(cx: &mut Cx, around: Around<'_>, node: &Node) -> Option<RawCommand> {
    let words = match &node.kind {
        Kind::Map(_) => script(cx, node)?,
        Kind::List(_) => {
            cx.error(node.span, "a command is one string")
                .help("write the words with blanks between them, `\"SET {key} {token} NX\"`");
            return None;
        }
        Kind::Scalar { .. } => {
            let text = cx.string(node, "run")?;
            match words::split(&text.value) {
                Ok(words) => words,
                Err(why) => {
                    cx.error(node.span, why);
                    return None;
                }
            }
        }
    };
    let Some(name) = words.first() else {
        cx.error(node.span, "`run` has no command");
        return None;
    };
    if name.contains('{') {
        cx.error(node.span, "the name of a command cannot be a placeholder");
        return None;
    }
    if let Some(why) = commands::forbidden(&words) {
        cx.error(node.span, why);
        return None;
    }
    check_words(cx, around, node.span, &words);
    Some(RawCommand { span: node.span, words })
}

/// `{lua: …, keys: […], args: […]}` as the words of an EVAL.
fn script(cx: &mut Cx, node: &Node) -> Option<Vec<String>> {
    let mut f = Fields::of(cx, node, "a script")?;
    let lua = f.need(cx, "lua", "a script", "\"return redis.call('GET', KEYS[1])\"");
    let lua = lua.and_then(|node| cx.string(node, "lua"));
    let mut words_of = |cx: &mut Cx, key: &'static str| -> Vec<String> {
        let items = f.take(cx, key).map_or(&[][..], |node| cx.list(node, key, false));
        // An argument may be empty.
        items.iter().filter_map(|node| cx.scalar(node, key).map(str::to_owned)).collect()
    };
    let keys = words_of(cx, "keys");
    let args = words_of(cx, "args");
    f.end(cx, "a script");
    let mut words = vec!["EVAL".to_owned(), lua?.value, keys.len().to_string()];
    words.extend(keys);
    words.extend(args);
    Some(words)
}

/// Placeholders that are there, and keys that the lesson may touch.
fn check_words(cx: &mut Cx, around: Around<'_>, span: Span, words: &[String]) {
    let script = placeholder::script_word(words);
    let keys = commands::key_words(words);
    for (at, word) in words.iter().enumerate().filter(|(at, _)| Some(*at) != script) {
        let pieces = match placeholder::pieces(word) {
            Ok(pieces) => pieces,
            Err(name) => {
                cx.error(span, format!("there is no placeholder `{{{name}}}`; there is {}", placeholder::NAMES));
                continue;
            }
        };
        for piece in &pieces {
            check_piece(cx, around, span, piece);
        }
        // A key that holds a token or a reply is known only when it is sent; the server's ACL looks at it then.
        if keys.contains(&at)
            && let Some(key) = literal(around, &pieces)
            && !may_touch(around, &key)
        {
            let locks: Vec<&str> = around.scene.locks.iter().map(|lock| lock.key.as_str()).collect();
            let help =
                format!("the locks' keys are {}; a further key is allowed by `keys: [\"{key}\"]`", locks.join(", "));
            cx.misfit(span, format!("the key `{key}` does not belong to the lesson"), &[&help]);
        }
    }
}

fn check_piece(cx: &mut Cx, around: Around<'_>, span: Span, piece: &Piece) {
    let scene = around.scene;
    let named = |name: &str| Spanned { value: name.to_owned(), span };
    match piece {
        Piece::Key(None) if around.lock.is_none() && !scene.torn => {
            cx.misfit(
                span,
                "`{key}`: it is not clear of which lock",
                &["write `{key:NAME}`, or `lock: NAME` on the event"],
            );
        }
        Piece::Ttl if around.no_ttl => cx.misfit(span, "`{ttl}`: the lock has no TTL", &[]),
        Piece::Ttl if around.lock.is_none() && !scene.torn => {
            cx.misfit(span, "`{ttl}`: it is not clear of which lock", &["write `lock: NAME` on the event"]);
        }
        Piece::Key(Some(lock)) => drop(scene.lock(cx, &named(lock))),
        Piece::Token(Some(client)) => scene.client(cx, &named(client)),
        Piece::Reply(id) => {
            if let Some(event) = scene.event(cx, &named(id))
                && scene.events[event].kind.is_some_and(|kind| !has_reply(kind))
            {
                cx.misfit(span, format!("`{{reply:{id}}}`: Redis does not answer `{id}`"), &[]);
            }
        }
        Piece::Key(None) | Piece::Token(None) | Piece::Ttl | Piece::Now | Piece::Fence | Piece::Text(_) => {}
    }
}

/// The key that the pieces make, if it can be known before the run.
fn literal(around: Around<'_>, pieces: &[Piece]) -> Option<String> {
    let mut key = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => key.push_str(text),
            Piece::Key(name) => {
                let locks = &around.scene.locks;
                let lock = match name {
                    Some(name) => locks.iter().find(|lock| lock.name == *name)?,
                    None => locks.get(around.lock?)?,
                };
                key.push_str(&lock.key);
            }
            _ => return None,
        }
    }
    Some(key)
}

fn may_touch(around: Around<'_>, key: &str) -> bool {
    around.scene.torn
        || around.scene.locks.iter().any(|lock| lock.key == key)
        || around.keys.iter().any(|pattern| commands::matches(&pattern.value, key))
}

/// What a reply is compared with. Quoted, it is always a text.
pub(super) fn reply(cx: &mut Cx, node: &Node, what: &str) -> Option<ReplyPattern> {
    match &node.kind {
        Kind::List(items) => Some(ReplyPattern::List(items.iter().filter_map(|item| reply(cx, item, what)).collect())),
        Kind::Scalar { text, plain: true } if text == "nil" || node.is_null() => Some(ReplyPattern::Nil),
        Kind::Scalar { text, plain } => Some(match text.parse::<i64>() {
            Ok(n) if *plain => ReplyPattern::Int(n),
            _ => ReplyPattern::Text(text.clone()),
        }),
        Kind::Map(_) => {
            cx.error(node.span, format!("`{what}` must be a reply, not a map"))
                .help("write `OK`, `1`, `nil`, or a list");
            None
        }
    }
}

/// Whether events of this kind can have `run:`.
pub(super) const fn can_run(kind: EventKind) -> bool {
    has_reply(kind)
}
