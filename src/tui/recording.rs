//! One run as the player keeps it: the trace, what follows from it, and indices that make a frame cheap.

use std::collections::BTreeMap;

use super::proof::{Proof, proofs};
use crate::lesson::Plan;
use crate::trace::{
    Cause, EventKind, Finding, Group, KeyOp, LessonTime, LinkState, Reply, Timeline, Trace, What, findings,
    timeline::happened,
};

/// A run that can be played.
#[derive(Debug)]
pub struct Recording {
    /// What happened.
    pub trace: Trace,
    /// What follows from it.
    pub findings: Vec<Finding>,
    /// Lanes, stops, markers.
    pub timeline: Timeline,
    /// The commands, by number.
    pub commands: BTreeMap<u32, Command>,
    /// The lines of the command log, by record.
    pub log: Vec<LogLine>,
    /// The questions, in order.
    pub asks: Vec<AskStop>,
    /// Which answers are right, by event.
    pub proofs: BTreeMap<usize, Proof>,
    /// Where findings begin and end: record, and index into `findings`, by record.
    pub turns: Vec<(usize, usize)>,
    /// Per stop: something is said or goes wrong there, so that playing lingers.
    pub telling: Vec<bool>,
}

/// Where in the records the life of one command is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Sent.
    pub send: usize,
    /// Executed.
    pub exec: Option<usize>,
    /// Its reply was read.
    pub read: Option<usize>,
    /// It was lost, refused, or its client gave up.
    pub failed: Option<usize>,
}

/// A line of the command log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The record with which it appears.
    pub record: usize,
    /// What it shows.
    pub kind: LogKind,
}

/// What a line of the log shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// A command, with its reply when that is known.
    Command(u32),
    /// A record that is not a command: an expiry, a crash, a promotion.
    Record,
    /// A finding, by index.
    Finding(usize),
}

/// A question and where the player stops for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskStop {
    /// Index into the plan's events.
    pub event: usize,
    /// The playhead at which it is asked.
    pub pos: usize,
    /// When that is.
    pub t: LessonTime,
}

impl Recording {
    /// Prepares a run of `plan` for playing.
    #[must_use]
    pub fn new(plan: &Plan, trace: Trace) -> Self {
        let findings = findings(&trace);
        let proofs = proofs(plan, &trace, &findings);
        let timeline = Timeline::new(&trace, &findings);
        let telling = telling(&trace, &timeline, &findings);
        Self {
            commands: commands(&trace),
            log: log(&trace, &findings),
            asks: asks(&trace, &timeline),
            turns: turns(&findings),
            proofs,
            telling,
            timeline,
            findings,
            trace,
        }
    }

    /// Takes away what the author says about the steps from the one of `record` on, and about the `changed` events: it
    /// was said of another run. Returns the events that have lost their words.
    pub fn untell(&mut self, record: usize, changed: impl Fn(usize) -> bool) -> Vec<usize> {
        let first = self.timeline.stops[self.timeline.stop_of(record)].start;
        let mut untold = Vec::new();
        for (i, record) in self.trace.records.iter().enumerate() {
            if let What::EventStart { event } = record.what
                && (i >= first || changed(event))
                && let Some(info) = self.trace.header.events.get_mut(event)
                && info.kind != EventKind::Ask
                && info.say.take().is_some()
            {
                untold.push(event);
            }
        }
        self.telling = telling(&self.trace, &self.timeline, &self.findings);
        untold
    }

    /// How many records have happened when the instant `t` is over.
    #[must_use]
    pub fn happened(&self, t: LessonTime) -> usize {
        happened(&self.trace.records, t)
    }

    /// Whether record `record` has a line of its own in the command log.
    #[must_use]
    pub fn is_logged(&self, record: usize) -> bool {
        let first = self.log.partition_point(|line| line.record < record);
        let mut here = self.log[first..].iter().take_while(|line| line.record == record);
        here.any(|line| !matches!(line.kind, LogKind::Finding(_)))
    }

