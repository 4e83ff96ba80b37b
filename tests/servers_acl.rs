//! Lessons are untrusted: the server itself refuses what is not theirs, directly and inside scripts.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod servers_support;

use redis::Value;
use servers_support::{at, bulk, code, fleet, replicated, run, say, single, text, words};

/// What must never run for a lesson: it reads or hurts the machine, the server, other keys or other clients, or it needs
/// the real clock or luck. (AUTH, HELLO with AUTH, RESET and QUIT cannot be refused by a rule; see below.)
const FORBIDDEN: &str = "\
    CONFIG·GET·* | CONFIG·SET·maxmemory·1 | CONFIG·REWRITE | CONFIG·RESETSTAT | FLUSHALL | FLUSHDB | SHUTDOWN·NOSAVE | DEBUG·SLEEP·0 \
    | MODULE·LIST | MODULE·LOAD·/tmp/x.so | KEYS·* | SCAN·0 | RANDOMKEY | DBSIZE | SAVE | BGSAVE | BGREWRITEAOF | LASTSAVE \
    | REPLICAOF·NO·ONE | SLAVEOF·NO·ONE | ROLE | FAILOVER | PSYNC·?·-1 | SYNC | REPLCONF·ack·0 | MONITOR | CLIENT·LIST | CLIENT·INFO \
    | CLIENT·KILL·TYPE·normal | CLIENT·PAUSE·1 | CLIENT·UNBLOCK·1 | CLIENT·NO-EVICT·on | CLIENT·REPLY·OFF | CLIENT·TRACKING·on \
    | ACL·LIST | ACL·WHOAMI | ACL·SETUSER·lesson·allkeys | ACL·DELUSER·lockscope | ACL·GETUSER·lockscope | ACL·LOG | ACL·GENPASS \
    | ACL·SAVE | ACL·LOAD | INFO | COMMAND | COMMAND·DOCS·get | LATENCY·LATEST | MEMORY·DOCTOR | MEMORY·USAGE·lock:1 | SLOWLOG·GET \
    | SLOWLOG·RESET | LOLWUT | TIME | EXPIREAT·lock:1·99999999999 | PEXPIREAT·lock:1·99999999999999 | EXPIRETIME·lock:1 \
    | PEXPIRETIME·lock:1 | SCRIPT·FLUSH | SCRIPT·KILL | SCRIPT·DEBUG·YES | FUNCTION·LIST | FUNCTION·FLUSH \
    | FUNCTION·LOAD·x | FCALL·x·0 | FCALL_RO·x·0 | SELECT·0 | SWAPDB·0·0 | MOVE·lock:1·0 | COPY·lock:1·queue:a | RENAME·lock:1·queue:a \
    | RENAMENX·lock:1·queue:a | DUMP·lock:1 | RESTORE·lock:1·0·x | MIGRATE·127.0.0.1·1·lock:1·0·1 | OBJECT·ENCODING·lock:1 \
    | OBJECT·FREQ·lock:1 | SORT·queue:a | SORT_RO·queue:a | TOUCH·lock:1 | WATCH·lock:1 | UNWATCH | SUBSCRIBE·queue:a | PSUBSCRIBE·queue:* \
    | SSUBSCRIBE·queue:a | UNSUBSCRIBE | PUBSUB·CHANNELS | SPOP·queue:a | SRANDMEMBER·queue:a | HRANDFIELD·queue:a | ZRANDMEMBER·queue:a \
    | XADD·queue:a·*·f·v | XREAD·COUNT·1·STREAMS·queue:a·0 | XLEN·queue:a | HSCAN·queue:a·0 | SSCAN·queue:a·0 | ZSCAN·queue:a·0 \
    | GEOADD·queue:a·1·1·x | PFADD·queue:a·x | PFCOUNT·queue:a | SETBIT·lock:1·1·1 | BITCOUNT·lock:1 | BITFIELD·lock:1·GET·u8·0 \
    | SUBSTR·lock:1·0·1 | LCS·lock:1·lock:1 | READONLY | READWRITE | ASKING | CLUSTER·INFO | BZPOPMAX·queue:a·1 | LATENCY·RESET";

