//! Items of the Responses API: in a body, completed in a stream, and in a saved
//! conversation.
//!
//! Calls that the server runs contain their result. Results of calls that the
//! caller runs are items of their own, which refer to the `call_id`. Encrypted
//! reasoning has no text.

use std::borrow::Cow;

use serde_json::Value;

use super::calls::{CallInput, Calls, content_text, part_text, remote_call};
use super::chat::Contents;
use crate::event::{Category, Edit, Media, Payload, Permission, RawJson, ToolStatus};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::patch;
use crate::source::{Call, Emitter, Outcome};

/// Ids of the text blocks in items.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockIds<'a> {
    /// Number of the response in the input, from 1, which makes item ids unique. 0
    /// means that blocks have no ids.
    response: u64,
    /// The first id of the item; empty to use its current id.
    item: &'a str,
}

impl<'a> BlockIds<'a> {
    /// Blocks of a saved conversation, where ids may be repeated.
    pub(super) const UNNAMED: Self = Self {
        response: 0,
        item: "",
    };

    pub(super) fn of_response(number: u64) -> Self {
        Self {
            response: number,
            item: "",
        }
    }

    /// Uses this id for the item, which may have changed its own.
    pub(super) fn of_item(self, item: &'a str) -> Self {
        Self { item, ..self }
    }

    /// Returns the id of a part of this item.
    fn part(self, item: &Object<'_>, part: u64) -> Option<String> {
        match self.item {
            "" => self.id(&item.get("id").string(), part),
            item => self.id(item, part),
        }
    }

    /// Returns the id of a part of an item.
    pub(super) fn id(self, item: &str, part: u64) -> Option<String> {
        if item.is_empty() || self.response == 0 {
            return None;
        }
        let mut id = item.to_owned();
        if self.response > 1 {
            id = format!("{id}#{}", self.response);
        }
        if part > 0 {
            id = format!("{id}/{part}");
        }
        Some(id)
    }
}

/// Translates an item; returns `None` if its type is unknown.
pub(super) fn item(
    json: Json<'_>,
    block_ids: BlockIds<'_>,
    calls: &mut Calls,
    out: &mut Emitter,
) -> Option<Contents> {
    let item = &json.object();
    let kind = item.get("type").string();
    let mut contents = Contents::default();
    match kind.as_str() {
        "message" => return Some(message(item, block_ids, out)),
        "reasoning" => reasoning(item, block_ids, out),
        "compaction" | "compaction_summary" | "additional_tools" => out.state(&kind, json),
        // A reference to an item on the server.
        "item_reference" => {}
        "mcp_approval_request" => approval_request(item, calls, out),
        "mcp_approval_response" => approval_response(item, calls, out),
        "function_call" | "custom_tool_call" => {
            let given = [item.get("arguments"), item.get("input")];
            let given = given.iter().map(|text| text.display()).collect::<String>();
            call(&kind, &id(item), &name(item), &given, calls, out);
            contents.calls = true;
        }
        _ if kind.ends_with("_output") => {
            output(&kind, item, calls, out);
            contents.calls = true;
        }
        _ => {
            builtin(&kind, item, calls, out)?;
            calls.join_early(out);
            contents.calls = true;
        }
    }
    Some(contents)
}

/// Returns true for a type that [`item`] translates.
pub(super) fn is_known(kind: &str) -> bool {
    const KINDS: &[&str] = &[
        "message",
        "reasoning",
        "compaction",
        "compaction_summary",
        "additional_tools",
        "item_reference",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_list_tools",
        "program",
    ];
    KINDS.contains(&kind) || kind.ends_with("_call") || kind.ends_with("_output")
}

/// Returns the id that results refer to.
pub(super) fn id(item: &Object<'_>) -> String {
    item.get("call_id")
        .str()
        .filter(|id| !id.is_empty())
        .map_or_else(|| item.get("id").string(), Cow::into_owned)
}

/// Returns the tool's name, with the server's name before it for a remote tool.
pub(super) fn name(item: &Object<'_>) -> String {
    let name = item.get("name").string();
    match item.get("server_label").str() {
        Some(server) if name.is_empty() => server.into_owned(),
        Some(server) => format!("{server}.{name}"),
        None => name,
    }
}

/// Emits a complete call.
pub(super) fn call(
    kind: &str,
    id: &str,
    name: &str,
    given: &str,
    calls: &mut Calls,
    out: &mut Emitter,
) {
    match kind {
        "custom_tool_call" => calls.call(id, name, &CallInput::Text(given), out),
        "mcp_call" => remote_call(id, name, given, out),
        "code_interpreter_call" => out.tool_use(Call {
            id,
            name: "code_interpreter",
            input: RawJson::of(&serde_json::json!({ "code": given })),
            ..Call::default()
        }),
        _ => calls.call(id, name, &CallInput::Arguments(given), out),
    }
}

