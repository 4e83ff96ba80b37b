//! The replication link: what a master sends to one replica passes through here, up to a watermark.
//!
//! The relay counts bytes and knows no time. It reads everything that the master sends, at once; what is beyond the
//! watermark stays in its memory: those bytes *are* the writes that a failover would lose. What the replica acknowledges
//! passes up to a watermark of its own, an offset of the master's stream; all else that it says passes at once.
//!
//! A relay serves one connection of its replica and refuses all others: a replica whose link was cut tries again every
//! second by itself, and must come back only when the lesson says so. For the same reason the port stays bound until
//! the replica has been told another one. (Behind the one address of a node, see `front`, a relay is handed its
//! connections; there it goes on with the next when its replica closes one, since a replica that is told to follow the
//! same address again does so.)

use std::collections::VecDeque;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::voice::{EVERYTHING, Voice};

/// No watermark: everything passes.
pub(super) const OPEN: u64 = u64::MAX;

/// What the relay was told.
#[derive(Clone, Copy, Debug)]
struct Control {
    /// Bytes up to this count (since the first relay of the link) may pass.
    limit: u64,
    /// The master may be told that its replica has come so far (an offset of its stream).
    acks: i64,
    /// What is in memory has died with the host that sent it.
    lost: bool,
    /// Both ends are closed.
    cut: bool,
}

impl Default for Control {
    fn default() -> Self {
        Self { limit: OPEN, acks: EVERYTHING, lost: false, cut: false }
    }
}

/// What the relay has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// Bytes read from the master.
    pub(super) read: u64,
    /// Bytes given to the replica.
    pub(super) delivered: u64,
    /// Bytes in memory.
    pub(super) kept: u64,
    /// Nothing will pass any more (behind a front: until the replica comes back).
    pub(super) ended: bool,
    /// How many connections there have been.
    pub(super) connections: u64,
    /// How far the master was told, on this connection, that the replica has come; −1: it was not told.
    pub(super) told: i64,
}

impl Progress {
    fn from(counted: u64) -> Self {
        Self { read: counted, delivered: counted, told: -1, ..Self::default() }
    }
}

/// One replica's way to its master. Dropping it closes everything.
#[derive(Debug)]
pub(super) struct Relay {
    port: u16,
    control: watch::Sender<Control>,
    progress: watch::Receiver<Progress>,
    /// Where connections are handed in.
    hands: Option<mpsc::UnboundedSender<(TcpStream, UnixStream)>>,
    task: JoinHandle<()>,
}

impl Relay {
    /// Listens on a port of the kernel's choice, for a replica of the master behind `master` (a socket's path).
    /// Counting goes on from `counted`, so that watermarks of an earlier relay of the same link stay behind.
    pub(super) async fn start(master: PathBuf, counted: u64) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let (control, orders) = watch::channel(Control::default());
        let (report, progress) = watch::channel(Progress::from(counted));
        let task = tokio::spawn(serve(listener, master, orders, report));
        Ok(Self { port, control, progress, hands: None, task })
    }

    /// A relay that is handed its connections, both ends at once.
    pub(super) fn handed(counted: u64) -> Self {
        let (control, orders) = watch::channel(Control::default());
        let (report, progress) = watch::channel(Progress::from(counted));
        let (hands, handed) = mpsc::unbounded_channel();
        let task = tokio::spawn(serve_handed(handed, orders, report));
        Self { port: 0, control, progress, hands: Some(hands), task }
    }

    /// A replica has come, and this is its way to the master. A relay that has ended closes both.
    pub(super) fn hand(&self, replica: TcpStream, master: UnixStream) {
        if let Some(hands) = &self.hands {
            let _ = hands.send((replica, master));
        }
    }

    /// Where the replica finds it.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn progress(&self) -> Progress {
        *self.progress.borrow()
    }

    /// The watermark, in bytes.
    pub(super) fn limit(&self) -> u64 {
        self.control.borrow().limit
    }

    /// Sets the watermark.
    pub(super) fn set_limit(&self, limit: u64) {
        self.control.send_modify(|control| control.limit = limit);
    }

    /// Sets how far the master may be told that its replica has come.
    pub(super) fn set_acks(&self, offset: i64) {
        self.control.send_modify(|control| control.acks = offset);
    }

    /// Forgets what is in memory, and what may still come from a master that is dead.
    pub(super) async fn lose(&self) {
        self.control.send_modify(|control| control.lost = true);
        self.until(|progress| progress.kept == 0).await;
    }

    /// Closes both ends, and waits until they are.
    pub(super) async fn cut(&self) {
        self.control.send_modify(|control| control.cut = true);
        self.until(|progress| progress.ended).await;
    }

    /// Waits until `done`, or until nothing will pass any more.
    pub(super) async fn until(&self, mut done: impl FnMut(&Progress) -> bool) {
        let mut progress = self.progress.clone();
        // An error means that the task has ended: nothing will pass any more.
        let _ = progress.wait_for(|progress| progress.ended || done(progress)).await;
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    listener: TcpListener,
    master: PathBuf,
    mut orders: watch::Receiver<Control>,
    report: watch::Sender<Progress>,
) {
    let replica = tokio::select! {
        replica = accept(&listener) => Some(replica),
        // A cut before the replica has come: there is nothing to close.
        _ = orders.wait_for(|orders| orders.cut) => None,
    };
    // A master that is down refuses, and so do we, by closing.
    if let Some(replica) = replica
        && let Ok(master) = UnixStream::connect(&master).await
    {
        tokio::select! {
            _ = pass(replica, master, &mut orders, &report) => {}
            () = refuse(&listener) => {}
        }
    }
    end(&report);
    refuse(&listener).await;
}

