//! A lesson file to a [`Lesson`]: the top level, and one [`Plan`] per variant.
//!
//! Variants are patched on the tree and read one by one, so that each is checked as it will run. What is wrong in all
//! of them is told once; what is wrong in some, with their names.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cast;
use super::diagnostic::{Diagnostic, quoted};
use super::duration::Ttl;
use super::event_lower::{self, text_of};
use super::expect_lower::expect;
use super::model::{FollowUp, Lesson, Level, Misconception, Plan, See};
use super::patch::{self, MERGED};
use super::reader::{Cx, Fields};
use super::scene::{Known, Scene};
use super::source::{Source, Span, Spanned};
use super::validate;
use super::yaml::{self, Kind, Node};
use crate::trace::{Text, Verdict};

const VERDICTS: &[(&str, Verdict)] = &[
    ("broken", Verdict::Broken),
    ("contained", Verdict::Contained),
    ("stuck", Verdict::Stuck),
    ("inconclusive", Verdict::Inconclusive),
    ("held", Verdict::Held),
];

/// Every variant is read with all its events: without a limit, a small file could keep the reader busy for minutes.
const MAX_VARIANTS: usize = 50;
const MAX_EVENTS: usize = 1000;

/// Reads a lesson.
///
/// # Errors
/// Everything that is wrong with the file, in the order of the file.
#[expect(clippy::needless_pass_by_value, reason = "a lesson keeps the file that it came from")]
pub fn load(source: Arc<Source>) -> Result<Lesson, Vec<Diagnostic>> {
    let root = yaml::parse(&source)?;
    read(&source, &root)
}

/// Reads a lesson from the tree of its file, or from one that was made from it.
pub(super) fn read(source: &Arc<Source>, root: &Node) -> Result<Lesson, Vec<Diagnostic>> {
    let mut cx = Cx::default();
    let lesson = lesson(&mut cx, source, root);
    let mut errors = cx.errors;
    errors.sort_by(|a, b| (a.span.start, &a.message).cmp(&(b.span.start, &b.message)));
    errors.dedup_by(|a, b| a.span == b.span && a.message == b.message);
    match lesson {
        Some(lesson) if errors.is_empty() => Ok(lesson),
        _ if errors.is_empty() => Err(vec![Diagnostic::new(patch::start_of(root.span), "this is no lesson")]),
        _ => Err(errors),
    }
}

/// What all variants have in common.
struct Base<'n> {
    source: &'n Arc<Source>,
    id: String,
    title: Text,
    top: Top,
    keys: Vec<Spanned<String>>,
    events: &'n [Node],
    seed: u64,
    misconceptions: &'n [Node],
    span: Span,
}

/// The keys of the top level that variants change, in the order of [`MERGED`].
#[derive(Clone, Default)]
struct Top([Option<Node>; MERGED.len()]);

impl Top {
    fn get(&self, key: &str) -> Option<&Node> {
        MERGED.iter().position(|merged| *merged == key).and_then(|at| self.0[at].as_ref())
    }
}

