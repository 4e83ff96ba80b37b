//! The catalogue: what is selected, what is filtered out, and the question before progress is forgotten.

use super::App;
use crate::tui::keys::Action;

/// What the catalogue is narrowed down to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// What was typed: words, all of which must be found.
    pub text: String,
    /// The keyboard types into it.
    pub typing: bool,
}

/// Something that is asked before it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asking {
    /// Forget the progress in this lesson, by id.
    Forget(String),
    /// Forget all progress.
    ForgetAll,
}

/// Long enough for every title.
const FILTER_MAX: usize = 40;

impl App {
    /// The entries that pass the filter, in order.
    #[must_use]
    pub fn listed(&self) -> Vec<usize> {
        let text = self.filter.as_ref().map_or("", |filter| &filter.text).to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        (0..self.entries.len()).filter(|i| self.matches(*i, &words)).collect()
    }

    /// Whether all `words` are found in what an entry is called, in either language.
    fn matches(&self, i: usize, words: &[&str]) -> bool {
        if words.is_empty() {
            return true;
        }
        let entry = &self.entries[i];
        let mut called = format!("{}\n{}\n", entry.id(), entry.source.name);
        if let Ok(lesson) = &entry.lesson {
            for text in [Some(&lesson.title), lesson.question.as_ref()].into_iter().flatten() {
                for text in text.0.values() {
                    called += text;
                    called.push('\n');
                }
            }
        }
        let called = called.to_lowercase();
        words.iter().all(|word| called.contains(word))
    }

    pub(super) fn update_catalogue(&mut self, action: Action) {
        let before = self.selected;
        let listed = self.listed();
        let here = listed.iter().position(|i| *i == self.selected).unwrap_or(0);
        let select = |to: usize| listed.get(to.min(listed.len().saturating_sub(1))).copied();
        let to = match action {
            Action::Up => select(here.saturating_sub(1)),
            Action::Down => select(here + 1),
            Action::Home => select(0),
            Action::End => select(listed.len()),
            _ => None,
        };
        self.selected = to.unwrap_or(self.selected);
        match action {
            Action::PageUp => self.details_scroll = self.details_scroll.saturating_sub(5),
            Action::PageDown => self.details_scroll = self.details_scroll.saturating_add(5).min(1000),
            Action::Open if listed.contains(&self.selected) => self.open(),
            Action::Filter => self.filter.get_or_insert_default().typing = true,
            Action::Type(c) => {
                if let Some(filter) = &mut self.filter
                    && filter.text.chars().count() < FILTER_MAX
                {
                    filter.text.push(c);
                }
                self.select_listed();
            }
            Action::Erase => {
                if let Some(filter) = &mut self.filter {
                    filter.text.pop();
                }
                self.select_listed();
            }
            Action::Submit => self.filter = self.filter.take().filter(|f| !f.text.is_empty()).map(Filter::rested),
            Action::Back => self.filter = None,
            Action::Forget => {
                let id = self.lesson(self.selected).map(|lesson| lesson.id.clone());
                self.asking = id.filter(|id| self.progress.lessons.contains_key(id)).map(Asking::Forget);
            }
            Action::ForgetAll => self.asking = (!self.progress.is_empty()).then_some(Asking::ForgetAll),
            _ => {}
        }
        if self.selected != before {
            self.details_scroll = 0;
        }
    }

    /// Selects something that can be seen; before all, a lesson whose id is meant.
    fn select_listed(&mut self) {
        let listed = self.listed();
        let text = self.filter.as_ref().map_or("", |filter| &filter.text).to_lowercase();
        let meant = |i: &usize| {
            let id = self.entries[*i].id().to_lowercase();
            text.split_whitespace().all(|word| id.contains(word))
        };
        let best = listed.iter().copied().find(meant).filter(|_| !meant(&self.selected));
        if let Some(to) = best.or_else(|| listed.first().copied().filter(|_| !listed.contains(&self.selected))) {
            self.selected = to;
        }
    }

    /// The answer to what was asked.
    pub(super) fn update_asking(&mut self, action: Action) {
        match action {
            Action::Confirm => match self.asking.take() {
                Some(Asking::Forget(id)) => self.forget(Some(id)),
                Some(Asking::ForgetAll) => self.forget(None),
                None => {}
            },
            Action::Back => self.asking = None,
            Action::Quit => self.quit = true,
            _ => {}
        }
    }
}

impl Filter {
    /// The same, and the keyboard is free again.
    fn rested(self) -> Self {
        Self { typing: false, ..self }
    }
}
