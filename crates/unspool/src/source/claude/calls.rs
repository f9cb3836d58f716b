//! Tool calls and their results.
//!
//! The status of a result depends on `is_error`, on the answer to the request for
//! permission, and on the text. The structured `tool_use_result` is large, so it
//! is read only for tools where it contains more.

use super::Claude;
use super::edits;
use super::wire::{Block, Line};
use crate::event::{Category, Payload, RawJson, ToolStatus};
use crate::json::Json;
use crate::recent::{RecentMap, RecentQueue, RecentSet};
use crate::source::{Call, Emitter, Outcome, media};

/// Open calls and requests that are remembered.
const REMEMBERED: usize = 256;

#[derive(Clone, Default)]
pub(super) struct Calls {
    /// Inputs needed to read the results.
    pub(super) inputs: RecentMap<String, RawJson, REMEMBERED>,
    pub(super) denied: RecentSet<String, REMEMBERED>,
    /// Calls whose request for permission was withdrawn.
    pub(super) withdrawn: RecentQueue<String, REMEMBERED>,
    /// Calls that open requests for permission are about.
    pub(super) asked: RecentMap<String, String, REMEMBERED>,
}

impl Claude {
    pub(super) fn call(&mut self, block: &Block<'_>, line: &Line<'_>, out: &mut Emitter) {
        let id = block.id.str().unwrap_or_default();
        let name = block.name.str().unwrap_or_default();
        let input: Option<RawJson> = block.input.into();
        if self.tasks.call(&id, &name, block.input) {
            out.withhold(Call {
                id: &id,
                name: &name,
                input,
                ..Call::default()
            });
            return;
        }
        let category = crate::source::category(&name);
        if matches!(category, Category::Edit | Category::Write)
            && let Some(input) = input.clone()
        {
            self.calls.inputs.insert(id.to_string(), input);
        }
        out.builtin_tool_use(Call {
            id: &id,
            name: &name,
            category: Some(category),
            arg: None,
            input,
            title: &headline(&id, line.call_meta),
        });
        if category == Category::Task {
            let depth = out.current_agent().map_or(0, |agent| agent.depth);
            self.agents.start(&id, block.input, depth);
        }
    }

    /// Emits a result. `alone` means that the line contains no other result, so that
    /// the fields beside the message belong to this one.
    pub(super) fn result_block(
        &mut self,
        block: &Block<'_>,
        line: &Line<'_>,
        alone: bool,
        out: &mut Emitter,
    ) {
        let id = block.call.str().unwrap_or_default();
        let details = if alone {
            line.tool_use_result
        } else {
            Json::NULL
        };
        let category = out.category_of(&id);
        let text = block
            .is_error
            .is_true()
            .then(|| content_text(block.content));
        let mut outcome = Outcome {
            status: match &text {
                Some(text) => self.failure(&id, &text.as_str(), line),
                None if is_interrupted(category, details) => ToolStatus::Canceled,
                None => ToolStatus::Ok,
            },
            media: out.media_in(block.content),
            ..Outcome::default()
        };
        if matches!(category, Some(Category::Execute) | None) {
            outcome.exit_code = text.as_ref().and_then(|text| exit_code(&text.as_str()));
        }
        if self.tasks.is_open(&id) {
            outcome.output = text.unwrap_or_else(|| content_text(block.content));
            self.task_result(&id, details, outcome, out);
            return;
        }
        outcome.output = text.unwrap_or_else(|| content_text(block.content));
        match category {
            Some(Category::Task) => {
                let agent = details.get("agentId").str().unwrap_or_default();
                if let Some(record) = self.agents.take(&agent) {
                    self.replay(&record.called_by(&id), out);
                }
                self.agent_result(&id, details, &mut outcome);
            }
            Some(Category::List | Category::Fetch) => {
                outcome.duration_ms = details.get("durationMs").u64();
            }
            Some(Category::Edit | Category::Write) | None => {
                let input = self.calls.inputs.remove(&*id);
                if outcome.status == ToolStatus::Ok {
                    let input = input.as_ref().map_or(Json::NULL, RawJson::json);
                    outcome.edits = edits::edits(details, input, &outcome.output);
                }
            }
            _ => {}
        }
        out.tool_result(&id, outcome);
    }

    /// Cancels calls whose request for permission was withdrawn and that got no
    /// result until the end of the turn.
    pub(super) fn stop_withdrawn(&mut self, out: &mut Emitter) {
        for call in self.calls.withdrawn.drain() {
            if out.is_open(&call) {
                let outcome = Outcome {
                    status: ToolStatus::Canceled,
                    ..Outcome::default()
                };
                out.tool_result(&call, outcome);
            }
        }
    }

