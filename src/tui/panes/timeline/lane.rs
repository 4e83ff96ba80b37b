//! One lane: fills first, then the letters and words on them, then the marks.

use std::borrow::Cow;

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::View;
use super::legend::Legend;
use crate::trace::{Fill, Lane, Mark, Outcome, Role, Sign, Stretch, Sweep};
use crate::tui::canvas::Canvas;
use crate::tui::narrate::cause_text;
use crate::tui::text::width;
use crate::tui::theme::{Glyph, Theme};
use crate::tui::view::Scene;

/// A stretch as far as it is seen.
struct Seen<'a> {
    stretch: &'a Stretch,
    first: u16,
    last: u16,
}

/// Draws `lanes` over one another into row `y`; returns whether a mark stands under the playhead.
pub fn draw(
    canvas: &mut Canvas<'_>,
    scene: &Scene<'_>,
    view: &View,
    lanes: &[&Lane],
    y: u16,
    legend: &mut Legend,
) -> bool {
    let theme = canvas.theme;
    let marks: Vec<(u16, &Mark)> = lanes.iter().flat_map(|lane| marks(view, lane)).collect();
    for lane in lanes {
        let seen = fills(canvas, view, lane, y, legend);
        for seen in &seen {
            words(canvas, scene, view, seen, &marks, y);
        }
    }
    let mut marked = false;
    for (column, mark) in marks {
        let (glyph, style) = sign(scene, theme, mark);
        if Some(column) == view.playhead {
            // The playhead must not hide what has just happened, nor tell what is about to.
            if mark.record >= scene.player.playhead.pos {
                continue;
            }
            marked = true;
        }
        legend.saw(glyph, style);
        let style = if Some(column) == view.playhead { style.patch(theme.selected()) } else { style };
        canvas.sign(view.scale.left + column, y, theme.glyph(glyph), style);
    }
    if view.ahead <= view.last {
        let ahead = Rect::new(view.scale.left + view.ahead, y, view.last + 1 - view.ahead, 1);
        canvas.restyle(ahead, theme.secondary());
    }
    marked
}

fn fills<'a>(canvas: &mut Canvas<'_>, view: &View, lane: &'a Lane, y: u16, legend: &mut Legend) -> Vec<Seen<'a>> {
    let theme = canvas.theme;
    let mut seen: Vec<Seen<'a>> = Vec::new();
    let mut sweep = Sweep::new(lane, view.limit);
    for (column, from, until) in view.columns() {
        let Some(stretch) = sweep.stretch_in(from, until) else { continue };
        let (fine, style) = pattern(theme, &stretch.fill);
        if let Some(glyph) = glyph(&stretch.fill) {
            legend.saw(glyph, style);
        }
        let pattern = half(theme, view, stretch, column).unwrap_or(fine);
        canvas.sign(view.scale.left + column, y, pattern, style);
        match seen.last_mut() {
            Some(last) if std::ptr::eq(last.stretch, stretch) => last.last = column,
            _ => seen.push(Seen { stretch, first: column, last: column }),
        }
    }
    seen
}

/// The letter of the owner, or a word, at the beginning of a stretch. A client that waits tries again and again: its
/// word stands after the first refusal, and is left out where a later one's mark would fall into it. Where the stretch
/// begins with a mark, it stands beside that.
fn words(canvas: &mut Canvas<'_>, scene: &Scene<'_>, view: &View, seen: &Seen<'_>, marks: &[(u16, &Mark)], y: u16) {
    let (_, style) = pattern(canvas.theme, &seen.stretch.fill);
    let room = seen.last - seen.first + 1;
    // Right of the playhead rather than under it.
    let shift = u16::from(Some(seen.first) == view.playhead && room > 1);
    let waits = matches!(seen.stretch.fill, Fill::Waits(_));
    let struck = |from: u16, until: u16| marks.iter().any(|(column, _)| (from..until).contains(column));
    // Beside a mark rather than under it: who holds the key from here on must be read, not guessed from its colour.
    let shift = if struck(seen.first, seen.first + 1) { 1 } else { shift };
    let first = seen.first + shift;
    for text in texts(scene, &seen.stretch.fill, room) {
        let taken = u16::try_from(width(&text)).unwrap_or(u16::MAX);
        let fits = taken > 0 && taken.saturating_add(shift) <= room;
        if fits && !(waits && struck(first, first + taken)) {
            canvas.put(view.scale.left + first, y, taken, &text, style.patch(canvas.theme.strong()));
            return;
        }
    }
}

