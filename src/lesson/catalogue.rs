//! The lessons that there are: those in the binary, and those in files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::diagnostic::Diagnostic;
use super::model::Lesson;
use super::parse::load;
use super::source::{Source, Span};
use super::yaml::MAX_BYTES;

// `EMBEDDED: &[(name, text)]`, written by build.rs.
include!(concat!(env!("OUT_DIR"), "/lessons.rs"));

/// The order in which lessons build on each other, within their level. Lessons that are not named here come last.
const ORDER: &[&str] = &[
    "first-lock",
    "setnx-crash",
    "task-outlives-ttl",
    "wrong-delete",
    "chain-reaction",
    "get-then-del",
    "fixed-token",
    "thread-identity",
    "watchdog",
    "gc-pause",
    "renewal-without-check",
    "renewal-for-ever",
    "ttl-too-short-too-long",
    "refused-what-now",
    "missed-message",
    "finally-unlock",
    "unlock-before-commit",
    "reply-lost",
    "late-request",
    "fencing-token",
    "idempotent-business",
    "oversell",
    "reentrant-lock",
    "failover-lost-lock",
    "failover-sentinel",
    "split-brain",
    "redlock-majority",
    "redlock-too-slow",
    "redlock-clock-jump",
    "redlock-restart",
    "redlock-partition",
    "redlock-pause",
    "restart-without-disk",
    "delex",
    "interview-final",
];

/// A lesson file, and what came of reading it. A file with errors is listed too: its author wants to see them.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The file.
    pub source: Arc<Source>,
    /// The lesson, or what is wrong with it.
    pub lesson: Result<Lesson, Vec<Diagnostic>>,
}

impl Entry {
    /// The lesson's id; of a file that cannot be read, its name without folder and ending.
    #[must_use]
    pub fn id(&self) -> &str {
        match &self.lesson {
            Ok(lesson) => &lesson.id,
            Err(_) => stem(&self.source.name),
        }
    }
}

/// The lessons in the binary.
#[must_use]
pub fn builtin() -> Vec<Arc<Source>> {
    EMBEDDED.iter().map(|(name, text)| Source::new(*name, *text)).collect()
}

/// Reads lessons, and puts them into the order in which a reader should meet them: by level, then as they build on each
/// other, then by id. Files that cannot be read come last. An id that two of them share is an error of the second.
#[must_use]
pub fn load_all(sources: impl IntoIterator<Item = Arc<Source>>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for source in sources {
        let mut lesson = load(Arc::clone(&source));
        if let Ok(read) = &lesson
            && let Some(first) =
                entries.iter().find(|entry| entry.lesson.as_ref().is_ok_and(|other| other.id == read.id))
        {
            let message = format!("the id `{}` belongs to {} already", read.id, first.source.name);
            lesson = Err(vec![Diagnostic::new(id_span(&source), message).with_help("give this lesson another `id`")]);
        }
        entries.push(Entry { source, lesson });
    }
    let place = |id: &str| ORDER.iter().position(|known| *known == id).unwrap_or(ORDER.len());
    entries.sort_by(|a, b| {
        let key = |entry: &Entry| entry.lesson.as_ref().ok().map(|lesson| lesson.level);
        // `None`, a file with errors, would come first.
        (key(a).is_none(), key(a), place(a.id()), a.id()).cmp(&(key(b).is_none(), key(b), place(b.id()), b.id()))
    });
    entries
}

/// A lesson by the id of a built-in one, or by the path of a file.
///
/// # Errors
/// A file that cannot be read ([`read`]), or a name that is neither ([`io::ErrorKind::NotFound`]).
pub fn find(name_or_path: &str) -> io::Result<Arc<Source>> {
    let builtin = builtin();
    if let Some(source) = builtin.iter().find(|source| stem(&source.name) == name_or_path) {
        return Ok(Arc::clone(source));
    }
    let path = Path::new(name_or_path);
    if path.exists() || path.extension().is_some() || path.components().count() > 1 {
        return read(path);
    }
    let names: Vec<&str> = builtin.iter().map(|source| stem(&source.name)).collect();
    let guess = super::diagnostic::closest(name_or_path, names.iter().copied());
    let help = match guess {
        Some(guess) => format!("did you mean `{guess}`?"),
        None if names.is_empty() => "no lesson is built in; name a file".to_owned(),
        None => format!("there is {}; or name a file", names.join(", ")),
    };
    Err(io::Error::new(io::ErrorKind::NotFound, format!("no lesson is called `{name_or_path}`; {help}")))
}

/// The lesson files of a folder (`*.yaml`, `*.yml`), by name. Folders in it are not looked into.
///
/// # Errors
/// The folder, or a file in it, cannot be read.
pub fn load_dir(path: &Path) -> io::Result<Vec<Arc<Source>>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| named(path, &error))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

/// The text of a lesson file.
///
/// # Errors
/// It is no regular file, is larger than a lesson can be, or is not UTF-8.
pub fn read(path: &Path) -> io::Result<Arc<Source>> {
    let with_path = |error: io::Error| named(path, &error);
    let file = File::open(path).map_err(with_path)?;
    let about = file.metadata().map_err(with_path)?;
    if !about.is_file() {
        return Err(io::Error::other(format!("{}: not a file", path.display())));
    }
    // One byte more than is allowed: the reader of the text then says that it is too long, and how long.
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(with_path)?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if about.len() > MAX_BYTES as u64 => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        Err(error) => {
            let bytes = error.as_bytes();
            let at = error.utf8_error().valid_up_to();
            let line = String::from_utf8_lossy(&bytes[..at]).matches('\n').count() + 1;
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{}:{line}: not UTF-8; save the file as UTF-8", path.display()),
            ));
        }
    };
    Ok(Source::new(path.display().to_string(), text))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn stem(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")).unwrap_or(file)
}

/// Where the file says its id.
fn id_span(source: &Source) -> Span {
    let mut start = 0;
    for (at, line) in source.text.split_inclusive('\n').enumerate() {
        if line.starts_with("id:") {
            return Span { start, end: start + line.trim_end().len(), line: at + 1, column: 1 };
        }
        start += line.len();
    }
    Span { line: 1, column: 1, ..Span::default() }
}
