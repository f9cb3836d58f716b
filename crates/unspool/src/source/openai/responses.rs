//! The Responses API: whole bodies, and the events of a stream, live.
//!
//! A stream says everything up to four times: as deltas, when the part, the
//! item and the response are done. The deltas are shown, what is done only
//! corrects them, and the closing response adds the items that no event
//! brought. Calls are shown when their input is complete. Reasoning itself is
//! streamed only where no summary was asked for; otherwise it waits for the end
//! of its item, since the summary takes its place.

use std::collections::BTreeSet;

use super::calls::Calls;
use super::item::{self, Blocks};
use super::{failed, finished, milliseconds, usage};
use crate::event::{TurnEnd, TurnStatus};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::Emitter;

/// The response that is being read.
#[derive(Clone, Default)]
pub(super) struct Responses {
    open: bool,
    id: String,
    /// How many responses began.
    count: u64,
    /// A summary of the reasoning was asked for.
    summarised: bool,
    refusal: bool,
    items: Vec<Open>,
    /// Positions of the items that are done.
    done: BTreeSet<u64>,
}

/// An item that is not done.
#[derive(Clone)]
struct Open {
    /// The id that its events refer to.
    item: String,
    kind: String,
    /// The id that results refer to.
    id: String,
    name: String,
    /// Its input or reasoning so far.
    text: String,
    summarised: bool,
}

impl Responses {
    /// A whole response.
    pub(super) fn body(&mut self, response: &Object<'_>, calls: &mut Calls, out: &mut Emitter) {
        self.begin(response, calls, out);
        self.close(response, "", calls, out);
    }

    pub(super) fn event(
        &mut self,
        frame: &Frame<'_>,
        event: &Object<'_>,
        calls: &mut Calls,
        out: &mut Emitter,
    ) {
        let kind = event.get("type").str().unwrap_or(frame.event.into());
        let kind = kind.strip_prefix("response.").unwrap_or(&kind);
        let response = event.get("response").object();
        match kind {
            "created" | "queued" | "in_progress" => self.begin(&response, calls, out),
            "completed" | "incomplete" | "failed" | "cancelled" => {
                self.begin(&response, calls, out);
                self.close(&response, kind, calls, out);
            }
            "error" => {
                self.release(calls, out);
                failed(whole(event, frame), out);
            }
            _ => {
                self.begin_unseen(out);
                self.progress(kind, frame, event, calls, out);
            }
        }
    }

