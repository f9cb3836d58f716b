//! Splits bytes into frames: the first stage of the pipeline.
//!
//! A [`Framer`] accepts chunks of any size and yields [`Frame`]s: a line, the
//! data of one server-sent event, or one value of a JSON body. It detects the
//! kind of input. The frames depend only on the bytes, never on the chunks.
//! Invalid UTF-8 becomes U+FFFD here, so later stages work on text.

use serde::de::IgnoredAny;

use crate::json::{self, Json};

mod body;
mod lines;
mod sse;

/// One unit of input, as its provider wrote it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Frame<'a> {
    /// The text, without its line end.
    pub text: &'a str,
    /// The line end: `"\n"`, `"\r\n"` or empty.
    pub ending: &'a str,
    /// The `event` field of a server-sent event.
    pub event: &'a str,
}

impl<'a> Frame<'a> {
    /// Creates a frame without a line end.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            ending: "",
            event: "",
        }
    }

    /// Parses the frame as JSON; returns `None` if it is not JSON.
    pub fn json(&self) -> Option<Json<'a>> {
        Json::parse(self.text)
    }
}

setters! {
    Frame<'a> {
        with_ending => ending: &'a str,
        with_event => event: &'a str,
    }
}

/// The output of a framer.
#[derive(Clone, Copy)]
pub(crate) enum Framed<'a> {
    Frame(Frame<'a>),
    /// A frame of this many bytes exceeded the limit and was dropped, except
    /// for its first characters, if known.
    Oversized {
        bytes: u64,
        head: &'a str,
    },
}

/// The framing of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Lines,
    Sse,
    Body,
}

/// Splits a stream of bytes into frames.
#[derive(Clone)]
pub(crate) struct Framer {
    limit: usize,
    state: State,
}

#[derive(Clone)]
enum State {
    /// Undecided; holds the bytes so far.
    Undecided(Vec<u8>),
    Lines(lines::Lines),
    Sse(sse::Sse),
    Body(body::Body),
}

impl Framer {
    /// Creates a framer that detects the framing.
    pub(crate) fn detecting(limit: usize) -> Self {
        Self {
            limit,
            state: State::Undecided(Vec::new()),
        }
    }

