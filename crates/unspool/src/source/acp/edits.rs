//! Edits of a tool call, in the formats of all adapters.
//!
//! Line numbers come from patches (Claude's structured ones, git patches of
//! protocol 2, diffs of Codex and OpenCode) and from whole files (Gemini, Qwen).
//! A diff block of any other agent may be a snippet and has none.

use crate::event::{Category, Edit, EditOp, Hunk};
use crate::json::{Json, Object};
use crate::patch;
use crate::source::codex;

/// Reads the edits that Claude's adapter puts into `_meta`.
pub(super) fn of_claude(response: Json<'_>) -> Option<Vec<Edit>> {
    let fields = response.object();
    if fields.get("new_source").is_string() && fields.get("notebook_path").is_string() {
        return Some(vec![patch::from_texts(
            &fields.get("notebook_path").string(),
            Some(&fields.get("old_source").string()),
            &fields.get("new_source").string(),
            false,
        )]);
    }
    if !fields.get("structuredPatch").is_array() {
        return None;
    }
    let path = fields.get("filePath").string();
    let hunks: Vec<Hunk> = fields
        .get("structuredPatch")
        .array()
        .into_iter()
        .map(structured_hunk)
        .collect();
    if hunks.is_empty() && fields.get("originalFile").is_null() {
        return Some(vec![patch::added(&path, &fields.get("content").string())]);
    }
    Some(vec![Edit {
        path,
        hunks,
        ..Edit::default()
    }])
}

fn structured_hunk(json: Json<'_>) -> Hunk {
    let fields = json.object();
    let lines = fields.get("lines").array().into_iter();
    Hunk {
        old_start: fields.get("oldStart").u64(),
        new_start: fields.get("newStart").u64(),
        lines: lines
            .map(Json::string)
            .filter(|line| line.starts_with([' ', '+', '-']))
            .collect(),
    }
}

/// A call that succeeded.
pub(super) struct Ended<'a> {
    pub(super) input: Json<'a>,
    pub(super) content: Json<'a>,
    pub(super) raw: Json<'a>,
    /// Diff blocks contain whole files.
    pub(super) whole: bool,
}

/// Returns the edits of a call.
pub(super) fn of_call(call: &Ended<'_>) -> Vec<Edit> {
    let raw = call.raw.object();
    let metadata = raw.get("metadata").object();
    let blocks: Vec<Object<'_>> = call.content.array().into_iter().map(Json::object).collect();
    let diffs: Vec<&Object<'_>> = blocks
        .iter()
        .filter(|block| block.get("type").str().as_deref() == Some("diff"))
        .collect();
    if raw.get("changes").is_object() {
        return codex::edits(raw.get("changes"));
    }
    if raw.get("newContent").is_string() && raw.get("filePath").is_string() {
        return vec![of_qwen(&raw)];
    }
    if metadata.get("files").is_array() {
        let files = metadata.get("files").array();
        let texts = Texts::of_patch(&call.input.get("patchText").string());
        return files
            .into_iter()
            .flat_map(|file| of_opencode_file(file, &texts))
            .collect();
    }
    if metadata.get("diff").is_string() {
        return of_opencode_diff(&metadata, &diffs);
    }
    if metadata.get("exists").bool().is_some() {
        return of_opencode_write(&metadata, call.input);
    }
    diffs
        .into_iter()
        .flat_map(|diff| of_block(diff, call.whole))
        .collect()
}

fn of_qwen(raw: &Object<'_>) -> Edit {
    let path = raw.get("filePath").string();
    let old = raw.get("originalContent").string();
    let old = Some(old.as_str()).filter(|old| !old.is_empty());
    patch::from_texts(&path, old, &raw.get("newContent").string(), true)
}

fn of_opencode_file(file: Json<'_>, texts: &Texts) -> Vec<Edit> {
    let file = file.object();
    let path = file.get("filePath").string();
    let mut edits = patch::unified(&path, &file.get("patch").string());
    for edit in &mut edits {
        edit.path.clone_from(&path);
        edit.op = match file.get("type").str().as_deref() {
            Some("add") => EditOp::Add,
            Some("delete") => EditOp::Delete,
            Some("move") => EditOp::Move,
            _ => EditOp::Update,
        };
        if edit.op == EditOp::Move {
            edit.new_path = file.get("movePath").string();
        }
        texts.restore_indent(edit);
    }
    edits.into_iter().map(without_missing_side).collect()
}

