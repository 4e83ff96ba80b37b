//! The help: all keys, from the table of keys, and what the signs mean.

use ratatui::layout::Rect;

use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::keys::{BINDINGS, Layer};
use crate::tui::strings::Ui;
use crate::tui::text::{width, wrap};
use crate::tui::theme::Glyph;

/// The signs that the timeline uses, with the text key of their meaning.
const LEGEND: [(Glyph, &str); 14] = [
    (Glyph::Works, "legend.works"),
    (Glyph::Waits, "legend.waits"),
    (Glyph::Inside, "legend.inside"),
    (Glyph::Expired, "legend.expired"),
    (Glyph::Freed, "legend.freed"),
    (Glyph::Violation, "legend.violation"),
    (Glyph::Renewed, "legend.renewed"),
    (Glyph::Refused, "legend.refused"),
    (Glyph::Crashed, "legend.crashed"),
    (Glyph::Down, "legend.down"),
    (Glyph::Promoted, "legend.promoted"),
    (Glyph::Held, "legend.held"),
    (Glyph::Ask, "legend.ask"),
    (Glyph::Stuck, "legend.stuck"),
];

/// Draws the help over `area`.
pub fn draw(canvas: &mut Canvas<'_>, app: &App, ui: Ui, scroll: u16, area: Rect) {
    let theme = canvas.theme;
    let wide = area.width.min(84);
    let place = Rect::new(area.x + (area.width - wide) / 2, area.y, wide, area.height);
    canvas.clear(place);
    let inner = canvas.frame(place, ui.get("help.title"), true);

    let here = match (app.ending(), app.opened_command(), &app.player) {
        (Some(_), ..) => Layer::Ending,
        (_, Some(_), _) => Layer::Command,
        (.., Some(_)) => Layer::Player,
        (.., None) => Layer::Catalogue,
    };
    let mut lines: Vec<(String, String)> = Vec::new();
    for text in wrap(ui.get("help.intro"), usize::from(inner.width)) {
        lines.push((String::new(), text));
    }
    lines.push((String::new(), String::new()));
    for binding in BINDINGS.iter().filter(|b| b.layer == here || b.layer == Layer::Global) {
        lines.push((theme.plain(binding.shown).into_owned(), ui.get(binding.label).to_owned()));
    }
    if here == Layer::Player {
        lines.push((String::new(), String::new()));
        lines.push((String::new(), ui.get("help.signs").to_owned()));
        let clients = app.recording().map(|recording| recording.trace.header.clients.clone()).unwrap_or_default();
        for (i, client) in clients.iter().enumerate() {
            let sign = format!("{}{}", client.name, theme.owner_fill(i).repeat(3));
            lines.push((sign, ui.fill("legend.owner", &[("who", &client.name)])));
        }
        for (glyph, label) in LEGEND {
            lines.push((theme.glyph(glyph).to_owned(), ui.get(label).to_owned()));
        }
    }
    let most = lines.len().saturating_sub(usize::from(inner.height));
    let skipped = usize::from(scroll).min(most);
    for (row, (keys, text)) in (0..inner.height).zip(lines.iter().skip(skipped)) {
        if keys.is_empty() {
            canvas.put(inner.x, inner.y + row, inner.width, text, theme.strong());
            continue;
        }
        let pad = " ".repeat(11_usize.saturating_sub(width(keys)));
        canvas.line(inner, row, &[(keys, theme.accent()), (&pad, theme.text()), (text, theme.text())]);
    }
    if skipped < most {
        canvas.flush_right(
            Rect::new(place.x, place.bottom() - 1, place.width - 2, 1),
            0,
            &format!(" {} ↓ ", most - skipped),
            theme.accent(),
        );
    }
}
