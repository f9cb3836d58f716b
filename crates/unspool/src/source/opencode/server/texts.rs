//! Texts and reasoning that are being streamed.

use std::collections::HashMap;

use crate::json::{Json, Object};
use crate::source::Emitter;

#[derive(Clone, Default)]
pub(super) struct Texts(HashMap<String, Text>);

#[derive(Clone)]
struct Text {
    session: String,
    kind: Kind,
    /// Bytes that were emitted.
    emitted: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    Answer,
    Reasoning,
    /// Text of OpenCode for the model.
    Hidden,
}

impl Texts {
    /// Reads a part, which contains the whole text so far; `delta` is its last
    /// addition, if the server sends it.
    pub(super) fn update(
        &mut self,
        part: &Object<'_>,
        delta: Json<'_>,
        ended: bool,
        out: &mut Emitter,
    ) {
        let id = part.get("id").string();
        let kind = match part.get("type").str().as_deref() {
            _ if part.get("synthetic").is_true() => Kind::Hidden,
            Some("reasoning") => Kind::Reasoning,
            _ => Kind::Answer,
        };
        if ended {
            self.0.remove(&id);
            let text = part.get("text").payload();
            match kind {
                Kind::Answer => out.text(Some(&id), text),
                Kind::Reasoning => out.reasoning(Some(&id), text),
                Kind::Hidden => {}
            }
            return;
        }
        let session = part.get("sessionID").string();
        let text = self.0.entry(id.clone()).or_insert(Text {
            session,
            kind,
            emitted: 0,
        });
        let whole = part.get("text").str().unwrap_or_default();
        match delta.str() {
            Some(delta) => text.emit(&id, &delta, out),
            None => text.emit(&id, whole.get(text.emitted..).unwrap_or_default(), out),
        }
    }

    pub(super) fn delta(&mut self, session: &str, id: &str, delta: &str, out: &mut Emitter) {
        let text = self.0.entry(id.to_owned()).or_insert_with(|| Text {
            session: session.to_owned(),
            kind: Kind::Answer,
            emitted: 0,
        });
        text.emit(id, delta, out);
    }

    /// Forgets the texts of a session at the end of its turn.
    pub(super) fn forget(&mut self, session: &str) {
        self.0.retain(|_, text| text.session != session);
    }
}

impl Text {
    fn emit(&mut self, id: &str, delta: &str, out: &mut Emitter) {
        self.emitted += delta.len();
        match self.kind {
            Kind::Answer => out.text_delta(Some(id), delta),
            Kind::Reasoning => out.reasoning_delta(Some(id), delta),
            Kind::Hidden => {}
        }
    }
}
