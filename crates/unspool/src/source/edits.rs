//! Edits described by the input of a call, for agents whose results do not
//! repeat them. They are made only if the call succeeds: sources keep them until
//! the result and attach them there.

use std::borrow::Cow;

use crate::event::{Category, Edit, Hunk};
use crate::json::{Json, Object};
use crate::patch;
use crate::recent::RecentMap;

/// Returns the edits that a call's input describes: a patch, a replacement, the
/// content of a file, a deletion. The input of free-form tools is a JSON string.
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
    if category == Category::Edit && fields.get("edits").is_array() {
        let edits = fields.get("edits").array().into_iter();
        return edits
            .filter_map(|edit| listed(&path, &edit.object()))
            .collect();
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

/// Returns the first path in a patch.
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
const OLD: &[&str] = &[
    "old_string",
    "old_text",
    "old_str",
    "oldString",
    "find",
    "find_text",
];
const NEW: &[&str] = &[
    "new_string",
    "new_text",
    "new_str",
    "newString",
    "replace",
    "replace_text",
];
const CONTENT: &[&str] = &["content", "contents", "text", "file_text"];

fn first<'a>(fields: &Object<'a>, keys: &[&str]) -> Option<Cow<'a, str>> {
    keys.iter().find_map(|key| fields.get(key).str())
}

fn replaced(path: &str, fields: &Object<'_>) -> Option<Edit> {
    let old = first(fields, OLD)?;
    let new = first(fields, NEW).unwrap_or_default();
    Some(patch::from_texts(path, Some(&old), &new, false))
}

/// Reads one of several edits, of the file that it names or of `path`.
fn listed(path: &str, fields: &Object<'_>) -> Option<Edit> {
    let own = first(fields, PATH);
    let path = own.as_deref().unwrap_or(path);
    if path.is_empty() {
        return None;
    }
    replaced(path, fields).or_else(|| between_lines(path, fields))
}

/// Reads an edit of aider between two lines, given by their text or by an opaque
/// id.
fn between_lines(path: &str, fields: &Object<'_>) -> Option<Edit> {
    let operation = fields.get("operation").str()?;
    let line = |key: &str| fields.get(key).str().filter(|line| !is_line_id(line));
    let (start, end) = (line("start_line"), line("end_line"));
    let signed = |sign: char, text: &str| -> Vec<String> {
        text.lines().map(|line| format!("{sign}{line}")).collect()
    };
    let text = fields.get("text").string();
    let new = match &*operation {
        "delete" => Vec::new(),
        _ => signed('+', &text),
    };
    let old = |line: Option<Cow<'_, str>>| line.map_or_else(Vec::new, |line| signed('-', &line));
    let mut pieces = match &*operation {
        "insert" => vec![start.map_or_else(Vec::new, |line| signed(' ', &line))],
        _ if start == end => vec![old(start)],
        _ => vec![old(start), old(end)],
    };
    pieces.last_mut()?.extend(new);
    let hunks = pieces.into_iter().filter(|lines| !lines.is_empty());
    Some(Edit {
        path: path.to_owned(),
        hunks: hunks
            .map(|lines| Hunk {
                lines,
                ..Hunk::default()
            })
            .collect(),
        ..Edit::default()
    })
}

/// `@000`, `000@`, `—a1B2—`.
fn is_line_id(line: &str) -> bool {
    line.trim().is_empty()
        || line.starts_with('@')
        || (line.ends_with('@') && !line.contains(' '))
        || line.starts_with('—')
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

/// Edits of calls without a result. Those of the oldest calls are forgotten.
#[derive(Clone, Default)]
pub(crate) struct Pending(RecentMap<String, Vec<Edit>, 256>);

impl Pending {
    pub(crate) fn insert(&mut self, id: &str, edits: Vec<Edit>) {
        if !edits.is_empty() && !id.is_empty() {
            self.0.insert(id.to_owned(), edits);
        }
    }

    pub(crate) fn take(&mut self, id: &str) -> Vec<Edit> {
        self.0.remove(id).unwrap_or_default()
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
    fn edits_of_every_form_of_input() {
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
    fn a_list_gives_one_edit_each() {
        let lines = |input: &str| -> Vec<Vec<String>> {
            let edits = edits(Category::Edit, input);
            let hunks = edits.into_iter().flat_map(|edit| edit.hunks);
            hunks.map(|hunk| hunk.lines).collect()
        };
        let pairs = r#"{"file_path":"f","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"}]}"#;
        assert_eq!(lines(pairs), [["-a", "+b"], ["-c", "+d"]]);
        let edit = |fields: &str| lines(&format!(r#"{{"edits":[{{"file_path":"f",{fields}}}]}}"#));
        let one = r#""operation":"replace","text":"b\nc\n","start_line":"a","end_line":"a""#;
        assert_eq!(edit(one), [["-a", "+b", "+c"]]);
        let far = r#""operation":"replace","text":"n","start_line":"a","end_line":"z""#;
        assert_eq!(edit(far), [vec!["-a"], vec!["-z", "+n"]]);
        let ids = r#""operation":"replace","text":"n","start_line":"@000","end_line":"@000""#;
        assert_eq!(edit(ids), [["+n"]]);
        let insert = r#""operation":"insert","text":"n","start_line":"a""#;
        assert_eq!(edit(insert), [[" a", "+n"]]);
        let delete = r#""operation":"delete","start_line":"a","end_line":"a""#;
        assert_eq!(edit(delete), [["-a"]]);
        assert!(edits(Category::Edit, r#"{"edits":[{"operation":"replace"},7]}"#).is_empty());
    }

    #[test]
    fn input_without_edits() {
        assert!(edits(Category::Read, r#"{"path":"f","content":"x"}"#).is_empty());
        assert!(edits(Category::Edit, r#"{"path":7,"content":"x"}"#).is_empty());
        assert!(edits(Category::Edit, "[1]").is_empty());
    }

    #[test]
    fn pending_edits_are_taken_once_and_bounded() {
        let mut pending = Pending::default();
        for number in 0..1000 {
            pending.insert(&number.to_string(), vec![Edit::default()]);
        }
        assert!(pending.take("0").is_empty());
        assert_eq!(pending.take("999").len(), 1);
        assert!(pending.take("999").is_empty());
    }
}
