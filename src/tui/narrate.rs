//! Records in plain words: what the story pane and the command log say.

mod commands;
mod data;
mod findings;
mod outcomes;
mod sentinels;
mod waiting;

pub use commands::{command, data_reply, reply_text, sent, short_value, without_token};
pub use findings::finding;

use super::player::Playhead;
use super::recording::Recording;
use super::strings::{Ui, secs};
use crate::trace::{
    Cause, DATABASE, EventKind, Group, Header, KeyOp, KeyState, LessonTime, LinkState, Record, Reply, Role, State,
    Stop, What,
};

/// One sentence, and how it is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The sentence.
    pub text: String,
    /// How it is meant.
    pub tone: Tone,
}

/// How a sentence is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The lesson's author speaks.
    Say,
    /// What happened.
    Fact,
    /// Something broke.
    Violation,
    /// Somebody is stuck.
    Warning,
    /// Less important.
    Aside,
}

/// Who tells.
#[derive(Clone, Copy)]
pub struct Narrator<'a> {
    /// In which words.
    pub ui: Ui,
    /// About what.
    pub recording: &'a Recording,
}

impl Narrator<'_> {
    const fn header(&self) -> &Header {
        &self.recording.trace.header
    }

    /// What happens at the stop where the playhead is: first what the author says, then what is seen.
    #[must_use]
    pub fn stop(&self, stop: Stop, playhead: Playhead, state: &State) -> Vec<Told> {
        let records = &self.recording.trace.records;
        let end = stop.end.min(playhead.pos).min(records.len());
        let mut told = Vec::new();
        let here = stop.start..end;
        for record in &records[here.clone()] {
            if let What::EventStart { event } = record.what
                && let Some(say) = self.header().events.get(event).and_then(|event| event.say.as_ref())
            {
                told.push(Told { text: say.get(self.ui.lang).to_owned(), tone: Tone::Say });
            }
        }
        for i in here.clone() {
            if let Some(text) = self.record(i, end, state) {
                let tone = match records[i].what {
                    What::TaskEnded { .. } | What::EventSkipped { .. } | What::End => Tone::Aside,
                    _ => Tone::Fact,
                };
                told.push(Told { text, tone });
            }
        }
        let turns = &self.recording.turns;
        let first = turns.partition_point(|(record, _)| *record < here.start);
        for (record, i) in turns[first..].iter().take_while(|(record, _)| *record < here.end) {
            let found = &self.recording.findings[*i];
            if *record == found.record && found.kind.group() != Group::Note {
                let tone = if found.kind.group() == Group::Stuck { Tone::Warning } else { Tone::Violation };
                told.push(Told { text: finding(self.ui, found), tone });
            }
            if found.end_record == Some(*record) && found.kind.lasts() {
                let who = self.ui.names(&found.who);
                let key = if found.kind.group() == Group::Stuck { "story.stuck_over" } else { "story.overlap_over" };
                told.push(Told { text: self.ui.fill(key, &[("who", &who)]), tone: Tone::Aside });
            }
        }
        told
    }

    /// `A`, `A's watchdog`, `A/log`.
    fn task(&self, client: &str, task: &str) -> String {
        match task {
            "main" | "" => client.to_owned(),
            "watchdog" => self.ui.fill("who.watchdog", &[("client", client)]),
            task => format!("{client}/{task}"),
        }
    }

    /// One record as a sentence; `until`: the record after the last that is known. None: it goes without saying.
    fn record(&self, i: usize, until: usize, state: &State) -> Option<String> {
        let Record { t, what, .. } = &self.recording.trace.records[i];
        let ui = self.ui;
        let (key, values): (&str, Vec<(&str, String)>) = match what {
            What::Send { cmd, client, task, .. } => return Some(self.send(*cmd, client, task, until)),
            What::Exec { cmd, reply } if !self.same_stop(*cmd, i) => {
                ("story.executed", vec![("command", self.command_of(*cmd)), ("reply", self.answer(*cmd, reply))])
            }
            What::Read { cmd } if !self.same_stop(*cmd, i) => {
                let reply = self.recording.reply(*cmd, until).map(|reply| self.answer(*cmd, reply)).unwrap_or_default();
                ("story.read", vec![("who", self.sender_of(*cmd)), ("reply", reply)])
            }
            What::Waits { cmd, .. } => {
                ("story.kept_waiting", vec![("who", self.sender_of(*cmd)), ("command", self.command_of(*cmd))])
            }
            What::Timeout { cmd } => {
                ("story.timeout", vec![("who", self.sender_of(*cmd)), ("command", self.command_of(*cmd))])
            }
            What::Dropped { reply: true, .. } => ("story.reply_lost", vec![]),
            What::Dropped { reply: false, .. } => ("story.request_lost", vec![]),
            What::Refused { .. } => ("story.no_server", vec![]),
            What::Key { node, key, op, cause, now } => return self.key(node, key, *op, cause, now.as_ref(), state),
            What::EventEnd { event, outcome, why, reply } => {
                let info = self.header().events.get(*event)?;
                match data::outcome(info.kind, *outcome, reply.is_some()) {
                    Some(key) => (key, vec![("who", self.client_of(*event))]),
                    None => return self.outcome(*event, *outcome, *why, state),
                }
            }
            What::TryFailed { event, .. } => ("story.tries_again", vec![("who", self.client_of(*event))]),
            What::News { cmd, client, channel, text, got, .. } => {
                return Some(waiting::news(ui, client, &self.sender_of(*cmd), (channel, text), *got));
            }
            What::Line { waiting, .. } => return Some(waiting::line(ui, waiting)),
            // How a job ended is told by its event: a crash or a loss ends it as well.
            What::Works { client, on: true, locks, .. } if !locks.is_empty() => {
                ("story.works", vec![("who", client.clone())])
            }
            What::ToldLost { client, .. } => ("story.told_lost", vec![("who", client.clone())]),
            What::ClientCrashed { client, task: Some(task) } => {
                ("story.task_crashed", vec![("who", self.task(client, task))])
            }
            What::ClientCrashed { client, task: None } => ("story.client_crashed", vec![("who", client.clone())]),
            What::ClientPaused { client, task, until } => {
                let who = self.task(client, task.as_deref().unwrap_or(""));
                match until {
                    Some(until) => ("story.paused_until", vec![("who", who), ("t", secs(*until))]),
                    None => ("story.paused", vec![("who", who)]),
                }
            }
            What::ClientResumed { client, task } => {
                ("story.resumed", vec![("who", self.task(client, task.as_deref().unwrap_or("")))])
            }
            What::TaskEnded { client, task } if task == "main" => ("story.ended", vec![("who", client.clone())]),
            What::NodeCrashed { node } => ("story.node_crashed", vec![("node", node.clone())]),
            What::NodeRestarted { node, .. } => ("story.node_restarted", vec![("node", node.clone())]),
            What::NodePromoted { by: Some(_), .. } | What::ClientFollows { .. } | What::SentinelSays { .. } => {
                return sentinels::sentence(ui, what);
            }
            What::NodePromoted { node, .. } => ("story.promoted", vec![("node", node.clone())]),
            What::NodeDemoted { node, master } => {
                ("story.demoted", vec![("node", node.clone()), ("master", master.clone())])
            }
            What::Link { a, b, state: lets, held } => return self.link(i, (a, b), *lets, *held, state),
            What::EventSkipped { event } | What::EventNotRun { event, .. } => {
                let info = self.header().events.get(*event)?;
                let skipped = matches!(what, What::EventSkipped { .. });
                let key = if skipped { "story.skipped" } else { "story.not_run" };
                (key, vec![("who", info.subject.clone()), ("what", ui.get(step_key(info.kind)).to_owned())])
            }
            What::Warning { text, .. } => return Some(text.clone()),
            What::End => ("story.end", vec![("t", secs(*t))]),
            _ => return None,
        };
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Some(ui.fill(key, &values))
    }

    fn send(&self, cmd: u32, client: &str, task: &str, until: usize) -> String {
        let who = self.task(client, task);
        let command = self.command_of(cmd);
        match self.recording.reply(cmd, until) {
            Some(reply) if self.is_read(cmd, until) => {
                let reply = self.answer(cmd, reply);
                self.ui.fill("story.sends_gets", &[("who", &who), ("command", &command), ("reply", &reply)])
            }
            _ => self.ui.fill("story.sends", &[("who", &who), ("command", &command)]),
        }
    }

    fn is_read(&self, cmd: u32, until: usize) -> bool {
        self.recording.commands.get(&cmd).and_then(|command| command.read).is_some_and(|record| record < until)
    }

    /// Whether command `cmd` was sent in the stop in which record `i` is: then the sentence about it has said all.
    fn same_stop(&self, cmd: u32, i: usize) -> bool {
        let timeline = &self.recording.timeline;
        let sent = self.recording.commands.get(&cmd).map_or(i, |command| command.send);
        timeline.stop_of(sent) == timeline.stop_of(i)
    }

    fn sent(&self, cmd: u32) -> Option<&What> {
        let send = self.recording.commands.get(&cmd)?.send;
        Some(&self.recording.trace.records.get(send)?.what)
    }

    fn command_of(&self, cmd: u32) -> String {
        match self.sent(cmd) {
            Some(What::Send { node, argv, .. }) if self.is_one_of_many(node) => {
                format!("{} → {node}", sent(node, argv, 60))
            }
            Some(What::Send { node, argv, .. }) => sent(node, argv, 60),
            _ => format!("#{cmd}"),
        }
    }

    /// Whether clients ask several servers for the same, so that it must be said which.
    fn is_one_of_many(&self, node: &str) -> bool {
        let masters = self.header().nodes.iter().filter(|info| info.role == Role::Master);
        node != DATABASE && masters.count() > 1
    }

    /// A reply, as the one says it who was asked.
    fn answer(&self, cmd: u32, reply: &Reply) -> String {
        match self.sent(cmd) {
            Some(What::Send { node, .. }) if node == DATABASE => data_reply(self.ui, reply),
            _ => reply_text(reply),
        }
    }

    fn sender_of(&self, cmd: u32) -> String {
        match self.sent(cmd) {
            Some(What::Send { client, task, .. }) => self.task(client, task),
            _ => String::new(),
        }
    }

    fn client_of(&self, event: usize) -> String {
        let subject = self.header().events.get(event).map_or("", |event| &event.subject);
        crate::trace::state::client_of(subject).to_owned()
    }

    fn key(
        &self,
        node: &str,
        key: &str,
        op: KeyOp,
        cause: &Cause,
        now: Option<&KeyState>,
        state: &State,
    ) -> Option<String> {
        let ui = self.ui;
        let owner = now.and_then(|now| now.owner.as_deref());
        let lock = self.header().locks.iter().find(|lock| lock.key == key);
        Some(match (op, cause, owner) {
            (KeyOp::Expired, cause @ (Cause::ClockJump | Cause::Promote), _) => {
                ui.fill("story.vanished", &[("key", key), ("node", node), ("cause", cause_text(ui, cause)?)])
            }
            (KeyOp::Expired, ..) => {
                let mut text = ui.fill("story.expired", &[("key", key)]);
                let unaware = lock.and_then(|lock| {
                    let believer = |name: &&str| state.clients[*name].believes.contains_key(&lock.name);
                    state.clients.keys().map(String::as_str).find(believer)
                });
                if let Some(client) = unaware {
                    text.push_str(&ui.fill("story.expired_unnoticed", &[("who", client)]));
                }
                text
            }
            (KeyOp::Created | KeyOp::Replaced, Cause::Command { .. }, Some(owner)) if lock.is_some() => {
                match now.and_then(|now| now.deadline) {
                    Some(deadline) => ui.fill("story.owned", &[("who", owner), ("t", &secs(deadline))]),
                    None => ui.fill("story.owned_forever", &[("who", owner)]),
                }
            }
            (KeyOp::Created, Cause::Replication, Some(owner)) => {
                ui.fill("story.replicated", &[("node", node), ("key", key), ("who", owner)])
            }
            (KeyOp::Retimed, Cause::Command { .. }, _) => match now.and_then(|now| now.deadline) {
                Some(deadline) => ui.fill("story.retimed", &[("t", &secs(deadline))]),
                None => ui.get("story.retimed_forever").to_owned(),
            },
            (KeyOp::Removed, Cause::Command { .. }, _) if lock.is_some() => ui.get("story.removed").to_owned(),
            (KeyOp::Removed, cause, _) => {
                let cause = cause_text(ui, cause)?;
                ui.fill("story.vanished", &[("key", key), ("node", node), ("cause", cause)])
            }
            _ => return None,
        })
    }

    /// A sentence where the link itself changed; bytes that gather in it are the inspector's business.
    fn link(&self, i: usize, (one, other): (&str, &str), lets: LinkState, held: u64, state: &State) -> Option<String> {
        if !self.recording.is_logged(i) {
            return None;
        }
        let back = state.is_way_back(one, other);
        let key = match lets {
            LinkState::Open if back => "story.acks_open",
            LinkState::Held if back => "story.acks_held",
            LinkState::Slow { .. } if back => "story.acks_slow",
            LinkState::Open => "story.link_open",
            LinkState::Held => "story.link_held",
            LinkState::Slow { .. } => "story.link_slow",
            LinkState::Cut => "story.link_cut",
        };
        let by = match lets {
            LinkState::Slow { by } => secs(by),
            _ => String::new(),
        };
        Some(self.ui.fill(key, &[("a", one), ("b", other), ("by", &by), ("held", &held.to_string())]))
    }

    /// A record's line in the command log; commands have a form of their own.
    #[must_use]
    pub fn log_record(&self, i: usize) -> Option<String> {
        let ui = self.ui;
        match &self.recording.trace.records.get(i)?.what {
            What::Key { op: KeyOp::Expired, key, .. } => Some(ui.fill("log.expired", &[("key", key)])),
            What::Key { op: KeyOp::Removed, key, node, cause, .. } => {
                Some(ui.fill("story.vanished", &[("key", key), ("node", node), ("cause", cause_text(ui, cause)?)]))
            }
            _ => self.record(i, i + 1, &State::default()),
        }
    }
}

