//! One server process: started under guard, killed as a group, reaped.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process_group};

use super::error::ServersError;
use super::folder::RunFolder;
use super::log::LogEnd;
use super::{Persistence, config, guard};

/// The log's name inside the server's folder.
const LOG: &str = "redis.log";
/// How much of the log an error shows.
const LAST_LINES: usize = 6;

/// A server's folder: it outlives the process, so that a restart finds what was persisted.
#[derive(Debug)]
pub(super) struct Home {
    path: PathBuf,
    persistence: Persistence,
    /// What stands in the configuration as we have written it.
    config: String,
    // The folder around this one is removed when nobody lives in it any more.
    _run: Arc<RunFolder>,
}

impl Home {
    /// Makes the folder and writes the server's configuration.
    pub(super) fn new(run: &Arc<RunFolder>, persistence: Persistence, config: String) -> Result<Self, ServersError> {
        let mut home = Self { path: run.subfolder()?, persistence, config: String::new(), _run: Arc::clone(run) };
        home.configure(config)?;
        Ok(home)
    }

    /// Writes another configuration, for the next start.
    pub(super) fn configure(&mut self, config: String) -> Result<(), ServersError> {
        let file = self.path.join(config::CONFIG);
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&file)
            .and_then(|mut file| std::io::Write::write_all(&mut file, config.as_bytes()));
        written.map_err(|source| ServersError::io(format!("write {}", file.display()), source))?;
        self.config = config;
        Ok(())
    }

    /// Whether the configuration is as it was written: Sentinels make servers rewrite theirs.
    pub(super) fn has_own_config(&self) -> bool {
        fs::read_to_string(self.path.join(config::CONFIG)).is_ok_and(|text| text == self.config)
    }

    /// How far the server's log of commands goes, if it keeps one.
    pub(super) fn log_end(&self) -> Result<Option<LogEnd>, ServersError> {
        LogEnd::of(&self.path)
    }

    /// Where the server listens.
    pub(super) fn socket(&self) -> PathBuf {
        self.path.join(config::SOCKET)
    }

    /// Starts the program in this folder, with `arguments` after the configuration. It is not ready yet when this returns.
    pub(super) fn start(&self, program: &Path, arguments: &[&str]) -> Result<Process, ServersError> {
        // A stale socket would answer "refused", which is what a node that is down should do; but the wait for the new
        // process is simpler when the file is not there until it listens.
        let _ = fs::remove_file(self.socket());
        if self.persistence == Persistence::None {
            // Replication may have left a dump, and Redis loads one whenever it finds it.
            let _ = fs::remove_file(self.path.join("dump.rdb"));
        }
        let failed = |source| ServersError::io(format!("start {}", program.display()), source);
        let log = OpenOptions::new().append(true).create(true).mode(0o600).open(self.path.join(LOG)).map_err(failed)?;
        let errors = log.try_clone().map_err(failed)?;
        let mut command = guard::guarded(program).map_err(failed)?;
        command.arg(config::CONFIG).args(arguments).current_dir(&self.path).stdout(log).stderr(errors);
        // Not in the server's business, and some of it changes what the server does or prints.
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LC_ALL", "C");
        let child = command.spawn().map_err(failed)?;
        Ok(Process { child })
    }

    /// The last lines of the server's log.
    pub(super) fn last_words(&self) -> String {
        let log = fs::read(self.path.join(LOG)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // The run's folder goes as a whole at the end; this only keeps it small. What fails here is removed there.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A running server. Dropping it kills it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
}

impl Process {
    /// How it ended, if it did so by itself.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Kills it and waits until it is gone: when this returns, nothing of it runs or holds a socket.
    pub(super) fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        // The watcher shares the group, so the group's id cannot have been given to anybody else, even if the server
        // has ended by itself. Waiting for a process that got SIGKILL takes about a millisecond.
        if let Ok(id) = i32::try_from(self.child.id())
            && let Some(group) = Pid::from_raw(id)
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
