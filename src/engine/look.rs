//! Looking at the servers: what their keys are, and what has been heard of them.
//!
//! The same script brings a server to lesson time, if it is asked to.

use std::collections::BTreeMap;

use redis::Value as Raw;

use super::keys::{Look, SeenKey};
use super::world::{Trouble, World};
use crate::servers::ServersError;
use crate::trace::Value;

/// The script that looks, and moves the TTLs under warp.
pub(super) const CLOCK: &str = include_str!("../../assets/lua/clock.lua");

/// The key in which each server keeps its marker. No lesson can reach it.
const MARKER: &str = "lockscope:marker";

/// What a look has seen.
pub(super) struct Seen {
    pub(super) look: Look,
    /// The key events since the last look: what happened, and the key.
    pub(super) heard: Vec<(String, String)>,
}

impl World {
    /// Looks at a node's keys; under warp, brings it to lesson time.
    pub(super) fn look(&self, node: &str, may_move: bool) -> Result<Seen, Trouble> {
        self.look_and_age(node, may_move, 0)
    }

    /// The same, and all keys are `age` ms older after it.
    pub(super) fn look_and_age(&self, node: &str, may_move: bool, age: i64) -> Result<Seen, Trouble> {
        let mut seen = self.look_each_and_age(&[node], may_move, age)?;
        seen.pop().ok_or_else(|| Trouble::Engine(format!("{node} was not looked at")))
    }

    /// Looks at several nodes at the same time.
    pub(super) fn look_each(&self, nodes: &[&str], may_move: bool) -> Result<Vec<Seen>, Trouble> {
        self.look_each_and_age(nodes, may_move, 0)
    }

    fn look_each_and_age(&self, nodes: &[&str], may_move: bool, age: i64) -> Result<Vec<Seen>, Trouble> {
        let watched: Vec<String> = self.watched.borrow().iter().cloned().collect();
        let epoch = self.keys.borrow().epoch;
        let moves = |node: &str| may_move && self.clock.moves() && self.is_up_master(node);
        let command = |node: &str, name: &str, script: &str| {
            let mut command = redis::cmd(name);
            command.arg(script).arg(watched.len() + 1).arg(MARKER).arg(&watched);
            command.arg(epoch).arg(self.now()).arg(i32::from(moves(node))).arg(age);
            command
        };
        let writes = age != 0 || nodes.iter().any(|node| moves(node));
        let asked: Vec<(&str, redis::Cmd)> =
            nodes.iter().map(|node| (*node, command(node, "EVALSHA", super::clock_script_sha()))).collect();
        let mut seen = Vec::with_capacity(nodes.len());
        let answers = match self.servers.look_each(&asked, writes) {
            // A Sentinel has thrown everybody out, and has not said yet what for.
            Err(ServersError::Lost { node, .. }) if self.is_watched() && self.servers.is_up(&node)? => {
                return Err(Trouble::Slip);
            }
            answers => answers?,
        };
        for (node, mut answer) in nodes.iter().zip(answers) {
            if matches!(&answer, Raw::ServerError(error) if error.code() == "NOSCRIPT") {
                let again = self.servers.look_each(&[(node, command(node, "EVAL", CLOCK))], writes)?;
                answer = again.into_iter().next().unwrap_or(Raw::Nil);
            }
            let look = parse_look(answer, &watched).ok_or_else(|| {
                Trouble::Engine(format!("{node} gave an answer to the clock script that makes no sense"))
            })?;
            if look.lost {
                return Err(Trouble::Slip);
            }
            let heard = self.servers.observer(node)?.drain_events();
            if moves(node) {
                self.clock.froze(node, look.now);
            }
            seen.push(Seen { look, heard: heard.into_iter().map(|event| (event.event, event.key)).collect() });
        }
        Ok(seen)
    }
}

fn parse_look(answer: Raw, watched: &[String]) -> Option<Look> {
    let Raw::Array(items) = answer else { return None };
    let mut items = items.into_iter();
    let now = text(&items.next()?)?.parse().ok()?;
    let marker = text(&items.next()?)?.parse().ok()?;
    let lost = !matches!(items.next()?, Raw::Int(0));
    let (mut keys, mut lists) = (BTreeMap::new(), BTreeMap::new());
    for (key, item) in watched.iter().zip(items) {
        let Raw::Array(parts) = item else { return None };
        let kind = text(parts.first()?)?;
        let expiry = match parts.get(1)? {
            Raw::Int(ms) if *ms > 0 => Some(*ms),
            _ => None,
        };
        let value = match kind.as_str() {
            "none" => None,
            "string" => Some(Value::String(text(parts.get(2)?)?)),
            "hash" => {
                let texts: Vec<String> = parts[2..].iter().filter_map(text).collect();
                let mut fields: Vec<(String, String)> =
                    texts.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
                fields.sort();
                Some(Value::Hash(fields))
            }
            other => {
                let len = match parts.get(2) {
                    Some(Raw::Int(len)) => u64::try_from(*len).unwrap_or(0),
                    _ => 0,
                };
                if other == "list" {
                    lists.insert(key.clone(), parts[3..].iter().filter_map(text).collect());
                }
                Some(Value::Other { r#type: other.to_owned(), len })
            }
        };
        keys.insert(key.clone(), SeenKey { value, expiry });
    }
    Some(Look { now, marker, lost, keys, lists })
}

fn text(value: &Raw) -> Option<String> {
    match value {
        Raw::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Raw::SimpleString(text) => Some(text.clone()),
        Raw::Int(n) => Some(n.to_string()),
        _ => None,
    }
}
