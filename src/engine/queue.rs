//! Standing in line (`wait: {queue: …}`): a lock that is granted in the order in which it was asked for.
//!
//! Redis keeps no line, so the lock's users keep one in it: a list of tokens, and beside it a sorted set that says until
//! when each of them counts. All that is done to them is done in scripts, and a release tells whoever is first, on a
//! channel of its own. (The shape is that of Redisson's fair lock.)
//!
//! *What time it is* the scripts are told by whoever asks, from its own clock, as Redisson's are. So entries grow old in
//! lesson time; and a client whose clock is wrong strikes off the living, or leaves the dead in line.

use std::collections::BTreeMap;

use super::notify::longest_sleep;
use super::program::End;
use super::recipes::{fence_key, words};
use super::waiting::Waiting;
use super::ways::Made;
use super::wire::{Answer, Ctx};
use super::world::{Trouble, World};
use crate::lesson::{Acquire, AcquireHow, Do, Event, Fence, Plan, Subject, Wait};
use crate::trace::{LessonTime, Outcome, Reply, What};

/// Take the lock, or stand in line.
pub(super) const QUEUE_ACQUIRE: &str = include_str!("../../assets/lua/queue_acquire.lua");
/// The same, where there is a count per owner.
pub(super) const QUEUE_REENTRANT_ACQUIRE: &str = include_str!("../../assets/lua/queue_reentrant_acquire.lua");
/// Compare and delete, and tell whoever is first.
const QUEUE_RELEASE: &str = include_str!("../../assets/lua/queue_release.lua");
/// Give back once, and tell whoever is first.
pub(super) const QUEUE_REENTRANT_RELEASE: &str = include_str!("../../assets/lua/queue_reentrant_release.lua");
/// Take one of several permits, or stand in line.
pub(super) const QUEUE_PERMIT_ACQUIRE: &str = include_str!("../../assets/lua/queue_permit_acquire.lua");
/// Give a permit back, and tell whoever is first.
const QUEUE_PERMIT_RELEASE: &str = include_str!("../../assets/lua/queue_permit_release.lua");
/// Give up one's place before a semaphore.
const QUEUE_PERMIT_LEAVE: &str = include_str!("../../assets/lua/queue_permit_leave.lua");
/// Say that one is still there.
const QUEUE_RENEW: &str = include_str!("../../assets/lua/queue_renew.lua");
/// Give up one's place.
const QUEUE_LEAVE: &str = include_str!("../../assets/lua/queue_leave.lua");
/// Tell whoever is first.
const QUEUE_TELL: &str = include_str!("../../assets/lua/queue_tell.lua");

/// A living waiter renews its entry each third of its time, so that two renewals may fail before it is struck off: the
/// rule of watchdogs.
const RENEWALS: u64 = 3;

/// The list of those who wait for the lock behind `key`.
fn line_key(key: &str) -> String {
    format!("{key}:queue")
}

/// Until when each of them counts.
fn deadlines_key(key: &str) -> String {
    format!("{key}:queue:deadlines")
}

/// What the waiters' channels begin with; each ends with its token.
fn channels(key: &str) -> String {
    format!("{key}:released:")
}

/// What a line needs besides the lock's key: two keys, and a pattern for its channels.
pub(super) fn reach(key: &str) -> [String; 3] {
    [line_key(key), deadlines_key(key), format!("{}*", channels(key))]
}

/// Whether somebody in the lesson stands in line for this lock: then releases tell whoever is first.
pub(super) fn has_line(plan: &Plan, lock: usize) -> bool {
    plan.events.iter().any(|event| event.lock == Some(lock) && stands_in_line(event))
}

/// Whether an event is an acquire that waits in line.
fn stands_in_line(event: &Event) -> bool {
    matches!(&event.what, Do::Acquire(acquire) if matches!(acquire.wait, Wait::Queue { .. }))
}

/// Whether a reply to the command of an acquire grants it.
pub(super) fn is_grant(acquire: &Acquire, reply: &Reply) -> bool {
    match (&acquire.wait, reply) {
        // A number is a place in line; a list is OK and what comes with it.
        (Wait::Queue { .. }, reply) => matches!(reply, Reply::Status(_) | Reply::List(_)),
        (_, reply) => matches!(reply, Reply::Status(_) | Reply::Int(1..)),
    }
}

/// `EVAL` of a script with the lock's key, its line, and the deadlines.
fn eval_lock(script: &str, key: &str, args: &[&str]) -> Vec<String> {
    words(&[&["EVAL", script, "3", key, &line_key(key), &deadlines_key(key)], args].concat())
}

