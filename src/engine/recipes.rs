//! What a client does with a lock, written as the code of a service: acquire and renew (`release` lets go).
//!
//! This is what students come to read. Each recipe sends exactly the commands that its name stands for, looks at the
//! replies as careful (or careless) code would, and says how it ended.

use super::program::End;
use super::queue::is_grant;
use super::round::Asking;
use super::token;
use super::waiting::Waiting;
use super::ways::Made;
use super::wire::{Answer, Ctx, LateGrant};
use super::world::Trouble;
use crate::lesson::{Acquire, AcquireHow, Do, Fence, Lock, MeasuredFrom, Renew, RenewHow, Run, Token, Wait};
use crate::trace::{LessonTime, Outcome, Reply, What, Why};

/// Allowance for clocks that run at different speeds: 1 % of the TTL, and 2 ms for the precision of Redis's expiry
/// (`clock_drift_factor` 0.01 and `+ 2` in the Redlock algorithm, Redis's page on distributed locks).
pub(super) const fn drift(ttl: u64) -> u64 {
    ttl / 100 + 2
}

/// `SET key token NX PX 30000` as words.
pub(super) fn words(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

pub(super) fn eval(script: &str, key: &str, args: &[&str]) -> Vec<String> {
    [&["EVAL", script, "1", key], args].concat().into_iter().map(str::to_owned).collect()
}

/// The counter of fencing tokens that the acquire script keeps beside a lock's key.
pub(super) fn fence_key(key: &str) -> String {
    format!("{key}:fence")
}

/// What an answer means: success, a plain no, or neither.
pub(super) fn judge(answer: Answer, yes: impl Fn(&Reply) -> bool, success: Outcome, no: Outcome) -> End {
    match answer {
        Answer::Unknown => End::of(Outcome::Unknown),
        Answer::Refused => End::of(Outcome::Error),
        Answer::Reply(reply) if reply.is_error() => End::with(Outcome::Error, reply),
        Answer::Reply(reply) if yes(&reply) => End::with(success, reply),
        Answer::Reply(reply) => End::with(no, reply),
    }
}

/// The fencing token with which a script has answered.
fn drawn(end: &End) -> Option<i64> {
    let number = match end.reply.as_ref()? {
        Reply::Int(number) => Some(*number),
        Reply::Bulk(text) => text.parse().ok(),
        // From the line: OK, and the number.
        Reply::List(parts) => match parts.as_slice() {
            [Reply::Status(_), Reply::Int(number)] => Some(*number),
            _ => None,
        },
        _ => None,
    };
    number.filter(|number| *number > 0)
}

/// A status, or an integer above zero.
pub(super) fn is_yes(reply: &Reply) -> bool {
    matches!(reply, Reply::Status(_) | Reply::Int(1..))
}

impl Ctx {
    pub(super) fn lock_of(&self) -> (usize, Lock) {
        let lock = self.world.plan.events[self.event].lock.unwrap_or(0);
        (lock, self.world.plan.locks[lock].clone())
    }

    /// Asks for the lock, waits if it is told to, and believes once it has read the granting reply.
    pub(super) async fn acquire(&self, acquire: &Acquire) -> Result<End, Trouble> {
        let (lock, spec) = self.lock_of();
        let world = &self.world;
        world.lock_run(self.client, lock, |run| {
            run.asked = true;
            run.latest = None;
            run.told = false;
            run.latest_event = Some(self.event);
        });
        if acquire.watchdog.as_ref().is_some_and(|watchdog| watchdog.arms_on_reply) {
            self.late.set(Some(LateGrant { event: self.event, lock }));
        }
        let first_try = world.now();
        let mut token = self.new_token(acquire, lock);
        let mut waiting = Waiting::since(first_try);
        let end = loop {
            let sent = world.now();
            let mut end = self.try_once(acquire, &spec, &token).await?;
            waiting.tried(acquire, &end, sent);
            if end.outcome == Outcome::Granted {
                end = self.wait_for_replicas(acquire, end).await?;
            }
            let measured_from = match acquire.validity.measured_from {
                MeasuredFrom::Send => sent,
                MeasuredFrom::FirstTry => first_try,
                MeasuredFrom::Reply => world.now(),
            };
            if end.outcome == Outcome::Granted {
                let valid_until = acquire.ttl.map(|ttl| (measured_from + ttl.ms()).saturating_sub(drift(ttl.ms())));
                if !acquire.validity.checked || valid_until.is_none_or(|until| until > world.now()) {
                    self.granted(acquire, lock, valid_until);
                    break self.fenced(acquire, lock, end).await?;
                }
                end = End { outcome: Outcome::Refused, why: Some(Why::TooLate), reply: end.reply };
            }
            self.clean_up(acquire, &spec.key, &token, end.why).await?;
            if acquire.wait == Wait::None {
                break end;
            }
            world.record(What::TryFailed { event: self.event, outcome: end.outcome });
            world.slots.borrow_mut()[self.slot].excused = true;
            if !waiting.until_next(self, acquire, &spec.key).await? {
                break End { outcome: Outcome::Refused, why: end.why.or(Some(Why::Held)), reply: end.reply };
            }
            if matches!(acquire.wait, Wait::Retry { new_token: true, .. }) {
                token = self.new_token(acquire, lock);
            }
        };
        self.leave_line(&waiting, &spec.key).await?;
        world.stop_listening(self.slot).await?;
        world.lock_run(self.client, lock, |run| run.latest = Some(end.outcome));
        Ok(end)
    }

    /// One try: the commands of `how:`, and what the client makes of the replies.
    async fn try_once(&self, acquire: &Acquire, lock: &Lock, token: &str) -> Result<End, Trouble> {
        let key = lock.key.as_str();
        let (index, _) = self.lock_of();
        let made = self.world.made_of(self.client, index);
        if let Some(argv) = self.take_or_stand(acquire, made, key, token) {
            let granted = |reply: &Reply| is_grant(acquire, reply);
            let end = judge(self.command(argv).await?, granted, Outcome::Granted, Outcome::Refused);
            return self.maybe_own(acquire, key, token, end).await;
        }
        let end = match &acquire.how {
            AcquireHow::SetNxPx | AcquireHow::Setnx | AcquireHow::Reentrant if acquire.fence == Fence::Script => {
                let argv = Self::take_fenced(acquire, key, token);
                judge(self.command(argv).await?, is_yes, Outcome::Granted, Outcome::Refused)
            }
            AcquireHow::SetNxPx | AcquireHow::Reentrant => {
                let argv = self.take(acquire, made, key, token);
                judge(self.command(argv).await?, is_yes, Outcome::Granted, Outcome::Refused)
            }
            AcquireHow::Setnx => {
                judge(self.command(words(&["SETNX", key, token])).await?, is_yes, Outcome::Granted, Outcome::Refused)
            }
            AcquireHow::SetnxExpire { gap } => {
                let set = judge(
                    self.command(words(&["SETNX", key, token])).await?,
                    is_yes,
                    Outcome::Granted,
                    Outcome::Refused,
                );
                if set.outcome != Outcome::Granted {
                    return self.maybe_own(acquire, key, token, set).await;
                }
                if gap.ms() > 0 {
                    self.sleep(gap.ms()).await;
                }
                let Some(ms) = acquire.ttl.map(LessonTime::ms) else { return Ok(set) };
                let argv = if ms % 1000 == 0 {
                    words(&["EXPIRE", key, &(ms / 1000).to_string()])
                } else {
                    words(&["PEXPIRE", key, &ms.to_string()])
                };
                // The key may be gone by now, and the reply says so; code of this kind does not look.
                judge(self.command(argv).await?, |_| true, Outcome::Granted, Outcome::Refused)
            }
            AcquireHow::Run(run) => {
                let end = self.run(run, Outcome::Granted, Outcome::Refused).await?;
                // The author's own script answers with the number that it has drawn; without one it has not got the lock.
                let refused =
                    acquire.fence == Fence::Script && end.outcome == Outcome::Granted && drawn(&end).is_none();
                if refused { End { outcome: Outcome::Refused, ..end } } else { end }
            }
            AcquireHow::Redlock { sequential, .. } => {
                let asking = if *sequential { Asking::OneByOne } else { Asking::AtOnce };
                return self.vote(acquire, key, token, asking).await;
            }
        };
        self.maybe_own(acquire, key, token, end).await
    }

    /// `wait_replicas`: asks the master how many replicas have the write. It counts those that have it *now*; whether one of
    /// them will be the next master is another matter.
    async fn wait_for_replicas(&self, acquire: &Acquire, end: End) -> Result<End, Trouble> {
        let Some(wanted) = acquire.wait_replicas else { return Ok(end) };
        let wait = words(&["WAIT", &wanted.n.to_string(), &wanted.timeout.ms().to_string()]);
        let enough = match self.command(wait).await? {
            Answer::Reply(Reply::Int(have)) => have >= i64::from(wanted.n),
            Answer::Reply(_) | Answer::Unknown | Answer::Refused => false,
        };
        Ok(if enough || !wanted.check {
            end
        } else {
            End { outcome: Outcome::Refused, why: Some(Why::NotReplicated), reply: end.reply }
        })
    }

    /// A try that failed lets go of what it may have got.
    async fn clean_up(&self, acquire: &Acquire, key: &str, token: &str, why: Option<Why>) -> Result<(), Trouble> {
        match acquire.how {
            AcquireHow::Redlock { cleanup: true, sequential: false } => self.let_go(key, token, Asking::AtOnce).await,
            AcquireHow::Redlock { cleanup: true, sequential: true } => self.let_go(key, token, Asking::OneByOne).await,
            AcquireHow::Redlock { cleanup: false, .. } => Ok(()),
            _ if matches!(why, Some(Why::TooLate | Why::NotReplicated)) => {
                let (lock, _) = self.lock_of();
                self.command(self.hand_back(lock, token, acquire.ttl, None)).await.map(drop)
            }
            _ => Ok(()),
        }
    }

    /// `accept_own`: a refusal may come from one's own first try, whose reply was lost. GET tells.
    async fn maybe_own(&self, acquire: &Acquire, key: &str, token: &str, end: End) -> Result<End, Trouble> {
        if end.outcome != Outcome::Refused {
            return Ok(end);
        }
        let (lock, _) = self.lock_of();
        if acquire.accept_own && self.world.made_of(self.client, lock) == Made::Value {
            let mine = |reply: &Reply| matches!(reply, Reply::Bulk(value) if value == token);
            let own = judge(self.command(words(&["GET", key])).await?, mine, Outcome::Granted, Outcome::Refused);
            if own.outcome == Outcome::Granted && acquire.fence == Fence::Script {
                // As long as it is mine nobody else has drawn: the counter still stands at my own number.
                let got = self.command(words(&["GET", &fence_key(key)])).await?;
                let number = |reply: &Reply| matches!(reply, Reply::Bulk(text) if text.parse::<i64>().is_ok());
                return Ok(judge(got, number, Outcome::Granted, Outcome::Error));
            }
            if own.outcome == Outcome::Granted {
                return Ok(own);
            }
        }
        Ok(End { why: Some(Why::Held), ..end })
    }

    fn new_token(&self, acquire: &Acquire, lock: usize) -> String {
        let world = &self.world;
        let client = &world.plan.clients[self.client];
        let token = match &acquire.token {
            Token::Unique => token::unique(&mut world.clients.borrow_mut()[self.client].rng, &client.name),
            Token::Fixed(text) => text.clone(),
            Token::Parts { process, thread } => {
                let uuid = || token::unique(&mut token::generator(world.plan.seed, &client.process), &client.process);
                match (process, thread) {
                    (true, true) => format!("{}:{}", uuid(), client.thread),
                    (true, false) => uuid(),
                    (false, _) => client.thread.to_string(),
                }
            }
            Token::Of(event) => world.event_run(*event, |run| run.token.clone()).unwrap_or_default(),
        };
        world.lock_run(self.client, lock, |run| run.token = Some(token.clone()));
        world.event_run(self.event, |run| run.token = Some(token.clone()));
        token
    }

    /// How long the client's latest grant of `lock` lasts: what its acquire asked for, or the lock's.
    pub(super) fn lease(&self, lock: usize) -> Option<LessonTime> {
        let world = &self.world;
        match world.lock_run(self.client, lock, |run| run.latest_event).map(|event| &world.plan.events[event].what) {
            Some(Do::Acquire(acquire)) => acquire.ttl,
            _ => world.plan.locks[lock].ttl,
        }
    }

    /// The lock is granted; the fencing token comes with it, or has to be drawn. A lock whose token could not be had is
    /// given back: without it the data would not know whom to believe.
    async fn fenced(&self, acquire: &Acquire, lock: usize, end: End) -> Result<End, Trouble> {
        let world = &self.world;
        let with_it = if acquire.fence == Fence::Script { drawn(&end) } else { None };
        world.lock_run(self.client, lock, |run| run.fence = with_it);
        if acquire.fence != Fence::Database {
            return Ok(end);
        }
        let Some(failed) = self.draw_fence(lock).await? else { return Ok(end) };
        world.end_guards(self.client, lock);
        world.belief_ends(self.client, lock);
        let token = world.lock_run(self.client, lock, |run| run.token.clone()).unwrap_or_default();
        let key = &world.plan.locks[lock].key;
        if let AcquireHow::Redlock { sequential, .. } = acquire.how {
            let asking = if sequential { Asking::OneByOne } else { Asking::AtOnce };
            self.let_go(key, &token, asking).await?;
        } else {
            self.command(self.hand_back(lock, &token, acquire.ttl, None)).await?;
        }
        Ok(failed)
    }

    fn granted(&self, acquire: &Acquire, lock: usize, valid_until: Option<u64>) {
        self.world.granted(self.client, lock);
        if let Some(watchdog) = &acquire.watchdog {
            self.world.start_watchdog(self.client, lock, self.event, watchdog);
        }
        if let (true, Some(until)) = (acquire.deadline_stop, valid_until) {
            self.world.start_deadline(self.client, lock, self.event, until);
        }
    }

    /// Prolongs the lease. A plain no means that the lock is lost, and the client knows it now.
    pub(super) async fn renew(&self, renew: &Renew) -> Result<End, Trouble> {
        let (lock, _) = self.lock_of();
        let mut end = self.renew_once(&renew.how, lock, renew.ttl.map(LessonTime::ms)).await?;
        let short = end.outcome != Outcome::Renewed && renew.on_short_release;
        let giving_up = self.world.redlock_of(self.client, lock).filter(|_| short);
        if let Some(asking) = giving_up {
            // Too few nodes have prolonged it: none of them shall keep it for nobody.
            self.world.belief_ends(self.client, lock);
            let token = self.world.lock_run(self.client, lock, |run| run.token.clone()).unwrap_or_default();
            self.let_go(&self.world.plan.locks[lock].key, &token, asking).await?;
            end.outcome = Outcome::Lost;
        }
        if end.outcome == Outcome::Lost {
            self.world.told_lost(self.client, lock, None);
        }
        Ok(end)
    }

    /// The commands of a renewal, for `renew` and for the watchdog. `ttl` in ms.
    pub(super) async fn renew_once(&self, how: &RenewHow, lock: usize, ttl: Option<u64>) -> Result<End, Trouble> {
        let sent = self.world.now();
        let key = self.world.plan.locks[lock].key.clone();
        let token = self.world.lock_run(self.client, lock, |run| run.token.clone()).unwrap_or_default();
        if let (Some(asking), false) = (self.world.redlock_of(self.client, lock), matches!(how, RenewHow::Run(_))) {
            return self.renew_all(how, lock, &token, ttl.unwrap_or(0), asking).await;
        }
        if let RenewHow::Run(run) = how {
            return self.run(run, Outcome::Renewed, Outcome::Lost).await;
        }
        let argv = self.prolong(how, self.world.made_of(self.client, lock), &key, &token, ttl.unwrap_or(0));
        let end = judge(self.command(argv).await?, is_yes, Outcome::Renewed, Outcome::Lost);
        if let (Outcome::Renewed, Some(ttl)) = (end.outcome, ttl) {
            self.world.move_deadline(self.client, lock, (sent + ttl).saturating_sub(drift(ttl)));
        }
        Ok(end)
    }

    /// The author's own commands, one after another; the last reply decides.
    pub(super) async fn run(&self, run: &Run, success: Outcome, no: Outcome) -> Result<End, Trouble> {
        let mut end = End::of(success);
        for command in &run.commands {
            let argv = match self.fill(&command.words) {
                Ok(argv) => argv,
                Err(text) => return Ok(End::with(Outcome::Error, Reply::Error(text))),
            };
            let ok_if = run.ok_if.as_ref();
            let yes = |reply: &Reply| ok_if.is_none_or(|pattern| pattern.matches(reply));
            end = judge(self.own_command(argv).await?, yes, success, no);
            if matches!(end.outcome, Outcome::Unknown) {
                break;
            }
        }
        // An error may be just what the author waits for.
        if let (Outcome::Error, Some(reply), Some(ok_if)) = (end.outcome, &end.reply, &run.ok_if)
            && ok_if.matches(reply)
        {
            end.outcome = success;
        }
        Ok(end)
    }
}
