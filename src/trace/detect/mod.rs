//! The detectors: what a run shows, found by folding over its records.
//!
//! Each kind of finding (FORMAT §10) has one small detector, in a file of its own or with its nearest relatives, whose
//! doc comment gives the rule. A detector sees every record once, with the [`State`] before and after it, and says at
//! the end what it found. Detectors know nothing of each other.

mod abandoned;
mod deadlock;
mod ghost_renewal;
mod grants;
mod lost_lock;
mod lost_update;
mod note;
mod once;
mod orphan;
mod overlap;
mod oversold;
mod reject;
mod spells;
mod stale_write;
mod starved;
mod unfair;
mod wrong;

use std::collections::BTreeMap;

use super::{Finding, FindingKind, Header, LessonTime, Record, State, Trace};

/// One record, and what was true before and after it.
struct Step<'a> {
    /// Who there is.
    header: &'a Header,
    /// The record's index.
    index: usize,
    /// The record.
    record: &'a Record,
    /// The state before it.
    before: &'a State,
    /// The state after it.
    after: &'a State,
}

/// Looks for one kind of finding.
trait Detector {
    /// Takes one more record into account.
    fn see(&mut self, step: &Step<'_>);
    /// What was found.
    fn found(self: Box<Self>) -> Vec<Finding>;
}

/// Everything that `trace` shows, in the order in which it began; of one record, in the order of FORMAT §10.
#[must_use]
pub fn findings(trace: &Trace) -> Vec<Finding> {
    let mut detectors: [Box<dyn Detector>; 15] = [
        Box::<overlap::Overlap>::default(),
        Box::<wrong::Wrong>::default(),
        Box::<lost_lock::LostLock>::default(),
        Box::<stale_write::StaleWrite>::default(),
        Box::<lost_update::LostUpdate>::default(),
        Box::<oversold::Oversold>::default(),
        Box::<once::Once>::default(),
        Box::<orphan::Orphan>::default(),
        Box::<abandoned::Abandoned>::default(),
        Box::<ghost_renewal::GhostRenewal>::default(),
        Box::<deadlock::Deadlock>::default(),
        Box::<starved::Starved>::default(),
        Box::<unfair::Unfair>::default(),
        Box::<reject::Reject>::default(),
        Box::<note::Note>::default(),
    ];
    let header = &trace.header;
    // Two states, one record apart: cheaper than a copy per record.
    let (mut before, mut after) = (State::new(header), State::new(header));
    for (index, record) in trace.records.iter().enumerate() {
        after.apply(header, record);
        let step = Step { header, index, record, before: &before, after: &after };
        for detector in &mut detectors {
            detector.see(&step);
        }
        before.apply(header, record);
    }
    let mut found: Vec<Finding> = detectors.into_iter().flat_map(Detector::found).collect();
    found.sort_by(|a, b| (a.record, a.kind, &a.who, &a.fields).cmp(&(b.record, b.kind, &b.who, &b.fields)));
    found
}

impl Step<'_> {
    /// When the record happened.
    const fn t(&self) -> LessonTime {
        self.record.t
    }

    /// A finding that happens, or begins, with this record.
    fn finding(&self, kind: FindingKind, lock: Option<&str>) -> Finding {
        Finding {
            kind,
            who: Vec::new(),
            fields: BTreeMap::new(),
            lock: lock.map(str::to_owned),
            from: self.t(),
            to: None,
            record: self.index,
            end_record: None,
        }
    }

    /// Every pair of a lock and a client, by name.
    fn locks_and_clients(&self) -> impl Iterator<Item = (&str, &str)> {
        let clients = &self.header.clients;
        self.header.locks.iter().flat_map(move |lock| clients.iter().map(|c| (lock.name.as_str(), c.name.as_str())))
    }

    /// The locks that live in `key`. As a rule there is one.
    fn locks_in<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.header.locks.iter().filter(move |lock| lock.key == key).map(|lock| lock.name.as_str())
    }
}

impl Finding {
    /// With one more subject.
    fn of(mut self, who: &str) -> Self {
        self.who.push(who.to_owned());
        self
    }

    /// With one more field.
    fn with(mut self, field: &str, value: &str) -> Self {
        self.fields.insert(field.to_owned(), value.to_owned());
        self
    }
}

/// Whether `client` believes that it holds `lock`.
fn believes(state: &State, client: &str, lock: &str) -> bool {
    state.clients.get(client).is_some_and(|client| client.believes.contains_key(lock))
}

/// Whether `client` owns `lock`, and neither believes in it nor is asking for it: nobody will let it go.
fn left_behind(step: &Step<'_>, state: &State, client: &str, lock: &str) -> bool {
    state.holds(step.header, client, lock) && !believes(state, client, lock) && !state.is_acquiring(client, lock)
}
