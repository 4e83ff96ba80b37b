//! A changed variant as a lesson file of its own: the author's lesson with one variant more, and what was seen in its
//! run as what it expects.

use std::collections::BTreeSet;

use super::edit::{remove, set};
use super::tree::{self, get_mut, items, items_mut, list, map, null, put, scalar, take, text};
use super::{Draft, Edit, free};
use crate::lesson::emit::emit;
use crate::lesson::judge::{Failure, Judgement, Promise, Seen, judge, reply_yaml, yaml_of};
use crate::lesson::model::{Event, Plan};
use crate::lesson::source::Source;
use crate::lesson::yaml::{self, Node};
use crate::lesson::{parse, render_all};
use crate::trace::{Text, Trace, Verdict};

/// What the file is to say for its readers.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The title of the new variant: what was changed.
    pub title: Text,
    /// The title of the variant from which it was made, where the file has none for it.
    pub original: Text,
    /// Events, by index, of which the author's `say` is not true any more.
    pub untold: Vec<usize>,
}

/// A lesson that can be written to a file.
#[derive(Clone, Debug)]
pub struct Written {
    root: Node,
    /// What the file may be called: `wrong-delete-what-if`.
    pub stem: String,
}

/// Why a changed variant cannot be written as a lesson that passes a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsaved {
    /// Events that never ran, by index: of such a run nothing can be expected.
    NotRun(Vec<usize>),
    /// It would not be a lesson, or not pass; why.
    Invalid(String),
}

impl Written {
    /// The text of the file, for a lesson with this id.
    #[must_use]
    pub fn text(&self, id: &str) -> String {
        let mut root = self.root.clone();
        let span = root.span;
        put(&mut root, "id", scalar(span, id));
        emit(&root)
    }
}

impl Draft {
    /// The lesson with one variant more: this one with all of `edits`, of which `plan` was made and `trace` run.
    ///
    /// # Errors
    /// See [`Unsaved`].
    pub fn write(&self, edits: &[Edit], plan: &Plan, trace: &Trace, words: &Words) -> Result<Written, Unsaved> {
        let judgement = judge(plan, trace);
        let span = self.variant.span;
        let mut variant = map(span, []);
        put(&mut variant, "id", scalar(span, &self.free_id()));
        put(&mut variant, "title", text(span, &words.title));
        // The changes, without the name and the expectations of the variant that was changed.
        let mut changed = self.changed(edits);
        for key in ["id", "title", "verdict", "expect"] {
            take(&mut changed, key);
        }
        if let yaml::Kind::Map(entries) = &changed.kind {
            for entry in entries {
                put(&mut variant, &entry.key.value, entry.value.clone());
            }
        }
        for id in words.untold.iter().filter_map(|event| plan.events.get(*event)?.id.as_deref()) {
            set(&mut variant, id, "say", null(span));
        }
        put(&mut variant, "verdict", scalar(span, judgement.verdict.name()));
        let several = trace.header.locks.len() > 1;
        let seen: Vec<String> = judgement.findings.iter().map(|finding| yaml_of(finding, several)).collect();
        put(&mut variant, "expect", entries(&seen)?);

        // Asks that this run does not decide, and replies that are others now, are seen when the lesson is judged.
        let judged = self.judged(&variant, words, trace)?;
        if judged.verdict == Verdict::Inconclusive || !judged.unrun.is_empty() {
            let is_unrun = |event: &Event| judged.unrun.iter().any(|unrun| unrun.span == event.span);
            let unrun = plan.events.iter().enumerate().filter(|(_, event)| is_unrun(event));
            return Err(Unsaved::NotRun(unrun.map(|(i, _)| i).collect()));
        }
        for failure in &judged.failures {
            amend(&mut variant, plan, failure)?;
        }
        let root = self.lesson(variant, words);
        let written = Written { root, stem: format!("{}-what-if", plan.lesson) };
        let source = Source::new(written.stem.clone(), written.text(&written.stem));
        match parse::load(std::sync::Arc::clone(&source)) {
            Ok(_) => Ok(written),
            Err(errors) => Err(Unsaved::Invalid(render_all(&source, &errors))),
        }
    }

