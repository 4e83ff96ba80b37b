//! The one address of a process of a set with Sentinels, and who comes there.
//!
//! Sentinels tell each other, and the replicas, where a node is: so a node must have the same address for everybody, and
//! what passes between two of them can no more be told apart by where it goes. It is told apart by who it says it is:
//! whoever comes names its user first (`AUTH`), and each process of a set is a user of its own. A replica's connection is
//! handed to its replication link; anybody else's is passed on, unless the lesson has parted the two.
//!
//! The port is the kernel's choice and is bound by us as long as the set lives: no other process can take it while the
//! node is down.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::relay::Relay;

/// `AUTH` is among the first things that are said; whoever has said so much without it will not.
const INTRODUCTION: usize = 1024;

/// A process's address. Dropping it closes everything that came through it, but not the links.
#[derive(Debug)]
pub(super) struct Front {
    port: u16,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    /// Where the process listens.
    target: PathBuf,
    /// Whoever gets no answer.
    barred: watch::Sender<BTreeSet<String>>,
    /// By name: those who come to replicate.
    links: Mutex<BTreeMap<String, Arc<Relay>>>,
    /// Who may come to replicate.
    replicas: Vec<String>,
}

impl Front {
    /// An address for the process behind the socket `target`, to which `replicas` (names of users) may come for its
    /// replication stream.
    pub(super) async fn open(target: PathBuf, replicas: Vec<String>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared { target, barred: watch::Sender::default(), links: Mutex::default(), replicas });
        let task = tokio::spawn(welcome(listener, Arc::clone(&shared)));
        Ok(Self { port, shared, task })
    }

    /// Where everybody finds it.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The replication link of `replica`; made, and open, if it has none.
    pub(super) fn link(&self, replica: &str) -> Arc<Relay> {
        self.shared.link(replica)
    }

    /// A new link for `replica`, which counts on from `counted`; the old one serves nobody new.
    pub(super) fn new_link(&self, replica: &str, counted: u64) -> Arc<Relay> {
        let relay = Arc::new(Relay::handed(counted));
        self.shared.lock().insert(replica.to_owned(), Arc::clone(&relay));
        relay
    }

    /// Forgets all links, and lets everybody through.
    pub(super) fn clear(&self) {
        self.shared.lock().clear();
        self.shared.barred.send_replace(BTreeSet::new());
    }

    /// Parts `who` from this process (its connections end, and no new one is answered), or lets it through again.
    pub(super) fn bar(&self, who: &str, barred: bool) {
        self.shared.barred.send_modify(|names| {
            if barred {
                names.insert(who.to_owned());
            } else {
                names.remove(who);
            }
        });
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Relay>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn link(&self, replica: &str) -> Arc<Relay> {
        Arc::clone(self.lock().entry(replica.to_owned()).or_insert_with(|| Arc::new(Relay::handed(0))))
    }
}

async fn welcome(listener: TcpListener, shared: Arc<Shared>) {
    let mut visits = JoinSet::new();
    loop {
        tokio::select! {
            // An error here concerns the connection that was coming, or a shortage that passes.
            come = listener.accept() => match come {
                Ok((visitor, _)) => _ = visits.spawn(visit(visitor, Arc::clone(&shared))),
                Err(_) => tokio::task::yield_now().await,
            },
            Some(_) = visits.join_next() => {}
        }
    }
}

/// One connection: passed on both ways, and looked at until it has said who it is.
async fn visit(mut visitor: TcpStream, shared: Arc<Shared>) {
    let _ = visitor.set_nodelay(true);
    // A process that is down refuses, and so do we, by closing.
    let Some(mut process) = connect(&shared.target).await else { return };
    let mut barred = shared.barred.subscribe();
    let (mut said, mut name) = (Vec::new(), None);
    let (mut up, mut down) = (vec![0; 16 * 1024], vec![0; 16 * 1024]);
    loop {
        tokio::select! {
            read = visitor.read(&mut up) => match read {
                Ok(count) if count > 0 => {
                    if name.is_none() && said.len() < INTRODUCTION {
                        said.extend_from_slice(&up[..count]);
                        name = user(&said);
                    }
                    if name.as_ref().is_some_and(|name| barred.borrow().contains(name)) {
                        return;
                    }
                    if process.write_all(&up[..count]).await.is_err() {
                        return;
                    }
                    if let Some(name) = name.as_ref().filter(|name| shared.replicas.contains(name)) {
                        return shared.link(name).hand(visitor, process);
                    }
                }
                _ => return,
            },
            read = process.read(&mut down) => match read {
                Ok(count) if count > 0 => {
                    if visitor.write_all(&down[..count]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
            told = barred.changed() => {
                if told.is_err() || name.as_ref().is_some_and(|name| barred.borrow().contains(name)) {
                    return;
                }
            }
        }
    }
}

async fn connect(target: &Path) -> Option<UnixStream> {
    UnixStream::connect(target).await.ok()
}

/// The user that `AUTH user password` names among commands as clients send them; none: not said yet, or not whole.
fn user(said: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(said);
    let mut lines = text.split("\r\n");
    lines.find(|line| line.eq_ignore_ascii_case("AUTH"))?;
    let length: usize = lines.next()?.strip_prefix('$')?.parse().ok()?;
    lines.next().filter(|name| name.len() == length).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_is_whom_it_says_it_is() {
        let whole = b"*1\r\n$4\r\nPING\r\n*3\r\n$4\r\nAUTH\r\n$2\r\nr1\r\n$3\r\nabc\r\n";
        assert_eq!(user(whole).as_deref(), Some("r1"));
        assert_eq!(user(b"*3\r\n$4\r\nauth\r\n$2\r\ns1\r\n$3\r\nabc\r\n").as_deref(), Some("s1"));
        for end in 0..whole.len() - 14 {
            assert_eq!(user(&whole[..end]), None, "{end} bytes");
        }
        assert_eq!(user(b"*1\r\n$4\r\nINFO\r\n"), None);
    }
}
