//! Letting go of a lock, and telling whoever waits for that.

use super::notify::{channel_of, tells};
use super::program::End;
use super::queue::has_line;
use super::recipes::{is_yes, judge, words};
use super::token;
use super::ways::Made;
use super::wire::Ctx;
use super::world::Trouble;
use crate::lesson::{Release, ReleaseHow};
use crate::trace::{LessonTime, Outcome, Reply};

impl Ctx {
    /// Lets go. From here on the client believes no more, whatever the answer will be.
    pub(super) async fn release(&self, release: &Release) -> Result<End, Trouble> {
        let (lock, spec) = self.lock_of();
        let world = &self.world;
        let key = spec.key.as_str();
        let token = match release.token_of {
            Some(event) => world.event_run(event, |run| run.token.clone()),
            None => world.lock_run(self.client, lock, |run| run.token.clone()),
        };
        let token = token.unwrap_or_else(|| {
            token::unique(&mut world.clients.borrow_mut()[self.client].rng, world.client_name(self.client))
        });
        let depth = world.lock_run(self.client, lock, |run| {
            run.depth = run.depth.saturating_sub(1);
            run.depth
        });
        if depth == 0 {
            world.end_guards(self.client, lock);
            world.belief_ends(self.client, lock);
        }
        let (released, not_owner) = (Outcome::Released, Outcome::NotOwner);
        if let (Some(asking), false) = (world.redlock_of(self.client, lock), matches!(release.how, ReleaseHow::Run(_)))
        {
            return self.release_all(&release.how, key, &token, asking).await;
        }
        match &release.how {
            ReleaseHow::Lua => {
                let made = world.made_of(self.client, lock);
                let argv = self.hand_back(lock, &token, self.lease(lock), release.publish);
                // An owner that is told how often it still has the lock has given it back once.
                let yes = |reply: &Reply| if made == Made::Counts { *reply != Reply::Nil } else { is_yes(reply) };
                Ok(judge(self.command(argv).await?, yes, released, not_owner))
            }
            ReleaseHow::Del => self.delete(lock, words(&["DEL", key]), release.publish).await,
            ReleaseHow::Delex => self.delete(lock, world.compare_and_delete(key, &token)?, release.publish).await,
            ReleaseHow::GetDel { gap } => {
                let mine = |reply: &Reply| matches!(reply, Reply::Bulk(value) if *value == token);
                let got = judge(self.command(words(&["GET", key])).await?, mine, released, not_owner);
                if got.outcome != released {
                    return Ok(got);
                }
                if gap.ms() > 0 {
                    self.sleep(gap.ms()).await;
                }
                self.delete(lock, words(&["DEL", key]), release.publish).await
            }
            ReleaseHow::Run(run) => self.run(run, released, not_owner).await,
        }
    }

    /// One command that deletes, and then messages of their own: between the two there is a gap that the script does not
    /// have.
    async fn delete(&self, lock: usize, argv: Vec<String>, publish: Option<bool>) -> Result<End, Trouble> {
        let deleted = self.command(argv).await?;
        let end = judge(deleted, is_yes, Outcome::Released, Outcome::NotOwner);
        if end.outcome != Outcome::Released {
            return Ok(end);
        }
        if self.tells_line(lock, publish) {
            self.tell_line(&self.world.plan.locks[lock].key).await?;
        }
        if let Some(channel) = self.channel(lock, publish) {
            self.command(words(&["PUBLISH", &channel, "released"])).await?;
        }
        Ok(end)
    }

    /// The script that gives back what is one's own, and tells whoever waits; `publish` as it was written. `ttl`: for an
    /// owner that still has the lock.
    pub(super) fn hand_back(
        &self,
        lock: usize,
        token: &str,
        ttl: Option<LessonTime>,
        publish: Option<bool>,
    ) -> Vec<String> {
        let world = &self.world;
        let (made, key) = (world.made_of(self.client, lock), world.plan.locks[lock].key.as_str());
        let crowd = self.channel(lock, publish);
        if self.tells_line(lock, publish) {
            self.give_back_to_line(made, key, token, ttl, crowd.as_deref())
        } else {
            Self::give_back(made, key, token, ttl, crowd.as_deref())
        }
    }

    /// The channel that a release of `lock` tells, for all who wait without a line; `publish` as it was written (none: when
    /// somebody waits for a message).
    fn channel(&self, lock: usize, publish: Option<bool>) -> Option<String> {
        let plan = &self.world.plan;
        let asked = publish == Some(true) && !has_line(plan, lock);
        let does = publish != Some(false) && (asked || tells(plan, lock));
        does.then(|| channel_of(&plan.locks[lock].key))
    }

    /// Whether a release of `lock` tells whoever is first in line.
    fn tells_line(&self, lock: usize, publish: Option<bool>) -> bool {
        publish != Some(false) && has_line(&self.world.plan, lock)
    }
}
