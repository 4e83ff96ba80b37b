//! `servers`, `lock(s)`, `clients`, `resources`, `needs`, `keys`: who and what there is in one variant.

use super::diagnostic::quoted;
use super::duration::{Length, Ttl};
use super::model::{Client, Lock, Needs, Persistence, Resource, ResourceKind, Servers, ServersKind};
use super::reader::{Cx, Fields};
use super::source::{Span, Spanned};
use super::yaml::{Kind, Node};
use crate::trace::LessonTime;

/// Settings of a server that a lesson may change.
pub const CONFIG_ALLOWED: &[&str] = &["maxmemory", "maxmemory-policy", "min-replicas-max-lag", "min-replicas-to-write"];

/// What Redis can do when its memory is full, as far as it is the same every time: the other policies choose by chance,
/// or by the real clock.
const POLICIES: &[&str] = &["noeviction", "volatile-ttl"];

/// Longer keys teach nothing, and are slow to compare with patterns.
const LONGEST_KEY: usize = 200;

/// Names that mean something else where a client could stand.
const RESERVED: &[&str] = &["all", "db", "nobody", "end", "otherwise"];

/// `servers:`; a word, or a map with `kind`.
pub(super) fn servers(cx: &mut Cx, node: Option<&Node>, fallback: Span) -> Servers {
    let mut servers = Servers {
        kind: ServersKind::Single,
        persistence: Persistence::None,
        config: Vec::new(),
        span: node.map_or(fallback, |node| node.span),
    };
    let kinds = [("single", 0), ("replicated", 1), ("quorum", 2), ("sentinel", 3)];
    let Some(node) = node else { return servers };
    if matches!(node.kind, Kind::Scalar { .. }) {
        servers.kind = kind_of(cx.choose(node, "servers", &kinds).unwrap_or(0), None, None, None);
        return servers;
    }
    let Some(mut f) = Fields::of(cx, node, "`servers`") else { return servers };
    let kind = f.take(cx, "kind").map_or(Some(0), |node| cx.choose(node, "kind", &kinds));
    if let Some(node) = f.take(cx, "persistence") {
        let words = [("none", Persistence::None), ("everysec", Persistence::EverySec), ("always", Persistence::Always)];
        servers.persistence = cx.choose(node, "persistence", &words).unwrap_or(Persistence::None);
    }
    if let Some(node) = f.take(cx, "config") {
        servers.config = config(cx, node);
    }
    let Some(kind) = kind else { return servers };
    let (mut replicas, mut nodes, mut node_timeout) = (None, None, None);
    if matches!(kind, 1 | 3) {
        replicas = f.take(cx, "replicas").and_then(|node| cx.integer(node, "replicas", 1, 8));
    }
    if kind == 2 {
        nodes = f.take(cx, "nodes").and_then(|node| cx.integer(node, "nodes", 1, 15));
        node_timeout = f.take(cx, "node_timeout").and_then(|node| cx.finite(node, "node_timeout", Ttl::Unknown, 1));
    }
    servers.kind = kind_of(kind, replicas, nodes, node_timeout);
    let word = kinds[kind].0;
    f.finish(cx, &format!("`servers` of kind `{word}`"), |key| {
        let belongs = match key {
            "replicas" => "replicated, sentinel",
            "nodes" | "node_timeout" => "quorum",
            _ => return None,
        };
        Some(format!("`{key}` does not belong to servers of kind `{word}`; it belongs to {belongs}"))
    });
    servers
}

fn kind_of(kind: usize, replicas: Option<i64>, nodes: Option<i64>, node_timeout: Option<LessonTime>) -> ServersKind {
    let small = |n: Option<i64>, default: u8| n.and_then(|n| u8::try_from(n).ok()).unwrap_or(default);
    match kind {
        1 => ServersKind::Replicated { replicas: small(replicas, 1) },
        2 => ServersKind::Quorum { nodes: small(nodes, 5), node_timeout: node_timeout.unwrap_or(LessonTime(50)) },
        // FORMAT §6 lists `m`, `r1`, `r2`: two replicas, so that there is a choice to fail over to.
        3 => ServersKind::Sentinel { replicas: small(replicas, 2) },
        _ => ServersKind::Single,
    }
}