/// `EVAL` of a script that looks at the line alone.
fn eval_line(script: &str, key: &str, args: &[&str]) -> Vec<String> {
    words(&[&["EVAL", script, "2", &line_key(key), &deadlines_key(key)], args].concat())
}

impl Waiting {
    /// A try has ended, which was made at `sent`: whether the client stands in line now, as far as it knows.
    pub(super) fn tried(&mut self, acquire: &Acquire, end: &End, sent: u64) {
        if matches!(acquire.wait, Wait::Queue { .. }) {
            self.renewed = sent;
            self.failed = end.outcome == Outcome::Error;
            // Of a try without an answer it must be assumed. A lock that is one's own already (`accept_own`) has been
            // asked for again before that was known.
            self.in_line =
                end.outcome != Outcome::Granted || end.reply.as_ref().is_none_or(|reply| !is_grant(acquire, reply));
        }
    }
}

impl Ctx {
    /// The one command that takes the lock or stands in line for it. None: this acquire does not wait so.
    pub(super) fn take_or_stand(&self, acquire: &Acquire, made: Made, key: &str, token: &str) -> Option<Vec<String>> {
        let Wait::Queue { entry, refresh, .. } = &acquire.wait else { return None };
        let ttl = acquire.ttl.filter(|_| acquire.how != AcquireHow::Setnx).map_or(0, LessonTime::ms).to_string();
        let (now, entry) = (self.clock().to_string(), entry.ms().to_string());
        let renews = if *refresh { "1" } else { "0" };
        let script = match made {
            Made::Value => QUEUE_ACQUIRE,
            Made::Counts => QUEUE_REENTRANT_ACQUIRE,
            Made::Permits(_) => QUEUE_PERMIT_ACQUIRE,
        };
        let mut argv = eval_lock(script, key, &[token, &ttl, &now, &entry, renews, &channels(key)]);
        if let Made::Permits(permits) = made {
            argv.push(permits.to_string());
        }
        if acquire.fence == Fence::Script {
            // The counter is one key more.
            "4".clone_into(&mut argv[2]);
            argv.insert(6, fence_key(key));
        }
        Some(argv)
    }

    /// Sleeps until it is its turn, or it has slept long enough; while it sleeps, it renews its entry if it is to.
    /// True: try again.
    pub(super) async fn until_my_turn(
        &self,
        waiting: &mut Waiting,
        acquire: &Acquire,
        key: &str,
        give_up: Option<u64>,
    ) -> Result<bool, Trouble> {
        let Wait::Queue { entry, refresh, cap, .. } = &acquire.wait else { return Ok(false) };
        let world = &self.world;
        let in_time = |t: u64| give_up.is_none_or(|give_up| t < give_up);
        if !waiting.in_line {
            // It has had the lock, and had to let go of it: that place is gone.
            return Ok(in_time(world.now()));
        }
        let token = self.own_token();
        self.leave_other_nodes().await?;
        if !waiting.failed && !waiting.subscribed && !world.listens(self.slot) {
            waiting.subscribed = true;
            self.command(words(&["SUBSCRIBE", &format!("{}{token}", channels(key))])).await?;
            if in_time(world.now()) {
                // Its turn may have come before there was anybody to be told.
                return Ok(true);
            }
        }
        waiting.subscribed = false;
        let enough = longest_sleep(*cap, acquire.ttl).map(|cap| world.now().saturating_add(cap));
        loop {
            if world.read_news(self.slot) {
                return Ok(in_time(world.now()));
            }
            let renewal = waiting.renewed.saturating_add((entry.ms() / RENEWALS).max(1)).max(world.now());
            let wake = [enough, give_up, refresh.then_some(renewal)].into_iter().flatten().min();
            if self.sleep_until_told(wake).await {
                return Ok(true);
            }
            let now = world.now();
            if !in_time(now) {
                return Ok(false);
            }
            if enough.is_some_and(|enough| enough <= now) {
                return Ok(true);
            }
            waiting.renewed = now;
            let ends = self.clock().saturating_add(entry.ms()).to_string();
            let renewed = self.command(eval_line(QUEUE_RENEW, key, &[&token, &ends])).await?;
            // Struck off, as if it were dead: it stands in line anew, at the end. Or it has found another master, at which
            // nobody tells it anything yet.
            let answered = matches!(renewed, Answer::Reply(Reply::Int(_)));
            if renewed == Answer::Reply(Reply::Int(0)) || (answered && !self.listens_here()) {
                return Ok(in_time(world.now()));
            }
        }
    }

