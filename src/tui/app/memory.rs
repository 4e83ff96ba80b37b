//! How what the student does becomes progress, and how it comes back.

use std::collections::{BTreeMap, BTreeSet};

use super::{App, Run, RunKey};
use crate::lesson::{Ask, Do, Lesson, Plan};
use crate::tui::answer::{Given, grade};
use crate::tui::player::Player;
use crate::tui::progress::{Answered, Place, Played, Progress};
use crate::tui::proof::Proof;

/// By what a question is remembered: its own words.
fn question(ask: &Ask) -> &str {
    ask.text.0.values().next().map_or("", String::as_str)
}

fn asks(plan: &Plan) -> impl Iterator<Item = (usize, &Ask)> {
    plan.events.iter().enumerate().filter_map(|(i, event)| match &event.what {
        Do::Ask(ask) => Some((i, &**ask)),
        _ => None,
    })
}

impl App {
    /// What is to be saved since the last call: all progress, and the ids of the lessons that have changed.
    pub fn take_save(&mut self) -> Option<(Progress, BTreeSet<String>)> {
        let touched = std::mem::take(&mut self.touched);
        (!touched.is_empty()).then(|| (self.progress.clone(), touched))
    }

    /// Takes over what has been seen and answered in the open lesson.
    pub(super) fn remember(&mut self) {
        // Progress is made in the lesson, not in what was made of it.
        if self.shown().is_some() {
            return;
        }
        let (Some(open), Some(recording)) = (&self.player, self.recording()) else { return };
        if open.playhead.pos == 0 && open.answers.is_empty() {
            return;
        }
        let (Some(lesson), Some(plan)) = (self.lesson(open.entry), self.plan()) else { return };
        let known = self.progress.of(lesson);
        let mut played = known.cloned().unwrap_or_default();
        if open.at_end(&recording) {
            played.watched.insert(plan.variant.clone());
        }
        for (event, ask) in asks(plan) {
            let Some(given) = open.answers.get(&(open.variant, event)).copied() else { continue };
            let proof = recording.proofs.get(&event).copied().unwrap_or(Proof::Unknown);
            let question = question(ask).to_owned();
            let answer = Answered { variant: plan.variant.clone(), question, given, grade: grade(given, proof) };
            let same = |old: &&mut Answered| old.variant == answer.variant && old.question == answer.question;
            match played.answers.iter_mut().find(same) {
                Some(old) => *old = answer,
                None => played.answers.push(answer),
            }
        }
        if known != Some(&played) {
            let id = lesson.id.clone();
            self.put(id, played);
        }
    }

    /// Notes where the student is: before another lesson or variant is shown, and before the end.
    pub fn settle(&mut self) {
        self.remember();
        if self.shown().is_some() {
            return;
        }
        let (Some(open), Some(plan), Some(Run::Ready(_))) = (&self.player, self.plan(), self.current_run()) else {
            return;
        };
        if open.playhead.pos == 0 {
            return;
        }
        let Some(lesson) = self.lesson(open.entry) else { return };
        let mut played = self.progress.of(lesson).cloned().unwrap_or_default();
        played.last = Some(Place { variant: plan.variant.clone(), ms: open.playhead.t() });
        let id = lesson.id.clone();
        self.put(id, played);
    }

    fn put(&mut self, id: String, played: Played) {
        self.progress.latest = Some(id.clone());
        self.touched.insert(id.clone());
        self.progress.lessons.insert(id, played);
    }

    /// The player of a lesson as the student left it: at the place where it was left; if that was an end, at the
    /// beginning of the next variant whose end has not been seen.
    pub(super) fn player_of(&self, entry: usize) -> Option<Player> {
        let lesson = self.lesson(entry)?;
        let mut player = Player::new(entry, 0);
        if let Some(played) = self.progress.of(lesson) {
            player.answers = answers(lesson, played);
            let unseen = |place: &&Place| !played.watched.contains(&place.variant);
            let place = played.last.as_ref().filter(unseen).and_then(|place| {
                let variant = lesson.plans.iter().position(|plan| plan.variant == place.variant)?;
                Some((variant, place.ms))
            });
            match place {
                Some((variant, t)) => (player.variant, player.resume) = (variant, Some(t)),
                None => player.variant = played.unseen(lesson).unwrap_or(0),
            }
        }
        Some(player)
    }

    /// Puts the player where the student left it, as soon as there is a recording to be put in.
    pub(super) fn resume(&mut self) {
        let Some(recording) = self.recording() else { return };
        if let Some(player) = &mut self.player
            && let Some(t) = player.resume.take()
        {
            player.go_to_time(t, &recording);
        }
    }

    /// Forgets one lesson, or all of them.
    pub(super) fn forget(&mut self, id: Option<String>) {
        let ids = id.map_or_else(|| self.progress.lessons.keys().cloned().collect(), |id| vec![id]);
        for id in ids {
            self.progress.lessons.remove(&id);
            if self.progress.latest.as_ref() == Some(&id) {
                self.progress.latest = None;
            }
            self.touched.insert(id);
        }
    }

    /// Whether the end of any variant of the open lesson has been seen: what is told after it spoils nothing then.
    #[must_use]
    pub fn has_seen_an_end(&self) -> bool {
        let lesson = self.player.as_ref().and_then(|player| self.lesson(player.entry));
        lesson.and_then(|lesson| self.progress.of(lesson)).is_some_and(|played| !played.watched.is_empty())
    }

    /// The question of `plan` that is remembered as `words`, in the student's language.
    #[must_use]
    pub fn question_named<'a>(&self, plan: &'a Plan, words: &str) -> Option<&'a str> {
        asks(plan).find(|(_, ask)| question(ask) == words).map(|(_, ask)| ask.text.get(self.lang))
    }

    /// The run of another variant of the open lesson, if it is there.
    #[must_use]
    pub fn recording_of(&self, variant: usize) -> Option<&super::Recording> {
        let entry = self.player.as_ref()?.entry;
        match self.runs.get(&RunKey { entry, variant, whatif: 0 })? {
            Run::Ready(recording) => Some(recording),
            _ => None,
        }
    }
}

/// The answers of `played` by variant and event of `lesson`.
fn answers(lesson: &Lesson, played: &Played) -> BTreeMap<(usize, usize), Given> {
    let mut answers = BTreeMap::new();
    for (variant, plan) in lesson.plans.iter().enumerate() {
        for (event, ask) in asks(plan) {
            let same = |answer: &&Answered| answer.variant == plan.variant && answer.question == question(ask);
            if let Some(answer) = played.answers.iter().find(same) {
                answers.insert((variant, event), answer.given);
            }
        }
    }
    answers
}
