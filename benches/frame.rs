//! What the player costs, and how that grows with the trace, for traces of 100, 1 000, 10 000 and 100 000 records:
//!
//! - a frame of 200×50, with playheads spread over the whole run: the mean, and the most expensive one;
//! - preparing a run for playing (findings, timeline, indices), which happens once;
//! - the most memory that a process has ever held which prepares, keeps and draws the 10 000 records.
//!
//! The aims: a frame under 1 ms at 10 000 records, growing no faster than log n; preparing near-linear; under 60 MB.

use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Instant;

use lockscope::lesson::Source;
use lockscope::lesson::catalogue::load_all;
use lockscope::trace::{
    Cause, ClientInfo, Header, KeyOp, KeyState, Lang, LessonTime, LinkState, LockInfo, NodeInfo, Record, Reply, Role,
    Trace, Value, What,
};
use lockscope::tui::app::Run;
use lockscope::tui::{App, Recording, Request, Theme, view};
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

/// Writes a run record by record.
#[derive(Default)]
struct Writer {
    records: Vec<Record>,
    t: u64,
    cmd: u32,
    held: u64,
}

impl Writer {
    fn push(&mut self, what: What) {
        self.records.push(Record { t: LessonTime(self.t), real_us: None, what });
    }

    fn command(&mut self, client: &str, argv: &[&str], reply: Reply, now: Option<KeyState>) {
        self.cmd += 1;
        let cmd = self.cmd;
        self.push(What::Send {
            cmd,
            client: client.to_owned(),
            task: "main".to_owned(),
            node: "m".to_owned(),
            argv: argv.iter().map(ToString::to_string).collect(),
            event: None,
        });
        self.push(What::Exec { cmd, reply });
        if now.is_some() {
            let cause = Cause::Command { cmd, client: client.to_owned() };
            self.push(What::Key { node: "m".to_owned(), key: "lock".to_owned(), op: KeyOp::Replaced, cause, now });
            self.held += 80;
            self.link(LinkState::Held);
        }
        self.push(What::Read { cmd });
    }

    fn link(&mut self, state: LinkState) {
        self.push(What::Link { a: "m".to_owned(), b: "r1".to_owned(), state, held: self.held });
    }

    fn belief(&mut self, client: &str, on: bool) {
        self.push(What::Belief { client: client.to_owned(), lock: "lock".to_owned(), on, read: false });
    }

    fn works(&mut self, client: &str, on: bool) {
        let locks = vec!["lock".to_owned()];
        self.push(What::Works { client: client.to_owned(), task: "main".to_owned(), on, locks });
    }

    /// `client` takes the lock by force while `before` is still at work, so that every turn breaks something.
    fn turn(&mut self, client: &str, before: Option<&str>) {
        let now = KeyState {
            value: Value::String(client.to_owned()),
            deadline: Some(LessonTime(self.t + 10_000)),
            approximate: false,
            owner: Some(client.to_owned()),
            also: Vec::new(),
        };
        let ok = Reply::Status("OK".to_owned());
        self.command(client, &["SET", "lock", client, "PX", "10000"], ok, Some(now));
        self.belief(client, true);
        self.works(client, true);
        self.t += 700;
        if let Some(before) = before {
            self.works(before, false);
            self.belief(before, false);
        }
        self.command(client, &["PTTL", "lock"], Reply::Int(9_300), None);
        self.t += 300;
    }
}

/// Clients take turns in holding the lock while the next one overlaps, and a replica's link holds it all back: every
/// lane and the log are as full as can be.
fn trace(records: usize) -> Trace {
    let node = |name: &str, role| NodeInfo { name: name.to_owned(), role };
    let header = Header {
        nodes: vec![node("m", Role::Master), node("r1", Role::Replica)],
        clients: CLIENTS.iter().map(|name| ClientInfo { name: (*name).to_owned() }).collect(),
        locks: vec![LockInfo {
            name: "lock".to_owned(),
            key: "lock".to_owned(),
            ttl: Some(LessonTime(10_000)),
            ..LockInfo::default()
        }],
        ..Header::default()
    };
    let mut run = Writer::default();
    let mut before = None;
    for client in CLIENTS.iter().cycle() {
        if run.records.len() + 1 >= records {
            break;
        }
        run.turn(client, before);
        before = Some(client);
    }
    run.records.truncate(records - 1);
    run.push(What::End);
    Trace { header, records: run.records }
}

