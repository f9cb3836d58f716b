//! The reason of a failed run in one line, for modes that print only answers. It
//! goes to standard error, so that standard output stays clean for scripts.

use unspool::Event;
use unspool::event::{Body, Level, TurnEnd, TurnStatus};
use unspool::tool::error_message;

/// Maximum length, longer than any usual error sentence.
const LONGEST: usize = 400;

/// The failure of a run, as far as known.
#[derive(Debug, Default)]
pub(crate) struct RunFailure {
    /// The last error that the agent reported in this turn.
    error: Option<String>,
    /// The reason of the last failed turn, or of skipped input.
    words: Option<String>,
}

impl RunFailure {
    /// Records an event that reports a failure.
    pub(crate) fn event(&mut self, event: &Event) {
        match &event.body {
            Body::Notice(notice) if notice.left_out.is_some() => {
                self.words = Some(one_line(&notice.text.as_str()));
            }
            Body::Notice(notice) if notice.level == Level::Error && event.agent.is_none() => {
                self.error = Some(one_line(&error_message(&notice.text.as_str())));
            }
            Body::TurnEnd(end) if event.agent.is_none() => self.end(end),
            _ => {}
        }
    }

    /// Returns the reason of the last failed turn.
    pub(crate) fn words(&self) -> Option<&str> {
        self.words.as_deref()
    }

    /// Removes and returns the reason.
    pub(super) fn take(&mut self) -> Option<String> {
        self.words.take()
    }

    fn end(&mut self, end: &TurnEnd) {
        let error = self.error.take();
        let reason =
            Some(one_line(&error_message(&end.reason))).filter(|reason| !reason.is_empty());
        // A reason of several words is a sentence; a single word is a code.
        let why = match (error, reason) {
            (Some(_), Some(reason)) if reason.contains(' ') => Some(reason),
            (error, reason) => error.or(reason),
        };
        let what = match end.status {
            TurnStatus::Completed => return,
            TurnStatus::Failed => "the run failed",
            TurnStatus::Canceled => "the run was canceled",
            _ => "the stream ended before the agent finished",
        };
        self.words = Some(match why {
            Some(why) => format!("{what}: {why}"),
            None => what.to_owned(),
        });
    }
}

/// Returns the first paragraph as one line.
fn one_line(text: &str) -> String {
    let text = text.trim_start();
    let paragraph = text.split("\n\n").next().unwrap_or(text);
    let mut words = String::new();
    for word in paragraph.split_whitespace() {
        if words.len() > LONGEST {
            words.push_str(" …");
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.extend(word.chars().take(LONGEST));
    }
    words
}
