//! The block that announces a tool call: its first line, and below it either
//! `Arguments:` with the model's JSON, or the arguments one by one, each tool
//! in its own way. The end of a block has no mark of its own, so each line is
//! asked whether it still belongs to it.

use serde_json::{Map, Value};

use super::{marker, message, wrap};
use crate::event::{Category, Edit, Plan, PlanEntry, PlanStatus, RawJson};
use crate::json::Json;
use crate::patch;
use crate::tool;

use arguments::{Nesting, is_arguments, key_of, raw_arguments, shown_arguments, unknown_key};

mod arguments;

/// A tool call whose lines are still coming.
#[derive(Clone, Debug)]
pub(super) struct Block {
    server: String,
    pub(super) tool: String,
    lines: Vec<String>,
    /// The JSON behind `Arguments:`, as far as it came.
    json: Option<Nesting>,
    /// The argument whose value lines are coming; none for values that stand
    /// on the line of their name.
    open_key: Option<&'static str>,
    /// An argument that no tool is known to have was named.
    unknown_keys: bool,
}

/// A tool call as it is known when its block has ended.
#[derive(Debug)]
pub(super) struct Announced {
    /// The model's id, which only verbose output shows.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) tool: String,
    pub(super) category: Category,
    pub(super) arg: String,
    pub(super) input: Option<RawJson>,
    /// What it would change; no line numbers, for the shown ones count from
    /// the beginning of the changed piece.
    pub(super) edits: Vec<Edit>,
    /// Why it cannot be done, if that is known already.
    pub(super) failure: Option<String>,
    /// The list of a todo tool.
    pub(super) plan: Option<Plan>,
}

impl Block {
    pub(super) fn new(server: String, tool: String) -> Self {
        Self {
            server,
            tool,
            lines: Vec::new(),
            json: None,
            open_key: None,
            unknown_keys: false,
        }
    }

    /// Whether the line before this one was empty.
    pub(super) fn after_gap(&self) -> bool {
        self.lines.last().is_some_and(|line| marker::is_gap(line))
    }

    pub(super) fn push(&mut self, line: &str) {
        if let Some(json) = &mut self.json {
            json.read(line);
        } else if is_arguments(line) {
            let mut json = Nesting::default();
            let line = marker::untagged(line);
            json.read(line.split_once(':').map_or("", |(_, json)| json));
            self.json = Some(json);
        } else if let Some(key) = key_of(line) {
            self.open_key = key.value.is_empty().then_some(key.base);
        }
        self.unknown_keys |= unknown_key(line, true).is_some();
        self.lines.push(line.to_owned());
    }

    /// Whether a line that is no marker may belong to the block.
    pub(super) fn takes(&self, line: &str) -> bool {
        if line.trim().is_empty()
            || line.starts_with("Tool ID: ")
            || line.starts_with("Tool type: ")
        {
            return true;
        }
        let last = self.lines.iter().rev().find(|line| !line.trim().is_empty());
        let Some(last) = last else {
            return self.is_argument(line) || unknown_key(line, true).is_some();
        };
        if let Some(json) = &self.json {
            return !json.is_complete() && !self.after_gap();
        }
        let directly = !self.after_gap();
        if self.is_argument(line) || (directly && wrap::continues(last, line)) {
            return true;
        }
        match self.open_key {
            Some(key) if is_todo(&self.tool) || matches!(key, "Done" | "Remaining") => {
                todo_mark(line).is_some()
            }
            Some("replacement" | "deletion" | "insertion" | "diff") => self.hunk_takes(line),
            Some("file_path" | "position" | "start_line" | "end_line" | "Wait" | "delegation") => {
                directly && key_of(last).is_some()
            }
            Some(_) => true,
            None => self.unknown_keys,
        }
    }

    /// A line that names an argument, or a line of a list.
    fn is_argument(&self, line: &str) -> bool {
        is_arguments(line)
            || key_of(line).is_some()
            || unknown_key(line, false).is_some()
            || (is_todo(&self.tool) && todo_mark(line).is_some())
            || is_invalid(line)
    }

