//! The closed world: entries and findings, one to one.

use super::over_time::{ends_then, is_then};
use super::{Failure, Promise, Run, Seen, yaml};
use crate::lesson::expect::{Expect, ExpectTime, Expected};
use crate::lesson::model::Plan;
use crate::trace::state::client_of;
use crate::trace::{Finding, FindingKind, LessonTime, Trace, What};

/// What came of comparing entries with findings.
pub(super) struct ClosedWorld {
    /// Entries that did not happen, and findings that no entry expects.
    pub failures: Vec<Failure>,
    /// Clients that are starved or in a deadlock, as an entry expects.
    pub explained: Vec<String>,
}

/// One finding that an entry asks for; an entry with `times: 3` asks for three.
struct Slot<'a> {
    expect: &'a Expect,
    /// The finding it stands for: an index.
    taken: Option<usize>,
}

/// Assigns findings to the entries of `plan`.
///
/// As many entries as possible get a finding (a maximum matching, so that an entry which fits many never takes the only
/// one that another can have); where not all can, the more exact entry keeps it. What is left over on both sides and of
/// the same kind is reported together: this was expected, that was seen instead.
pub(super) fn closed_world(plan: &Plan, run: &Run<'_>) -> ClosedWorld {
    let mut slots: Vec<Slot<'_>> = Vec::new();
    for expect in plan.expect.iter().filter(|expect| matches!(expect.what, Expected::Finding { .. })) {
        slots.extend((0..expect.times.max(1)).map(|_| Slot { expect, taken: None }));
    }
    slots.sort_by_key(|slot| std::cmp::Reverse(exactness(slot.expect)));
    let fitting: Vec<Vec<usize>> = slots.iter().map(|slot| all_fitting(slot.expect, run)).collect();
    let mut owner: Vec<Option<usize>> = vec![None; run.findings.len()];
    for slot in 0..slots.len() {
        assign(slot, &fitting, &mut owner, &mut vec![false; run.findings.len()]);
    }
    for (finding, slot) in owner.iter().enumerate() {
        if let Some(slot) = slot.and_then(|slot| slots.get_mut(slot)) {
            slot.taken = Some(finding);
        }
    }
    let explained = run.findings.iter().zip(&owner).filter(|(finding, owner)| {
        owner.is_some() && matches!(finding.kind, FindingKind::Starved | FindingKind::Deadlock)
    });
    let explained = explained.flat_map(|(finding, _)| finding.who.clone()).collect();
    let left: Vec<usize> = (0..owner.len()).filter(|finding| owner.get(*finding) == Some(&None)).collect();
    ClosedWorld { failures: failures(plan, run, &slots, left), explained }
}

/// Finds a finding for `slot`, moving other slots to other findings where that helps.
fn assign(slot: usize, fitting: &[Vec<usize>], owner: &mut [Option<usize>], tried: &mut [bool]) -> bool {
    for finding in fitting.get(slot).into_iter().flatten().copied() {
        if std::mem::replace(&mut tried[finding], true) {
            continue;
        }
        let free = match owner[finding] {
            None => true,
            Some(other) => assign(other, fitting, owner, tried),
        };
        if free {
            owner[finding] = Some(slot);
            return true;
        }
    }
    false
}

fn all_fitting(expect: &Expect, run: &Run<'_>) -> Vec<usize> {
    let fitting = run.findings.iter().enumerate().filter(|(_, finding)| fits(expect, finding, run.end()));
    fitting.map(|(i, _)| i).collect()
}

/// Whether `finding` is what `expect` describes; what is not written is not compared. `end` is when the run ended.
pub(super) fn fits(expect: &Expect, finding: &Finding, end: LessonTime) -> bool {
    let Expected::Finding { kind, who, fields } = &expect.what else { return false };
    *kind == finding.kind
        && (who.is_empty() || same_names(who, &finding.who))
        && fields.iter().all(|(name, value)| finding.fields.get(name) == Some(&value.value))
        && (expect.lock.is_none() || expect.lock == finding.lock)
        && is_then(expect.at, finding.from, end)
        && ends_then(expect.to, finding.to)
}

/// `[A, B]` and `[B, A]` are the same two.
fn same_names(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && a.iter().all(|name| b.contains(name))
}

