//! Edits that a call made.
//!
//! Results of the root agent have a structured patch with line numbers. Those of
//! sub-agents have none: their edits come from the call's input.

use crate::event::{Edit, EditOp, Hunk, Payload};
use crate::json::{Json, Object};
use crate::patch;

/// Returns the edits in a result, else those in the input.
pub(super) fn edits(details: Json<'_>, input: Json<'_>, output: &Payload) -> Vec<Edit> {
    let details = details.object();
    let path = details.get("filePath").str();
    if let Some(path) = path.filter(|_| details.has("structuredPatch")) {
        return vec![from_result(&path, &details)];
    }
    if let Some(path) = details.get("notebook_path").str() {
        return vec![from_cell(&path, &details)];
    }
    from_input(input, output).into_iter().collect()
}

fn from_result(path: &str, details: &Object<'_>) -> Edit {
    let original = details.get("originalFile");
    let content = details.get("content");
    if details.get("type").str().as_deref() == Some("create") {
        return patch::added(path, &content.str().unwrap_or_default());
    }
    let hunks: Vec<Hunk> = details
        .get("structuredPatch")
        .array()
        .into_iter()
        .map(hunk)
        .collect();
    let is_new = original.is_null() && details.get("oldString").raw() == "\"\"";
    if !hunks.is_empty() {
        return Edit {
            op: if is_new { EditOp::Add } else { EditOp::Update },
            path: path.to_owned(),
            new_path: String::new(),
            hunks,
        };
    }
    match (original.str(), content.str()) {
        (Some(old), Some(new)) => patch::from_texts(path, Some(&old), &new, true),
        _ => snippet(path, details.get("oldString"), details.get("newString")),
    }
}

fn hunk(json: Json<'_>) -> Hunk {
    let fields = json.object();
    Hunk {
        old_start: fields.get("oldStart").u64(),
        new_start: fields.get("newStart").u64(),
        lines: fields
            .get("lines")
            .array()
            .into_iter()
            .map(Json::string)
            // "\ No newline at end of file"
            .filter(|line| !line.starts_with('\\'))
            .collect(),
    }
}

/// Returns the edit of a notebook cell, whose source has no line numbers.
fn from_cell(path: &str, details: &Object<'_>) -> Edit {
    let (old, new) = (details.get("old_source"), details.get("new_source"));
    match details.get("edit_mode").str().as_deref() {
        Some("insert") => snippet(path, Json::NULL, new),
        Some("delete") => snippet(path, old, Json::NULL),
        _ => snippet(path, old, new),
    }
}

fn snippet(path: &str, old: Json<'_>, new: Json<'_>) -> Edit {
    let (old, new) = (old.str().unwrap_or_default(), new.str().unwrap_or_default());
    patch::from_texts(path, Some(&old), &new, false)
}

fn from_input(input: Json<'_>, output: &Payload) -> Option<Edit> {
    let fields = input.object();
    let path = fields.get("file_path").str()?;
    if let Some(content) = fields.get("content").str() {
        let is_new = output.as_str().starts_with("File created");
        // The old lines of an overwritten file are unknown.
        return Some(if is_new {
            patch::added(&path, &content)
        } else {
            Edit {
                path: path.into_owned(),
                ..Edit::default()
            }
        });
    }
    if fields.get("edits").is_array() {
        let edits = fields.get("edits").array().into_iter();
        let hunks = edits
            .flat_map(|edit| snippet(&path, edit.get("old_string"), edit.get("new_string")).hunks);
        return Some(Edit {
            hunks: hunks.collect(),
            path: path.to_string(),
            ..Edit::default()
        });
    }
    let (old, new) = (fields.get("old_string"), fields.get("new_string"));
    (!old.is_null() || !new.is_null()).then(|| snippet(&path, old, new))
}
