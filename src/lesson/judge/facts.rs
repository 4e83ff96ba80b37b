//! Facts: what may be said of a run beside its violations and notes (FORMAT §10).
//!
//! There are four shapes of them.
//!
//! - *Instants* (`granted`, `expired`, `stopped`): one of them happened then.
//! - *States* (`holder`, `believes`, `key`, `row`, `effects`): it was so at that instant, once everything that happens at it (expiries
//!   first) has happened. So at 12 s the holder is the one *after* 12 s; who held it just before is `at: 11999ms`. A
//!   range asks for some instant of it; no time at all, for any instant
//!   (of `row` and `effects`: for the end of the run). Past the end of the run nothing is so.
//! - *Spells* (`unprotected`): one began and ended then.
//! - *Totals* (`waited`, `commands`, `order`): of the whole run.

use super::over_time::{Stretch, ends_then, is_then, over_time};
use super::yaml::{self, Entry};
use super::{Run, Seen, data};
use crate::lesson::expect::{Expect, ExpectTime, Expected, Fact, KeyTtl};
use crate::lesson::model::ReplyPattern;
use crate::trace::event::{EventKind, Outcome};
use crate::trace::state::client_of;
use crate::trace::{DATABASE, EventInfo, KeyOp, KeyState, LessonTime, LockInfo, Reply, State, Value, What};

/// From when to when; none: an instant, or until the end of the run.
type Span = (LessonTime, Option<LessonTime>);

/// How far a TTL may be off where Redis computed it from its own answer (FORMAT §12).
const APPROXIMATE: LessonTime = LessonTime(10);

/// Whether `fact` is true of the run; else, what is.
pub(super) fn check(run: &Run<'_>, expect: &Expect, fact: &Fact) -> Result<(), Seen> {
    let facts = Facts { run, expect };
    match fact {
        Fact::Waited { client, at_most } => {
            let longest = facts.longest_wait(client);
            let seen = || longest.map(|longest| total("waited", client, &longest.yaml())).into_iter().collect();
            ok_or(longest.is_some_and(|longest| longest <= *at_most), || Seen::Instead(seen()))
        }
        Fact::Commands { client, at_most } => {
            let sent = facts.commands(client);
            ok_or(sent <= *at_most, || Seen::Instead(vec![total("commands", client, &sent.to_string())]))
        }
        Fact::Order(names) => {
            let order = facts.order(names);
            ok_or(order == *names, || Seen::Instead(vec![Entry::new("order", yaml::list(&order)).done()]))
        }
        _ => ok_or(!fitting(run, expect, fact).is_empty(), || facts.instead(fact)),
    }
}

/// When `fact` was true, as far as its times ask for it (`_` asks for nothing). Totals have no times.
pub(super) fn fitting(run: &Run<'_>, expect: &Expect, fact: &Fact) -> Vec<Span> {
    let facts = Facts { run, expect };
    match fact {
        Fact::Granted { .. } | Fact::Expired(_) | Fact::Stopped(_) => {
            let then = facts.instants(fact).into_iter().filter(|t| is_then(expect.at, *t, run.end()));
            then.map(|t| (t, None)).collect()
        }
        Fact::Unprotected(client) => facts.as_spells(facts.unprotected(client)),
        Fact::Holder { .. } | Fact::Believes(_) | Fact::Key { .. } | Fact::Row { .. } | Fact::Effects { .. } => {
            let stretches = facts.states(fact);
            if expect.to.is_some() { facts.as_spells(stretches) } else { facts.as_states(stretches) }
        }
        Fact::Waited { .. } | Fact::Commands { .. } | Fact::Order(_) => Vec::new(),
    }
}

fn ok_or(holds: bool, seen: impl FnOnce() -> Seen) -> Result<(), Seen> {
    if holds { Ok(()) } else { Err(seen()) }
}

fn total(kind: &str, client: &str, at_most: &str) -> String {
    let mut entry = Entry::new(kind, yaml::scalar(client));
    entry.field("at_most", at_most);
    entry.done()
}

/// An entry that states a fact, and the run that it speaks of.
pub(super) struct Facts<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) expect: &'a Expect,
}

