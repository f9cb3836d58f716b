//! The Responses API: whole bodies, and streams of events.
//!
//! A stream contains everything up to four times: as deltas, and when the part,
//! the item and the response are done. Deltas are emitted, the later forms correct
//! them, and the final response adds items that had no event. Calls are emitted
//! when their input is complete. Reasoning is streamed only if no summary was
//! requested; otherwise it waits for the end of its item, because the summary
//! replaces it.

use std::collections::BTreeSet;

use super::calls::Calls;
use super::item::{self, BlockIds};
use super::{error_text, failure, finished, milliseconds, usage};
use crate::event::{Level, TurnEnd, TurnStatus};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::Emitter;

/// Maximum number of open items, which every event scans.
const MOST_OPEN: usize = 256;

/// The open response.
#[derive(Clone, Default)]
pub(super) struct Responses {
    open: bool,
    id: String,
    /// Number of responses so far.
    count: u64,
    /// A summary of the reasoning was requested.
    summarised: bool,
    refusal: bool,
    items: Vec<Open>,
    /// Positions of finished items.
    done: BTreeSet<u64>,
    /// The last error emitted. Most servers repeat it when they close the response.
    error: Option<ReportedError>,
}

#[derive(Clone)]
struct ReportedError {
    text: String,
    end: TurnEnd,
}

/// An open item.
#[derive(Clone)]
struct Open {
    /// The id that its events refer to.
    item: String,
    /// Its position in the response: servers that encrypt ids use another one in every
    /// event.
    position: Option<u64>,
    kind: String,
    /// The id that results refer to.
    id: String,
    name: String,
    /// Its input or reasoning so far.
    text: String,
    summarised: bool,
}

impl Responses {
    /// Emits a whole response.
    pub(super) fn body(&mut self, response: &Object<'_>, calls: &mut Calls, out: &mut Emitter) {
        self.start(response, calls, out);
        self.close(response, "", calls, out);
    }

    pub(super) fn event(
        &mut self,
        frame: &Frame<'_>,
        event: &Object<'_>,
        calls: &mut Calls,
        out: &mut Emitter,
    ) {
        let in_event = event.get("type").str();
        let kind = in_event.as_deref().unwrap_or(frame.event);
        let kind = kind.strip_prefix("response.").unwrap_or(kind);
        let response = event.get("response").object();
        match kind {
            "created" | "queued" | "in_progress" => {
                self.settle(calls, out);
                self.start(&response, calls, out);
            }
            "completed" | "incomplete" | "failed" | "cancelled" => {
                self.start(&response, calls, out);
                self.close(&response, kind, calls, out);
            }
            "error" => {
                self.start_unseen(out);
                self.show_items(calls, out);
                self.report(whole(event.get("error"), frame), out);
            }
            _ => {
                self.start_unseen(out);
                self.progress(kind, frame, event, calls, out);
            }
        }
    }

    /// Translates an event about an item.
    fn progress(
        &mut self,
        kind: &str,
        frame: &Frame<'_>,
        event: &Object<'_>,
        calls: &mut Calls,
        out: &mut Emitter,
    ) {
        let delta = event.get("delta").str().unwrap_or_default();
        match kind {
            "output_item.added" => {
                // No server sends more; the open ones are emitted as they are.
                if self.items.len() >= MOST_OPEN {
                    self.show_items(calls, out);
                }
                self.items.extend(Open::new(event));
                if !item::is_known(&event.get("item").get("type").display()) {
                    out.unknown(frame);
                }
            }
            "output_item.done" => {
                let position = event.get("output_index").u64();
                self.done.extend(position);
                if !self.item(event.get("item"), position, calls, out) {
                    out.unknown(frame);
                }
            }
            "output_text.delta" => out.text_delta(self.block(event).as_deref(), &delta),
            "output_text.done" => {
                out.text(self.block(event).as_deref(), event.get("text").payload());
            }
            "refusal.delta" => {
                self.refusal = true;
                out.text_delta(self.block(event).as_deref(), &delta);
            }
            "refusal.done" => {
                self.refusal = true;
                out.text(self.block(event).as_deref(), event.get("refusal").payload());
            }
            "audio.transcript.delta" => out.text_delta(None, &delta),
            "reasoning_summary_text.delta" => {
                self.drop_reasoning(event);
                out.reasoning_delta(self.block(event).as_deref(), &delta);
            }
            "reasoning_summary_text.done" => {
                out.reasoning(self.block(event).as_deref(), event.get("text").payload());
            }
            "reasoning_text.delta" if self.summarised => self.append(event, &delta),
            "reasoning_text.delta" => out.reasoning_delta(self.block(event).as_deref(), &delta),
            "function_call_arguments.delta"
            | "mcp_call_arguments.delta"
            | "custom_tool_call_input.delta"
            | "code_interpreter_call_code.delta" => self.append(event, &delta),
            "function_call_arguments.done"
            | "mcp_call_arguments.done"
            | "custom_tool_call_input.done"
            | "code_interpreter_call_code.done" => self.input_done(event, calls, out),
            "shell_call_output_content.delta" => self.shell_output(event, out),
            _ if is_noise(kind) && has_known_part(event) => {}
            _ => out.unknown(frame),
        }
    }

