//! What the format has and the engine cannot do yet is refused by name, before anything runs.

use crate::lesson::{
    Acquire, AcquireHow, Do, Fence, Plan, RawCommand, ReleaseHow, RenewHow, Run, ServersKind, Span, Subject, Wait, Way,
};

/// Commands that wait for replicas: what a slow link does to them is not implemented yet.
const WAITS_FOR_REPLICAS: [&str; 1] = ["WAIT"];

/// Everything in `plan` that cannot be run yet: where, and what. Empty: it can be run.
#[must_use]
pub fn unsupported(plan: &Plan) -> Vec<(Span, String)> {
    let mut missing = Missing(Vec::new());
    match plan.servers.kind {
        ServersKind::Single | ServersKind::Replicated { .. } | ServersKind::Quorum { .. } => {}
        ServersKind::Sentinel { .. } => missing.add(plan.servers.span, "servers: sentinel"),
    }
    for (name, _) in &plan.servers.config {
        missing.add(name.span, "`config`");
    }
    for event in &plan.events {
        let span = event.span;
        if let Some(via) = &event.via {
            missing.add(via.span, "`via`");
        }
        match &event.what {
            Do::Acquire(acquire) => {
                missing.acquire(span, acquire);
                let permits = event.lock.and_then(|lock| plan.locks.get(lock)).map_or(1, |lock| lock.permits);
                if permits > 1 {
                    missing.permit(span, acquire);
                }
            }
            Do::Renew(renew) => {
                if let RenewHow::Run(run) = &renew.how {
                    missing.run(run);
                }
            }
            Do::Release(release) => {
                if release.publish == Some(true) {
                    missing.add(span, "`publish`");
                }
                match &release.how {
                    ReleaseHow::Delex => missing.add(span, "`how: delex`"),
                    ReleaseHow::Run(run) => missing.run(run),
                    ReleaseHow::Lua | ReleaseHow::Del | ReleaseHow::GetDel { .. } => {}
                }
            }
            Do::Redis(run) => missing.run(run),
            Do::ClockJump { .. } => missing.add(span, "`do: clock_jump`"),
            Do::Crash { power: true } => missing.add(span, "`power: true`"),
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
        match &acquire.how {
            AcquireHow::Run(run) => self.run(run),
            AcquireHow::SetNxPx
            | AcquireHow::Setnx
            | AcquireHow::SetnxExpire { .. }
            | AcquireHow::Reentrant
            | AcquireHow::Redlock { .. } => {}
        }
        match &acquire.wait {
            Wait::Notify { .. } => self.add(span, "`wait: notify`"),
            Wait::Queue { .. } => self.add(span, "`wait: queue`"),
            Wait::None | Wait::Retry { .. } => {}
        }
        if acquire.fence == Fence::Script && !matches!(acquire.how, AcquireHow::SetNxPx | AcquireHow::Setnx) {
            self.add(span, "`fence: script` with this way to acquire (`fence: database` can be)");
        }
        if acquire.wait_replicas.is_some() {
            self.add(span, "`wait_replicas`");
        }
        if let Some(RenewHow::Run(run)) = acquire.watchdog.as_ref().map(|watchdog| &watchdog.how) {
            self.run(run);
        }
    }

    /// A permit is taken with a script of its own, which knows one way and needs an end.
    fn permit(&mut self, span: Span, acquire: &Acquire) {
        match acquire.how {
            AcquireHow::Run(_) => {}
            AcquireHow::SetNxPx => {
                if acquire.fence == Fence::Script {
                    self.add(span, "`fence: script` with `permits` (`fence: database` can be)");
                }
                if acquire.ttl.is_none() {
                    self.add(span, "a permit without a TTL");
                }
            }
            _ => self.add(span, "`permits` with this `how` (leave it out, or write your own commands)"),
        }
    }

    fn run(&mut self, run: &Run) {
        for RawCommand { span, words } in &run.commands {
            let name = words.first().map(|word| word.to_ascii_uppercase()).unwrap_or_default();
            if WAITS_FOR_REPLICAS.contains(&name.as_str()) {
                self.add(*span, &format!("{name} (a command that waits)"));
            }
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
