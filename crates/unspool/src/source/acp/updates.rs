//! `session/update` notifications.

use super::content::{UserText, block_text, message_media, message_text};
use super::sessions::ThreadError;
use super::{Acp, NAME, Program, UserMessage, answers, usage};
use crate::event::{Agent, Category, Level, Plan, Session, ToolStatus};
use crate::json::{Json, Object};
use crate::source::{self, Emitter, Outcome};
use crate::tool;

/// Bytes of the last answer that are kept.
const KEPT_BYTES: usize = 4096;

impl Acp {
    /// Translates an update; returns false if its kind is unknown.
    pub(super) fn update(&mut self, params: Json<'_>, out: &mut Emitter) -> bool {
        let session = params.get("sessionId").str().unwrap_or_default();
        let update = params.get("update");
        let fields = update.object();
        let kind = fields.get("sessionUpdate").str().unwrap_or_default();
        out.time_ms(fields.get("_meta").get("timestamp").i64());
        match kind.as_ref() {
            "tool_call" | "tool_call_update" => {
                if !fields.get("toolCallId").is_string() {
                    return false;
                }
                self.end_speech(out);
                self.call_message(&session, update, kind == "tool_call", out);
                return true;
            }
            "user_message_chunk" => {
                self.end_speech(out);
                self.user_chunk(&session, &fields, out);
                return true;
            }
            _ => self.settle(out),
        }
        self.enter(&session, out);
        match kind.as_ref() {
            "agent_message_chunk" => self.chunk(&session, &fields, false, out),
            "agent_thought_chunk" => self.chunk(&session, &fields, true, out),
            "agent_message" => self.whole_message(&session, &fields, false, out),
            "agent_thought" => self.whole_message(&session, &fields, true, out),
            "user_message" => {
                let text = UserText::of(fields.get("content"), out);
                self.user_text(&session, &text, out);
            }
            "tool_call_content_chunk" => self.content_chunk(&session, &fields, out),
            "terminal_update" | "terminal_output_chunk" => self.terminal_message(&fields, out),
            "plan" => out.plan(plan(fields.get("entries"))),
            "plan_update" => out.plan(planned(fields.get("plan"))),
            "plan_removed" => out.plan(Plan::default()),
            "usage_update" => self.window(&session, &fields, out),
            "session_info_update" => self.session_info(&session, &fields, out),
            "state_update" => self.state_update(&session, &fields, out),
            "subagent_update" => self.subagent(&session, update, out),
            "session_message" | "session_message_chunk" => {
                self.session_message(&session, &fields, out);
            }
            "notice" => notice(&fields, out),
            "compaction_update" => self.compaction(update, out),
            "compaction_summary_chunk" => {
                self.summary.push_str(&block_text(fields.get("content")));
            }
            "available_commands_update" => {
                out.state("available_commands", fields.get("availableCommands"));
            }
            "current_mode_update" => out.state("mode", fields.get("currentModeId")),
            "config_option_update" => out.state("config_options", fields.get("configOptions")),
            _ => return false,
        }
        true
    }

    /// Attributes later events to this session.
    pub(super) fn enter(&mut self, session: &str, out: &mut Emitter) {
        self.sessions.notice_id(session);
        let root = self.sessions.root_of(session);
        self.open_session(&root, out);
        out.conversation(&root);
        out.replayed(self.sessions.is_replaying(&root));
        out.agent(self.sessions.agent_of(session));
    }

    /// Opens a turn if the input lacks its prompt.
    pub(super) fn sign_of_life(&mut self, session: &str) {
        if !session.is_empty() && !self.sessions.is_child(session) {
            let root = self.sessions.root(session);
            root.inferred |= !root.requested && !root.replaying;
        }
    }

    fn chunk(&mut self, session: &str, fields: &Object<'_>, reasoning: bool, out: &mut Emitter) {
        let agent = self.speaker(session, fields, out);
        out.agent(agent);
        let content = fields.get("content");
        let text = block_text(content);
        if text.is_empty() {
            self.empty_chunk(session, fields, reasoning, out);
            return;
        }
        let text = match gemini_chunk(&text, reasoning) {
            Chunk::Text(text) => text,
            Chunk::Mode(mode) => {
                self.others_first(session, out);
                out.agent(None);
                return self.word("mode", mode, out);
            }
            Chunk::Nothing => return,
        };
        if !reasoning && self.take_thread_error(session) {
            self.sign_of_life(session);
            self.others_first(session, out);
            self.remember_answer(text);
            out.notice(Level::Error, text.trim());
            return;
        }
        if self.program == Program::Aider {
            self.sign_of_life(session);
            self.aider_chunk(session, text, reasoning, out);
            return;
        }
        self.say(
            session,
            &fields.get("messageId").str().unwrap_or_default(),
            text,
            reasoning,
            out,
        );
    }

