//! What the tests of the whole program share: a folder of their own to run it in, its output, and lessons to break.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod pty;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A lesson that comes with the program, to be copied and broken.
pub const WRONG_DELETE: &str = include_str!("../../lessons/wrong-delete.yaml");

/// The program.
pub const LOCKSCOPE: &str = env!("CARGO_BIN_EXE_lockscope");

/// No test waits longer for anything: whoever needs so much hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// An empty folder, far from the repository: the program runs in it, with no environment but this.
pub struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    pub fn new() -> Self {
        // In /tmp itself: servers' sockets are in there, and a socket's path must be short.
        let folder = tempfile::Builder::new().prefix("home-").tempdir_in("/tmp").unwrap();
        std::fs::create_dir(folder.path().join("tmp")).unwrap();
        Self { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where the program puts its temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// What is in there now.
    pub fn left_behind(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.temporary()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    /// Writes a file.
    pub fn with(self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The environment that the program gets: what is needed to find a server, and nothing of whoever runs the tests.
    pub fn environment(&self) -> Vec<(String, String)> {
        let mut environment = vec![
            ("TMPDIR".to_owned(), self.temporary().display().to_string()),
            // What a player remembers stays in the test, too.
            ("XDG_STATE_HOME".to_owned(), self.path().join("state").display().to_string()),
        ];
        for name in ["PATH", "LOCKSCOPE_REDIS_SERVER"] {
            environment.extend(std::env::var(name).ok().map(|value| (name.to_owned(), value)));
        }
        environment
    }

    /// The program, about to be run in here.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(LOCKSCOPE);
        command.args(args).current_dir(self.path()).env_clear().envs(self.environment());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program in here.
    pub fn run(&self, args: &[&str]) -> Ran {
        ran(&mut self.command(args))
    }

    /// `lockscope --check`, and these.
    pub fn check(&self, args: &[&str]) -> Ran {
        self.run(&[&["--check"], args].concat())
    }
}

/// What came of a run of the program.
pub struct Ran {
    command: String,
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Runs `command` to its end.
pub fn ran(command: &mut Command) -> Ran {
    let shown = format!("{command:?}");
    let child = command.spawn().unwrap();
    let pid = child.id();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(PATIENCE) else {
        kill(pid, rustix::process::Signal::KILL);
        panic!("it does not end: {shown}");
    };
    let Output { status, stdout, stderr } = output.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
    Ran { command: shown, code: status.code(), out: text(stdout), err: text(stderr) }
}

impl Ran {
    /// Everything, for a person who has to find out what went wrong.
    pub fn all(&self) -> String {
        let mut all = String::new();
        let _ = writeln!(all, "{}\nexit code {:?}\n--- stdout\n{}", self.command, self.code, self.out);
        let _ = writeln!(all, "--- stderr\n{}", self.err);
        all
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.all());
        self
    }

    /// The report contains this.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.out.contains(text), "it does not say {text:?}\n{}", self.all());
        self
    }

    /// The report does not contain this.
    #[track_caller]
    pub fn never_says(self, text: &str) -> Self {
        assert!(!self.out.contains(text), "it says {text:?}\n{}", self.all());
        self
    }

    /// Standard error contains this.
    #[track_caller]
    pub fn complains(self, text: &str) -> Self {
        assert!(self.err.contains(text), "stderr does not say {text:?}\n{}", self.all());
        self
    }

    /// The report has a line that begins with `word` (ok, FAILED, …) and is about `unit`.
    #[track_caller]
    pub fn line(self, word: &str, unit: &str) -> Self {
        let about = |line: &str| {
            let rest = line.strip_prefix(word)?;
            rest.starts_with("  ").then(|| rest.split_whitespace().next() == Some(unit))
        };
        assert!(self.out.lines().any(|line| about(line) == Some(true)), "no line {word:?} {unit}\n{}", self.all());
        self
    }

    /// The last line of the report; after the numbers it may say how often each was run.
    #[track_caller]
    pub fn closes(self, passed: usize, failed: usize, skipped: usize) -> Self {
        let closing = format!("{passed} passed, {failed} failed, {skipped} skipped");
        let last = self.out.lines().last().and_then(|line| line.split(';').next());
        assert_eq!(last, Some(closing.as_str()), "{}", self.all());
        self
    }

    /// A promise that was not kept: the block with this place, as its lines (place, expected, seen) without indentation.
    #[track_caller]
    pub fn failure(&self, place: &str) -> Vec<String> {
        let mut lines = self.out.lines().map(str::trim).skip_while(|line| *line != place);
        let block: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).map(str::to_owned).collect();
        assert!(!block.is_empty(), "no failure at {place}\n{}", self.all());
        block
    }

    /// The errors of lesson files: what each says, and its `file:line:column`.
    pub fn errors(&self) -> Vec<(String, String)> {
        let mut errors = Vec::new();
        let mut lines = self.out.lines().peekable();
        while let Some(line) = lines.next() {
            if let (Some(message), Some(place)) = (line.strip_prefix("error: "), lines.peek())
                && let Some((_, place)) = place.split_once("--> ")
            {
                errors.push((message.to_owned(), place.to_owned()));
            }
        }
        errors
    }
}

/// `text` with `from` changed to `to`; `from` has to be there exactly once, so that no test changes nothing.
#[track_caller]
pub fn changed(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "how often {from:?} is in the lesson");
    text.replacen(from, to, 1)
}

/// The line (from 1) of the only place where `needle` begins.
#[track_caller]
pub fn line_of(text: &str, needle: &str) -> usize {
    assert_eq!(text.matches(needle).count(), 1, "how often {needle:?} is in the lesson");
    text.split(needle).next().unwrap().matches('\n').count() + 1
}

/// Looks at something until it is so; says how long it took.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "between two looks, never instead of one")]
pub fn until(what: &str, mut so: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_micros(500));
    }
    start.elapsed()
}

/// Sends a signal to one process.
pub fn kill(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // It may be gone already, which is what was wanted.
    let _ = rustix::process::kill_process(pid, signal);
}
