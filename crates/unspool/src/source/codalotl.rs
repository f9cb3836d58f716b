//! codalotl: the JSON lines of its headless mode.
//!
//! Messages and calls are not streamed. Only `tool_call` contains a call's input;
//! its result follows as `tool_complete`. `done`, `error` and `canceled` of the
//! root agent end the turn; those of a sub-agent only report its end. The wire does
//! not contain the call that started a sub-agent.
//!
//! Results are kept verbatim, except for the JSON object of the tools (`success`,
//! `error`, `content`), whose text is extracted. The header of a shell command and
//! the tag around test output are part of that text; exit code, duration and
//! failure are read from them.

use std::borrow::Cow;
use std::sync::Arc;

use super::edits::{self, Pending};
use super::usage::{Names, add};
use super::{Call, Emitter, Outcome, Probe, Provider, Source, ToolNames};
use crate::event::{
    Agent, Category, Level, Payload, Permission, RawJson, Session, ToolStatus, TurnEnd, TurnStatus,
    Usage,
};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::tool::status::{Status, statuses};

pub(crate) const PROVIDER: Provider =
    Provider::new("codalotl", recognise, || Box::<Codalotl>::default())
        .with_about("codalotl's headless mode")
        .with_example("codalotl exec --json \"fix the failing test\" | unspool events")
        .with_tools(TOOLS);

const TOOLS: ToolNames = &[
    (
        Category::Read,
        &[
            "get_public_api",
            "clarify_public_api",
            "get_usage",
            "module_info",
        ],
    ),
    (Category::Edit, &["update_usage", "change_api"]),
    (
        Category::Execute,
        &[
            "skill_shell",
            "run_tests",
            "run_project_tests",
            "diagnostics",
            "fix_lints",
            "codalotl_cli",
        ],
    ),
    (
        Category::Task,
        &[
            "review",
            "implement",
            "review_spec_changes",
            "check_spec_conformance",
            "refactor",
        ],
    ),
];

fn recognise(probe: &Probe<'_>) -> bool {
    let agent = probe.fields.get("agent").get("depth").i64().is_some();
    let tool = probe.fields.get("tool").get("call_id").is_string();
    match probe.str("type").as_str() {
        "start" => probe.has(&["cwd", "model_id"]),
        "user_message" => {
            probe
                .fields
                .iter()
                .all(|(key, _)| matches!(key, "type" | "agent" | "text"))
                && probe.has(&["text"])
        }
        "assistant_text" | "assistant_reasoning" => agent && probe.has(&["content"]),
        "tool_call" | "tool_output" | "tool_complete" => agent && tool,
        "permission" => probe.has(&["prompt", "decision"]),
        "warning" | "retry" | "error" | "canceled" => agent && probe.has(&["message"]),
        "done" => probe.fields.get("token_usage").is_object(),
        _ => false,
    }
}

#[derive(Clone, Default)]
struct Codalotl {
    introduced: bool,
    edits: Pending,
    /// A permission was denied, and its call has no result yet.
    refused: bool,
}

impl Source for Codalotl {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        let Some(json) = frame.json().filter(|json| json.is_object()) else {
            out.unknown(frame);
            return;
        };
        let fields = json.object();
        let kind = fields.get("type").string();
        if kind != "start" {
            self.introduce(&fields, out);
        }
        out.agent(agent(fields.get("agent")));
        match kind.as_str() {
            "start" => self.start(&fields, out),
            "user_message" => out.user(fields.get("text").payload(), false),
            "assistant_text" => out.text(None, fields.get("content").payload()),
            "assistant_reasoning" => out.reasoning(None, fields.get("content").payload()),
            "tool_call" => self.call(&fields.get("tool").object(), out),
            "tool_output" => {
                let id = fields.get("tool").get("call_id").string();
                out.tool_output(&id, fields.get("content").payload());
            }
            "tool_complete" => self.complete(&fields, out),
            "permission" => self.permission(&fields, out),
            "warning" => out.notice(Level::Warning, fields.get("message").payload()),
            "retry" => out.notice(Level::Retry, fields.get("message").payload()),
            "error" => self.end(Level::Error, TurnStatus::Failed, &fields, out),
            "canceled" => self.end(Level::Canceled, TurnStatus::Canceled, &fields, out),
            "done" => self.done(&fields, out),
            _ => out.unknown(frame),
        }
    }
}

impl Codalotl {
    fn start(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        self.introduced = false;
        self.introduce(fields, out);
        out.open_turn();
        let package = fields.get("package_path");
        if package.str().is_some_and(|path| !path.is_empty()) {
            out.state("package_path", package);
        }
    }

