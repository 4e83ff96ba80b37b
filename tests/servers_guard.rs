//! Nothing outlives lockscope: not a server, not a folder, however it ends.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod servers_support;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use servers_support::{exists, fleet, pid, replicated, run, runs, single, until};

/// Set in a child of these tests: it starts servers and waits to be killed.
const PARENT: &str = "LOCKSCOPE_TEST_PARENT";

/// Not a test of its own: the process that the others kill. It says which servers it has, and where.
#[test]
fn parent() {
    if std::env::var_os(PARENT).is_none() {
        return;
    }
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&replicated(2)).await.unwrap();
        let alone = fleet.prepare(&single()).await.unwrap();
        for node in servers.names() {
            println!("pid {}", pid(&servers, &node).await);
        }
        println!("pid {}", pid(&alone, "redis").await);
        println!("folder {}", fleet.folder().unwrap().display());
        println!("ready");
        // Until it is killed; whoever started it may also end it by closing its input.
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
    });
}

struct Parent {
    child: Child,
    /// Kept, or it would end at its next word.
    _output: BufReader<ChildStdout>,
    servers: Vec<u32>,
    folder: PathBuf,
}

/// Runs this very test binary again, as the process to be killed, with its temporary files in `temp`.
fn start_parent(temp: &Path) -> Parent {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["parent", "--exact", "--nocapture", "--test-threads=1"])
        .env(PARENT, "1")
        .env("TMPDIR", temp)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut servers = Vec::new();
    let mut folder = PathBuf::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for line in output.by_ref().lines() {
        let line = line.unwrap();
        if let Some(pid) = line.strip_prefix("pid ").or_else(|| line.split("... pid ").nth(1)) {
            servers.push(pid.parse().unwrap());
        } else if let Some(path) = line.strip_prefix("folder ") {
            folder = PathBuf::from(path);
        } else if line == "ready" {
            break;
        }
    }
    assert_eq!(servers.len(), 4);
    assert!(servers.iter().all(|&server| runs(server)));
    assert!(exists(&folder) && folder.starts_with(temp));
    Parent { child, _output: output, servers, folder }
}

fn temp() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("ls-test-").tempdir().unwrap()
}

fn id(child: &Child) -> Pid {
    Pid::from_child(child)
}

fn leftovers(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn servers_and_folder_are_gone_after_kill_9() {
    let temp = temp();
    let mut parent = start_parent(temp.path());
    kill_process(id(&parent.child), Signal::KILL).unwrap();
    parent.child.wait().unwrap();
    let took = until("all servers are dead", || !parent.servers.iter().any(|&server| runs(server)));
    println!("four servers dead {took:?} after their parent");
    until("the folder is removed", || !exists(&parent.folder));
    assert_eq!(leftovers(temp.path()), 0);
}

#[test]
fn signals_to_the_whole_job_leave_nothing_either() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let temp = temp();
        let mut parent = start_parent(temp.path());
        kill_process_group(id(&parent.child), signal).unwrap();
        parent.child.wait().unwrap();
        until("all servers are dead", || !parent.servers.iter().any(|&server| runs(server)));
        until("the folder is removed", || !exists(&parent.folder));
    }
}

#[test]
fn a_stopped_server_dies_as_well() {
    let temp = temp();
    let mut parent = start_parent(temp.path());
    let server = Pid::from_raw(i32::try_from(parent.servers[0]).unwrap()).unwrap();
    kill_process(server, Signal::STOP).unwrap();
    kill_process(id(&parent.child), Signal::KILL).unwrap();
    parent.child.wait().unwrap();
    until("all servers are dead", || !parent.servers.iter().any(|&server| runs(server)));
}

#[test]
fn an_orderly_end_leaves_nothing_when_it_returns() {
    let temp = temp();
    let mut parent = start_parent(temp.path());
    drop(parent.child.stdin.take());
    assert!(parent.child.wait().unwrap().success());
    assert!(!parent.servers.iter().any(|&server| runs(server)));
    assert!(!exists(&parent.folder));
}

/// The next start sweeps what a machine's crash has left, and nothing else.
#[test]
fn stale_folders_are_swept_and_living_ones_are_not() {
    let temp = temp();
    let living = start_parent(temp.path());
    // As after a power failure: a folder whose owner is gone, its lock file unlocked.
    let stale = temp.path().join("lockscope-0123456789ab");
    std::fs::create_dir_all(stale.join("s0")).unwrap();
    std::fs::write(stale.join("lock"), "").unwrap();
    std::fs::write(stale.join("s0/appendonly.aof"), "x").unwrap();
    // One whose removal was broken off.
    let half = temp.path().join("lockscope-ba9876543210");
    std::fs::create_dir_all(&half).unwrap();
    // What only looks like ours.
    let other = temp.path().join("lockscope.txt");
    std::fs::write(&other, "x").unwrap();
    let outside = temp.path().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, temp.path().join("lockscope-link")).unwrap();

    let next = start_parent(temp.path());
    assert!(!exists(&stale) && !exists(&half));
    assert!(exists(&other) && exists(&outside) && exists(&living.folder) && exists(&next.folder));
    assert!(living.servers.iter().all(|&server| runs(server)));
    for mut parent in [living, next] {
        drop(parent.child.stdin.take());
        parent.child.wait().unwrap();
    }
}
