//! Happenings and their options (FORMAT §4): clients, nodes, links; and `net:` on one action.

use super::duration::{Length, Ttl};
use super::event_lower::Reading;
use super::model::{Do, LinkChange, Net, ServersKind, Subject, Way};
use super::reader::{Cx, Fields};
use super::scene::Scene;
use super::source::Spanned;
use super::yaml::{Kind, Node};
use crate::trace::{EventKind, LessonTime};

const WAYS: &[(&str, Way)] = &[("both", Way::Both), ("request", Way::Request), ("reply", Way::Reply)];

/// One happening.
pub(super) fn happening(cx: &mut Cx, r: &Reading<'_>, f: &mut Fields<'_>, kind: EventKind, subject: &Subject) -> Do {
    let of_node = matches!(subject, Subject::Node(_));
    if matches!(kind, EventKind::Promote | EventKind::Demote)
        && !matches!(r.scene.servers.kind, ServersKind::Replicated { .. } | ServersKind::Sentinel { .. })
        && !r.scene.torn
    {
        cx.misfit(f.span, format!("{}, but these servers have no replicas", r.of), &["write `servers: replicated`"]);
    }
    match kind {
        EventKind::Crash => {
            let power = of_node.then(|| f.take(cx, "power").and_then(|node| cx.boolean(node, "power")));
            Do::Crash { power: power.flatten().unwrap_or(false) }
        }
        EventKind::Pause => {
            let span = f.need(cx, "for", r.of, "5s").and_then(|node| positive(cx, r, node));
            Do::Pause { span: span.and_then(Length::end) }
        }
        EventKind::Restart => Do::Restart,
        EventKind::Promote => {
            let mut stays = Vec::new();
            if let Some(node) = f.take(cx, "stays") {
                for name in
                    cx.list(node, "stays", true).iter().filter_map(|node| cx.string(node, "stays")).collect::<Vec<_>>()
                {
                    r.scene.client(cx, &name);
                    stays.push(name.value);
                }
            }
            Do::Promote { stays }
        }
        EventKind::Demote => Do::Demote,
        EventKind::Flush => Do::Flush,
        EventKind::Evict => Do::Evict,
        EventKind::ClockJump => {
            let by = f.need(cx, "by", r.of, "30s").and_then(|node| cx.signed(node, "by"));
            Do::ClockJump { by_ms: by.unwrap_or(0) }
        }
        EventKind::Heal => Do::Link { change: LinkChange::Heal, way: Way::Both, span: None },
        kind => {
            let change = match kind {
                EventKind::Cut => LinkChange::Cut,
                EventKind::Hold => LinkChange::Hold,
                _ => {
                    let by = f.need(cx, "by", r.of, "200ms").and_then(|node| cx.finite(node, "by", r.ttl, 1));
                    LinkChange::Slow { by: by.unwrap_or(LessonTime(1)) }
                }
            };
            let way = f.take(cx, "way").and_then(|node| cx.choose(node, "way", WAYS)).unwrap_or_default();
            let span = f.take(cx, "for").and_then(|node| positive(cx, r, node)).and_then(Length::end);
            Do::Link { change, way, span }
        }
    }
}

/// A span of at least 1 ms, or `forever`.
fn positive(cx: &mut Cx, r: &Reading<'_>, node: &Node) -> Option<Length> {
    let span = cx.duration(node, "for", r.ttl)?;
    if span == Length::Of(LessonTime::ZERO) {
        cx.error(node.span, "`for` must be at least 1ms");
        return None;
    }
    Some(span)
}

/// `link: [A, m]`; either end may be a list, or `all`.
pub(super) fn link(cx: &mut Cx, scene: &Scene, node: &Node) -> Subject {
    let ends = cx.list(node, "link", false);
    let [left, right] = ends else {
        if matches!(node.kind, Kind::List(_)) {
            cx.error(node.span, "a link has two ends").help("write `link: [A, m]` or `link: [m, [r1, r2]]`");
        }
        return Subject::None;
    };
    let (left, right) = (end(cx, scene, left), end(cx, scene, right));
    fits(cx, scene, &left, &right);
    let names = |end: Vec<Spanned<String>>| end.into_iter().map(|name| name.value).collect();
    Subject::Link(names(left), names(right))
}

