//! The texts of the program: both languages complete, and nothing in them that nobody asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const EN: &str = include_str!("../../assets/text/ui.en.json");
const ZH: &str = include_str!("../../assets/text/ui.zh.json");

fn table(json: &str) -> BTreeMap<String, String> {
    serde_json::from_str(json).expect("a text file is a JSON object of strings")
}

fn placeholders(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name).collect()
}

#[test]
fn both_languages_have_the_same_keys_and_placeholders() {
    let (en, zh) = (table(EN), table(ZH));
    assert_eq!(en.keys().collect::<Vec<_>>(), zh.keys().collect::<Vec<_>>());
    for (key, text) in &en {
        assert!(!text.is_empty() && !zh[key].is_empty(), "{key} is empty");
        assert_eq!(placeholders(text), placeholders(&zh[key]), "{key}");
    }
}

/// Every `"word.word"` in the player's sources is a key, and every key is in the sources.
#[test]
fn the_code_asks_for_exactly_these_keys() {
    let mut asked = BTreeSet::new();
    sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/tui")), &mut asked);
    let keys: BTreeSet<String> = table(EN).into_keys().collect();
    let missing: Vec<_> = asked.difference(&keys).collect();
    let unused: Vec<_> = keys.difference(&asked).collect();
    assert!(missing.is_empty(), "no text for {missing:?}");
    assert!(unused.is_empty(), "nobody asks for {unused:?}");
}

fn sources(folder: &Path, asked: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("a file").path();
        if path.is_dir() {
            sources(&path, asked);
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source file");
        let is_key = |word: &&str| {
            word.contains('.')
                && !word.starts_with('.')
                && !word.ends_with('.')
                && word.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '.')
        };
        let outside_tests = text.split("#[cfg(test)]").next().unwrap_or_default();
        asked.extend(outside_tests.split('"').filter(is_key).map(str::to_owned));
    }
}
