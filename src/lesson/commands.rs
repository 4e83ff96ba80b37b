//! Which commands a lesson may send, and where their keys are.
//!
//! The server's ACL is the wall; this list makes the error come when the file is read and point at its line. It also
//! refuses what no ACL can deny (AUTH, HELLO, RESET, QUIT), and what would show or use the real clock or chance, because
//! a lesson gives the same trace every time. The engine asks [`forbidden`] again when placeholders are filled in.

use super::diagnostic::quoted;
use super::lua;

/// Where the keys of a command are among its words (the command's name is word 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    None,
    /// Word 1.
    First,
    /// Words 1 and 2.
    Two,
    /// All words from 1 on.
    All,
    /// Every second word from 1 on.
    Pairs,
    /// All words from 1 on but the last (a timeout).
    AllButLast,
    /// `EVAL script numkeys key …`
    Counted,
}

/// What a lesson may send.
const ALLOWED: &[(Keys, &str)] = &[
    (
        Keys::First,
        "get set type expire pexpire ttl pttl persist setnx setex psetex getset getdel getex incr decr incrby decrby \
         append strlen hset hsetnx hget hmget hgetall hdel hexists hincrby hlen hkeys hvals lpush rpush lpushx rpushx \
         lpop rpop llen lrange lindex lrem lset ltrim lpos zadd zrem zscore zrank zrevrank zcard zcount zrange \
         zrangebyscore zrevrange zremrangebyscore zremrangebyrank zincrby zpopmin zpopmax sadd srem sismember scard \
         delifeq delex",
    ),
    (Keys::Two, "lmove rpoplpush blmove"),
    (Keys::All, "del unlink exists mget"),
    (Keys::Pairs, "mset msetnx"),
    (Keys::AllButLast, "blpop brpop bzpopmin"),
    (Keys::Counted, "eval eval_ro"),
    (Keys::None, "multi exec discard publish wait ping echo client"),
];

/// What a lesson may not send, and why. Everything else that is not in [`ALLOWED`] is refused without a reason of its own.
const REASONS: &[(&str, &str)] = &[
    (
        "config flushall flushdb shutdown module debug keys scan monitor save bgsave bgrewriteaof acl info migrate \
      restore dump replicaof slaveof failover replconf psync sync cluster swapdb latency memory slowlog role lolwut \
      function fcall fcall_ro command dbsize sort sort_ro object move copy rename renamenx touch wait_aof",
        "it reaches beyond the keys of the lesson",
    ),
    ("auth hello reset quit", "it changes who the connection belongs to"),
    ("watch unwatch", "the lesson clock touches watched keys; this is kept for version 2 of the format"),
    ("time", "the server's calendar is not lesson time; use `{now}`"),
    ("expireat pexpireat expiretime pexpiretime", "the server's calendar is not lesson time; use PEXPIRE and PTTL"),
    (
        "spop srandmember randomkey hrandfield zrandmember",
        "it answers at random, and a lesson gives the same trace every time",
    ),
    (
        "smembers sinter sunion sdiff",
        "the order of its answer differs from server to server; use SISMEMBER or a sorted set",
    ),
    ("select", "a lesson has one database"),
    ("evalsha evalsha_ro script", "script caches are kept for version 2 of the format; use EVAL"),
    (
        "subscribe unsubscribe psubscribe punsubscribe ssubscribe sunsubscribe",
        "it ends ordinary commands on its connection; use `wait: {notify: {}}`",
    ),
    (
        "xadd xread xreadgroup xack xrange xlen xgroup xclaim xautoclaim",
        "the ids of a stream show the server's calendar",
    ),
];

/// Subcommands of CLIENT that a lesson may send.
const CLIENT: &[&str] = &["setname", "getname"];

