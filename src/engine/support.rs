//! What the format has and the engine cannot do yet is refused by name, before anything runs.

use crate::lesson::{
    Acquire, AcquireHow, Do, Fence, Plan, ReleaseHow, RenewHow, ServersKind, Span, Subject, Wait, Way,
};

/// Everything in `plan` that cannot be run yet: where, and what. Empty: it can be run.
#[must_use]
pub fn unsupported(plan: &Plan) -> Vec<(Span, String)> {
    let mut missing = Missing(Vec::new());
    match plan.servers.kind {
        ServersKind::Single | ServersKind::Replicated { .. } | ServersKind::Quorum { .. } => {}
        ServersKind::Sentinel { .. } => missing.add(plan.servers.span, "servers: sentinel"),
    }
    for lock in &plan.locks {
        if lock.fifo {
            missing.add(lock.span, "`order: fifo`");
        }
        if lock.permits != 1 {
            missing.add(lock.span, "`permits`");
        }
    }
    for event in &plan.events {
        let span = event.span;
        if let Some(via) = &event.via {
            missing.add(via.span, "`via`");
        }
        match &event.what {
            Do::Acquire(acquire) => missing.acquire(span, acquire),
            Do::Renew(renew) => {
                missing.renew(span, &renew.how, renew.ttl.is_none());
            }
            Do::Release(release) => {
                if release.publish == Some(true) {
                    missing.add(span, "`publish`");
                }
                if release.how == ReleaseHow::Delex {
                    missing.add(span, "`how: delex`");
                }
            }
            Do::Link { way, .. } => missing.link(plan, span, &event.subject, *way),
            _ => {}
        }
    }
    missing.0
}

struct Missing(Vec<(Span, String)>);

impl Missing {
    fn add(&mut self, span: Span, what: &str) {
        self.0.push((span, format!("{what} cannot be run yet")));
    }

    fn acquire(&mut self, span: Span, acquire: &Acquire) {
        if acquire.how == AcquireHow::Reentrant {
            self.add(span, "`how: reentrant`");
        }
        match &acquire.wait {
            Wait::Notify { .. } => self.add(span, "`wait: notify`"),
            Wait::Queue { .. } => self.add(span, "`wait: queue`"),
            Wait::None | Wait::Retry { .. } => {}
        }
        if acquire.fence == Fence::Script && !matches!(acquire.how, AcquireHow::SetNxPx | AcquireHow::Setnx) {
            self.add(span, "`fence: script` with this way to acquire (`fence: database` can be)");
        }
        if acquire.read_mode {
            self.add(span, "`mode: read`");
        }
        if let Some(watchdog) = &acquire.watchdog {
            self.renew(span, &watchdog.how, acquire.ttl.is_none());
        }
    }

    fn renew(&mut self, span: Span, how: &RenewHow, for_ever: bool) {
        if for_ever && !matches!(how, RenewHow::Run(_)) {
            self.add(span, "renewing a lease without a TTL");
        }
    }

    fn link(&mut self, plan: &Plan, span: Span, subject: &Subject, way: Way) {
        let Subject::Link(left, right) = subject else { return };
        let is_client = |name: &String| plan.clients.iter().any(|client| client.name == *name);
        if way != Way::Both && !left.iter().chain(right).any(is_client) {
            self.add(span, "`way` on a replication link");
        }
    }
}
