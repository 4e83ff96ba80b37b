//! The house's plan, kept by a test: who may know whom, and the few things that live in one place only.
//!
//! Everything here is read from the sources as text. Comments never count; what follows a `#[cfg(test)]` at the margin
//! (a file's own tests) counts for the direction of knowledge alone.

#![expect(clippy::unwrap_used, reason = "a test that cannot read the sources has failed")]

mod rust;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rust::{Keep, after, first_names, only};

/// Each module, and the modules of this crate that it may name. `main` wires all of them together and is not listed.
const KNOWS: &[(&str, &[&str])] = &[
    ("trace", &[]),
    ("lesson", &["trace"]),
    ("servers", &[]),
    ("resource", &[]),
    ("engine", &["lesson", "trace", "servers", "resource"]),
    ("check", &["lesson", "trace"]),
    ("tui", &["lesson", "trace"]),
    ("cli", &["trace"]), // the languages
];

/// Crates that only some modules may name, and why it matters.
const CRATES: &[(&str, &[&str], &str)] = &[
    ("redis", &["servers", "engine"], "the player and the checker read traces; they never talk to Redis"),
    ("rusqlite", &["resource"], "the database stays behind one module; everybody else reads what it did"),
    ("tokio", &["servers", "engine", "main"], "everything else is synchronous, and pure"),
    ("rustix", &["servers", "tui", "main"], "processes are handled where they are started, a hang-up where it is left"),
    ("ratatui", &["tui"], "one module draws"),
    ("crossterm", &["tui", "main"], "one module reads keys"),
    ("clap", &["cli", "main"], "the command line ends where the program begins"),
    ("serde_saphyr", &["lesson"], "the YAML parser stays behind one file of ours, so that it can be replaced"),
    ("annotate_snippets", &["lesson", "check", "main"], "diagnostics point into lesson files"),
];

/// The only crates that `trace` may name: a trace is plain data, and whoever reads one should need nothing else.
const TRACE_CRATES: &[&str] = &["serde", "serde_json", "thiserror"];

/// A file has one idea; with more lines of code than this it has two.
const LONGEST: usize = 400;

/// One source file.
struct File {
    /// Relative to `src/`, with `/`.
    path: String,
    /// As it is.
    text: String,
}

impl File {
    /// `trace` of `trace/state.rs`, `cli` of `cli.rs`.
    fn module(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// How many `super::` it takes from this file to the crate's root.
    fn depth(&self) -> usize {
        let parts = self.path.split('/').count();
        if self.path.ends_with("/mod.rs") { parts - 1 } else { parts }
    }

    /// The code without the file's own tests; `None` where the whole file is tests.
    fn code(&self) -> Option<&str> {
        if self.path.ends_with("/tests.rs") || self.path.contains("/tests/") {
            return None;
        }
        let end = self.text.find("\n#[cfg(test)]").map_or(self.text.len(), |at| at + 1);
        Some(&self.text[..end])
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<File> {
    fn walk(dir: &Path, src: &Path, files: &mut Vec<File>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, src, files);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let name = path.strip_prefix(src).unwrap().to_str().unwrap().replace('\\', "/");
                files.push(File { path: name, text: fs::read_to_string(&path).unwrap() });
            }
        }
    }
    let src = root().join("src");
    let mut files = Vec::new();
    walk(&src, &src, &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The modules of this crate that a file names, whether by `crate::`, by enough `super::`, or by the crate's own name.
fn named_modules(file: &File) -> BTreeSet<String> {
    let code = only(&file.text, Keep::Code);
    let up = "super::".repeat(file.depth());
    let mut names = BTreeSet::new();
    for path in ["crate::", "lockscope::", &up] {
        for rest in after(&code, path) {
            names.extend(first_names(rest));
        }
    }
    names.retain(|name| KNOWS.iter().any(|(module, _)| module == name));
    names
}

/// Whether a file names a crate: `redis::…`, `use redis;`, `use {redis::…}`.
fn names_crate(code: &str, krate: &str) -> bool {
    let path = format!("{krate}::");
    let plain = format!("use {krate}");
    after(code, &path).next().is_some()
        || after(code, &plain).any(|rest| rest.starts_with(';') || rest.starts_with(" as"))
}

fn wrong_directions(file: &File) -> Vec<String> {
    let module = file.module();
    if module == "main" || module == "lib" {
        return Vec::new();
    }
    let Some((_, knows)) = KNOWS.iter().find(|(name, _)| *name == module) else {
        return vec![format!("{}: a new module. Say in KNOWS whom it may know", file.path)];
    };
    named_modules(file)
        .into_iter()
        .filter(|name| name != module && !knows.contains(&name.as_str()))
        .map(|name| format!("{}: `{module}` must not know `{name}`", file.path))
        .collect()
}

fn wrong_crates(file: &File) -> Vec<String> {
    let code = only(file.code().unwrap_or_default(), Keep::Code);
    let mut wrong: Vec<String> = CRATES
        .iter()
        .filter(|(krate, modules, _)| !modules.contains(&file.module()) && names_crate(&code, krate))
        .map(|(krate, _, why)| format!("{}: names `{krate}`: {why}", file.path))
        .collect();
    if file.module() == "trace" {
        let strange = dependencies().into_iter().filter(|krate| !TRACE_CRATES.contains(&krate.as_str()));
        wrong.extend(
            strange
                .filter(|krate| names_crate(&code, krate))
                .map(|krate| format!("{}: names `{krate}`: a trace is plain data", file.path)),
        );
    }
    wrong
}

/// The names of all dependencies, as code writes them.
fn dependencies() -> Vec<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.trim().replace('-', "_"))
        .collect()
}

