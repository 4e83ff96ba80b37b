//! What guards a grant in the background: the watchdog, which renews, and the deadline, which gives up in time.

use std::cell::Cell;
use std::rc::Rc;

use super::agenda::{Class, Hanging, file_order};
use super::queue::is_grant;
use super::slot::{SlotKind, Tag};
use super::wire::{Ctx, LateGrant};
use super::world::{Trouble, World};
use crate::lesson::{Do, OnLoss, Watchdog};
use crate::trace::{LessonTime, Outcome, Reply, What, Why};

impl World {
    /// Starts the watchdog of a grant. It first renews one `every` after it.
    pub(super) fn start_watchdog(self: &Rc<Self>, client: usize, lock: usize, event: usize, watchdog: &Watchdog) {
        for old in self.slots_where(|slot| slot.client == client && slot.kind == SlotKind::Watchdog(lock)) {
            self.end_slot(old);
        }
        let (world, watchdog) = (Rc::clone(self), watchdog.clone());
        let order = file_order(event, Hanging::Tick);
        let slot = self.spawn(client, "watchdog", SlotKind::Watchdog(lock), Vec::new(), |slot| {
            let ctx = guard_ctx(world, slot, client, event, "watchdog", order);
            Box::pin(async move { ctx.watch(lock, &watchdog).await })
        });
        self.wake_now(slot, Tag::Time, Class::WorkEnd, order);
    }

    /// Starts (or moves) the deadline of a grant: at `until` the client stops by itself.
    pub(super) fn start_deadline(self: &Rc<Self>, client: usize, lock: usize, event: usize, until: u64) {
        for old in self.slots_where(|slot| slot.client == client && slot.kind == SlotKind::Deadline(lock)) {
            self.end_slot(old);
        }
        let world = Rc::clone(self);
        let order = file_order(event, Hanging::Deadline);
        let slot = self.spawn(client, "deadline", SlotKind::Deadline(lock), Vec::new(), |slot| {
            let ctx = guard_ctx(world, slot, client, event, "deadline", order);
            Box::pin(async move {
                ctx.sleep_until(until).await;
                ctx.world.told_lost(client, lock, Some(Why::Deadline));
                Ok(())
            })
        });
        self.wake_now(slot, Tag::Time, Class::WorkEnd, order);
    }

    /// A renewal has succeeded: the deadline, if there is one, moves to `until`.
    pub(super) fn move_deadline(self: &Rc<Self>, client: usize, lock: usize, until: u64) {
        let guarded = self.slots_where(|slot| slot.client == client && slot.kind == SlotKind::Deadline(lock));
        let event = self.lock_run(client, lock, |run| run.latest_event);
        if let (false, Some(event)) = (guarded.is_empty(), event) {
            self.start_deadline(client, lock, event, until);
        }
    }

    /// A granting reply has come that nobody waits for any more; where the watchdog is armed by the reply, it starts.
    pub(super) fn late_grant(self: &Rc<Self>, client: usize, late: LateGrant, reply: &Reply) {
        if let Do::Acquire(acquire) = &self.plan.events[late.event].what
            && is_grant(acquire, reply)
            && let Some(watchdog) = &acquire.watchdog
        {
            self.start_watchdog(client, late.lock, late.event, watchdog);
        }
    }
}

fn guard_ctx(world: Rc<World>, slot: usize, client: usize, event: usize, task: &str, order: u64) -> Ctx {
    let (net, late) = (Cell::new(None), Cell::new(None));
    Ctx { world, slot, client, task: task.to_owned(), event, class: Class::Step, order, net, late }
}

impl Ctx {
    /// The watchdog: renew each `every`, counted from the grant, until told to stop. Redisson's lease of 30 s, renewed
    /// each third, is this with `ttl: 30s` and `every: ttl/3` (its `lockWatchdogTimeout`, Redisson's configuration page).
    async fn watch(&self, lock: usize, watchdog: &Watchdog) -> Result<(), Trouble> {
        let world = &self.world;
        let granted = world.now();
        let every = watchdog.every.ms().max(1);
        let ends = watchdog.max_total.map(|total| granted + total.ms());
        let ttl = match &world.plan.events[self.event].what {
            Do::Acquire(acquire) => acquire.ttl.map(LessonTime::ms),
            _ => None,
        };
        let mut renewals = 0;
        loop {
            // A tick that fell due in a pause happens once, at its end; then the rhythm of the grant goes on.
            let next = granted + ((world.now() - granted) / every + 1) * every;
            self.sleep_until(ends.map_or(next, |ends| next.min(ends))).await;
            let out_of_time = ends.is_some_and(|ends| world.now() >= ends);
            if out_of_time || watchdog.max_renewals.is_some_and(|max| renewals >= max) {
                world.told_lost(self.client, lock, Some(Why::Max));
                return Ok(());
            }
            let end = self.renew_once(&watchdog.how, lock, ttl).await?;
            let (client, name) = (world.client_name(self.client).to_owned(), world.lock_name(lock).to_owned());
            world.record(What::Tick { client, lock: name, outcome: end.outcome });
            match end.outcome {
                Outcome::Renewed => renewals += 1,
                Outcome::Lost if watchdog.on_loss == OnLoss::Stop => {
                    world.told_lost(self.client, lock, None);
                    return Ok(());
                }
                Outcome::Error | Outcome::Unknown if watchdog.dies_on_error => return Ok(()),
                _ => {}
            }
        }
    }
}
