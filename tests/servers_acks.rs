//! What a replica has, and its master does not know.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod servers_support;

use lockscope::servers::{Conn, CrashKind};
use redis::Value;
use servers_support::{at, bulk, fleet, replicated, run, say, text};

/// How many replicas the master has heard from, of what `client` has written on it.
fn heard(client: &Conn) -> i64 {
    match say(client, "WAIT 1 1") {
        Value::Int(count) => count,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_master_that_is_not_told_does_not_know_what_its_replica_has() {
    run(async {
        let fleet = fleet();
        for _ in 0..10 {
            let servers = fleet.prepare(&replicated(1)).await.unwrap();
            let client = servers.connect("m", "A").unwrap();
            say(&client, "SET lock:1 before");
            servers.keep_acks("r1").await.unwrap();
            assert_eq!(heard(&client), 1, "what it had before, its master knows");
            let known = servers.acks_kept_after("r1").unwrap().unwrap();
            say(&client, "SET lock:1 after");
            let after = servers.offset("m").await.unwrap();
            assert_eq!(heard(&client), 0);
            servers.barrier("r1").await.unwrap();
            assert_eq!(at(&servers, "r1", "GET lock:1").await, bulk("after"));
            assert_eq!(servers.replicas_with("m", known).await.unwrap(), 1);
            assert_eq!(servers.replicas_with("m", after).await.unwrap(), 0);
            servers.acks_arrive("r1", after).await.unwrap();
            assert_eq!(heard(&client), 1);
            say(&client, "SET lock:1 last");
            assert_eq!(heard(&client), 0);
            servers.open_acks("r1").await.unwrap();
            assert_eq!(heard(&client), 1);
            // The next lesson begins with open links, whatever this one leaves.
            servers.keep_acks("r1").await.unwrap();
        }
    });
}

#[test]
fn a_link_that_is_made_anew_still_keeps_from_the_master_what_it_kept() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&replicated(1)).await.unwrap();
        servers.keep_acks("r1").await.unwrap();
        servers.crash("r1", CrashKind::Process).await.unwrap();
        let client = servers.connect("m", "A").unwrap();
        say(&client, "SET lock:1 missed");
        servers.restart("r1").await.unwrap();
        assert_eq!(heard(&client), 1, "it has said so when it came");
        say(&client, "SET lock:1 later");
        servers.barrier("r1").await.unwrap();
        assert_eq!(at(&servers, "r1", "GET lock:1").await, bulk("later"));
        assert_eq!(heard(&client), 0);
        servers.cut("r1").await.unwrap();
        servers.heal("r1").await.unwrap();
        say(&client, "SET lock:1 last");
        assert_eq!(heard(&client), 0);
        servers.promote("r1").await.unwrap();
        assert_eq!(at(&servers, "r1", "GET lock:1").await, bulk("last"));
    });
}

/// A replica says what it has once in each real second. Nothing that a lesson shows may depend on when.
#[test]
fn a_master_can_be_told_at_once() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&replicated(2)).await.unwrap();
        let client = servers.connect("m", "A").unwrap();
        servers.keep_acks("r1").await.unwrap();
        let known = servers.offset("m").await.unwrap();
        for round in 0..20 {
            say(&client, &format!("SET lock:1 {round}"));
            let after = servers.offset("m").await.unwrap();
            servers.tell_all("m").await.unwrap();
            let said = text(&at(&servers, "m", "INFO replication").await);
            let mut said: Vec<i64> = said
                .lines()
                .filter_map(|line| line.split_once(",offset=")?.1.split(',').next()?.parse().ok())
                .collect();
            said.sort_unstable();
            assert_eq!(said, [known, after], "the one that may not say so has not");
        }
    });
}
