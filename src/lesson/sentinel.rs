//! What makes no sense, or cannot be, in a lesson whose servers are watched by Sentinels.

use super::combinations::place;
use super::expect::{Expect, ExpectTime, Expected, Fact};
use super::model::{Do, LinkChange, Plan, ServersKind, Subject, Way};
use super::reader::Cx;
use super::scene::{SENTINELS, node_names};
use super::yaml::Node;

/// Checks one variant. `nodes` are the events as written.
pub(super) fn plan(cx: &mut Cx, plan: &Plan, nodes: &[Node]) {
    if !matches!(plan.servers.kind, ServersKind::Sentinel { .. }) {
        return;
    }
    let processes = node_names(plan.servers.kind);
    let watches = |name: &String| SENTINELS.contains(&name.as_str());
    for (event, node) in plan.events.iter().zip(nodes) {
        if let Some(via) = event.via.as_ref().filter(|via| watches(&via.value)) {
            cx.error(via.span, format!("`{}` is a Sentinel and has no keys", via.value));
        }
        match (&event.subject, &event.what) {
            (_, Do::Promote { .. } | Do::Demote) => {
                cx.error(
                    place(node, "do"),
                    "with Sentinels nobody promotes or demotes by hand: they do it by themselves",
                )
                .help("leave it out, or write `servers: replicated`");
            }
            (Subject::Node(name), what) if watches(name) && !matches!(what, Do::Crash { .. } | Do::Restart) => {
                cx.error(place(node, "do"), format!("`{name}` is a Sentinel and has no keys"))
                    .help("a Sentinel can `crash` and `restart`");
            }
            (Subject::Link(left, right), Do::Link { change, way, .. }) => {
                let process = |name: &String| processes.contains(name);
                let of_watch = (left.iter().any(watches) && right.iter().any(process))
                    || (right.iter().any(watches) && left.iter().any(process));
                if of_watch && (!matches!(change, LinkChange::Cut | LinkChange::Heal) || *way != Way::Both) {
                    cx.error(place(node, "do"), "the link between a Sentinel and a server can only be cut, both ways")
                        .help("write `do: cut` without `way:`, and `do: heal`");
                }
            }
            _ => {}
        }
    }
    for expect in &plan.expect {
        times(cx, expect);
        if let Expected::Fact(Fact::Holder { node: Some(name), .. } | Fact::Key { node: Some(name), .. }) = &expect.what
            && watches(name)
        {
            cx.error(expect.span, format!("`{name}` is a Sentinel and has no keys"));
        }
    }
}

/// Sentinels run on the real clock: no time can be exact.
fn times(cx: &mut Cx, expect: &Expect) {
    let exact = [expect.at, expect.to].into_iter().any(|time| matches!(time, Some(ExpectTime::At(_))));
    if exact && matches!(expect.what, Expected::Finding { .. }) {
        cx.error(expect.span, "with Sentinels no time is exact").help("write a range, `at: [10s, 20s]`");
    }
}
