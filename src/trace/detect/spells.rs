//! What lasts: findings with a beginning and an end.

use std::collections::BTreeMap;

use super::{Finding, LessonTime, Step};

/// Findings that are open, and those that are over, by what makes them one and the same (`K`).
///
/// Intervals are half-open, on the lesson clock. What begins and ends at one instant was never there: it is dropped.
/// What ends and begins again at one instant never ended: it goes on. What is open when the run ends stays open, even
/// if it began at the last instant, for it would go on.
pub(super) struct Spells<K> {
    open: BTreeMap<K, Finding>,
    over: Vec<(K, Finding)>,
}

impl<K> Default for Spells<K> {
    fn default() -> Self {
        Self { open: BTreeMap::new(), over: Vec::new() }
    }
}

impl<K: Ord + Clone> Spells<K> {
    /// The spell begins with this record, unless it is under way.
    pub(super) fn open(&mut self, step: &Step<'_>, key: &K, begin: impl FnOnce() -> Finding) {
        if self.open.contains_key(key) {
            return;
        }
        let finding = match self.just_ended(step.t(), key) {
            Some(i) => Finding { to: None, end_record: None, ..self.over.remove(i).1 },
            None => begin(),
        };
        self.open.insert(key.clone(), finding);
    }

    /// The spell of `key` that ended at this very instant, if there is one. Spells are over in the order of time, so
    /// that only the tail has to be looked at, however many there have been.
    fn just_ended(&self, now: LessonTime, key: &K) -> Option<usize> {
        let tail = self.over.iter().rev().take_while(|(_, finding)| finding.to == Some(now));
        tail.zip(1..).find(|((k, _), _)| k == key).map(|(_, back)| self.over.len() - back)
    }

    /// The spell ends with this record, if it is under way.
    pub(super) fn close(&mut self, step: &Step<'_>, key: &K) {
        let Some(finding) = self.open.remove(key) else { return };
        if finding.from < step.t() {
            let over = Finding { to: Some(step.t()), end_record: Some(step.index), ..finding };
            self.over.push((key.clone(), over));
        }
    }

    /// Closes each open spell for which `is_over` says so; it is told the key, and whether the spell began at this very
    /// instant (then what opened it must still be true; later, only what closes it counts).
    pub(super) fn close_where(&mut self, step: &Step<'_>, is_over: impl Fn(&K, bool) -> bool) {
        let t: LessonTime = step.t();
        let over: Vec<K> =
            self.open.iter().filter(|(key, f)| is_over(key, f.from == t)).map(|(key, _)| key.clone()).collect();
        for key in over {
            self.close(step, &key);
        }
    }

    /// All of them.
    pub(super) fn all(self) -> Vec<Finding> {
        self.over.into_iter().map(|(_, finding)| finding).chain(self.open.into_values()).collect()
    }
}
