//! Message parts, which are the same in every format: tool calls with their
//! states, steps with their tokens.

use std::borrow::Cow;

use super::indent::Written;
use crate::event::{Category, Edit, EditOp, Hunk, Payload, ToolStatus};
use crate::json::{Json, Object};
use crate::patch;
use crate::source::edits::patched_path;
use crate::source::usage::{self, Names, add, count};
use crate::source::{Call, Emitter, Outcome};

/// The progress of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Its arguments are not complete.
    Pending,
    Running,
    Finished,
}

/// A part of type `tool`.
pub(super) struct ToolPart<'a> {
    /// The part's own id, which is unique.
    pub(super) id: String,
    /// The model's id for the call, which results and permissions refer to.
    pub(super) call_id: String,
    name: String,
    state: Object<'a>,
    metadata: Object<'a>,
}

impl<'a> ToolPart<'a> {
    pub(super) fn new(part: &Object<'a>) -> Self {
        let state = part.get("state").object();
        let metadata = state.get("metadata").object();
        let id = part.get("id").string();
        let call_id = part.get("callID").string();
        Self {
            call_id: if call_id.is_empty() {
                id.clone()
            } else {
                call_id
            },
            id,
            name: part.get("tool").string(),
            state,
            metadata,
        }
    }

    pub(super) fn progress(&self) -> Progress {
        match self.state.get("status").str().as_deref() {
            Some("pending") => Progress::Pending,
            Some("completed" | "error") => Progress::Finished,
            _ => Progress::Running,
        }
    }

    /// Returns true if the model called a missing tool or used invalid arguments;
    /// OpenCode then calls `invalid` instead.
    fn is_invalid(&self) -> bool {
        self.name == "invalid"
    }

    /// Returns true if the call asks the user a question.
    pub(super) fn is_question(&self) -> bool {
        self.name == "question"
    }