    fn introduce(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        if std::mem::replace(&mut self.introduced, true) {
            return;
        }
        out.session(Session {
            provider: PROVIDER.name.to_owned(),
            model: fields.get("model_id").string(),
            cwd: fields.get("cwd").string(),
            ..Session::default()
        });
    }

    fn call(&mut self, tool: &Object<'_>, out: &mut Emitter) {
        let id = tool.get("call_id").string();
        let name = tool.get("name").string();
        let input = input(tool.get("input"));
        let json = input.as_ref().map_or(Json::NULL, RawJson::json);
        let changes = edits::announced(crate::source::category(&name), json);
        self.edits.insert(&id, changes);
        out.tool_use(Call {
            id: &id,
            name: &name,
            arg: package(json).map(Cow::Owned),
            input,
            ..Call::default()
        });
    }

    fn complete(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let tool = fields.get("tool").object();
        let id = tool.get("call_id").string();
        let mut outcome = outcome(fields.get("result"));
        if outcome.status == ToolStatus::Error
            && outcome.exit_code.is_none()
            && std::mem::take(&mut self.refused)
        {
            outcome.status = ToolStatus::Rejected;
        }
        let changes = self.edits.take(&id);
        if outcome.status == ToolStatus::Ok {
            outcome.edits = changes;
        }
        outcome.name = tool.get("name").string();
        out.tool_result(&id, outcome);
    }

    /// Emits a permission with its answer. It does not name its call, which is the one
    /// that ends next, with an error if permission was denied.
    fn permission(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let decision = fields.get("decision").string();
        self.refused = decision == "disallow";
        out.permission(Permission {
            title: fields.get("prompt").string(),
            outcome: decision,
            ..Permission::default()
        });
    }

    fn end(&mut self, level: Level, status: TurnStatus, fields: &Object<'_>, out: &mut Emitter) {
        out.notice(level, fields.get("message").payload());
        if out.current_agent().is_some() {
            return;
        }
        self.refused = false;
        out.turn_end(TurnEnd {
            status,
            ..TurnEnd::default()
        });
    }

    fn done(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        out.usage(usage(&fields.get("token_usage").object()));
        self.refused = false;
        if out.is_turn_open() {
            out.turn_end(TurnEnd::default());
        }
    }
}

fn agent(agent: Json<'_>) -> Option<Arc<Agent>> {
    let fields = agent.object();
    let depth = fields.get("depth").u64().filter(|depth| *depth > 0)?;
    Some(Arc::new(Agent {
        id: fields.get("id").string(),
        depth: u32::try_from(depth).unwrap_or(u32::MAX),
        ..Agent::default()
    }))
}

/// Returns the package of a call, from the fields of older versions.
fn package(input: Json<'_>) -> Option<String> {
    let fields = input.object();
    let keys = ["defining_package", "package"];
    let mut older = keys.iter().filter_map(|key| fields.get(key).str());
    let package = older.find(|package| !package.is_empty())?;
    let is_newer = fields.has("defining_package_path");
    (!is_newer).then(|| package.into_owned())
}

/// Decodes the input if it is JSON; a patch stays text.
fn input(input: Json<'_>) -> Option<RawJson> {
    let text = input.str();
    if input.is_null() || text.as_deref().is_some_and(|text| text.trim().is_empty()) {
        return None;
    }
    text.as_deref()
        .filter(|text| text.trim_start().starts_with('{'))
        .and_then(RawJson::new)
        .or_else(|| input.into())
}

/// Reads the session's totals so far. `total` includes all input, cached or not,
/// and all output.
fn usage(tokens: &Object<'_>) -> Usage {
    const NAMES: Names = Names {
        input: &["input"],
        output: &["output"],
        cached: &["cached_input"],
        reasoning: &[],
    };
    let mut usage = NAMES.read(tokens);
    let total = tokens.get("total").u64();
    let read = total
        .zip(usage.output_tokens)
        .and_then(|(total, output)| total.checked_sub(output));
    match read {
        Some(_) => usage.input_tokens = read,
        None => add(&mut usage.input_tokens, usage.cached_tokens),
    }
    Usage {
        cumulative: true,
        ..usage
    }
}

/// Reads the result of a call. Its status comes from the agent, the tools' object,
/// the tag around the text, or the exit code in a shell's header.
fn outcome(result: Json<'_>) -> Outcome {
    let fields = result.object();
    let whole = fields.get("output");
    let Unwrapped {
        output,
        failed,
        exit_code,
    } = unwrapped(whole).unwrap_or_else(|| whole.payload().into());
    let text = output.as_str();
    let mut header = Header::of(&text);
    header.exit_code = header.exit_code.or(exit_code);
    let failed = failed
        || fields.get("is_error").is_true()
        || is_marked_failed(&text)
        || header.exit_code.is_some_and(|code| code != 0);
    Outcome {
        status: if failed {
            ToolStatus::Error
        } else {
            ToolStatus::Ok
        },
        exit_code: header.exit_code,
        duration_ms: header.duration_ms,
        output: text.into(),
        ..Outcome::default()
    }
}

