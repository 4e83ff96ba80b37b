//! How a step ended, in plain words.

use super::Narrator;
use crate::trace::{EventKind, KeyState, Outcome, State, Why};
use crate::tui::strings::secs;

impl Narrator<'_> {
    /// The sentence for an event's outcome; none where it goes without saying. `state`: what is known by then.
    pub(super) fn outcome(&self, event: usize, outcome: Outcome, why: Option<Why>, state: &State) -> Option<String> {
        let who = self.client_of(event);
        let ui = self.ui;
        let key = match outcome {
            Outcome::Refused if why == Some(Why::NoQuorum) => "story.refused_no_quorum",
            Outcome::Refused if why == Some(Why::TooLate) => "story.refused_too_late",
            Outcome::Refused => {
                let lock = self.header().events.get(event)?.lock.as_deref()?;
                return Some(self.refused(&who, state.key_seen_by(self.header(), &who, lock)));
            }
            Outcome::Done if self.header().events.get(event)?.kind == EventKind::Work => "story.works_no_more",
            Outcome::Unknown => "story.unknown",
            Outcome::Error => "story.error",
            Outcome::Stopped => "story.stopped",
            Outcome::Lost => "story.lost",
            Outcome::NotOwner => {
                let lock = self.header().events.get(event)?.lock.as_deref()?;
                let others = state.key_seen_by(self.header(), &who, lock).is_some();
                if others { "story.not_owner" } else { "story.not_own" }
            }
            Outcome::Rejected => "story.rejected",
            Outcome::Accepted => "story.accepted",
            _ => return None,
        };
        Some(ui.fill(key, &[("who", &who)]))
    }

    fn refused(&self, who: &str, key: Option<&KeyState>) -> String {
        let owner = key.and_then(|key| key.owner.as_deref());
        match (owner, key.and_then(|key| key.deadline)) {
            (Some(owner), Some(t)) => {
                self.ui.fill("story.refused_until", &[("who", who), ("owner", owner), ("t", &secs(t))])
            }
            (Some(owner), None) => self.ui.fill("story.refused_forever", &[("who", who), ("owner", owner)]),
            _ => self.ui.fill("story.refused", &[("who", who)]),
        }
    }
}
