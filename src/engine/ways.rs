//! What a lock is made of: one value, a count per owner, or a permit per holder; and the commands that go with each.

use super::recipes::{eval, fence_key, words};
use super::wire::Ctx;
use super::world::World;
use crate::lesson::{Acquire, AcquireHow, Do, RenewHow};
use crate::trace::LessonTime;

/// Compare and delete.
pub(super) const RELEASE: &str = include_str!("../../assets/lua/release.lua");
/// Compare and delete, and tell whoever waits.
const RELEASE_TELL: &str = include_str!("../../assets/lua/release_tell.lua");
/// Take the lock, and draw a fencing token.
pub(super) const ACQUIRE_FENCED: &str = include_str!("../../assets/lua/acquire_fenced.lua");
/// Take it, or take it once more, and draw a fencing token the first time.
pub(super) const REENTRANT_FENCED: &str = include_str!("../../assets/lua/reentrant_acquire_fenced.lua");
/// Compare and prolong.
pub(super) const RENEW: &str = include_str!("../../assets/lua/renew.lua");
/// Prolong, or take again if nobody has it.
pub(super) const RENEW_OR_TAKE: &str = include_str!("../../assets/lua/renew_or_take.lua");
/// Take, or take once more.
pub(super) const REENTRANT_ACQUIRE: &str = include_str!("../../assets/lua/reentrant_acquire.lua");
/// Give back once.
pub(super) const REENTRANT_RELEASE: &str = include_str!("../../assets/lua/reentrant_release.lua");
/// Compare and prolong, where there is a count per owner.
pub(super) const REENTRANT_RENEW: &str = include_str!("../../assets/lua/reentrant_renew.lua");
/// Take one of several permits.
pub(super) const PERMIT_ACQUIRE: &str = include_str!("../../assets/lua/permit_acquire.lua");
/// Give a permit back.
const PERMIT_RELEASE: &str = include_str!("../../assets/lua/permit_release.lua");
/// Prolong a permit.
pub(super) const PERMIT_RENEW: &str = include_str!("../../assets/lua/permit_renew.lua");

/// What a lock is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// A string: the token of the owner.
    Value,
    /// A hash: owner → how often.
    Counts,
    /// A hash: holder → until when.
    Permits(u32),
}

impl World {
    /// What `lock` is made of for `client`: as its latest acquire has it; before the first, as any acquire of the lesson.
    pub(super) fn made_of(&self, client: usize, lock: usize) -> Made {
        let permits = self.plan.locks[lock].permits;
        if permits > 1 {
            return Made::Permits(permits);
        }
        let latest = self.lock_run(client, lock, |run| run.latest_event);
        let reentrant = |event: &crate::lesson::Event| match &event.what {
            Do::Acquire(acquire) => event.lock == Some(lock) && acquire.how == AcquireHow::Reentrant,
            _ => false,
        };
        let counts = match latest {
            Some(event) => reentrant(&self.plan.events[event]),
            None => self.plan.events.iter().any(reentrant),
        };
        if counts { Made::Counts } else { Made::Value }
    }
}

impl Ctx {
    /// The client's own clock, ms.
    pub(super) fn clock(&self) -> u64 {
        self.world.now().saturating_add_signed(self.world.plan.clients[self.client].clock_skew_ms)
    }

    /// The one command with which a lock that is made so is asked for.
    pub(super) fn take(&self, acquire: &Acquire, made: Made, key: &str, token: &str) -> Vec<String> {
        let ttl = acquire.ttl.map(|ttl| ttl.ms().to_string());
        match made {
            Made::Value => match &ttl {
                Some(ttl) => words(&["SET", key, token, "NX", "PX", ttl]),
                None => words(&["SET", key, token, "NX"]),
            },
            Made::Counts => eval(REENTRANT_ACQUIRE, key, &[token, ttl.as_deref().unwrap_or("0")]),
            Made::Permits(permits) => {
                let (permits, now) = (permits.to_string(), self.clock().to_string());
                eval(PERMIT_ACQUIRE, key, &[token, ttl.as_deref().unwrap_or("0"), &permits, &now])
            }
        }
    }

    /// The one script that asks for a lock and draws a fencing token with it.
    pub(super) fn take_fenced(acquire: &Acquire, key: &str, token: &str) -> Vec<String> {
        let script = if acquire.how == AcquireHow::Reentrant { REENTRANT_FENCED } else { ACQUIRE_FENCED };
        let mut argv = words(&["EVAL", script, "2", key, &fence_key(key), token]);
        let ttl = acquire.ttl.filter(|_| acquire.how != AcquireHow::Setnx);
        argv.extend(ttl.map(|ttl| ttl.ms().to_string()));
        argv
    }

    /// The script that gives back what is one's own, and tells `channel` of it. `ttl`: for an owner that still has the lock.
    pub(super) fn give_back(
        made: Made,
        key: &str,
        token: &str,
        ttl: Option<LessonTime>,
        channel: Option<&str>,
    ) -> Vec<String> {
        let ttl = ttl.map_or(0, LessonTime::ms).to_string();
        let (script, mut args) = match made {
            Made::Value if channel.is_some() => (RELEASE_TELL, vec![token]),
            Made::Value => (RELEASE, vec![token]),
            Made::Counts => (REENTRANT_RELEASE, vec![token, &ttl]),
            Made::Permits(_) => (PERMIT_RELEASE, vec![token]),
        };
        args.extend(channel);
        eval(script, key, &args)
    }

    /// The command of a renewal, if it is not the author's own. `ttl` in ms.
    pub(super) fn prolong(&self, how: &RenewHow, made: Made, key: &str, token: &str, ttl: u64) -> Vec<String> {
        let px = ttl.to_string();
        match how {
            RenewHow::Pexpire => words(&["PEXPIRE", key, &px]),
            RenewHow::Set => words(&["SET", key, token, "PX", &px]),
            RenewHow::SetIfFreeOrMine => eval(RENEW_OR_TAKE, key, &[token, &px]),
            RenewHow::PexpireIfMine | RenewHow::Run(_) => match made {
                Made::Value => eval(RENEW, key, &[token, &px]),
                Made::Counts => eval(REENTRANT_RENEW, key, &[token, &px]),
                Made::Permits(_) => eval(PERMIT_RENEW, key, &[token, &px, &self.clock().to_string()]),
            },
        }
    }
}
