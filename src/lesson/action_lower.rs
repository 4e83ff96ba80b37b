//! The options of a client's actions (FORMAT §3).

use super::diagnostic::quoted;
use super::duration::{Length, Ttl};
use super::event_lower::Reading;
use super::model::{
    Acquire, AcquireHow, Change, Do, Fence, Guard, MeasuredFrom, OnLoss, Release, ReleaseHow, Renew, RenewHow,
    ServersKind, Token, Validity, WaitReplicas,
};
use super::reader::{Cx, Fields};
use super::run_lower;
use super::wait_lower::{wait, watchdog};
use super::yaml::{Kind, Node};
use crate::trace::{EventKind, LessonTime};

pub(super) const ON_LOSS: &[(&str, OnLoss)] = &[("stop", OnLoss::Stop), ("ignore", OnLoss::Ignore)];

/// One action.
pub(super) fn action(cx: &mut Cx, r: &Reading<'_>, f: &mut Fields<'_>, kind: EventKind) -> Do {
    match kind {
        EventKind::Acquire => Do::Acquire(Box::new(acquire(cx, r, f))),
        EventKind::Work => {
            let span = f.need(cx, "for", "`do: work`", "10s").and_then(|node| cx.duration(node, "for", r.ttl));
            let on_loss = f.take(cx, "on_loss").and_then(|node| cx.choose(node, "on_loss", ON_LOSS));
            Do::Work { span: span.and_then(Length::end), on_loss: on_loss.unwrap_or_default() }
        }
        EventKind::Idle => {
            let span = f.need(cx, "for", "`do: idle`", "1s").and_then(|node| cx.duration(node, "for", r.ttl));
            Do::Idle { span: span.and_then(Length::end) }
        }
        EventKind::Renew => {
            let own_ttl = f.has("ttl");
            let ttl = ttl_option(cx, r, f);
            let how = renew_how(cx, r, f, "`do: renew`", if own_ttl { Ttl::new(ttl) } else { r.ttl });
            let on_short = f
                .take(cx, "on_short")
                .and_then(|node| cx.choose(node, "on_short", &[("keep", false), ("release", true)]));
            Do::Renew(Renew { how, ttl, on_short_release: on_short.unwrap_or(false) })
        }
        EventKind::Release => Do::Release(release(cx, r, f)),
        EventKind::Read => Do::Read { resource: resource(cx, r, f, Some((false, "`do: read`"))) },
        EventKind::Write => write(cx, r, f),
        EventKind::Begin => {
            let words = [("committed", false), ("snapshot", true)];
            let snapshot = f.take(cx, "isolation").and_then(|node| cx.choose(node, "isolation", &words));
            Do::Begin { snapshot: snapshot.unwrap_or(false) }
        }
        EventKind::Commit => Do::Commit,
        EventKind::Rollback => Do::Rollback,
        _ => {
            let run = f.need(cx, "run", "`do: redis`", "\"GET {key}\"");
            Do::Redis(run.map_or_else(
                || super::model::Run { commands: Vec::new(), ok_if: None },
                |node| run_lower::run(cx, r.around(r.ttl), node, None),
            ))
        }
    }
}

/// `ttl:` of an acquire or a renew; without it, the lock's.
fn ttl_option(cx: &mut Cx, r: &Reading<'_>, f: &mut Fields<'_>) -> Option<LessonTime> {
    let lock = match r.ttl {
        Ttl::Of(ttl) => Some(ttl),
        Ttl::Forever | Ttl::Unknown => None,
    };
    let Some(node) = f.take(cx, "ttl") else { return lock };
    match cx.duration(node, "ttl", r.ttl) {
        Some(Length::Of(LessonTime::ZERO)) => {
            cx.error(node.span, "Redis refuses a TTL of zero");
            lock
        }
        Some(ttl) => ttl.end(),
        None => lock,
    }
}

