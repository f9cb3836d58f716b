//! The tool calls between two messages of the model, and what their tools
//! print. Nothing printed names the call that it belongs to, so a line is
//! given to the first call, in order, whose tool prints such lines. Those that
//! print nothing are over when the model speaks again: a change that could not
//! be shown as a diff has failed, for the diff is made with the same check of
//! the file as the change itself, and a command that was asked about and not
//! announced was refused. A turn that ends without another word of the model
//! ends with calls that were refused, or with the one that ends it. Only a turn
//! that is cut off leaves calls without a result.

use super::call::Announced;
use super::marker;
use crate::event::{Edit, Level, ToolStatus};
use crate::source::{Call, Emitter, Outcome};

/// The calls that were announced since the model spoke last.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    calls: Vec<Open>,
    /// The call that is printing.
    current: Option<usize>,
    /// The call that is printing runs a program, whose output has no end mark.
    pub(super) raw: bool,
    /// A person was asked whether a command may run.
    pub(super) asked: bool,
    /// Calls announced in the whole stream, for their ids.
    announced: u64,
}

/// Why a round is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// The model speaks again.
    Spoken,
    /// The same in a chat history, which lacks most of what tools print.
    SpokenOfOld,
    /// The turn was cut off.
    Cut,
}

#[derive(Clone, Debug)]
struct Open {
    id: String,
    tool: String,
    edits: Vec<Edit>,
    failure: Option<String>,
    is_plan: bool,
    lines: Vec<String>,
    status: ToolStatus,
    finished: bool,
}

/// A line that a tool printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Printed<'a> {
    /// The tools that print it; none where any may.
    tools: &'a [&'a str],
    status: ToolStatus,
    /// What follows is the raw output of a program.
    pub(super) raw: bool,
}

/// The tools of 0.8x that change files or the list of things to do.
const EDITORS: &[&str] = &[
    "ReplaceText",
    "ReplaceAll",
    "ReplaceLine",
    "ReplaceLines",
    "InsertBlock",
    "IndentLines",
    "DeleteBlock",
    "DeleteLine",
    "DeleteLines",
    "ExtractLines",
    "UndoChange",
    "UpdateTodoList",
];

/// Beginnings of the lines that tools print, and who prints them.
const PRINTED: &[(&str, &[&str])] = &[
    ("✅ ", EDITORS),
    ("📎 ", &["View", "ViewFilesAtGlob"]),
    ("📋 ", &["Ls"]),
    ("📝 ", &["MakeEditable"]),
    ("📚 ", &["MakeReadonly"]),
    ("🗑️ ", &["Remove"]),
    ("🔍 ", &["ViewFilesMatching", "ViewFilesAtGlob", "Grep"]),
    ("🔎 ", &["ViewFilesWithSymbol"]),
    ("🧠 ", &["Thinking"]),
    ("✨ ", &["MakeEditable"]),
    ("⚙️ Executing rg", &["Grep"]),
    (
        "⚙️ Executing non-interactive shell command",
        &["Command", "CommandInteractive"],
    ),
    (
        "⚙️ Executing interactive shell command",
        &["CommandInteractive"],
    ),
    ("⚙️ ", &[]),
    ("⚠️ ", &[]),
    (
        "Successfully retrieved context for ",
        &["ShowNumberedContext"],
    ),
    ("Recent changes:", &["ListChanges"]),
    ("No changes made: ", &[]),
    ("Dry run: Would ", &[]),
    (
        "Skipped execution of shell command",
        &["Command", "CommandInteractive"],
    ),
    ("✓ Retrieved context for ", &["ReadFile"]),
    ("Earlier contents still valid for ", &["ReadFile"]),
    ("Errors encountered for ", &["ReadFile", "ExploreCode"]),
    ("⛭ Counting matches with ", &["Grep"]),
    ("⛭ Executing rg", &["Grep"]),
    ("⛭ Executing grep", &["Grep"]),
    ("✓ All queries successful", &["ExploreCode"]),
    ("⛭ Executing shell command", &["Command"]),
    ("⛭ Starting background command", &["Command"]),
    ("⏱️ Command exceeded ", &["Command"]),
    ("⛭ Modifying Context", &["ResourceManager"]),
    ("🗀 ", &["ResourceManager"]),
    ("✗ Removed ", &["ResourceManager"]),
    ("⚠ File ", &["ResourceManager"]),
    ("✓ Undid ", &["UndoChange"]),
    ("✚ Creator extension update", &["Create"]),
];

