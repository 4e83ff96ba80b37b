//! What is done in an open lesson beside moving the playhead: a command in full, two variants compared, and the page at
//! its end.

use super::App;
use crate::trace::{Record, What};
use crate::tui::compare::{Compare, parting};
use crate::tui::ending::{self, Ending};
use crate::tui::keys::Action;
use crate::tui::strings::Ui;

impl App {
    /// The page at the end of the open lesson, if it is shown.
    #[must_use]
    pub fn ending(&self) -> Option<&Ending> {
        self.player.as_ref()?.ending.as_ref()
    }

    /// Whether the playhead is where nothing more comes.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.recording().is_some_and(|recording| self.player.as_ref().is_some_and(|player| player.at_end(&recording)))
    }

    /// Whether two variants are on the screen.
    #[must_use]
    pub fn is_comparing(&self) -> bool {
        self.player.as_ref().is_some_and(|player| player.compare.is_some())
    }

    /// Shows the next variant beside the one that is played; after the last one it begins again.
    pub(super) fn compare(&mut self) {
        if let Some((_, None)) = self.question() {
            return self.remind();
        }
        let Some(player) = &self.player else { return };
        let Some(lesson) = self.lesson(player.entry) else { return };
        let count = lesson.plans.len();
        // A changed run stands beside the one without changes first.
        let (variant, changed) = (player.variant, self.shown().is_some());
        let before = player.compare.as_ref().map(|compare| compare.other);
        let first = if changed { variant } else { variant + 1 };
        let from = before.map_or(first, |before| before + 1);
        let other = (from..from + count).map(|at| at % count.max(1)).find(|other| *other != variant || changed);
        let ui = Ui::new(self.lang);
        let Some(other) = other else {
            self.notice = Some(ui.get("compare.alone").to_owned());
            return;
        };
        self.compare_with(other);
    }

    /// Shows that variant beside the one that is played.
    fn compare_with(&mut self, other: usize) {
        let (Some(one), Some(beside)) = (self.recording(), self.recording_of(other)) else {
            self.notice = Some(Ui::new(self.lang).get("compare.not_run").to_owned());
            return;
        };
        let parting = parting(&one.trace, &beside.trace);
        if let Some(player) = &mut self.player {
            player.compare = Some(Compare { other, parting });
        }
    }

    /// After another variant was chosen to be played: the one that was played before stands beside it.
    pub(super) fn compare_again(&mut self, before: usize) {
        if self.is_comparing() {
            self.compare_with(before);
        }
    }

    pub(super) fn end_compare(&mut self) {
        if let Some(player) = &mut self.player {
            player.compare = None;
        }
    }

    /// The command that is shown in full, and how far its page is scrolled.
    #[must_use]
    pub fn opened_command(&self) -> Option<(u32, u16)> {
        self.player.as_ref()?.opened
    }

    /// Shows the command of the step at the playhead in full; where that has none, the last one before it.
    pub(super) fn open_command(&mut self) {
        let (Some(recording), Some(player)) = (self.recording(), &mut self.player) else { return };
        let records = &recording.trace.records[..player.playhead.pos.min(recording.trace.records.len())];
        let stop = recording.timeline.stops[recording.timeline.stop_at(player.playhead.pos)];
        let sent = |record: &Record| match record.what {
            What::Send { cmd, .. } => Some(cmd),
            _ => None,
        };
        let here = records.get(stop.start..).and_then(|here| here.iter().find_map(sent));
        let cmd = here.or_else(|| records.iter().rev().find_map(sent));
        player.playing = false;
        player.opened = cmd.map(|cmd| (cmd, 0));
        if cmd.is_none() {
            self.notice = Some(Ui::new(self.lang).get("command.none").to_owned());
        }
    }

    pub(super) fn update_command(&mut self, action: Action) {
        let Some(opened) = self.player.as_mut().map(|player| &mut player.opened) else { return };
        let scroll = opened.map_or(0, |(_, scroll)| scroll);
        let scrolled = match action {
            Action::Back => {
                *opened = None;
                return;
            }
            Action::Up => scroll.saturating_sub(1),
            Action::Down => scroll.saturating_add(1),
            Action::PageUp => scroll.saturating_sub(8),
            Action::PageDown => scroll.saturating_add(8),
            Action::Quit => return self.quit = true,
            Action::Language => return self.lang = self.lang.other(),
            Action::Help => return self.help = Some(0),
            _ => scroll,
        };
        if let Some((_, scroll)) = opened {
            *scroll = scrolled.min(1_000);
        }
    }

    /// Opens the page, unless it would tell what the student has not seen yet.
    pub(super) fn open_ending(&mut self) {
        if !self.has_seen_an_end() {
            self.notice = Some(Ui::new(self.lang).get("ending.not_yet").to_owned());
        } else if let Some(player) = &mut self.player {
            player.playing = false;
            player.ending = Some(Ending::default());
        }
    }

    pub(super) fn update_ending(&mut self, action: Action) {
        match action {
            Action::Quit => self.quit = true,
            Action::Language => self.lang = self.lang.other(),
            Action::Help => self.help = Some(0),
            Action::Back => {
                if let Some(player) = &mut self.player {
                    player.ending = None;
                }
            }
            action => {
                let Some(entry) = self.player.as_ref().map(|player| player.entry) else { return };
                let Some(Ok(lesson)) = self.entries.get(entry).map(|entry| &entry.lesson) else { return };
                let Some(ending) = self.player.as_mut().and_then(|player| player.ending.as_mut()) else { return };
                if let Some(i) = ending.update(action, lesson) {
                    self.see(i);
                }
            }
        }
    }

    /// Shows the place that refutes a misconception: in this variant, or in the first one that has it.
    fn see(&mut self, i: usize) {
        let Some(player) = &self.player else { return };
        let Some(lesson) = self.lesson(player.entry) else { return };
        let Some(see) = lesson.misconceptions.get(i).and_then(|misconception| misconception.see.as_ref()) else {
            return;
        };
        let here = player.variant;
        let others = (0..lesson.plans.len()).filter(|variant| *variant != here);
        let found = std::iter::once(here)
            .chain(others)
            .find_map(|variant| Some((variant, ending::place(self.recording_of(variant)?, see)?)));
        let Some((variant, record)) = found else {
            self.notice = Some(Ui::new(self.lang).get("ending.nowhere").to_owned());
            return;
        };
        self.leave_whatif();
        if variant != here {
            self.settle();
            if let Some(player) = &mut self.player {
                player.change_variant(variant);
            }
        }
        if let (Some(recording), Some(player)) = (self.recording(), &mut self.player) {
            player.ending = None;
            player.compare = None;
            player.go_to_record(record, &recording);
        }
        self.notice = Some(Ui::new(self.lang).get("ending.back").to_owned());
    }
}
