//! Which lifetimes a command can give to keys: the numbers of which exact deadlines are made (the *own-number rule*).
//!
//! Redis keeps expiries in real milliseconds, and a command is executed a little after its instant was frozen. What it
//! set cannot be read back exactly, then, but it stands in the command itself. Where the command and its reply leave no
//! doubt, the lifetime is *certain*; a script's may be any number in it, and is the one that fits what is read back.

use std::collections::BTreeMap;

use super::queue::{QUEUE_ACQUIRE, QUEUE_PERMIT_ACQUIRE, QUEUE_REENTRANT_ACQUIRE, QUEUE_REENTRANT_RELEASE};
use super::ways::{
    ACQUIRE_FENCED, PERMIT_ACQUIRE, PERMIT_RENEW, REENTRANT_ACQUIRE, REENTRANT_FENCED, REENTRANT_RELEASE,
    REENTRANT_RENEW, RENEW, RENEW_OR_TAKE,
};
use crate::trace::Reply;

/// The lifetimes that one command, or one transaction, can have given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lifetimes {
    /// By key: what is certain, ms.
    pub(super) certain: BTreeMap<String, u64>,
    /// What a script may have given, ms.
    pub(super) possible: Vec<u64>,
}

impl Lifetimes {
    /// Those of a command that was answered with `reply`. `queued`: what an `EXEC` has executed.
    pub(super) fn of(argv: &[String], reply: &Reply, queued: &[Vec<String>]) -> Self {
        let mut lifetimes = Self::default();
        match reply {
            Reply::List(replies) if is(argv, "EXEC") => {
                queued.iter().zip(replies).for_each(|(argv, reply)| lifetimes.add(argv, reply));
            }
            _ => lifetimes.add(argv, reply),
        }
        lifetimes
    }

    fn add(&mut self, argv: &[String], reply: &Reply) {
        if is_script(argv) {
            // A script that fails at its third command has still done two.
            self.possible
                .extend(script_numbers(argv).into_iter().flat_map(|n| [Some(n), n.checked_mul(1000)]).flatten());
        }
        if let Some((key, ms)) = certain(argv, reply) {
            self.certain.insert(key.to_owned(), ms);
        }
    }
}

fn is(argv: &[String], name: &str) -> bool {
    argv.first().is_some_and(|word| word.eq_ignore_ascii_case(name))
}

/// Whether a command runs a script.
pub(super) fn is_script(argv: &[String]) -> bool {
    is(argv, "EVAL") || is(argv, "EVAL_RO")
}

/// The key whose lifetime a command has set beyond doubt, and that lifetime in ms.
fn certain<'a>(argv: &'a [String], reply: &Reply) -> Option<(&'a str, u64)> {
    let word = |i: usize| argv.get(i).map(String::as_str);
    let number = |i: usize, unit: u64| word(i)?.parse::<u64>().ok()?.checked_mul(unit);
    let name = word(0)?.to_ascii_uppercase();
    let key = word(1)?;
    match (name.as_str(), reply) {
        ("EXPIRE", Reply::Int(1)) | ("SETEX", Reply::Status(_)) => Some((key, number(2, 1000)?)),
        ("PEXPIRE", Reply::Int(1)) | ("PSETEX", Reply::Status(_)) => Some((key, number(2, 1)?)),
        // With GET the reply is the old value, also where nothing was set; then the value itself must tell.
        ("SET", Reply::Status(_)) => Some((key, option(argv.get(3..)?)?)),
        ("GETEX", Reply::Bulk(_)) => Some((key, option(argv.get(2..)?)?)),
        // The recipes' own scripts: 1 says that ARGV[2] has become the lifetime of KEYS[1].
        ("EVAL", Reply::Int(1)) if key == RENEW || key == RENEW_OR_TAKE => Some((word(3)?, number(5, 1)?)),
        // Those that draw a fencing token have two keys, and answer with the token.
        ("EVAL", Reply::Int(1..)) if key == ACQUIRE_FENCED || key == REENTRANT_FENCED => {
            Some((word(3)?, number(6, 1)?))
        }
        // Those of a semaphore answer with it.
        ("EVAL", Reply::Int(ms @ 1..)) if key == PERMIT_ACQUIRE || key == PERMIT_RENEW => {
            Some((word(3)?, u64::try_from(*ms).ok()?))
        }
        ("EVAL", Reply::List(parts)) if key == QUEUE_PERMIT_ACQUIRE => match parts.as_slice() {
            [_, Reply::Int(ms)] => Some((word(3)?, u64::try_from(*ms).ok()?)),
            _ => None,
        },
        // Those with a count: as long as it is above zero; a TTL of 0 is none.
        ("EVAL", Reply::Int(1..)) if [REENTRANT_ACQUIRE, REENTRANT_RELEASE, REENTRANT_RENEW].contains(&key) => {
            Some((word(3)?, number(5, 1).filter(|ms| *ms > 0)?))
        }
        // Those of a fair lock have three keys, and after their owner the TTL. With a fencing token there is one key more.
        ("EVAL", Reply::Status(_) | Reply::List(_)) if [QUEUE_ACQUIRE, QUEUE_REENTRANT_ACQUIRE].contains(&key) => {
            let keys: usize = word(2)?.parse().ok()?;
            Some((word(3)?, number(keys.checked_add(4)?, 1).filter(|ms| *ms > 0)?))
        }
        ("EVAL", Reply::Int(1..)) if key == QUEUE_REENTRANT_RELEASE => {
            Some((word(3)?, number(7, 1).filter(|ms| *ms > 0)?))
        }
        _ => None,
    }
}