fn acquire(cx: &mut Cx, r: &Reading<'_>, f: &mut Fields<'_>) -> Acquire {
    let own_ttl = f.has("ttl");
    let ttl = ttl_option(cx, r, f);
    // `ttl/3` of a watchdog, and the deadline of a wait, follow the TTL that this acquire asks for.
    let effective = if own_ttl { Ttl::new(ttl) } else { r.ttl };
    let how = acquire_how(cx, r, f, effective);
    let redlock = matches!(how, AcquireHow::Redlock { .. });
    // Whoever takes a lock once more must be known again.
    let known = Token::Parts { process: true, thread: true };
    let by_default = if how == AcquireHow::Reentrant { known } else { Token::Unique };
    let token = f.take(cx, "token").and_then(|node| token(cx, r, node)).unwrap_or(by_default);
    let flag = |cx: &mut Cx, f: &mut Fields<'_>, key: &'static str, words: &[(&str, bool)], default: bool| {
        f.take(cx, key).and_then(|node| cx.choose(node, key, words)).unwrap_or(default)
    };
    let accept_own = f.take(cx, "accept_own").and_then(|node| cx.boolean(node, "accept_own")).unwrap_or(false);
    let fence = f.take(cx, "fence").and_then(|node| {
        cx.choose(node, "fence", &[("none", Fence::None), ("script", Fence::Script), ("database", Fence::Database)])
    });
    let wait = f.take(cx, "wait").map_or(super::model::Wait::None, |node| wait(cx, effective, node));
    let wait_replicas = f.take(cx, "wait_replicas").and_then(|node| wait_replicas(cx, node));
    let checked = flag(cx, f, "validity", &[("unchecked", false), ("checked", true)], redlock);
    let measured_from = f.take(cx, "measured_from").and_then(|node| {
        let words =
            [("send", MeasuredFrom::Send), ("first_try", MeasuredFrom::FirstTry), ("reply", MeasuredFrom::Reply)];
        cx.choose(node, "measured_from", &words)
    });
    let deadline_stop = flag(cx, f, "deadline", &[("ignore", false), ("stop", true)], false);
    if let (true, Ttl::Forever, Some(entry)) =
        (deadline_stop || checked, effective, f.peek("deadline").or_else(|| f.peek("validity")))
    {
        cx.misfit(entry.key.span, format!("`{}`, but the lock has no TTL", entry.key.value), &[]);
    }
    let watchdog = f.take(cx, "watchdog").and_then(|node| watchdog(cx, r, effective, node));
    let read_mode = flag(cx, f, "mode", &[("write", false), ("read", true)], false);
    Acquire {
        how,
        ttl,
        token,
        accept_own,
        fence: fence.unwrap_or(Fence::None),
        wait,
        wait_replicas,
        validity: Validity { checked, measured_from: measured_from.unwrap_or(MeasuredFrom::Send) },
        deadline_stop,
        watchdog,
        read_mode,
    }
}

fn acquire_how(cx: &mut Cx, r: &Reading<'_>, f: &mut Fields<'_>, ttl: Ttl) -> AcquireHow {
    if let Some(run) = own_commands(cx, r, f, ttl) {
        return AcquireHow::Run(run);
    }
    let words = [
        ("set_nx_px", AcquireHow::SetNxPx),
        ("setnx", AcquireHow::Setnx),
        ("setnx_expire", AcquireHow::SetnxExpire { gap: LessonTime::ZERO }),
        ("reentrant", AcquireHow::Reentrant),
        ("redlock", AcquireHow::Redlock { cleanup: true, sequential: false }),
    ];
    let written = f.take(cx, "how");
    let mut how = written.and_then(|node| cx.choose(node, "how", &words)).unwrap_or(AcquireHow::SetNxPx);
    match &mut how {
        AcquireHow::SetnxExpire { gap } => *gap = take_gap(cx, r, f),
        AcquireHow::Redlock { cleanup, sequential } => {
            if let Some(node) = f.take(cx, "cleanup") {
                *cleanup = cx.boolean(node, "cleanup").unwrap_or(true);
            }
            if let Some(node) = f.take(cx, "nodes") {
                let words = [("parallel", false), ("sequential", true)];
                *sequential = cx.choose(node, "nodes", &words).unwrap_or(false);
            }
            if !matches!(r.scene.servers.kind, ServersKind::Quorum { .. })
                && let (Some(node), false) = (written, r.scene.torn)
            {
                cx.misfit(node.span, "`how: redlock` needs independent masters", &["write `servers: quorum`"]);
            }
        }
        _ => {}
    }
    only_with(cx, f, "gap", matches!(how, AcquireHow::SetnxExpire { .. }), "how: setnx_expire");
    let redlock = matches!(how, AcquireHow::Redlock { .. });
    only_with(cx, f, "cleanup", redlock, "how: redlock");
    only_with(cx, f, "nodes", redlock, "how: redlock");
    if let (AcquireHow::SetnxExpire { .. } | AcquireHow::Redlock { .. }, Ttl::Forever, Some(node)) =
        (&how, ttl, written)
    {
        cx.misfit(node.span, "this needs a TTL, and the lock has none", &["write `ttl: 10s` on the event or the lock"]);
    }
    how
}

