//! The end of a turn.
//!
//! OpenCode has no end-of-turn record. The end that a step or an error implies is
//! held until nothing follows.

use crate::event::{Level, TurnEnd, TurnStatus};
use crate::json::Json;
use crate::source::Emitter;

/// The open turn and the end that it would have now.
#[derive(Clone, Default)]
pub(super) struct Turn {
    open: bool,
    end: Option<TurnEnd>,
    /// The last error emitted; several records repeat it.
    error: String,
    failed: bool,
}

impl Turn {
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Opens the turn.
    pub(super) fn touch(&mut self) {
        self.open = true;
    }

    /// Continues the turn: the end that was held does not hold any more.
    pub(super) fn resume(&mut self) {
        self.open = true;
        self.end = None;
        self.failed = false;
    }

    /// Reads the reason for which a step ended.
    pub(super) fn step(&mut self, reason: &str) {
        self.open = true;
        if self.failed || reason.is_empty() {
            return;
        }
        self.end = (reason != "tool-calls").then(|| TurnEnd {
            status: match reason {
                "content-filter" | "error" => TurnStatus::Failed,
                _ => TurnStatus::Completed,
            },
            reason: reason.to_owned(),
            ..TurnEnd::default()
        });
    }

    /// Fails the turn. Emits the error, unless it repeats the last one.
    pub(super) fn fail(&mut self, error: Json<'_>, out: &mut Emitter) {
        let name = error.get("name").string();
        let message = error_text(error);
        if self.error != message {
            let level = match name.as_str() {
                "MessageAbortedError" => Level::Canceled,
                _ => Level::Error,
            };
            out.notice(level, message.as_str());
            self.error = message;
        }
        let (status, reason) = match name.as_str() {
            "MessageAbortedError" => (TurnStatus::Canceled, name.as_str()),
            "MessageOutputLengthError" => (TurnStatus::Completed, "length"),
            _ => (TurnStatus::Failed, name.as_str()),
        };
        self.failed = true;
        self.end = Some(TurnEnd {
            status,
            reason: reason.to_owned(),
            ..TurnEnd::default()
        });
    }

    /// Forgets the end of the last step, unless an error followed.
    pub(super) fn forget_step(&mut self) {
        if !self.failed {
            self.end = None;
        }
    }

    /// Ends the turn, if one is open or an error was its only record. `otherwise` is
    /// the status if no record implies one.
    pub(super) fn close(&mut self, otherwise: TurnStatus, out: &mut Emitter) {
        let turn = std::mem::take(self);
        if turn.open || turn.end.is_some() {
            out.turn_end(turn.end.unwrap_or(TurnEnd {
                status: otherwise,
                ..TurnEnd::default()
            }));
        }
    }
}

/// Returns the message of an error, or its name.
pub(super) fn error_text(error: Json<'_>) -> String {
    [error.get("data").get("message"), error.get("message")]
        .into_iter()
        .chain([error.get("name")])
        .filter_map(Json::str)
        .find(|text| !text.is_empty())
        .map_or_else(
            || error.display().into_owned(),
            std::borrow::Cow::into_owned,
        )
}