/// How much an entry says: the exact ones choose first.
fn exactness(expect: &Expect) -> usize {
    let Expected::Finding { who, fields, .. } = &expect.what else { return 0 };
    let time = |time: Option<ExpectTime>| match time {
        None | Some(ExpectTime::Asked) => 0,
        Some(ExpectTime::Between(..)) => 1,
        Some(ExpectTime::At(_) | ExpectTime::End) => 2,
    };
    time(expect.at)
        + time(expect.to)
        + 2 * (usize::from(!who.is_empty()) + fields.len())
        + usize::from(expect.lock.is_some())
}

/// How near a finding of the same kind comes to an entry that it does not fit.
fn nearness(expect: &Expect, finding: &Finding, end: LessonTime) -> usize {
    let Expected::Finding { who, fields, .. } = &expect.what else { return 0 };
    let same_fields = fields.iter().filter(|(name, value)| finding.fields.get(*name) == Some(&value.value)).count();
    4 * usize::from(same_names(who, &finding.who))
        + 2 * same_fields
        + usize::from(expect.lock == finding.lock)
        + 2 * usize::from(is_then(expect.at, finding.from, end))
        + usize::from(ends_then(expect.to, finding.to))
}

fn failures(plan: &Plan, run: &Run<'_>, slots: &[Slot<'_>], mut left: Vec<usize>) -> Vec<Failure> {
    let mut failures = Vec::new();
    let finding = |i: usize| run.findings.get(i);
    // In the file's order, not in that of exactness.
    for expect in plan.expect.iter().filter(|expect| matches!(expect.what, Expected::Finding { .. })) {
        let mine: Vec<&Slot<'_>> = slots.iter().filter(|slot| std::ptr::eq(slot.expect, expect)).collect();
        let happened = mine.iter().filter(|slot| slot.taken.is_some()).count();
        let mut instead = Vec::new();
        for _ in happened..mine.len() {
            let of_kind = left.iter().copied().filter(|i| finding(*i).is_some_and(|f| expect.what.is(f.kind)));
            let near = |i: &usize| finding(*i).map_or(0, |f| nearness(expect, f, run.end()));
            // The first of the nearest.
            let Some(nearest) = of_kind.rev().max_by_key(near) else { break };
            left.retain(|i| *i != nearest);
            instead.push(nearest);
        }
        if happened == mine.len() {
            continue;
        }
        let seen = match u32::try_from(happened) {
            Ok(happened) if happened > 0 && instead.is_empty() => Seen::Times(happened),
            _ => Seen::Instead(
                instead.iter().filter_map(|i| Some(yaml::yaml_of(finding(*i)?, run.several_locks()))).collect(),
            ),
        };
        failures.push(Failure {
            span: expect.span,
            promise: Promise::Happens,
            expected: yaml::as_written(&plan.source, expect.span),
            seen,
            cause_line: instead.first().and_then(|i| cause_line(run.trace, finding(*i)?)),
        });
    }
    failures.extend(left.iter().filter_map(|i| finding(*i)).map(|finding| Failure {
        span: plan.verdict.span,
        promise: Promise::NothingElse,
        expected: String::new(),
        seen: Seen::Instead(vec![yaml::yaml_of(finding, run.several_locks())]),
        cause_line: cause_line(run.trace, finding),
    }));
    failures
}

impl Expected {
    /// Whether this expects a finding of `kind`.
    fn is(&self, kind: FindingKind) -> bool {
        matches!(self, Self::Finding { kind: expected, .. } if *expected == kind)
    }
}

/// The line of the event that made the finding begin: the one that its record is about, or whose command did it; else
/// what the same client was at, at the same instant, just before. The end of the run is nobody's doing.
fn cause_line(trace: &Trace, finding: &Finding) -> Option<usize> {
    let first = trace.records.get(finding.record).filter(|record| record.what != What::End)?;
    let client = first.what.client();
    let before = trace.records.get(..=finding.record)?.iter().rev().take_while(|record| record.t == first.t);
    let mut infos = before.filter_map(|record| trace.header.events.get(event_of(trace, &record.what)?));
    infos.find(|info| client.is_none_or(|client| client == client_of(&info.subject))).map(|info| info.line)
}

/// The event that a record is about, or whose command it is about.
fn event_of(trace: &Trace, what: &What) -> Option<usize> {
    what.event().or_else(|| {
        let cmd = what.cmd()?;
        trace.records.iter().find_map(|record| match &record.what {
            What::Send { cmd: sent, event, .. } if *sent == cmd => *event,
            _ => None,
        })
    })
}
