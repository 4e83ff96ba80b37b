//! Whatever ends the program, its servers end with it, and nothing of it stays on the disk.
//!
//! Looked at in /proc, so on Linux: a server is known by the folder that it runs in, whoever its parent may be by then.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![cfg(target_os = "linux")]

mod cli_support;

use std::fs;
use std::io::{Read, Write};
use std::ops::RangeInclusive;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use cli_support::{Home, kill, until};
use rustix::process::Signal;

/// The lesson that is interrupted: a master and two replicas.
const LESSON: &str = "failover-lost-lock/lagging";
/// The same with three Sentinels.
const WATCHED: &str = "failover-sentinel/lagging";
const LOCK: &str = "lock:order:123";

/// All processes that run in a server's folder of this home: the servers, and what watches over them.
fn in_folders_of(home: &Home) -> Vec<(u32, String)> {
    let base = home.temporary();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // A process that has ended meanwhile, or has ended and was not yet reaped, has no such link.
        let Ok(folder) = fs::read_link(entry.path().join("cwd")) else { continue };
        if folder.starts_with(&base) {
            let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            found.push((pid, name.trim().to_owned()));
        }
    }
    found
}

fn servers_of(home: &Home) -> usize {
    in_folders_of(home).iter().filter(|(_, name)| name.contains("redis") || name.contains("valkey")).count()
}

/// The folders of the servers that listen.
fn listening(home: &Home) -> Vec<PathBuf> {
    let runs = home.left_behind().into_iter();
    let servers = runs.filter_map(|run| fs::read_dir(run).ok()).flatten().flatten().map(|entry| entry.path());
    servers.filter(|folder| folder.join("redis.sock").exists()).collect()
}

/// Whether this server has the lesson's lock, asked as the engine's own user. A server that is just being started, or put
/// right for the lesson, does not answer: then it has not.
fn has_lock(folder: &Path) -> bool {
    let ask = || -> std::io::Result<bool> {
        let settings = fs::read_to_string(folder.join("redis.conf"))?;
        let password = settings.lines().find_map(|line| line.strip_prefix("masterauth ")).unwrap_or_default();
        let mut server = UnixStream::connect(folder.join("redis.sock"))?;
        server.set_read_timeout(Some(Duration::from_secs(1)))?;
        write!(server, "AUTH lockscope {password}\r\nEXISTS {LOCK}\r\nQUIT\r\n")?;
        let mut answer = String::new();
        server.read_to_string(&mut answer)?;
        Ok(answer.lines().nth(1) == Some(":1"))
    };
    ask().unwrap_or(false)
}

/// A running program, which ends with its test at the latest.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail where it has ended already, as it should have.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a check in real time, and comes back in the middle of the lesson: all servers run, and A has the lock.
fn in_the_middle(home: &Home) -> Running {
    in_the_middle_of(home, LESSON, 3..=3)
}

/// The same for a lesson with so many servers.
fn in_the_middle_of(home: &Home, lesson: &str, servers: RangeInclusive<usize>) -> Running {
    let mut command = home.command(&["--check", "--clock", "wall", "--filter", lesson]);
    let mut running = Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    until("A has the lock", || {
        assert_eq!(running.0.try_wait().unwrap(), None, "the lesson is over before it was interrupted");
        listening(home).iter().any(|folder| has_lock(folder))
    });
    assert!(servers.contains(&servers_of(home)), "{:?}", in_folders_of(home));
    running
}

/// Ends the program with `signal`; says how long its servers outlived it.
fn end(mut running: Running, home: &Home, signal: Signal) -> Duration {
    kill(running.0.id(), signal);
    let status = running.0.wait().unwrap();
    let ended = Instant::now();
    assert_eq!(status.signal(), Some(signal.as_raw()), "{status:?}");
    until("all servers have ended", || in_folders_of(home).is_empty());
    ended.elapsed()
}

#[test]
fn killed_it_leaves_no_server_and_no_folder_after_the_next_start() {
    let home = Home::new();
    let running = in_the_middle(&home);
    let took = end(running, &home, Signal::KILL);
    println!("after kill -9 the servers were gone in {took:?}");
    // They are not asked politely, one after another, by somebody who might be slow.
    assert!(took < Duration::from_secs(5), "{took:?}");

    home.check(&["wrong-delete", "--filter", "/lua"]).exits(0).closes(1, 0, 0);
    assert_eq!(home.left_behind(), Vec::<PathBuf>::new());
}

#[test]
fn killed_it_leaves_no_sentinel() {
    let home = Home::new();
    // After a second of it the lesson itself kills the master.
    let running = in_the_middle_of(&home, WATCHED, 5..=6);
    let took = end(running, &home, Signal::KILL);
    assert!(took < Duration::from_secs(5), "{took:?}");
    until("the folder is gone", || home.left_behind().is_empty());
}

#[test]
fn a_next_start_sweeps_only_what_nobody_uses() {
    let home = Home::new();
    // Nobody's: the owner was killed before it could lock anything, and its janitor with it.
    let stale = home.temporary().join("lockscope-0123456789ab");
    fs::create_dir_all(stale.join("s0")).unwrap();
    fs::write(stale.join("lock"), "").unwrap();
    // Somebody's, who still runs.
    let running = in_the_middle(&home);
    assert!(!stale.exists(), "the first start has swept already");
    let in_use = home.left_behind();
    assert_eq!(in_use.len(), 1, "{in_use:?}");
    fs::create_dir_all(stale.join("s0")).unwrap();

    home.check(&["wrong-delete", "--filter", "/lua"]).exits(0).closes(1, 0, 0);
    assert_eq!(home.left_behind(), in_use);
    assert_eq!(servers_of(&home), 3, "the other one's servers were left alone");
    end(running, &home, Signal::KILL);
}

#[test]
fn told_to_leave_it_leaves_at_once_and_cleans_up() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let home = Home::new();
        let running = in_the_middle(&home);
        let took = end(running, &home, signal);
        println!("after {signal:?} the servers were gone in {took:?}");
        until("the folder is gone", || home.left_behind().is_empty());
    }
}
