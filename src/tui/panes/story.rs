//! What happens at the playhead: what the author says about it, what is seen, and what it breaks. Before the first
//! event it sets the scene; after the last it says what came of it.

use ratatui::layout::Rect;

use super::prose::{self, Paragraph};
use crate::trace::{Finding, FindingKind, Standing};
use crate::tui::canvas::Canvas;
use crate::tui::narrate::{Narrator, Tone};
use crate::tui::player::Focus;
use crate::tui::strings::secs;
use crate::tui::theme::{Glyph, Theme};
use crate::tui::view::Scene;

/// Draws the story.
pub fn draw(canvas: &mut Canvas<'_>, scene: &Scene<'_>, area: Rect) {
    let theme = canvas.theme;
    let ui = scene.ui;
    let title = ui.get(if scene.player.playhead.pos == 0 { "pane.before" } else { "pane.story" });
    let inner = canvas.frame(area, title, scene.focused(Focus::Story));
    let focus = (scene.focused(Focus::Story), scene.scroll(Focus::Story));
    prose::draw(canvas, area, inner, &paragraphs(scene, theme), focus);
}

/// Rows that the story takes in a pane `wide` cells wide, border included.
#[must_use]
pub fn wanted_height(scene: &Scene<'_>, theme: Theme, wide: u16) -> u16 {
    prose::height(&paragraphs(scene, theme), wide.saturating_sub(4)).saturating_add(2)
}

fn paragraphs(scene: &Scene<'_>, theme: Theme) -> Vec<Paragraph> {
    let mut paragraphs = if scene.player.playhead.pos == 0 { opening(scene, theme) } else { told(scene, theme) };
    if scene.player.at_end(scene.recording) {
        paragraphs.splice(0..0, closing(scene, theme));
    }
    paragraphs
}

fn opening(scene: &Scene<'_>, theme: Theme) -> Vec<Paragraph> {
    let lang = scene.app.lang;
    let mut paragraphs = Vec::new();
    let mut add = |text: &str, style| {
        paragraphs.push(Paragraph { sign: String::new(), text: text.to_owned(), style, spaced: true });
    };
    if let Some(story) = &scene.lesson.story {
        add(story.get(lang), theme.text());
    }
    if let Some(question) = &scene.lesson.question {
        add(question.get(lang), theme.strong());
    }
    add(scene.ui.get("story.how_to"), theme.secondary());
    paragraphs
}

fn told(scene: &Scene<'_>, theme: Theme) -> Vec<Paragraph> {
    let narrator = Narrator { ui: scene.ui, recording: scene.recording };
    let mut told = narrator.stop(scene.stop, scene.player.playhead, &scene.state);
    if told.is_empty() {
        let t = secs(scene.stop.t);
        told.push(crate::tui::narrate::Told { text: scene.ui.fill("story.nothing", &[("t", &t)]), tone: Tone::Aside });
    }
    // What broke is what the student came for: it stands right below what the author says.
    told.sort_by_key(|told| match told.tone {
        Tone::Say => 0,
        Tone::Violation => 1,
        Tone::Warning => 2,
        Tone::Fact => 3,
        Tone::Aside => 4,
    });
    let mut last = None;
    told.into_iter()
        .map(|told| {
            let (sign, style) = match told.tone {
                Tone::Say => ("", theme.text()),
                Tone::Fact => (theme.foreign_fill(), theme.text()),
                Tone::Violation => (theme.glyph(Glyph::Violation), theme.violation()),
                Tone::Warning => (theme.glyph(Glyph::Stuck), theme.warning()),
                Tone::Aside => (theme.foreign_fill(), theme.secondary()),
            };
            let spaced = last != Some(told.tone);
            last = Some(told.tone);
            Paragraph { sign: sign.to_owned(), text: told.text, style, spaced }
        })
        .collect()
}

fn closing(scene: &Scene<'_>, theme: Theme) -> Vec<Paragraph> {
    let ui = scene.ui;
    let (text, style) = match scene.standing {
        Standing::Safe => (ui.get("closing.held").to_owned(), theme.safe()),
        Standing::Broken(t) => {
            // A lock that is deleted or lost has failed; two are inside only when another has come in.
            let overlaps = |found: &Finding| found.kind == FindingKind::Overlap && found.from == t;
            let inside = scene.recording.findings.iter().any(overlaps);
            let key = if inside { "closing.broken" } else { "closing.broken_lock" };
            (ui.fill(key, &[("t", &secs(t))]), theme.violation())
        }
        Standing::Contained(t) => (ui.fill("closing.contained", &[("t", &secs(t))]), theme.warning()),
        Standing::Stuck(t) => (ui.fill("closing.stuck", &[("t", &secs(t))]), theme.warning()),
        Standing::WasStuck(from, to) => {
            (ui.fill("closing.was_stuck", &[("from", &secs(from)), ("to", &secs(to))]), theme.warning())
        }
        Standing::Inconclusive => (ui.get("closing.inconclusive").to_owned(), theme.warning()),
    };
    let mut paragraphs = vec![Paragraph { sign: String::new(), text, style, spaced: true }];
    if let Some(hook) = &scene.lesson.hook {
        let text = hook.get(scene.app.lang).to_owned();
        paragraphs.push(Paragraph { sign: String::new(), text, style: theme.strong(), spaced: true });
    }
    let text = ui.get("closing.ending").to_owned();
    paragraphs.push(Paragraph { sign: String::new(), text, style: theme.accent(), spaced: true });
    if scene.lesson.plans.len() > 1 {
        let text = ui.get("closing.variants").to_owned();
        paragraphs.push(Paragraph { sign: String::new(), text, style: theme.secondary(), spaced: true });
    }
    paragraphs
}
