//! How long things take. Not part of the usual tests, since a busy machine would fail them for nothing:
//! `cargo test --test servers_times -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod servers_support;

use std::time::{Duration, Instant};

use lockscope::servers::{CrashKind, Setup};
use servers_support::{fleet, replicated, run, say, single};

fn show(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!("{what:<44} p50 {:>9.3?}  p95 {:>9.3?}  max {:>9.3?}  n={}", at(50), at(95), at(100), times.len());
}

async fn start(what: &str, setup: &Setup, count: usize) {
    let mut times = Vec::new();
    for _ in 0..count {
        let fleet = fleet();
        let begin = Instant::now();
        let servers = fleet.prepare(setup).await.unwrap();
        times.push(begin.elapsed());
        drop(servers);
    }
    show(what, times);
}

async fn reuse(what: &str, setup: &Setup, disorder: impl AsyncFn(&lockscope::servers::Servers)) {
    let fleet = fleet();
    let mut times = Vec::new();
    for _ in 0..50 {
        let begin = Instant::now();
        let servers = fleet.prepare(setup).await.unwrap();
        times.push(begin.elapsed());
        disorder(&servers).await;
    }
    show(what, times.split_off(1));
}

#[test]
#[ignore = "measures, and judges nothing"]
fn measure() {
    run(async {
        start("start a single server", &single(), 30).await;
        start("start a pair", &replicated(1), 30).await;
        start("start a master with four replicas", &replicated(4), 10).await;
        reuse("reuse a single server", &single(), async |_| {}).await;
        reuse("reuse a pair", &replicated(1), async |_| {}).await;
        reuse("reuse a pair, replica promoted", &replicated(1), async |servers| servers.promote("r1").await.unwrap())
            .await;
        reuse("reuse a pair, master killed", &replicated(1), async |servers| {
            servers.crash("m", CrashKind::Process).await.unwrap();
        })
        .await;

        let fleet = fleet();
        let servers = fleet.prepare(&replicated(1)).await.unwrap();
        let mut times = Vec::new();
        for _ in 0..100 {
            let begin = Instant::now();
            drop(servers.connect("m", "A").unwrap());
            times.push(begin.elapsed());
        }
        show("connect a client", times);
        let client = servers.connect("m", "A").unwrap();
        let (mut commands, mut barriers, mut healed, mut killed) = (vec![], vec![], vec![], vec![]);
        for _ in 0..500 {
            let begin = Instant::now();
            say(&client, "SET lock:1 x");
            commands.push(begin.elapsed());
            let begin = Instant::now();
            servers.barrier("r1").await.unwrap();
            barriers.push(begin.elapsed());
        }
        for _ in 0..20 {
            servers.cut("r1").await.unwrap();
            let begin = Instant::now();
            servers.heal("r1").await.unwrap();
            healed.push(begin.elapsed());
        }
        for _ in 0..20 {
            let begin = Instant::now();
            servers.crash("r1", CrashKind::Process).await.unwrap();
            killed.push(begin.elapsed());
            servers.restart("r1").await.unwrap();
        }
        show("one command", commands);
        show("barrier of an open link", barriers);
        show("heal after a cut", healed);
        show("kill -9 and reap", killed);
    });
}
