//! Entries of `expect`, and the conditions of choices (FORMAT §10).

use std::collections::BTreeMap;

use super::diagnostic::{closest, quoted};
use super::duration::{self, Ttl};
use super::expect::{Expect, ExpectTime, Expected, Fact, KeyTtl};
use super::reader::{Cx, Fields};
use super::run_lower;
use super::scene::Scene;
use super::source::Spanned;
use super::yaml::{Kind, Node};
use crate::trace::{EventKind, FindingKind, Group, LessonTime};

/// The facts, by the key that names them.
const FACTS: [&str; 12] = [
    "holder",
    "believes",
    "granted",
    "waited",
    "commands",
    "order",
    "key",
    "expired",
    "unprotected",
    "row",
    "effects",
    "stopped",
];

/// What takes a lock away early.
const LOST_BY: [&str; 7] = ["restart", "promote", "demote", "flush", "evict", "clock_jump", "own_command"];

/// Why an action ended as it did.
const WHYS: [&str; 6] = ["held", "too_late", "no_quorum", "not_replicated", "max", "deadline"];

/// One entry. `asked`: `_` may stand for a time.
pub(super) fn expect(cx: &mut Cx, scene: &Scene, node: &Node, asked: bool) -> Option<Expect> {
    let mut f = Fields::of(cx, node, "an expectation")?;
    let Kind::Map(entries) = &node.kind else { return None };
    let kinds: Vec<&Spanned<String>> = entries
        .iter()
        .map(|entry| &entry.key)
        .filter(|key| finding(&key.value).is_some() || FACTS.contains(&key.value.as_str()))
        .collect();
    let kind = match kinds.as_slice() {
        [kind] => *kind,
        // `{orphan: A, …}` has one kind; `{key: …, node: …}` too. Two are two expectations.
        [_, second, ..] => {
            cx.error(second.span, format!("an expectation is one thing, and {} is a second", quoted(&second.value)))
                .help("write two entries");
            return None;
        }
        [] => {
            let names: Vec<&str> = FindingKind::ALL.iter().map(|kind| kind.name()).chain(FACTS).collect();
            let guess = entries
                .iter()
                .find_map(|entry| Some((entry.key.span, closest(&entry.key.value, names.iter().copied())?)));
            match guess {
                Some((span, guess)) => {
                    cx.error(span, "this is nothing that can be expected").help(format!("did you mean `{guess}`?"))
                }
                None => cx
                    .error(node.span, "this is nothing that can be expected")
                    .help(format!("there is {}", names.join(", "))),
            };
            return None;
        }
    };
    let name: &'static str =
        finding(&kind.value).map(FindingKind::name).or_else(|| FACTS.into_iter().find(|fact| *fact == kind.value))?;
    let value = f.take(cx, name);
    let mut times = Times::default();
    let what = match finding(name) {
        Some(kind) => {
            times.at = !kind.lasts() || matches!(kind, FindingKind::Starved | FindingKind::NeverDone);
            times.range = kind.lasts();
            value.and_then(|value| finding_of(cx, scene, &mut f, kind, value))
        }
        None => value.and_then(|value| fact(cx, scene, &mut f, name, value, &mut times)).map(Expected::Fact),
    };
    let of = format!("`{name}`");
    let (at, to) = read_times(cx, &mut f, &of, times, asked);
    let lock = f.take(cx, "lock").and_then(|node| cx.string(node, "lock")).inspect(|name| {
        scene.lock(cx, name);
    });
    if lock.is_none() && scene.locks.len() > 1 && matches!(name, "holder" | "believes") {
        let names: Vec<&str> = scene.locks.iter().map(|lock| lock.name.as_str()).collect();
        let help = format!("write `lock: {}`", names.join("`, or `lock: "));
        cx.misfit(node.span, format!("{of} does not say of which lock"), &[&help]);
    }
    let count = finding(name)
        .and_then(|_| f.take(cx, "times"))
        .and_then(|node| cx.integer(node, "times", 1, 1_000_000))
        .and_then(|n| u32::try_from(n).ok());
    f.end(cx, &of);
    Some(Expect { span: node.span, what: what?, at, to, lock: lock.map(|lock| lock.value), times: count.unwrap_or(1) })
}

fn finding(name: &str) -> Option<FindingKind> {
    FindingKind::ALL.into_iter().find(|kind| kind.name() == name)
}

