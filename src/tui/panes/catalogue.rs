//! The lessons by level, and, beside or below the list, what the selected one is about.

use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::Style;

use super::prose;
use crate::lesson::{Lesson, Level, Plan, render_all};
use crate::trace::Lang;
use crate::tui::app::{App, Filter};
use crate::tui::canvas::Canvas;
use crate::tui::progress::Next;
use crate::tui::strings::{Ui, secs};
use crate::tui::text::{width, wrap};
use crate::tui::theme::Glyph;

/// Draws the catalogue.
pub fn draw(canvas: &mut Canvas<'_>, app: &App, ui: Ui, area: Rect) {
    let advice = advice(app, ui, usize::from(area.width.saturating_sub(2)));
    let taken = u16::try_from(advice.len()).unwrap_or(u16::MAX).min(area.height);
    let [area, below] = Layout::vertical([Constraint::Min(0), Constraint::Length(taken)]).areas(area);
    for (y, text) in (below.y..).zip(&advice) {
        canvas.put(below.x + 1, y, below.width.saturating_sub(2), text, canvas.theme.strong());
    }
    let (list, details) = if area.width >= 100 {
        let [list, details] = Layout::horizontal([Constraint::Percentage(45), Constraint::Min(0)]).areas(area);
        (list, details)
    } else {
        let [list, details] = Layout::vertical([Constraint::Percentage(58), Constraint::Min(0)]).areas(area);
        (list, details)
    };
    draw_list(canvas, app, ui, list);
    draw_details(canvas, app, ui, details);
}

/// A row of the list.
enum Row<'a> {
    Heading(&'a str),
    Entry(usize),
    Blank,
}

fn rows<'a>(app: &App, ui: Ui) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    let mut last = None;
    for i in app.listed() {
        let entry = &app.entries[i];
        let heading = match entry.lesson.as_ref().map(|lesson| lesson.level) {
            Ok(Level::Intro) => "level.intro",
            Ok(Level::Core) => "level.core",
            Ok(Level::Advanced) => "level.advanced",
            Err(_) => "level.failed",
        };
        if last != Some(heading) {
            if last.is_some() {
                rows.push(Row::Blank);
            }
            rows.push(Row::Heading(ui.get(heading)));
            last = Some(heading);
        }
        rows.push(Row::Entry(i));
    }
    rows
}

fn draw_list(canvas: &mut Canvas<'_>, app: &App, ui: Ui, area: Rect) {
    let theme = canvas.theme;
    let inner = canvas.frame(area, ui.get("pane.lessons"), true);
    if app.entries.is_empty() {
        canvas.put(inner.x, inner.y, inner.width, ui.get("catalogue.empty"), theme.secondary());
        return;
    }
    let mut inner = inner;
    if let Some(filter) = &app.filter {
        draw_filter(canvas, ui, filter, Rect { height: 1, ..inner });
        inner = Rect::new(inner.x, inner.y + 1, inner.width, inner.height.saturating_sub(1));
    }
    let mut rows = rows(app, ui);
    if rows.is_empty() {
        canvas.put(inner.x, inner.y, inner.width, ui.get("catalogue.no_match"), theme.secondary());
    }
    let height = usize::from(inner.height);
    if rows.len() > height {
        rows.retain(|row| !matches!(row, Row::Blank));
    }
    let place = rows.iter().position(|row| matches!(row, Row::Entry(i) if *i == app.selected)).unwrap_or(0);
    // The selected line stays in the middle, except near the ends.
    let skipped = place.saturating_sub(height / 2).min(rows.len().saturating_sub(height));
    for (row, what) in (0..inner.height).zip(rows.iter().skip(skipped)) {
        match what {
            Row::Blank => {}
            Row::Heading(text) => canvas.line(inner, row, &[(text, theme.strong())]),
            Row::Entry(i) => draw_entry(canvas, app, ui, *i, inner, row),
        }
    }
    prose::more(canvas, area, rows.len().saturating_sub(skipped + height), true);
}