    /// Whoever waits no longer and may still stand in line makes room.
    pub(super) async fn leave_line(&self, waiting: &Waiting, key: &str) -> Result<(), Trouble> {
        if !waiting.in_line {
            return Ok(());
        }
        let (token, channels) = (self.own_token(), channels(key));
        let argv = match self.world.made_of(self.client, self.lock_of().0) {
            Made::Permits(permits) => {
                let (now, permits) = (self.clock().to_string(), permits.to_string());
                eval_lock(QUEUE_PERMIT_LEAVE, key, &[&token, &channels, &now, &permits])
            }
            Made::Value | Made::Counts => eval_lock(QUEUE_LEAVE, key, &[&token, &channels]),
        };
        self.command(argv).await.map(drop)
    }

    /// The script that gives back what is one's own, and tells whoever is first in line, and the `crowd` that waits without
    /// one.
    pub(super) fn give_back_to_line(
        &self,
        made: Made,
        key: &str,
        token: &str,
        ttl: Option<LessonTime>,
        crowd: Option<&str>,
    ) -> Vec<String> {
        let (now, channels) = (self.clock().to_string(), channels(key));
        let ttl = ttl.map_or(0, LessonTime::ms).to_string();
        let (script, mut args) = match made {
            Made::Value => (QUEUE_RELEASE, vec![token, &now, &channels]),
            Made::Counts => (QUEUE_REENTRANT_RELEASE, vec![token, &ttl, &now, &channels]),
            Made::Permits(_) => (QUEUE_PERMIT_RELEASE, vec![token, &now, &channels]),
        };
        args.extend(crowd);
        eval_lock(script, key, &args)
    }

    /// Tells whoever is first in line, after a release that cannot do so itself.
    pub(super) async fn tell_line(&self, key: &str) -> Result<(), Trouble> {
        let now = self.clock().to_string();
        self.command(eval_line(QUEUE_TELL, key, &[&now, &channels(key)])).await.map(drop)
    }

    fn own_token(&self) -> String {
        let (lock, _) = self.lock_of();
        self.world.lock_run(self.client, lock, |run| run.token.clone()).unwrap_or_default()
    }
}

impl World {
    /// Records who stands in line, where that has changed. `lists`: what is in the lists on `node`, by key.
    pub(super) fn record_lines(&self, node: &str, lists: &BTreeMap<String, Vec<String>>) {
        for (lock, spec) in self.plan.locks.iter().enumerate() {
            if self.line_at(lock).is_none_or(|at| at != node) {
                continue;
            }
            let tokens = lists.get(&line_key(&spec.key)).map_or(&[][..], Vec::as_slice);
            let waiting: Vec<String> = tokens.iter().map(|token| self.waiter_of(lock, token)).collect();
            let mut lines = self.lines.borrow_mut();
            let known = lines.entry(lock).or_default();
            if *known != waiting {
                known.clone_from(&waiting);
                drop(lines);
                self.record(What::Line { lock: spec.name.clone(), waiting });
            }
        }
    }

    /// The node whose line counts: the master that those talk to who stand in it; of two masters, the newer. None: nobody
    /// stands in line for this lock.
    fn line_at(&self, lock: usize) -> Option<String> {
        let (clients, nodes) = (self.clients.borrow(), self.nodes.borrow());
        let asks = |event: &&Event| event.lock == Some(lock) && stands_in_line(event);
        let talks_to = self.plan.events.iter().filter(asks).filter_map(|event| match &event.subject {
            Subject::Client { client, .. } => Some(clients[self.client_index(client)?].master.as_str()),
            _ => None,
        });
        talks_to.max_by_key(|node| nodes.get(*node).map(|run| run.since)).map(str::to_owned)
    }

    /// The client that asked for `lock` with this token, the last one; what nobody has asked with is told as it is.
    fn waiter_of(&self, lock: usize, token: &str) -> String {
        let asked = self.plan.events.iter().enumerate().rev().find_map(|(i, event)| match &event.subject {
            Subject::Client { client, .. } if event.lock == Some(lock) && matches!(event.what, Do::Acquire(_)) => {
                self.event_run(i, |run| run.token.as_deref() == Some(token)).then_some(client)
            }
            _ => None,
        });
        asked.map_or_else(|| token.to_owned(), Clone::clone)
    }
}
