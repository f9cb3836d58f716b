//! Where OpenCode keeps sessions: a database, and in older versions a tree of JSON
//! files.
//!
//! In the tree a session is `storage/session/<project>/<ses>.json`, its messages
//! are `storage/message/<ses>/*.json` and their parts `storage/part/<msg>/*.json`.
//! A sub-agent's session names its parent. Exports lie beside each other and name
//! the parent in their `info`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::source::{Folder, ListFolder, Place, Related, Saved, SavedFile};

mod database;

/// Messages whose parts may still be written to.
const NEWEST_MESSAGES: usize = 3;

const DATA: Folder = Folder::Home {
    variable: "XDG_DATA_HOME",
    default: ".local/share",
    below: "opencode",
};

pub(super) const SAVED: Saved = Saved {
    file_names: &["opencode*.db"],
    skipped_folders: &[
        "storage/message",
        "storage/part",
        "storage/todo",
        "storage/session_diff",
        "storage/project",
    ],
    database: Some(database::DATABASE),
    related: Some(Related::new(patterns, select)),
    grows_with,
    parent: |file| parent(&file.head).map(str::to_owned),
    record_id,
    ..Saved::new(&[
        Place::variable(
            "XDG_DATA_HOME",
            ".local/share",
            "opencode",
            &[
                "opencode.db",
                "opencode-*.db",
                "storage/session/*/ses_*.json",
            ],
        ),
        Place::named("OPENCODE_DB", &DATA, &[]),
    ])
};

fn is_stored(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let folder = path.parent().and_then(Path::parent);
    name.is_some_and(|name| name.starts_with("ses_"))
        && folder.is_some_and(|folder| folder.ends_with("storage/session"))
}

/// Returns the id of a session in the tree of files.
fn record_id(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str().filter(|_| is_stored(path))
}

/// Returns the messages of a session, the folders of their parts, and the parts of
/// the newest messages.
fn grows_with(session: &Path, list: ListFolder<'_>) -> Vec<PathBuf> {
    let storage = session.ancestors().nth(3).filter(|_| is_stored(session));
    let Some((storage, id)) = storage.zip(session.file_stem()) else {
        return Vec::new();
    };
    let messages = list(&storage.join("message").join(id));
    let ids = messages.iter().filter_map(|message| message.file_stem());
    let parts: Vec<PathBuf> = ids.map(|id| storage.join("part").join(id)).collect();
    let newest = parts.iter().rev().take(NEWEST_MESSAGES);
    let newest: Vec<PathBuf> = newest.flat_map(|folder| list(folder)).collect();
    messages.into_iter().chain(parts).chain(newest).collect()
}

/// Returns patterns for the sessions beside this one, then for the messages of the
/// session and of its sub-agents, then for the parts of these messages.
fn patterns(session: &SavedFile, found: &[SavedFile]) -> Vec<String> {
    let path = Path::new(&session.path);
    if !is_stored(path) {
        let is_export = !session.path.contains("storage/")
            && path.extension().is_some_and(|ending| ending == "json");
        return is_export.then(|| "*.json".to_owned()).into_iter().collect();
    }
    let mut patterns = vec!["ses_*.json".to_owned()];
    let own = session_id(&session.head).or_else(|| stem(&session.path));
    let family = family(own.unwrap_or_default(), found).0;
    for id in family.iter().filter(|id| is_id(id)) {
        patterns.push(format!("../../todo/{id}.json"));
        patterns.push(format!("../../message/{id}/*.json"));
    }
    for index in inside(found, "message", &family) {
        let message = found.get(index).and_then(|file| stem(&file.path));
        if let Some(message) = message.filter(|id| is_id(id)) {
            patterns.push(format!("../../part/{message}/*.json"));
        }
    }
    patterns
}

/// Returns true for a text that is the name of a file and no pattern.
fn is_id(id: &str) -> bool {
    !id.is_empty()
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

fn select(session: &SavedFile, found: &[SavedFile]) -> Vec<usize> {
    let Some(id) = session_id(&session.head) else {
        return Vec::new();
    };
    let (sessions, mut selected) = family(id, found);
    if is_stored(Path::new(&session.path)) {
        let messages = inside(found, "message", &sessions);
        let ids = messages
            .iter()
            .filter_map(|&index| stem(&found.get(index)?.path));
        let parts = inside(found, "part", &ids.map(str::to_owned).collect());
        selected.extend(messages);
        selected.extend(parts);
        selected.extend(todo_lists(found, &sessions));
    }
    selected.into_iter().collect()
}

/// Returns the ids of a session and of its sub-agents, and the indexes of the
/// sub-agents' files.
fn family(id: &str, found: &[SavedFile]) -> (BTreeSet<String>, BTreeSet<usize>) {
    let mut sessions = BTreeSet::from([id.to_owned()]);
    let mut files = BTreeSet::new();
    // Each round adds the children of the last one's.
    loop {
        let before = sessions.len();
        for (index, file) in found.iter().enumerate() {
            if let Some((child, parent)) = session_id(&file.head).zip(parent(&file.head))
                && sessions.contains(parent)
                && child != id
            {
                files.insert(index);
                sessions.insert(child.to_owned());
            }
        }
        if sessions.len() == before {
            return (sessions, files);
        }
    }
}

/// Returns the files in `…/<kind>/<name>/` for one of the names.
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

/// Returns the session that a file starts with; none in files of messages and parts.
fn session_id(head: &str) -> Option<&str> {
    value_of(info(head), "id")
}

/// Returns the session that started this one.
fn parent(head: &str) -> Option<&str> {
    value_of(info(head), "parentID")
}

/// Returns the text before the messages. The head of a file may be cut anywhere,
/// so it is searched and not parsed.
fn info(head: &str) -> &str {
    head.split("\"messages\"").next().unwrap_or(head)
}

/// Returns the first session id with this key.
fn value_of<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let key = format!("\"{key}\"");
    text.match_indices(&key).find_map(|(at, _)| {
        let rest = text.get(at + key.len()..)?.trim_start();
        let value = rest.strip_prefix(':')?.trim_start().strip_prefix('"')?;
        let (value, _) = value.split_once('"')?;
        value.starts_with("ses_").then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, head: &str) -> SavedFile {
        SavedFile::new(path, head)
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
        let first = patterns(&root, &[]);
        assert_eq!(
            first,
            [
                "ses_*.json",
                "../../todo/ses_a.json",
                "../../message/ses_a/*.json"
            ]
        );
        let last = patterns(&root, &found);
        assert!(last.contains(&"../../part/msg_1/*.json".to_owned()));
        assert!(!last.contains(&"../../part/msg_2/*.json".to_owned()));
        assert!(patterns(&found[3], &[]).is_empty());
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

    #[test]
    fn a_session_grows_with_its_messages_and_newest_parts() {
        let session = Path::new("s/storage/session/p/ses_a.json");
        let list = |folder: &Path| match folder.to_str() {
            Some("s/storage/message/ses_a") => vec![folder.join("msg_1.json")],
            Some("s/storage/part/msg_1") => vec![folder.join("prt_1.json")],
            _ => Vec::new(),
        };
        let files = grows_with(session, &list);
        let files: Vec<_> = files.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(
            files,
            [
                "s/storage/message/ses_a/msg_1.json",
                "s/storage/part/msg_1",
                "s/storage/part/msg_1/prt_1.json"
            ]
        );
        assert!(grows_with(Path::new("x/ses_a.json"), &list).is_empty());
    }
}