    /// What a check of the new variant would say.
    fn judged(&self, variant: &Node, words: &Words, trace: &Trace) -> Result<Judgement, Unsaved> {
        let root = self.lesson(variant.clone(), words);
        let lesson = parse::read(&self.source, &root).map_err(|errors| {
            Unsaved::Invalid(errors.first().map_or_else(String::new, |error| error.message.clone()))
        })?;
        let plan = lesson.plans.last().ok_or_else(|| Unsaved::Invalid(String::new()))?;
        Ok(judge(plan, trace))
    }

    /// The lesson with `variant` as its last one, and no id in it that nobody needs.
    fn lesson(&self, variant: Node, words: &Words) -> Node {
        let mut root = self.root.clone();
        let span = root.span;
        let needed = named(&variant);
        tree::each_event(&mut root, &mut |event| self.unname(event, &needed));
        let mut variant = variant;
        items_mut(get_mut(&mut variant, "add")).for_each(|event| self.unname(event, &needed));
        let mut variants = if let Some(yaml::Kind::List(variants)) = take(&mut root, "variants").map(|list| list.kind) {
            variants
        } else {
            let mut original = map(span, []);
            put(&mut original, "id", scalar(span, "original"));
            put(&mut original, "title", text(span, &words.original));
            for key in ["verdict", "expect"] {
                if let Some(value) = take(&mut root, key) {
                    put(&mut original, key, value);
                }
            }
            vec![original]
        };
        variants.push(variant);
        insert_after(&mut root, "events", "variants", list(span, variants));
        root
    }

    /// An id for the new variant.
    fn free_id(&self) -> String {
        let variants = self.root.get("variants").map_or(&[][..], items);
        let used: BTreeSet<&str> = variants.iter().filter_map(|variant| variant.get("id")?.scalar()).collect();
        free("what-if", |name| used.contains(name))
    }

    fn unname(&self, event: &mut Node, needed: &BTreeSet<String>) {
        let id = event.get("id").and_then(Node::scalar).unwrap_or_default();
        if self.given.contains(id) && !needed.contains(id) {
            take(event, "id");
        }
    }
}

/// The ids that a variant needs: of what it sets and drops, and of the places where it inserts.
fn named(variant: &Node) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    if let Some(yaml::Kind::Map(set)) = variant.get("set").map(|set| &set.kind) {
        ids.extend(set.iter().map(|entry| entry.key.value.clone()));
    }
    let drops = variant.get("drop").map_or(&[][..], items).iter();
    let places = variant.get("add").map_or(&[][..], items).iter();
    let places = places.flat_map(|event| ["insert_before", "insert_after"].map(|key| event.get(key)));
    ids.extend(drops.chain(places.flatten()).filter_map(Node::scalar).map(str::to_owned));
    ids
}

/// Puts a key behind another one.
fn insert_after(root: &mut Node, before: &str, key: &str, value: Node) {
    put(root, key, value);
    let yaml::Kind::Map(entries) = &mut root.kind else { return };
    if let (Some(entry), Some(at)) = (entries.pop(), entries.iter().position(|entry| entry.key.value == before)) {
        entries.insert(at + 1, entry);
    }
}

/// Lines of YAML as a list.
fn entries(lines: &[String]) -> Result<Node, Unsaved> {
    let text = if lines.is_empty() { "[]".to_owned() } else { lines.join("\n") };
    let source = Source::new("expect", text);
    yaml::parse(&source).map_err(|errors| Unsaved::Invalid(render_all(&source, &errors)))
}

/// Makes a promise of the author's fit this run: a question that it does not decide is left out, a reply is what was
/// answered. Everything else should have been expected as it was seen.
fn amend(variant: &mut Node, plan: &Plan, failure: &Failure) -> Result<(), Unsaved> {
    let inside = |event: &&Event| event.span.start <= failure.span.start && failure.span.end <= event.span.end;
    let id = plan.events.iter().find(inside).and_then(|event| event.id.clone());
    match (failure.promise, &failure.seen, id) {
        (Promise::OneChoice | Promise::OneValue, _, Some(id)) => remove(variant, &id),
        (Promise::Reply, Seen::Reply { reply, .. }, Some(id)) => {
            let value = match reply {
                Some(reply) => entries(&[reply_yaml(reply)])?,
                None => null(variant.span),
            };
            set(variant, &id, "reply", value);
        }
        _ => return Err(Unsaved::Invalid(failure.expected.clone())),
    }
    Ok(())
}
