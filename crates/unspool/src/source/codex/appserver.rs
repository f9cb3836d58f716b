//! Messages of `codex app-server`: JSON-RPC without its version, either the
//! server's output alone or a log of both directions.
//!
//! Events come from notifications, from the answers that open a thread, and from
//! the client's answers to the server's requests. Sub-agents are threads on the
//! same connection, identified by the call that started them; only root threads
//! have turns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::item::{self, Calls};
use super::{Turn, exec, legacy, usage};
use crate::event::{Agent, Level, Permission, Session, ToolStatus, TurnEnd, TurnStatus};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::rpc::{Message, Sender};
use crate::source::usage::Totals;
use crate::source::{Emitter, Outcome};
use question::Question;
use text_ids::TextIds;

mod items;
mod question;
mod text_ids;

/// Returns true if only the app-server and its clients send such a message.
pub(super) fn is_frame(fields: &Object<'_>) -> bool {
    let inner = fields.get("msg");
    let wrapped = fields.get("dir").is_string() && inner.is_object();
    let fields = if wrapped { &inner.object() } else { fields };
    if fields.has("jsonrpc") {
        return false;
    }
    if let Some(method) = fields.get("method").str() {
        let params = fields.get("params");
        let of_thread = ["thread/", "turn/", "item/"]
            .iter()
            .any(|prefix| method.starts_with(prefix));
        return params.is_object() && (of_thread || SIGNS.contains(&method.as_ref()));
    }
    let result = fields.get("result").object();
    result.has("codexHome") || (result.has("thread") && result.has("modelProvider"))
}

/// Notifications without a thread that only the app-server sends.
const SIGNS: &[&str] = &[
    "configWarning",
    "remoteControl/status/changed",
    "mcpServer/startupStatus/updated",
    "account/rateLimits/updated",
    "serverRequest/resolved",
];

#[derive(Clone, Default)]
pub(super) struct AppServer {
    threads: HashMap<String, Thread>,
    calls: Calls,
    text_ids: TextIds,
    /// Open questions of the server, by the id of the request.
    questions: HashMap<String, Question>,
}

#[derive(Clone, Default)]
struct Thread {
    /// The sub-agent; `None` for a thread that the client started.
    agent: Option<Arc<Agent>>,
    session: Session,
    turn: Turn,
    usage: Totals,
    /// The last error emitted; the end of the turn repeats it.
    error: String,
}

impl AppServer {
    pub(super) fn frame(&mut self, json: Json<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let message = Message::new(json);
        out.time_ms(message.fields.get("emittedAtMs").i64());
        let from_client = message.sender == Some(Sender::Client);
        if message.is_response() {
            let id = message.id().unwrap_or_default();
            if from_client {
                self.answered(&id, message.fields.get("result"), out);
            } else {
                self.response(&message.fields, out);
            }
        } else if from_client {
            // The server repeats the client's requests as notifications.
            if !is_of_client(&message.method()) {
                out.unknown(frame);
            }
        } else if message.is_request() {
            self.request(&message, frame, out);
        } else {
            self.notification(&message, frame, out);
        }
    }

    pub(super) fn finish(&mut self, out: &mut Emitter) {
        self.calls.release(out);
        let mut running = self
            .threads
            .values_mut()
            .filter(|thread| thread.agent.is_none() && thread.turn == Turn::Open);
        if let Some(thread) = running.next() {
            thread.turn.cut(TurnStatus::Interrupted, out);
        }
    }

    fn response(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let error = fields.get("error");
        if !error.is_null() {
            out.notice(Level::Error, item::message(error));
        }
        let result = fields.get("result");
        if let Some(agent) = result.get("userAgent").str() {
            greeting(&agent, out);
        }
        let thread = result.get("thread");
        if thread.is_object() {
            self.thread_started(thread, &result.get("model").string(), out);
        }
    }