/// One end, with `all` spelled out.
fn end(cx: &mut Cx, scene: &Scene, node: &Node) -> Vec<Spanned<String>> {
    let items = cx.list(node, "link", true);
    if items.is_empty() && matches!(node.kind, Kind::List(_)) {
        cx.error(node.span, "this end of the link has no name");
    }
    let mut names: Vec<Spanned<String>> = Vec::new();
    for name in items.iter().filter_map(|node| cx.string(node, "link")).collect::<Vec<_>>() {
        if name.value == "all" {
            let all = scene.clients.iter().map(|client| Spanned { value: client.name.clone(), span: name.span });
            names.extend(all);
        } else if names.iter().any(|other| other.value == name.value) {
            cx.error(name.span, format!("`{}` is there twice", name.value));
        } else {
            names.push(name);
        }
    }
    let nodes = scene.nodes();
    for name in &names {
        let known = name.value == "db"
            || nodes.contains(&name.value)
            || scene.clients.iter().any(|client| client.name == name.value);
        if !known && !scene.torn {
            let mut ends: Vec<&str> = scene.clients.iter().map(|client| client.name.as_str()).collect();
            ends.extend(nodes.iter().map(String::as_str));
            cx.unknown(name.span, "client or node", &name.value, &ends);
        }
    }
    names
}

/// Whether there can be links between all of these.
fn fits(cx: &mut Cx, scene: &Scene, left: &[Spanned<String>], right: &[Spanned<String>]) {
    let nodes = scene.nodes();
    let is_node = |name: &&Spanned<String>| nodes.contains(&name.value);
    let is_client = |name: &&Spanned<String>| scene.clients.iter().any(|client| client.name == name.value);
    let is_db = |name: &&Spanned<String>| name.value == "db";
    let quorum = matches!(scene.servers.kind, ServersKind::Quorum { .. });
    // The first of a kind on each side: what fits for one of a kind fits for all.
    let (left_node, right_node) = (left.iter().find(is_node), right.iter().find(is_node));
    let (left_client, right_client) = (left.iter().find(is_client), right.iter().find(is_client));
    let (left_db, right_db) = (left.iter().find(is_db), right.iter().find(is_db));
    let same = right.iter().find_map(|b| Some((left.iter().find(|a| a.value == b.value)?, b)));
    let misfits = [
        (same, "both ends are the same"),
        (left_client.zip(right_client), "clients do not talk to each other"),
        (left_node.zip(right_node).filter(|_| quorum), "the nodes of a quorum do not talk to each other"),
        (left_db.zip(right_node).or(left_node.zip(right_db)), "the database and Redis do not talk to each other"),
    ];
    if let Some(((a, b), why)) = misfits.into_iter().find_map(|(pair, why)| Some((pair?, why))) {
        cx.misfit(b.span, format!("there is no link from `{}` to `{}`: {why}", a.value, b.value), &[]);
    } else if let Some(db) = left_db.or(right_db)
        && scene.resources.is_empty()
        && !scene.torn
    {
        cx.misfit(db.span, "without `resources` there is no database", &[]);
    }
}

/// `net:` on one action: `cut`, `hold`, `{cut: reply}`, `{slow: 5s}`, `{slow: 5s, way: reply}`.
pub(super) fn net(cx: &mut Cx, node: &Node) -> Option<Net> {
    const HELP: &str = "write `cut`, `hold`, `{cut: reply}`, `{slow: 5s}` or `{slow: 5s, way: reply}`";
    match node.scalar() {
        Some("cut") => return Some(Net { change: LinkChange::Cut, way: Way::Both }),
        Some("hold") => return Some(Net { change: LinkChange::Hold, way: Way::Both }),
        Some(_) => {
            cx.error(node.span, format!("{} is no fault of the network", node.describe())).help(HELP);
            return None;
        }
        None => {}
    }
    let mut f = Fields::of(cx, node, "`net`")?;
    let cut = f.take(cx, "cut");
    let hold = f.take(cx, "hold");
    let slow = f.take(cx, "slow");
    let net = match (cut, hold, slow) {
        (Some(way), None, None) => cx.choose(way, "cut", WAYS).map(|way| Net { change: LinkChange::Cut, way }),
        (None, Some(way), None) => cx.choose(way, "hold", WAYS).map(|way| Net { change: LinkChange::Hold, way }),
        (None, None, Some(by)) => {
            let by = cx.finite(by, "slow", Ttl::Unknown, 1);
            // A slow request is what people mean: it is executed late.
            let way = f.take(cx, "way").and_then(|node| cx.choose(node, "way", WAYS)).unwrap_or(Way::Request);
            by.map(|by| Net { change: LinkChange::Slow { by }, way })
        }
        _ => {
            cx.error(node.span, "`net` is one fault").help(HELP);
            None
        }
    };
    f.end(cx, "`net`");
    net
}
