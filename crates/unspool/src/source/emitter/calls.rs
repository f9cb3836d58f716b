//! Tool calls and results: one of each per call, with unique ids.

use std::borrow::Cow;
use std::collections::hash_map::Entry;

use super::{Emitter, clean_paths, digest};
use crate::event::{
    Body, Category, Edit, Level, Media, Payload, RawJson, ToolOutput, ToolResult, ToolStatus,
    ToolUse,
};
use crate::json::Json;
use crate::source::tools::category_for;
use crate::tool;

/// A tool call, as a source announces it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The provider's id for it; empty where there is none.
    pub id: &'a str,
    /// The tool's name.
    pub name: &'a str,
    /// `None`: found by the name.
    pub category: Option<Category>,
    /// `None`: found in the input.
    pub arg: Option<Cow<'a, str>>,
    /// The input, verbatim.
    pub input: Option<RawJson>,
    /// The provider's title for the call.
    pub title: &'a str,
}

/// The end of a tool call.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// Status.
    pub status: ToolStatus,
    /// Output, verbatim.
    pub output: Payload,
    /// The exit code of a command.
    pub exit_code: Option<i64>,
    /// Edits that it made.
    pub edits: Vec<Edit>,
    /// Duration in milliseconds.
    pub duration_ms: Option<u64>,
    /// The tool's name, for a result whose call was never seen.
    pub name: String,
    /// Pictures, sounds and files that it returned.
    pub media: Vec<Media>,
}

constructors! {
    /// A call of this tool.
    Call<'a>(id: &'a str, name: &'a str) {
        with_category => category: Option<Category>,
        with_arg => arg: Option<Cow<'a, str>>,
        with_input => input: Option<RawJson>,
        with_title => title: &'a str,
    }
    /// An end without output.
    Outcome(status: ToolStatus) {
        with_output => output: Payload,
        with_exit_code => exit_code: Option<i64>,
        with_edits => edits: Vec<Edit>,
        with_duration_ms => duration_ms: Option<u64>,
        with_name => name: String,
        with_media => media: Vec<Media>,
    }
}

/// A call that was announced.
#[derive(Clone)]
pub(super) struct Known {
    /// The id in the events: the provider's, made unique where it is reused.
    pub(super) id: String,
    name: String,
    category: Category,
    /// Digest of the last `tool_use`, to recognise one that adds nothing.
    digest: u64,
    pub(super) phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Open,
    /// A plan tool: shown as a plan, its result is not shown.
    Plan,
    Finished,
}

impl Emitter {
    /// Emits a tool call, or more that is known of it. A repetition that adds
    /// nothing is dropped; an id that belonged to a finished call is made unique.
    /// A call of a plan tool becomes the plan, if its result does not refuse it.
    pub fn tool_use(&mut self, call: Call<'_>) {
        let json = call.input.as_ref().map_or(Json::NULL, RawJson::json);
        let plan = tool::plan(call.name, json);
        let phase = if plan.is_some() {
            Phase::Plan
        } else {
            Phase::Open
        };
        let id = call.id;
        if self.take_withheld(id).is_some() {
            self.calls.remove(id);
        }
        let Some(call) = self.admit(call, phase) else {
            return;
        };
        match plan {
            Some(plan) if id.is_empty() => self.plan(plan),
            Some(plan) => self.propose_plan(id, plan),
            None => self.show_call(call),
        }
    }

    /// Records a call and returns its event; `None` if it is a repetition.
    pub(super) fn admit(&mut self, call: Call<'_>, phase: Phase) -> Option<ToolUse> {
        let category = call
            .category
            .unwrap_or_else(|| category_for(self.tools, call.name));
        let json = call.input.as_ref().map_or(Json::NULL, RawJson::json);
        let digest = digest(&(call.name, call.title, json.raw(), category as u8));
        let known = self.calls.get(call.id).filter(|_| !call.id.is_empty());
        if known.is_some_and(|k| k.phase != Phase::Finished && k.digest == digest) {
            return None;
        }
        self.turn_open = true;
        let id = match known {
            Some(known) if known.phase == Phase::Finished => next_id(&known.id, call.id),
            Some(known) => known.id.clone(),
            None if call.id.is_empty() => self.unnamed(),
            None => call.id.to_owned(),
        };
        let name = tool::label(call.name);
        self.remember(
            call.id,
            Known {
                id: id.clone(),
                name: name.clone(),
                category,
                digest,
                phase,
            },
        );
        let arg = match call.arg {
            Some(arg) => tool::preview(&arg),
            None => tool::arg(category, json),
        };
        Some(ToolUse {
            id,
            name,
            category,
            arg,
            input: call.input,
            title: tool::label(call.title),
        })
    }

