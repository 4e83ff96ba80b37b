//! The loop of a run: go to the next instant, do what is due there in its order, until nothing is left.

use std::rc::Rc;

use super::clock::{Clock, ClockKind};
use super::database::{Store, infos};
use super::needs::CompareAndDelete;
use super::world::{Due, Trouble, World};
use crate::lesson::{Persistence, Plan, Subject};
use crate::servers::{Binary, NodeRole, Servers};
use crate::trace::{ClientInfo, EventInfo, Header, LessonTime, LockInfo, NodeInfo, Role, Trace, What};

/// A run that has more records than this is given up: nobody can follow it, and a file from somewhere must not keep the
/// machine busy for hours. A lesson has some dozens; a long one with much polling, thousands.
const MOST_RECORDS: usize = 50_000;

/// Runs a plan from beginning to end.
pub(super) async fn run(
    plan: Rc<Plan>,
    servers: Rc<Servers>,
    database: Store,
    clock: ClockKind,
    binary: &Binary,
) -> Result<Trace, Trouble> {
    database.prepare(&servers, &plan)?;
    let header = header(&plan, &servers, clock, binary);
    let delex = CompareAndDelete::of(&plan, &servers).await?;
    let world = Rc::new(World::new(plan, servers, database, Clock::start(clock), delex));
    world.begin().await?;
    world.enter_plan();
    let run = world.run_to_the_end().await;
    // Tasks hold the world and the world holds the tasks: whatever happens, they are parted.
    for slot in world.slots_where(|_| true) {
        world.end_slot(slot);
    }
    run?;
    Ok(Trace { header, records: world.take_records() })
}

impl World {
    async fn run_to_the_end(self: &Rc<Self>) -> Result<(), Trouble> {
        loop {
            let until = self.until();
            if self.plan.until.is_none() && self.is_over() {
                break;
            }
            let expiry = self.keys.borrow().next_deadline();
            let next = self.agenda.borrow().next_time();
            // Without an end of its own, a run in which only keys have a future has none.
            let Some(t) = next.into_iter().chain(expiry.filter(|_| next.is_some() || until.is_some())).min() else {
                break;
            };
            if until.is_some_and(|until| t > until) {
                break;
            }
            self.refuse_to_run_away()?;
            if self.hear_sentinels(t).await? {
                continue;
            }
            self.go_to(t).await?;
            if expiry.is_some_and(|expiry| expiry <= self.now()) {
                self.expire().await?;
                continue;
            }
            let Some((_, due)) = self.agenda.borrow_mut().pop() else { continue };
            match due {
                Due::Happening(event) => self.happen(event).await?,
                Due::HappeningEnd(event) => self.happening_over(event).await?,
                Due::Arrive(message) => self.arrive(message).await?,
                Due::Unblock(message) => self.unblock(message).await?,
                Due::Bytes { replica, upto, writes } => self.bytes_arrive(&replica, upto, writes).await?,
                Due::Acks { replica, upto } => self.acks_arrive(&replica, upto).await?,
                Due::Wake { slot, tag } => self.step(slot, tag).await?,
            }
            self.serve_blocked().await?;
        }
        if let Some(until) = self.until() {
            while self.hear_sentinels(until).await? {}
            self.go_to(until).await?;
        }
        self.tell_rest();
        self.record_not_run();
        self.record(What::End);
        Ok(())
    }

    /// When the run ends although something has a future: as the lesson says, or when nobody wants to wait any longer for
    /// somebody who still goes on.
    fn until(&self) -> Option<u64> {
        let go_on = || !self.clients.borrow().iter().all(|client| client.main_over);
        self.plan.until.or_else(|| self.plan.give_up.filter(|_| go_on())).map(LessonTime::ms)
    }

    /// Goes to lesson time `t`. With each whole second servers with `everysec` flush to their disks, before anything else
    /// happens in it.
    async fn go_to(&self, t: u64) -> Result<(), Trouble> {
        let before = self.now() / 1000;
        self.clock.advance(t).await;
        let power_fails = |event: &crate::lesson::Event| matches!(event.what, crate::lesson::Do::Crash { power: true });
        if t / 1000 > before
            && self.plan.servers.persistence == Persistence::EverySec
            && self.plan.events.iter().any(power_fails)
        {
            for node in self.servers.names().iter().filter(|node| self.is_up(node)) {
                self.servers.flush_to_disk(node).await?;
            }
        }
        Ok(())
    }

    /// A run that grows without end is ended, with the event that keeps it going.
    fn refuse_to_run_away(&self) -> Result<(), Trouble> {
        if self.record_count() <= MOST_RECORDS {
            return Ok(());
        }
        let line = self.last_sender().map(|event| self.plan.events[event].span.line);
        let at = line.map_or_else(String::new, |line| format!("; the event in line {line} goes on and on"));
        let t = LessonTime(self.now());
        Err(Trouble::Engine(format!(
            "by {t} s the run has {MOST_RECORDS} records{at}: wait longer between tries, or end the lesson earlier with `until`"
        )))
    }

