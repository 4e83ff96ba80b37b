//! What the interviewer asks; and, once it is answered, what the run says to that.

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::prose::{self, Paragraph};
use crate::lesson::{Answer, Ask};
use crate::tui::answer::{Given, Grade, grade};
use crate::tui::canvas::Canvas;
use crate::tui::player::Focus;
use crate::tui::proof::Proof;
use crate::tui::strings::secs;
use crate::tui::theme::Glyph;
use crate::tui::view::Scene;

/// Rows that the question takes in a pane `wide` cells wide, border included.
#[must_use]
pub fn wanted_height(scene: &Scene<'_>, ask: &Ask, given: Option<Given>, wide: u16) -> u16 {
    prose::height(&paragraphs(scene, ask, given), wide.saturating_sub(4)).saturating_add(2)
}

/// Draws the question `ask`, to which `given` was answered.
pub fn draw(canvas: &mut Canvas<'_>, scene: &Scene<'_>, ask: &Ask, given: Option<Given>, area: Rect) {
    let inner = canvas.frame(area, scene.ui.get("pane.question"), scene.focused(Focus::Story));
    let focus = (scene.focused(Focus::Story), scene.scroll(Focus::Story));
    prose::draw(canvas, area, inner, &paragraphs(scene, ask, given), focus);
}

fn paragraphs(scene: &Scene<'_>, ask: &Ask, given: Option<Given>) -> Vec<Paragraph> {
    let theme = scene.app.theme;
    let mut pane = Pane { scene, theme, paragraphs: Vec::new() };
    pane.add("", ask.text.get(scene.app.lang), theme.strong(), true);
    match given {
        None => pane.open(ask),
        Some(given) => pane.answered(ask, given),
    }
    pane.paragraphs
}

struct Pane<'a> {
    scene: &'a Scene<'a>,
    theme: crate::tui::Theme,
    paragraphs: Vec<Paragraph>,
}

impl Pane<'_> {
    fn add(&mut self, sign: &str, text: &str, style: Style, spaced: bool) {
        self.paragraphs.push(Paragraph { sign: sign.to_owned(), text: text.to_owned(), style, spaced });
    }

    fn open(&mut self, ask: &Ask) {
        let lang = self.scene.app.lang;
        let ui = self.scene.ui;
        match &ask.answer {
            Answer::Choices(choices) => {
                for (i, choice) in choices.iter().enumerate() {
                    self.add(&format!(" {}", i + 1), choice.text.get(lang), self.theme.text(), i == 0);
                }
                self.add(
                    "",
                    ui.fill("question.choose", &[("n", &choices.len().to_string())]).as_str(),
                    self.theme.secondary(),
                    true,
                );
            }
            Answer::Predict(_) => {
                let typed = ui.fill("question.typed", &[("typed", &self.scene.player.typed)]);
                self.add("", &typed, self.theme.strong(), true);
                self.add("", ui.get("question.number"), self.theme.secondary(), true);
            }
            Answer::Model(_) => self.add("", ui.get("question.think"), self.theme.secondary(), true),
        }
        if self.scene.player.hint {
            let hint = ask.hint.as_ref().map_or(ui.get("question.no_hint"), |hint| hint.get(lang)).to_owned();
            self.add(self.theme.glyph(Glyph::Selected), &hint, self.theme.accent(), true);
        }
    }

    fn answered(&mut self, ask: &Ask, given: Given) {
        let event = self.scene.player.question(self.scene.recording).map(|(stop, _)| stop.event);
        let proof = event.and_then(|event| self.scene.recording.proofs.get(&event)).copied().unwrap_or(Proof::Unknown);
        let lang = self.scene.app.lang;
        match (&ask.answer, proof) {
            (Answer::Choices(choices), _) => {
                for (i, choice) in choices.iter().enumerate() {
                    let right = proof == Proof::Choice(i);
                    let chosen = given == Given::Choice(i);
                    let (sign, style) = match (right, chosen) {
                        (true, _) => (self.theme.glyph(Glyph::Right), self.theme.safe()),
                        (false, true) => (self.theme.glyph(Glyph::Wrong), self.theme.violation()),
                        (false, false) => (" ", self.theme.secondary()),
                    };
                    self.add(&format!("{sign} {}", i + 1), choice.text.get(lang), style, i == 0);
                }
            }
            (Answer::Predict(_), Proof::Time(t)) => {
                let text = self.scene.ui.fill("question.it_is", &[("t", &secs(t))]);
                self.add(self.theme.glyph(Glyph::Right), &text, self.theme.safe(), true);
            }
            (Answer::Model(model), _) => self.add("", model.get(lang), self.theme.text(), true),
            (Answer::Predict(_), _) => {}
        }
        let (text, style) = self.remark(given, proof);
        self.add("", &text, style, true);
        if let Some(why) = &ask.why {
            self.add("", why.get(lang), self.theme.text(), true);
        }
        let next = if given == Given::Revealed { "question.grade" } else { "question.go_on" };
        self.add("", self.scene.ui.get(next), self.theme.secondary(), true);
    }

    fn remark(&self, given: Given, proof: Proof) -> (String, Style) {
        let ui = self.scene.ui;
        let worth = grade(given, proof);
        let style = match worth {
            Some(Grade::Right) => self.theme.safe(),
            Some(Grade::Half) => self.theme.warning(),
            Some(Grade::Wrong) if given != Given::Skipped => self.theme.violation(),
            _ => self.theme.secondary(),
        };
        let text = match (given, proof, worth) {
            (_, Proof::Unknown, _) => return (ui.get("question.unproven").to_owned(), self.theme.warning()),
            (Given::Revealed, ..) => ui.get("question.compare").to_owned(),
            (Given::Skipped, ..) => ui.get("question.skipped").to_owned(),
            (Given::Graded(grade), ..) => ui.get(grade_key(grade)).to_owned(),
            (Given::Time(said), Proof::Time(t), Some(Grade::Right)) if said != t => {
                ui.fill("question.close", &[("t", &secs(said))])
            }
            (_, _, Some(Grade::Right)) => ui.get("question.right").to_owned(),
            (Given::Time(t), ..) => ui.fill("question.wrong_time", &[("t", &secs(t))]),
            (Given::Choice(_), ..) => ui.get("question.wrong").to_owned(),
        };
        (text, style)
    }
}

/// What the student said of the own answer.
#[must_use]
pub const fn grade_key(grade: Grade) -> &'static str {
    match grade {
        Grade::Right => "grade.right",
        Grade::Half => "grade.half",
        Grade::Wrong => "grade.wrong",
    }
}
