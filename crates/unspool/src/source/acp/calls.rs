//! Lifecycle of tool calls: announced, asked for permission, running, ended.

use super::call::{Call, json};
use super::content;
use super::outcome::End;
use super::sessions::Root;
use super::terminal::{self, Terminal};
use super::{Acp, Ended, Program, aider, sessions};
use crate::event::{Category, RawJson, ToolStatus};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::{Emitter, Outcome};
use crate::tool;

/// Maximum number of open calls.
const OPEN_CALLS: usize = 1024;

impl Acp {
    /// Reads a `tool_call` (`announces`) or `tool_call_update`.
    pub(super) fn call_message(
        &mut self,
        session: &str,
        update: Json<'_>,
        announces: bool,
        out: &mut Emitter,
    ) {
        let fields = update.object();
        let id = self.call_id(session, &fields);
        let word = fields.get("status").string();
        if !announces && self.completes_ended(&id, update, out) {
            return;
        }
        self.settle(out);
        if self.is_late(session, &id, &word, announces, out) {
            return;
        }
        self.enter(session, out);
        if !out.is_known(&id) {
            self.sign_of_life(session);
        }
        let mut call = self.take_call(session, &id, &fields, out);
        call.update(&fields);
        self.read_terminal(&mut call, &fields);
        for item in fields.get("content").array() {
            if !content::is_known_item(item) {
                out.unknown(&Frame::new(item.raw()));
            }
        }
        match word.as_str() {
            "completed" | "failed" | "cancelled" => {
                self.announce(&mut call, out);
                let waits = announces && !has_output(&fields);
                self.end_call(call, update, word, waits, out);
                return;
            }
            "in_progress" => self.announce(&mut call, out),
            _ if call.announced => self.announce(&mut call, out),
            _ => {}
        }
        self.show_output(&mut call, out);
        self.keep_call(call);
    }

    fn call_id(&mut self, session: &str, fields: &Object<'_>) -> String {
        let id = fields.get("toolCallId").str().unwrap_or_default();
        self.sessions.call_id(session, &id)
    }

    /// Adds output or exit code to an ended call that waits for them.
    fn completes_ended(&mut self, id: &str, update: Json<'_>, out: &mut Emitter) -> bool {
        let Some(mut ended) = self.ended.take_if(|ended| ended.call.id == id) else {
            return false;
        };
        let fields = update.object();
        ended.call.update(&fields);
        self.read_terminal(&mut ended.call, &fields);
        if has_output(&fields) {
            ended.last = update.into();
        }
        self.announce(&mut ended.call, out);
        let last = ended.last.as_ref().map_or(Json::NULL, RawJson::json);
        self.emit_result(&ended.call, &last.object(), &ended.word, out);
        true
    }

    /// Returns true if a message about an ended call adds nothing. Only a new
    /// announcement or a replay starts the call again.
    fn is_late(
        &mut self,
        session: &str,
        id: &str,
        word: &str,
        announces: bool,
        out: &Emitter,
    ) -> bool {
        let is_open = self.calls.iter().any(|call| call.id == id);
        if is_open || !out.is_known(id) || out.is_open(id) {
            return false;
        }
        let root = self.sessions.root_of(session);
        let replaying = self.sessions.root(&root).replaying;
        let begins = matches!(word, "" | "pending" | "in_progress");
        let begins_again = if announces {
            replaying || begins
        } else {
            replaying && begins && !word.is_empty()
        };
        !begins_again
    }

    /// Removes the open call with this id, or makes a new one.
    fn take_call(
        &mut self,
        session: &str,
        id: &str,
        fields: &Object<'_>,
        out: &mut Emitter,
    ) -> Call {
        if let Some(index) = self.calls.iter().position(|call| call.id == id) {
            return self.calls.remove(index);
        }
        let agent = self.speaker(session, fields, out);
        let root = self.sessions.root_of(session);
        let Root {
            replaying: replayed,
            cwd,
            ..
        } = self.sessions.root(&root);
        let (replayed, cwd) = (*replayed, cwd.clone());
        let mut call = Call::new(id, session, &root, replayed);
        call.own_id = fields.get("toolCallId").string();
        call.agent = agent;
        call.cwd = cwd;
        call.program = self.program;
        call
    }