    /// Every main program has ended, and every happening has happened.
    fn is_over(&self) -> bool {
        let done = |event: usize| self.event_run(event, |run| run.started.is_some() || run.skipped || run.impossible);
        self.clients.borrow().iter().all(|client| client.main_over)
            && (0..self.plan.events.len()).filter(|event| self.is_happening(*event)).all(done)
    }

    /// What never ran, or was not finished, for a reason that is not in the lesson.
    fn record_not_run(&self) {
        for (event, spec) in self.plan.events.iter().enumerate() {
            let (started, over) = self
                .event_run(event, |run| (run.started.is_some(), run.ended.is_some() || run.skipped || run.impossible));
            if spec.subject == Subject::None || over {
                continue;
            }
            let may_wait = matches!(spec.what, crate::lesson::Do::Acquire(_)) || self.is_blocked(event);
            let because = match (&spec.subject, started) {
                (Subject::Client { .. }, true) if may_wait && self.goes_on(event) => {
                    "its client was still waiting when the run ended".to_owned()
                }
                (_, true) => continue,
                (Subject::Client { client, .. }, false) if self.still_waits(client) => {
                    "its client was still waiting when the run ended".to_owned()
                }
                (_, false) if spec.at.is_some_and(|at| self.anchor_missing(at)) => {
                    "what its `at` names never came".to_owned()
                }
                (_, false) => "the run ended first".to_owned(),
            };
            self.record(What::EventNotRun { event, because });
        }
    }

    /// An event is under way, and so is the program that it stands in.
    fn goes_on(&self, event: usize) -> bool {
        let under_way = self.event_run(event, |run| run.started.is_some() && run.ended.is_none());
        under_way && !self.slots_where(|slot| slot.events.contains(&event)).is_empty()
    }

    fn still_waits(&self, client: &str) -> bool {
        self.plan.events.iter().enumerate().any(|(event, spec)| {
            matches!(&spec.subject, Subject::Client { client: name, .. } if name == client)
                && (matches!(spec.what, crate::lesson::Do::Acquire(_)) || self.is_blocked(event))
                && self.goes_on(event)
        })
    }

    /// A command of this event waits on its server.
    fn is_blocked(&self, event: usize) -> bool {
        self.blocked.borrow().values().any(|blocked| blocked.message.event == Some(event))
    }

    fn anchor_missing(&self, at: crate::lesson::At) -> bool {
        let crate::lesson::At::Anchor { event, start, .. } = at else { return false };
        self.event_run(event, |run| if start { run.started.is_none() } else { run.ended.is_none() })
    }
}

fn header(plan: &Plan, servers: &Servers, clock: ClockKind, binary: &Binary) -> Header {
    let (major, minor, patch) = binary.version;
    let nodes = servers.names().into_iter().map(|name| {
        let role = if matches!(servers.role(&name), Ok(NodeRole::ReplicaOf(_))) { Role::Replica } else { Role::Master };
        NodeInfo { name, role }
    });
    let locks = plan.locks.iter().map(|lock| LockInfo {
        name: lock.name.clone(),
        key: lock.key.clone(),
        ttl: lock.ttl,
        permits: lock.permits,
        fifo: lock.fifo,
    });
    let events = plan.events.iter().map(|event| EventInfo {
        id: event.id.clone(),
        line: event.span.line,
        kind: event.kind(),
        subject: match &event.subject {
            Subject::Client { client, task: None } => client.clone(),
            Subject::Client { client, task: Some(task) } => format!("{client}/{task}"),
            Subject::Node(node) => node.clone(),
            Subject::Link(left, right) => format!("{}-{}", left.join(","), right.join(",")),
            Subject::None => String::new(),
        },
        lock: event.lock.map(|lock| plan.locks[lock].name.clone()),
        say: match &event.what {
            crate::lesson::Do::Ask(ask) => Some(ask.text.clone()),
            _ => event.say.clone(),
        },
    });
    Header {
        lesson: plan.lesson.clone(),
        title: plan.title.clone(),
        variant: plan.variant.clone(),
        variant_title: plan.variant_title.clone(),
        clock: clock.name().to_owned(),
        seed: plan.seed,
        server: format!("{} {major}.{minor}.{patch}", binary.name),
        nodes: nodes.collect(),
        clients: plan.clients.iter().map(|client| ClientInfo { name: client.name.clone() }).collect(),
        locks: locks.collect(),
        resources: infos(plan),
        events: events.collect(),
    }
}
