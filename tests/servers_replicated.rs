//! A master and its replicas, each behind a link: what arrives, what is lost, who follows whom.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod servers_support;

use lockscope::servers::{CrashKind, Fleet, NodeRole, Persistence, Servers, Shape};
use redis::Value;
use servers_support::{at, bulk, code, fleet, pid, replicated, run, say, setup};

async fn prepared(fleet: &Fleet, replicas: u8) -> Servers {
    fleet.prepare(&replicated(replicas)).await.unwrap()
}

/// Sets `lock:1` on a node as a lesson's client.
fn write(servers: &Servers, node: &str, value: &str) -> Value {
    let client = servers.connect(node, "A").unwrap();
    say(&client, &format!("SET lock:1 {value}"))
}

async fn read(servers: &Servers, node: &str) -> Option<String> {
    match at(servers, node, "GET lock:1").await {
        Value::BulkString(bytes) => Some(String::from_utf8(bytes).unwrap()),
        Value::Nil => None,
        other => panic!("{other:?}"),
    }
}

#[allow(clippy::unnecessary_wraps, reason = "what `read` returns is compared with it")]
fn some(value: &str) -> Option<String> {
    Some(value.to_owned())
}

#[test]
fn an_open_link_passes_every_write() {
    run(async {
        let fleet = fleet();
        let servers = prepared(&fleet, 2).await;
        assert_eq!(servers.names(), ["m", "r1", "r2"]);
        assert_eq!(servers.role("r2").unwrap(), NodeRole::ReplicaOf("m".into()));
        for round in 0..100 {
            let value = format!("v{round}");
            write(&servers, "m", &value);
            for replica in ["r1", "r2"] {
                servers.barrier(replica).await.unwrap();
                assert_eq!(read(&servers, replica).await, some(&value));
                assert_eq!(servers.held_bytes(replica).unwrap(), 0);
            }
        }
        assert_eq!(code(&write(&servers, "r1", "x")), "READONLY");
    });
}

#[test]
fn a_held_link_keeps_exactly_what_came_after() {
    run(async {
        let fleet = fleet();
        let servers = prepared(&fleet, 2).await;
        write(&servers, "m", "before");
        servers.hold("r1").await.unwrap();
        assert_eq!(read(&servers, "r1").await, some("before"));
        write(&servers, "m", "after");
        servers.mark("r1").await.unwrap();
        servers.barrier("r1").await.unwrap();
        servers.barrier("r2").await.unwrap();
        assert!(servers.held_bytes("r1").unwrap() > 0);
        assert_eq!(read(&servers, "r1").await, some("before"));
        assert_eq!(read(&servers, "r2").await, some("after"));
        servers.heal("r1").await.unwrap();
        assert_eq!(servers.held_bytes("r1").unwrap(), 0);
        assert_eq!(read(&servers, "r1").await, some("after"));
    });
}

#[test]
fn on_a_slow_link_each_write_arrives_at_its_mark() {
    run(async {
        let fleet = fleet();
        let servers = prepared(&fleet, 1).await;
        servers.slow("r1").await.unwrap();
        let mut marks = Vec::new();
        for value in ["one", "two", "three"] {
            write(&servers, "m", value);
            marks.push(servers.mark("r1").await.unwrap());
        }
        assert_eq!(read(&servers, "r1").await, None);
        for (mark, value) in marks.iter().zip(["one", "two", "three"]) {
            servers.arrive("r1", *mark).await.unwrap();
            assert_eq!(read(&servers, "r1").await, some(value));
        }
        assert_eq!(servers.held_bytes("r1").unwrap(), 0);
        write(&servers, "m", "four");
        servers.heal("r1").await.unwrap();
        assert_eq!(read(&servers, "r1").await, some("four"));
        // Late news of a link that is open again changes nothing.
        servers.arrive("r1", marks[0]).await.unwrap();
        write(&servers, "m", "five");
        servers.barrier("r1").await.unwrap();
        assert_eq!(read(&servers, "r1").await, some("five"));
    });
}

