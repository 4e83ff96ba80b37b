//! Compares a reply with what a lesson writes for it.

use crate::lesson::model::ReplyPattern;
use crate::trace::Reply;

impl ReplyPattern {
    /// Whether `reply` is what this pattern asks for. Text stands for a status, a string, or an error with this first
    /// word; a number stands for an integer reply (`GET` answers a string: `"1"`).
    #[must_use]
    pub fn matches(&self, reply: &Reply) -> bool {
        match (self, reply) {
            (Self::Nil, Reply::Nil) => true,
            (Self::Int(expected), Reply::Int(n)) => expected == n,
            (Self::Text(expected), Reply::Status(text) | Reply::Bulk(text)) => expected == text,
            (Self::Text(expected), Reply::Error(text)) => text.split_whitespace().next() == Some(expected),
            (Self::List(expected), Reply::List(items)) => {
                expected.len() == items.len() && expected.iter().zip(items).all(|(pattern, item)| pattern.matches(item))
            }
            _ => false,
        }
    }
}
