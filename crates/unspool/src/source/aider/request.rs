//! The request that verbose output shows before every call of a model: all
//! messages, each line after its role, then the parameters as JSON. Only its
//! context blocks are read; the rest repeats earlier output.

use super::line::{self, Fit};
use super::message::Context;

/// A request that is being printed.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    /// Name and lines of the open context block.
    block: Option<(String, Vec<String>)>,
    /// The parameters began.
    has_parameters: bool,
    is_over: bool,
}

fn without_role(line: &str) -> Option<&str> {
    ["SYSTEM", "USER", "ASSISTANT", "TOOL"]
        .iter()
        .find_map(|role| {
            let rest = line.strip_prefix(role)?;
            if rest.is_empty() {
                Some(rest)
            } else {
                rest.strip_prefix(' ')
            }
        })
}

impl Request {
    /// Returns true if a request starts with these two lines.
    pub(super) fn starts(before: &str, line: &str) -> bool {
        before.trim_end() == "-------" && without_role(line).is_some()
    }

    pub(super) fn new(line: &str) -> Self {
        let mut request = Self::default();
        request.line(line);
        request
    }

    /// Takes a line; returns the context block that it closes.
    pub(super) fn line(&mut self, line: &str) -> Option<Context> {
        if self.has_parameters {
            self.is_over = line.trim_end() == "}";
            return None;
        }
        self.has_parameters = line.trim_end() == "kwargs:";
        let text = without_role(line)?;
        if let Some(name) = line::context(text) {
            self.block = Some((name.to_owned(), Vec::new()));
        } else if let Some(last) = text.trim_end().strip_suffix("</context>") {
            let (name, mut lines) = self.block.take()?;
            lines.push(last.to_owned());
            return Some(Context::new(&name, &lines));
        } else if let Some((_, lines)) = &mut self.block {
            lines.push(text.to_owned());
        }
        None
    }

    /// Returns the relation of the last line to the request.
    pub(super) fn fit(&self) -> Fit {
        if self.is_over { Fit::Last } else { Fit::Inside }
    }
}