#[test]
fn a_cut_link_passes_and_keeps_nothing_until_it_is_healed() {
    run(async {
        let fleet = fleet();
        let servers = prepared(&fleet, 1).await;
        for round in 0..5 {
            let (before, after) = (format!("before-{round}"), format!("after-{round}"));
            write(&servers, "m", &before);
            servers.barrier("r1").await.unwrap();
            servers.cut("r1").await.unwrap();
            write(&servers, "m", &after);
            servers.barrier("r1").await.unwrap();
            assert_eq!(servers.held_bytes("r1").unwrap(), 0);
            assert_eq!(read(&servers, "r1").await, some(&before));
            servers.heal("r1").await.unwrap();
            assert_eq!(read(&servers, "r1").await, some(&after));
        }
    });
}

#[test]
fn a_replica_does_not_come_back_by_itself_after_a_cut() {
    run(async {
        let fleet = fleet();
        let servers = prepared(&fleet, 1).await;
        servers.cut("r1").await.unwrap();
        write(&servers, "m", "after");
        // It tries each second. Wait until it has certainly tried: the log of the server counts its attempts.
        let Value::Map(home) = at(&servers, "r1", "CONFIG GET dir").await else { panic!() };
        let log = std::path::Path::new(&servers_support::text(&home[0].1)).join("redis.log");
        let tries = || std::fs::read_to_string(&log).unwrap().matches("Connecting to ").count();
        let before = tries();
        let twice = async {
            while tries() < before + 2 {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), twice).await.unwrap();
        assert_eq!(read(&servers, "r1").await, None);
        servers.heal("r1").await.unwrap();
        assert_eq!(read(&servers, "r1").await, some("after"));
    });
}

#[test]
fn a_crash_behind_an_open_link_loses_nothing() {
    run(async {
        let fleet = fleet();
        for round in 0..10 {
            let servers = prepared(&fleet, 1).await;
            let client = servers.connect("m", "A").unwrap();
            for write in 0..50 {
                say(&client, &format!("RPUSH queue:{round} {write}"));
            }
            servers.crash("m", CrashKind::Process).await.unwrap();
            servers.promote("r1").await.unwrap();
            assert_eq!(at(&servers, "r1", &format!("LLEN queue:{round}")).await, Value::Int(50));
            assert_eq!(write(&servers, "r1", "new"), Value::Okay);
        }
    });
}

#[test]
fn a_crash_behind_a_held_link_loses_exactly_what_was_held() {
    run(async {
        let fleet = fleet();
        for _ in 0..10 {
            let servers = prepared(&fleet, 1).await;
            write(&servers, "m", "kept");
            servers.hold("r1").await.unwrap();
            write(&servers, "m", "lost");
            servers.mark("r1").await.unwrap();
            assert!(servers.held_bytes("r1").unwrap() > 0);
            servers.crash("m", CrashKind::Process).await.unwrap();
            assert_eq!(servers.held_bytes("r1").unwrap(), 0);
            servers.promote("r1").await.unwrap();
            assert_eq!(read(&servers, "r1").await, some("kept"));
            assert_eq!(servers.role("r1").unwrap(), NodeRole::Master);
        }
    });
}

#[test]
fn what_was_under_way_on_a_slow_link_arrives_after_the_masters_death() {
    run(async {
        let fleet = fleet();
        for _ in 0..10 {
            let servers = prepared(&fleet, 1).await;
            servers.slow("r1").await.unwrap();
            write(&servers, "m", "one");
            let one = servers.mark("r1").await.unwrap();
            write(&servers, "m", "two");
            servers.crash("m", CrashKind::Process).await.unwrap();
            assert_eq!(read(&servers, "r1").await, None);
            servers.arrive("r1", one).await.unwrap();
            assert_eq!(read(&servers, "r1").await, some("one"));
            // Promoted before the second arrives: that one never does.
            servers.promote("r1").await.unwrap();
            assert_eq!(read(&servers, "r1").await, some("one"));
        }
    });
}

