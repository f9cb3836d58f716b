//! Splits bytes into lines of limited length. A longer line is counted and skipped,
//! so that a stream without newlines needs no memory.

use super::Incoming;

pub(super) struct Lines {
    open: Vec<u8>,
    /// Bytes of the current line that were skipped.
    skipped: usize,
    limit: usize,
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            open: Vec::new(),
            skipped: 0,
            limit,
        }
    }

    pub(super) fn push(&mut self, mut bytes: &[u8], found: &impl Fn(Incoming)) {
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(at);
            self.extend(line);
            self.end(found);
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.extend(bytes);
    }

    pub(super) fn finish(&mut self, found: &impl Fn(Incoming)) {
        if !self.open.is_empty() || self.skipped > 0 {
            self.end(found);
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.skipped > 0 || self.open.len() + bytes.len() > self.limit {
            self.skipped += self.open.len() + bytes.len();
            self.open = Vec::new();
        } else {
            self.open.extend_from_slice(bytes);
        }
    }

    fn end(&mut self, found: &impl Fn(Incoming)) {
        let line = std::mem::take(&mut self.open);
        match std::mem::take(&mut self.skipped) {
            0 => found(Incoming::Line(into_text(line))),
            bytes => found(Incoming::Oversized(bytes)),
        }
    }
}

fn into_text(line: Vec<u8>) -> String {
    String::from_utf8(line)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn split(chunks: &[&[u8]], limit: usize) -> Vec<String> {
        let found = RefCell::new(Vec::new());
        let take = |incoming| {
            found.borrow_mut().push(match incoming {
                Incoming::Line(line) => line,
                other => format!("{other:?}"),
            });
        };
        let mut lines = Lines::new(limit);
        for chunk in chunks {
            lines.push(chunk, &take);
        }
        lines.finish(&take);
        found.into_inner()
    }

    #[test]
    fn lines_continue_over_chunks() {
        let chunks: [&[u8]; 3] = [b"on", b"e\n\ntw", b"o\r\nthree"];
        assert_eq!(split(&chunks, 100), ["one", "", "two\r", "three"]);
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_is_not() {
        let chunks: [&[u8]; 4] = [b"123456", b"789", b"0\nok\n", b"123456789"];
        assert_eq!(split(&chunks, 8), ["Oversized(10)", "ok", "Oversized(9)"]);
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(split(&[b"a\xff\n"], 8), ["a\u{FFFD}"]);
    }
}