    fn keep_call(&mut self, call: Call) {
        if self.calls.len() >= OPEN_CALLS {
            self.calls.remove(0);
        }
        self.calls.push(call);
    }

    /// Returns the agent of an update. A call that started a sub-agent is announced
    /// before the sub-agent's events.
    pub(super) fn speaker(
        &mut self,
        session: &str,
        fields: &Object<'_>,
        out: &mut Emitter,
    ) -> Option<std::sync::Arc<crate::event::Agent>> {
        let parent = sessions::parent_call(fields);
        let parent = self.sessions.call_id(session, &parent);
        if self.sessions.is_child(session) {
            self.sessions.started_by(session, &parent);
            return self.sessions.agent_of(session);
        }
        if parent.is_empty() {
            return None;
        }
        if let Some(index) = self.calls.iter().position(|call| call.id == parent) {
            let mut call = self.calls.remove(index);
            if !call.announced {
                self.announce(&mut call, out);
            }
            self.register_agent(&call);
            self.calls.insert(index, call);
        }
        if let Some(agent) = self.sessions.by_call(&parent) {
            return Some(agent);
        }
        let name = fields.get("_meta").get("subagentType").string();
        let name = tool::label(&name);
        Some(self.sessions.add_by_call(&parent, None, name))
    }

    /// Adds the sub-agent that a call starts or may have started.
    fn register_agent(&mut self, call: &Call) {
        if self.sessions.by_call(&call.id).is_none() {
            let caller = call.agent.as_deref();
            self.sessions
                .add_by_call(&call.id, caller, call.agent_name());
        }
    }

    /// Reads an adapter's data about the call's terminal.
    fn read_terminal(&mut self, call: &mut Call, fields: &Object<'_>) {
        let meta = fields.get("_meta").object();
        let keys = [
            "terminal_info",
            "terminal_output",
            "terminal_output_delta",
            "terminal_exit",
        ];
        for (key, value) in keys.map(|key| (key, meta.get(key))) {
            if !value.is_object() {
                continue;
            }
            let named = value.get("terminal_id").string();
            let known = call.terminal.clone().filter(|_| named.is_empty());
            let id = known.unwrap_or(named);
            let terminal = self.terminals.get_or_insert(&id);
            match key {
                "terminal_exit" => terminal.exit(value),
                "terminal_info" => {}
                _ => terminal.append(value.get("data").string().as_bytes()),
            }
            call.terminal = Some(id);
        }
    }

    fn show_output(&mut self, call: &mut Call, out: &mut Emitter) {
        if !call.announced {
            return;
        }
        out.agent(call.agent.clone());
        let new = match &call.terminal {
            Some(id) => self.terminals.get_or_insert(id).take_new(),
            None => call.new_output(),
        };
        out.tool_output(&call.id, new);
    }

    /// Emits the added output of a terminal.
    pub(super) fn terminal_grew(&mut self, terminal: &str, out: &mut Emitter) {
        let shows = |call: &Call| call.terminal.as_deref() == Some(terminal);
        if let Some(index) = self.calls.iter().position(shows) {
            let mut call = self.calls.remove(index);
            self.show_output(&mut call, out);
            self.calls.insert(index, call);
        }
    }

    /// Reads a message about the draft's terminals, which belong to the agent.
    pub(super) fn terminal_message(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let id = fields.get("terminalId").string();
        let target = self.terminals.get_or_insert(&id);
        if fields.get("data").is_string() {
            target.append(&terminal::decode(fields.get("data")));
        }
        let output = fields.get("output").get("data");
        if output.is_string() {
            target.replace(terminal::decode(output));
        }
        target.exit(fields.get("exitStatus"));
        self.terminal_grew(&id, out);
    }

    /// Appends an item to a call's content.
    pub(super) fn content_chunk(&mut self, session: &str, fields: &Object<'_>, out: &mut Emitter) {
        let id = self.call_id(session, fields);
        if let Some(index) = self.calls.iter().position(|call| call.id == id) {
            let mut call = self.calls.remove(index);
            call.add_content(fields.get("content"));
            self.show_output(&mut call, out);
            self.calls.insert(index, call);
        }
    }

