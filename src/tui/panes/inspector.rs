//! What is true at the playhead: each server with its key, and each client's belief beside what Redis says.

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::prose;
use crate::trace::{KeyState, LessonTime, LinkState, LockInfo, ResourceState, Role, Value};
use crate::tui::canvas::Canvas;
use crate::tui::narrate::short_value;
use crate::tui::player::Focus;
use crate::tui::strings::secs;
use crate::tui::text::width;
use crate::tui::theme::Theme;
use crate::tui::view::Scene;

/// One line in pieces.
type Line = Vec<(String, Style)>;

/// Draws servers, links and clients.
pub fn draw(canvas: &mut Canvas<'_>, scene: &Scene<'_>, area: Rect) {
    let inner = canvas.frame(area, scene.ui.get("pane.inspector"), scene.focused(Focus::Inspector));
    let pane = Pane { scene, theme: canvas.theme, wide: inner.width };
    let mut lines = pane.lines(canvas, true);
    if lines.len() > usize::from(inner.height) {
        lines = pane.lines(canvas, false);
    }
    let most = lines.len().saturating_sub(usize::from(inner.height));
    let skipped = usize::from(scene.scroll(Focus::Inspector)).min(most);
    for (row, line) in (0..inner.height).zip(lines.iter().skip(skipped)) {
        let pieces: Vec<(&str, Style)> = line.iter().map(|(text, style)| (text.as_str(), *style)).collect();
        canvas.line(inner, row, &pieces);
    }
    prose::more(canvas, area, most - skipped, scene.focused(Focus::Inspector));
}

struct Pane<'a> {
    scene: &'a Scene<'a>,
    theme: Theme,
    wide: u16,
}

