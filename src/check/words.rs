//! The report's words, in each language the program speaks.

use std::io;

use serde::Deserialize;

use crate::trace::{Lang, Verdict};

macro_rules! words {
    ($($key:ident),* $(,)?) => {
        /// One text per key of `assets/text/check.*.json`. A file that misses a key, or has one more, does not load.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Words {
            $(pub(super) $key: String,)*
        }

        #[cfg(test)]
        impl Words {
            /// Every key with its text.
            fn all(&self) -> Vec<(&'static str, &str)> {
                vec![$((stringify!($key), self.$key.as_str()),)*]
            }
        }
    };
}

words! {
    ok, failed, skipped, inconclusive_run, broken_file, not_started,
    broken, contained, stuck, inconclusive, held,
    expected, seen, warning, real_clock,
    nothing_else, one_choice, one_value, nothing, times, caused_at, no_choice, choices, no_value, values,
    reply, no_reply, run_ended, unrun,
    engine,
    differs, differs_at, differs_header, first_run, other_run, no_record,
    nothing_selected, nothing_matches, trace_not_written, repeated, summary,
}

impl Words {
    /// The words of `lang`.
    ///
    /// # Errors
    /// If the program was built with a file that misses a key; a test sees to it that it is not.
    pub(super) fn new(lang: Lang) -> io::Result<Self> {
        let text = match lang {
            Lang::En => include_str!("../../assets/text/check.en.json"),
            Lang::Zh => include_str!("../../assets/text/check.zh.json"),
        };
        serde_json::from_str(text).map_err(io::Error::other)
    }

    /// The word for a verdict.
    pub(super) fn verdict(&self, verdict: Verdict) -> &str {
        match verdict {
            Verdict::Broken => &self.broken,
            Verdict::Contained => &self.contained,
            Verdict::Stuck => &self.stuck,
            Verdict::Inconclusive => &self.inconclusive,
            Verdict::Held => &self.held,
        }
    }
}

/// `template` with `{name}` replaced by its value.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let name_and_rest = after.split_once('}');
        let value = name_and_rest.and_then(|(name, _)| values.iter().find(|(n, _)| *n == name));
        if let (Some((_, behind)), Some((_, value))) = (name_and_rest, value) {
            text.push_str(value);
            rest = behind;
        } else {
            text.push('{');
            rest = after;
        }
    }
    text + rest
}

/// The language to speak: the one that was asked for, else the locale's. `variable` looks up an environment variable;
/// as POSIX has it, the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set and not empty decides.
#[must_use]
pub fn language(asked: Option<Lang>, variable: impl Fn(&str) -> Option<String>) -> Lang {
    if let Some(lang) = asked {
        return lang;
    }
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| variable(name).filter(|v| !v.is_empty()));
    match locale {
        Some(locale) if locale.to_ascii_lowercase().starts_with("zh") => Lang::Zh,
        _ => Lang::En,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_have_every_key_and_the_same_blanks() {
        let (en, zh) = (Words::new(Lang::En).unwrap(), Words::new(Lang::Zh).unwrap());
        for ((key, en), (_, zh)) in en.all().into_iter().zip(zh.all()) {
            assert!(!en.is_empty() && !zh.is_empty(), "{key} is empty");
            assert_eq!(blanks(en), blanks(zh), "{key} has other blanks in Chinese");
        }
    }

    fn blanks(template: &str) -> Vec<&str> {
        let mut blanks: Vec<&str> =
            template.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect();
        blanks.sort_unstable();
        blanks
    }

    #[test]
    fn fill_replaces_what_it_knows_and_keeps_the_rest() {
        assert_eq!(fill("{a} and {b}, {a}", &[("a", "1"), ("b", "{a}")]), "1 and {a}, 1");
        assert_eq!(fill("{c} {", &[("a", "1")]), "{c} {");
    }

    #[test]
    fn the_locale_decides_unless_a_language_was_asked_for() {
        let env = |pairs: &'static [(&str, &str)]| {
            move |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned())
        };
        assert_eq!(language(None, env(&[("LANG", "zh_CN.UTF-8")])), Lang::Zh);
        assert_eq!(language(None, env(&[("LC_ALL", "en_GB.UTF-8"), ("LANG", "zh_CN.UTF-8")])), Lang::En);
        assert_eq!(language(None, env(&[("LC_ALL", ""), ("LC_MESSAGES", "zh_TW"), ("LANG", "C")])), Lang::Zh);
        assert_eq!(language(None, env(&[])), Lang::En);
        assert_eq!(language(Some(Lang::En), env(&[("LANG", "zh_CN.UTF-8")])), Lang::En);
    }
}
