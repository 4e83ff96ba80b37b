//! What the engine knows of the lesson's keys: content, owner, and the exact lesson deadline.
//!
//! A deadline is never rounded. Redis keeps expiries in real milliseconds, and between the freeze of an instant and the
//! command some of them pass, so what can be read back is a little late. The number of which the deadline is made stands
//! in the command itself, though, and it is taken from there (the *own-number rule*, see `lifetimes`).

use std::collections::BTreeMap;

use super::lifetimes::Lifetimes;
use crate::trace::{KeyOp, KeyState, LessonTime, Value};

/// One key as a server shows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SeenKey {
    /// Content; none: no such key.
    pub(super) value: Option<Value>,
    /// Real expiry, ms since 1970 on the server's clock; none: no TTL.
    pub(super) expiry: Option<i64>,
}

/// A look at a server, before its TTLs were moved.
#[derive(Clone, Debug)]
pub(super) struct Look {
    /// The server's clock, ms since 1970.
    pub(super) now: i64,
    /// The marker: lesson time minus real time since the beginning, ms, as this server has it.
    pub(super) marker: i64,
    /// A key that was not due was lost while it was moved.
    pub(super) lost: bool,
    /// By name, for every key that was asked for.
    pub(super) keys: BTreeMap<String, SeenKey>,
    /// The first elements of those that are lists.
    pub(super) lists: BTreeMap<String, Vec<String>>,
}

/// What was done to one key between two looks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    /// The key.
    pub(super) key: String,
    /// What was done.
    pub(super) op: KeyOp,
    /// What it is now.
    pub(super) now: Option<KeyState>,
}

/// A command's part in a change: who sent it, when, and the lifetimes that it gives.
#[derive(Clone, Debug, Default)]
pub(super) struct Writer {
    /// The client.
    pub(super) client: Option<String>,
    /// Lesson time, ms.
    pub(super) t: u64,
    /// The lifetimes that the command can have given.
    pub(super) lifetimes: Lifetimes,
    /// How late the command may have been executed, ms: real time since the instant was frozen.
    pub(super) window: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tracked {
    pub(super) state: KeyState,
    /// Of a hash of counts: who made which of its fields.
    fields: Vec<(String, String)>,
    /// Expiry on the lesson's axis, with the lateness still in it; the same on every server that has this write.
    pub(super) raw: Option<i64>,
}

/// All keys on all nodes.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) nodes: BTreeMap<String, BTreeMap<String, Tracked>>,
    /// Every state that was ever written, newest last: what arrives on a replica or comes back from a disk is one of them.
    pub(super) written: BTreeMap<String, Vec<Tracked>>,
    /// The server's clock when the run began, ms since 1970.
    pub(super) epoch: i64,
}

impl Keys {
    /// What is known of a key.
    pub(super) fn get(&self, node: &str, key: &str) -> Option<&KeyState> {
        Some(&self.nodes.get(node)?.get(key)?.state)
    }

    /// The nodes' earliest deadline after or at `t`, ms.
    pub(super) fn next_deadline(&self) -> Option<u64> {
        self.nodes.values().flat_map(BTreeMap::values).filter_map(|key| key.state.deadline).map(LessonTime::ms).min()
    }

    /// Node and key of everything that is due at `t`.
    pub(super) fn due(&self, t: u64) -> Vec<(String, String)> {
        let due = |key: &Tracked| key.state.deadline.is_some_and(|d| d.ms() <= t);
        self.nodes
            .iter()
            .flat_map(|(node, keys)| {
                keys.iter().filter(|(_, key)| due(key)).map(|(name, _)| (node.clone(), name.clone()))
            })
            .collect()
    }

    /// Forgets a key on a node; true if it was known.
    pub(super) fn forget(&mut self, node: &str, key: &str) -> bool {
        self.nodes.get_mut(node).is_some_and(|keys| keys.remove(key).is_some())
    }