/// The text for an event's kind, as a reader names it who does not know the lesson's file.
#[must_use]
pub const fn step_key(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Acquire => "do.acquire",
        EventKind::Work => "do.work",
        EventKind::Idle => "do.idle",
        EventKind::Renew => "do.renew",
        EventKind::Release => "do.release",
        EventKind::Redis => "do.redis",
        EventKind::Read => "do.read",
        EventKind::Write => "do.write",
        EventKind::Begin => "do.begin",
        EventKind::Commit => "do.commit",
        EventKind::Rollback => "do.rollback",
        EventKind::Crash => "do.crash",
        EventKind::Pause => "do.pause",
        _ => "do.other",
    }
}

/// What made a key vanish, where it was neither time nor a command.
#[must_use]
pub fn cause_text<'a>(ui: Ui, cause: &Cause) -> Option<&'a str> {
    Some(ui.get(match cause {
        Cause::Restart => "cause.restart",
        Cause::Promote => "cause.promote",
        Cause::Demote => "cause.demote",
        Cause::Flush => "cause.flush",
        Cause::Evict => "cause.evict",
        Cause::ClockJump => "cause.clock_jump",
        Cause::Command { .. } | Cause::Expiry | Cause::Replication => return None,
    }))
}

/// `12.000`, the way the log and the header show a time.
#[must_use]
pub fn clock(t: LessonTime) -> String {
    t.to_string()
}
