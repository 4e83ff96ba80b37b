//! How an action on the protected data ended, in plain words.

use crate::trace::{EventKind, Outcome};

/// The text key for it; none: it is told as any action is, or goes without saying. `answered`: the database said so. A
/// write that is accepted without it waits for its commit.
pub(super) const fn outcome(kind: EventKind, outcome: Outcome, answered: bool) -> Option<&'static str> {
    Some(match (kind, outcome) {
        (EventKind::Begin, Outcome::Done) => "story.begins",
        (EventKind::Rollback, Outcome::Done) => "story.rolls_back",
        (EventKind::Commit, Outcome::Accepted) => "story.committed",
        (EventKind::Commit, Outcome::Rejected) => "story.commit_refused",
        (EventKind::Write, Outcome::Accepted) if !answered => "story.write_kept",
        _ => return None,
    })
}
