//! What is still to be said when a turn ends: nothing, if the agent said it.

use crate::event::{Level, Notice, TurnEnd, TurnStatus};

/// The reason of a turn whose answer was cut, whichever word the agent has for it.
const LENGTH: &str = "length";

/// What is said of it.
const CUT: &str = "the answer was cut off at the token limit.";

/// What the root agent's notices said since its turn began.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    failure: bool,
    stop: bool,
    /// The last warning.
    warning: String,
}

impl Told {
    pub(super) fn notice(&mut self, notice: &Notice) {
        self.failure |= notice.level == Level::Error;
        self.stop |= notice.level == Level::Canceled;
        if notice.level == Level::Warning {
            notice.text.as_str().trim().clone_into(&mut self.warning);
        }
    }

    /// What is still to be said about the end of the turn.
    pub(super) fn missing(&self, end: &TurnEnd) -> Option<Notice> {
        let (level, words) = match end.status {
            TurnStatus::Failed if !self.failure && !self.stop => (Level::Error, "the turn failed."),
            TurnStatus::Canceled if !self.stop => (Level::Canceled, "the turn was stopped."),
            TurnStatus::Completed if end.reason == LENGTH && !self.failure => {
                return Some(Notice::new(Level::Warning, CUT));
            }
            _ => return None,
        };
        let reason = end.reason.trim();
        if !reason.is_empty() && reason == self.warning {
            return None;
        }
        let text = if says_nothing(reason) { words } else { reason };
        Some(Notice::new(level, text))
    }
}

/// Whether a reason only repeats that a turn failed or was stopped.
fn says_nothing(reason: &str) -> bool {
    let words = [
        "",
        "error",
        "failed",
        "failure",
        "canceled",
        "cancelled",
        "aborted",
        "interrupted",
        "stopped",
    ];
    words.contains(&reason.to_ascii_lowercase().as_str())
}
