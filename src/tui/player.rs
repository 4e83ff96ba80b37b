//! The state of one lesson being played: the playhead, its speed, and the answers given.
//!
//! Every move is a move of the playhead over a finished recording. A question that has not been answered is a wall:
//! no move goes past it, so nothing that is drawn can give the answer away.

mod pace;
mod place;

use std::collections::BTreeMap;

pub use super::answer::{Given, Grade};
pub use pace::{SPEEDS, speed_text};
pub use place::{Focus, Playhead};

use super::compare::Compare;
use super::ending::Ending;
use super::keys::Action;
use super::recording::{AskStop, Recording};
use super::whatif::{self, WhatIf};
use crate::trace::LessonTime;
use pace::{comfortable, shifted};

/// A lesson being played.
#[derive(Clone, Debug)]
pub struct Player {
    /// Which entry of the catalogue.
    pub entry: usize,
    /// Which variant of it.
    pub variant: usize,
    /// Where we are.
    pub playhead: Playhead,
    /// Whether it moves.
    pub playing: bool,
    /// The speed that was chosen, as a power of two; none: what suits the length of the run.
    pub speed: Option<i8>,
    /// Which pane the arrow keys scroll.
    pub focus: Focus,
    /// How far each pane is scrolled, by [`Focus`].
    pub scroll: [u16; 4],
    /// Answers, by variant and event.
    pub answers: BTreeMap<(usize, usize), Given>,
    /// Whether the hint of the open question is shown.
    pub hint: bool,
    /// The number being typed.
    pub typed: String,
    /// The timeline shows the whole run, halved so many times.
    pub zoom: u8,
    /// Whether idle stretches are squeezed.
    pub squeeze: bool,
    /// Where the timeline was moved to, away from the playhead; any move of the playhead brings it back.
    pub looking_at: Option<LessonTime>,
    /// Another variant that is shown beside this one.
    pub compare: Option<Compare>,
    /// The variant with changes, while there are any or some are being thought of.
    pub whatif: Option<WhatIf>,
    /// The command that is shown in full, by number, and how far its page is scrolled.
    pub opened: Option<(u32, u16)>,
    /// The page after the last event, while it is shown.
    pub ending: Option<Ending>,
    /// Where to go as soon as there is a recording.
    pub resume: Option<LessonTime>,
    /// Microseconds of real time since the playhead came to its stop.
    lingered: u64,
}

/// How long playing rests on a stop at which something is said or goes wrong, and on any other: microseconds.
const LINGER_TELLING_US: u64 = 2_400_000;
const LINGER_US: u64 = 250_000;

/// A part of the run as long as this is not zoomed into any further.
const NARROW_MS: u64 = 40;

/// One small step at 1×, in microseconds of lesson time.
const FRAME_US: u64 = 100_000;

impl Player {
    /// At the beginning of `variant` of `entry`.
    #[must_use]
    pub const fn new(entry: usize, variant: usize) -> Self {
        Self {
            entry,
            variant,
            playhead: Playhead { us: 0, pos: 0 },
            playing: false,
            speed: None,
            // The story is what is read first.
            focus: Focus::Story,
            scroll: [0; 4],
            answers: BTreeMap::new(),
            hint: false,
            typed: String::new(),
            zoom: 0,
            squeeze: false,
            looking_at: None,
            compare: None,
            whatif: None,
            opened: None,
            ending: None,
            resume: None,
            lingered: 0,
        }
    }

    /// The speed in force for `recording`, as a power of two.
    #[must_use]
    pub fn speed_of(&self, recording: &Recording) -> i8 {
        self.speed.unwrap_or_else(|| comfortable(recording.timeline.end))
    }

    /// Under which variant answers are kept: those in a changed run are nobody's business.
    #[must_use]
    pub fn answering(&self) -> usize {
        if self.whatif.as_ref().is_some_and(|whatif| whatif.shown.is_some()) { whatif::VARIANT } else { self.variant }
    }