    /// Returns the status of a failed call.
    fn failure(&mut self, id: &str, text: &str, line: &Line<'_>) -> ToolStatus {
        // Denied by a rule, without asking anybody.
        let refused = self.calls.denied.remove(id).is_some()
            || text.starts_with("Permission to use ")
            || text.starts_with("Claude requested permissions to ");
        let meta = line.result_meta.array();
        let meta = meta
            .iter()
            .find(|meta| meta.get("id").str().as_deref() == Some(id));
        let meta = meta.copied().unwrap_or_default().object();
        let decision = match line.permission.get("decision") {
            saved if saved.is_null() => meta.get("permission_decision").get("decision"),
            saved => saved,
        };
        let kind = match line.denial.str() {
            Some(kind) => kind.into_owned(),
            None => meta.get("non_execution_kind").string(),
        };
        let stopped = text.ends_with("Tool use aborted")
            || text.starts_with("[Request interrupted by user")
            || text.starts_with("The user doesn't want to take this action right now")
            || text.starts_with("<tool_use_error>Cancelled: ")
            // Without a decision nobody was asked: the running call was stopped.
            || (kind == "user-rejected" && decision.is_null() && !refused);
        if stopped {
            ToolStatus::Canceled
        } else if refused
            || !kind.is_empty()
            || decision.str().as_deref() == Some("reject")
            || text.starts_with("The user doesn't want to proceed with this tool use")
        {
            ToolStatus::Rejected
        } else {
            ToolStatus::Error
        }
    }

    /// Extracts a sub-agent's report from the text around it.
    fn agent_result(&mut self, call: &str, details: Json<'_>, outcome: &mut Outcome) {
        let fields = details.object();
        outcome.duration_ms = fields.get("totalDurationMs").u64();
        let reported: Vec<_> = fields
            .get("content")
            .array()
            .into_iter()
            .filter_map(|block| block.get("text").str())
            .filter(|text| !text.starts_with("<tools-used-before-summary>"))
            .collect();
        if !reported.is_empty() {
            outcome.output = reported.join("\n").into();
        } else if let Some(report) = handed_back(&outcome.output.as_str()) {
            outcome.output = report.into();
        }
        if fields.get("status").str().as_deref() != Some("async_launched") {
            self.agents.end(call);
        }
    }
}

/// Returns the display name of a call.
fn headline(id: &str, meta: Json<'_>) -> String {
    let meta = meta.array();
    let meta = meta
        .iter()
        .find(|meta| meta.get("id").str().as_deref() == Some(id));
    meta.map(|meta| meta.get("display_name").string())
        .unwrap_or_default()
}

/// Returns the output of a tool: a string, or the texts of several blocks.
/// Pictures have no text.
fn content_text(content: Json<'_>) -> Payload {
    if !content.is_array() {
        return content.payload();
    }
    let blocks = content.array();
    let is_kind = |block: &Json<'_>, kind: &str| block.get("type").str().as_deref() == Some(kind);
    let mut texts = blocks.iter().filter(|block| is_kind(block, "text"));
    match (texts.next(), texts.next()) {
        (Some(only), None) => only.get("text").payload(),
        (Some(_), Some(_)) => {
            let texts = blocks.iter().filter(|block| is_kind(block, "text"));
            let texts: Vec<_> = texts.map(|block| block.get("text").string()).collect();
            texts.join("\n").into()
        }
        _ if blocks.iter().all(|block| media::is_media(*block)) => Payload::default(),
        _ => content.payload(),
    }
}

/// Returns true if a command without an error was interrupted. The field is one
/// of the last, so only the end is searched.
fn is_interrupted(category: Option<Category>, details: Json<'_>) -> bool {
    const TAIL: usize = 512;
    if category != Some(Category::Execute) {
        return false;
    }
    let bytes = details.raw().as_bytes();
    let tail = bytes
        .get(bytes.len().saturating_sub(TAIL)..)
        .unwrap_or(bytes);
    let key = br#""interrupted""#;
    let value = memchr::memmem::rfind(tail, key).and_then(|at| tail.get(at + key.len()..));
    let value = value.and_then(|rest| rest.trim_ascii_start().strip_prefix(b":"));
    value.is_some_and(|value| value.trim_ascii_start().starts_with(b"true"))
}

/// Reads `Exit code N`, the first line of a failed command's output.
fn exit_code(text: &str) -> Option<i64> {
    let line = text.lines().next()?;
    line.strip_prefix("Exit code ")?.trim_end().parse().ok()
}

/// Extracts the report of a nested agent: the indented lines after the heading.
fn handed_back(text: &str) -> Option<String> {
    let mut lines = text.lines();
    lines.find(|line| line.starts_with("[Subagent hand-back]"))?;
    let report: Vec<&str> = lines.map_while(|line| line.strip_prefix("  ")).collect();
    (!report.is_empty()).then(|| report.join("\n"))
}
