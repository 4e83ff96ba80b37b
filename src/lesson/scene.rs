//! What the events of one variant can name: clients, nodes, locks, resources, and each other.

use std::collections::BTreeMap;

use super::duration::{self, Length, Ttl};
use super::model::{Client, Lock, Resource, ResourceKind, Servers, ServersKind};
use super::reader::Cx;
use super::source::Spanned;
use super::yaml::Node;
use crate::trace::{EventKind, LessonTime};

/// The names of one variant.
#[derive(Debug)]
pub(super) struct Scene {
    pub servers: Servers,
    pub locks: Vec<Lock>,
    pub clients: Vec<Client>,
    pub resources: Vec<Resource>,
    /// The lists above could not be read whole: a name that is missing in them is no error of its own.
    pub torn: bool,
    /// One entry per event, in file order.
    pub events: Vec<Known>,
    /// The first event of each id.
    pub ids: BTreeMap<String, usize>,
    /// Ids of events that this variant drops.
    pub dropped: Vec<String>,
}

/// What is known of an event before it is read: enough for others to refer to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub id: Option<Spanned<String>>,
    pub kind: Option<EventKind>,
    /// The client and task whose action it is.
    pub program: Option<(String, String)>,
}

impl Scene {
    /// The names of all nodes.
    pub fn nodes(&self) -> Vec<String> {
        node_names(self.servers.kind)
    }

    /// A client's name; an error if there is no such client.
    pub fn client(&self, cx: &mut Cx, name: &Spanned<String>) {
        let known: Vec<&str> = self.clients.iter().map(|client| client.name.as_str()).collect();
        if !self.torn && !known.contains(&name.value.as_str()) {
            cx.unknown(name.span, "client", &name.value, &known);
        }
    }

    /// A node's name; an error if there is no such node.
    pub fn node(&self, cx: &mut Cx, name: &Spanned<String>) {
        let nodes = self.nodes();
        let known: Vec<&str> = nodes.iter().map(String::as_str).collect();
        if !self.torn && !known.contains(&name.value.as_str()) {
            cx.unknown(name.span, "node", &name.value, &known);
        }
    }

    /// A lock by name.
    pub fn lock(&self, cx: &mut Cx, name: &Spanned<String>) -> Option<usize> {
        let found = self.locks.iter().position(|lock| lock.name == name.value);
        if found.is_none() && !self.torn {
            let known: Vec<&str> = self.locks.iter().map(|lock| lock.name.as_str()).collect();
            cx.unknown(name.span, "lock", &name.value, &known);
        }
        found
    }

    /// A resource by name; `log`: which kind it has to be, and for what.
    pub fn resource(&self, cx: &mut Cx, name: &Spanned<String>, log: Option<(bool, &str)>) {
        let Some(found) = self.resources.iter().find(|resource| resource.name == name.value) else {
            if !self.torn {
                let known: Vec<&str> = self.resources.iter().map(|resource| resource.name.as_str()).collect();
                cx.unknown(name.span, "resource", &name.value, &known);
            }
            return;
        };
        let is_log = matches!(found.kind, ResourceKind::Log { .. });
        match log {
            Some((wanted, what)) if wanted != is_log => {
                let (is, needs) = if is_log { ("a log", "a row") } else { ("a row", "a log") };
                cx.misfit(name.span, format!("`{}` is {is}; {what} needs {needs}", name.value), &[]);
            }
            _ => {}
        }
    }

    /// An event by id.
    pub fn event(&self, cx: &mut Cx, id: &Spanned<String>) -> Option<usize> {
        let found = self.find(&id.value);
        if found.is_none() {
            if self.dropped.contains(&id.value) {
                cx.misfit(id.span, format!("the event `{}` is dropped", id.value), &[]);
            } else {
                let ids: Vec<&str> =
                    self.events.iter().filter_map(|event| event.id.as_ref()).map(|id| id.value.as_str()).collect();
                cx.unknown(id.span, "event", &id.value, &ids);
            }
        }
        found
    }

    /// An event by id, without an error.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    /// The only lock, if there is only one.
    pub fn only_lock(&self) -> Option<usize> {
        (self.locks.len() == 1).then_some(0)
    }
}

/// The names of the nodes that these servers have.
#[must_use]
pub fn node_names(kind: ServersKind) -> Vec<String> {
    let with_replicas = |replicas: u8| {
        let mut names = vec!["m".to_owned()];
        names.extend((1..=replicas).map(|n| format!("r{n}")));
        names
    };
    match kind {
        ServersKind::Single => vec!["redis".to_owned()],
        ServersKind::Replicated { replicas } => with_replicas(replicas),
        ServersKind::Quorum { nodes, .. } => (1..=nodes).map(|n| format!("n{n}")).collect(),
        ServersKind::Sentinel { replicas } => {
            let mut names = with_replicas(replicas);
            names.extend(SENTINELS.map(str::to_owned));
            names
        }
    }
}

/// The processes of `servers: sentinel` that have no keys.
pub const SENTINELS: [&str; 3] = ["s1", "s2", "s3"];

/// Durations read from nodes.
impl Cx {
    /// A duration.
    pub fn duration(&mut self, node: &Node, what: &str, ttl: Ttl) -> Option<Length> {
        let text = self.scalar(node, what)?;
        match duration::parse(text, ttl) {
            Ok(length) => Some(length),
            Err(why) => {
                // Without the lock, `ttl/3` cannot be read: in a base that gets its lock from a variant, no error.
                if !(self.shape_only && ttl == Ttl::Unknown && text.starts_with("ttl")) {
                    self.error(node.span, format!("`{what}`: {why}"));
                }
                None
            }
        }
    }

    /// A duration that ends, and is at least `least` milliseconds.
    pub fn finite(&mut self, node: &Node, what: &str, ttl: Ttl, least: u64) -> Option<LessonTime> {
        match self.duration(node, what, ttl)? {
            Length::Of(length) if length.ms() >= least => Some(length),
            Length::Of(_) => {
                self.error(node.span, format!("`{what}` must be at least {least}ms"));
                None
            }
            Length::Forever => {
                self.error(node.span, format!("`{what}` cannot be `forever`"));
                None
            }
        }
    }

    /// Milliseconds, perhaps negative.
    pub fn signed(&mut self, node: &Node, what: &str) -> Option<i64> {
        let text = self.scalar(node, what)?;
        duration::parse_signed(text).map_err(|why| self.error(node.span, format!("`{what}`: {why}"))).ok()
    }
}
