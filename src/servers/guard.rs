//! Children that never outlive this process, even if it is killed with SIGKILL.
//!
//! A parent-death signal is Linux only and tied to the thread that spawned the child. A pipe is neither: this process
//! holds the write end of one pipe and never writes to it; each child is wrapped by a few lines of `sh` that hold the
//! read end. When this process ends, in whatever way, the kernel closes the write end and every reader wakes up.

use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

const GUARD: &str = include_str!("../../assets/sh/guard.sh");
const JANITOR: &str = include_str!("../../assets/sh/janitor.sh");

/// The pipe of this process. The write end is closed by the kernel when the process ends, and by nothing else; it is
/// close-on-exec, so no child can hold it open.
static LIFELINE: OnceLock<(PipeReader, PipeWriter)> = OnceLock::new();

/// A script without its comments: `ps` shows it, and a person who looks there wants to see the program.
fn bare(script: &str) -> String {
    let lines = script.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

fn lifeline() -> io::Result<Stdio> {
    let (reader, _) = if let Some(pipe) = LIFELINE.get() {
        pipe
    } else {
        let pipe = io::pipe()?;
        // Another thread may have been faster; then its pipe counts and this one is closed.
        LIFELINE.get_or_init(|| pipe)
    };
    Ok(Stdio::from(reader.try_clone()?))
}

/// A command that runs `program` under guard: in a process group of its own, as the direct child (its pid is the one
/// that [`Child`] knows), killed when this process ends. Arguments that are added go to `program`.
pub(super) fn guarded(program: &Path) -> io::Result<Command> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(bare(GUARD)).arg("lockscope").arg(program).stdin(lifeline()?).process_group(0);
    Ok(command)
}

/// Starts the process that removes `folder` if this process dies without doing it.
pub(super) fn janitor(folder: &Path) -> io::Result<Child> {
    Command::new("sh")
        .arg("-c")
        .arg(bare(JANITOR))
        .arg("lockscope")
        .arg(folder)
        .stdin(lifeline()?)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/")
        .process_group(0)
        .spawn()
}
