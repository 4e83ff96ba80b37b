//! What does not go together, whoever runs it: each of these is an error with its reason, not something to wait for.

use super::model::{Acquire, AcquireHow, Do, Event, Plan, ReleaseHow, Subject};
use super::reader::Cx;
use super::source::Span;
use super::yaml::Node;

/// Checks one variant. `nodes` are the events as written, for the places of their keys.
pub(super) fn check(cx: &mut Cx, plan: &Plan, nodes: &[Node]) {
    for (event, node) in plan.events.iter().zip(nodes) {
        if let Do::Release(release) = &event.what
            && release.how == ReleaseHow::Delex
        {
            delex(cx, plan, event, place(node, "how"));
        }
    }
}

/// Where a key of an event stands, or the event.
pub(super) fn place(node: &Node, key: &str) -> Span {
    node.get(key).map_or(node.span, |node| node.span)
}

/// The server's compare-and-delete looks at a string.
fn delex(cx: &mut Cx, plan: &Plan, event: &Event, span: Span) {
    let Some(lock) = event.lock.and_then(|lock| plan.locks.get(lock)) else { return };
    let what = if lock.permits > 1 {
        "a lock with `permits`"
    } else if acquires_of(plan, event).any(|acquire| acquire.how == AcquireHow::Reentrant) {
        "a reentrant lock"
    } else {
        return;
    };
    cx.error(span, format!("`how: delex` compares one value, and {what} is a hash"))
        .help("leave `how` out: `lua` takes the script that fits the lock");
}

/// The acquires with which an event's client asks for the event's lock.
fn acquires_of<'p>(plan: &'p Plan, event: &'p Event) -> impl Iterator<Item = &'p Acquire> {
    let client = |event: &Event| match &event.subject {
        Subject::Client { client, .. } => Some(client.clone()),
        _ => None,
    };
    let whose = client(event);
    plan.events.iter().filter_map(move |other| match &other.what {
        Do::Acquire(acquire) if other.lock == event.lock && client(other) == whose => Some(&**acquire),
        _ => None,
    })
}