    /// Whether the open hunk still lacks lines, or another one begins.
    fn hunk_takes(&self, line: &str) -> bool {
        let start = self.lines.iter().rposition(|line| line.starts_with("@@ "));
        if line.starts_with("@@ ") {
            return true;
        }
        let Some(start) = start else {
            return is_no_preview(line) && !self.after_gap();
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

    /// All lines are there.
    pub(super) fn finish(self) -> Announced {
        let mut lines = self.lines;
        let mut id = String::new();
        lines.retain(|line| {
            if let Some(found) = line.strip_prefix("Tool ID: ") {
                found.trim().clone_into(&mut id);
            }
            !line.starts_with("Tool ID: ") && !line.starts_with("Tool type: ")
        });
        let lines = message::trim(&lines);
        let local = self.server.eq_ignore_ascii_case("local") || self.server == "local_tools";
        let name = if local {
            self.tool.clone()
        } else {
            format!("{}.{}", self.server, self.tool)
        };
        let category = crate::source::category(&name);
        let raw = raw_arguments(lines);
        let input: Value = match &raw {
            Some(raw) => serde_json::from_str(raw.get()).unwrap_or_default(),
            None => shown_arguments(lines).into(),
        };
        let fields = input.as_object();
        let arg = fields.map_or_else(String::new, |fields| arg(category, &input, fields));
        Announced {
            id,
            name,
            category,
            arg,
            edits: fields.map(edits).unwrap_or_default(),
            failure: failure(lines),
            plan: is_todo(&self.tool).then(|| plan(lines)).flatten(),
            input: raw.or_else(|| RawJson::of(&input).filter(|_| !lines.is_empty())),
            tool: self.tool,
        }
    }
}

fn is_todo(tool: &str) -> bool {
    tool == "UpdateTodoList"
}

/// The preview: what all agents have in common, then what only these have.
fn arg(category: Category, input: &Value, fields: &Map<String, Value>) -> String {
    const OWN: &[&str] = &[
        "command_string",
        "Command",
        "Code",
        "symbol",
        "source_file_path",
        "Summary",
        "Thoughts",
        "change_id",
        "content",
        "text",
    ];
    let json = input.to_string();
    let common = Json::parse(&json).map_or_else(String::new, |json| tool::arg(category, json));
    if !common.is_empty() {
        return common;
    }
    let own = OWN
        .iter()
        .find_map(|key| fields.get(*key).and_then(Value::as_str));
    let first = fields.values().next();
    let nested = first
        .and_then(|value| value.get("task"))
        .and_then(Value::as_str);
    let listed = || {
        let key = fields.keys().next()?;
        key_of(&format!("{key}: x")).and(first?.as_str())
    };
    let text = own.or(nested).or_else(listed).unwrap_or_default();
    text.split(" • ")
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Lengths of the old and the new side in `@@ -1 +1,2 @@`.
fn hunk_lengths(header: &str) -> Option<(usize, usize)> {
    let length = |range: &str, sign: char| -> Option<usize> {
        let range = range.strip_prefix(sign)?;
        let (_, length) = range.split_once(',').unwrap_or(("", "1"));
        length.parse().ok()
    };
    let mut ranges = header.strip_prefix("@@ ")?.split(' ');
    Some((length(ranges.next()?, '-')?, length(ranges.next()?, '+')?))
}

/// Stands where a change that cannot be made would be shown.
fn is_no_preview(line: &str) -> bool {
    line.starts_with("Preview Unavailable")
}

/// Stands where the arguments of a call that cannot be made would be shown.
fn is_invalid(line: &str) -> bool {
    line.starts_with("(no command provided") || line.starts_with("Invalid Tool JSON")
}

/// Why a call will fail, where its own lines say so.
fn failure(lines: &[String]) -> Option<String> {
    let first = lines.first().filter(|line| is_invalid(line));
    first
        .or_else(|| lines.iter().find(|line| is_no_preview(line)))
        .cloned()
}

fn edits(fields: &Map<String, Value>) -> Vec<Edit> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let Some(path) = text("file_path") else {
        return Vec::new();
    };
    let mut hunks = Vec::new();
    for value in fields.values().filter_map(Value::as_str) {
        if value.starts_with("@@") {
            hunks.extend(patch::hunks(value));
        }
    }
    for hunk in &mut hunks {
        (hunk.old_start, hunk.new_start) = (None, None);
    }
    if hunks.is_empty()
        && let Some(new) = text("new_content").or_else(|| text("content"))
    {
        let mut edit = patch::from_texts(path, Some(""), &format!("{new}\n"), false);
        for hunk in &mut edit.hunks {
            hunk.new_start = text("start_line").and_then(|line| line.trim().parse().ok());
        }
        hunks = edit.hunks;
    }
    if hunks.is_empty() {
        return Vec::new();
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

/// The list, where its items carry their marks.
fn plan(lines: &[String]) -> Option<Plan> {
    let mut entries: Vec<PlanEntry> = Vec::new();
    for line in wrap::rejoin(lines.iter().map(String::as_str)) {
        if let Some((status, text)) = todo_mark(&line) {
            entries.push(PlanEntry {
                text: text.trim().to_owned(),
                status,
                ..PlanEntry::default()
            });
        }
    }
    (!entries.is_empty()).then(|| Plan {
        entries,
        ..Plan::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(tool: &str, body: &str) -> Announced {
        let mut block = Block::new("local".into(), tool.into());
        for line in body.lines() {
            assert!(block.takes(line), "{line}");
            block.push(line);
        }
        block.finish()
    }

    fn input_of(call: &Announced) -> &str {
        call.input.as_ref().unwrap().get()
    }

    #[test]
    fn arguments_that_were_cut_are_the_json_again() {
        let call = announced(
            "Grep",
            "[blue]Arguments:[/] {\"query\": \"Model Control Protocol specification \nsite:x.io\"}",
        );
        assert_eq!(
            input_of(&call),
            r#"{"query": "Model Control Protocol specification site:x.io"}"#
        );
        assert_eq!(call.arg, "Model Control Protocol specification si…");
        let broken = announced("Grep", "Arguments: {\"x\": ");
        assert_eq!(input_of(&broken), r#"{"Arguments":"{\"x\":"}"#);
    }

    #[test]
    fn arguments_one_by_one_are_an_object() {
        let call = announced(
            "ReplaceLines",
            "\nfile_path:\napp.py\n\nstart_line:\n5\n\nnew_content:\nelse:\n    x()\n\nend",
        );
        assert_eq!(
            input_of(&call),
            r#"{"file_path":"app.py","start_line":"5","new_content":"else:\n    x()\n\nend"}"#
        );
        assert_eq!(call.arg, "app.py");
        assert_eq!(call.edits[0].hunks[0].new_start, Some(5));
    }

    #[test]
    fn each_tool_shows_its_arguments_in_its_own_way() {
        let read = announced(
            "ReadFile",
            "\nrange_1: app.py • @000 • 000@\nrange_2: b.py • 1 • 2",
        );
        assert_eq!(read.arg, "app.py");
        assert_eq!(
            input_of(&read),
            r#"{"range_1":"app.py • @000 • 000@","range_2":"b.py • 1 • 2"}"#
        );
        let task = announced(
            "Delegate",
            "\ndelegation_1:\nagent: worker\nmode: sync\ntask: Count",
        );
        assert_eq!(task.arg, "Count");
        assert_eq!(
            input_of(&task),
            r#"{"delegation_1":{"agent":"worker","mode":"sync","task":"Count"}}"#
        );
        let shell = announced("Command", "\nCommand:\necho one; echo two\n");
        assert_eq!(shell.arg, "echo one; echo two");
        let code = announced("Orchestrate", "\nvalues: True\nCode:\n  x = 1\n  y = 2");
        assert_eq!(code.arg, "x = 1\n  y = 2");
    }

    #[test]
    fn a_call_that_cannot_be_made_says_so() {
        for line in [
            "(no command provided — call will be rejected)",
            "Invalid Tool JSON",
        ] {
            let call = announced("Command", &format!("\n{line}\n"));
            assert_eq!(call.failure.as_deref(), Some(line));
        }
        let call = announced("Command", "\nCommand:\necho\nInvalid Tool JSON");
        assert_eq!(call.failure, None);
    }

    #[test]
    fn a_hunk_ends_when_its_lines_are_there() {
        let mut block = Block::new("local".into(), "EditFile".into());
        for line in [
            "",
            "file_path:",
            "app.py",
            "",
            "replacement:",
            "@@ -1 +1 @@",
            "-a",
            "+b",
        ] {
            assert!(block.takes(line), "{line}");
            block.push(line);
        }
        assert!(!block.takes("And a new file."));
        assert!(!block.takes("- a list"));
        let call = block.finish();
        assert_eq!(call.edits[0].hunks[0].lines, ["-a", "+b"]);
        assert_eq!(call.edits[0].hunks[0].old_start, None);
    }

    #[test]
    fn todo_lists_are_plans() {
        let call = announced("UpdateTodoList", "Done:\n✓ a\n\nRemaining:\n→ b\n○ c");
        let plan = call.plan.unwrap();
        let statuses: Vec<_> = plan.entries.iter().map(|entry| entry.status).collect();
        assert_eq!(
            statuses,
            [
                PlanStatus::Completed,
                PlanStatus::InProgress,
                PlanStatus::Pending
            ]
        );
    }
}
