//! The chat history that the agents keep in a markdown file: `#### ` before
//! each line of the person, `> ` before the agent's lines, the model's words
//! without a mark. One file holds several sessions.

use super::counts;
use super::flow::{Flow, Medium};
use super::session::Identity;
use crate::json::Json;
use crate::source::Emitter;

/// Reads the lines of a chat history.
#[derive(Clone)]
pub(super) struct History {
    flow: Flow,
    /// The open message of the person.
    user: Vec<String>,
    /// The line before is the agent's, the person's or the start of the session,
    /// so that the agent may speak here.
    may_be_agent: bool,
    /// The agent's message continues without its mark.
    is_open: bool,
    /// The next line of the agent is its command line.
    awaits_command: bool,
}

/// Returns true for the first line of a session.
pub(super) fn is_start(line: &str) -> bool {
    ["# aider chat started at ", "# cecli chat started at "]
        .iter()
        .any(|start| {
            line.strip_prefix(start)
                .is_some_and(|time| time.starts_with(|c: char| c.is_ascii_digit()))
        })
}

impl Default for History {
    fn default() -> Self {
        Self {
            flow: Flow::new(Medium::History),
            user: Vec::new(),
            may_be_agent: true,
            is_open: false,
            awaits_command: false,
        }
    }
}

impl History {
    pub(super) fn line(&mut self, raw: &str, out: &mut Emitter) {
        let line = raw.trim_end_matches('\r');
        if is_start(line) {
            self.finish(out);
            self.flow.who = Identity::default();
            self.awaits_command = true;
            self.may_be_agent = true;
            return;
        }
        if let Some(text) = line.strip_prefix("#### ") {
            self.end_message(out);
            self.user.push(text.trim_end().to_owned());
            self.may_be_agent = true;
            return;
        }
        self.end_user(out);
        let agent = self.agent_text(line);
        let is_start = self.awaits_command && line.trim().is_empty();
        self.may_be_agent = agent.is_some() || (self.may_be_agent && is_start);
        match agent {
            Some(text) => self.agent_line(text, out),
            None if line.trim().is_empty() && self.flow.segment.is_empty() => {}
            None => {
                if self.flow.segment.is_empty() {
                    self.flow.settle(out);
                }
                self.flow.push(raw, out);
            }
        }
    }

    /// Returns the agent's words in a line. Unlike a quotation they end with two
    /// blanks; a message of several lines has its mark only in the first and the
    /// blanks only in the last one.
    fn agent_text<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        let ends = line.ends_with("  ");
        if self.is_open {
            self.is_open = !ends;
            return Some(line);
        }
        let text = line.strip_prefix("> ")?;
        let is_below_gap = self.flow.segment.last().is_some_and(String::is_empty);
        let is_counts = is_below_gap && counts::has_cost_below(text);
        if !ends && !self.may_be_agent && !is_counts && !text.trim().is_empty() {
            return None;
        }
        self.is_open = !ends && !text.trim().is_empty();
        Some(text)
    }

    fn agent_line(&mut self, text: &str, out: &mut Emitter) {
        self.end_message(out);
        if std::mem::take(&mut self.awaits_command) && text.contains("__main__.py") {
            self.flow.who.started_as(text);
            return;
        }
        self.flow.line(text.trim_end(), out);
    }

    /// Ends the model's message. A call without words is stored as its arguments,
    /// which the call below repeats.
    fn end_message(&mut self, out: &mut Emitter) {
        if self.flow.segment.is_empty() {
            return;
        }
        let text = self.flow.segment.join("\n");
        if Json::parse(&text).is_some_and(Json::is_object) {
            self.flow.take_segment();
        } else {
            self.flow.message(None, out);
        }
    }

    fn end_user(&mut self, out: &mut Emitter) {
        if !self.user.is_empty() {
            let text = std::mem::take(&mut self.user).join("\n");
            self.flow.settle(out);
            self.flow.end_turn(out);
            self.flow.user(&text, out);
        }
    }

    pub(super) fn finish(&mut self, out: &mut Emitter) {
        self.end_message(out);
        self.end_user(out);
        self.flow.finish(out);
        self.is_open = false;
    }
}
