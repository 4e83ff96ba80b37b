//! One command in full: what was sent, what Redis had before, the script that ran and the way it went, and the reply.

use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::lesson::Plan;
use crate::trace::data::Stored;
use crate::trace::{DATABASE, SqlValue, Value, What};
use crate::tui::canvas::Canvas;
use crate::tui::narrate::{clock, data_reply};
use crate::tui::recording::Recording;
use crate::tui::script::{Decision, Kind, decision, file, pieces};
use crate::tui::strings::Ui;
use crate::tui::text::{right, width, wrap};
use crate::tui::theme::{Glyph, Theme};

/// A line of styled pieces.
type Line = Vec<(String, Style)>;

struct Page<'a> {
    ui: Ui,
    theme: Theme,
    recording: &'a Recording,
    pos: usize,
    wide: usize,
    lines: Vec<Line>,
}

/// Draws command `cmd` of `recording` over `area`, as far as the first `pos` records tell.
#[expect(clippy::too_many_arguments, reason = "it is a page of its own, not a pane of the scene")]
pub fn draw(
    canvas: &mut Canvas<'_>,
    ui: Ui,
    plan: &Plan,
    recording: &Recording,
    pos: usize,
    cmd: u32,
    scroll: u16,
    area: Rect,
) {
    let theme = canvas.theme;
    let sent = recording.commands.get(&cmd).and_then(|command| recording.trace.records.get(command.send));
    let Some((t, What::Send { client, node, argv, .. })) = sent.map(|record| (record.t, &record.what)) else { return };
    let title = ui.fill("pane.command", &[("who", client), ("t", &clock(t))]);
    let inner = canvas.frame(area, &title, true);
    let wide = usize::from(inner.width);
    let mut page = Page { ui, theme, recording, pos, wide, lines: Vec::new() };
    page.command(plan, node, argv);
    page.before(cmd, node, argv);
    page.script(cmd, argv);
    page.statements(cmd);
    page.reply(cmd, node);
    let lines = page.lines;
    let most = lines.len().saturating_sub(usize::from(inner.height));
    let skipped = usize::from(scroll).min(most);
    for (row, line) in (0..inner.height).zip(lines.iter().skip(skipped)) {
        let line: Vec<(&str, Style)> = line.iter().map(|(text, style)| (text.as_str(), *style)).collect();
        canvas.line(inner, row, &line);
    }
    if skipped < most {
        let rest = format!(" ↓ {} ", most - skipped);
        let edge = Rect::new(area.x, area.bottom().saturating_sub(1), area.width.saturating_sub(2), 1);
        canvas.flush_right(edge, 0, &rest, theme.secondary());
    }
}

/// The script of an `EVAL`, its keys and its arguments.
fn parts(argv: &[String]) -> Option<(&str, &[String], &[String])> {
    let name = argv.first()?;
    let is_eval = name.eq_ignore_ascii_case("eval") || name.eq_ignore_ascii_case("eval_ro");
    let (script, count) = (argv.get(1)?, argv.get(2)?.parse::<usize>().ok()?);
    let rest = argv.get(3..)?;
    (is_eval && count <= rest.len()).then(|| (script.as_str(), &rest[..count], &rest[count..]))
}

