//! What a run shows: violations, notes, the verdict. The names are the format's (FORMAT §10).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::LessonTime;

/// The verdict of a run, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Mutual exclusion, or the data, broke.
    Broken,
    /// The lock failed and the resource refused the damage.
    Contained,
    /// Somebody can never go on, or much later than needed.
    Stuck,
    /// Something that should have happened did not, so nothing can be said.
    Inconclusive,
    /// The lock did its job.
    Held,
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the format's own words; FORMAT §10 defines them")]
pub enum FindingKind {
    Overlap,
    WrongDelete,
    WrongRenewal,
    WrongOverwrite,
    LostLock,
    StaleWrite,
    LostUpdate,
    Oversold,
    Duplicate,
    Orphan,
    Abandoned,
    GhostRenewal,
    Deadlock,
    Starved,
    NeverDone,
    Unfair,
    WrongReject,
    RejectedWrite,
    Refused,
    Unknown,
    Error,
    Lost,
    NotOwner,
}

/// What a finding means for the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Makes the verdict `broken`.
    Broken,
    /// Makes it `stuck`.
    Stuck,
    /// A guard refused a write.
    Contained,
    /// An outcome without a verdict of its own.
    Note,
}

impl FindingKind {
    /// Every kind, in the order of FORMAT §10.
    pub const ALL: [Self; 23] = [
        Self::Overlap,
        Self::WrongDelete,
        Self::WrongRenewal,
        Self::WrongOverwrite,
        Self::LostLock,
        Self::StaleWrite,
        Self::LostUpdate,
        Self::Oversold,
        Self::Duplicate,
        Self::Orphan,
        Self::Abandoned,
        Self::GhostRenewal,
        Self::Deadlock,
        Self::Starved,
        Self::NeverDone,
        Self::Unfair,
        Self::WrongReject,
        Self::RejectedWrite,
        Self::Refused,
        Self::Unknown,
        Self::Error,
        Self::Lost,
        Self::NotOwner,
    ];

    /// As a lesson file writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overlap => "overlap",
            Self::WrongDelete => "wrong_delete",
            Self::WrongRenewal => "wrong_renewal",
            Self::WrongOverwrite => "wrong_overwrite",
            Self::LostLock => "lost_lock",
            Self::StaleWrite => "stale_write",
            Self::LostUpdate => "lost_update",
            Self::Oversold => "oversold",
            Self::Duplicate => "duplicate",
            Self::Orphan => "orphan",
            Self::Abandoned => "abandoned",
            Self::GhostRenewal => "ghost_renewal",
            Self::Deadlock => "deadlock",
            Self::Starved => "starved",
            Self::NeverDone => "never_done",
            Self::Unfair => "unfair",
            Self::WrongReject => "wrong_reject",
            Self::RejectedWrite => "rejected_write",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
            Self::Error => "error",
            Self::Lost => "lost",
            Self::NotOwner => "not_owner",
        }
    }

    /// What it means for the verdict.
    #[must_use]
    pub const fn group(self) -> Group {
        match self {
            Self::Overlap
            | Self::WrongDelete
            | Self::WrongRenewal
            | Self::WrongOverwrite
            | Self::LostLock
            | Self::StaleWrite
            | Self::LostUpdate
            | Self::Oversold
            | Self::Duplicate => Group::Broken,
            Self::Orphan
            | Self::Abandoned
            | Self::GhostRenewal
            | Self::Deadlock
            | Self::Starved
            | Self::NeverDone
            | Self::Unfair
            | Self::WrongReject => Group::Stuck,
            Self::RejectedWrite => Group::Contained,
            Self::Refused | Self::Unknown | Self::Error | Self::Lost | Self::NotOwner => Group::Note,
        }
    }

    /// Whether the finding lasts (`from`/`to`) or is an instant (`at`).
    #[must_use]
    pub const fn lasts(self) -> bool {
        matches!(
            self,
            Self::Overlap
                | Self::Oversold
                | Self::Orphan
                | Self::Abandoned
                | Self::GhostRenewal
                | Self::Deadlock
                | Self::Starved
                | Self::NeverDone
        )
    }
}

/// One violation or note that was seen in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which kind.
    pub kind: FindingKind,
    /// The subjects of kinds that are written with a name or a list: `overlap: [A, B]`, `deadlock: [A, B]`,
    /// `refused: B`, `orphan: A`, `starved: B`. In the lesson's order of clients for lists.
    pub who: Vec<String>,
    /// The further fields: `by`, `owner`, `of`, `victim`, `why`, `event`, `while`, `first`, `second`, `log`, `key`, `after`.
    pub fields: BTreeMap<String, String>,
    /// Which lock, by name.
    pub lock: Option<String>,
    /// When it happened, or began.
    pub from: LessonTime,
    /// When it ended; none: it had not when the run ended, or it is an instant.
    pub to: Option<LessonTime>,
    /// The record with which it began: an index into [`super::Trace::records`].
    pub record: usize,
    /// The record with which it ended.
    pub end_record: Option<usize>,
}
