//! The tool calls in progress, each merged from its updates: a permission request
//! often repeats only some fields of its call.
//!
//! A given field replaces the earlier one; a missing field or `null` does not. A
//! second announcement of the same call is one more update.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use serde_json::{Map, Value};
use unspool::event::{Category, Edit, RawJson, ToolUse};
use unspool::{patch, tool};

use super::proposed_change::{self, ProposedChange};
use crate::files::WrittenFile;
use crate::wire::{items, text};

/// Maximum number of calls in progress.
const MAX_OPEN: usize = 1024;

/// A tool call that asks for permission.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The agent's id of the call.
    pub id: String,
    /// The tool's name; may be empty.
    pub name: String,
    /// The kind, as the protocol names it: `read`, `edit`, `execute` …
    pub kind: String,
    /// The agent's title.
    pub title: String,
    /// The full command line: from the input, or the title if the kind is
    /// `execute`.
    pub command: Option<String>,
    /// The command line comes from the input.
    pub is_command_given: bool,
    /// The files that it reads or changes.
    pub paths: Vec<PathBuf>,
    /// The changes that it would make, as diffs.
    pub edits: Vec<Edit>,
    /// The same changes, as the agent sent them.
    pub changes: Vec<ProposedChange>,
    /// The agent's text on the call.
    pub text: String,
    /// Facts that matter for the decision, such as another working folder.
    pub remarks: Vec<String>,
    /// The input, as the agent sent it.
    pub input: Option<Value>,
    /// The ids of the terminals that it shows.
    pub terminals: Vec<String>,
}

impl ToolCall {
    /// Creates a call with a kind and a title.
    pub fn new(kind: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            title: title.into(),
            ..Self::default()
        }
    }

    /// Returns the call as an event.
    pub fn tool_use(&self) -> ToolUse {
        let category = category(&self.kind);
        let input = self.input.as_ref().map(Value::to_string);
        let first = self.paths.first().map(|path| path.display().to_string());
        let arg = self.command.clone().or(first).unwrap_or_default();
        let name = if self.name.is_empty() {
            &self.kind
        } else {
            &self.name
        };
        ToolUse::new(&self.id, tool::label(name))
            .with_category(category)
            .with_arg(tool::preview(&arg))
            .with_input(input.and_then(|input| RawJson::new(&input)))
            .with_title(tool::label(&self.title))
    }

    fn from_fields(fields: &Map<String, Value>) -> Self {
        let fields = Value::Object(fields.clone());
        let input = fields.get("rawInput").filter(|input| !input.is_null());
        let kind = text(&fields, "kind");
        let title = text(&fields, "title");
        let given = input.and_then(command_line);
        let title_line = (kind == "execute" && !title.is_empty()).then(|| title.clone());
        Self {
            id: text(&fields, "toolCallId"),
            name: name(&fields),
            is_command_given: given.is_some(),
            command: given.or(title_line),
            paths: paths(&fields, input),
            edits: edits(&fields),
            changes: ProposedChange::of_call(&fields).collect(),
            text: texts(&fields),
            remarks: Vec::new(),
            input: input.cloned(),
            terminals: terminals(&fields).collect(),
            kind: if kind.is_empty() {
                "other".to_owned()
            } else {
                kind
            },
            title,
        }
    }
}

/// The calls in progress.
#[derive(Default)]
pub(super) struct ToolCalls {
    /// The merged fields, by session and id.
    open: BTreeMap<(String, String), Map<String, Value>>,
    /// Oldest first; may name calls that have ended.
    order: VecDeque<(String, String)>,
}

impl ToolCalls {
    /// Merges a `session/update`, if it is about a call.
    pub(super) fn update(&mut self, session: &str, update: &Value) {
        let kind = update.get("sessionUpdate").and_then(Value::as_str);
        if !matches!(kind, Some("tool_call" | "tool_call_update")) {
            return;
        }
        let key = (session.to_owned(), text(update, "toolCallId"));
        let is_done = matches!(&*text(update, "status"), "completed" | "failed");
        if is_done {
            self.open.remove(&key);
            return;
        }
        let Some(fields) = update.as_object() else {
            return;
        };
        self.merge(key, fields);
    }

    /// Merges the call of a permission request and returns it.
    pub(super) fn merge_request(&mut self, session: &str, call: &Value) -> ToolCall {
        let empty = Map::new();
        let fields = call.as_object().unwrap_or(&empty);
        let key = (session.to_owned(), text(call, "toolCallId"));
        ToolCall::from_fields(self.merge(key, fields))
    }

    fn merge(&mut self, key: (String, String), fields: &Map<String, Value>) -> &Map<String, Value> {
        if !self.open.contains_key(&key) {
            self.order.push_back(key.clone());
            while self.order.len() > MAX_OPEN {
                if let Some(oldest) = self.order.pop_front().filter(|oldest| *oldest != key) {
                    self.open.remove(&oldest);
                }
            }
        }
        let known = self.open.entry(key).or_default();
        // Output may be very long, and no decision needs it.
        let fields = fields.iter().filter(|(name, _)| *name != "rawOutput");
        for (name, value) in fields {
            let is_empty_list = value.as_array().is_some_and(Vec::is_empty);
            let adds_nothing = value.is_null() || (is_empty_list && known.contains_key(name));
            if !adds_nothing {
                known.insert(name.clone(), value.clone());
            }
        }
        known
    }

