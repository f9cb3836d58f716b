//! `opencode run --format json`: a line for each finished part. A tool line is
//! both the call and its result. The stream has no prompt, model, running tools,
//! sub-agents or end of the turn: the last step that did not end with calls, or an
//! error, ends the turn.

use super::part::{self, ToolPart};
use super::question;
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
    /// Translates a line; returns false if its type is unknown.
    pub(super) fn line(&mut self, line: &Object<'_>, out: &mut Emitter) -> bool {
        out.time_ms(line.get("timestamp").i64());
        self.session(line.get("sessionID").string(), out);
        let part = line.get("part").object();
        match line.get("type").str().as_deref() {
            Some("step_start") => self.turn.resume(),
            // Only the text after a summary marks it as one.
            Some("text") if part.get("metadata").get("compaction_continue").is_true() => {
                out.compacted("");
            }
            // A user text that OpenCode itself wrote.
            Some("text") if part.get("synthetic").is_true() => {}
            Some("text" | "reasoning") if part.get("text").is_null() => return false,
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
        self.turn.resume();
        let tool = ToolPart::new(part);
        if question::of_call(&tool, out) {
            return;
        }
        out.tool_use(tool.call(&tool.call_id, &tool.names()));
        if tool.progress() == part::Progress::Finished {
            let outcome = tool.outcome(false, out);
            out.tool_result(&tool.call_id, outcome);
        }
    }
}
