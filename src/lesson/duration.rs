//! Durations and times as a lesson writes them: `10s`, `1500ms`, `2m`, `ttl/3`, `ttl*2`, `forever`; and `at`.

use super::diagnostic::quoted;
use super::model::Lock;
use crate::trace::LessonTime;

/// A lesson may not reach further: it keeps every sum of times far from overflow.
const LONGEST_MS: u64 = 366 * 24 * 3600 * 1000;

/// What `ttl` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ttl {
    /// Nothing: no lock, or several and none is named.
    Unknown,
    /// The lock has no TTL.
    Forever,
    /// So long.
    Of(LessonTime),
}

impl Ttl {
    /// The TTL of a lock, or of an event's own `ttl:`.
    pub fn new(ttl: Option<LessonTime>) -> Self {
        ttl.map_or(Self::Forever, Self::Of)
    }

    /// The TTL of a lock that may not be known.
    pub fn of(lock: Option<&Lock>) -> Self {
        lock.map_or(Self::Unknown, |lock| Self::new(lock.ttl))
    }
}

/// A duration that may have no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Of(LessonTime),
    Forever,
}

impl Length {
    /// As the model has it; none: for ever.
    pub fn end(self) -> Option<LessonTime> {
        match self {
            Self::Of(time) => Some(time),
            Self::Forever => None,
        }
    }
}

/// When an event is due, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AtText<'a> {
    Time(LessonTime),
    Anchor { id: &'a str, start: bool, plus: LessonTime },
}

/// A duration.
pub(super) fn parse(text: &str, ttl: Ttl) -> Result<Length, String> {
    if text == "forever" {
        return Ok(Length::Forever);
    }
    let ms = match text.strip_prefix("ttl") {
        Some(rest) => of_ttl(text, rest, ttl)?,
        None => plain(text)?,
    };
    if ms > LONGEST_MS {
        return Err(format!("{} is longer than a year", quoted(text)));
    }
    Ok(Length::Of(LessonTime(ms)))
}

/// Milliseconds, perhaps negative.
pub(super) fn parse_signed(text: &str) -> Result<i64, String> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    match parse(rest, Ttl::Unknown)? {
        Length::Of(time) => Ok(sign * i64::try_from(time.ms()).unwrap_or(i64::MAX)),
        Length::Forever => Err("a clock cannot be off for ever".to_owned()),
    }
}

/// `at:`
pub(super) fn parse_at(text: &str, ttl: Ttl) -> Result<AtText<'_>, String> {
    let is_ttl = text == "ttl" || text.starts_with("ttl/") || text.starts_with("ttl*");
    if text.starts_with(|c: char| c.is_ascii_digit()) || is_ttl || text == "forever" {
        return match parse(text, ttl)? {
            Length::Of(time) => Ok(AtText::Time(time)),
            Length::Forever => Err("nothing happens at `forever`".to_owned()),
        };
    }
    let (anchor, plus) = match text.split_once('+') {
        Some((anchor, plus)) => match parse(plus.trim(), ttl)? {
            Length::Of(plus) => (anchor.trim(), plus),
            Length::Forever => return Err("nothing happens at `forever`".to_owned()),
        },
        None => (text, LessonTime::ZERO),
    };
    let (id, start) = match anchor.split_once('.') {
        Some((id, "start")) => (id, true),
        Some((_, other)) => {
            return Err(format!("an anchor has a start, `ID.start`, or is the end, `ID`; not {}", quoted(other)));
        }
        None => (anchor, false),
    };
    if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err(format!("{} is neither a time nor the id of an event", quoted(text)));
    }
    Ok(AtText::Anchor { id, start, plus })
}

/// `ttl`, `ttl/3`, `ttl*2`: rounded down to a millisecond.
fn of_ttl(text: &str, rest: &str, ttl: Ttl) -> Result<u64, String> {
    let ttl = match ttl {
        Ttl::Of(ttl) => ttl.ms(),
        Ttl::Forever => return Err(format!("{}, but the lock has no TTL", quoted(text))),
        Ttl::Unknown => return Err(format!("{}, but it is not clear of which lock", quoted(text))),
    };
    let bad = || format!("{} is no duration; write `ttl/3` or `ttl*2`", quoted(text));
    let factor = |digits: &str| digits.trim().parse::<u64>().map_err(|_| bad());
    match rest.trim_start().split_at_checked(1) {
        None => Ok(ttl),
        Some(("/", digits)) => match factor(digits)? {
            0 => Err(format!("{} divides by zero", quoted(text))),
            n => Ok(ttl / n),
        },
        Some(("*", digits)) => Ok(ttl.saturating_mul(factor(digits)?)),
        Some(_) => Err(bad()),
    }
}

fn plain(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let bad = || format!("{} is no duration; write `10s`, `1500ms` or `2m`", quoted(text));
    let factor = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "" if !number.is_empty() => {
            return Err(format!("{} has no unit; write `{number}s` or `{number}ms`", quoted(text)));
        }
        "h" if !number.is_empty() => {
            return Err(format!("{} is no duration; write it in minutes, `60m`", quoted(text)));
        }
        _ => return Err(bad()),
    };
    number.parse::<u64>().ok().and_then(|n| n.checked_mul(factor)).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_durations() {
        let ttl = Ttl::Of(LessonTime(10_000));
        let cases = [
            ("0ms", Some(0)),
            ("10s", Some(10_000)),
            ("1500ms", Some(1500)),
            ("2m", Some(120_000)),
            ("ttl", Some(10_000)),
            ("ttl/3", Some(3333)),
            ("ttl*2", Some(20_000)),
            ("forever", None),
        ];
        for (text, ms) in cases {
            assert_eq!(parse(text, ttl).map(Length::end), Ok(ms.map(LessonTime)), "{text}");
        }
        for text in
            ["", "10", "s", "1.5s", "-1s", "10 s", "ttl/0", "ttl-1", "ttl/x", "99999999999999999999s", "600000m"]
        {
            assert!(parse(text, ttl).is_err(), "{text}");
        }
        assert!(parse("ttl/3", Ttl::Forever).is_err());
        assert!(parse("ttl/3", Ttl::Unknown).is_err());
        assert_eq!(parse_signed("-300ms"), Ok(-300));
        assert_eq!(parse_signed("30s"), Ok(30_000));
    }

    #[test]
    fn reads_anchors() {
        let anchor = |id, start, plus| Ok(AtText::Anchor { id, start, plus: LessonTime(plus) });
        assert_eq!(parse_at("11s", Ttl::Unknown), Ok(AtText::Time(LessonTime(11_000))));
        assert_eq!(parse_at("ttl*2", Ttl::Of(LessonTime(5))), Ok(AtText::Time(LessonTime(10))));
        assert_eq!(parse_at("a-release", Ttl::Unknown), anchor("a-release", false, 0));
        assert_eq!(parse_at("a-release+500ms", Ttl::Unknown), anchor("a-release", false, 500));
        assert_eq!(parse_at("a-lock.start+1s", Ttl::Unknown), anchor("a-lock", true, 1000));
        for text in ["forever", "a.end", "a b", "+1s", "a+b", "10"] {
            assert!(parse_at(text, Ttl::Unknown).is_err(), "{text}");
        }
    }
}