/// `run:` with `ok_if:`, in place of `how:`.
pub(super) fn own_commands(cx: &mut Cx, r: &Reading<'_>, f: &mut Fields<'_>, ttl: Ttl) -> Option<super::model::Run> {
    let ok_if = f.take(cx, "ok_if");
    let Some(node) = f.take(cx, "run") else {
        if let Some(node) = ok_if {
            cx.error(node.span, "`ok_if` says which reply of `run` is a success, and there is no `run`");
        }
        return None;
    };
    if let Some(how) = f.take(cx, "how") {
        cx.error(how.span, "there is both `how` and `run`").help("`run` is your own way; leave `how` out");
    }
    Some(run_lower::run(cx, r.around(ttl), node, ok_if))
}

fn take_gap(cx: &mut Cx, r: &Reading<'_>, f: &mut Fields<'_>) -> LessonTime {
    f.take(cx, "gap").and_then(|node| cx.finite(node, "gap", r.ttl, 0)).unwrap_or_default()
}

/// An option that only one way of doing it has.
fn only_with(cx: &mut Cx, f: &mut Fields<'_>, key: &'static str, fits: bool, with: &str) {
    if !fits
        && f.has(key)
        && let Some(entry) = f.peek(key)
    {
        f.mark(key);
        cx.error(entry.key.span, format!("`{key}` belongs to `{with}`"))
            .help(format!("a variant takes it away with `{key}: null`"));
    }
}

fn token(cx: &mut Cx, r: &Reading<'_>, node: &Node) -> Option<Token> {
    if node.scalar() == Some("unique") {
        return Some(Token::Unique);
    }
    let help = "write `unique`, `{fixed: \"1\"}`, `{parts: [process, thread]}` or `{of: EVENT}`";
    if !matches!(&node.kind, Kind::Map(entries) if entries.len() == 1) {
        cx.error(node.span, format!("{} is no kind of token", node.describe())).help(help);
        return None;
    }
    let mut f = Fields::of(cx, node, "`token`")?;
    let token = if let Some(node) = f.take(cx, "fixed") {
        cx.string(node, "fixed").map(|text| Token::Fixed(text.value))
    } else if let Some(node) = f.take(cx, "parts") {
        let parts: Vec<u8> = cx
            .list(node, "parts", true)
            .iter()
            .filter_map(|node| cx.choose(node, "parts", &[("process", 1), ("thread", 2)]))
            .collect();
        if parts.is_empty() {
            cx.error(node.span, "a token needs a part").help(help);
        }
        Some(Token::Parts { process: parts.contains(&1), thread: parts.contains(&2) })
    } else if let Some(node) = f.take(cx, "of") {
        token_of(cx, r, node).map(Token::Of)
    } else {
        None
    };
    f.end(cx, "`token`");
    token
}

/// The acquire whose token is meant.
fn token_of(cx: &mut Cx, r: &Reading<'_>, node: &Node) -> Option<usize> {
    let id = cx.string(node, "of")?;
    let event = r.scene.event(cx, &id)?;
    if r.scene.events[event].kind.is_some_and(|kind| kind != EventKind::Acquire) {
        cx.misfit(id.span, format!("{} is no acquire, and has no token", quoted(&id.value)), &[]);
    }
    Some(event)
}

fn wait_replicas(cx: &mut Cx, node: &Node) -> Option<WaitReplicas> {
    let mut f = Fields::of(cx, node, "`wait_replicas`")?;
    let n = f.take(cx, "n").and_then(|node| cx.integer(node, "n", 1, 100));
    let timeout = f.take(cx, "timeout").and_then(|node| cx.finite(node, "timeout", Ttl::Unknown, 1));
    let check = f.take(cx, "check").and_then(|node| cx.boolean(node, "check"));
    f.end(cx, "`wait_replicas`");
    Some(WaitReplicas {
        n: n.and_then(|n| u32::try_from(n).ok()).unwrap_or(1),
        timeout: timeout.unwrap_or(LessonTime(1000)),
        check: check.unwrap_or(true),
    })
}

/// `how:` of a renew or a watchdog.
pub(super) fn renew_how(cx: &mut Cx, r: &Reading<'_>, f: &mut Fields<'_>, of: &str, ttl: Ttl) -> RenewHow {
    if let Some(run) = own_commands(cx, r, f, ttl) {
        return RenewHow::Run(run);
    }
    let words = [
        ("pexpire_if_mine", RenewHow::PexpireIfMine),
        ("pexpire", RenewHow::Pexpire),
        ("set", RenewHow::Set),
        ("set_if_free_or_mine", RenewHow::SetIfFreeOrMine),
    ];
    if ttl == Ttl::Forever {
        cx.misfit(f.span, format!("{of} prolongs a TTL, and the lock has none"), &["give the lock a `ttl`"]);
    }
    f.take(cx, "how").and_then(|node| cx.choose(node, "how", &words)).unwrap_or(RenewHow::PexpireIfMine)
}

