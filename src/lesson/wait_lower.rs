//! `wait:` and `watchdog:` (FORMAT §3.1, §3.2).

use super::action_lower::{ON_LOSS, renew_how};
use super::duration::{Length, Ttl};
use super::event_lower::Reading;
use super::model::{Cap, Wait, Watchdog};
use super::reader::{Cx, Fields};
use super::yaml::{Kind, Node};
use crate::trace::LessonTime;

/// `wait:`
pub(super) fn wait(cx: &mut Cx, ttl: Ttl, node: &Node) -> Wait {
    if node.scalar() == Some("none") {
        return Wait::None;
    }
    let help = "write `none`, `{retry: {every: 200ms}}`, `{notify: {}}` or `{queue: {}}`";
    let entry = match &node.kind {
        Kind::Map(entries) if entries.len() == 1 => &entries[0],
        _ => {
            cx.error(node.span, format!("{} is no way to wait", node.describe())).help(help);
            return Wait::None;
        }
    };
    let kind = entry.key.value.as_str();
    if !matches!(kind, "retry" | "notify" | "queue") {
        cx.error(entry.key.span, format!("there is no `wait: {{{kind}}}`")).help(help);
        return Wait::None;
    }
    let of = format!("`{kind}`");
    let Some(mut f) = Fields::of(cx, &entry.value, &of) else { return Wait::None };
    let span = f.take(cx, "for").and_then(|node| cx.duration(node, "for", ttl)).and_then(Length::end);
    let wait = match kind {
        "retry" => retry(cx, ttl, &mut f, span),
        "notify" => {
            let recheck = f.take(cx, "recheck").and_then(|node| cx.boolean(node, "recheck")).unwrap_or(true);
            let after = f.take(cx, "subscribe_after").and_then(|node| cx.finite(node, "subscribe_after", ttl, 0));
            Wait::Notify { recheck, subscribe_after: after.unwrap_or_default(), cap: cap(cx, ttl, &mut f), span }
        }
        _ => {
            let entry = f.take(cx, "entry").and_then(|node| cx.finite(node, "entry", ttl, 1));
            let refresh = f.take(cx, "refresh").and_then(|node| cx.boolean(node, "refresh")).unwrap_or(true);
            Wait::Queue { entry: entry.unwrap_or(LessonTime(300_000)), refresh, cap: cap(cx, ttl, &mut f), span }
        }
    };
    f.end(cx, &of);
    wait
}

fn retry(cx: &mut Cx, ttl: Ttl, f: &mut Fields<'_>, span: Option<LessonTime>) -> Wait {
    let every = f.take(cx, "every").and_then(|node| {
        let every = cx.finite(node, "every", ttl, 0)?;
        if every == LessonTime::ZERO {
            cx.error(node.span, "a retry every 0ms would try for ever at one instant");
        }
        Some(every)
    });
    let jitter = f.take(cx, "jitter").and_then(|node| cx.number(node, "jitter", 0.0, 1.0));
    let backoff = f.take(cx, "backoff").and_then(|node| cx.number(node, "backoff", 1.0, 100.0));
    let max = f.take(cx, "max").and_then(|node| match node.scalar() {
        Some("none") => None,
        _ => cx.finite(node, "max", ttl, 1),
    });
    let new_token = f.take(cx, "token").and_then(|node| cx.choose(node, "token", &[("same", false), ("new", true)]));
    Wait::Retry {
        every: every.unwrap_or(LessonTime(200)),
        jitter: jitter.unwrap_or(0.0),
        backoff: backoff.unwrap_or(1.0),
        max,
        span,
        new_token: new_token.unwrap_or(false),
    }
}

/// `cap: ttl`, `none`, or a duration.
fn cap(cx: &mut Cx, ttl: Ttl, f: &mut Fields<'_>) -> Cap {
    let Some(node) = f.take(cx, "cap") else { return Cap::Ttl };
    match node.scalar() {
        Some("ttl") => Cap::Ttl,
        Some("none") => Cap::None,
        _ => {
            let cap = cx.finite(node, "cap", ttl, 0);
            if cap == Some(LessonTime::ZERO) {
                cx.error(node.span, "a sleep of 0ms would try for ever at one instant");
            }
            cap.map_or(Cap::Ttl, Cap::Of)
        }
    }
}

/// `watchdog:`
pub(super) fn watchdog(cx: &mut Cx, r: &Reading<'_>, ttl: Ttl, node: &Node) -> Option<Watchdog> {
    if !matches!(node.kind, Kind::Map(_)) {
        cx.error(node.span, format!("`watchdog` must be a map, not {}", node.describe()))
            .help("write `watchdog: {}`, or `watchdog: {every: ttl/3}`");
        return None;
    }
    let mut f = Fields::of(cx, node, "`watchdog`")?;
    let written = f.take(cx, "every");
    let every = match (written, ttl) {
        (Some(node), _) => cx.finite(node, "every", ttl, 1),
        (None, Ttl::Of(ttl)) => Some(LessonTime((ttl.ms() / 3).max(1))),
        (None, _) => None,
    };
    let how = renew_how(cx, r, &mut f, "a watchdog", ttl);
    let max_renewals = f.take(cx, "max_renewals").and_then(|node| cx.integer(node, "max_renewals", 0, 1_000_000));
    let max_total = f.take(cx, "max_total").and_then(|node| cx.duration(node, "max_total", ttl)).and_then(Length::end);
    let on_loss = f.take(cx, "on_loss").and_then(|node| cx.choose(node, "on_loss", ON_LOSS));
    let dies = f.take(cx, "on_error").and_then(|node| cx.choose(node, "on_error", &[("retry", false), ("die", true)]));
    let on_reply =
        f.take(cx, "arms_on").and_then(|node| cx.choose(node, "arms_on", &[("grant", false), ("reply", true)]));
    f.end(cx, "`watchdog`");
    Some(Watchdog {
        every: every.unwrap_or(LessonTime(1)),
        how,
        max_renewals: max_renewals.and_then(|n| u32::try_from(n).ok()),
        max_total,
        on_loss: on_loss.unwrap_or_default(),
        dies_on_error: dies.unwrap_or(false),
        arms_on_reply: on_reply.unwrap_or(false),
    })
}
