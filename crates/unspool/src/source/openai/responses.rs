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
use super::{error_text, failure, finished, milliseconds, usage};
use crate::event::{Level, TurnEnd, TurnStatus};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::Emitter;

/// Items that are open at once, each of which is looked through for every piece.
const MOST_OPEN: usize = 256;

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
    /// An error that was told. Most servers close the response behind it, and
    /// tell it there again.
    fault: Option<Fault>,
}

#[derive(Clone)]
struct Fault {
    text: String,
    end: TurnEnd,
}

/// An item that is not done.
#[derive(Clone)]
struct Open {
    /// The id that its events refer to.
    item: String,
    /// Its place in the response, for servers that encrypt ids and so name the
    /// item differently in every event.
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
        let told = event.get("type").str();
        let kind = told.as_deref().unwrap_or(frame.event);
        let kind = kind.strip_prefix("response.").unwrap_or(kind);
        let response = event.get("response").object();
        match kind {
            "created" | "queued" | "in_progress" => {
                self.settle(calls, out);
                self.begin(&response, calls, out);
            }
            "completed" | "incomplete" | "failed" | "cancelled" => {
                self.begin(&response, calls, out);
                self.close(&response, kind, calls, out);
            }
            "error" => {
                self.begin_unseen(out);
                self.show_items(calls, out);
                self.tell(whole(event.get("error"), frame), out);
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
            "output_item.added" => {
                // More at once no server sends; what was not done is shown as it is.
                if self.items.len() >= MOST_OPEN {
                    self.show_items(calls, out);
                }
                self.items.extend(Open::new(event));
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
            self.tell(error, out);
        }
        match self.fault.take() {
            Some(fault) if status == "failed" => out.turn_end(fault.end),
            _ => out.turn_end(ended(&status, response, refusal)),
        }
    }

    /// Tells an error, unless it is the one that was told.
    fn tell(&mut self, error: Json<'_>, out: &mut Emitter) {
        let text = error_text(error);
        if self.fault.as_ref().is_none_or(|fault| fault.text != text) {
            out.notice(Level::Error, text.as_str());
        }
        self.fault = Some(Fault {
            text,
            end: failure(error),
        });
    }

    /// Nothing more comes of a response that an error ended.
    pub(super) fn settle(&mut self, calls: &mut Calls, out: &mut Emitter) {
        if self.fault.is_some() {
            self.cut(calls, out);
        }
    }

    /// The input ended, or another response began.
    pub(super) fn cut(&mut self, calls: &mut Calls, out: &mut Emitter) {
        if !self.open {
            return;
        }
        self.release(calls, out);
        match self.fault.take() {
            Some(fault) => out.turn_end(fault.end),
            None => out.interrupted(),
        }
    }

    /// Nothing more comes.
    pub(super) fn release(&mut self, calls: &mut Calls, out: &mut Emitter) {
        self.show_items(calls, out);
        self.open = false;
    }

    /// Shows what is left of items that never were done.
    fn show_items(&mut self, calls: &mut Calls, out: &mut Emitter) {
        let blocks = Blocks::of_response(self.count);
        for open in std::mem::take(&mut self.items) {
            open.show(blocks, calls, out);
        }
    }

    /// Translates an item that is done; `false` if its type is not known.
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
        let blocks = Blocks::of_response(self.count).within(&name);
        let said = item::item(json, blocks, calls, out);
        self.refusal |= said.is_some_and(|said| said.refusal);
        said.is_some()
    }

    /// The item that is not done, by its id or else by its place.
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
        let index = self.index(&id, event.get("output_index").u64())?;
        self.items.get_mut(index)
    }

    /// The id of the block that an event is about.
    fn block(&mut self, event: &Object<'_>) -> Option<String> {
        let part = [event.get("content_index"), event.get("summary_index")]
            .iter()
            .find_map(|index| index.u64());
        let item = match self.open_item(event) {
            Some(open) => open.item.clone(),
            None => event.get("item_id").string(),
        };
        Blocks::of_response(self.count).id(&item, part.unwrap_or(0))
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

/// The error of an event, or the whole event where it has no object of its own.
fn whole<'a>(error: Json<'a>, frame: &Frame<'a>) -> Json<'a> {
    if error.is_object() {
        error
    } else {
        frame.json().unwrap_or(Json::NULL)
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
