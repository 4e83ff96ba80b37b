//! Two variants over one axis: one timeline below the other, what the change bought, and what happens in each.
//!
//! ```text
//! ├ timeline of the variant that is played ────────────────────┤
//! ├ timeline of the other one ─────────────────────────────────┤
//! ├ what the change buys ──────────────────────────────────────┤
//! ├ what happens in the one ──────┬ what happens in the other ─┤
//! ```

use ratatui::layout::{Constraint, Layout, Rect};

use super::header::status;
use super::prose::{self, Paragraph};
use super::{story, timeline};
use crate::trace::{Finding, FindingKind, LessonTime};
use crate::tui::canvas::Canvas;
use crate::tui::compare::{Entered, Parting, bought};
use crate::tui::strings::{Ui, secs};
use crate::tui::theme::{Glyph, Theme};
use crate::tui::view::Scene;

/// Rows of a timeline in which little can be seen, and of the pane below them.
const LEAST: u16 = 7;

/// Draws `one`, which is played, and the `other` variant.
pub fn draw(canvas: &mut Canvas<'_>, one: &Scene<'_>, other: &Scene<'_>, parting: Option<Parting>, area: Rect) {
    // What a change buys is seen from the run without it.
    let paragraphs = if one.app.shown().is_some() && one.player.variant == other.player.variant {
        let back = parting.map(|parting| Parting { records: (parting.records.1, parting.records.0), ..parting });
        change(other, one, back, canvas.theme)
    } else {
        change(one, other, parting, canvas.theme)
    };
    let lines = prose::height(&paragraphs, area.width.saturating_sub(4)).saturating_add(2);
    let below = lines.min(area.height / 3);
    let most = area.height.saturating_sub(below) / 2;
    let heights = [one, other].map(|scene| timeline::wanted_height(scene, most).min(most));
    // Where there is plenty of room, what happens in each stands below.
    let rest = area.height.saturating_sub(below + heights[0] + heights[1]);
    let (heights, rest) =
        if rest < LEAST { ([most, area.height.saturating_sub(below + most)], 0) } else { (heights, rest) };
    let [upper, lower, middle, bottom] = Layout::vertical([
        Constraint::Length(heights[0]),
        Constraint::Length(heights[1]),
        Constraint::Length(below),
        Constraint::Length(rest),
    ])
    .areas(area);
    timeline::draw(canvas, one, upper);
    timeline::draw(canvas, other, lower);
    let inner = canvas.frame(middle, one.ui.get("pane.compare"), false);
    prose::draw(canvas, middle, inner, &paragraphs, (true, 0));
    if rest > 0 {
        let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(bottom);
        story::draw(canvas, one, left);
        story::draw(canvas, other, right);
    }
}

/// What a variant is called and how it ends, for the title of its timeline.
#[must_use]
pub fn title(scene: &Scene<'_>) -> String {
    let plan = scene.lesson.plans.get(scene.player.variant).unwrap_or(scene.plan);
    let changed = scene.player.whatif.as_ref().filter(|whatif| whatif.shown.is_some());
    let changed = changed.and_then(|whatif| super::whatif::title(scene.ui, whatif));
    let title = plan.variant_title.get(scene.app.lang);
    let name = changed.as_deref().unwrap_or(if title.is_empty() { &plan.variant } else { title });
    format!("{} {name} · {}", scene.player.variant + 1, status(scene.ui, scene.app.theme, scene.standing).0)
}

/// Where they part, and what the change buys; nothing that a question still asks for.
#[must_use]
pub fn change(one: &Scene<'_>, other: &Scene<'_>, parting: Option<Parting>, theme: Theme) -> Vec<Paragraph> {
    let ui = one.ui;
    let plain = |text: String, style| Paragraph { sign: String::new(), text, style, spaced: false };
    let mut paragraphs = Vec::new();
    let open = [one, other].iter().any(|scene| scene.limit < scene.recording.trace.records.len());
    match parting {
        Some(parting) => paragraphs.push(Paragraph {
            sign: theme.glyph(Glyph::Differs).to_owned(),
            text: ui.fill("compare.parting", &[("t", &secs(parting.t))]),
            style: theme.strong(),
            spaced: false,
        }),
        None if !open => paragraphs.push(plain(ui.get("compare.same").to_owned(), theme.strong())),
        _ => {}
    }
    if open {
        paragraphs.push(plain(ui.get("compare.open").to_owned(), theme.accent()));
        return paragraphs;
    }
    let end =
        |scene: &Scene<'_>| status(ui, theme, scene.recording.timeline.standing(scene.recording.trace.records.len()));
    let ((before, _), (after, style)) = (end(one), end(other));
    let bought = bought(one.recording, other.recording);
    let time = |t: Option<LessonTime>| {
        t.map_or(ui.get("compare.never").to_owned(), |t| ui.fill("inspector.seconds", &[("t", &secs(t))]))
    };
    let mut text = format!("{before} → {after}");
    // Where nothing else changes, it is who gets in that the change is about.
    let about_entering = bought.gone.is_empty() && bought.new.is_empty();
    for (key, findings) in [("compare.gone", bought.gone), ("compare.stays", bought.stays), ("compare.new", bought.new)]
    {
        if !findings.is_empty() {
            let names: Vec<String> = findings.into_iter().map(|finding| name(ui, finding)).collect();
            text += " · ";
            text += &ui.fill(key, &[("what", &names.join(ui.get("list.comma")))]);
        }
    }
    for Entered { client, before, after } in bought.entered.into_iter().filter(|_| about_entering) {
        let (before, after) = (time(before), time(after));
        text += " · ";
        text += &ui.fill("compare.entered", &[("who", client), ("before", &before), ("after", &after)]);
    }
    paragraphs.push(plain(text, style));
    paragraphs
}

/// A finding in a few words: `overlap A+B 11 s`.
fn name(ui: Ui, finding: &Finding) -> String {
    let key = kind_key(finding.kind);
    let by = finding.fields.get("by").cloned().into_iter();
    let who = if finding.who.is_empty() { by.collect::<Vec<_>>() } else { finding.who.clone() }.join("+");
    let gap = if who.is_empty() { "" } else { " " };
    ui.fill("compare.finding", &[("what", ui.get(key)), ("who", &format!("{gap}{who}")), ("t", &secs(finding.from))])
}

/// The text key of a kind in a few words.
#[must_use]
pub const fn kind_key(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Overlap => "kind.overlap",
        FindingKind::WrongDelete => "kind.wrong_delete",
        FindingKind::WrongRenewal => "kind.wrong_renewal",
        FindingKind::WrongOverwrite => "kind.wrong_overwrite",
        FindingKind::LostLock => "kind.lost_lock",
        FindingKind::StaleWrite => "kind.stale_write",
        FindingKind::LostUpdate => "kind.lost_update",
        FindingKind::Oversold => "kind.oversold",
        FindingKind::Duplicate => "kind.duplicate",
        FindingKind::Orphan => "stuck.orphan",
        FindingKind::Abandoned => "stuck.abandoned",
        FindingKind::GhostRenewal => "stuck.ghost_renewal",
        FindingKind::Deadlock => "stuck.deadlock",
        FindingKind::Starved => "stuck.starved",
        FindingKind::NeverDone => "stuck.never_done",
        FindingKind::WrongReject => "kind.wrong_reject",
        FindingKind::RejectedWrite => "kind.rejected_write",
        FindingKind::Unfair
        | FindingKind::Refused
        | FindingKind::Unknown
        | FindingKind::Error
        | FindingKind::Lost
        | FindingKind::NotOwner => "kind.unfair",
    }
}
