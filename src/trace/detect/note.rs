//! The notes: `refused`, `unknown`, `error`, `lost`, `not_owner`.

use super::{Detector, Finding, FindingKind, Step};
use crate::trace::event::{Outcome, Why};
use crate::trace::state::client_of;
use crate::trace::{LessonTime, What};

/// An action ended so, at the instant its client knew. Tries of an acquire that goes on, and the watchdog's renewals,
/// are not actions; but when a client is *told* that its lock is lost (by its watchdog, at its own deadline, at the
/// watchdog's maximum), that is a `lost` of its own.
///
/// A `renew` that ends lost tells its client so: the two records of it are one note, and so are a watchdog's loss and
/// whatever else tells the same client of the same lock at the same instant.
///
/// Fields: `event`, the event's id where the file gives one, and `why`, where there is more to say.
#[derive(Default)]
pub(super) struct Note {
    found: Vec<Finding>,
    /// Losses of this instant that were told, or that ended an action, but not both.
    half: Vec<Half>,
}

struct Half {
    t: LessonTime,
    told: bool,
    /// Index into `found`.
    note: usize,
}

impl Detector for Note {
    fn see(&mut self, step: &Step<'_>) {
        match &step.record.what {
            What::EventEnd { event, outcome, why, .. } => {
                let (Some(kind), Some(info)) = (kind_of(*outcome), step.header.events.get(*event)) else { return };
                let mut note = step.finding(kind, info.lock.as_deref()).of(client_of(&info.subject));
                if let Some(id) = &info.id {
                    note = note.with("event", id);
                }
                let note = because(note, *why);
                if kind == FindingKind::Lost { self.lost(step, note, false) } else { self.found.push(note) }
            }
            What::ToldLost { client, lock, why } => {
                let note = step.finding(FindingKind::Lost, Some(lock)).of(client);
                self.lost(step, because(note, *why), true);
            }
            _ => {}
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.found
    }
}

impl Note {
    /// Adds a loss, or what is still missing of one that is there already.
    fn lost(&mut self, step: &Step<'_>, note: Finding, told: bool) {
        self.half.retain(|half| half.t == step.t());
        let other = self.half.iter().position(|half| {
            let first = self.found.get(half.note);
            half.told != told && first.is_some_and(|first| first.who == note.who && first.lock == note.lock)
        });
        if let Some(first) = other.map(|i| self.half.remove(i).note).and_then(|i| self.found.get_mut(i)) {
            for (field, value) in note.fields {
                first.fields.entry(field).or_insert(value);
            }
        } else {
            self.half.push(Half { t: step.t(), told, note: self.found.len() });
            self.found.push(note);
        }
    }
}

const fn kind_of(outcome: Outcome) -> Option<FindingKind> {
    match outcome {
        Outcome::Refused => Some(FindingKind::Refused),
        Outcome::Unknown => Some(FindingKind::Unknown),
        Outcome::Error => Some(FindingKind::Error),
        Outcome::Lost => Some(FindingKind::Lost),
        Outcome::NotOwner => Some(FindingKind::NotOwner),
        _ => None,
    }
}

fn because(note: Finding, why: Option<Why>) -> Finding {
    match why {
        Some(why) => note.with("why", why.name()),
        None => note,
    }
}

impl Why {
    /// As a lesson file writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::TooLate => "too_late",
            Self::NoQuorum => "no_quorum",
            Self::NotReplicated => "not_replicated",
            Self::Max => "max",
            Self::Deadline => "deadline",
        }
    }
}
