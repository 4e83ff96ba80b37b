//! What the format has and the engine cannot do yet is refused by name, before anything runs.

use crate::lesson::{Acquire, AcquireHow, Do, Plan, Span, Subject, Wait, Way};

/// Everything in `plan` that cannot be run yet: where, and what. Empty: it can be run.
#[must_use]
pub fn unsupported(plan: &Plan) -> Vec<(Span, String)> {
    let mut missing = Missing(Vec::new());
    for event in &plan.events {
        let span = event.span;
        match &event.what {
            Do::Acquire(acquire) => {
                if matches!(acquire.wait, Wait::Notify { .. }) && plan.is_on_real_clock() {
                    missing.add(span, "`wait: notify` with Sentinels");
                }
                let permits = event.lock.and_then(|lock| plan.locks.get(lock)).map_or(1, |lock| lock.permits);
                if permits > 1 {
                    missing.permit(span, acquire);
                }
            }
            Do::Release(release) if release.publish == Some(true) && plan.is_on_real_clock() => {
                missing.add(span, "`publish: true` with Sentinels");
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

    /// What a replica acknowledges is never kept from its master; all the rest of a replication link goes the other way.
    fn link(&mut self, plan: &Plan, span: Span, subject: &Subject, way: Way) {
        let Subject::Link(left, right) = subject else { return };
        let is_client = |name: &String| plan.clients.iter().any(|client| client.name == *name);
        if way == Way::Reply && !left.iter().chain(right).any(is_client) {
            self.add(span, "`way: reply` on a replication link");
        }
    }
}