fn lesson(cx: &mut Cx, source: &Arc<Source>, root: &Node) -> Option<Lesson> {
    let mut f = Fields::of(cx, root, "a lesson")?;
    match f.need(cx, "format", "a lesson", "1").and_then(|node| Some((node.span, cx.scalar(node, "format")?))) {
        Some((span, version)) if version != "1" => {
            cx.error(span, format!("this lockscope reads format 1, not {}", quoted(version)));
            // Another version may mean anything by its keys.
            return None;
        }
        _ => {}
    }
    let id = f.need(cx, "id", "a lesson", "wrong-delete").and_then(|node| cx.name(node, "id"));
    let levels = [("intro", Level::Intro), ("core", Level::Core), ("advanced", Level::Advanced)];
    let level = f.need(cx, "level", "a lesson", "intro").and_then(|node| cx.choose(node, "level", &levels));
    let title = f.need(cx, "title", "a lesson", "{en: \"…\", zh: \"…\"}").and_then(|node| cx.text(node, "title"));
    let [story, question, answer, hook] = ["story", "question", "answer", "hook"].map(|key| text_of(cx, &mut f, key));
    let misconceptions = f.take(cx, "misconceptions").map_or(&[][..], |node| cx.list(node, "misconceptions", false));
    let follow_ups = f.take(cx, "follow_ups").map_or(&[][..], |node| cx.list(node, "follow_ups", false));
    let follow_ups = follow_ups.iter().filter_map(|node| follow_up(cx, node)).collect();
    let keys = f.take(cx, "keys");
    let keys = cast::keys(cx, keys);
    let seed = f.take(cx, "seed").and_then(|node| cx.integer(node, "seed", 0, i64::MAX));
    let top = Top(MERGED.map(|key| f.take(cx, key).map(|node| patch::normal(cx, key, node))));
    let events = f.need(cx, "events", "a lesson", "[…]").map_or(&[][..], |node| {
        let events = cx.list(node, "events", false);
        if events.len() > MAX_EVENTS {
            cx.error(node.span, format!("a lesson has at most {MAX_EVENTS} events; this one has {}", events.len()));
        }
        events
    });
    let events = events.get(..MAX_EVENTS).unwrap_or(events);
    let variants = f.take(cx, "variants");
    let verdict = f.take(cx, "verdict");
    let expect = f.take(cx, "expect");
    f.end(cx, "a lesson");

    let base = Base {
        source,
        id: id.map(|id| id.value).unwrap_or_default(),
        title: title.unwrap_or_default(),
        top,
        keys,
        events,
        seed: seed.and_then(|seed| u64::try_from(seed).ok()).unwrap_or(1),
        misconceptions,
        span: patch::start_of(root.span),
    };
    let (plans, misconceptions) = if let Some(node) = variants {
        for extra in [verdict, expect].into_iter().flatten() {
            cx.error(extra.span, "with `variants`, the verdict and what is expected belong to each variant");
        }
        self::variants(cx, &base, node)
    } else {
        let mut read = PlanReader { base: &base, top: &base.top, events: base.events, dropped: Vec::new() };
        let (plan, misconceptions) = read.plan(cx, None, verdict, expect);
        (vec![plan], misconceptions)
    };
    Some(Lesson {
        source: Arc::clone(source),
        id: base.id,
        level: level?,
        title: base.title,
        story,
        question,
        answer,
        hook,
        misconceptions,
        follow_ups,
        plans,
    })
}

fn follow_up(cx: &mut Cx, node: &Node) -> Option<FollowUp> {
    let mut f = Fields::of(cx, node, "a follow-up")?;
    let question = f.need(cx, "question", "a follow-up", "\"…\"").and_then(|node| cx.text(node, "question"));
    let answer = f.need(cx, "answer", "a follow-up", "\"…\"").and_then(|node| cx.text(node, "answer"));
    f.end(cx, "a follow-up");
    Some(FollowUp { question: question?, answer: answer? })
}

