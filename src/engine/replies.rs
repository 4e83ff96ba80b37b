//! Replies in which the server's own clock shows: `PTTL` and `TTL` are answered from the exact deadline instead.

use super::lifetimes::{Lifetimes, is_script};
use super::wire::Message;
use super::world::World;
use crate::trace::Reply;

/// A command is executed a little after its instant, ms at most: 31 were seen on the wall clock of a busy machine. The
/// deadline was set late, too, so that a reply can be too great as well as too small.
const LATE: u64 = 100;

/// Shorter spans than this are not looked for in a script's reply, ms: a small number there is rather a yes or a count.
const SHORT: u64 = 5 * LATE;

impl World {
    /// The reply as it would be if no time had passed between the instant and the command. `queued`: what an `EXEC` has
    /// executed.
    pub(super) fn exact_ttl(
        &self,
        message: &Message,
        queued: &[Vec<String>],
        lifetimes: &Lifetimes,
        reply: Reply,
    ) -> Reply {
        let left = |key: &str| {
            let deadline = self.keys.borrow().get(&message.node, key).and_then(|state| state.deadline);
            deadline.map(|deadline| deadline.ms().saturating_sub(self.now()))
        };
        match reply {
            Reply::List(replies) if !queued.is_empty() => {
                // What the transaction itself has set so far counts for the replies after it.
                let mut set = std::collections::BTreeMap::new();
                let exact = queued.iter().zip(replies).map(|(argv, reply)| {
                    let own = Lifetimes::of(argv, &reply, &[]);
                    set.extend(own.certain.clone());
                    exact(argv, reply, &own, &|key: &str| set.get(key).copied().or_else(|| left(key)))
                });
                Reply::List(exact.collect())
            }
            reply => exact(&message.argv, reply, lifetimes, &left),
        }
    }
}

fn exact(argv: &[String], reply: Reply, lifetimes: &Lifetimes, left: &dyn Fn(&str) -> Option<u64>) -> Reply {
    if is_script(argv) {
        // A script that asks for a TTL may answer with it. (What it computes from it stays as it is.)
        let asks = argv.get(1).is_some_and(|script| script.to_ascii_lowercase().contains("pttl"));
        if !asks {
            return reply;
        }
        let keys = crate::lesson::commands::key_words(argv);
        let mut spans: Vec<u64> = keys.iter().filter_map(|i| left(argv.get(*i)?)).collect();
        spans.extend(&lifetimes.possible);
        spans.retain(|span| *span >= SHORT);
        return nearest(reply, &spans);
    }
    let name = argv.first().map(|name| name.to_ascii_uppercase());
    let (Some("PTTL" | "TTL"), Some(key), Reply::Int(0..)) = (name.as_deref(), argv.get(1), &reply) else {
        return reply;
    };
    let Some(left) = left(key) else { return reply };
    // As Redis rounds: TTL to the nearest second.
    let left = if name.as_deref() == Some("TTL") { (left + 500) / 1000 } else { left };
    Reply::Int(i64::try_from(left).unwrap_or(i64::MAX))
}

/// Each number that is almost one of `spans` is that span.
fn nearest(reply: Reply, spans: &[u64]) -> Reply {
    match reply {
        Reply::Int(n) => {
            let said = u64::try_from(n).ok();
            let span = said.and_then(|said| {
                spans.iter().min_by_key(|span| span.abs_diff(said)).filter(|span| span.abs_diff(said) <= LATE)
            });
            Reply::Int(span.and_then(|span| i64::try_from(*span).ok()).unwrap_or(n))
        }
        Reply::List(items) => Reply::List(items.into_iter().map(|item| nearest(item, spans)).collect()),
        reply => reply,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(parts: &[&str]) -> Vec<String> {
        parts.iter().map(|part| (*part).to_owned()).collect()
    }

    #[test]
    fn the_time_left_is_that_of_the_deadline() {
        let none = Lifetimes::default();
        let case = |argv: &[&str], said: i64, left: u64| exact(&words(argv), Reply::Int(said), &none, &|_| Some(left));
        assert_eq!(case(&["PTTL", "k"], 7998, 8000), Reply::Int(8000));
        assert_eq!(case(&["pttl", "k"], 0, 1), Reply::Int(1), "a millisecond that is almost over");
        assert_eq!(case(&["TTL", "k"], 7, 7500), Reply::Int(8));
        assert_eq!(case(&["TTL", "k"], 0, 500), Reply::Int(1), "half a second, a moment later");
        assert_eq!(case(&["PTTL", "k"], -2, 8000), Reply::Int(-2), "what is gone is gone");
        assert_eq!(case(&["STRLEN", "k"], 7998, 8000), Reply::Int(7998));
    }

    #[test]
    fn a_script_that_answers_with_a_ttl_is_exact_too() {
        let none = Lifetimes::default();
        let asks = words(&["EVAL", "return {redis.call('PTTL', KEYS[1]), 5}", "1", "k"]);
        let said = Reply::List(vec![Reply::Int(7997), Reply::Int(5)]);
        let meant = Reply::List(vec![Reply::Int(8000), Reply::Int(5)]);
        assert_eq!(exact(&asks, said, &none, &|_| Some(8000)), meant);
        let small = Lifetimes::of(&asks, &Reply::Int(0), &[]);
        assert_eq!(exact(&asks, Reply::Int(0), &small, &|_| Some(6)), Reply::Int(0), "a no stays a no");
        let other = words(&["EVAL", "return 7997", "1", "k"]);
        assert_eq!(exact(&other, Reply::Int(7997), &none, &|_| Some(8000)), Reply::Int(7997));
    }
}