    /// The first question that is still open: nothing after it may be seen.
    #[must_use]
    pub fn wall(&self, recording: &Recording) -> Option<AskStop> {
        recording.asks.iter().find(|ask| !self.answers.contains_key(&(self.answering(), ask.event))).copied()
    }

    /// How many records may be seen.
    #[must_use]
    pub fn limit(&self, recording: &Recording) -> usize {
        self.wall(recording).map_or(recording.trace.records.len(), |ask| ask.pos)
    }

    /// The question at the playhead, and what was answered.
    #[must_use]
    pub fn question(&self, recording: &Recording) -> Option<(AskStop, Option<Given>)> {
        let ask = *recording.asks.iter().find(|ask| ask.pos == self.playhead.pos)?;
        Some((ask, self.answers.get(&(self.answering(), ask.event)).copied()))
    }

    /// The same moment of another variant, as far as its own open question lets it be seen.
    #[must_use]
    pub fn beside(&self, variant: usize, recording: &Recording) -> Self {
        let mut twin = Self { variant, ending: None, whatif: None, scroll: [0; 4], ..self.clone() };
        let happened = recording.happened(self.playhead.t()).min(twin.limit(recording));
        // Before the first event nothing has happened in either.
        twin.playhead.pos = if self.playhead.pos == 0 { 0 } else { happened };
        twin
    }

    /// Whether the playhead can go no further.
    #[must_use]
    pub fn at_end(&self, recording: &Recording) -> bool {
        self.playhead.pos >= recording.trace.records.len()
    }

    /// Does what `action` asks of a player; everything else is not for it.
    pub fn update(&mut self, action: Action, recording: &Recording) {
        let end = recording.timeline.end;
        let frame = shifted(FRAME_US, self.speed_of(recording)).max(1000);
        let tenth = ((end.ms() * 100) >> self.zoom).max(1000);
        match action {
            Action::TogglePlay => self.toggle(recording),
            Action::Previous => self.step_back(recording),
            Action::Next => self.step(recording),
            Action::FrameBack => self.move_to_time(self.playhead.us.saturating_sub(frame), recording),
            Action::FrameForward => self.move_to_time(self.playhead.us + frame, recording),
            Action::TenthBack => self.move_to_time(self.playhead.us.saturating_sub(tenth), recording),
            Action::TenthForward => self.move_to_time(self.playhead.us + tenth, recording),
            Action::Jump(0) | Action::Home => self.go(Playhead::default(), recording),
            Action::Jump(tenths) => self.move_to_time(end.ms() * 100 * u64::from(tenths), recording),
            Action::End => self.go(Playhead::at(end, recording.trace.records.len()), recording),
            Action::PreviousMarker => self.previous_marker(recording),
            Action::NextMarker => self.next_marker(recording),
            Action::FirstViolation => {
                let first = recording.timeline.markers.iter().find(|marker| marker.kind.is_violation());
                if let Some(marker) = first {
                    self.go_to_record(marker.record, recording);
                }
            }
            Action::Faster => self.speed = Some((self.speed_of(recording) + 1).min(*SPEEDS.end())),
            Action::Slower => self.speed = Some((self.speed_of(recording) - 1).max(*SPEEDS.start())),
            Action::Parting => {
                if let Some(parting) = self.compare.as_ref().and_then(|compare| compare.parting) {
                    self.go_to_time(parting.t, recording);
                }
            }
            Action::ZoomIn if (end.ms() >> self.zoom) > NARROW_MS => self.zoom += 1,
            Action::ZoomOut => {
                self.zoom = self.zoom.saturating_sub(1);
                // With all of it in sight there is nothing to look along.
                self.looking_at = self.looking_at.filter(|_| self.zoom > 0);
            }
            Action::LookBack => self.look(false, end),
            Action::LookAhead => self.look(true, end),
            Action::Squeeze => self.squeeze = !self.squeeze,
            Action::FocusNext => self.focus = self.focus.turned(1),
            Action::FocusPrevious => self.focus = self.focus.turned(3),
            Action::Up => self.scroll_by(-1),
            Action::Down => self.scroll_by(1),
            Action::PageUp => self.scroll_by(-8),
            Action::PageDown => self.scroll_by(8),
            Action::Hint => self.hint = !self.hint,
            Action::Choose(number) => self.answer(Given::Choice(usize::from(number) - 1), recording),
            Action::Type(c) if self.typed.len() < 12 => self.typed.push(c),
            Action::Erase => drop(self.typed.pop()),
            Action::Skip => self.answer(Given::Skipped, recording),
            _ => {}
        }
    }

