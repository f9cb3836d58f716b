//! The sessions of the stream: their agents and turns.

use std::sync::Arc;

use crate::event::{self, Agent, TurnStatus};
use crate::json::Object;
use crate::recent::RecentMap;
use crate::source::Emitter;
use crate::source::opencode::saved::session_data;
use crate::source::opencode::turn::Turn;

/// Sessions that are remembered.
const REMEMBERED: usize = 256;

#[derive(Clone, Default)]
pub(super) struct Sessions {
    known: RecentMap<String, Session, REMEMBERED>,
    /// The last root session.
    root: String,
}

#[derive(Clone, Default)]
pub(super) struct Session {
    /// Its data, as last emitted.
    data: event::Session,
    /// The sub-agent whose session it is.
    agent: Option<Arc<Agent>>,
    pub(super) turn: Turn,
    /// The last retry that was emitted.
    pub(super) attempt: Option<u64>,
    /// The message that the agent is writing.
    pub(super) unfinished: String,
    /// It was reported idle while a message was unfinished.
    pub(super) waiting: bool,
}

impl Sessions {
    /// Returns the session of an event and attributes later events to its agent. An
    /// event without a session belongs to the root.
    pub(super) fn enter(&mut self, id: &str, out: &mut Emitter) -> &mut Session {
        let id = if id.is_empty() { &self.root } else { id }.to_owned();
        if !self.known.contains(&id) {
            let data = event::Session {
                provider: super::super::PROVIDER.name.to_owned(),
                id: id.clone(),
                ..event::Session::default()
            };
            out.agent(None);
            out.session(data.clone());
            self.root.clone_from(&id);
            let session = Session {
                data,
                ..Session::default()
            };
            self.known.insert(id.clone(), session);
        }
        let session = self.known.get_or_insert(&id);
        out.agent(session.agent.clone());
        session
    }

    /// Reads the data of `session.created` and `session.updated`.
    pub(super) fn describe(&mut self, info: &Object<'_>, out: &mut Emitter) {
        let data = session_data(info);
        let parent = info.get("parentID").string();
        if !parent.is_empty() {
            if !self.known.contains(&data.id) {
                self.link(&data.id, &parent, "", &info.get("agent").string());
            }
            return;
        }
        if data.id.is_empty() || self.known.get(&data.id).is_some_and(|s| s.data == data) {
            return;
        }
        out.time_ms(info.get("time").get("updated").i64());
        out.session(data.clone());
        self.root.clone_from(&data.id);
        if let Some(session) = self.known.get_mut(&data.id) {
            session.data = data;
        } else {
            let id = data.id.clone();
            let session = Session {
                data,
                ..Session::default()
            };
            self.known.insert(id.clone(), session);
        }
    }

    /// Makes `child` the session of a sub-agent that `call` in `parent` runs.
    pub(super) fn link(&mut self, child: &str, parent: &str, call: &str, name: &str) {
        let depth = self.known.get(parent).and_then(|session| {
            let agent = session.agent.as_ref()?;
            Some(agent.depth)
        });
        let agent = Agent {
            id: child.to_owned(),
            parent: call.to_owned(),
            depth: depth.unwrap_or_default().saturating_add(1),
            name: name.to_owned(),
        };
        if !self.known.contains(child) {
            self.known.insert(child.to_owned(), Session::default());
        }
        if let Some(session) = self.known.get_mut(child)
            && session.agent.as_deref() != Some(&agent)
        {
            session.agent = Some(Arc::new(agent));
        }
    }

    /// Returns true if a message of this session is unfinished.
    pub(super) fn is_unfinished(&self, id: &str) -> bool {
        self.known
            .get(id)
            .is_some_and(|session| session.turn.is_open() && !session.unfinished.is_empty())
    }

    pub(super) fn is_waiting(&self, id: &str) -> bool {
        self.known.get(id).is_some_and(|session| session.waiting)
    }

    /// Completes the session's turn. A sub-agent's turn has no event of its own.
    pub(super) fn close(&mut self, id: &str, out: &mut Emitter) {
        let Some(session) = self.known.get_mut(id) else {
            return;
        };
        session.end(TurnStatus::Completed, out);
    }

    pub(super) fn finish(&mut self, out: &mut Emitter) {
        for session in self.known.values_mut() {
            let status = if session.waiting {
                TurnStatus::Completed
            } else {
                TurnStatus::Interrupted
            };
            session.cut(status, out);
        }
    }
}

impl Session {
    fn end(&mut self, otherwise: TurnStatus, out: &mut Emitter) {
        let mut turn = std::mem::take(&mut self.turn);
        self.waiting = false;
        self.attempt = None;
        self.unfinished.clear();
        if self.agent.is_none() && turn.is_open() {
            out.agent(None);
            turn.close(otherwise, out);
        }
    }

    /// Ends the turn at the end of the stream. It is interrupted if the session was
    /// never idle, whatever its last step was, unless an error ended it.
    fn cut(&mut self, otherwise: TurnStatus, out: &mut Emitter) {
        if otherwise == TurnStatus::Interrupted {
            self.turn.forget_step();
        }
        self.end(otherwise, out);
    }
}
