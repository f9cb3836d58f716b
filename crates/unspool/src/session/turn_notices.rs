//! Adds the notice for a failed or cut-off turn whose agent gave none.

use crate::event::{Level, Notice, TurnEnd, TurnStatus};

/// The reason of a turn whose answer hit the token limit.
const LENGTH: &str = "length";

/// The notice for such a turn.
const CUT: &str = "the answer was cut off at the token limit.";

/// The root agent's notices since the turn started.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnNotices {
    failure: bool,
    stop: bool,
    /// The text of the last warning.
    warning: String,
}

impl TurnNotices {
    pub(super) fn record(&mut self, notice: &Notice) {
        self.failure |= notice.level == Level::Error;
        self.stop |= notice.level == Level::Canceled;
        if notice.level == Level::Warning {
            notice.text.as_str().trim().clone_into(&mut self.warning);
        }
    }

    /// Returns the notice that the end of the turn still needs.
    pub(super) fn missing_notice(&self, end: &TurnEnd) -> Option<Notice> {
        let (level, default) = match end.status {
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
        let text = if is_generic(reason) { default } else { reason };
        Some(Notice::new(level, text))
    }
}

/// Returns true if the reason only repeats that the turn failed or was stopped.
fn is_generic(reason: &str) -> bool {
    let generic = [
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
    generic.contains(&reason.to_ascii_lowercase().as_str())
}
