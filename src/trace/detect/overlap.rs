//! `overlap`: two are inside one lock.

use super::spells::Spells;
use super::{Detector, Finding, FindingKind, Step};

/// Opens when two clients are inside one lock at once, that is, each of them believes that it holds it or works in its
/// critical section; closes when one of them is inside no longer. Three inside are three overlaps, one for each pair.
///
/// Being inside is looked at on the lesson clock: who leaves at 12 s and who enters at 12 s do not overlap, whatever
/// the order of their records, and who leaves and enters again at 12 s was inside all the time.
#[derive(Default)]
pub(super) struct Overlap(Spells<(String, String, String)>);

impl Detector for Overlap {
    fn see(&mut self, step: &Step<'_>) {
        let state = step.after;
        self.0.close_where(step, |(lock, a, b), _| !(state.inside(a, lock) && state.inside(b, lock)));
        for lock in step.header.locks.iter().map(|lock| lock.name.as_str()) {
            let names = step.header.clients.iter().map(|client| client.name.as_str());
            let inside: Vec<&str> = names.filter(|client| state.inside(client, lock)).collect();
            for (i, a) in inside.iter().enumerate() {
                for b in inside.iter().skip(i + 1) {
                    let pair = (lock.to_owned(), (*a).to_owned(), (*b).to_owned());
                    self.0.open(step, &pair, || step.finding(FindingKind::Overlap, Some(lock)).of(a).of(b));
                }
            }
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.0.all()
    }
}
