//! Which server program to use, and what to tell people who have none.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::error::ServersError;

/// The environment variable that names the server program.
pub const BINARY_VARIABLE: &str = "LOCKSCOPE_REDIS_SERVER";

/// `--version` takes milliseconds; a program that is silent for so long is something else.
const VERSION_PATIENCE: Duration = Duration::from_secs(5);
/// No server says more than this about its version.
const VERSION_BYTES: u64 = 4096;

/// A server program that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// Where it is.
    pub path: PathBuf,
    /// `redis` or `valkey`.
    pub name: String,
    /// Major, minor, patch, as the program itself says (Valkey: Valkey's own version).
    pub version: (u32, u32, u32),
}

impl Binary {
    /// Looks for a server: `explicit` (from the command line), then `$LOCKSCOPE_REDIS_SERVER`, then `redis-server` and
    /// `valkey-server` on PATH. One that was named is used or refused, never passed over for another.
    ///
    /// # Errors
    /// [`ServersError::NotFound`], [`ServersError::NotAServer`] or [`ServersError::TooOld`].
    pub fn find(explicit: Option<&Path>) -> Result<Self, ServersError> {
        let variable = std::env::var_os(BINARY_VARIABLE).filter(|value| !value.is_empty());
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self::find_in(explicit, variable.as_deref(), &path)
    }

    /// [`Binary::find`] with the environment given: `variable` for `$LOCKSCOPE_REDIS_SERVER`, `path` for `$PATH`.
    ///
    /// # Errors
    /// As [`Binary::find`].
    pub fn find_in(explicit: Option<&Path>, variable: Option<&OsStr>, path: &OsStr) -> Result<Self, ServersError> {
        let here = std::env::current_dir().unwrap_or_default();
        let look = |name: &OsStr| which::which_in(name, Some(path), &here).ok();
        if let Some(named) = explicit.map(Path::as_os_str).or(variable) {
            let found = look(named).ok_or_else(|| ServersError::NotAServer {
                path: PathBuf::from(named),
                why: "there is no such program, or it may not be executed".to_owned(),
            })?;
            return Self::ask(found);
        }
        let found = ["redis-server", "valkey-server"].iter().find_map(|name| look(OsStr::new(name)));
        let found =
            found.ok_or_else(|| ServersError::NotFound { install: install_command(&|tool| look(tool).is_some()) })?;
        Self::ask(found)
    }

    fn ask(path: PathBuf) -> Result<Self, ServersError> {
        let said = match say_version(&path) {
            Ok(said) => said,
            Err(why) => return Err(ServersError::NotAServer { path, why }),
        };
        let Some((name, version)) = parse_version(&said) else {
            let first: String = said.lines().next().unwrap_or_default().chars().take(80).collect();
            let why = if first.is_empty() { "it says nothing".to_owned() } else { format!("it says `{first}`") };
            return Err(ServersError::NotAServer { path, why });
        };
        // Valkey's numbers go on where Redis 7.2 ended; PEXPIRETIME and the ACL selectors used here are in both.
        let (least, least_text) = if name == "valkey" { ((7, 2, 0), "Valkey 7.2") } else { ((7, 0, 0), "Redis 7.0") };
        if version < least {
            return Err(ServersError::TooOld { path, name: name.to_owned(), version, least: least_text });
        }
        Ok(Self { path, name: name.to_owned(), version })
    }
}

/// What `path --version` prints. The program may be anything (a person can mistype), so both its time and its output
/// are bounded.
fn say_version(path: &Path) -> Result<String, String> {
    let mut child = Command::new(path)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("it cannot be run: {error}"))?;
    let Some(output) = child.stdout.take() else { return Err("it has no output".to_owned()) };
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = output.take(VERSION_BYTES).read_to_end(&mut text).map(|_| text);
        // The other side may have lost patience; then nobody wants the answer.
        let _ = sender.send(read);
    });
    let said = receiver.recv_timeout(VERSION_PATIENCE);
    // Whatever it is, it has said enough.
    let _ = child.kill();
    let _ = child.wait();
    match said {
        Ok(Ok(text)) => Ok(String::from_utf8_lossy(&text).into_owned()),
        Ok(Err(error)) => Err(format!("its version cannot be read: {error}")),
        Err(_) => Err("it does not answer to --version".to_owned()),
    }
}

/// Reads `Redis server v=7.0.15 sha=…` and `Valkey server v=8.1.0 sha=…`.
fn parse_version(said: &str) -> Option<(&'static str, (u32, u32, u32))> {
    said.lines().find_map(|line| {
        let (name, rest) = match (line.strip_prefix("Redis server v="), line.strip_prefix("Valkey server v=")) {
            (Some(rest), _) => ("redis", rest),
            (_, Some(rest)) => ("valkey", rest),
            _ => return None,
        };
        let number = rest.split_whitespace().next()?;
        // A release candidate is spelled `8.0.0-rc1`.
        let mut parts = number.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
        Some((name, (parts.next()?, parts.next()?, parts.next().unwrap_or(0))))
    })
}

/// How a server is installed here: the first package manager that is present.
fn install_command(has: &dyn Fn(&OsStr) -> bool) -> String {
    const MANAGERS: [(&str, &str); 8] = [
        ("brew", "brew install redis"),
        ("apt-get", "sudo apt-get install redis-server"),
        ("dnf", "sudo dnf install valkey"),
        ("yum", "sudo yum install redis"),
        ("pacman", "sudo pacman -S valkey"),
        ("apk", "sudo apk add valkey"),
        ("zypper", "sudo zypper install redis"),
        ("pkg", "sudo pkg install redis"),
    ];
    MANAGERS.iter().find(|(tool, _)| has(OsStr::new(tool))).map_or_else(
        || "see https://redis.io/docs/latest/operate/oss_and_stack/install/".to_owned(),
        |(_, command)| (*command).to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_both_servers_are_read() {
        let redis = "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0";
        assert_eq!(parse_version(redis), Some(("redis", (7, 0, 15))));
        assert_eq!(parse_version("Valkey server v=9.1.2 sha=0"), Some(("valkey", (9, 1, 2))));
        assert_eq!(parse_version("noise\nValkey server v=9.0.0-rc1 sha=0"), Some(("valkey", (9, 0, 0))));
        assert_eq!(parse_version("cat (GNU coreutils) 9.1"), None);
        assert_eq!(parse_version("redis-cli 7.0.15"), None);
    }

    #[test]
    fn the_install_command_is_the_one_of_the_platform() {
        assert_eq!(install_command(&|tool| tool == "dnf"), "sudo dnf install valkey");
        assert_eq!(install_command(&|tool| tool == "apt-get" || tool == "brew"), "brew install redis");
        assert!(install_command(&|_| false).starts_with("see https://"));
    }
}
