//! How keys answer the question at the playhead.

use super::App;
use crate::lesson::{Answer, Ask};
use crate::tui::answer::{Given, Grade, typed_time};
use crate::tui::strings::Ui;

impl App {
    /// Who wants to go on at an open question is told what it takes.
    pub(super) fn remind(&mut self) {
        let Some((ask, None)) = self.question() else { return };
        let key = match ask.answer {
            Answer::Choices(_) => "question.first_choose",
            Answer::Predict(_) => "question.first_type",
            Answer::Model(_) => "question.first_think",
        };
        self.notice = Some(Ui::new(self.lang).get(key).to_owned());
    }

    pub(super) fn has_choice(&self, number: u8) -> bool {
        matches!(self.question(), Some((Ask { answer: Answer::Choices(choices), .. }, None))
            if (1..=choices.len()).contains(&usize::from(number)))
    }

    pub(super) fn is_typing_a_time(&self) -> bool {
        matches!(self.question(), Some((Ask { answer: Answer::Predict(_), .. }, None)))
            && self.player.as_ref().is_some_and(|player| !player.typed.is_empty())
    }

    pub(super) fn self_grade(&mut self, number: u8) {
        let (Some(grade), Some(recording)) = (Grade::from_key(number), self.recording()) else { return };
        if let Some(player) = &mut self.player {
            player.grade(grade, &recording);
        }
    }

    pub(super) fn submit(&mut self) {
        let Some((ask, None)) = self.question() else { return };
        let given = match &ask.answer {
            Answer::Choices(_) => None,
            Answer::Model(_) => Some(Given::Revealed),
            Answer::Predict(_) => self.player.as_ref().and_then(|player| typed_time(&player.typed)).map(Given::Time),
        };
        if let (Some(given), Some(recording), Some(player)) = (given, self.recording(), &mut self.player) {
            player.answer(given, &recording);
        }
    }
}
