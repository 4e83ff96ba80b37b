//! The page after the last event: what is on it, what of it is open, and where its proofs can be seen.

use std::collections::BTreeSet;

use super::keys::Action;
use super::recording::Recording;
use crate::lesson::judge::predicted;
use crate::lesson::{Expected, Lesson, See};

/// What the student has opened on the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// Which item is selected.
    pub selected: usize,
    /// Which items show what is behind them.
    pub open: BTreeSet<usize>,
    /// Lines scrolled beyond what shows the selected item.
    pub scroll: u16,
}

/// Something on the page with more behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// The interviewer's question, and the model answer.
    Answer,
    /// What people say, and what is so.
    Misconception(usize),
    /// A question that comes next, and its answer.
    FollowUp(usize),
}

/// The items of `lesson`, in order.
#[must_use]
pub fn items(lesson: &Lesson) -> Vec<Item> {
    let answer = lesson.answer.is_some().then_some(Item::Answer);
    let misconceptions = (0..lesson.misconceptions.len()).map(Item::Misconception);
    answer.into_iter().chain(misconceptions).chain((0..lesson.follow_ups.len()).map(Item::FollowUp)).collect()
}

impl Ending {
    /// Does what `action` asks of the page; returns what is to be seen on the timeline, if that was asked.
    pub fn update(&mut self, action: Action, lesson: &Lesson) -> Option<usize> {
        let items = items(lesson);
        let last = items.len().saturating_sub(1);
        let before = self.selected;
        match action {
            Action::Up => self.selected = self.selected.saturating_sub(1),
            Action::Down => self.selected = (self.selected + 1).min(last),
            Action::Home => self.selected = 0,
            Action::End => self.selected = last,
            Action::PageDown => self.scroll = self.scroll.saturating_add(8).min(2_000),
            Action::PageUp => self.scroll = self.scroll.saturating_sub(8),
            Action::Open if self.open.insert(self.selected) => {}
            // It is open: the next thing is to see it.
            Action::Open => {
                if let Some(Item::Misconception(i)) = items.get(self.selected)
                    && lesson.misconceptions[*i].see.is_some()
                {
                    return Some(*i);
                }
                self.open.remove(&self.selected);
            }
            _ => {}
        }
        if self.selected != before {
            self.scroll = 0;
        }
        None
    }
}

/// The record of `recording` at which `see` can be seen, if this run shows it.
#[must_use]
pub fn place(recording: &Recording, see: &See) -> Option<usize> {
    let records = &recording.trace.records;
    match see {
        See::Time(t) => recording.happened(*t).checked_sub(1).filter(|_| *t <= recording.timeline.end),
        See::Expect(expect) => {
            let t = predicted(&recording.trace, expect)?;
            let kind = match &expect.what {
                Expected::Finding { kind, .. } => Some(*kind),
                _ => None,
            };
            let mut findings = recording.findings.iter();
            let finding = findings.find(|finding| Some(finding.kind) == kind && finding.from == t);
            let record = finding.map_or_else(|| recording.happened(t).saturating_sub(1), |finding| finding.record);
            (record < records.len()).then_some(record)
        }
    }
}