    /// Announces the call of a request for permission; returns its id and title.
    pub(super) fn call_asks(
        &mut self,
        session: &str,
        fields: &Object<'_>,
        out: &mut Emitter,
    ) -> (String, String) {
        let id = self.call_id(session, fields);
        let asked = fields.get("title").string();
        let is_open = self.calls.iter().any(|call| call.id == id);
        if id.is_empty() || (!is_open && out.is_known(&id) && !out.is_open(&id)) {
            return (id, asked);
        }
        let mut call = self.take_call(session, &id, fields, out);
        call.permission(fields);
        self.announce(&mut call, out);
        let title = match aider::question(fields, call.title(), json(call.content.as_ref())) {
            Some(question) if self.program == Program::Aider => question,
            _ if asked.is_empty() => call.title().to_owned(),
            _ => asked,
        };
        self.keep_call(call);
        (id, title)
    }

    fn announce(&mut self, call: &mut Call, out: &mut Emitter) {
        if !call.announced && call.ends_message() {
            out.agent(call.agent.clone());
            let owner = self.owner(&call.session, out);
            self.message_ids.end(&owner);
        }
        call.announce(out);
    }

    /// Announces the calls that match.
    pub(super) fn announce_all(&mut self, which: impl Fn(&Call) -> bool, out: &mut Emitter) {
        let mut calls = std::mem::take(&mut self.calls);
        for call in &mut calls {
            if !call.announced && which(call) {
                self.announce(call, out);
            }
        }
        self.calls = calls;
    }

    /// Ends the rejected calls without a result that match.
    pub(super) fn settle_refused(&mut self, which: impl Fn(&Call) -> bool, out: &mut Emitter) {
        let is_refused = |call: &Call| call.refused.is_some() && which(call);
        if !self.calls.iter().any(is_refused) {
            return;
        }
        let (refused, open) = std::mem::take(&mut self.calls)
            .into_iter()
            .partition(is_refused);
        self.calls = open;
        let refused: Vec<Call> = refused;
        for call in refused {
            out.agent(call.agent.clone());
            out.tool_result(
                &call.id,
                Outcome {
                    status: call.refused.unwrap_or(ToolStatus::Rejected),
                    ..Outcome::default()
                },
            );
        }
    }

    /// Ends a call, or lets its end wait for the next message.
    fn end_call(
        &mut self,
        call: Call,
        update: Json<'_>,
        word: String,
        waits: bool,
        out: &mut Emitter,
    ) {
        let terminal = call
            .terminal
            .as_deref()
            .and_then(|id| self.terminals.get(id));
        if waits || terminal.is_some_and(|terminal| !terminal.exited) {
            self.ended = Some(Ended {
                call,
                last: update.into(),
                word,
            });
        } else {
            self.emit_result(&call, &update.object(), &word, out);
        }
    }

    pub(super) fn emit_result(
        &mut self,
        call: &Call,
        last: &Object<'_>,
        word: &str,
        out: &mut Emitter,
    ) {
        let root = self.sessions.root(&call.root);
        let (canceled, reject_all) = (root.canceled, root.reject_all);
        let terminal: Option<&Terminal> = call
            .terminal
            .as_deref()
            .and_then(|id| self.terminals.get(id));
        let outcome = call.outcome(
            last,
            &End {
                word,
                terminal,
                canceled,
                reject_all,
            },
            out,
        );
        if call.category() == Category::Task {
            self.register_agent(call);
        }
        out.agent(call.agent.clone());
        out.replayed(call.replayed);
        if call.is_compaction() && outcome.status == ToolStatus::Ok {
            out.compacted("");
        }
        out.tool_result(&call.id, outcome);
        if let Some(id) = &call.terminal {
            self.terminals.remove(id);
        }
    }
}

/// Returns true if a message contains output of a call.
fn has_output(fields: &Object<'_>) -> bool {
    let content = fields.get("content").array();
    let kinds = content.iter().map(|item| item.get("type").string());
    !fields.get("rawOutput").is_null() || kinds.into_iter().any(|kind| kind != "terminal")
}
