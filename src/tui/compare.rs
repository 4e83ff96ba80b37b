//! Two variants side by side: where they part, and what the change bought.

use crate::trace::state::client_of;
use crate::trace::{EventKind, Finding, Group, LessonTime, LinkState, Outcome, Record, Trace, What};

use super::narrate::without_token;
use super::recording::Recording;

/// Another variant beside the one that is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compare {
    /// Which variant, by index.
    pub other: usize,
    /// Where the two part, if they do.
    pub parting: Option<Parting>,
}

/// The first difference between two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    /// When.
    pub t: LessonTime,
    /// The record of the first run at which it is seen, and that of the second. A run that is over has one more.
    pub records: (usize, usize),
}

/// What of a record makes a run what it is: not the place in the file, not real time, and not the random part of a
/// token.
fn essence(record: &Record) -> Option<(LessonTime, String)> {
    let text = match &record.what {
        What::EventStart { .. }
        | What::EventEnd { .. }
        | What::EventSkipped { .. }
        | What::EventNotRun { .. }
        | What::TryFailed { .. }
        | What::TaskEnded { .. }
        | What::Read { .. }
        | What::Warning { .. }
        // Bytes come in as many pieces as the network likes.
        | What::Link { state: LinkState::Open, .. }
        | What::End => return None,
        What::Send { client, task, node, argv, .. } => {
            let argv: Vec<String> = argv.iter().map(|word| without_token(word)).collect();
            format!("send {client} {task} {node} {argv:?}")
        }
        What::Exec { reply, .. } => format!("exec {}", without_token(&reply.to_string())),
        What::Key { node, key, op, now, .. } => {
            let now = now.as_ref().map(|now| (&now.owner, now.deadline));
            format!("key {node} {key} {op:?} {now:?}")
        }
        What::Link { a, b, state, .. } => format!("link {a} {b} {state:?}"),
        What::Dropped { reply, .. } => format!("dropped {reply}"),
        What::News { client, channel, text, got, .. } => {
            format!("news {client} {} {text} {got}", without_token(channel))
        }
        What::Refused { .. } => "refused".to_owned(),
        What::Timeout { .. } => "timeout".to_owned(),
        what => format!("{what:?}"),
    };
    Some((record.t, text))
}

/// Where the runs `a` and `b` part.
#[must_use]
pub fn parting(a: &Trace, b: &Trace) -> Option<Parting> {
    let essences = |trace: &Trace| -> Vec<(usize, LessonTime, String)> {
        let records = trace.records.iter().enumerate();
        records.filter_map(|(i, record)| essence(record).map(|(t, text)| (i, t, text))).collect()
    };
    let (one, other) = (essences(a), essences(b));
    let same = one.iter().zip(&other).take_while(|(x, y)| (x.1, &x.2) == (y.1, &y.2)).count();
    let (mine, theirs) = (one.get(same), other.get(same));
    let t = [mine, theirs].into_iter().flatten().map(|(_, t, _)| *t).min()?;
    let record =
        |found: Option<&(usize, LessonTime, String)>, trace: &Trace| found.map_or(trace.records.len(), |(i, ..)| *i);
    Some(Parting { t, records: (record(mine, a), record(theirs, b)) })
}

/// What a change does to what goes wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bought<'a> {
    /// It went wrong before, and does not now.
    pub gone: Vec<&'a Finding>,
    /// It goes wrong still.
    pub stays: Vec<&'a Finding>,
    /// It goes wrong only now.
    pub new: Vec<&'a Finding>,
    /// Who gets in at another time, for the first time, or no longer.
    pub entered: Vec<Entered<'a>>,
}

/// When a client gets a lock for the first time, without the change and with it; none: it never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered<'a> {
    /// The client.
    pub client: &'a str,
    /// Without the change.
    pub before: Option<LessonTime>,
    /// With it.
    pub after: Option<LessonTime>,
}

/// What `b` bought compared with `a`. Findings are the same if they are about the same thing, whenever it happens.
#[must_use]
pub fn bought<'a>(a: &'a Recording, b: &'a Recording) -> Bought<'a> {
    let violations = |recording: &'a Recording| -> Vec<&'a Finding> {
        let mut seen: Vec<&Finding> = Vec::new();
        for finding in recording.findings.iter().filter(|finding| finding.kind.group() != Group::Note) {
            if !seen.iter().any(|other| is_same(other, finding)) {
                seen.push(finding);
            }
        }
        seen
    };
    let (before, after) = (violations(a), violations(b));
    let is_in = |finding: &Finding, all: &[&Finding]| all.iter().any(|other| is_same(other, finding));
    Bought {
        gone: before.iter().filter(|finding| !is_in(finding, &after)).copied().collect(),
        stays: after.iter().filter(|finding| is_in(finding, &before)).copied().collect(),
        new: after.iter().filter(|finding| !is_in(finding, &before)).copied().collect(),
        entered: entered(&a.trace, &b.trace),
    }
}

/// Who gets in at another time in `b` than in `a`. Clients that only one of them has are not compared.
fn entered<'a>(a: &'a Trace, b: &Trace) -> Vec<Entered<'a>> {
    let asks = |trace: &Trace, name: &str| {
        trace.header.events.iter().any(|event| event.kind == EventKind::Acquire && client_of(&event.subject) == name)
    };
    let clients = a.header.clients.iter().map(|client| client.name.as_str());
    let compared = clients.filter(|name| asks(a, name) && asks(b, name));
    compared
        .map(|client| Entered { client, before: first_grant(a, client), after: first_grant(b, client) })
        .filter(|entered| entered.before != entered.after)
        .collect()
}

fn first_grant(trace: &Trace, client: &str) -> Option<LessonTime> {
    let granted = |what: &What| match what {
        What::EventEnd { event, outcome: Outcome::Granted, .. } => {
            trace.header.events.get(*event).is_some_and(|event| client_of(&event.subject) == client)
        }
        _ => false,
    };
    trace.records.iter().find(|record| granted(&record.what)).map(|record| record.t)
}

fn is_same(a: &Finding, b: &Finding) -> bool {
    (a.kind, &a.who) == (b.kind, &b.who) && a.fields.get("by") == b.fields.get("by")
}