fn config(cx: &mut Cx, node: &Node) -> Vec<(Spanned<String>, String)> {
    let Kind::Map(entries) = &node.kind else {
        cx.error(node.span, format!("`config` must be a map of settings, not {}", node.describe()));
        return Vec::new();
    };
    let mut settings = Vec::new();
    for entry in entries {
        let name = entry.key.value.as_str();
        if !CONFIG_ALLOWED.contains(&name) {
            let message = format!("a lesson cannot set {}; it can set {}", quoted(name), CONFIG_ALLOWED.join(", "));
            cx.error(entry.key.span, message);
        }
        if let Some(value) = cx.string(&entry.value, name) {
            if let Some(wanted) = misfit(name, &value.value) {
                cx.error(value.span, format!("{} is no value for `{name}`", quoted(&value.value)))
                    .help(format!("write {wanted}"));
            }
            settings.push((entry.key.clone(), value.value));
        }
    }
    settings
}

/// What a setting wants to have instead of `value`; none: it takes it.
fn misfit(name: &str, value: &str) -> Option<&'static str> {
    let number = |most: u64| value.parse::<u64>().is_ok_and(|n| n <= most);
    let (fits, wanted) = match name {
        "min-replicas-to-write" => (number(8), "how many replicas must be there, `1`"),
        "min-replicas-max-lag" => (number(3600), "seconds, `10`"),
        "maxmemory" => {
            let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let unit = value[digits.len()..].to_ascii_lowercase();
            let fits = digits.parse::<u32>().is_ok() && ["", "b", "k", "kb", "m", "mb", "g", "gb"].contains(&&*unit);
            (fits, "bytes, `100mb`")
        }
        "maxmemory-policy" => {
            (POLICIES.contains(&value), "`noeviction` or `volatile-ttl` (the others choose by chance)")
        }
        _ => return None,
    };
    (!fits).then_some(wanted)
}

/// `lock:` or `locks:`.
pub(super) fn locks(cx: &mut Cx, one: Option<&Node>, many: Option<&Node>, torn: &mut bool) -> Vec<Lock> {
    let before = cx.errors.len();
    if let (Some(_), Some(many)) = (one, many) {
        cx.error(many.span, "the lesson has both `lock` and `locks`").help("write all of them under `locks`");
    }
    let mut locks = Vec::new();
    if let Some(node) = one {
        locks.extend(lock(cx, "lock".to_owned(), node));
    } else if let Some(node) = many {
        for (name, node) in named(cx, node, "locks") {
            locks.extend(lock(cx, name.value, node));
        }
    }
    for (at, lock) in locks.iter().enumerate() {
        if let Some(first) = locks[..at].iter().find(|first| first.key == lock.key) {
            cx.error(lock.span, format!("the locks `{}` and `{}` have the same key", first.name, lock.name));
        }
    }
    *torn |= cx.errors.len() > before;
    locks
}

fn lock(cx: &mut Cx, name: String, node: &Node) -> Option<Lock> {
    let mut f = Fields::of(cx, node, "a lock")?;
    let key = f.need(cx, "key", "a lock", "\"lock:order\"").and_then(|node| cx.string(node, "key"));
    let ttl = f.need(cx, "ttl", "a lock", "10s").and_then(|node| {
        let ttl = cx.duration(node, "ttl", Ttl::Unknown)?;
        if ttl == Length::Of(LessonTime::ZERO) {
            cx.error(node.span, "Redis refuses a TTL of zero").help("write `forever` for a lock without TTL");
        }
        Some(ttl)
    });
    let fifo = f.take(cx, "order").and_then(|node| cx.choose(node, "order", &[("any", false), ("fifo", true)]));
    let permits = f.take(cx, "permits").and_then(|node| cx.integer(node, "permits", 1, 1000));
    f.end(cx, "a lock");
    if let Some(key) =
        key.as_ref().filter(|key| key.value.len() > LONGEST_KEY || key.value.contains(char::is_whitespace))
    {
        // The key goes into an ACL rule, where a blank ends it.
        cx.error(key.span, format!("the key of a lock has at most {LONGEST_KEY} bytes, and no blanks"));
    }
    Some(Lock {
        name,
        key: key.map(|key| key.value).unwrap_or_default(),
        ttl: ttl.and_then(Length::end),
        fifo: fifo.unwrap_or(false),
        permits: permits.and_then(|n| u32::try_from(n).ok()).unwrap_or(1),
        span: node.span,
    })
}

