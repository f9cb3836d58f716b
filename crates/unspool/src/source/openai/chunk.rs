//! Streamed chat completions: `chat.completion.chunk` objects.
//!
//! Choice 0 is streamed. The others are held until the response ends and follow
//! one after the other. A call is emitted when its arguments are complete: when
//! its choice finishes, or earlier if other content of the choice follows and the
//! arguments are valid JSON. Usage is emitted once, at the end: some servers send
//! growing counts with every chunk.

use std::collections::{BTreeMap, HashMap};

use super::arguments::Arguments;
use super::calls::{CallInput, Calls, part_text};
use super::chat;
use super::think::{Part, Splitter};
use super::{failed, finished, usage};
use crate::event::{Media, Payload, TurnEnd, TurnStatus, Usage};
use crate::json::{Json, Object};
use crate::source::Emitter;

/// The open response.
#[derive(Clone, Default)]
pub(super) struct Chunks {
    open: bool,
    id: String,
    choices: BTreeMap<u64, Choice>,
    /// A choice had a finish reason.
    finished: bool,
    usage: Usage,
}

/// The end of a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The end mark, or the next response.
    Closed,
    /// The end of the input.
    Cut,
}

#[derive(Clone, Default)]
struct Choice {
    index: u64,
    splitter: Splitter,
    /// The content of a choice that is held.
    held: Vec<(Part, String)>,
    calls: Vec<Partial>,
    /// The newest call of each index.
    by_index: HashMap<u64, usize>,
    /// Number of emitted calls.
    shown: usize,
    refusal: bool,
    finish: Option<String>,
    /// The sound, which comes in pieces: its size so far.
    sound: Option<Media>,
    /// The pictures of a choice that is held.
    pictures: Vec<Media>,
}

/// A call with incomplete arguments.
#[derive(Clone, Default)]
struct Partial {
    id: String,
    name: String,
    custom: bool,
    legacy: bool,
    given: Arguments,
    shown: bool,
}

impl Chunks {
    /// Reads a chunk, which may have no choices; returns false if a delta is unknown.
    pub(super) fn chunk(
        &mut self,
        chunk: &Object<'_>,
        calls: &mut Calls,
        out: &mut Emitter,
    ) -> bool {
        let mut is_known = true;
        let id = chunk.get("id").str().unwrap_or_default();
        if self.open && self.finished && !id.is_empty() && id != self.id {
            self.end(End::Closed, calls, out);
        }
        if !id.is_empty() {
            self.id = id.into_owned();
        }
        for choice in chunk.get("choices").array() {
            self.open = true;
            out.open_turn();
            let fields = choice.object();
            let index = fields.get("index").u64().unwrap_or(0);
            let choice = self.choices.entry(index).or_default();
            choice.index = index;
            is_known &= choice.take(&fields, calls, out);
            self.finished |= choice.finish.is_some();
        }
        let figures = [chunk.get("usage"), chunk.get("x_groq").get("usage")];
        if let Some(figures) = figures.into_iter().find(|figures| figures.is_object()) {
            self.usage = usage(figures);
        }
        is_known
    }

    /// Ends the response and emits what was held.
    pub(super) fn end(&mut self, end: End, calls: &mut Calls, out: &mut Emitter) {
        let Some((refusal, reason)) = self.release(calls, out) else {
            return;
        };
        out.turn_end(match reason {
            Some(reason) => finished(&reason, refusal),
            None if end == End::Closed => finished("", refusal),
            None => TurnEnd {
                status: TurnStatus::Interrupted,
                ..TurnEnd::default()
            },
        });
    }

    /// Ends the response with an error.
    pub(super) fn fail(&mut self, error: Json<'_>, calls: &mut Calls, out: &mut Emitter) {
        self.release(calls, out);
        failed(error, out);
    }