/// The text inside a result.
struct Unwrapped {
    output: Payload,
    failed: bool,
    exit_code: Option<i64>,
}

impl From<Payload> for Unwrapped {
    fn from(output: Payload) -> Self {
        Self {
            output,
            failed: false,
            exit_code: None,
        }
    }
}

/// Returns the text of `{"success":…,"error":…,"content":…}`, or of a command in
/// `{"success":…,"exit_code":…,"stdout":…,"stderr":…}`; `None` for any other value.
fn unwrapped(output: Json<'_>) -> Option<Unwrapped> {
    let text = output.str()?;
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let fields = Json::parse(&text)?.object();
    if fields.has("exit_code") && fields.has("stdout") {
        let streams = [fields.get("stdout"), fields.get("stderr")];
        return Some(Unwrapped {
            output: streams.map(Json::string).concat().into(),
            failed: fields.get("success").bool() == Some(false),
            exit_code: fields.get("exit_code").i64(),
        });
    }
    let known = |key: &str| matches!(key, "success" | "error" | "content");
    if fields.is_empty() || !fields.iter().all(|(key, _)| known(key)) {
        return None;
    }
    let error = fields.get("error").display();
    let content = fields.get("content");
    let failed = fields.get("success").bool() == Some(false) || !error.trim().is_empty();
    let text = if error.trim().is_empty() {
        content.payload()
    } else if content.display().is_empty() {
        error.into()
    } else {
        format!("{error}\n{}", content.display()).into()
    };
    Some(Unwrapped {
        failed,
        ..text.into()
    })
}

/// Returns true if the text starts with a tag with `ok="false"`, or if one of its
/// checks failed.
fn is_marked_failed(text: &str) -> bool {
    let is_failed = |status: &Status<'_>| status.ok == Some(false);
    if statuses(text).iter().any(is_failed) {
        return true;
    }
    text.trim_start()
        .strip_prefix('<')
        .and_then(|rest| rest.split_once('>'))
        .is_some_and(|(tag, _)| tag.contains("ok=\"false\""))
}

/// The header of a command's output, up to the line `Output:`.
#[derive(Default)]
struct Header {
    exit_code: Option<i64>,
    duration_ms: Option<u64>,
}

impl Header {
    fn of(text: &str) -> Self {
        let mut header = Self::default();
        if !text.starts_with("Command: ") {
            return header;
        }
        for line in text.lines().take_while(|line| line.trim() != "Output:") {
            if let Some(state) = line.strip_prefix("Process State: ") {
                header.exit_code = state
                    .strip_prefix("exit status ")
                    .and_then(|code| code.trim().parse().ok());
            } else if let Some(code) = line.strip_prefix("Code: ") {
                header.exit_code = code.trim().parse().ok();
            } else if let Some(duration) = line.strip_prefix("Duration: ") {
                header.duration_ms = milliseconds(duration.trim());
            }
        }
        header
    }
}

