//! Splits lines at LF or CRLF; the last one may lack its end.

use std::borrow::Cow;

use super::{Frame, Framed};

/// A buffer that grew larger for one long line is freed.
const KEPT_CAPACITY: usize = 1 << 20;

/// Splits bytes at newlines. A line within one chunk is yielded without a copy.
#[derive(Clone)]
pub(super) struct Lines {
    limit: usize,
    /// The start of an incomplete line.
    open: Vec<u8>,
    /// Bytes dropped from the open line because it is too long.
    dropped: u64,
    /// The first characters of the open line, if some of it was dropped.
    head: String,
}

/// Bytes kept of a line that is too long.
const HEAD: usize = 80;

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            open: Vec::new(),
            dropped: 0,
            head: String::new(),
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Framed<'_>)) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, tail) = rest.split_at(end + 1);
            rest = tail;
            if self.open.is_empty() && self.dropped == 0 {
                self.emit(line, sink);
            } else {
                self.extend(line);
                self.flush(sink);
            }
        }
        self.extend(rest);
    }

    pub(super) fn finish(&mut self, sink: &mut dyn FnMut(Framed<'_>)) {
        if !self.open.is_empty() || self.dropped > 0 {
            self.flush(sink);
        }
    }

    /// Returns the incomplete line, unless some of it was dropped.
    pub(super) fn open_line(&self) -> &[u8] {
        if self.dropped == 0 { &self.open } else { &[] }
    }

    /// Removes the first bytes of the incomplete line.
    pub(super) fn take_open(&mut self, length: usize) {
        self.open.drain(..length.min(self.open.len()));
    }

    /// Keeps the bytes or, if the line is too long, only the last two, which
    /// identify its end.
    fn extend(&mut self, bytes: &[u8]) {
        self.open.extend_from_slice(bytes);
        if self.dropped > 0 || self.open.len() > self.limit.saturating_add(2) {
            if self.dropped == 0 {
                self.head = self.beginning(&self.open);
            }
            let surplus = self.open.len().saturating_sub(2);
            self.dropped += surplus as u64;
            self.open = self.open.split_off(surplus);
        }
    }

    fn flush(&mut self, sink: &mut dyn FnMut(Framed<'_>)) {
        let mut line = std::mem::take(&mut self.open);
        if self.dropped > 0 {
            let (tail, _) = split_ending(&line);
            let bytes = std::mem::take(&mut self.dropped) + tail.len() as u64;
            let head = &std::mem::take(&mut self.head);
            sink(Framed::Oversized { bytes, head });
        } else {
            self.emit(&line, sink);
        }
        if line.capacity() <= KEPT_CAPACITY {
            line.clear();
            self.open = line;
        }
    }

    /// Returns the first characters of a line that is too long.
    fn beginning(&self, line: &[u8]) -> String {
        let head = line.get(..HEAD.min(self.limit)).unwrap_or_default();
        let head = String::from_utf8_lossy(head);
        head.trim_end_matches(char::REPLACEMENT_CHARACTER)
            .to_owned()
    }

    fn emit(&self, line: &[u8], sink: &mut dyn FnMut(Framed<'_>)) {
        let (text, ending) = split_ending(line);
        if text.len() > self.limit {
            let head = &self.beginning(text);
            let bytes = text.len() as u64;
            sink(Framed::Oversized { bytes, head });
            return;
        }
        // Checking first is several times faster than the lossy conversion.
        let text = match std::str::from_utf8(text) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(text),
        };
        sink(Framed::Frame(Frame {
            text: &text,
            ending,
            event: "",
        }));
    }
}

/// Splits a line into its text and its end.
pub(super) fn split_ending(line: &[u8]) -> (&[u8], &'static str) {
    match line.strip_suffix(b"\n") {
        None => (line, ""),
        Some(text) => match text.strip_suffix(b"\r") {
            None => (text, "\n"),
            Some(text) => (text, "\r\n"),
        },
    }
}
