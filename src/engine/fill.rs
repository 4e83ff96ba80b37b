//! Placeholders in an author's own commands: `{key}`, `{token}`, `{ttl}`, `{now}`, `{reply:EVENT}`, `{token:B}`, `{key:x}`.

use std::collections::BTreeMap;

use super::wire::Ctx;
use crate::lesson::{Do, commands};
use crate::trace::Reply;

impl Ctx {
    /// Fills the placeholders of a command's words. An error is shown as a server's would be.
    pub(super) fn fill(&self, words: &[String]) -> Result<Vec<String>, String> {
        let values = self.placeholders();
        let filled: Vec<String> = words.iter().map(|word| fill_word(word, |name| self.value(name, &values))).collect();
        match commands::forbidden(&filled) {
            Some(reason) => Err(format!("ERR {reason}")),
            None => Ok(filled),
        }
    }

    fn placeholders(&self) -> BTreeMap<&'static str, String> {
        let world = &self.world;
        let event = &world.plan.events[self.event];
        let mut values = BTreeMap::new();
        if let Some(lock) = event.lock {
            let spec = &world.plan.locks[lock];
            values.insert("key", spec.key.clone());
            let ttl = match &event.what {
                Do::Acquire(acquire) => acquire.ttl,
                Do::Renew(renew) => renew.ttl,
                _ => spec.ttl,
            };
            values.insert("ttl", ttl.map_or_else(|| "0".to_owned(), |ttl| ttl.ms().to_string()));
            values.insert("token", world.lock_run(self.client, lock, |run| run.token.clone()).unwrap_or_default());
        }
        let skew = world.plan.clients[self.client].clock_skew_ms;
        values.insert("now", world.now().saturating_add_signed(skew).to_string());
        values
    }

    fn value(&self, name: &str, values: &BTreeMap<&'static str, String>) -> Option<String> {
        let world = &self.world;
        if let Some(value) = values.get(name) {
            return Some(value.clone());
        }
        match name.split_once(':')? {
            ("key", lock) => world.plan.locks.iter().find(|spec| spec.name == lock).map(|spec| spec.key.clone()),
            ("token", who) => {
                let client = world.client_index(who)?;
                let lock = world.plan.events[self.event].lock.unwrap_or(0);
                Some(world.lock_run(client, lock, |run| run.token.clone()).unwrap_or_default())
            }
            ("reply", id) => {
                let event = world.plan.events.iter().position(|event| event.id.as_deref() == Some(id))?;
                let reply = world.event_run(event, |run| run.reply.clone());
                Some(match reply {
                    Some(Reply::Status(text) | Reply::Bulk(text) | Reply::Error(text)) => text,
                    Some(Reply::Int(n)) => n.to_string(),
                    _ => String::new(),
                })
            }
            _ => None,
        }
    }
}

/// Replaces `{name}` by its value; braces that name nothing stay as they are (Lua has them, too).
fn fill_word(word: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::new();
    let mut rest = word;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        rest = &rest[open..];
        let Some(close) = rest.find('}') else { break };
        match value(&rest[1..close]) {
            Some(value) => {
                filled.push_str(&value);
                rest = &rest[close + 1..];
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}
