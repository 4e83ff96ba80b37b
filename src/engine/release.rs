//! Letting go of a lock, and telling whoever waits for that.

use super::notify::{channel_of, tells};
use super::program::End;
use super::recipes::{is_yes, judge, words};
use super::token;
use super::ways::Made;
use super::wire::Ctx;
use super::world::Trouble;
use crate::lesson::{Release, ReleaseHow};
use crate::trace::{Outcome, Reply};

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
        let channel = self.channel(lock, release.publish);
        match &release.how {
            ReleaseHow::Lua => {
                let made = world.made_of(self.client, lock);
                let argv = Self::give_back(made, key, &token, self.lease(lock), channel.as_deref());
                // An owner that is told how often it still has the lock has given it back once.
                let yes = |reply: &Reply| if made == Made::Counts { *reply != Reply::Nil } else { is_yes(reply) };
                Ok(judge(self.command(argv).await?, yes, released, not_owner))
            }
            ReleaseHow::Del => self.delete(words(&["DEL", key]), channel).await,
            ReleaseHow::Delex => self.delete(world.compare_and_delete(key, &token)?, channel).await,
            ReleaseHow::GetDel { gap } => {
                let mine = |reply: &Reply| matches!(reply, Reply::Bulk(value) if *value == token);
                let got = judge(self.command(words(&["GET", key])).await?, mine, released, not_owner);
                if got.outcome != released {
                    return Ok(got);
                }
                if gap.ms() > 0 {
                    self.sleep(gap.ms()).await;
                }
                self.delete(words(&["DEL", key]), channel).await
            }
            ReleaseHow::Run(run) => self.run(run, released, not_owner).await,
        }
    }

    /// One command that deletes, and then a message of its own: between the two there is a gap that the script does not
    /// have.
    async fn delete(&self, argv: Vec<String>, channel: Option<String>) -> Result<End, Trouble> {
        let deleted = self.command(argv).await?;
        let end = judge(deleted, is_yes, Outcome::Released, Outcome::NotOwner);
        if let (Outcome::Released, Some(channel)) = (end.outcome, channel) {
            self.command(words(&["PUBLISH", &channel, "released"])).await?;
        }
        Ok(end)
    }

    /// The channel that a release of `lock` tells; `publish` as it was written (none: when somebody waits for a message).
    pub(super) fn channel(&self, lock: usize, publish: Option<bool>) -> Option<String> {
        let plan = &self.world.plan;
        publish.unwrap_or_else(|| tells(plan, lock)).then(|| channel_of(&plan.locks[lock].key))
    }
}
