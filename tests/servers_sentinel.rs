//! A set that three real Sentinels watch: it starts quickly, they fail over by themselves, nothing of it remains for the
//! next lesson, and nothing outlives this process (for that see `servers_guard` and `cli_killed`).

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod servers_support;

use lockscope::servers::{CrashKind, Fleet, NodeRole, Persistence, Servers, Setup, Shape};
use servers_support::{at, bulk, fleet, run, say, setup};

fn sentinel() -> Setup {
    setup(Shape::Sentinel { replicas: 2 }, Persistence::None)
}

async fn prepare(fleet: &Fleet) -> Servers {
    fleet.prepare(&sentinel()).await.unwrap()
}

/// What every Sentinel says the master is, asked as lesson clients ask.
fn masters(servers: &Servers) -> Vec<String> {
    let mut masters = Vec::new();
    for name in servers.sentinels() {
        let conn = servers.connect(&name, "A").unwrap();
        let said = say(&conn, "SENTINEL GET-MASTER-ADDR-BY-NAME lock");
        let redis::Value::Array(parts) = said else { panic!("{said:?}") };
        let redis::Value::BulkString(port) = &parts[1] else { panic!("{parts:?}") };
        let port = String::from_utf8_lossy(port).parse().unwrap();
        masters.push(servers.name_at(port).unwrap());
    }
    masters
}

/// Waits until some Sentinel has switched.
async fn switched(servers: &Servers) -> Option<String> {
    loop {
        let news = servers.hear().await;
        if news.event == "+switch-master" {
            return news.about;
        }
    }
}

#[test]
fn three_sentinels_fail_over_by_themselves_and_nothing_remains() {
    run(async {
        let fleet = fleet();
        let begin = std::time::Instant::now();
        let servers = prepare(&fleet).await;
        println!("the set has started in {} ms", begin.elapsed().as_millis());
        assert_eq!(servers.names(), ["m", "r1", "r2"]);
        assert_eq!(masters(&servers), ["m", "m", "m"]);
        let conn = servers.connect("m", "A").unwrap();
        say(&conn, "SET lock:1 A");
        servers.barrier("r1").await.unwrap();
        assert_eq!(at(&servers, "r1", "GET lock:1").await, bulk("A"));
        servers.hold("r1").await.unwrap();
        servers.hold("r2").await.unwrap();
        say(&conn, "SET lock:1 B");
        let begin = std::time::Instant::now();
        servers.crash("m", CrashKind::Process).await.unwrap();
        assert_eq!(switched(&servers).await.as_deref(), Some("r1"), "equally far: the first name");
        println!("they have failed over in {} ms", begin.elapsed().as_millis());
        assert!(servers.adopt("r1").await.unwrap());
        assert_eq!(servers.role("r1").unwrap(), NodeRole::Master);
        assert_eq!(at(&servers, "r1", "GET lock:1").await, bulk("A"), "what was held has died with the master");
        drop((conn, servers));

        let begin = std::time::Instant::now();
        let servers = prepare(&fleet).await;
        println!("the next set has started in {} ms", begin.elapsed().as_millis());
        assert_eq!(masters(&servers), ["m", "m", "m"]);
        for node in ["m", "r1", "r2"] {
            assert_eq!(at(&servers, node, "GET lock:1").await, redis::Value::Nil, "{node}");
        }
        drop(servers);
        let begin = std::time::Instant::now();
        let servers = prepare(&fleet).await;
        println!("a set that was not touched is renewed in {} ms", begin.elapsed().as_millis());
        assert_eq!(masters(&servers), ["m", "m", "m"]);
    });
}
