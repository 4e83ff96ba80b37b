//! What a variant changes (FORMAT §9), done on the tree: `set`, then `drop`, then `add`, and merged keys.

use super::diagnostic::{closest, listed, quoted};
use super::duration::{self, AtText, Ttl};
use super::reader::Cx;
use super::source::{Span, Spanned};
use super::yaml::{Entry, Kind, Node};

/// The keys of the top level that a variant merges into its lesson.
pub(super) const MERGED: [&str; 7] = ["servers", "lock", "locks", "clients", "resources", "until", "needs"];

/// `servers: quorum` and `clients: [A, B]` as the maps that they are short for.
pub(super) fn normal(cx: &mut Cx, key: &str, node: &Node) -> Node {
    match (key, &node.kind) {
        ("servers", Kind::Scalar { .. }) if !node.is_null() => {
            let key = Spanned { value: "kind".to_owned(), span: node.span };
            Node { span: node.span, kind: Kind::Map(vec![Entry { key, value: node.clone() }]) }
        }
        ("clients", Kind::List(items)) => {
            let mut entries: Vec<Entry> = Vec::new();
            for item in items {
                let Some(name) = cx.string(item, "clients") else { continue };
                if entries.iter().any(|entry| entry.key.value == name.value) {
                    cx.error(name.span, format!("the client {} is there twice", quoted(&name.value)));
                    continue;
                }
                entries.push(Entry { key: name, value: Node { span: item.span, kind: Kind::Map(Vec::new()) } });
            }
            Node { span: node.span, kind: Kind::Map(entries) }
        }
        _ => node.clone(),
    }
}

/// `over` merged into `base`, key by key, `depth` levels deep. `null` takes a key away.
pub(super) fn merge(base: Option<&Node>, over: &Node, depth: usize) -> Option<Node> {
    if over.is_null() {
        return None;
    }
    let (Some(Node { span, kind: Kind::Map(old) }), Kind::Map(new)) = (base, &over.kind) else {
        return Some(over.clone());
    };
    if depth == 0 {
        return Some(over.clone());
    }
    let mut entries = old.clone();
    for entry in new {
        let at = entries.iter().position(|old| old.key.value == entry.key.value);
        let merged = merge(at.map(|at| &entries[at].value), &entry.value, depth - 1);
        match (at, merged) {
            (Some(at), Some(value)) => entries[at] = Entry { key: entry.key.clone(), value },
            (Some(at), None) => drop(entries.remove(at)),
            (None, Some(value)) => entries.push(Entry { key: entry.key.clone(), value }),
            (None, None) => {}
        }
    }
    Some(Node { span: *span, kind: Kind::Map(entries) })
}

/// How many levels of a key are merged: `clients: {B: {timeout: 1s}}` has two, `until: 60s` none.
pub(super) fn depth(key: &str) -> usize {
    match key {
        "locks" | "clients" | "resources" => 2,
        "servers" | "lock" | "needs" => 1,
        _ => 0,
    }
}

/// The events of a variant, and the ids that it has dropped.
pub(super) fn events(cx: &mut Cx, base: &[Node], variant: &Node) -> (Vec<Node>, Vec<String>) {
    let mut events = base.to_vec();
    let mut dropped: Vec<String> = Vec::new();
    let drops: Vec<Spanned<String>> = match variant.get("drop").filter(|node| !node.is_null()) {
        Some(node) => {
            let items = cx.list(node, "drop", false);
            items.iter().filter_map(|item| cx.string(item, "drop")).collect()
        }
        None => Vec::new(),
    };
    if let Some(node) = variant.get("set").filter(|node| !node.is_null()) {
        set(cx, &mut events, node, &drops);
    }
    for id in &drops {
        match find(&events, &id.value) {
            Some(at) => {
                events.remove(at);
                dropped.push(id.value.clone());
            }
            None if dropped.contains(&id.value) => {
                cx.error(id.span, format!("{} is dropped twice", quoted(&id.value)));
            }
            None => missing(cx, &events, id, "drop"),
        }
    }
    drop_dependents(&mut events, &mut dropped);
    if let Some(node) = variant.get("add").filter(|node| !node.is_null()) {
        let added = cx.list(node, "add", false);
        add(cx, &mut events, added, &dropped);
    }
    (events, dropped)
}