fn forbidden() -> impl Iterator<Item = Vec<String>> {
    FORBIDDEN.split('|').map(|command| words(&command.trim().replace('·', " ")))
}

#[test]
fn forbidden_commands_are_refused_directly() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        assert!(forbidden().count() > 100);
        for command in forbidden() {
            a.ask(&command).unwrap();
            let reply = a.answer().unwrap();
            // DEBUG and MODULE are switched off for everybody, which Redis says first.
            let off = ["DEBUG", "MODULE"].contains(&command[0].as_str()) && code(&reply) == "ERR";
            assert!(code(&reply) == "NOPERM" || off, "{command:?}: {reply:?}");
        }
        // It has hurt nobody: the connection and the server go on.
        assert_eq!(say(&a, "SET lock:1 x"), Value::Okay);
    });
}

#[test]
fn forbidden_commands_are_refused_in_scripts() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        for call in ["call", "pcall"] {
            for command in forbidden() {
                let arguments: Vec<String> = command.iter().map(|word| format!("'{word}'")).collect();
                let script = format!("return redis.{call}({})", arguments.join(","));
                a.ask(&["EVAL".into(), script.clone(), "0".into()]).unwrap();
                let reply = a.answer().unwrap();
                // The texts differ from server to server; that it is an error does not.
                assert!(matches!(reply, Value::ServerError(_)), "{script}: {reply:?}");
            }
        }
        assert_eq!(at(&servers, "redis", "DBSIZE").await, Value::Int(0));
    });
}

#[test]
fn forbidden_commands_are_refused_in_transactions() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        say(&a, "MULTI");
        assert_eq!(code(&say(&a, "FLUSHALL")), "NOPERM");
        assert_eq!(code(&say(&a, "EXEC")), "EXECABORT");
    });
}

#[test]
fn only_the_lessons_keys_are_within_reach() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        at(&servers, "redis", "SET foreign secret").await;
        let a = servers.connect("redis", "A").unwrap();
        for line in [
            "GET foreign",
            "SET foreign x",
            "DEL lock:1 foreign",
            "MGET lock:1 foreign",
            "GET lock:12",
            "LMOVE queue:a foreign LEFT LEFT",
            "RPOPLPUSH foreign queue:a",
            "EVAL return·1 1 foreign",
            "PUBLISH foreign x",
            "PUBLISH __keyevent@0__:set lock:1",
        ] {
            assert_eq!(code(&say(&a, line)), "NOPERM", "{line}");
        }
        for line in [
            "EVAL return·redis.call('GET','foreign') 0",
            "EVAL return·redis.pcall('GET','foreign') 0",
            "EVAL return·redis.call('GET',ARGV[1]) 1 lock:1 foreign",
        ] {
            let reply = say(&a, line);
            assert!(matches!(reply, Value::ServerError(_)), "{line}: {reply:?}");
        }
        assert_eq!(at(&servers, "redis", "GET foreign").await, bulk("secret"));
        assert_eq!(say(&a, "RPUSH queue:anything x"), Value::Int(1));
        assert_eq!(say(&a, "PUBLISH queue:a x"), Value::Int(0));
    });
}

/// The four that no rule can refuse: they must lead nowhere.
#[test]
fn nobody_becomes_more_than_a_lesson() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        for line in [
            "AUTH x",
            "AUTH default x",
            "AUTH default ·",
            "AUTH lockscope x",
            "HELLO 3 AUTH default x",
            "HELLO 2 AUTH lockscope x",
        ] {
            let reply = say(&a, line);
            assert!(matches!(reply, Value::ServerError(_)), "{line}: {reply:?}");
        }
        assert_eq!(say(&a, "SET lock:1 x"), Value::Okay, "still the lesson's user");
        say(&a, "RESET");
        for line in ["GET lock:1", "CONFIG GET dir", "ACL WHOAMI", "PING"] {
            assert_eq!(code(&say(&a, line)), "NOAUTH", "{line}");
        }
        assert_eq!(code(&say(&a, "AUTH default x")), "WRONGPASS");
    });
}