    /// Returns the questions of a call that asks the user.
    pub(super) fn questions(&self) -> Json<'a> {
        self.input().get("questions")
    }

    /// Returns the answers to its questions.
    pub(super) fn answers(&self) -> Json<'a> {
        self.metadata.get("answers")
    }

    fn input(&self) -> Json<'a> {
        self.state.get("input")
    }

    /// Returns the call under the id `key`.
    pub(super) fn call<'c>(&'c self, key: &'c str, names: &'c CallNames) -> Call<'c> {
        Call {
            id: key,
            name: &names.name,
            category: Some(self.category(&names.name)),
            // The input has only the name and the error, which the result
            // repeats.
            arg: self.is_invalid().then_some(Cow::Borrowed("")),
            input: if self.is_invalid() {
                None
            } else {
                self.input().into()
            },
            title: if self.is_invalid() { "" } else { &names.title },
        }
    }

    fn category(&self, name: &str) -> Category {
        let actual = actual_category(name, &self.metadata, self.state.get("output"));
        actual.unwrap_or_else(|| crate::source::category(name))
    }

    /// Returns true if the result shows another category than the call had.
    pub(super) fn changes_category(&self, key: &str, out: &Emitter) -> bool {
        let category = self.category(&self.names().name);
        out.category_of(key).is_some_and(|known| known != category)
    }

    pub(super) fn names(&self) -> CallNames {
        let wanted = self.input().get("tool").string();
        CallNames {
            name: if self.is_invalid() && !wanted.is_empty() {
                wanted
            } else {
                self.name.clone()
            },
            title: self.state.get("title").string(),
        }
    }

    /// Returns the session of the sub-agent that the call started.
    pub(super) fn child(&self) -> Option<String> {
        let id = self.metadata.get("sessionId").string();
        id.starts_with("ses_").then_some(id)
    }

    /// Returns the type of the requested sub-agent.
    pub(super) fn agent_name(&self) -> String {
        self.input().get("subagent_type").string()
    }

    /// Returns the output of a running call so far.
    pub(super) fn output_so_far(&self) -> Option<Cow<'a, str>> {
        self.metadata.get("output").str()
    }

    /// Returns start and end of the call, in milliseconds since 1970.
    pub(super) fn times(&self) -> (Option<i64>, Option<i64>) {
        let time = self.state.get("time").object();
        (time.get("start").i64(), time.get("end").i64())
    }

    /// Returns the result of the call; `refused` if the user denied permission.
    pub(super) fn outcome(&self, refused: bool, out: &Emitter) -> Outcome {
        let status = self.status(refused);
        let failed = self.state.get("status").str().as_deref() == Some("error");
        let (start, end) = self.times();
        Outcome {
            status,
            output: self.output(),
            exit_code: self.metadata.get("exit").i64(),
            edits: if failed || self.is_invalid() {
                Vec::new()
            } else {
                self.edits()
            },
            duration_ms: start
                .zip(end)
                .and_then(|(start, end)| u64::try_from(end.saturating_sub(start)).ok()),
            name: self.names().name,
            media: out.media_in(self.state.get("attachments")),
        }
    }

    fn output(&self) -> Payload {
        match self.state.get("error") {
            error if error.is_null() => self.state.get("output").payload(),
            error => error.payload(),
        }
    }

    fn status(&self, refused: bool) -> ToolStatus {
        if self.state.get("status").str().as_deref() == Some("error") {
            let error = self.state.get("error").str().unwrap_or_default();
            return match () {
                () if refused || is_refusal(&error) => ToolStatus::Rejected,
                () if self.was_interrupted(&error) => ToolStatus::Canceled,
                () => ToolStatus::Error,
            };
        }
        match self.metadata.get("exit").i64() {
            Some(0) => ToolStatus::Ok,
            Some(_) => ToolStatus::Error,
            // A command without an exit code was stopped.
            None if self.metadata.has("exit") => self.stopped(),
            None if self.is_invalid() || self.is_failed_task() => ToolStatus::Error,
            None => ToolStatus::Ok,
        }
    }

    fn was_interrupted(&self, error: &str) -> bool {
        self.metadata.get("interrupted").is_true() || error.ends_with("Tool execution aborted")
    }

    fn stopped(&self) -> ToolStatus {
        let output = self.state.get("output").str().unwrap_or_default();
        match shell_note(&output) {
            Some(note) if note.contains("aborted") => ToolStatus::Canceled,
            _ => ToolStatus::Error,
        }
    }

    /// Returns true if the first tag of a sub-agent's result reports a failure.
    fn is_failed_task(&self) -> bool {
        if self.name != "task" {
            return false;
        }
        let output = self.state.get("output").str().unwrap_or_default();
        let tag = output.split('>').next().unwrap_or_default();
        tag.starts_with("<task ") && tag.contains(" state=\"error\"")
    }

    /// Returns the edits, with the line numbers of the diffs.
    fn edits(&self) -> Vec<Edit> {
        let mut edits = self.reported_edits();
        let input = self.input();
        let (new, patch) = (input.get("newString").str(), input.get("patchText").str());
        let written = match (&new, &patch) {
            (Some(new), _) => Written::replacing(new),
            (None, Some(patch)) => Written::patching(patch),
            (None, None) => return edits,
        };
        for edit in &mut edits {
            written.restore(edit);
        }
        edits
    }

    fn reported_edits(&self) -> Vec<Edit> {
        let files: Vec<Edit> = self
            .metadata
            .get("files")
            .array()
            .into_iter()
            .filter_map(file_edit)
            .collect();
        if !files.is_empty() {
            return files;
        }
        let path = first_text(&self.input().object(), &["filePath"]);
        let path = Some(path).filter(|path| !path.is_empty());
        // The diff of an old patch tool has no header.
        let path = path.or_else(|| patched_path(self.input()));
        let path = path.unwrap_or_default();
        let filediff = self.metadata.get("filediff");
        let diff = [self.metadata.get("diff"), filediff.get("patch")]
            .into_iter()
            .filter_map(Json::str)
            .find(|diff| !diff.is_empty());
        match diff {
            Some(diff) => self.diff_edits(&path, &diff),
            None if self.name == "write" => self.written(&path).into_iter().collect(),
            None => Vec::new(),
        }
    }

    fn diff_edits(&self, path: &str, diff: &str) -> Vec<Edit> {
        let mut edits = patch::unified(path, diff);
        // Replacing an empty text creates the file.
        let creates = self.input().get("oldString").str().as_deref() == Some("");
        for edit in &mut edits {
            let mut lines = edit.hunks.iter().flat_map(|hunk| &hunk.lines);
            if creates && lines.all(|line| line.starts_with('+')) {
                edit.op = EditOp::Add;
                clear_old_starts(edit);
            }
        }
        edits
    }

    /// Returns the edit of a written file, whose old content is unknown.
    fn written(&self, path: &str) -> Option<Edit> {
        let content = self.input().get("content").str()?;
        let mut edit = patch::added(path, &content);
        if self.metadata.get("exists").is_true() {
            edit.op = EditOp::Update;
        }
        Some(edit)
    }
}