/// What the keys inside `wrong_delete: {…}` must name.
#[derive(Clone, Copy)]
enum Names {
    Client,
    Log,
    Text,
    LostBy,
}

/// How a finding is written: a map of these fields, one name, or a list of names.
fn shape(kind: FindingKind) -> &'static [(&'static str, Names)] {
    use Names::{Client, Log, LostBy, Text};
    match kind {
        FindingKind::WrongDelete | FindingKind::WrongRenewal | FindingKind::WrongOverwrite => {
            &[("by", Client), ("owner", Client)]
        }
        FindingKind::LostLock => &[("of", Client), ("by", LostBy)],
        FindingKind::StaleWrite => &[("by", Client), ("after", Client)],
        FindingKind::LostUpdate => &[("by", Client), ("of", Client)],
        FindingKind::Duplicate | FindingKind::NeverDone => &[("log", Log), ("key", Text)],
        FindingKind::Abandoned => &[("of", Client), ("victim", Client)],
        FindingKind::GhostRenewal => &[("by", Client)],
        FindingKind::Unfair => &[("first", Client), ("second", Client)],
        _ => &[],
    }
}

fn finding_of(cx: &mut Cx, scene: &Scene, f: &mut Fields<'_>, kind: FindingKind, value: &Node) -> Option<Expected> {
    let name = kind.name();
    let mut who = Vec::new();
    let mut fields = BTreeMap::new();
    let shape = shape(kind);
    if !shape.is_empty() {
        let names: Vec<&str> = shape.iter().map(|(key, _)| *key).collect();
        if !matches!(value.kind, Kind::Map(_)) {
            cx.error(value.span, format!("`{name}` must be a map, not {}", value.describe()))
                .help(format!("write `{name}: {{{}: …}}`", names.join(": …, ")));
            return None;
        }
        let mut inner = Fields::of(cx, value, name)?;
        for (key, names) in shape {
            let Some(node) = inner.take(cx, key) else { continue };
            let Some(text) = cx.string(node, key) else { continue };
            match names {
                Names::Client => scene.client(cx, &text),
                Names::Log => scene.resource(cx, &text, Some((true, name))),
                Names::LostBy => one_of(cx, &text, key, &LOST_BY),
                Names::Text => {}
            }
            fields.insert((*key).to_owned(), text);
        }
        inner.end(cx, &format!("`{name}`"));
    } else if kind == FindingKind::Oversold {
        let text = cx.string(value, name)?;
        scene.resource(cx, &text, Some((false, "`oversold`")));
        who.push(text.value);
    } else if matches!(kind, FindingKind::Overlap | FindingKind::Deadlock) {
        let least = if kind == FindingKind::Overlap { 2 } else { 1 };
        who = clients(cx, scene, value, name);
        if who.len() < least && matches!(value.kind, Kind::List(_)) {
            cx.error(value.span, format!("`{name}` names at least {least} clients"));
        }
        // A finding names its clients in the lesson's order, however the file writes them.
        who.sort_by_key(|name| scene.clients.iter().position(|client| client.name == *name));
    } else {
        if let Kind::List(_) = value.kind {
            cx.error(value.span, format!("`{name}` names one client")).help("write an entry for each");
            return None;
        }
        let text = cx.string(value, name)?;
        scene.client(cx, &text);
        who.push(text.value);
    }
    if kind == FindingKind::Starved
        && let Some(node) = f.take(cx, "while")
        && let Some(text) = cx.string(node, "while")
    {
        one_of(cx, &text, "while", &["held", "free"]);
        fields.insert("while".to_owned(), text);
    }
    if kind.group() == Group::Note {
        if let Some(id) = f.take(cx, "event").and_then(|node| cx.string(node, "event")) {
            scene.event(cx, &id);
            fields.insert("event".to_owned(), id);
        }
        if let Some(why) = f.take(cx, "why").and_then(|node| cx.string(node, "why")) {
            one_of(cx, &why, "why", &WHYS);
            fields.insert("why".to_owned(), why);
        }
    }
    Some(Expected::Finding { kind, who, fields })
}

fn one_of(cx: &mut Cx, text: &Spanned<String>, key: &str, words: &[&str]) {
    if !words.contains(&text.value.as_str()) {
        let error = cx.error(text.span, format!("unknown `{key}: {}`; there is {}", text.value, words.join(", ")));
        if let Some(guess) = closest(&text.value, words.iter().copied()) {
            error.help(format!("did you mean `{guess}`?"));
        }
    }
}

