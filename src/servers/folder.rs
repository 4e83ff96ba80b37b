//! The temporary folder of this process: private, removed at the end, and swept by the next start if it could not be.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::error::ServersError;
use super::guard;

/// Folders in use are named so; they always hold a locked [`LOCK`].
const READY: &str = "lockscope-";
/// Folders that are not locked yet are named so, for the few microseconds that this takes.
const UNREADY: &str = "lockscope_new-";
/// Locked (flock) as long as the folder's owner lives: the kernel unlocks it, whatever ended the owner.
const LOCK: &str = "lock";
/// An unready folder older than this was left behind.
const UNREADY_FOR: Duration = Duration::from_secs(60);
/// `sun_path` holds 104 bytes on macOS, 108 on Linux; this leaves room for the folder and `/s9999/redis.sock`.
const LONGEST_BASE: usize = 60;

/// The folder of a run, with the process that would remove it if we were killed. Dropping it removes it.
#[derive(Debug)]
pub(super) struct RunFolder {
    path: PathBuf,
    next: AtomicU32,
    janitor: Child,
    _lock: File,
}

/// All fleets of the process share one folder (and one janitor), as long as there is a fleet.
static CURRENT: Mutex<Weak<RunFolder>> = Mutex::new(Weak::new());

impl RunFolder {
    /// The folder of this process, made if there is none; what killed processes have left is swept first.
    pub(super) fn shared() -> Result<Arc<Self>, ServersError> {
        let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = current.upgrade() {
            return Ok(folder);
        }
        let base = base();
        sweep(&base);
        let folder = Arc::new(Self::make(&base)?);
        *current = Arc::downgrade(&folder);
        Ok(folder)
    }

    fn make(base: &Path) -> Result<Self, ServersError> {
        let failed = |source| ServersError::io(format!("make a folder in {}", base.display()), source);
        let unready = tempfile::Builder::new()
            .prefix(UNREADY)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(base)
            .map_err(failed)?;
        let lock = File::create(unready.path().join(LOCK)).map_err(failed)?;
        lock.try_lock().map_err(|error| failed(error.into()))?;
        // Under its final name the folder is locked from the first moment: nobody can take it for a stale one.
        let unique = uuid::Uuid::new_v4().simple().to_string();
        let path = base.join(format!("{READY}{}", unique.get(..12).unwrap_or(&unique)));
        fs::rename(unready.path(), &path).map_err(failed)?;
        // It is not there any more under the old name; there is nothing left to remove.
        let _ = unready.keep();
        let janitor = match guard::janitor(&path) {
            Ok(janitor) => janitor,
            Err(source) => {
                let _ = fs::remove_dir_all(&path);
                return Err(ServersError::io("start sh", source));
            }
        };
        Ok(Self { path, next: AtomicU32::new(0), janitor, _lock: lock })
    }

    /// A new, empty folder inside, for one server, or for what stands beside the servers.
    pub(super) fn subfolder(&self) -> Result<PathBuf, ServersError> {
        let path = self.path.join(format!("s{}", self.next.fetch_add(1, Ordering::Relaxed)));
        fs::create_dir(&path)
            .map_err(|source| ServersError::io(format!("make the folder {}", path.display()), source))?;
        Ok(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            // The janitor tries again when this process has ended.
            return;
        }
        let _ = self.janitor.kill();
        let _ = self.janitor.wait();
    }
}

/// Where temporary folders go. A socket's path must fit into `sun_path`, so a deep TMPDIR is left aside.
fn base() -> PathBuf {
    let usual = std::env::temp_dir();
    if usual.as_os_str().len() <= LONGEST_BASE { usual } else { PathBuf::from("/tmp") }
}

/// Removes the folders of owners that are gone. Nothing here is worth an error: what cannot be removed stays.
fn sweep(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let path = entry.path();
        // Not following links: what somebody else put there under our name is none of our business.
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if !metadata.is_dir() || metadata.uid() != rustix::process::geteuid().as_raw() {
            continue;
        }
        let stale = if name.starts_with(READY) {
            is_unlocked(&path.join(LOCK))
        } else {
            let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
            name.starts_with(UNREADY) && age.is_some_and(|age| age > UNREADY_FOR)
        };
        if stale {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// A ready folder without a lock file is one whose removal was broken off.
fn is_unlocked(lock: &Path) -> bool {
    match File::open(lock) {
        Ok(file) => file.try_lock().is_ok(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}
