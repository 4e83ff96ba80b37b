//! One walk over the records fills all lanes: the state is folded along, and after each record the lanes that it can
//! have touched are told what they show now.

use super::{Fill, Index, Lane, LaneKind, Mark, Sign, Stretch};
use crate::trace::state::{State, client_of};
use crate::trace::{
    Cause, Finding, FindingKind, Group, Header, KeyOp, LessonTime, LinkState, Outcome, Record, Trace, What,
};

pub(crate) fn lanes(trace: &Trace, findings: &[Finding], end: LessonTime) -> Vec<Lane> {
    let mut build = Build::new(trace);
    for (i, record) in trace.records.iter().enumerate() {
        build.take(&trace.header, i, record);
    }
    for lane in &mut build.lanes {
        lane.close_last(end, usize::MAX);
        lane.marks.sort_by_key(|mark| mark.record);
    }
    let mut lanes = build.lanes;
    lanes.extend(super::data::lanes(trace, findings, end));
    lanes.push(inside_lane(&trace.header, findings, end));
    let stuck = stuck_lane(findings, end);
    if !stuck.stretches.is_empty() {
        lanes.push(stuck);
    }
    lanes.iter_mut().for_each(Lane::complete);
    lanes
}

impl Lane {
    pub(super) fn new(kind: LaneKind) -> Self {
        Self { kind, stretches: Vec::new(), marks: Vec::new(), index: Index::default() }
    }

    /// From `record` on the lane shows `fill`; `anew`: even if it showed the same before, this is another one.
    pub(super) fn show(&mut self, t: LessonTime, record: usize, fill: Option<Fill>, anew: bool) {
        let open = self.stretches.last().filter(|stretch| stretch.end_record == usize::MAX);
        if open.map(|stretch| &stretch.fill) == fill.as_ref() && !(anew && open.is_some()) {
            return;
        }
        self.close_last(t, record);
        if let Some(fill) = fill {
            self.stretches.push(Stretch { from: t, to: t, record, end_record: usize::MAX, fill });
        }
    }

    pub(super) fn close_last(&mut self, t: LessonTime, record: usize) {
        if let Some(open) = self.stretches.last_mut().filter(|stretch| stretch.end_record == usize::MAX) {
            open.to = t;
            open.end_record = record;
        }
    }
}

struct Build {
    state: State,
    lanes: Vec<Lane>,
}

