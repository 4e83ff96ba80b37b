//! A trace as a file: JSON Lines, one record per line.
//!
//! The first line says what the file is and who there was: `{"lockscope_trace":1,"header":{…}}`. Every other line is
//! one [`Record`]; the last of them is the end of the run, so a file that was cut off is noticed.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use super::{Header, Record, Trace, What};

/// The version of the file format that this program writes and reads.
pub const VERSION: u64 = 1;

/// The first line, as it is written.
#[derive(Serialize)]
struct FirstLine<'a> {
    lockscope_trace: u64,
    header: &'a Header,
}

/// The first line, as it is read: the header is looked at only once the version is known.
#[derive(Deserialize)]
struct AnyFirstLine {
    lockscope_trace: u64,
    #[serde(default)]
    header: serde_json::Value,
}

/// Why a file could not be read as a trace. Lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file itself could not be read.
    #[error("line {line}: {error}")]
    Io {
        /// The line that was being read.
        line: usize,
        /// What the system said.
        error: io::Error,
    },
    /// The first line is not that of a trace.
    #[error("line 1: this is not a lockscope trace ({error})")]
    NotATrace {
        /// What the JSON reader missed.
        error: serde_json::Error,
    },
    /// It is a trace of another version.
    #[error("line 1: this trace has version {found}; this lockscope reads version {VERSION}")]
    Version {
        /// The version that the file names.
        found: u64,
    },
    /// A line is not a record.
    #[error("line {line}: this is not a record of a trace ({error})")]
    Record {
        /// Which line.
        line: usize,
        /// What the JSON reader missed.
        error: serde_json::Error,
    },
    /// A record is earlier than the one before it.
    #[error("line {line}: this record is earlier than the one before it")]
    Backwards {
        /// Which line.
        line: usize,
    },
    /// A record names an event that the header does not have.
    #[error("line {line}: there is no event {event}; the header has {events}")]
    NoSuchEvent {
        /// Which line.
        line: usize,
        /// The index that it names.
        event: usize,
        /// How many there are.
        events: usize,
    },
    /// The file ends before the run does.
    #[error("line {line}: the file ends here, and the run does not")]
    CutOff {
        /// One past the last line.
        line: usize,
    },
    /// There is something after the end of the run.
    #[error("line {line}: the run has ended on the line before")]
    AfterTheEnd {
        /// Which line.
        line: usize,
    },
}

/// Writes `trace` as JSON Lines.
///
/// # Errors
/// What `out` answers.
pub fn write(trace: &Trace, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut out, &FirstLine { lockscope_trace: VERSION, header: &trace.header })?;
    out.write_all(b"\n")?;
    for record in &trace.records {
        serde_json::to_writer(&mut out, record)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Reads what [`write`] wrote.
///
/// # Errors
/// [`ReadError`], with the line.
pub fn read(input: impl BufRead) -> Result<Trace, ReadError> {
    let mut lines = input.lines().enumerate().map(|(i, line)| match line {
        Ok(text) => Ok((i + 1, text)),
        Err(error) => Err(ReadError::Io { line: i + 1, error }),
    });
    let first = lines.next().transpose()?.map_or_else(String::new, |(_, text)| text);
    let header = header(&first)?;
    let mut trace = Trace { header, records: Vec::new() };
    let mut last_line = 1;
    for line in lines {
        let (line, text) = line?;
        last_line = line;
        let record: Record = serde_json::from_str(&text).map_err(|error| ReadError::Record { line, error })?;
        check(&trace, &record, line)?;
        trace.records.push(record);
    }
    match trace.records.last() {
        Some(Record { what: What::End, .. }) => Ok(trace),
        _ => Err(ReadError::CutOff { line: last_line + 1 }),
    }
}

fn header(first: &str) -> Result<Header, ReadError> {
    let not_a_trace = |error| ReadError::NotATrace { error };
    let first: AnyFirstLine = serde_json::from_str(first).map_err(not_a_trace)?;
    if first.lockscope_trace != VERSION {
        return Err(ReadError::Version { found: first.lockscope_trace });
    }
    serde_json::from_value(first.header).map_err(not_a_trace)
}

/// What every reader of a trace relies on.
fn check(trace: &Trace, record: &Record, line: usize) -> Result<(), ReadError> {
    if let Some(last) = trace.records.last() {
        if last.what == What::End {
            return Err(ReadError::AfterTheEnd { line });
        }
        if record.t < last.t {
            return Err(ReadError::Backwards { line });
        }
    }
    let events = trace.header.events.len();
    match record.what.event() {
        Some(event) if event >= events => Err(ReadError::NoSuchEvent { line, event, events }),
        _ => Ok(()),
    }
}

impl Trace {
    /// The same trace without the one field in which two runs of a lesson differ.
    #[must_use]
    pub fn without_real_times(&self) -> Self {
        let records = self.records.iter().map(|record| Record { real_us: None, ..record.clone() });
        Self { header: self.header.clone(), records: records.collect() }
    }
}
