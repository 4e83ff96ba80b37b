//! Waiting for the message that a release sends (`wait: {notify: …}`), as Redisson's clients do.
//!
//! A subscription is a connection of its own. Whatever may have published is followed by a `PING` on each of them, whose
//! answer comes after every message that was published before: so it is known what each subscriber got, and in which
//! order, without waiting for anything that may never come. From the server to its client a message then goes the way of
//! a reply: at once, or as its link lets it.

use super::agenda::Class;
use super::recipes::words;
use super::slot::{Tag, WakeAt};
use super::waiting::Waiting;
use super::wire::{Ctx, Message};
use super::world::{Trouble, World};
use crate::lesson::{Acquire, Cap, Do, Plan, Wait};
use crate::servers::Subscriber;
use crate::trace::{LessonTime, Reply, What};

/// The channel on which it is told that the lock behind `key` is free.
pub(super) fn channel_of(key: &str) -> String {
    format!("{key}:released")
}

/// Whether somebody in the lesson waits for the message of this lock: then releases send it.
pub(super) fn tells(plan: &Plan, lock: usize) -> bool {
    plan.events.iter().any(|event| match &event.what {
        Do::Acquire(acquire) => event.lock == Some(lock) && matches!(acquire.wait, Wait::Notify { .. }),
        _ => false,
    })
}

/// How long somebody sleeps at most without a message, ms; none: for ever.
pub(super) fn longest_sleep(cap: Cap, ttl: Option<LessonTime>) -> Option<u64> {
    match cap {
        Cap::Ttl => ttl.map(LessonTime::ms),
        Cap::None => None,
        Cap::Of(cap) => Some(cap.ms()),
    }
}

/// A task that is subscribed.
#[derive(Debug)]
pub(super) struct Ear {
    client: usize,
    slot: usize,
    event: usize,
    pub(super) node: String,
    channel: String,
    subscriber: Subscriber,
    /// What has come and was not read yet, with the command that published it.
    unread: Vec<(News, u32)>,
    /// It sleeps until something comes; where its steps stand in the order of an instant.
    asleep: Option<(Class, u64)>,
}

/// A message to one subscriber.
#[derive(Clone, Debug)]
pub(super) struct News {
    ear: u64,
    event: usize,
    channel: String,
    text: String,
}

pub(super) fn is_subscribe(argv: &[String]) -> bool {
    argv.first().is_some_and(|name| name == "SUBSCRIBE")
}

/// Whether a command can have published something.
fn may_publish(argv: &[String]) -> bool {
    let name = argv.first().map(|name| name.to_ascii_uppercase()).unwrap_or_default();
    matches!(name.as_str(), "PUBLISH" | "EXEC") || name.starts_with("EVAL")
}

impl World {
    /// A `SUBSCRIBE` is at its server. If its task waits no longer, nobody listens on that connection. None: a Sentinel has
    /// closed the connection, since it has made something else of the server.
    pub(super) fn subscribe(&self, message: &Message) -> Result<Option<Reply>, Trouble> {
        let channel = message.argv.get(1).cloned().unwrap_or_default();
        if let Some((slot, event)) = self.subscribing(message)
            && !self.listens(slot)
        {
            let name = self.client_name(message.client);
            if !self.is_up_master(&message.node) {
                if self.is_watched() {
                    return Ok(None);
                }
                return Err(Trouble::Engine(format!(
                    "{name} waits for a message at {}, which is a replica by now: nobody releases a lock there",
                    message.node
                )));
            }
            let subscriber = match self.servers.listen(&message.node, name, &channel) {
                Ok(subscriber) => subscriber,
                Err(_) if self.is_watched() => return Ok(None),
                Err(error) => return Err(Trouble::Environment(error.to_string())),
            };
            let (client, node) = (message.client, message.node.clone());
            let (channel, unread) = (channel.clone(), Vec::new());
            let ear = Ear { client, slot, event, node, channel, subscriber, unread, asleep: None };
            self.ears.borrow_mut().insert(self.next_message(), ear);
        }
        let reply = Reply::List(vec![Reply::Bulk("subscribe".to_owned()), Reply::Bulk(channel), Reply::Int(1)]);
        self.record(What::Exec { cmd: message.cmd, reply: reply.clone() });
        Ok(Some(reply))
    }

