//! One change, and how a variant writes it.

use super::tree::{at, event_mut, get_mut, items, list, map, null, put, scalar, take};
use crate::lesson::source::Span;
use crate::lesson::yaml::{Kind, Node};
use crate::trace::LessonTime;

/// One change of a variant. Events are named by their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A lock's lease is so long.
    Ttl {
        /// The lock, by name.
        lock: String,
        /// So long.
        ttl: LessonTime,
    },
    /// A job, or an idle time, takes so long.
    Length {
        /// The event.
        event: String,
        /// So long.
        span: LessonTime,
    },
    /// An action is not begun before this.
    Start {
        /// The event.
        event: String,
        /// When.
        at: LessonTime,
    },
    /// An acquire or a release is done with these commands.
    How {
        /// The event.
        event: String,
        /// As the format names them.
        how: &'static str,
    },
    /// An acquire has a watchdog, or none.
    Watchdog {
        /// The event.
        event: String,
        /// It has one.
        on: bool,
    },
    /// A client idles before it goes on with this event.
    Delay {
        /// The client, with its task if that is not the main one.
        client: String,
        /// The event.
        before: String,
        /// So long.
        span: LessonTime,
    },
    /// The run is looked at until then.
    Until {
        /// When.
        at: LessonTime,
    },
    /// Something happens.
    Happens {
        /// To whom.
        to: Target,
        /// What.
        what: Happening,
        /// When.
        at: LessonTime,
    },
}

/// To whom or what something happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A client.
    Client(String),
    /// A server.
    Node(String),
    /// The links between one end and each of the others.
    Link(String, Vec<String>),
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A client or a server dies.
    Crash,
    /// A client stands still for so long.
    Pause(LessonTime),
    /// A server comes back.
    Restart,
    /// A replica becomes the master.
    Promote,
    /// A link keeps everything.
    Hold,
    /// A link loses everything.
    Cut,
    /// A link is as it should be.
    Heal,
}

impl Happening {
    /// As the format names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Pause(_) => "pause",
            Self::Restart => "restart",
            Self::Promote => "promote",
            Self::Hold => "hold",
            Self::Cut => "cut",
            Self::Heal => "heal",
        }
    }
}

impl Edit {
    /// Whether it changes what an event itself does, so that what the author says of it may be false. A lease is spoken
    /// of everywhere.
    #[must_use]
    pub fn concerns(&self, id: Option<&str>) -> bool {
        match self {
            Self::Ttl { .. } => true,
            Self::Length { event, .. }
            | Self::Start { event, .. }
            | Self::How { event, .. }
            | Self::Watchdog { event, .. }
            | Self::Delay { before: event, .. } => id == Some(event),
            Self::Until { .. } | Self::Happens { .. } => false,
        }
    }

    /// Makes this change to `variant`, a variant of the lesson `root`.
    pub(super) fn make(&self, root: &Node, variant: &mut Node) {
        let span = variant.span;
        let time = |time: LessonTime| scalar(span, &time.yaml());
        match self {
            Self::Ttl { lock, ttl } => {
                let several = root.get("locks").is_some() || variant.get("locks").is_some();
                let locks = if several { at(variant, "locks", empty) } else { Some(variant) };
                let key = if several { lock } else { "lock" };
                if let Some(lock) = locks.and_then(|locks| at(locks, key, empty)) {
                    put(lock, "ttl", time(*ttl));
                }
            }
            Self::Length { event, span } => set(variant, event, "for", time(*span)),
            Self::Start { event, at } => set(variant, event, "at", time(*at)),
            Self::How { event, how } => {
                set(variant, event, "how", scalar(span, how));
                // The pause between two commands belongs to the way that had two.
                if has(root, variant, event, "gap") {
                    set(variant, event, "gap", null(span));
                }
            }
            Self::Watchdog { event, on: true } => {
                set(variant, event, "watchdog", map(span, [("every", scalar(span, "ttl/3"))]));
            }
            Self::Watchdog { event, on: false } => set(variant, event, "watchdog", null(span)),
            Self::Delay { client, before, span: length } => {
                let idle = [("client", scalar(span, client)), ("do", scalar(span, "idle")), ("for", time(*length))];
                let place = [("insert_before", scalar(span, before))];
                add(variant, map(span, idle.into_iter().chain(place)));
            }
            Self::Until { at } => put(variant, "until", time(*at)),
            Self::Happens { to, what, at } => {
                let subject = match to {
                    Target::Client(name) => ("client", scalar(span, name)),
                    Target::Node(name) => ("node", scalar(span, name)),
                    Target::Link(a, others) => ("link", list(span, [scalar(span, a), ends(span, others)])),
                };
                let mut event = map(span, [subject, ("at", time(*at)), ("do", scalar(span, what.name()))]);
                if let Happening::Pause(length) = what {
                    put(&mut event, "for", time(*length));
                }
                add(variant, event);
            }
        }
    }
}

/// `r1`, or `[r1, r2]`.
fn ends(span: Span, names: &[String]) -> Node {
    match names {
        [one] => scalar(span, one),
        names => list(span, names.iter().map(|name| scalar(span, name))),
    }
}

fn empty(span: Span) -> Node {
    map(span, [])
}

/// Changes a key of an event: where the variant adds the event, there; else among what it sets.
pub(super) fn set(variant: &mut Node, id: &str, key: &str, value: Node) {
    if let Some(own) = event_mut(get_mut(variant, "add"), id) {
        if value.is_null() {
            take(own, key);
        } else {
            put(own, key, value);
        }
        return;
    }
    if let Some(event) = at(variant, "set", empty).and_then(|set| at(set, id, empty)) {
        put(event, key, value);
    }
}

/// Takes an event away.
pub(super) fn remove(variant: &mut Node, id: &str) {
    if let Some(Kind::List(added)) = get_mut(variant, "add").map(|added| &mut added.kind) {
        let before = added.len();
        added.retain(|event| event.get("id").and_then(Node::scalar) != Some(id));
        if added.len() < before {
            return;
        }
    }
    // A variant may not set what it drops.
    if let Some(set) = get_mut(variant, "set") {
        take(set, id);
    }
    let span = variant.span;
    if let Some(Kind::List(drops)) = at(variant, "drop", |span| list(span, [])).map(|drops| &mut drops.kind) {
        drops.push(scalar(span, id));
    }
}

fn add(variant: &mut Node, event: Node) {
    if let Some(Kind::List(added)) = at(variant, "add", |span| list(span, [])).map(|added| &mut added.kind) {
        added.push(event);
    }
}

/// Whether an event has a key, as the lesson or the variant writes it.
fn has(root: &Node, variant: &Node, id: &str, key: &str) -> bool {
    let base = [root.get("events"), variant.get("add")].into_iter().flatten().flat_map(items);
    let base = base.filter(|event| event.get("id").and_then(Node::scalar) == Some(id));
    let set = variant.get("set").and_then(|set| set.get(id));
    base.chain(set).any(|event| event.get(key).is_some_and(|value| !value.is_null()))
}
