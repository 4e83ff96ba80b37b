//! The time axis on top and the markers below.

use ratatui::layout::Rect;

use super::View;
use super::legend::Legend;
use crate::trace::{LessonTime, MarkerKind, forward};
use crate::tui::canvas::Canvas;
use crate::tui::strings::secs;
use crate::tui::text::width;
use crate::tui::theme::Glyph;
use crate::tui::view::Scene;

/// Distances between two labels that people can count in, in milliseconds.
const STEPS: [u64; 22] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000,
    1_200_000, 1_800_000, 3_600_000,
];

/// Cells that a label and the gap after it take.
const LABEL: u64 = 9;

/// Cells to keep free for the label at an end of a squeezed stretch.
const LABEL_CELLS: u16 = 5;

/// Draws the axis into the one-line `area`.
pub fn draw(canvas: &mut Canvas<'_>, view: &View, area: Rect) {
    let theme = canvas.theme;
    let scale = &view.scale;
    let fits = |step: &&u64| scale.span / **step * LABEL <= u64::from(scale.columns);
    let step = STEPS.iter().find(fits).copied().unwrap_or(scale.span.max(1));
    let edge = scale.left + scale.columns;
    let playhead = view.playhead.map(|column| scale.left + column);
    squeezed(canvas, view, area.y);
    let (first, last) = (scale.start(0).ms(), scale.start(scale.columns.saturating_sub(1)).ms());
    let mut t = first.next_multiple_of(step);
    let mut free = scale.left;
    while t <= last {
        // Squeezed time has no room for labels.
        let squeezed = scale.squeezed.iter().find(|(from, to)| from.ms() < t && t < to.ms());
        if let Some((_, to)) = squeezed {
            t = to.ms().next_multiple_of(step);
            continue;
        }
        let column = scale.column(LessonTime(t));
        let label = label(LessonTime(t));
        let taken = u16::try_from(width(&label)).unwrap_or(0);
        // The last one may stand a little to the left of its column rather than be cut.
        let x = (scale.left + column).min(edge.saturating_sub(taken));
        let hidden = |sign: u16| (x..x + taken).contains(&sign);
        if x >= free && !playhead.is_some_and(hidden) && !view.parting.is_some_and(|column| hidden(scale.left + column))
        {
            canvas.put(x, area.y, taken, &label, theme.secondary());
            free = x + taken + 1;
        }
        t += step;
    }
    if let Some(x) = playhead {
        canvas.sign(x, area.y, theme.glyph(Glyph::Playhead), theme.playhead());
    }
}

/// Marks the stretches that take less room than they last, and says how long they last.
fn squeezed(canvas: &mut Canvas<'_>, view: &View, y: u16) {
    let theme = canvas.theme;
    let scale = &view.scale;
    for (from, to) in &scale.squeezed {
        if *to <= scale.start(0) || !scale.shows(*from) {
            continue;
        }
        let (first, last) = (scale.column(*from) + 1, scale.column(*to));
        for column in first..last {
            canvas.sign(scale.left + column, y, theme.glyph(Glyph::Squeezed), theme.secondary());
        }
        let text = format!(" {} ", label(to.saturating_sub(*from)));
        let taken = u16::try_from(width(&text)).unwrap_or(u16::MAX);
        // Labels of where it begins and ends stand at its ends.
        let room = last.saturating_sub(first);
        if room >= taken.saturating_add(LABEL_CELLS * 2) {
            canvas.put(scale.left + first + (room - taken) / 2, y, taken, &text, theme.strong());
        }
    }
}

fn label(t: LessonTime) -> String {
    if t.ms() > 0 && t.ms() < 1000 { format!("{}ms", t.ms()) } else { format!("{}s", secs(t)) }
}

/// How many markers of one column are looked at: more than that cannot be told apart there anyway.
const CROWD: usize = 16;

/// Draws the row of markers; returns whether there is one under the playhead.
pub fn markers(canvas: &mut Canvas<'_>, scene: &Scene<'_>, view: &View, y: u16, legend: &mut Legend) -> bool {
    let theme = canvas.theme;
    let markers = &scene.recording.timeline.markers;
    let times = &scene.recording.timeline.marker_times;
    let (mut under_playhead, mut first) = (false, 0);
    for (column, from, until) in view.columns() {
        first = forward(times, first, |t| *t < from);
        let here = markers[first..].iter().take(CROWD).take_while(|marker| marker.t < until);
        let Some(marker) = here.filter(|marker| marker.record < view.limit).max_by_key(|marker| marker.kind) else {
            continue;
        };
        let (glyph, style) = match marker.kind {
            MarkerKind::Happening => (Glyph::Happening, theme.text()),
            MarkerKind::Expired => (Glyph::Expired, theme.text()),
            MarkerKind::Stuck => (Glyph::Stuck, theme.warning()),
            MarkerKind::Contained => (Glyph::Contained, theme.warning()),
            MarkerKind::Ask => (Glyph::Ask, theme.accent()),
            MarkerKind::BrokenFrom => (Glyph::ViolationBegins, theme.violation()),
            MarkerKind::Broken => (Glyph::Violation, theme.violation()),
        };
        if glyph != Glyph::ViolationBegins {
            legend.saw(glyph, style);
        }
        let at_playhead = Some(column) == view.playhead;
        under_playhead |= at_playhead;
        let style = if at_playhead { style.patch(theme.selected()) } else { style };
        canvas.sign(view.scale.left + column, y, theme.glyph(glyph), style);
    }
    under_playhead
}
