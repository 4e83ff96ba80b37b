//! Changes in words: a label and a value, which read as one sentence.

use super::rows::{Row, ways};
use super::turn::{has_watchdog, length};
use crate::lesson::whatif::{Edit, Happening, Target};
use crate::lesson::{At, Do, Event, Plan, Subject};
use crate::trace::{EventKind, LessonTime};
use crate::tui::narrate::step_key;
use crate::tui::strings::{Ui, secs};

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// What it is about: `A's job takes`.
    pub label: String,
    /// Its value: `12 s`.
    pub value: String,
}

impl Words {
    /// As one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{} {}", self.label, self.value)
    }
}

/// `row` in words; `title` is what the variant is called.
#[must_use]
pub fn row(ui: Ui, row: &Row, plan: &Plan, edits: &[Edit], title: &str) -> Words {
    let nothing = Words { label: String::new(), value: String::new() };
    let known = |i: usize, of: fn(Ui, &Plan, &Event) -> Words| {
        plan.events.get(i).map_or_else(|| nothing.clone(), |event| of(ui, plan, event))
    };
    match row {
        Row::Variant => Words { label: ui.get("whatif.variant").to_owned(), value: title.to_owned() },
        Row::Ttl(i) => plan.locks.get(*i).map_or_else(|| nothing.clone(), |lock| ttl(ui, &lock.key, lock.ttl)),
        Row::Length(i) => known(*i, takes),
        Row::Start(i) => known(*i, starts),
        Row::How(i) => known(*i, |ui, _, event| how(ui, event, ways(event).map_or("", |(now, _)| now))),
        Row::Watchdog(i) => known(*i, |ui, _, event| watchdog(ui, event, has_watchdog(&event.what))),
        Row::Made(i) => edits.get(*i).map_or(nothing.clone(), |edit| self::edit(ui, edit, plan)),
        Row::New(edit) => self::edit(ui, edit, plan),
    }
}

/// A change in words.
#[must_use]
pub fn edit(ui: Ui, edit: &Edit, plan: &Plan) -> Words {
    let nothing = Words { label: String::new(), value: String::new() };
    let of = |id: &String, words: &dyn Fn(&Event) -> Words| {
        let event = plan.events.iter().find(|event| event.id.as_ref() == Some(id));
        event.map_or_else(|| nothing.clone(), words)
    };
    match edit {
        Edit::Ttl { lock, ttl } => {
            let key = plan.locks.iter().find(|known| known.name == *lock).map_or(lock, |lock| &lock.key);
            self::ttl(ui, key, Some(*ttl))
        }
        Edit::Length { event, span } => of(event, &|event| Words { value: time(ui, *span), ..takes(ui, plan, event) }),
        Edit::Start { event, at } => of(event, &|event| Words { value: time(ui, *at), ..starts(ui, plan, event) }),
        Edit::How { event, how } => of(event, &|event| self::how(ui, event, how)),
        Edit::Watchdog { event, on } => of(event, &|event| watchdog(ui, event, *on)),
        Edit::Delay { client, before, span } => {
            let what = plan.events.iter().find(|event| event.id.as_ref() == Some(before));
            let what = what.map_or("do.other", |event| step_key(event.kind()));
            let label = ui.fill("whatif.delay", &[("who", client), ("what", ui.get(what))]);
            Words { label, value: time(ui, *span) }
        }
        Edit::Until { at } => Words { label: ui.get("whatif.until").to_owned(), value: time(ui, *at) },
        Edit::Happens { to, what: Happening::Pause(span), at } => {
            let label = ui.fill("whatif.pause", &[("who", &target(to)), ("t", &secs(*at))]);
            Words { label, value: time(ui, *span) }
        }
        Edit::Happens { to, what, at } => {
            let key = match (what, to) {
                (Happening::Crash, Target::Node(_)) => "whatif.node_crash",
                (Happening::Crash | Happening::Pause(_), _) => "whatif.crash",
                (Happening::Restart, _) => "whatif.restart",
                (Happening::Promote, _) => "whatif.promote",
                (Happening::Hold, _) => "whatif.hold",
                (Happening::Cut, _) => "whatif.cut",
                (Happening::Heal, _) => "whatif.heal",
            };
            Words { label: ui.fill(key, &[("who", &target(to))]), value: time(ui, *at) }
        }
    }
}