fn clients(cx: &mut Cx, scene: &Scene, node: &Node, what: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for item in cx.list(node, what, false) {
        let Some(name) = cx.string(item, what) else { continue };
        scene.client(cx, &name);
        if what != "order" && names.contains(&name.value) {
            cx.error(name.span, format!("{} is there twice", quoted(&name.value)));
        }
        names.push(name.value);
    }
    names
}

/// Which times an expectation can have.
#[derive(Clone, Copy, Default)]
struct Times {
    at: bool,
    at_needed: bool,
    range: bool,
}

fn fact(cx: &mut Cx, scene: &Scene, f: &mut Fields<'_>, name: &str, value: &Node, times: &mut Times) -> Option<Fact> {
    let client = |cx: &mut Cx| -> Option<String> {
        let text = cx.string(value, name)?;
        scene.client(cx, &text);
        Some(text.value)
    };
    times.at = !matches!(name, "waited" | "commands" | "order" | "unprotected");
    times.at_needed = matches!(name, "holder" | "believes" | "key");
    times.range = name == "unprotected";
    Some(match name {
        "holder" => {
            let client = if value.scalar() == Some("nobody") { None } else { Some(client(cx)?) };
            Fact::Holder { client, node: node(cx, scene, f) }
        }
        "believes" => Fact::Believes(client(cx)?),
        "granted" => {
            let event = f.take(cx, "event").and_then(|node| cx.string(node, "event"));
            if let Some(id) = &event
                && let Some(at) = scene.event(cx, id)
                && scene.events[at].kind.is_some_and(|kind| kind != EventKind::Acquire)
            {
                cx.misfit(id.span, format!("`{}` is no acquire", id.value), &[]);
            }
            Fact::Granted { client: client(cx)?, event: event.map(|id| id.value) }
        }
        "waited" => {
            let at_most =
                f.need(cx, "at_most", "`waited`", "3s").and_then(|node| cx.finite(node, "at_most", Ttl::Unknown, 0));
            Fact::Waited { client: client(cx)?, at_most: at_most? }
        }
        "commands" => {
            let at_most =
                f.need(cx, "at_most", "`commands`", "12").and_then(|node| cx.integer(node, "at_most", 0, i64::MAX));
            Fact::Commands { client: client(cx)?, at_most: u64::try_from(at_most?).ok()? }
        }
        "order" => Fact::Order(clients(cx, scene, value, "order")),
        "key" => key(cx, scene, f, value)?,
        "expired" => {
            let text = cx.string(value, name)?;
            scene.lock(cx, &text);
            Fact::Expired(text.value)
        }
        "unprotected" => Fact::Unprotected(client(cx)?),
        "row" => {
            let resource = cx.string(value, name)?;
            scene.resource(cx, &resource, Some((false, "`row`")));
            let is = f.need(cx, "is", "`row`", "232").and_then(|node| cx.integer(node, "is", i64::MIN, i64::MAX));
            Fact::Row { resource: resource.value, is: is? }
        }
        "effects" => {
            let resource = cx.string(value, name)?;
            scene.resource(cx, &resource, Some((true, "`effects`")));
            let count = f.need(cx, "count", "`effects`", "2").and_then(|node| cx.integer(node, "count", 0, i64::MAX));
            Fact::Effects { resource: resource.value, count: u64::try_from(count?).ok()? }
        }
        _ => Fact::Stopped(client(cx)?),
    })
}

fn node(cx: &mut Cx, scene: &Scene, f: &mut Fields<'_>) -> Option<String> {
    let name = f.take(cx, "node").and_then(|node| cx.string(node, "node"))?;
    scene.node(cx, &name);
    Some(name.value)
}

