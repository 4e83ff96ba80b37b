//! What comes of a what-if: its run is shown in place of the variant's own, and can be kept as a lesson.

use std::sync::Arc;

use super::{App, Run, RunKey};
use crate::lesson::whatif::{Unsaved, Words};
use crate::lesson::{Do, Plan};
use crate::trace::{Lang, Text};
use crate::tui::compare::parting;
use crate::tui::recording::Recording;
use crate::tui::strings::Ui;
use crate::tui::whatif::{Shown, VARIANT, all_done, words};

impl App {
    /// The run of some changes has been made, or has failed. One that is too late is not looked at.
    pub(super) fn ran_whatif(&mut self, key: RunKey, run: Run) -> bool {
        self.runs.remove(&key);
        let base = match self.runs.get(&RunKey { whatif: 0, ..key }) {
            Some(Run::Ready(recording)) => Some(Arc::clone(recording)),
            _ => None,
        };
        let Some(player) = &mut self.player else { return false };
        if (player.entry, player.variant) != (key.entry, key.variant) {
            return false;
        }
        let Some(whatif) = player.whatif.as_mut().filter(|whatif| whatif.revision == key.whatif) else { return false };
        match run {
            Run::Running => return false,
            Run::Failed(why) => whatif.failed = Some(why),
            Run::Ready(recording) => {
                if all_done(&whatif.plan, &recording.trace) {
                    whatif.until = None;
                }
                let parting = base.and_then(|base| parting(&base.trace, &recording.trace));
                let (recording, untold) = match (parting, Arc::try_unwrap(recording)) {
                    (Some(parting), Ok(mut recording)) => {
                        let (events, edits) = (&whatif.plan.events, &whatif.edits);
                        let untold = recording.untell(parting.records.1, |event| {
                            let id = events.get(event).and_then(|event| event.id.as_deref());
                            edits.iter().any(|edit| edit.concerns(id))
                        });
                        (Arc::new(recording), untold)
                    }
                    (_, Ok(recording)) => (Arc::new(recording), Vec::new()),
                    (_, Err(recording)) => (recording, Vec::new()),
                };
                let (edits, plan) = (whatif.edits.clone(), Arc::clone(&whatif.plan));
                let until = whatif.until;
                let before = whatif.shown.replace(Shown { edits, plan, until, recording, parting, untold });
                let home = whatif.home;
                self.carry_answers(before.as_ref());
                if let (Some(recording), Some(player)) = (self.recording(), &mut self.player) {
                    player.go_near(home, &recording);
                }
            }
        }
        true
    }

    /// What was answered counts in the changed run too: questions are known by their places in the file.
    fn carry_answers(&mut self, before: Option<&Shown>) {
        let Some(player) = &self.player else { return };
        let own = self.lesson(player.entry).and_then(|lesson| lesson.plans.get(player.variant));
        let (Some(own), Some(shown)) = (own, self.shown()) else { return };
        let given = |span| {
            let in_plan = |plan: &Plan, variant| {
                let at = plan.events.iter().position(|event| event.span == span)?;
                player.answers.get(&(variant, at)).copied()
            };
            before.and_then(|before| in_plan(&before.plan, VARIANT)).or_else(|| in_plan(own, player.variant))
        };
        let asks = shown.plan.events.iter().enumerate().filter(|(_, event)| matches!(event.what, Do::Ask(_)));
        let carried: Vec<_> = asks.filter_map(|(at, event)| Some(((VARIANT, at), given(event.span)?))).collect();
        if let Some(player) = &mut self.player {
            player.answers.retain(|(variant, _), _| *variant != VARIANT);
            player.answers.extend(carried);
        }
    }

    /// The recording of the variant as it is, where a changed one is shown.
    #[must_use]
    pub fn unchanged(&self) -> Option<&Recording> {
        self.shown()?;
        self.recording_of(self.player.as_ref()?.variant)
    }

    pub(super) fn save(&mut self) {
        let ui = Ui::new(self.lang);
        let saved = match self.whatif() {
            Some(whatif) if !whatif.edits.is_empty() => match &whatif.shown {
                Some(shown) if whatif.is_settled() => Ok((whatif, shown)),
                _ => Err("whatif.not_run"),
            },
            _ => Err("whatif.nothing"),
        };
        let (whatif, shown) = match saved {
            Ok(saved) => saved,
            Err(key) => return self.notice = Some(ui.get(key).to_owned()),
        };
        let text = |of: &dyn Fn(Ui) -> String| {
            Text([Lang::En, Lang::Zh].map(|lang| (lang.code().to_owned(), of(Ui::new(lang)))).into_iter().collect())
        };
        let said = Words {
            title: text(&|ui| {
                ui.fill("whatif.saved_title", &[("changes", &words::all(ui, &shown.edits, &shown.plan))])
            }),
            original: text(&|ui| ui.get("whatif.original").to_owned()),
            untold: shown.untold.clone(),
        };
        match whatif.draft.write(&shown.all_edits(), &shown.plan, &shown.recording.trace, &said) {
            Ok(written) => self.written = Some(written),
            Err(Unsaved::NotRun(events)) => {
                let line =
                    events.first().and_then(|event| shown.plan.events.get(*event)).map_or(0, |event| event.span.line);
                self.notice = Some(ui.fill("whatif.never_ran", &[("line", &line.to_string())]));
            }
            Err(Unsaved::Invalid(why)) => self.notice = Some(ui.fill("whatif.not_saved", &[("why", &why)])),
        }
    }
}