    /// Creates a framer for lines, whatever they contain.
    pub(crate) fn lines(limit: usize) -> Self {
        Self {
            limit,
            state: State::Lines(lines::Lines::new(limit)),
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Framed<'_>)) {
        if let State::Undecided(held) = &mut self.state {
            held.extend_from_slice(bytes);
            // Only a complete line decides, so an incomplete one is not checked
            // repeatedly.
            if !bytes.contains(&b'\n') && held.len() <= self.limit {
                return;
            }
            let framing = match decide(held, false) {
                Some(framing) => framing,
                None if held.len() > self.limit => Framing::Lines,
                None => return,
            };
            self.start(framing, sink);
            return;
        }
        self.advance(bytes, sink);
    }

    pub(crate) fn finish(&mut self, sink: &mut dyn FnMut(Framed<'_>)) {
        if let State::Undecided(held) = &self.state {
            let framing = decide(held, true).unwrap_or(Framing::Lines);
            self.start(framing, sink);
        }
        match &mut self.state {
            State::Undecided(_) => {}
            State::Lines(lines) => lines.finish(sink),
            State::Sse(sse) => sse.finish(sink),
            State::Body(body) => body.finish(sink),
        }
    }

    /// Returns the incomplete line at the end of an input of lines, if it has one.
    pub(crate) fn open_line(&self) -> Option<&[u8]> {
        let open = match &self.state {
            State::Lines(lines) => lines.open_line(),
            State::Undecided(held) if decide(held, true) == Some(Framing::Lines) => {
                let end = memchr::memrchr(b'\n', held).map_or(0, |end| end + 1);
                without_byte_order_mark(held.get(end..)?)
            }
            _ => &[],
        };
        (!open.is_empty()).then_some(open)
    }

    /// Decides for lines, because their incomplete last one is known text.
    pub(crate) fn start_lines(&mut self, sink: &mut dyn FnMut(Framed<'_>)) {
        if let State::Undecided(_) = self.state {
            self.start(Framing::Lines, sink);
        }
    }

    /// Removes the first bytes of the incomplete line.
    pub(crate) fn take_open(&mut self, length: usize) {
        if let State::Lines(lines) = &mut self.state {
            lines.take_open(length);
        }
    }

    fn start(&mut self, framing: Framing, sink: &mut dyn FnMut(Framed<'_>)) {
        let next = match framing {
            Framing::Lines => State::Lines(lines::Lines::new(self.limit)),
            Framing::Sse => State::Sse(sse::Sse::new(self.limit)),
            Framing::Body => State::Body(body::Body::new(self.limit)),
        };
        if let State::Undecided(held) = std::mem::replace(&mut self.state, next) {
            self.advance(without_byte_order_mark(&held), sink);
        }
    }

    fn advance(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Framed<'_>)) {
        match &mut self.state {
            State::Undecided(_) => {}
            State::Lines(lines) => lines.push(bytes, sink),
            State::Sse(sse) => sse.push(bytes, sink),
            State::Body(body) => body.push(bytes, sink),
        }
    }
}

fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// Maximum blanks before the first line of other framings.
const MOST_BLANKS: usize = 1 << 16;

/// Detects the framing from the first bytes; returns `None` if more are needed.
/// Considers only complete lines, so the result does not depend on the chunks.
fn decide(bytes: &[u8], at_end: bool) -> Option<Framing> {
    let blank = |b: &u8| matches!(b, 0 | b' ' | b'\t' | b'\r' | b'\n');
    let text = without_byte_order_mark(bytes);
    if !at_end && text.len() < 3 && b"\xEF\xBB\xBF".starts_with(text) {
        return None;
    }
    let blanks = text.get(..MOST_BLANKS).unwrap_or(text);
    let Some(start) = blanks.iter().position(|b| !blank(b)) else {
        return (text.len() >= MOST_BLANKS).then_some(Framing::Lines);
    };
    let mut rest = text.get(start..)?;
    let first = next_line(&mut rest, at_end)?;
    match first.first()? {
        b'{' | b'[' => match complete(first) {
            Completeness::Whole | Completeness::Broken => Some(Framing::Lines),
            Completeness::Cut if rest.is_empty() && at_end => Some(Framing::Lines),
            Completeness::Cut => {
                let second = next_line(&mut rest, at_end)?;
                match complete(&[first, b"\n", second].concat()) {
                    Completeness::Broken => Some(Framing::Lines),
                    _ => Some(Framing::Body),
                }
            }
        },
        _ => decide_on_fields(first, rest, at_end),
    }
}

/// Maximum bytes of fields before the first data of an event stream.
const MOST_FIELDS: usize = 1 << 14;

/// Requires data in an event stream: fields without data are text, so that
/// nothing is lost.
fn decide_on_fields(first: &[u8], rest: &[u8], at_end: bool) -> Option<Framing> {
    if !sse::is_field(first) {
        return Some(Framing::Lines);
    }
    let all = rest.len();
    let (mut line, mut rest) = (first, rest);
    while !sse::is_data(line) {
        let is_text = !line.trim_ascii().is_empty() && !sse::is_field(line);
        let is_over = rest.is_empty() && at_end;
        if is_text || is_over || all - rest.len() > MOST_FIELDS {
            return Some(Framing::Lines);
        }
        line = next_line(&mut rest, at_end)?;
    }
    Some(Framing::Sse)
}

/// Removes the next line from `rest` and returns it without its end. An
/// incomplete last line counts only at the end of the input.
fn next_line<'a>(rest: &mut &'a [u8], at_end: bool) -> Option<&'a [u8]> {
    match memchr::memchr(b'\n', rest) {
        Some(end) => {
            let line = rest.get(..end)?;
            *rest = rest.get(end + 1..)?;
            Some(line)
        }
        None if at_end => Some(std::mem::take(rest)),
        None => None,
    }
}

enum Completeness {
    Whole,
    /// Valid so far.
    Cut,
    Broken,
}

fn complete(bytes: &[u8]) -> Completeness {
    let text = String::from_utf8_lossy(bytes);
    match serde_json::from_str::<IgnoredAny>(json::trim(&text)) {
        Ok(_) => Completeness::Whole,
        Err(error) if error.is_eof() => Completeness::Cut,
        Err(_) => Completeness::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(input: &[u8], chunk: usize, limit: usize) -> Vec<String> {
        let mut framer = Framer::detecting(limit);
        let mut out = Vec::new();
        let mut sink = |framed: Framed<'_>| {
            out.push(match framed {
                Framed::Frame(frame) => format!("{}{}|{}", frame.text, frame.ending, frame.event),
                Framed::Oversized { bytes, .. } => format!("<{bytes}>"),
            });
        };
        for piece in input.chunks(chunk) {
            framer.push(piece, &mut sink);
        }
        framer.finish(&mut sink);
        out
    }

    /// Returns the frames after checking that the chunk size does not matter.
    fn all(input: &[u8]) -> Vec<String> {
        let whole = frames(input, input.len().max(1), 1 << 20);
        for chunk in 1..input.len() {
            assert_eq!(frames(input, chunk, 1 << 20), whole, "chunks of {chunk}");
        }
        whole
    }

    #[test]
    fn lines_keep_their_ends() {
        assert_eq!(
            all(b"{\"a\":1}\r\n\n{\"b\":2}"),
            ["{\"a\":1}\r\n|", "\n|", "{\"b\":2}|"]
        );
    }

    #[test]
    fn byte_order_marks_and_nul_padding_are_removed() {
        assert_eq!(all(b"\xEF\xBB\xBF{\"a\":1}\n"), ["{\"a\":1}\n|"]);
        assert_eq!(all(b"\0\0{\"a\":1}\n"), ["\0\0{\"a\":1}\n|"]);
    }

    #[test]
    fn server_sent_events_join_data_and_skip_comments() {
        let input = b": hi\r\nevent: ping\r\ndata: {\"a\":\r\ndata:1}\r\n\r\ndata: [DONE]\n\n";
        assert_eq!(all(input), ["{\"a\":\n1}|ping", "[DONE]|"]);
    }

    #[test]
    fn fields_without_data_are_text() {
        assert_eq!(
            all(b"id: 5\nevent: deploy\nname: foo\n"),
            ["id: 5\n|", "event: deploy\n|", "name: foo\n|"]
        );
        assert_eq!(all(b"::error::x\n"), ["::error::x\n|"]);
        assert_eq!(all(b"id: 5\n\nretry: 1"), ["id: 5\n|", "\n|", "retry: 1|"]);
        assert_eq!(all(b"id: 5\n\n: hi\ndata: x\n\n"), ["x|"]);
        let long = ": hi\n".repeat(MOST_FIELDS) + "data: {}\n\n";
        for chunk in [100, 1 << 20] {
            let out = frames(long.as_bytes(), chunk, 1 << 20);
            assert_eq!(out.len(), MOST_FIELDS + 2, "chunks of {chunk}");
        }
    }

    #[test]
    fn a_cut_off_server_sent_event_is_not_lost() {
        assert_eq!(
            all(b"data: {\"a\":1}\n\ndata: {\"b\""),
            ["{\"a\":1}|", "{\"b\"|"]
        );
    }

    #[test]
    fn a_pretty_printed_body_is_one_frame_and_an_array_its_items() {
        assert_eq!(all(b"{\n \"a\": 1\n}\n"), ["{\n \"a\": 1\n}|"]);
        assert_eq!(all(b"[\n 1,\n {\"a\": 2}\n]"), ["1|", "{\"a\": 2}|"]);
    }

    #[test]
    fn a_cut_line_before_json_lines_stays_a_line() {
        assert_eq!(
            all(b"{\"a\":\"x\n{\"b\":2}\n"),
            ["{\"a\":\"x\n|", "{\"b\":2}\n|"]
        );
    }

    #[test]
    fn a_cut_body_falls_back_to_its_lines() {
        assert_eq!(
            all(b"{\n \"a\": 1,\n \"b"),
            ["{\n|", " \"a\": 1,\n|", " \"b|"]
        );
    }

    #[test]
    fn many_blanks_before_the_first_line_decide_for_lines() {
        let few = "\n".repeat(MOST_BLANKS - 1) + "data: {}\n\n";
        let many = "\n".repeat(MOST_BLANKS) + "data: {}\n\n";
        for chunk in [1000, 1 << 20] {
            assert!(frames(few.as_bytes(), chunk, 1 << 20) == ["{}|"]);
            let out = frames(many.as_bytes(), chunk, 1 << 20);
            assert_eq!(out.len(), MOST_BLANKS + 2);
            assert_eq!(out[MOST_BLANKS], "data: {}\n|");
        }
    }

    #[test]
    fn a_frame_over_the_limit_is_reported_and_reading_continues() {
        let input = format!("{{\"a\":1}}\n{}\n{{\"b\":2}}\n", "x".repeat(100));
        for chunk in [1, 7, 1000] {
            let out = frames(input.as_bytes(), chunk, 50);
            assert_eq!(out, ["{\"a\":1}\n|", "<100>", "{\"b\":2}\n|"]);
        }
        let input = format!("data: {{}}\n\ndata: {}\n\ndata: 1\n\n", "x".repeat(100));
        for chunk in [1, 7, 1000] {
            assert_eq!(frames(input.as_bytes(), chunk, 50), ["{}|", "<106>", "1|"]);
        }
    }
}