#[test]
fn every_node_has_the_rule_also_after_a_restart() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&replicated(1)).await.unwrap();
        servers.crash("r1", lockscope::servers::CrashKind::Process).await.unwrap();
        servers.restart("r1").await.unwrap();
        for node in ["m", "r1"] {
            let a = servers.connect(node, "A").unwrap();
            assert_eq!(say(&a, "GET lock:1"), Value::Nil);
            assert_eq!(code(&say(&a, "GET foreign")), "NOPERM");
            assert_eq!(code(&say(&a, "CONFIG GET dir")), "NOPERM");
        }
    });
}

/// What was refused can be read afterwards, with the client's name.
#[test]
fn refusals_are_in_the_log() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        say(&a, "FLUSHALL");
        let Value::Array(log) = at(&servers, "redis", "ACL LOG").await else { panic!() };
        let [Value::Map(entry)] = log.as_slice() else { panic!("one refusal, {log:?}") };
        let field = |name: &str| text(&entry.iter().find(|(key, _)| text(key) == name).unwrap().1);
        assert_eq!(field("object"), "flushall");
        assert_eq!(field("username"), "lesson");
        assert!(field("client-info").contains(" name=A "));
    });
}

/// All that the rule grants exists and works; a misspelt name would be noticed here.
#[test]
fn allowed_commands_run() {
    run(async {
        let fleet = fleet();
        let servers = fleet.prepare(&single()).await.unwrap();
        let a = servers.connect("redis", "A").unwrap();
        for line in [
            "SET lock:1 t NX PX 30000",
            "GET lock:1",
            "PTTL lock:1",
            "TTL lock:1",
            "PEXPIRE lock:1 20000",
            "EXPIRE lock:1 20",
            "PERSIST lock:1",
            "GETEX lock:1 PX 1000",
            "GETDEL lock:1",
            "SETNX lock:1 1",
            "INCR lock:1",
            "DECRBY lock:1 2",
            "GETSET lock:1 2",
            "STRLEN lock:1",
            "TYPE lock:1",
            "EXISTS lock:1",
            "UNLINK lock:1",
            "SETEX lock:1 10 x",
            "PSETEX lock:1 10000 x",
            "APPEND lock:1 y",
            "MSET lock:1 a queue:x b",
            "MGET lock:1 queue:x",
            "DEL lock:1 queue:x",
            "HSET lock:1 f 1",
            "HINCRBY lock:1 f 1",
            "HGETALL lock:1",
            "HDEL lock:1 f",
            "LPUSH queue:a 1",
            "BLPOP queue:a 1",
            "RPUSH queue:a 1 2",
            "LMOVE queue:a queue:b LEFT RIGHT",
            "LRANGE queue:b 0 -1",
            "ZADD queue:z 1 a",
            "ZRANGE queue:z 0 -1",
            "ZPOPMIN queue:z",
            "SADD queue:s a",
            "SMEMBERS queue:s",
            "SREM queue:s a",
            "EVAL return·redis.call('GET',KEYS[1]) 1 queue:n",
            "EVAL_RO return·redis.call('GET',KEYS[1]) 1 queue:n",
            "SCRIPT LOAD return·1",
            "MULTI",
            "EXEC",
            "PUBLISH queue:a x",
            "WAIT 0 0",
            "PING",
            "ECHO x",
            "CLIENT GETNAME",
            "CLIENT ID",
            "HELLO 2",
        ] {
            let reply = say(&a, line);
            assert!(!matches!(reply, Value::ServerError(_)), "{line}: {reply:?}");
        }
    });
}