/// Reads all variants, and tells what is wrong with several of them once.
fn variants(cx: &mut Cx, base: &Base<'_>, node: &Node) -> (Vec<Plan>, Vec<Misconception>) {
    let mut nodes = cx.list(node, "variants", false);
    if nodes.len() > MAX_VARIANTS {
        cx.error(node.span, format!("a lesson has at most {MAX_VARIANTS} variants; this one has {}", nodes.len()));
        nodes = &nodes[..MAX_VARIANTS];
    }
    if nodes.is_empty() && matches!(node.kind, Kind::List(_)) {
        cx.error(node.span, "`variants` is empty").help("leave it out, and write `verdict` and `expect` at the top");
    }
    // The base alone: what no variant runs is still checked for its keys and types.
    let mut shape = Cx::shape();
    PlanReader { base, top: &base.top, events: base.events, dropped: Vec::new() }.events_only(&mut shape);
    // Each error, and the variants that have it.
    let mut found: BTreeMap<(Span, String), (Diagnostic, Vec<usize>)> = BTreeMap::new();
    let in_all: Vec<usize> = (0..nodes.len()).collect();
    for error in shape.errors {
        found.insert((error.span, error.message.clone()), (error, in_all.clone()));
    }
    let mut ids: Vec<Spanned<String>> = Vec::new();
    let mut plans = Vec::new();
    let mut misconceptions: Vec<Vec<Misconception>> = Vec::new();
    let mut names = Vec::new();
    let mut faults_of_see: Vec<Vec<Diagnostic>> = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let mut own = Cx::default();
        let mut see = Cx::default();
        let mut top = base.top.clone();
        names.push(node.get("id").and_then(Node::scalar).unwrap_or_default().to_owned());
        if let Some(head) = variant(&mut own, base, node, &mut top) {
            if let Some(first) = ids.iter().find(|id| id.value == head.id.value) {
                let message = format!(
                    "two variants are called {}; the first in line {}",
                    quoted(&head.id.value),
                    first.span.line
                );
                own.error(head.id.span, message);
            }
            ids.push(head.id.clone());
            let (events, dropped) = patch::events(&mut own, base.events, node);
            let mut reader = PlanReader { base, top: &top, events: &events, dropped };
            let (plan, seen) =
                reader.plan_with(&mut own, &mut see, Some(&head), node.get("verdict"), node.get("expect"));
            plans.push(plan);
            misconceptions.push(seen);
            faults_of_see.push(see.errors);
        }
        for error in own.errors {
            found.entry((error.span, error.message.clone())).or_insert_with(|| (error, Vec::new())).1.push(at);
        }
    }
    for (mut error, mut of) in found.into_values() {
        of.sort_unstable();
        of.dedup();
        let inside = |node: &Node| node.span.start <= error.span.start && error.span.end <= node.span.end;
        if of.len() < nodes.len() && !nodes.iter().any(inside) {
            let names: Vec<String> = of.iter().map(|at| quoted(&names[*at])).collect();
            error.help(format!("in variant {}", names.join(", ")));
        }
        cx.errors.push(error);
    }
    // What refutes a misconception may be seen in one variant only.
    let best = (0..misconceptions.len()).min_by_key(|at| faults_of_see[*at].len());
    match best {
        Some(best) => {
            cx.errors.append(&mut faults_of_see[best]);
            (plans, misconceptions.swap_remove(best))
        }
        None => (plans, Vec::new()),
    }
}

/// A variant's own name.
struct Head {
    id: Spanned<String>,
    title: Text,
    span: Span,
}

fn variant(cx: &mut Cx, base: &Base<'_>, node: &Node, top: &mut Top) -> Option<Head> {
    let mut f = Fields::of(cx, node, "a variant")?;
    let id = f.need(cx, "id", "a variant", "lua").and_then(|node| cx.name(node, "id"));
    let title = f.need(cx, "title", "a variant", "{en: \"…\", zh: \"…\"}").and_then(|node| cx.text(node, "title"));
    for key in ["set", "drop", "add", "verdict", "expect"] {
        f.take(cx, key);
    }
    for (at, key) in MERGED.into_iter().enumerate() {
        if let Some(node) = f.take_any(key) {
            let over = if node.is_null() { node.clone() } else { patch::normal(cx, key, node) };
            top.0[at] = patch::merge(base.top.0[at].as_ref(), &over, patch::depth(key));
        }
    }
    f.end(cx, "a variant");
    let id = id.unwrap_or(Spanned { value: String::new(), span: node.span });
    Some(Head { id, title: title.unwrap_or_default(), span: patch::start_of(node.span) })
}

/// One variant, patched, about to be read.
struct PlanReader<'r, 'n> {
    base: &'r Base<'n>,
    top: &'r Top,
    events: &'r [Node],
    dropped: Vec<String>,
}

impl PlanReader<'_, '_> {
    fn scene(&mut self, cx: &mut Cx) -> Scene {
        let top = self.top;
        let before = cx.errors.len();
        let servers = cast::servers(cx, top.get("servers"), self.base.span);
        let mut torn = cx.errors.len() > before;
        let nodes = super::scene::node_names(servers.kind);
        let locks = cast::locks(cx, top.get("lock"), top.get("locks"), &mut torn);
        let clients = cast::clients(cx, top.get("clients"), &nodes, &mut torn);
        let resources = cast::resources(cx, top.get("resources"), &mut torn);
        let events: Vec<Known> = self.events.iter().map(event_lower::glance).collect();
        let mut ids = BTreeMap::new();
        for (at, id) in events.iter().enumerate().filter_map(|(at, event)| Some((at, event.id.as_ref()?))) {
            ids.entry(id.value.clone()).or_insert(at);
        }
        Scene { servers, locks, clients, resources, torn, events, ids, dropped: std::mem::take(&mut self.dropped) }
    }