    /// The reply of a command, as far as the first `pos` records tell.
    #[must_use]
    pub fn reply(&self, cmd: u32, pos: usize) -> Option<&Reply> {
        let exec = self.commands.get(&cmd)?.exec.filter(|record| *record < pos)?;
        match &self.trace.records.get(exec)?.what {
            What::Exec { reply, .. } => Some(reply),
            _ => None,
        }
    }
}

fn turns(findings: &[Finding]) -> Vec<(usize, usize)> {
    let each = findings.iter().enumerate();
    let mut turns: Vec<(usize, usize)> = each
        .flat_map(|(i, f)| [Some(f.record), f.end_record].into_iter().flatten().map(move |record| (record, i)))
        .collect();
    turns.sort_unstable();
    turns.dedup();
    turns
}

fn commands(trace: &Trace) -> BTreeMap<u32, Command> {
    let mut commands: BTreeMap<u32, Command> = BTreeMap::new();
    for (i, record) in trace.records.iter().enumerate() {
        match &record.what {
            What::Send { cmd, .. } => commands.entry(*cmd).or_default().send = i,
            What::Exec { cmd, .. } => commands.entry(*cmd).or_default().exec = Some(i),
            What::Read { cmd } => commands.entry(*cmd).or_default().read = Some(i),
            What::Dropped { cmd, .. } | What::Refused { cmd } | What::Timeout { cmd } => {
                commands.entry(*cmd).or_default().failed.get_or_insert(i);
            }
            _ => {}
        }
    }
    commands
}

fn log(trace: &Trace, findings: &[Finding]) -> Vec<LogLine> {
    let mut links: BTreeMap<(&str, &str), LinkState> = BTreeMap::new();
    let mut shown = Vec::new();
    for (record, what) in trace.records.iter().map(|record| &record.what).enumerate() {
        let kind = match what {
            What::Send { cmd, .. } => LogKind::Command(*cmd),
            What::Key { op: KeyOp::Expired, cause: Cause::Expiry, .. }
            | What::ToldLost { .. }
            | What::ClientCrashed { .. }
            | What::ClientPaused { .. }
            | What::ClientResumed { .. }
            | What::NodeCrashed { .. }
            | What::NodeRestarted { .. }
            | What::NodePromoted { .. }
            | What::SentinelSays { .. }
            | What::NodeDemoted { .. }
            | What::News { .. }
            | What::EventNotRun { .. } => LogKind::Record,
            What::Key { op: KeyOp::Removed, cause, .. }
                if !matches!(cause, Cause::Command { .. } | Cause::Replication) =>
            {
                LogKind::Record
            }
            What::Link { a, b, state, .. } => {
                // A line for what is done to a link, not for every byte that waits in it.
                if links.insert((a, b), *state).unwrap_or(LinkState::Open) == *state {
                    continue;
                }
                LogKind::Record
            }
            _ => continue,
        };
        shown.push(LogLine { record, kind });
    }
    let violations = findings.iter().enumerate().filter(|(_, finding)| finding.kind.group() != Group::Note);
    shown.extend(violations.map(|(i, finding)| LogLine { record: finding.record, kind: LogKind::Finding(i) }));
    shown.sort_by_key(|line| line.record);
    shown
}

fn asks(trace: &Trace, timeline: &Timeline) -> Vec<AskStop> {
    let asks = trace.records.iter().enumerate().filter_map(|(i, record)| match record.what {
        What::EventStart { event } if trace.header.events.get(event)?.kind == EventKind::Ask => {
            let stop = timeline.stops[timeline.stop_of(i)];
            Some(AskStop { event, pos: stop.end, t: stop.t })
        }
        _ => None,
    });
    asks.collect()
}

fn telling(trace: &Trace, timeline: &Timeline, findings: &[Finding]) -> Vec<bool> {
    let mut telling = vec![false; timeline.stops.len()];
    for (i, record) in trace.records.iter().enumerate() {
        if let What::EventStart { event } = record.what
            && trace.header.events.get(event).is_some_and(|event| event.say.is_some())
        {
            telling[timeline.stop_of(i)] = true;
        }
    }
    for finding in findings.iter().filter(|finding| finding.kind.group() != Group::Note) {
        telling[timeline.stop_of(finding.record)] = true;
    }
    telling
}
