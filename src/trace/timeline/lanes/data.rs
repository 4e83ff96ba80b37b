//! The lanes of the protected data: what is stored, who wrote it, and what was refused or did harm.

use super::{Fill, Lane, LaneKind, Mark, Sign, Stretch};
use crate::trace::data::{ResourceState, Shape};
use crate::trace::state::State;
use crate::trace::{Finding, FindingKind, LessonTime, ResourceInfo, Trace, What};

/// A lane for each resource. Of a log, it shows how many effects there are.
pub(super) fn lanes(trace: &Trace, findings: &[Finding], end: LessonTime) -> Vec<Lane> {
    let mut state = State::new(&trace.header);
    let mut lanes: Vec<Lane> = trace.header.resources.iter().map(begin).collect();
    for (record, r) in trace.records.iter().enumerate() {
        let What::Sql(sql) = &r.what else { continue };
        state.apply(&trace.header, r);
        let Some(name) = &sql.resource else { continue };
        let wanted = |lane: &&mut Lane| matches!(&lane.kind, LaneKind::Resource { name: n } if n == name);
        let Some(lane) = lanes.iter_mut().find(wanted) else { continue };
        let mark = |sign| Mark { t: r.t, record, sign };
        if sql.is_rejected() {
            lane.marks.push(mark(Sign::Rejected(sql.client.clone())));
        }
        if !sql.is_accepted() {
            continue;
        }
        let harm = findings.iter().find(|finding| finding.record == record && is_harm(finding.kind));
        lane.marks.extend(harm.map(|finding| mark(Sign::Harmed(finding.kind))));
        let writer = trace.header.clients.iter().position(|client| client.name == sql.client);
        let text = match state.resources.get(name) {
            Some(ResourceState::Row { value, .. }) => value.to_string(),
            Some(ResourceState::Log(effects)) => effects.len().to_string(),
            None => continue,
        };
        lane.show(r.t, record, Some(Fill::Data { text, writer }), true);
    }
    for lane in &mut lanes {
        lane.close_last(end, usize::MAX);
    }
    lanes
}

/// What there is in the beginning.
fn begin(info: &ResourceInfo) -> Lane {
    let text = match &info.shape {
        Shape::Row { value, .. } => value.to_string(),
        Shape::Log { .. } => "0".to_owned(),
    };
    let zero = LessonTime::ZERO;
    let fill = Fill::Data { text, writer: None };
    let stretches = vec![Stretch { from: zero, to: zero, record: 0, end_record: usize::MAX, fill }];
    Lane { stretches, ..Lane::new(LaneKind::Resource { name: info.name.clone() }) }
}

const fn is_harm(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::StaleWrite | FindingKind::LostUpdate | FindingKind::Oversold | FindingKind::Duplicate)
}
