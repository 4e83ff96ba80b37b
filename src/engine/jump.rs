//! A server's own clock steps: every key on it is suddenly so much older, or younger.
//!
//! Only that server is concerned, and only what it has at that moment: a key that is set later lives as long as it is told
//! to, by whatever the clock says. So the step is made once, on the expiries; the lesson clock goes on as before.

use super::keys::{Change, Keys};
use super::world::{Trouble, World};
use crate::trace::{Cause, KeyOp, LessonTime, Role};

impl World {
    /// `node`'s clock steps forward by `by` ms (back, if negative).
    pub(super) async fn clock_jumps(&self, node: &str, by: i64) -> Result<(), Trouble> {
        let role = {
            let mut nodes = self.nodes.borrow_mut();
            let Some(run) = nodes.get_mut(node) else { return Ok(()) };
            run.clock_ahead += by;
            run.role
        };
        // A replica's clock decides nothing as long as its master says what is over; its promotion will tell.
        if role == Role::Master { self.keys_age(node, by, &Cause::ClockJump).await } else { Ok(()) }
    }

    /// A replica becomes a master. Expiries are absolute on the wire, so its keys are as old as its *own* clock says:
    /// what its old master's clock was ahead of it, they now have left in addition.
    pub(super) async fn goes_by_own_clock(&self, node: &str, old_master: Option<&str>) -> Result<(), Trouble> {
        let ahead = |name: &str| self.nodes.borrow().get(name).map_or(0, |run| run.clock_ahead);
        let by = ahead(node) - old_master.map_or(0, ahead);
        if by == 0 { Ok(()) } else { self.keys_age(node, by, &Cause::Promote).await }
    }

    /// All keys of a master are `by` ms older at once.
    async fn keys_age(&self, node: &str, by: i64, cause: &Cause) -> Result<(), Trouble> {
        self.freeze(node).await?;
        let (changes, over) = self.keys.borrow_mut().age(node, by, self.now());
        self.look_and_age(node, true, by)?;
        self.record_changes(node, changes, cause);
        if !over.is_empty() {
            let due: Vec<(String, String)> = over.into_iter().map(|key| (node.to_owned(), key)).collect();
            self.wait_until_gone(node, &due)?;
            for (_, key) in due {
                self.record_over(node, &key, cause.clone());
            }
            self.look(node, true)?;
        }
        self.replicate(node, 0).await
    }
}

impl Keys {
    /// What becomes of a node's keys when they are `by` ms older at lesson time `t`: those that live on, and the names of
    /// those whose time is over.
    fn age(&mut self, node: &str, by: i64, t: u64) -> (Vec<Change>, Vec<String>) {
        let (mut changes, mut over) = (Vec::new(), Vec::new());
        let Some(keys) = self.nodes.get_mut(node) else { return (changes, over) };
        for (name, key) in keys {
            let Some(deadline) = key.state.deadline else { continue };
            let deadline = LessonTime(deadline.ms().saturating_add_signed(-by));
            if deadline.ms() <= t {
                over.push(name.clone());
                continue;
            }
            key.state.deadline = Some(deadline);
            key.raw = key.raw.map(|raw| raw - by);
            // What arrives on replicas from now on is this.
            self.written.entry(name.clone()).or_default().push(key.clone());
            changes.push(Change { key: name.clone(), op: KeyOp::Retimed, now: Some(key.state.clone()) });
        }
        (changes, over)
    }
}