/// `PX n` or `EX n` among options, in ms.
fn option(options: &[String]) -> Option<u64> {
    options.windows(2).find_map(|pair| {
        let unit = match pair[0].to_ascii_uppercase().as_str() {
            "PX" => 1,
            "EX" => 1000,
            _ => return None,
        };
        pair[1].parse::<u64>().ok()?.checked_mul(unit)
    })
}

/// Every whole number that a script can mean: those written in it, and its arguments.
fn script_numbers(argv: &[String]) -> Vec<u64> {
    let script = argv.get(1).map_or("", String::as_str);
    let written = script.split(|c: char| !c.is_alphanumeric() && c != '_').filter_map(|word| word.parse().ok());
    let keys: usize = argv.get(2).and_then(|count| count.parse().ok()).unwrap_or(0);
    let arguments = argv.iter().skip(keys.saturating_add(3)).filter_map(|word| word.parse().ok());
    written.chain(arguments).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn ok() -> Reply {
        Reply::Status("OK".to_owned())
    }

    #[test]
    fn what_a_command_says_and_the_reply_confirms_is_certain() {
        let set: [(&str, Reply, u64); 8] = [
            ("SET k 10001 NX PX 10000", ok(), 10_000),
            ("set k v ex 5", ok(), 5000),
            ("EXPIRE k 100 GT", Reply::Int(1), 100_000),
            ("PEXPIRE k 7", Reply::Int(1), 7),
            ("SETEX k 5 x", ok(), 5000),
            ("PSETEX k 5 x", ok(), 5),
            ("GETEX k PX 9", Reply::Bulk("x".to_owned()), 9),
            ("GETEX k EX 9", Reply::Bulk("x".to_owned()), 9000),
        ];
        for (line, reply, ms) in set {
            let of = Lifetimes::of(&words(line), &reply, &[]);
            assert_eq!(of.certain, BTreeMap::from([("k".to_owned(), ms)]), "{line}");
        }
        for (line, reply) in [
            ("SET k v NX PX 10000", Reply::Nil),
            ("SET k PX", ok()),
            ("SET k v KEEPTTL", ok()),
            ("EXPIRE k 5 NX", Reply::Int(0)),
            ("GETEX k PX 9", Reply::Nil),
            ("GETEX k PERSIST", Reply::Bulk("x".to_owned())),
        ] {
            assert_eq!(Lifetimes::of(&words(line), &reply, &[]), Lifetimes::default(), "{line}");
        }
    }

    #[test]
    fn a_transaction_has_those_of_all_its_commands() {
        let queued = [words("SET a v PX 7777"), words("PEXPIRE b 5"), words("PEXPIRE a 8888")];
        let replies = Reply::List(vec![ok(), Reply::Int(0), Reply::Int(1)]);
        let of = Lifetimes::of(&words("EXEC"), &replies, &queued);
        assert_eq!(of.certain, BTreeMap::from([("a".to_owned(), 8888)]));
        assert_eq!(Lifetimes::of(&words("EXEC"), &Reply::Nil, &queued), Lifetimes::default());
    }

    #[test]
    fn a_script_may_mean_any_of_its_numbers_but_not_its_keys() {
        let script = "return redis.call('PEXPIRE', KEYS[1], 5000) -- t30".to_owned();
        let argv = ["EVAL".to_owned(), script, "1".to_owned(), "77".to_owned(), "30".to_owned()];
        let possible = Lifetimes::of(&argv, &Reply::Int(1), &[]).possible;
        assert_eq!(possible, [1, 1000, 5000, 5_000_000, 30, 30_000]);
    }

    #[test]
    fn a_grant_with_a_fencing_token_is_certain() {
        for script in [ACQUIRE_FENCED, REENTRANT_FENCED] {
            let argv = ["EVAL", script, "2", "k", "k:fence", "token", "30000"].map(str::to_owned);
            let certain = |argv: &[String], reply| Lifetimes::of(argv, &reply, &[]).certain;
            assert_eq!(certain(&argv, Reply::Int(7)), BTreeMap::from([("k".to_owned(), 30_000)]));
            assert_eq!(certain(&argv, Reply::Nil), BTreeMap::new());
            assert_eq!(certain(&argv[..6], Reply::Int(7)), BTreeMap::new(), "for ever");
        }
    }

    #[test]
    fn a_renewal_is_certain() {
        let argv = ["EVAL", RENEW, "1", "k", "token", "30000"].map(str::to_owned);
        assert_eq!(Lifetimes::of(&argv, &Reply::Int(1), &[]).certain.get("k"), Some(&30_000));
        assert_eq!(Lifetimes::of(&argv, &Reply::Int(0), &[]).certain.get("k"), None);
    }
}
