//! Tasks: a client's programs, watchdogs and deadlines, each an async function that parks on the agenda.
//!
//! A task is polled by the scheduler alone and only when it is its turn. It parks by giving the agenda one or more
//! entries and returning `Pending`; the first entry that comes up wakes it and takes back the others. Real I/O returns
//! `Pending` too, but without parking: then the scheduler waits for the socket and lesson time stands still.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::agenda::{Class, Place, after_pause};
use super::world::{Due, Trouble, World};
use crate::trace::What;

/// A task that neither parks nor ends within this *real* time hangs on something that will never come: an engine error,
/// not something to wait for. Longer than the servers' own patience, whose errors say more.
const STUCK: Duration = Duration::from_secs(70);

/// What woke a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// Its time has come.
    Time,
    /// It has waited long enough for an answer.
    Timeout,
    /// A reply is there (or the news that none will come).
    Reply,
    /// Its client was told that the lock is lost.
    Stopped,
    /// The event that it waits for has started, ended, or was skipped.
    Anchor,
}

/// When and in which order a task wants to be woken.
#[derive(Clone, Copy, Debug)]
pub(super) struct WakeAt {
    pub(super) t: u64,
    pub(super) class: Class,
    pub(super) order: u64,
    pub(super) tag: Tag,
    /// A pause moves it (a `work` or `idle` does not get shorter by a pause).
    pub(super) moves: bool,
}

/// What a task is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SlotKind {
    /// A program: `main`, or a task of the lesson's.
    Program,
    /// The watchdog of this lock.
    Watchdog(usize),
    /// The deadline of this lock.
    Deadline(usize),
}

pub(super) struct Slot {
    pub(super) client: usize,
    pub(super) task: String,
    pub(super) kind: SlotKind,
    /// The events of a program, in file order.
    pub(super) events: Vec<usize>,
    pub(super) over: bool,
    /// Its client waited, was paused, or met a fault: being late is no surprise.
    pub(super) excused: bool,
    /// The locks in whose critical section it works.
    pub(super) working: Vec<usize>,
    /// Those of them whose loss stops the work.
    pub(super) stoppable: Vec<usize>,
    /// It waits for the database.
    pub(super) busy: bool,
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    parked: Vec<(Place, WakeAt)>,
    paused: u32,
    paused_at: u64,
    put_off: Vec<WakeAt>,
    fired: Option<Tag>,
}

impl World {
    /// Enters a task. It first runs when something wakes it.
    pub(super) fn spawn(
        self: &Rc<Self>,
        client: usize,
        task: &str,
        kind: SlotKind,
        events: Vec<usize>,
        body: impl FnOnce(usize) -> Pin<Box<dyn Future<Output = Result<(), Trouble>>>>,
    ) -> usize {
        let slot = self.slots.borrow().len();
        let (world, body) = (Rc::clone(self), body(slot));
        let future = Box::pin(async move {
            if let Err(trouble) = body.await {
                *world.trouble.borrow_mut() = Some(trouble);
            }
        });
        self.slots.borrow_mut().push(Slot {
            client,
            task: task.to_owned(),
            kind,
            events,
            over: false,
            excused: false,
            working: Vec::new(),
            busy: false,
            stoppable: Vec::new(),
            future: Some(future),
            parked: Vec::new(),
            paused: 0,
            paused_at: 0,
            put_off: Vec::new(),
            fired: None,
        });
        slot
    }

    /// Parks a task until the first of `wakes`, or until something else wakes it.
    pub(super) fn park(self: &Rc<Self>, slot: usize, wakes: Vec<WakeAt>) -> Park {
        Park { world: Rc::clone(self), slot, wakes: Some(wakes) }
    }

    /// Wakes a parked task at this instant, in its order.
    pub(super) fn wake_now(&self, slot: usize, tag: Tag, class: Class, order: u64) {
        if self.slots.borrow()[slot].over {
            return;
        }
        let wake = WakeAt { t: self.now(), class, order, tag, moves: false };
        self.enter(slot, wake);
    }

    /// Wakes a task that waits for an answer. What arrives comes before the steps of its instant, so an answer at the last
    /// moment is in time.
    pub(super) fn answer(&self, slot: usize, class: Class, order: u64) {
        self.slots.borrow_mut()[slot]
            .parked
            .retain(|(place, wake)| wake.tag != Tag::Timeout || !self.agenda.borrow_mut().remove(place));
        self.wake_now(slot, Tag::Reply, class, order);
    }

    fn enter(&self, slot: usize, wake: WakeAt) {
        let slots = &mut self.slots.borrow_mut()[slot];
        if slots.paused > 0 {
            slots.put_off.push(wake);
        } else {
            let place = self.schedule(wake.t, wake.class, wake.order, Due::Wake { slot, tag: wake.tag });
            slots.parked.push((place, wake));
        }
    }

