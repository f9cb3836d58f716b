//! Where Codex keeps sessions. The records of sub-agents lie among them; the first
//! line of each names the thread that started it.

use std::path::Path;

use crate::source::{Forks, Place, Related, Saved, SavedFile};

/// Characters of a thread's id at the end of a file's name.
const ID: usize = 36;

pub(super) const SAVED: Saved = Saved {
    related: Some(Related::new(
        |_, _| vec!["rollout-*.jsonl*".to_owned()],
        select,
    )),
    parent,
    record_id,
    forks: Forks::KeepCounts,
    ..Saved::new(&[Place::variable(
        "CODEX_HOME",
        ".codex",
        "",
        &[
            "sessions/*/*/*/rollout-*.jsonl",
            "sessions/*/*/*/rollout-*.jsonl.zst",
            "archived_sessions/rollout-*.jsonl",
            "archived_sessions/rollout-*.jsonl.zst",
        ],
    )])
};

/// Returns the id in `rollout-TIME-ID.jsonl`, also compressed.
fn record_id(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_prefix("rollout-")?.split(".jsonl").next()?;
    stem.get(stem.len().checked_sub(ID)?..)
}

fn parent(file: &SavedFile) -> Option<String> {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let first = file.head.lines().next().unwrap_or_default();
    if !name.starts_with("rollout-") {
        return None;
    }
    match head_field(first, "parent_thread_id") {
        "" => first.contains("\"subagent\":").then(String::new),
        parent => Some(parent.to_owned()),
    }
}

/// Selects the files of the threads that this one started, and of those that
/// they started in turn.
fn select(session: &SavedFile, found: &[SavedFile]) -> Vec<usize> {
    let mut threads = vec![head_field(&session.head, "id").to_owned()];
    let mut selected = Vec::new();
    loop {
        let next = found.iter().enumerate().find(|(index, file)| {
            let id = head_field(&file.head, "id");
            let parents = [
                head_field(&file.head, "parent_thread_id"),
                head_field(&file.head, "session_id"),
            ];
            !selected.contains(index)
                && !threads.iter().any(|thread| thread == id)
                && parents.iter().any(|parent| {
                    !parent.is_empty() && threads.iter().any(|thread| thread == parent)
                })
        });
        let Some((index, file)) = next else {
            return selected;
        };
        threads.push(head_field(&file.head, "id").to_owned());
        selected.push(index);
    }
}

/// Returns a field of the first line of a file, at any depth. The line may be cut
/// off (it holds the system prompt), so it is searched and not parsed; inside a
/// string the quotes would be escaped.
fn head_field<'a>(head: &'a str, key: &str) -> &'a str {
    let line = head.lines().next().unwrap_or_default();
    let quoted = format!("\"{key}\"");
    let mut after = line.split(quoted.as_str()).skip(1);
    let value = after.find_map(|rest| {
        let value = rest.trim_start().strip_prefix(':')?;
        value.trim_start().strip_prefix('"')
    });
    value
        .and_then(|value| value.split_once('"'))
        .map_or("", |(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(id: &str, parent: &str) -> SavedFile {
        SavedFile::new(
            format!("rollout-{id}.jsonl"),
            format!(
                "{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\"source\":{{\"subagent\":{{\"thread_spawn\":{{\"parent_thread_id\":\"{parent}\"}}}}}},\"base_instructions\":\"\\\"id\\\":\\\"no\\\" cut"
            ),
        )
    }

    #[test]
    fn sub_agents_of_sub_agents_belong_and_strangers_do_not() {
        let found = [
            saved("grandchild", "child"),
            saved("stranger", "other"),
            saved("child", "root"),
        ];
        let mut selected = select(&saved("root", ""), &found);
        selected.sort_unstable();
        assert_eq!(selected, [0, 2]);
        assert_eq!(select(&found[2], &found), [0]);
        assert_eq!(parent(&found[2]).as_deref(), Some("root"));
        assert_eq!(parent(&saved("root", "")).as_deref(), Some(""));
    }

    #[test]
    fn blanks_in_the_first_line_do_not_matter() {
        let head = r#"{"type": "session_meta", "payload": {"about": "id", "id" : "a"}}"#;
        assert_eq!(head_field(head, "id"), "a");
        assert_eq!(head_field(head, "session_id"), "");
    }

    #[test]
    fn the_id_is_the_end_of_the_name() {
        let id = "01a1e076-f72b-7fa0-8712-61a75c8ccfe5";
        let path = format!("2026/11/15/rollout-2026-11-15T10-00-00-{id}.jsonl.zst");
        assert_eq!(record_id(Path::new(&path)), Some(id));
        assert_eq!(record_id(Path::new("rollout-short.jsonl")), None);
    }
}
