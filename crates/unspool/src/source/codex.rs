//! Codex, in four forms:
//!
//! - `exec`: the lines of `codex exec --json` (`thread.*`, `turn.*`, `item.*`);
//! - `legacy`: the `{"id","msg"}` lines that `--json` printed before;
//! - `rollout`: session files, including those of sub-agents;
//! - `appserver`: the messages of `codex app-server`, alone or as a log of
//!   both directions.
//!
//! Each form has its own state. A frame that no form recognises belongs to the
//! form of the frame before it. `item`, `change` and `usage` read what the forms
//! share in different spellings.

use super::{Chat, Emitter, Headless, Probe, Provider, Source, ToolNames};
use crate::event::{Category, TurnEnd, TurnStatus};
use crate::frame::Frame;
use crate::json::{Json, Object};
use appserver::AppServer;
use exec::Exec;
use legacy::Legacy;
use rollout::Rollout;

pub(super) use change::{category, edits};
pub(super) use item::{activity_tool, is_report, mcp_category};

mod appserver;
mod change;
mod exec;
mod item;
mod legacy;
mod rollout;
mod sessions;
mod usage;

pub(crate) const PROVIDER: Provider = Provider::new(
    "codex",
    |probe: &Probe<'_>| Form::of(&probe.fields).is_some(),
    || Box::<Codex>::default(),
)
.with_title("Codex")
.with_about("Codex: exec --json, session files, app-server traffic")
.with_example("codex exec --json \"Fix the failing test\" | unspool events")
.with_tools(TOOLS)
.with_headless(Headless::new("codex", &["exec", "--json"]))
.with_chat(Chat::new(
    &["codex-acp"],
    "npm install -g @agentclientprotocol/codex-acp",
))
.with_saved(sessions::SAVED);

const TOOLS: ToolNames = &[
    (
        Category::Read,
        &[
            "view_image",
            "read_mcp_resource",
            "list_mcp_resources",
            "list_mcp_resource_templates",
        ],
    ),
    (Category::Edit, &["file_change"]),
    (Category::Search, &["tool_search"]),
    (
        Category::Execute,
        &[
            "shell_command",
            "local_shell",
            "exec_command",
            "command_execution",
            "write_stdin",
        ],
    ),
    (Category::Plan, &["create_goal", "get_goal", "update_goal"]),
    (
        Category::Task,
        &[
            "spawn_agent",
            "wait_agent",
            "send_input",
            "close_agent",
            "resume_agent",
            "followup_task",
            "send_message",
            "list_agents",
            "interrupt_agent",
        ],
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Exec,
    Legacy,
    Rollout,
    AppServer,
}

impl Form {
    /// Returns the form that a frame with these fields must have.
    fn of(fields: &Object<'_>) -> Option<Self> {
        if exec::is_frame(fields) {
            Some(Self::Exec)
        } else if rollout::is_frame(fields) {
            Some(Self::Rollout)
        } else if appserver::is_frame(fields) {
            Some(Self::AppServer)
        } else if legacy::is_frame(fields) {
            Some(Self::Legacy)
        } else {
            None
        }
    }
}

#[derive(Clone, Default)]
struct Codex {
    form: Option<Form>,
    exec: Exec,
    legacy: Legacy,
    rollout: Rollout,
    appserver: AppServer,
}

impl Source for Codex {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        let Some(json) = frame.json().filter(|json| json.is_object()) else {
            out.unknown(frame);
            return;
        };
        let fields = json.object();
        self.form = Form::of(&fields).or(self.form).or_else(|| early(&fields));
        match self.form {
            Some(Form::Exec) => self.exec.frame(&fields, frame, out),
            Some(Form::Legacy) => self.legacy.frame(&fields, frame, out),
            Some(Form::Rollout) => self.rollout.frame(&fields, frame, out),
            Some(Form::AppServer) => self.appserver.frame(json, frame, out),
            None => out.unknown(frame),
        }
    }

    fn finish(&mut self, out: &mut Emitter) {
        match self.form {
            Some(Form::Exec) => self.exec.finish(out),
            Some(Form::Legacy) => self.legacy.finish(out),
            Some(Form::Rollout) => self.rollout.finish(out),
            Some(Form::AppServer) => self.appserver.finish(out),
            None => out.interrupted(),
        }
    }

    fn attach(&mut self, _name: &str, bytes: &[u8]) {
        self.rollout.attach(bytes);
    }
}