    /// What a command has done on the master that executed it. `events` are the keyspace events (event, key).
    pub(super) fn after_command(
        &mut self,
        node: &str,
        look: &Look,
        events: &[(String, String)],
        writer: &Writer,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        for (key, seen) in &look.keys {
            let heard: Vec<&str> =
                events.iter().filter(|(_, name)| name == key).map(|(event, _)| event.as_str()).collect();
            let old = self.nodes.get(node).and_then(|keys| keys.get(key)).cloned();
            let raw = seen.expiry.map(|expiry| self.raw(look, expiry));
            let (deadline, approximate) = deadline(key, raw, old.as_ref(), writer);
            let Some(op) = operation(old.as_ref(), seen, deadline, &heard) else { continue };
            let now = seen.value.as_ref().map(|value| {
                let anew = matches!(op, KeyOp::Created | KeyOp::Replaced);
                let was = old.as_ref().filter(|_| !anew);
                let mut owner = if anew { writer.client.clone() } else { was.and_then(|old| old.state.owner.clone()) };
                let (mut fields, mut also) = (Vec::new(), Vec::new());
                if let Some(counted) = counted(value) {
                    let before = was.map_or(&[][..], |old| &old.fields);
                    fields = field_owners(&counted, before, writer.client.as_deref());
                    let mut owners: Vec<String> = Vec::new();
                    for (_, client) in &fields {
                        if !owners.contains(client) {
                            owners.push(client.clone());
                        }
                    }
                    owner = (!owners.is_empty()).then(|| owners.remove(0));
                    also = owners;
                }
                let state = KeyState { value: value.clone(), deadline, approximate, owner, also };
                Tracked { state, fields, raw }
            });
            changes.push(self.set(node, key, op, now));
        }
        changes
    }

    /// What came to a node through replication, from its disk, or from its new master: always something that was written
    /// before, so content, owner and deadline are looked up. `t`: what is due is hidden, as a replica hides it.
    pub(super) fn after_arrival(&mut self, node: &str, look: &Look, t: u64) -> Vec<Change> {
        let mut changes = Vec::new();
        for (key, seen) in &look.keys {
            let raw = seen.expiry.map(|expiry| self.raw(look, expiry));
            let now = seen.value.as_ref().map(|value| self.written_before(key, value, raw));
            let now = now.filter(|key| key.state.deadline.is_none_or(|d| d.ms() > t));
            let old = self.nodes.get(node).and_then(|keys| keys.get(key)).cloned();
            if old == now {
                continue;
            }
            let op = match (&old, &now) {
                (None, _) => KeyOp::Created,
                (Some(_), None) => KeyOp::Removed,
                (Some(old), Some(now)) if old.state.value == now.state.value && old.state.owner == now.state.owner => {
                    KeyOp::Retimed
                }
                (Some(_), Some(_)) => KeyOp::Replaced,
            };
            changes.push(self.set(node, key, op, now));
        }
        changes
    }

    fn set(&mut self, node: &str, key: &str, op: KeyOp, now: Option<Tracked>) -> Change {
        let keys = self.nodes.entry(node.to_owned()).or_default();
        let state = now.as_ref().map(|now| now.state.clone());
        match now {
            Some(now) => {
                let written = self.written.entry(key.to_owned()).or_default();
                if written.last() != Some(&now) {
                    written.push(now.clone());
                }
                keys.insert(key.to_owned(), now);
            }
            None => {
                keys.remove(key);
            }
        }
        Change { key: key.to_owned(), op, now: state }
    }

    fn raw(&self, look: &Look, expiry: i64) -> i64 {
        expiry - self.epoch + look.marker
    }

    fn written_before(&self, key: &str, value: &Value, raw: Option<i64>) -> Tracked {
        let written = self.written.get(key).map_or(&[][..], Vec::as_slice);
        let same = |entry: &&Tracked| entry.state.value == *value && entry.raw == raw;
        written.iter().rev().find(same).cloned().unwrap_or_else(|| {
            let like = written.iter().rev().find(|entry| entry.state.value == *value);
            let (owner, also) =
                like.map(|entry| (entry.state.owner.clone(), entry.state.also.clone())).unwrap_or_default();
            let fields = like.map(|entry| entry.fields.clone()).unwrap_or_default();
            let deadline = raw.map(|raw| LessonTime(raw.max(0).unsigned_abs()));
            let approximate = deadline.is_some();
            Tracked { state: KeyState { value: value.clone(), deadline, approximate, owner, also }, fields, raw }
        })
    }
}

/// The fields of a hash of counts that have one above zero; none: it is no such hash.
fn counted(value: &Value) -> Option<Vec<&str>> {
    let Value::Hash(fields) = value else { return None };
    let count = |text: &str| text.parse::<i64>().ok();
    fields.iter().any(|(_, text)| count(text).is_some()).then(|| {
        fields.iter().filter(|(_, text)| count(text).is_some_and(|n| n > 0)).map(|(name, _)| name.as_str()).collect()
    })
}

