//! What if: how keys change a variant, and how a run of it comes back and is shown.

use std::sync::Arc;

use super::{App, Request, Run, RunKey};
use crate::lesson::whatif::{Draft, Edit, Written};
use crate::lesson::{Diagnostic, Plan};
use crate::trace::LessonTime;
use crate::tui::keys::Action;
use crate::tui::strings::Ui;
use crate::tui::whatif::rows::{self, Row};
use crate::tui::whatif::turn::{Turn, turned};
use crate::tui::whatif::{Moment, Shown, WhatIf, may_be_endless};

impl App {
    /// The variant being changed.
    #[must_use]
    pub fn whatif(&self) -> Option<&WhatIf> {
        self.player.as_ref()?.whatif.as_ref()
    }

    /// The run with changes that is on the screen.
    #[must_use]
    pub fn shown(&self) -> Option<&Shown> {
        self.whatif()?.shown.as_ref()
    }

    /// Whether the list of what can be changed is open.
    #[must_use]
    pub fn is_changing(&self) -> bool {
        self.whatif().is_some_and(|whatif| whatif.open)
    }

    /// What the lines of the list are.
    #[must_use]
    pub fn whatif_rows(&self) -> Vec<Row> {
        let (Some(player), Some(whatif), Some(recording)) = (&self.player, self.whatif(), self.recording()) else {
            return Vec::new();
        };
        let seen = whatif.shown.as_ref().map_or(&whatif.base, |shown| &shown.plan);
        let moment = rows::Moment {
            plan: &whatif.plan,
            edits: &whatif.edits,
            variants: self.lesson(player.entry).map_or(1, |lesson| lesson.plans.len()),
            seen: (seen, &recording.trace),
            state: &recording.timeline.state_at(&recording.trace, player.playhead.pos),
            pos: player.playhead.pos,
            t: player.playhead.t(),
        };
        moment.rows()
    }

    /// What was changed in this lesson and is to be written into a file, since the last call.
    pub fn take_written(&mut self) -> Option<Written> {
        self.written.take()
    }

    /// What a key does while a variant is being changed; whether it means anything there.
    pub(super) fn update_whatif(&mut self, action: Action) -> bool {
        match action {
            Action::WhatIf => self.open_whatif(),
            Action::Undo => self.undo(false),
            Action::Redo => self.undo(true),
            Action::Save => self.save(),
            Action::NextVariant if self.whatif().is_some() => self.another_variant(1),
            Action::PreviousVariant if self.whatif().is_some() => self.another_variant(-1),
            Action::Back if !self.is_changing() && self.whatif().is_some() => self.leave_whatif(),
            _ if !self.is_changing() => return false,
            Action::Back => self.close_whatif(),
            Action::Compare => {
                self.close_whatif();
                self.compare();
            }
            Action::Up => self.select(-1),
            Action::Down => self.select(1),
            Action::PageUp => self.select(-5),
            Action::PageDown => self.select(5),
            Action::Submit => self.turn(Turn::Switch),
            Action::Less => self.turn(Turn::Step { up: false, big: false }),
            Action::More => self.turn(Turn::Step { up: true, big: false }),
            Action::MuchLess => self.turn(Turn::Step { up: false, big: true }),
            Action::MuchMore => self.turn(Turn::Step { up: true, big: true }),
            _ => return false,
        }
        true
    }

    fn open_whatif(&mut self) {
        if self.is_changing() {
            self.close_whatif();
            return;
        }
        let Some(player) = &self.player else { return };
        if self.recording().is_none() {
            return;
        }
        if player.whatif.is_none() {
            let (playhead, draft) = (player.playhead, self.draft(player.variant));
            match draft {
                Ok((draft, plan)) => {
                    if let Some(player) = &mut self.player {
                        player.whatif = Some(WhatIf::new(draft, plan, playhead));
                    }
                }
                Err(errors) => self.refuse(&errors),
            }
        }
        if let Some(player) = &mut self.player {
            player.playing = false;
            player.compare = None;
            if let Some(whatif) = &mut player.whatif {
                whatif.open = true;
            }
        }
    }

    fn close_whatif(&mut self) {
        let Some(player) = &mut self.player else { return };
        if let Some(whatif) = &mut player.whatif {
            whatif.open = false;
            if whatif.is_fresh() {
                player.whatif = None;
            }
        }
    }

    /// Back to the variant as its author wrote it.
    pub(super) fn leave_whatif(&mut self) {
        let Some(player) = &mut self.player else { return };
        let Some(whatif) = player.whatif.take() else { return };
        player.compare = None;
        player.playing = false;
        self.runs.retain(|key, _| key.whatif == 0);
        if let (Some(recording), Some(player)) = (self.recording(), &mut self.player) {
            player.go_near(whatif.home, &recording);
        }
    }

    /// A variant of the open lesson, ready for changes.
    fn draft(&self, variant: usize) -> Result<(Draft, Plan), Vec<Diagnostic>> {
        let lesson = self.player.as_ref().and_then(|player| self.lesson(player.entry)).ok_or_else(Vec::new)?;
        let draft = Draft::new(lesson, variant)?;
        let plan = draft.plan(&[])?;
        Ok((draft, plan))
    }

    /// A change that would not be a lesson: the first reason why.
    fn refuse(&mut self, errors: &[Diagnostic]) {
        let why = errors.first().map_or("", |error| &error.message);
        self.notice = Some(Ui::new(self.lang).fill("whatif.impossible", &[("why", why)]));
    }

    fn select(&mut self, by: isize) {
        let last = self.whatif_rows().len().saturating_sub(1);
        if let Some(whatif) = self.player.as_mut().and_then(|player| player.whatif.as_mut()) {
            whatif.selected = whatif.selected.min(last).saturating_add_signed(by).min(last);
        }
    }