    /// Emits what was held; `None` if no response is open. Returns whether the answer
    /// is a refusal, and the finish reason.
    fn release(&mut self, calls: &mut Calls, out: &mut Emitter) -> Option<(bool, Option<String>)> {
        let stream = std::mem::take(self);
        if !stream.open {
            out.usage(stream.usage);
            return None;
        }
        let mut end = None;
        for mut choice in stream.choices.into_values() {
            choice.flush(calls, out);
            let outcome = (choice.refusal, choice.finish);
            end.get_or_insert(outcome);
        }
        out.usage(stream.usage);
        end
    }
}

/// Returns true for a delta with fields, but none that is read.
fn is_unknown(delta: &Object<'_>) -> bool {
    const KEYS: &[&str] = &[
        "role",
        "content",
        "refusal",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "thinking",
        "tool_calls",
        "function_call",
        "audio",
        "images",
        "annotations",
    ];
    !delta.is_empty() && !delta.iter().any(|(key, _)| KEYS.contains(&key))
}

impl Choice {
    /// Reads the delta of a choice; returns false if it is unknown.
    fn take(&mut self, choice: &Object<'_>, calls: &mut Calls, out: &mut Emitter) -> bool {
        let delta = choice.get("delta").object();
        let reasoning = chat::reasoning(&delta);
        self.say(Part::Reasoning, &reasoning.as_str(), out);
        self.content(delta.get("content"), calls, out);
        self.content(delta.get("audio").get("transcript"), calls, out);
        self.content(choice.get("text"), calls, out);
        self.sound(delta.get("audio").get("data"), out);
        for picture in out.media_in(delta.get("images")) {
            self.picture(picture, out);
        }
        if let Some(refusal) = delta.get("refusal").str().filter(|text| !text.is_empty()) {
            self.refusal = true;
            self.say(Part::Answer, &refusal, out);
        }
        for fragment in delta.get("tool_calls").array() {
            self.fragment(&fragment.object(), calls, out);
        }
        self.legacy(&delta.get("function_call").object());
        if let Some(reason) = choice.get("finish_reason").str() {
            self.finish = Some(reason.into_owned());
            if self.index == 0 {
                self.flush(calls, out);
            }
        }
        !is_unknown(&delta)
    }

    fn content(&mut self, content: Json<'_>, calls: &mut Calls, out: &mut Emitter) {
        for part in content.array() {
            for thought in part.get("thinking").array() {
                self.say(
                    Part::Reasoning,
                    &part_text(thought).unwrap_or_default(),
                    out,
                );
            }
            if let Some(media) = out.media(part) {
                self.picture(media, out);
            }
            self.answer(&part_text(part).unwrap_or_default(), calls, out);
        }
        self.answer(&content.str().unwrap_or_default(), calls, out);
    }

    fn picture(&mut self, picture: Media, out: &mut Emitter) {
        if self.index == 0 {
            out.text_media(None, picture);
        } else {
            self.pictures.push(picture);
        }
    }

    /// Measures a piece of the sound. The pieces are not joined: each is base64 of
    /// its own.
    fn sound(&mut self, piece: Json<'_>, out: &Emitter) {
        if !piece.is_string() {
            return;
        }
        let piece = out.media_string(piece, "audio/*");
        match &mut self.sound {
            None => {
                self.sound = Some(Media {
                    data: Payload::default(),
                    ..piece
                });
            }
            Some(sound) => {
                let size = sound.bytes.zip(piece.bytes);
                sound.bytes = size.map(|(size, more)| size.saturating_add(more));
            }
        }
    }

    fn answer(&mut self, text: &str, calls: &mut Calls, out: &mut Emitter) {
        if text.is_empty() {
            return;
        }
        if self.index == 0 {
            self.show_complete(calls, out);
        }
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.push(text, &mut |part, text| self.say(part, text, out));
        self.splitter = splitter;
    }

    fn say(&mut self, part: Part, text: &str, out: &mut Emitter) {
        if text.is_empty() {
            return;
        }
        if self.index == 0 {
            match part {
                Part::Reasoning => out.reasoning_delta(None, text),
                Part::Answer => out.text_delta(None, text),
            }
            return;
        }
        match self.held.last_mut() {
            Some((last, held)) if *last == part => held.push_str(text),
            _ => self.held.push((part, text.to_owned())),
        }
    }