/// All of `edits`, as a title.
#[must_use]
pub fn all(ui: Ui, edits: &[Edit], plan: &Plan) -> String {
    let each: Vec<String> = edits.iter().map(|edit| self::edit(ui, edit, plan).sentence()).collect();
    each.join(ui.get("list.comma"))
}

fn time(ui: Ui, t: LessonTime) -> String {
    ui.fill("inspector.seconds", &[("t", &secs(t))])
}

fn ttl(ui: Ui, key: &str, ttl: Option<LessonTime>) -> Words {
    let value = ttl.map_or_else(|| ui.get("inspector.forever").to_owned(), |ttl| time(ui, ttl));
    Words { label: ui.fill("whatif.ttl", &[("key", key)]), value }
}

fn takes(ui: Ui, plan: &Plan, event: &Event) -> Words {
    let key = if matches!(event.what, Do::Idle { .. }) { "whatif.idles" } else { "whatif.works" };
    Words {
        label: ui.fill(key, &[("who", &numbered(plan, event))]),
        value: length(&event.what).map_or_else(String::new, |span| time(ui, span)),
    }
}

fn starts(ui: Ui, plan: &Plan, event: &Event) -> Words {
    let who = numbered(plan, event);
    let label = match event.kind() {
        EventKind::Acquire => ui.fill("whatif.acquires_at", &[("who", &who)]),
        EventKind::Release => ui.fill("whatif.releases_at", &[("who", &who)]),
        EventKind::Crash if matches!(event.subject, Subject::Node(_)) => ui.fill("whatif.node_crash", &[("who", &who)]),
        EventKind::Crash => ui.fill("whatif.crash", &[("who", &who)]),
        EventKind::Restart => ui.fill("whatif.restart", &[("who", &who)]),
        EventKind::Promote => ui.fill("whatif.promote", &[("who", &who)]),
        EventKind::Hold => ui.fill("whatif.hold", &[("who", &who)]),
        EventKind::Cut => ui.fill("whatif.cut", &[("who", &who)]),
        EventKind::Heal => ui.fill("whatif.heal", &[("who", &who)]),
        kind => ui.fill("whatif.starts_at", &[("who", &who), ("what", ui.get(step_key(kind)))]),
    };
    let value = match event.at {
        Some(At::Time(at)) => time(ui, at),
        _ => String::new(),
    };
    Words { label, value }
}

fn how(ui: Ui, event: &Event, how: &str) -> Words {
    let key = if event.kind() == EventKind::Release { "whatif.releases_with" } else { "whatif.acquires_with" };
    let way = match how {
        "set_nx_px" => "how.set_nx_px",
        "setnx" => "how.setnx",
        "setnx_expire" => "how.setnx_expire",
        "lua" => "how.lua",
        "get_del" => "how.get_del",
        _ => "how.del",
    };
    Words { label: ui.fill(key, &[("who", &subject(event))]), value: ui.get(way).to_owned() }
}

fn watchdog(ui: Ui, event: &Event, on: bool) -> Words {
    let value = ui.get(if on { "whatif.watchdog_on" } else { "whatif.watchdog_off" });
    Words { label: ui.fill("whatif.watchdog", &[("who", &subject(event))]), value: value.to_owned() }
}

/// Who or what an event is about.
fn subject(event: &Event) -> String {
    match &event.subject {
        Subject::Client { client, task: None } => client.clone(),
        Subject::Client { client, task: Some(task) } => format!("{client}/{task}"),
        Subject::Node(node) => node.clone(),
        Subject::Link(left, right) => format!("{}–{}", left.join("+"), right.join("+")),
        Subject::None => String::new(),
    }
}

/// The same; where the same is done several times, with which time it is.
fn numbered(plan: &Plan, event: &Event) -> String {
    let same = |other: &&Event| other.kind() == event.kind() && other.subject == event.subject && other.id.is_some();
    let all: Vec<&Event> = plan.events.iter().filter(same).collect();
    let at = all.iter().position(|other| std::ptr::eq(*other, event));
    match at {
        Some(at) if all.len() > 1 => format!("{} (#{})", subject(event), at + 1),
        _ => subject(event),
    }
}

fn target(to: &Target) -> String {
    match to {
        Target::Client(name) | Target::Node(name) => name.clone(),
        Target::Link(a, others) => format!("{a}–{}", others.join("+")),
    }
}
