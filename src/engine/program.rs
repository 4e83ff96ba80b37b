//! A client's program: its actions one after another, in file order.

use std::cell::Cell;
use std::rc::Rc;

use super::agenda::{Class, Hanging, file_order};
use super::slot::{SlotKind, Tag, WakeAt};
use super::wire::Ctx;
use super::world::{Due, Trouble, World};
use crate::lesson::{At, Do, OnLoss, Run, Subject, Test, When};
use crate::trace::{EventKind, LessonTime, Outcome, Reply, What, Why};

/// How an action ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct End {
    pub(super) outcome: Outcome,
    pub(super) why: Option<Why>,
    /// The reply that decided.
    pub(super) reply: Option<Reply>,
}

impl End {
    pub(super) const fn of(outcome: Outcome) -> Self {
        Self { outcome, why: None, reply: None }
    }

    pub(super) const fn with(outcome: Outcome, reply: Reply) -> Self {
        Self { outcome, why: None, reply: Some(reply) }
    }
}

/// When an event is due.
enum DueTime {
    At(u64),
    /// What it is anchored to has not happened yet.
    Later,
    /// What it is anchored to was skipped.
    Never,
}

/// Where a step of this event stands among the steps of an instant: all commands of a release count as releases.
pub(super) fn step_class(kind: EventKind) -> Class {
    if kind == EventKind::Release { Class::Release } else { Class::Step }
}

impl World {
    /// Enters all programs and happenings of the plan.
    pub(super) fn enter_plan(self: &Rc<Self>) {
        let mut programs: Vec<(usize, String, Vec<usize>)> = Vec::new();
        for (i, event) in self.plan.events.iter().enumerate() {
            let Subject::Client { client, task } = &event.subject else { continue };
            if matches!(event.what, Do::Crash { .. } | Do::Pause { .. }) {
                continue;
            }
            let Some(client) = self.client_index(client) else { continue };
            let task = task.clone().unwrap_or_else(|| "main".to_owned());
            match programs.iter_mut().find(|(c, t, _)| *c == client && *t == task) {
                Some((_, _, events)) => events.push(i),
                None => programs.push((client, task, vec![i])),
            }
        }
        for client in 0..self.plan.clients.len() {
            let acts = programs.iter().any(|(c, task, _)| *c == client && task == "main");
            if !acts {
                self.clients.borrow_mut()[client].main_over = true;
            }
        }
        for (client, task, events) in programs {
            let first = events[0];
            let (world, name, list) = (Rc::clone(self), task.clone(), events.clone());
            let slot = self.spawn(client, &task, SlotKind::Program, events, |slot| {
                Box::pin(async move { world.program(slot, client, &name, &list).await })
            });
            self.wake_now(
                slot,
                Tag::Time,
                step_class(self.plan.events[first].kind()),
                file_order(first, Hanging::Event),
            );
        }
        for i in 0..self.plan.events.len() {
            if self.is_happening(i) {
                self.enter_happening(i);
            }
        }
    }

    pub(super) fn is_happening(&self, event: usize) -> bool {
        let event = &self.plan.events[event];
        match event.subject {
            Subject::Client { .. } => matches!(event.what, Do::Crash { .. } | Do::Pause { .. }),
            Subject::Node(_) | Subject::Link(..) => true,
            Subject::None => false,
        }
    }

    fn enter_happening(&self, event: usize) {
        match self.due_time(event) {
            DueTime::At(t) => {
                self.schedule(t, Class::Happening, file_order(event, Hanging::Event), Due::Happening(event));
            }
            DueTime::Later => {
                if let Some(At::Anchor { event: anchor, .. }) = self.plan.events[event].at {
                    self.event_run(anchor, |run| run.anchored.push(event));
                }
            }
            DueTime::Never => self.skip(event),
        }
    }

    fn due_time(&self, event: usize) -> DueTime {
        match self.plan.events[event].at {
            None => DueTime::At(self.now()),
            Some(At::Time(t)) => DueTime::At(t.ms().max(self.now())),
            Some(At::Anchor { event: anchor, start, plus }) => self.event_run(anchor, |run| {
                let base = if start { run.started } else { run.ended };
                match base {
                    Some(base) => DueTime::At((base + plus.ms()).max(self.now())),
                    None if run.skipped => DueTime::Never,
                    None => DueTime::Later,
                }
            }),
        }
    }