impl Build {
    fn new(trace: &Trace) -> Self {
        let header = &trace.header;
        let mut kinds = Vec::new();
        for lock in &header.locks {
            kinds.extend(
                header.nodes.iter().map(|node| LaneKind::Key { node: node.name.clone(), lock: lock.name.clone() }),
            );
        }
        if trace.records.iter().any(|record| happens_to_node(&record.what)) {
            kinds.extend(header.nodes.iter().map(|node| LaneKind::Node { node: node.name.clone() }));
        }
        for record in &trace.records {
            if let What::Link { a, b, .. } = &record.what {
                let kind = LaneKind::Link { a: a.clone(), b: b.clone() };
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
        }
        for (client, info) in header.clients.iter().enumerate() {
            for lock in &header.locks {
                if header.locks.len() == 1 || touches(header, &info.name, &lock.name) {
                    kinds.push(LaneKind::Believes { client, lock: lock.name.clone() });
                }
            }
            kinds.push(LaneKind::Works { client });
            let ticks = |record: &Record| matches!(&record.what, What::Tick { client, .. } if *client == info.name);
            if trace.records.iter().any(ticks) {
                kinds.push(LaneKind::Watchdog { client });
            }
        }
        let mut build = Self { state: State::new(header), lanes: kinds.into_iter().map(Lane::new).collect() };
        for node in &header.nodes {
            build.show_node(0, LessonTime::ZERO, &node.name);
        }
        build
    }

    fn take(&mut self, header: &Header, i: usize, record: &Record) {
        let owner_before = self.owner_of_touched_key(record);
        self.state.apply(header, record);
        let mark = |sign| Mark { t: record.t, record: i, sign };
        match &record.what {
            What::Key { node, key, op, cause, .. } => {
                let anew = matches!(op, KeyOp::Created | KeyOp::Replaced);
                let sign = key_sign(*op, cause, owner_before.as_deref());
                self.show_keys(header, i, record.t, node, Some((key, anew)));
                if let Some(sign) = sign {
                    for lane in self.keys_of(header, node, Some(key)) {
                        lane.marks.push(mark(sign.clone()));
                    }
                }
            }
            What::Tick { client, outcome, .. } => {
                let index = client_index(header, client);
                let wanted =
                    |lane: &&mut Lane| matches!(lane.kind, LaneKind::Watchdog { client } if Some(client) == index);
                if let Some(lane) = self.lanes.iter_mut().find(wanted) {
                    lane.marks.push(mark(Sign::Tick(*outcome)));
                }
            }
            What::NodeCrashed { node } => {
                self.show_node(i, record.t, node);
                self.show_keys(header, i, record.t, node, None);
                self.show_links(i, record.t);
                self.mark_node(header, node, &mark(Sign::Crashed));
            }
            What::NodeRestarted { node, .. } => {
                self.show_node(i, record.t, node);
                self.show_keys(header, i, record.t, node, None);
                self.show_links(i, record.t);
                self.mark_node(header, node, &mark(Sign::Restarted));
            }
            What::NodePromoted { node, .. } => {
                self.show_node(i, record.t, node);
                self.show_links(i, record.t);
                self.mark_node(header, node, &mark(Sign::Promoted));
            }
            What::NodeDemoted { node, .. } => {
                self.show_node(i, record.t, node);
                self.show_links(i, record.t);
                self.mark_node(header, node, &mark(Sign::Demoted));
            }
            What::Link { a, b, .. } => self.show_link(i, record.t, a, b),
            What::EventStart { event } | What::EventEnd { event, .. } | What::TryFailed { event, .. } => {
                let Some(info) = header.events.get(*event) else { return };
                let client = client_of(&info.subject).to_owned();
                let refused = matches!(
                    &record.what,
                    What::EventEnd { outcome: Outcome::Refused, .. }
                        | What::TryFailed { outcome: Outcome::Refused, .. }
                );
                if refused && let Some(lock) = &info.lock {
                    self.mark_belief(header, &client, lock, mark(Sign::Refused));
                }
                self.show_client(header, i, record.t, &client);
            }
            What::ToldLost { client, lock, .. } => self.mark_belief(header, client, lock, mark(Sign::ToldLost)),
            What::ClientCrashed { client, task } => {
                // A watchdog that dies alone leaves the worker alone.
                let watchdog = task.as_deref() == Some("watchdog");
                let index = client_index(header, client);
                for lane in &mut self.lanes {
                    let is_it = match lane.kind {
                        LaneKind::Watchdog { client } => watchdog && Some(client) == index,
                        LaneKind::Works { client } => !watchdog && Some(client) == index,
                        _ => false,
                    };
                    if is_it {
                        lane.marks.push(mark(Sign::Crashed));
                    }
                }
                self.show_client(header, i, record.t, client);
            }
            What::Belief { client, .. }
            | What::Works { client, .. }
            | What::ClientPaused { client, .. }
            | What::ClientResumed { client, .. } => self.show_client(header, i, record.t, client),
            _ => {}
        }
    }

    /// Who owned the key that `record` is about, before it happened.
    fn owner_of_touched_key(&self, record: &Record) -> Option<String> {
        let What::Key { node, key, .. } = &record.what else { return None };
        self.state.nodes.get(node)?.keys.get(key)?.owner.clone()
    }

    fn keys_of<'a>(
        &'a mut self,
        header: &'a Header,
        node: &'a str,
        key: Option<&'a str>,
    ) -> impl Iterator<Item = &'a mut Lane> {
        self.lanes.iter_mut().filter(move |lane| match &lane.kind {
            LaneKind::Key { node: name, lock } => {
                name == node && key.is_none_or(|key| key_of(header, lock) == Some(key))
            }
            _ => false,
        })
    }

    fn lanes_of<'a>(&'a mut self, header: &'a Header, client: &'a str) -> impl Iterator<Item = &'a mut Lane> {
        let index = client_index(header, client);
        self.lanes.iter_mut().filter(move |lane| match lane.kind {
            LaneKind::Believes { client, .. } | LaneKind::Works { client } => Some(client) == index,
            _ => false,
        })
    }

    fn mark_node(&mut self, header: &Header, node: &str, mark: &Mark) {
        for lane in self.keys_of(header, node, None) {
            lane.marks.push(mark.clone());
        }
    }

    fn mark_belief(&mut self, header: &Header, client: &str, lock: &str, mark: Mark) {
        let mut lanes = self.lanes_of(header, client);
        let lane = lanes.find(|lane| matches!(&lane.kind, LaneKind::Believes { lock: name, .. } if name == lock));
        if let Some(lane) = lane {
            lane.marks.push(mark);
        }
    }

    /// Shows what is on `node` now: every lock's key, or only `touched`, and whether that is a new acquisition.
    fn show_keys(&mut self, header: &Header, i: usize, t: LessonTime, node: &str, touched: Option<(&str, bool)>) {
        let Some(state) = self.state.nodes.get(node) else { return };
        let fill_of = |lock: &str| {
            if !state.up {
                return Some(Fill::Down);
            }
            let key = state.keys.get(key_of(header, lock)?)?;
            let owner = key.owner.as_deref().and_then(|owner| client_index(header, owner));
            Some(Fill::Owned { owner, forever: key.deadline.is_none() })
        };
        for lane in &mut self.lanes {
            let LaneKind::Key { node: name, lock } = &lane.kind else { continue };
            if name != node || touched.is_some_and(|(key, _)| key_of(header, lock) != Some(key)) {
                continue;
            }
            let fill = fill_of(lock);
            lane.show(t, i, fill, touched.is_some_and(|(_, anew)| anew));
        }
    }

    fn show_link(&mut self, i: usize, t: LessonTime, one: &str, other: &str) {
        let view = self.state.links.get(&(one.to_owned(), other.to_owned()));
        // A link of a server that is down carries nothing, and holds nothing back.
        let up = |name: &str| self.state.nodes.get(name).is_none_or(|node| node.up);
        let fill = view.filter(|_| up(one) && up(other)).map(|view| match view.state {
            LinkState::Cut => Fill::Cut,
            LinkState::Slow { .. } => Fill::Slow,
            LinkState::Held | LinkState::Open => Fill::Held { waiting: view.held, shut: view.state == LinkState::Held },
        });
        let wanted = |lane: &&mut Lane| matches!(&lane.kind, LaneKind::Link { a, b } if a == one && b == other);
        if let Some(lane) = self.lanes.iter_mut().find(wanted) {
            lane.show(t, i, fill, false);
        }
    }

    fn show_node(&mut self, i: usize, t: LessonTime, name: &str) {
        let Some(state) = self.state.nodes.get(name) else { return };
        let fill = if state.up { Fill::Role(state.role) } else { Fill::Down };
        let wanted = |lane: &&mut Lane| matches!(&lane.kind, LaneKind::Node { node } if node == name);
        if let Some(lane) = self.lanes.iter_mut().find(wanted) {
            lane.show(t, i, Some(fill), false);
        }
    }

    /// Shows all links: a node has come, gone, or follows another.
    fn show_links(&mut self, i: usize, t: LessonTime) {
        let ends = |lane: &Lane| match &lane.kind {
            LaneKind::Link { a, b } => Some((a.clone(), b.clone())),
            _ => None,
        };
        for (one, other) in self.lanes.iter().filter_map(ends).collect::<Vec<_>>() {
            self.show_link(i, t, &one, &other);
        }
    }

    fn show_client(&mut self, header: &Header, i: usize, t: LessonTime, client: &str) {
        let Some(state) = self.state.clients.get(client).cloned() else { return };
        for lane in self.lanes_of(header, client) {
            let fill = match &lane.kind {
                LaneKind::Believes { client, lock } => {
                    let waits = state.acquiring.values().any(|acquiring| acquiring.waits && acquiring.lock == *lock);
                    if state.believes.contains_key(lock) {
                        Some(Fill::Believes(*client))
                    } else {
                        waits.then_some(Fill::Waits(*client))
                    }
                }
                LaneKind::Works { .. } if state.crashed => None,
                LaneKind::Works { .. } if state.paused.is_some() => Some(Fill::Paused),
                LaneKind::Works { client } => {
                    (!state.works.is_empty() || state.busy > 0).then_some(Fill::Works(*client))
                }
                _ => continue,
            };
            lane.show(t, i, fill, false);
        }
    }
}

