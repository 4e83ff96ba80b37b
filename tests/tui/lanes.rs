//! The timeline from close by: zoom, squeezed idle time, and the lanes of watchdogs, servers and links.

use std::sync::Arc;

use insta::assert_snapshot;
use lockscope::trace::{
    ClientInfo, Header, LaneKind, Lang, LessonTime, LinkState, LockInfo, NodeInfo, Outcome, Record, Role, Sign,
    Timeline, Trace, What,
};
use lockscope::tui::app::{App, Run, RunKey};
use lockscope::tui::{Recording, Theme};

use super::wrong_delete::{PLAIN, entries, opened, plan};
use super::{press, screen};

fn record(t: u64, what: What) -> Record {
    Record { t: LessonTime(t), real_us: None, what }
}

/// A watchdog that renews twice and then learns of a failover; a link that holds back what is written.
fn failover() -> Trace {
    let node = |name: &str, role| NodeInfo { name: name.to_owned(), role };
    let header = Header {
        nodes: vec![node("m", Role::Master), node("r1", Role::Replica)],
        clients: ["A", "B"].map(|name| ClientInfo { name: name.to_owned() }).to_vec(),
        locks: vec![LockInfo {
            name: "lock".to_owned(),
            key: "lock:order".to_owned(),
            ttl: Some(LessonTime(9_000)),
            ..LockInfo::default()
        }],
        ..Header::default()
    };
    let tick = |outcome| What::Tick { client: "A".to_owned(), lock: "lock".to_owned(), outcome };
    let link = |state, held| What::Link { a: "m".to_owned(), b: "r1".to_owned(), state, held };
    let works =
        |on| What::Works { client: "A".to_owned(), task: "main".to_owned(), on, locks: vec!["lock".to_owned()] };
    let records = vec![
        record(0, works(true)),
        record(3_000, tick(Outcome::Renewed)),
        record(4_000, link(LinkState::Held, 0)),
        record(6_000, tick(Outcome::Renewed)),
        record(6_000, link(LinkState::Held, 137)),
        record(8_000, What::NodeCrashed { node: "m".to_owned() }),
        record(8_500, What::NodePromoted { node: "r1".to_owned(), stays: Vec::new(), by: None }),
        record(9_000, tick(Outcome::Lost)),
        record(9_000, works(false)),
        record(12_000, What::End),
    ];
    Trace { header, records }
}

/// The player on that run.
fn played(theme: Theme, lang: Lang) -> App {
    let mut app = App::new(entries(), Some(0), theme, lang);
    app.take_requests();
    app.ran(RunKey::default(), Run::Ready(Arc::new(Recording::new(&plan(0), failover()))));
    app
}

#[test]
fn a_watchdog_has_a_lane_of_its_ticks() {
    let timeline = Timeline::new(&failover(), &[]);
    let lane = timeline.lanes.iter().find(|lane| lane.kind == LaneKind::Watchdog { client: 0 }).expect("A has one");
    let ticks: Vec<_> = lane.marks.iter().map(|mark| (mark.t.ms(), mark.sign.clone())).collect();
    let tick = |t, outcome| (t, Sign::Tick(outcome));
    assert_eq!(ticks, [tick(3_000, Outcome::Renewed), tick(6_000, Outcome::Renewed), tick(9_000, Outcome::Lost)]);
    assert!(!timeline.lanes.iter().any(|lane| lane.kind == LaneKind::Watchdog { client: 1 }), "B has none");
}

#[test]
fn servers_have_lanes_only_where_something_happens_to_them() {
    use lockscope::trace::Fill;
    let timeline = Timeline::new(&failover(), &[]);
    let of = |name: &str| {
        let kind = LaneKind::Node { node: name.to_owned() };
        let lane = timeline.lanes.iter().find(|lane| lane.kind == kind).expect("it has a lane");
        lane.stretches.iter().map(|s| (s.from.ms(), s.to.ms(), s.fill.clone())).collect::<Vec<_>>()
    };
    assert_eq!(of("m"), [(0, 8_000, Fill::Role(Role::Master)), (8_000, 12_000, Fill::Down)]);
    assert_eq!(of("r1"), [(0, 8_500, Fill::Role(Role::Replica)), (8_500, 12_000, Fill::Role(Role::Master))]);
    let quiet = opened(PLAIN, Lang::En).recording().expect("it has been run");
    assert!(!quiet.timeline.lanes.iter().any(|lane| matches!(lane.kind, LaneKind::Node { .. })));
}

