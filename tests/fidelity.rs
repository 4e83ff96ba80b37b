//! What the trace says was executed is what the server executed: a `MONITOR` on the server is held against it.

mod common;

use std::collections::BTreeMap;
use std::rc::Rc;

use lockscope::engine::{ClockKind, run_on, setup};
use lockscope::lesson::{self, Do, Plan, Source, Subject, commands};
use lockscope::servers::{Binary, Fleet};
use lockscope::trace::{Reply, Trace, What};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

/// Runs `plan` with a `MONITOR` on its first node. Answers the trace, what the monitor saw of the lesson's user, and
/// the server's `ACL LOG`.
async fn watched(plan: &Plan) -> (Trace, Vec<Vec<String>>, Vec<String>) {
    let binary = Binary::find(None).expect("a redis-server");
    let fleet = Fleet::new(binary.clone());
    let servers = Rc::new(fleet.prepare(&setup(plan)).await.expect("servers"));
    let node = servers.names()[0].clone();
    let admin = servers.admin(&node).expect("an admin's way in");
    let info = admin.get_connection_info();
    let redis::ConnectionAddr::Unix(socket) = info.addr() else { panic!("private servers listen on a Unix socket") };
    let settings = info.redis_settings();
    let (user, password) = (settings.username().expect("a user"), settings.password().expect("a password"));
    let mut stream = BufReader::new(UnixStream::connect(socket).await.expect("the socket"));
    stream.write_all(format!("AUTH {user} {password}\r\nMONITOR\r\n").as_bytes()).await.expect("written");
    let mut line = String::new();
    for _ in 0..2 {
        line.clear();
        stream.read_line(&mut line).await.expect("an answer");
        assert_eq!(line.trim_end(), "+OK");
    }

    let trace = run_on(&servers, &binary, plan, ClockKind::Warp).await.expect("it runs").expect("the machine keeps up");

    // Everything before this mark has been seen when the mark is seen.
    let mut connection = admin.get_multiplexed_async_connection().await.expect("a connection");
    let log: Vec<BTreeMap<String, redis::Value>> =
        redis::cmd("ACL").arg("LOG").query_async(&mut connection).await.expect("the log");
    let refused = log.iter().map(|entry| match entry.get("object") {
        Some(redis::Value::BulkString(object)) => String::from_utf8_lossy(object).into_owned(),
        other => panic!("an ACL LOG entry without an object: {other:?}"),
    });
    let refused: Vec<String> = refused.collect();
    let _: () = redis::cmd("ECHO").arg("end-of-lesson").query_async(&mut connection).await.expect("an echo");
    let mut seen = Vec::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await.expect("a line");
        let Some(words) = monitored(&line) else { continue };
        if words.last().is_some_and(|word| word == "end-of-lesson") {
            break;
        }
        // All connections come through one socket, so they cannot be told apart by where they come from. What the engine
        // sends for itself is what no lesson can send, or names a key that no lesson can reach.
        let own = words.iter().any(|word| word == "lockscope:marker") || commands::forbidden(&words).is_some();
        // A connection says who it is before the client sends anything.
        let introduction = words.starts_with(&["CLIENT".to_owned(), "SETNAME".to_owned()]);
        if !own && !introduction {
            seen.push(words);
        }
    }
    (trace, seen, refused)
}

/// The words of `+1700000000.123456 [0 unix:/…] "SET" "k" "v"`. None: a command inside a script.
fn monitored(line: &str) -> Option<Vec<String>> {
    let (head, rest) = line.trim_end().split_once("] ")?;
    if head.ends_with("lua") {
        return None;
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match (c, &mut word) {
            ('"', None) => word = Some(String::new()),
            ('"', Some(_)) => words.extend(word.take()),
            ('\\', Some(text)) => match chars.next()? {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                other => text.push(other),
            },
            (c, Some(text)) => text.push(c),
            (_, None) => {}
        }
    }
    Some(words)
}

/// The commands that the trace says were executed, in order; those that the ACL refused apart.
fn told(trace: &Trace) -> (Vec<Vec<String>>, usize) {
    let sent: BTreeMap<u32, Vec<String>> = trace
        .records
        .iter()
        .filter_map(|record| match &record.what {
            What::Send { cmd, argv, .. } => Some((*cmd, argv.clone())),
            _ => None,
        })
        .collect();
    let mut refused = 0;
    let mut executed = Vec::new();
    for record in &trace.records {
        let What::Exec { cmd, reply } = &record.what else { continue };
        if matches!(reply, Reply::Error(text) if text.starts_with("NOPERM")) {
            refused += 1;
        } else {
            executed.push(sent[cmd].clone());
        }
    }
    (executed, refused)
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

#[test]
fn the_server_executed_what_the_trace_says() {
    let mut commands = 0;
    for source in lesson::builtin() {
        for plan in lesson::load(source).expect("it loads").plans {
            let dies =
                |event: &lesson::Event| matches!((&event.subject, &event.what), (Subject::Node(_), Do::Crash { .. }));
            if plan.events.iter().any(dies) {
                continue; // the monitor would die with its node
            }
            let (trace, seen, refused) = run(watched(&plan));
            let (executed, _) = told(&trace);
            assert_eq!(executed, seen, "{}/{}", plan.lesson, plan.variant);
            assert_eq!(refused, Vec::<String>::new(), "{}/{}", plan.lesson, plan.variant);
            commands += seen.len();
        }
    }
    assert!(commands > 50, "only {commands} commands were compared");
}

#[test]
fn messages_that_are_lost_on_the_way_are_not_executed() {
    let text = include_str!("lessons/engine/faults-on-messages.yaml");
    let lesson = lesson::load(Source::new("faults-on-messages.yaml", text)).expect("it loads");
    for plan in lesson.plans {
        let (trace, seen, _) = run(watched(&plan));
        assert_eq!(told(&trace).0, seen, "{}", plan.variant);
    }
}

#[test]
fn what_the_acl_refuses_stands_in_its_log_and_in_the_trace() {
    let text = r#"
format: 1
id: refused
level: core
title: A script that builds a name
lock: {key: "lock:order", ttl: 10s}
clients: [A]
events:
  - {client: A, do: acquire}
  - {client: A, do: redis, run: {lua: "return redis.pcall(ARGV[1])", keys: [], args: [flushall]}}
  - {client: A, do: redis, run: {lua: "return redis.call('SET', ARGV[1], '1')", keys: [], args: [foreign]}}
  - {client: A, do: redis, run: "GET {key}"}
verdict: held
expect: [{error: A, at: 0s, times: 2}]
"#;
    let lesson = lesson::load(Source::new("refused.yaml", text)).expect("it loads");
    let plan = &lesson.plans[0];
    let (trace, _, refused) = run(watched(plan));
    let judgement = lesson::judge(plan, &trace);
    assert!(judgement.is_as_expected(), "{judgement:#?}");
    // The newest first.
    assert_eq!(refused, ["foreign", "flushall"]);
    let holder = trace.records.iter().filter(|record| matches!(record.what, What::Key { .. })).count();
    assert_eq!(holder, 1, "the lock was made, and nothing else was touched");
}
