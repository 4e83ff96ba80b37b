//! Redlock: one lock on a majority of masters that know nothing of each other.
//!
//! The algorithm is that of Redis's page on distributed locks: ask every node for the same key with the same token; the
//! lock is granted if more than half said yes and enough of the lease is left; else let go everywhere. Nodes are given
//! little time each (`node_timeout`), so that a dead one does not eat up the lease.

use super::program::End;
use super::recipes::{drift, eval, is_yes, words};
use super::round::Asking;
use super::ways::{Made, RELEASE};
use super::wire::{Answer, Ctx};
use super::world::{Trouble, World};
use crate::lesson::{Acquire, AcquireHow, Do, ReleaseHow, RenewHow};
use crate::trace::{Outcome, Reply, Why};

/// What a round of questions came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    /// Nodes that did it.
    yes: usize,
    /// Nodes that answered, and did not.
    no: usize,
    /// Nodes that have not answered in time.
    silent: usize,
    /// All of them.
    all: usize,
}

impl Count {
    fn of(answers: &[Answer], yes: impl Fn(&Reply) -> bool) -> Self {
        let count = |wanted: &dyn Fn(&Answer) -> bool| answers.iter().filter(|answer| wanted(answer)).count();
        let said_yes = |answer: &Answer| matches!(answer, Answer::Reply(reply) if !reply.is_error() && yes(reply));
        Self {
            yes: count(&said_yes),
            no: count(&|answer| matches!(answer, Answer::Reply(reply) if !reply.is_error() && !yes(reply))),
            silent: count(&|answer| *answer == Answer::Unknown),
            all: answers.len(),
        }
    }

    /// ⌊n/2⌋ + 1 of all nodes, whether they run or not (Redis's page on distributed locks).
    const fn is_majority(self) -> bool {
        self.yes > self.all / 2
    }

    /// So many have said no that the others together are no majority.
    const fn is_hopeless(self) -> bool {
        self.all - self.no <= self.all / 2
    }

    /// What a client makes of a round in which `enough` have not done it.
    const fn failed(self, no: Outcome) -> Outcome {
        if self.is_hopeless() {
            no
        } else if self.silent > 0 {
            Outcome::Unknown
        } else {
            Outcome::Error
        }
    }
}

impl World {
    /// How `client` asks for `lock`, if that is Redlock.
    pub(super) fn redlock_of(&self, client: usize, lock: usize) -> Option<Asking> {
        let event = self.lock_run(client, lock, |run| run.latest_event)?;
        let Do::Acquire(acquire) = &self.plan.events[event].what else { return None };
        let AcquireHow::Redlock { sequential, .. } = acquire.how else { return None };
        Some(if sequential { Asking::OneByOne } else { Asking::AtOnce })
    }
}

impl Ctx {
    /// One try on all nodes: granted with a majority. Nothing is let go here.
    pub(super) async fn vote(&self, acquire: &Acquire, key: &str, token: &str, asking: Asking) -> Result<End, Trouble> {
        let ttl = acquire.ttl.map_or(0, crate::trace::LessonTime::ms).to_string();
        let set = words(&["SET", key, token, "NX", "PX", &ttl]);
        let nodes = self.world.servers.names();
        let mut answers = self.ask(&nodes, &set, asking).await?;
        if acquire.accept_own {
            self.look_for_own(key, token, &nodes, &mut answers, asking).await?;
        }
        let granted = Count::of(&answers, is_yes).is_majority();
        Ok(if granted {
            End::of(Outcome::Granted)
        } else {
            End { why: Some(Why::NoQuorum), ..End::of(Outcome::Refused) }
        })
    }

    /// `accept_own`: a node that says no may have the client's own token, from a first try whose reply was lost.
    async fn look_for_own(
        &self,
        key: &str,
        token: &str,
        nodes: &[String],
        answers: &mut [Answer],
        asking: Asking,
    ) -> Result<(), Trouble> {
        let said_no: Vec<usize> =
            (0..nodes.len()).filter(|i| matches!(answers[*i], Answer::Reply(Reply::Nil))).collect();
        let asked: Vec<String> = said_no.iter().map(|i| nodes[*i].clone()).collect();
        let values = self.ask(&asked, &words(&["GET", key]), asking).await?;
        for (i, value) in said_no.into_iter().zip(values) {
            if matches!(value, Answer::Reply(Reply::Bulk(text)) if text == token) {
                answers[i] = Answer::Reply(Reply::Status("OK".to_owned()));
            }
        }
        Ok(())
    }

