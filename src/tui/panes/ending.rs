//! The page after the last event: how the student did, the model answer, what people get wrong, what is asked next,
//! and the one line to remember. What is behind an item opens when the student has thought about it.

use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::lesson::Lesson;
use crate::tui::answer::Grade;
use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::ending::{Ending, Item, items};
use crate::tui::strings::Ui;
use crate::tui::text::wrap;
use crate::tui::theme::{Glyph, Theme};

/// A line: how far in, the text, the style, and the item that it belongs to.
struct Line {
    indent: u16,
    text: String,
    style: Style,
    item: Option<usize>,
}

struct Page<'a> {
    app: &'a App,
    ui: Ui,
    theme: Theme,
    ending: &'a Ending,
    wide: usize,
    lines: Vec<Line>,
}

/// Draws the page over `area`.
pub fn draw(canvas: &mut Canvas<'_>, app: &App, ui: Ui, lesson: &Lesson, ending: &Ending, area: Rect) {
    let theme = canvas.theme;
    let inner = canvas.frame(area, &ui.fill("pane.ending", &[("title", lesson.title.get(app.lang))]), true);
    // Long lines are hard to read: no wider than a book's page, and a little more.
    let wide = usize::from(inner.width.min(100));
    let mut page = Page { app, ui, theme, ending, wide, lines: Vec::new() };
    page.score(lesson);
    page.all_items(lesson);
    if let Some(hook) = &lesson.hook {
        page.heading("ending.hook");
        page.text(0, hook.get(app.lang), theme.strong(), None);
    }
    let lines = page.lines;

    let height = usize::from(inner.height);
    let of_selected = |line: &Line| line.item == Some(ending.selected);
    let first = lines.iter().position(of_selected).unwrap_or(0);
    let last = lines.iter().rposition(of_selected).unwrap_or(0);
    let most = lines.len().saturating_sub(height);
    // The selected item in the middle; if it is taller than the page, its beginning on top.
    let taken = last + 1 - first;
    let shown =
        if ending.selected == 0 && last < height { 0 } else { first.saturating_sub(height.saturating_sub(taken) / 2) };
    let skipped = (shown + usize::from(ending.scroll)).min(most);
    for (row, line) in (0..inner.height).zip(lines.iter().skip(skipped)) {
        let x = inner.x + line.indent;
        canvas.put(x, inner.y + row, inner.right().saturating_sub(x), &line.text, line.style);
    }
    if skipped < most {
        let rest = format!(" ↓ {} ", most - skipped);
        let edge = Rect::new(area.x, area.bottom().saturating_sub(1), area.width.saturating_sub(2), 1);
        canvas.flush_right(edge, 0, &rest, theme.secondary());
    }
}

impl Page<'_> {
    fn text(&mut self, indent: u16, text: &str, style: Style, item: Option<usize>) {
        let wide = self.wide.saturating_sub(usize::from(indent));
        self.lines.extend(wrap(text, wide).into_iter().map(|text| Line { indent, text, style, item }));
    }

    fn heading(&mut self, key: &str) {
        if !self.lines.is_empty() {
            self.text(0, "", self.theme.text(), None);
        }
        self.text(0, self.ui.get(key), self.theme.accent(), None);
    }

    /// The answers given in this lesson, in all its variants.
    fn score(&mut self, lesson: &Lesson) {
        let Some(played) = self.app.progress.of(lesson) else { return };
        let score = played.score();
        if score.of == 0 {
            return;
        }
        self.text(0, &self.ui.fill("ending.score", &[("score", &score.text())]), self.theme.strong(), None);
        for answer in &played.answers {
            let (glyph, style) = match answer.grade {
                Some(Grade::Right) => (Glyph::Right, self.theme.safe()),
                Some(Grade::Half) => (Glyph::Begun, self.theme.warning()),
                Some(Grade::Wrong) => (Glyph::Wrong, self.theme.violation()),
                None => continue,
            };
            let plan = lesson.plans.iter().find(|plan| plan.variant == answer.variant);
            let asked = plan.and_then(|plan| self.app.question_named(plan, &answer.question));
            let Some(asked) = asked else { continue };
            let variant = plan.map_or("", |plan| plan.variant_title.get(self.app.lang));
            let variant = if variant.is_empty() { String::new() } else { format!(" ({variant})") };
            self.text(0, &format!("{} {asked}{variant}", self.theme.glyph(glyph)), style, None);
        }
    }

    fn all_items(&mut self, lesson: &Lesson) {
        let mut last = "";
        for (i, item) in items(lesson).into_iter().enumerate() {
            let heading = match item {
                Item::Answer => "ending.answer",
                Item::Misconception(_) => "ending.misconceptions",
                Item::FollowUp(_) => "ending.follow_ups",
            };
            if heading != last {
                self.heading(heading);
                last = heading;
            }
            self.item(lesson, i, item);
        }
    }

    fn item(&mut self, lesson: &Lesson, i: usize, item: Item) {
        let lang = self.app.lang;
        let selected = self.ending.selected == i;
        let open = self.ending.open.contains(&i);
        let empty = crate::trace::Text::default();
        let (front, back, see) = match item {
            Item::Answer => {
                let question = lesson.question.as_ref().unwrap_or(&lesson.title);
                (question, lesson.answer.as_ref().unwrap_or(&empty), false)
            }
            Item::Misconception(m) => {
                let m = &lesson.misconceptions[m];
                (&m.claim, &m.truth, m.see.is_some())
            }
            Item::FollowUp(f) => (&lesson.follow_ups[f].question, &lesson.follow_ups[f].answer, false),
        };
        let pointer = if selected { self.theme.glyph(Glyph::Selected) } else { " " };
        let style = if selected { self.theme.strong() } else { self.theme.text() };
        let front = front.get(lang);
        let front = match item {
            Item::Misconception(_) => self.ui.fill("ending.claim", &[("claim", front)]),
            _ => front.to_owned(),
        };
        // The pointer hangs before the first line.
        let start = self.lines.len();
        self.text(2, &front, style, Some(i));
        if let Some(line) = self.lines.get_mut(start) {
            line.indent = 0;
            line.text = format!("{pointer} {}", line.text);
        }
        if open {
            self.text(4, back.get(lang), self.theme.text(), Some(i));
        }
        let key = match (open, see, item) {
            (false, _, Item::Answer) => "ending.say_first",
            (false, _, Item::Misconception(_)) => "ending.refute",
            (false, ..) => "ending.reveal",
            (true, true, _) => "ending.see",
            (true, false, _) => "ending.hide",
        };
        if selected {
            self.text(4, self.ui.get(key), self.theme.secondary(), Some(i));
        }
    }
}
