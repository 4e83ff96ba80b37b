//! What does not go together, whoever runs it: each of these is an error with its reason, not something to wait for.

use super::model::{
    Acquire, AcquireHow, Do, Event, Fence, LinkChange, Plan, Release, ReleaseHow, ServersKind, Subject, Wait, Way,
};
use super::reader::Cx;
use super::scene::SENTINELS;
use super::source::Span;
use super::yaml::Node;

/// Checks one variant. `nodes` are the events as written, for the places of their keys.
pub(super) fn check(cx: &mut Cx, plan: &Plan, nodes: &[Node]) {
    for (event, node) in plan.events.iter().zip(nodes) {
        match &event.what {
            Do::Acquire(acquire) => {
                if acquire.fence == Fence::Script {
                    fence(cx, plan, event, acquire, place(node, "fence"));
                }
                if event.lock.and_then(|lock| plan.locks.get(lock)).is_some_and(|lock| lock.permits > 1) {
                    permit(cx, acquire, node);
                }
                if let Wait::Queue { .. } = acquire.wait {
                    queue(cx, acquire, place(node, "wait"));
                }
                if let (Wait::Notify { .. }, AcquireHow::Redlock { .. }) = (&acquire.wait, &acquire.how) {
                    cx.error(place(node, "wait"), "no node can tell that a majority of them is free")
                        .help("with Redlock one asks again: `wait: {retry: {every: 200ms, jitter: 0.5}}`");
                }
            }
            Do::Release(release) => {
                if release.how == ReleaseHow::Delex {
                    delex(cx, plan, event, place(node, "how"));
                }
                if release.publish == Some(true) {
                    publish(cx, plan, event, release, place(node, "publish"));
                }
            }
            Do::Link { change: LinkChange::Cut, way, .. } if *way != Way::Both => {
                cut(cx, plan, event, place(node, "way"));
            }
            _ => {}
        }
    }
}

/// Where a key of an event stands, or the event.
pub(super) fn place(node: &Node, key: &str) -> Span {
    node.get(key).map_or(node.span, |node| node.span)
}

/// A permit is one of several: its holders are counted in one script, each until its own time is up.
fn permit(cx: &mut Cx, acquire: &Acquire, node: &Node) {
    match acquire.how {
        AcquireHow::Run(_) => {}
        AcquireHow::SetNxPx if acquire.ttl.is_some() => {}
        AcquireHow::SetNxPx => {
            cx.error(node.span, "a permit has a TTL: it is all that frees what somebody holds who has crashed")
                .help("give the lock a `ttl`");
        }
        _ => {
            cx.error(
                place(node, "how"),
                "with `permits` several hold the lock, and this way to take it knows one holder",
            )
            .help("leave `how` out, or write your own commands with `run`");
        }
    }
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

/// One script takes the lock or stands in line for it.
fn queue(cx: &mut Cx, acquire: &Acquire, span: Span) {
    let (why, help) = match acquire.how {
        AcquireHow::SetnxExpire { .. } => (
            "`wait: queue` takes the lock or stands in line in one script, and `setnx_expire` is two commands",
            "write `how: set_nx_px`, or ask again: `wait: {retry: {every: 200ms}}`",
        ),
        AcquireHow::Redlock { .. } => (
            "a line is kept on one node, and no node can keep it for all of them",
            "with Redlock one asks again: `wait: {retry: {every: 200ms, jitter: 0.5}}`",
        ),
        AcquireHow::Run(_) => (
            "`wait: queue` takes the lock with a script of its own, and with `run` all commands are your own",
            "leave `run` out, or keep your own line and ask again: `wait: {retry: {every: 200ms}}`",
        ),
        AcquireHow::SetNxPx | AcquireHow::Setnx | AcquireHow::Reentrant => return,
    };
    cx.error(span, why).help(help);
}

/// One script takes the lock and draws a number. Some locks are not taken so, and of some a number says nothing.
fn fence(cx: &mut Cx, plan: &Plan, event: &Event, acquire: &Acquire, span: Span) {
    let permits = event.lock.and_then(|lock| plan.locks.get(lock)).is_some_and(|lock| lock.permits > 1);
    let (why, help) = match acquire.how {
        AcquireHow::SetnxExpire { .. } => (
            "`fence: script` takes the lock in one script, and `setnx_expire` is two commands",
            "write `how: set_nx_px`, or `fence: database`",
        ),
        AcquireHow::Redlock { .. } => (
            "each node of a Redlock would count for itself, and two majorities can draw the same number",
            "write `fence: database`: drawn from the data's own database, after the grant",
        ),
        _ if permits => (
            "with `permits` several hold the lock, and a fence lets only the newest of them write",
            "leave `fence` out",
        ),
        _ => return,
    };
    cx.error(span, why).help(help);
}

/// The message that a release sends by itself.
fn publish(cx: &mut Cx, plan: &Plan, event: &Event, release: &Release, span: Span) {
    if let ReleaseHow::Run(_) = release.how {
        cx.error(span, "`publish` adds a message to the commands of `how`, and with `run` all commands are your own")
            .help("write it among them: `\"PUBLISH {key}:released free\"`");
    } else if acquires_of(plan, event).any(|acquire| matches!(acquire.how, AcquireHow::Redlock { .. })) {
        cx.error(span, "a Redlock is released on each node, and none of them can tell that a majority is free")
            .help("leave `publish` out");
    }
}

/// One connection carries a replication link both ways.
fn cut(cx: &mut Cx, plan: &Plan, event: &Event, span: Span) {
    let Subject::Link(left, right) = &event.subject else { return };
    let watched = matches!(plan.servers.kind, ServersKind::Sentinel { .. });
    let other = |name: &String| {
        plan.clients.iter().any(|client| client.name == *name) || watched && SENTINELS.contains(&name.as_str())
    };
    if !left.iter().chain(right).any(other) {
        cx.error(span, "a replication link is one connection: cut one way, it is gone both ways")
            .help("leave `way` out, or write `do: hold`");
    }
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
