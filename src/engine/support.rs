//! What the format has and the engine cannot do yet is refused by name, before anything runs.

use crate::lesson::{Acquire, AcquireHow, Do, Fence, Plan, ServersKind, Span, Wait};

/// Everything in `plan` that cannot be run yet: where, and what. Empty: it can be run.
#[must_use]
pub fn unsupported(plan: &Plan) -> Vec<(Span, String)> {
    let mut missing = Missing(Vec::new());
    for event in &plan.events {
        let span = event.span;
        match &event.what {
            Do::Acquire(acquire) => {
                if let Wait::Queue { .. } = acquire.wait {
                    missing.queue(plan, span, acquire);
                }
                let permits = event.lock.and_then(|lock| plan.locks.get(lock)).map_or(1, |lock| lock.permits);
                if permits > 1 {
                    missing.permit(span, acquire);
                    if matches!(acquire.wait, Wait::Queue { .. }) {
                        missing.add(span, "`wait: queue` with `permits`");
                    }
                }
            }
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

    /// A line is kept by scripts of its own, which know two ways to take the lock.
    fn queue(&mut self, plan: &Plan, span: Span, acquire: &Acquire) {
        if plan.servers.kind != ServersKind::Single {
            self.add(span, "`wait: queue` with several servers");
        } else if !matches!(acquire.how, AcquireHow::SetNxPx | AcquireHow::Setnx | AcquireHow::Reentrant) {
            self.add(span, "`wait: queue` with this way to acquire (leave `how` out, or write `reentrant`)");
        }
        if acquire.fence == Fence::Script {
            self.add(span, "`fence: script` with `wait: queue` (`fence: database` can be)");
        }
    }

    /// A permit is taken with a script of its own, which knows one way and needs an end.
    fn permit(&mut self, span: Span, acquire: &Acquire) {
        match acquire.how {
            AcquireHow::Run(_) => {}
            AcquireHow::SetNxPx => {
                if acquire.ttl.is_none() {
                    self.add(span, "a permit without a TTL");
                }
            }
            _ => self.add(span, "`permits` with this `how` (leave it out, or write your own commands)"),
        }
    }
}
