//! Reads a JSON body that spans lines: one document or several; a top-level
//! array yields its items. Yields nothing before the end.

use serde_json::value::RawValue;

use super::lines::Lines;
use super::{Frame, Framed};
use crate::json::{self, Json};

/// Maximum lines that a broken body is split into.
const LINES: usize = 10_000;

#[derive(Clone)]
pub(super) struct Body {
    limit: usize,
    bytes: Vec<u8>,
    dropped: u64,
}

impl Body {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            bytes: Vec::new(),
            dropped: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8], _sink: &mut dyn FnMut(Framed<'_>)) {
        if self.dropped == 0 && self.bytes.len() + bytes.len() <= self.limit {
            self.bytes.extend_from_slice(bytes);
        } else {
            self.dropped += (self.bytes.len() + bytes.len()) as u64;
            self.bytes = Vec::new();
        }
    }

    pub(super) fn finish(&mut self, sink: &mut dyn FnMut(Framed<'_>)) {
        if self.dropped > 0 {
            sink(Framed::Oversized {
                bytes: std::mem::take(&mut self.dropped),
                head: "",
            });
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_start_matches('\0');
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        let mut read = 0;
        while let Some(Ok(value)) = values.next() {
            read = values.byte_offset();
            emit(Json::trusted(value.get()), sink);
        }
        // Invalid or truncated JSON becomes lines or, if there are too many,
        // one frame.
        let rest = text.get(read..).unwrap_or_default();
        if json::trim(rest).is_empty() {
            return;
        }
        if memchr::memchr_iter(b'\n', rest.as_bytes())
            .nth(LINES)
            .is_some()
        {
            sink(Framed::Frame(Frame::new(rest)));
            return;
        }
        let mut lines = Lines::new(self.limit);
        lines.push(rest.as_bytes(), sink);
        lines.finish(sink);
    }
}

fn emit(value: Json<'_>, sink: &mut dyn FnMut(Framed<'_>)) {
    if value.is_array() {
        for item in value.array() {
            sink(Framed::Frame(Frame::new(item.raw())));
        }
    } else {
        sink(Framed::Frame(Frame::new(value.raw())));
    }
}
