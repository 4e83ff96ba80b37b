//! What a server must be able to do for a lesson, asked before it runs.

use super::recipes::words;
use super::world::{Trouble, World};
use crate::lesson::{Do, Plan, ReleaseHow};
use crate::servers::{Binary, Servers};

/// How a server spells *delete this key if that is its value*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompareAndDelete {
    /// `DELEX key IFEQ value`: Redis 8.4 and later.
    Delex,
    /// `DELIFEQ key value`: Valkey 9.0 and later.
    Delifeq,
}

impl CompareAndDelete {
    const fn name(self) -> &'static str {
        match self {
            Self::Delex => "DELEX",
            Self::Delifeq => "DELIFEQ",
        }
    }

    /// The command as it is sent.
    fn argv(self, key: &str, value: &str) -> Vec<String> {
        match self {
            Self::Delex => words(&[self.name(), key, "IFEQ", value]),
            Self::Delifeq => words(&[self.name(), key, value]),
        }
    }

    /// Which of them `servers` have, if `plan` releases so.
    pub(super) async fn of(plan: &Plan, servers: &Servers) -> Result<Option<Self>, Trouble> {
        if !asks_for_it(plan) {
            return Ok(None);
        }
        for spelling in [Self::Delex, Self::Delifeq] {
            if has_command(servers, spelling.name()).await? {
                return Ok(Some(spelling));
            }
        }
        Ok(None)
    }
}

/// Whether some release of the plan is `how: delex`.
fn asks_for_it(plan: &Plan) -> bool {
    plan.events.iter().any(|event| matches!(&event.what, Do::Release(release) if release.how == ReleaseHow::Delex))
}

impl World {
    /// The command of `how: delex`, as this server spells it.
    pub(super) fn compare_and_delete(&self, key: &str, value: &str) -> Result<Vec<String>, Trouble> {
        let spelled = self.delex.map(|spelling| spelling.argv(key, value));
        spelled.ok_or_else(|| Trouble::Environment("the server has no DELEX and no DELIFEQ".to_owned()))
    }
}

/// Why `plan` cannot be run on these servers; none: it can.
pub(super) async fn unmet(plan: &Plan, binary: &Binary, servers: &Servers) -> Result<Option<String>, Trouble> {
    let (major, minor, patch) = binary.version;
    let server = format!("{} {major}.{minor}.{patch}", binary.name);
    if let Some(least) = plan.needs.redis
        && (major, minor) < least
    {
        return Ok(Some(format!(
            "it needs {} {}.{}, and this is {major}.{minor}.{patch}",
            binary.name, least.0, least.1
        )));
    }
    let asked = &plan.needs.command;
    if !asked.is_empty() {
        let mut has_one = false;
        for name in asked {
            has_one = has_one || has_command(servers, name).await?;
        }
        if !has_one {
            return Ok(Some(format!("the server has no {}", asked.join(" and no "))));
        }
    }
    if asks_for_it(plan) && CompareAndDelete::of(plan, servers).await?.is_none() {
        return Ok(Some(format!(
            "`how: delex` needs DELEX (Redis 8.4) or DELIFEQ (Valkey 9.0), and {server} has neither"
        )));
    }
    Ok(None)
}

/// Whether the servers know a command. They are all of one make.
async fn has_command(servers: &Servers, name: &str) -> Result<bool, Trouble> {
    let node = servers.names().first().cloned().unwrap_or_default();
    let info = servers.observer(&node)?.send(redis::cmd("COMMAND").arg("INFO").arg(name)).await?;
    Ok(matches!(&info, redis::Value::Array(items) if items.iter().any(|item| *item != redis::Value::Nil)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_spells_it_in_its_own_way() {
        let line = |spelling: CompareAndDelete| spelling.argv("lock:1", "mine").join(" ");
        assert_eq!(line(CompareAndDelete::Delex), "DELEX lock:1 IFEQ mine");
        assert_eq!(line(CompareAndDelete::Delifeq), "DELIFEQ lock:1 mine");
    }
}