    fn turn(&mut self, turn: Turn) {
        let rows = self.whatif_rows();
        let Some(whatif) = self.whatif() else { return };
        let Some(row) = rows.get(whatif.selected.min(rows.len().saturating_sub(1))).cloned() else { return };
        if row == Row::Variant {
            self.another_variant(if matches!(turn, Turn::Step { up: false, .. }) { -1 } else { 1 });
            return;
        }
        let Some(edits) = turned(&row, turn, &whatif.base, &whatif.plan, &whatif.edits) else { return };
        if edits == whatif.edits {
            return;
        }
        let made = matches!(row, Row::New(_)).then(|| Row::Made(edits.len().saturating_sub(1)));
        // A number that is turned up and down is one change; what has just been made may be turned at once.
        let turning = matches!(turn, Turn::Step { .. }).then(|| made.clone().unwrap_or(row));
        if self.change(edits, turning)
            && let Some(made) = made
            && let Some(at) = self.whatif_rows().iter().position(|row| *row == made)
            && let Some(whatif) = self.player.as_mut().and_then(|player| player.whatif.as_mut())
        {
            whatif.selected = at;
        }
    }

    /// Makes these the changes, and asks for the run; whether they can be made.
    fn change(&mut self, edits: Vec<Edit>, turning: Option<Row>) -> bool {
        let Some(player) = &mut self.player else { return false };
        let variant = player.variant;
        let Some(whatif) = &mut player.whatif else { return false };
        match whatif.draft.plan(&edits) {
            Ok(plan) => {
                let was = Moment { variant, edits: std::mem::replace(&mut whatif.edits, edits) };
                whatif.plan = Arc::new(plan);
                whatif.note(was, turning);
                self.run_whatif();
                true
            }
            Err(errors) => {
                self.refuse(&errors);
                false
            }
        }
    }

    fn undo(&mut self, again: bool) {
        let ui = Ui::new(self.lang);
        let Some(player) = &mut self.player else { return };
        let variant = player.variant;
        let moment = player.whatif.as_mut().and_then(|whatif| {
            let now = Moment { variant, edits: whatif.edits.clone() };
            whatif.step(again, now)
        });
        let Some(moment) = moment else {
            let key = if again { "whatif.no_redo" } else { "whatif.no_undo" };
            self.notice = Some(ui.get(key).to_owned());
            return;
        };
        if moment.variant != variant {
            self.rebase(moment.variant);
        }
        if let Some(whatif) = self.player.as_mut().and_then(|player| player.whatif.as_mut())
            && let Ok(plan) = whatif.draft.plan(&moment.edits)
        {
            whatif.plan = Arc::new(plan);
            whatif.edits = moment.edits;
        }
        self.run_whatif();
    }

    /// The changes made to the next variant instead, as far as they go with it.
    fn another_variant(&mut self, by: isize) {
        let Some(player) = &self.player else { return };
        let (before, count) = (player.variant, self.lesson(player.entry).map_or(1, |lesson| lesson.plans.len()));
        let count = isize::try_from(count).unwrap_or(1).max(1);
        let here = isize::try_from(before).unwrap_or(0);
        let next = usize::try_from((here + by).rem_euclid(count)).unwrap_or(0);
        let Some(whatif) = self.whatif().filter(|_| next != before) else { return };
        let wanted = whatif.edits.clone();
        if !self.rebase(next) {
            return;
        }
        let Some(whatif) = self.player.as_mut().and_then(|player| player.whatif.as_mut()) else { return };
        let mut edits = Vec::new();
        for edit in wanted.clone() {
            edits.push(edit);
            match whatif.draft.plan(&edits) {
                Ok(plan) => whatif.plan = Arc::new(plan),
                Err(_) => drop(edits.pop()),
            }
        }
        whatif.edits = edits;
        whatif.note(Moment { variant: before, edits: wanted }, None);
        self.run_whatif();
    }

    /// Plays another variant, the changes still to be made; whether that worked.
    fn rebase(&mut self, variant: usize) -> bool {
        match self.draft(variant) {
            Ok((draft, plan)) => {
                if let Some(player) = &mut self.player {
                    player.variant = variant;
                    player.compare = None;
                    if let Some(whatif) = &mut player.whatif {
                        whatif.rebase(draft, plan);
                        // The run on the screen is of the other variant: it parts elsewhere.
                        whatif.shown = None;
                    }
                }
                true
            }
            Err(errors) => {
                self.refuse(&errors);
                false
            }
        }
    }

    /// Asks for the run of the changes; without any, the variant's own is there.
    fn run_whatif(&mut self) {
        self.runs.retain(|key, _| key.whatif == 0);
        let Some(player) = &mut self.player else { return };
        let Some(whatif) = &mut player.whatif else { return };
        self.asked += 1;
        whatif.revision = self.asked;
        whatif.failed = None;
        if whatif.edits.is_empty() {
            whatif.shown = None;
            let home = whatif.home;
            if let (Some(recording), Some(player)) = (self.recording(), &mut self.player) {
                player.go_near(home, &recording);
                if recording.happened(home.t()) >= home.pos && home.pos <= player.limit(&recording) {
                    player.playhead = home;
                }
            }
            return;
        }
        let key = RunKey { entry: player.entry, variant: player.variant, whatif: whatif.revision };
        let base = match self.runs.get(&RunKey { whatif: 0, ..key }) {
            Some(Run::Ready(recording)) => recording.timeline.end,
            _ => LessonTime::ZERO,
        };
        whatif.until = may_be_endless(&whatif.plan, base);
        let plan = Plan { give_up: whatif.until, ..Plan::clone(&whatif.plan) };
        self.runs.insert(key, Run::Running);
        self.requests.push(Request { key, plan });
    }
}
