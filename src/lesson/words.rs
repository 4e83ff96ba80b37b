//! Splitting a command line as redis-cli splits it.

/// The words of a command line. Blanks separate words; `"…"` knows `\n \r \t \b \a \xHH \" \\`, `'…'` knows `\'` only;
/// a closing quote must end its word.
pub(super) fn split(line: &str) -> Result<Vec<String>, String> {
    let mut chars = line.chars().peekable();
    let mut words = Vec::new();
    loop {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        if chars.peek().is_none() {
            return Ok(words);
        }
        // Bytes, because `\xHH` can write a character of several bytes one byte at a time.
        let mut word: Vec<u8> = Vec::new();
        while let Some(c) = chars.next_if(|c| !c.is_whitespace()) {
            match c {
                '"' | '\'' => {
                    quoted(&mut chars, c, &mut word)?;
                    if chars.peek().is_some_and(|c| !c.is_whitespace()) {
                        return Err("a closing quote must be followed by a blank".to_owned());
                    }
                }
                c => push(&mut word, c),
            }
        }
        words.push(String::from_utf8(word).map_err(|_| "the command has bytes that are no UTF-8".to_owned())?);
    }
}

fn quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, quote: char, word: &mut Vec<u8>) -> Result<(), String> {
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return Ok(()),
            '\\' if quote == '\'' => {
                if chars.next_if_eq(&'\'').is_some() {
                    word.push(b'\'');
                } else {
                    word.push(b'\\');
                }
            }
            '\\' => match chars.next() {
                Some('n') => word.push(b'\n'),
                Some('r') => word.push(b'\r'),
                Some('t') => word.push(b'\t'),
                Some('b') => word.push(0x08),
                Some('a') => word.push(0x07),
                Some('x') => {
                    let hex: String = chars.clone().take(2).collect();
                    match u8::from_str_radix(&hex, 16) {
                        Ok(byte) if hex.len() == 2 && !hex.starts_with('+') => {
                            word.push(byte);
                            chars.next();
                            chars.next();
                        }
                        _ => word.push(b'x'),
                    }
                }
                Some(other) => push(word, other),
                None => break,
            },
            c => push(word, c),
        }
    }
    Err(format!("a {quote} is never closed"))
}

fn push(word: &mut Vec<u8>, c: char) {
    word.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn splits_as_redis_cli_does() {
        let cases: &[(&str, &[&str])] = &[
            ("SET {key} {token} NX PX {ttl}", &["SET", "{key}", "{token}", "NX", "PX", "{ttl}"]),
            ("  GET   a  ", &["GET", "a"]),
            (r#"SET a "b c""#, &["SET", "a", "b c"]),
            (r#"SET a "\x41\n\"\\\q""#, &["SET", "a", "A\n\"\\q"]),
            (r"SET a 'b \n \' c'", &["SET", "a", r"b \n ' c"]),
            (r#"SET a "" ''"#, &["SET", "a", "", ""]),
            (r#"SET a "\xe9\x94\x81""#, &["SET", "a", "锁"]),
            ("SET 锁 值", &["SET", "锁", "值"]),
            ("", &[]),
        ];
        for (line, words) in cases {
            assert_eq!(split(line).unwrap(), *words, "{line}");
        }
        for line in [r#"SET a "b"#, "SET a 'b", r#"SET "a"b"#, r#"SET a "\xff""#] {
            assert!(split(line).is_err(), "{line}");
        }
    }
}
