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
    /// That is over: since when, and until when.
    WasStuck(LessonTime, LessonTime),
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
    /// How many are stuck now, and when the last one ceased to be.
    stuck_now: usize,
    freed: LessonTime,
    not_run: bool,
}

impl Seen {
    fn take(&mut self, finding: &Finding) {
        match finding.kind.group() {
            Group::Broken => drop(self.broken.get_or_insert(finding.from)),
            Group::Stuck => {
                self.stuck.get_or_insert(finding.from);
                self.stuck_now += 1;
            }
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

    /// A finding that lasted is over.
    fn end(&mut self, finding: &Finding) {
        if finding.kind.group() == Group::Stuck {
            self.stuck_now -= 1;
            self.freed = finding.to.unwrap_or(finding.from);
        }
    }

    fn standing(&self) -> Standing {
        let contained = self.contained.filter(|_| !self.beyond_containing);
        match (contained, self.broken, self.stuck) {
            (Some(t), ..) => Standing::Contained(t),
            (_, Some(t), _) => Standing::Broken(t),
            (.., Some(t)) if self.stuck_now > 0 => Standing::Stuck(t),
            (.., Some(t)) => Standing::WasStuck(t, self.freed),
            _ if self.not_run => Standing::Inconclusive,
            _ => Standing::Safe,
        }
    }
}

/// What may change the word.
enum Change<'a> {
    Begins(&'a Finding),
    Ends(&'a Finding),
    NotRun,
}

/// The records at which the word changes, and to what.
pub(super) fn standings(trace: &Trace, findings: &[Finding]) -> Vec<(usize, Standing)> {
    let not_run = trace.records.iter().enumerate().filter(|(_, r)| matches!(r.what, What::EventNotRun { .. }));
    let mut changes: Vec<(usize, Change<'_>)> = findings.iter().map(|f| (f.record, Change::Begins(f))).collect();
    let lasts = |finding: &&Finding| finding.kind.lasts();
    changes.extend(findings.iter().filter(lasts).filter_map(|f| Some((f.end_record?, Change::Ends(f)))));
    changes.extend(not_run.map(|(i, _)| (i, Change::NotRun)));
    changes.sort_by_key(|(record, _)| *record);

    let mut seen = Seen::default();
    let mut standings = Vec::new();
    for (record, change) in changes {
        match change {
            Change::Begins(finding) => seen.take(finding),
            Change::Ends(finding) => seen.end(finding),
            Change::NotRun => seen.not_run = true,
        }
        let standing = seen.standing();
        if standings.last().map_or(Standing::Safe, |(_, last)| *last) != standing {
            standings.push((record, standing));
        }
    }
    standings
}