    pub(super) fn show_call(&mut self, call: ToolUse) {
        self.end_message();
        self.push(Body::ToolUse(call));
    }

    /// Records a call that another event represents, such as a plan. Neither it
    /// nor its result is emitted, unless it failed.
    pub fn hide_call(&mut self, id: &str, name: &str) {
        self.remember(
            id,
            Known {
                id: id.to_owned(),
                name: tool::label(name),
                category: category_for(self.tools, name),
                digest: 0,
                phase: Phase::Plan,
            },
        );
    }

    /// Emits output of a running call.
    pub fn tool_output(&mut self, id: &str, text: impl Into<Payload>) {
        let text = text.into();
        let known = self.calls.get(id);
        if text.is_empty() || known.is_some_and(|known| known.phase != Phase::Open) {
            return;
        }
        let id = known.map_or(id, |known| &known.id).to_owned();
        self.turn_open = true;
        self.push(Body::ToolOutput(ToolOutput { id, text }));
    }

    /// Emits the result of a call. Only the first one counts; a result without a
    /// call is emitted too.
    pub fn tool_result(&mut self, id: &str, outcome: Outcome) {
        self.turn_open = true;
        let known = self.calls.get_mut(id).filter(|_| !id.is_empty());
        let (id, name) = match known {
            Some(known) if known.phase == Phase::Finished => return,
            Some(known) => {
                let was_plan = known.phase == Phase::Plan;
                known.phase = Phase::Finished;
                let (event_id, name) = (known.id.clone(), known.name.clone());
                self.retire(id);
                let withheld = self.take_withheld(id);
                if was_plan {
                    self.decide_plan(id, outcome.status == ToolStatus::Ok);
                }
                if was_plan && outcome.status != ToolStatus::Ok {
                    self.notice(Level::Warning, outcome.output);
                    return;
                }
                match withheld {
                    Some(withheld) => self.show_call(withheld.event),
                    None if was_plan => return,
                    None => {}
                }
                (event_id, name)
            }
            None => {
                let name = tool::label(&outcome.name);
                let event_id = if id.is_empty() {
                    self.unnamed()
                } else {
                    id.to_owned()
                };
                self.remember(
                    id,
                    Known {
                        id: event_id.clone(),
                        name: name.clone(),
                        category: Category::Other,
                        digest: 0,
                        phase: Phase::Finished,
                    },
                );
                self.retire(id);
                (event_id, name)
            }
        };
        self.push(Body::ToolResult(ToolResult {
            id,
            name,
            status: outcome.status,
            output: outcome.output,
            exit_code: outcome.exit_code,
            edits: outcome.edits.into_iter().map(clean_paths).collect(),
            duration_ms: outcome.duration_ms,
            media: outcome.media,
        }));
    }

    /// Returns true if the call was announced and has no result yet.
    pub fn is_open(&self, id: &str) -> bool {
        self.calls
            .get(id)
            .is_some_and(|known| known.phase != Phase::Finished)
    }

    /// Returns true if a call or result with this id was seen.
    pub fn is_known(&self, id: &str) -> bool {
        self.calls.contains_key(id)
    }

    /// Returns the id in the events of the call with the provider's id. They
    /// differ where the provider reuses ids.
    pub fn emitted_id(&self, id: &str) -> Option<&str> {
        self.calls.get(id).map(|known| known.id.as_str())
    }

    /// Returns the category of the call with this id.
    pub fn category_of(&self, id: &str) -> Option<Category> {
        self.calls.get(id).map(|known| known.category)
    }

    fn unnamed(&mut self) -> String {
        self.unnamed_calls += 1;
        format!("call-{}", self.unnamed_calls)
    }

    fn remember(&mut self, id: &str, known: Known) {
        if !id.is_empty() {
            self.calls.insert(id.to_owned(), known);
        }
    }

    /// Records that a call is finished, and forgets the oldest finished one.
    fn retire(&mut self, id: &str) {
        if id.is_empty() {
            return;
        }
        if let Some(oldest) = self.finished.push(id.to_owned())
            && let Entry::Occupied(known) = self.calls.entry(oldest)
            && known.get().phase == Phase::Finished
        {
            known.remove();
        }
    }
}

/// Returns the next of `call`, `call#2`, `call#3` …
fn next_id(last: &str, base: &str) -> String {
    let number = last
        .strip_prefix(base)
        .and_then(|rest| rest.strip_prefix('#'))
        .and_then(|number| number.parse::<u64>().ok())
        .unwrap_or(1);
    format!("{base}#{}", number + 1)
}
