//! From state to screen: which panes there are, and where.
//!
//! ```text
//! ┌ header: lesson, variant, speed, time, and how things stand ┐
//! ├ timeline ──────────────────────────────────────────────────┤
//! ├ what happens, or the question ──────────┬ servers ─────────┤
//! ├ commands ──────────────────────────────────────────────────┤
//! └ footer: keys ──────────────────────────────────────────────┘
//! ```

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Position, Rect};

use super::app::{App, Run};
use super::canvas::Canvas;
use super::compare::{Compare, Parting};
use super::panes::{
    self, catalogue, command, compare, ending, footer, header, help, inspector, log, message, prose, question, story,
    timeline,
};
use super::player::{Focus, Player};
use super::recording::Recording;
use super::strings::Ui;
use super::whatif::WhatIf;
use crate::lesson::{Lesson, Plan};
use crate::trace::{LessonTime, Standing, State, Stop};

/// Below this the panes would only show their borders.
pub const MINIMUM: (u16, u16) = (60, 16);

/// What the panes of a lesson need, looked up once per frame.
pub struct Scene<'a> {
    /// Everything else.
    pub app: &'a App,
    /// The texts.
    pub ui: Ui,
    /// The playhead and what belongs to it.
    pub player: &'a Player,
    /// The lesson.
    pub lesson: &'a Lesson,
    /// Its variant.
    pub plan: &'a Plan,
    /// The run.
    pub recording: &'a Recording,
    /// What is true at the playhead.
    pub state: State,
    /// The stop where the playhead is, or the one it has passed last.
    pub stop: Stop,
    /// How many records may be seen.
    pub limit: usize,
    /// How things stand.
    pub standing: Standing,
    /// Where the time axis ends.
    pub end: LessonTime,
    /// Cells before the lanes, at least.
    pub gutter: u16,
    /// Over the timeline, if it is not its usual title.
    pub title: Option<String>,
    /// Where this run parts from the one beside it.
    pub parting: Option<LessonTime>,
}

impl<'a> Scene<'a> {
    /// Looks everything up.
    #[must_use]
    pub fn new(
        app: &'a App,
        ui: Ui,
        player: &'a Player,
        lesson: &'a Lesson,
        plan: &'a Plan,
        recording: &'a Recording,
    ) -> Self {
        let pos = player.playhead.pos;
        let timeline = &recording.timeline;
        Self {
            app,
            ui,
            player,
            lesson,
            plan,
            state: timeline.state_at(&recording.trace, pos),
            stop: timeline.stops[timeline.stop_at(pos)],
            limit: player.limit(recording),
            standing: timeline.standing(pos),
            end: timeline.end,
            gutter: 0,
            title: None,
            parting: None,
            recording,
        }
    }

    /// Whether this record, or the end in its place, may be seen.
    #[must_use]
    pub fn may_see(&self, record: usize) -> bool {
        record < self.limit || self.limit == self.recording.trace.records.len()
    }

    /// Whether the arrow keys scroll this pane.
    #[must_use]
    pub fn focused(&self, focus: Focus) -> bool {
        self.player.focus == focus
    }

    /// How far it is scrolled.
    #[must_use]
    pub const fn scroll(&self, focus: Focus) -> u16 {
        self.player.scroll[focus as usize]
    }
}

/// Draws `app` into `buffer`; returns where text is being typed, if it is.
pub fn draw(app: &App, buffer: &mut Buffer) -> Option<Position> {
    let area = buffer.area;
    let mut canvas = Canvas::new(buffer, app.theme);
    let ui = Ui::new(app.lang);
    if area.width < MINIMUM.0 || area.height < MINIMUM.1 {
        message::too_small(&mut canvas, ui, area);
        return None;
    }
    let [top, main, bottom] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)]).areas(area);
    match &app.player {
        None => {
            header::catalogue(&mut canvas, app, ui, top);
            catalogue::draw(&mut canvas, app, ui, main);
        }
        Some(player) => {
            draw_player(&mut canvas, app, ui, player, top, main);
            if let (Some(ending), Some(lesson)) = (app.ending(), app.lesson(player.entry)) {
                canvas.clear(main);
                ending::draw(&mut canvas, app, ui, lesson, ending, main);
            }
        }
    }
    match &app.notice {
        Some(notice) => footer::notice(&mut canvas, notice, bottom),
        None => footer::draw(&mut canvas, ui, &app.layers(), bottom),
    }
    if let Some(asking) = &app.asking {
        message::asking(&mut canvas, app, ui, asking, main);
    }
    if let Some(scroll) = app.help {
        help::draw(&mut canvas, app, ui, scroll, main);
    }
    canvas.cursor
}