    /// Lets go on all nodes, also on those that have not answered: they may have the key all the same.
    pub(super) async fn let_go(&self, key: &str, token: &str, asking: Asking) -> Result<(), Trouble> {
        self.ask(&self.world.servers.names(), &eval(RELEASE, key, &[token]), asking).await?;
        Ok(())
    }

    /// A release on all nodes: released if one of them had it.
    pub(super) async fn release_all(
        &self,
        how: &ReleaseHow,
        key: &str,
        token: &str,
        asking: Asking,
    ) -> Result<End, Trouble> {
        let nodes = self.world.servers.names();
        let answers = match how {
            ReleaseHow::Del => self.ask(&nodes, &words(&["DEL", key]), asking).await?,
            ReleaseHow::GetDel { gap } => {
                let mut answers = self.ask(&nodes, &words(&["GET", key]), asking).await?;
                let mine = |answer: &Answer| matches!(answer, Answer::Reply(Reply::Bulk(value)) if value == token);
                let own: Vec<usize> = (0..nodes.len()).filter(|i| mine(&answers[*i])).collect();
                for answer in &mut answers {
                    if let Answer::Reply(reply) = answer
                        && !reply.is_error()
                    {
                        *reply = Reply::Int(0);
                    }
                }
                if gap.ms() > 0 && !own.is_empty() {
                    self.sleep(gap.ms()).await;
                }
                let asked: Vec<String> = own.iter().map(|i| nodes[*i].clone()).collect();
                let deleted = self.ask(&asked, &words(&["DEL", key]), asking).await?;
                for (i, answer) in own.into_iter().zip(deleted) {
                    answers[i] = answer;
                }
                answers
            }
            ReleaseHow::Delex => self.ask(&nodes, &self.world.compare_and_delete(key, token)?, asking).await?,
            ReleaseHow::Lua | ReleaseHow::Run(_) => self.ask(&nodes, &eval(RELEASE, key, &[token]), asking).await?,
        };
        let count = Count::of(&answers, is_yes);
        Ok(End::of(if count.yes > 0 { Outcome::Released } else { count.failed(Outcome::NotOwner) }))
    }

    /// A renewal on all nodes: it counts if a majority has done it before the new lease was over again. If not, the keys
    /// that were prolonged stay so, unless the caller lets go.
    pub(super) async fn renew_all(
        &self,
        how: &RenewHow,
        lock: usize,
        token: &str,
        ttl: u64,
        asking: Asking,
    ) -> Result<End, Trouble> {
        let sent = self.world.now();
        let key = self.world.plan.locks[lock].key.clone();
        let argv = self.prolong(how, Made::Value, &key, token, ttl);
        let answers = self.ask(&self.world.servers.names(), &argv, asking).await?;
        let count = Count::of(&answers, is_yes);
        let valid_until = (sent + ttl).saturating_sub(drift(ttl));
        if !count.is_majority() {
            return Ok(End::of(count.failed(Outcome::Lost)));
        }
        if valid_until <= self.world.now() {
            return Ok(End { why: Some(Why::TooLate), ..End::of(Outcome::Lost) });
        }
        self.world.move_deadline(self.client, lock, valid_until);
        Ok(End::of(Outcome::Renewed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> Count {
        let answers: Vec<Answer> = text
            .chars()
            .map(|c| match c {
                'y' => Answer::Reply(Reply::Int(1)),
                'n' => Answer::Reply(Reply::Int(0)),
                'e' => Answer::Reply(Reply::Error("OOM".to_owned())),
                's' => Answer::Unknown,
                _ => Answer::Refused,
            })
            .collect();
        Count::of(&answers, is_yes)
    }

    #[test]
    fn a_majority_is_more_than_half_of_all_nodes() {
        for (answers, majority) in [
            ("y", true),
            ("yyy--", true),
            ("yynss", false),
            ("yy", true),
            ("yn", false),
            ("yynn", false),
            ("yyyn", true),
        ] {
            assert_eq!(count(answers).is_majority(), majority, "{answers}");
        }
    }

    #[test]
    fn a_round_without_a_majority_is_a_no_only_if_it_can_be_nothing_else() {
        for (answers, outcome) in [
            ("nnnyy", Outcome::Lost),
            ("nnyys", Outcome::Unknown),
            ("yysss", Outcome::Unknown),
            ("yy---", Outcome::Error),
            ("yyeen", Outcome::Error),
            ("nn", Outcome::Lost),
        ] {
            assert_eq!(count(answers).failed(Outcome::Lost), outcome, "{answers}");
        }
    }
}
