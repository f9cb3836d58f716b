//! File changes, in the spellings of all forms.
//!
//! `exec --json` has only paths. The app-server has the diff of an update and the
//! content of an added or deleted file; session files and legacy messages have
//! the same as a map from paths.

use crate::event::{Category, Edit, EditOp};
use crate::json::Json;
use crate::patch;

/// Returns the first path of a change.
pub(super) fn first_path(changes: Json<'_>) -> String {
    let list = changes.array();
    match list.first() {
        Some(change) => change.get("path").string(),
        None => changes
            .object()
            .iter()
            .next()
            .map(|(path, _)| path.to_owned())
            .unwrap_or_default(),
    }
}

/// Returns the category of edits that are all of one kind.
pub(in crate::source) fn category(edits: &[Edit]) -> Category {
    let mut kinds = edits.iter().map(|edit| edit.op);
    let first = kinds.next().unwrap_or(EditOp::Update);
    match first {
        _ if kinds.any(|kind| kind != first) => Category::Edit,
        EditOp::Add => Category::Write,
        EditOp::Delete => Category::Delete,
        EditOp::Move => Category::Move,
        EditOp::Update => Category::Edit,
    }
}

/// Reads a list of `{"path","kind","diff"}` or a map from paths.
pub(in crate::source) fn edits(changes: Json<'_>) -> Vec<Edit> {
    if changes.is_array() {
        return changes
            .array()
            .into_iter()
            .map(|change| {
                let fields = change.object();
                let kind = fields.get("kind");
                let word = match kind.str() {
                    Some(word) => word.into_owned(),
                    None => kind.get("type").string(),
                };
                edit(
                    &fields.get("path").string(),
                    &word,
                    &fields.get("diff").string(),
                    &kind.get("move_path").string(),
                )
            })
            .collect();
    }
    changes
        .object()
        .iter()
        .map(|(path, change)| map_edit(path, change))
        .collect()
}

/// Reads `{"type":"add","content":…}`, or `{"add":{"content":…}}` of old versions.
fn map_edit(path: &str, change: Json<'_>) -> Edit {
    let mut kind = change.get("type").string();
    let mut fields = change.object();
    if kind.is_empty()
        && let Some((word, inner)) = change.object().iter().next()
    {
        word.clone_into(&mut kind);
        fields = inner.object();
    }
    let text = super::first_text(&fields, &["unified_diff", "content"]);
    edit(path, &kind, &text, &fields.get("move_path").string())
}

/// Makes an edit. `text` is the content of an added or deleted file, else the
/// diff; it may be empty.
fn edit(path: &str, kind: &str, text: &str, move_path: &str) -> Edit {
    match kind {
        "add" => patch::added(path, text),
        "delete" => patch::deleted(path, text),
        _ => Edit {
            op: if move_path.is_empty() {
                EditOp::Update
            } else {
                EditOp::Move
            },
            path: path.to_owned(),
            new_path: move_path.to_owned(),
            hunks: patch::hunks(text),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_in_every_spelling() {
        let read = |text| edits(Json::parse(text).unwrap());
        let live = read(r#"[{"path":"/p/a","kind":"add"},{"path":"/p/b","kind":"delete"}]"#);
        assert_eq!((live[0].op, live[1].op), (EditOp::Add, EditOp::Delete));
        assert!(live[0].hunks.is_empty());
        let server = read(
            r#"[{"path":"a","kind":{"type":"update","move_path":"b"},"diff":"@@ -1,2 +1,2 @@\n-x\n+y\n z\n\n\nMoved to: b"}]"#,
        );
        assert_eq!(server[0].op, EditOp::Move);
        assert_eq!(server[0].hunks[0].lines, ["-x", "+y", " z"]);
        let old = read(r#"{"a":{"add":{"content":"x\n"}}}"#);
        assert_eq!(old[0].hunks[0].lines, ["+x"]);
        let new = read(
            r#"{"a":{"type":"update","unified_diff":"@@ -3 +3 @@\n-x\n+y\n","move_path":null}}"#,
        );
        assert_eq!(
            (new[0].op, new[0].hunks[0].old_start),
            (EditOp::Update, Some(3))
        );
    }

    #[test]
    fn category_of_edits_of_one_kind() {
        let of = |text| category(&edits(Json::parse(text).unwrap()));
        assert_eq!(of(r#"[{"path":"a","kind":"add"}]"#), Category::Write);
        assert_eq!(of(r#"[{"path":"a","kind":"delete"}]"#), Category::Delete);
        let moved = r#"{"a":{"type":"update","unified_diff":"","move_path":"b"}}"#;
        assert_eq!(of(moved), Category::Move);
        let mixed = r#"[{"path":"a","kind":"add"},{"path":"b","kind":"delete"}]"#;
        assert_eq!(of(mixed), Category::Edit);
        assert_eq!(of("7"), Category::Edit);
    }
}
