//! The end of a turn in a saved session.
//!
//! Saved sessions have no end-of-turn record. The stop reason of the last message
//! implies it, but every block of the message repeats the reason and more may
//! follow. So the end is held until the next turn starts or the file ends. A turn
//! without one is interrupted.
//!
//! For a live stream this only remembers errors and interruptions that were
//! emitted, until `result` ends the turn.

use super::wire::{Content, Line};
use crate::event::{TurnEnd, TurnStatus};
use crate::json::Json;
use crate::source::Emitter;

#[derive(Clone, Default)]
pub(super) struct Turn {
    /// The end of the turn and its time, if nothing more follows.
    end: Option<(TurnEnd, Option<String>)>,
    /// The last error emitted in this turn.
    error: Option<String>,
    canceled: bool,
    /// A tool gave the answer; its result ends the turn.
    settled: bool,
}

impl Turn {
    /// Takes the stop reason of the root agent's message.
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

    /// Continues the turn after a tool result.
    pub(super) fn resume(&mut self) {
        if !self.settled {
            self.end = None;
        }
    }

    /// Completes the turn with structured output.
    pub(super) fn settled(&mut self, out: &Emitter) {
        self.completed(out);
        self.settled = true;
    }

    /// Completes the turn, for a command that needs no model.
    pub(super) fn completed(&mut self, out: &Emitter) {
        self.end = Some((TurnEnd::default(), out.current_time()));
    }

    /// Marks the turn as failed.
    pub(super) fn failed(&mut self, reason: &str, out: &Emitter) {
        self.end = Some((failed(reason), out.current_time()));
    }

    /// Marks the turn as canceled by the user.
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

    /// Forgets the turn: a line of the live stream ends it.
    pub(super) fn close(&mut self) {
        *self = Self::default();
    }

    /// Ends the turn with its duration, after which nothing follows.
    pub(super) fn took(&mut self, milliseconds: Option<u64>, out: &mut Emitter) {
        if let Some((end, _)) = &mut self.end {
            end.duration_ms = milliseconds;
            self.flush(out);
        }
    }

    /// Emits the end of the turn, if one is open.
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

    /// Emits the end of the turn if it is known.
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

/// Returns true if the token limit cut the answer off.
pub(super) fn is_length(stop: Json<'_>) -> bool {
    matches!(
        stop.str().as_deref(),
        Some("max_tokens" | "model_context_window_exceeded")
    )
}
