//! Joins the parts of a saved message to blocks.

use crate::event::Level;
use crate::source::Emitter;
use crate::source::qwen::{may_be_quoted, split_api_error};

/// Joins adjacent parts of one kind to a block with an id.
pub(super) struct JoinedParts<'a> {
    uuid: &'a str,
    number: usize,
    thought: bool,
    text: String,
    error: bool,
}

impl<'a> JoinedParts<'a> {
    pub(super) fn new(uuid: &'a str) -> Self {
        Self {
            uuid,
            number: 0,
            thought: false,
            text: String::new(),
            error: false,
        }
    }

    pub(super) fn add(&mut self, thought: bool, text: &str, out: &mut Emitter) {
        if thought != self.thought {
            self.flush(out);
        }
        self.thought = thought;
        self.text.push_str(text);
    }

    /// Emits the open block; returns true if any block was an API error.
    pub(super) fn flush(&mut self, out: &mut Emitter) -> bool {
        let text = std::mem::take(&mut self.text);
        if text.is_empty() {
            return self.error;
        }
        self.number += 1;
        let id = match self.number {
            1 => self.uuid.to_owned(),
            number => format!("{}/{number}", self.uuid),
        };
        if self.thought {
            out.reasoning(Some(&id), text);
        } else {
            let (answer, error) = split_api_error(&text);
            let (answer, error) = if may_be_quoted(answer) {
                (text.as_str(), "")
            } else {
                (answer, error)
            };
            out.text(Some(&id), answer);
            out.notice(Level::Error, error);
            self.error |= !error.is_empty();
        }
        self.error
    }
}