/// Reads a duration such as `240ms`, `1.5s` or `1m2.25s`.
fn milliseconds(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at_checked(digits)?;
        let letters = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(letters)?;
        let factor = match unit {
            "h" => 3_600_000.0,
            "m" => 60_000.0,
            "s" => 1000.0,
            "ms" => 1.0,
            "us" | "µs" | "μs" => 0.001,
            "ns" => 0.000_001,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * factor;
        rest = tail;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and a cast of too much stays at the limit"
    )]
    Some(total.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Body, Event};
    use crate::source::testing::{self, kinds};

    fn events(lines: &[&str]) -> Vec<Event> {
        testing::events(&PROVIDER, &lines.join("\n"))
    }

    fn complete(output: &str) -> (ToolStatus, Option<i64>, String) {
        let result = serde_json::json!({ "output": output, "is_error": false }).to_string();
        let outcome = outcome(Json::parse(&result).unwrap());
        (
            outcome.status,
            outcome.exit_code,
            outcome.output.to_string(),
        )
    }

    #[test]
    fn results_are_unwrapped() {
        let ok = complete(r#"{"success":true,"content":"fine"}"#);
        assert_eq!(ok, (ToolStatus::Ok, None, "fine".into()));
        let failed = complete(r#"{"success":false,"error":"no such file"}"#);
        assert_eq!(failed, (ToolStatus::Error, None, "no such file".into()));
        let other = complete(r#"{"success":true,"packages":[]}"#);
        assert_eq!(other.2, r#"{"success":true,"packages":[]}"#);
        let tests = complete("<test-status ok=\"false\">\n$ go test .\n</test-status>");
        assert_eq!(tests.0, ToolStatus::Error);
        assert_eq!(complete("a < b ok=\"false\" >").0, ToolStatus::Ok);
    }

    #[test]
    fn the_package_of_a_call_in_every_version() {
        let call = |input: &str| {
            let tool = serde_json::json!({"call_id": "c", "name": "get_usage", "input": input});
            let line =
                serde_json::json!({"type": "tool_call", "agent": {"depth": 0}, "tool": tool});
            let events = events(&[&line.to_string()]);
            match &events[1].body {
                Body::ToolUse(call) => call.arg.clone(),
                _ => String::new(),
            }
        };
        assert_eq!(
            call(r#"{"defining_package_path":"a","identifier":"X"}"#),
            "a"
        );
        assert_eq!(call(r#"{"defining_package":"b","identifier":"X"}"#), "b");
        assert_eq!(call(r#"{"package":"c","identifier":"X"}"#), "c");
        assert_eq!(call(r#"{"import_path":"d","identifier":"X"}"#), "d");
    }

    #[test]
    fn a_shell_header_contains_code_and_duration() {
        let text = "Command: go vet\nProcess State: exit status 2\nTimeout: false\nDuration: 1m2.5s\nOutput:\nCode: 0\n";
        let wrapped = serde_json::json!({ "success": true, "content": text }).to_string();
        assert_eq!(
            complete(&wrapped),
            (ToolStatus::Error, Some(2), text.into())
        );
        assert_eq!(Header::of(text).duration_ms, Some(62_500));
        assert_eq!(milliseconds("871.3µs"), Some(1));
        assert_eq!(milliseconds("soon"), None);
        assert_eq!(complete("Process State: exit status 2\n").1, None);
    }

    #[test]
    fn input_tokens_include_cached_ones() {
        let read = |text| usage(&Json::parse(text).unwrap().object()).input_tokens;
        let apart = r#"{"input":10042,"cached_input":32000,"output":1043,"total":43085}"#;
        assert_eq!(read(apart), Some(42_042));
        let within = r#"{"input":100,"cached_input":40,"output":20,"total":120}"#;
        assert_eq!(read(within), Some(100));
        assert_eq!(read(r#"{"input":1,"cached_input":2}"#), Some(3));
        assert_eq!(read("{}"), None);
    }

    #[test]
    fn errors_of_a_sub_agent_do_not_end_the_turn() {
        let events = events(&[
            r#"{"type":"error","agent":{"id":"b","depth":1},"message":"x"}"#,
            r#"{"type":"canceled","agent":{"id":"r","depth":0},"message":"y"}"#,
        ]);
        assert_eq!(kinds(&events), ["session", "notice", "notice", "turn_end"]);
        assert_eq!(events[1].depth(), 1);
        assert!(
            matches!(&events[3].body, Body::TurnEnd(end) if end.status == TurnStatus::Canceled)
        );
    }

    #[test]
    fn a_denied_call_is_rejected_and_has_no_edits() {
        let events = events(&[
            r#"{"type":"tool_call","agent":{"id":"r","depth":0},"tool":{"call_id":"1","name":"delete","input":"{\"path\":\"f\"}"}}"#,
            r#"{"type":"permission","prompt":"Allow?","decision":"disallow","automatic":true}"#,
            r#"{"type":"tool_complete","agent":{"id":"r","depth":0},"tool":{"call_id":"1","name":"delete"},"result":{"output":"denied","is_error":true}}"#,
        ]);
        let Body::ToolResult(result) = &events[3].body else {
            panic!("{events:?}")
        };
        assert_eq!(result.status, ToolStatus::Rejected);
        assert!(result.edits.is_empty());
        assert_eq!(events.last().unwrap().body.kind(), "turn_end");
    }

    #[test]
    fn unknown_and_mistyped_lines_are_kept() {
        let events = events(&[
            r#"{"type":"assistant_text","agent":7,"content":["a"]}"#,
            r#"{"type":"tool_complete","agent":{},"tool":"x","result":null}"#,
            r#"{"type":"telepathy"}"#,
            "[1",
        ]);
        assert_eq!(
            kinds(&events),
            [
                "session",
                "text",
                "tool_result",
                "unknown",
                "unknown",
                "turn_end"
            ]
        );
    }
}