    /// Records an answer to the question at the playhead, if one is open there.
    pub fn answer(&mut self, given: Given, recording: &Recording) {
        if let Some((ask, None)) = self.question(recording) {
            self.answers.insert((self.answering(), ask.event), given);
            self.typed.clear();
            self.lingered = 0;
        }
    }

    /// Records how the student's own answer compares with the model answer that was revealed.
    pub fn grade(&mut self, grade: Grade, recording: &Recording) {
        if let Some((ask, Some(Given::Revealed | Given::Graded(_)))) = self.question(recording) {
            self.answers.insert((self.answering(), ask.event), Given::Graded(grade));
        }
    }

    /// Time goes by: `us` microseconds of real time. Returns whether the picture has changed.
    pub fn tick(&mut self, us: u64, recording: &Recording) -> bool {
        if !self.playing {
            return false;
        }
        let stops = &recording.timeline.stops;
        let here = recording.timeline.stop_at(self.playhead.pos);
        let Some(next) = stops.get(here + 1) else {
            self.playing = false;
            return true;
        };
        if self.playhead.pos >= self.limit(recording) {
            self.playing = false;
            return true;
        }
        let speed = self.speed_of(recording);
        self.lingered = self.lingered.saturating_add(us);
        let target = next.t.ms() * 1000;
        let before = self.playhead;
        self.playhead.us = (self.playhead.us + shifted(us, speed)).min(target);
        let rest = if recording.telling[here] { LINGER_TELLING_US } else { LINGER_US };
        let faster = (speed - comfortable(recording.timeline.end)).clamp(0, 8);
        if self.playhead.us == target && self.lingered >= rest >> faster {
            self.arrive(Playhead { us: target, pos: next.end });
            // At a question it stands still from the first frame on: an answer must not set it going.
            self.playing = self.playhead.pos < self.limit(recording);
        }
        self.playhead != before
    }

    fn toggle(&mut self, recording: &Recording) {
        if !self.playing && self.at_end(recording) {
            self.go(Playhead::default(), recording);
        }
        self.playing = !self.playing && self.playhead.pos < self.limit(recording);
        // Who presses play has read what is here.
        self.lingered = LINGER_TELLING_US;
    }

    fn step(&mut self, recording: &Recording) {
        self.playing = false;
        let stops = &recording.timeline.stops;
        if let Some(stop) = stops.get(recording.timeline.stop_at(self.playhead.pos) + 1) {
            self.go(Playhead::at(stop.t, stop.end), recording);
        }
    }

    fn step_back(&mut self, recording: &Recording) {
        self.playing = false;
        let here = recording.timeline.stop_at(self.playhead.pos);
        let stop = recording.timeline.stops[here];
        // Somewhere after a stop, back leads to that stop first, as in any player.
        let target = if self.playhead.us > stop.t.ms() * 1000 { here } else { here.saturating_sub(1) };
        let stop = recording.timeline.stops[target];
        self.go(Playhead::at(stop.t, stop.end), recording);
    }

    /// What a change does to the run leaves the playhead where the student has put it.
    pub const fn settle_down(&mut self) {
        if let Some(whatif) = &mut self.whatif {
            whatif.home = self.playhead;
        }
    }

