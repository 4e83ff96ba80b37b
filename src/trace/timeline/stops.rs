//! Where stepping stops, and what is worth a jump.
//!
//! A stop is what a student would call one event: a command with everything that it caused at that instant, an
//! expiry, a crash, a question. What merely leads up to the next event (a job that ends, a program that is over)
//! joins it; nothing joins across two instants.

use std::collections::BTreeMap;

use crate::trace::state::client_of;
use crate::trace::{Cause, EventKind, Finding, Group, Header, KeyOp, LessonTime, LinkState, Record, Trace, What};

/// One step: the records `start..end`, all at `t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// When.
    pub t: LessonTime,
    /// The first record that belongs to it.
    pub start: usize,
    /// One past the last: the position of the playhead at this stop.
    pub end: usize,
}

/// Something worth a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// When.
    pub t: LessonTime,
    /// The record at which it happens.
    pub record: usize,
    /// What.
    pub kind: MarkerKind,
}

/// Kinds of markers, the least important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkerKind {
    /// Something was done to a server, a link or a client.
    Happening,
    /// A key expired.
    Expired,
    /// Somebody is stuck from here on.
    Stuck,
    /// A guard refused a write.
    Contained,
    /// A question.
    Ask,
    /// A violation that lasts begins here.
    BrokenFrom,
    /// A violation, at this instant.
    Broken,
}

impl MarkerKind {
    /// Whether `[` and `]` stop here.
    #[must_use]
    pub const fn is_jump(self) -> bool {
        !matches!(self, Self::Happening | Self::Expired)
    }

    /// Whether it is a violation.
    #[must_use]
    pub const fn is_violation(self) -> bool {
        matches!(self, Self::Stuck | Self::BrokenFrom | Self::Broken)
    }
}

/// What a record does to the grouping.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// Opens a stop of its own.
    Opens,
    /// Makes the current stop one, without opening another.
    Belongs,
    /// Neither: leads up to something, or follows from it.
    Quiet,
}

pub(super) fn stops(trace: &Trace) -> Vec<Stop> {
    let mut stops = vec![Stop { t: LessonTime::ZERO, start: 0, end: 0 }];
    let mut grouping = Grouping::default();
    let mut start = 0;
    let mut weighty = false;
    for (i, record) in trace.records.iter().enumerate() {
        let weight = grouping.weigh(&trace.header, record);
        let new_instant = i > start && trace.records[i - 1].t != record.t;
        if i > start && (new_instant || (weighty && weight == Weight::Opens)) {
            stops.push(Stop { t: trace.records[start].t, start, end: i });
            start = i;
            weighty = false;
        }
        weighty |= weight != Weight::Quiet;
    }
    if start < trace.records.len() {
        stops.push(Stop { t: trace.records[start].t, start, end: trace.records.len() });
    }
    stops
}

/// What has to be remembered to tell a new event from a consequence.
#[derive(Default)]
struct Grouping {
    /// An action has started and its first command is still to come: that command belongs to it.
    awaited: Option<usize>,
    /// The client whose event the current stop is about.
    subject: String,
    links: BTreeMap<(String, String), LinkState>,
    /// The last event was something done to a node or link; link records that follow are its consequences.
    in_happening: bool,
}

impl Grouping {
    fn weigh(&mut self, header: &Header, record: &Record) -> Weight {
        match &record.what {
            What::EventStart { event } => {
                let Some(info) = header.events.get(*event) else { return Weight::Opens };
                let client = client_of(&info.subject);
                let same_client = self.subject == client;
                client.clone_into(&mut self.subject);
                self.awaited = Some(*event);
                self.in_happening = is_happening(info.kind);
                match info.kind {
                    // A job that starts as its lock is granted is part of the same step, unless the lesson has
                    // something to say about it.
                    EventKind::Work | EventKind::Idle if info.say.is_none() && same_client => Weight::Belongs,
                    _ => Weight::Opens,
                }
            }
            What::Send { event, client, .. } => {
                client.clone_into(&mut self.subject);
                self.in_happening = false;
                let first = event.is_some() && self.awaited == *event;
                self.awaited = None;
                if first { Weight::Belongs } else { Weight::Opens }
            }
            // Whoever is told tries at once: its command belongs to the message.
            What::News { event, client, got: true, .. } => {
                client.clone_into(&mut self.subject);
                self.awaited = Some(*event);
                self.in_happening = false;
                Weight::Opens
            }
            What::Key { op: KeyOp::Expired, cause: Cause::Expiry, .. } => {
                self.subject.clear();
                self.in_happening = false;
                Weight::Opens
            }
            What::ClientResumed { .. } | What::Timeout { .. } => Weight::Opens,
            What::Link { a, b, state, .. } => {
                let before = self.links.insert((a.clone(), b.clone()), *state).unwrap_or(LinkState::Open);
                // Only the bytes that wait in it have changed, or the happening that did it has just begun.
                if before == *state || self.in_happening { Weight::Quiet } else { Weight::Opens }
            }
            What::EventEnd { .. }
            | What::EventSkipped { .. }
            | What::TaskEnded { .. }
            | What::Works { on: false, .. }
            | What::Belief { on: false, .. }
            | What::Warning { .. }
            | What::End => Weight::Quiet,
            _ => Weight::Belongs,
        }
    }
}

const fn is_happening(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Crash
            | EventKind::Pause
            | EventKind::Restart
            | EventKind::Promote
            | EventKind::Demote
            | EventKind::Flush
            | EventKind::Evict
            | EventKind::ClockJump
            | EventKind::Cut
            | EventKind::Hold
            | EventKind::Slow
            | EventKind::Heal
    )
}

pub(super) fn markers(trace: &Trace, findings: &[Finding]) -> Vec<Marker> {
    let of_record = |(i, record): (usize, &Record)| {
        let kind = match &record.what {
            What::EventStart { event } => match trace.header.events.get(*event)?.kind {
                EventKind::Ask => MarkerKind::Ask,
                kind if is_happening(kind) => MarkerKind::Happening,
                _ => return None,
            },
            What::Key { op: KeyOp::Expired, cause: Cause::Expiry, .. } => MarkerKind::Expired,
            _ => return None,
        };
        Some(Marker { t: record.t, record: i, kind })
    };
    let of_finding = |finding: &Finding| {
        let kind = match finding.kind.group() {
            Group::Broken if finding.kind.lasts() => MarkerKind::BrokenFrom,
            Group::Broken => MarkerKind::Broken,
            Group::Stuck => MarkerKind::Stuck,
            Group::Contained => MarkerKind::Contained,
            Group::Note => return None,
        };
        Some(Marker { t: finding.from, record: finding.record, kind })
    };
    let mut markers: Vec<Marker> = trace.records.iter().enumerate().filter_map(of_record).collect();
    markers.extend(findings.iter().filter_map(of_finding));
    markers.sort_by_key(|marker| (marker.record, marker.kind));
    markers
}
