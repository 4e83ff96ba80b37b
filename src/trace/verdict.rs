//! The verdict of a run: the first of five words that fits (FORMAT §10).

use super::{Finding, FindingKind, Group, Trace, Verdict, What};

/// The verdict that the findings of `trace` give.
///
/// `contained` needs a write that a guard refused, no harm to the data, and no refusal that was itself wrong; it takes
/// the place of `broken`. A run in which some event never ran says nothing, unless it already showed worse: then it is
/// `inconclusive`.
#[must_use]
pub fn verdict(trace: &Trace, findings: &[Finding]) -> Verdict {
    let any = |test: fn(FindingKind) -> bool| findings.iter().any(|finding| test(finding.kind));
    if any(|kind| kind.group() == Group::Contained) && !any(harms_data) && !any(|kind| kind == FindingKind::WrongReject)
    {
        Verdict::Contained
    } else if any(|kind| kind.group() == Group::Broken) {
        Verdict::Broken
    } else if any(|kind| kind.group() == Group::Stuck) {
        Verdict::Stuck
    } else if trace.records.iter().any(|record| matches!(record.what, What::EventNotRun { .. })) {
        Verdict::Inconclusive
    } else {
        Verdict::Held
    }
}

/// The lines of FORMAT §10 that speak of the data itself.
const fn harms_data(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::StaleWrite | FindingKind::LostUpdate | FindingKind::Oversold | FindingKind::Duplicate)
}

impl Verdict {
    /// As a lesson file writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Contained => "contained",
            Self::Stuck => "stuck",
            Self::Inconclusive => "inconclusive",
            Self::Held => "held",
        }
    }
}
