//! Claude Code: output of `claude -p` and saved sessions.
//!
//! Shapes: `--output-format stream-json` with and without partial messages and
//! control messages, `--output-format json` (one result object, or an array of
//! the stream's lines), and saved sessions with the records of their
//! sub-agents in `<session>/subagents/`.
//!
//! A live line and a saved record have the same fields in two spellings. A line
//! usually holds one block of a message. The end of a turn differs: a live
//! stream has a `result` line, a saved session only the stop reason of the last
//! message ([`turn`]). Lines of sub-agents are part of a live stream. Saved
//! sessions have them in separate files, which are replayed right after the call
//! that started the sub-agent ([`agents`]).

use std::borrow::Cow;
use std::sync::Arc;

use super::{Chat, Emitter, Headless, Provider, Source, ToolNames};
use crate::event::{Agent, Category, Level, Session};
use crate::frame::Frame;
use crate::json::Json;

use agents::Agents;
use block_ids::BlockIds;
use calls::Calls;
use tasks::Tasks;
use turn::Turn;
use wire::{Block, Content, Line, SYNTHETIC};

mod agents;
mod block_ids;
mod calls;
mod edits;
mod recognise;
mod result;
mod sessions;
mod sideband;
mod system;
mod tasks;
#[cfg(test)]
mod tests;
mod turn;
mod usage;
mod user;
mod wire;

pub(crate) const PROVIDER: Provider =
    Provider::new("claude", recognise::recognise, || Box::<Claude>::default())
        .with_title("Claude Code")
        .with_about("Claude Code: live streams, JSON results, saved sessions")
        .with_example("claude -p \"…\" --output-format stream-json --verbose | unspool events")
        .with_tools(TOOLS)
        .with_headless(Headless::new("claude", &["-p"]).followed_by(&[
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-partial-messages",
        ]))
        .with_chat(Chat::new(
            &["claude-agent-acp"],
            "npm install -g @agentclientprotocol/claude-agent-acp",
        ))
        .with_saved(sessions::SAVED);

const TOOLS: ToolNames = &[
    (
        Category::Read,
        &[
            "notebookread",
            "readmcpresourcetool",
            "listmcpresourcestool",
        ],
    ),
    (Category::Edit, &["notebookedit"]),
    (Category::Search, &["toolsearch"]),
    (
        Category::Execute,
        &[
            "bashoutput",
            "killshell",
            "killbash",
            "powershell",
            "monitor",
        ],
    ),
    (
        Category::Plan,
        &[
            "taskcreate",
            "taskupdate",
            "tasklist",
            "taskget",
            "enterplanmode",
            "exitplanmode",
        ],
    ),
    (
        Category::Task,
        &[
            "sendmessage",
            "listagents",
            "taskstop",
            "taskoutput",
            "agentoutputtool",
            "workflow",
        ],
    ),
];

#[derive(Clone, Default)]
struct Claude {
    session: Session,
    /// The session as it was last emitted.
    emitted: Option<Session>,
    /// The sub-agent whose saved record is being replayed.
    replayed: Option<Arc<Agent>>,
    /// A message of the root conversation was seen.
    has_root: bool,
    agents: Agents,
    block_ids: BlockIds,
    calls: Calls,
    tasks: Tasks,
    turn: Turn,
    usage: usage::Emitted,
}

impl Source for Claude {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        match Line::parse(frame.text) {
            Some(line) => self.line(&line, frame, out),
            None => out.unknown(frame),
        }
    }

    fn finish(&mut self, out: &mut Emitter) {
        while let Some(record) = self.agents.take_next(&self.session.forked_from) {
            self.replay(&record, out);
        }
        out.end_of_input();
        self.turn.flush(out);
    }

    fn attach(&mut self, name: &str, bytes: &[u8]) {
        self.agents.attach(name, bytes);
    }
}

impl Claude {
    fn line(&mut self, line: &Line<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        out.time(line.timestamp.str());
        let agent = self.agent_of(line);
        let kind = line.kind.str().unwrap_or_default();
        match kind.as_ref() {
            "assistant" | "user" => {
                self.introduce(line, out);
                self.has_root |= agent.is_none();
                out.agent(agent);
                if kind == "user" {
                    self.user(line, frame, out);
                } else {
                    self.assistant(line, frame, out);
                }
            }
            "stream_event" => {
                self.introduce(line, out);
                out.agent(agent);
                self.stream_event(line, frame, out);
            }
            kind => {
                out.agent(agent);
                self.sideband(kind, line, frame, out);
            }
        }
    }

