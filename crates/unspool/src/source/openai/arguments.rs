//! Streamed arguments of a call.
//!
//! Completeness is checked after every piece, but each piece is scanned only once:
//! brackets are counted, and the object is parsed when the last one closes.

use crate::json::Json;

/// The arguments so far.
#[derive(Clone, Default)]
pub(super) struct Arguments {
    pub(super) text: String,
    /// Number of open brackets.
    depth: usize,
    in_string: bool,
    /// The last character was the backslash of an escape.
    escaped: bool,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Whitespace, or an open object.
    #[default]
    Open,
    /// An object, possibly followed by whitespace.
    Complete,
    /// Not an object, whatever follows.
    Other,
}

impl Arguments {
    pub(super) fn push_str(&mut self, piece: &str) {
        self.text.push_str(piece);
        for byte in piece.bytes() {
            self.see(byte);
        }
    }

    /// Returns true if the object is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    fn see(&mut self, byte: u8) {
        let is_blank = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        match self.state {
            State::Other => {}
            State::Complete if is_blank => {}
            State::Complete => self.state = State::Other,
            State::Open if self.in_string => {
                if self.escaped {
                    self.escaped = false;
                } else {
                    self.escaped = byte == b'\\';
                    self.in_string = byte != b'"';
                }
            }
            State::Open if self.depth == 0 => match byte {
                b'{' => self.depth = 1,
                _ if is_blank => {}
                _ => self.state = State::Other,
            },
            State::Open => match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        self.close();
                    }
                }
                _ => {}
            },
        }
    }

    fn close(&mut self) {
        let end = self.text.rfind('}').map_or(0, |at| at + 1);
        let object = self.text.get(..end).and_then(Json::parse);
        self.state = match object {
            Some(object) if object.is_object() => State::Complete,
            _ => State::Other,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str, size: usize) -> Arguments {
        let mut given = Arguments::default();
        for piece in text.as_bytes().chunks(size) {
            given.push_str(std::str::from_utf8(piece).unwrap());
        }
        given
    }

    #[test]
    fn an_object_is_complete_when_it_is_closed() {
        for text in [
            "{}",
            " {\"a\": [1, {\"b\": 2}]} \n",
            r#"{"a":"} \" { \\"}"#,
            r#"{"path":"[","text":"\\\""}"#,
        ] {
            for size in 1..=text.len() {
                let closed = text.trim_end().len();
                assert!(given(text, size).is_complete(), "{text} by {size}");
                for end in 0..closed {
                    let (begun, _) = text.split_at(end);
                    assert!(!given(begun, size).is_complete(), "{begun} by {size}");
                }
            }
        }
    }

    #[test]
    fn other_values_are_never_complete() {
        for text in ["", " ", "[]", "1", "{]", "{}x", "{}{}", "{a}", "\"{}\""] {
            for size in 1..=text.len().max(1) {
                assert!(!given(text, size).is_complete(), "{text} by {size}");
            }
        }
    }
}
