//! Drives a reader with the pieces of an input, wherever they come from: a pipe, a
//! file, a growing file, a recording.

use std::time::{Duration, Instant};

use unspool::{Event, Reader};

/// Idle time after which input that no agent has claimed is passed on as it is, and
/// a question without a newline becomes an event.
pub const IDLE: Duration = Duration::from_millis(500);

/// A piece of an input.
#[derive(Debug)]
pub enum Piece {
    /// The next bytes.
    Bytes(Vec<u8>),
    /// Events that were read before.
    Events(Vec<Event>),
    /// The input starts again: a file was truncated or replaced.
    Restart,
    /// The whole input as it is now.
    Document(Vec<u8>),
}

/// The events that a piece gave.
#[derive(Debug)]
pub enum Read {
    /// Events after those before.
    Next(Vec<Event>),
    /// The last events before the input started again.
    Restarted(Vec<Event>),
    /// All events of a document.
    Document(Vec<Event>),
}

/// A reader, and the time at which it gives up waiting for the next line.
pub struct Driver {
    reader: Reader,
    idle_at: Option<Instant>,
}

impl Driver {
    /// Drives a reader.
    pub fn new(reader: Reader) -> Self {
        Self {
            reader,
            idle_at: None,
        }
    }

    /// Reads bytes; [`Driver::events`] returns the events.
    pub fn push(&mut self, bytes: &[u8]) {
        self.reader.push(bytes);
        // A spinner repaints its line for as long as a question waits.
        if self.idle_at.is_none() || bytes.contains(&b'\n') {
            self.idle_at = Some(Instant::now() + IDLE);
        }
    }

    /// Reads a piece. `fresh` makes a reader for an input that starts again.
    pub fn take(&mut self, piece: Piece, fresh: impl FnOnce() -> Reader) -> Read {
        match piece {
            Piece::Bytes(bytes) => {
                self.push(&bytes);
                Read::Next(self.events().collect())
            }
            Piece::Events(events) => Read::Next(events),
            Piece::Restart => {
                self.reader.release();
                let last = self.events().collect();
                self.reader = fresh();
                Read::Restarted(last)
            }
            Piece::Document(bytes) => {
                self.reader = fresh();
                self.reader.push(&bytes);
                self.reader.finish();
                let mut events: Vec<Event> = self.events().collect();
                // An unfinished last turn does not mean that the run was cut off.
                events.pop_if(|event| event.is_interruption());
                Read::Document(events)
            }
        }
    }

    /// Returns the events that are known and were not returned before.
    pub fn events(&mut self) -> impl Iterator<Item = Event> + '_ {
        self.reader.events()
    }

    /// Returns the time at which input and events that are held back are released.
    pub fn idle_at(&self) -> Option<Instant> {
        self.idle_at
    }

    /// Releases what is held back, if the time for it has come.
    pub fn release_if_idle(&mut self) {
        if self.is_due() {
            self.release();
        }
    }

    /// Returns true if no line came for a while.
    pub fn is_due(&self) -> bool {
        self.idle_at.is_some_and(|at| at <= Instant::now())
    }

    /// Releases input that no agent has claimed, a question that waits, and events
    /// that wait for others.
    pub fn release(&mut self) {
        self.idle_at = None;
        self.reader.release();
    }

    /// Returns true if input or events are held back until more is known.
    pub fn is_holding(&self) -> bool {
        self.reader.is_holding()
    }

    /// Ends the input.
    pub fn finish(&mut self) {
        self.reader.finish();
    }

    /// Returns the events that the end of the input would give, without ending it.
    pub fn events_at_end(&self) -> Vec<Event> {
        let mut ended = self.reader.clone();
        ended.finish();
        ended.events().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &[u8] = b"{\"type\":\"thread.started\",\"thread_id\":\"t1\"}\n\
        {\"type\":\"turn.started\"}\n";

    fn kinds(read: &Read) -> Vec<&str> {
        let (Read::Next(events) | Read::Restarted(events) | Read::Document(events)) = read;
        events.iter().map(|event| event.body.kind()).collect()
    }

    #[test]
    fn a_document_is_read_anew_and_its_open_turn_is_not_cut_off() {
        let mut driver = Driver::new(Reader::new());
        let read = driver.take(Piece::Bytes(RUN.to_vec()), Reader::new);
        assert_eq!(kinds(&read), ["session"]);
        let read = driver.take(Piece::Document(RUN.to_vec()), Reader::new);
        assert!(matches!(read, Read::Document(_)));
        assert_eq!(kinds(&read), ["session"]);
        let mut driver = Driver::new(Reader::new());
        driver.push(RUN);
        let all: Vec<_> = driver.events_at_end();
        assert!(all.last().is_some_and(Event::is_interruption));
    }

    #[test]
    fn text_that_nobody_claims_is_released_before_a_restart() {
        let mut driver = Driver::new(Reader::new());
        let read = driver.take(Piece::Bytes(b"hello\n".to_vec()), Reader::new);
        assert!(kinds(&read).is_empty() && driver.idle_at().is_some());
        let read = driver.take(Piece::Restart, Reader::new);
        assert!(matches!(read, Read::Restarted(_)));
        assert_eq!(kinds(&read), ["text"]);
    }
}