fn release(cx: &mut Cx, r: &Reading<'_>, f: &mut Fields<'_>) -> Release {
    let how = if let Some(run) = own_commands(cx, r, f, r.ttl) {
        ReleaseHow::Run(run)
    } else {
        let words = [
            ("lua", ReleaseHow::Lua),
            ("del", ReleaseHow::Del),
            ("get_del", ReleaseHow::GetDel { gap: LessonTime::ZERO }),
            ("delex", ReleaseHow::Delex),
        ];
        let how = f.take(cx, "how").and_then(|node| cx.choose(node, "how", &words));
        match how.unwrap_or(ReleaseHow::Lua) {
            ReleaseHow::GetDel { .. } => ReleaseHow::GetDel { gap: take_gap(cx, r, f) },
            how => how,
        }
    };
    only_with(cx, f, "gap", matches!(how, ReleaseHow::GetDel { .. }), "how: get_del");
    let token_of = f.take(cx, "token").and_then(|node| {
        let mut f = Fields::of(cx, node, "the `token` of a release")?;
        let of = f.need(cx, "of", "the `token` of a release", "EVENT").and_then(|node| token_of(cx, r, node));
        f.end(cx, "the `token` of a release");
        of
    });
    let publish = f.take(cx, "publish").and_then(|node| match node.scalar() {
        Some("auto") => None,
        _ => cx.boolean(node, "publish"),
    });
    Release { how, token_of, publish }
}

fn resource(cx: &mut Cx, r: &Reading<'_>, f: &mut Fields<'_>, log: Option<(bool, &str)>) -> String {
    let node = f.need(cx, "resource", r.of, "stock");
    let Some(name) = node.and_then(|node| cx.string(node, "resource")) else { return String::new() };
    r.scene.resource(cx, &name, log);
    name.value
}

fn write(cx: &mut Cx, r: &Reading<'_>, f: &mut Fields<'_>) -> Do {
    let append = f.has("append");
    let what = if append { "`append`" } else { "`set` or `add`" };
    let resource = resource(cx, r, f, Some((append, what)));
    let changes = [f.take(cx, "set"), f.take(cx, "add"), f.take(cx, "append")];
    let change = match changes {
        [Some(node), None, None] => set(cx, node),
        [None, Some(node), None] => cx.integer(node, "add", i64::MIN, i64::MAX).map(Change::Add),
        [None, None, Some(node)] => cx.string(node, "append").map(|key| Change::Append(key.value)),
        _ => {
            cx.error(f.span, "`do: write` needs one of `set`, `add`, `append`")
                .help("`set: 5`, `set: read-1`, `add: -1` or `append: order-17`");
            None
        }
    };
    let guard = f.take(cx, "guard").and_then(|node| guard(cx, node)).unwrap_or(Guard::None);
    if let Some(entry) = f.peek("guard") {
        match guard {
            Guard::Once if !append => {
                cx.error(entry.value.span, "`guard: once` belongs to `append`");
            }
            Guard::Version | Guard::AtLeast(_) if append => {
                cx.error(entry.value.span, "a log has no value and no version")
                    .help("an `append` can have `guard: once` or `guard: fence`");
            }
            _ => {}
        }
    }
    Do::Write { resource, change: change.unwrap_or(Change::Add(0)), guard }
}

/// `5`, `read`, `read-1`, `read+2`.
fn set(cx: &mut Cx, node: &Node) -> Option<Change> {
    let text = cx.scalar(node, "set")?;
    let change = match text.strip_prefix("read") {
        Some("") => Some(Change::SetRead(0)),
        Some(by) if by.starts_with(['+', '-']) => by.parse().ok().map(Change::SetRead),
        Some(_) => None,
        None => text.parse().ok().map(Change::Set),
    };
    if change.is_none() {
        cx.error(node.span, format!("{} cannot be set", quoted(text))).help("write a number, or `read-1`");
    }
    change
}

fn guard(cx: &mut Cx, node: &Node) -> Option<Guard> {
    if let Kind::Map(_) = node.kind {
        let mut f = Fields::of(cx, node, "`guard`")?;
        let least = f.need(cx, "at_least", "`guard`", "1");
        let least = least.and_then(|node| cx.integer(node, "at_least", i64::MIN, i64::MAX));
        f.end(cx, "`guard`");
        return least.map(Guard::AtLeast);
    }
    if node.scalar() == Some("at_least") {
        cx.error(node.span, "`at_least` needs a number").help("write `guard: {at_least: 1}`");
        return None;
    }
    let words = [("none", Guard::None), ("fence", Guard::Fence), ("version", Guard::Version), ("once", Guard::Once)];
    cx.choose(node, "guard", &words)
}
