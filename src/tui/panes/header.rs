//! The first line: which lesson and variant, how fast, when, and, always and in words, how things stand.

use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::lesson::Lesson;
use crate::trace::{Lang, Standing};
use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::narrate::clock;
use crate::tui::player::speed_text;
use crate::tui::progress::Score;
use crate::tui::strings::{Ui, secs};
use crate::tui::text::{cut, width};
use crate::tui::theme::{Glyph, Theme};
use crate::tui::view::Scene;

/// With less room than this the names go without the word "variant".
const ROOMY: usize = 48;

/// Over the catalogue: how far the student has come.
pub fn catalogue(canvas: &mut Canvas<'_>, app: &App, ui: Ui, area: Rect) {
    let theme = canvas.theme;
    canvas.line(
        area,
        0,
        &[(" lockscope ", theme.accent()), (" ", theme.text()), (ui.get("catalogue.pitch"), theme.secondary())],
    );
    if app.progress.is_empty() {
        return;
    }
    let lessons = || app.entries.iter().filter_map(|entry| entry.lesson.as_ref().ok());
    let played = || lessons().filter_map(|lesson| app.progress.of(lesson).map(|played| (lesson, played)));
    let done = played().filter(|(lesson, played)| played.is_done(lesson)).count().to_string();
    let mut score = Score::default();
    played().flat_map(|(_, played)| &played.answers).for_each(|answer| score.add(answer.grade));
    let mut text = ui.fill("catalogue.done_of", &[("n", &done), ("of", &lessons().count().to_string())]);
    if score.of > 0 {
        text += " · ";
        text += &ui.fill("catalogue.quiz", &[("score", &score.text())]);
    }
    canvas.flush_right(Rect { width: area.width.saturating_sub(1), ..area }, 0, &text, theme.strong());
}

/// Over a lesson whose run is not there.
pub fn waiting(canvas: &mut Canvas<'_>, ui: Ui, lang: Lang, lesson: &Lesson, variant: usize, area: Rect) {
    let theme = canvas.theme;
    let variant = variant_text(ui, lang, lesson, variant, false);
    let title = format!(" {} ", lesson.title.get(lang));
    canvas.line(area, 0, &[(&title, theme.strong()), (" ", theme.text()), (&variant, theme.text())]);
}

/// Over a lesson.
pub fn player(canvas: &mut Canvas<'_>, scene: &Scene<'_>, area: Rect) {
    let theme = canvas.theme;
    let (status, status_style) = status(scene.ui, theme, scene.standing);
    let state = if scene.player.playing { Glyph::Playing } else { Glyph::Pausing };
    let speed = speed_text(scene.player.speed_of(scene.recording));
    let moving = format!("{} {speed}", theme.glyph(state));
    let total = secs(scene.recording.timeline.end);
    let time = scene.ui.fill("header.time", &[("t", &clock(scene.player.playhead.t())), ("total", &total)]);
    let right: Vec<(&str, Style)> = vec![
        (&moving, theme.strong()),
        ("   ", theme.text()),
        (&time, theme.text()),
        ("   ", theme.text()),
        (&status, status_style),
        (" ", theme.text()),
    ];
    let right_width: usize = right.iter().map(|(text, _)| width(&theme.plain(text))).sum();
    let room = usize::from(area.width).saturating_sub(right_width + 2);

    // Left of it: as much of the lesson's and the variant's name as there is room for.
    let lesson = scene.lesson;
    let lang = scene.app.lang;
    let title = lesson.title.get(lang);
    let whole = variant_text(scene.ui, lang, lesson, scene.player.variant, false);
    let changed = scene.player.whatif.as_ref().and_then(|whatif| super::whatif::title(scene.ui, whatif));
    let short = room < ROOMY || width(title) + width(&whole) + 3 > room;
    let variant = if short { variant_text(scene.ui, lang, lesson, scene.player.variant, true) } else { whole };
    let variant = changed.map_or(variant, |changed| format!("{} {changed}", theme.glyph(Glyph::Differs)));
    let name = format!("{} · {title}", lesson.id);
    // Each may take what the other leaves; where both are long, the variant tells more.
    let variant = cut(&variant, (room * 3 / 5).max(room.saturating_sub(width(title) + 3)));
    let title_room = room.saturating_sub(width(&variant) + 3);
    let full = width(&name) <= title_room;
    let title = cut(if full { &name } else { title }, title_room);
    canvas.line(
        area,
        0,
        &[(" ", theme.text()), (&title, theme.strong()), ("  ", theme.text()), (&variant, theme.text())],
    );
    let start = area.right().saturating_sub(u16::try_from(right_width).unwrap_or(area.width)).max(area.x);
    canvas.line(Rect::new(start, area.y, area.right() - start, 1), 0, &right);
}

fn variant_text(ui: Ui, lang: Lang, lesson: &Lesson, variant: usize, short: bool) -> String {
    let Some(plan) = lesson.plans.get(variant) else { return String::new() };
    if lesson.plans.len() < 2 {
        return String::new();
    }
    let number = (variant + 1).to_string();
    let count = lesson.plans.len().to_string();
    let title = plan.variant_title.get(lang);
    let title = if title.is_empty() { &plan.variant } else { title };
    ui.fill(
        if short { "header.variant_short" } else { "header.variant" },
        &[("i", &number), ("n", &count), ("title", title)],
    )
}

/// How things stand, in words.
#[must_use]
pub fn status(ui: Ui, theme: Theme, standing: Standing) -> (String, Style) {
    let since = |key, t| ui.fill(key, &[("t", &secs(t))]);
    match standing {
        Standing::Safe => (format!("{} {}", theme.glyph(Glyph::Right), ui.get("status.safe")), theme.safe()),
        Standing::Broken(t) => {
            (format!("{} {}", theme.glyph(Glyph::Violation), since("status.broken", t)), theme.violation())
        }
        Standing::Contained(t) => {
            (format!("{} {}", theme.glyph(Glyph::Contained), since("status.contained", t)), theme.warning())
        }
        Standing::Stuck(t) => (format!("{} {}", theme.glyph(Glyph::Stuck), since("status.stuck", t)), theme.warning()),
        Standing::WasStuck(from, to) => {
            let text = ui.fill("status.was_stuck", &[("from", &secs(from)), ("to", &secs(to))]);
            (format!("{} {text}", theme.glyph(Glyph::Stuck)), theme.warning())
        }
        Standing::Inconclusive => (format!("? {}", ui.get("status.inconclusive")), theme.warning()),
    }
}