#[test]
fn after_a_promotion_the_others_follow_and_the_old_master_keeps_to_itself() {
    run(async {
        let fleet = fleet();
        let servers = prepared(&fleet, 2).await;
        write(&servers, "m", "shared");
        servers.hold("r1").await.unwrap();
        servers.hold("r2").await.unwrap();
        write(&servers, "m", "alone");
        servers.promote("r1").await.unwrap();
        assert_eq!(read(&servers, "r1").await, some("shared"));
        assert_eq!(servers.role("r2").unwrap(), NodeRole::ReplicaOf("r1".into()));
        // Two masters at once.
        assert_eq!(servers.role("m").unwrap(), NodeRole::Master);
        assert_eq!(read(&servers, "m").await, some("alone"));
        assert_eq!(write(&servers, "m", "alone-too"), Value::Okay);
        assert_eq!(write(&servers, "r1", "new"), Value::Okay);
        servers.barrier("r2").await.unwrap();
        assert_eq!(read(&servers, "r2").await, some("new"));

        servers.demote("m", "r1").await.unwrap();
        assert_eq!(read(&servers, "m").await, some("new"));
        assert_eq!(code(&write(&servers, "m", "x")), "READONLY");
        // Its link is one like any other.
        servers.hold("m").await.unwrap();
        write(&servers, "r1", "newer");
        servers.barrier("r2").await.unwrap();
        assert_eq!(read(&servers, "m").await, some("new"));
        servers.heal("m").await.unwrap();
        assert_eq!(read(&servers, "m").await, some("newer"));
    });
}

#[test]
fn a_chain_of_promotions_ends_where_it_began() {
    run(async {
        let fleet = fleet();
        let servers = prepared(&fleet, 2).await;
        for (round, (master, next)) in [("m", "r1"), ("r1", "r2"), ("r2", "m")].into_iter().enumerate() {
            let value = format!("v{round}");
            write(&servers, master, &value);
            servers.crash(master, CrashKind::Process).await.unwrap();
            servers.promote(next).await.unwrap();
            servers.restart(master).await.unwrap();
            assert_eq!(servers.role(master).unwrap(), NodeRole::ReplicaOf(next.into()));
            for node in ["m", "r1", "r2"] {
                assert_eq!(read(&servers, node).await, some(&value), "{node} in round {round}");
            }
        }
    });
}

#[test]
fn a_master_that_restarts_empty_empties_its_replicas() {
    run(async {
        let fleet = fleet();
        let servers = prepared(&fleet, 1).await;
        write(&servers, "m", "x");
        servers.crash("m", CrashKind::Process).await.unwrap();
        assert_eq!(read(&servers, "r1").await, some("x"));
        servers.restart("m").await.unwrap();
        assert_eq!(read(&servers, "m").await, None);
        assert_eq!(read(&servers, "r1").await, None);
        // Unless they cannot reach it.
        write(&servers, "m", "y");
        servers.barrier("r1").await.unwrap();
        servers.cut("r1").await.unwrap();
        servers.crash("m", CrashKind::Process).await.unwrap();
        servers.restart("m").await.unwrap();
        assert_eq!(read(&servers, "r1").await, some("y"));
        servers.heal("r1").await.unwrap();
        assert_eq!(read(&servers, "r1").await, None);
    });
}

#[test]
fn with_a_log_master_and_replica_come_back_with_their_data() {
    run(async {
        let fleet = fleet();
        for persistence in [Persistence::EverySec, Persistence::Always] {
            let servers = fleet.prepare(&setup(Shape::Replicated { replicas: 1 }, persistence)).await.unwrap();
            write(&servers, "m", "x");
            servers.barrier("r1").await.unwrap();
            servers.crash("r1", CrashKind::Process).await.unwrap();
            write(&servers, "m", "y");
            servers.crash("m", CrashKind::Process).await.unwrap();
            servers.restart("r1").await.unwrap();
            assert_eq!(read(&servers, "r1").await, some("x"), "its master is down: it has its own");
            servers.restart("m").await.unwrap();
            assert_eq!(read(&servers, "m").await, some("y"));
            assert_eq!(read(&servers, "r1").await, some("y"));
        }
    });
}

