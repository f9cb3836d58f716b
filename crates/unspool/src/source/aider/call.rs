//! The block that announces a tool call: its first line, and below it either
//! `Arguments:` with the model's JSON, or the arguments one by one, in a form that
//! depends on the tool. A block has no end mark: its end follows from its lines.

use serde_json::{Map, Value};

use super::line::is_gap;
use super::message;
use super::wrap::{self, Columns};
use crate::event::{Category, Edit, Plan, PlanEntry, PlanStatus, RawJson};
use crate::patch;
use crate::source;
use crate::tool;

use arguments::{Argument, Raw, key_of, unknown_key};

mod arguments;

/// A tool call whose lines are still coming.
#[derive(Clone, Debug)]
pub(super) struct Block {
    server: String,
    tool: String,
    id: String,
    lines: Vec<String>,
    json: Option<Raw>,
    arguments: Vec<Argument>,
    columns: Columns,
    /// The first argument follows without an empty line, and so do the others.
    is_tight: bool,
}

/// A tool call whose block has ended.
#[derive(Clone, Debug)]
pub(super) struct Announced {
    /// The model's id, shown in verbose output only.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) tool: String,
    pub(super) category: Category,
    pub(super) arg: String,
    pub(super) input: Option<RawJson>,
    /// Its changes, without line numbers: the shown ones count from the start of
    /// the changed piece.
    pub(super) edits: Vec<Edit>,
    /// The reason why it cannot run, if known.
    pub(super) failure: Option<String>,
    /// The list of a todo tool.
    pub(super) plan: Option<Plan>,
}

impl Block {
    pub(super) fn new(server: String, tool: String, columns: Columns) -> Self {
        Self {
            server,
            tool,
            id: String::new(),
            lines: Vec::new(),
            json: None,
            arguments: Vec::new(),
            columns,
            is_tight: false,
        }
    }

    /// Returns true if the line before was empty.
    pub(super) fn is_below_gap(&self) -> bool {
        self.lines.last().is_some_and(|line| is_gap(line))
    }

    pub(super) fn push(&mut self, line: &str) {
        if is_verbose(line) {
            self.id = line
                .strip_prefix("Tool ID: ")
                .unwrap_or(&self.id)
                .trim()
                .to_owned();
            return;
        }
        self.is_tight |= self.lines.is_empty() && key_of(line).is_some();
        let is_tight = self.is_tight && key_of(line).is_some();
        let is_below_gap = self.arguments.is_empty() || self.is_below_gap() || is_tight;
        if let Some(json) = &mut self.json {
            json.push(line);
        } else if let Some(json) = Raw::start(line) {
            self.json = Some(json);
        } else if let Some(new) = Argument::start(line, is_below_gap, self.arguments.last()) {
            self.arguments.push(new);
        } else if let Some(open) = self.arguments.last_mut() {
            open.push(line);
        } else if !line.trim().is_empty() {
            self.arguments.push(Argument::unnamed(line));
        }
        self.lines.push(line.to_owned());
    }

    /// Returns true if a line that is not a marker may belong to the block.
    pub(super) fn takes(&self, line: &str) -> bool {
        if line.trim().is_empty() || is_verbose(line) {
            return true;
        }
        let last = self.lines.iter().rev().find(|line| !line.trim().is_empty());
        let Some(last) = last else {
            return self.is_argument(line) || unknown_key(line, true).is_some();
        };
        let directly = !self.is_below_gap();
        if let Some(json) = &self.json {
            return !json.is_complete && directly;
        }
        if self.is_argument(line) || (directly && self.columns.continues(last, line)) {
            return true;
        }
        match self.arguments.last().and_then(Argument::open_key) {
            None => false,
            Some(key) if is_todo(&self.tool) || matches!(key, "Done" | "Remaining") => {
                todo_mark(line).is_some()
            }
            Some("replacement" | "deletion" | "insertion" | "diff") => self.hunk_takes(line),
            Some("file_path" | "position" | "start_line" | "end_line" | "Wait" | "delegation") => {
                directly && key_of(last).is_some()
            }
            Some(_) => true,
        }
    }

    /// Returns true for a line that names an argument, or an entry of a todo list.
    fn is_argument(&self, line: &str) -> bool {
        names_argument(line)
            || unknown_key(line, false).is_some()
            || (is_todo(&self.tool) && todo_mark(line).is_some())
            || is_invalid(line)
    }

    /// Returns true if the open hunk lacks lines, or another one starts.
    fn hunk_takes(&self, line: &str) -> bool {
        let start = self.lines.iter().rposition(|line| line.starts_with("@@ "));
        if line.starts_with("@@ ") {
            return true;
        }
        let Some(start) = start else {
            return is_no_preview(line) && !self.is_below_gap();
        };
        let header = self.lines.get(start).map_or("", String::as_str);
        let Some((old, new)) = hunk_lengths(header) else {
            return line.starts_with([' ', '-', '+']);
        };
        let body = self.lines.get(start + 1..).unwrap_or_default();
        let count = |signs: [char; 2]| body.iter().filter(|l| l.starts_with(signs)).count();
        let lacks = count([' ', '-']) < old || count([' ', '+']) < new;
        lacks && line.starts_with([' ', '-', '+'])
    }