fn of_opencode_diff(metadata: &Object<'_>, diffs: &[&Object<'_>]) -> Vec<Edit> {
    let text = metadata.get("diff").string();
    let path = metadata.get("filediff").get("file").string();
    let mut edits = patch::unified(&path, &text);
    if let ([edit], [diff]) = (edits.as_mut_slice(), diffs) {
        let lines = |key| diff.get(key).string().lines().map(str::to_owned).collect();
        Texts {
            old: lines("oldText"),
            new: lines("newText"),
        }
        .restore_indent(edit);
    }
    edits
}

/// Lines as they are in the file, old and new, to restore the common indentation
/// that OpenCode removes from its diffs.
struct Texts {
    old: Vec<String>,
    new: Vec<String>,
}

impl Texts {
    fn of_patch(patch: &str) -> Self {
        let signed = |sign| {
            let lines = patch.lines().filter_map(|line| line.strip_prefix(sign));
            lines.map(str::to_owned).collect()
        };
        Self {
            old: signed('-'),
            new: signed('+'),
        }
    }

    fn restore_indent(&self, edit: &mut Edit) {
        let Some(indent) = self.lost_indent(edit) else {
            return;
        };
        let lines = edit.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines);
        for line in lines.filter(|line| line.len() > 1) {
            line.insert_str(1, &indent);
        }
    }

    /// Returns the whitespace that turns every changed line of the diff into a line of
    /// the texts.
    fn lost_indent(&self, edit: &Edit) -> Option<String> {
        let changed: Vec<(&str, &[String])> = edit
            .hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .filter_map(|line| match line.split_at_checked(1)? {
                ("-", text) if !text.trim().is_empty() => Some((text, self.old.as_slice())),
                ("+", text) if !text.trim().is_empty() => Some((text, self.new.as_slice())),
                _ => None,
            })
            .collect();
        let (text, lines) = changed.first()?;
        let fits = |indent: &&str| {
            let is_line = |(text, lines): &(&str, &[String])| {
                lines
                    .iter()
                    .any(|line| line.strip_suffix(text) == Some(*indent))
            };
            indent.trim().is_empty() && changed.iter().all(is_line)
        };
        let indents = lines.iter().filter_map(|line| line.strip_suffix(text));
        indents.into_iter().find(fits).map(str::to_owned)
    }
}

fn of_opencode_write(metadata: &Object<'_>, input: Json<'_>) -> Vec<Edit> {
    let path = metadata.get("filepath").string();
    let content = input.get("content");
    if path.is_empty() || !content.is_string() {
        return Vec::new();
    }
    let edit = patch::added(&path, &content.string());
    vec![Edit {
        op: if metadata.get("exists").is_true() {
            EditOp::Update
        } else {
            EditOp::Add
        },
        ..edit
    }]
}

/// Reads a diff block: two texts, or the draft's list of changes with a git patch.
fn of_block(diff: &Object<'_>, whole: bool) -> Vec<Edit> {
    if diff.get("changes").is_array() {
        return of_changes(diff);
    }
    let path = diff.get("path").string();
    let old = diff.get("oldText").str();
    let new = diff.get("newText").string();
    let kind = diff.get("_meta").get("kind").string();
    let old = old.as_deref();
    match (kind.as_str(), old) {
        ("delete", old) => vec![patch::deleted(&path, old.unwrap_or_default())],
        // Gemini's kind; its texts are whole files.
        ("modify", old) => vec![patch::from_texts(&path, old, &new, true)],
        ("update", Some(old)) => vec![patch::from_texts(&path, Some(old), &new, whole)],
        ("add", _) | (_, None | Some("")) => vec![patch::added(&path, &new)],
        (_, Some(old)) => vec![patch::from_texts(&path, Some(old), &new, whole)],
    }
}