    /// Ends all subscriptions on a node, and lets it forget them. Whoever sleeps hears nothing more.
    pub(super) async fn silence(&self, node: &str) -> Result<(), Trouble> {
        let ears: Vec<usize> = self.ears.borrow().values().filter(|ear| ear.node == node).map(|ear| ear.slot).collect();
        for slot in ears {
            self.stop_listening(slot).await?;
        }
        Ok(())
    }

    /// The task that a `SUBSCRIBE` is for, and its acquire, if that is still under way.
    fn subscribing(&self, message: &Message) -> Option<(usize, usize)> {
        let event = message.event?;
        let slot = *self.slots_where(|slot| slot.events.contains(&event)).first()?;
        let waits = self.event_run(event, |run| run.started.is_some() && run.ended.is_none());
        waits.then_some((slot, event))
    }

    /// Whether a task is subscribed.
    pub(super) fn listens(&self, slot: usize) -> bool {
        self.ears.borrow().values().any(|ear| ear.slot == slot)
    }

    /// A command has been executed: what it has published begins its way to those who have subscribed.
    pub(super) fn hear(&self, message: &Message) -> Result<(), Trouble> {
        if !may_publish(&message.argv) {
            return Ok(());
        }
        let (mut published, mut closed) = (Vec::new(), Vec::new());
        for (id, ear) in self.ears.borrow().iter().filter(|(_, ear)| ear.node == message.node) {
            let texts = match ear.subscriber.messages() {
                Ok(texts) => texts,
                // A Sentinel throws out subscribers, too: whoever sleeps hears nothing more, and sleeps as long as it said.
                Err(_) if self.is_watched() => {
                    closed.push(*id);
                    continue;
                }
                Err(broken) => return Err(broken.into()),
            };
            for text in texts {
                let channel = ear.channel.clone();
                published.push(Message {
                    client: ear.client,
                    node: ear.node.clone(),
                    cmd: message.cmd,
                    argv: Vec::new(),
                    sql: None,
                    event: Some(ear.event),
                    net: None,
                    reply: Some(Ok(Reply::Bulk(text.clone()))),
                    delivered: None,
                    waiter: None,
                    late: None,
                    news: Some(News { ear: *id, event: ear.event, channel, text }),
                });
            }
        }
        self.ears.borrow_mut().retain(|id, _| !closed.contains(id));
        for message in published {
            self.put_on_the_way(message);
        }
        Ok(())
    }

    /// A message is at its client: whoever sleeps until something comes is woken.
    pub(super) fn tell(&self, news: News, cmd: u32) {
        let woken = {
            let mut ears = self.ears.borrow_mut();
            // It may have stopped listening while the message was on its way.
            let Some(ear) = ears.get_mut(&news.ear) else { return };
            ear.unread.push((news, cmd));
            ear.asleep.take().map(|(class, order)| (ear.slot, class, order))
        };
        if let Some((slot, class, order)) = woken {
            self.answer(slot, class, order);
        }
    }

    /// Writes down that a message was read, or that it was lost.
    pub(super) fn record_news(&self, client: usize, news: &News, cmd: u32, got: bool) {
        let News { event, channel, text, .. } = news.clone();
        self.record(What::News { cmd, client: self.client_name(client).to_owned(), event, channel, text, got });
    }

    /// A task reads what has come. True: there was something.
    pub(super) fn read_news(&self, slot: usize) -> bool {
        let read: Vec<(usize, News, u32)> = {
            let mut ears = self.ears.borrow_mut();
            let mine = ears.values_mut().filter(|ear| ear.slot == slot);
            mine.flat_map(|ear| std::mem::take(&mut ear.unread).into_iter().map(|(news, cmd)| (ear.client, news, cmd)))
                .collect()
        };
        for (client, news, cmd) in &read {
            self.record_news(*client, news, *cmd, true);
        }
        !read.is_empty()
    }