/// Why a lesson may not send this command; none: it may. A script's command names are looked at as far as they are literal.
#[must_use]
pub fn forbidden(words: &[String]) -> Option<String> {
    let Some(name) = words.first() else { return Some("there is no command".to_owned()) };
    if let Some(why) = forbidden_name(name) {
        return Some(why);
    }
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "client" => {
            let sub = words.get(1).map(|word| word.to_ascii_lowercase()).unwrap_or_default();
            (!CLIENT.contains(&sub.as_str())).then(|| {
                format!(
                    "CLIENT {} is not for lessons; of CLIENT there is SETNAME and GETNAME",
                    sub.to_ascii_uppercase()
                )
            })
        }
        "set" => absolute_time(words.get(3..).unwrap_or_default(), "SET"),
        "getex" => absolute_time(words.get(2..).unwrap_or_default(), "GETEX"),
        "eval" | "eval_ro" => {
            let script = words.get(1).map_or("", String::as_str);
            let by_name = lua::called(script).iter().find_map(|name| {
                // MULTI, PUBLISH and so on in a script are the server's business.
                forbidden_name(name).map(|why| format!("the script: {why}"))
            });
            by_name.or_else(|| lua::forbidden_function(script).map(|why| format!("the script: {why}")))
        }
        _ => None,
    }
}

fn forbidden_name(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    if keys_of(&lower).is_some() {
        return None;
    }
    let shown = quoted(&name.to_ascii_uppercase());
    let shown = shown.trim_matches('`');
    let listed = |names: &str| names.split_ascii_whitespace().any(|n| n == lower);
    Some(match REASONS.iter().find(|(names, _)| listed(names)) {
        Some((_, why)) => format!("{shown} is not for lessons: {why}"),
        None => format!("{shown} is not among the commands that a lesson can send"),
    })
}

/// EXAT and PXAT among the options of SET or GETEX.
fn absolute_time(options: &[String], command: &str) -> Option<String> {
    let option = options.iter().find(|word| word.eq_ignore_ascii_case("EXAT") || word.eq_ignore_ascii_case("PXAT"))?;
    let option = option.to_ascii_uppercase();
    Some(format!("{command} … {option} is not for lessons: the server's calendar is not lesson time; use PX"))
}

fn keys_of(name: &str) -> Option<Keys> {
    ALLOWED
        .iter()
        .find(|(_, names)| names.split_ascii_whitespace().any(|allowed| allowed == name))
        .map(|(keys, _)| *keys)
}

/// The words of a command that are keys: indices into `words`.
#[must_use]
pub fn key_words(words: &[String]) -> Vec<usize> {
    let Some(keys) = words.first().and_then(|name| keys_of(&name.to_ascii_lowercase())) else { return Vec::new() };
    let n = words.len();
    match keys {
        Keys::None => Vec::new(),
        Keys::First => (1..n.min(2)).collect(),
        Keys::Two => (1..n.min(3)).collect(),
        Keys::All => (1..n).collect(),
        Keys::Pairs => (1..n).step_by(2).collect(),
        Keys::AllButLast => (1..n.saturating_sub(1)).collect(),
        Keys::Counted => {
            let count = words.get(2).and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
            (3..n.min(count.saturating_add(3))).collect()
        }
    }
}

/// Whether a key matches a pattern as Redis's ACL matches it: `*`, `?`, `[a-c]`, `[^a]`, `\` before a character.
#[must_use]
pub fn matches(pattern: &str, key: &str) -> bool {
    let (pattern, key): (Vec<char>, Vec<char>) = (pattern.chars().collect(), key.chars().collect());
    let (mut p, mut k) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p + 1, k));
            p += 1;
            continue;
        }
        if k == key.len() {
            return pattern[p..].iter().all(|c| *c == '*');
        }
        match step(&pattern[p..], key[k]) {
            Some(used) => (p, k) = (p + used, k + 1),
            // Let the last star take one character more.
            None => match star {
                Some((after, taken)) => {
                    star = Some((after, taken + 1));
                    (p, k) = (after, taken + 1);
                }
                None => return false,
            },
        }
    }
}

