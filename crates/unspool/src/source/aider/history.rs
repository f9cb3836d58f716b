//! The chat history that the agents keep in a markdown file: `#### ` before
//! each line of the person, `> ` before the agent's lines, the model's words
//! as they are. Several sessions follow each other in one file.

use super::flow::Flow;
use crate::source::Emitter;

/// Reads the lines of such a file.
#[derive(Clone, Default)]
pub(super) struct History {
    flow: Flow,
    /// Lines of the person that belong together.
    user: Vec<String>,
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

impl History {
    pub(super) fn line(&mut self, line: &str, out: &mut Emitter) {
        self.flow.history = true;
        if is_start(line) {
            self.finish(out);
            self.command = true;
            return;
        }
        if let Some(text) = line.strip_prefix("#### ") {
            self.end_message(out);
            self.user.push(text.trim_end().to_owned());
            return;
        }
        self.end_user(out);
        let marked = line.strip_prefix("> ").or_else(|| line.strip_prefix('>'));
        match marked {
            Some(text) => self.own_line(text, out),
            None if self.open => self.own_line(line, out),
            None if line.trim().is_empty() && self.flow.segment.is_empty() => {}
            None => self.flow.push(line, out),
        }
    }

    /// A line of the agent ends with two blanks; a message of several lines
    /// only in its last one.
    fn own_line(&mut self, text: &str, out: &mut Emitter) {
        self.end_message(out);
        self.open =
            !text.ends_with("  ") && !text.trim().is_empty() || self.open && !text.ends_with("  ");
        if std::mem::take(&mut self.command) && text.contains("__main__.py") {
            return;
        }
        self.flow.line(text.trim_end(), out);
    }

    fn end_message(&mut self, out: &mut Emitter) {
        if !self.flow.segment.is_empty() {
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
