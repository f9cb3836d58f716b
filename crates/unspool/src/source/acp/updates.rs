//! `session/update`: everything that an agent tells without being asked.

use super::content::{Wording, block_text, message_text};
use super::sessions::Fault;
use super::{Acp, NAME, Said, answers, usage};
use crate::event::{Agent, Category, Level, Plan, Session, ToolStatus};
use crate::json::{Json, Object};
use crate::source::{self, Emitter, Outcome};
use crate::tool;

/// Bytes of an answer that are kept.
const WORDS: usize = 4096;

impl Acp {
    /// Translates one update; `false` if its kind is not known.
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
                let words = Wording::of(fields.get("content"));
                self.user_text(&session, &words, out);
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

    /// What follows belongs to this session.
    pub(super) fn enter(&mut self, session: &str, out: &mut Emitter) {
        self.sessions.notice_id(session);
        let root = self.sessions.root_of(session);
        self.open_session(&root, out);
        out.conversation(&root);
        out.agent(self.sessions.agent_of(session));
    }

    /// The agent works: where its prompts are not in the input, a turn began.
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
            self.empty_chunk(session, content, fields, out);
            return;
        }
        let text = match gemini_words(&text, reasoning) {
            Words::Said(text) => text,
            Words::Mode(mode) => {
                self.others_first(session, out);
                out.agent(None);
                return self.word("mode", mode, out);
            }
            Words::Nothing => return,
        };
        if !reasoning && self.takes_fault(session) {
            self.sign_of_life(session);
            self.others_first(session, out);
            self.remember_words(text);
            out.notice(Level::Error, text.trim());
            return;
        }
        if self.is_aider {
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

    /// Whether a message is the error that was announced before it.
    fn takes_fault(&mut self, session: &str) -> bool {
        if self.sessions.is_child(session) {
            return false;
        }
        let Some(root) = self.sessions.known_root(session) else {
            return false;
        };
        let takes = root.fault == Fault::Known;
        if takes {
            root.fault = Fault::Told;
        }
        takes
    }

    /// Passes a piece of a message on.
    pub(super) fn say(
        &mut self,
        session: &str,
        message: &str,
        text: &str,
        reasoning: bool,
        out: &mut Emitter,
    ) {
        let agent = out.current_agent();
        self.sign_of_life(session);
        self.others_first(session, out);
        self.sessions.spoke(session);
        out.agent(agent);
        let owner = self.owner(session, out);
        let id = self.message_ids.id(&owner, reasoning, message);
        if reasoning {
            out.reasoning_delta(id.as_deref(), text);
        } else {
            self.remember_words(text);
            out.text_delta(id.as_deref(), text);
        }
    }

    /// Tells of the calls that were waiting for their turn: words follow.
    pub(super) fn others_first(&mut self, session: &str, out: &mut Emitter) {
        self.announce_all(|call| call.session == session, out);
        self.settle_refused(|call| call.session == session, out);
    }

    fn remember_words(&mut self, text: &str) {
        if self.last_words.len() > WORDS {
            self.last_words.clear();
        }
        self.last_words.push_str(text);
    }

    /// A chunk without words: a picture, or Qwen's count of a model call.
    fn empty_chunk(
        &mut self,
        session: &str,
        content: Json<'_>,
        fields: &Object<'_>,
        out: &mut Emitter,
    ) {
        let root = self.sessions.root_of(session);
        // What a loaded session once used was counted when it ran.
        if !self.sessions.root(&root).replaying
            && let Some(usage) = usage::tokens(fields.get("_meta").get("usage"))
        {
            out.usage(usage);
        }
        if matches!(
            content.get("type").str().as_deref(),
            Some("image" | "audio")
        ) {
            out.state("content", content);
        }
    }

    /// The draft's whole messages. An empty one only says that chunks follow.
    fn whole_message(
        &mut self,
        session: &str,
        fields: &Object<'_>,
        reasoning: bool,
        out: &mut Emitter,
    ) {
        let text = message_text(fields.get("content"));
        if text.is_empty() {
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
    }

    fn user_chunk(&mut self, session: &str, fields: &Object<'_>, out: &mut Emitter) {
        let message = fields.get("messageId").string();
        let words = Wording::of(fields.get("content"));
        if is_receipt(&words.text) {
            self.settle(out);
            self.enter(session, out);
            out.end_message();
            return;
        }
        if let Some(said) = &mut self.said
            && said.message == message
            && said.session == session
        {
            said.words.add(fields.get("content"));
            return;
        }
        self.settle(out);
        self.enter(session, out);
        if self.is_echo(session, &words.text) {
            return;
        }
        self.begin_replay(session);
        self.said = Some(Said {
            session: session.to_owned(),
            message,
            words,
        });
    }

    fn user_text(&mut self, session: &str, words: &Wording, out: &mut Emitter) {
        if !words.text.is_empty() && !self.is_echo(session, &words.text) {
            self.user_said(session, words, out);
        }
    }

    fn is_echo(&mut self, session: &str, text: &str) -> bool {
        !self.sessions.is_child(session) && self.sessions.root(session).is_echo(text)
    }

    /// In protocol 1 only a session that is loaded repeats what a person said;
    /// in the draft, the state tells whether a turn runs.
    fn begin_replay(&mut self, session: &str) {
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

    /// Tokens are counted when a model call is over: where messages have no
    /// ids, the next words are another's, unless these stop half-way.
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
            Some("systemError") => root.fault = Fault::Known,
            Some("active") => root.fault = Fault::None,
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

    /// The draft's turns.
    fn state_update(&mut self, session: &str, fields: &Object<'_>, out: &mut Emitter) {
        if self.sessions.is_child(session) {
            return;
        }
        let root = self.sessions.root(session);
        let reason = fields.get("stopReason").string();
        match fields.get("state").str().as_deref() {
            Some("running" | "requires_action") => root.running = true,
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
                self.end_errand(session, &agent, fields.get("state"), out);
            }
        }
    }

    /// The work of a sub-agent is over. Some adapters name the call that it was
    /// given with, but do not tell of the call itself.
    fn end_errand(&self, session: &str, agent: &Agent, state: Json<'_>, out: &mut Emitter) {
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

    /// What agents say to each other comes in both their sessions: the task
    /// counts where it is received, the report only if its sender said
    /// nothing in its own session.
    fn session_message(&mut self, session: &str, fields: &Object<'_>, out: &mut Emitter) {
        let recipient = fields.get("recipientSessionId").string();
        let sender = fields.get("senderSessionId").string();
        let message = fields.get("messageId").string();
        let content = fields.get("content");
        if self.sessions.is_child(&recipient) && !self.sessions.is_child_of(&sender, &recipient) {
            // Claude's adapter gives the task the id of the call.
            if message.starts_with("toolu_") {
                let call = self.sessions.call_id(&recipient, &message);
                self.sessions.started_by(&recipient, &call);
            }
            if session == recipient {
                self.user_said(&recipient, &Wording::of(content), out);
            }
        } else if !self.sessions.has_spoken(&sender) {
            out.agent(self.sessions.agent_of(&sender));
            out.text(None, message_text(content));
        }
    }

    fn compaction(&mut self, update: Json<'_>, out: &mut Emitter) {
        let fields = update.object();
        out.state("compaction", update);
        let error = fields.get("error");
        let words = error
            .str()
            .unwrap_or_else(|| error.get("message").display());
        out.notice(Level::Error, words);
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

/// What a chunk is.
enum Words<'a> {
    Said(&'a str),
    Mode(&'a str),
    Nothing,
}

/// Gemini puts an empty title before a thought that has none, and says as an
/// answer that the mode has changed.
fn gemini_words(text: &str, reasoning: bool) -> Words<'_> {
    if reasoning {
        let words = text.strip_prefix("****").map(str::trim_start);
        return match words {
            Some("") => Words::Nothing,
            words => Words::Said(words.unwrap_or(text)),
        };
    }
    let mode = text.trim_end().strip_prefix("[MODE_UPDATE] ");
    let mode = mode.filter(|mode| !mode.contains(char::is_whitespace));
    mode.map_or(Words::Said(text), Words::Mode)
}

/// Gemini's word, in a session that is loaded, for the result of a call that it
/// sends as a call.
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

/// The draft's plans are lists, or texts in a file or on the wire.
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
