//! What a client does between two tries of an acquire (FORMAT §3.1).

use super::token;
use super::wire::Ctx;
use super::world::Trouble;
use crate::lesson::{Acquire, Wait};

/// The waiting of one acquire.
pub(super) struct Waiting {
    /// When its first try was made, ms.
    first_try: u64,
    /// The latest pause between two tries, before jitter, ms.
    pause: Option<u64>,
    /// It has subscribed since it last slept: not once more before it has slept.
    pub(super) subscribed: bool,
    /// Its latest try ended in an error: it was told no place, and there is nothing to listen for.
    pub(super) failed: bool,
    /// It stands in line, as far as it knows.
    pub(super) in_line: bool,
    /// When its entry in the line was last renewed, ms.
    pub(super) renewed: u64,
}

impl Waiting {
    pub(super) const fn since(first_try: u64) -> Self {
        Self { first_try, pause: None, subscribed: false, failed: false, in_line: false, renewed: first_try }
    }

    /// Waits for the next try, as `wait:` says. False: there will be none, its time is up.
    pub(super) async fn until_next(&mut self, ctx: &Ctx, acquire: &Acquire, key: &str) -> Result<bool, Trouble> {
        let world = &ctx.world;
        match &acquire.wait {
            Wait::Retry { every, jitter, backoff, max, span, .. } => {
                let next = self.pause.map_or(every.ms(), |last| token::scaled(last, *backoff).max(1));
                let next = max.map_or(next, |max| next.min(max.ms()));
                self.pause = Some(next);
                let next = token::jittered(&mut world.clients.borrow_mut()[ctx.client].rng, next, *jitter);
                let give_up = span.map(|span| self.first_try + span.ms());
                if let Some(give_up) = give_up.filter(|give_up| world.now() + next > *give_up) {
                    ctx.sleep_until(give_up).await;
                    return Ok(false);
                }
                ctx.sleep(next).await;
                Ok(true)
            }
            Wait::Notify { span, .. } => {
                let give_up = span.map(|span| self.first_try + span.ms());
                ctx.until_told(self, acquire, key, give_up).await
            }
            Wait::Queue { span, .. } => {
                let give_up = span.map(|span| self.first_try + span.ms());
                ctx.until_my_turn(self, acquire, key, give_up).await
            }
            Wait::None => Ok(false),
        }
    }
}
