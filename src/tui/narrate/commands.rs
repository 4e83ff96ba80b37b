//! Commands as a student would type them into redis-cli, made short enough to read.

use crate::trace::{DATABASE, Reply};
use crate::tui::strings::Ui;
use crate::tui::text::cut;

/// A script is cut to about this many cells: enough to recognise it, and the keys and arguments after it stay visible.
const SCRIPT: usize = 28;

/// The command as redis-cli shows it, cut to `max` cells. Scripts and unique tokens are abbreviated.
#[must_use]
pub fn command(argv: &[String], max: usize) -> String {
    let script = argv.first().is_some_and(|name| name.eq_ignore_ascii_case("eval"));
    let words = argv.iter().enumerate().map(|(i, word)| {
        if i == 1 && script {
            format!("\"{}\"", cut(&word.split_whitespace().collect::<Vec<_>>().join(" "), SCRIPT))
        } else {
            quoted(&short_value(word))
        }
    });
    cut(&words.collect::<Vec<_>>().join(" "), max)
}

/// What was sent to `node`: a command, or the statements for the database.
#[must_use]
pub fn sent(node: &str, argv: &[String], max: usize) -> String {
    if node == DATABASE { cut(&argv.join("; "), max) } else { command(argv, max) }
}

/// What the database answered: a row, or how many rows a statement changed.
#[must_use]
pub fn data_reply(ui: Ui, reply: &Reply) -> String {
    let count = |n: &i64| n.to_string();
    match reply {
        Reply::List(row) => match row.as_slice() {
            [Reply::Int(value), Reply::Int(version)] => {
                ui.fill("data.row", &[("value", &count(value)), ("version", &count(version))])
            }
            [Reply::Int(drawn)] => count(drawn),
            _ => reply_text(reply),
        },
        Reply::Int(n @ 0..=1) => ui.get(if *n == 1 { "data.one_row" } else { "data.no_row" }).to_owned(),
        Reply::Int(n) => count(n),
        Reply::Status(text) => text.clone(),
        _ => reply_text(reply),
    }
}

/// A reply as redis-cli shows it, its tokens abbreviated like those in commands: so they can be compared.
#[must_use]
pub fn reply_text(reply: &Reply) -> String {
    short_value(&reply.to_string())
}

/// A unique token is long and says nothing but that it is itself: its beginning is enough. All else stays as it is.
#[must_use]
pub fn short_value(value: &str) -> String {
    let Some(at) = find_uuid(value) else { return value.to_owned() };
    format!("{}…{}", &value[..at + 4], &value[at + UUID..])
}

/// The value without what is random in it: two runs that differ in nothing else are the same.
#[must_use]
pub fn without_token(value: &str) -> String {
    find_uuid(value).map_or_else(|| value.to_owned(), |at| format!("{}…{}", &value[..at], &value[at + UUID..]))
}

const UUID: usize = 36;

/// Where a UUID begins in `value`.
fn find_uuid(value: &str) -> Option<usize> {
    let is_uuid = |bytes: &[u8]| {
        bytes.iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
    };
    value.as_bytes().windows(UUID).position(is_uuid)
}

/// In quotes where redis-cli would need them.
fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| !c.is_whitespace() && !c.is_control() && !"\"'".contains(c));
    if plain { word.to_owned() } else { format!("\"{}\"", word.escape_debug()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn tokens_are_abbreviated_and_blanks_quoted() {
        let set = argv(&["SET", "lock", "7f3e19c2-0d5b-4c1e-9a77-2b8f6d1c0e44", "NX", "PX", "10000"]);
        assert_eq!(command(&set, 80), "SET lock 7f3e… NX PX 10000");
        let parts = argv(&["SET", "lock", "7f3e19c2-0d5b-4c1e-9a77-2b8f6d1c0e44:1"]);
        assert_eq!(command(&parts, 80), "SET lock 7f3e…:1");
        assert_eq!(command(&argv(&["SET", "k", "a b", ""]), 80), "SET k \"a b\" \"\"");
    }

    #[test]
    fn a_reply_shows_its_token_as_the_command_does() {
        let reply = Reply::Bulk("A:7f3e19c2-0d5b-4c1e-9a77-2b8f6d1c0e44".to_owned());
        assert_eq!(reply_text(&reply), "\"A:7f3e…\"");
        assert_eq!(reply_text(&Reply::Int(1)), "(integer) 1");
    }

    #[test]
    fn a_script_leaves_room_for_its_keys() {
        let eval = argv(&["EVAL", "if redis.call('GET', KEYS[1]) == ARGV[1]\nthen return 1 end", "1", "lock", "tok"]);
        assert_eq!(command(&eval, 80), "EVAL \"if redis.call('GET', KEYS[1…\" 1 lock tok");
    }
}