/// What a tool says with a line, if it is one that tools print.
pub(super) fn printed(line: &str) -> Option<Printed<'_>> {
    if let Some(named) = named_error(line) {
        return Some(named);
    }
    let (start, tools) = PRINTED.iter().find(|(start, _)| line.starts_with(start))?;
    let status = match *start {
        "⚠️ " | "⚠ File " | "Errors encountered for " => ToolStatus::Error,
        "Skipped execution of shell command" => ToolStatus::Rejected,
        _ => ToolStatus::Ok,
    };
    Some(Printed {
        tools,
        status,
        raw: start.starts_with("⚙️ "),
    })
}

/// Errors name their tool: `Error in View: …`, perhaps behind a word.
fn named_error(line: &str) -> Option<Printed<'static>> {
    let line = marker::untagged(line);
    let line = line.strip_prefix("ERROR: ").unwrap_or(&line);
    let name = [
        ("Error in ", ":"),
        ("Error during ", " execution:"),
        ("Malformed JSON arguments in tool ", ":"),
        ("Executing ", " on "),
    ]
    .iter()
    .find_map(|(start, end)| Some(line.strip_prefix(start)?.split_once(end)?.0))?;
    let failed = !line.starts_with("Executing ") || line.contains(" failed:");
    (failed && !name.is_empty() && !name.contains(' ')).then_some(Printed {
        tools: &[],
        status: ToolStatus::Error,
        raw: false,
    })
}

impl Printed<'_> {
    pub(super) fn is_failure(self) -> bool {
        self.status == ToolStatus::Error
    }
}

impl Round {
    /// Announces a call, or its plan.
    pub(super) fn announce(&mut self, call: Announced, out: &mut Emitter) {
        self.announced += 1;
        let id = if call.id.is_empty() {
            format!("call-{}", self.announced)
        } else {
            call.id
        };
        let is_plan = call.plan.is_some();
        if let Some(plan) = call.plan {
            out.plan(plan);
        } else {
            out.tool_use(Call {
                id: &id,
                name: &call.name,
                category: Some(call.category),
                arg: Some(call.arg.into()),
                input: call.input,
                title: "",
            });
        }
        self.calls.push(Open {
            id,
            tool: call.tool,
            edits: call.edits,
            failure: call.failure,
            is_plan,
            lines: Vec::new(),
            status: ToolStatus::Ok,
            finished: false,
        });
    }

    /// Whether a call waits for what it prints.
    pub(super) fn is_open(&self) -> bool {
        self.calls.iter().any(|call| !call.finished)
    }

    /// Whether the last call is the one with which the agents end a turn.
    pub(super) fn ends_turn(&self) -> bool {
        self.calls.last().is_none_or(Open::ends_turn)
    }

    /// The tool that printed last, if it may print more.
    pub(super) fn printing_tool(&self) -> Option<&str> {
        let call = self.calls.get(self.current?)?;
        (!call.finished).then_some(call.tool.as_str())
    }

    /// Takes a line that a tool printed; gives it back where no call can have
    /// printed it.
    pub(super) fn print(&mut self, line: &str, printed: Printed<'_>, out: &mut Emitter) -> bool {
        let from = self.current.unwrap_or(0);
        let mut candidates = self.calls.iter().enumerate().skip(from);
        let named = self.named(line);
        let index = named.or_else(|| {
            candidates
                .find(|(_, call)| {
                    let prints =
                        printed.tools.is_empty() || printed.tools.contains(&call.tool.as_str());
                    // An edit says so once: a second line is for the next call.
                    let said = line.starts_with("✅ ") && !call.lines.is_empty();
                    !call.finished && prints && !said
                })
                .map(|(index, _)| index)
        });
        let Some(index) = index else {
            return false;
        };
        if self.current != Some(index) {
            self.close(out);
        }
        self.current = Some(index);
        if let Some(call) = self.calls.get_mut(index) {
            if printed.status != ToolStatus::Error || call.lines.iter().all(|l| is_announcement(l))
            {
                call.status = printed.status;
            }
            call.lines.push(line.to_owned());
        }
        true
    }

    /// The open call of the tool that an error names.
    fn named(&self, line: &str) -> Option<usize> {
        named_error(line)?;
        self.calls.iter().position(|call| {
            !call.finished
                && line
                    .split([' ', ':'])
                    .any(|word| word.eq_ignore_ascii_case(&call.tool))
        })
    }

    /// More output of the call that printed last.
    pub(super) fn output(&mut self, lines: &[String]) {
        if let Some(call) = self.current.and_then(|index| self.calls.get_mut(index)) {
            call.lines.extend_from_slice(lines);
        }
    }

    /// The rest of a line that was cut.
    pub(super) fn append(&mut self, rest: &str) {
        let call = self.current.and_then(|index| self.calls.get_mut(index));
        if let Some(line) = call.and_then(|call| call.lines.last_mut()) {
            super::wrap::join(line, rest);
        }
    }