    /// Returns true if a call shows this change of a file.
    pub(super) fn any_shows_change(&self, written: &WrittenFile) -> bool {
        self.open.values().any(|fields| {
            let content = fields.get("content").and_then(Value::as_array);
            let all = ProposedChange::all(content.map_or(&[], Vec::as_slice));
            let own: Vec<ProposedChange> =
                all.filter(|change| change.path == written.path).collect();
            let own: Vec<&ProposedChange> = own.iter().collect();
            proposed_change::are_made(&own, written.old.as_deref(), &written.new)
        })
    }

    /// Returns the commands in progress that show no terminal yet.
    fn without_terminal<'a>(
        &'a self,
        session: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a Map<String, Value>)> {
        let of_session = self.open.iter().filter(move |((of, _), fields)| {
            let content = fields.get("content").and_then(Value::as_array);
            let mut content = content.into_iter().flatten();
            let is_command = fields.get("kind").and_then(Value::as_str) == Some("execute");
            of == session && is_command && !content.any(|item| item.get("terminalId").is_some())
        });
        of_session.map(|((_, id), fields)| (id.as_str(), fields))
    }

    /// Returns true if a command in progress shows no terminal yet.
    pub(super) fn any_awaits_terminal(&self, session: &str) -> bool {
        self.without_terminal(session).next().is_some()
    }

    /// Returns the call of this command, if it shows no terminal yet and is the only
    /// one.
    pub(super) fn awaiting_terminal(&self, session: &str, command: &str) -> Option<String> {
        let runs_it = |fields: &Map<String, Value>| {
            let own = ToolCall::from_fields(fields).command;
            own.is_some_and(|own| own.trim() == command.trim())
        };
        let mut calls = self
            .without_terminal(session)
            .filter(|(_, fields)| runs_it(fields));
        let (id, _) = calls.next()?;
        calls.next().is_none().then(|| id.to_owned())
    }

    /// Returns true if a call shows this terminal.
    pub(super) fn any_shows_terminal(&self, terminal: &str) -> bool {
        self.open.values().any(|fields| {
            let content = fields.get("content").and_then(Value::as_array);
            let mut content = content.into_iter().flatten();
            content.any(|item| text(item, "terminalId") == terminal)
        })
    }
}

fn name(fields: &Value) -> String {
    let meta = fields.get("_meta").and_then(|meta| meta.get("claudeCode"));
    let meta_name = meta.map(|meta| text(meta, "toolName")).unwrap_or_default();
    let name = text(fields, "name");
    if name.is_empty() { meta_name } else { name }
}

/// Joins arguments into one command line that means the same in a shell.
pub(super) fn join_command(argv: &[String]) -> String {
    let line = tool::command_line(argv);
    if line != argv.join(" ") {
        return line;
    }
    // Quoting fails for NUL only, which no command can have.
    shlex::try_join(argv.iter().map(String::as_str)).unwrap_or(line)
}

/// Returns the command line of a call's input.
fn command_line(input: &Value) -> Option<String> {
    let value = ["command", "cmd"].iter().find_map(|key| input.get(key))?;
    let strings = |list: &[Value]| -> Vec<String> {
        let words = list.iter().filter_map(Value::as_str);
        words.map(str::to_owned).collect()
    };
    let args = strings(items(input, "args"));
    let mut words = match value.as_str() {
        Some(line) if args.is_empty() => return Some(tool::unwrap_shell(line).into_owned()),
        Some(program) => vec![program.to_owned()],
        None => strings(value.as_array()?),
    };
    words.extend(args);
    (!words.is_empty()).then(|| join_command(&words))
}

fn paths(fields: &Value, input: Option<&Value>) -> Vec<PathBuf> {
    let located = items(fields, "locations").iter().map(|at| text(at, "path"));
    let changed = items(fields, "content")
        .iter()
        .map(|item| text(item, "path"));
    let keys = [
        "file_path",
        "filePath",
        "path",
        "notebook_path",
        "abs_path",
        "new_path",
    ];
    let named = input
        .into_iter()
        .flat_map(|input| keys.map(|key| text(input, key)));
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in located.chain(changed).chain(named) {
        let path = PathBuf::from(path);
        if !path.as_os_str().is_empty() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

fn edits(fields: &Value) -> Vec<Edit> {
    let content = items(fields, "content").iter();
    content
        .filter(|item| text(item, "type") == "diff")
        .map(|item| {
            let old = item.get("oldText").and_then(Value::as_str);
            patch::from_texts(&text(item, "path"), old, &text(item, "newText"), false)
        })
        .collect()
}

fn texts(fields: &Value) -> String {
    let content = items(fields, "content").iter();
    let blocks = content.filter_map(|item| item.get("content"));
    let words: Vec<String> = blocks.map(|block| text(block, "text")).collect();
    words.join("\n")
}

fn terminals(fields: &Value) -> impl Iterator<Item = String> {
    let content = items(fields, "content").iter();
    let ids = content.map(|item| text(item, "terminalId"));
    ids.filter(|id| !id.is_empty())
}

fn category(kind: &str) -> Category {
    match kind {
        "read" => Category::Read,
        "edit" => Category::Edit,
        "delete" => Category::Delete,
        "move" => Category::Move,
        "search" => Category::Search,
        "execute" => Category::Execute,
        "think" => Category::Think,
        "fetch" => Category::Fetch,
        _ => Category::Other,
    }
}
