//! Findings in plain words.

use crate::trace::{Finding, FindingKind};
use crate::tui::strings::Ui;

/// What a finding says, as a sentence.
#[must_use]
pub fn finding(ui: Ui, finding: &Finding) -> String {
    let key = match finding.kind {
        FindingKind::Overlap => "found.overlap",
        FindingKind::WrongDelete => "found.wrong_delete",
        FindingKind::WrongRenewal => "found.wrong_renewal",
        FindingKind::WrongOverwrite => "found.wrong_overwrite",
        FindingKind::LostLock => "found.lost_lock",
        FindingKind::StaleWrite => "found.stale_write",
        FindingKind::LostUpdate => "found.lost_update",
        FindingKind::Oversold => "found.oversold",
        FindingKind::Duplicate => "found.duplicate",
        FindingKind::Orphan => "found.orphan",
        FindingKind::Abandoned => "found.abandoned",
        FindingKind::GhostRenewal => "found.ghost_renewal",
        FindingKind::Deadlock if finding.who.len() == 1 => "found.deadlock_own",
        FindingKind::Deadlock => "found.deadlock",
        FindingKind::Starved => "found.starved",
        FindingKind::NeverDone => "found.never_done",
        FindingKind::Unfair => "found.unfair",
        FindingKind::WrongReject => "found.wrong_reject",
        FindingKind::RejectedWrite => "found.rejected_write",
        FindingKind::Refused => "found.refused",
        FindingKind::Unknown => "found.unknown",
        FindingKind::Error => "found.error",
        FindingKind::Lost => "found.lost",
        FindingKind::NotOwner => "found.not_owner",
    };
    let who = ui.names(&finding.who);
    let cause = finding.fields.get("by").filter(|_| finding.kind == FindingKind::LostLock).map(|by| cause(ui, by));
    let mut values: Vec<(&str, &str)> = finding.fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    values.push(("who", &who));
    values.extend(cause.map(|cause| ("cause", cause)));
    ui.fill(key, &values)
}

/// The word of a `lost_lock: {by: …}`.
fn cause(ui: Ui, by: &str) -> &str {
    match by {
        "restart" => ui.get("cause.restart"),
        "promote" => ui.get("cause.promote"),
        "demote" => ui.get("cause.demote"),
        "flush" => ui.get("cause.flush"),
        "evict" => ui.get("cause.evict"),
        "clock_jump" => ui.get("cause.clock_jump"),
        "own_command" => ui.get("cause.own_command"),
        other => other,
    }
}
