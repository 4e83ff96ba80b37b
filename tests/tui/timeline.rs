//! What is looked up in a trace is what a fold from its beginning gives.

use std::collections::BTreeMap;

use lockscope::trace::{
    Fill, Finding, FindingKind, LaneKind, LessonTime, MarkerKind, Sign, Standing, State, Timeline, Trace, Verdict,
    findings, verdict,
};

use super::wrong_delete::{plan, trace};

fn prepared(variant: usize) -> (Trace, Timeline) {
    let trace = trace(&plan(variant));
    let timeline = Timeline::new(&trace, &findings(&trace));
    (trace, timeline)
}

#[test]
fn the_state_at_any_record_is_the_fold_up_to_it() {
    let (mut trace, _) = prepared(0);
    // Long enough for several copies to be kept; what repeats is nonsense as a story, and still a trace.
    let once = trace.records.clone();
    for _ in 0..6 {
        trace.records.extend(once.iter().cloned());
    }
    let timeline = Timeline::new(&trace, &[]);
    for pos in 0..=trace.records.len() + 1 {
        assert_eq!(timeline.state_at(&trace, pos), State::after(&trace.header, &trace.records, pos), "{pos}");
    }
}

#[test]
fn stops_cover_all_records_once() {
    for variant in [0, 1] {
        let (trace, timeline) = prepared(variant);
        assert_eq!((timeline.stops[0].start, timeline.stops[0].end), (0, 0));
        for pair in timeline.stops.windows(2) {
            assert_eq!(pair[0].end, pair[1].start);
        }
        assert_eq!(timeline.stops.last().map(|stop| stop.end), Some(trace.records.len()));
        for stop in &timeline.stops[1..] {
            assert!(trace.records[stop.start..stop.end].iter().all(|record| record.t == stop.t));
        }
    }
}

#[test]
fn the_lanes_of_the_naive_delete() {
    let (_, timeline) = prepared(0);
    let stretches = |wanted: LaneKind| -> Vec<(u64, u64, Fill)> {
        let lane = timeline.lanes.iter().find(|lane| lane.kind == wanted).expect("the lane");
        lane.stretches.iter().map(|s| (s.from.ms(), s.to.ms(), s.fill.clone())).collect()
    };
    let owned = |owner| Fill::Owned { owner: Some(owner), forever: false };
    let key = LaneKind::Key { node: "redis".to_owned(), lock: "lock".to_owned() };
    assert_eq!(stretches(key.clone()), [(0, 10_000, owned(0)), (11_000, 12_000, owned(1)), (12_500, 16_000, owned(2))]);
    let signs: Vec<_> = timeline
        .lanes
        .iter()
        .find(|lane| lane.kind == key)
        .expect("the lane")
        .marks
        .iter()
        .map(|m| m.sign.clone())
        .collect();
    assert_eq!(signs, [Sign::Expired, Sign::Deleted("A".to_owned())]);
    let believes = |client| LaneKind::Believes { client, lock: "lock".to_owned() };
    assert_eq!(stretches(believes(0)), [(0, 12_000, Fill::Believes(0))]);
    assert_eq!(stretches(believes(1)), [(11_000, 16_000, Fill::Believes(1))]);
    assert_eq!(stretches(LaneKind::Works { client: 2 }), [(12_500, 14_500, Fill::Works(2))]);
    assert_eq!(
        stretches(LaneKind::Overlap),
        [(11_000, 12_000, Fill::Inside(vec![0, 1])), (12_500, 14_500, Fill::Inside(vec![1, 2]))]
    );
}

#[test]
fn a_column_shows_what_is_in_it_and_nothing_that_must_not_be_known() {
    let (trace, timeline) = prepared(0);
    let key = &timeline.lanes[0];
    let all = trace.records.len();
    let in_column =
        |from, until, limit| key.stretch_in(LessonTime(from), LessonTime(until), limit).map(|s| s.from.ms());
    assert_eq!(in_column(9_000, 9_100, all), Some(0));
    assert_eq!(in_column(10_000, 11_000, all), None, "half-open: the key is gone at 10 s");
    assert_eq!(in_column(10_900, 11_100, all), Some(11_000));
    assert_eq!(in_column(12_400, 12_600, all), Some(12_500));
    let asked = timeline.markers.iter().find(|m| m.kind == MarkerKind::Ask).expect("the question").record;
    assert_eq!(in_column(12_400, 12_600, asked), Some(11_000), "as far as is known, B still holds");
    assert!(key.mark_in(LessonTime(12_000), LessonTime(12_100), asked).is_none());
    assert!(key.mark_in(LessonTime(12_000), LessonTime(12_100), all).is_some());
}

#[test]
fn the_last_standing_is_the_verdict() {
    for variant in [0, 1] {
        let (trace, timeline) = prepared(variant);
        assert_eq!(verdict(&trace, &findings(&trace)), Verdict::Broken);
        assert_eq!(timeline.standing(trace.records.len()), Standing::Broken(LessonTime(11_000)));
        assert_eq!(timeline.standing(0), Standing::Safe);
        let first = timeline.markers.iter().find(|m| m.kind.is_violation()).expect("a violation").record;
        assert_eq!(timeline.standing(first), Standing::Safe);
        assert_eq!(timeline.standing(first + 1), Standing::Broken(LessonTime(11_000)));
    }
}

/// Somebody was stuck and is not any more: that is no state that goes on.
#[test]
fn who_was_stuck_is_not_stuck_for_ever() {
    let (trace, _) = prepared(0);
    let stuck = |record, end_record, from, to| Finding {
        kind: FindingKind::Deadlock,
        who: vec!["A".to_owned()],
        fields: BTreeMap::default(),
        lock: None,
        from: LessonTime(from),
        to: Some(LessonTime(to)),
        record,
        end_record: Some(end_record),
    };
    let timeline = Timeline::new(&trace, &[stuck(3, 9, 500, 10_000), stuck(5, 7, 2000, 4000)]);
    let standings = [3, 4, 6, 8, 9, 10].map(|known| timeline.standing(known));
    let (since, was) = (Standing::Stuck(LessonTime(500)), Standing::WasStuck(LessonTime(500), LessonTime(10_000)));
    assert_eq!(standings, [Standing::Safe, since, since, since, since, was]);
}

#[test]
fn an_empty_trace_can_be_looked_at() {
    let trace = Trace::default();
    let timeline = Timeline::new(&trace, &[]);
    assert_eq!((timeline.stop_at(0), timeline.stop_of(0)), (0, 0));
    assert_eq!(timeline.stops.len(), 1);
}