    async fn program(self: &Rc<Self>, slot: usize, client: usize, task: &str, events: &[usize]) -> Result<(), Trouble> {
        for &event in events {
            let class = step_class(self.plan.events[event].kind());
            let order = file_order(event, Hanging::Event);
            let due = loop {
                match self.due_time(event) {
                    DueTime::At(t) => break Some(t),
                    DueTime::Never => break None,
                    DueTime::Later => {
                        if let Some(At::Anchor { event: anchor, .. }) = self.plan.events[event].at {
                            self.event_run(anchor, |run| run.waiting_slots.push(slot));
                        }
                        self.slots.borrow_mut()[slot].excused = true;
                        self.park(slot, Vec::new()).await;
                    }
                }
            };
            let Some(due) = due else {
                self.skip(event);
                continue;
            };
            let wake = WakeAt { t: due, class, order, tag: Tag::Time, moves: false };
            self.park(slot, vec![wake]).await;
            if !self.may_run(event, client) {
                self.skip(event);
                continue;
            }
            self.warn_if_late(slot, event);
            self.start(event);
            let net = Cell::new(self.plan.events[event].net);
            let ctx = Ctx {
                world: Rc::clone(self),
                slot,
                client,
                task: task.to_owned(),
                event,
                class,
                order,
                net,
                late: Cell::new(None),
            };
            let end = ctx.act().await?;
            self.end(event, end);
        }
        self.record(What::TaskEnded { client: self.client_name(client).to_owned(), task: task.to_owned() });
        if task == "main" {
            self.end_transaction(client, None);
            self.clients.borrow_mut()[client].main_over = true;
            self.all_beliefs_end(client);
        }
        Ok(())
    }

    fn warn_if_late(&self, slot: usize, event: usize) {
        let planned = match self.plan.events[event].at {
            Some(At::Time(t)) => t.ms(),
            _ => return,
        };
        let now = self.now();
        if now > planned && !self.slots.borrow()[slot].excused {
            let text = format!("it was planned for {planned} ms and ran at {now} ms: its client was busy until then");
            self.record(What::Warning { event: Some(event), text });
        }
    }

    /// Whether an event's `when` holds (FORMAT §8).
    pub(super) fn may_run(&self, event: usize, client: usize) -> bool {
        let plan = &self.plan.events[event];
        match &plan.when {
            When::Always => true,
            When::Default => self.may_run_by_default(event, client),
            When::Latest(outcomes) => {
                let clients = self.clients.borrow();
                let locks = &clients[client].locks;
                let latest = plan
                    .lock
                    .map(|lock| &locks[lock])
                    .or_else(|| locks.iter().filter(|run| run.asked).max_by_key(|run| run.latest_event));
                latest.is_some_and(|run| {
                    let outcome = if run.told { Some(Outcome::Lost) } else { run.latest };
                    outcome.is_some_and(|outcome| outcomes.contains(&outcome))
                })
            }
            When::Events(tests) => tests.iter().all(|test| {
                self.event_run(test.event, |run| match &test.test {
                    Test::Outcome(outcomes) => {
                        let lost = run.lost && outcomes.contains(&Outcome::Lost);
                        lost || run.outcome.is_some_and(|outcome| outcomes.contains(&outcome))
                    }
                    Test::Reply(pattern) => run.reply.as_ref().is_some_and(|reply| pattern.matches(reply)),
                    Test::Value(value) => run.value == Some(*value),
                })
            }),
        }
    }

    fn may_run_by_default(&self, event: usize, client: usize) -> bool {
        let plan = &self.plan.events[event];
        let clients = self.clients.borrow();
        let locks = &clients[client].locks;
        let granted = |lock: usize| locks[lock].latest == Some(Outcome::Granted) && !locks[lock].told;
        match plan.kind() {
            EventKind::Renew | EventKind::Release => plan.lock.is_none_or(granted),
            EventKind::Work
            | EventKind::Read
            | EventKind::Write
            | EventKind::Begin
            | EventKind::Commit
            | EventKind::Rollback => match plan.lock.filter(|_| plan.lock_named) {
                Some(lock) => granted(lock),
                None => (0..locks.len()).filter(|lock| locks[*lock].asked).all(granted),
            },
            _ => true,
        }
    }

    /// An event starts: first what stands before it in the file is told.
    pub(super) fn start(&self, event: usize) {
        self.tell_before(event);
        self.event_run(event, |run| run.started = Some(self.now()));
        self.record(What::EventStart { event });
        self.reached(event);
    }

    /// Tells the texts and questions that stand before `event`.
    fn tell_before(&self, event: usize) {
        let told: Vec<usize> = {
            let mut untold = self.untold.borrow_mut();
            let told = untold
                .iter()
                .filter(|(_, before)| self.next_real(*before) == Some(event))
                .map(|(text, _)| *text)
                .collect();
            untold.retain(|(_, before)| self.next_real(*before) != Some(event));
            told
        };
        for text in told {
            self.event_run(text, |run| {
                run.started = Some(self.now());
                run.ended = Some(self.now());
            });
            self.record(What::EventStart { event: text });
        }
    }

    /// The first event from `from` on that is neither a text nor skipped.
    fn next_real(&self, from: usize) -> Option<usize> {
        let events = self.events.borrow();
        (from..events.len()).find(|i| self.plan.events[*i].subject != Subject::None && !events[*i].skipped)
    }

