//! A variant with a few changes: what would have happened if.
//!
//! A change is a small typed value ([`Edit`]), and is done on the tree, in the words in which a variant of the file
//! would write it: `set`, `add`, merged keys. So the changed plan is read by the same code as any other, and can be
//! written into a file as one more variant ([`Draft::write`]).

mod edit;
mod tree;
mod write;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use edit::{Edit, Happening, Target};
pub use write::{Unsaved, Words, Written};

use super::diagnostic::Diagnostic;
use super::model::{Lesson, Plan};
use super::parse;
use super::source::Source;
use super::yaml::{self, Kind, Node};
use tree::{list, map, put, scalar, take};

/// A variant that can be changed: a lesson's tree in which each event has an id, so that a change can name it.
#[derive(Clone, Debug)]
pub struct Draft {
    source: Arc<Source>,
    /// The lesson.
    root: Node,
    /// The variant, as the file has it; of a lesson without variants, its verdict and what it expects.
    variant: Node,
    /// The ids that are not the author's.
    given: BTreeSet<String>,
}

impl Draft {
    /// The `variant`-th plan of `lesson`, to be changed.
    ///
    /// # Errors
    /// When the lesson's file cannot be read (again).
    pub fn new(lesson: &Lesson, variant: usize) -> Result<Self, Vec<Diagnostic>> {
        let mut root = yaml::parse(&lesson.source)?;
        let given = name_events(&mut root);
        let node = if let Some(variants) = root.get("variants") {
            tree::items(variants).get(variant).cloned().unwrap_or_else(|| map(root.span, []))
        } else {
            let own = ["verdict", "expect"].into_iter().filter_map(|key| Some((key, root.get(key)?.clone())));
            map(root.span, own.collect::<Vec<_>>())
        };
        Ok(Self { source: Arc::clone(&lesson.source), root, variant: node, given })
    }

    /// What is run when all of `edits` are made, in their order. Nothing is expected of it.
    ///
    /// # Errors
    /// What would be wrong with a variant that says so.
    pub fn plan(&self, edits: &[Edit]) -> Result<Plan, Vec<Diagnostic>> {
        let mut variant = self.changed(edits);
        let span = variant.span;
        put(&mut variant, "id", scalar(span, "what-if"));
        put(&mut variant, "title", scalar(span, "what if"));
        put(&mut variant, "verdict", scalar(span, "held"));
        put(&mut variant, "expect", list(span, []));
        let mut root = self.root.clone();
        // What refutes a misconception may be seen in another variant only.
        for key in ["verdict", "expect", "misconceptions"] {
            take(&mut root, key);
        }
        put(&mut root, "variants", list(span, [variant]));
        let lesson = parse::read(&self.source, &root)?;
        lesson.plans.into_iter().next().ok_or_else(Vec::new)
    }

    /// The variant with the changes made.
    fn changed(&self, edits: &[Edit]) -> Node {
        let mut variant = self.variant.clone();
        for edit in edits {
            edit.make(&self.root, &mut variant);
        }
        variant
    }
}

/// Gives an id to each event that has none, in the base and in what variants add: `a-work`, `a-work-2`, `ask`. Returns
/// the ids that were given.
fn name_events(root: &mut Node) -> BTreeSet<String> {
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut given = BTreeSet::new();
    tree::each_event(root, &mut |event| used.extend(event.get("id").and_then(Node::scalar).map(str::to_owned)));
    tree::each_event(root, &mut |event| {
        if event.get("id").is_some_and(|id| !id.is_null()) || !matches!(event.kind, Kind::Map(_)) {
            return;
        }
        let id = free(&stem(event), |id| used.contains(id));
        used.insert(id.clone());
        given.insert(id.clone());
        let span = event.span;
        put(event, "id", scalar(span, &id));
    });
    given
}

/// `stem`, or `stem-2`, `stem-3`, …: the first that is not taken.
fn free(stem: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = stem.to_owned();
    let mut n = 1;
    while taken(&name) {
        n += 1;
        name = format!("{stem}-{n}");
    }
    name
}

/// `a-work`, `m-crash`, `link-hold`, `ask`: letters, digits and `-`, and nothing that `at:` would take for a time.
fn stem(event: &Node) -> String {
    let subject = ["client", "node"].into_iter().find_map(|key| event.get(key).and_then(Node::scalar));
    let subject = subject.or(event.get("link").map(|_| "link"));
    let what = event.get("do").and_then(Node::scalar).or(event.get("ask").map(|_| "ask")).unwrap_or("say");
    let text = subject.map_or_else(|| what.to_owned(), |subject| format!("{subject}-{what}")).to_lowercase();
    let text: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) { text } else { format!("e-{text}") }
}
