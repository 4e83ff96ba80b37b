//! The words of the format: what can stand in `do:`, for whom, with which options, and how it can end.

use crate::trace::{EventKind, Outcome};

/// Every `do:` with the subjects that it can have.
pub(super) const KINDS: &[(&str, EventKind, &[&str])] = &[
    ("acquire", EventKind::Acquire, &["client"]),
    ("work", EventKind::Work, &["client"]),
    ("idle", EventKind::Idle, &["client"]),
    ("renew", EventKind::Renew, &["client"]),
    ("release", EventKind::Release, &["client"]),
    ("read", EventKind::Read, &["client"]),
    ("write", EventKind::Write, &["client"]),
    ("begin", EventKind::Begin, &["client"]),
    ("commit", EventKind::Commit, &["client"]),
    ("rollback", EventKind::Rollback, &["client"]),
    ("redis", EventKind::Redis, &["client"]),
    ("crash", EventKind::Crash, &["client", "node"]),
    ("pause", EventKind::Pause, &["client"]),
    ("restart", EventKind::Restart, &["node"]),
    ("promote", EventKind::Promote, &["node"]),
    ("demote", EventKind::Demote, &["node"]),
    ("flush", EventKind::Flush, &["node"]),
    ("evict", EventKind::Evict, &["node"]),
    ("clock_jump", EventKind::ClockJump, &["node"]),
    ("cut", EventKind::Cut, &["link"]),
    ("hold", EventKind::Hold, &["link"]),
    ("slow", EventKind::Slow, &["link"]),
    ("heal", EventKind::Heal, &["link"]),
];

/// The options that belong to some kinds only.
const OPTIONS: &[(&str, &[&str])] = &[
    ("accept_own", &["acquire"]),
    ("add", &["write"]),
    ("append", &["write"]),
    ("by", &["slow", "clock_jump"]),
    ("choices", &["ask"]),
    ("cleanup", &["acquire"]),
    ("deadline", &["acquire"]),
    ("fence", &["acquire"]),
    ("for", &["work", "idle", "pause", "cut", "hold", "slow"]),
    ("gap", &["acquire", "release"]),
    ("guard", &["write"]),
    ("hint", &["ask"]),
    ("how", &["acquire", "renew", "release"]),
    ("isolation", &["begin"]),
    ("measured_from", &["acquire"]),
    ("mode", &["acquire"]),
    ("model", &["ask"]),
    ("net", &["acquire", "renew", "release", "redis", "read", "write", "begin", "commit", "rollback"]),
    ("nodes", &["acquire"]),
    ("ok_if", &["acquire", "renew", "release"]),
    ("on_loss", &["work"]),
    ("on_short", &["renew"]),
    ("power", &["crash (of a node)"]),
    ("predict", &["ask"]),
    ("publish", &["release"]),
    ("reply", &["acquire", "renew", "release", "redis"]),
    ("resource", &["read", "write"]),
    ("run", &["acquire", "renew", "release", "redis"]),
    ("set", &["write"]),
    ("stays", &["promote"]),
    ("token", &["acquire", "release"]),
    ("ttl", &["acquire", "renew"]),
    ("validity", &["acquire"]),
    ("via", &["redis", "an event with `run`"]),
    ("wait", &["acquire"]),
    ("wait_replicas", &["acquire"]),
    ("watchdog", &["acquire"]),
    ("way", &["cut", "hold", "slow"]),
    ("why", &["ask"]),
    ("lock", &["a client's actions", "evict"]),
    ("at", &["actions and happenings"]),
    ("when", &["actions and happenings"]),
    ("insert_before", &["the events that a variant adds"]),
    ("insert_after", &["the events that a variant adds"]),
];

/// The outcomes, as a lesson writes them.
pub(super) const OUTCOMES: &[(&str, Outcome)] = &[
    ("granted", Outcome::Granted),
    ("refused", Outcome::Refused),
    ("unknown", Outcome::Unknown),
    ("error", Outcome::Error),
    ("done", Outcome::Done),
    ("stopped", Outcome::Stopped),
    ("renewed", Outcome::Renewed),
    ("lost", Outcome::Lost),
    ("released", Outcome::Released),
    ("not_owner", Outcome::NotOwner),
    ("accepted", Outcome::Accepted),
    ("rejected", Outcome::Rejected),
    ("ok", Outcome::Ok),
];

/// The word for a kind of event.
pub(super) fn kind_name(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Say => "say",
        EventKind::Ask => "ask",
        kind => KINDS.iter().find(|(_, known, _)| *known == kind).map_or("", |(name, ..)| *name),
    }
}

/// Whether a kind is an action of a client's program (and not something that happens to somebody).
pub(super) const fn is_action(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Acquire
            | EventKind::Work
            | EventKind::Idle
            | EventKind::Renew
            | EventKind::Release
            | EventKind::Read
            | EventKind::Write
            | EventKind::Begin
            | EventKind::Commit
            | EventKind::Rollback
            | EventKind::Redis
    )
}

/// How an event of this kind can end (FORMAT §3); happenings and texts have no outcome.
pub(super) const fn outcomes(kind: EventKind) -> &'static [Outcome] {
    match kind {
        EventKind::Acquire => &[Outcome::Granted, Outcome::Refused, Outcome::Unknown, Outcome::Error],
        EventKind::Work => &[Outcome::Done, Outcome::Stopped],
        EventKind::Idle => &[Outcome::Done],
        EventKind::Read => &[Outcome::Done, Outcome::Unknown, Outcome::Error],
        EventKind::Begin | EventKind::Rollback => &[Outcome::Done, Outcome::Error],
        EventKind::Renew => &[Outcome::Renewed, Outcome::Lost, Outcome::Unknown, Outcome::Error],
        EventKind::Release => &[Outcome::Released, Outcome::NotOwner, Outcome::Unknown, Outcome::Error],
        EventKind::Write | EventKind::Commit => {
            &[Outcome::Accepted, Outcome::Rejected, Outcome::Unknown, Outcome::Error]
        }
        EventKind::Redis => &[Outcome::Ok, Outcome::Error, Outcome::Unknown],
        _ => &[],
    }
}

/// Whether Redis answers an event of this kind.
pub(super) const fn has_reply(kind: EventKind) -> bool {
    matches!(kind, EventKind::Acquire | EventKind::Renew | EventKind::Release | EventKind::Redis)
}

/// The word for an outcome.
pub(super) fn outcome_name(outcome: Outcome) -> &'static str {
    OUTCOMES.iter().find(|(_, known)| *known == outcome).map_or("", |(name, _)| *name)
}

/// Why an option that exists cannot stand with this kind: `gap` does not belong to `do: work`.
pub(super) fn misplaced(key: &str, of: &str) -> Option<String> {
    let (_, kinds) = OPTIONS.iter().find(|(option, _)| *option == key)?;
    Some(format!("`{key}` does not belong to {of}; it belongs to {}", kinds.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_word_and_every_option_belongs_to_known_kinds() {
        for (name, kind, subjects) in KINDS {
            assert_eq!(kind_name(*kind), *name);
            assert_eq!(is_action(*kind), !outcomes(*kind).is_empty(), "{name}");
            assert!(!is_action(*kind) || *subjects == ["client"], "{name}");
        }
        for outcome in KINDS.iter().flat_map(|(_, kind, _)| outcomes(*kind)) {
            assert!(!outcome_name(*outcome).is_empty());
        }
    }
}