    fn notification(&mut self, message: &Message<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let method = message.method();
        let json = message.params();
        let params = json.object();
        if is_noise(&method) {
            return;
        }
        let thread = self.enter(&params.get("threadId").string(), &params, out);
        match method.as_ref() {
            "thread/started" => self.thread_started(params.get("thread"), "", out),
            "thread/name/updated" => {
                thread.session.title = super::first_text(&params, &["threadName", "name"]);
                thread.show_session(out);
            }
            "turn/started" => thread.turn = Turn::Open,
            "turn/completed" => {
                self.calls.release(out);
                self.turn_completed(&params, out);
            }
            "turn/plan/updated" => legacy::plan(&params, out),
            "thread/tokenUsage/updated" => {
                let counts = params.get("tokenUsage").object();
                let (total, last) = (counts.get("total"), counts.get("last"));
                let usage = usage::with_window(total, last, counts.get("modelContextWindow"));
                thread.usage.emit(usage, out);
            }
            "error" => thread.error(&params, out),
            "configWarning" | "deprecationNotice" | "warning" => warning(&params, out),
            "mcpServer/startupStatus/updated" => {
                out.notice(Level::Warning, params.get("error").payload());
            }
            "thread/goal/updated" => out.state("goal", params.get("goal")),
            "thread/settings/updated" => out.state("settings", params.get("threadSettings")),
            "item/started" => {
                thread.turn.touch();
                self.item_started(params.get("item"), frame, out);
            }
            "item/completed" => {
                thread.turn.touch();
                self.item_completed(params.get("item"), frame, out);
            }
            _ => self.item_progress(&method, json, frame, out),
        }
    }

    /// Returns the thread of a message and attributes later events to its agent.
    fn enter(&mut self, id: &str, params: &Object<'_>, out: &mut Emitter) -> &mut Thread {
        let turn = params.get("turn").object();
        let root = turn.get("rootTurnId").str();
        let is_sub = root.is_some_and(|root| turn.get("id").str() != Some(root));
        let thread = self.threads.entry(id.to_owned()).or_insert_with(|| Thread {
            agent: is_sub.then(|| {
                Arc::new(Agent {
                    id: id.to_owned(),
                    depth: 1,
                    ..Agent::default()
                })
            }),
            ..Thread::default()
        });
        out.agent(thread.agent.clone());
        thread
    }

    /// Adds a thread that was started or loaded; a loaded one contains its history.
    fn thread_started(&mut self, json: Json<'_>, model: &str, out: &mut Emitter) {
        let fields = json.object();
        let id = fields.get("id").string();
        let parent = fields.get("parentThreadId").string();
        if !parent.is_empty() {
            let name = super::first_text(&fields, &["agentNickname", "agentRole"]);
            self.sub_agent(&id, &parent, "", &name);
            return;
        }
        let thread = self.threads.entry(id.clone()).or_default();
        if thread.agent.is_some() || !thread.session.id.is_empty() {
            return;
        }
        thread.session = Session {
            provider: super::PROVIDER.name.to_owned(),
            version: fields.get("cliVersion").string(),
            id,
            model: match fields.get("model").string() {
                named if named.is_empty() => model.to_owned(),
                named => named,
            },
            cwd: fields.get("cwd").string(),
            title: fields.get("name").string(),
            ..Session::default()
        };
        out.agent(None);
        thread.show_session(out);
        out.replayed(true);
        for turn in fields.get("turns").array() {
            for item in turn.get("items").array() {
                self.item_completed(item, &Frame::new(item.raw()), out);
            }
        }
        out.replayed(false);
    }

    /// Makes a thread the sub-agent of another, or updates it.
    fn sub_agent(&mut self, id: &str, parent: &str, call: &str, name: &str) {
        let above = self.threads.get(parent);
        let depth = above
            .and_then(|thread| thread.agent.as_ref())
            .map_or(1, |agent| agent.depth + 1);
        let thread = self.threads.entry(id.to_owned()).or_default();
        let known = thread.agent.as_deref().cloned().unwrap_or_default();
        let or = |new: &str, old: String| if new.is_empty() { old } else { new.to_owned() };
        thread.agent = Some(Arc::new(Agent {
            id: id.to_owned(),
            parent: or(call, known.parent),
            depth,
            name: or(item::agent_name(name), known.name),
        }));
    }

    fn turn_completed(&mut self, params: &Object<'_>, out: &mut Emitter) {
        let turn = params.get("turn").object();
        let id = params.get("threadId").string();
        let thread = self.threads.entry(id).or_default();
        let error = turn.get("error");
        let reason = item::message(error);
        if !error.is_null() && reason != thread.error {
            out.notice(Level::Error, reason.as_str());
        }
        let status = match turn.get("status").str().as_deref() {
            Some("failed") => TurnStatus::Failed,
            Some("interrupted") => TurnStatus::Canceled,
            _ => TurnStatus::Completed,
        };
        if thread.agent.is_some() {
            thread.turn = Turn::Ended;
            return;
        }
        thread.turn.end(
            TurnEnd {
                status,
                reason,
                duration_ms: turn.get("durationMs").u64(),
                ..TurnEnd::default()
            },
            out,
        );
    }