impl<'a> Facts<'a> {
    /// The locks that the entry is about: the one it names, or all.
    pub(super) fn locks(&self) -> impl Iterator<Item = &'a LockInfo> {
        let named = self.expect.lock.as_deref();
        self.run.trace.header.locks.iter().filter(move |lock| named.is_none_or(|name| name == lock.name))
    }

    /// Events that ended so: when, and which.
    fn ended(&self, wanted: Outcome) -> impl Iterator<Item = (LessonTime, &'a EventInfo)> {
        let header = &self.run.trace.header;
        let lock = self.expect.lock.as_deref();
        self.run.trace.records.iter().filter_map(move |record| match &record.what {
            What::EventEnd { event, outcome, .. } if *outcome == wanted => {
                let info = header.events.get(*event)?;
                (lock.is_none() || info.lock.as_deref() == lock).then_some((record.t, info))
            }
            _ => None,
        })
    }

    /// When an instant happened, each time once.
    pub(super) fn instants(&self, fact: &Fact) -> Vec<LessonTime> {
        let mut instants: Vec<LessonTime> = match fact {
            Fact::Granted { client, event } => self
                .ended(Outcome::Granted)
                .filter(|(_, info)| client_of(&info.subject) == client && (event.is_none() || info.id == *event))
                .map(|(t, _)| t)
                .collect(),
            Fact::Stopped(client) => self
                .ended(Outcome::Stopped)
                .filter(|(_, info)| client_of(&info.subject) == client)
                .map(|(t, _)| t)
                .collect(),
            Fact::Expired(lock) => {
                let lock = self.run.trace.header.locks.iter().find(|info| info.name == *lock);
                let of_lock = |key: &str| lock.is_some_and(|lock| lock.key == key);
                let records = self.run.trace.records.iter();
                records
                    .filter(|record| matches!(&record.what, What::Key { key, op: KeyOp::Expired, .. } if of_lock(key)))
                    .map(|record| record.t)
                    .collect()
            }
            _ => Vec::new(),
        };
        instants.dedup();
        instants
    }

    /// When a state was so.
    fn states(&self, fact: &Fact) -> Vec<Stretch<bool>> {
        let header = &self.run.trace.header;
        match fact {
            Fact::Holder { client, node } => {
                let wanted: Vec<String> = client.iter().cloned().collect();
                let sample = |state: &State| {
                    let holders = self.holders(state, node.as_deref());
                    if wanted.is_empty() { holders.is_empty() } else { holders.contains(&wanted[0]) }
                };
                only_true(over_time(self.run.trace, sample))
            }
            Fact::Believes(client) => only_true(over_time(self.run.trace, |state| self.believes(state, client))),
            Fact::Row { resource, is } => {
                only_true(over_time(self.run.trace, |state| data::row(state, resource) == Some(*is)))
            }
            Fact::Effects { resource, count } => {
                only_true(over_time(self.run.trace, |state| data::effects(state, resource) == Some(*count)))
            }
            Fact::Key { key, value, ttl, count, node } => {
                let Some(key) = key.as_deref().or_else(|| Some(self.locks().next()?.key.as_str())) else {
                    return Vec::new();
                };
                let keys = over_time(self.run.trace, |state| key_at(state, header, node.as_deref(), key).cloned());
                keys.iter().filter_map(|stretch| key_fits(stretch, value.as_ref(), *ttl, *count)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Who holds the entry's locks; or who owns their keys on `node`.
    pub(super) fn holders(&self, state: &State, node: Option<&str>) -> Vec<String> {
        let header = &self.run.trace.header;
        let mut holders = Vec::new();
        for lock in self.locks() {
            match node {
                None => holders.extend(state.holders(header, &lock.name)),
                Some(node) => {
                    let key = state.nodes.get(node).and_then(|node| node.keys.get(&lock.key));
                    holders.extend(key.into_iter().flat_map(|key| key.owners().map(str::to_owned)));
                }
            }
        }
        holders
    }

    /// Whether `client` believes that it holds one of the entry's locks.
    pub(super) fn believes(&self, state: &State, client: &str) -> bool {
        let client = state.clients.get(client);
        client.is_some_and(|client| self.locks().any(|lock| client.believes.contains_key(&lock.name)))
    }

    /// When `client` believed in a lock that it did not hold.
    pub(super) fn unprotected(&self, client: &str) -> Vec<Stretch<bool>> {
        let header = &self.run.trace.header;
        let one = |lock: &LockInfo| {
            over_time(self.run.trace, |state| {
                let believes = state.clients.get(client).is_some_and(|c| c.believes.contains_key(&lock.name));
                believes && !state.holds(header, client, &lock.name)
            })
        };
        self.locks().flat_map(|lock| only_true(one(lock))).collect()
    }

    fn as_spells(&self, stretches: Vec<Stretch<bool>>) -> Vec<Span> {
        let (at, to, end) = (self.expect.at, self.expect.to, self.run.end());
        let then = stretches.into_iter().filter(|s| is_then(at, s.from, end) && ends_then(to, s.to));
        then.map(|stretch| (stretch.from, stretch.to)).collect()
    }

    fn as_states(&self, stretches: Vec<Stretch<bool>>) -> Vec<Span> {
        let at = self.expect.at.or(match &self.expect.what {
            // Of the data, what is left in the end is what counts.
            Expected::Fact(Fact::Row { .. } | Fact::Effects { .. }) => Some(ExpectTime::End),
            _ => None,
        });
        if self.is_past_the_end() {
            return Vec::new();
        }
        let then = stretches.into_iter().filter(|stretch| at.is_none_or(|at| stretch.covers(at)));
        then.map(|stretch| (stretch.from, stretch.to)).collect()
    }

    pub(super) fn is_past_the_end(&self) -> bool {
        let end = self.run.end();
        matches!(self.expect.at, Some(ExpectTime::At(t) | ExpectTime::Between(t, _)) if t > end)
    }

    /// The longest an acquire of `client` took; one that never ended took until its client crashed, or the run ended.
    fn longest_wait(&self, client: &str) -> Option<LessonTime> {
        let header = &self.run.trace.header;
        let mut running: Vec<(usize, LessonTime)> = Vec::new();
        let mut waits: Vec<LessonTime> = Vec::new();
        let lock = self.expect.lock.as_deref();
        let is_mine = |info: &EventInfo| {
            info.kind == EventKind::Acquire
                && client_of(&info.subject) == client
                && (lock.is_none() || info.lock.as_deref() == lock)
        };
        for record in &self.run.trace.records {
            match &record.what {
                What::EventStart { event } if header.events.get(*event).is_some_and(is_mine) => {
                    running.push((*event, record.t));
                }
                What::EventEnd { event, .. } => {
                    waits.extend(running.iter().filter(|(e, _)| e == event).map(|(_, since)| record.t - *since));
                    running.retain(|(e, _)| e != event);
                }
                What::ClientCrashed { client: crashed, task } if crashed == client && task.is_none() => {
                    waits.extend(running.drain(..).map(|(_, since)| record.t - since));
                }
                _ => {}
            }
        }
        waits.extend(running.iter().map(|(_, since)| self.run.end() - *since));
        waits.into_iter().max()
    }

    /// How many commands `client` sent to Redis, all its tasks together.
    fn commands(&self, client: &str) -> u64 {
        let sent = |what: &What| matches!(what, What::Send { client: sender, node, .. } if sender == client && node != DATABASE);
        self.run.trace.records.iter().map(|record| u64::from(sent(&record.what))).sum()
    }

    /// The grants of these clients, in order.
    fn order(&self, names: &[String]) -> Vec<String> {
        let grants = self.ended(Outcome::Granted).map(|(_, info)| client_of(&info.subject).to_owned());
        grants.filter(|client| names.contains(client)).collect()
    }
}

fn only_true(stretches: Vec<Stretch<bool>>) -> Vec<Stretch<bool>> {
    stretches.into_iter().filter(|stretch| stretch.value).collect()
}

/// `key` on `node`; without a node, on the one that most clients talk to.
pub(super) fn key_at<'a>(
    state: &'a State,
    header: &crate::trace::Header,
    node: Option<&str>,
    key: &str,
) -> Option<&'a KeyState> {
    let talked_to = |name: &str| state.clients.values().filter(|client| client.master == name).count();
    let names = header.nodes.iter().map(|node| node.name.as_str());
    let node = match node {
        Some(node) => node,
        // The first of those with the most.
        None => names.rev().max_by_key(|name| talked_to(name))?,
    };
    state.nodes.get(node)?.keys.get(key)
}

/// The part of a stretch in which the key is as asked. A TTL that is left is so for one instant only.
fn key_fits(
    stretch: &Stretch<Option<KeyState>>,
    value: Option<&ReplyPattern>,
    ttl: Option<KeyTtl>,
    count: Option<i64>,
) -> Option<Stretch<bool>> {
    let whole = Stretch { from: stretch.from, to: stretch.to, value: true };
    let Some(key) = &stretch.value else {
        return (value == Some(&ReplyPattern::Nil) && ttl.is_none() && count.is_none()).then_some(whole);
    };
    if value.is_some_and(|pattern| !value_fits(pattern, &key.value))
        || count.is_some_and(|count| yaml::count(&key.value) != Some(count))
    {
        return None;
    }
    match ttl {
        None => Some(whole),
        Some(KeyTtl::None) => key.deadline.is_none().then_some(whole),
        Some(KeyTtl::Left(left)) => {
            let slack = if key.approximate { APPROXIMATE } else { LessonTime::ZERO };
            let then = key.deadline.filter(|deadline| *deadline + slack >= left)?;
            let (first, last) = (then.saturating_sub(left + slack), then + slack - left);
            let (from, to) = (first.max(stretch.from), last + LessonTime(1));
            let to = stretch.to.map_or(to, |end| end.min(to));
            (from < to).then_some(Stretch { from, to: Some(to), value: true })
        }
    }
}

/// A string is compared as text or as the number in it; a hash as `HGETALL` lists it.
fn value_fits(pattern: &ReplyPattern, value: &Value) -> bool {
    match (pattern, value) {
        (ReplyPattern::Int(n), Value::String(text)) => text.parse() == Ok(*n),
        (pattern, Value::String(text)) => pattern.matches(&Reply::Bulk(text.clone())),
        (pattern, Value::Hash(fields)) => {
            let flat =
                fields.iter().flat_map(|(field, value)| [Reply::Bulk(field.clone()), Reply::Bulk(value.clone())]);
            pattern.matches(&Reply::List(flat.collect()))
        }
        (_, Value::Other { .. }) => false,
    }
}