/// Who made each of these fields: whoever did before, or else the writer.
fn field_owners(counted: &[&str], before: &[(String, String)], writer: Option<&str>) -> Vec<(String, String)> {
    let owner = |field: &str| {
        let known = before.iter().find(|(name, _)| name == field).map(|(_, client)| client.as_str());
        known.or(writer).map(str::to_owned)
    };
    counted.iter().filter_map(|field| Some(((*field).to_owned(), owner(field)?))).collect()
}

/// What was done, from what was there, what is there, and what was heard. None: nothing.
///
/// Whether a TTL was changed is seen from the deadline and not from an `expire` event: the engine's own moves make such
/// events too. (To set a TTL to what it is changes nothing.)
fn operation(old: Option<&Tracked>, seen: &SeenKey, deadline: Option<LessonTime>, heard: &[&str]) -> Option<KeyOp> {
    let written_anew = heard.iter().any(|event| matches!(*event, "set" | "rename_to" | "restore" | "copy_to"));
    match (old, &seen.value) {
        (None, None) => None,
        (None, Some(_)) => Some(KeyOp::Created),
        (Some(_), None) => Some(if heard.contains(&"expired") { KeyOp::Expired } else { KeyOp::Removed }),
        (Some(old), Some(value)) => {
            let gone_between = heard.iter().any(|event| matches!(*event, "del" | "expired" | "evicted"));
            if written_anew || gone_between {
                Some(KeyOp::Replaced)
            } else if old.state.value != *value {
                Some(KeyOp::Changed)
            } else if old.state.deadline != deadline {
                Some(KeyOp::Retimed)
            } else {
                None
            }
        }
    }
}