    fn request(&mut self, message: &Message<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let params = message.params().object();
        self.enter(&params.get("threadId").string(), &params, out);
        let id = message.id().unwrap_or_default();
        match message.method().as_ref() {
            "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => {
                let tool_id = params.get("itemId").string();
                out.permission(question::permission(&id, &tool_id, &params));
                self.questions.insert(id, Question::Approval { tool_id });
            }
            "item/tool/requestUserInput" => {
                let prompts = question::prompts(&params);
                for (_, prompt) in &prompts {
                    out.prompt(prompt.clone());
                }
                self.questions.insert(id, Question::Input { prompts });
            }
            _ => out.unknown(frame),
        }
    }

    /// Reads the client's answer to a question of the server.
    fn answered(&mut self, id: &str, result: Json<'_>, out: &mut Emitter) {
        match self.questions.remove(id) {
            Some(Question::Approval { tool_id }) => {
                let decision = question::word(result.get("decision"));
                out.permission(Permission {
                    id: id.to_owned(),
                    tool_id: tool_id.clone(),
                    outcome: decision.clone(),
                    ..Permission::default()
                });
                let status = match decision.as_str() {
                    "decline" => ToolStatus::Rejected,
                    "cancel" => ToolStatus::Canceled,
                    _ => return,
                };
                let outcome = Outcome {
                    status,
                    ..Outcome::default()
                };
                out.tool_result(&tool_id, outcome);
            }
            Some(Question::Input { prompts }) => {
                for prompt in question::answer(prompts, result.get("answers")) {
                    out.prompt(prompt);
                }
            }
            None => {}
        }
    }
}

impl Thread {
    fn show_session(&self, out: &mut Emitter) {
        if self.agent.is_none() {
            out.session(self.session.clone());
        }
    }

    fn error(&mut self, params: &Object<'_>, out: &mut Emitter) {
        self.turn.touch();
        let error = params.get("error");
        let message = item::message(error);
        let level = if params.get("willRetry").is_true() || exec::is_retry(&message) {
            Level::Retry
        } else {
            Level::Error
        };
        // `codex exec` writes it in the same way.
        match error.get("additionalDetails").str() {
            Some(details) => out.notice(level, format!("{message} ({details})")),
            None => out.notice(level, message.as_str()),
        }
        if level == Level::Error {
            self.error = message;
        }
    }
}

/// Emits the session from the answer to `initialize`, in which the server calls
/// itself `CLIENT/VERSION (…)`.
fn greeting(user_agent: &str, out: &mut Emitter) {
    let product = user_agent.split(' ').next().unwrap_or_default();
    let version = product.rsplit_once('/').map_or("", |(_, version)| version);
    out.session(Session {
        provider: super::PROVIDER.name.to_owned(),
        version: version.to_owned(),
        ..Session::default()
    });
}

fn warning(params: &Object<'_>, out: &mut Emitter) {
    let texts = ["summary", "message", "details"]
        .iter()
        .filter_map(|key| params.get(key).str())
        .collect::<Vec<Cow<'_, str>>>();
    out.notice(Level::Warning, texts.join("\n"));
}

/// Returns true for the requests and notifications of clients.
fn is_of_client(method: &str) -> bool {
    const STARTS: &[&str] = &[
        "initialize",
        "thread/",
        "turn/",
        "review/",
        "model",
        "account/",
        "config",
        "mcpServer",
        "skills/",
        "plugin/",
        "app/",
        "command/",
        "process/",
        "fs/",
        "feedback/",
        "fuzzyFileSearch",
        "experimentalFeature/",
        "collaborationMode/",
        "environment/",
        "remoteControl/",
        "memory/",
        "hooks/",
        "marketplace/",
        "tool/",
        "item/",
    ];
    STARTS.iter().any(|start| method.starts_with(start))
}

