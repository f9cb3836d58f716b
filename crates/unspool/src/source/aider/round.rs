//! The tool calls between two messages of the model, and their results.
//!
//! No printed line names its call, so a line belongs to the first call, in order,
//! whose tool prints such lines. Calls that print nothing are over when the model
//! continues: an edit that could not be shown as a diff has failed, because both
//! need the same check of the file, and a command that was asked about and not
//! announced was refused. A turn that ends without another message ends with calls
//! that were refused, or with the call that ends it. Only a turn that is cut off
//! leaves calls without a result.

use super::call::Announced;
use super::marks::{is_change, names_failed_tool};
use super::wrap;
use crate::event::{Level, ToolStatus};
use crate::source::{Call, Emitter, Outcome};

/// The calls since the last message of the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    calls: Vec<Open>,
    /// The call that printed last.
    current: Option<usize>,
    /// That call runs a program, whose output has no end mark.
    pub(super) raw: bool,
    /// A person was asked whether a command may run.
    pub(super) asked: bool,
    /// Calls in the whole stream, for their ids.
    announced: u64,
}

/// The reason why a round is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// The model continues.
    Continued,
    /// The same in a chat history, which lacks most lines of tools.
    ContinuedInHistory,
    /// The turn was cut off.
    Cut,
}

#[derive(Clone, Debug)]
struct Open {
    call: Announced,
    lines: Vec<String>,
    status: ToolStatus,
    is_finished: bool,
}

impl Round {
    /// Emits a call, or its plan.
    pub(super) fn announce(&mut self, mut call: Announced, out: &mut Emitter) {
        self.announced += 1;
        if call.id.is_empty() {
            call.id = format!("call-{}", self.announced);
        }
        match &call.plan {
            Some(plan) => out.plan(plan.clone()),
            None => out.tool_use(Call {
                id: &call.id,
                name: &call.name,
                category: Some(call.category),
                arg: Some(call.arg.as_str().into()),
                input: call.input.take(),
                title: "",
            }),
        }
        self.calls.push(Open {
            call,
            lines: Vec::new(),
            status: ToolStatus::Ok,
            is_finished: false,
        });
    }

    /// Returns true if a call has no result yet.
    pub(super) fn is_open(&self) -> bool {
        self.calls.iter().any(|open| !open.is_finished)
    }

    /// Returns true if the last call is the one with which the agents end a turn.
    pub(super) fn ends_turn(&self) -> bool {
        let last = self.calls.last().map(|open| open.call.tool.as_str());
        matches!(last, None | Some("Yield" | "Finished"))
    }

    fn current(&mut self) -> Option<&mut Open> {
        self.calls
            .get_mut(self.current?)
            .filter(|open| !open.is_finished)
    }

    /// Returns the tool of a program that is running.
    pub(super) fn running_tool(&mut self) -> Option<String> {
        let raw = self.raw;
        self.current()
            .filter(|_| raw)
            .map(|open| open.call.tool.clone())
    }

    /// Takes a line of one of these tools; returns false if no call can have
    /// printed it.
    pub(super) fn print(
        &mut self,
        line: &str,
        status: ToolStatus,
        tools: &str,
        out: &mut Emitter,
    ) -> bool {
        let from = self.current.unwrap_or(0);
        let prints = |open: &Open| {
            let is_named = tools.is_empty() || tools.split(' ').any(|tool| tool == open.call.tool);
            // An edit prints one such line: a second one is for the next call.
            let has_printed = line.starts_with("✅ ") && !open.lines.is_empty();
            !open.is_finished && is_named && !has_printed
        };
        let mut candidates = self.calls.iter().enumerate().skip(from);
        let index = self.named(line);
        let index =
            index.or_else(|| candidates.find_map(|(index, open)| prints(open).then_some(index)));
        let index = index.or_else(|| self.only_open().filter(|_| is_change(line)));
        let Some(index) = index else {
            return false;
        };
        if self.current != Some(index) {
            self.close(out);
        }
        self.current = Some(index);
        if let Some(open) = self.current() {
            if status != ToolStatus::Error || open.has_only_begun() {
                open.status = status;
            }
            open.lines.push(line.to_owned());
        }
        self.raw = line.starts_with("⚙️ ");
        true
    }

    /// Returns the only open call.
    fn only_open(&self) -> Option<usize> {
        let mut open = self.calls.iter().enumerate();
        let mut next = || Some(open.find(|(_, open)| !open.is_finished)?.0);
        next().filter(|_| next().is_none())
    }

    /// Finds the open call of the tool that an error names.
    fn named(&self, line: &str) -> Option<usize> {
        let names = |tool: &str| {
            let mut words = line.split([' ', ':']);
            words.any(|word| word.eq_ignore_ascii_case(tool))
        };
        let mut calls = self.calls.iter();
        let is_failure = names_failed_tool(line);
        is_failure.then(|| calls.position(|open| !open.is_finished && names(&open.call.tool)))?
    }

