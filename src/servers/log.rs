//! The log of commands (`appendonly`) on a node's disk: how far it goes, and what a power failure leaves of it.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::ServersError;

/// Where Redis 7 and its relatives keep the log, inside the server's folder.
const FOLDER: &str = "appendonlydir";
/// The list of the log's files.
const MANIFEST: &str = "appendonly.aof.manifest";

/// The file that the log is written to, and its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogEnd {
    pub(super) file: PathBuf,
    pub(super) bytes: u64,
}

impl LogEnd {
    /// The end of the log of the server in `home`; none: it keeps none.
    pub(super) fn of(home: &Path) -> Result<Option<Self>, ServersError> {
        let folder = home.join(FOLDER);
        let manifest = match fs::read_to_string(folder.join(MANIFEST)) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ServersError::io(format!("read {MANIFEST}"), error)),
        };
        let Some(name) = current(&manifest) else { return Ok(None) };
        let file = folder.join(name);
        let bytes = fs::metadata(&file).map_err(|error| ServersError::io(format!("look at {name}"), error))?.len();
        Ok(Some(Self { file, bytes }))
    }

    /// Takes away everything after `bytes`.
    pub(super) fn cut_to(&self, bytes: u64) -> Result<(), ServersError> {
        let cut = OpenOptions::new().write(true).open(&self.file).and_then(|file| file.set_len(bytes.min(self.bytes)));
        cut.map_err(|error| ServersError::io(format!("shorten {}", self.file.display()), error))
    }
}

/// The last incremental file (`type i`): `file appendonly.aof.1.incr.aof seq 1 type i`.
fn current(manifest: &str) -> Option<&str> {
    manifest.lines().rev().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["file", name, "seq", _, "type", "i", ..] => Some(*name),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_incremental_file_is_written_to() {
        let manifest = "file appendonly.aof.2.base.rdb seq 2 type b\n\
                        file appendonly.aof.1.incr.aof seq 1 type h\n\
                        file appendonly.aof.2.incr.aof seq 2 type i\n\
                        file appendonly.aof.3.incr.aof seq 3 type i\n";
        assert_eq!(current(manifest), Some("appendonly.aof.3.incr.aof"));
        assert_eq!(current("file appendonly.aof.1.base.rdb seq 1 type b\n"), None);
    }
}
