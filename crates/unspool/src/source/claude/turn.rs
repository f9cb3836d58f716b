//! The end of a turn in a saved session.
//!
//! Nothing in the file says it. The stop reason of the last message does, but
//! it stands on each of the message's blocks, and more may follow: so the end
//! is held until the next turn begins or the file ends. A turn without one was
//! cut off.
//!
//! For a live stream only what was shown of an error or an interruption is kept,
//! until `result` closes the turn.

use super::wire::{Content, Line};
use crate::event::{TurnEnd, TurnStatus};
use crate::json::Json;
use crate::source::Emitter;

#[derive(Clone, Default)]
pub(super) struct Turn {
    /// How the turn ends, if nothing more follows, and when.
    end: Option<(TurnEnd, Option<String>)>,
    /// The error that was shown last in this turn.
    error: Option<String>,
    canceled: bool,
    /// The answer was given through a tool, whose result ends the turn.
    settled: bool,
}

impl Turn {
    /// The root agent's message, or a part of it, is here.
    pub(super) fn answered(&mut self, line: &Line<'_>, out: &Emitter) {
        self.settled = false;
        let stop = line.message.stop_reason.str();
        let is_text = match &line.message.content {
            Content::Blocks(blocks) => blocks
                .last()
                .is_some_and(|block| block.kind.str().as_deref() == Some("text")),
            Content::Text(_) => true,
            Content::Nothing => false,
        };
        self.end = match stop.as_deref() {
            Some("refusal") => Some(failed("refusal")),
            _ if line.is_error() => Some(failed("api_error")),
            Some("end_turn" | "stop_sequence") => Some(TurnEnd::default()),
            _ if is_length(line.message.stop_reason) => Some(cut_by_length()),
            // Older versions never saved the stop reason.
            None if is_text && !line.is_aborted.is_true() => Some(TurnEnd::default()),
            _ => None,
        }
        .map(|end| (end, out.current_time()));
    }

    /// A result came: the model is to speak again.
    pub(super) fn goes_on(&mut self) {
        if !self.settled {
            self.end = None;
        }
    }

    /// Structured output was given.
    pub(super) fn settled(&mut self, out: &Emitter) {
        self.completed(out);
        self.settled = true;
    }

    /// A command that needs no model has run.
    pub(super) fn completed(&mut self, out: &Emitter) {
        self.end = Some((TurnEnd::default(), out.current_time()));
    }

    /// The agent gave up.
    pub(super) fn failed(&mut self, reason: &str, out: &Emitter) {
        self.end = Some((failed(reason), out.current_time()));
    }

    /// The user stopped it.
    pub(super) fn canceled(&mut self, out: &Emitter) {
        self.canceled = true;
        let end = TurnEnd {
            status: TurnStatus::Canceled,
            ..TurnEnd::default()
        };
        self.end = Some((end, out.current_time()));
    }

    pub(super) fn was_canceled(&self) -> bool {
        self.canceled
    }

    pub(super) fn error_shown(&mut self, text: &str) {
        self.error = Some(text.to_owned());
    }

    pub(super) fn has_error(&self) -> bool {
        self.error.is_some()
    }

    pub(super) fn was_shown(&self, error: &str) -> bool {
        self.error.as_deref() == Some(error)
    }

    /// A live turn is closed by its own line.
    pub(super) fn close(&mut self) {
        *self = Self::default();
    }

    /// The record says how long the turn took, after which nothing follows.
    pub(super) fn took(&mut self, milliseconds: Option<u64>, out: &mut Emitter) {
        if let Some((end, _)) = &mut self.end {
            end.duration_ms = milliseconds;
            self.flush(out);
        }
    }

    /// Ends the turn, if there is one.
    pub(super) fn flush(&mut self, out: &mut Emitter) {
        if let Some((end, ended)) = std::mem::take(self).end {
            let now = out.current_time();
            out.time(ended.map(Into::into));
            out.turn_end(end);
            out.time(now.map(Into::into));
        } else {
            out.interrupted();
        }
    }

    /// Ends the turn if its end is known: what follows does not belong to it.
    pub(super) fn flush_known(&mut self, out: &mut Emitter) {
        if self.end.is_some() {
            self.flush(out);
        }
    }
}

pub(super) fn failed(reason: &str) -> TurnEnd {
    TurnEnd {
        status: TurnStatus::Failed,
        reason: reason.to_owned(),
        ..TurnEnd::default()
    }
}

pub(super) fn cut_by_length() -> TurnEnd {
    TurnEnd {
        reason: "length".to_owned(),
        ..TurnEnd::default()
    }
}

/// Whether a stop reason says that the token limit cut the answer.
pub(super) fn is_length(stop: Json<'_>) -> bool {
    matches!(
        stop.str().as_deref(),
        Some("max_tokens" | "model_context_window_exceeded")
    )
}