/// What may be written on a stretch of `room` columns, the longest first.
fn texts<'a>(scene: &'a Scene<'_>, fill: &Fill, room: u16) -> Vec<Cow<'a, str>> {
    let ui = scene.ui;
    let name = |client: &usize| -> Cow<'a, str> {
        scene.recording.trace.header.clients.get(*client).map_or("", |client| client.name.as_str()).into()
    };
    let word = |key| Cow::from(format!("{} ", ui.get(key)));
    match fill {
        Fill::Owned { owner: Some(owner), forever: true } => {
            vec![format!("{} {} ", name(owner), ui.get("lane.forever")).into(), name(owner)]
        }
        Fill::Owned { owner: Some(owner), .. } | Fill::Believes(owner) => vec![name(owner)],
        // Where a long run is squeezed together, most stretches are as narrow as this.
        Fill::Inside(who) if usize::from(room) < who.len() => Vec::new(),
        Fill::Inside(who) => {
            let who = who.iter().map(name).collect::<Vec<_>>().join("+");
            let bang = scene.app.theme.glyph(Glyph::Inside);
            vec![format!("{bang}{who}{bang}").into(), who.into()]
        }
        Fill::Waits(_) => vec![format!(" {}", word("lane.waits")).into()],
        Fill::Down => vec![format!(" {} ", ui.get("inspector.down")).into()],
        Fill::Held { waiting: 0, shut: false } | Fill::Owned { owner: None, .. } | Fill::Works(_) => Vec::new(),
        Fill::Held { waiting: 0, .. } => vec![word("lane.held")],
        Fill::Held { waiting, shut } => {
            let count = waiting.to_string();
            let held = if *shut { word("lane.held") } else { "".into() };
            let text = format!("{held}{} ", ui.fill("lane.waiting", &[("n", &count)]));
            vec![text.into(), format!("{count} ").into(), count.into()]
        }
        Fill::Role(Role::Master) => vec![word("inspector.master")],
        Fill::Role(Role::Replica) => vec![word("inspector.replica")],
        Fill::Data { text, .. } => vec![format!("{text} ").into(), text.clone().into()],
        Fill::Slow => vec![word("lane.slow")],
        Fill::Cut => vec![word("lane.cut")],
        Fill::Paused => vec![word("lane.paused")],
        Fill::Stuck(kind, who) => {
            let word = ui.get(stuck_key(*kind));
            vec![format!("{} {word} ", who.join("+")).into(), format!("{word} ").into(), who.join("+").into()]
        }
    }
}

const fn stuck_key(kind: crate::trace::FindingKind) -> &'static str {
    use crate::trace::FindingKind as K;
    match kind {
        K::Orphan => "stuck.orphan",
        K::Abandoned => "stuck.abandoned",
        K::GhostRenewal => "stuck.ghost_renewal",
        K::Deadlock => "stuck.deadlock",
        K::Starved => "stuck.starved",
        _ => "stuck.never_done",
    }
}

/// Half of a column, where a job begins or ends in the middle of it.
fn half(theme: Theme, view: &View, stretch: &Stretch, column: u16) -> Option<&'static str> {
    if !matches!(stretch.fill, Fill::Works(_)) {
        return None;
    }
    let middle = view.scale.middle(column);
    let (begins_late, ends_early) = (stretch.from >= middle, stretch.to <= middle);
    match (begins_late, ends_early) {
        (true, false) => Some(theme.glyph(Glyph::WorksRight)),
        (false, true) => Some(theme.glyph(Glyph::WorksLeft)),
        _ => None,
    }
}

/// The sign of a fill that has one.
const fn glyph(fill: &Fill) -> Option<Glyph> {
    Some(match fill {
        Fill::Works(_) => Glyph::Works,
        Fill::Waits(_) => Glyph::Waits,
        Fill::Paused => Glyph::Paused,
        Fill::Down => Glyph::Down,
        Fill::Held { .. } => Glyph::Held,
        Fill::Slow => Glyph::Slow,
        Fill::Cut => Glyph::Cut,
        Fill::Inside(_) => Glyph::Inside,
        Fill::Stuck(..) => Glyph::Stuck,
        Fill::Role(_) | Fill::Owned { .. } | Fill::Believes(_) | Fill::Data { .. } => return None,
    })
}

fn pattern(theme: Theme, fill: &Fill) -> (&'static str, Style) {
    match fill {
        Fill::Owned { owner: Some(owner), .. } | Fill::Believes(owner) => {
            (theme.owner_fill(*owner), theme.owner(*owner))
        }
        Fill::Owned { owner: None, .. } => (theme.foreign_fill(), theme.text()),
        Fill::Works(client) => (theme.glyph(Glyph::Works), theme.owner(*client)),
        Fill::Waits(client) => (theme.glyph(Glyph::Waits), theme.owner(*client)),
        Fill::Paused => (theme.glyph(Glyph::Paused), theme.warning()),
        Fill::Down => (theme.glyph(Glyph::Down), theme.violation()),
        Fill::Held { shut: true, .. } => (theme.glyph(Glyph::Held), theme.warning()),
        Fill::Held { .. } => (theme.glyph(Glyph::Held), theme.secondary()),
        Fill::Role(Role::Master) => (theme.glyph(Glyph::Master), theme.text()),
        Fill::Role(Role::Replica) => (theme.glyph(Glyph::Replica), theme.secondary()),
        Fill::Data { writer, .. } => {
            (theme.foreign_fill(), writer.map_or(theme.secondary(), |writer| theme.owner(writer)))
        }
        Fill::Slow => (theme.glyph(Glyph::Slow), theme.warning()),
        Fill::Cut => (theme.glyph(Glyph::Cut), theme.warning()),
        Fill::Inside(_) => (theme.glyph(Glyph::Inside), theme.violation()),
        Fill::Stuck(..) => (theme.glyph(Glyph::Stuck), theme.warning()),
    }
}

