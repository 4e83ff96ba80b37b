//! What the tests of the servers share. Everything runs on real redis-servers.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::future::Future;
use std::path::Path;

use lockscope::servers::{Binary, Conn, Fleet, Observer, Persistence, Servers, Setup, Shape};
use redis::Value;

/// Runs a test as the engine runs: on one thread.
pub fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

pub fn fleet() -> Fleet {
    Fleet::new(Binary::find(None).unwrap())
}

pub fn setup(shape: Shape, persistence: Persistence) -> Setup {
    Setup { shape, persistence, config: Vec::new(), keys: vec!["lock:1".into(), "queue:*".into()], scripts: Vec::new() }
}

pub fn single() -> Setup {
    setup(Shape::Single, Persistence::None)
}

pub fn replicated(replicas: u8) -> Setup {
    setup(Shape::Replicated { replicas }, Persistence::None)
}

/// Splits at blanks; `·` stands for a blank inside a word.
pub fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(|word| word.replace('·', " ")).collect()
}

pub fn say(conn: &Conn, line: &str) -> Value {
    conn.ask(&words(line)).unwrap();
    conn.answer().unwrap()
}

pub async fn ask(observer: &Observer, line: &str) -> Value {
    let mut command = redis::Cmd::new();
    command.arg(words(line));
    observer.send(&command).await.unwrap()
}

/// As the engine's user, on a node of this name.
pub async fn at(servers: &Servers, node: &str, line: &str) -> Value {
    ask(&servers.observer(node).unwrap(), line).await
}

pub fn bulk(text: &str) -> Value {
    Value::BulkString(text.as_bytes().to_vec())
}

/// The text of a reply, for `INFO` and the like.
pub fn text(value: &Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::VerbatimString { text, .. } | Value::SimpleString(text) => text.clone(),
        other => panic!("not a text: {other:?}"),
    }
}

/// The code of an error reply (`NOPERM`, `ERR`, …).
pub fn code(value: &Value) -> String {
    match value {
        Value::ServerError(error) => error.code().to_owned(),
        other => panic!("not an error: {other:?}"),
    }
}

/// The server's process id.
pub async fn pid(servers: &Servers, node: &str) -> u32 {
    let info = text(&at(servers, node, "INFO server").await);
    info.lines().find_map(|line| line.strip_prefix("process_id:")).unwrap().trim().parse().unwrap()
}

/// Whether a process runs (a zombie that nobody has reaped yet does not).
pub fn runs(pid: u32) -> bool {
    let output = std::process::Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap();
    let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

/// Looks at something until it is so, for ten seconds at most; says how long it took.
#[expect(clippy::disallowed_methods, reason = "between two looks at /proc, never instead of one")]
pub fn until(what: &str, so: impl Fn() -> bool) -> std::time::Duration {
    let start = std::time::Instant::now();
    while !so() {
        assert!(start.elapsed().as_secs() < 10, "never: {what}");
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
    start.elapsed()
}

pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
