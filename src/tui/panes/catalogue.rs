//! The lessons by level, and, beside or below the list, what the selected one is about.

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;

use super::prose;
use crate::lesson::{Lesson, Level, render_all};
use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::strings::Ui;
use crate::tui::text::{width, wrap};
use crate::tui::theme::Glyph;

/// Draws the catalogue.
pub fn draw(canvas: &mut Canvas<'_>, app: &App, ui: Ui, area: Rect) {
    let (list, details) = if area.width >= 100 {
        let [list, details] = Layout::horizontal([Constraint::Percentage(45), Constraint::Min(0)]).areas(area);
        (list, details)
    } else {
        let [list, details] = Layout::vertical([Constraint::Percentage(52), Constraint::Min(0)]).areas(area);
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
    for (i, entry) in app.entries.iter().enumerate() {
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
    let mut rows = rows(app, ui);
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
            Row::Entry(i) => draw_entry(canvas, app, *i, inner, row),
        }
    }
    prose::more(canvas, area, rows.len().saturating_sub(skipped + height));
}

fn draw_entry(canvas: &mut Canvas<'_>, app: &App, i: usize, inner: Rect, row: u16) {
    let theme = canvas.theme;
    let selected = i == app.selected;
    let pointer = if selected { theme.glyph(Glyph::Selected) } else { " " };
    let entry = &app.entries[i];
    if let Ok(lesson) = &entry.lesson {
        let title = format!(" {} ", lesson.title.get(app.lang));
        canvas.line(inner, row, &[(pointer, theme.accent()), (&title, theme.text())]);
        let taken = u16::try_from(width(&title) + width(&lesson.id) + 4).unwrap_or(u16::MAX);
        if taken < inner.width {
            canvas.flush_right(inner, row, &lesson.id, theme.secondary());
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
        Ok(lesson) => lesson.title.get(app.lang),
        Err(_) => &entry.source.name,
    };
    let inner = canvas.frame(area, title, false);
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
    prose::more(canvas, area, most - skipped);
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
        for (i, plan) in lesson.plans.iter().enumerate() {
            let title = plan.variant_title.get(app.lang);
            let title = if title.is_empty() { &plan.variant } else { title };
            lines.push((format!("  {} {title}", i + 1), theme.text()));
        }
    }
    lines.push((String::new(), theme.text()));
    lines.push((ui.get("catalogue.enter").to_owned(), theme.accent()));
}
