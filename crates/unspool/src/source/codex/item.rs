//! Thread items: commands, file changes, calls of MCP tools and of other
//! agents, searches. `exec --json` writes them in snake case, the app-server in
//! camel case, session files in Pascal case with snake-case fields. Before 0.44
//! `exec` called the type `item_type` and an answer `assistant_message`. All are
//! read here.
//!
//! A call gives one `tool_use` when it starts (or is first seen) and one
//! `tool_result` when it is completed.

use std::borrow::Cow;
use std::collections::HashSet;

use super::change;
use crate::event::{Category, Media, Payload, RawJson, ToolStatus};
use crate::json::{Json, Object};
use crate::source::{Call, Emitter, Outcome, media};

/// One item.
pub(super) struct Item<'a> {
    /// Its type in snake case.
    pub(super) kind: String,
    /// Its id; the first one if the key is repeated.
    pub(super) id: String,
    fields: Object<'a>,
}

impl<'a> Item<'a> {
    pub(super) fn new(json: Json<'a>) -> Self {
        let fields = json.object();
        Self {
            kind: kind(&fields),
            id: fields.get("id").display().into_owned(),
            fields,
        }
    }

    pub(super) fn get(&self, key: &str) -> Json<'a> {
        self.fields.get(key)
    }

    fn either(&self, snake: &str, camel: &str) -> Json<'a> {
        let value = self.fields.get(snake);
        if value.is_null() {
            self.fields.get(camel)
        } else {
            value
        }
    }

    /// Returns true if the item is a call.
    pub(super) fn is_call(&self) -> bool {
        self.is_collaboration()
            || matches!(
                self.kind.as_str(),
                "command_execution"
                    | "file_change"
                    | "mcp_tool_call"
                    | "sub_agent_activity"
                    | "web_search"
                    | "image_view"
                    | "image_generation"
                    | "dynamic_tool_call"
            )
    }

    /// Returns true for a call between agents, whatever its tool.
    fn is_collaboration(&self) -> bool {
        self.kind.starts_with("collab_")
    }

    /// Returns the text of a message, reasoning or plan.
    pub(super) fn text(&self) -> Payload {
        let text = self.get("text");
        if !text.is_null() {
            return text.payload();
        }
        match self.kind.as_str() {
            // The summary is preferred to the raw reasoning.
            "reasoning" => {
                let summary = strings(self.either("summary_text", "summary"));
                let raw = || strings(self.either("raw_content", "content"));
                let parts = if summary.is_empty() { raw() } else { summary };
                parts.join("\n").into()
            }
            _ => texts(self.get("content"), "\n").into(),
        }
    }

    /// Returns the threads of the agents that a call started or addressed.
    pub(super) fn agents(&self) -> Vec<String> {
        let receivers = self.either("receiver_thread_ids", "receiverThreadIds");
        let one = self.either("agent_thread_id", "agentThreadId");
        receivers
            .array()
            .into_iter()
            .chain([one])
            .filter_map(|id| id.str().map(Cow::into_owned))
            .collect()
    }

    /// Returns true if the call started an agent.
    pub(super) fn starts_agent(&self) -> bool {
        match self.kind.as_str() {
            "sub_agent_activity" => self.get("kind").string() == "started",
            _ => snake_case(&self.get("tool").string()) == "spawn_agent",
        }
    }

    /// Returns true for the end of an agent, which no call caused.
    pub(super) fn is_report(&self) -> bool {
        self.kind == "sub_agent_activity" && is_report(&self.get("kind").string())
    }

    /// Returns true for a search whose query is not known yet.
    fn is_blank_search(&self) -> bool {
        self.kind == "web_search" && self.get("query").string().trim().is_empty()
    }

    /// Emits the call.
    pub(super) fn begin(&self, out: &mut Emitter) {
        let tool = self.get("tool").string();
        let mut name = self.kind.clone();
        let mut category = None;
        let mut arg = None;
        let input = match self.kind.as_str() {
            "command_execution" => self.pick(&["command", "cwd"]),
            "file_change" => {
                arg = Some(change::first_path(self.get("changes")).into());
                category = Some(change::category(&change::edits(self.get("changes"))));
                self.pick(&["changes"])
            }
            "mcp_tool_call" => {
                name = mcp_name(&self.get("server").string(), &tool);
                category = Some(mcp_category(&tool));
                self.get("arguments").into()
            }
            _ if self.is_collaboration() => {
                if !tool.is_empty() {
                    name = snake_case(&tool);
                }
                category = Some(Category::Task);
                self.pick(&["prompt", "receiver_thread_ids", "receiverThreadIds"])
            }
            "sub_agent_activity" => {
                activity_tool(&self.get("kind").string()).clone_into(&mut name);
                category = Some(Category::Task);
                let path = self.either("agent_path", "agentPath").string();
                arg = Some(agent_name(&path).to_owned().into());
                self.pick(&["kind", "agent_path", "agentPath"])
            }
            "web_search" => self.pick(&["query", "action"]),
            "image_view" => {
                category = Some(Category::Read);
                self.pick(&["path"])
            }
            "image_generation" => {
                arg = self.either("revised_prompt", "revisedPrompt").str();
                self.pick(&["revised_prompt", "revisedPrompt"])
            }
            _ => {
                name = tool;
                self.get("arguments").into()
            }
        };
        out.tool_use(Call {
            id: &self.id,
            name: &name,
            category,
            arg,
            input,
            title: "",
        });
    }

    /// Emits the result of the call.
    pub(super) fn end(&self, out: &mut Emitter) {
        let exit_code = self.either("exit_code", "exitCode").i64();
        let status = self.status(exit_code);
        let edits = match status {
            ToolStatus::Ok => change::edits(self.get("changes")),
            _ => Vec::new(),
        };
        let duration = self.either("duration", "durationMs");
        out.tool_result(
            &self.id,
            Outcome {
                status,
                output: self.output(status),
                exit_code,
                edits,
                duration_ms: duration_ms(duration),
                media: self.media(out),
                ..Outcome::default()
            },
        );
    }

    /// Returns the pictures, sounds and files of a message or a result.
    pub(super) fn media(&self, out: &Emitter) -> Vec<Media> {
        match self.kind.as_str() {
            "user_message" => out.media_in(self.get("content")),
            "mcp_tool_call" => out.media_in(self.get("result").get("content")),
            "dynamic_tool_call" => out.media_in(self.either("content_items", "contentItems")),
            "image_generation" => generated_picture(self.get("result"), out),
            _ => Vec::new(),
        }
    }

    fn status(&self, exit_code: Option<i64>) -> ToolStatus {
        match self.get("status").string().as_str() {
            "declined" => ToolStatus::Rejected,
            "interrupted" | "canceled" | "cancelled" => ToolStatus::Canceled,
            "failed" => ToolStatus::Error,
            _ if exit_code.is_some_and(|code| code != 0) => ToolStatus::Error,
            _ => ToolStatus::Ok,
        }
    }

    fn output(&self, status: ToolStatus) -> Payload {
        match self.kind.as_str() {
            "command_execution" => self
                .either("aggregated_output", "aggregatedOutput")
                .payload(),
            "file_change" => {
                let said = self.get(if status == ToolStatus::Ok {
                    "stdout"
                } else {
                    "stderr"
                });
                said.payload()
            }
            "mcp_tool_call" => match self.get("error") {
                error if error.is_null() => mcp_text(self.get("result")).into(),
                error => message(error).into(),
            },
            _ if self.is_collaboration() => {
                answers(self.either("agents_states", "agentsStates")).into()
            }
            "dynamic_tool_call" => texts(self.either("content_items", "contentItems"), "\n").into(),
            _ => Payload::default(),
        }
    }

    fn pick(&self, keys: &[&str]) -> Option<RawJson> {
        pick(&self.fields, keys)
    }
}

