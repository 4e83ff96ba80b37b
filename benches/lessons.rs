//! What a lesson run costs: time per lesson, lesson time against real time, and the ratio to a floor.
//!
//! The floor of a lesson is the commands that its run sent (the engine's own included: a `MONITOR` tells), sent bare, one
//! after another, on one connection. `floor ×` is what the run costs above that; `SET ×` is the same against as many plain
//! `SET`s, so it has the price of the clock script in it. Servers' start and the real expiries (Redis needs a millisecond or
//! two for each) are apart, since neither is the engine's. Last, how soon the servers are gone after lockscope was killed
//! with SIGKILL.
//!
//! `cargo bench --bench lessons -- watchdog first-lock` measures the lessons with these names only.

#[path = "../tests/common/mod.rs"]
mod common;

use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use redis::ConnectionLike as _;

use common::monitor::watch;
use lockscope::engine::{ClockKind, Store, run_on, setup};
use lockscope::lesson::{self, Do, Plan, RunFailure, ServersKind, Subject};
use lockscope::servers::{Binary, Fleet};
use lockscope::trace::{Cause, Trace, What};

/// Runs per lesson, of which the median is shown.
const RUNS: usize = 50;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let binary = Binary::find(None).expect("a redis-server; `make bench` gets one");
    println!(
        "{:28} {:>9} {:>9} {:>9} {:>8} {:>7} {:>7}",
        "lesson", "lesson s", "run ms", "times", "commands", "floor ×", "SET ×"
    );
    let mut ratios = Vec::new();
    // Cargo itself adds `--bench`.
    let names: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with("--")).collect();
    let wanted = |lesson: &str| names.is_empty() || names.iter().any(|name| name == lesson);
    for source in lesson::builtin() {
        for plan in lesson::load(source).expect("a built-in lesson loads").plans {
            // What is on the real clock takes as long as it says.
            if !wanted(&plan.lesson) || plan.is_on_real_clock() {
                continue;
            }
            let name = format!("{}/{}", plan.lesson, plan.variant);
            let Some(cost) = runtime.block_on(measure(&binary, &plan)) else {
                println!("{name:28} needs another server");
                continue;
            };
            let lesson_s = cost.lesson_ms / 1000.0;
            print!("{name:28} {lesson_s:9.1} {:9.2} {:9.0}", cost.run_ms, cost.lesson_ms / cost.run_ms);
            match cost.floor {
                Some(Floor { commands, ratio, plain }) => {
                    ratios.push(ratio);
                    println!(" {commands:8} {ratio:7.2} {plain:7.2}");
                }
                None => println!(" {:>8} {:>7} {:>7}", "-", "-", "-"),
            }
        }
    }
    ratios.sort_by(f64::total_cmp);
    println!("floor ×: median {:.2}, worst {:.2}", ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
    killed();
}

struct Cost {
    lesson_ms: f64,
    run_ms: f64,
    /// None where the servers are more than one.
    floor: Option<Floor>,
}

struct Floor {
    commands: usize,
    /// (run − expiries) / the same commands.
    ratio: f64,
    /// (run − expiries) / as many `SET`s.
    plain: f64,
}

/// None: this server lacks what the lesson needs.
async fn measure(binary: &Binary, plan: &Plan) -> Option<Cost> {
    let (fleet, database) = (Fleet::new(binary.clone()), Store::default());
    let (mut runs, mut net) = (Vec::new(), Vec::new());
    let mut lesson_ms = 0.0;
    for _ in 0..RUNS {
        let servers = Rc::new(fleet.prepare(&setup(plan)).await.expect("servers"));
        let begin = Instant::now();
        let trace = match run_on(&servers, &database, binary, plan, ClockKind::Warp).await {
            Ok(Some(trace)) => trace,
            Ok(None) => continue,
            Err(RunFailure::Environment(_)) => return None,
            Err(error) => panic!("{error}"),
        };
        let run = begin.elapsed();
        lesson_ms = ms(Duration::from_millis(trace.records.last().map_or(0, |record| record.t.ms())));
        net.push(ms(run) - expiries_ms(&trace));
        runs.push(ms(run));
    }
    let floor = match plan.servers.kind {
        ServersKind::Single if !ends_a_node(plan) => {
            let commands = watch(plan).await.seen;
            let sets = vec![["SET", "k", "v"].map(str::to_owned).to_vec(); commands.len()];
            let net = median(net);
            Some(Floor {
                commands: commands.len(),
                ratio: net / floor_ms(&fleet, plan, &commands).await,
                plain: net / floor_ms(&fleet, plan, &sets).await,
            })
        }
        _ => None,
    };
    Some(Cost { lesson_ms, run_ms: median(runs), floor })
}

/// Whether a server ends in the lesson: then nobody can tell all of its commands.
fn ends_a_node(plan: &Plan) -> bool {
    plan.events.iter().any(|event| matches!((&event.subject, &event.what), (Subject::Node(_), Do::Crash { .. })))
}

/// The time in which Redis really expired keys: from the record before an expiry to the expiry's own.
fn expiries_ms(trace: &Trace) -> f64 {
    let pairs = trace.records.windows(2);
    let expired = pairs.filter(|pair| matches!(pair[1].what, What::Key { cause: Cause::Expiry, .. }));
    let us = expired.map(|pair| pair[1].real_us.unwrap_or(0) - pair[0].real_us.unwrap_or(0));
    ms(Duration::from_micros(us.sum()))
}

/// These commands, bare.
async fn floor_ms(fleet: &Fleet, plan: &Plan, commands: &[Vec<String>]) -> f64 {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let servers = fleet.prepare(&setup(plan)).await.expect("a server");
        let admin = servers.admin(&servers.names()[0]).expect("an admin's way in");
        let mut connection = admin.get_connection().expect("a connection");
        let begin = Instant::now();
        for words in commands {
            let mut command = redis::Cmd::new();
            // A subscription's answer is no reply; it costs as much as one.
            if words[0].eq_ignore_ascii_case("SUBSCRIBE") {
                command.arg("PING")
            } else {
                command.arg(words)
            };
            connection.req_command(&command).expect("an answer");
        }
        times.push(ms(begin.elapsed()));
    }
    median(times)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Kills lockscope in the middle of a replicated lesson and waits until its servers are gone.
#[expect(clippy::disallowed_methods, reason = "between two looks at /proc, never instead of one")]
fn killed() {
    let mut gone = Vec::new();
    for _ in 0..5 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lockscope"))
            .args(["--check", "--clock", "wall", "failover-lost-lock", "--jobs", "1"])
            .stdout(Stdio::null())
            .spawn()
            .expect("lockscope starts");
        let servers = loop {
            let servers = children(child.id());
            if servers.len() >= 3 {
                break servers;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let begin = Instant::now();
        child.kill().expect("it can be killed");
        while servers.iter().any(|pid| alive(*pid)) {
            std::thread::sleep(Duration::from_micros(100));
        }
        gone.push(ms(begin.elapsed()));
        child.wait().expect("it is dead");
    }
    gone.sort_by(f64::total_cmp);
    println!("servers gone after SIGKILL: median {:.1} ms, worst {:.1} ms", gone[gone.len() / 2], gone[gone.len() - 1]);
}

/// The redis-servers whose parent is `parent`.
fn children(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("Linux");
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
        let Some((name, rest)) = stat.split_once('(').and_then(|(_, rest)| rest.split_once(')')) else { return false };
        (name.contains("redis-server") || name.contains("valkey-server"))
            && rest.split_whitespace().nth(1) == Some(&parent.to_string())
    })
    .collect()
}

/// Whether a process is there and is no zombie.
fn alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X'])))
}
