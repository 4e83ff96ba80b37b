//! Who holds a lock, as Redis has it: on one master, or on most of several.

use super::event::{Header, Role};
use super::key::KeyState;
use super::state::State;

impl Header {
    /// Whether the nodes are masters that know nothing of each other: then a lock is held on more than half of *all* of
    /// them, whether they run or not.
    #[must_use]
    pub fn is_quorum(&self) -> bool {
        self.nodes.iter().filter(|node| node.role == Role::Master).count() > 1
    }

    /// How many nodes are more than half: ⌊n/2⌋ + 1 (the Redlock algorithm, Redis's page on distributed locks).
    #[must_use]
    pub fn majority(&self) -> usize {
        self.nodes.len() / 2 + 1
    }

    fn key_of(&self, lock: &str) -> Option<&str> {
        self.locks.iter().find(|info| info.name == lock).map(|info| info.key.as_str())
    }
}

impl State {
    /// The key of a lock as it stands between `client` and the lock: on the node that the client talks to. On a quorum,
    /// the key of whoever owns a majority; of its votes, the one with which the majority ends. None: the lock is free.
    #[must_use]
    pub fn key_seen_by<'a>(&'a self, header: &Header, client: &str, lock: &str) -> Option<&'a KeyState> {
        let key = header.key_of(lock)?;
        if header.is_quorum() {
            return self.majority_key(header, key);
        }
        self.nodes.get(&self.clients.get(client)?.master)?.keys.get(key)
    }

    fn majority_key<'a>(&'a self, header: &Header, key: &str) -> Option<&'a KeyState> {
        let votes: Vec<&KeyState> = self.nodes.values().filter_map(|node| node.keys.get(key)).collect();
        let owned_like = |one: &KeyState| votes.iter().filter(|vote| vote.owner == one.owner).count();
        let one = votes.iter().find(|vote| vote.owner.is_some() && owned_like(vote) >= header.majority())?;
        let mut own: Vec<&KeyState> = votes.iter().filter(|vote| vote.owner == one.owner).copied().collect();
        // A key without a TTL lasts longest.
        own.sort_by_key(|vote| (vote.deadline.is_some(), std::cmp::Reverse(vote.deadline)));
        own.get(header.majority() - 1).copied()
    }

    /// Whether Redis says that `client` holds `lock`: it owns the value on the node that it talks to; on a quorum, on
    /// more than half of all nodes.
    #[must_use]
    pub fn holds(&self, header: &Header, client: &str, lock: &str) -> bool {
        if header.is_quorum() {
            return self.votes(header, client, lock) >= header.majority();
        }
        self.key_seen_by(header, client, lock).is_some_and(|key| key.is_owned_by(client))
    }

    /// On how many nodes `client` owns the value of `lock`. A node that is down counts with what it last had.
    #[must_use]
    pub fn votes(&self, header: &Header, client: &str, lock: &str) -> usize {
        let Some(key) = header.key_of(lock) else { return 0 };
        let keys = self.nodes.values().filter_map(|node| node.keys.get(key));
        keys.filter(|vote| vote.is_owned_by(client)).count()
    }

    /// The clients for which [`Self::holds`] is true, in the lesson's order. Two masters can have two owners.
    #[must_use]
    pub fn holders(&self, header: &Header, lock: &str) -> Vec<String> {
        let names = header.clients.iter().map(|client| client.name.clone());
        names.filter(|client| self.holds(header, client, lock)).collect()
    }
}