    /// Reads a fragment of a call. Only the first one has id and name; the index
    /// identifies the call. Some servers use the same index for every call; there a
    /// new id starts a new call.
    fn fragment(&mut self, fragment: &Object<'_>, calls: &mut Calls, out: &mut Emitter) {
        let index = fragment.get("index").u64();
        let id = fragment.get("id").str().unwrap_or_default();
        let function = fragment.get("function").object();
        let custom = fragment.get("custom").object();
        let body = if custom.is_empty() {
            &function
        } else {
            &custom
        };
        let name = body.get("name").str().unwrap_or_default();
        let open = match index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.calls.len().checked_sub(1),
        };
        let is_same = |call: &Partial| {
            let same_id = id.is_empty() || call.id.is_empty() || id == call.id;
            let complete = call.shown || call.given.is_complete();
            same_id && !(complete && id.is_empty() && !name.is_empty())
        };
        let position = open.filter(|position| self.calls.get(*position).is_some_and(is_same));
        if position.is_none() {
            if self.index == 0 {
                self.show_complete(calls, out);
            }
            self.by_index
                .extend(index.map(|index| (index, self.calls.len())));
            self.calls.push(Partial::default());
        }
        let last = self.calls.len().saturating_sub(1);
        let Some(call) = self.calls.get_mut(position.unwrap_or(last)) else {
            return;
        };
        call.custom |= !custom.is_empty();
        if id.is_empty() {
            add_name(&mut call.name, &name);
        } else {
            replace(&mut call.name, &name);
        }
        replace(&mut call.id, &id);
        if !call.shown {
            call.given.push_str(&body.get("arguments").display());
            call.given.push_str(&body.get("input").display());
        }
    }

    fn legacy(&mut self, function: &Object<'_>) {
        if function.is_empty() {
            return;
        }
        if self.calls.last().is_none_or(|call| !call.legacy) {
            self.calls.push(Partial {
                legacy: true,
                ..Partial::default()
            });
        }
        if let Some(call) = self.calls.last_mut() {
            add_name(
                &mut call.name,
                &function.get("name").str().unwrap_or_default(),
            );
            call.given.push_str(&function.get("arguments").display());
        }
    }

    /// Emits the calls with complete arguments, up to the first incomplete one.
    fn show_complete(&mut self, calls: &mut Calls, out: &mut Emitter) {
        while let Some(call) = self.calls.get_mut(self.shown)
            && (call.shown || (!call.custom && call.given.is_complete()))
        {
            call.show(calls, out);
            self.shown += 1;
        }
    }

    /// Emits the rest at the end of the choice.
    fn flush(&mut self, calls: &mut Calls, out: &mut Emitter) {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.finish(&mut |part, text| self.say(part, text, out));
        self.splitter = splitter;
        if self.index > 0 {
            out.end_message();
        }
        for (part, text) in self.held.drain(..) {
            match part {
                Part::Reasoning => out.reasoning(None, text),
                Part::Answer => out.text(None, text),
            }
        }
        for media in self.pictures.drain(..).chain(self.sound.take()) {
            out.text_media(None, media);
        }
        for call in &mut self.calls {
            call.show(calls, out);
        }
    }
}

impl Partial {
    fn show(&mut self, calls: &mut Calls, out: &mut Emitter) {
        if std::mem::replace(&mut self.shown, true) {
            return;
        }
        let given = std::mem::take(&mut self.given).text;
        if self.legacy {
            calls.legacy_call(&self.name, &given, out);
        } else if self.custom {
            calls.call(&self.id, &self.name, &CallInput::Text(&given), out);
        } else {
            calls.call(&self.id, &self.name, &CallInput::Arguments(&given), out);
        }
    }
}

/// Appends a piece of a name. Some servers repeat the whole name with every piece
/// of the arguments instead.
fn add_name(name: &mut String, piece: &str) {
    if name != piece {
        name.push_str(piece);
    }
}

fn replace(field: &mut String, value: &str) {
    if !value.is_empty() {
        value.clone_into(field);
    }
}
