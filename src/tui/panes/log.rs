//! The command log as redis-cli shows it, with the lines that redis-cli does not know: expiries, crashes, violations.

use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::trace::{DATABASE, Group, What};
use crate::tui::canvas::Canvas;
use crate::tui::narrate::{Narrator, clock, data_reply, finding, reply_text, sent};
use crate::tui::player::Focus;
use crate::tui::recording::{LogKind, LogLine};
use crate::tui::text::{right, width};
use crate::tui::theme::Glyph;
use crate::tui::view::Scene;

/// The cells of a line, answer included: on a wide terminal the eye must find the answer to a command.
const LONGEST: u16 = 130;

/// Draws the lines up to the playhead, the newest at the bottom.
pub fn draw(canvas: &mut Canvas<'_>, scene: &Scene<'_>, area: Rect) {
    let inner = canvas.frame(area, scene.ui.get("pane.log"), scene.focused(Focus::Log));
    let pos = scene.player.playhead.pos;
    let log = &scene.recording.log;
    let known = log.partition_point(|line| line.record < pos);
    let height = usize::from(inner.height);
    let last = known.saturating_sub(usize::from(scene.scroll(Focus::Log))).max(height.min(known));
    let first = last.saturating_sub(height);
    let current = log.partition_point(|line| line.record < scene.stop.start);
    for (row, (i, line)) in (0..inner.height).zip(log[..last].iter().enumerate().skip(first)) {
        let is_current = line.record >= scene.stop.start;
        draw_line(canvas, scene, *line, inner, row, i == current, is_current);
    }
}

fn draw_line(
    canvas: &mut Canvas<'_>,
    scene: &Scene<'_>,
    line: LogLine,
    area: Rect,
    row: u16,
    pointed: bool,
    current: bool,
) {
    let theme = canvas.theme;
    let Some(record) = scene.recording.trace.records.get(line.record) else { return };
    let arrow = if pointed { theme.glyph(Glyph::Current) } else { " " };
    let time = format!("{} ", right(&clock(record.t), 9));
    let quiet = if current { theme.text() } else { theme.secondary() };
    let narrator = Narrator { ui: scene.ui, recording: scene.recording };
    match line.kind {
        LogKind::Command(cmd) => {
            let What::Send { client, task, node, argv, .. } = &record.what else { return };
            let prompt = prompt(scene, client, task, node);
            let (reply, reply_style) = reply(canvas, scene, cmd, node);
            let taken = width(&time) + width(&prompt) + width(&reply) + 5;
            let shown = sent(node, argv, usize::from(area.width.min(LONGEST)).saturating_sub(taken).max(8));
            let owner = scene.recording.trace.header.clients.iter().position(|info| info.name == *client);
            let owner_style = owner.map_or(theme.text(), |owner| theme.owner(owner));
            let style = if current { theme.strong() } else { theme.text() };
            canvas.line(
                area,
                row,
                &[(arrow, theme.accent()), (&time, quiet), (&prompt, owner_style), (" ", style), (&shown, style)],
            );
            let line = Rect { width: area.width.min(LONGEST), ..area };
            canvas.flush_right(line, row, &reply, reply_style);
        }
        LogKind::Record => {
            let Some(text) = narrator.log_record(line.record) else { return };
            let sign = record_sign(&record.what).map_or(theme.foreign_fill(), |glyph| theme.glyph(glyph));
            let sign = format!("{sign}  ");
            canvas.line(area, row, &[(arrow, theme.accent()), (&time, quiet), (&sign, quiet), (&text, quiet)]);
        }
        LogKind::Finding(i) => {
            let found = &scene.recording.findings[i];
            let (glyph, style) = match found.kind.group() {
                Group::Broken if found.kind.lasts() => (Glyph::ViolationBegins, theme.violation()),
                Group::Broken => (Glyph::Violation, theme.violation()),
                Group::Stuck => (Glyph::Stuck, theme.warning()),
                Group::Contained | Group::Note => (Glyph::Contained, theme.warning()),
            };
            let sign = format!("{}  ", theme.glyph(glyph));
            let text = finding(scene.ui, found);
            canvas.line(area, row, &[(arrow, theme.accent()), (&time, quiet), (&sign, style), (&text, style)]);
        }
    }
}

/// `A>`; with several servers `A@m>`; of the database `A@db>`; a task of a client `A/watchdog>`.
fn prompt(scene: &Scene<'_>, client: &str, task: &str, node: &str) -> String {
    let task = if task == "main" || task.is_empty() { String::new() } else { format!("/{task}") };
    let several = scene.recording.trace.header.nodes.len() > 1 || node == DATABASE;
    let node = if several { format!("@{node}") } else { String::new() };
    format!("{client}{task}{node}>")
}

/// What stands at the right edge: the reply, or what has become of it.
fn reply(canvas: &Canvas<'_>, scene: &Scene<'_>, cmd: u32, node: &str) -> (String, Style) {
    let theme = canvas.theme;
    let pos = scene.player.playhead.pos;
    let Some(command) = scene.recording.commands.get(&cmd) else { return (String::new(), theme.text()) };
    if command.read.is_some_and(|record| record < pos)
        && let Some(reply) = scene.recording.reply(cmd, pos)
    {
        let style = if reply.is_error() { theme.warning() } else { theme.text() };
        let text = if node == DATABASE { data_reply(scene.ui, reply) } else { reply_text(reply) };
        return (text, style);
    }
    let failed = command.failed.filter(|record| *record < pos);
    let key = match failed.and_then(|record| scene.recording.trace.records.get(record)).map(|record| &record.what) {
        Some(What::Dropped { reply: true, .. }) => "log.reply_lost",
        Some(What::Dropped { .. }) => "log.request_lost",
        Some(What::Refused { .. }) => "log.no_server",
        Some(What::Timeout { .. }) => "log.timeout",
        _ => return ("…".to_owned(), theme.secondary()),
    };
    (scene.ui.get(key).to_owned(), theme.warning())
}

const fn record_sign(what: &What) -> Option<Glyph> {
    Some(match what {
        What::Key { op: crate::trace::KeyOp::Expired, .. } => Glyph::Expired,
        What::Key { .. } | What::ToldLost { .. } => Glyph::Violation,
        What::ClientCrashed { .. } | What::NodeCrashed { .. } => Glyph::Crashed,
        What::ClientPaused { .. } => Glyph::Paused,
        What::NodeRestarted { .. } | What::ClientResumed { .. } => Glyph::Restarted,
        What::NodePromoted { .. } => Glyph::Promoted,
        What::NodeDemoted { .. } => Glyph::Demoted,
        What::Link { .. } => Glyph::Held,
        What::EventNotRun { .. } => Glyph::Ask,
        _ => return None,
    })
}
