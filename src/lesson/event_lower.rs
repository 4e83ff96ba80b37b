//! One entry of `events`: its subject, its `do:`, and the keys that every event has.

use super::action_lower;
use super::ask_lower;
use super::diagnostic::{closest, quoted};
use super::duration::{self, AtText, Ttl};
use super::happening_lower;
use super::model::{At, Do, Event, EventTest, Subject, Test, When};
use super::reader::{Cx, Fields};
use super::run_lower::{self, Around};
use super::scene::{Known, Scene};
use super::source::{Span, Spanned};
use super::vocabulary::{self, KINDS, OUTCOMES, has_reply, is_action, kind_name, outcome_name, outcomes};
use super::yaml::{Kind, Node};
use crate::trace::{EventKind, LessonTime, Outcome, Text};

/// What the reading of one event's options needs to know.
pub(super) struct Reading<'s> {
    pub scene: &'s Scene,
    pub keys: &'s [Spanned<String>],
    /// The event's lock.
    pub lock: Option<usize>,
    /// What `ttl` stands for.
    pub ttl: Ttl,
    /// The event in words: "`do: work`".
    pub of: &'s str,
}

impl<'s> Reading<'s> {
    /// What raw commands of this event may use.
    pub fn around(&self, ttl: Ttl) -> Around<'s> {
        Around { scene: self.scene, lock: self.lock, keys: self.keys, no_ttl: ttl == Ttl::Forever }
    }
}

/// What others need to know of an event before it is read. Says nothing of errors: [`event`] will.
pub(super) fn glance(node: &Node) -> Known {
    let id = node.get("id").and_then(|node| Some(Spanned { value: node.scalar()?.to_owned(), span: node.span }));
    let has = |key: &str| node.get(key).is_some_and(|node| !node.is_null());
    let kind = match node.get("do").and_then(Node::scalar) {
        Some(word) => KINDS.iter().find(|(name, ..)| *name == word).map(|(_, kind, _)| *kind),
        None if has("ask") => Some(EventKind::Ask),
        None if has("say") => Some(EventKind::Say),
        None => None,
    };
    let program = match (kind, node.get("client").and_then(Node::scalar)) {
        (Some(kind), Some(client)) if is_action(kind) => {
            let (client, task) = client.split_once('/').unwrap_or((client, "main"));
            Some((client.to_owned(), task.to_owned()))
        }
        _ => None,
    };
    Known { id, kind, program }
}

