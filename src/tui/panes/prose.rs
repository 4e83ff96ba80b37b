//! Paragraphs in a box: wrapped, with a hanging sign before each, scrolled, and with a note of what is left below.

use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::tui::canvas::Canvas;
use crate::tui::text::{width, wrap};

/// A paragraph with a sign before its first line.
#[derive(Clone, Debug)]
pub struct Paragraph {
    /// The sign, `""` for none.
    pub sign: String,
    /// The text.
    pub text: String,
    /// How it looks.
    pub style: Style,
    /// An empty line before it.
    pub spaced: bool,
}

/// Draws `paragraphs` into `inner`, the inside of the box `outer`. Where they do not fit, empty lines go first. `focused`:
/// whether ↑ and ↓ scroll it; and how far that has been done.
pub fn draw(
    canvas: &mut Canvas<'_>,
    outer: Rect,
    inner: Rect,
    paragraphs: &[Paragraph],
    (focused, scroll): (bool, u16),
) {
    let height = usize::from(inner.height);
    let mut lines = lines(paragraphs, inner.width, true);
    if lines.len() > height {
        lines = self::lines(paragraphs, inner.width, false);
    }
    let most = lines.len().saturating_sub(height);
    let skipped = usize::from(scroll).min(most);
    for (row, (indent, text, style)) in (0..inner.height).zip(lines.iter().skip(skipped)) {
        let x = inner.x + indent;
        canvas.put(x, inner.y + row, inner.right().saturating_sub(x), text, *style);
    }
    more(canvas, outer, most - skipped, focused);
}

/// On the lower border of `outer`: how many lines there are below, if any, and which key leads there.
pub fn more(canvas: &mut Canvas<'_>, outer: Rect, lines: usize, focused: bool) {
    if lines > 0 && outer.height > 1 {
        let edge = Rect::new(outer.x, outer.bottom() - 1, outer.width.saturating_sub(2), 1);
        let (text, style) = if focused {
            (format!(" ↓ {lines} "), canvas.theme.accent())
        } else {
            (format!(" tab ↓ {lines} "), canvas.theme.secondary())
        };
        canvas.flush_right(edge, 0, &text, style);
    }
}

/// Rows that `paragraphs` take in `wide` cells, without empty lines.
#[must_use]
pub fn height(paragraphs: &[Paragraph], wide: u16) -> u16 {
    u16::try_from(lines(paragraphs, wide, false).len()).unwrap_or(u16::MAX)
}

fn lines(paragraphs: &[Paragraph], wide: u16, spaced: bool) -> Vec<(u16, String, Style)> {
    let mut lines = Vec::new();
    for paragraph in paragraphs {
        if spaced && paragraph.spaced && !lines.is_empty() {
            lines.push((0, String::new(), paragraph.style));
        }
        let hang = if paragraph.sign.is_empty() { 0 } else { u16::try_from(width(&paragraph.sign)).unwrap_or(0) + 1 };
        for (i, line) in wrap(&paragraph.text, usize::from(wide.saturating_sub(hang))).into_iter().enumerate() {
            if i == 0 && hang > 0 {
                lines.push((0, format!("{} {line}", paragraph.sign), paragraph.style));
            } else {
                lines.push((hang, line, paragraph.style));
            }
        }
    }
    lines
}