    /// Returns the sub-agent that a line belongs to.
    fn agent_of(&mut self, line: &Line<'_>) -> Option<Arc<Agent>> {
        if let Some(agent) = &self.replayed {
            return Some(Arc::clone(agent));
        }
        if let Some(call) = line.parent_call.str() {
            return Some(self.agents.of_call(&call, line));
        }
        line.is_sidechain
            .is_true()
            .then(|| self.agents.of_sidechain(line))
    }

    /// Emits the session before the first other event.
    fn introduce(&mut self, line: &Line<'_>, out: &mut Emitter) {
        let says_more =
            line.is_saved() && self.session.version.is_empty() && !line.version.is_null();
        if self.emitted.is_some() && !says_more {
            return;
        }
        let id = if line.is_saved() {
            line.saved_in
        } else {
            line.session_id
        };
        self.session.id = id.string();
        if line.is_saved() {
            self.session.version = line.version.string();
            self.session.cwd = line.cwd.string();
            self.session.forked_from = line.origin_session();
        }
        self.emit_session(out);
    }

    /// Emits the session if anything in it is new.
    fn emit_session(&mut self, out: &mut Emitter) {
        PROVIDER.name.clone_into(&mut self.session.provider);
        if self.emitted.as_ref() != Some(&self.session) {
            let agent = out.current_agent();
            out.agent(None);
            out.session(self.session.clone());
            out.agent(agent);
            self.emitted = Some(self.session.clone());
        }
    }

    fn assistant(&mut self, line: &Line<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        if out.current_agent().is_none() {
            self.model(line, out);
        }
        match &line.message.content {
            Content::Blocks(blocks) => {
                for (place, block) in (0..).zip(blocks) {
                    let id = self.block_ids.id(line, (blocks.len() > 1).then_some(place));
                    self.assistant_block(block, id.as_deref(), line, frame, out);
                }
            }
            Content::Text(text) => self.synthetic_text(Json::NULL, text.clone(), line, out),
            Content::Nothing => out.unknown(frame),
        }
        if line.is_saved() && self.is_leading(out) {
            self.turn.answered(line, out);
        }
    }

    /// Returns true if the current agent's turns are the session's turns: for the
    /// root agent, or for a sub-agent whose record is the input.
    fn is_leading(&self, out: &Emitter) -> bool {
        out.current_agent().is_none() || (self.replayed.is_none() && !self.has_root)
    }

    /// Takes the model from a message: saved sessions, and live streams without
    /// their first line, name it nowhere else.
    fn model(&mut self, line: &Line<'_>, out: &mut Emitter) {
        let known = !self.session.model.is_empty();
        if known && !line.is_saved() {
            return;
        }
        let model = line.message.model.str().unwrap_or_default();
        if !model.is_empty() && model != SYNTHETIC && model != self.session.model {
            self.session.model = model.into_owned();
            self.emit_session(out);
        }
    }

    fn assistant_block(
        &mut self,
        block: &Block<'_>,
        id: Option<&str>,
        line: &Line<'_>,
        frame: &Frame<'_>,
        out: &mut Emitter,
    ) {
        match block.kind.str().as_deref() {
            Some("text") if line.is_synthetic() => {
                let text = block.text.str().unwrap_or_default();
                self.synthetic_text(block.text, text, line, out);
            }
            Some("text") if !block.text.is_null() => out.text(id, block.text.payload()),
            Some("thinking") if !block.thinking.is_null() => {
                out.reasoning(id, block.thinking.payload());
            }
            // Encrypted.
            Some("redacted_thinking") => {}
            Some(kind) if kind.ends_with("tool_use") => self.call(block, line, out),
            Some(kind) if kind.ends_with("tool_result") => {
                self.result_block(block, line, true, out);
            }
            _ => out.unknown(frame),
        }
        self.message_usage(line, out);
        if let Some(record) = self.agents.take_started() {
            self.replay(&record, out);
        }
    }

    /// Emits text that Claude Code itself wrote: an API error, or the output of a
    /// slash command.
    fn synthetic_text(
        &mut self,
        json: Json<'_>,
        text: Cow<'_, str>,
        line: &Line<'_>,
        out: &mut Emitter,
    ) {
        if line.is_error() {
            self.turn.error_shown(&text);
            out.notice(Level::Error, text);
        } else if text != "No response requested." {
            // A placeholder in saved sessions for an answer that was not requested.
            let payload = if json.is_null() {
                text.into()
            } else {
                json.payload()
            };
            out.text(None, payload);
        }
    }

    /// Replays the saved record of a sub-agent.
    fn replay(&mut self, record: &agents::Record, out: &mut Emitter) {
        let depth = out.current_agent().map_or(0, |agent| agent.depth);
        let outer = self.replayed.replace(record.agent(depth));
        out.replay(&record.text, |frame, out| self.frame(frame, out));
        self.replayed = outer;
    }
}
