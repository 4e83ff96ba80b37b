//! The lanes of the timeline: who holds, who believes, who works, what servers and links do, and where these clash.
//!
//! Each lane is a list of stretches that do not overlap, and a list of marks, both in order, so that a column of the
//! screen finds what is in it without walking over what is not ([`Sweep`]).

mod build;
mod data;
mod sweep;

pub(super) use build::lanes;
pub use sweep::{Sweep, forward};

use crate::trace::{Cause, FindingKind, LessonTime, Outcome, Role};

/// One lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// What it shows.
    pub kind: LaneKind,
    /// What lasts, in order, without overlaps.
    pub stretches: Vec<Stretch>,
    /// What happens in an instant, in order.
    pub marks: Vec<Mark>,
    /// When the stretches begin, and when the marks are, close together in memory: a frame looks for hundreds of times in
    /// them, and in a long run each look at a whole stretch would be a cache miss.
    index: Index,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Index {
    stretches: Vec<LessonTime>,
    marks: Vec<LessonTime>,
}

/// What a lane shows. Clients are indices into the header's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// The key of a lock on a node: what Redis says.
    Key {
        /// The node.
        node: String,
        /// The lock, by name.
        lock: String,
    },
    /// A server: its role, and when it is down. Only where something happens to one.
    Node {
        /// The node.
        node: String,
    },
    /// A link between two ends.
    Link {
        /// One end.
        a: String,
        /// The other.
        b: String,
    },
    /// What a client thinks of a lock; waiting for it, too.
    Believes {
        /// The client.
        client: usize,
        /// The lock, by name.
        lock: String,
    },
    /// When a client is at work in the critical section.
    Works {
        /// The client.
        client: usize,
    },
    /// When the watchdog of a client renews, or tries to.
    Watchdog {
        /// The client.
        client: usize,
    },
    /// A protected resource: what is stored.
    Resource {
        /// Its name.
        name: String,
    },
    /// Several clients inside at once.
    Overlap,
    /// Somebody who cannot go on.
    Stuck,
}

/// Something that lasts from one record to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// When it begins.
    pub from: LessonTime,
    /// When it ends; the end of the run if it does not.
    pub to: LessonTime,
    /// The record with which it begins.
    pub record: usize,
    /// The record with which it ends; [`usize::MAX`]: it does not.
    pub end_record: usize,
    /// What.
    pub fill: Fill,
}

/// What a stretch shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fill {
    /// The key is there; none: nobody of the lesson wrote it.
    Owned {
        /// Whose it is.
        owner: Option<usize>,
        /// It has no TTL: it never expires.
        forever: bool,
    },
    /// The node is down.
    Down,
    /// The client believes that it holds.
    Believes(usize),
    /// The client was refused and waits for another chance.
    Waits(usize),
    /// The client works.
    Works(usize),
    /// The client stands still.
    Paused,
    /// What is sent through the link waits in it.
    Held {
        /// How much: bytes between servers, messages of a client.
        waiting: u64,
        /// Nothing gets through; else it is only on its way.
        shut: bool,
    },
    /// The node has this role.
    Role(Role),
    /// What is sent through the link arrives later.
    Slow,
    /// What is sent through the link is gone.
    Cut,
    /// This is stored.
    Data {
        /// A row's value; of a log, how many effects there are.
        text: String,
        /// Who wrote it; none: it was so in the beginning.
        writer: Option<usize>,
    },
    /// These are inside at once.
    Inside(Vec<usize>),
    /// This is so.
    Stuck(FindingKind, Vec<String>),
}

/// Something that happens in an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// When.
    pub t: LessonTime,
    /// The record that it is.
    pub record: usize,
    /// What.
    pub sign: Sign,
}

/// What a mark shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The key's TTL ran out.
    Expired,
    /// The owner took its key away.
    Freed(String),
    /// Another client took the key away.
    Deleted(String),
    /// The owner renewed its lease.
    Renewed(String),
    /// Another client changed the TTL.
    RenewedByOther(String),
    /// The key vanished for another reason than time and commands.
    Vanished(Cause),
    /// An acquire was refused.
    Refused,
    /// The client learns that its lock is lost.
    ToldLost,
    /// It crashed.
    Crashed,
    /// The node came back.
    Restarted,
    /// The node became a master.
    Promoted,
    /// The node became a replica.
    Demoted,
    /// A guard refused the write of this client.
    Rejected(String),
    /// A write did this harm to the data.
    Harmed(FindingKind),
    /// The watchdog looked after the lease, and this came of it.
    Tick(Outcome),
}

impl Lane {
    /// The lane is complete: from now on it can be looked at.
    fn complete(&mut self) {
        self.index.stretches = self.stretches.iter().map(|stretch| stretch.from).collect();
        self.index.marks = self.marks.iter().map(|mark| mark.t).collect();
    }

    /// What is to be seen of the lane's stretches between `from` (included) and `until` (not included), when only the
    /// first `limit` records may be known. Of several, the one that begins last.
    #[must_use]
    pub fn stretch_in(&self, from: LessonTime, until: LessonTime, limit: usize) -> Option<&Stretch> {
        Sweep::new(self, limit).stretch_in(from, until)
    }

    /// The first mark between `from` (included) and `until` (not included) among the first `limit` records.
    #[must_use]
    pub fn mark_in(&self, from: LessonTime, until: LessonTime, limit: usize) -> Option<&Mark> {
        Sweep::new(self, limit).mark_in(from, until)
    }
}
