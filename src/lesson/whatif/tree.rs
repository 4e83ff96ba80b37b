//! Small hands for trees: making nodes, and putting them into maps.

use crate::lesson::source::{Span, Spanned};
use crate::lesson::yaml::{Entry, Kind, Node};
use crate::trace::Text;

/// A scalar without quotes.
pub(super) fn scalar(span: Span, text: &str) -> Node {
    Node { span, kind: Kind::Scalar { text: text.to_owned(), plain: true } }
}

/// A text in quotes.
fn quoted(span: Span, text: &str) -> Node {
    Node { span, kind: Kind::Scalar { text: text.to_owned(), plain: false } }
}

/// `null`, which takes a key away.
pub(super) fn null(span: Span) -> Node {
    scalar(span, "null")
}

/// `[…]`
pub(super) fn list(span: Span, items: impl IntoIterator<Item = Node>) -> Node {
    Node { span, kind: Kind::List(items.into_iter().collect()) }
}

/// `{…}`
pub(super) fn map<'k>(span: Span, entries: impl IntoIterator<Item = (&'k str, Node)>) -> Node {
    let entries = entries.into_iter().map(|(key, value)| Entry { key: named(span, key), value });
    Node { span, kind: Kind::Map(entries.collect()) }
}

/// A text for readers as a map of languages.
pub(super) fn text(span: Span, text: &Text) -> Node {
    match text.0.get("") {
        Some(plain) => quoted(span, plain),
        None => map(span, text.0.iter().map(|(lang, text)| (lang.as_str(), quoted(span, text)))),
    }
}

fn named(span: Span, key: &str) -> Spanned<String> {
    Spanned { value: key.to_owned(), span }
}

/// Sets a key of a map.
pub(super) fn put(node: &mut Node, key: &str, value: Node) {
    let span = node.span;
    let Kind::Map(entries) = &mut node.kind else { return };
    match entries.iter_mut().find(|entry| entry.key.value == key) {
        Some(entry) => entry.value = value,
        None => entries.push(Entry { key: named(span, key), value }),
    }
}

/// Takes a key out of a map.
pub(super) fn take(node: &mut Node, key: &str) -> Option<Node> {
    let Kind::Map(entries) = &mut node.kind else { return None };
    let at = entries.iter().position(|entry| entry.key.value == key)?;
    Some(entries.remove(at).value)
}

/// The value of a key, which is made with `empty` where it is missing.
pub(super) fn at<'n>(node: &'n mut Node, key: &str, empty: impl FnOnce(Span) -> Node) -> Option<&'n mut Node> {
    if node.get(key).is_none_or(Node::is_null) {
        let value = empty(node.span);
        put(node, key, value);
    }
    get_mut(node, key)
}

/// The value of a key.
pub(super) fn get_mut<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let Kind::Map(entries) = &mut node.kind else { return None };
    entries.iter_mut().find(|entry| entry.key.value == key).map(|entry| &mut entry.value)
}

/// The items of a list; none of anything else.
pub(super) fn items(node: &Node) -> &[Node] {
    match &node.kind {
        Kind::List(items) => items,
        _ => &[],
    }
}

/// The same, to be changed.
pub(super) fn items_mut(node: Option<&mut Node>) -> impl Iterator<Item = &mut Node> {
    let items = match node.map(|node| &mut node.kind) {
        Some(Kind::List(items)) => Some(items),
        _ => None,
    };
    items.into_iter().flatten()
}

/// Every event of a lesson: those of the base, and what its variants add.
pub(super) fn each_event(root: &mut Node, todo: &mut impl FnMut(&mut Node)) {
    items_mut(get_mut(root, "events")).for_each(&mut *todo);
    for variant in items_mut(get_mut(root, "variants")) {
        items_mut(get_mut(variant, "add")).for_each(&mut *todo);
    }
}

/// The event of a list with this id.
pub(super) fn event_mut<'n>(events: Option<&'n mut Node>, id: &str) -> Option<&'n mut Node> {
    items_mut(events).find(|event| event.get("id").and_then(Node::scalar) == Some(id))
}