    /// Starts a response, unless it is the open one.
    fn start(&mut self, response: &Object<'_>, calls: &mut Calls, out: &mut Emitter) {
        let id = response.get("id").string();
        if self.open && !self.id.is_empty() && id != self.id {
            self.cut(calls, out);
        }
        self.start_unseen(out);
        self.id = id;
        let summary = response.get("reasoning").get("summary");
        self.summarised = !summary.is_null();
    }

    /// Starts a response whose first event is missing.
    fn start_unseen(&mut self, out: &mut Emitter) {
        out.open_turn();
        if !self.open {
            *self = Self {
                open: true,
                count: self.count + 1,
                ..Self::default()
            };
        }
    }

    /// Ends the response, unless its status says that it continues.
    fn close(&mut self, response: &Object<'_>, kind: &str, calls: &mut Calls, out: &mut Emitter) {
        for (position, json) in (0..).zip(response.get("output").array()) {
            let is_done = self.done.contains(&position);
            if !is_done && !self.item(json, Some(position), calls, out) {
                out.unknown(&Frame::new(json.raw()));
            }
        }
        let status = response.get("status").str().unwrap_or(kind.into());
        if matches!(&*status, "queued" | "in_progress") {
            return;
        }
        let refusal = self.refusal;
        self.release(calls, out);
        out.time_ms(milliseconds(response.get("completed_at")));
        out.usage(usage(response.get("usage")));
        let error = response.get("error");
        if status == "failed" && !error.is_null() {
            self.report(error, out);
        }
        match self.error.take() {
            Some(error) if status == "failed" => out.turn_end(error.end),
            _ => out.turn_end(ended(&status, response, refusal)),
        }
    }

    /// Emits an error, unless it repeats the last one.
    fn report(&mut self, error: Json<'_>, out: &mut Emitter) {
        let text = error_text(error);
        if self.error.as_ref().is_none_or(|error| error.text != text) {
            out.notice(Level::Error, text.as_str());
        }
        self.error = Some(ReportedError {
            text,
            end: failure(error),
        });
    }

    /// Ends the turn of a response that failed.
    pub(super) fn settle(&mut self, calls: &mut Calls, out: &mut Emitter) {
        if self.error.is_some() {
            self.cut(calls, out);
        }
    }

    /// Interrupts the response: the input ended or another response started.
    pub(super) fn cut(&mut self, calls: &mut Calls, out: &mut Emitter) {
        if !self.open {
            return;
        }
        self.release(calls, out);
        match self.error.take() {
            Some(error) => out.turn_end(error.end),
            None => out.interrupted(),
        }
    }

    /// Emits the open items and forgets the response.
    pub(super) fn release(&mut self, calls: &mut Calls, out: &mut Emitter) {
        self.show_items(calls, out);
        calls.release_early(out);
        self.open = false;
    }

    /// Emits items that were never finished.
    fn show_items(&mut self, calls: &mut Calls, out: &mut Emitter) {
        let block_ids = BlockIds::of_response(self.count);
        for open in std::mem::take(&mut self.items) {
            open.show(block_ids, calls, out);
        }
    }

    /// Translates a finished item; returns false if its type is unknown.
    fn item(
        &mut self,
        json: Json<'_>,
        position: Option<u64>,
        calls: &mut Calls,
        out: &mut Emitter,
    ) -> bool {
        let (id, kind) = (json.get("id").string(), json.get("type").string());
        let is_it = |open: &Open| open.item == id || open.kind == kind;
        let open = self.index(&id, position);
        let open = open.filter(|at| self.items.get(*at).is_some_and(is_it));
        let name = open.map_or(id, |at| self.items.remove(at).item);
        let block_ids = BlockIds::of_response(self.count).of_item(&name);
        let contents = item::item(json, block_ids, calls, out);
        self.refusal |= contents.is_some_and(|contents| contents.refusal);
        contents.is_some()
    }

    /// Finds an open item by its id, else by its position.
    fn index(&self, id: &str, position: Option<u64>) -> Option<usize> {
        let named = self.items.iter().rposition(|open| open.item == id);
        let placed = |open: &Open| position.is_some() && open.position == position;
        named.or_else(|| self.items.iter().rposition(placed))
    }

    fn append(&mut self, event: &Object<'_>, delta: &str) {
        if let Some(open) = self.open_item(event) {
            open.text.push_str(delta);
        }
    }

