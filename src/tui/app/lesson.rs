//! What is done in an open lesson beside moving the playhead: the page at its end.

use super::App;
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
        if variant != here {
            self.settle();
            if let Some(player) = &mut self.player {
                player.change_variant(variant);
            }
        }
        if let (Some(recording), Some(player)) = (self.recording(), &mut self.player) {
            player.ending = None;
            player.go_to_record(record, &recording);
        }
        self.notice = Some(Ui::new(self.lang).get("ending.back").to_owned());
    }
}
