//! How things stand at a playhead, in one word: the verdict of what has been seen so far.

use crate::trace::{Finding, FindingKind, Group, LessonTime, Trace, What};

/// The verdict so far (FORMAT §10), with the time since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing has gone wrong.
    Safe,
    /// Mutual exclusion, or the data, broke.
    Broken(LessonTime),
    /// The lock failed and the resource refused the damage.
    Contained(LessonTime),
    /// Somebody can never go on, or much later than needed.
    Stuck(LessonTime),
    /// Something that should have happened did not.
    Inconclusive,
}

/// What has been seen so far, as far as the word depends on it.
#[derive(Default)]
struct Seen {
    broken: Option<LessonTime>,
    /// A finding about the data, or a guard's wrong refusal: nothing contains these.
    beyond_containing: bool,
    contained: Option<LessonTime>,
    stuck: Option<LessonTime>,
    not_run: bool,
}

impl Seen {
    fn take(&mut self, finding: &Finding) {
        match finding.kind.group() {
            Group::Broken => drop(self.broken.get_or_insert(finding.from)),
            Group::Stuck => drop(self.stuck.get_or_insert(finding.from)),
            Group::Contained => drop(self.contained.get_or_insert(finding.from)),
            Group::Note => {}
        }
        self.beyond_containing |= matches!(
            finding.kind,
            FindingKind::StaleWrite
                | FindingKind::LostUpdate
                | FindingKind::Oversold
                | FindingKind::Duplicate
                | FindingKind::WrongReject
        );
    }

    fn standing(&self) -> Standing {
        let contained = self.contained.filter(|_| !self.beyond_containing);
        match (contained, self.broken, self.stuck) {
            (Some(t), ..) => Standing::Contained(t),
            (_, Some(t), _) => Standing::Broken(t),
            (.., Some(t)) => Standing::Stuck(t),
            _ if self.not_run => Standing::Inconclusive,
            _ => Standing::Safe,
        }
    }
}

/// The records at which the word changes, and to what.
pub(super) fn standings(trace: &Trace, findings: &[Finding]) -> Vec<(usize, Standing)> {
    let not_run = trace.records.iter().enumerate().filter(|(_, r)| matches!(r.what, What::EventNotRun { .. }));
    let mut changes: Vec<(usize, Option<&Finding>)> = findings.iter().map(|f| (f.record, Some(f))).collect();
    changes.extend(not_run.map(|(i, _)| (i, None)));
    changes.sort_by_key(|(record, _)| *record);

    let mut seen = Seen::default();
    let mut standings = Vec::new();
    for (record, finding) in changes {
        match finding {
            Some(finding) => seen.take(finding),
            None => seen.not_run = true,
        }
        let standing = seen.standing();
        if standings.last().map_or(Standing::Safe, |(_, last)| *last) != standing {
            standings.push((record, standing));
        }
    }
    standings
}
