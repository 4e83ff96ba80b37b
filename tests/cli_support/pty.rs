//! A real terminal for the program: keys go in, frames come out.
//!
//! Nothing here guesses when a picture is complete. The program ends each frame by hiding the cursor, after everything
//! that it draws; so a picture is looked at when the last thing that arrived is that sequence, and a key has been
//! answered when one more of them has come than before.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Instant;

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtyPair, PtySize, SlavePty, native_pty_system};

use super::{PATIENCE, until};

const HIDE_CURSOR: &[u8] = b"\x1b[?25l";

/// Keys, as terminals send them.
pub const RIGHT: &str = "\x1b[C";
pub const LEFT: &str = "\x1b[D";
pub const HOME: &str = "\x1b[H";
pub const END: &str = "\x1b[F";
pub const DOWN: &str = "\x1b[B";
pub const ENTER: &str = "\r";
pub const ESC: &str = "\x1b";
pub const CTRL_C: &str = "\x03";
pub const CTRL_R: &str = "\x12";

/// What has arrived.
struct Arrived {
    parser: vt100::Parser,
    bytes: Vec<u8>,
    frames: usize,
    ended: bool,
    /// Nobody reads on.
    enough: bool,
}

impl Arrived {
    fn is_complete(&self) -> bool {
        self.bytes.ends_with(HIDE_CURSOR)
    }

    /// What is seen: line by line, without the blanks at their ends.
    fn picture(&self) -> String {
        let contents = self.parser.screen().contents();
        contents.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }
}

type Shared = Arc<(Mutex<Arrived>, Condvar)>;

/// A terminal in which the program runs.
pub struct Terminal {
    arrived: Shared,
    reader: JoinHandle<()>,
    keys: Box<dyn Write + Send>,
    master: Box<dyn MasterPty + Send>,
    /// Kept open until the program has ended, so that nothing it writes is lost.
    slave: Box<dyn SlavePty + Send>,
    child: Box<dyn Child + Send + Sync>,
    /// How the terminal was set before the program started.
    before: String,
}

/// How the program left.
pub struct Left {
    pub status: ExitStatus,
    /// What the terminal shows now.
    pub picture: String,
    /// Everything that was ever written to it.
    pub bytes: Vec<u8>,
    alternate_screen: bool,
    hidden_cursor: bool,
    before: String,
    after: String,
}

impl Terminal {
    /// Starts a program in a terminal of this size.
    pub fn open(
        size: (u16, u16),
        program: &Path,
        args: &[&str],
        folder: &Path,
        environment: &[(String, String)],
    ) -> Self {
        let (cols, rows) = size;
        let pty_size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let PtyPair { slave, master } = native_pty_system().openpty(pty_size).unwrap();
        let before = settings(&*master);
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.cwd(folder);
        command.env_clear();
        command.env("TERM", "xterm-256color");
        for (name, value) in environment {
            command.env(name, value);
        }
        let child = slave.spawn_command(command).unwrap();
        let (reader, keys) = (master.try_clone_reader().unwrap(), master.take_writer().unwrap());
        let parser = vt100::Parser::new(cells(rows), cells(cols), 0);
        let arrived = Arrived { parser, bytes: Vec::new(), frames: 0, ended: false, enough: false };
        let arrived: Shared = Arc::new((Mutex::new(arrived), Condvar::new()));
        let reader = std::thread::spawn({
            let arrived = Arc::clone(&arrived);
            move || read(reader, &arrived)
        });
        Self { arrived, reader, keys, master, slave, child, before }
    }

    /// Whether the terminal is set as it was before the program started.
    pub fn is_as_before(&self) -> bool {
        settings(&*self.master) == self.before
    }

    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Waits for a complete frame that is so; returns it.
    #[track_caller]
    pub fn wait(&self, what: &str, so: impl Fn(&str) -> bool) -> String {
        self.wait_arrived(what, |arrived| arrived.is_complete() && so(&arrived.picture()))
    }

    #[track_caller]
    fn wait_arrived(&self, what: &str, so: impl Fn(&Arrived) -> bool) -> String {
        let start = Instant::now();
        let (arrived, news) = &*self.arrived;
        let mut guard: MutexGuard<'_, Arrived> = arrived.lock().unwrap();
        loop {
            if so(&guard) {
                return guard.picture();
            }
            let left = PATIENCE.saturating_sub(start.elapsed());
            assert!(!left.is_zero() && !guard.ended, "never: {what}\nThe screen is:\n{}", guard.picture());
            guard = news.wait_timeout(guard, left).unwrap().0;
        }
    }