fn draw_player(canvas: &mut Canvas<'_>, app: &App, ui: Ui, player: &Player, top: Rect, main: Rect) {
    let lesson = app.lesson(player.entry);
    let (Some(lesson), Some(plan), Some(run)) = (lesson, app.plan(), app.current_run()) else { return };
    let recording = match (app.shown(), run) {
        (Some(shown), _) => &shown.recording,
        (None, Run::Ready(recording)) => recording,
        (None, Run::Running) => {
            header::waiting(canvas, ui, app.lang, lesson, player.variant, top);
            message::running(canvas, ui, plan.is_on_real_clock(), main);
            return;
        }
        (None, Run::Failed(why)) => {
            header::waiting(canvas, ui, app.lang, lesson, player.variant, top);
            message::failed(canvas, ui, why, main);
            return;
        }
    };
    let mut scene = Scene::new(app, ui, player, lesson, plan, recording);
    let unchanged = app.unchanged().zip(lesson.plans.get(player.variant));
    let twin = unchanged.map(|(recording, _)| player.beside(player.variant, recording));
    let base = unchanged.zip(twin.as_ref());
    let base = base.map(|((recording, plan), twin)| Scene::new(app, ui, twin, lesson, plan, recording));
    if let (Some(base), Some(parting)) = (&base, app.shown().and_then(|shown| shown.parting)) {
        // Whether there is a difference beyond an open question is not to be known yet.
        let seen = base.may_see(parting.records.0) && scene.may_see(parting.records.1);
        scene.parting = seen.then_some(parting.t);
    }
    header::player(canvas, &scene, top);
    if let Some((cmd, scroll)) = player.opened {
        command::draw(canvas, ui, plan, recording, player.playhead.pos, cmd, scroll, main);
        return;
    }
    let question = app.question();
    // An open question needs the room, and its answer what is not yet to be seen.
    if let (Some(compare), false) = (&player.compare, matches!(question, Some((_, None))))
        && let (Some(recording), Some(plan)) = (app.recording_of(compare.other), lesson.plans.get(compare.other))
    {
        let twin = player.beside(compare.other, recording);
        let other = Scene::new(app, ui, &twin, lesson, plan, recording);
        draw_compare(canvas, scene, other, compare, main);
        return;
    }
    if let Some(whatif) = player.whatif.as_ref().filter(|whatif| whatif.open) {
        draw_whatif(canvas, &scene, base.as_ref(), whatif, main);
        return;
    }
    let wanted = |wide| match question {
        Some((ask, given)) => question::wanted_height(&scene, ask, given, wide),
        None => story::wanted_height(&scene, canvas.theme, wide),
    };
    let places = places(&scene, question.is_some(), wanted, main);
    timeline::draw(canvas, &scene, places.timeline);
    match question {
        Some((ask, given)) => question::draw(canvas, &scene, ask, given, places.story),
        None => story::draw(canvas, &scene, places.story),
    }
    if places.inspector.width > 0 {
        inspector::draw(canvas, &scene, places.inspector);
    }
    if places.log.height > 0 {
        log::draw(canvas, &scene, places.log);
    }
}

