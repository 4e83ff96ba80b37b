//! How a run notices that its freeze did not hold: a key was over before its lesson deadline, because the machine was busy
//! between the freeze and the command.

use super::keys::{Keys, Look};

/// Whether a key has run out since the freeze. What is due at this instant had expired before anything else happened in it,
/// so whatever runs out now does so early. `events`: what was heard of keys (event, key); `by_command`: only a command was
/// executed meanwhile.
pub(super) fn slipped(keys: &Keys, node: &str, look: &Look, events: &[(String, String)], by_command: bool) -> bool {
    events.iter().any(|(event, _)| event == "expired") || by_command && faded(keys, node, look, events)
}

/// Whether a key with a deadline is no longer shown, and nobody has heard of its end. Every command that removes a key is
/// heard of; Valkey, while a setting forbids it to write, only hides what has expired, and says nothing.
fn faded(keys: &Keys, node: &str, look: &Look, events: &[(String, String)]) -> bool {
    let Some(known) = keys.nodes.get(node) else { return false };
    known.iter().any(|(name, old)| {
        let hidden = look.keys.get(name).is_some_and(|seen| seen.value.is_none());
        hidden && old.state.deadline.is_some() && !events.iter().any(|(_, key)| key == name)
    })
}

#[cfg(test)]
mod tests {
    use super::super::keys::{SeenKey, Writer};
    use super::*;
    use crate::trace::Value;
    use std::collections::BTreeMap;

    fn look(value: Option<&str>, expiry: Option<i64>) -> Look {
        let seen = SeenKey { value: value.map(|v| Value::String(v.to_owned())), expiry };
        Look { now: 0, marker: 0, lost: false, keys: BTreeMap::from([("k".to_owned(), seen)]), lists: BTreeMap::new() }
    }

    fn heard(event: &str) -> Vec<(String, String)> {
        vec![(event.to_owned(), "k".to_owned())]
    }

    /// A key with this expiry, as it was last seen.
    fn known(expiry: Option<i64>) -> Keys {
        let mut keys = Keys::default();
        keys.after_command("redis", &look(Some("x"), expiry), &heard("set"), &Writer::default());
        keys
    }

    #[test]
    fn what_is_gone_without_a_word_has_run_out_early() {
        let (keys, gone) = (known(Some(10)), look(None, None));
        assert!(slipped(&keys, "redis", &gone, &[], true));
        assert!(slipped(&keys, "redis", &gone, &heard("expired"), true));
        assert!(slipped(&keys, "redis", &gone, &heard("expired"), false));
        // It was deleted, and that was heard.
        assert!(!slipped(&keys, "redis", &gone, &heard("del"), true));
        // A server that is flushed says nothing either; it could not have expired; it is there; it was never known.
        assert!(!slipped(&keys, "redis", &gone, &[], false));
        assert!(!slipped(&known(None), "redis", &gone, &[], true));
        assert!(!slipped(&keys, "redis", &look(Some("x"), Some(10)), &[], true));
        assert!(!slipped(&Keys::default(), "redis", &gone, &[], true));
    }
}