    /// Takes more output of the call that printed last.
    pub(super) fn output(&mut self, lines: &[String]) {
        if let Some(open) = self.current() {
            open.lines.extend_from_slice(lines);
        }
    }

    /// Takes the rest of a line that was cut.
    pub(super) fn append(&mut self, rest: &str) {
        if let Some(line) = self.current().and_then(|open| open.lines.last_mut()) {
            wrap::join(line, rest);
        }
    }

    /// Rejects all open calls.
    pub(super) fn reject_all(&mut self, out: &mut Emitter) {
        self.close(out);
        for open in &mut self.calls {
            open.finish(ToolStatus::Rejected, out);
        }
    }

    /// Rejects the first open call of a command.
    pub(super) fn reject_command(&mut self, out: &mut Emitter) {
        self.close(out);
        let is_command =
            |open: &&mut Open| !open.is_finished && open.call.tool.starts_with("Command");
        if let Some(open) = self.calls.iter_mut().find(is_command) {
            open.finish(ToolStatus::Rejected, out);
        }
    }

    /// Finishes the call that printed last.
    pub(super) fn close(&mut self, out: &mut Emitter) {
        self.raw = false;
        let current = self.current.take();
        if let Some(open) = current.and_then(|index| self.calls.get_mut(index)) {
            open.finish(open.status, out);
        }
    }

    /// Handles the end of the input. A call that has only begun gets no result:
    /// its lines are the output of a running call.
    pub(super) fn cut(&mut self, out: &mut Emitter) {
        let raw = std::mem::take(&mut self.raw);
        if let Some(open) = self.current().filter(|open| raw || open.has_only_begun()) {
            out.tool_output(&open.call.id, open.output());
            self.current = None;
        }
    }

    /// Forgets the edits of calls that may not have run.
    pub(super) fn drop_edits(&mut self) {
        let is_made = |open: &Open| open.lines.iter().any(|line| is_change(line));
        for open in self.calls.iter_mut().filter(|open| !is_made(open)) {
            open.call.edits.clear();
        }
    }

    /// Ends the round: no more is printed.
    pub(super) fn end(&mut self, over: Over, out: &mut Emitter) {
        self.close(out);
        let continued = over == Over::Continued;
        let asked = std::mem::take(&mut self.asked) && continued;
        for mut open in std::mem::take(&mut self.calls) {
            let no_edits = open.call.edits.is_empty();
            let status = if let Some(failure) = open.call.failure.take() {
                open.lines.push(failure);
                ToolStatus::Error
            } else if over == Over::Cut && no_edits {
                continue;
            } else if open.call.tool == "EditFile" && no_edits && continued {
                ToolStatus::Error
            } else if open.call.tool.starts_with("Command") && asked {
                ToolStatus::Rejected
            } else {
                open.status
            };
            open.finish(status, out);
        }
    }

    /// Ends the round with the turn. The model would get the results of all calls
    /// and continue, unless they were refused or the last one ends the turn.
    pub(super) fn end_turn(&mut self, out: &mut Emitter) {
        self.close(out);
        if !self.ends_turn() {
            let is_silent =
                |open: &&mut Open| open.call.edits.is_empty() && open.call.failure.is_none();
            for open in self.calls.iter_mut().filter(is_silent) {
                open.finish(ToolStatus::Rejected, out);
            }
        }
        self.end(Over::Continued, out);
    }
}

impl Open {
    /// Returns true if every line only announces the work.
    fn has_only_begun(&self) -> bool {
        self.lines.iter().all(|line| line.starts_with('⛭'))
    }

    /// Returns the printed lines, without the command, which is in the call.
    fn output(&self) -> String {
        let has_command = self.lines.iter().any(|line| line.starts_with("⚙️ "));
        let skipped = usize::from(has_command && self.lines.len() > 1);
        let lines = self.lines.iter().skip(skipped);
        let lines: Vec<&str> = lines.map(|line| line.trim_end_matches('\r')).collect();
        lines.join("\n").trim_end().to_owned()
    }

    fn finish(&mut self, status: ToolStatus, out: &mut Emitter) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        let output = self.output();
        if self.call.plan.is_some() {
            if status != ToolStatus::Ok {
                out.notice(Level::Warning, output);
            }
            return;
        }
        let edits = std::mem::take(&mut self.call.edits);
        let is_made = status == ToolStatus::Ok;
        out.tool_result(
            &self.call.id,
            Outcome {
                status,
                output: output.into(),
                edits: if is_made { edits } else { Vec::new() },
                ..Outcome::default()
            },
        );
    }
}
