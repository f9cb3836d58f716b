//! The changes that a call's input announces, for agents whose results do not
//! repeat them. They become true only when the call succeeds: the sources keep
//! them until its result and attach them there.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::event::{Category, Edit};
use crate::json::{Json, Object};
use crate::patch;

/// The changes in the input of a call of this category: a patch text, a text
/// to replace, the content of a file, a file to delete. The input may be a
/// JSON string, as free-form tools have it.
pub(crate) fn announced(category: Category, input: Json<'_>) -> Vec<Edit> {
    if let Some(text) = input.str() {
        return match Json::parse(&text) {
            Some(json) if json.is_object() => announced(category, json),
            _ => of_patch("", &text),
        };
    }
    let fields = input.object();
    let path = first(&fields, PATH).unwrap_or_default();
    if let Some(text) = first(&fields, PATCH) {
        let edits = of_patch(&path, &text);
        if !edits.is_empty() {
            return edits;
        }
    }
    if path.is_empty() {
        return Vec::new();
    }
    match category {
        Category::Edit | Category::Write => replaced(&path, &fields)
            .or_else(|| Some(patch::added(&path, &first(&fields, CONTENT)?)))
            .into_iter()
            .collect(),
        Category::Delete => vec![patch::deleted(&path, "")],
        _ => Vec::new(),
    }
}

/// The path that a patch text names first.
pub(crate) fn patched_path(input: Json<'_>) -> Option<String> {
    let decoded = input.str();
    let text = match decoded {
        Some(text) => text,
        None => first(&input.object(), PATCH)?,
    };
    of_patch("", &text)
        .into_iter()
        .map(|edit| edit.path)
        .find(|path| !path.is_empty())
}

const PATH: &[&str] = &["path", "file_path", "filePath", "filename"];
const PATCH: &[&str] = &["patch", "input", "patch_text", "patchText", "diff"];
const OLD: &[&str] = &["old_string", "old_text", "old_str", "oldString", "find"];
const NEW: &[&str] = &["new_string", "new_text", "new_str", "newString", "replace"];
const CONTENT: &[&str] = &["content", "contents", "text", "file_text"];

fn first<'a>(fields: &Object<'a>, keys: &[&str]) -> Option<Cow<'a, str>> {
    keys.iter().find_map(|key| fields.get(key).str())
}

fn replaced(path: &str, fields: &Object<'_>) -> Option<Edit> {
    let old = first(fields, OLD)?;
    let new = first(fields, NEW).unwrap_or_default();
    Some(patch::from_texts(path, Some(&old), &new, false))
}

fn of_patch(path: &str, text: &str) -> Vec<Edit> {
    if text.contains("*** Begin Patch") {
        return patch::begin_patch(text);
    }
    if text.contains("@@ -") {
        return patch::unified(path, text);
    }
    Vec::new()
}

/// Changes of calls whose results have not come. Calls that never get one are
/// forgotten after a while.
#[derive(Clone, Default)]
pub(crate) struct Pending(VecDeque<(String, Vec<Edit>)>);

impl Pending {
    const KEPT: usize = 256;

    pub(crate) fn insert(&mut self, id: &str, edits: Vec<Edit>) {
        if edits.is_empty() || id.is_empty() {
            return;
        }
        self.0.retain(|(open, _)| open != id);
        self.0.push_back((id.to_owned(), edits));
        if self.0.len() > Self::KEPT {
            self.0.pop_front();
        }
    }

    pub(crate) fn take(&mut self, id: &str) -> Vec<Edit> {
        let position = self.0.iter().position(|(open, _)| open == id);
        position
            .and_then(|position| self.0.remove(position))
            .map(|(_, edits)| edits)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EditOp;

    fn edits(category: Category, input: &str) -> Vec<Edit> {
        announced(category, Json::parse(input).unwrap())
    }

    #[test]
    fn every_form_of_input_gives_its_changes() {
        let patch = r#""*** Begin Patch\n*** Delete File: a\n*** End Patch""#;
        assert_eq!(edits(Category::Edit, patch)[0].op, EditOp::Delete);
        let wrapped = format!("{{\"input\":{patch}}}");
        assert_eq!(edits(Category::Other, &wrapped)[0].path, "a");
        assert_eq!(
            patched_path(Json::parse(&wrapped).unwrap()).as_deref(),
            Some("a")
        );
        let replace = edits(
            Category::Edit,
            r#"{"file_path":"f","old_text":"a\n","new_text":"b\n"}"#,
        );
        assert_eq!(replace[0].hunks[0].lines, ["-a", "+b"]);
        assert_eq!(replace[0].hunks[0].old_start, None);
        let write = edits(Category::Write, r#"{"path":"f","content":"x\n"}"#);
        assert_eq!(
            (write[0].op, write[0].hunks[0].new_start),
            (EditOp::Add, Some(1))
        );
        assert_eq!(
            edits(Category::Delete, r#"{"path":"f"}"#)[0].op,
            EditOp::Delete
        );
    }

    #[test]
    fn what_changes_no_file_gives_nothing() {
        assert!(edits(Category::Read, r#"{"path":"f","content":"x"}"#).is_empty());
        assert!(edits(Category::Edit, r#"{"path":7,"content":"x"}"#).is_empty());
        assert!(edits(Category::Edit, "[1]").is_empty());
    }

    #[test]
    fn changes_are_taken_once_and_never_pile_up() {
        let mut pending = Pending::default();
        for number in 0..1000 {
            pending.insert(&number.to_string(), vec![Edit::default()]);
        }
        assert!(pending.take("0").is_empty());
        assert_eq!(pending.take("999").len(), 1);
        assert!(pending.take("999").is_empty());
        assert!(pending.0.len() < Pending::KEPT);
    }
}
