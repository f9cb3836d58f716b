//! Tool calls and their results, for all formats: decodes argument strings,
//! guesses categories (callers define the names), keeps the edits of a patch until
//! its result.

use std::borrow::Cow;

use crate::event::{Category, Edit, Payload, RawJson, ToolStatus};
use crate::json::Json;
use crate::recent::RecentMap;
use crate::source::edits::{self, Pending};
use crate::source::{Call, Emitter, Outcome};
use crate::tool;

/// Requests for approval that are remembered.
const ASKED: usize = 64;
/// Results that wait for their calls at most.
const EARLY: usize = 64;

#[derive(Clone, Default)]
pub(super) struct Calls {
    edits: Pending,
    /// Number of calls in the old form `function_call`, which has no ids: a result
    /// belongs to the last call.
    legacy: u64,
    /// Names of the tools that open requests for approval are about.
    asked: RecentMap<String, String, ASKED>,
    /// Results whose calls did not come yet, in order.
    early: Vec<(String, Outcome)>,
}

/// The input of a call.
pub(super) enum CallInput<'a> {
    /// A JSON text: the arguments of a function.
    Arguments(&'a str),
    /// Free text: the input of a custom tool.
    Text(&'a str),
}

impl Calls {
    /// Emits a call of a tool that the caller defined.
    pub(super) fn call(&mut self, id: &str, name: &str, given: &CallInput<'_>, out: &mut Emitter) {
        let category = match super::super::category(name) {
            Category::Other => tool::guess_category(name),
            known => known,
        };
        let (input, arg) = match given {
            CallInput::Arguments(text) => arguments(text),
            CallInput::Text(text) => (RawJson::of(text), None),
        };
        let json = input.as_ref().map_or(Json::NULL, RawJson::json);
        let arg = edits::patched_path(json).map(Cow::Owned).or(arg);
        self.edits.insert(id, edits::announced(category, json));
        out.tool_use(Call {
            id,
            name,
            category: Some(category),
            arg,
            input,
            title: "",
        });
        self.join_early(out);
    }

    pub(super) fn legacy_call(&mut self, name: &str, arguments: &str, out: &mut Emitter) {
        self.legacy += 1;
        let id = self.legacy_id();
        self.call(&id, name, &CallInput::Arguments(arguments), out);
    }

    /// Emits the result of such a call. It has no status, unless the output is JSON
    /// with an exit code.
    pub(super) fn result(&mut self, id: &str, name: &str, content: Json<'_>, out: &mut Emitter) {
        let output = content_text(content);
        let exit_code = exit_code(&output);
        let status = match exit_code {
            None | Some(0) => ToolStatus::Ok,
            Some(_) => ToolStatus::Error,
        };
        let outcome = Outcome {
            status,
            output,
            exit_code,
            name: name.to_owned(),
            media: out.media_in(content),
            ..Outcome::default()
        };
        self.finish(id, outcome, out);
    }

    pub(super) fn legacy_result(&mut self, name: &str, content: Json<'_>, out: &mut Emitter) {
        self.result(&self.legacy_id(), name, content, out);
    }

    /// Records a request for approval.
    pub(super) fn ask(&mut self, id: &str, name: &str) {
        self.asked.insert(id.to_owned(), name.to_owned());
    }

    /// Removes a request and returns the tool that it was about.
    pub(super) fn asked(&mut self, id: &str) -> String {
        self.asked.remove(id).unwrap_or_default()
    }

    /// Keeps the edits that a call makes if it succeeds.
    pub(super) fn announce(&mut self, id: &str, edits: Vec<Edit>) {
        self.edits.insert(id, edits);
    }

    /// Emits a result, with the edits of the call if it succeeded. A result before
    /// its call waits for it.
    pub(super) fn finish(&mut self, id: &str, outcome: Outcome, out: &mut Emitter) {
        if out.is_known(id) || id.is_empty() || self.early.len() >= EARLY {
            self.emit_result(id, outcome, out);
        } else {
            out.open_turn();
            self.early.push((id.to_owned(), outcome));
        }
    }

    /// Emits the results that waited for a call that is now known.
    pub(super) fn join_early(&mut self, out: &mut Emitter) {
        if self.early.is_empty() {
            return;
        }
        let is_known = |(id, _): &mut (String, Outcome)| out.is_known(id);
        let known: Vec<_> = self.early.extract_if(.., is_known).collect();
        for (id, outcome) in known {
            self.emit_result(&id, outcome, out);
        }
    }

    /// Emits the results without a call.
    pub(super) fn release_early(&mut self, out: &mut Emitter) {
        for (id, outcome) in std::mem::take(&mut self.early) {
            self.emit_result(&id, outcome, out);
        }
    }

    /// Emits a result at once.
    pub(super) fn emit_result(&mut self, id: &str, outcome: Outcome, out: &mut Emitter) {
        let announced = self.edits.take(id);
        let edits = if outcome.status == ToolStatus::Ok {
            announced
        } else {
            Vec::new()
        };
        out.tool_result(id, Outcome { edits, ..outcome });
    }

    fn legacy_id(&self) -> String {
        format!("function_call-{}", self.legacy)
    }
}

/// Emits a call of a tool on another server, whose name implies no category.
pub(super) fn remote_call(id: &str, name: &str, given: &str, out: &mut Emitter) {
    let (input, arg) = arguments(given);
    out.tool_use(Call {
        id,
        name,
        category: Some(Category::Other),
        arg,
        input,
        title: "",
    });
}

/// Decodes arguments: a JSON string becomes its value, an empty one an empty
/// object. Anything that is not JSON stays a string without a preview.
fn arguments(text: &str) -> (Option<RawJson>, Option<Cow<'static, str>>) {
    let trimmed = crate::json::trim(text);
    if trimmed.is_empty() {
        return (RawJson::new("{}"), None);
    }
    match RawJson::new(trimmed) {
        Some(input) => (Some(input), None),
        None => (RawJson::of(&text), Some(Cow::Borrowed(""))),
    }
}

/// Returns the text of a message: a string, or the text parts of a list.
pub(super) fn content_text(content: Json<'_>) -> Payload {
    if !content.is_array() {
        return content.payload();
    }
    let texts: Vec<Cow<'_, str>> = content.array().into_iter().filter_map(part_text).collect();
    texts.join("\n").into()
}

/// Returns the text of a part of a message.
pub(super) fn part_text(part: Json<'_>) -> Option<Cow<'_, str>> {
    let fields = part.object();
    part.str().or_else(|| {
        ["text", "refusal", "transcript"]
            .iter()
            .find_map(|key| fields.get(key).str())
    })
}

fn exit_code(output: &Payload) -> Option<i64> {
    let text = output.as_str();
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let fields = Json::parse(&text)?.object();
    fields
        .get("exit_code")
        .i64()
        .or_else(|| fields.get("metadata").get("exit_code").i64())
}
