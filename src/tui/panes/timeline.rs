//! The timeline: a time axis, a lane for each key, belief, job and link, where clients are inside together, and what
//! is worth a jump; the playhead crosses them all.

mod axis;
mod lane;
mod legend;
mod rows;
mod scale;

use ratatui::layout::Rect;

use crate::trace::LessonTime;
use crate::tui::canvas::Canvas;
use crate::tui::player::Focus;
use crate::tui::text::width;
use crate::tui::theme::Glyph;
use crate::tui::view::Scene;
use legend::Legend;
use rows::{Detail, Row};
use scale::{Lens, Scale};

/// Rows that the timeline takes, border included, of at most `most`: all it can show if that fits, else a row for each
/// lane, else what there is.
#[must_use]
pub fn wanted_height(scene: &Scene<'_>, most: u16) -> u16 {
    // The axis and the border come on top of the rows.
    let height = |detail| u16::try_from(rows::rows(scene, detail).len()).unwrap_or(u16::MAX).saturating_add(3);
    let wanted = [Detail::Full, Detail::Lanes].map(height).into_iter().find(|height| *height <= most);
    wanted.unwrap_or_else(|| height(Detail::Compact).min(most))
}

/// Cells that the longest label before a lane takes.
#[must_use]
pub fn label_width(scene: &Scene<'_>) -> u16 {
    let labels = rows::rows(scene, Detail::Full).iter().map(|row| width(&rows::label(scene, row))).max();
    u16::try_from(labels.unwrap_or(0)).unwrap_or(u16::MAX)
}

/// Where on the timeline we are, and how much of it may be seen.
#[derive(Clone, Debug)]
pub struct View {
    /// Time to columns.
    pub scale: Scale,
    /// The playhead's column, if it is in what is shown.
    pub playhead: Option<u16>,
    /// The first column of what is still to come at the playhead.
    pub ahead: u16,
    /// How many records may be seen.
    pub limit: usize,
    /// The last column that may be seen.
    pub last: u16,
    /// The column in which two runs that are compared part.
    pub parting: Option<u16>,
}

impl View {
    /// The columns that may be seen, each with its first instant and that of the next one.
    pub fn columns(&self) -> impl Iterator<Item = (u16, LessonTime, LessonTime)> {
        (0..=self.last).map(|column| (column, self.scale.start(column), self.scale.start(column + 1)))
    }
}

