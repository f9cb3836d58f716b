//! The chat history that the agents keep in a markdown file: `#### ` before
//! each line of the person, `> ` before the agent's lines, the model's words
//! as they are. Several sessions follow each other in one file.

use super::flow::Flow;
use super::marker;
use super::session::Identity;
use crate::json::Json;
use crate::source::Emitter;

/// Reads the lines of such a file.
#[derive(Clone)]
pub(super) struct History {
    flow: Flow,
    /// Lines of the person that belong together.
    user: Vec<String>,
    /// The agent's words may come here: its line, the person's or the
    /// beginning of the session stands directly before.
    near: bool,
    /// The agent's message goes on without its mark.
    open: bool,
    /// The next line of the agent is its command line.
    command: bool,
}

/// Whether a session begins here.
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
            flow: Flow::of_history(),
            user: Vec::new(),
            near: true,
            open: false,
            command: false,
        }
    }
}

impl History {
    pub(super) fn line(&mut self, raw: &str, out: &mut Emitter) {
        let line = raw.trim_end_matches('\r');
        if is_start(line) {
            self.finish(out);
            self.flow.who = Identity::default();
            self.command = true;
            self.near = true;
            return;
        }
        if let Some(text) = line.strip_prefix("#### ") {
            self.end_message(out);
            self.user.push(text.trim_end().to_owned());
            self.near = true;
            return;
        }
        self.end_user(out);
        let own = self.own_text(line);
        let starting = self.command && line.trim().is_empty();
        self.near = own.is_some() || (self.near && starting);
        match own {
            Some(text) => self.own_line(text, out),
            None if line.trim().is_empty() && self.flow.segment.is_empty() => {}
            None => {
                if self.flow.segment.is_empty() {
                    self.flow.settle(out);
                }
                self.flow.push(raw, out);
            }
        }
    }

    /// The agent's words in a line. They end with two blanks, which tells them
    /// from a quotation; a message of several lines has its mark only in the
    /// first and the blanks only in the last one.
    fn own_text<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        let ends = line.ends_with("  ");
        if self.open {
            self.open = !ends;
            return Some(line);
        }
        let text = line.strip_prefix("> ")?;
        let below_gap = self.flow.segment.last().is_some_and(String::is_empty);
        let is_counts = below_gap && marker::has_cost_below(text);
        if !ends && !self.near && !is_counts && !text.trim().is_empty() {
            return None;
        }
        self.open = !ends && !text.trim().is_empty();
        Some(text)
    }

    fn own_line(&mut self, text: &str, out: &mut Emitter) {
        self.end_message(out);
        if std::mem::take(&mut self.command) && text.contains("__main__.py") {
            self.flow.who.started_as(text);
            return;
        }
        self.flow.line(text.trim_end(), out);
    }

    /// The model's words end. A call without words is kept as its arguments,
    /// which stand in the call that follows.
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
        self.open = false;
    }
}