/// Open calls.
#[derive(Clone, Default)]
pub(super) struct Calls {
    open: HashSet<String>,
    /// Searches that started without a query.
    held: Vec<String>,
}

impl Calls {
    pub(super) fn started(&mut self, item: &Item<'_>, out: &mut Emitter) {
        if item.is_blank_search() {
            self.held.push(item.id.clone());
        } else if self.open.insert(item.id.clone()) {
            item.begin(out);
        }
    }

    pub(super) fn completed(&mut self, item: &Item<'_>, out: &mut Emitter) {
        self.held.retain(|id| *id != item.id);
        if !self.open.remove(&item.id) {
            item.begin(out);
        }
        item.end(out);
    }

    /// Returns true if no call is open.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.held.is_empty()
    }

    /// Emits searches that never got a query, at the end of the turn.
    pub(super) fn release(&mut self, out: &mut Emitter) {
        for id in std::mem::take(&mut self.held) {
            out.tool_use(Call {
                id: &id,
                name: "web_search",
                ..Call::default()
            });
        }
    }
}

/// Returns the type of an item in snake case.
fn kind(fields: &Object<'_>) -> String {
    let named = fields.get("type");
    let named = if named.is_string() {
        named
    } else {
        fields.get("item_type")
    };
    match snake_case(&named.string()) {
        kind if kind == "assistant_message" => "agent_message".to_owned(),
        kind => kind,
    }
}

/// Returns true for a kind of activity that only reports the end of an agent.
pub(in crate::source) fn is_report(activity: &str) -> bool {
    activity == "completed"
}