impl Pane<'_> {
    fn lines(&self, canvas: &Canvas<'_>, roomy: bool) -> Vec<Line> {
        let header = &self.scene.recording.trace.header;
        let mut lines = Vec::new();
        // Where not all fits, who is at risk matters more than an idle replica.
        if !roomy {
            lines.extend(self.clients());
        }
        for info in &header.nodes {
            if roomy && !lines.is_empty() {
                lines.push(Vec::new());
            }
            self.node(canvas, &info.name, roomy, &mut lines);
        }
        if roomy {
            lines.push(Vec::new());
        }
        // What is written to a server that is down waits in no link.
        let up = |name: &String| self.scene.state.nodes.get(name).is_none_or(|node| node.up);
        for ((a, b), view) in self.scene.state.links.iter().filter(|((a, b), _)| up(a) && up(b)) {
            let key = match view.state {
                LinkState::Held if self.scene.state.is_way_back(a, b) => "inspector.acks_held",
                LinkState::Slow { .. } if self.scene.state.is_way_back(a, b) => "inspector.acks_slow",
                LinkState::Held => "inspector.link_held",
                LinkState::Cut => "inspector.link_cut",
                LinkState::Slow { .. } => "inspector.link_slow",
                LinkState::Open => "inspector.link_open",
            };
            let text = self.scene.ui.fill(key, &[("a", a), ("b", b), ("held", &view.held.to_string())]);
            lines.push(vec![(text, self.theme.warning())]);
        }
        lines.extend(header.resources.iter().filter_map(|info| self.resource(&info.name)));
        if roomy {
            lines.extend(self.clients());
        }
        lines
    }

    /// What is stored, and who wrote it last.
    fn resource(&self, name: &str) -> Option<Line> {
        let ui = self.scene.ui;
        let (text, writer) = match self.scene.state.resources.get(name)? {
            ResourceState::Row { value, version, fence, writer } => {
                let fence = if *fence > 0 { format!(" fence={fence}") } else { String::new() };
                (format!("{value} (version={version}{fence})"), writer.clone())
            }
            ResourceState::Log(lines) => {
                let keys: Vec<&str> = lines.iter().map(|(key, _)| key.as_str()).collect();
                let writer = lines.last().map(|(_, writer)| writer.clone());
                (format!("[{}]", keys.join(", ")), writer)
            }
        };
        let mut line = vec![(format!("{name} "), self.theme.strong()), (text, self.theme.text())];
        if let Some(writer) = writer {
            let header = &self.scene.recording.trace.header;
            let index = header.clients.iter().position(|client| client.name == writer);
            let style = index.map_or(self.theme.strong(), |index| self.theme.owner(index));
            line.push((format!(" {} ", ui.get("inspector.written_by")), self.theme.secondary()));
            line.push((writer, style));
        }
        Some(line)
    }

    fn node(&self, canvas: &Canvas<'_>, name: &str, roomy: bool, lines: &mut Vec<Line>) {
        let ui = self.scene.ui;
        let header = &self.scene.recording.trace.header;
        let Some(node) = self.scene.state.nodes.get(name) else { return };
        let role = match node.role {
            Role::Master => ui.get("inspector.master"),
            Role::Replica => ui.get("inspector.replica"),
        };
        let (up, up_style) = if node.up {
            (ui.get("inspector.up"), self.theme.text())
        } else {
            (ui.get("inspector.down"), self.theme.violation())
        };
        let mut title = vec![(format!("{name} "), self.theme.strong())];
        if header.nodes.len() > 1 || roomy {
            title.push((format!(" {role} "), self.theme.text()));
        }
        if roomy || !node.up {
            title.push((format!(" {up} "), up_style));
        }
        // Nobody can ask a server that is down, and what it will know when it is back is not known yet.
        if roomy || !node.up {
            lines.push(title);
            if !node.up {
                return;
            }
            for lock in &header.locks {
                self.key_roomy(canvas, lock, node.keys.get(&lock.key), lines);
                lines.extend(self.line(lock));
            }
            return;
        }
        // One line: the key's owner and TTL beside the server's name.
        for lock in &header.locks {
            let mut line = std::mem::take(&mut title);
            if header.locks.len() > 1 {
                line.push((format!(" {} ", lock.name), self.theme.secondary()));
            }
            match node.keys.get(&lock.key) {
                None => line.push((" (nil)".to_owned(), self.theme.text())),
                Some(key) => {
                    line.push((" ".to_owned(), self.theme.text()));
                    line.push(self.owner(key));
                    line.push((format!(" {} ", Self::value(key)), self.theme.secondary()));
                    line.extend(self.ttl(canvas, lock, key, 5));
                }
            }
            lines.push(line);
        }
    }

    fn key_roomy(&self, canvas: &Canvas<'_>, lock: &LockInfo, key: Option<&KeyState>, lines: &mut Vec<Line>) {
        let ui = self.scene.ui;
        let label = |text: &str| (format!("  {text}  "), self.theme.secondary());
        let Some(key) = key else {
            lines.push(vec![label(&lock.key), ("(nil)".to_owned(), self.theme.text())]);
            lines.push(vec![
                label(ui.get("inspector.owner")),
                (ui.get("inspector.nobody").to_owned(), self.theme.text()),
            ]);
            return;
        };
        lines.push(vec![label(&lock.key), (Self::value(key), self.theme.text())]);
        let mut line = vec![label(ui.get("inspector.owner")), self.owner(key), label("TTL")];
        let used: usize = line.iter().map(|(text, _)| width(text)).sum();
        let room = usize::from(self.wide).saturating_sub(used + 9).min(24);
        // A bar of a cell or two says less than none.
        let room = if room < 4 { 0 } else { room };
        line.extend(self.ttl(canvas, lock, key, u16::try_from(room).unwrap_or(8)));
        lines.push(line);
    }

    /// Who stands in line for a lock, the first one first.
    fn line(&self, lock: &LockInfo) -> Option<Line> {
        let header = &self.scene.recording.trace.header;
        let mut line = vec![(format!("  {}  ", self.scene.ui.get("inspector.line")), self.theme.secondary())];
        for name in self.scene.state.lines.get(&lock.name)? {
            let index = header.clients.iter().position(|client| client.name == *name);
            let style = index.map_or(self.theme.text(), |index| self.theme.owner(index));
            line.push((format!("{} ", short_value(name)), style));
        }
        Some(line)
    }

    fn value(key: &KeyState) -> String {
        match &key.value {
            Value::String(text) => format!("\"{}\"", short_value(text)),
            Value::Hash(fields) => {
                let fields = fields.iter().map(|(field, value)| format!("{}: {value}", short_value(field)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
            Value::Other { r#type, len } => format!("{type} ({len})"),
        }
    }

    fn owner(&self, key: &KeyState) -> (String, Style) {
        let header = &self.scene.recording.trace.header;
        let Some(name) = &key.owner else {
            return (self.scene.ui.get("inspector.nobody").to_owned(), self.theme.text());
        };
        let index = header.clients.iter().position(|client| client.name == *name);
        (name.clone(), index.map_or(self.theme.strong(), |index| self.theme.owner(index)))
    }

    /// What is left of the key's life at the playhead, in numbers and as a bar.
    fn ttl(&self, canvas: &Canvas<'_>, lock: &LockInfo, key: &KeyState, cells: u16) -> Line {
        let Some(deadline) = key.deadline else {
            return vec![(self.scene.ui.get("inspector.forever").to_owned(), self.theme.warning())];
        };
        let left = deadline.saturating_sub(self.scene.player.playhead.t());
        let whole = lock.ttl.map_or(left.ms(), |ttl| ttl.ms().max(left.ms()));
        let about = if key.approximate { "~" } else { "" };
        let text = self.scene.ui.fill("inspector.seconds", &[("t", &format!("{about}{}", tenths(left)))]);
        let (full, empty) = canvas.bar(cells, left.ms(), whole);
        let index = key
            .owner
            .as_ref()
            .and_then(|name| self.scene.recording.trace.header.clients.iter().position(|client| client.name == *name));
        let style = index.map_or(self.theme.text(), |index| self.theme.owner(index));
        vec![(format!("{text} "), self.theme.text()), (full, style), (empty, self.theme.secondary())]
    }

    /// What a client thinks of a lock, then what Redis says, then whether that is a danger.
    fn clients(&self) -> Vec<Line> {
        let header = &self.scene.recording.trace.header;
        let each = header
            .clients
            .iter()
            .enumerate()
            .flat_map(|(i, info)| header.locks.iter().map(move |lock| (i, info.name.as_str(), lock)));
        let views: Vec<ClientView<'_>> = each.filter_map(|(i, name, lock)| self.client(i, name, lock)).collect();
        // The longest line decides which words are used: they must stand in columns.
        let long = self.client_lines(&views, false);
        let cells = |line: &Line| line.iter().map(|(text, _)| width(text)).sum::<usize>();
        if long.iter().all(|line| cells(line) <= usize::from(self.wide)) {
            return long;
        }
        self.client_lines(&views, true)
    }

    fn client_lines(&self, views: &[ClientView<'_>], short: bool) -> Vec<Line> {
        let column = views.iter().map(|view| width(&self.thinks(view, short))).max().unwrap_or(0);
        let line = |view: &ClientView<'_>| {
            let ui = self.scene.ui;
            let mut line = vec![(format!("{} ", view.name), self.theme.owner(view.index))];
            let thinks = self.thinks(view, short);
            // Two sentences: what the client thinks must not run into what Redis says.
            let pad = " ".repeat(column - width(&thinks) + if short { 1 } else { 2 });
            line.push((thinks, if view.believes { self.theme.strong() } else { self.theme.text() }));
            let redis = match (short, view.holds) {
                (false, true) => "inspector.redis_yes",
                (false, false) => "inspector.redis_no",
                (true, true) => "inspector.short.redis_yes",
                (true, false) => "inspector.short.redis_no",
            };
            let style = if view.holds { self.theme.strong() } else { self.theme.text() };
            line.push((format!("{pad}{}", ui.get(redis)), style));
            if view.believes && !view.holds {
                line.push((format!(" {}", ui.get("inspector.at_risk")), self.theme.violation()));
            } else if view.holds && view.releases {
                line.push((format!(" {}", ui.get("inspector.releasing")), self.theme.text()));
            } else if view.holds && !view.believes && !view.acquires {
                line.push((format!(" {}", ui.get("inspector.left_behind")), self.theme.warning()));
            }
            line
        };
        views.iter().map(line).collect()
    }

    fn client<'a>(&'a self, index: usize, name: &'a str, lock: &'a LockInfo) -> Option<ClientView<'a>> {
        let client = self.scene.state.clients.get(name)?;
        let mut acquiring = client.acquiring.values().filter(|acquiring| acquiring.lock == lock.name);
        Some(ClientView {
            index,
            name,
            lock: &lock.name,
            believes: client.believes.contains_key(&lock.name),
            holds: self.scene.state.holds(&self.scene.recording.trace.header, name, &lock.name),
            works: client.works.contains_key(&lock.name),
            crashed: client.crashed,
            paused: client.paused.is_some(),
            waits: acquiring.clone().any(|acquiring| acquiring.waits),
            acquires: acquiring.next().is_some(),
            releases: client.releasing.values().any(|releasing| *releasing == lock.name),
        })
    }

    fn thinks(&self, view: &ClientView<'_>, short: bool) -> String {
        let ui = self.scene.ui;
        let lock =
            if self.scene.recording.trace.header.locks.len() > 1 { format!("{} ", view.lock) } else { String::new() };
        let key = match (short, view.crashed, view.believes, view.waits) {
            (false, true, ..) => "inspector.crashed",
            (false, _, true, _) => "inspector.mine",
            (false, _, _, true) => "inspector.waits",
            (false, ..) => "inspector.not_mine",
            (true, true, ..) => "inspector.short.crashed",
            (true, _, true, _) => "inspector.short.mine",
            (true, _, _, true) => "inspector.short.waits",
            (true, ..) => "inspector.short.not_mine",
        };
        let busy = match (short, view.paused, view.works) {
            (false, true, _) => ui.get("inspector.paused"),
            (false, false, true) => ui.get("inspector.works"),
            _ => "",
        };
        format!("{lock}{}{busy}", ui.get(key))
    }
}

/// One client and one lock at the playhead.
struct ClientView<'a> {
    index: usize,
    name: &'a str,
    lock: &'a str,
    believes: bool,
    holds: bool,
    works: bool,
    crashed: bool,
    paused: bool,
    waits: bool,
    acquires: bool,
    releases: bool,
}

/// `7.4`: a countdown that jitters in the third decimal cannot be read.
fn tenths(t: LessonTime) -> String {
    let tenths = t.ms().div_ceil(100);
    if t.ms() < 1000 { secs(t) } else { format!("{}.{}", tenths / 10, tenths % 10) }
}
