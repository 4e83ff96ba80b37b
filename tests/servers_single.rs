//! One private server: connections, key events, crash and restart, reuse.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod servers_support;

use std::os::unix::fs::PermissionsExt;

use lockscope::servers::{
    ConnectError, CrashKind, KeyEvent, Persistence, ScriptEnd, Servers, ServersError, Setup, Shape,
};
use redis::Value;
use servers_support::{ask, at, bulk, code, exists, fleet, pid, run, runs, say, setup, single, text, until, words};

fn event(event: &str, key: &str) -> KeyEvent {
    KeyEvent { event: event.into(), key: key.into() }
}

#[test]
fn a_client_talks_and_the_observer_hears_it() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        assert_eq!(servers.names(), ["redis"]);
        let a = servers.connect("redis", "A").unwrap();
        assert_eq!(say(&a, "SET lock:1 token·with·blanks NX PX 30000"), Value::Okay);
        assert_eq!(say(&a, "SET lock:1 other NX PX 30000"), Value::Nil);
        assert_eq!(say(&a, "GET lock:1"), bulk("token with blanks"));
        assert_eq!(say(&a, "DEL lock:1"), Value::Int(1));
        let observer = servers.observer("redis").unwrap();
        let heard = observer.events().unwrap();
        assert_eq!(heard, [event("set", "lock:1"), event("del", "lock:1")]);
        assert_eq!(observer.events().unwrap(), []);
        let list = text(&ask(&observer, &format!("CLIENT LIST ID {}", a.id())).await);
        assert!(list.contains(" name=A ") && list.contains(" user=lesson "), "{list}");
    });
}

#[test]
fn every_event_before_a_reply_is_there_after_it() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        let observer = servers.observer("redis").unwrap();
        for round in 0..500 {
            say(&a, "SET lock:1 x");
            // Any look will do as the barrier.
            assert_eq!(observer.look(redis::cmd("EXISTS").arg("lock:1")).unwrap(), Value::Int(1));
            assert_eq!(observer.drain_events(), [event("set", "lock:1")], "round {round}");
        }
    });
}

#[test]
fn an_expiry_is_heard_when_redis_has_done_it() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        say(&a, "SET lock:1 x PX 1");
        let observer = servers.observer("redis").unwrap();
        while ask(&observer, "EXISTS lock:1").await == Value::Int(1) {}
        let heard = observer.events().unwrap();
        assert_eq!(heard.last(), Some(&event("expired", "lock:1")));
    });
}

#[test]
fn errors_are_replies_inside_lists_too() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        assert_eq!(code(&say(&a, "EVAL return·redis.call('NOSUCH') 0")), "ERR");
        say(&a, "SET lock:1 text");
        say(&a, "MULTI");
        say(&a, "INCR lock:1");
        say(&a, "GET lock:1");
        let Value::Array(replies) = say(&a, "EXEC") else { panic!() };
        assert_eq!(code(&replies[0]), "ERR");
        assert_eq!(replies[1], bulk("text"));
    });
}

#[test]
fn a_dropped_connection_is_forgotten_even_in_a_blocking_command() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        let id = a.id();
        a.ask(&words("BLPOP queue:a 0")).unwrap();
        let observer = servers.observer("redis").unwrap();
        // `b`: blocked (`U` beside it: by a Unix socket).
        let blocked =
            async { while !text(&ask(&observer, &format!("CLIENT LIST ID {id}")).await).contains(" flags=b") {} };
        tokio::time::timeout(std::time::Duration::from_secs(10), blocked).await.unwrap();
        drop(a);
        servers.closed("redis", id).await.unwrap();
        let b = servers.connect("redis", "B").unwrap();
        say(&b, "RPUSH queue:a job");
        // The dead client did not take it.
        assert_eq!(say(&b, "LLEN queue:a"), Value::Int(1));
    });
}

#[test]
fn a_crashed_node_refuses_and_comes_back_empty() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        say(&a, "SET lock:1 x");
        let process = pid(&servers, "redis").await;
        servers.crash("redis", CrashKind::Process).await.unwrap();
        assert!(!runs(process));
        assert!(!servers.is_up("redis").unwrap());
        assert!(a.ask(&words("GET lock:1")).and_then(|()| a.answer()).is_err());
        let refused = servers.connect("redis", "A").unwrap_err();
        assert_eq!(refused, ConnectError::Refused("redis".into()));
        assert!(matches!(servers.observer("redis"), Err(ServersError::Down(_))));
        servers.restart("redis").await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        assert_eq!(say(&a, "GET lock:1"), Value::Nil);
    });
}

#[test]
fn with_a_log_a_crash_loses_nothing() {
    for persistence in [Persistence::EverySec, Persistence::Always] {
        run(async {
            let fleet = fleet();
            let servers = fleet.prepare(&setup(Shape::Single, persistence)).await.unwrap();
            for round in 0..20 {
                let a = servers.connect("redis", "A").unwrap();
                say(&a, &format!("SET lock:1 value-{round} PX 60000"));
                servers.crash("redis", CrashKind::Process).await.unwrap();
                servers.restart("redis").await.unwrap();
                let a = servers.connect("redis", "A").unwrap();
                assert_eq!(say(&a, "GET lock:1"), bulk(&format!("value-{round}")));
                let Value::Int(left) = say(&a, "PTTL lock:1") else { panic!() };
                assert!(left > 50_000 && left <= 60_000, "{left}");
            }
        });
    }
}

