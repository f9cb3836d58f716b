//! Which other files belong to a saved session.
//!
//! In the old storage a session is `session/<project>/<ses>.json`, its
//! messages `message/<ses>/*.json` and their parts `part/<msg>/*.json`; a
//! sub-agent's session names its parent. Exports lie beside each other and
//! name the parent in their `info`.

use std::collections::BTreeSet;

use crate::source::{Related, SavedFile};

pub(in crate::source::opencode) const RELATED: Related = Related { patterns, select };

const STORED_SESSION: &str = "storage/session/";

fn patterns(session: &SavedFile) -> Vec<String> {
    let path = session.path.as_str();
    let patterns: &[&str] = if path.contains(STORED_SESSION) {
        &[
            "*.json",
            "../../todo/*.json",
            "../../message/*/*.json",
            "../../part/*/*.json",
        ]
    } else if has_extension(path) && !path.contains("storage/") {
        &["*.json"]
    } else {
        &[]
    };
    patterns.iter().map(|&pattern| pattern.to_owned()).collect()
}

fn has_extension(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| end == "json")
}

fn select(session: &SavedFile, found: &[SavedFile]) -> Vec<usize> {
    let Some(id) = session_id(&session.head) else {
        return Vec::new();
    };
    let mut selected = BTreeSet::new();
    let mut sessions = BTreeSet::from([id.to_owned()]);
    // Children of children come in with every round.
    loop {
        let before = sessions.len();
        for (index, file) in found.iter().enumerate() {
            if let Some((child, parent)) = child_of(file)
                && sessions.contains(parent)
                && child != id
            {
                selected.insert(index);
                sessions.insert(child.to_owned());
            }
        }
        if sessions.len() == before {
            break;
        }
    }
    if session.path.contains(STORED_SESSION) {
        let messages = inside(found, "message", &sessions);
        let ids = messages
            .iter()
            .filter_map(|&index| stem(&found.get(index)?.path));
        let parts = inside(found, "part", &ids.map(str::to_owned).collect());
        selected.extend(messages);
        selected.extend(parts);
        // Holds nothing that the calls of the plan tool do not hold.
        selected.extend(todo_lists(found, &sessions));
    }
    selected.into_iter().collect()
}

/// The files in `…/<kind>/<name>/` for one of the names.
fn inside(found: &[SavedFile], kind: &str, names: &BTreeSet<String>) -> Vec<usize> {
    let is_inside = |path: &str| {
        let mut folders = path.rsplit('/').skip(1);
        let name = folders.next();
        folders.next() == Some(kind) && name.is_some_and(|name| names.contains(name))
    };
    let matches = found.iter().enumerate();
    matches
        .filter(|(_, file)| is_inside(&file.path))
        .map(|(index, _)| index)
        .collect()
}

fn todo_lists(found: &[SavedFile], sessions: &BTreeSet<String>) -> Vec<usize> {
    let is_list = |path: &str| {
        let in_folder = path.rsplit('/').nth(1) == Some("todo");
        in_folder && stem(path).is_some_and(|session| sessions.contains(session))
    };
    let matches = found.iter().enumerate();
    matches
        .filter(|(_, file)| is_list(&file.path))
        .map(|(index, _)| index)
        .collect()
}

fn stem(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.strip_suffix(".json")
}

/// Session and parent in the file of a sub-agent's session.
fn child_of(file: &SavedFile) -> Option<(&str, &str)> {
    let id = session_id(&file.head)?;
    let parent = value_of(info(&file.head), "parentID", "ses_")?;
    Some((id, parent))
}

/// The session that a file begins with; none in files of messages and parts.
fn session_id(head: &str) -> Option<&str> {
    value_of(info(head), "id", "ses_")
}

/// What stands before the messages. The beginning of a file may be cut
/// anywhere, so that it is searched and not parsed.
fn info(head: &str) -> &str {
    head.split("\"messages\"").next().unwrap_or(head)
}

/// The first string with this key and this beginning.
fn value_of<'a>(text: &'a str, key: &str, prefix: &str) -> Option<&'a str> {
    let key = format!("\"{key}\"");
    text.match_indices(&key).find_map(|(at, _)| {
        let rest = text.get(at + key.len()..)?.trim_start();
        let value = rest.strip_prefix(':')?.trim_start().strip_prefix('"')?;
        let (value, _) = value.split_once('"')?;
        value.starts_with(prefix).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, head: &str) -> SavedFile {
        SavedFile {
            path: path.to_owned(),
            head: head.to_owned(),
        }
    }

    #[test]
    fn stored_sessions_bring_their_messages_parts_and_children() {
        let root = file("s/storage/session/p/ses_a.json", "{\n \"id\": \"ses_a\",");
        let found = [
            file(
                "s/storage/session/p/ses_c.json",
                "{\"id\":\"ses_c\",\"parentID\":\"ses_b\"}",
            ),
            file(
                "s/storage/session/p/ses_b.json",
                "{\"id\": \"ses_b\", \"parentID\" : \"ses_a\"",
            ),
            file("s/storage/session/p/ses_x.json", "{\"id\":\"ses_x\"}"),
            file("s/storage/message/ses_c/msg_1.json", "{"),
            file("s/storage/message/ses_x/msg_2.json", "{"),
            file("s/storage/part/msg_1/prt_1.json", "{"),
            file("s/storage/part/msg_2/prt_2.json", "{"),
            file("s/storage/todo/ses_a.json", "["),
        ];
        assert_eq!(select(&root, &found), [0, 1, 3, 5, 7]);
        assert_eq!(patterns(&root).len(), 4);
        assert!(patterns(&found[3]).is_empty());
    }

    #[test]
    fn exports_bring_the_exports_of_their_children() {
        let root = file(
            "x/export.json",
            "{\"info\":{\"id\":\"ses_a\",\"model\":{\"id\":\"m\"}},\"messages\":[{\"info\":{\"id\":\"msg_1\",\"parentID\":\"ses_q\"",
        );
        let child = "{\"info\":{\"id\":\"ses_b\",\"parentID\":\"ses_a\"},\"messages\":[";
        let found = [
            file("x/b.json", child),
            file("x/other.json", "{\"a\":1}"),
            file("x/c.json", "{\"info\":{\"id\":\"ses_c\"},\"messages\":["),
        ];
        assert_eq!(select(&root, &found), [0]);
        let live = file("x/y.json", "{\"type\":\"text\"}");
        assert!(select(&live, &found).is_empty());
    }
}