/// Draws the timeline.
pub fn draw(canvas: &mut Canvas<'_>, scene: &Scene<'_>, area: Rect) {
    let header = &scene.recording.trace.header;
    let keys: Vec<&str> = header.locks.iter().map(|lock| lock.key.as_str()).collect();
    let usual = || format!("{} · {}", scene.ui.get("pane.timeline"), keys.join(" · "));
    let mut title = scene.title.clone().unwrap_or_else(usual);
    if scene.player.zoom > 0 {
        title += " · ";
        title += &scene.ui.fill("timeline.zoom", &[("n", &(1_u64 << scene.player.zoom).to_string())]);
    }
    if scene.player.looking_at.is_some() {
        title += " · ";
        title += scene.ui.get("timeline.away");
    }
    if scene.player.squeeze && scene.title.is_none() && !scene.recording.timeline.idle.is_empty() {
        title += " · ";
        title += scene.ui.get("timeline.squeezed");
    }
    let inner = canvas.frame(area, &title, scene.focused(Focus::Timeline));
    if inner.height == 0 || inner.width < 20 {
        return;
    }
    let rows = rows::fitting(scene, inner.height);
    let labels: Vec<String> = rows.iter().map(|row| rows::label(scene, row)).collect();
    let widest = labels.iter().map(|label| width(label)).max().unwrap_or(0);
    let widest = u16::try_from(widest).unwrap_or(0).max(scene.gutter);
    let gutter = widest.clamp(8, (inner.width / 4).max(8));
    let view = view(scene, inner.x + gutter + 1, inner.width.saturating_sub(gutter + 1));
    let scale = &view.scale;
    let mut legend = Legend::default();
    let parting = view.parting.map(|column| scale.left + column);
    axis::draw(canvas, &view, Rect::new(inner.x, inner.y, inner.width, 1));

    // The axis stays; lanes that do not fit are scrolled to.
    let room = usize::from(inner.height - 1);
    let most = rows.len().saturating_sub(room);
    let skipped = usize::from(scene.scroll(Focus::Timeline)).min(most);
    let visible = rows.iter().zip(&labels).skip(skipped).take(room);
    for (y, (row, label)) in (inner.y + 1..).zip(visible) {
        canvas.put(inner.x, y, gutter, label, rows::label_style(canvas.theme, row));
        let marked = match row {
            Row::Lane(lane) => {
                lane::draw(canvas, scene, &view, &[&scene.recording.timeline.lanes[*lane]], y, &mut legend)
            }
            Row::Client { works, believes } => {
                let lanes = &scene.recording.timeline.lanes;
                let both: Vec<_> = works.iter().chain(believes).map(|lane| &lanes[*lane]).collect();
                lane::draw(canvas, scene, &view, &both, y, &mut legend)
            }
            Row::Notes(lane) => {
                lane::notes(canvas, scene, &view, &scene.recording.timeline.lanes[*lane], y);
                false
            }
            Row::Markers => axis::markers(canvas, scene, &view, y, &mut legend),
        };
        if let Some(x) = parting.filter(|x| canvas.symbol_at(*x, y) == " ") {
            canvas.sign(x, y, canvas.theme.glyph(Glyph::Parting), canvas.theme.strong());
        }
        let Some(x) = view.playhead.map(|column| scale.left + column) else { continue };
        // A word may be read across the playhead.
        let worded = matches!(row, Row::Notes(_)) && canvas.symbol_at(x, y) != " ";
        if !marked && !worded {
            canvas.sign(x, y, canvas.theme.glyph(Glyph::Playhead), canvas.theme.playhead());
        }
    }
    if let Some(x) = parting {
        canvas.sign(x, inner.y, canvas.theme.glyph(Glyph::Differs), canvas.theme.strong());
    }
    if view.last + 1 < scale.columns {
        hidden(canvas, scene, &view, inner);
    }
    let mut edge = Rect::new(area.x + 2, area.bottom() - 1, area.width.saturating_sub(3), 1);
    if most > skipped {
        edge.width = edge.width.saturating_sub(8);
    }
    legend.draw(canvas, scene.ui, edge);
    if most > skipped {
        let rest = format!(" ↓ {} ", most - skipped);
        let edge = Rect::new(area.x, area.bottom() - 1, area.width.saturating_sub(2), 1);
        canvas.flush_right(edge, 0, &rest, canvas.theme.secondary());
    }
}

/// The part of the run that `columns` columns show: all of it, or a window that keeps the playhead in its middle.
fn view(scene: &Scene<'_>, left: u16, columns: u16) -> View {
    let timeline = &scene.recording.timeline;
    let playhead = scene.player.playhead.t();
    let centre = scene.player.looking_at.unwrap_or(playhead);
    // Squeezing would bend the two axes of a comparison differently.
    let squeeze = scene.player.squeeze && scene.title.is_none();
    let lens = Lens { zoom: scene.player.zoom, squeeze, centre, end: scene.end };
    let scale = Scale::new(left, columns, &timeline.idle, lens);
    let end = scale.columns.saturating_sub(1);
    // At the end of a run its playhead is on the last column, whatever the scale makes of that.
    let shown = scene.player.looking_at.is_none() || scale.shows(playhead);
    let wall = scene.player.wall(scene.recording).filter(|ask| ask.t < scale.start(columns));
    View {
        playhead: shown.then(|| scale.column(playhead)),
        ahead: match shown {
            true => scale.column(playhead) + 1,
            false if playhead < scale.start(0) => 0,
            false => columns,
        },
        parting: scene.parting.filter(|t| scale.shows(*t)).map(|t| scale.column(t)),
        limit: scene.limit,
        last: wall.map_or(end, |ask| scale.column(ask.t)),
        scale,
    }
}

/// Says in the dark part why it is dark.
fn hidden(canvas: &mut Canvas<'_>, scene: &Scene<'_>, view: &View, inner: Rect) {
    let theme = canvas.theme;
    let x = view.scale.left + view.last + 2;
    let room = (view.scale.left + view.scale.columns).saturating_sub(x);
    let text = scene.ui.get("timeline.hidden");
    let taken = u16::try_from(width(text)).unwrap_or(u16::MAX);
    if taken <= room {
        let y = inner.y + 1 + inner.height.saturating_sub(1) / 2;
        canvas.put(x + (room - taken) / 2, y, room, text, theme.secondary());
    }
}
