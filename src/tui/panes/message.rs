//! What stands there when there is no lesson to show: too little room, a run that is being made, one that failed.

use ratatui::layout::Rect;

use crate::tui::app::{App, Asking};
use crate::tui::canvas::Canvas;
use crate::tui::strings::Ui;
use crate::tui::text::wrap;
use crate::tui::view::MINIMUM;

/// The terminal is too small.
pub fn too_small(canvas: &mut Canvas<'_>, ui: Ui, area: Rect) {
    let theme = canvas.theme;
    let text = ui.fill(
        "message.too_small",
        &[
            ("w", &MINIMUM.0.to_string()),
            ("h", &MINIMUM.1.to_string()),
            ("now_w", &area.width.to_string()),
            ("now_h", &area.height.to_string()),
        ],
    );
    for (row, line) in (0..area.height).zip(wrap(&text, usize::from(area.width))) {
        canvas.put(area.x, area.y + row, area.width, &line, theme.text());
    }
}

/// The run is being made; `real`: in real time, which takes as long as it says.
pub fn running(canvas: &mut Canvas<'_>, ui: Ui, real: bool, area: Rect) {
    let style = canvas.theme.secondary();
    let inner = canvas.frame(area, ui.get("pane.timeline"), false);
    let text = ui.get(if real { "message.running_real" } else { "message.running" });
    let first = inner.height / 3;
    for (row, line) in (first..inner.height).zip(wrap(text, usize::from(inner.width))) {
        canvas.put(inner.x, inner.y + row, inner.width, &line, style);
    }
}

/// There is no run, and why.
pub fn failed(canvas: &mut Canvas<'_>, ui: Ui, why: &str, area: Rect) {
    let theme = canvas.theme;
    let inner = canvas.frame(area, ui.get("message.failed"), false);
    for (row, line) in (0..inner.height).zip(wrap(why, usize::from(inner.width))) {
        canvas.put(inner.x, inner.y + row, inner.width, &line, theme.text());
    }
}

/// Asks before something is done, in the middle of `area`.
pub fn asking(canvas: &mut Canvas<'_>, app: &App, ui: Ui, asking: &Asking, area: Rect) {
    let theme = canvas.theme;
    let text = match asking {
        Asking::Forget(id) => {
            let title = app.entries.iter().find(|entry| entry.id() == id).and_then(|entry| entry.lesson.as_ref().ok());
            ui.fill("asking.forget", &[("title", title.map_or(id, |lesson| lesson.title.get(app.lang)))])
        }
        Asking::ForgetAll => ui.get("asking.forget_all").to_owned(),
    };
    let wide = area.width.min(60);
    let lines = wrap(&text, usize::from(wide.saturating_sub(4)));
    let high = u16::try_from(lines.len()).unwrap_or(area.height).saturating_add(4).min(area.height);
    let place = Rect::new(area.x + (area.width - wide) / 2, area.y + (area.height - high) / 2, wide, high);
    canvas.clear(place);
    let inner = canvas.frame(place, ui.get("asking.title"), true);
    for (row, line) in (0..inner.height).zip(&lines) {
        canvas.put(inner.x, inner.y + row, inner.width, line, theme.text());
    }
    let keys = [("y ", theme.accent()), (ui.get("key.yes"), theme.text()), ("   n ", theme.accent())];
    let keys = [&keys[..], &[(ui.get("key.no"), theme.text())]].concat();
    canvas.line(inner, inner.height.saturating_sub(1), &keys);
}