/// Ends the script that a client has just sent. Before that has arrived there is nothing to end: what two connections
/// send has no order.
async fn end_script(servers: &Servers) -> ScriptEnd {
    loop {
        match servers.end_script("redis").await.unwrap() {
            ScriptEnd::NotRunning => tokio::task::yield_now().await,
            ended => return ended,
        }
    }
}

#[test]
fn an_endless_script_that_only_reads_is_stopped_within_a_second() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        let process = pid(&servers, "redis").await;
        let start = std::time::Instant::now();
        a.ask(&words("EVAL while·true·do·end 0")).unwrap();
        assert_eq!(end_script(&servers).await, ScriptEnd::Stopped);
        assert_eq!(code(&a.answer().unwrap()), "ERR");
        assert!(start.elapsed().as_millis() < 1000, "{:?}", start.elapsed());
        assert_eq!(pid(&servers, "redis").await, process);
        assert_eq!(servers.end_script("redis").await.unwrap(), ScriptEnd::NotRunning);
    });
}

#[test]
fn an_endless_script_that_has_written_costs_the_node_within_a_second() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        let process = pid(&servers, "redis").await;
        let start = std::time::Instant::now();
        let script = words("EVAL redis.call('SET',KEYS[1],'x')·while·true·do·end 1 lock:1");
        a.ask(&script).unwrap();
        assert_eq!(end_script(&servers).await, ScriptEnd::NodeKilled);
        assert!(a.answer().is_err());
        assert!(start.elapsed().as_millis() < 1000, "{:?}", start.elapsed());
        assert!(!runs(process));
        drop(servers);
        // The next lesson does not notice.
        let servers = fleet.prepare(&single()).await.unwrap();
        assert_eq!(at(&servers, "redis", "DBSIZE").await, Value::Int(0));
    });
}

#[test]
fn the_next_lesson_gets_the_same_process_and_nothing_else() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let process = pid(&servers, "redis").await;
        let a = servers.connect("redis", "A").unwrap();
        say(&a, "SET lock:1 x PX 60000");
        let Value::BulkString(sha) = say(&a, "SCRIPT LOAD return·1") else { panic!() };
        let sha = String::from_utf8(sha).unwrap();
        say(&a, "FLUSHALL");
        at(&servers, "redis", "FUNCTION LOAD #!lua·name=f\nredis.register_function('f',function()·return·1·end)").await;
        at(&servers, "redis", "CONFIG SET min-replicas-to-write 1").await;
        let subscriber = servers.admin("redis").unwrap();
        let mut subscriber = subscriber.get_async_pubsub().await.unwrap();
        subscriber.subscribe("queue:a").await.unwrap();
        let id = a.id();
        drop(servers);

        let other = Setup { keys: vec!["lock:2".into()], ..single() };
        let servers = fleet.prepare(&other).await.unwrap();
        assert_eq!(pid(&servers, "redis").await, process);
        assert_eq!(servers.observer("redis").unwrap().events().unwrap(), []);
        assert_eq!(at(&servers, "redis", "DBSIZE").await, Value::Int(0));
        assert_eq!(at(&servers, "redis", &format!("SCRIPT EXISTS {sha}")).await, Value::Array(vec![Value::Int(0)]));
        assert_eq!(at(&servers, "redis", "FUNCTION LIST").await, Value::Array(vec![]));
        assert_eq!(at(&servers, "redis", "ACL LOG").await, Value::Array(vec![]));
        assert_eq!(at(&servers, "redis", "PUBSUB CHANNELS").await, Value::Array(vec![]));
        let Value::Map(config) = at(&servers, "redis", "CONFIG GET min-replicas-to-write").await else { panic!() };
        assert_eq!(config[0].1, bulk("0"));
        assert!(!text(&at(&servers, "redis", "CLIENT LIST").await).contains(&format!("id={id} ")));
        assert!(a.ask(&words("PING")).and_then(|()| a.answer()).is_err(), "a client of the old lesson is still there");
        let b = servers.connect("redis", "B").unwrap();
        assert_eq!(say(&b, "SET lock:2 x"), Value::Okay);
        assert_eq!(code(&say(&b, "GET lock:1")), "NOPERM");
    });
}

#[test]
fn two_lessons_at_once_have_servers_of_their_own() {
    run(async {
        let fleet = fleet();
        let one = fleet.prepare(&single()).await.unwrap();
        let two = fleet.prepare(&single()).await.unwrap();
        assert_ne!(pid(&one, "redis").await, pid(&two, "redis").await);
    });
}

#[test]
fn everything_is_private_and_gone_at_the_end() {
    let (process, folder) = run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let folder = fleet.folder().unwrap().to_owned();
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        let process = pid(&servers, "redis").await;
        let Value::Map(config) = at(&servers, "redis", "CONFIG GET port").await else { panic!() };
        assert_eq!(config[0].1, bulk("0"), "no TCP port");
        // Another test of this process may hold the same folder; the server's own part goes in any case.
        let Value::Map(config) = at(&servers, "redis", "CONFIG GET dir").await else { panic!() };
        let home = std::path::PathBuf::from(text(&config[0].1));
        assert!(home.starts_with(&folder) && exists(&home));
        drop(servers);
        drop(fleet);
        (process, home)
    });
    assert!(!runs(process));
    until("the server's folder is gone", || !exists(&folder));
}