/// The marks of a lane that are seen, one a column at most.
fn marks<'a>(view: &View, lane: &'a Lane) -> Vec<(u16, &'a Mark)> {
    if lane.marks.is_empty() {
        return Vec::new();
    }
    let mut sweep = Sweep::new(lane, view.limit);
    view.columns().filter_map(|(column, from, until)| Some((column, sweep.mark_in(from, until)?))).collect()
}

/// Whether the step in which `record` happens breaks something at that instant.
fn breaks(scene: &Scene<'_>, record: usize) -> bool {
    let timeline = &scene.recording.timeline;
    let stop = timeline.stops[timeline.stop_of(record)];
    let first = timeline.markers.partition_point(|marker| marker.record < stop.start);
    let mut here = timeline.markers[first..].iter().take_while(|marker| marker.record < stop.end);
    here.any(|marker| marker.kind == crate::trace::MarkerKind::Broken)
}

fn sign(scene: &Scene<'_>, theme: Theme, mark: &Mark) -> (Glyph, Style) {
    let plain = theme.strong();
    match &mark.sign {
        Sign::Expired => (Glyph::Expired, plain),
        Sign::Deleted(_) if breaks(scene, mark.record) => (Glyph::Violation, theme.violation()),
        Sign::Freed(_) | Sign::Deleted(_) => (Glyph::Freed, plain),
        Sign::Renewed(_) | Sign::Tick(Outcome::Renewed) => (Glyph::Renewed, plain),
        Sign::RenewedByOther(_) => (Glyph::Renewed, theme.violation()),
        Sign::Vanished(_) | Sign::ToldLost | Sign::Harmed(_) | Sign::Tick(Outcome::Lost) => {
            (Glyph::Violation, theme.violation())
        }
        Sign::Refused => (Glyph::Refused, plain),
        Sign::Crashed => (Glyph::Crashed, theme.violation()),
        Sign::Restarted => (Glyph::Restarted, plain),
        Sign::Promoted => (Glyph::Promoted, plain),
        Sign::Demoted => (Glyph::Demoted, plain),
        Sign::Rejected(_) => (Glyph::Contained, theme.warning()),
        Sign::Tick(_) => (Glyph::Refused, theme.warning()),
    }
}

/// What a mark says, for the row below a key.
fn note(scene: &Scene<'_>, mark: &Mark) -> Option<String> {
    let ui = scene.ui;
    Some(match &mark.sign {
        Sign::Expired => ui.get("note.expired").to_owned(),
        Sign::Freed(client) => ui.fill("note.freed", &[("who", client)]),
        Sign::Deleted(client) => ui.fill("note.deleted", &[("who", client)]),
        Sign::Renewed(_) => ui.get("note.renewed").to_owned(),
        Sign::RenewedByOther(client) => ui.fill("note.renewed_by", &[("who", client)]),
        Sign::Vanished(cause) => ui.fill("note.vanished", &[("cause", cause_text(ui, cause)?)]),
        Sign::Rejected(client) => ui.fill("note.rejected", &[("who", client)]),
        Sign::Harmed(kind) => ui.get(crate::tui::panes::compare::kind_key(*kind)).to_owned(),
        Sign::Crashed => ui.get("note.crashed").to_owned(),
        Sign::Restarted => ui.get("note.restarted").to_owned(),
        Sign::Promoted => ui.get("note.promoted").to_owned(),
        Sign::Demoted => ui.get("note.demoted").to_owned(),
        Sign::Refused | Sign::ToldLost | Sign::Tick(_) => return None,
    })
}

/// Draws what the marks of `lane` say; where two would collide, what breaks something wins, then what came first.
pub fn notes(canvas: &mut Canvas<'_>, scene: &Scene<'_>, view: &View, lane: &Lane, y: u16) {
    let theme = canvas.theme;
    let mut notes: Vec<(bool, u16, String)> = marks(view, lane)
        .into_iter()
        .filter_map(|(column, mark)| {
            let broken = sign(scene, theme, mark).1 == theme.violation();
            note(scene, mark).map(|text| (broken, column, text))
        })
        .collect();
    notes.sort_by_key(|(broken, column, _)| (!*broken, *column));
    let mut taken: Vec<(u16, u16)> = Vec::new();
    for (broken, column, text) in notes {
        let wide = u16::try_from(width(&text)).unwrap_or(u16::MAX);
        if wide > view.last + 1 {
            continue;
        }
        let first = column.min(view.last + 1 - wide);
        let end = first + wide;
        if taken.iter().any(|(from, to)| first < *to + 1 && *from < end + 1) {
            continue;
        }
        taken.push((first, end));
        let style = if broken { theme.violation() } else { theme.secondary() };
        canvas.put(view.scale.left + first, y, wide, &text, style);
    }
}