    /// Drops the reasoning of an item that has a summary.
    fn drop_reasoning(&mut self, event: &Object<'_>) {
        if let Some(open) = self.open_item(event) {
            open.summarised = true;
            open.text.clear();
        }
    }

    fn input_done(&mut self, event: &Object<'_>, calls: &mut Calls, out: &mut Emitter) {
        let Some(open) = self.open_item(event) else {
            return;
        };
        let whole = ["arguments", "input", "code"]
            .iter()
            .find_map(|key| event.get(key).str());
        if let Some(whole) = whole {
            open.text = whole.into_owned();
        }
        item::call(&open.kind, &open.id, &open.name, &open.text, calls, out);
    }

    /// Emits output of a running command.
    fn shell_output(&mut self, event: &Object<'_>, out: &mut Emitter) {
        if let Some(open) = self.open_item(event) {
            let delta = event.get("delta").object();
            out.tool_output(&open.id, delta.get("stdout").payload());
            out.tool_output(&open.id, delta.get("stderr").payload());
        }
    }

    fn open_item(&mut self, event: &Object<'_>) -> Option<&mut Open> {
        let id = event.get("item_id").str()?;
        let index = self.index(&id, event.get("output_index").u64())?;
        self.items.get_mut(index)
    }

    /// Returns the id of the block that an event refers to.
    fn block(&mut self, event: &Object<'_>) -> Option<String> {
        let part = [event.get("content_index"), event.get("summary_index")]
            .iter()
            .find_map(|index| index.u64());
        let item = match self.open_item(event) {
            Some(open) => open.item.clone(),
            None => event.get("item_id").string(),
        };
        BlockIds::of_response(self.count).id(&item, part.unwrap_or(0))
    }
}

impl Open {
    fn new(event: &Object<'_>) -> Option<Self> {
        let item = event.get("item").object();
        let id = item.get("id").str().filter(|id| !id.is_empty())?;
        Some(Self {
            item: id.into_owned(),
            position: event.get("output_index").u64(),
            kind: item.get("type").string(),
            id: item::id(&item),
            name: item::name(&item),
            text: String::new(),
            summarised: false,
        })
    }

    /// Emits an unfinished item.
    fn show(self, block_ids: BlockIds, calls: &mut Calls, out: &mut Emitter) {
        match self.kind.as_str() {
            "reasoning" if self.summarised => {}
            "reasoning" => out.reasoning(block_ids.id(&self.item, 0).as_deref(), self.text),
            "function_call" | "custom_tool_call" | "mcp_call" | "code_interpreter_call" => {
                item::call(&self.kind, &self.id, &self.name, &self.text, calls, out);
            }
            _ => {}
        }
    }
}

/// Returns the end of a response without an error.
fn ended(status: &str, response: &Object<'_>, refusal: bool) -> TurnEnd {
    let reason = response.get("incomplete_details").get("reason").string();
    match (status, reason.as_str()) {
        ("incomplete", "max_output_tokens" | "content_filter") => finished(&reason, refusal),
        ("incomplete" | "failed", _) => TurnEnd {
            status: TurnStatus::Failed,
            reason,
            ..TurnEnd::default()
        },
        ("cancelled", _) => finished(status, false),
        _ => finished("", refusal),
    }
}

/// Returns the error of an event, or the whole event if it is the error.
fn whole<'a>(error: Json<'a>, frame: &Frame<'a>) -> Json<'a> {
    if error.is_object() {
        error
    } else {
        frame.json().unwrap_or(Json::NULL)
    }
}

/// Returns true if the part of an event, if any, has a type that is read.
fn has_known_part(event: &Object<'_>) -> bool {
    const KINDS: &[&str] = &[
        "output_text",
        "refusal",
        "summary_text",
        "reasoning_text",
        "output_audio",
        "text",
    ];
    let part = event.get("part");
    !part.is_object() || KINDS.contains(&&*part.get("type").display())
}

/// Returns true for progress, repetitions of other events, and media.
fn is_noise(kind: &str) -> bool {
    const PROGRESS: &[&str] = &[
        "web_search_call.",
        "file_search_call.",
        "code_interpreter_call.",
        "image_generation_call.",
        "mcp_call.",
        "mcp_list_tools.",
        "shell_call_command.",
        "apply_patch_call_operation_diff.",
        "audio.",
        "compaction.",
    ];
    const REPEATED: &[&str] = &[
        "keepalive",
        "ping",
        "content_part.added",
        "content_part.done",
        "reasoning_summary_part.added",
        "reasoning_summary_part.done",
        // The finished item repeats it, and there the summary is known.
        "reasoning_text.done",
        "output_text.annotation.added",
        "shell_call_output_content.done",
    ];
    REPEATED.contains(&kind) || PROGRESS.iter().any(|prefix| kind.starts_with(prefix))
}