/// Guesses the form of a first frame that other providers could have written.
fn early(fields: &Object<'_>) -> Option<Form> {
    if fields.has("prompt") {
        Some(Form::Legacy)
    } else if fields.has("dir") || fields.has("method") {
        Some(Form::AppServer)
    } else {
        None
    }
}

/// The state of the turn. Events after its end, such as output of a background
/// command, do not open another one.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Turn {
    #[default]
    None,
    Open,
    Ended,
}

impl Turn {
    /// Opens the first turn.
    fn touch(&mut self) {
        if *self == Self::None {
            *self = Self::Open;
        }
    }

    fn end(&mut self, end: TurnEnd, out: &mut Emitter) {
        *self = Self::Ended;
        out.turn_end(end);
    }

    fn fail(&mut self, reason: String, out: &mut Emitter) {
        let end = TurnEnd {
            status: TurnStatus::Failed,
            reason,
            ..TurnEnd::default()
        };
        self.end(end, out);
    }

    /// Ends an open turn at the end of the input.
    fn cut(&mut self, status: TurnStatus, out: &mut Emitter) {
        if *self == Self::Open {
            self.end(
                TurnEnd {
                    status,
                    ..TurnEnd::default()
                },
                out,
            );
        }
    }
}

/// Returns the text of the first of these fields that exists.
fn first_text(fields: &Object<'_>, keys: &[&str]) -> String {
    keys.iter()
        .map(|key| fields.get(key))
        .find(|value| value.is_string())
        .map(Json::string)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::event::{Body, Event, TurnStatus};
    use crate::source::testing;

    pub(super) use crate::source::testing::kinds;

    pub(super) fn events(input: &str) -> Vec<Event> {
        testing::events(&super::PROVIDER, input)
    }

    pub(super) fn ends(events: &[Event]) -> Vec<TurnStatus> {
        events
            .iter()
            .filter_map(|event| match &event.body {
                Body::TurnEnd(end) => Some(end.status),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn a_line_that_is_not_json_is_kept() {
        let events = events("{\"type\":\"turn.started\"}\nERROR codex_core: x\n[1]\n");
        assert_eq!(kinds(&events), ["unknown", "unknown", "turn_end"]);
    }

    #[test]
    fn lines_with_wrong_types_are_kept() {
        for line in [
            r#"{"type":"item.completed","item":5}"#,
            r#"{"type":"item.completed","item":{"type":[],"id":{}}}"#,
            r#"{"type":"item.completed","item":{"type":"command_execution","command":{},"exit_code":"x","aggregated_output":[1]}}"#,
            r#"{"type":"item.completed","item":{"type":"file_change","changes":"x"}}"#,
            r#"{"type":"turn.completed","usage":[]}"#,
            r#"{"timestamp":1,"type":"response_item","payload":"x"}"#,
            r#"{"timestamp":1,"type":"event_msg","payload":{"type":"item_completed","item":null}}"#,
            r#"{"timestamp":1,"type":"response_item","payload":{"type":"function_call","name":5,"arguments":{"a":1}}}"#,
            r#"{"timestamp":1,"type":"response_item","payload":{"type":"function_call_output","output":{"a":1}}}"#,
            r#"{"id":"0","msg":{"type":"exec_command_output_delta","chunk":"***"}}"#,
            r#"{"id":"0","msg":{"type":"patch_apply_begin","changes":[5]}}"#,
            r#"{"method":"item/started","params":[]}"#,
            r#"{"method":"turn/completed","params":{"turn":"x"}}"#,
        ] {
            assert!(!events(line).is_empty(), "{line}");
        }
    }
}