/// Returns the tool whose call an activity shows. Two tools interact with an
/// agent, so neither is named.
pub(in crate::source) fn activity_tool(activity: &str) -> &'static str {
    match activity {
        "started" => "spawn_agent",
        "interrupted" => "interrupt_agent",
        _ => "sub_agent_activity",
    }
}

/// Returns the last name in a path of agents: `/root/NAME`.
pub(super) fn agent_name(path: &str) -> &str {
    match path.strip_prefix("/root/") {
        Some(below) => below.rsplit('/').next().unwrap_or(below),
        None => path,
    }
}

/// Copies fields of an object verbatim, except those that are null.
pub(super) fn pick(fields: &Object<'_>, keys: &[&str]) -> Option<RawJson> {
    let picked: Vec<String> = keys
        .iter()
        .map(|key| (key, fields.get(key)))
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| format!("\"{key}\":{}", value.raw()))
        .collect();
    RawJson::new(&format!("{{{}}}", picked.join(",")))
}

/// Returns the picture that the image tool made: base64, or an address.
pub(super) fn generated_picture(result: Json<'_>, out: &Emitter) -> Vec<Media> {
    let has_content = result.str().is_some_and(|result| !result.is_empty());
    let picture = has_content.then(|| out.media_string(result, "image/*"));
    picture.into_iter().collect()
}

/// Returns the name of an MCP tool.
pub(super) fn mcp_name(server: &str, tool: &str) -> String {
    if server.is_empty() {
        tool.to_owned()
    } else {
        format!("{server}.{tool}")
    }
}

/// Returns the category of an MCP tool. Only the tools of Codex are known by name.
pub(in crate::source) fn mcp_category(tool: &str) -> Category {
    match tool {
        "list_mcp_resources" | "list_mcp_resource_templates" | "read_mcp_resource" => {
            Category::Read
        }
        _ => Category::Other,
    }
}

/// Returns the output of an MCP tool: its texts, else its structured content.
/// Pictures have no text.
pub(super) fn mcp_text(result: Json<'_>) -> String {
    let fields = result.object();
    let content = fields.get("content");
    let said = texts(content, "\n");
    if !said.is_empty() {
        return said;
    }
    let is_media = |part: &Json<'_>| media::is_media(*part);
    let rest = if content.is_array() && content.array().iter().all(is_media) {
        Json::NULL
    } else {
        content
    };
    [
        fields.get("structured_content"),
        fields.get("structuredContent"),
        rest,
    ]
    .into_iter()
    .find(|value| !value.is_null() && value.raw() != "[]")
    .map(|value| value.display().into_owned())
    .unwrap_or_default()
}

/// Returns the message of an error, which may be a plain string.
pub(super) fn message(error: Json<'_>) -> String {
    match error.get("message") {
        message if message.is_null() => error.display().into_owned(),
        message => message.display().into_owned(),
    }
}

/// Joins the `text` of all parts of a message. A part that starts with a newline
/// gets no separator.
pub(super) fn texts(parts: Json<'_>, separator: &str) -> String {
    let mut joined = String::new();
    let parts = parts.array();
    let texts = parts.iter().filter_map(|part| part.get("text").str());
    for (index, text) in texts.enumerate() {
        if index > 0 && !joined.ends_with('\n') {
            joined.push_str(separator);
        }
        joined.push_str(&text);
    }
    joined
}

fn strings(list: Json<'_>) -> Vec<String> {
    let items = list.array();
    items
        .iter()
        .filter_map(|item| item.str().map(Cow::into_owned))
        .collect()
}

/// Joins the answers of agents: `{"ID":{"status":…,"message":"…"}}`, or
/// `{"ID":{"completed":"…"}}` in session files.
fn answers(states: Json<'_>) -> String {
    let states = states.object();
    let said = states.iter().filter_map(|(_, state)| {
        let fields = state.object();
        ["message", "completed", "errored"]
            .iter()
            .find_map(|key| fields.get(key).str())
    });
    said.collect::<Vec<_>>().join("\n")
}

/// Reads `{"secs","nanos"}` or milliseconds.
pub(super) fn duration_ms(duration: Json<'_>) -> Option<u64> {
    if !duration.is_object() {
        return duration.u64();
    }
    let fields = duration.object();
    let seconds = fields.get("secs").u64()?;
    let nanos = fields.get("nanos").u64().unwrap_or(0);
    Some(
        seconds
            .saturating_mul(1000)
            .saturating_add(nanos / 1_000_000),
    )
}

/// Converts `CommandExecution` and `commandExecution` to `command_execution`.
pub(super) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_snake_case() {
        assert_eq!(snake_case("CommandExecution"), "command_execution");
        assert_eq!(snake_case("mcpToolCall"), "mcp_tool_call");
        assert_eq!(snake_case("todo_list"), "todo_list");
    }
}
