//! A connection on which one waits, the thread with it.
//!
//! A lesson's step asks a server some three times, and the engine can do nothing else until it has been answered. Through
//! an asynchronous runtime (wake the socket's task, pass the reply on, wake the one who asked) each question would take two
//! or three times as long as the server does. So this waits in the system call itself; to ask several servers at the same
//! time, first send all the questions ([`Socket::ask`]), then take the answers. Writing commands and reading replies is the
//! redis crate's.

use std::cell::RefCell;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use redis::{Parser, PushInfo, RedisError, Value};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::error::Broken;

/// A server that does not answer within this *real* time never will.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// A connection to the server that listens on a Unix socket. Dropping it closes it.
pub(super) struct Socket {
    stream: UnixStream,
    parser: RefCell<Parser>,
    /// What the server has sent by itself (RESP3), and nobody has taken yet.
    pushes: RefCell<Vec<PushInfo>>,
}

impl Socket {
    pub(super) fn connect(path: &Path) -> Result<Self, RedisError> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        Ok(Self { stream, parser: RefCell::default(), pushes: RefCell::default() })
    }

    /// Sends commands, packed as Redis reads them, and does not wait. Each is owed one [`Socket::answer`].
    pub(super) fn ask(&self, packed: &[u8]) -> Result<(), RedisError> {
        Ok((&self.stream).write_all(packed)?)
    }

    /// Waits for the next reply. Errors of the server are replies ([`Value::ServerError`], inside lists too).
    pub(super) fn answer(&self) -> Result<Value, RedisError> {
        let answer = self.read(None)?;
        answer.ok_or_else(|| io::Error::new(ErrorKind::TimedOut, "the server does not answer").into())
    }

    /// The next reply; none: it has not come within `limit`, and is still owed.
    pub(super) fn answer_within(&self, limit: Duration) -> Result<Option<Value>, RedisError> {
        self.read(Some(Instant::now() + limit))
    }

    fn read(&self, until: Option<Instant>) -> Result<Option<Value>, RedisError> {
        let patience = Patience { stream: &self.stream, until };
        loop {
            match self.parser.borrow_mut().parse_value(&patience) {
                Ok(Value::Push { kind, data }) => self.pushes.borrow_mut().push(PushInfo { kind, data }),
                Ok(answer) => return Ok(Some(answer)),
                // What has come of it is kept by the parser.
                Err(error) if error.is_timeout() => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// What the server has sent by itself, as far as it has been read, in order.
    pub(super) fn take_pushes(&self) -> Vec<PushInfo> {
        self.pushes.take()
    }
}

/// Reads from a stream until a certain moment, or as long as the stream itself waits. Signals are nobody's answer (a shell that lets the program go on after
/// Ctrl-Z sends one), and the parser would take them for the end of the connection.
struct Patience<'a> {
    stream: &'a UnixStream,
    until: Option<Instant>,
}

impl Read for &Patience<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(until) = self.until {
                let left =
                    Timespec::try_from(until.saturating_duration_since(Instant::now())).map_err(io::Error::other)?;
                match poll(&mut [PollFd::new(self.stream, PollFlags::IN)], Some(&left)) {
                    Ok(0) => return Err(ErrorKind::TimedOut.into()),
                    Ok(_) => {}
                    Err(Errno::INTR) => continue,
                    Err(error) => return Err(error.into()),
                }
            }
            match (&*self.stream).read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(ErrorKind::TimedOut.into()),
                read => return read,
            }
        }
    }
}

/// How an error of a connection is told.
pub(super) fn broken(error: &RedisError) -> Broken {
    Broken(error.to_string())
}