    /// Returns true, once, if a message is the error that was announced.
    fn take_thread_error(&mut self, session: &str) -> bool {
        if self.sessions.is_child(session) {
            return false;
        }
        let Some(root) = self.sessions.known_root(session) else {
            return false;
        };
        let takes = root.thread_error == ThreadError::Announced;
        if takes {
            root.thread_error = ThreadError::Emitted;
        }
        takes
    }

    /// Emits a chunk of a message.
    pub(super) fn say(
        &mut self,
        session: &str,
        message: &str,
        text: &str,
        reasoning: bool,
        out: &mut Emitter,
    ) {
        let id = self.place(session, message, reasoning, out);
        if reasoning {
            out.reasoning_delta(id.as_deref(), text);
        } else {
            self.remember_answer(text);
            out.text_delta(id.as_deref(), text);
        }
    }

    /// Emits what comes before a piece of a message; returns the id of its block.
    fn place(
        &mut self,
        session: &str,
        message: &str,
        reasoning: bool,
        out: &mut Emitter,
    ) -> Option<String> {
        let agent = out.current_agent();
        self.sign_of_life(session);
        self.others_first(session, out);
        self.sessions.spoke(session);
        out.agent(agent);
        let owner = self.owner(session, out);
        self.message_ids.id(&owner, reasoning, message)
    }

    /// Emits the calls that wait, before text that follows them.
    pub(super) fn others_first(&mut self, session: &str, out: &mut Emitter) {
        self.announce_all(|call| call.session == session, out);
        self.settle_refused(|call| call.session == session, out);
    }

    fn remember_answer(&mut self, text: &str) {
        if self.last_words.len() > KEPT_BYTES {
            self.last_words.clear();
        }
        self.last_words.push_str(text);
    }

    /// Reads a chunk without text: a picture, or Qwen's token counts.
    fn empty_chunk(
        &mut self,
        session: &str,
        fields: &Object<'_>,
        reasoning: bool,
        out: &mut Emitter,
    ) {
        let root = self.sessions.root_of(session);
        // Usage of a loaded session was counted when it ran.
        if !self.sessions.root(&root).replaying
            && let Some(usage) = usage::tokens(fields.get("_meta").get("usage"))
        {
            out.usage(usage);
        }
        let message = fields.get("messageId").str().unwrap_or_default();
        for media in message_media(fields.get("content"), out) {
            let id = self.place(session, &message, reasoning, out);
            if reasoning {
                out.reasoning_media(id.as_deref(), media);
            } else {
                out.text_media(id.as_deref(), media);
            }
        }
    }

    /// Emits a whole message of the draft. An empty one announces chunks.
    fn whole_message(
        &mut self,
        session: &str,
        fields: &Object<'_>,
        reasoning: bool,
        out: &mut Emitter,
    ) {
        let text = message_text(fields.get("content"));
        let media = message_media(fields.get("content"), out);
        if text.is_empty() && media.is_empty() {
            return;
        }
        self.sign_of_life(session);
        self.announce_all(|call| call.session == session, out);
        self.sessions.spoke(session);
        out.agent(self.sessions.agent_of(session));
        let owner = self.owner(session, out);
        let message = fields.get("messageId").string();
        let id = self.message_ids.id(&owner, reasoning, &message);
        if reasoning {
            out.reasoning(id.as_deref(), text);
        } else {
            out.text(id.as_deref(), text);
        }
        for media in media {
            if reasoning {
                out.reasoning_media(id.as_deref(), media);
            } else {
                out.text_media(id.as_deref(), media);
            }
        }
    }

    fn user_chunk(&mut self, session: &str, fields: &Object<'_>, out: &mut Emitter) {
        let message = fields.get("messageId").string();
        let text = UserText::of(fields.get("content"), out);
        if is_receipt(&text.text) {
            self.settle(out);
            self.enter(session, out);
            out.end_message();
            return;
        }
        if let Some(open) = &mut self.user_message
            && open.message == message
            && open.session == session
        {
            open.text.add(fields.get("content"), out);
            return;
        }
        self.settle(out);
        self.enter(session, out);
        if self.take_echo(session, &text) {
            return;
        }
        self.start_replay(session);
        self.user_message = Some(UserMessage {
            session: session.to_owned(),
            message,
            text,
        });
    }