    /// Whether any cell has a colour of its own.
    pub fn shows_colour(&self) -> bool {
        let arrived = self.arrived.0.lock().unwrap();
        let screen = arrived.parser.screen();
        let (rows, cols) = screen.size();
        let mut cells = (0..rows.get()).flat_map(|row| (0..cols.get()).map(move |col| (row, col)));
        cells.any(|(row, col)| {
            screen
                .cell(row, col)
                .is_some_and(|cell| (cell.fgcolor(), cell.bgcolor()) != (vt100::Color::Default, vt100::Color::Default))
        })
    }

    /// Types something that the program ends on.
    pub fn send(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Presses one key, and waits for the frame that answers it.
    #[track_caller]
    pub fn press(&mut self, key: &str) -> String {
        let before = self.arrived.0.lock().unwrap().frames;
        self.send(key);
        self.wait_arrived(&format!("an answer to {key:?}"), |arrived| arrived.frames > before && arrived.is_complete())
    }

    /// Makes the terminal another size, and waits for a frame that is so.
    #[track_caller]
    pub fn resize(&self, size: (u16, u16), what: &str, so: impl Fn(&str) -> bool) -> String {
        let (cols, rows) = size;
        self.arrived.0.lock().unwrap().parser.screen_mut().set_size(cells(rows), cells(cols));
        self.master.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
        self.wait(what, so)
    }

    /// The terminal is gone, as when somebody closes its window. Returns when the program has ended.
    #[track_caller]
    pub fn hang_up(mut self) {
        // The reader holds the terminal open too; it goes after one more frame.
        self.arrived.0.lock().unwrap().enough = true;
        self.send(HOME);
        self.reader.join().unwrap();
        drop((self.keys, self.slave, self.master));
        until("the program ends", || self.child.try_wait().unwrap().is_some());
    }

    /// Waits until the program has ended, and looks at what it leaves.
    #[track_caller]
    pub fn left(mut self) -> Left {
        let mut status = None;
        until("the program ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let after = settings(&*self.master);
        // With the last user of the terminal gone, the reader comes to the end of what was written.
        drop(self.slave);
        self.reader.join().unwrap();
        let arrived = self.arrived.0.lock().unwrap();
        let screen = arrived.parser.screen();
        Left {
            status: status.unwrap(),
            picture: arrived.picture(),
            bytes: arrived.bytes.clone(),
            alternate_screen: screen.alternate_screen(),
            hidden_cursor: screen.hide_cursor(),
            before: self.before,
            after,
        }
    }
}

impl Left {
    /// The terminal is as it was: no raw mode, the usual screen, the cursor to be seen.
    #[track_caller]
    pub fn is_sane(&self) {
        let was_there = self.bytes.windows(8).any(|bytes| bytes == b"\x1b[?1049h");
        assert!(was_there, "the program has never taken the terminal:\n{}", self.picture);
        assert!(!self.alternate_screen, "the alternate screen is still on");
        assert!(!self.hidden_cursor, "the cursor is still hidden");
        assert_eq!(self.after, self.before, "the terminal's settings");
    }
}

fn cells(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).expect("a terminal has at least one cell")
}

/// The terminal's settings (raw mode is among them), as text to be compared.
fn settings(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("settings of the terminal"))
}

fn read(mut from: Box<dyn Read + Send>, arrived: &Shared) {
    let (arrived, news) = &**arrived;
    let mut buffer = [0; 4096];
    loop {
        // At the end Linux says EIO, others say nothing.
        let read = from.read(&mut buffer).unwrap_or(0);
        let mut arrived = arrived.lock().unwrap();
        if read == 0 {
            arrived.ended = true;
            news.notify_all();
            return;
        }
        arrived.parser.process(&buffer[..read]);
        arrived.bytes.extend_from_slice(&buffer[..read]);
        arrived.frames = arrived.bytes.windows(HIDE_CURSOR.len()).filter(|bytes| *bytes == HIDE_CURSOR).count();
        news.notify_all();
        if arrived.enough {
            return;
        }
    }
}
