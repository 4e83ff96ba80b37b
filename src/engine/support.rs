//! What the format has and the engine cannot do yet is refused by name, before anything runs.

use crate::lesson::{Acquire, AcquireHow, Do, Plan, Span};

/// Everything in `plan` that cannot be run yet: where, and what. Empty: it can be run.
#[must_use]
pub fn unsupported(plan: &Plan) -> Vec<(Span, String)> {
    let mut missing = Missing(Vec::new());
    for event in &plan.events {
        if let Do::Acquire(acquire) = &event.what
            && event.lock.and_then(|lock| plan.locks.get(lock)).is_some_and(|lock| lock.permits > 1)
        {
            missing.permit(event.span, acquire);
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
}
