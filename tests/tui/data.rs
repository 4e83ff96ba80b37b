//! The protected data on the screen: its lane, its statements in the log, its line in the inspector, a statement in full.

use std::sync::Arc;

use lockscope::trace::data::{Guarded, Shape, Stored};
use lockscope::trace::{
    ClientInfo, DATABASE, EventInfo, EventKind, Fill, Header, LaneKind, Lang, LessonTime, LockInfo, NodeInfo, Outcome,
    Record, Reply, ResourceInfo, Role, Sign, Sql, SqlValue, Timeline, Trace, What, findings,
};
use lockscope::tui::app::{App, Run, RunKey};
use lockscope::tui::{Recording, Theme};

use super::wrong_delete::{PLAIN, entries, plan};
use super::{press, screen};

const UPDATE: &str = "UPDATE stock SET value = ?, version = version + 1, fence = ? WHERE fence < ?";

/// B writes with number 34, then A's write with 33 is refused.
fn run() -> Trace {
    let event = |kind, subject: &str| EventInfo {
        id: None,
        line: 1,
        kind,
        subject: subject.to_owned(),
        lock: Some("lock".to_owned()),
        say: None,
    };
    let header = Header {
        nodes: vec![NodeInfo { name: "redis".to_owned(), role: Role::Master }],
        clients: ["A", "B"].map(|name| ClientInfo { name: name.to_owned() }).to_vec(),
        locks: vec![LockInfo {
            name: "lock".to_owned(),
            key: "lock:stock".to_owned(),
            ttl: Some(LessonTime(9_000)),
            fifo: false,
            permits: 1,
        }],
        resources: vec![
            ResourceInfo { name: "stock".to_owned(), shape: Shape::Row { value: 233, min: None } },
            ResourceInfo { name: "charges".to_owned(), shape: Shape::Log { once: Vec::new() } },
        ],
        events: vec![event(EventKind::Write, "B"), event(EventKind::Write, "A"), event(EventKind::Write, "B")],
        ..Header::default()
    };
    let mut records = Vec::new();
    let mut write = |t: u64, event: usize, client: &str, fence: i64, now: Option<Stored>| {
        let cmd = u32::try_from(event).expect("three events") + 1;
        let outcome = if now.is_some() { Outcome::Accepted } else { Outcome::Rejected };
        let reply = Reply::Int(i64::from(now.is_some()));
        let log = matches!(now, Some(Stored::Line(_)));
        let (resource, text) =
            if log { ("charges", "INSERT INTO charges (key) VALUES (?)") } else { ("stock", UPDATE) };
        let sql = Sql {
            cmd,
            client: client.to_owned(),
            event: Some(event),
            resource: Some(resource.to_owned()),
            text: text.to_owned(),
            params: vec![SqlValue::Int(232), SqlValue::Int(fence), SqlValue::Int(fence)],
            affected: u64::from(now.is_some()),
            guard: Some(if log { Guarded::None } else { Guarded::Fence }),
            read: None,
            undone: false,
            now,
        };
        let send = What::Send {
            cmd,
            client: client.to_owned(),
            task: "main".to_owned(),
            node: DATABASE.to_owned(),
            argv: vec![text.replace('?', &fence.to_string())],
            event: Some(event),
        };
        let whats = [
            What::EventStart { event },
            send,
            What::Exec { cmd, reply: reply.clone() },
            What::Sql(sql),
            What::Read { cmd },
            What::EventEnd { event, outcome, why: None, reply: Some(reply) },
        ];
        records.extend(whats.map(|what| Record { t: LessonTime(t), real_us: None, what }));
    };
    write(2_000, 0, "B", 34, Some(Stored::Row { value: 232, version: 2, fence: 34 }));
    write(5_000, 1, "A", 33, None);
    write(7_000, 2, "B", 34, Some(Stored::Line("order-17".to_owned())));
    records.push(Record { t: LessonTime(10_000), real_us: None, what: What::End });
    Trace { header, records }
}

fn played(lang: Lang) -> App {
    let mut app = App::new(entries(), Some(0), PLAIN, lang);
    app.take_requests();
    app.ran(RunKey::default(), Run::Ready(Arc::new(Recording::new(&plan(0), run()))));
    app
}

#[test]
fn a_resource_has_a_lane_of_what_is_stored() {
    let run = run();
    let timeline = Timeline::new(&run, &findings(&run));
    let lane = |name: &str| {
        let wanted = LaneKind::Resource { name: name.to_owned() };
        timeline.lanes.iter().find(|lane| lane.kind == wanted).expect("it has a lane")
    };
    let stored: Vec<_> = lane("stock").stretches.iter().map(|s| (s.from.ms(), s.to.ms(), s.fill.clone())).collect();
    let data = |text: &str, writer| Fill::Data { text: text.to_owned(), writer };
    assert_eq!(stored, [(0, 2_000, data("233", None)), (2_000, 10_000, data("232", Some(1)))]);
    let marks: Vec<_> = lane("stock").marks.iter().map(|mark| (mark.t.ms(), mark.sign.clone())).collect();
    assert_eq!(marks, [(5_000, Sign::Rejected("A".to_owned()))]);
    let counts: Vec<_> = lane("charges").stretches.iter().map(|s| (s.from.ms(), s.fill.clone())).collect();
    assert_eq!(counts, [(0, data("0", None)), (7_000, data("1", Some(1)))]);
}

#[test]
fn harm_is_marked_where_it_was_done() {
    let mut run = run();
    run.header.resources[0].shape = Shape::Row { value: 233, min: Some(233) };
    let timeline = Timeline::new(&run, &findings(&run));
    let harmed = timeline.lanes.iter().flat_map(|lane| &lane.marks).filter(|mark| matches!(mark.sign, Sign::Harmed(_)));
    assert_eq!(harmed.map(|mark| mark.t.ms()).collect::<Vec<_>>(), [2_000]);
}

#[test]
fn the_screen_shows_statements_rows_and_what_is_stored() {
    for (lang, row, none) in [(Lang::En, "1 row", "0 rows"), (Lang::Zh, "影响 1 行", "影响 0 行")] {
        let mut app = played(lang);
        press(&mut app, "end");
        let screen = screen(&app, 120, 36);
        assert!(screen.contains("B@db>") && screen.contains("UPDATE stock SET value = 34"), "{screen}");
        assert!(screen.contains(row) && screen.contains(none), "{screen}");
        assert!(screen.contains("232 (version=2 fence=34)") && screen.contains("[order-17]"), "{screen}");
    }
}

#[test]
fn a_statement_in_full_says_what_was_bound_and_how_many_rows() {
    let mut app = played(Lang::En);
    press(&mut app, "right enter");
    let screen = screen(&app, 120, 36);
    assert!(screen.contains("UPDATE stock SET value = ?") && screen.contains("rows affected: 1"), "{screen}");
}

#[test]
fn it_fits_a_small_terminal_in_ascii_too() {
    let mut app = App::new(entries(), Some(0), Theme { ascii: true, ..PLAIN }, Lang::En);
    app.take_requests();
    app.ran(RunKey::default(), Run::Ready(Arc::new(Recording::new(&plan(0), run()))));
    press(&mut app, "end");
    let screen = screen(&app, 80, 24).replace("中文", "");
    assert!(screen.contains("stock") && screen.is_ascii(), "{screen}");
}