/// What is typed, with the cursor behind it.
fn draw_filter(canvas: &mut Canvas<'_>, ui: Ui, filter: &Filter, area: Rect) {
    let theme = canvas.theme;
    let label = format!("{} ", ui.get("catalogue.filter"));
    let x = canvas.put(area.x, area.y, area.width, &label, theme.accent());
    let room = area.right().saturating_sub(x + 1);
    let end = canvas.put(x, area.y, room, &filter.text, theme.strong());
    if filter.typing {
        canvas.cursor = Some(Position::new(end, area.y));
    }
}

/// At the first start, how it all works; later, what to do next.
fn advice(app: &App, ui: Ui, wide: usize) -> Vec<String> {
    if app.progress.is_empty() {
        let lines = ["welcome.what", "welcome.how"].map(|key| wrap(ui.get(key), wide));
        return lines.into_iter().flatten().collect();
    }
    let next = app.progress.next(&app.entries);
    let lesson = next.entry().and_then(|entry| app.lesson(entry));
    let title = lesson.map_or("", |lesson| lesson.title.get(app.lang));
    let text = match next {
        Next::Begin(_) => ui.fill("next.begin", &[("title", title)]),
        Next::GoOn(_) => {
            let last = lesson.and_then(|lesson| app.progress.of(lesson)).and_then(|played| played.last.as_ref());
            let t = last.map_or_else(String::new, |last| secs(last.ms));
            ui.fill("next.go_on", &[("title", title), ("t", &t)])
        }
        Next::Variant(_, variant) => {
            let plan = lesson.and_then(|lesson| lesson.plans.get(variant));
            let variant = plan.map_or("", |plan| variant_title(plan, app.lang));
            ui.fill("next.variant", &[("title", title), ("variant", variant)])
        }
        Next::Again(_) => ui.fill("next.again", &[("title", title)]),
        Next::Nothing => ui.get("next.nothing").to_owned(),
    };
    wrap(&text, wide)
}

/// What a variant is called.
fn variant_title(plan: &Plan, lang: Lang) -> &str {
    let title = plan.variant_title.get(lang);
    if title.is_empty() { &plan.variant } else { title }
}

/// How far the student has come in a lesson, the longest form first, and whether it is done; of a new one, its id.
fn state_texts(app: &App, ui: Ui, lesson: &Lesson) -> (bool, Vec<String>) {
    let Some(played) = app.progress.of(lesson) else { return (false, vec![lesson.id.clone()]) };
    let done = played.is_done(lesson);
    let seen = played.watched_of(lesson).to_string();
    let short = if done {
        ui.get("catalogue.done").to_owned()
    } else {
        ui.fill("catalogue.seen", &[("n", &seen), ("of", &lesson.plans.len().to_string())])
    };
    let score = played.score();
    if score.of == 0 {
        return (done, vec![short]);
    }
    let quiz = ui.fill("catalogue.quiz", &[("score", &score.text())]);
    (done, vec![format!("{quiz} · {short}"), short])
}

fn draw_entry(canvas: &mut Canvas<'_>, app: &App, ui: Ui, i: usize, inner: Rect, row: u16) {
    let theme = canvas.theme;
    let selected = i == app.selected;
    let pointer = if selected { theme.glyph(Glyph::Selected) } else { " " };
    let entry = &app.entries[i];
    if let Ok(lesson) = &entry.lesson {
        let (done, states) = state_texts(app, ui, lesson);
        let sign = match (done, app.progress.of(lesson)) {
            (true, _) => theme.glyph(Glyph::Right),
            (false, Some(_)) => theme.glyph(Glyph::Begun),
            (false, None) => " ",
        };
        let title = format!(" {}", lesson.title.get(app.lang));
        canvas.line(
            inner,
            row,
            &[(pointer, theme.accent()), (" ", theme.text()), (sign, theme.safe()), (&title, theme.text())],
        );
        let fits = |text: &&String| width(&title) + width(text) + 5 <= usize::from(inner.width);
        if let Some(state) = states.iter().find(fits) {
            canvas.flush_right(inner, row, state, theme.secondary());
        }
    } else {
        let sign = format!(" {} ", theme.glyph(Glyph::Wrong));
        let name = &entry.source.name;
        canvas.line(inner, row, &[(pointer, theme.accent()), (&sign, theme.violation()), (name, theme.text())]);
    }
    if selected {
        canvas.restyle(Rect::new(inner.x, inner.y + row, inner.width, 1), theme.selected());
    }
}

