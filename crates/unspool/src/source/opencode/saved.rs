//! Saved sessions: `opencode export` (`{info, messages}`), single messages of the
//! server (`{info, parts}`), and the storage of older versions, which has a file
//! for each session, message and part.
//!
//! Sub-agents are sessions in attached files. They are replayed inside the call
//! that started them, or at the end if no call refers to them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::message::{attachment, is_from_user, other_part, user_part};
use super::part::{self, Progress, ToolPart};
use super::question;
use super::turn::Turn;
use crate::event::{Agent, Media, Session, TurnStatus};
use crate::json::{Json, Object};
use crate::source::Emitter;

pub(super) use store::session as session_data;
use store::{Store, Transcript};

mod store;

/// Maximum depth of nested sub-agents.
const DEEPEST: u32 = 32;

#[derive(Clone, Default)]
pub(super) struct Saved {
    store: Store,
    state: State,
}

#[derive(Clone, Default)]
struct State {
    session: Session,
    turn: Turn,
    /// Sessions that were replayed.
    replayed: BTreeSet<String>,
}

impl Saved {
    pub(super) fn attach(&mut self, bytes: &[u8]) {
        self.store.add(&String::from_utf8_lossy(bytes));
    }

    pub(super) fn export(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
        self.player().root(&Transcript::export(fields), out);
        true
    }

    pub(super) fn stored(&mut self, info: Json<'_>, out: &mut Emitter) -> bool {
        let messages = self.store.messages(&info.get("id").string());
        let transcript = Transcript { info, messages };
        let mut player = Player {
            store: &self.store,
            state: &mut self.state,
        };
        player.root(&transcript, out);
        true
    }

    pub(super) fn message(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
        let info = fields.get("info").object();
        let session = Session {
            id: info.get("sessionID").string(),
            model: info.get("modelID").string(),
            cwd: info.get("path").get("cwd").string(),
            ..Session::default()
        };
        out.time_ms(info.get("time").get("created").i64());
        self.state.announce(session, out);
        let parts = fields.get("parts").array();
        self.player().message(&info, &parts, None, out);
        true
    }

    pub(super) fn finish(&mut self, out: &mut Emitter) {
        let mut player = self.player();
        for id in player.store.session_ids() {
            player.child(&id, "", "", 1, out);
        }
        out.agent(None);
        out.time_ms(None);
        self.state.turn.close(TurnStatus::Interrupted, out);
    }

    fn player(&mut self) -> Player<'_> {
        Player {
            store: &self.store,
            state: &mut self.state,
        }
    }
}

impl State {
    /// Emits the session if it is new or more is known of it.
    fn announce(&mut self, session: Session, out: &mut Emitter) {
        if session.id != self.session.id {
            self.turn.close(TurnStatus::Interrupted, out);
            self.session = Session {
                provider: super::PROVIDER.name.to_owned(),
                ..session
            };
            out.session(self.session.clone());
        } else if self.session.model.is_empty() && !session.model.is_empty() {
            self.session.model = session.model;
            self.session.cwd = session.cwd;
            out.session(self.session.clone());
        }
    }
}

impl State {
    /// Emits the session again if another model goes on.
    fn name_model(&mut self, model: String, out: &mut Emitter) {
        if !model.is_empty() && !self.session.id.is_empty() && model != self.session.model {
            self.session.model = model;
            out.session(self.session.clone());
        }
    }
}

/// Replays transcripts and the sub-agents that they refer to.
struct Player<'a> {
    store: &'a Store,
    state: &'a mut State,
}