    /// Lets a woken task run until it parks again or ends.
    pub(super) async fn step(self: &Rc<Self>, slot: usize, tag: Tag) -> Result<(), Trouble> {
        let future = {
            let slot = &mut self.slots.borrow_mut()[slot];
            for (place, _) in slot.parked.drain(..) {
                self.agenda.borrow_mut().remove(&place);
            }
            slot.fired = Some(tag);
            slot.future.take()
        };
        let Some(mut future) = future else { return Ok(()) };
        self.parked.set(false);
        let run = std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(true),
            Poll::Pending if self.parked.get() => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        });
        let ended = tokio::time::timeout(STUCK, run).await.map_err(|_| {
            let slot = &self.slots.borrow()[slot];
            let (client, task) = (self.client_name(slot.client), &slot.task);
            Trouble::Engine(format!("{client}/{task} has waited {} s for a server without an answer", STUCK.as_secs()))
        })?;
        {
            let slot = &mut self.slots.borrow_mut()[slot];
            if ended || slot.over {
                slot.over = true;
            } else {
                slot.future = Some(future);
            }
        }
        self.trouble.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// Ends a task where it stands. One that is running at this moment ends when it parks.
    pub(super) fn end_slot(&self, slot: usize) {
        let future = {
            let slot = &mut self.slots.borrow_mut()[slot];
            slot.over = true;
            slot.put_off.clear();
            for (place, _) in slot.parked.drain(..) {
                self.agenda.borrow_mut().remove(&place);
            }
            slot.future.take()
        };
        drop(future); // outside the borrow: it may hold the last handle of a connection
    }

    /// Indices of a client's living tasks.
    pub(super) fn slots_where(&self, pick: impl Fn(&Slot) -> bool) -> Vec<usize> {
        let slots = self.slots.borrow();
        slots.iter().enumerate().filter(|(_, slot)| !slot.over && pick(slot)).map(|(i, _)| i).collect()
    }

    /// Ends a lock's watchdog and deadline.
    pub(super) fn end_guards(&self, client: usize, lock: usize) {
        let guards = |slot: &Slot| {
            slot.client == client && (slot.kind == SlotKind::Watchdog(lock) || slot.kind == SlotKind::Deadline(lock))
        };
        for slot in self.slots_where(guards) {
            self.end_slot(slot);
        }
    }

    /// Stops a client's running works that depend on `lock`.
    pub(super) fn stop_work(&self, client: usize, lock: usize) {
        for slot in self.slots_where(|slot| slot.client == client && slot.stoppable.contains(&lock)) {
            self.wake_now(slot, Tag::Stopped, Class::WorkEnd, 0);
        }
    }

    /// Records that a task works, or works no more, in the critical section of `locks`.
    pub(super) fn record_works(&self, slot: usize, locks: &[usize], on: bool) {
        let (client, task) = {
            let slot = &mut self.slots.borrow_mut()[slot];
            slot.working = if on { locks.to_vec() } else { Vec::new() };
            (slot.client, slot.task.clone())
        };
        let locks = locks.iter().map(|lock| self.lock_name(*lock).to_owned()).collect();
        self.record(What::Works { client: self.client_name(client).to_owned(), task, on, locks });
    }

    /// Stops the world for a task.
    pub(super) fn pause_slot(&self, slot: usize) {
        let now = self.now();
        let slot = &mut self.slots.borrow_mut()[slot];
        slot.paused += 1;
        slot.excused = true;
        if slot.paused > 1 {
            return;
        }
        slot.paused_at = now;
        for (place, wake) in slot.parked.drain(..) {
            self.agenda.borrow_mut().remove(&place);
            slot.put_off.push(wake);
        }
    }

    /// Lets it go on: a work ends so much later, and what fell due meanwhile is due now, guards after programs.
    pub(super) fn resume_slot(&self, slot: usize) {
        let now = self.now();
        let wakes = {
            let slot = &mut self.slots.borrow_mut()[slot];
            slot.paused = slot.paused.saturating_sub(1);
            if slot.paused > 0 || slot.over {
                return;
            }
            let late = now - slot.paused_at;
            let guard = slot.kind != SlotKind::Program;
            let mut put_off = std::mem::take(&mut slot.put_off);
            // Of an answer and the end of the wait for it, the one counts that was first, though both are seen only now.
            put_off.sort_by_key(|wake| (wake.t, wake.tag != Tag::Reply));
            put_off
                .into_iter()
                .map(|wake| match wake {
                    wake if wake.moves => WakeAt { t: wake.t + late, ..wake },
                    wake if wake.t <= now && guard => WakeAt { t: now, order: after_pause(wake.order), ..wake },
                    wake => WakeAt { t: wake.t.max(now), ..wake },
                })
                .collect::<Vec<_>>()
        };
        for wake in wakes {
            self.enter(slot, wake);
        }
    }
}

/// A parked task's wait.
pub(super) struct Park {
    world: Rc<World>,
    slot: usize,
    wakes: Option<Vec<WakeAt>>,
}

impl Future for Park {
    type Output = Tag;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Tag> {
        if let Some(wakes) = self.wakes.take() {
            self.world.slots.borrow_mut()[self.slot].fired = None;
            for wake in wakes {
                self.world.enter(self.slot, wake);
            }
        } else if let Some(tag) = self.world.slots.borrow_mut()[self.slot].fired.take() {
            return Poll::Ready(tag);
        }
        self.world.parked.set(true);
        Poll::Pending
    }
}