    /// Tells what is left when the run ends: texts after the last event.
    pub(super) fn tell_rest(&self) {
        let rest = std::mem::take(&mut *self.untold.borrow_mut());
        for (text, _) in rest {
            self.event_run(text, |run| run.started = Some(self.now()));
            self.record(What::EventStart { event: text });
        }
    }

    /// An action has ended.
    fn end(&self, event: usize, end: End) {
        self.event_run(event, |run| {
            run.ended = Some(self.now());
            run.outcome = Some(end.outcome);
            run.reply.clone_from(&end.reply);
        });
        self.record(What::EventEnd { event, outcome: end.outcome, why: end.why, reply: end.reply });
        self.reached(event);
    }

    /// A happening has ended (at once, or after its `for:`).
    pub(super) fn happening_ended(&self, event: usize) {
        self.event_run(event, |run| run.ended = Some(self.now()));
        self.reached(event);
    }

    /// Skips an event, and with it what is anchored to it.
    pub(super) fn skip(&self, event: usize) {
        if self.event_run(event, |run| std::mem::replace(&mut run.skipped, true)) {
            return;
        }
        self.record(What::EventSkipped { event });
        // What stood before it in the file may have been waiting for an event that has started already.
        let next = self.next_real(event);
        if let Some(next) = next
            && self.event_run(next, |run| run.started.is_some())
        {
            self.tell_before(next);
        }
        self.reached(event);
    }

    /// An event has started, ended, or was skipped: whoever waits for that looks again.
    fn reached(&self, event: usize) {
        let (slots, happenings) =
            self.event_run(event, |run| (std::mem::take(&mut run.waiting_slots), std::mem::take(&mut run.anchored)));
        for slot in slots {
            self.wake_now(slot, Tag::Anchor, Class::WorkEnd, 0);
        }
        for happening in happenings {
            self.enter_happening(happening);
        }
    }
}

impl Ctx {
    async fn act(&self) -> Result<End, Trouble> {
        let plan = Rc::clone(&self.world.plan);
        match &plan.events[self.event].what {
            Do::Acquire(acquire) => self.acquire(acquire).await,
            Do::Renew(renew) => self.renew(renew).await,
            Do::Release(release) => self.release(release).await,
            Do::Redis(run) => self.redis(run).await,
            Do::Work { span, on_loss } => Ok(self.work(span.map(LessonTime::ms), *on_loss).await),
            Do::Idle { span } => {
                self.spend(span.map(LessonTime::ms)).await;
                Ok(End::of(Outcome::Done))
            }
            Do::Read { resource } => self.read(resource).await,
            Do::Write { resource, change, guard } => self.write(resource, change, *guard).await,
            Do::Begin { snapshot } => self.begin(*snapshot),
            Do::Commit => self.commit().await,
            Do::Rollback => Ok(self.rollback()),
            _ => Err(Trouble::Engine("an action that was to be refused has been run".to_owned())),
        }
    }

    async fn redis(&self, run: &Run) -> Result<End, Trouble> {
        self.run(run, Outcome::Ok, Outcome::Error).await
    }

    /// Spends time; a pause does not count. None: for ever, or until stopped.
    async fn spend(&self, ms: Option<u64>) -> Tag {
        let wake = ms.map(|ms| WakeAt {
            t: self.world.now() + ms,
            class: Class::WorkEnd,
            order: self.order,
            tag: Tag::Time,
            moves: true,
        });
        self.world.park(self.slot, wake.into_iter().collect()).await
    }

    /// Works in the critical section of the locks that the work is for.
    async fn work(&self, ms: Option<u64>, on_loss: OnLoss) -> End {
        let world = &self.world;
        let locks = self.working_for();
        world.record_works(self.slot, &locks, true);
        if on_loss == OnLoss::Stop {
            world.slots.borrow_mut()[self.slot].stoppable.clone_from(&locks);
        }
        let tag = self.spend(ms).await;
        world.slots.borrow_mut()[self.slot].stoppable.clear();
        world.record_works(self.slot, &locks, false);
        End::of(if tag == Tag::Stopped { Outcome::Stopped } else { Outcome::Done })
    }

    /// The lock that is named, else all that the client has asked for, else the only one there is.
    fn working_for(&self) -> Vec<usize> {
        let world = &self.world;
        let event = &world.plan.events[self.event];
        if let Some(lock) = event.lock.filter(|_| event.lock_named) {
            return vec![lock];
        }
        let clients = world.clients.borrow();
        let locks = &clients[self.client].locks;
        let asked: Vec<usize> = (0..locks.len()).filter(|lock| locks[*lock].asked).collect();
        if asked.is_empty() && locks.len() == 1 { vec![0] } else { asked }
    }
}