impl Page<'_> {
    fn text(&mut self, indent: usize, text: &str, style: Style) {
        let pad = " ".repeat(indent);
        let lines = wrap(text, self.wide.saturating_sub(indent));
        self.lines.extend(lines.into_iter().map(|line| vec![(format!("{pad}{line}"), style)]));
    }

    fn heading(&mut self, key: &str) {
        if !self.lines.is_empty() {
            self.lines.push(Vec::new());
        }
        self.text(0, self.ui.get(key), self.theme.accent());
    }

    fn command(&mut self, plan: &Plan, node: &str, argv: &[String]) {
        self.heading("command.sent");
        if node == DATABASE {
            for statement in argv {
                self.text(2, statement, self.theme.strong());
            }
            return;
        }
        let Some((script, keys, given)) = parts(argv) else {
            self.text(2, &argv.join(" "), self.theme.strong());
            return;
        };
        let name = file(script).map_or_else(|| format!("<{}>", plan.source.name), |file| format!("<{file}>"));
        let words: Vec<&str> = keys.iter().chain(given).map(String::as_str).collect();
        self.text(2, &format!("{} {name} {} {}", argv[0], keys.len(), words.join(" ")), self.theme.strong());
        for (array, values) in [("KEYS", keys), ("ARGV", given)] {
            for (i, value) in values.iter().enumerate() {
                self.text(2, &format!("{array}[{}] = {value}", i + 1), self.theme.text());
            }
        }
    }

    /// What the keys that the command names were when the server got to it.
    fn before(&mut self, cmd: u32, node: &str, argv: &[String]) {
        let Some(exec) = self.executed(cmd) else { return };
        let state = self.recording.timeline.state_at(&self.recording.trace, exec);
        let header = &self.recording.trace.header;
        let named = header.locks.iter().filter(|lock| argv.contains(&lock.key));
        let mut lines = Vec::new();
        for lock in named {
            let key = state.nodes.get(node).and_then(|node| node.keys.get(&lock.key));
            let owner = key.and_then(|key| key.owner.as_deref());
            let value = match key.map(|key| &key.value) {
                None => "(nil)".to_owned(),
                Some(Value::String(text)) => format!("\"{text}\""),
                Some(other) => format!("{other:?}"),
            };
            lines.push(match owner {
                Some(owner) => self.ui.fill("command.owned", &[("key", &lock.key), ("value", &value), ("who", owner)]),
                None => format!("{} = {value}", lock.key),
            });
        }
        if !lines.is_empty() {
            self.heading("command.before");
            for line in lines {
                self.text(2, &line, self.theme.text());
            }
        }
    }

    fn script(&mut self, cmd: u32, argv: &[String]) {
        let Some((script, ..)) = parts(argv) else { return };
        self.heading("command.script");
        let decision = self.decision(cmd, script);
        for (i, line) in script.lines().enumerate() {
            self.script_line(i, line, decision.as_ref());
        }
        if decision.is_none() && self.recording.reply(cmd, self.pos).is_some() {
            self.text(2, self.ui.get("command.undecided"), self.theme.secondary());
        }
    }

    /// A line of the script; the `return` that was taken stands out, and conditions say how they went.
    fn script_line(&mut self, i: usize, line: &str, decision: Option<&Decision>) {
        let theme = self.theme;
        let taken = decision.is_some_and(|decision| decision.returned == i);
        let condition =
            decision.and_then(|d| d.conditions.iter().rev().find(|(line, _)| *line == i)).map(|(_, yes)| *yes);
        let sign = if taken { theme.glyph(Glyph::Current) } else { " " };
        let number = right(&(i + 1).to_string(), 3);
        let mut out: Line = vec![(format!("{sign}{number} "), if taken { theme.safe() } else { theme.secondary() })];
        let said = condition.map(|yes| {
            let (glyph, key, style) = if yes {
                (Glyph::Right, "command.yes", theme.safe())
            } else {
                (Glyph::Wrong, "command.no", theme.violation())
            };
            (format!("  {} {}", theme.glyph(glyph), self.ui.get(key)), style)
        });
        let reserved = 5 + said.as_ref().map_or(0, |(text, _)| width(text));
        let room = self.wide.saturating_sub(reserved).max(8);
        let rows = wrap(line, room);
        let last = rows.len() - 1;
        for (row, text) in rows.iter().enumerate() {
            for (kind, piece) in pieces(text) {
                let style = match kind {
                    Kind::Keyword => theme.strong(),
                    Kind::Text => theme.accent(),
                    Kind::Comment => theme.secondary(),
                    Kind::Plain => theme.text(),
                };
                let style = if taken { style.patch(theme.selected()) } else { style };
                out.push((piece.to_owned(), style));
            }
            if row == last {
                out.extend(said.clone());
            }
            self.lines.push(std::mem::replace(&mut out, vec![("     ".to_owned(), theme.text())]));
        }
    }

    fn decision(&self, cmd: u32, script: &str) -> Option<Decision> {
        let reply = self.recording.reply(cmd, self.pos)?;
        let exec = self.executed(cmd)?;
        let after =
            self.recording.trace.records[exec..].iter().take_while(|record| !matches!(record.what, What::Send { .. }));
        let changed = after.filter(|record| match &record.what {
            What::Key { cause: crate::trace::Cause::Command { cmd: by, .. }, .. } => *by == cmd,
            _ => false,
        });
        decision(script, reply, changed.count() > 0)
    }

    /// What the database made of each statement: the text as it was sent, what was bound, and how many rows it affected.
    fn statements(&mut self, cmd: u32) {
        let records = &self.recording.trace.records[..self.pos.min(self.recording.trace.records.len())];
        let executed = records.iter().filter_map(|record| match &record.what {
            What::Sql(sql) if sql.cmd == cmd => Some(sql),
            _ => None,
        });
        for sql in executed.collect::<Vec<_>>() {
            self.heading("command.executed");
            self.text(2, &sql.text, self.theme.strong());
            if !sql.params.is_empty() {
                let params = sql.params.iter().map(|param| match param {
                    SqlValue::Int(n) => n.to_string(),
                    SqlValue::Text(text) => format!("'{text}'"),
                });
                let params = params.collect::<Vec<_>>().join(", ");
                self.text(2, &self.ui.fill("command.bound", &[("values", &params)]), self.theme.text());
            }
            let style = if sql.is_rejected() { self.theme.warning() } else { self.theme.text() };
            self.text(2, &self.ui.fill("command.affected", &[("n", &sql.affected.to_string())]), style);
            if sql.undone {
                self.text(2, self.ui.get("command.undone"), self.theme.warning());
            }
            if let Some(Stored::Row { value, version, fence }) = &sql.now {
                let now = format!("value={value} version={version} fence={fence}");
                self.text(2, &self.ui.fill("command.now", &[("row", &now)]), self.theme.text());
            }
        }
    }

    fn reply(&mut self, cmd: u32, node: &str) {
        let command = self.recording.commands.get(&cmd).copied().unwrap_or_default();
        let read = command.read.is_some_and(|record| record < self.pos);
        let text = match self.recording.reply(cmd, self.pos) {
            Some(reply) if node == DATABASE => data_reply(self.ui, reply),
            Some(reply) => reply.to_string(),
            None => self.ui.get("command.no_reply_yet").to_owned(),
        };
        self.heading(if node == DATABASE { "command.data_reply" } else { "command.reply" });
        self.text(2, &text, self.theme.strong());
        if self.executed(cmd).is_some() && !read {
            self.text(2, self.ui.get("command.unread"), self.theme.warning());
        }
    }

    fn executed(&self, cmd: u32) -> Option<usize> {
        self.recording.commands.get(&cmd)?.exec.filter(|record| *record < self.pos)
    }
}