/// The own-number rule: the deadline is `t + n` for the `n` of the command; or, for a number `n` of a script, `t + n` or
/// `old deadline + n`, whichever fits.
fn deadline(key: &str, raw: Option<i64>, old: Option<&Tracked>, writer: &Writer) -> (Option<LessonTime>, bool) {
    let Some(raw) = raw else { return (None, false) };
    if let Some(ms) = writer.lifetimes.certain.get(key) {
        return (Some(LessonTime(writer.t.saturating_add(*ms))), false);
    }
    let old_deadline = old.and_then(|old| old.state.deadline);
    if old.is_some_and(|old| old.raw == Some(raw)) && old_deadline.is_some() {
        return (old_deadline, old.is_some_and(|old| old.state.approximate));
    }
    let possible = (raw - writer.window.max(0))..=raw;
    let bases = std::iter::once(writer.t).chain(old_deadline.map(LessonTime::ms));
    let exact = bases
        .flat_map(|base| writer.lifetimes.possible.iter().filter_map(move |ms| base.checked_add(*ms)))
        .filter(|candidate| i64::try_from(*candidate).is_ok_and(|candidate| possible.contains(&candidate)))
        // Of two that fit, the one that needs the command to have been less late.
        .max();
    match exact {
        Some(exact) => (Some(LessonTime(exact)), false),
        None => (Some(LessonTime(raw.max(0).unsigned_abs())), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: i64 = 1_000_000;

    fn look(now: i64, marker: i64, value: Option<&str>, expiry: Option<i64>) -> Look {
        let seen = SeenKey { value: value.map(|v| Value::String(v.to_owned())), expiry };
        Look { now, marker, lost: false, keys: BTreeMap::from([("k".to_owned(), seen)]), lists: BTreeMap::new() }
    }

    fn writer(t: u64, numbers: &[u64], window: i64) -> Writer {
        let possible = numbers.iter().flat_map(|n| [*n, *n * 1000]).collect();
        let lifetimes = Lifetimes { possible, ..Lifetimes::default() };
        Writer { client: Some("A".to_owned()), t, lifetimes, window }
    }

    fn heard(events: &[&str]) -> Vec<(String, String)> {
        events.iter().map(|event| ((*event).to_owned(), "k".to_owned())).collect()
    }

    fn keys() -> Keys {
        Keys { epoch: EPOCH, ..Keys::default() }
    }

    #[test]
    fn a_late_set_has_the_deadline_that_its_own_number_says() {
        let mut keys = keys();
        // Lesson time 11 000, frozen at real 4 (marker 10 996); the SET PX 10000 ran 3 ms late.
        let seen = look(EPOCH + 8, 10_996, Some("A:1"), Some(EPOCH + 7 + 10_000));
        let changes = keys.after_command("redis", &seen, &heard(&["set", "expire"]), &writer(11_000, &[10_000], 4));
        let state = changes[0].now.clone().expect("the key is there");
        assert_eq!(
            (changes[0].op, state.deadline, state.approximate),
            (KeyOp::Created, Some(LessonTime(21_000)), false)
        );
        assert_eq!(state.owner.as_deref(), Some("A"));
    }

    #[test]
    fn seconds_and_prolonging_count_too() {
        let mut keys = keys();
        keys.after_command("redis", &look(EPOCH, 0, Some("x"), None), &heard(&["set"]), &writer(0, &[], 0));
        let changes = keys.after_command(
            "redis",
            &look(EPOCH, 0, Some("x"), Some(EPOCH + 30_000)),
            &heard(&["expire"]),
            &writer(0, &[30], 1),
        );
        assert_eq!(changes[0].op, KeyOp::Retimed);
        assert_eq!(changes[0].now.as_ref().and_then(|now| now.deadline), Some(LessonTime(30_000)));
    }

    #[test]
    fn what_is_certain_does_not_depend_on_what_was_there() {
        let mut keys = keys();
        // Written at 0, 3 ms late; written again at 3, not late at all: the very same expiry, and another deadline.
        let seen = look(EPOCH + 3, 0, Some("x"), Some(EPOCH + 10_003));
        let certain = |t, window| {
            let lifetimes = Lifetimes { certain: BTreeMap::from([("k".to_owned(), 10_000)]), possible: Vec::new() };
            Writer { client: Some("A".to_owned()), t, lifetimes, window }
        };
        keys.after_command("redis", &seen, &heard(&["set"]), &certain(0, 3));
        let changes = keys.after_command("redis", &seen, &heard(&[]), &certain(3, 0));
        assert_eq!(changes[0].op, KeyOp::Retimed);
        assert_eq!(changes[0].now.as_ref().and_then(|now| now.deadline), Some(LessonTime(10_003)));
    }

    #[test]
    fn a_number_that_is_not_in_the_command_is_marked_approximate() {
        let mut keys = keys();
        let changes = keys.after_command(
            "redis",
            &look(EPOCH, 0, Some("x"), Some(EPOCH + 777)),
            &heard(&["set"]),
            &writer(0, &[10], 2),
        );
        let state = changes[0].now.clone().expect("the key is there");
        assert_eq!((state.deadline, state.approximate), (Some(LessonTime(777)), true));
    }

    #[test]
    fn the_same_text_written_anew_is_a_new_owner() {
        let mut keys = keys();
        let seen = look(EPOCH, 0, Some("1"), Some(EPOCH + 10));
        keys.after_command("redis", &seen, &heard(&["set", "expire"]), &writer(0, &[10], 0));
        let mut by_b = writer(0, &[10], 0);
        by_b.client = Some("B".to_owned());
        let changes = keys.after_command("redis", &seen, &heard(&["set", "expire"]), &by_b);
        assert_eq!(changes[0].op, KeyOp::Replaced);
        assert_eq!(changes[0].now.as_ref().and_then(|now| now.owner.as_deref()), Some("B"));
    }

    #[test]
    fn the_clock_s_own_moves_are_not_renewals() {
        let mut keys = keys();
        keys.after_command(
            "redis",
            &look(EPOCH, 0, Some("x"), Some(EPOCH + 10)),
            &heard(&["set"]),
            &writer(0, &[10], 0),
        );
        // Marker and expiry have moved alike, and Redis has told of it.
        let moved = look(EPOCH + 1, 5, Some("x"), Some(EPOCH + 5));
        assert_eq!(keys.after_command("redis", &moved, &heard(&["expire"]), &writer(6, &[], 0)), []);
    }

    #[test]
    fn what_arrives_on_a_replica_is_what_was_written() {
        let mut keys = keys();
        keys.after_command(
            "m",
            &look(EPOCH + 3, 0, Some("A:1"), Some(EPOCH + 1003)),
            &heard(&["set"]),
            &writer(0, &[1000], 3),
        );
        // The replica shows the same raw expiry under its own, older marker.
        let arrived = keys.after_arrival("r1", &look(EPOCH + 9, 0, Some("A:1"), Some(EPOCH + 1003)), 500);
        assert_eq!(arrived[0].now.as_ref().and_then(|now| now.deadline), Some(LessonTime(1000)));
        assert_eq!(arrived[0].now.as_ref().and_then(|now| now.owner.as_deref()), Some("A"));
        // At its deadline a replica hides it.
        let hidden = keys.after_arrival("r1", &look(EPOCH + 9, 0, Some("A:1"), Some(EPOCH + 1003)), 1000);
        assert_eq!((hidden[0].op, hidden[0].now.clone()), (KeyOp::Removed, None));
    }
}