    /// Ends the block.
    pub(super) fn finish(self) -> Announced {
        let lines = message::trim(&self.lines);
        let name = match self.server.to_ascii_lowercase().as_str() {
            "local" | "local_tools" => self.tool.clone(),
            _ => format!("{}.{}", self.server, self.tool),
        };
        let category = source::category(&name);
        let finish = |argument: &Argument| argument.finish(self.columns);
        let mut fields: Map<String, Value> = self.arguments.iter().map(finish).collect();
        let shown = || RawJson::of(&fields).filter(|_| !fields.is_empty());
        let raw = self.json.as_ref().and_then(Raw::finish);
        let parsed = raw.as_ref().map(|raw| serde_json::from_str(raw.get()));
        let input = raw.or_else(shown);
        if let Some(Ok(Value::Object(all))) = parsed {
            fields = all;
        }
        Announced {
            id: self.id,
            name,
            category,
            arg: arg(category, input.as_ref(), &fields),
            edits: edits(&fields, category, input.as_ref()),
            failure: failure(lines),
            plan: is_todo(&self.tool)
                .then(|| plan(lines, self.columns))
                .flatten(),
            input,
            tool: self.tool,
        }
    }
}

/// Returns true for a line that names an argument of a known tool.
pub(super) fn names_argument(line: &str) -> bool {
    Raw::start(line).is_some() || key_of(line).is_some()
}

/// Returns true for the lines that verbose output adds to a call.
fn is_verbose(line: &str) -> bool {
    line.starts_with("Tool ID: ") || line.starts_with("Tool type: ")
}

fn is_todo(tool: &str) -> bool {
    tool == "UpdateTodoList"
}

/// Returns the preview: the common fields of all agents, then those of aider.
fn arg(category: Category, input: Option<&RawJson>, fields: &Map<String, Value>) -> String {
    const OWN: &str = "command_string Command Code symbol source_file_path Summary Thoughts \
        change_id content text";
    let common = input.map_or_else(String::new, |input| tool::arg(category, input.json()));
    if !common.is_empty() {
        return common;
    }
    let text = |value: &'_ Value| value.as_str().map(str::to_owned);
    let own = OWN.split(' ').find_map(|key| text(fields.get(key)?));
    let listed = || {
        let (key, value) = fields.iter().next()?;
        let task = value.get("task").and_then(text);
        task.or_else(|| key_of(&format!("{key}: x")).and(text(value)))
    };
    let text = own.or_else(listed).unwrap_or_default();
    let first = text.split(" • ").next().unwrap_or_default();
    first.trim().to_owned()
}

/// Reads the lengths of the old and the new side in `@@ -1 +1,2 @@`.
fn hunk_lengths(header: &str) -> Option<(usize, usize)> {
    let length = |range: &str, sign: char| -> Option<usize> {
        let range = range.strip_prefix(sign)?;
        let (_, length) = range.split_once(',').unwrap_or(("", "1"));
        length.parse().ok()
    };
    let mut ranges = header.strip_prefix("@@ ")?.split(' ');
    Some((length(ranges.next()?, '-')?, length(ranges.next()?, '+')?))
}

/// Returns true for the line in place of a change that cannot be made.
fn is_no_preview(line: &str) -> bool {
    line.starts_with("Preview Unavailable")
}

/// Returns true for the line in place of the arguments of a call that cannot be made.
fn is_invalid(line: &str) -> bool {
    line.starts_with("(no command provided") || line.starts_with("Invalid Tool JSON")
}

/// Returns the line that announces that the call will fail.
fn failure(lines: &[String]) -> Option<String> {
    let first = lines.first().filter(|line| is_invalid(line));
    first
        .or_else(|| lines.iter().find(|line| is_no_preview(line)))
        .cloned()
}

fn edits(fields: &Map<String, Value>, category: Category, input: Option<&RawJson>) -> Vec<Edit> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let Some(path) = text("file_path") else {
        return Vec::new();
    };
    let values = fields.values().filter_map(Value::as_str);
    let diffs = values.filter(|value| value.starts_with("@@"));
    let mut hunks: Vec<_> = diffs.flat_map(patch::hunks).collect();
    for hunk in &mut hunks {
        (hunk.old_start, hunk.new_start) = (None, None);
    }
    if hunks.is_empty()
        && let Some(new) = text("new_content").or_else(|| text("content"))
    {
        hunks = patch::from_texts(path, Some(""), &format!("{new}\n"), false).hunks;
        for hunk in &mut hunks {
            hunk.new_start = text("start_line").and_then(|line| line.trim().parse().ok());
        }
    }
    if hunks.is_empty() {
        let announced = input.map(|input| source::edits::announced(category, input.json()));
        return announced.unwrap_or_default();
    }
    vec![Edit {
        path: path.to_owned(),
        hunks,
        ..Edit::default()
    }]
}

fn todo_mark(line: &str) -> Option<(PlanStatus, &str)> {
    [
        ("✓ ", PlanStatus::Completed),
        ("→ ", PlanStatus::InProgress),
        ("○ ", PlanStatus::Pending),
    ]
    .into_iter()
    .find_map(|(mark, status)| Some((status, line.trim_start().strip_prefix(mark)?)))
}

/// Reads a list whose entries carry marks.
fn plan(lines: &[String], columns: Columns) -> Option<Plan> {
    let lines = wrap::rejoin(lines.iter().map(String::as_str), columns);
    let marked = lines.iter().filter_map(|line| todo_mark(line));
    let entries = marked.map(|(status, text)| PlanEntry {
        text: text.trim().to_owned(),
        status,
        ..PlanEntry::default()
    });
    let entries: Vec<PlanEntry> = entries.collect();
    (!entries.is_empty()).then(|| Plan {
        entries,
        ..Plan::default()
    })
}

#[cfg(test)]
mod tests;
