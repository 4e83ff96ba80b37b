//! A frame costs the same however long the run is: it looks at nothing but the records near the playhead. What is far
//! from it can be replaced by nonsense once the run has been prepared, and nobody sees it.

use std::sync::Arc;

use lockscope::trace::{EventInfo, EventKind, KeyOp, Lang, LinkState, Reply, Role, Trace, What};
use lockscope::tui::app::Run;
use lockscope::tui::{Recording, RunKey};

use super::screen;
use super::scribe::{KEY, Scribe};
use super::wrong_delete::{PLAIN, opened, plan};

/// As far as a frame may look: the records of the lines in the log, or what is folded since the last copy of the state.
const NEAR: usize = 400;

fn link(state: LinkState, held: u64) -> What {
    What::Link { a: "m".to_owned(), b: "r1".to_owned(), state, held }
}

/// A and B in turn, for a long time; a link is held from the beginning, and heard of again only half-way.
fn long() -> Trace {
    let release = EventInfo {
        id: None,
        line: 1,
        kind: EventKind::Release,
        subject: "A".to_owned(),
        lock: Some("lock".to_owned()),
        say: None,
    };
    let mut s = Scribe::new(&[("m", Role::Master), ("r1", Role::Replica)], &["A", "B"], vec![release]);
    s.at(0).push(link(LinkState::Held, 0));
    for turn in 0..1_000 {
        let (one, other) = if turn % 2 == 0 { ("A", "B") } else { ("B", "A") };
        s.at(turn * 1_000).granted(one, 0, 10_000).works(one, true);
        if turn > 0 {
            s.at(turn * 1_000 + 200).works(other, false).believes(other, false);
        }
        s.command(one, "main", 0, &["DEL", KEY], Reply::Int(1), Some((KeyOp::Removed, None)));
        if turn == 500 {
            s.at(turn * 1_000 + 500).push(link(LinkState::Held, 80));
        }
    }
    s.push(What::End);
    s.trace
}

#[test]
fn a_frame_looks_only_at_what_is_near() {
    let plan = plan(0);
    let trace = long();
    let total = trace.records.len();
    let bytes = trace.records.iter().rposition(|r| matches!(r.what, What::Link { .. })).expect("it is there");
    let draw = |recording: Recording, pos: usize| {
        let mut app = opened(PLAIN, Lang::En);
        let t = recording.trace.records[pos].t;
        app.ran(RunKey::default(), Run::Ready(Arc::new(recording)));
        let player = app.player.as_mut().expect("a lesson is open");
        player.playhead.pos = pos + 1;
        player.playhead.us = t.ms() * 1000;
        screen(&app, 200, 50)
    };
    for pos in [NEAR / 2, total / 4, bytes, total - 1] {
        let truth = draw(Recording::new(&plan, trace.clone()), pos);
        let mut recording = Recording::new(&plan, trace.clone());
        for (i, record) in recording.trace.records.iter_mut().enumerate().filter(|(i, _)| i.abs_diff(pos) > NEAR) {
            record.what = match i % 3 {
                0 => link(LinkState::Cut, i as u64),
                1 => What::EventStart { event: 0 },
                _ => What::NodeCrashed { node: "m".to_owned() },
            };
        }
        assert_eq!(draw(recording, pos), truth, "after {pos} records");
    }
}