async fn serve_handed(
    mut handed: mpsc::UnboundedReceiver<(TcpStream, UnixStream)>,
    mut orders: watch::Receiver<Control>,
    report: watch::Sender<Progress>,
) {
    loop {
        let pair = tokio::select! {
            pair = handed.recv() => pair,
            _ = orders.wait_for(|orders| orders.cut) => None,
        };
        let Some((replica, master)) = pair else { break };
        report.send_modify(|progress| {
            progress.ended = false;
            progress.connections += 1;
        });
        if pass(replica, master, &mut orders, &report).await != Ended::ByReplica {
            break;
        }
        end(&report);
    }
    end(&report);
    // From here on what is handed in is closed: the receiver is gone.
}

fn end(report: &watch::Sender<Progress>) {
    report.send_modify(|progress| {
        progress.ended = true;
        progress.kept = 0;
    });
}

/// Why nothing passes any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The replica has closed its end.
    ByReplica,
    /// The master is gone, or the link was cut.
    ForGood,
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        // An error here concerns the connection that was coming, or a shortage that passes.
        if let Ok((stream, _)) = listener.accept().await {
            // A write is to be seen at once, not when there are more.
            let _ = stream.set_nodelay(true);
            return stream;
        }
        tokio::task::yield_now().await;
    }
}

async fn refuse(listener: &TcpListener) {
    loop {
        drop(accept(listener).await);
    }
}

/// Passes bytes until one side ends it. A master that has died ends it only when the link is open: what has left its
/// host and is still under way (a slow link) arrives all the same.
async fn pass(
    mut replica: TcpStream,
    mut master: UnixStream,
    orders: &mut watch::Receiver<Control>,
    report: &watch::Sender<Progress>,
) -> Ended {
    let (mut from_replica, mut to_replica) = replica.split();
    let (mut from_master, mut to_master) = master.split();
    let (mut kept, mut voice) = (VecDeque::new(), Voice::new());
    report.send_modify(|progress| progress.told = -1);
    let (mut down, mut up) = (vec![0; 16 * 1024], vec![0; 1024]);
    let mut master_lives = true;
    loop {
        let order = *orders.borrow_and_update();
        if order.cut {
            return Ended::ForGood;
        }
        if order.lost && !kept.is_empty() {
            kept.clear();
            report.send_modify(|progress| progress.kept = 0);
        }
        if let Some(words) = voice.due(order.acks) {
            // A dead master hears nothing; its end of the link says so when it is read.
            let _ = to_master.write_all(&words).await;
            report.send_modify(|progress| progress.told = voice.told);
        }
        let open = order.limit == OPEN;
        if !master_lives && open && kept.is_empty() {
            return Ended::ForGood;
        }
        let room = order.limit.saturating_sub(report.borrow().delivered);
        let passable = kept.as_slices().0;
        let passable = &passable[..passable.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
        tokio::select! {
            told = orders.changed() => if told.is_err() {
                return Ended::ForGood;
            },
            read = from_master.read(&mut down), if master_lives => match read {
                Ok(0) | Err(_) => master_lives = false,
                Ok(count) => {
                    if !order.lost {
                        kept.extend(&down[..count]);
                    }
                    report.send_modify(|progress| {
                        progress.read += count as u64;
                        progress.kept = kept.len() as u64;
                    });
                }
            },
            written = to_replica.write(passable), if !passable.is_empty() => match written {
                Ok(count) if count > 0 => {
                    kept.drain(..count);
                    report.send_modify(|progress| {
                        progress.delivered += count as u64;
                        progress.kept = kept.len() as u64;
                    });
                }
                _ => return Ended::ByReplica,
            },
            read = from_replica.read(&mut up) => match read {
                Ok(count) if count > 0 => {
                    let _ = to_master.write_all(&voice.hear(&up[..count])).await;
                }
                _ => return Ended::ByReplica,
            },
        }
    }
}
