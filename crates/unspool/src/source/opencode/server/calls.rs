//! Open calls.

use std::collections::HashMap;

use crate::source::Emitter;
use crate::source::opencode::part::ToolPart;
use crate::source::opencode::question;

/// Open calls by the ids of their parts.
#[derive(Clone, Default)]
pub(super) struct Calls(HashMap<String, Open>);

#[derive(Clone)]
struct Open {
    session: String,
    call_id: String,
    /// The call's id for the emitter.
    key: String,
    /// The output that was emitted.
    output: String,
}

impl Calls {
    /// Emits a call; returns false if it was emitted before.
    pub(super) fn announce(
        &mut self,
        session: &str,
        tool: &ToolPart<'_>,
        out: &mut Emitter,
    ) -> bool {
        if self.0.contains_key(&tool.id) {
            return false;
        }
        // Another session's call may have the same id at the same time.
        let key = if out.is_open(&tool.call_id) {
            &tool.id
        } else {
            &tool.call_id
        };
        // A question is emitted with its answer.
        if !tool.is_question() {
            out.tool_use(tool.call(key, &tool.names()));
        }
        let open = Open {
            session: session.to_owned(),
            call_id: tool.call_id.clone(),
            key: key.clone(),
            output: String::new(),
        };
        self.0.insert(tool.id.clone(), open);
        true
    }

    /// Emits the added output of a running call.
    pub(super) fn output(&mut self, tool: &ToolPart<'_>, out: &mut Emitter) {
        if let Some(open) = self.0.get_mut(&tool.id)
            && let Some(output) = tool.output_so_far()
        {
            out.tool_output(&open.key, added(&open.output, &output));
            open.output = output.into_owned();
        }
    }

    /// Emits the result of a call, except for a question that another event `asked`.
    pub(super) fn finish(
        &mut self,
        tool: &ToolPart<'_>,
        refused: bool,
        asked: bool,
        out: &mut Emitter,
    ) {
        if let Some(open) = self.0.remove(&tool.id) {
            if tool.is_question() {
                if asked || question::of_call(tool, out) {
                    return;
                }
                out.tool_use(tool.call(&open.key, &tool.names()));
            } else if tool.changes_category(&open.key, out) {
                out.tool_use(tool.call(&open.key, &tool.names()));
            }
            let outcome = tool.outcome(refused, out);
            out.tool_result(&open.key, outcome);
        }
    }

    /// Returns the id in the events of a part's call.
    pub(super) fn emitted_id(&self, part: &str, out: &Emitter) -> String {
        let key = self.0.get(part).map(|open| open.key.as_str());
        key.and_then(|key| out.emitted_id(key))
            .unwrap_or_default()
            .to_owned()
    }

    /// Returns the call's id for the emitter; `None` if it is not open.
    pub(super) fn key(&self, session: &str, call_id: &str) -> Option<&str> {
        let mut calls = self.0.values();
        calls
            .find(|open| open.session == session && open.call_id == call_id)
            .map(|open| open.key.as_str())
    }

    /// Forgets the calls of a session at the end of its turn.
    pub(super) fn forget(&mut self, session: &str) {
        self.0.retain(|_, open| open.session != session);
    }
}

/// Returns the text that `now` adds to `before`. A long output loses its start,
/// which dots replace.
fn added<'a>(before: &str, now: &'a str) -> &'a str {
    /// Bytes of a start that identify it.
    const ANCHOR: usize = 256;
    if let Some(rest) = now.strip_prefix(before) {
        return rest;
    }
    let Some(tail) = now.strip_prefix("...\n\n") else {
        return now;
    };
    let before = before.strip_prefix("...\n\n").unwrap_or(before);
    let anchor = (0..=ANCHOR.min(tail.len()))
        .rev()
        .find_map(|end| tail.get(..end))
        .unwrap_or_default();
    let rest = before
        .find(anchor)
        .and_then(|at| tail.strip_prefix(before.get(at..)?));
    rest.unwrap_or(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_to_the_output() {
        assert_eq!(added("", "a\n"), "a\n");
        assert_eq!(added("a\n", "a\nb\n"), "b\n");
        assert_eq!(added("a\nb\n", "a\nb\n"), "");
        assert_eq!(added("a", "x"), "x");
    }

    #[test]
    fn additions_to_output_that_lost_its_start() {
        let lines = |range: std::ops::Range<u32>| {
            let lines: Vec<String> = range.map(|line| format!("line {line}\n")).collect();
            lines.concat()
        };
        let now = format!("...\n\n{}", lines(500..1200));
        assert_eq!(added(&lines(0..1000), &now), lines(1000..1200));
        let later = format!("...\n\n{}", lines(600..1201));
        assert_eq!(added(&now, &later), "line 1200\n");
        let far = format!("...\n\n{}", lines(5000..5002));
        assert_eq!(added(&now, &far), lines(5000..5002));
    }
}