/// Reads one event. Where something is wrong, the errors say so and the event holds a default.
pub(super) fn event(cx: &mut Cx, scene: &Scene, keys: &[Spanned<String>], at: usize, node: &Node) -> Event {
    let mut event = Event {
        id: None,
        span: node.span,
        subject: Subject::None,
        what: Do::Say,
        at: None,
        when: When::Default,
        say: None,
        reply: None,
        lock: None,
        lock_named: false,
        net: None,
        via: None,
    };
    if cx.is_full() {
        return event;
    }
    let Some(mut f) = Fields::of(cx, node, "an event") else { return event };
    event.id = f.take(cx, "id").and_then(|node| id(cx, node)).map(|id| id.value);
    event.say = f.take(cx, "say").and_then(|node| cx.text(node, "say"));
    let subjects: Vec<&'static str> = ["client", "node", "link"].into_iter().filter(|key| f.has(key)).collect();
    if let [_, second, ..] = subjects.as_slice()
        && let Some(entry) = f.peek(second)
    {
        cx.error(entry.key.span, format!("an event has one subject, and `{}` is one already", subjects[0]));
        f.mark(second);
    }
    let kind = match (f.take(cx, "do"), subjects.first()) {
        (Some(word), subject) => kind(cx, word, subject.copied()),
        (None, _) if f.has("ask") => Some(EventKind::Ask),
        (None, None) if f.has("say") => Some(EventKind::Say),
        (None, _) if f.has("do") => None,
        (None, subject) => {
            let words = KINDS.iter().filter(|(.., of)| subject.is_none_or(|subject| of.contains(subject)));
            let words: Vec<&str> = words.map(|(name, ..)| *name).collect();
            cx.error(node.span, "this event does nothing: it needs `do`")
                .help(format!("there is {}; a text alone is `say` or `ask`", words.join(", ")));
            None
        }
    };
    // Without a kind nothing can be said of the other keys.
    let Some(kind) = kind else { return event };
    let of = match kind {
        EventKind::Ask => "an `ask`".to_owned(),
        EventKind::Say => "a `say`".to_owned(),
        kind => format!("`do: {}`", kind_name(kind)),
    };
    event.subject = subject(cx, scene, &mut f, kind, &of);
    if is_action(kind) || kind == EventKind::Evict {
        lock(cx, scene, &mut f, kind, &of, &mut event);
    }
    // Where the locks could not be read, any TTL will do: their own error is enough.
    let ttl = if scene.torn { Ttl::Of(LessonTime(10_000)) } else { Ttl::of(event.lock.map(|lock| &scene.locks[lock])) };
    let reading = Reading { scene, keys, lock: event.lock, ttl, of: &of };
    if !matches!(kind, EventKind::Say | EventKind::Ask) {
        event.at = self::at(cx, &reading, &mut f, kind, at);
        event.when = f.take(cx, "when").map_or(When::Default, |node| when(cx, scene, node, at, &event.subject));
    }
    event.what = match kind {
        EventKind::Say => Do::Say,
        EventKind::Ask => ask_lower::ask(cx, scene, &mut f),
        kind if is_action(kind) => action_lower::action(cx, &reading, &mut f, kind),
        kind => happening_lower::happening(cx, &reading, &mut f, kind, &event.subject),
    };
    if is_action(kind) {
        // A transaction begins, and is rolled back, without a message.
        if !matches!(kind, EventKind::Work | EventKind::Idle | EventKind::Begin | EventKind::Rollback) {
            event.net = f.take(cx, "net").and_then(|node| happening_lower::net(cx, node));
        }
        if has_reply(kind) {
            event.reply = f
                .take(cx, "reply")
                .and_then(|node| run_lower::reply(cx, node, "reply").map(|value| Spanned { value, span: node.span }));
        }
        if run_lower::can_run(kind) && f.has("run") {
            event.via = f.take(cx, "via").and_then(|node| cx.string(node, "via"));
            if let Some(via) = &event.via {
                scene.node(cx, via);
            }
        }
    }
    f.finish(cx, &of, |key| vocabulary::misplaced(key, &of));
    event
}

fn id(cx: &mut Cx, node: &Node) -> Option<Spanned<String>> {
    let id = cx.name(node, "id")?;
    if id.value.starts_with(|c: char| c.is_ascii_digit()) || id.value == "ttl" || id.value == "forever" {
        cx.error(id.span, format!("the id {} would be read as a time in `at`", quoted(&id.value)))
            .help("begin it with a letter");
    }
    Some(id)
}

/// `do:`, which has to fit its subject.
fn kind(cx: &mut Cx, node: &Node, subject: Option<&str>) -> Option<EventKind> {
    let word = cx.scalar(node, "do")?;
    let Some((_, kind, subjects)) = KINDS.iter().find(|(name, ..)| *name == word) else {
        let fitting = KINDS.iter().filter(|(.., of)| subject.is_none_or(|subject| of.contains(&subject)));
        let names: Vec<&str> = fitting.map(|(name, ..)| *name).collect();
        let guess = closest(word, KINDS.iter().map(|(name, ..)| *name));
        let error = cx.error(
            node.span,
            format!("unknown `do: {}`; there is {}", quoted(word).trim_matches('`'), names.join(", ")),
        );
        if let Some(guess) = guess {
            error.help(format!("did you mean `{guess}`?"));
        }
        return None;
    };
    match subject {
        Some(subject) if subjects.contains(&subject) => Some(*kind),
        Some(subject) => {
            cx.error(node.span, format!("`do: {word}` has {} as its subject, not a {subject}", a(subjects)))
                .help(format!("write `{}: …`", subjects[0]));
            None
        }
        None => {
            cx.error(node.span, format!("`do: {word}` needs {} as its subject", a(subjects)))
                .help(format!("write `{}: …`", subjects[0]));
            None
        }
    }
}

fn a(subjects: &[&str]) -> String {
    subjects.iter().map(|subject| format!("a {subject}")).collect::<Vec<_>>().join(" or ")
}

