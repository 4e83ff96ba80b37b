//! How long a frame takes, and how that grows with the trace: the time of one 200×50 frame for traces of 100, 1 000,
//! 10 000 and 100 000 records, playheads spread over the whole run.
//!
//! The aim: under 1 ms at 10 000 records, and from one length to ten times that no more than log n would give.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use lockscope::lesson::Source;
use lockscope::lesson::catalogue::load_all;
use lockscope::trace::{
    Cause, ClientInfo, Header, KeyOp, KeyState, Lang, LessonTime, LockInfo, NodeInfo, Record, Reply, Role, Trace,
    Value, What,
};
use lockscope::tui::app::Run;
use lockscope::tui::{App, Recording, Theme, view};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const LESSON: &str = "format: 1
id: bench
level: intro
title: bench
lock: {key: lock, ttl: 10s}
clients: [A, B, C, D]
events: [{client: A, do: acquire}]
verdict: held
expect: []
";

const CLIENTS: [&str; 4] = ["A", "B", "C", "D"];

/// Clients take turns in holding the lock while the next one overlaps: every lane and the log are as full as can be.
fn trace(records: usize) -> Trace {
    let header = Header {
        nodes: vec![NodeInfo { name: "redis".to_owned(), role: Role::Master }],
        clients: CLIENTS.iter().map(|name| ClientInfo { name: (*name).to_owned() }).collect(),
        locks: vec![LockInfo { name: "lock".to_owned(), key: "lock".to_owned(), ttl: Some(LessonTime(10_000)) }],
        ..Header::default()
    };
    let mut all = Vec::new();
    let mut t = 0;
    let mut cmd = 0;
    let mut push = |t: u64, what| all.push(Record { t: LessonTime(t), real_us: None, what });
    for turn in 0..records / 10 {
        let client = CLIENTS[turn % CLIENTS.len()].to_owned();
        let before = CLIENTS[(turn + CLIENTS.len() - 1) % CLIENTS.len()].to_owned();
        let locks = vec!["lock".to_owned()];
        let task = "main".to_owned();
        cmd += 1;
        let send = |cmd, client: &str, argv: &[&str]| What::Send {
            cmd,
            client: client.to_owned(),
            task: "main".to_owned(),
            node: "redis".to_owned(),
            argv: argv.iter().map(ToString::to_string).collect(),
            event: None,
        };
        let now = KeyState {
            value: Value::String(client.clone()),
            deadline: Some(LessonTime(t + 10_000)),
            approximate: false,
            owner: Some(client.clone()),
        };
        let key = |op, now| What::Key {
            node: "redis".to_owned(),
            key: "lock".to_owned(),
            op,
            cause: Cause::Command { cmd, client: client.clone() },
            now,
        };
        push(t, send(cmd, &client, &["SET", "lock", &client, "PX", "10000"]));
        push(t, What::Exec { cmd, reply: Reply::Status("OK".to_owned()) });
        push(t, key(KeyOp::Replaced, Some(now)));
        push(t, What::Read { cmd });
        push(t, What::Belief { client: client.clone(), lock: "lock".to_owned(), on: true });
        push(t, What::Works { client: client.clone(), task: task.clone(), on: true, locks: locks.clone() });
        t += 700;
        if turn > 0 {
            push(t, What::Works { client: before.clone(), task, on: false, locks });
            push(t, What::Belief { client: before, lock: "lock".to_owned(), on: false });
        }
        cmd += 1;
        push(t, send(cmd, &client, &["PTTL", "lock"]));
        push(t, What::Exec { cmd, reply: Reply::Int(9_300) });
        t += 300;
    }
    push(t, What::End);
    Trace { header, records: all }
}

/// Microseconds of one frame, on average over `frames` playheads.
fn frame(app: &mut App, recording: &Recording, frames: usize) -> f64 {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 50));
    let total = recording.trace.records.len();
    let begun = Instant::now();
    for i in 0..frames {
        if let Some(player) = &mut app.player {
            // A stride that visits the whole run in no order that a cache could like.
            let pos = i * 7919 % total;
            player.playhead.pos = pos;
            player.playhead.us = recording.trace.records[pos].t.ms() * 1000;
        }
        buffer.reset();
        view::draw(app, &mut buffer);
        black_box(&buffer);
    }
    begun.elapsed().as_secs_f64() * 1e6 / f64::from(u32::try_from(frames).unwrap_or(u32::MAX))
}

fn main() {
    let mut last = None;
    for records in [100, 1_000, 10_000, 100_000] {
        let entries = load_all([Source::new("bench.yaml", LESSON)]);
        let mut app = App::new(entries, Some(0), Theme { ascii: false, colour: true }, Lang::En);
        let Some(request) = app.take_requests().pop() else {
            println!("the lesson of this benchmark does not load");
            return;
        };
        let begun = Instant::now();
        let recording = Arc::new(Recording::new(&request.plan, trace(records)));
        let prepared = begun.elapsed().as_secs_f64() * 1e3;
        app.ran(request.key, Run::Ready(Arc::clone(&recording)));
        frame(&mut app, &recording, 20);
        let us = frame(&mut app, &recording, 500);
        let ratio = last.map_or(String::new(), |last: f64| format!("  x{:.2} of the shorter one", us / last));
        println!("{records:>7} records: frame {us:>7.0} us{ratio}   prepared once in {prepared:.1} ms");
        last = Some(us);
    }
}
