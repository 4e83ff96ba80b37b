//! Which rows the timeline has in the room there is, and what they are called.

use ratatui::style::Style;

use crate::trace::{Fill, Lane, LaneKind, Role};
use crate::tui::theme::Theme;
use crate::tui::view::Scene;

/// A row below the axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A lane of its own, by index.
    Lane(usize),
    /// A client in one row: its beliefs over its job.
    Client {
        /// The lane of its job, if it has one.
        works: Option<usize>,
        /// The lane of its belief.
        believes: Option<usize>,
    },
    /// What the marks of the lane above say.
    Notes(usize),
    /// What is worth a jump.
    Markers,
}

/// How much room may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A row for each lane, and words below the keys.
    Full,
    /// A row for each lane.
    Lanes,
    /// One row for each client.
    Compact,
}

/// The rows at this level of detail.
pub fn rows(scene: &Scene<'_>, detail: Detail) -> Vec<Row> {
    let lanes = &scene.recording.timeline.lanes;
    let mut rows = Vec::new();
    for (i, lane) in lanes.iter().enumerate() {
        match &lane.kind {
            LaneKind::Key { .. } | LaneKind::Resource { .. } => {
                rows.push(Row::Lane(i));
                if detail == Detail::Full {
                    rows.push(Row::Notes(i));
                }
            }
            LaneKind::Believes { client, .. } if detail == Detail::Compact => {
                let own = |kind: &LaneKind| *kind == LaneKind::Works { client: *client };
                let works = lanes.iter().position(|lane| own(&lane.kind));
                rows.push(Row::Client { works, believes: Some(i) });
            }
            LaneKind::Works { client } if detail == Detail::Compact => {
                let believes = |kind: &LaneKind| matches!(kind, LaneKind::Believes { client: c, .. } if c == client);
                if !lanes.iter().any(|lane| believes(&lane.kind)) {
                    rows.push(Row::Client { works: Some(i), believes: None });
                }
            }
            // The key's lane shows renewals, too, and which server is down.
            LaneKind::Watchdog { .. } | LaneKind::Node { .. } if detail == Detail::Compact => {}
            LaneKind::Node { .. } if detail == Detail::Lanes => {}
            LaneKind::Node { .. } if !tells_of_nodes(lanes, scene.limit) => {}
            // What happens later must not be given away by a lane that is there for it.
            LaneKind::Stuck if lane.stretches.first().is_none_or(|stretch| stretch.record >= scene.limit) => {}
            _ => rows.push(Row::Lane(i)),
        }
    }
    rows.push(Row::Markers);
    rows
}

/// Whether servers' lanes say something: where roles differ, as soon as something happens to one of them. What may not be
/// seen yet must not be given away by a lane that is there for it. Masters among themselves have no role to lose, and the
/// key's lanes show which of them is down.
fn tells_of_nodes(lanes: &[Lane], limit: usize) -> bool {
    let changes = |lane: &Lane| lane.stretches.iter().skip(1).any(|stretch| stretch.record < limit);
    let mut nodes = lanes.iter().filter(|lane| matches!(lane.kind, LaneKind::Node { .. }));
    let is_master = |lane: &Lane| lane.stretches.first().is_some_and(|first| first.fill == Fill::Role(Role::Master));
    !nodes.clone().all(is_master) && nodes.any(changes)
}

/// Whether a server that may be seen becomes something else.
fn changes_a_role(lanes: &[Lane], limit: usize) -> bool {
    let mut nodes = lanes.iter().filter(|lane| matches!(lane.kind, LaneKind::Node { .. }));
    nodes.any(|lane| {
        let seen = lane.stretches.iter().take_while(|stretch| stretch.record < limit);
        let mut roles = seen.filter_map(|stretch| match stretch.fill {
            Fill::Role(role) => Some(role),
            _ => None,
        });
        let first = roles.next();
        roles.any(|role| Some(role) != first)
    })
}

/// The most detailed rows that fit into `height`, the axis included.
pub fn fitting(scene: &Scene<'_>, height: u16) -> Vec<Row> {
    let room = usize::from(height).saturating_sub(1);
    for detail in [Detail::Full, Detail::Lanes] {
        let rows = rows(scene, detail);
        if rows.len() <= room {
            return rows;
        }
    }
    rows(scene, Detail::Compact)
}

/// What stands before a row.
pub fn label(scene: &Scene<'_>, row: &Row) -> String {
    let ui = scene.ui;
    let header = &scene.recording.trace.header;
    let lanes = &scene.recording.timeline.lanes;
    let name = |client: usize| header.clients.get(client).map_or("?", |client| client.name.as_str());
    let several = header.locks.len() > 1;
    match row {
        Row::Notes(_) => String::new(),
        Row::Markers => ui.get("lane.markers").to_owned(),
        Row::Client { works, believes } => {
            let kind = believes.or(*works).map(|lane| &lanes[lane].kind);
            match kind {
                Some(LaneKind::Believes { client, lock }) if several => format!("{} {lock}", name(*client)),
                Some(LaneKind::Believes { client, .. } | LaneKind::Works { client }) => name(*client).to_owned(),
                _ => String::new(),
            }
        }
        Row::Lane(lane) => match &lanes[*lane].kind {
            LaneKind::Key { node, lock } => {
                let lock = if several { format!(" {lock}") } else { String::new() };
                let role = match scene.state.nodes.get(node) {
                    // A role that changes has a lane of its own, and would be wrong for part of this one.
                    Some(node) if header.nodes.len() > 1 && !changes_a_role(lanes, scene.limit) => match node.role {
                        Role::Master => format!(" {}", ui.get("inspector.master")),
                        Role::Replica => format!(" {}", ui.get("inspector.replica")),
                    },
                    _ => String::new(),
                };
                format!("{node}{role}{lock}")
            }
            LaneKind::Link { a, b } => format!("{a}→{b}"),
            LaneKind::Believes { client, lock } => {
                let lock = if several { format!(" {lock}") } else { String::new() };
                format!("{} {}{lock}", name(*client), ui.get("lane.believes"))
            }
            LaneKind::Works { client } => {
                format!("{} {}", " ".repeat(crate::tui::text::width(name(*client))), ui.get("lane.works"))
            }
            LaneKind::Watchdog { client } => {
                format!("{} {}", " ".repeat(crate::tui::text::width(name(*client))), ui.get("lane.watchdog"))
            }
            LaneKind::Node { node } => format!("{node} {}", ui.get("lane.node")),
            LaneKind::Resource { name } => name.clone(),
            LaneKind::Overlap => ui.get("lane.overlap").to_owned(),
            LaneKind::Stuck => ui.get("lane.stuck").to_owned(),
        },
    }
}

/// How it looks.
pub const fn label_style(theme: Theme, row: &Row) -> Style {
    match row {
        Row::Markers => theme.secondary(),
        _ => theme.text(),
    }
}