fn set(cx: &mut Cx, events: &mut [Node], node: &Node, drops: &[Spanned<String>]) {
    let Kind::Map(patches) = &node.kind else {
        cx.error(node.span, format!("`set` must be a map from event ids, not {}", node.describe()))
            .help("write `set: {a-release: {how: lua}}`");
        return;
    };
    for Entry { key: id, value } in patches {
        let Some(at) = find(events, &id.value) else {
            missing(cx, events, id, "set");
            continue;
        };
        if drops.iter().any(|drop| drop.value == id.value) {
            cx.error(id.span, format!("this variant drops {}, and cannot set it", quoted(&id.value)));
            continue;
        }
        let Kind::Map(keys) = &value.kind else {
            cx.error(value.span, format!("what is set must be a map of keys, not {}", value.describe()))
                .help(format!("write `{}: {{how: lua}}`", id.value));
            continue;
        };
        if let Some(key) = keys.iter().find(|entry| entry.key.value == "id") {
            cx.error(key.key.span, "an event keeps its id");
            continue;
        }
        if let Some(merged) = merge(Some(&events[at]), value, 1) {
            events[at] = merged;
        }
    }
}

/// What names a dropped event in `at:` or `when:` is dropped too, and so on.
fn drop_dependents(events: &mut Vec<Node>, dropped: &mut Vec<String>) {
    loop {
        let before = events.len();
        events.retain(|event| {
            let names = depends_on(event).into_iter().any(|id| dropped.contains(&id));
            if names {
                dropped.extend(id_of(event).map(str::to_owned));
            }
            !names
        });
        if events.len() == before {
            return;
        }
    }
}

/// The ids that an event names in `at:` and `when:`.
fn depends_on(event: &Node) -> Vec<String> {
    let mut ids = Vec::new();
    if let Some(at) = event.get("at").and_then(Node::scalar)
        && let Ok(AtText::Anchor { id, .. }) = duration::parse_at(at, Ttl::Unknown)
    {
        ids.push(id.to_owned());
    }
    if let Some(Kind::Map(tests)) = event.get("when").map(|when| &when.kind) {
        ids.extend(tests.iter().map(|test| test.key.value.clone()));
    }
    ids
}

fn add(cx: &mut Cx, events: &mut Vec<Node>, added: &[Node], dropped: &[String]) {
    // Several events added after the same one stay in the order in which they are written.
    let mut after: Vec<(String, usize)> = Vec::new();
    for node in added {
        let Kind::Map(entries) = &node.kind else {
            cx.error(node.span, format!("an event must be a map, not {}", node.describe()));
            continue;
        };
        let (places, rest): (Vec<Entry>, Vec<Entry>) = entries
            .iter()
            .cloned()
            .partition(|entry| matches!(entry.key.value.as_str(), "insert_before" | "insert_after"));
        if let [_, second, ..] = places.as_slice() {
            cx.error(second.key.span, "an event is inserted before or after another, not both");
        }
        let mut at = events.len();
        if let Some(Entry { key, value }) = places.first()
            && let Some(id) = cx.string(value, &key.value)
        {
            match find(events, &id.value) {
                Some(found) if key.value == "insert_before" => at = found,
                Some(found) => {
                    let behind = after.iter().filter(|(first, _)| *first == id.value).count();
                    at = found + 1 + behind;
                    after.push((id.value, at));
                }
                None if dropped.contains(&id.value) => {
                    cx.error(id.span, format!("the event {} is dropped", quoted(&id.value)));
                }
                None => missing(cx, events, &id, &key.value),
            }
        }
        events.insert(at.min(events.len()), Node { span: node.span, kind: Kind::Map(rest) });
    }
}

fn missing(cx: &mut Cx, events: &[Node], id: &Spanned<String>, key: &str) {
    let ids: Vec<&str> = events.iter().filter_map(id_of).collect();
    let there = if ids.is_empty() { "no event has an id".to_owned() } else { format!("there is {}", listed(&ids)) };
    let guess = closest(&id.value, ids.iter().copied()).map(|guess| format!("did you mean `{guess}`?"));
    let error = cx.error(id.span, format!("`{key}`: no event has the id {}; {there}", quoted(&id.value)));
    if let Some(guess) = guess {
        error.help(guess);
    } else if ids.is_empty() {
        error.help("give the event an `id:`");
    }
}

fn find(events: &[Node], id: &str) -> Option<usize> {
    events.iter().position(|event| id_of(event) == Some(id))
}

fn id_of(event: &Node) -> Option<&str> {
    event.get("id").and_then(Node::scalar)
}

/// A place in the file for what is not written.
pub(super) fn start_of(span: Span) -> Span {
    Span { end: span.start, ..span }
}