fn subject(cx: &mut Cx, scene: &Scene, f: &mut Fields<'_>, kind: EventKind, of: &str) -> Subject {
    if let Some(node) = f.take(cx, "client") {
        let Some(text) = cx.string(node, "client") else { return Subject::None };
        let (client, task) = match text.value.split_once('/') {
            Some((client, task)) => (client, Some(task.to_owned())),
            None => (text.value.as_str(), None),
        };
        scene.client(cx, &Spanned { value: client.to_owned(), span: text.span });
        let task = task.and_then(|task| self::task(cx, scene, client, &task, kind, text.span));
        return Subject::Client { client: client.to_owned(), task };
    }
    if let Some(node) = f.take(cx, "node") {
        let Some(name) = cx.string(node, "node") else { return Subject::None };
        scene.node(cx, &name);
        return Subject::Node(name.value);
    }
    if let Some(node) = f.take(cx, "link") {
        return happening_lower::link(cx, scene, node);
    }
    let _ = of;
    Subject::None
}

/// A task of a client. An action's `main` is the same as none; a happening can be aimed at `main` alone.
fn task(cx: &mut Cx, scene: &Scene, client: &str, task: &str, kind: EventKind, span: Span) -> Option<String> {
    if !cx.is_name(&Spanned { value: task.to_owned(), span }, "client") {
        return None;
    }
    if is_action(kind) {
        if task == "watchdog" {
            cx.error(span, format!("`{client}/watchdog` runs by itself, and has no actions"))
                .help("call the task something else");
        }
        return (task != "main").then(|| task.to_owned());
    }
    let tasks: Vec<&str> = scene
        .events
        .iter()
        .filter_map(|event| event.program.as_ref())
        .filter(|(of, _)| of == client)
        .map(|(_, task)| task.as_str())
        .collect();
    // Whether there is a watchdog is seen when all events have been read.
    if !matches!(task, "main" | "watchdog") && !tasks.contains(&task) {
        cx.misfit(span, format!("`{client}` has no task `{task}`: no action belongs to it"), &[]);
    }
    Some(task.to_owned())
}

fn lock(cx: &mut Cx, scene: &Scene, f: &mut Fields<'_>, kind: EventKind, of: &str, event: &mut Event) {
    if let Some(node) = f.take(cx, "lock") {
        event.lock_named = true;
        event.lock = cx.string(node, "lock").and_then(|name| scene.lock(cx, &name));
        return;
    }
    event.lock = scene.only_lock();
    let needed = matches!(kind, EventKind::Acquire | EventKind::Renew | EventKind::Release | EventKind::Evict);
    if needed && event.lock.is_none() && !scene.torn {
        let names: Vec<&str> = scene.locks.iter().map(|lock| lock.name.as_str()).collect();
        if names.is_empty() {
            cx.misfit(
                f.span,
                format!("{of}, but the lesson has no lock"),
                &["add `lock: {key: \"lock:order\", ttl: 10s}`"],
            );
        } else {
            let help = format!("write `lock: {}`", names.join("`, or `lock: "));
            cx.misfit(f.span, format!("{of} does not say which lock"), &[&help]);
        }
    }
}

fn at(cx: &mut Cx, r: &Reading<'_>, f: &mut Fields<'_>, kind: EventKind, index: usize) -> Option<At> {
    let node = if is_action(kind) {
        f.take(cx, "at")?
    } else {
        f.need(cx, "at", &format!("{}, which happens at an instant,", r.of), "2s")?
    };
    let text = cx.scalar(node, "at")?;
    let (id, start, plus) = match duration::parse_at(text, r.ttl) {
        Ok(AtText::Time(time)) => return Some(At::Time(time)),
        Ok(AtText::Anchor { id, start, plus }) => (id, start, plus),
        Err(why) => {
            if !(cx.shape_only && r.ttl == Ttl::Unknown && text.contains("ttl")) {
                cx.error(node.span, format!("`at`: {why}"));
            }
            return None;
        }
    };
    let event = anchor(cx, r.scene, node.span, id)?;
    if event == index {
        cx.error(node.span, "an event cannot wait for itself");
        return None;
    }
    Some(At::Anchor { event, start, plus })
}