impl Player<'_> {
    fn root(&mut self, transcript: &Transcript<'_>, out: &mut Emitter) {
        let session = transcript.session();
        self.state.replayed.insert(session.id.clone());
        out.time_ms(transcript.info.get("time").get("created").i64());
        self.state.announce(session, out);
        self.messages(transcript, None, out);
    }

    fn messages(
        &mut self,
        transcript: &Transcript<'_>,
        agent: Option<&Arc<Agent>>,
        out: &mut Emitter,
    ) {
        for (info, parts) in &transcript.messages {
            self.message(&info.object(), parts, agent, out);
        }
    }

    fn message(
        &mut self,
        info: &Object<'_>,
        parts: &[Json<'_>],
        agent: Option<&Arc<Agent>>,
        out: &mut Emitter,
    ) {
        out.agent(agent.cloned());
        out.time_ms(info.get("time").get("created").i64());
        if info.get("role").str().as_deref() == Some("user") {
            self.user(parts, out);
        } else {
            self.assistant(info, parts, agent, out);
        }
    }

    fn user(&mut self, parts: &[Json<'_>], out: &mut Emitter) {
        let is_root = out.current_agent().is_none();
        if is_root && parts.iter().any(|part| is_from_user(&part.object())) {
            self.state.turn.close(TurnStatus::Interrupted, out);
            self.state.turn.touch();
        }
        let mut media: Vec<Media> = parts.iter().filter_map(|p| attachment(*p, out)).collect();
        for part in parts {
            let fields = part.object();
            let is_text = fields.get("type").str().as_deref() == Some("text")
                && !fields.get("synthetic").is_true();
            if is_text && !media.is_empty() {
                let media = std::mem::take(&mut media);
                out.user_with_media(fields.get("text").payload(), media, false);
            } else if attachment(*part, out).is_none() {
                user_part(*part, out);
            }
        }
        out.user_with_media("", media, false);
    }

    fn assistant(
        &mut self,
        info: &Object<'_>,
        parts: &[Json<'_>],
        agent: Option<&Arc<Agent>>,
        out: &mut Emitter,
    ) {
        if agent.is_none() {
            self.state.name_model(info.get("modelID").string(), out);
        }
        let mut turn = match agent {
            None => std::mem::take(&mut self.state.turn),
            Some(_) => Turn::default(),
        };
        turn.resume();
        let completed = info.get("time").get("completed").i64();
        let mut stepped = false;
        for json in parts {
            // A step has no time; it ends with its message.
            if json.get("type").str().as_deref() == Some("step-finish") {
                stepped = true;
                out.time_ms(completed);
            }
            self.assistant_part(*json, agent, &mut turn, out);
        }
        out.time_ms(completed);
        if !stepped {
            part::usage(info, out);
            turn.step(&info.get("finish").string());
        }
        if info.get("error").is_object() {
            turn.fail(info.get("error"), out);
        }
        if agent.is_none() {
            self.state.turn = turn;
        }
    }

    fn assistant_part(
        &mut self,
        json: Json<'_>,
        agent: Option<&Arc<Agent>>,
        turn: &mut Turn,
        out: &mut Emitter,
    ) {
        let part = json.object();
        let start = part.get("time").get("start").i64();
        if start.is_some() {
            out.time_ms(start);
        }
        let id = part.get("id").str();
        match part.get("type").str().as_deref() {
            Some("text") if part.get("synthetic").is_true() => {}
            Some("text") => out.text(id.as_deref(), part.get("text").payload()),
            Some("reasoning") => out.reasoning(id.as_deref(), part.get("text").payload()),
            Some("tool") => self.tool(&ToolPart::new(&part), agent, out),
            Some("step-finish") => {
                part::usage(&part, out);
                turn.step(&part.get("reason").string());
            }
            _ => other_part(json, out),
        }
    }

    fn tool(&mut self, tool: &ToolPart<'_>, agent: Option<&Arc<Agent>>, out: &mut Emitter) {
        let key = if out.is_open(&tool.call_id) {
            // The sub-agent's model chose the id of the call that runs it.
            &tool.id
        } else {
            &tool.call_id
        };
        let (start, end) = tool.times();
        if start.is_some() {
            out.time_ms(start);
        }
        if question::of_call(tool, out) {
            return;
        }
        out.tool_use(tool.call(key, &tool.names()));
        if let Some(child) = tool.child() {
            let time = out.current_time();
            let parent = out.emitted_id(key).unwrap_or(key).to_owned();
            let depth = agent.map_or(0, |agent| agent.depth) + 1;
            self.child(&child, &parent, &tool.agent_name(), depth, out);
            out.agent(agent.cloned());
            out.time(time.map(Into::into));
        }
        if tool.progress() == Progress::Finished {
            if end.is_some() {
                out.time_ms(end);
            }
            let outcome = tool.outcome(false, out);
            out.tool_result(key, outcome);
        } else if let Some(output) = tool.output_so_far() {
            out.tool_output(key, output);
        }
    }

    /// Replays a sub-agent's session, once.
    fn child(&mut self, id: &str, parent: &str, name: &str, depth: u32, out: &mut Emitter) {
        if depth > DEEPEST || self.state.replayed.contains(id) {
            return;
        }
        let store = self.store;
        let Some(transcript) = store.transcript(id) else {
            return;
        };
        self.state.replayed.insert(id.to_owned());
        let agent = Arc::new(Agent {
            id: id.to_owned(),
            parent: parent.to_owned(),
            depth,
            name: if name.is_empty() {
                transcript.agent_name()
            } else {
                name.to_owned()
            },
        });
        self.messages(&transcript, Some(&agent), out);
    }
}
