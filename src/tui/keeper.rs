//! Keeps the student's progress in one readable file.
//!
//! The file is written beside itself, flushed to the disk and then renamed, so that it is always whole: whoever is
//! killed in the middle leaves the old one. A file that cannot be read is kept aside, never overwritten. Writing waits
//! for the disk, so it has a thread of its own.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use etcetera::{AppStrategy, AppStrategyArgs, choose_app_strategy};

use super::progress::Progress;

/// Where the platform wants a program's state: `~/.local/state/lockscope/progress.json`, or under `$XDG_STATE_HOME`.
/// None without a home folder.
#[must_use]
pub fn place() -> Option<PathBuf> {
    let app_name = "lockscope".to_owned();
    let args = AppStrategyArgs { top_level_domain: String::new(), author: String::new(), app_name };
    let strategy = choose_app_strategy(args).ok()?;
    Some(strategy.state_dir().unwrap_or_else(|| strategy.data_dir()).join("progress").with_extension("json"))
}

/// What came of reading the file.
#[derive(Debug, PartialEq)]
pub enum Loaded {
    /// It was read, or there is none yet.
    Fine(Progress),
    /// It could not be understood; it is kept under this name.
    Aside(PathBuf),
    /// It could not even be read or moved: nothing is known, and nothing may be written over it.
    Unusable(String),
}

/// Reads the file at `path`.
#[must_use]
pub fn load(path: &Path) -> Loaded {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Loaded::Fine(Progress::default()),
        Err(error) => return Loaded::Unusable(format!("{}: {error}", path.display())),
    };
    if let Ok(progress) = serde_json::from_slice(&text) {
        return Loaded::Fine(progress);
    }
    let aside = free_name(path);
    match fs::rename(path, &aside) {
        Ok(()) => Loaded::Aside(aside),
        Err(error) => Loaded::Unusable(format!("{}: {error}", path.display())),
    }
}

/// A name beside `path` that nobody has; who has ten of them does not miss the first.
fn free_name(path: &Path) -> PathBuf {
    let name = |n: u32| path.with_extension(if n == 0 { "unreadable".to_owned() } else { format!("unreadable.{n}") });
    (0..=9).map(name).find(|name| !name.exists()).unwrap_or_else(|| name(0))
}

/// Writes `progress` to `path`. Only the lessons in `touched` are taken from it; the others stay as the file has them,
/// for another lockscope may be running beside this one.
///
/// # Errors
/// When the folder or the file cannot be written. The old file is then still there.
pub fn save(path: &Path, progress: &Progress, touched: &BTreeSet<String>) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
    fs::create_dir_all(folder)?;
    let mut merged = match load(path) {
        Loaded::Fine(there) => there,
        Loaded::Aside(_) => Progress::default(),
        Loaded::Unusable(why) => return Err(io::Error::other(why)),
    };
    merged.latest.clone_from(&progress.latest);
    for id in touched {
        match progress.lessons.get(id) {
            Some(played) => drop(merged.lessons.insert(id.clone(), played.clone())),
            None => drop(merged.lessons.remove(id)),
        }
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&mut file, &merged)?;
    file.write_all(b"\n")?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // The new name is on the disk only when the folder is.
    File::open(folder)?.sync_all()
}

/// The thread that saves.
#[derive(Debug)]
pub struct Keeper {
    todo: Option<Sender<(Progress, BTreeSet<String>)>>,
    failed: Receiver<String>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Starts it.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(path: PathBuf) -> io::Result<Self> {
        let (todo, jobs) = channel::<(Progress, BTreeSet<String>)>();
        let (tell, failed) = channel();
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(move || {
            while let Ok((mut progress, mut touched)) = jobs.recv() {
                // Of several that wait only the last counts.
                while let Ok((later, more)) = jobs.try_recv() {
                    progress = later;
                    touched.extend(more);
                }
                if let Err(error) = save(&path, &progress, &touched) {
                    // Nobody listens only if the player has ended.
                    let _ = tell.send(format!("{}: {error}", path.display()));
                }
            }
        })?;
        Ok(Self { todo: Some(todo), failed, thread: Some(thread) })
    }

    /// Has `progress` saved, of which `touched` lessons have changed.
    pub fn save(&self, progress: Progress, touched: BTreeSet<String>) {
        if let Some(todo) = &self.todo {
            // The thread ends only after this end of the channel.
            let _ = todo.send((progress, touched));
        }
    }

    /// Why the last save failed, once.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.failed.try_iter().last()
    }
}

/// Waits until all is on the disk.
impl Drop for Keeper {
    fn drop(&mut self) {
        self.todo = None;
        if let Some(thread) = self.thread.take() {
            // It has nothing to say beyond what `failure` tells.
            let _ = thread.join();
        }
    }
}
