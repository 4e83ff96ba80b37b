//! What becomes of the changes when a line of the list is turned: a number up or down, a way to the next one, something
//! that happens on or off.

use super::rows::{Row, ways};
use crate::lesson::whatif::{Edit, Happening};
use crate::lesson::{At, Do, Plan};
use crate::trace::LessonTime;

/// How a line is turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// On or off, or to the next way.
    Switch,
    /// One step down, or up.
    Step {
        /// Up.
        up: bool,
        /// A step as long as several.
        big: bool,
    },
}

/// Small steps in a big one.
const BIG: u32 = 5;

/// A lease or a job is not made shorter than this.
const SHORTEST: LessonTime = LessonTime(100);

/// The changes after `row` was turned; none: nothing changes. `base` is the plan without any, `plan` the one with
/// `edits`.
#[must_use]
pub fn turned(row: &Row, turn: Turn, base: &Plan, plan: &Plan, edits: &[Edit]) -> Option<Vec<Edit>> {
    let mut edits = edits.to_vec();
    let event = |i: usize| plan.events.get(i).and_then(|event| Some((event, event.id.clone()?)));
    match row {
        Row::Variant => return None,
        Row::Ttl(lock) => {
            let lock = plan.locks.get(*lock)?;
            let ttl = stepped(lock.ttl?, turn, SHORTEST)?;
            replace(&mut edits, base, Edit::Ttl { lock: lock.name.clone(), ttl });
        }
        Row::Length(i) => {
            let (found, event) = event(*i)?;
            let span = stepped(length(&found.what)?, turn, SHORTEST)?;
            replace(&mut edits, base, Edit::Length { event, span });
        }
        Row::Start(i) => {
            let (found, event) = event(*i)?;
            let Some(At::Time(at)) = found.at else { return None };
            let at = stepped(at, turn, LessonTime::ZERO)?;
            replace(&mut edits, base, Edit::Start { event, at });
        }
        Row::How(i) => {
            let (found, event) = event(*i)?;
            let (now, all) = ways(found)?;
            let at = all.iter().position(|way| *way == now)?;
            let by = if matches!(turn, Turn::Step { up: false, .. }) { all.len() - 1 } else { 1 };
            replace(&mut edits, base, Edit::How { event, how: all[(at + by) % all.len()] });
        }
        Row::Watchdog(i) => {
            let (found, event) = event(*i)?;
            replace(&mut edits, base, Edit::Watchdog { event, on: !has_watchdog(&found.what) });
        }
        Row::Made(i) if turn == Turn::Switch => drop((*i < edits.len()).then(|| edits.remove(*i))),
        Row::Made(i) => {
            let time = match edits.get_mut(*i)? {
                Edit::Happens { what: Happening::Pause(span), .. } | Edit::Delay { span, .. } => {
                    let longer = stepped(*span, turn, SHORTEST)?;
                    *span = longer;
                    return Some(edits);
                }
                Edit::Happens { at, .. } => at,
                _ => return None,
            };
            *time = stepped(*time, turn, LessonTime::ZERO)?;
        }
        Row::New(edit) => edits.push(edit.clone()),
    }
    Some(edits)
}

/// `for:` of a job or an idle time.
#[must_use]
pub const fn length(what: &Do) -> Option<LessonTime> {
    match what {
        Do::Work { span, .. } | Do::Idle { span } => *span,
        _ => None,
    }
}

/// Whether an acquire has a watchdog.
#[must_use]
pub const fn has_watchdog(what: &Do) -> bool {
    matches!(what, Do::Acquire(acquire) if acquire.watchdog.is_some())
}

/// One step from `t`: about a twentieth of it, in numbers that people can count in. None: there is no step.
fn stepped(t: LessonTime, turn: Turn, least: LessonTime) -> Option<LessonTime> {
    let Turn::Step { up, big } = turn else { return None };
    let mut ms = t.ms();
    for _ in 0..if big { BIG } else { 1 } {
        let unit = match if up { ms } else { ms.saturating_sub(1) } {
            0..1_000 => 100,
            1_000..20_000 => 500,
            20_000..120_000 => 1_000,
            120_000..1_200_000 => 10_000,
            _ => 60_000,
        };
        // From a number in between to the next round one.
        ms = if up { (ms / unit + 1) * unit } else { ms.div_ceil(unit).saturating_sub(1) * unit };
    }
    let stepped = LessonTime(ms.max(least.ms()));
    (stepped != t).then_some(stepped)
}

/// Puts `edit` in the place of the one before it for the same thing; away with it if it says what is so anyway.
fn replace(edits: &mut Vec<Edit>, base: &Plan, edit: Edit) {
    let is_same = |other: &Edit| match (other, &edit) {
        (Edit::Ttl { lock: a, .. }, Edit::Ttl { lock: b, .. })
        | (Edit::Length { event: a, .. }, Edit::Length { event: b, .. })
        | (Edit::Start { event: a, .. }, Edit::Start { event: b, .. })
        | (Edit::How { event: a, .. }, Edit::How { event: b, .. })
        | (Edit::Watchdog { event: a, .. }, Edit::Watchdog { event: b, .. }) => a == b,
        _ => false,
    };
    let at = edits.iter().position(is_same);
    match (at, is_so(base, &edit)) {
        (Some(at), true) => drop(edits.remove(at)),
        (Some(at), false) => edits[at] = edit,
        (None, true) => {}
        (None, false) => edits.push(edit),
    }
}

/// Whether the plan says so already.
fn is_so(plan: &Plan, edit: &Edit) -> bool {
    let event = |id: &String| plan.events.iter().find(|event| event.id.as_ref() == Some(id));
    match edit {
        Edit::Ttl { lock, ttl } => plan.locks.iter().any(|known| known.name == *lock && known.ttl == Some(*ttl)),
        Edit::Length { event: id, span } => event(id).is_some_and(|event| length(&event.what) == Some(*span)),
        Edit::Start { event: id, at } => event(id).is_some_and(|event| event.at == Some(At::Time(*at))),
        // Which options the way had is not known: going back to it would lose them, unless the change goes.
        Edit::How { event: id, how } => event(id).and_then(ways).is_some_and(|(now, _)| now == *how),
        Edit::Watchdog { event: id, on } => event(id).is_some_and(|event| has_watchdog(&event.what) == *on),
        Edit::Delay { .. } | Edit::Until { .. } | Edit::Happens { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(from: u64, up: bool, big: bool) -> Option<u64> {
        stepped(LessonTime(from), Turn::Step { up, big }, SHORTEST).map(LessonTime::ms)
    }

    #[test]
    fn steps_are_round_and_undo_each_other() {
        assert_eq!(steps(10_000, true, false), Some(10_500));
        assert_eq!(steps(12_345, true, false), Some(12_500));
        assert_eq!(steps(12_345, false, false), Some(12_000));
        assert_eq!(steps(1000, false, false), Some(900));
        assert_eq!(steps(100, false, false), None, "nothing is shorter");
        assert_eq!(steps(10_000, true, true), Some(12_500));
        let mut t = 100;
        while t < 3_600_000 {
            let next = steps(t, true, false).expect("there is always more");
            assert_eq!(steps(next, false, false), Some(t), "from {next} back");
            t = next;
        }
    }
}
