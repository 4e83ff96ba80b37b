//! What a replica says to its master, told apart: how far it has come (`REPLCONF ACK`), and all else.
//!
//! An acknowledgement is about everything before it, so of several only the last counts, and one that may not be told
//! as it is can be told in part: whoever has 150 bytes has 100.

/// No limit: every acknowledgement is passed on as it is.
pub(super) const EVERYTHING: i64 = i64::MAX;

/// How an acknowledgement begins; newer servers may add what is on the replica's disk.
const ACK: [&[u8]; 2] = [b"*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n$", b"*5\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n$"];

/// One connection of a replica, as its master would hear it.
#[derive(Debug)]
pub(super) struct Voice {
    /// What has come and is not whole yet.
    begun: Vec<u8>,
    /// The last acknowledgement: an offset of the master's stream, and the words.
    last: Option<(i64, Vec<u8>)>,
    /// Nothing was passed on since that has come.
    fresh: bool,
    /// How far its master was told that it is.
    pub(super) told: i64,
}

impl Voice {
    pub(super) fn new() -> Self {
        Self { begun: Vec::new(), last: None, fresh: false, told: -1 }
    }

    /// Takes what has come, and hands back what is no acknowledgement.
    pub(super) fn hear(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.begun.extend_from_slice(bytes);
        let mut other = Vec::new();
        while !self.begun.is_empty() {
            match acknowledgement(&self.begun) {
                Some(Found::Whole { offset, length }) => {
                    let words = self.begun.drain(..length).collect();
                    self.last = Some((offset, words));
                    self.fresh = true;
                }
                Some(Found::Part) => break,
                None => {
                    // The next command, if there is one.
                    let next = self.begun.iter().skip(1).position(|byte| *byte == b'*');
                    other.extend(self.begun.drain(..next.map_or(self.begun.len(), |next| next + 1)));
                }
            }
        }
        other
    }

    /// What the master is to be told now, when it may know of `limit` at most. It counts as told. That its replica lives,
    /// it is told in any case: it counts the seconds since it has heard of it.
    pub(super) fn due(&mut self, limit: i64) -> Option<Vec<u8>> {
        let offset = self.last.as_ref().map(|(offset, _)| *offset)?;
        if offset <= limit {
            self.told = self.told.max(offset);
            return self.last.take().map(|(_, words)| words);
        }
        if limit <= self.told && !self.fresh {
            return None;
        }
        self.fresh = false;
        self.told = self.told.max(limit);
        let offset = self.told.to_string();
        Some(format!("*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n${}\r\n{offset}\r\n", offset.len()).into_bytes())
    }
}

enum Found {
    Whole { offset: i64, length: usize },
    Part,
}

/// Whether `bytes` begin with an acknowledgement.
fn acknowledgement(bytes: &[u8]) -> Option<Found> {
    let (at, head) = ACK.iter().enumerate().find(|(_, head)| {
        let common = head.len().min(bytes.len());
        bytes[..common] == head[..common]
    })?;
    if bytes.len() <= head.len() {
        return Some(Found::Part);
    }
    // Of the offset its length and itself, and so of the two words that newer servers add.
    let lines = if at == 0 { 2 } else { 6 };
    let mut ends = bytes.windows(2).enumerate().skip(head.len()).filter(|(_, pair)| *pair == b"\r\n").map(|(i, _)| i);
    let Some(length_ends) = ends.next() else { return Some(Found::Part) };
    let Some(offset_ends) = ends.next() else { return Some(Found::Part) };
    let length = if lines == 2 { Some(offset_ends) } else { ends.nth(lines - 3) };
    let Some(length) = length else { return Some(Found::Part) };
    let offset = std::str::from_utf8(&bytes[length_ends + 2..offset_ends]).ok()?.parse().ok()?;
    Some(Found::Whole { offset, length: length + 2 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(offset: i64) -> Vec<u8> {
        let digits = offset.to_string();
        format!("*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n${}\r\n{digits}\r\n", digits.len()).into_bytes()
    }

    #[test]
    fn an_acknowledgement_is_kept_until_it_may_be_told() {
        let mut voice = Voice::new();
        assert_eq!(voice.hear(&ack(150)), b"");
        assert_eq!(voice.due(99), Some(ack(99)), "whoever has 150 has 99");
        assert_eq!(voice.due(99), None, "it was told already");
        assert_eq!(voice.hear(&ack(150)), b"");
        assert_eq!(voice.due(99), Some(ack(99)), "it lives");
        assert_eq!(voice.due(120), Some(ack(120)));
        assert_eq!(voice.due(150), Some(ack(150)));
        assert_eq!(voice.due(EVERYTHING), None);
        assert_eq!(voice.told, 150);
    }

    #[test]
    fn all_else_passes_whole_and_at_once() {
        let hello: &[u8] = b"*1\r\n$4\r\nPING\r\n*3\r\n$8\r\nREPLCONF\r\n$14\r\nlistening-port\r\n$1\r\n0\r\n";
        let longer: &[u8] = b"*5\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n$2\r\n42\r\n$4\r\nFACK\r\n$2\r\n40\r\n";
        let said = [hello, &ack(7), longer].concat();
        // However it is cut into pieces.
        for piece in 1..said.len() {
            let mut voice = Voice::new();
            let other: Vec<u8> = said.chunks(piece).flat_map(|bytes| voice.hear(bytes)).collect();
            assert_eq!(other, hello, "in pieces of {piece}");
            assert_eq!(voice.due(EVERYTHING).as_deref(), Some(longer), "in pieces of {piece}");
            assert_eq!(voice.told, 42);
        }
    }

    #[test]
    fn a_connection_that_is_heard_from_its_middle_on_is_understood() {
        let mut voice = Voice::new();
        let said = [b"NG\r\n".as_slice(), &ack(7)].concat();
        assert_eq!(voice.hear(&said), b"NG\r\n");
        assert_eq!(voice.due(EVERYTHING), Some(ack(7)));
    }
}