const fn happens_to_node(what: &What) -> bool {
    matches!(
        what,
        What::NodeCrashed { .. } | What::NodeRestarted { .. } | What::NodePromoted { .. } | What::NodeDemoted { .. }
    )
}

fn key_sign(op: KeyOp, cause: &Cause, owner: Option<&str>) -> Option<Sign> {
    Some(match (op, cause) {
        (KeyOp::Expired, _) => Sign::Expired,
        (KeyOp::Removed, Cause::Command { client, .. }) if owner == Some(client) => Sign::Freed(client.clone()),
        (KeyOp::Removed, Cause::Command { client, .. }) => Sign::Deleted(client.clone()),
        // The replica only follows what its master's lane shows.
        (_, Cause::Replication) => return None,
        (KeyOp::Removed, cause) => Sign::Vanished(cause.clone()),
        (KeyOp::Retimed, Cause::Command { client, .. }) if owner == Some(client) => Sign::Renewed(client.clone()),
        (KeyOp::Retimed, Cause::Command { client, .. }) => Sign::RenewedByOther(client.clone()),
        _ => return None,
    })
}

fn client_index(header: &Header, name: &str) -> Option<usize> {
    header.clients.iter().position(|client| client.name == name)
}

fn key_of<'a>(header: &'a Header, lock: &str) -> Option<&'a str> {
    header.locks.iter().find(|info| info.name == lock).map(|info| info.key.as_str())
}

