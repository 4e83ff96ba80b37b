//! What only the whole variant shows: ids used twice, events that wait for each other, times that never come.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::combinations::{self, place};
use super::expect::ExpectTime;
use super::model::{At, Do, Event, Plan, Subject, Token};
use super::reader::Cx;
use super::scene::Scene;
use super::sentinel;
use super::yaml::Node;
use crate::trace::EventKind;

/// Checks one variant. `nodes` are the events as written, for the places of their keys.
pub(super) fn plan(cx: &mut Cx, scene: &Scene, plan: &Plan, nodes: &[Node]) {
    duplicate_ids(cx, scene);
    cycles(cx, scene, plan, nodes);
    until(cx, plan, nodes);
    watchdogs(cx, plan, nodes);
    order(cx, scene, plan, nodes);
    combinations::check(cx, plan, nodes);
    sentinel::plan(cx, plan, nodes);
}

fn duplicate_ids(cx: &mut Cx, scene: &Scene) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for id in scene.events.iter().filter_map(|event| event.id.as_ref()) {
        match seen.get(id.value.as_str()) {
            Some(line) => {
                cx.error(id.span, format!("the id `{}` is used twice; first in line {line}", id.value));
            }
            None => drop(seen.insert(&id.value, id.span.line)),
        }
    }
}

/// Events that wait for each other: an action for the one before it in its program, anything for its anchor.
fn cycles(cx: &mut Cx, scene: &Scene, plan: &Plan, nodes: &[Node]) {
    let mut last: BTreeMap<&(String, String), usize> = BTreeMap::new();
    let waits: Vec<Vec<usize>> = plan
        .events
        .iter()
        .enumerate()
        .map(|(at, event)| {
            let before = scene.events[at].program.as_ref().and_then(|program| last.insert(program, at));
            let anchor = match event.at {
                Some(At::Anchor { event, .. }) => Some(event),
                _ => None,
            };
            before.into_iter().chain(anchor).collect()
        })
        .collect();
    // Take away whatever waits for nothing, again and again; what is left waits in a circle, or for one.
    let mut open: Vec<usize> = waits.iter().map(Vec::len).collect();
    let mut waited_by: Vec<Vec<usize>> = vec![Vec::new(); waits.len()];
    for (at, waits) in waits.iter().enumerate() {
        for other in waits {
            waited_by[*other].push(at);
        }
    }
    let mut free: VecDeque<usize> = (0..waits.len()).filter(|at| open[*at] == 0).collect();
    while let Some(at) = free.pop_front() {
        for &other in &waited_by[at] {
            open[other] -= 1;
            if open[other] == 0 {
                free.push_back(other);
            }
        }
    }
    let mut done: BTreeSet<usize> = BTreeSet::new();
    for start in (0..waits.len()).filter(|at| open[*at] > 0) {
        let mut path = Vec::new();
        let mut at = start;
        while !path.contains(&at) && !done.contains(&at) {
            path.push(at);
            match waits[at].iter().find(|other| open[**other] > 0) {
                Some(next) => at = *next,
                None => break,
            }
        }
        if let Some(from) = path.iter().position(|known| *known == at) {
            let circle = &path[from..];
            let mut lines: Vec<usize> = circle.iter().map(|at| plan.events[*at].span.line).collect();
            lines.sort_unstable();
            lines.dedup();
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let anchored = circle.iter().copied().find(|at| matches!(plan.events[*at].at, Some(At::Anchor { .. })));
            if let Some(at) = anchored {
                cx.error(
                    place(&nodes[at], "at"),
                    format!("the events of lines {} wait for each other", lines.join(", ")),
                )
                .help("an action also waits for the one before it in its program");
            }
        }
        done.extend(path);
    }
}

fn until(cx: &mut Cx, plan: &Plan, nodes: &[Node]) {
    let crashes = |name: &str| {
        plan.events.iter().any(|event| {
            matches!(event.what, Do::Crash { .. })
                && matches!(&event.subject, Subject::Client { client, task } if client == name && task.as_deref().is_none_or(|task| task == "main"))
        })
    };
    for (event, node) in plan.events.iter().zip(nodes) {
        let endless =
            matches!(event.what, Do::Work { span: None, .. } | Do::Idle { span: None } | Do::Pause { span: None });
        // Only main programs are waited for.
        let endless = endless
            && node.get("for").and_then(Node::scalar) == Some("forever")
            && matches!(&event.subject, Subject::Client { client, task } if task.as_deref().is_none_or(|task| task == "main") && !crashes(client));
        match (plan.until, event.at) {
            (None, _) if endless => {
                cx.error(place(node, "for"), "this never ends, and neither does the lesson")
                    .help("say when it ends: `until: 60s` at the top");
            }
            (Some(until), Some(At::Time(at))) if at > until => {
                cx.error(place(node, "at"), format!("this is after the end of the lesson, `until: {}`", until.yaml()));
            }
            _ => {}
        }
    }
    let Some(until) = plan.until else { return };
    for expect in &plan.expect {
        let beyond = [expect.at, expect.to].into_iter().flatten().any(|time| match time {
            ExpectTime::At(t) | ExpectTime::Between(t, _) => t > until,
            ExpectTime::End | ExpectTime::Asked => false,
        });
        if beyond {
            cx.error(expect.span, format!("this is after the end of the lesson, `until: {}`", until.yaml()));
        }
    }
}

/// A happening aimed at a watchdog needs one.
fn watchdogs(cx: &mut Cx, plan: &Plan, nodes: &[Node]) {
    for (event, node) in plan.events.iter().zip(nodes) {
        let Subject::Client { client, task: Some(task) } = &event.subject else { continue };
        if task == "watchdog" && !event.is_action() && !plan.events.iter().any(|other| other.has_watchdog(client)) {
            cx.error(place(node, "client"), format!("`{client}` has no watchdog"))
                .help("an acquire asks for one: `watchdog: {}`; a variant without it drops this event");
        }
    }
}

impl Event {
    fn has_watchdog(&self, name: &str) -> bool {
        matches!(&self.subject, Subject::Client { client, .. } if client == name)
            && matches!(&self.what, Do::Acquire(acquire) if acquire.watchdog.is_some())
    }

    fn is_action(&self) -> bool {
        super::vocabulary::is_action(self.kind())
    }
}

/// A token of an acquire that comes later in the same program.
fn order(cx: &mut Cx, scene: &Scene, plan: &Plan, nodes: &[Node]) {
    for (at, (event, node)) in plan.events.iter().zip(nodes).enumerate() {
        let of = match &event.what {
            Do::Acquire(acquire) => match acquire.token {
                Token::Of(of) => Some(of),
                _ => None,
            },
            Do::Release(release) => release.token_of,
            _ => None,
        };
        if let Some(of) = of
            && of >= at
            && scene.events[of].program == scene.events[at].program
            && scene.events[of].kind == Some(EventKind::Acquire)
        {
            cx.error(place(node, "token"), "the acquire of this token comes later in the same program");
        }
    }
}
