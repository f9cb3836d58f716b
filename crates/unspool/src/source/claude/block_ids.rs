//! Ids of blocks, and their deltas.
//!
//! Ids on the wire are ids of messages, those in events ids of blocks: the
//! message's id and the index of the block. Streams and saved sessions contain
//! the index; otherwise it is counted. The whole block is an `assistant` line
//! shortly before or after the `content_block_stop` of its deltas, and gets the
//! id of the block that was streamed last.

use super::Claude;
use super::wire::Line;
use crate::event::Level;
use crate::frame::Frame;
use crate::recent::RecentMap;
use crate::source::Emitter;

/// Messages and streams that may be open at once.
const REMEMBERED: usize = 64;

#[derive(Clone, Default)]
pub(super) struct BlockIds {
    /// Index of the next block, by message.
    counts: RecentMap<String, u64, REMEMBERED>,
    /// Open streams by the call that started the agent; empty for the root agent.
    streams: RecentMap<String, Stream, REMEMBERED>,
}

#[derive(Clone, Default)]
struct Stream {
    message: String,
    /// The streamed block, until its final form.
    block: Option<StreamedBlock>,
}

#[derive(Clone)]
struct StreamedBlock {
    index: u64,
    /// `None` if the message has no id.
    id: Option<String>,
}

impl BlockIds {
    /// Returns the id of a block in an `assistant` line; `place` is its index if the
    /// line contains several.
    pub(super) fn id(&mut self, line: &Line<'_>, place: Option<u64>) -> Option<String> {
        let message = line.message.id.str().unwrap_or_default();
        if let Some(block) = self.take_streamed(line, &message, place) {
            self.count(&message, Some(block.index));
            return block.id;
        }
        let index = self.count(&message, line.block_index.u64());
        block_id(&message, index)
    }

    fn take_streamed(
        &mut self,
        line: &Line<'_>,
        message: &str,
        place: Option<u64>,
    ) -> Option<StreamedBlock> {
        if self.streams.is_empty() {
            return None;
        }
        let agent = line.parent_call.str().unwrap_or_default();
        let stream = self.streams.get_mut(agent.as_ref())?;
        if let Some(index) = place.filter(|_| !message.is_empty() && stream.message == message) {
            // A whole message: its blocks have the indexes of the stream.
            stream.block = None;
            let id = block_id(message, index);
            Some(StreamedBlock { index, id })
        } else if stream.message.is_empty() || stream.message == message {
            stream.block.take()
        } else {
            None
        }
    }

    /// Returns the index of a block: the given one, else the next.
    fn count(&mut self, message: &str, index: Option<u64>) -> u64 {
        if message.is_empty() {
            return 0;
        }
        if let Some(next) = self.counts.get_mut(message) {
            let index = index.unwrap_or(*next);
            *next = index.saturating_add(1);
            return index;
        }
        let index = index.unwrap_or(0);
        self.counts
            .insert(message.to_owned(), index.saturating_add(1));
        index
    }

    fn stream(&mut self, line: &Line<'_>) -> &mut Stream {
        let agent = line.parent_call.str().unwrap_or_default();
        self.streams.get_or_insert(agent.as_ref())
    }

    /// Returns the id of the block that a stream event refers to.
    fn streamed(&mut self, line: &Line<'_>) -> Option<&str> {
        let index = line.event.index.u64().unwrap_or(0);
        let stream = self.stream(line);
        if stream.block.as_ref().is_none_or(|b| b.index != index) {
            stream.open(line, index);
        }
        stream.block.as_ref().and_then(|block| block.id.as_deref())
    }
}

impl Stream {
    fn open(&mut self, line: &Line<'_>, index: u64) {
        if let Some(message) = line.api_message_id.str()
            && self.message != message
        {
            self.message = message.into_owned();
        }
        self.block = Some(StreamedBlock {
            index,
            id: block_id(&self.message, index),
        });
    }
}

fn block_id(message: &str, index: u64) -> Option<String> {
    (!message.is_empty()).then(|| format!("{message}:{index}"))
}

impl Claude {
    /// Translates an event of the Messages API.
    pub(super) fn stream_event(&mut self, line: &Line<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let event = &line.event;
        match event.kind.str().as_deref() {
            Some("content_block_delta") => self.delta(line, frame, out),
            Some("content_block_start") => {
                let index = event.index.u64().unwrap_or(0);
                self.block_ids.stream(line).open(line, index);
                let id = self.block_ids.streamed(line);
                out.text_delta(id, &event.block.text.str().unwrap_or_default());
                out.reasoning_delta(id, &event.block.thinking.str().unwrap_or_default());
                if !is_known_block(&event.block.kind.str().unwrap_or_default()) {
                    out.unknown(frame);
                }
            }
            Some("message_start") => {
                let stream = self.block_ids.stream(line);
                stream.message = event.message.get("id").string();
                stream.block = None;
                out.open_turn();
            }
            Some("error") => {
                let message = event.error.get("message");
                out.notice(Level::Error, message.payload());
            }
            // The whole message repeats them.
            Some("content_block_stop" | "message_delta" | "message_stop" | "ping") => {}
            _ => out.unknown(frame),
        }
    }

    fn delta(&mut self, line: &Line<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let delta = &line.event.delta;
        match delta.kind.str().as_deref() {
            Some("text_delta") => {
                let id = self.block_ids.streamed(line);
                out.text_delta(id, &delta.text.str().unwrap_or_default());
            }
            Some("thinking_delta") => {
                let id = self.block_ids.streamed(line);
                out.reasoning_delta(id, &delta.thinking.str().unwrap_or_default());
            }
            // The whole block has the complete arguments; signatures and
            // citations are not shown.
            Some("input_json_delta" | "signature_delta" | "citations_delta") => {}
            _ => out.unknown(frame),
        }
    }
}

/// Returns true for a kind of block whose whole form is read.
fn is_known_block(kind: &str) -> bool {
    matches!(kind, "text" | "thinking" | "redacted_thinking")
        || kind.ends_with("tool_use")
        || kind.ends_with("tool_result")
}