    /// An event about an item.
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
            "output_item.added" => self.items.extend(Open::new(&event.get("item").object())),
            "output_item.done" => self.item_done(frame, event, calls, out),
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
            _ if is_noise(kind) => {}
            _ => out.unknown(frame),
        }
    }

    /// Begins a response, unless it is the one that is open.
    fn begin(&mut self, response: &Object<'_>, calls: &mut Calls, out: &mut Emitter) {
        let id = response.get("id").string();
        if self.open && !self.id.is_empty() && id != self.id {
            self.cut(calls, out);
        }
        self.begin_unseen(out);
        self.id = id;
        let summary = response.get("reasoning").get("summary");
        self.summarised = !summary.is_null();
    }

    /// The stream may begin in the middle.
    fn begin_unseen(&mut self, out: &mut Emitter) {
        out.open_turn();
        if !self.open {
            *self = Self {
                open: true,
                count: self.count + 1,
                ..Self::default()
            };
        }
    }

    /// The response is over, unless it says that it goes on.
    fn close(&mut self, response: &Object<'_>, kind: &str, calls: &mut Calls, out: &mut Emitter) {
        let blocks = Blocks::of_response(self.count);
        for (position, json) in (0..).zip(response.get("output").array()) {
            if self.done.contains(&position) {
                continue;
            }
            let id = json.get("id").string();
            self.items.retain(|open| open.item != id);
            match item::item(json, blocks, calls, out) {
                Some(said) => self.refusal |= said.refusal,
                None => out.unknown(&Frame::new(json.raw())),
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
        match response.get("error") {
            error if status == "failed" && !error.is_null() => failed(error, out),
            _ => out.turn_end(ended(&status, response, refusal)),
        }
    }

    /// The input ended, or another response began.
    pub(super) fn cut(&mut self, calls: &mut Calls, out: &mut Emitter) {
        if self.open {
            self.release(calls, out);
            out.interrupted();
        }
    }

    /// Shows what is left of items that never were done.
    pub(super) fn release(&mut self, calls: &mut Calls, out: &mut Emitter) {
        let blocks = Blocks::of_response(self.count);
        for open in std::mem::take(&mut self.items) {
            open.show(blocks, calls, out);
        }
        self.open = false;
    }

    fn item_done(
        &mut self,
        frame: &Frame<'_>,
        event: &Object<'_>,
        calls: &mut Calls,
        out: &mut Emitter,
    ) {
        let json = event.get("item");
        let id = json.get("id").string();
        self.items.retain(|open| open.item != id);
        self.done.extend(event.get("output_index").u64());
        match item::item(json, Blocks::of_response(self.count), calls, out) {
            Some(said) => self.refusal |= said.refusal,
            None => out.unknown(frame),
        }
    }

    fn append(&mut self, event: &Object<'_>, delta: &str) {
        if let Some(open) = self.open_item(event) {
            open.text.push_str(delta);
        }
    }

    /// A summary came: it takes the place of the reasoning itself.
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

    /// Output of a command that still runs.
    fn shell_output(&mut self, event: &Object<'_>, out: &mut Emitter) {
        if let Some(open) = self.open_item(event) {
            let delta = event.get("delta").object();
            out.tool_output(&open.id, delta.get("stdout").payload());
            out.tool_output(&open.id, delta.get("stderr").payload());
        }
    }

    fn open_item(&mut self, event: &Object<'_>) -> Option<&mut Open> {
        let id = event.get("item_id").str()?;
        self.items.iter_mut().rev().find(|open| open.item == id)
    }

    /// The id of the block that an event is about.
    fn block(&self, event: &Object<'_>) -> Option<String> {
        let part = [event.get("content_index"), event.get("summary_index")]
            .iter()
            .find_map(|index| index.u64());
        let item = event.get("item_id").str()?;
        Blocks::of_response(self.count).id(&item, part.unwrap_or(0))
    }
}

impl Open {
    fn new(item: &Object<'_>) -> Option<Self> {
        let id = item.get("id").str().filter(|id| !id.is_empty())?;
        Some(Self {
            item: id.into_owned(),
            kind: item.get("type").string(),
            id: item::id(item),
            name: item::name(item),
            text: String::new(),
            summarised: false,
        })
    }

    /// Shows an item that was cut off.
    fn show(self, blocks: Blocks, calls: &mut Calls, out: &mut Emitter) {
        match self.kind.as_str() {
            "reasoning" if self.summarised => {}
            "reasoning" => out.reasoning(blocks.id(&self.item, 0).as_deref(), self.text),
            "function_call" | "custom_tool_call" | "mcp_call" | "code_interpreter_call" => {
                item::call(&self.kind, &self.id, &self.name, &self.text, calls, out);
            }
            _ => {}
        }
    }
}

/// How a response ended that did not fail with an error.
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

/// The whole event as JSON, for an error that has no object of its own.
fn whole<'a>(event: &Object<'a>, frame: &Frame<'a>) -> Json<'a> {
    match event.get("error") {
        error if error.is_object() => error,
        _ => frame.json().unwrap_or(Json::NULL),
    }
}

/// Progress and repetitions of what other events say, and what is not text.
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
        // The item's end has it too, and there the summary is known.
        "reasoning_text.done",
        "output_text.annotation.added",
        "shell_call_output_content.done",
    ];
    REPEATED.contains(&kind) || PROGRESS.iter().any(|prefix| kind.starts_with(prefix))
}
