//! What the program itself says, in both languages.
//!
//! The texts are files in `assets/text`; a test keeps their keys equal, and equal to the keys that the code asks for.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::trace::{Lang, LessonTime};

type Table = BTreeMap<String, String>;

static EN: LazyLock<Table> = LazyLock::new(|| read(include_str!("../../assets/text/ui.en.json")));
static ZH: LazyLock<Table> = LazyLock::new(|| read(include_str!("../../assets/text/ui.zh.json")));

/// A file that is no JSON would leave the table empty; a test reads both, so that cannot be shipped.
fn read(json: &str) -> Table {
    serde_json::from_str(json).unwrap_or_default()
}

/// The texts of one language.
#[derive(Clone, Copy, Debug)]
pub struct Ui {
    /// Which.
    pub lang: Lang,
}

impl Ui {
    /// The texts of `lang`.
    #[must_use]
    pub const fn new(lang: Lang) -> Self {
        Self { lang }
    }

    /// The text under `key`; the key itself if there is none.
    #[must_use]
    pub fn get(self, key: &str) -> &str {
        let table: &'static Table = match self.lang {
            Lang::En => &EN,
            Lang::Zh => &ZH,
        };
        table.get(key).map_or(key, String::as_str)
    }

    /// The text under `key`, its `{placeholders}` filled in.
    #[must_use]
    pub fn fill(self, key: &str, values: &[(&str, &str)]) -> String {
        let mut rest = self.get(key);
        let mut out = String::with_capacity(rest.len() + 16);
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            out.push_str(values.iter().find(|(n, _)| *n == name).map_or("?", |(_, value)| value));
            rest = after;
        }
        out.push_str(rest);
        if self.lang == Lang::Zh { close_up(&out) } else { out }
    }

    /// `A and B`, `A, B and C`.
    #[must_use]
    pub fn names<S: AsRef<str>>(self, names: &[S]) -> String {
        let Some((last, before)) = names.split_last() else { return String::new() };
        if before.is_empty() {
            return last.as_ref().to_owned();
        }
        let before: Vec<&str> = before.iter().map(AsRef::as_ref).collect();
        format!("{}{}{}", before.join(self.get("list.comma")), self.get("list.and"), last.as_ref())
    }
}

/// Chinese stands apart from Latin letters and digits, but not from itself: a blank that a template has for a name like
/// `A` goes where what was filled in ends in Chinese.
fn close_up(text: &str) -> String {
    let is_han = |c: char| ('\u{3000}'..='\u{9fff}').contains(&c) || ('\u{ff00}'..='\u{ffef}').contains(&c);
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let between =
            c == ' ' && out.chars().next_back().is_some_and(is_han) && letters.peek().copied().is_some_and(is_han);
        if !between {
            out.push(c);
        }
    }
    out
}

/// Seconds as people write them: `12`, `12.5`, `0.05`.
#[must_use]
pub fn secs(t: LessonTime) -> String {
    let text = t.to_string();
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_stands_apart_from_latin_letters_only() {
        let zh = Ui::new(Lang::Zh);
        let watchdog = zh.fill("who.watchdog", &[("client", "A")]);
        assert_eq!(zh.fill("story.sends", &[("who", &watchdog), ("command", "GET k")]), "A 的看门狗发送 GET k。");
        assert_eq!(zh.fill("story.sends", &[("who", "A"), ("command", "GET k")]), "A 发送 GET k。");
        let en = Ui::new(Lang::En).fill("story.sends", &[("who", "A"), ("command", "GET k")]);
        assert_eq!(en, "A sends GET k.");
    }
}