fn draw_details(canvas: &mut Canvas<'_>, app: &App, ui: Ui, area: Rect) {
    let theme = canvas.theme;
    let Some(entry) = app.entries.get(app.selected) else {
        canvas.frame(area, "", false);
        return;
    };
    let title = match &entry.lesson {
        Ok(lesson) => format!("{} · {}", lesson.id, lesson.title.get(app.lang)),
        Err(_) => entry.source.name.clone(),
    };
    let inner = canvas.frame(area, &title, false);
    let wide = usize::from(inner.width);
    let mut lines: Vec<(String, Style)> = Vec::new();
    match &entry.lesson {
        Ok(lesson) => lesson_lines(app, ui, lesson, wide, &mut lines, canvas),
        Err(errors) => {
            let errors = render_all(&entry.source, errors);
            lines.extend(wrap(ui.get("catalogue.failed"), wide).into_iter().map(|line| (line, theme.strong())));
            lines.push((String::new(), theme.text()));
            // As they are: their carets point at columns.
            lines.extend(errors.lines().map(|line| (line.to_owned(), theme.text())));
        }
    }
    let most = lines.len().saturating_sub(usize::from(inner.height));
    let skipped = usize::from(app.details_scroll).min(most);
    for (row, (line, style)) in (0..inner.height).zip(lines.iter().skip(skipped)) {
        canvas.put(inner.x, inner.y + row, inner.width, line, *style);
    }
    prose::more(canvas, area, most - skipped, true);
}

fn lesson_lines(
    app: &App,
    ui: Ui,
    lesson: &Lesson,
    wide: usize,
    lines: &mut Vec<(String, Style)>,
    canvas: &Canvas<'_>,
) {
    let theme = canvas.theme;
    let mut paragraph = |text: &str, style: Style| {
        if !lines.is_empty() {
            lines.push((String::new(), style));
        }
        lines.extend(wrap(text, wide).into_iter().map(|line| (line, style)));
    };
    if let Some(question) = &lesson.question {
        paragraph(question.get(app.lang), theme.strong());
    }
    if let Some(story) = &lesson.story {
        paragraph(story.get(app.lang), theme.text());
    }
    if lesson.plans.len() > 1 {
        paragraph(ui.get("catalogue.variants"), theme.secondary());
        let played = app.progress.of(lesson);
        for (i, plan) in lesson.plans.iter().enumerate() {
            let seen = played.is_some_and(|played| played.watched.contains(&plan.variant));
            let sign = if seen { theme.glyph(Glyph::Right) } else { " " };
            lines.push((format!("{sign} {} {}", i + 1, variant_title(plan, app.lang)), theme.text()));
        }
    }
    lines.push((String::new(), theme.text()));
    let place = app.progress.of(lesson).and_then(|played| {
        let last = played.last.as_ref().filter(|last| !played.watched.contains(&last.variant))?;
        let plan = lesson.plans.iter().find(|plan| plan.variant == last.variant)?;
        Some((secs(last.ms), variant_title(plan, app.lang)))
    });
    let text = match place {
        Some((t, "")) => ui.fill("catalogue.go_on", &[("t", &t)]),
        Some((t, variant)) => ui.fill("catalogue.go_on_in", &[("t", &t), ("variant", variant)]),
        None => ui.get("catalogue.enter").to_owned(),
    };
    lines.extend(wrap(&text, wide).into_iter().map(|line| (line, theme.accent())));
}
