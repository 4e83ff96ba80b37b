//! `{key}`, `{token}` and the like in raw commands.
//!
//! Words are split first and filled afterwards, so that a value with blanks stays one word. The text of a script (the
//! second word of `EVAL`) is sent as it stands: `{key}` is Lua there, and values belong into KEYS and ARGV.

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// As it stands.
    Text(String),
    /// `{key}`: the event's lock; `{key:x}`: that lock, by name.
    Key(Option<String>),
    /// `{token}`: the client's own; `{token:B}`: that of client B.
    Token(Option<String>),
    /// `{ttl}`: the lock's (or the acquire's own), in milliseconds.
    Ttl,
    /// `{now}`: the client's own clock, in milliseconds.
    Now,
    /// `{fence}`: the client's fencing token.
    Fence,
    /// `{reply:EVENT}`: the last reply of an event, by its id.
    Reply(String),
}

/// The names that can stand in braces, for a message.
pub(super) const NAMES: &str = "{key} {key:LOCK} {token} {token:CLIENT} {ttl} {now} {fence} {reply:EVENT}";

/// The pieces of a word. Braces that enclose no name (`{"a": 1}`) are text.
///
/// # Errors
/// The text between braces, if it looks like a placeholder and is none.
pub fn pieces(word: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = word;
    while let Some(open) = rest.find('{') {
        let (before, braced) = rest.split_at(open);
        text.push_str(before);
        // Only as far as a name can reach, so that a word of many braces is not searched again and again.
        let after = &braced[1..];
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != ':' && c != '-');
        let inner = end.filter(|end| after[*end..].starts_with('}')).map(|end| &after[..end]);
        let Some(inner) = inner.filter(|inner| is_placeholder(inner)) else {
            text.push('{');
            rest = &braced[1..];
            continue;
        };
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        pieces.push(piece(inner).ok_or_else(|| inner.to_owned())?);
        rest = &braced[inner.len() + 2..];
    }
    text.push_str(rest);
    if !text.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// The index of the word that is a script and is not filled in, if there is one.
#[must_use]
pub fn script_word(words: &[String]) -> Option<usize> {
    let name = words.first()?;
    (name.eq_ignore_ascii_case("EVAL") || name.eq_ignore_ascii_case("EVAL_RO")).then_some(1)
}

fn is_placeholder(inner: &str) -> bool {
    let (name, argument) = inner.split_once(':').unwrap_or((inner, "x"));
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_lowercase())
        && !argument.is_empty()
        && argument.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn piece(inner: &str) -> Option<Piece> {
    let (name, argument) = match inner.split_once(':') {
        Some((name, argument)) => (name, Some(argument.to_owned())),
        None => (inner, None),
    };
    match (name, argument) {
        ("key", lock) => Some(Piece::Key(lock)),
        ("token", client) => Some(Piece::Token(client)),
        ("ttl", None) => Some(Piece::Ttl),
        ("now", None) => Some(Piece::Now),
        ("fence", None) => Some(Piece::Fence),
        ("reply", Some(event)) => Some(Piece::Reply(event)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_placeholders() {
        let text = |t: &str| Piece::Text(t.to_owned());
        assert_eq!(pieces("NX"), Ok(vec![text("NX")]));
        assert_eq!(pieces(""), Ok(vec![text("")]));
        assert_eq!(pieces("{key}"), Ok(vec![Piece::Key(None)]));
        assert_eq!(pieces("a:{key:x}:b"), Ok(vec![text("a:"), Piece::Key(Some("x".into())), text(":b")]));
        assert_eq!(pieces("{token}{now}"), Ok(vec![Piece::Token(None), Piece::Now]));
        assert_eq!(pieces("{reply:a-get}"), Ok(vec![Piece::Reply("a-get".into())]));
        assert_eq!(pieces(r#"{"a":1}"#), Ok(vec![text(r#"{"a":1}"#)]));
        assert_eq!(pieces("{}{"), Ok(vec![text("{}{")]));
        assert_eq!(pieces("{tokens}"), Err("tokens".into()));
        assert_eq!(pieces("{reply}"), Err("reply".into()));
        assert_eq!(pieces("{ttl:x}"), Err("ttl:x".into()));
    }
}