/// `clients:`; a list of names, or a map. [`super::patch`] has turned a list into a map.
pub(super) fn clients(cx: &mut Cx, node: Option<&Node>, nodes: &[String], torn: &mut bool) -> Vec<Client> {
    let before = cx.errors.len();
    let mut clients = Vec::new();
    for (name, node) in node.map_or_else(Vec::new, |node| named(cx, node, "clients")) {
        if RESERVED.contains(&name.value.as_str()) || nodes.contains(&name.value) {
            cx.error(name.span, format!("a client cannot be called `{}`: the name means something else", name.value));
        }
        clients.extend(client(cx, name, node));
    }
    *torn |= cx.errors.len() > before;
    clients
}

fn client(cx: &mut Cx, name: Spanned<String>, node: &Node) -> Option<Client> {
    // `A:` alone is a client with nothing special about it.
    let empty = Node { span: node.span, kind: Kind::Map(Vec::new()) };
    let node = if node.is_null() { &empty } else { node };
    let mut f = Fields::of(cx, node, &format!("the client `{}`", name.value))?;
    let client = Client {
        process: f
            .take(cx, "process")
            .and_then(|node| cx.name(node, "process"))
            .map_or_else(|| name.value.clone(), |process| process.value),
        thread: f
            .take(cx, "thread")
            .and_then(|node| cx.integer(node, "thread", 0, i64::from(u32::MAX)))
            .and_then(|n| u32::try_from(n).ok())
            .unwrap_or(1),
        timeout: f
            .take(cx, "timeout")
            .and_then(|node| cx.finite(node, "timeout", Ttl::Unknown, 1))
            .unwrap_or(LessonTime(1000)),
        resend: f
            .take(cx, "resend")
            .and_then(|node| cx.integer(node, "resend", 0, 100))
            .and_then(|n| u32::try_from(n).ok())
            .unwrap_or(0),
        clock_skew_ms: f.take(cx, "clock_skew").and_then(|node| cx.signed(node, "clock_skew")).unwrap_or(0),
        span: name.span,
        name: name.value,
    };
    f.end(cx, "a client");
    Some(client)
}

/// `resources:`
pub(super) fn resources(cx: &mut Cx, node: Option<&Node>, torn: &mut bool) -> Vec<Resource> {
    let before = cx.errors.len();
    let mut resources = Vec::new();
    for (name, node) in node.map_or_else(Vec::new, |node| named(cx, node, "resources")) {
        let Some(mut f) = Fields::of(cx, node, "a resource") else { continue };
        let value = f.take(cx, "value").and_then(|node| cx.integer(node, "value", i64::MIN, i64::MAX));
        let min = f.take(cx, "min").and_then(|node| cx.integer(node, "min", i64::MIN, i64::MAX));
        let log = f.take(cx, "log");
        let kind = match (f.has("value"), log) {
            (true, None) => ResourceKind::Row { value: value.unwrap_or(0), min },
            (false, Some(log)) => ResourceKind::Log { once: once(cx, log) },
            _ => {
                cx.error(name.span, "a resource is a row or a log")
                    .help("a row: `{value: 233, min: 0}`; a log: `{log: {once: [order-17]}}`");
                ResourceKind::Row { value: 0, min: None }
            }
        };
        if f.has("min") && f.has("log") {
            cx.error(name.span, "`min` belongs to a row, not to a log");
        }
        f.end(cx, "a resource");
        if let Some(twin) = resources.iter().find(|known: &&Resource| known.name.eq_ignore_ascii_case(&name.value)) {
            let help = "resources are tables, and to a database upper and lower case are the same";
            cx.error(name.span, format!("{} is called like {}", quoted(&name.value), quoted(&twin.name))).help(help);
        }
        resources.push(Resource { name: name.value, kind, span: name.span });
    }
    *torn |= cx.errors.len() > before;
    resources
}