    /// Closes a task's subscription, and lets the server forget it: what is published later does not count it.
    pub(super) async fn stop_listening(&self, slot: usize) -> Result<(), Trouble> {
        let closed: Vec<Ear> = {
            let mut ears = self.ears.borrow_mut();
            let mine: Vec<u64> = ears.iter().filter(|(_, ear)| ear.slot == slot).map(|(id, _)| *id).collect();
            mine.iter().filter_map(|id| ears.remove(id)).collect()
        };
        for Ear { node, subscriber, .. } in closed {
            let id = subscriber.id();
            drop(subscriber);
            if self.is_up(&node) {
                self.servers.closed(&node, id).await?;
            }
        }
        Ok(())
    }
}

impl Ctx {
    /// Subscribes, looks once more whether the lock is free by now, and sleeps until it is told or has slept long enough.
    /// A message may never come (nobody publishes when a key expires), or may have been sent before there was anybody
    /// to hear it: that is what the second look and the cap are for. True: try again.
    pub(super) async fn until_told(
        &self,
        waiting: &mut Waiting,
        acquire: &Acquire,
        key: &str,
        give_up: Option<u64>,
    ) -> Result<bool, Trouble> {
        let Wait::Notify { recheck, subscribe_after, cap, .. } = &acquire.wait else { return Ok(false) };
        let world = &self.world;
        let in_time = |t: u64| give_up.is_none_or(|give_up| t < give_up);
        self.leave_other_nodes().await?;
        if !waiting.subscribed && !world.listens(self.slot) {
            if subscribe_after.ms() > 0 {
                let ready = world.now().saturating_add(subscribe_after.ms());
                self.sleep_until(give_up.map_or(ready, |give_up| ready.min(give_up))).await;
                if !in_time(ready) {
                    return Ok(false);
                }
            }
            waiting.subscribed = true;
            self.command(words(&["SUBSCRIBE", &channel_of(key)])).await?;
            if *recheck && in_time(world.now()) {
                return Ok(true);
            }
        }
        waiting.subscribed = false;
        if world.read_news(self.slot) {
            return Ok(in_time(world.now()));
        }
        let cap = longest_sleep(*cap, acquire.ttl);
        let enough = cap.map(|cap| world.now().saturating_add(cap)).into_iter().chain(give_up).min();
        // What comes at the last moment is in time.
        Ok(self.sleep_until_told(enough).await || in_time(world.now()))
    }

    /// A subscription dies with its server, or its server is not asked any more: it is made anew when it is next needed.
    pub(super) async fn leave_other_nodes(&self) -> Result<(), Trouble> {
        if self.world.listens(self.slot) && !self.listens_here() {
            self.world.stop_listening(self.slot).await?;
        }
        Ok(())
    }

    /// Whether the task is subscribed at the master that its client talks to.
    pub(super) fn listens_here(&self) -> bool {
        let here = &self.world.clients.borrow()[self.client].master;
        self.world.ears.borrow().values().any(|ear| ear.slot == self.slot && ear.node == *here)
    }

    /// Sleeps until a message comes, or until `enough`. True: it was a message.
    pub(super) async fn sleep_until_told(&self, enough: Option<u64>) -> bool {
        let world = &self.world;
        let wake = enough.map(|t| WakeAt { t, class: self.class, order: self.order, tag: Tag::Timeout, moves: false });
        for ear in world.ears.borrow_mut().values_mut().filter(|ear| ear.slot == self.slot) {
            ear.asleep = Some((self.class, self.order));
        }
        world.park(self.slot, wake.into_iter().collect()).await;
        for ear in world.ears.borrow_mut().values_mut().filter(|ear| ear.slot == self.slot) {
            ear.asleep = None;
        }
        world.read_news(self.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_may_publish() {
        for (line, may) in [
            ("PUBLISH a b", true),
            ("publish a b", true),
            ("EVAL return 0", true),
            ("evalsha_ro abc 0", true),
            ("EXEC", true),
            ("SET a b", false),
            ("DEL a", false),
        ] {
            assert_eq!(may_publish(&words(&line.split(' ').collect::<Vec<_>>())), may, "{line}");
        }
    }
}