    /// Reads the events for their errors only.
    fn events_only(&mut self, cx: &mut Cx) {
        let scene = self.scene(cx);
        for (at, node) in self.events.iter().enumerate() {
            event_lower::event(cx, &scene, &self.base.keys, at, node);
        }
    }

    fn plan(
        &mut self,
        cx: &mut Cx,
        head: Option<&Head>,
        verdict: Option<&Node>,
        expects: Option<&Node>,
    ) -> (Plan, Vec<Misconception>) {
        let mut see = Cx::default();
        let read = self.plan_with(cx, &mut see, head, verdict, expects);
        cx.errors.append(&mut see.errors);
        read
    }

    fn plan_with(
        &mut self,
        cx: &mut Cx,
        see: &mut Cx,
        head: Option<&Head>,
        verdict: Option<&Node>,
        expects: Option<&Node>,
    ) -> (Plan, Vec<Misconception>) {
        let scene = self.scene(cx);
        let base = self.base;
        let span = head.map_or(base.span, |head| head.span);
        let read_events =
            self.events.iter().enumerate().map(|(at, node)| event_lower::event(cx, &scene, &base.keys, at, node));
        let events = read_events.collect();
        let verdict = if let Some(node) = verdict.filter(|node| !node.is_null()) {
            cx.choose(node, "verdict", VERDICTS).map(|value| Spanned { value, span: node.span })
        } else {
            let what = if head.is_some() { "a variant" } else { "a lesson without variants" };
            cx.error(span, format!("{what} needs `verdict`")).help("`broken`, `contained`, `stuck` or `held`");
            None
        };
        let expects = expects.filter(|node| !node.is_null()).map_or(&[][..], |node| cx.list(node, "expect", false));
        let expects = expects.iter().filter_map(|node| expect(cx, &scene, node, false)).collect();
        let until = self.top.get("until").and_then(|node| cx.finite(node, "until", Ttl::of(scene.locks.first()), 1));
        let needs = cast::needs(cx, self.top.get("needs"));
        let misconceptions = base.misconceptions.iter().filter_map(|node| misconception(see, &scene, node)).collect();
        let plan = Plan {
            source: Arc::clone(base.source),
            lesson: base.id.clone(),
            title: base.title.clone(),
            variant: head.map(|head| head.id.value.clone()).unwrap_or_default(),
            variant_title: head.map(|head| head.title.clone()).unwrap_or_default(),
            span,
            servers: scene.servers.clone(),
            locks: scene.locks.clone(),
            clients: scene.clients.clone(),
            resources: scene.resources.clone(),
            keys: base.keys.clone(),
            events,
            until,
            give_up: None,
            needs,
            seed: base.seed,
            verdict: verdict.unwrap_or(Spanned { value: Verdict::Held, span }),
            expect: expects,
        };
        validate::plan(cx, &scene, &plan, self.events);
        (plan, misconceptions)
    }
}

fn misconception(cx: &mut Cx, scene: &Scene, node: &Node) -> Option<Misconception> {
    let mut f = Fields::of(cx, node, "a misconception")?;
    let claim = f.need(cx, "claim", "a misconception", "\"…\"").and_then(|node| cx.text(node, "claim"));
    let truth = f.need(cx, "truth", "a misconception", "\"…\"").and_then(|node| cx.text(node, "truth"));
    let see = f.take(cx, "see").and_then(|node| match node.kind {
        Kind::Map(_) => expect(cx, scene, node, false).map(|expect| See::Expect(Box::new(expect))),
        _ => cx.finite(node, "see", Ttl::Unknown, 0).map(See::Time),
    });
    f.end(cx, "a misconception");
    Some(Misconception { claim: claim?, truth: truth?, see })
}
