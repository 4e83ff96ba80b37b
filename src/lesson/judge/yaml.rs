//! What was seen, in the words of a lesson file.

use crate::lesson::source::{Source, Span};
use crate::trace::{Finding, FindingKind, KeyState, LessonTime, Reply, Value};

/// `finding` as an entry for `expect`, with its times: `- {overlap: [A, B], from: 11s, to: 12s}`. The lock is named
/// where there are `several_locks`. Short: of a note, the event is left out, and so is a reason that is the usual one.
#[must_use]
pub fn yaml_of(finding: &Finding, several_locks: bool) -> String {
    let mut entry = Entry::new(finding.kind.name(), subject(finding));
    for field in ["why", "while"] {
        if let Some(value) = finding.fields.get(field).filter(|value| *value != "held" || field == "while") {
            entry.field(field, value.clone());
        }
    }
    match finding.kind {
        FindingKind::Starved | FindingKind::NeverDone => entry.field("at", "end"),
        kind if kind.lasts() => entry.spell(finding.from, finding.to),
        _ => entry.field("at", finding.from.yaml()),
    }
    entry.lock(finding.lock.as_deref(), several_locks);
    entry.done()
}

/// What stands behind the kind: a name, a list of names, or a map of roles.
fn subject(finding: &Finding) -> String {
    // In the order in which FORMAT writes them.
    let (who, whom) = if finding.kind == FindingKind::LostLock { ("of", "by") } else { ("by", "of") };
    let roles = [who, whom, "owner", "victim", "after", "first", "second", "log", "key"];
    match finding.who.as_slice() {
        [] => {
            let roles = roles.iter().filter_map(|role| Some(format!("{role}: {}", scalar(finding.fields.get(*role)?))));
            format!("{{{}}}", roles.collect::<Vec<_>>().join(", "))
        }
        [name] if !matches!(finding.kind, FindingKind::Deadlock | FindingKind::Overlap) => scalar(name),
        names => list(names),
    }
}

/// An entry of `expect` in the making.
pub(super) struct Entry(String);

impl Entry {
    /// `- {kind: subject`
    pub(super) fn new(kind: &str, subject: impl AsRef<str>) -> Self {
        Self(format!("- {{{kind}: {}", subject.as_ref()))
    }

    /// `, name: value`
    pub(super) fn field(&mut self, name: &str, value: impl AsRef<str>) {
        for part in [", ", name, ": ", value.as_ref()] {
            self.0.push_str(part);
        }
    }

    /// `, from: …, to: …`
    pub(super) fn spell(&mut self, from: LessonTime, to: Option<LessonTime>) {
        self.field("from", from.yaml());
        self.field("to", to.map_or_else(|| "end".to_owned(), LessonTime::yaml));
    }

    /// `, lock: x`, where there are several.
    pub(super) fn lock(&mut self, lock: Option<&str>, several: bool) {
        if let Some(lock) = lock.filter(|_| several) {
            self.field("lock", scalar(lock));
        }
    }

    /// `}`
    pub(super) fn done(self) -> String {
        self.0 + "}"
    }
}

/// `[A, B]`
pub(super) fn list<S: AsRef<str>>(names: &[S]) -> String {
    format!("[{}]", names.iter().map(|name| scalar(name.as_ref())).collect::<Vec<_>>().join(", "))
}

/// `text` as YAML reads it back as the same text: bare where that is safe inside `{}`, else in double quotes.
pub(super) fn scalar(text: &str) -> String {
    let safe = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.');
    let letter_first = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let words = ["null", "nil", "true", "false", "end"];
    if safe && letter_first && !words.contains(&text.to_ascii_lowercase().as_str()) {
        text.to_owned()
    } else {
        // A JSON string is a YAML double-quoted one.
        serde_json::Value::from(text).to_string()
    }
}

/// `reply` as `reply:` takes it: `OK`, `1`, `nil`, `"1"`, `[a, b]`; of an error, its first word.
#[must_use]
pub fn reply_yaml(reply: &Reply) -> String {
    match reply {
        Reply::Status(text) | Reply::Bulk(text) => scalar(text),
        Reply::Int(n) => n.to_string(),
        Reply::Nil => "nil".to_owned(),
        Reply::Error(text) => scalar(text.split_whitespace().next().unwrap_or_default()),
        Reply::List(items) => format!("[{}]", items.iter().map(reply_yaml).collect::<Vec<_>>().join(", ")),
    }
}

/// A key at an instant as `{key: …}` takes it: `{value: "7f…", ttl: 5s}`.
pub(super) fn key_yaml(key: Option<&KeyState>, t: LessonTime) -> String {
    let Some(key) = key else { return "{value: nil}".to_owned() };
    let what = match (&key.value, count(&key.value)) {
        (Value::String(text), _) => format!("value: {}", scalar(text)),
        (_, Some(count)) => format!("count: {count}"),
        (_, None) => String::new(),
    };
    let ttl = key.deadline.map_or_else(|| "none".to_owned(), |deadline| (deadline - t).yaml());
    format!("{{{what}{}ttl: {ttl}}}", if what.is_empty() { "" } else { ", " })
}

/// `count:` of a key: the number in a string, the sum of a hash's numbers (how often its owners hold it), the length
/// of anything else.
pub(super) fn count(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Hash(fields) => fields.iter().map(|(_, count)| count.parse::<i64>().ok()).sum(),
        Value::Other { len, .. } => i64::try_from(*len).ok(),
    }
}

/// What the file says at `span`, on one line.
pub(super) fn as_written(source: &Source, span: Span) -> String {
    let text = source.text.get(span.start..span.end).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