fn message(item: &Object<'_>, block_ids: BlockIds<'_>, out: &mut Emitter) -> Contents {
    let mut contents = Contents::default();
    let content = item.get("content");
    let parts = if content.is_array() {
        content.array()
    } else {
        vec![content]
    };
    for (part, number) in parts.into_iter().zip(0..) {
        let block = block_ids.part(item, number);
        contents.refusal |= part.get("refusal").is_string();
        match (out.media(part), part_text(part)) {
            (Some(media), _) => out.text_media(block.as_deref(), media),
            (None, Some(text)) => out.text(block.as_deref(), text),
            (None, None) => out.unknown(&Frame::new(part.raw())),
        }
    }
    contents
}

/// Emits the summary, else the reasoning itself.
fn reasoning(item: &Object<'_>, block_ids: BlockIds<'_>, out: &mut Emitter) {
    let summary = item.get("summary").array();
    let parts = if summary.is_empty() {
        item.get("content").array()
    } else {
        summary
    };
    for (part, number) in parts.into_iter().zip(0..) {
        let block = block_ids.part(item, number);
        out.end_message();
        out.reasoning(block.as_deref(), part.get("text").payload());
    }
}

/// Built-in tools whose items contain more than their input.
const KNOWN: &[&str] = &[
    "web_search_call",
    "file_search_call",
    "image_generation_call",
    "computer_call",
    "local_shell_call",
    "shell_call",
    "tool_search_call",
];

/// Emits a call of a built-in tool; returns `None` for other items.
fn builtin(kind: &str, item: &Object<'_>, calls: &mut Calls, out: &mut Emitter) -> Option<()> {
    let id = id(item);
    match kind {
        "mcp_call" | "code_interpreter_call" => {
            let given = [item.get("arguments"), item.get("code")];
            let given = given.iter().map(|text| text.display()).collect::<String>();
            call(kind, &id, &name(item), &given, calls, out);
        }
        "mcp_list_tools" => out.tool_use(Call {
            id: &id,
            name: kind,
            category: Some(Category::Other),
            arg: item.get("server_label").str(),
            input: fields(item, &["server_label"]),
            title: "",
        }),
        "apply_patch_call" => apply_patch(&id, item.get("operation"), calls, out),
        "program" => out.tool_use(Call {
            id: &id,
            name: kind,
            category: Some(Category::Execute),
            input: fields(item, &["code"]),
            ..Call::default()
        }),
        _ => out.tool_use(Call {
            id: &id,
            name: kind.strip_suffix("_call")?,
            category: finds_in_page(item).then_some(Category::Search),
            arg: item.get("revised_prompt").str(),
            input: if KNOWN.contains(&kind) {
                input(item)
            } else {
                whole(item)
            },
            ..Call::default()
        }),
    }
    if let Some(outcome) = outcome(kind, item, out) {
        calls.finish(&id, outcome, out);
    }
    Some(())
}

/// Returns the input of a built-in tool.
fn input(item: &Object<'_>) -> Option<RawJson> {
    const KEYS: &[&str] = &[
        "action",
        "actions",
        "arguments",
        "queries",
        "revised_prompt",
        "size",
        "quality",
        "background",
        "output_format",
    ];
    let whole = [item.get("action"), item.get("arguments")];
    if let Some(input) = whole.into_iter().find(|input| input.is_object()) {
        return input.into();
    }
    fields(item, KEYS)
}

/// Returns true if the tool searches a page that is already open.
fn finds_in_page(item: &Object<'_>) -> bool {
    item.get("action").get("type").str().as_deref() == Some("find_in_page")
}

/// Returns the fields of an unknown tool, except those that every item has.
fn whole(item: &Object<'_>) -> Option<RawJson> {
    let keys: Vec<&str> = item
        .iter()
        .map(|(key, _)| key)
        .filter(|key| !matches!(*key, "id" | "type" | "call_id" | "status"))
        .collect();
    fields(item, &keys)
}

/// Copies these fields of an item.
fn fields(item: &Object<'_>, keys: &[&str]) -> Option<RawJson> {
    let members: Vec<String> = keys
        .iter()
        .map(|key| (key, item.get(key)))
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| format!("{}:{}", Value::from(*key), value.raw()))
        .collect();
    RawJson::new(&format!("{{{}}}", members.join(",")))
}

/// Returns the result of a tool that the server ran, if it is finished.
fn outcome(kind: &str, item: &Object<'_>, out: &Emitter) -> Option<Outcome> {
    let output = match kind {
        "web_search_call" => item.get("action").get("sources").payload(),
        "file_search_call" => item.get("results").payload(),
        "code_interpreter_call" => logs(item.get("outputs")),
        "image_generation_call" => Payload::default(),
        "mcp_call" => item.get("output").payload(),
        "mcp_list_tools" => item.get("tools").payload(),
        _ => return None,
    };
    let error = item.get("error");
    let status = match item.get("status").str().as_deref() {
        _ if !error.is_null() => ToolStatus::Error,
        Some("failed") => ToolStatus::Error,
        Some("completed") | None => ToolStatus::Ok,
        Some(_) => return None,
    };
    let message = error.get("message");
    let output = if error.is_null() {
        output
    } else if message.is_null() {
        error.payload()
    } else {
        message.payload()
    };
    let media = match kind {
        "image_generation_call" => generated(item.get("result"), out),
        "code_interpreter_call" => out.media_in(item.get("outputs")),
        _ => Vec::new(),
    };
    Some(Outcome {
        status,
        output,
        media,
        ..Outcome::default()
    })
}