    /// Goes as near to `place`, which may be of another run, as this one has it.
    pub fn go_near(&mut self, place: Playhead, recording: &Recording) {
        if place == Playhead::default() {
            self.go(place, recording);
        } else {
            self.move_to_time(place.us, recording);
        }
    }

    fn move_to_time(&mut self, us: u64, recording: &Recording) {
        self.playing = false;
        let us = us.min(recording.timeline.end.ms() * 1000);
        let pos = recording.happened(LessonTime(us / 1000));
        self.go(Playhead { us, pos }, recording);
    }

    /// Goes to the end of the instant `t`, or to the open question before it.
    pub fn go_to_time(&mut self, t: LessonTime, recording: &Recording) {
        self.move_to_time(t.ms() * 1000, recording);
    }

    /// Goes to the step in which `record` happens, or to the open question before it.
    pub fn go_to_record(&mut self, record: usize, recording: &Recording) {
        self.playing = false;
        let stop = recording.timeline.stops[recording.timeline.stop_of(record)];
        self.go(Playhead::at(stop.t, stop.end), recording);
    }

    fn next_marker(&mut self, recording: &Recording) {
        let mut later = recording.timeline.markers.iter().filter(|m| m.kind.is_jump());
        if let Some(marker) = later.find(|m| m.record >= self.playhead.pos) {
            self.go_to_record(marker.record, recording);
        }
    }

    fn previous_marker(&mut self, recording: &Recording) {
        let here = recording.timeline.stops[recording.timeline.stop_at(self.playhead.pos)];
        // On a marker's own stop, back means the one before it.
        let before = if self.playhead.us > here.t.ms() * 1000 { here.end } else { here.start };
        let mut earlier = recording.timeline.markers.iter().rev().filter(|m| m.kind.is_jump());
        match earlier.find(|m| m.record < before) {
            Some(marker) => self.go_to_record(marker.record, recording),
            None => self.go(Playhead::default(), recording),
        }
    }

    /// Goes there, or to the open question that is in the way.
    fn go(&mut self, to: Playhead, recording: &Recording) {
        match self.wall(recording) {
            Some(ask) if to.pos >= ask.pos || to.us > ask.t.ms() * 1000 => {
                self.playing = false;
                self.arrive(Playhead::at(ask.t, ask.pos));
                // The arrow keys scroll what is to be read now.
                self.focus = Focus::Story;
            }
            _ => self.arrive(to),
        }
    }

    /// Moves the timeline by half of what it shows. All of it cannot be moved.
    fn look(&mut self, ahead: bool, end: LessonTime) {
        let half = LessonTime((end.ms() >> self.zoom) / 2);
        if self.zoom == 0 {
            return;
        }
        // The middle of a window that ends with the lesson: from there each press is seen.
        let inside = |t: LessonTime| t.clamp(half, end - half);
        let at = inside(self.looking_at.unwrap_or(self.playhead.t()));
        self.looking_at = Some(inside(if ahead { at + half } else { at - half }));
    }

    fn arrive(&mut self, to: Playhead) {
        self.looking_at = None;
        if self.playhead.pos != to.pos {
            self.hint = false;
            self.typed.clear();
            self.scroll[Focus::Story as usize] = 0;
            self.scroll[Focus::Log as usize] = 0;
            self.lingered = 0;
        }
        self.playhead = to;
    }

    fn scroll_by(&mut self, lines: i16) {
        let scroll = &mut self.scroll[self.focus as usize];
        // The log is scrolled from its end: up is further into the past.
        let lines = if self.focus == Focus::Log { -lines } else { lines };
        *scroll = scroll.saturating_add_signed(lines).min(10_000);
    }

    /// Shows another variant, from its beginning, with the chosen speed and the answers kept.
    pub fn change_variant(&mut self, variant: usize) {
        self.variant = variant;
        self.playing = false;
        self.playhead = Playhead::default();
        self.looking_at = None;
        self.scroll = [0; 4];
        self.hint = false;
        self.typed.clear();
        self.resume = None;
        self.whatif = None;
        self.lingered = 0;
    }
}
