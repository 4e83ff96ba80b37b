//! What the signs mean: only of those that are on the screen.

use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::tui::canvas::Canvas;
use crate::tui::strings::Ui;
use crate::tui::text::width;
use crate::tui::theme::Glyph;

/// The signs that have been drawn, in the order in which they are explained.
#[derive(Debug, Default)]
pub struct Legend {
    seen: Vec<(Glyph, Style)>,
}

/// Signs that are explained, with the text key of their meaning, the ones that are hardest to guess first.
const MEANINGS: [(Glyph, &str); 21] = [
    (Glyph::Works, "sign.works"),
    (Glyph::Waits, "sign.waits"),
    (Glyph::Violation, "sign.violation"),
    (Glyph::Expired, "sign.expired"),
    (Glyph::Freed, "sign.freed"),
    (Glyph::Renewed, "sign.renewed"),
    (Glyph::Refused, "sign.refused"),
    (Glyph::Inside, "sign.inside"),
    (Glyph::Paused, "sign.paused"),
    (Glyph::Crashed, "sign.crashed"),
    (Glyph::Down, "sign.down"),
    (Glyph::Restarted, "sign.restarted"),
    (Glyph::Promoted, "sign.promoted"),
    (Glyph::Demoted, "sign.demoted"),
    (Glyph::Held, "sign.held"),
    (Glyph::Slow, "sign.slow"),
    (Glyph::Cut, "sign.cut"),
    (Glyph::Stuck, "sign.stuck"),
    (Glyph::Contained, "sign.contained"),
    (Glyph::Ask, "sign.ask"),
    (Glyph::Happening, "sign.happening"),
];

impl Legend {
    /// A sign has been drawn.
    pub fn saw(&mut self, glyph: Glyph, style: Style) {
        if !self.seen.iter().any(|(seen, _)| *seen == glyph) {
            self.seen.push((glyph, style));
        }
    }

    /// Draws as much of it as fits into the one-line `area`.
    pub fn draw(&self, canvas: &mut Canvas<'_>, ui: Ui, area: Rect) {
        let theme = canvas.theme;
        let mut x = area.x;
        for (glyph, key) in MEANINGS {
            let Some((_, style)) = self.seen.iter().find(|(seen, _)| *seen == glyph) else { continue };
            let text = format!(" {} ", ui.get(key));
            let taken = u16::try_from(width(&text)).unwrap_or(u16::MAX).saturating_add(2);
            if x.saturating_add(taken) > area.right() {
                break;
            }
            x = canvas.put(x, area.y, 1, " ", theme.text());
            x = canvas.put(x, area.y, 1, theme.glyph(glyph), *style);
            x = canvas.put(x, area.y, taken, &text, theme.secondary());
        }
    }
}
