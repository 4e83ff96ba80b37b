//! Text by display width: cut, padded and wrapped so that a wide character is never halved.

use ratatui::style::Style;
use ratatui::text::Span;

/// Cells that `text` takes.
#[must_use]
pub fn width(text: &str) -> usize {
    if is_simple(text) { text.len() } else { Span::raw(text).width() }
}

/// Whether each byte of `text` is one cell: most of what is drawn is, and need not be taken apart to be measured.
#[must_use]
pub fn is_simple(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// What is seen as one character, with its width.
fn pieces(text: &str) -> Vec<(String, usize)> {
    let span = Span::raw(text);
    span.styled_graphemes(Style::new()).map(|g| (g.symbol.to_owned(), width(g.symbol))).collect()
}

/// `text`, or as much of it as fits with `…` after it.
#[must_use]
pub fn cut(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for (piece, w) in pieces(text) {
        if used + w > max {
            break;
        }
        used += w;
        out.push_str(&piece);
    }
    if max > 0 {
        out.push('…');
    }
    out
}

/// `text` filled up with blanks on the left to `to` cells.
#[must_use]
pub fn right(text: &str, to: usize) -> String {
    format!("{}{text}", " ".repeat(to.saturating_sub(width(text))))
}

/// Closing signs, which do not begin a line.
const NO_START: &str = "，。、：；！？）」』】》…·,.:;!?)]}%";
/// Opening signs, which do not end one.
const NO_END: &str = "（「『【《([{";

/// `text` in lines of at most `max` cells. Breaks at blanks, and between two characters of which one is wide (Chinese
/// has no blanks), but not before a closing sign or after an opening one. A word that is too long is cut.
#[must_use]
pub fn wrap(text: &str, max: usize) -> Vec<String> {
    let max = max.max(1);
    let mut lines = Vec::new();
    for paragraph in text.trim_end().split('\n') {
        wrap_paragraph(paragraph, max, &mut lines);
    }
    lines
}

fn wrap_paragraph(paragraph: &str, max: usize, lines: &mut Vec<String>) {
    let mut line = String::new();
    let mut used = 0;
    for (word, w) in words(paragraph) {
        let blank = word.trim().is_empty();
        if used + w <= max {
            if !(blank && used == 0 && !lines.is_empty()) {
                line.push_str(&word);
                used += w;
            }
            continue;
        }
        if used > 0 {
            lines.push(line.trim_end().to_owned());
            line.clear();
            used = 0;
        }
        if blank {
            continue;
        }
        for (piece, w) in pieces(&word) {
            if used + w > max && used > 0 {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push_str(&piece);
            used += w;
        }
    }
    lines.push(line.trim_end().to_owned());
}

/// The pieces between which a line may break.
fn words(text: &str) -> Vec<(String, usize)> {
    let mut words: Vec<(String, usize)> = Vec::new();
    let mut last: Option<(String, usize)> = None;
    for (piece, w) in pieces(text) {
        let glued = last.as_ref().is_some_and(|(before, before_width)| {
            let blanks = (before == " ", piece == " ");
            match blanks {
                (true, true) => true,
                (true, false) | (false, true) => false,
                (false, false) => {
                    NO_START.contains(piece.as_str())
                        || NO_END.contains(before.as_str())
                        || (*before_width < 2 && w < 2)
                }
            }
        });
        last = Some((piece.clone(), w));
        match words.last_mut() {
            Some((word, width)) if glued => {
                word.push_str(&piece);
                *width += w;
            }
            _ => words.push((piece, w)),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_halves_a_wide_character() {
        assert_eq!(cut("锁过期了", 8), "锁过期了");
        assert_eq!(cut("锁过期了", 7), "锁过期…");
        assert_eq!(cut("锁过期了", 6), "锁过…");
        assert_eq!(cut("锁", 1), "…");
        assert_eq!(cut("锁", 0), "");
    }

    #[test]
    fn latin_breaks_at_blanks_and_long_words_are_cut() {
        assert_eq!(wrap("the key is only a name", 10), ["the key is", "only a", "name"]);
        assert_eq!(wrap("lock:order:123", 6), ["lock:o", "rder:1", "23"]);
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn chinese_breaks_between_characters_but_not_before_a_closing_sign() {
        assert_eq!(wrap("锁过期了，键没了。", 8), ["锁过期", "了，键没", "了。"]);
        assert_eq!(wrap("A 的锁（已过期）", 8), ["A 的锁", "（已过", "期）"]);
    }

    #[test]
    fn every_line_fits_and_nothing_is_lost() {
        let text = "DEL 不问这把锁是谁的。 The key is only a name: DEL asks nobody whose it is（真的）。";
        for max in 2..60 {
            let lines = wrap(text, max);
            assert!(lines.iter().all(|line| width(line) <= max), "{max}: {lines:?}");
            let kept: String = lines.concat().replace(' ', "");
            assert_eq!(kept, text.replace(' ', ""), "{max}");
        }
    }
}