    /// A person refused all calls, or only those of one tool.
    pub(super) fn reject(&mut self, tool: Option<&str>, out: &mut Emitter) {
        self.close(out);
        for call in &mut self.calls {
            let meant = tool.is_none_or(|tool| call.tool.starts_with(tool));
            if meant && !call.finished {
                call.status = ToolStatus::Rejected;
                call.finish(out);
                if tool.is_some() {
                    break;
                }
            }
        }
    }

    /// The call that printed last prints no more.
    pub(super) fn close(&mut self, out: &mut Emitter) {
        let current = self.current.take();
        if let Some(call) = current.and_then(|index| self.calls.get_mut(index)) {
            call.finish(out);
        }
    }

    /// Whether a program runs whose output has no end mark.
    pub(super) fn is_running(&self) -> bool {
        self.raw && self.printing_tool().is_some()
    }

    /// The input ends. A call that has only begun got no result: what it
    /// printed so far is the output of a call that still runs.
    pub(super) fn cut(&mut self, out: &mut Emitter) {
        let raw = std::mem::take(&mut self.raw);
        let current = self.current.and_then(|index| self.calls.get(index));
        let begun = |call: &&Open| raw || call.lines.iter().all(|line| is_announcement(line));
        if let Some(call) = current.filter(|call| !call.finished).filter(begun) {
            out.tool_output(&call.id, call.output());
            self.current = None;
        }
    }

    /// The agent says that the calls were refused or came to nothing.
    pub(super) fn fail(&mut self) {
        for call in &mut self.calls {
            call.edits.clear();
        }
    }

    /// No more is printed.
    pub(super) fn end(&mut self, over: Over, out: &mut Emitter) {
        self.close(out);
        let asked = std::mem::take(&mut self.asked) && over == Over::Spoken;
        for call in self.calls.iter_mut().filter(|call| !call.finished) {
            if let Some(failure) = call.failure.take() {
                call.status = ToolStatus::Error;
                call.lines.push(failure);
            } else if over == Over::Cut && call.edits.is_empty() {
                continue;
            } else if call.tool == "EditFile" && call.edits.is_empty() && over == Over::Spoken {
                call.status = ToolStatus::Error;
            } else if call.tool.starts_with("Command") && asked {
                call.status = ToolStatus::Rejected;
            }
            call.finish(out);
        }
        self.calls.clear();
    }

    /// The turn ends, as the last call may have asked for. The model gets the
    /// results of all others and speaks again, unless they were refused.
    pub(super) fn end_turn(&mut self, is_history: bool, out: &mut Emitter) {
        self.close(out);
        let last = self.calls.pop_if(|last| last.ends_turn());
        if last.is_none() && !is_history {
            self.reject_silent(out);
        }
        let over = if is_history {
            Over::SpokenOfOld
        } else {
            Over::Spoken
        };
        self.end(over, out);
        self.calls.extend(last);
        self.end(over, out);
    }

    fn reject_silent(&mut self, out: &mut Emitter) {
        let is_silent = |call: &&mut Open| call.edits.is_empty() && call.failure.is_none();
        for call in self.calls.iter_mut().filter(is_silent) {
            if !call.finished {
                call.status = ToolStatus::Rejected;
                call.finish(out);
            }
        }
    }
}

/// Lines that only say what is about to be done.
fn is_announcement(line: &str) -> bool {
    line.starts_with('⛭')
}

impl Open {
    fn ends_turn(&self) -> bool {
        matches!(self.tool.as_str(), "Yield" | "Finished")
    }

    /// What was printed, without what is about to be run: it stands in the
    /// call.
    fn output(&self) -> String {
        let announced = self.lines.len() > 1 && self.lines.iter().any(|l| l.starts_with("⚙️ "));
        let skip = usize::from(announced);
        let lines: Vec<&str> = self
            .lines
            .iter()
            .skip(skip)
            .map(|line| line.trim_end_matches('\r'))
            .collect();
        lines.join("\n").trim_end().to_owned()
    }

    fn finish(&mut self, out: &mut Emitter) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        let output = self.output();
        if self.is_plan {
            if self.status != ToolStatus::Ok {
                out.notice(Level::Warning, output);
            }
            return;
        }
        let edits = if self.status == ToolStatus::Ok {
            std::mem::take(&mut self.edits)
        } else {
            Vec::new()
        };
        out.tool_result(
            &self.id,
            Outcome {
                status: self.status,
                output: output.into(),
                edits,
                ..Outcome::default()
            },
        );
    }
}