#[test]
fn lanes_of_servers_links_and_watchdogs_are_drawn() {
    let mut app = played(PLAIN, Lang::En);
    press(&mut app, "end");
    assert_snapshot!("failover", screen(&app, 120, 36));
    assert_snapshot!("failover-80", screen(&app, 80, 24));
    press(&mut app, "l");
    assert_snapshot!("failover-zh", screen(&app, 120, 36));
    let mut app = played(Theme { ascii: true, colour: false }, Lang::En);
    press(&mut app, "end");
    let shown = screen(&app, 120, 36).replace("中文", "");
    assert!(shown.is_ascii(), "{shown}");
}

#[test]
fn the_legend_explains_what_is_on_the_screen_and_nothing_else() {
    let legend = |app: &App| {
        let shown = screen(app, 200, 50);
        let mut bottoms = shown.lines().filter(|line| line.starts_with('└'));
        bottoms.next().expect("the timeline has a bottom").to_owned()
    };
    let mut app = opened(PLAIN, Lang::En);
    assert!(!legend(&app).contains("promoted"), "{}", legend(&app));
    press(&mut app, "end 2 end");
    assert!(legend(&app).contains("━ works") && legend(&app).contains("◷ expired"), "{}", legend(&app));
    let app = played(PLAIN, Lang::En);
    assert!(legend(&app).contains("▲ promoted") && legend(&app).contains("╳ down"), "{}", legend(&app));
    assert!(!legend(&app).contains("expired"), "{}", legend(&app));
}

#[test]
fn zoom_keeps_the_playhead_in_sight() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end 2 right z z");
    assert_snapshot!("zoomed", screen(&app, 120, 36));
    let wide = |app: &App| screen(app, 120, 36).lines().nth(2).expect("an axis").to_owned();
    for _ in 0..40 {
        press(&mut app, "z");
        assert!(wide(&app).contains('┃'));
    }
    let zoom = |app: &App| app.player.as_ref().map_or(0, |player| player.zoom);
    assert!(zoom(&app) < 12, "there is a narrowest window");
    // One tenth is a tenth of what is seen.
    let t = |app: &App| app.player.as_ref().map_or(0, |player| player.playhead.t().ms());
    press(&mut app, "shift-left");
    assert!((11_990..12_000).contains(&t(&app)), "{}", t(&app));
    for _ in 0..40 {
        press(&mut app, "Z");
    }
    assert_eq!(zoom(&app), 0);
}

/// `{` and `}` move what is seen, not the moment that is told; whoever moves on looks there again.
#[test]
fn the_timeline_is_looked_along_while_the_playhead_stays() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end 2 end z z");
    let axis = |app: &App| screen(app, 120, 36).lines().nth(2).expect("an axis").to_owned();
    let t = |app: &App| app.player.as_ref().map(|player| player.playhead.t());
    let (here, there) = (t(&app), axis(&app));
    assert!(there.contains('┃'));
    let mut seen = vec![there];
    for _ in 0..6 {
        press(&mut app, "{");
        assert_eq!(t(&app), here);
        seen.push(axis(&app));
    }
    // Half a window at a time: six times from the last of four quarters to the first, and each press is seen.
    assert!(seen.windows(2).all(|pair| pair[0] != pair[1]), "{seen:#?}");
    assert!(seen[6].contains(" 0s"), "{}", seen[6]);
    press(&mut app, "{");
    assert_eq!(axis(&app), seen[6], "there is nothing before the beginning");
    for before in seen.iter().rev().skip(1) {
        press(&mut app, "}");
        assert_eq!(axis(&app), *before);
    }
    press(&mut app, "{ { left");
    assert!(axis(&app).contains('┃'), "who goes on looks there");
}

#[test]
fn squeezed_time_is_marked_as_such() {
    let mut app = opened(PLAIN, Lang::En);
    press(&mut app, "end 2 right s");
    assert_snapshot!("squeezed", screen(&app, 120, 36));
    press(&mut app, "s");
    assert!(!screen(&app, 120, 36).contains('≈'));
}

/// At any zoom and size: no two labels of the axis run into each other.
#[test]
fn labels_of_the_axis_never_collide() {
    for squeeze in ["", "s"] {
        let mut app = opened(PLAIN, Lang::En);
        press(&mut app, &format!("end s end 7 {squeeze}"));
        for _ in 0..10 {
            for width in (60..=200).step_by(7) {
                let shown = screen(&app, width, 36);
                let axis = shown.lines().nth(2).expect("an axis").trim_matches(['│', ' ']);
                for label in
                    axis.split(|c: char| c.is_whitespace() || "≈┃".contains(c)).filter(|label| !label.is_empty())
                {
                    let number = label.trim_end_matches("ms").trim_end_matches('s');
                    assert!(number.parse::<f64>().is_ok(), "{label:?} at {width}: {axis}");
                }
            }
            press(&mut app, "z");
        }
    }
}
