//! A look at a lesson's own Lua before it is sent: which commands it names.
//!
//! This only makes the error come early and point at the line. The wall is the server's ACL, which also sees command
//! names that a script computes.

/// The command names that stand as literals in `redis.call('…'`, `redis.pcall("…"`, with the byte at which each stands.
pub(super) fn called(script: &str) -> Vec<String> {
    let tokens = tokens(script);
    let mut names = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if !matches!(token, Token::Word(word) if word == "call" || word == "pcall") {
            continue;
        }
        // `redis.call('GET', …)`, `call 'GET'` and a local alias of it read alike.
        let bracket = tokens.get(at + 1) == Some(&Token::Sign('('));
        let rest = tokens.get(at + 1 + usize::from(bracket)..).unwrap_or_default();
        match rest {
            // Only half of a name: the script puts it together, and only the server can know it.
            [Token::Text(_), Token::Sign('.'), Token::Sign('.'), ..] if bracket => {}
            [Token::Text(name), ..] => names.push(name.clone()),
            _ => {}
        }
    }
    names
}

/// What a script uses besides commands that gives another result each time, or reaches around the lesson.
pub(super) fn forbidden_function(script: &str) -> Option<&'static str> {
    let tokens = tokens(script);
    let pairs = [
        ("redis", "set_repl", "`redis.set_repl` would keep a write from the replicas behind the lesson's back"),
        ("redis", "setresp", "`redis.setresp` changes how replies look; a lesson's replies are RESP2 in scripts"),
        ("os", "clock", "`os.clock` reads the server's own clock, and a lesson gives the same trace every time"),
        ("os", "time", "`os.time` reads the server's own clock, and a lesson gives the same trace every time"),
    ];
    tokens.windows(3).find_map(|three| match three {
        [Token::Word(table), Token::Sign('.'), Token::Word(field)] => {
            pairs.iter().find(|(t, f, _)| t == table && f == field).map(|(.., why)| *why)
        }
        _ => None,
    })
}

#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

/// Words, strings and signs; comments and blanks are left out.
fn tokens(script: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("--") {
            rest = match long_bracket(comment) {
                Some((_, after)) => after,
                None => comment.split_once('\n').map_or("", |(_, after)| after),
            };
        } else if let Some((text, after)) = long_bracket(rest) {
            tokens.push(Token::Text(text.to_owned()));
            rest = after;
        } else if c == '"' || c == '\'' {
            let (text, after) = short_string(&rest[1..], c);
            tokens.push(Token::Text(text));
            rest = after;
        } else if c.is_ascii_alphanumeric() || c == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..end].to_owned()));
            rest = &rest[end..];
        } else {
            if !c.is_whitespace() {
                tokens.push(Token::Sign(c));
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    tokens
}

/// `[[…]]` or `[=[…]=]` at the beginning: its text, and what comes after.
fn long_bracket(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('[')?;
    let level = inner.len() - inner.trim_start_matches('=').len();
    let body = inner[level..].strip_prefix('[')?;
    let close = format!("]{}]", "=".repeat(level));
    Some(body.split_once(close.as_str()).unwrap_or((body, "")))
}

/// The text up to the closing quote, and what comes after. Escapes: `\n`, `\65`, and a character as it stands.
fn short_string(text: &str, quote: char) -> (String, &str) {
    let mut out = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => return (out, &text[at + c.len_utf8()..]),
            '\\' => {
                let mut digits = String::new();
                while digits.len() < 3
                    && let Some((_, digit)) = chars.next_if(|(_, c)| c.is_ascii_digit())
                {
                    digits.push(digit);
                }
                match digits.parse::<u32>() {
                    Ok(code) => out.extend(char::from_u32(code)),
                    Err(_) => out.extend(chars.next().map(|(_, c)| c)),
                }
            }
            c => out.push(c),
        }
    }
    (out, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_commands_of_a_script() {
        let script = r#"
            -- redis.call('FLUSHALL') is only a comment
            --[[ redis.call('SHUTDOWN') ]]
            local v = redis.call('GET', KEYS[1])
            if v == "redis.call('KEYS')" then return redis.pcall("DEL", KEYS[1]) end
            return redis.call [[CONFIG]], redis.call('\68EBUG')
        "#;
        assert_eq!(called(script), ["GET", "DEL", "CONFIG", "DEBUG"]);
        assert_eq!(called("return 1"), Vec::<String>::new());
        assert_eq!(called("redis.call('"), [""]);
        assert_eq!(called("redis.call('FLUSH' .. 'ALL')"), Vec::<String>::new(), "the script makes this name itself");
        assert_eq!(called("return redis.call 'PING' .. '!'"), ["PING"]);
    }

    #[test]
    fn finds_functions_that_reach_around_the_lesson() {
        assert!(forbidden_function("redis.set_repl(redis.REPL_NONE)").is_some());
        assert!(forbidden_function("return os . clock()").is_some());
        assert!(forbidden_function("-- os.clock\nreturn 'os.clock'").is_none());
    }
}
