//! Writes a changed lesson into a file of its own.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use crate::lesson::whatif::Written;

/// Who has saved so many what-ifs of one lesson is told that there is no name left.
const MOST: u32 = 999;

/// Writes `written` into `folder`, under the first name that nobody has: nothing is ever written over. Returns the name.
///
/// # Errors
/// When the folder cannot be written to, or all names are taken.
pub fn write_new(folder: &Path, written: &Written) -> io::Result<String> {
    for n in 1..=MOST {
        let id = if n == 1 { written.stem.clone() } else { format!("{}-{n}", written.stem) };
        let name = format!("{id}.yaml");
        let path = folder.join(&name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                let done = file.write_all(written.text(&id).as_bytes()).and_then(|()| file.sync_all());
                if let Err(error) = done {
                    // Half a lesson is worse than none; that it cannot be removed either changes nothing.
                    let _ = fs::remove_file(&path);
                    return Err(error);
                }
                return Ok(name);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}
