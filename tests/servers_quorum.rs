//! Several private masters that know nothing of each other: started at once, each for itself, used again without a trace
//! of the last lesson.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod servers_support;

use lockscope::servers::{CrashKind, NodeRole, Persistence, Servers, Setup, Shape};
use redis::Value;
use servers_support::{at, bulk, fleet, pid, run, say, setup};

const NODES: [&str; 5] = ["n1", "n2", "n3", "n4", "n5"];

fn quorum() -> Setup {
    setup(Shape::Quorum { nodes: 5 }, Persistence::None)
}

async fn pids(servers: &Servers) -> Vec<u32> {
    let mut pids = Vec::new();
    for node in NODES {
        pids.push(pid(servers, node).await);
    }
    pids
}

#[test]
fn five_masters_know_nothing_of_each_other() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&quorum()).await.unwrap();
        assert_eq!(servers.names(), NODES);
        for node in NODES {
            assert_eq!(servers.role(node).unwrap(), NodeRole::Master);
            let a = servers.connect(node, "A").unwrap();
            say(&a, &format!("SET lock:1 {node}"));
        }
        for node in NODES {
            assert_eq!(at(&servers, node, "GET lock:1").await, bulk(node));
        }
        servers.crash("n3", CrashKind::Process).await.unwrap();
        assert!(!servers.is_up("n3").unwrap() && servers.is_up("n2").unwrap());
        servers.restart("n3").await.unwrap();
        assert_eq!(servers.role("n3").unwrap(), NodeRole::Master);
        assert_eq!(at(&servers, "n3", "EXISTS lock:1").await, Value::Int(0), "it remembers nothing");
        assert_eq!(at(&servers, "n4", "EXISTS lock:1").await, Value::Int(1));
    });
}

#[test]
fn nothing_leaks_into_the_next_lesson() {
    run(async {
        let fleet = fleet();
        let first = fleet.prepare(&quorum()).await.unwrap();
        let before = pids(&first).await;
        for node in NODES {
            let a = first.connect(node, "A").unwrap();
            say(&a, "SET lock:1 x");
        }
        first.crash("n2", CrashKind::Process).await.unwrap();
        drop(first);
        let second = fleet.prepare(&quorum()).await.unwrap();
        let after = pids(&second).await;
        for (i, node) in NODES.into_iter().enumerate() {
            assert_eq!(before[i] == after[i], node != "n2", "{node}");
            assert_eq!(at(&second, node, "DBSIZE").await, Value::Int(0), "{node}");
            assert_eq!(second.observer(node).unwrap().events().unwrap(), [], "{node}");
        }
    });
}

#[test]
fn whoever_stands_ready_is_asked_whether_he_still_lives() {
    run(async {
        let servers = fleet().prepare(&quorum()).await.unwrap();
        assert!(servers.answer());
        let mut admin = servers.admin("n4").unwrap().get_connection().unwrap();
        // A server that goes closes the connection instead of a reply.
        redis::cmd("SHUTDOWN").arg("NOSAVE").query::<Value>(&mut admin).unwrap_err();
        assert!(!servers.answer());
    });
}