    fn user_text(&mut self, session: &str, text: &UserText, out: &mut Emitter) {
        if !text.is_empty() && !self.take_echo(session, text) {
            self.emit_user(session, text, out);
        }
    }

    fn take_echo(&mut self, session: &str, text: &UserText) -> bool {
        let media = text.media.len();
        !self.sessions.is_child(session) && self.sessions.root(session).take_echo(&text.text, media)
    }

    /// Starts a replay: in protocol 1 only a loaded session contains user messages; in
    /// the draft, the state shows if a turn is open.
    fn start_replay(&mut self, session: &str) {
        if !self.sessions.is_child(session) {
            let root = self.sessions.root(session);
            root.replaying |= !root.is_open();
        }
    }

    fn window(&mut self, session: &str, fields: &Object<'_>, out: &mut Emitter) {
        let usage = usage::window(fields);
        let model = fields.get("_meta").get("_claude/model").string();
        if self.sessions.is_child(session) {
            out.usage(usage);
            return;
        }
        let root = self.sessions.root(session);
        if !model.is_empty() && root.model != model {
            root.model.clone_from(&model);
            out.session(Session {
                provider: NAME.to_owned(),
                id: session.to_owned(),
                model,
                ..Session::default()
            });
        }
        let root = self.sessions.root(session);
        if root.usage != usage {
            root.usage = usage.clone();
            self.counted(out);
            out.usage(usage);
        }
    }

    /// Ends the open message after a token count, which marks the end of a model call,
    /// unless the text stops in the middle of a sentence.
    fn counted(&mut self, out: &mut Emitter) {
        if self.last_words.ends_with(['.', '!', '?', ':', '`', '\n']) {
            out.end_message();
        }
    }

    fn session_info(&mut self, session: &str, fields: &Object<'_>, out: &mut Emitter) {
        let title = fields.get("title").string();
        let error = fields.get("_meta").get("codex").get("error");
        if error.is_object() {
            let level = if error.get("willRetry").is_true() {
                Level::Retry
            } else {
                Level::Error
            };
            out.notice(level, error.get("message").string());
        }
        if self.sessions.is_child(session) {
            return;
        }
        let root = self.sessions.root(session);
        let status = fields.get("_meta").get("codex").get("threadStatus");
        match status.get("type").str().as_deref() {
            Some("systemError") => root.thread_error = ThreadError::Announced,
            Some("active") => root.thread_error = ThreadError::None,
            _ => {}
        }
        if title.is_empty() {
            return;
        }
        if root.title != title {
            root.title.clone_from(&title);
            out.session(Session {
                provider: NAME.to_owned(),
                id: session.to_owned(),
                title,
                ..Session::default()
            });
        }
    }

    /// Starts and ends turns of the draft.
    fn state_update(&mut self, session: &str, fields: &Object<'_>, out: &mut Emitter) {
        if self.sessions.is_child(session) {
            return;
        }
        let root = self.sessions.root(session);
        let reason = fields.get("stopReason").string();
        match fields.get("state").str().as_deref() {
            Some("running" | "requires_action") => {
                root.running = true;
                root.replaying = false;
            }
            Some("idle") if reason.is_empty() => {
                root.running = false;
                root.inferred = false;
            }
            Some("idle") => {
                root.prompts = 0;
                let usage = usage::tokens(fields.get("usage"));
                if reason == "error" {
                    self.fail_turn(session, usage, fields.get("error"), out);
                } else {
                    self.end_turn(session, usage, answers::turn_end(&reason), out);
                }
            }
            _ => {}
        }
    }

    fn subagent(&mut self, session: &str, update: Json<'_>, out: &mut Emitter) {
        let fields = update.object();
        self.sessions.subagent(session, &fields);
        if fields.has("state") {
            let agent = self.sessions.agent_of(&fields.get("sessionId").string());
            out.agent(agent.clone());
            out.state("subagent", update);
            if let Some(agent) = agent {
                self.end_task(session, &agent, fields.get("state"), out);
            }
        }
    }

