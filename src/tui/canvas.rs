//! Drawing that cannot leave its area.
//!
//! `Buffer`'s own functions panic outside it, and a terminal can be resized to anything; all panes draw through this.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::text::{cut, is_simple, width};
use super::theme::{Glyph, Theme};

/// A buffer with a theme.
pub struct Canvas<'a> {
    buffer: &'a mut Buffer,
    /// How meanings look.
    pub theme: Theme,
    /// Where text is being typed: the terminal's cursor stands there, and with it what an input method shows.
    pub cursor: Option<Position>,
}

impl<'a> Canvas<'a> {
    /// Draws into `buffer`.
    #[must_use]
    pub const fn new(buffer: &'a mut Buffer, theme: Theme) -> Self {
        Self { buffer, theme, cursor: None }
    }

    /// All of it.
    #[must_use]
    pub const fn area(&self) -> Rect {
        self.buffer.area
    }

    /// Writes `text` at (`x`, `y`), cut to `max` cells; returns where it ended.
    pub fn put(&mut self, x: u16, y: u16, max: u16, text: &str, style: Style) -> u16 {
        let area = self.buffer.area;
        if y < area.top() || y >= area.bottom() || x < area.left() || x >= area.right() {
            return x;
        }
        let room = usize::from(max.min(area.right() - x));
        let plain = self.theme.plain(text);
        if plain.len() <= room && is_simple(&plain) {
            for (sign, x) in plain.chars().zip(x..) {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.set_char(sign).set_style(style);
                }
            }
            return x + u16::try_from(plain.len()).unwrap_or(0);
        }
        if width(&plain) <= room {
            return self.buffer.set_stringn(x, y, &*plain, room, style).0;
        }
        let short = cut(&plain, room);
        let short = self.theme.plain(&short);
        // `…` is three cells in ASCII; `~` keeps to the one that was reserved.
        let short = short.strip_suffix("...").map_or_else(|| short.to_string(), |s| format!("{s}~"));
        self.buffer.set_stringn(x, y, short, room, style).0
    }

    /// Writes several pieces one after another into `area`'s row `row`.
    pub fn line(&mut self, area: Rect, row: u16, pieces: &[(&str, Style)]) {
        if row >= area.height {
            return;
        }
        let mut x = area.x;
        for (text, style) in pieces {
            let room = area.right().saturating_sub(x);
            if room == 0 {
                break;
            }
            x = self.put(x, area.y + row, room, text, *style);
        }
    }

    /// Writes `text` so that it ends at the right edge of `area`'s row `row`.
    pub fn flush_right(&mut self, area: Rect, row: u16, text: &str, style: Style) {
        let w = u16::try_from(width(&self.theme.plain(text))).unwrap_or(u16::MAX).min(area.width);
        if row < area.height {
            self.put(area.right() - w, area.y + row, w, text, style);
        }
    }

    /// Puts one sign of one cell; `style` is laid over what is there.
    pub fn sign(&mut self, x: u16, y: u16, sign: &str, style: Style) {
        if let Some(cell) = self.buffer.cell_mut((x, y)) {
            cell.set_symbol(sign).set_style(style);
        }
    }

    /// What stands in a cell.
    #[must_use]
    pub fn symbol_at(&self, x: u16, y: u16) -> &str {
        self.buffer.cell((x, y)).map_or("", |cell| cell.symbol())
    }

    /// Lays `style` over `area`.
    pub fn restyle(&mut self, area: Rect, style: Style) {
        self.buffer.set_style(area.intersection(self.buffer.area), style);
    }

    /// Wipes `area`.
    pub fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buffer.area);
        for position in area.positions() {
            if let Some(cell) = self.buffer.cell_mut(position) {
                cell.reset();
            }
        }
        // A wide character that reaches into the area from the left would cover what is put there.
        for y in area.top()..area.bottom() {
            let Some(x) = area.left().checked_sub(1) else { break };
            if let Some(cell) = self.buffer.cell_mut((x, y))
                && width(cell.symbol()) > 1
            {
                cell.set_symbol(" ");
            }
        }
    }

    /// A box around `area` with a title; returns what is inside, less one blank column on each side.
    pub fn frame(&mut self, area: Rect, title: &str, focused: bool) -> Rect {
        let area = area.intersection(self.buffer.area);
        if area.width < 2 || area.height < 2 {
            return Rect::new(area.x, area.y, 0, 0);
        }
        let set = self.theme.border_set();
        let style = self.theme.border(focused);
        let (left, right, top, bottom) = (area.left(), area.right() - 1, area.top(), area.bottom() - 1);
        for x in left + 1..right {
            self.sign(x, top, set.horizontal_top, style);
            self.sign(x, bottom, set.horizontal_bottom, style);
        }
        for y in top + 1..bottom {
            self.sign(left, y, set.vertical_left, style);
            self.sign(right, y, set.vertical_right, style);
        }
        self.sign(left, top, set.top_left, style);
        self.sign(right, top, set.top_right, style);
        self.sign(left, bottom, set.bottom_left, style);
        self.sign(right, bottom, set.bottom_right, style);
        if area.width > 6 {
            let title_style = if focused { self.theme.accent() } else { self.theme.strong() };
            self.put(left + 2, top, area.width - 4, &format!(" {title} "), title_style);
        }
        Rect::new(left + 2, top + 1, area.width.saturating_sub(4), area.height - 2)
    }

    /// A bar of `cells` cells, `part` of `whole` full.
    #[must_use]
    pub fn bar(&self, cells: u16, part: u64, whole: u64) -> (String, String) {
        let full = (u64::from(cells) * part).div_ceil(whole.max(1)).min(u64::from(cells));
        let full = usize::try_from(full).unwrap_or(0);
        (
            self.theme.glyph(Glyph::BarFull).repeat(full),
            self.theme.glyph(Glyph::BarEmpty).repeat(usize::from(cells) - full),
        )
    }
}