/// Returns true for notifications that repeat others or do not concern the user:
/// the diff of the turn is the sum of its edits, raw reasoning has a summary, an
/// unfinished edit is repeated when it is made.
fn is_noise(method: &str) -> bool {
    const NAMES: &[&str] = &[
        "thread/status/changed",
        "thread/readState/changed",
        "thread/archived",
        "thread/unarchived",
        "thread/closed",
        "turn/diff/updated",
        "item/reasoning/textDelta",
        "item/fileChange/outputDelta",
        "item/fileChange/patchUpdated",
        "serverRequest/resolved",
        "remoteControl/status/changed",
    ];
    const PREFIXES: &[&str] = &["account/", "app/", "skills/", "fs/", "fuzzyFileSearch/"];
    NAMES.contains(&method) || PREFIXES.iter().any(|prefix| method.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use crate::event::{Body, ToolStatus, TurnStatus};
    use crate::source::codex::tests::{ends, events, kinds};

    #[test]
    fn a_thread_inside_the_turn_of_another_is_a_sub_agent() {
        let events = events(concat!(
            r#"{"method":"turn/started","params":{"threadId":"a","turn":{"id":"1","rootTurnId":"1"}}}"#,
            "\n",
            r#"{"method":"turn/started","params":{"threadId":"b","turn":{"id":"2","rootTurnId":"1"}}}"#,
            "\n",
            r#"{"method":"item/agentMessage/delta","params":{"threadId":"b","itemId":"m","delta":"hi"}}"#,
            "\n",
            r#"{"method":"turn/completed","params":{"threadId":"b","turn":{"id":"2","rootTurnId":"1","status":"failed","error":{"message":"no"}}}}"#,
        ));
        assert_eq!(kinds(&events), ["text", "notice", "turn_end"]);
        assert_eq!(
            (events[0].depth(), events[1].depth(), events[2].depth()),
            (1, 1, 0)
        );
        assert_eq!(ends(&events), [TurnStatus::Interrupted]);
    }

    #[test]
    fn every_activity_of_an_agent_but_its_end_is_a_call() {
        let names = |kind: &str| {
            let item = |method: &str| {
                format!(
                    r#"{{"method":"item/{method}","params":{{"threadId":"a","item":{{"type":"subAgentActivity","id":"c","kind":"{kind}","agentThreadId":"b","agentPath":"/root/look"}}}}}}"#
                )
            };
            let events = events(&[item("started"), item("completed")].join("\n"));
            let calls = events.iter().filter_map(|event| match &event.body {
                Body::ToolUse(call) => Some(format!("{} {}", call.name, call.arg)),
                _ => None,
            });
            calls.collect::<Vec<_>>()
        };
        assert_eq!(names("started"), ["spawn_agent look"]);
        assert_eq!(names("interacted"), ["sub_agent_activity look"]);
        assert_eq!(names("interrupted"), ["interrupt_agent look"]);
        assert_eq!(names("paused"), ["sub_agent_activity look"]);
        assert!(names("completed").is_empty());
    }

    #[test]
    fn a_declined_request_is_a_rejected_result() {
        let start = r#"{"dir":"agent->client","msg":{"method":"item/started","params":{"threadId":"a","item":{"type":"fileChange","id":"c","changes":[]}}}}"#;
        let ask = r#"{"dir":"agent->client","msg":{"method":"item/fileChange/requestApproval","id":7,"params":{"threadId":"a","itemId":"c"}}}"#;
        for (word, status) in [
            ("decline", ToolStatus::Rejected),
            ("cancel", ToolStatus::Canceled),
        ] {
            let answer = format!(
                r#"{{"dir":"client->agent","msg":{{"id":7,"result":{{"decision":"{word}"}}}}}}"#
            );
            let events = events(&[start, ask, &answer].join("\n"));
            let results: Vec<_> = events
                .iter()
                .filter_map(|event| match &event.body {
                    Body::ToolResult(result) => Some(result.status),
                    _ => None,
                })
                .collect();
            assert_eq!(results, [status]);
        }
    }

    #[test]
    fn a_loaded_thread_has_its_history_and_no_turn() {
        let events = events(
            r#"{"id":1,"result":{"thread":{"id":"a","cliVersion":"1","turns":[{"items":[{"type":"userMessage","id":"u","content":[{"type":"text","text":"hi"}]},{"type":"agentMessage","id":"m","text":"ho"}]}]},"modelProvider":"x"}}"#,
        );
        assert_eq!(kinds(&events), ["session", "user", "text"]);
        let replayed: Vec<bool> = events.iter().map(|event| event.replayed).collect();
        assert_eq!(replayed, [false, true, true]);
    }

    #[test]
    fn unknown_messages_are_kept() {
        let events = events(concat!(
            r#"{"method":"item/hologram","params":{"threadId":"a"}}"#,
            "\n",
            r#"{"method":"item/started","params":{"threadId":"a","item":{"type":"hologram"}}}"#,
            "\n",
            r#"{"method":"item/tool/hologram","id":1,"params":{}}"#,
            "\n",
            r#"{"id":3,"error":{"code":-1,"message":"no"}}"#,
        ));
        let expected = ["unknown", "unknown", "unknown", "notice", "turn_end"];
        assert_eq!(kinds(&events), expected);
    }
}