/// Returns the category that a result shows: `read` lists folders too, and a patch
/// may only move files. The output is decoded only if needed.
pub(in crate::source) fn actual_category(
    name: &str,
    metadata: &Object<'_>,
    output: Json<'_>,
) -> Option<Category> {
    match name {
        "read" => {
            let kind = metadata.get("display").get("type");
            let is_folder = if let Some(kind) = kind.str() {
                kind == "directory"
            } else {
                let output = output.str().unwrap_or_default();
                output.lines().nth(1) == Some("<type>directory</type>")
            };
            is_folder.then_some(Category::List)
        }
        "apply_patch" => {
            let files = metadata.get("files").array();
            let mut kinds = files.iter().map(|file| file.get("type").string());
            let first = kinds.next()?;
            let category = match first.as_str() {
                "add" => Category::Write,
                "delete" => Category::Delete,
                "move" => Category::Move,
                _ => return None,
            };
            kinds.all(|kind| kind == first).then_some(category)
        }
        _ => None,
    }
}

/// Labels of a call.
pub(super) struct CallNames {
    name: String,
    title: String,
}

/// Reads an entry of the `files` that a patch changed.
fn file_edit(file: Json<'_>) -> Option<Edit> {
    let fields = file.object();
    let diff = [fields.get("patch"), fields.get("diff")]
        .into_iter()
        .find_map(Json::str)?;
    let hunks = patch::hunks(&diff);
    let mut edit = Edit {
        op: match fields.get("type").str().as_deref() {
            Some("add") => EditOp::Add,
            Some("delete") => EditOp::Delete,
            Some("move") => EditOp::Move,
            _ => EditOp::Update,
        },
        path: first_text(&fields, &["filePath", "relativePath", "file"]),
        new_path: String::new(),
        hunks,
    };
    match edit.op {
        EditOp::Move => edit.new_path = first_text(&fields, &["movePath", "relativePath"]),
        EditOp::Add => clear_old_starts(&mut edit),
        EditOp::Delete => {
            for hunk in &mut edit.hunks {
                hunk.new_start = None;
            }
        }
        EditOp::Update => {}
    }
    Some(edit)
}

/// Removes old line numbers, which a new file cannot have.
fn clear_old_starts(edit: &mut Edit) {
    let hunks: &mut Vec<Hunk> = &mut edit.hunks;
    for hunk in hunks {
        hunk.old_start = None;
    }
}

fn first_text(fields: &Object<'_>, keys: &[&str]) -> String {
    keys.iter()
        .map(|key| fields.get(key).string())
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

/// Returns true if an error says that the user or a rule denied the call.
fn is_refusal(error: &str) -> bool {
    const REFUSALS: &[&str] = &[
        "The user rejected permission",
        "The user has specified a rule which prevents",
        "The user dismissed this question",
    ];
    let text = error
        .trim_start_matches("Error: ")
        .trim_start_matches("PermissionRejectedError: ");
    REFUSALS.iter().any(|refusal| text.starts_with(refusal))
}

/// Returns the note that the shell tool appends to a command's output.
fn shell_note(output: &str) -> Option<&str> {
    ["shell_metadata", "bash_metadata"].iter().find_map(|tag| {
        let body = output
            .trim_end()
            .strip_suffix(&format!("</{tag}>"))?
            .rsplit_once(&format!("<{tag}>"))?;
        Some(body.1)
    })
}

/// Emits the tokens and the cost of a step or a message, if there are any. Cached
/// tokens and reasoning are counted separately.
pub(super) fn usage(part: &Object<'_>, out: &mut Emitter) {
    const NAMES: Names = Names {
        input: &["input"],
        output: &["output"],
        cached: &["cache.read"],
        reasoning: &["reasoning"],
    };
    let tokens = part.get("tokens").object();
    let mut usage = NAMES.read(&tokens);
    usage.cached_tokens = usage.cached_tokens.or(Some(0));
    usage.reasoning_tokens = usage.reasoning_tokens.or(Some(0));
    add(&mut usage.input_tokens, usage.cached_tokens);
    add(&mut usage.input_tokens, count(&tokens, &["cache.write"]));
    add(&mut usage.output_tokens, usage.reasoning_tokens);
    usage.cost_usd = part.get("cost").f64();
    usage::emit(usage, out);
}
