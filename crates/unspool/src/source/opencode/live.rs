//! `opencode run --format json`: a line for each part that is finished. A tool
//! line is the call and its result in one. The prompt, the model, running
//! tools, sub-agents' work and the end of the turn are not in this stream; the
//! last step that did not end in calls, or an error, closes the turn.

use super::part::{self, ToolPart};
use super::turn::Turn;
use crate::event::{Session, TurnStatus};
use crate::json::Object;
use crate::source::Emitter;

#[derive(Clone, Default)]
pub(super) struct Live {
    session: String,
    turn: Turn,
}

impl Live {
    /// Translates one line; false if its type is not known.
    pub(super) fn line(&mut self, line: &Object<'_>, out: &mut Emitter) -> bool {
        out.time_ms(line.get("timestamp").i64());
        self.session(line.get("sessionID").string(), out);
        let part = line.get("part").object();
        match line.get("type").str().as_deref() {
            Some("step_start") => self.turn.go_on(),
            // Only what follows a summary tells that it was one.
            Some("text") if part.get("metadata").get("compaction_continue").is_true() => {
                out.compacted("");
            }
            // What OpenCode says to itself in the user's place.
            Some("text") if part.get("synthetic").is_true() => {}
            Some("text") => {
                self.turn.touch();
                out.text(part.get("id").str().as_deref(), part.get("text").payload());
            }
            Some("reasoning") => {
                self.turn.touch();
                out.reasoning(part.get("id").str().as_deref(), part.get("text").payload());
            }
            Some("tool_use") => self.tool(&part, out),
            Some("step_finish") => {
                part::usage(&part, out);
                self.turn.step(&part.get("reason").string());
            }
            Some("error") => self.turn.fail(line.get("error"), out),
            _ => return false,
        }
        true
    }

    pub(super) fn finish(&mut self, out: &mut Emitter) {
        self.turn.close(TurnStatus::Interrupted, out);
    }

    fn session(&mut self, id: String, out: &mut Emitter) {
        if id == self.session {
            return;
        }
        self.turn.close(TurnStatus::Interrupted, out);
        out.session(Session {
            provider: super::PROVIDER.name.to_owned(),
            id: id.clone(),
            ..Session::default()
        });
        self.session = id;
    }

    fn tool(&mut self, part: &Object<'_>, out: &mut Emitter) {
        self.turn.go_on();
        let tool = ToolPart::new(part);
        out.tool_use(tool.call(&tool.call_id, &tool.names()));
        if tool.progress() == part::Progress::Finished {
            out.tool_result(&tool.call_id, tool.outcome(false));
        }
    }
}
