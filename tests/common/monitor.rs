//! A run with a `MONITOR` on its first node.

use std::collections::BTreeMap;
use std::rc::Rc;

use lockscope::engine::{ClockKind, Store, run_on, setup};
use lockscope::lesson::Plan;
use lockscope::servers::{Binary, Fleet};
use lockscope::trace::Trace;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

/// What was seen.
pub struct Watched {
    /// What the engine tells.
    pub trace: Trace,
    /// Every command that the node executed during the run, scripts' own commands apart.
    pub seen: Vec<Vec<String>>,
    /// What the ACL refused, the newest first.
    pub refused: Vec<String>,
}

/// Runs `plan` on fresh servers and watches its first node. A run in which the freeze did not hold is no run (see
/// [`run_on`]); there is another one then.
pub async fn watch(plan: &Plan) -> Watched {
    for _ in 0..20 {
        if let Some(watched) = watch_once(plan).await {
            return watched;
        }
    }
    panic!("this machine is too busy for {}/{}", plan.lesson, plan.variant);
}

async fn watch_once(plan: &Plan) -> Option<Watched> {
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

    let trace = run_on(&servers, &Store::default(), &binary, plan, ClockKind::Warp).await.expect("it runs")?;

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
        let read = stream.read_line(&mut line).await.expect("a line");
        assert!(read > 0, "{node} was ended in the lesson, and what it did before with it");
        let Some(words) = monitored(&line) else { continue };
        if words.last().is_some_and(|word| word == "end-of-lesson") {
            return Some(Watched { trace, seen, refused });
        }
        seen.push(words);
    }
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
