//! The agenda: what is due, and in which order at one instant (FORMAT §2).

use std::collections::BTreeMap;

/// The kinds of things that fall due at one instant, first to last. Expiries come before all of them; they are not on
/// the agenda, since Redis keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Happenings and their ends, in file order.
    Happening,
    /// A request, or bytes of a replication link, arrive.
    Request,
    /// A reply arrives.
    Reply,
    /// A `work` or `idle` is over: not a step, the program's next event is due at that instant.
    WorkEnd,
    /// A step of a release.
    Release,
    /// Any other step of a program.
    Step,
}

/// A place on the agenda: time, class, order within the class (file order), and order of entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Lesson time, ms.
    pub(super) t: u64,
    /// What kind of thing it is.
    pub(super) class: Class,
    /// Order within the class; see [`file_order`].
    pub(super) order: u64,
    seq: u64,
}

/// Entries by place.
#[derive(Debug)]
pub(super) struct Agenda<T> {
    entries: BTreeMap<Place, T>,
    next_seq: u64,
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), next_seq: 0 }
    }
}

impl<T> Agenda<T> {
    /// Enters something; the place serves to take it back.
    pub(super) fn insert(&mut self, t: u64, class: Class, order: u64, what: T) -> Place {
        let place = Place { t, class, order, seq: self.next_seq };
        self.next_seq += 1;
        self.entries.insert(place, what);
        place
    }

    /// Takes an entry back. False if it was gone already.
    pub(super) fn remove(&mut self, place: &Place) -> bool {
        self.entries.remove(place).is_some()
    }

    /// When the next entry is due.
    pub(super) fn next_time(&self) -> Option<u64> {
        self.entries.keys().next().map(|place| place.t)
    }

    /// When the last of those entries is due that `pick` picks.
    pub(super) fn last_time(&self, pick: impl Fn(&T) -> bool) -> Option<u64> {
        self.entries.iter().rev().find(|(_, what)| pick(what)).map(|(place, _)| place.t)
    }

    /// Takes the next entry.
    pub(super) fn pop(&mut self) -> Option<(Place, T)> {
        self.entries.pop_first()
    }

    /// Takes what is due at `t` and picked by `pick`, in its order.
    pub(super) fn take_at(&mut self, t: u64, pick: impl Fn(&T) -> bool) -> Vec<T> {
        let picked = self.entries.iter().filter(|(place, what)| place.t == t && pick(what));
        let places: Vec<Place> = picked.map(|(place, _)| *place).collect();
        places.iter().filter_map(|place| self.entries.remove(place)).collect()
    }

    /// Takes back everything that `drop` picks.
    pub(super) fn remove_where(&mut self, mut drop: impl FnMut(&T) -> bool) {
        self.entries.retain(|_, what| !drop(what));
    }
}

/// What stands at an event's place in the file: the event itself, then what hangs on an acquire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hanging {
    /// The event itself.
    Event,
    /// The deadline of an acquire; it stands before the watchdog's tick.
    Deadline,
    /// A watchdog's tick; a watchdog stands where its acquire stands.
    Tick,
}

/// The order of an event's steps within their class.
pub(super) const fn file_order(event: usize, what: Hanging) -> u64 {
    (event as u64) * 4 + what as u64
}

/// The order of a deadline or tick that fell due during a pause: after all that the main programs do at its end.
pub(super) const fn after_pause(order: u64) -> u64 {
    (1 << 40) + order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_instant_has_the_order_of_the_format() {
        let mut agenda = Agenda::default();
        agenda.insert(12, Class::Step, file_order(0, Hanging::Event), "B's acquire, first in the file");
        agenda.insert(12, Class::Step, file_order(1, Hanging::Tick), "tick of the second acquire");
        agenda.insert(12, Class::Step, file_order(1, Hanging::Deadline), "deadline of the second acquire");
        agenda.insert(12, Class::Release, file_order(7, Hanging::Event), "A's release, last in the file");
        agenda.insert(12, Class::Reply, 0, "a reply");
        agenda.insert(12, Class::Request, 1, "a request, sent second");
        agenda.insert(12, Class::Request, 0, "a request, sent first");
        agenda.insert(12, Class::Happening, 9, "a happening");
        agenda.insert(11, Class::Step, file_order(9, Hanging::Event), "an earlier step");
        let order: Vec<&str> = std::iter::from_fn(|| agenda.pop().map(|(_, what)| what)).collect();
        assert_eq!(
            order,
            [
                "an earlier step",
                "a happening",
                "a request, sent first",
                "a request, sent second",
                "a reply",
                "A's release, last in the file",
                "B's acquire, first in the file",
                "deadline of the second acquire",
                "tick of the second acquire",
            ]
        );
    }

    #[test]
    fn what_is_taken_back_does_not_come() {
        let mut agenda = Agenda::default();
        let first = agenda.insert(5, Class::Step, 0, 'a');
        agenda.insert(6, Class::Step, 0, 'b');
        assert!(agenda.remove(&first));
        assert!(!agenda.remove(&first));
        assert_eq!(agenda.next_time(), Some(6));
    }
}