fn once(cx: &mut Cx, log: &Node) -> Vec<String> {
    let Some(mut f) = Fields::of(cx, log, "`log`") else { return Vec::new() };
    let once = f.take(cx, "once").map_or(&[][..], |node| cx.list(node, "once", false));
    let keys = once.iter().filter_map(|node| cx.string(node, "once")).map(|key| key.value).collect();
    f.end(cx, "`log`");
    keys
}

/// `keys:`
pub(super) fn keys(cx: &mut Cx, node: Option<&Node>) -> Vec<Spanned<String>> {
    let items = node.map_or(&[][..], |node| cx.list(node, "keys", false));
    if let (true, Some(node)) = (items.len() > 60, node) {
        cx.error(node.span, format!("`keys` has {} entries, and at most 60 can be", items.len()));
    }
    let mut keys = Vec::new();
    for node in items.iter().take(60) {
        let Some(key) = cx.string(node, "keys") else { continue };
        // The names go into an ACL rule, where a blank ends a pattern.
        if key.value.contains(char::is_whitespace) {
            cx.error(key.span, "a key pattern cannot have blanks");
        } else if key.value.len() > LONGEST_KEY {
            cx.error(key.span, format!("a key has at most {LONGEST_KEY} bytes here"));
        } else if key.value.trim_matches('*').is_empty() {
            cx.error(key.span, format!("{} would be every key", quoted(&key.value)))
                .help("begin the pattern with a word, `\"queue:*\"`");
        }
        keys.push(key);
    }
    keys
}

/// `needs:`
pub(super) fn needs(cx: &mut Cx, node: Option<&Node>) -> Needs {
    let mut needs = Needs::default();
    let Some(node) = node else { return needs };
    let Some(mut f) = Fields::of(cx, node, "`needs`") else { return needs };
    if let Some(node) = f.take(cx, "redis")
        && let Some(text) = cx.string(node, "redis")
    {
        let version = text.value.strip_prefix(">=").map(str::trim).and_then(|version| {
            let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
        if version.is_none() {
            cx.error(node.span, format!("{} is no version", quoted(&text.value))).help("write `redis: \">=7.0\"`");
        }
        needs.redis = version;
    }
    if let Some(node) = f.take(cx, "command") {
        let commands = cx.list(node, "command", true);
        needs.command = commands.iter().filter_map(|node| cx.string(node, "command")).map(|word| word.value).collect();
    }
    f.end(cx, "`needs`");
    needs
}

/// The entries of a map from names to something.
fn named<'n>(cx: &mut Cx, node: &'n Node, what: &str) -> Vec<(Spanned<String>, &'n Node)> {
    // What refers to these is compared with each of them, in each event of each variant.
    const MOST: usize = 60;
    let Kind::Map(entries) = &node.kind else {
        cx.error(node.span, format!("`{what}` must be a map from names, not {}", node.describe()));
        return Vec::new();
    };
    if entries.len() > MOST {
        cx.error(node.span, format!("`{what}` has {} entries, and at most {MOST} can be", entries.len()));
    }
    let mut out = Vec::new();
    for entry in entries.iter().take(MOST) {
        if cx.is_name(&entry.key, what) {
            out.push((entry.key.clone(), &entry.value));
        }
    }
    out
}