/// Returns the picture that the server made.
fn generated(result: Json<'_>, out: &Emitter) -> Vec<Media> {
    let has_content = result.str().is_some_and(|result| !result.is_empty());
    let picture = has_content.then(|| out.media_string(result, "image/*"));
    picture.into_iter().collect()
}

/// Returns the output of a program without its pictures.
fn logs(outputs: Json<'_>) -> Payload {
    let outputs = outputs.array().into_iter();
    let texts: String = outputs.map(|output| output.get("logs").string()).collect();
    texts.into()
}

fn apply_patch(id: &str, operation: Json<'_>, calls: &mut Calls, out: &mut Emitter) {
    let fields = operation.object();
    let path = fields.get("path").string();
    let diff = fields.get("diff").string();
    let (category, edits) = match fields.get("type").str().as_deref() {
        Some("create_file") => (Category::Write, of_diff("Add", &path, &diff)),
        Some("delete_file") => (Category::Delete, vec![patch::deleted(&path, "")]),
        _ if diff.contains("@@ -") => (Category::Edit, patch::unified(&path, &diff)),
        _ => (Category::Edit, of_diff("Update", &path, &diff)),
    };
    calls.announce(id, edits);
    out.tool_use(Call {
        id,
        name: "apply_patch",
        category: Some(category),
        input: operation.into(),
        ..Call::default()
    });
}

/// Reads a diff without a header.
fn of_diff(operation: &str, path: &str, diff: &str) -> Vec<Edit> {
    patch::begin_patch(&format!("*** {operation} File: {path}\n{diff}"))
}

/// Emits a request for approval of a remote call.
fn approval_request(item: &Object<'_>, calls: &mut Calls, out: &mut Emitter) {
    let (id, title) = (item.get("id").string(), name(item));
    calls.ask(&id, &title);
    out.permission(Permission {
        id,
        title,
        ..Permission::default()
    });
}

fn approval_response(item: &Object<'_>, calls: &mut Calls, out: &mut Emitter) {
    let id = item.get("approval_request_id").string();
    let name = calls.asked(&id);
    let approved = item.get("approve").is_true();
    out.permission(Permission {
        id: id.clone(),
        title: name.clone(),
        outcome: if approved { "approve" } else { "reject" }.to_owned(),
        ..Permission::default()
    });
    if !approved {
        let outcome = Outcome {
            status: ToolStatus::Rejected,
            output: item.get("reason").payload(),
            name,
            ..Outcome::default()
        };
        calls.emit_result(&id, outcome, out);
    }
}

/// Emits the result of a call that the caller ran.
fn output(kind: &str, item: &Object<'_>, calls: &mut Calls, out: &mut Emitter) {
    let id = id(item);
    match kind {
        "shell_call_output" => calls.finish(&id, shell(item.get("output")), out),
        "apply_patch_call_output" => {
            let failed = item.get("status").str().as_deref() == Some("failed");
            let outcome = Outcome {
                status: status(!failed),
                output: item.get("output").payload(),
                ..Outcome::default()
            };
            calls.finish(&id, outcome, out);
        }
        // A picture of the screen.
        "computer_call_output" => {
            let media = out.media(item.get("output"));
            let outcome = Outcome {
                media: media.into_iter().collect(),
                ..Outcome::default()
            };
            calls.finish(&id, outcome, out);
        }
        _ => {
            let contents = [item.get("output"), item.get("result"), item.get("tools")];
            let content = contents.into_iter().find(|content| !content.is_null());
            calls.result(&id, "", content.unwrap_or(Json::NULL), out);
        }
    }
}

/// Joins the results of a call's commands: the first exit code other than 0
/// counts, and a command that never exited is a failure.
fn shell(outputs: Json<'_>) -> Outcome {
    let mut output = String::new();
    let mut code = Some(0);
    let mut ok = true;
    for command in outputs.array() {
        let fields = command.object();
        output.push_str(&fields.get("stdout").display());
        output.push_str(&fields.get("stderr").display());
        let exit = fields.get("outcome").get("exit_code").i64();
        if exit.is_none() {
            // The reason follows the output.
            end_line(&mut output);
            output.push_str(&fields.get("outcome").get("type").display());
            end_line(&mut output);
        }
        ok &= exit == Some(0);
        code = match (code, exit) {
            (Some(0), exit) => exit,
            (code, _) => code,
        };
    }
    if !outputs.is_array() {
        return Outcome {
            output: content_text(outputs),
            ..Outcome::default()
        };
    }
    Outcome {
        status: status(ok),
        output: output.into(),
        exit_code: code,
        ..Outcome::default()
    }
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn status(ok: bool) -> ToolStatus {
    if ok {
        ToolStatus::Ok
    } else {
        ToolStatus::Error
    }
}