fn of_changes(diff: &Object<'_>) -> Vec<Edit> {
    let text = diff.get("patch").get("text").string();
    let edits = patch::unified("", &text);
    if !edits.is_empty() {
        return edits.into_iter().map(without_missing_side).collect();
    }
    let changes = diff.get("changes").array().into_iter();
    changes
        .map(Json::object)
        .map(|change| {
            let path = change.get("path").string();
            let old_path = change.get("oldPath").string();
            match change.get("operation").str().as_deref() {
                Some("move") if !old_path.is_empty() => Edit {
                    op: EditOp::Move,
                    path: old_path,
                    new_path: path,
                    ..Edit::default()
                },
                Some("add" | "copy") => patch::added(&path, ""),
                Some("delete") => patch::deleted(&path, ""),
                _ => Edit {
                    path,
                    ..Edit::default()
                },
            }
        })
        .filter(|edit| !edit.path.is_empty())
        .collect()
}

/// Removes the line numbers of the side on which the file does not exist.
fn without_missing_side(mut edit: Edit) -> Edit {
    for hunk in &mut edit.hunks {
        match edit.op {
            EditOp::Add => hunk.old_start = None,
            EditOp::Delete => hunk.new_start = None,
            EditOp::Update | EditOp::Move => {}
        }
    }
    edit
}

/// Returns the file of the first diff block.
pub(super) fn first_path(content: Json<'_>) -> String {
    let blocks = content.array().into_iter().map(|block| block.get("path"));
    blocks
        .map(Json::string)
        .find(|path| !path.is_empty())
        .unwrap_or_default()
}

/// Returns the category of a diff block of protocol 1.
pub(super) fn category_of_block(block: &Json<'_>) -> Option<Category> {
    let fields = block.object();
    if fields.get("type").str().as_deref() != Some("diff") || fields.get("changes").is_array() {
        return None;
    }
    let old = fields.get("oldText").str().unwrap_or_default();
    Some(match &*fields.get("_meta").get("kind").string() {
        "delete" => Category::Delete,
        "add" => Category::Write,
        "" if old.is_empty() => Category::Write,
        _ => Category::Edit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(content: &str, raw: &str, whole: bool) -> Vec<Edit> {
        of_call(&Ended {
            input: Json::NULL,
            content: Json::parse(content).unwrap(),
            raw: Json::parse(raw).unwrap(),
            whole,
        })
    }

    #[test]
    fn only_whole_files_have_line_numbers() {
        let content = r#"[{"type":"diff","path":"f","oldText":"a\nb\n","newText":"a\nc\n"}]"#;
        assert_eq!(edits(content, "null", false)[0].hunks[0].old_start, None);
        assert_eq!(edits(content, "null", true)[0].hunks[0].old_start, Some(1));
        let add = r#"[{"type":"diff","path":"f","oldText":null,"newText":"a\n"}]"#;
        assert_eq!(edits(add, "null", false)[0].op, EditOp::Add);
    }

    #[test]
    fn the_indentation_of_opencode_diffs_is_restored() {
        let content =
            r#"[{"type":"diff","path":"f","oldText":"        a\n","newText":"        b\n"}]"#;
        let raw =
            r#"{"metadata":{"diff":"--- f\n+++ f\n@@ -5,2 +5,2 @@\n def x():\n-    a\n+    b\n"}}"#;
        let edits = edits(content, raw, false);
        assert_eq!(edits[0].hunks[0].old_start, Some(5));
        let lines = ["     def x():", "-        a", "+        b"];
        assert_eq!(edits[0].hunks[0].lines, lines);
    }

    #[test]
    fn changes_without_a_patch_keep_their_paths() {
        let content = r#"[{"type":"diff","changes":[{"operation":"move","oldPath":"a","path":"b"},{"operation":7,"path":"c"},{}]}]"#;
        let edits = edits(content, "null", false);
        assert_eq!(edits.len(), 2);
        assert_eq!(
            (edits[0].path.as_str(), edits[0].new_path.as_str()),
            ("a", "b")
        );
    }
}