/// What a file does that only another place may do.
fn out_of_place(file: &File) -> Vec<String> {
    let Some(text) = file.code() else { return Vec::new() };
    let code = only(text, Keep::Code);
    let mut wrong = Vec::new();
    let mut say = |what: &str| wrong.push(format!("{}: {what}", file.path));

    if file.path != "tui/theme.rs" && after(&code, "Color::").next().is_some() {
        say("only tui/theme.rs names colours; ask it for what you mean");
    }
    let timeless = ["trace", "lesson", "engine", "check"].contains(&file.module());
    if timeless && file.path != "engine/clock.rs" {
        for now in ["Instant::now", "SystemTime::now"] {
            if code.contains(now) {
                say("only engine/clock.rs reads the real clock; everything else lives in lesson time");
            }
        }
    }
    // A lesson's own Lua, and what is said about it, is another matter.
    if ["engine", "servers"].contains(&file.module()) && only(text, Keep::Quotes).contains("redis.call(") {
        say("a Lua script in the code; scripts are files in assets/lua, so that they can be read and tested alone");
    }
    let lines = text.lines().count();
    if lines > LONGEST {
        say(&format!("{lines} lines, more than {LONGEST}: it has become two ideas"));
    }
    wrong
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "the house's plan is broken:\n  {}", wrong.join("\n  "));
}

#[test]
fn knowledge_points_one_way() {
    assert_none(&sources().iter().flat_map(wrong_directions).collect::<Vec<_>>());
}

#[test]
fn crates_stay_in_their_modules() {
    assert_none(&sources().iter().flat_map(wrong_crates).collect::<Vec<_>>());
}

#[test]
fn one_file_knows_the_yaml_parser() {
    let files = sources();
    let knowing = files.iter().filter(|file| names_crate(&only(&file.text, Keep::Code), "serde_saphyr"));
    let knowing: Vec<_> = knowing.map(|file| file.path.as_str()).collect();
    assert!(knowing.len() <= 1, "the YAML parser must be replaceable, and these files name it: {knowing:?}");
}

#[test]
fn things_are_in_their_place() {
    assert_none(&sources().iter().flat_map(out_of_place).collect::<Vec<_>>());
}

/// The rules above are worth something only if they can fail.
#[test]
fn every_rule_can_fail() {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };

    for bad in [
        "use crate::engine::Clock;",
        "use crate::{lesson::Plan, trace::Text};",
        "fn f() { crate::servers::start(); }",
        "use super::super::tui::Theme;",
        "#[cfg(test)]\nmod tests { use crate::engine; }",
    ] {
        assert_eq!(wrong_directions(&file("trace/state.rs", bad)).len(), 1, "{bad}");
    }
    for good in ["use crate::trace::Text;", "// crate::engine", "/* crate::engine */", r#"let a = "crate::engine";"#] {
        assert_eq!(wrong_directions(&file("trace/state.rs", good)).len(), 0, "{good}");
    }
    assert_eq!(wrong_directions(&file("news/mod.rs", "")).len(), 1, "a module that the table does not know");
    assert_eq!(wrong_directions(&file("tui/mod.rs", "use super::engine::Run;")).len(), 1, "a child of the root");

    assert_eq!(wrong_crates(&file("check/mod.rs", "let c: redis::Client;")).len(), 1);
    assert_eq!(wrong_crates(&file("check/mod.rs", "use redis;")).len(), 1);
    assert_eq!(wrong_crates(&file("engine/mod.rs", "use redis::Client; use other_redis::X;")).len(), 0);
    assert_eq!(wrong_crates(&file("trace/mod.rs", "use anyhow::Result; use serde::Serialize;")).len(), 1);

    assert_eq!(out_of_place(&file("tui/pane.rs", "fg(Color::Red)")).len(), 1);
    assert_eq!(out_of_place(&file("tui/theme.rs", "fg(Color::Red)")).len(), 0);
    assert_eq!(out_of_place(&file("engine/run.rs", "let t = Instant::now();")).len(), 1);
    assert_eq!(out_of_place(&file("engine/clock.rs", "let t = Instant::now();")).len(), 0);
    assert_eq!(out_of_place(&file("engine/run.rs", "const S: &str = r#\"redis.call('GET', 'a\")\"#;")).len(), 1);
    assert_eq!(
        out_of_place(&file(
            "engine/run.rs",
            "fn a() {}\n#[cfg(test)]\nmod t { const L: &str = \"redis.call('GET')\"; }"
        ))
        .len(),
        0
    );
    assert_eq!(out_of_place(&file("engine/run.rs", &"//\n".repeat(LONGEST + 1))).len(), 1);
}