/// Whether any event of the lesson is about this client and this lock: a lane that can never show anything is noise.
fn touches(header: &Header, client: &str, lock: &str) -> bool {
    header.events.iter().any(|event| client_of(&event.subject) == client && event.lock.as_deref() == Some(lock))
}

/// Overlaps may themselves overlap (three clients inside): the lane shows at each instant all who are in one.
fn inside_lane(header: &Header, findings: &[Finding], end: LessonTime) -> Lane {
    let fill = |open: &[&Finding]| {
        let mut who: Vec<usize> =
            open.iter().flat_map(|finding| &finding.who).filter_map(|name| client_index(header, name)).collect();
        who.sort_unstable();
        who.dedup();
        (!who.is_empty()).then_some(Fill::Inside(who))
    };
    sweep(LaneKind::Overlap, findings, end, |finding| finding.kind == FindingKind::Overlap, fill)
}

fn stuck_lane(findings: &[Finding], end: LessonTime) -> Lane {
    let wanted = |finding: &Finding| finding.kind.group() == Group::Stuck && finding.kind.lasts();
    let fill = |open: &[&Finding]| open.first().map(|finding| Fill::Stuck(finding.kind, finding.who.clone()));
    sweep(LaneKind::Stuck, findings, end, wanted, fill)
}

/// Walks the beginnings and ends of some findings and shows what `fill` makes of those that are open.
fn sweep(
    kind: LaneKind,
    findings: &[Finding],
    end: LessonTime,
    wanted: impl Fn(&Finding) -> bool,
    fill: impl Fn(&[&Finding]) -> Option<Fill>,
) -> Lane {
    // (record, when, whether it begins, which): at one record, ends come first.
    let mut turns: Vec<(usize, LessonTime, bool, usize)> = Vec::new();
    for (i, finding) in findings.iter().enumerate().filter(|(_, finding)| wanted(finding)) {
        turns.push((finding.record, finding.from, true, i));
        if let Some(record) = finding.end_record {
            turns.push((record, finding.to.unwrap_or(end), false, i));
        }
    }
    turns.sort_unstable_by_key(|turn| (turn.1, turn.0, turn.2));
    let mut lane = Lane::new(kind);
    let mut open: Vec<&Finding> = Vec::new();
    for (record, t, begins, i) in turns {
        if begins {
            open.push(&findings[i]);
        } else {
            open.retain(|finding| !std::ptr::eq(*finding, &raw const findings[i]));
        }
        lane.show(t, record, fill(&open), false);
    }
    lane.close_last(end, usize::MAX);
    lane
}
