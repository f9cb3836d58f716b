//! The session of aider's server: passes its messages through aider's own reader.

use super::{Acp, content};
use crate::event::ToolStatus;
use crate::json::{Json, Object};
use crate::source::Emitter;
use crate::source::aider::acp::{self as aider, Piece};

pub(super) use aider::{NAME, Speech, has_failed, is_question};

impl Acp {
    /// Takes a chunk of a message or of thinking.
    pub(super) fn aider_chunk(
        &mut self,
        session: &str,
        text: &str,
        reasoning: bool,
        out: &mut Emitter,
    ) {
        if reasoning || self.speech.session != session {
            self.end_speech(out);
        }
        session.clone_into(&mut self.speech.session);
        let pieces = if reasoning {
            self.speech.thought(text)
        } else {
            let mut pieces = Vec::new();
            self.speech.chunk(text, &mut pieces);
            pieces
        };
        self.emit_pieces(pieces, out);
    }

    /// Emits everything that is held back.
    pub(super) fn end_speech(&mut self, out: &mut Emitter) {
        let mut pieces = Vec::new();
        self.speech.end(&mut pieces);
        self.emit_pieces(pieces, out);
    }

    fn emit_pieces(&mut self, pieces: Vec<Piece>, out: &mut Emitter) {
        let session = self.speech.session.clone();
        if !pieces.is_empty() {
            self.turn_to(&session, out);
        }
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    out.agent(self.sessions.agent_of(&session));
                    self.say(&session, "", &text, false, out);
                }
                Piece::Thought(text) => {
                    out.agent(self.sessions.agent_of(&session));
                    self.say(&session, "", &text, true, out);
                }
                Piece::Edits(edits) => {
                    out.agent(self.sessions.agent_of(&session));
                    out.end_message();
                    out.edits(edits);
                }
                Piece::Notice(level, text) => {
                    if text == aider::WENT_ON {
                        self.refuse_all(&session);
                    }
                    self.others_first(&session, out);
                    out.agent(self.sessions.agent_of(&session));
                    out.end_message();
                    out.notice(level, text);
                }
            }
        }
    }

    /// Refuses the calls that did not start: the agent continues without them.
    fn refuse_all(&mut self, session: &str) {
        let waiting = |call: &&mut super::Call| call.session == session && !call.started;
        for call in self.calls.iter_mut().filter(waiting) {
            call.refused.get_or_insert(ToolStatus::Rejected);
        }
    }
}

/// Returns the question of a request for permission that is not about the call as
/// such.
pub(super) fn question(call: &Object<'_>, title: &str, content: Json<'_>) -> Option<String> {
    let asked = content::tool_text(call.get("content"));
    let subject = content::tool_text(content);
    aider::question(asked, title, content::unfenced(&subject))
}
