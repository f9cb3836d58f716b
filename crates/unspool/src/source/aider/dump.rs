//! The request that verbose output shows before every call of a model: all
//! messages, each line behind its role, then the parameters as JSON. Only the
//! context blocks in it are told, each once until it changes; the rest
//! repeats what was shown before.

use std::collections::VecDeque;

use super::marker;
use super::message::Context;

/// A request that is being printed.
#[derive(Clone, Debug)]
pub(super) struct Dump {
    open: Option<(String, Vec<String>)>,
    ready: VecDeque<Context>,
    /// The parameters began.
    parameters: bool,
    ended: bool,
}

const ROLES: &[&str] = &["SYSTEM", "USER", "ASSISTANT", "TOOL"];

fn without_role(line: &str) -> Option<&str> {
    ROLES.iter().find_map(|role| {
        let rest = line.strip_prefix(role)?;
        (rest.is_empty() || rest.starts_with(' ')).then(|| rest.strip_prefix(' ').unwrap_or(rest))
    })
}

impl Dump {
    /// Whether a request begins with these two lines.
    pub(super) fn begins(before: &str, line: &str) -> bool {
        before.trim_end() == "-------" && without_role(line).is_some()
    }

    pub(super) fn new(line: &str) -> Self {
        let mut dump = Self {
            open: None,
            ready: VecDeque::new(),
            parameters: false,
            ended: false,
        };
        dump.line(line);
        dump
    }

    pub(super) fn line(&mut self, line: &str) {
        if self.parameters {
            self.ended = line.trim_end() == "}";
            return;
        }
        self.parameters = line.trim_end() == "kwargs:";
        let Some(text) = without_role(line) else {
            return;
        };
        if let Some(name) = marker::context(text) {
            self.open = Some((name.to_owned(), Vec::new()));
        } else if let Some(last) = text.trim_end().strip_suffix("</context>") {
            if let Some((name, mut lines)) = self.open.take() {
                lines.push(last.to_owned());
                self.ready.push_back(Context::new(&name, &lines));
            }
        } else if let Some((_, lines)) = &mut self.open {
            lines.push(text.to_owned());
        }
    }

    pub(super) fn pop(&mut self) -> Option<Context> {
        self.ready.pop_front()
    }

    pub(super) fn is_open(&self) -> bool {
        !self.ended
    }
}
