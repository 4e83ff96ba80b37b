//! The list of what can be changed, and what the changes buy.
//!
//! ```text
//! ├ what if … at 12 s ───────────────────┬ what is true now ───┤
//! │ ► ≠ A's job takes        ‹ 8 s ›     │                     │
//! │     A releases with        DEL       │                     │
//! │   + A crashes at           12 s      │                     │
//! ├ what the change buys ────────────────┴─────────────────────┤
//! ```

use ratatui::layout::Rect;

use super::compare;
use super::prose::{self, Paragraph};
use crate::tui::app::{App, Run};
use crate::tui::canvas::Canvas;
use crate::tui::compare::Parting;
use crate::tui::strings::{Ui, secs};
use crate::tui::text::{cut, width};
use crate::tui::theme::{Glyph, Theme};
use crate::tui::view::Scene;
use crate::tui::whatif::rows::{Row, ways};
use crate::tui::whatif::words::{self, Words};
use crate::tui::whatif::{WhatIf, turn};

/// The widest that labels get before the values stand in a column of their own.
const LABELS: usize = 40;
/// The cells before a label: the pointer, the sign, and a blank after each.
const SIGNS: usize = 4;
/// The cells of a value's arrows, and of the blank before it.
const ARROWS: usize = 5;

/// Draws the list.
pub fn list(canvas: &mut Canvas<'_>, scene: &Scene<'_>, whatif: &WhatIf, area: Rect) {
    let theme = canvas.theme;
    let title = scene.ui.fill("pane.what_if", &[("t", &secs(scene.player.playhead.t()))]);
    let inner = canvas.frame(area, &title, true);
    let rows = scene.app.whatif_rows();
    let variant = scene.lesson.plans.get(scene.player.variant);
    let variant = variant.map_or("", |plan| plan.variant_title.get(scene.app.lang));
    let words: Vec<Words> =
        rows.iter().map(|row| words::row(scene.ui, row, &whatif.plan, &whatif.edits, variant)).collect();
    let longest = |text: fn(&Words) -> &str| words.iter().map(|words| width(text(words))).max().unwrap_or(0);
    let values = longest(|words| &words.value);
    // Values are what is turned: where there is little room, it is the labels that are cut, down to half of it.
    let room = usize::from(inner.width).saturating_sub(SIGNS + ARROWS);
    let column = longest(|words| &words.label).min(LABELS).min(room.saturating_sub(values).max(room / 2));
    let height = usize::from(inner.height);
    let selected = whatif.selected.min(rows.len().saturating_sub(1));
    // The selected line stays in the middle, except near the ends.
    let skipped = selected.saturating_sub(height / 2).min(rows.len().saturating_sub(height));
    for (y, (i, row)) in (0..inner.height).zip(rows.iter().enumerate().skip(skipped)) {
        let (words, here) = (&words[i], i == selected);
        let pointer = if here { theme.glyph(Glyph::Selected) } else { " " };
        let sign = match row {
            Row::New(_) => "+",
            _ if is_changed(row, whatif) => theme.glyph(Glyph::Differs),
            _ => " ",
        };
        let label = cut(&words.label, column.max(room.saturating_sub(width(&words.value))));
        let pad = " ".repeat(column.saturating_sub(width(&label)) + 1);
        let arrows = if here { ("‹ ", " ›") } else { ("  ", "  ") };
        let value = format!("{}{}{}", arrows.0, words.value, arrows.1);
        let new = matches!(row, Row::New(_)) && !here;
        let (text, strong) = if new { (theme.secondary(), theme.secondary()) } else { (theme.text(), theme.strong()) };
        canvas.line(
            inner,
            y,
            &[
                (pointer, theme.accent()),
                (" ", text),
                (sign, theme.accent()),
                (" ", text),
                (&label, text),
                (&pad, text),
                (&value, strong),
            ],
        );
    }
    prose::more(canvas, area, rows.len().saturating_sub(skipped + height), true);
}

/// Whether the line says something else than the author's variant.
fn is_changed(row: &Row, whatif: &WhatIf) -> bool {
    let (plan, base) = (&whatif.plan, &whatif.base);
    let pair = |i: usize| {
        let event = plan.events.get(i)?;
        Some((event, base.events.iter().find(|other| other.id == event.id)?))
    };
    match row {
        Row::Variant | Row::New(_) => false,
        Row::Made(_) => true,
        Row::Ttl(i) => plan.locks.get(*i).map(|lock| lock.ttl) != base.locks.get(*i).map(|lock| lock.ttl),
        Row::Length(i) => pair(*i).is_some_and(|(a, b)| turn::length(&a.what) != turn::length(&b.what)),
        Row::Start(i) => pair(*i).is_some_and(|(a, b)| a.at != b.at),
        Row::How(i) => pair(*i).is_some_and(|(a, b)| ways(a) != ways(b)),
        Row::Watchdog(i) => pair(*i).is_some_and(|(a, b)| turn::has_watchdog(&a.what) != turn::has_watchdog(&b.what)),
    }
}

/// What stands below the list: `base` is the run without the changes.
#[must_use]
pub fn bought(app: &App, base: Option<&Scene<'_>>, scene: &Scene<'_>, whatif: &WhatIf, theme: Theme) -> Vec<Paragraph> {
    let plain = |text: String, style| Paragraph { sign: String::new(), text, style, spaced: false };
    if let Some(why) = &whatif.failed {
        return vec![
            plain(scene.ui.get("message.failed").to_owned(), theme.violation()),
            plain(why.clone(), theme.text()),
        ];
    }
    if whatif.edits.is_empty() {
        return vec![plain(scene.ui.get("whatif.how_to").to_owned(), theme.secondary())];
    }
    let (Some(base), Some(shown)) = (base, &whatif.shown) else {
        return vec![plain(scene.ui.get("message.running").to_owned(), theme.secondary())];
    };
    let seen = |parting: &Parting| base.may_see(parting.records.0) && scene.may_see(parting.records.1);
    let mut paragraphs = compare::change(base, scene, shown.parting.filter(seen), theme);
    if let Some(until) = shown.until {
        let text = scene.ui.fill("whatif.endless", &[("t", &secs(until))]);
        paragraphs.push(plain(text, theme.secondary()));
    }
    if app.runs.values().any(|run| matches!(run, Run::Running)) && !whatif.is_settled() {
        paragraphs.push(plain(scene.ui.get("message.running").to_owned(), theme.secondary()));
    }
    paragraphs
}

/// What was changed, for the first line.
#[must_use]
pub fn title(ui: Ui, whatif: &WhatIf) -> Option<String> {
    let changes = match whatif.edits.as_slice() {
        [] => return None,
        [edit] => words::edit(ui, edit, &whatif.plan).sentence(),
        edits => ui.fill("whatif.changes", &[("n", &edits.len().to_string())]),
    };
    Some(ui.fill("whatif.title", &[("changes", &changes)]))
}
