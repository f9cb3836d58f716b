//! Reads server-sent events: joins `data:` lines up to an empty line. Skips
//! comments and the fields `id` and `retry`.

use super::lines::Lines;
use super::{Frame, Framed};

/// Returns true if a line looks like the start of an event stream. Two colons
/// start a workflow command in CI logs, not a comment.
pub(super) fn is_field(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    [&b"event:"[..], b"id:", b"retry:"]
        .iter()
        .any(|field| text.starts_with(field))
        || (text.starts_with(b":") && !text.starts_with(b"::"))
        || text.strip_prefix(b"data:").is_some_and(|data| {
            let data = data.trim_ascii_start();
            data.is_empty() || matches!(data.first(), Some(b'{' | b'['))
        })
}

/// Returns true for a `data:` line.
pub(super) fn is_data(line: &[u8]) -> bool {
    line.trim_ascii().starts_with(b"data:")
}

#[derive(Clone)]
pub(super) struct Sse {
    lines: Lines,
    open: OpenEvent,
}

/// The event before its closing empty line.
#[derive(Clone)]
struct OpenEvent {
    limit: usize,
    event: String,
    data: Option<String>,
    dropped: u64,
}

impl Sse {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            // Leaves space for the field's name before a value at the limit.
            lines: Lines::new(limit),
            open: OpenEvent {
                limit,
                event: String::new(),
                data: None,
                dropped: 0,
            },
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Framed<'_>)) {
        let open = &mut self.open;
        self.lines
            .push(bytes, &mut |framed| open.line(&framed, sink));
    }

    pub(super) fn finish(&mut self, sink: &mut dyn FnMut(Framed<'_>)) {
        let open = &mut self.open;
        self.lines.finish(&mut |framed| open.line(&framed, sink));
        self.open.dispatch(sink);
    }
}

impl OpenEvent {
    fn line(&mut self, framed: &Framed<'_>, sink: &mut dyn FnMut(Framed<'_>)) {
        let line = match framed {
            Framed::Frame(frame) => frame.text,
            Framed::Oversized { bytes, .. } => {
                self.dropped += bytes;
                return;
            }
        };
        if line.is_empty() {
            self.dispatch(sink);
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => self.data(value),
            "event" => value.clone_into(&mut self.event),
            "" | "id" | "retry" => {}
            // Not a field: keep it as a frame.
            _ => sink(Framed::Frame(Frame::new(line))),
        }
    }

    fn data(&mut self, value: &str) {
        let held = self.data.as_ref().map_or(0, String::len);
        if self.dropped > 0 || held + value.len() > self.limit {
            self.dropped += (held + value.len()) as u64;
            self.data = None;
            return;
        }
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            None => self.data = Some(value.to_owned()),
        }
    }

    fn dispatch(&mut self, sink: &mut dyn FnMut(Framed<'_>)) {
        let event = std::mem::take(&mut self.event);
        let data = self.data.take();
        match std::mem::take(&mut self.dropped) {
            0 => {}
            bytes => sink(Framed::Oversized { bytes, head: "" }),
        }
        if let Some(data) = data {
            sink(Framed::Frame(Frame {
                text: &data,
                ending: "",
                event: &event,
            }));
        }
    }
}