/// `{key: {value, ttl, count}, at, node}`; `key:` inside, where it is not the lock's.
fn key(cx: &mut Cx, scene: &Scene, f: &mut Fields<'_>, value: &Node) -> Option<Fact> {
    let mut inner = Fields::of(cx, value, "`key`")?;
    let key = inner.take(cx, "key").and_then(|node| cx.string(node, "key")).map(|key| key.value);
    let content = inner.take_any("value").and_then(|node| run_lower::reply(cx, node, "value"));
    let ttl = inner.take(cx, "ttl").and_then(|node| match node.scalar() {
        Some("none" | "forever") => Some(KeyTtl::None),
        _ => cx.finite(node, "ttl", Ttl::of(scene.only_lock().map(|at| &scene.locks[at])), 0).map(KeyTtl::Left),
    });
    let count = inner.take(cx, "count").and_then(|node| cx.integer(node, "count", 0, i64::MAX));
    if !["value", "ttl", "count"].iter().any(|key| inner.has_key(key)) {
        cx.error(value.span, "`key` says nothing").help("write `{value: …}`, `{ttl: …}` or `{count: …}`");
    }
    inner.end(cx, "`key`");
    if key.is_none() && scene.only_lock().is_none() && !f.has("lock") && !scene.torn {
        cx.misfit(value.span, "it is not clear which key", &["write `key: {key: …}`, or `lock: NAME`"]);
    }
    Some(Fact::Key { key, value: content, ttl, count, node: node(cx, scene, f) })
}

/// `at:`, or `from:` and `to:`.
fn read_times(
    cx: &mut Cx,
    f: &mut Fields<'_>,
    of: &str,
    times: Times,
    asked: bool,
) -> (Option<ExpectTime>, Option<ExpectTime>) {
    for (key, fits, help) in [
        ("at", times.at, if times.range { "it lasts: write `from:` and `to:`" } else { "it has no time" }),
        ("from", times.range, if times.at { "it is an instant: write `at:`" } else { "it has no time" }),
        ("to", times.range, if times.at { "it is an instant: write `at:`" } else { "it has no time" }),
    ] {
        if !fits && let Some(entry) = f.peek(key) {
            f.mark(key);
            cx.error(entry.key.span, format!("{of} has no `{key}`")).help(help);
        }
    }
    let mut read = |cx: &mut Cx, key: &'static str, fits: bool| {
        if !fits {
            return None;
        }
        f.take(cx, key).and_then(|node| Some((time(cx, node, key, asked)?, node.span)))
    };
    let (at, from, to) = (read(cx, "at", times.at), read(cx, "from", times.range), read(cx, "to", times.range));
    if let (Some((_, span)), Some(_)) = (at, from.or(to)) {
        cx.error(span, format!("{of} has either `at`, or `from` and `to`"));
    }
    if times.at_needed && at.is_none() && !f.has("at") {
        cx.error(f.span, format!("{of} needs `at`")).help("for example `at: 12s`, or `at: end`");
    }
    if let Some((ExpectTime::End, span)) = from {
        cx.error(span, "nothing begins at the end");
    }
    if let (Some((from, _)), Some((to, span))) = (from, to)
        && let (Some((first, _)), Some((_, last))) = (limits(from), limits(to))
        && last <= first
    {
        cx.error(span, "it ends before it begins, or at once");
    }
    (at.or(from).map(|(time, _)| time), to.map(|(time, _)| time))
}

fn limits(time: ExpectTime) -> Option<(LessonTime, LessonTime)> {
    match time {
        ExpectTime::At(t) => Some((t, t)),
        ExpectTime::Between(a, b) => Some((a, b)),
        ExpectTime::End | ExpectTime::Asked => None,
    }
}

/// `12s`, `[10s, 12s]`, `end`, and `_` in a prediction.
fn time(cx: &mut Cx, node: &Node, what: &str, asked: bool) -> Option<ExpectTime> {
    if let Kind::List(items) = &node.kind {
        let [a, b] = items.as_slice() else {
            cx.error(node.span, "a range has two ends").help(format!("write `{what}: [10s, 12s]`"));
            return None;
        };
        let (a, b) = (cx.finite(a, what, Ttl::Unknown, 0)?, cx.finite(b, what, Ttl::Unknown, 0)?);
        if b < a {
            cx.error(node.span, "this range ends before it begins");
        }
        return Some(ExpectTime::Between(a, b));
    }
    match cx.scalar(node, what)? {
        "end" => Some(ExpectTime::End),
        "_" if asked => Some(ExpectTime::Asked),
        "_" => {
            cx.error(node.span, "`_` stands for what the student types, in `predict` only");
            None
        }
        text if duration::parse_at(text, Ttl::Unknown)
            .is_ok_and(|at| matches!(at, duration::AtText::Anchor { .. })) =>
        {
            cx.error(node.span, format!("`{what}` in an expectation is a time, not the id of an event"))
                .help(format!("write `{what}: 12s`"));
            None
        }
        _ => cx.finite(node, what, Ttl::Unknown, 0).map(ExpectTime::At),
    }
}