#[test]
fn flush_reaches_the_replicas_through_open_links_only() {
    run(async {
        let fleet = fleet();
        let servers = prepared(&fleet, 2).await;
        write(&servers, "m", "x");
        servers.hold("r2").await.unwrap();
        servers.flush("m").await.unwrap();
        assert_eq!(read(&servers, "m").await, None);
        assert_eq!(read(&servers, "r1").await, None);
        assert_eq!(read(&servers, "r2").await, some("x"));
    });
}

#[test]
fn an_endless_script_on_a_master_does_not_take_its_replica_along() {
    run(async {
        let fleet = fleet();
        let servers = prepared(&fleet, 1).await;
        write(&servers, "m", "x");
        let client = servers.connect("m", "A").unwrap();
        let script = servers_support::words("EVAL redis.call('SET',KEYS[1],'y')·while·true·do·end 1 lock:1");
        client.ask(&script).unwrap();
        assert_eq!(servers.end_script("m").await.unwrap(), lockscope::servers::ScriptEnd::NodeKilled);
        assert!(client.answer().is_err());
        servers.promote("r1").await.unwrap();
        // A script is replicated as a whole, when it has ended.
        assert_eq!(read(&servers, "r1").await, some("x"));
    });
}

#[test]
fn the_next_lesson_finds_everything_as_on_the_first_day() {
    run(async {
        let fleet = fleet();
        let mut processes = Vec::new();
        // What one lesson leaves behind, the next must not see.
        for disorder in
            ["nothing", "held", "slow", "cut", "promoted", "promoted-and-demoted", "killed", "replica-killed"]
        {
            let servers = prepared(&fleet, 1).await;
            if processes.is_empty() {
                processes = vec![pid(&servers, "m").await, pid(&servers, "r1").await];
            }
            for node in ["m", "r1"] {
                assert_eq!(at(&servers, node, "DBSIZE").await, Value::Int(0), "{node} before {disorder}");
                assert_eq!(servers.observer(node).unwrap().events().unwrap(), [], "{node} before {disorder}");
                assert!(servers.is_up(node).unwrap());
            }
            assert_eq!(servers.role("m").unwrap(), NodeRole::Master);
            assert_eq!(servers.role("r1").unwrap(), NodeRole::ReplicaOf("m".into()));
            assert_eq!(servers.held_bytes("r1").unwrap(), 0);
            write(&servers, "m", "x");
            servers.barrier("r1").await.unwrap();
            assert_eq!(read(&servers, "r1").await, some("x"));
            match disorder {
                "held" => servers.hold("r1").await.unwrap(),
                "slow" => servers.slow("r1").await.unwrap(),
                "cut" => servers.cut("r1").await.unwrap(),
                "promoted" => servers.promote("r1").await.unwrap(),
                "promoted-and-demoted" => {
                    servers.promote("r1").await.unwrap();
                    servers.demote("m", "r1").await.unwrap();
                }
                "killed" => {
                    servers.crash("m", CrashKind::Process).await.unwrap();
                    servers.promote("r1").await.unwrap();
                }
                "replica-killed" => servers.crash("r1", CrashKind::Process).await.unwrap(),
                _ => {}
            }
            if disorder != "killed" {
                write(&servers, "m", "left-behind");
            }
            if disorder == "promoted-and-demoted" {
                assert_eq!(vec![pid(&servers, "m").await, pid(&servers, "r1").await], processes, "new processes");
            }
        }
        let servers = prepared(&fleet, 1).await;
        assert_eq!(at(&servers, "r1", "DBSIZE").await, Value::Int(0));
        assert_eq!(at(&servers, "r1", "GET lock:1").await, Value::Nil);
        write(&servers, "m", "x");
        servers.barrier("r1").await.unwrap();
        assert_eq!(at(&servers, "r1", "GET lock:1").await, bulk("x"));
    });
}
