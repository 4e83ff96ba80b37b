//! What is true instead of a fact that is not, as entries that could be pasted into the lesson.

use super::facts::{Facts, key_at};
use super::over_time::{Stretch, over_time};
use super::yaml::{self, Entry};
use super::{Seen, data};
use crate::lesson::expect::{ExpectTime, Fact};
use crate::trace::{LessonTime, State};

impl Facts<'_> {
    /// What is true instead of `fact`.
    pub(super) fn instead(&self, fact: &Fact) -> Seen {
        let lock = self.expect.lock.as_deref();
        let entry = |kind: &str, subject: &str, at: &str| {
            let mut entry = Entry::new(kind, subject);
            entry.field("at", at);
            entry.lock(lock, self.run.several_locks());
            entry
        };
        let instants = |kind: &str, subject: &str| {
            let subject = yaml::scalar(subject);
            let instants = self.instants(fact).into_iter().map(|t| entry(kind, &subject, &t.yaml()).done());
            Seen::Instead(instants.collect())
        };
        let is_state = matches!(
            fact,
            Fact::Holder { .. } | Fact::Believes(_) | Fact::Key { .. } | Fact::Row { .. } | Fact::Effects { .. }
        );
        if is_state && self.is_past_the_end() {
            return Seen::RunEnded(self.run.end());
        }
        match fact {
            Fact::Granted { client, .. } => instants("granted", client),
            Fact::Stopped(client) => instants("stopped", client),
            Fact::Expired(lock) => instants("expired", lock),
            Fact::Unprotected(client) => {
                let spells = self.unprotected(client).into_iter().map(|stretch| {
                    let mut entry = Entry::new("unprotected", yaml::scalar(client));
                    entry.spell(stretch.from, stretch.to);
                    entry.lock(lock, self.run.several_locks());
                    entry.done()
                });
                Seen::Instead(spells.collect())
            }
            Fact::Holder { node, .. } => {
                let holders = over_time(self.run.trace, |state| self.holders(state, node.as_deref()));
                self.at_the_time(&holders, |holders, _, at| {
                    let nobody = vec!["nobody".to_owned()];
                    let holders = if holders.is_empty() { &nobody } else { holders };
                    let entries = holders.iter().map(|holder| {
                        let mut entry = entry("holder", &yaml::scalar(holder), at);
                        if let Some(node) = node {
                            entry.field("node", yaml::scalar(node));
                        }
                        entry.done()
                    });
                    entries.collect()
                })
            }
            Fact::Row { resource, .. } => self.of_data("row", resource, "is", |state| data::row(state, resource)),
            Fact::Effects { resource, .. } => {
                self.of_data("effects", resource, "count", |state| data::effects(state, resource))
            }
            Fact::Believes(_) => {
                let names = self.run.trace.header.clients.iter().map(|client| client.name.clone());
                let names: Vec<String> = names.collect();
                let who = over_time(self.run.trace, |state| -> Vec<String> {
                    names.iter().filter(|name| self.believes(state, name)).cloned().collect()
                });
                self.at_the_time(&who, |names, _, at| {
                    names.iter().map(|name| entry("believes", &yaml::scalar(name), at).done()).collect()
                })
            }
            Fact::Key { key, node, .. } => {
                let Some(key) = key.as_deref().or_else(|| Some(self.locks().next()?.key.as_str())) else {
                    return Seen::Instead(Vec::new());
                };
                let header = &self.run.trace.header;
                let keys = over_time(self.run.trace, |state| key_at(state, header, node.as_deref(), key).cloned());
                self.at_the_time(&keys, |state, t, at| {
                    let mut entry = entry("key", &yaml::key_yaml(state.as_ref(), t), at);
                    if let Some(node) = node {
                        entry.field("node", yaml::scalar(node));
                    }
                    vec![entry.done()]
                })
            }
            _ => Seen::Instead(Vec::new()),
        }
    }

    /// What the data is instead, at the entry's time or in the end.
    fn of_data<T: std::fmt::Display + PartialEq>(
        &self,
        kind: &str,
        resource: &str,
        field: &str,
        sample: impl Fn(&State) -> Option<T>,
    ) -> Seen {
        let values = over_time(self.run.trace, sample);
        let at = self.expect.at.unwrap_or(ExpectTime::End);
        let then = values.iter().filter(|stretch| stretch.covers(at)).filter_map(|stretch| {
            let mut entry = Entry::new(kind, yaml::scalar(resource));
            entry.field(field, stretch.value.as_ref()?.to_string());
            match at {
                ExpectTime::At(t) => entry.field("at", t.yaml()),
                ExpectTime::Between(from, _) => entry.field("at", from.max(stretch.from).yaml()),
                ExpectTime::End | ExpectTime::Asked => {}
            }
            Some(entry.done())
        });
        Seen::Instead(then.collect())
    }

    /// What `stretches` say of the entry's time; an entry without a time that fails was never true: nothing.
    fn at_the_time<T>(&self, stretches: &[Stretch<T>], entries: impl Fn(&T, LessonTime, &str) -> Vec<String>) -> Seen {
        let Some(at) = self.expect.at.filter(|at| *at != ExpectTime::Asked) else { return Seen::Instead(Vec::new()) };
        let covering = stretches.iter().filter(|stretch| stretch.covers(at));
        let entries = covering.flat_map(|stretch| match at {
            ExpectTime::At(t) => entries(&stretch.value, t, &t.yaml()),
            ExpectTime::Between(a, _) => {
                let t = a.max(stretch.from);
                entries(&stretch.value, t, &t.yaml())
            }
            ExpectTime::End | ExpectTime::Asked => entries(&stretch.value, self.run.end(), "end"),
        });
        Seen::Instead(entries.collect())
    }
}
