//! The `result` line: the end of a live turn, or the whole output of
//! `--output-format json`.
//!
//! `subtype` is `success` for failed requests too, so `is_error` decides, and
//! `terminal_reason` is the reason. The text repeats the agent's last message,
//! unless it is structured output.

use super::Claude;
use super::turn;
use super::usage::of_message;
use super::wire::Line;
use crate::event::{Level, TurnEnd, TurnStatus};
use crate::json::{Json, Object};
use crate::source::{Emitter, usage};

impl Claude {
    pub(super) fn result(&mut self, line: &Line<'_>, fields: &Object<'_>, out: &mut Emitter) {
        let models = fields.get("modelUsage");
        if self.session.model.is_empty()
            && let [(model, _)] = models.object().iter().collect::<Vec<_>>().as_slice()
        {
            (*model).clone_into(&mut self.session.model);
        }
        self.introduce(line, out);
        let end = self.end_of(fields);
        self.stop_withdrawn(out);
        self.last_words(&end, fields, out);
        let cost = fields.get("total_cost_usd");
        if models.object().is_empty() {
            usage::emit(of_message(fields.get("usage")), out);
        }
        self.total(models, cost, out);
        self.turn.close();
        out.turn_end(end);
    }

    fn end_of(&self, fields: &Object<'_>) -> TurnEnd {
        let subtype = fields.get("subtype").string();
        let reason = fields.get("terminal_reason").string();
        let stop = fields.get("stop_reason");
        let failed = fields.get("is_error").is_true() || subtype.starts_with("error");
        let end = if reason.starts_with("aborted") || (failed && self.turn.was_canceled()) {
            TurnEnd {
                status: TurnStatus::Canceled,
                reason,
                ..TurnEnd::default()
            }
        } else if stop.str().as_deref() == Some("refusal") {
            turn::failed("refusal")
        } else if failed {
            let named = [reason, subtype];
            let named = named
                .iter()
                .find(|name| !matches!(name.as_str(), "" | "completed" | "success"));
            // Older versions name no reason.
            let shown = if self.turn.has_error() {
                "api_error"
            } else {
                ""
            };
            turn::failed(named.map_or(shown, String::as_str))
        } else if turn::is_length(stop) {
            turn::cut_by_length()
        } else {
            TurnEnd::default()
        };
        TurnEnd {
            duration_ms: fields.get("duration_ms").u64(),
            turns: fields.get("num_turns").u64(),
            ..end
        }
    }

    /// Emits the text and the errors that were not emitted before.
    fn last_words(&mut self, end: &TurnEnd, fields: &Object<'_>, out: &mut Emitter) {
        let result = fields.get("result");
        let text = result.str().unwrap_or_default();
        let shown = text.trim().is_empty()
            || self.turn.was_shown(&text)
            || out.was_shown(&text)
            || out.was_shown(text.trim_end());
        if !shown {
            if fields.get("is_error").is_true() {
                out.notice(Level::Error, result.payload());
            } else {
                out.text(None, result.payload());
            }
        }
        if end.status == TurnStatus::Failed {
            for error in fields.get("errors").array() {
                self.error(error, out);
            }
        }
    }

    fn error(&mut self, error: Json<'_>, out: &mut Emitter) {
        let text = error.display();
        let is_internal = text.starts_with("[ede_diagnostic]");
        if !is_internal && !self.turn.was_shown(&text) {
            out.notice(Level::Error, text);
        }
    }
}