    /// Ends the task of a sub-agent. Some adapters name its call without sending it.
    fn end_task(&self, session: &str, agent: &Agent, state: Json<'_>, out: &mut Emitter) {
        let is_idle = state.get("state").str().as_deref() == Some("idle");
        if !is_idle || agent.parent.is_empty() || out.is_known(&agent.parent) {
            return;
        }
        out.agent(self.sessions.agent_of(session));
        out.tool_use(source::Call {
            id: &agent.parent,
            name: "Agent",
            category: Some(Category::Task),
            arg: Some(agent.name.as_str().into()),
            ..source::Call::default()
        });
        let status = match &*state.get("stopReason").string() {
            "" | "end_turn" => ToolStatus::Ok,
            "cancelled" => ToolStatus::Canceled,
            _ => ToolStatus::Error,
        };
        out.tool_result(
            &agent.parent,
            Outcome {
                status,
                ..Outcome::default()
            },
        );
    }

    /// Emits a message between agents, which both their sessions contain: a task where
    /// it is received, a report only if its sender wrote nothing in its own session.
    fn session_message(&mut self, session: &str, fields: &Object<'_>, out: &mut Emitter) {
        let recipient = fields.get("recipientSessionId").string();
        let sender = fields.get("senderSessionId").string();
        let message = fields.get("messageId").string();
        let content = fields.get("content");
        if self.sessions.is_child(&recipient) && !self.sessions.is_child_of(&sender, &recipient) {
            // Claude's adapter uses the id of the call for the task.
            if self.program == Program::Claude {
                let call = self.sessions.call_id(&recipient, &message);
                self.sessions.started_by(&recipient, &call);
            }
            if session == recipient {
                self.emit_user(&recipient, &UserText::of(content, out), out);
            }
        } else if !self.sessions.has_spoken(&sender) {
            out.agent(self.sessions.agent_of(&sender));
            out.text(None, message_text(content));
            for media in message_media(content, out) {
                out.text_media(None, media);
            }
        }
    }

    fn compaction(&mut self, update: Json<'_>, out: &mut Emitter) {
        let fields = update.object();
        out.state("compaction", update);
        let error = fields.get("error");
        let message = error
            .str()
            .unwrap_or_else(|| error.get("message").display());
        out.notice(Level::Error, message);
        if fields.get("status").str().as_deref() == Some("in_progress") {
            return;
        }
        let streamed = std::mem::take(&mut self.summary);
        let whole = message_text(fields.get("summary"));
        let whole = fields.get("summary").str().map_or(whole, String::from);
        let summary = if whole.is_empty() { streamed } else { whole };
        if error.is_null() {
            out.compacted(summary);
        }
    }
}

/// The kind of a chunk.
enum Chunk<'a> {
    Text(&'a str),
    Mode(&'a str),
    Nothing,
}

/// Reads a chunk of Gemini, which has an empty title before a thought without one,
/// and reports a change of the mode as an answer.
fn gemini_chunk(text: &str, reasoning: bool) -> Chunk<'_> {
    if reasoning {
        let thought = text.strip_prefix("****").map(str::trim_start);
        return match thought {
            Some("") => Chunk::Nothing,
            thought => Chunk::Text(thought.unwrap_or(text)),
        };
    }
    let mode = text.trim_end().strip_prefix("[MODE_UPDATE] ");
    let mode = mode.filter(|mode| !mode.contains(char::is_whitespace));
    mode.map_or(Chunk::Text(text), Chunk::Mode)
}

/// Returns true for the text that stands for a call's result in a loaded session
/// of Gemini.
fn is_receipt(text: &str) -> bool {
    let name = text.strip_prefix("[Function Response: ");
    let name = name.and_then(|name| name.strip_suffix(']'));
    name.is_some_and(|name| !name.contains(['[', ' ', '\n']))
}

fn plan(entries: Json<'_>) -> Plan {
    Plan {
        entries: entries.array().into_iter().map(tool::plan_entry).collect(),
        explanation: String::new(),
    }
}

/// Reads a plan of the draft: a list, a text, or a file.
fn planned(json: Json<'_>) -> Plan {
    let fields = json.object();
    let words = [
        fields.get("content"),
        fields.get("markdown"),
        fields.get("uri"),
    ];
    Plan {
        explanation: words
            .into_iter()
            .find_map(Json::str)
            .unwrap_or_default()
            .into_owned(),
        ..plan(fields.get("entries"))
    }
}

fn notice(fields: &Object<'_>, out: &mut Emitter) {
    let level = match fields.get("severity").str().as_deref() {
        Some("warning") => Level::Warning,
        Some("error") => Level::Error,
        _ => Level::Info,
    };
    let words = [
        fields.get("title").string(),
        fields.get("description").string(),
    ];
    let words: Vec<String> = words.into_iter().filter(|text| !text.is_empty()).collect();
    out.notice(level, words.join("\n"));
}
