//! How a turn ends: kept while it is open, told once.
//!
//! OpenCode has no record that closes a turn. What a step or an error says
//! about the end is therefore held until it is known that nothing follows.

use crate::event::{Level, TurnEnd, TurnStatus};
use crate::json::Json;
use crate::source::Emitter;

/// The turn that is open, and how it would end now.
#[derive(Clone, Default)]
pub(super) struct Turn {
    open: bool,
    end: Option<TurnEnd>,
    /// The error that was shown last, which comes in several records.
    error: String,
    failed: bool,
}

impl Turn {
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Something of the turn was seen.
    pub(super) fn touch(&mut self) {
        self.open = true;
    }

    /// Work goes on: what was said about the end does not hold any more.
    pub(super) fn go_on(&mut self) {
        self.open = true;
        self.end = None;
        self.failed = false;
    }

    /// A call of the model ended for this reason.
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

    /// An error ended the work. It is shown unless it was shown before.
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

    /// Forgets how the last step ended, unless an error followed.
    pub(super) fn forget_step(&mut self) {
        if !self.failed {
            self.end = None;
        }
    }

    /// Ends the turn, if one is open or an error was its only record.
    /// `otherwise` holds where nothing said how.
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

/// What an error says: its message, or its name where it has none.
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
