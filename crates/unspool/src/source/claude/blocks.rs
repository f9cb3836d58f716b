//! The ids of blocks, and their deltas.
//!
//! The wire names messages; events name blocks. A block's id is its message's
//! id and its place in the message, which is on the wire while a message is
//! streamed and in saved sessions, and counted otherwise. The whole block comes
//! as an `assistant` line shortly before or after the last delta's
//! `content_block_stop`: it takes the id of the block that was streamed last.

use super::Claude;
use super::wire::Line;
use crate::event::Level;
use crate::frame::Frame;
use crate::recent::RecentMap;
use crate::source::Emitter;

/// Messages that may be in the making at once.
const REMEMBERED: usize = 64;

#[derive(Clone, Default)]
pub(super) struct Blocks {
    /// Blocks seen so far of recent messages.
    counts: RecentMap<String, u64, REMEMBERED>,
    /// What is being streamed, by the call that started the agent; empty for
    /// the root agent.
    streams: RecentMap<String, Stream, REMEMBERED>,
}

#[derive(Clone, Default)]
struct Stream {
    message: String,
    /// The block that is streamed, until its whole form has come.
    block: Option<StreamedBlock>,
}

#[derive(Clone)]
struct StreamedBlock {
    index: u64,
    /// `None` where the message has no id.
    id: Option<String>,
}

impl Blocks {
    /// The id of the next block of a message that an `assistant` line holds, at
    /// this place if the line holds several.
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
            // All of the message at once: its blocks stand where they were streamed.
            stream.block = None;
            let id = block_id(message, index);
            Some(StreamedBlock { index, id })
        } else if stream.message.is_empty() || stream.message == message {
            stream.block.take()
        } else {
            None
        }
    }

    /// The place of a block in its message: as the wire says, else the next.
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

    /// The id of the block that a streamed event is about.
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
    /// One event of the Messages API.
    pub(super) fn stream_event(&mut self, line: &Line<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let event = &line.event;
        match event.kind.str().as_deref() {
            Some("content_block_delta") => self.delta(line, frame, out),
            Some("content_block_start") => {
                let index = event.index.u64().unwrap_or(0);
                self.blocks.stream(line).open(line, index);
                let id = self.blocks.streamed(line);
                out.text_delta(id, &event.block.text.str().unwrap_or_default());
                out.reasoning_delta(id, &event.block.thinking.str().unwrap_or_default());
            }
            Some("message_start") => {
                let stream = self.blocks.stream(line);
                stream.message = event.message.get("id").string();
                stream.block = None;
                out.open_turn();
            }
            Some("error") => {
                let message = event.error.get("message");
                out.notice(Level::Error, message.payload());
            }
            // What they say comes again with the whole message.
            Some("content_block_stop" | "message_delta" | "message_stop" | "ping") => {}
            _ => out.unknown(frame),
        }
    }

    fn delta(&mut self, line: &Line<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let delta = &line.event.delta;
        match delta.kind.str().as_deref() {
            Some("text_delta") => {
                let id = self.blocks.streamed(line);
                out.text_delta(id, &delta.text.str().unwrap_or_default());
            }
            Some("thinking_delta") => {
                let id = self.blocks.streamed(line);
                out.reasoning_delta(id, &delta.thinking.str().unwrap_or_default());
            }
            // Arguments come complete with the whole block; signatures and
            // citations are not shown.
            Some("input_json_delta" | "signature_delta" | "citations_delta") => {}
            _ => out.unknown(frame),
        }
    }
}
