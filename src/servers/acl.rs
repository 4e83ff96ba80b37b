//! What a lesson may do on a server: the rule of the ACL user that its clients connect as.
//!
//! Lesson files are untrusted. The rule names commands one by one: categories bring surprises (`+@list` brings
//! `SORT_RO`, `+@hash` on newer servers expiry of fields), and grow with each release.
//!
//! Left out besides everything dangerous: what reads or sets the real clock (`TIME`, `EXPIREAT`, `PEXPIREAT`,
//! `EXPIRETIME`, `PEXPIRETIME`, streams), since real time is not lesson time; what answers at random (`SPOP`,
//! `SRANDMEMBER`); `WATCH`, since the lesson clock touches watched keys; and subscriptions, since what they bring would be
//! taken for replies.

/// A password that nobody can guess.
pub(super) fn password() -> String {
    format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple())
}

/// The ACL user of all lesson clients.
pub(super) const LESSON: &str = "lesson";

/// Commands that Redis 7.0 and Valkey 7.2 both know.
const COMMANDS: &str = "\
    get set del unlink exists type expire pexpire ttl pttl persist \
    setnx setex psetex getset getdel getex incr decr incrby decrby append strlen mget mset msetnx \
    hset hsetnx hget hmget hgetall hdel hexists hincrby hlen hkeys hvals \
    lpush rpush lpushx rpushx lpop rpop llen lrange lindex lrem lset ltrim lpos lmove rpoplpush blpop brpop blmove \
    zadd zrem zscore zrank zrevrank zcard zcount zrange zrangebyscore zrevrange zremrangebyscore zremrangebyrank \
    zincrby zpopmin zpopmax bzpopmin \
    sadd srem sismember smembers scard \
    eval evalsha script|load script|exists multi exec discard publish \
    wait hello ping echo client|setname client|getname client|id";

/// Commands that only some servers know. One unknown name would make the whole rule fail, so each is tried alone.
const OPTIONAL: [&str; 6] = ["eval_ro", "evalsha_ro", "client|setinfo", "delifeq", "delex", "waitaof"];

/// The command that (re)creates the lesson's user, who reaches keys and channels that match `patterns` and nothing else.
pub(super) fn create(password: &str, patterns: &[String]) -> redis::Cmd {
    let mut command = redis::cmd("ACL");
    command.arg("SETUSER").arg(LESSON).arg("reset").arg("on").arg(format!(">{password}")).arg("-@all");
    command.arg("resetkeys").arg("resetchannels");
    for pattern in patterns {
        command.arg(format!("~{pattern}")).arg(format!("&{pattern}"));
    }
    for name in COMMANDS.split_whitespace() {
        command.arg(format!("+{name}"));
    }
    command
}

/// One command per optional permission; an error means that this server has no such command.
pub(super) fn optional() -> impl Iterator<Item = redis::Cmd> {
    OPTIONAL.iter().map(|name| {
        let mut command = redis::cmd("ACL");
        command.arg("SETUSER").arg(LESSON).arg(format!("+{name}"));
        command
    })
}
