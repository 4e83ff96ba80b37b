//! Placeholders in an author's own commands get their values.

use super::wire::Ctx;
use crate::lesson::placeholder::{Piece, pieces, script_word};
use crate::lesson::{Do, commands};
use crate::trace::Reply;

impl Ctx {
    /// Fills the placeholders of a command's words; a script is sent as it stands. An error is shown as a server's would
    /// be.
    pub(super) fn fill(&self, words: &[String]) -> Result<Vec<String>, String> {
        let script = script_word(words);
        let filled: Vec<String> = words
            .iter()
            .enumerate()
            .map(|(i, word)| if Some(i) == script { word.clone() } else { self.fill_word(word) })
            .collect();
        match commands::forbidden(&filled) {
            Some(reason) => Err(format!("ERR {reason}")),
            None => Ok(filled),
        }
    }

    fn fill_word(&self, word: &str) -> String {
        match pieces(word) {
            Ok(pieces) => pieces.iter().map(|piece| self.value(piece)).collect(),
            // Names that do not exist are refused when the lesson is read.
            Err(_) => word.to_owned(),
        }
    }

    fn value(&self, piece: &Piece) -> String {
        let world = &self.world;
        let event = &world.plan.events[self.event];
        let lock = event.lock.unwrap_or(0);
        match piece {
            Piece::Text(text) => text.clone(),
            Piece::Key(None) => world.plan.locks.get(lock).map(|spec| spec.key.clone()).unwrap_or_default(),
            Piece::Key(Some(name)) => {
                world.plan.locks.iter().find(|spec| spec.name == *name).map(|spec| spec.key.clone()).unwrap_or_default()
            }
            Piece::Token(whose) => {
                let client = whose.as_ref().map_or(Some(self.client), |name| world.client_index(name));
                let token = client.and_then(|client| world.lock_run(client, lock, |run| run.token.clone()));
                token.unwrap_or_default()
            }
            Piece::Ttl => {
                let ttl = match &event.what {
                    Do::Acquire(acquire) => acquire.ttl,
                    Do::Renew(renew) => renew.ttl,
                    _ => world.plan.locks.get(lock).and_then(|spec| spec.ttl),
                };
                ttl.map_or_else(|| "0".to_owned(), |ttl| ttl.ms().to_string())
            }
            Piece::Now => self.clock().to_string(),
            Piece::Fence => self.fence().map(|fence| fence.to_string()).unwrap_or_default(),
            Piece::Reply(id) => {
                let event = world.plan.events.iter().position(|event| event.id.as_deref() == Some(id.as_str()));
                match event.and_then(|event| world.event_run(event, |run| run.reply.clone())) {
                    Some(Reply::Status(text) | Reply::Bulk(text) | Reply::Error(text)) => text,
                    Some(Reply::Int(n)) => n.to_string(),
                    Some(Reply::Nil | Reply::List(_)) | None => String::new(),
                }
            }
        }
    }
}