/// How much of the pattern this character uses up; none: it does not fit.
fn step(pattern: &[char], c: char) -> Option<usize> {
    match pattern {
        [] => None,
        ['?', ..] => Some(1),
        ['\\', escaped, ..] => (*escaped == c).then_some(2),
        ['[', rest @ ..] => {
            let (negated, set) = rest.strip_prefix(&['^']).map_or((false, rest), |set| (true, set));
            let close = set.iter().position(|c| *c == ']')?;
            let used = rest.len() - set.len() + close + 2;
            let mut found = false;
            let mut at = 0;
            while at < close {
                match &set[at..close] {
                    [low, '-', high, ..] => {
                        found |= (*low.min(high)..=*low.max(high)).contains(&c);
                        at += 3;
                    }
                    [one, ..] => {
                        found |= *one == c;
                        at += 1;
                    }
                    [] => break,
                }
            }
            (found != negated).then_some(used)
        }
        [literal, ..] => (*literal == c).then_some(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn refuses_by_name_with_a_reason() {
        for line in [
            "CONFIG GET dir",
            "flushall",
            "SHUTDOWN",
            "MODULE LIST",
            "DEBUG SLEEP 1",
            "KEYS *",
            "AUTH x",
            "hello 3 AUTH a b",
            "RESET",
            "QUIT",
            "WATCH a",
            "TIME",
            "EXPIREAT a 1",
            "PEXPIREAT a 1",
            "EXPIRETIME a",
            "PEXPIRETIME a",
            "SET a b EXAT 1",
            "SET a b NX pxat 1",
            "GETEX a PXAT 1",
            "SPOP a",
            "RANDOMKEY",
            "SRANDMEMBER a",
            "CLIENT ID",
            "CLIENT KILL x",
            "CLIENT",
            "SELECT 1",
            "EVALSHA x 0",
            "SCRIPT LOAD x",
            "SMEMBERS s",
            "XADD s * a b",
            "NOSUCH",
            "",
        ] {
            assert!(forbidden(&words(line)).is_some(), "{line}");
        }
        for line in [
            "SET a b NX PX 1000",
            "SET a PXAT",
            "GET a",
            "MULTI",
            "EXEC",
            "WAIT 1 1000",
            "BLPOP a 0",
            "CLIENT SETNAME x",
            "DELEX a IFEQ b",
            "PING",
        ] {
            assert_eq!(forbidden(&words(line)), None, "{line}");
        }
        assert!(forbidden(&[]).is_some());
    }

    #[test]
    fn looks_into_scripts() {
        let script = |text: &str| forbidden(&["EVAL".to_owned(), text.to_owned(), "0".to_owned()]);
        assert!(script("return redis.call('CONFIG', 'GET', 'dir')").is_some());
        assert!(script("return redis.pcall(\"time\")").is_some());
        assert!(script("redis.set_repl(0)").is_some());
        assert_eq!(script("return redis.call('GET', KEYS[1])"), None);
    }

    #[test]
    fn knows_where_keys_are() {
        let cases: &[(&str, &[usize])] = &[
            ("GET a", &[1]),
            ("DEL a b c", &[1, 2, 3]),
            ("MSET a 1 b 2", &[1, 3]),
            ("BLPOP a b 0", &[1, 2]),
            ("LMOVE a b LEFT RIGHT", &[1, 2]),
            ("EVAL script 2 a b c", &[3, 4]),
            ("EVAL script 99999999999999999999 a", &[]),
            ("EVAL script 18446744073709551615 a", &[3]),
            ("WAIT 1 100", &[]),
            ("GET", &[]),
        ];
        for (line, at) in cases {
            assert_eq!(key_words(&words(line)), *at, "{line}");
        }
    }

    #[test]
    fn matches_patterns_as_redis_does() {
        for (pattern, key) in [
            ("queue:*", "queue:1"),
            ("a?c", "abc"),
            ("[a-c]x", "bx"),
            ("[^a]x", "bx"),
            ("*", ""),
            ("a*b*c", "axxbyyc"),
            ("\\*", "*"),
        ] {
            assert!(matches(pattern, key), "{pattern} {key}");
        }
        for (pattern, key) in
            [("queue:*", "que"), ("a?c", "ac"), ("[a-c]x", "dx"), ("[^a]x", "ax"), ("", "a"), ("[a", "a")]
        {
            assert!(!matches(pattern, key), "{pattern} {key}");
        }
    }
}