/// Draws the list of what can be changed in place of the story, and what that buys in place of the log.
fn draw_whatif(canvas: &mut Canvas<'_>, scene: &Scene<'_>, base: Option<&Scene<'_>>, whatif: &WhatIf, main: Rect) {
    let side = (main.width * 2 / 5).clamp(34, 64);
    let paragraphs = panes::whatif::bought(scene.app, base, scene, whatif, canvas.theme);
    let wanted = prose::height(&paragraphs, main.width.saturating_sub(4)).saturating_add(2);
    let below = wanted.clamp(LEAST_LOG, (main.height / 3).max(LEAST_LOG));
    let upper = timeline::wanted_height(scene, main.height.saturating_sub(LEAST_LIST + below));
    let [top, middle, bottom] =
        Layout::vertical([Constraint::Length(upper), Constraint::Min(0), Constraint::Length(below)]).areas(main);
    let [list, inspector] = Layout::horizontal([Constraint::Min(0), Constraint::Length(side)]).areas(middle);
    timeline::draw(canvas, scene, top);
    panes::whatif::list(canvas, scene, whatif, list);
    inspector::draw(canvas, scene, inspector);
    let inner = canvas.frame(bottom, scene.ui.get("pane.compare"), false);
    prose::draw(canvas, bottom, inner, &paragraphs, (true, 0));
}

/// Draws two runs, over one axis.
fn draw_compare<'a>(canvas: &mut Canvas<'_>, mut one: Scene<'a>, mut other: Scene<'a>, compare: &Compare, main: Rect) {
    let is_seen = |parting: &Parting| one.may_see(parting.records.0) && other.may_see(parting.records.1);
    let parting = compare.parting.filter(is_seen);
    let end = one.end.max(other.end);
    let gutter = timeline::label_width(&one).max(timeline::label_width(&other));
    for scene in [&mut one, &mut other] {
        scene.end = end;
        scene.gutter = gutter;
        scene.parting = parting.map(|parting| parting.t);
        scene.title = Some(compare::title(scene));
    }
    compare::draw(canvas, &one, &other, parting, main);
}

/// Where the four panes of a lesson are. Where there is no room for one, it is not drawn.
struct Places {
    timeline: Rect,
    story: Rect,
    inspector: Rect,
    log: Rect,
}

/// Rows that the panes need at least, borders included.
const LEAST_TIMELINE: u16 = 8;
const LEAST_MIDDLE: u16 = 6;
const LEAST_LOG: u16 = 4;
const LEAST_LIST: u16 = 8;

/// From this height on all panes have room, and keep their places from step to step.
const ROOMY: u16 = 30;

/// Places the panes in `area`.
///
/// What is to be read now comes before all else: on a small screen the story (or the question) takes the rows of the
/// log, and, if it is still cut off, the columns of the inspector. `wanted` are the rows that it needs when it is so
/// wide.
fn places(scene: &Scene<'_>, asked: bool, wanted: impl Fn(u16) -> u16, area: Rect) -> Places {
    let side = (area.width * 2 / 5).clamp(34, 64);
    // A question is answered by looking at the facts, which stay beside it; what is told is read.
    let beside = wanted(area.width - side);
    // At the beginning nothing has been sent yet; later the last commands are part of what is to be seen.
    let small = area.height < ROOMY && (asked || scene.player.playhead.pos == 0);
    let most = area.height.saturating_sub(LEAST_TIMELINE);
    let (side, wanted, log) = if beside + LEAST_LOG <= most || !small {
        (side, beside, LEAST_LOG)
    } else if beside <= most {
        (side, beside, 0)
    } else {
        (0, wanted(area.width), 0)
    };
    let least = if asked || small {
        wanted.clamp(LEAST_MIDDLE, most.saturating_sub(log).max(LEAST_MIDDLE))
    } else {
        LEAST_MIDDLE
    };
    let upper = timeline::wanted_height(scene, area.height.saturating_sub(least + log));
    let rest = area.height - upper;
    let middle = (rest / 2).clamp(LEAST_MIDDLE, 12);
    // A question also gets room for empty lines between its parts, if there is any.
    let middle = if asked { middle.max(wanted.saturating_add(4)) } else { middle };
    let middle = middle.min(rest.saturating_sub(log)).max(least.min(rest));
    // A log of a line or none says nothing.
    let middle = if rest - middle < LEAST_LOG { rest } else { middle };
    let [timeline, middle, log] =
        Layout::vertical([Constraint::Length(upper), Constraint::Length(middle), Constraint::Min(0)]).areas(area);
    let [story, inspector] = Layout::horizontal([Constraint::Min(0), Constraint::Length(side)]).areas(middle);
    Places { timeline, story, inspector, log }
}