/// The player, open on a lesson, and the run that it asks for.
fn player() -> Option<(App, Request)> {
    let entries = load_all([Source::new("bench.yaml", LESSON)]);
    let mut app = App::new(entries, Some(0), Theme { ascii: false, colour: true }, Lang::En);
    let request = app.take_requests().pop()?;
    Some((app, request))
}

/// Milliseconds that `work` takes at best: what disturbs it can only make it slower.
fn best_ms<T>(times: usize, mut work: impl FnMut() -> T) -> f64 {
    let once = |_| {
        let begun = Instant::now();
        let made = black_box(work());
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        drop(made);
        ms
    };
    (0..times).map(once).fold(f64::INFINITY, f64::min)
}

/// Draws one frame with the playhead after `pos` records.
fn frame(app: &mut App, recording: &Recording, pos: usize, buffer: &mut Buffer) {
    if let Some(player) = &mut app.player {
        player.playhead.pos = pos;
        player.playhead.us = recording.trace.records[pos].t.ms() * 1000;
    }
    buffer.reset();
    view::draw(app, buffer);
    black_box(&buffer);
}

/// Microseconds of a frame: mean, and worst.
fn frames(app: &mut App, recording: &Recording) -> (f64, f64) {
    const PLAYHEADS: u32 = 200;
    let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 50));
    let total = recording.trace.records.len();
    let mut sum = 0.0;
    let mut worst = 0.0_f64;
    for i in 0..PLAYHEADS as usize {
        // A stride that visits the whole run in no order that a cache could like.
        let pos = i * 7919 % total;
        let us = best_ms(3, || frame(app, recording, pos, &mut buffer)) * 1e3;
        sum += us;
        worst = worst.max(us);
    }
    (sum / f64::from(PLAYHEADS), worst)
}

/// The most memory that this process has had, in MB, where the system tells.
fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kb = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?;
    Some(kb.parse::<f64>().ok()? / 1024.0)
}

/// Holds a long run and draws it, in a process that does nothing else.
fn hold(records: usize) {
    let Some((mut app, request)) = player() else { return };
    let recording = Arc::new(Recording::new(&request.plan, trace(records)));
    app.ran(request.key, Run::Ready(Arc::clone(&recording)));
    frames(&mut app, &recording);
    if let Some(mb) = peak_mb() {
        println!("{records:>7} records: a process that holds and draws them peaks at {mb:.1} MB");
    }
}

fn measure(records: usize, last: Option<(f64, f64, f64)>) -> Option<(f64, f64, f64)> {
    let (mut app, request) = player()?;
    let given = trace(records);
    let times = (100_000 / records).clamp(3, 50);
    // The copy that each preparation consumes is made outside the time.
    let mut copies = vec![given; times];
    let prepared = best_ms(times, || copies.pop().map(|trace| Recording::new(&request.plan, trace)));
    let recording = Arc::new(Recording::new(&request.plan, trace(records)));
    app.ran(request.key, Run::Ready(Arc::clone(&recording)));
    let (mean, worst) = frames(&mut app, &recording);
    #[expect(clippy::cast_precision_loss, reason = "a count of records is far below 2^52")]
    let length = records as f64;
    print!("{records:>7} records: frame {mean:>4.0} us (worst {worst:>4.0})   prepared in {prepared:>7.2} ms");
    if let Some((shorter, last_mean, last_prepared)) = last {
        let (frame, log) = (mean / last_mean, length.ln() / shorter.ln());
        let (prepare, linear) = (prepared / last_prepared, length / shorter);
        print!("   frame x{frame:.2} (log n: x{log:.2})   preparing x{prepare:.1} (n: x{linear:.0})");
    }
    println!();
    Some((length, mean, prepared))
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("--hold") {
        hold(arguments.next().and_then(|n| n.parse().ok()).unwrap_or(10_000));
        return ExitCode::SUCCESS;
    }
    let mut last = None;
    for records in [100, 1_000, 10_000, 100_000] {
        last = measure(records, last);
    }
    let memory = std::env::current_exe().and_then(|this| Command::new(this).args(["--hold", "10000"]).status());
    if last.is_none() || memory.is_err() {
        println!("the benchmark itself is broken");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