fn anchor(cx: &mut Cx, scene: &Scene, span: Span, id: &str) -> Option<usize> {
    let event = scene.event(cx, &Spanned { value: id.to_owned(), span })?;
    if matches!(scene.events[event].kind, Some(EventKind::Say | EventKind::Ask)) {
        cx.misfit(span, format!("`{id}` is a text, and nothing can be timed by it"), &[]);
        return None;
    }
    Some(event)
}

fn when(cx: &mut Cx, scene: &Scene, node: &Node, index: usize, subject: &Subject) -> When {
    if node.scalar() == Some("always") {
        return When::Always;
    }
    if let Kind::Map(entries) = &node.kind {
        let tests = entries.iter().filter_map(|entry| {
            let event = scene.event(cx, &entry.key)?;
            if event >= index
                && scene.events[event].program.is_some()
                && scene.events[event].program == scene.events[index].program
            {
                cx.misfit(entry.key.span, format!("`{}` comes later in the same program", entry.key.value), &[]);
            }
            Some(EventTest { event, test: test(cx, scene.events[event].kind, &entry.key.value, &entry.value)? })
        });
        return When::Events(tests.collect());
    }
    if !matches!(subject, Subject::Client { .. }) {
        cx.error(node.span, "this `when` asks how a client's acquire ended, and the event has no client")
            .help("write `when: {EVENT: granted}`");
        return When::Default;
    }
    let words: Vec<(&str, Outcome)> = OUTCOMES
        .iter()
        .filter(|(_, outcome)| outcomes(EventKind::Acquire).contains(outcome) || *outcome == Outcome::Lost)
        .copied()
        .collect();
    let items = cx.list(node, "when", true);
    let mut wanted = Vec::new();
    for item in items {
        wanted.extend(cx.choose(item, "when", &words));
    }
    if items.is_empty() && matches!(node.kind, Kind::List(_)) {
        cx.error(node.span, "`when: []` would never run");
    }
    When::Latest(wanted)
}

/// What `when: {EVENT: …}` asks of the event.
fn test(cx: &mut Cx, kind: Option<EventKind>, id: &str, node: &Node) -> Option<Test> {
    if let Kind::Map(_) = node.kind {
        let mut f = Fields::of(cx, node, "a condition")?;
        let reply = f.take(cx, "reply").and_then(|node| run_lower::reply(cx, node, "reply")).map(Test::Reply);
        let value = f.take(cx, "value").and_then(|node| cx.integer(node, "value", i64::MIN, i64::MAX)).map(Test::Value);
        f.end(cx, "a condition");
        let fits = |test: &Test| match (test, kind) {
            (_, None) => true,
            (Test::Reply(_), Some(kind)) => has_reply(kind),
            (_, Some(kind)) => kind == EventKind::Read,
        };
        let ((Some(test), None) | (None, Some(test))) = (reply, value) else {
            cx.error(node.span, "a condition is an outcome, `{reply: …}` or `{value: …}`");
            return None;
        };
        if !fits(&test) {
            let what = if matches!(test, Test::Reply(_)) { "gets no reply from Redis" } else { "reads no value" };
            cx.misfit(node.span, format!("`{id}` {what}"), &[]);
        }
        return Some(test);
    }
    let possible = kind.map_or(&[][..], outcomes);
    if let Some(kind) = kind.filter(|_| possible.is_empty()) {
        cx.misfit(node.span, format!("`{id}` ({}) has no outcome", kind_name(kind)), &[]);
        return None;
    }
    let items = cx.list(node, id, true);
    let mut wanted = Vec::new();
    for item in items {
        let Some(outcome) = cx.choose(item, id, OUTCOMES) else { continue };
        if kind.is_some() && !possible.contains(&outcome) {
            let ends: Vec<&str> = possible.iter().map(|outcome| outcome_name(*outcome)).collect();
            let message = format!("`{id}` never ends `{}`; it can end {}", outcome_name(outcome), ends.join(", "));
            cx.misfit(item.span, message, &[]);
        }
        wanted.push(outcome);
    }
    Some(Test::Outcome(wanted))
}

/// A text of the top level or of a question.
pub(super) fn text_of(cx: &mut Cx, f: &mut Fields<'_>, key: &'static str) -> Option<Text> {
    f.take(cx, key).and_then(|node| cx.text(node, key))
}
