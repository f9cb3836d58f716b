//! OpenCode's database, read as the documents that `opencode export` writes.
//!
//! Only the tables of conversations are read; accounts and credentials are in the
//! same file.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::source::{Cell, Database, Row};

pub(super) const DATABASE: Database = Database {
    columns: ["id", "parent_id", "time_updated"],
    // OpenCode writes the end of a session into its messages and their parts alone,
    // seconds after it wrote to the session itself. Only the last rows may still be
    // written to; the others hold most of the file.
    changes: &[
        "SELECT session_id, count(*) FROM message GROUP BY session_id",
        "SELECT session_id, coalesce(max(time_updated), 0) FROM
         (SELECT session_id, time_updated FROM message ORDER BY rowid DESC LIMIT 20000)
         GROUP BY session_id",
        "SELECT session_id, count(*) FROM part GROUP BY session_id",
        "SELECT session_id, coalesce(max(time_updated), 0) FROM
         (SELECT session_id, time_updated FROM part ORDER BY rowid DESC LIMIT 20000)
         GROUP BY session_id",
    ],
    compose: export,
    ..Database::new(
        &["session", "message", "part"],
        "SELECT * FROM session ORDER BY time_created, id DESC",
        &[
            "SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id",
            "SELECT id, message_id, data FROM part WHERE session_id = ?1 ORDER BY id",
        ],
    )
};

/// Returns a session as `opencode export` writes it.
fn export(session: &Row, contents: &[Vec<Row>]) -> Vec<u8> {
    let id = session.text("id");
    let [messages, parts] = contents else {
        return Vec::new();
    };
    let mut by_message: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for part in parts {
        let message = part.text("message_id");
        let ids = [
            ("id", part.text("id")),
            ("sessionID", id),
            ("messageID", message),
        ];
        let part = with_ids(part.text("data"), &ids);
        by_message.entry(message).or_default().push(part);
    }
    let messages = messages.iter().map(|message| {
        let message_id = message.text("id");
        let ids = [("id", message_id), ("sessionID", id)];
        let info = with_ids(message.text("data"), &ids);
        let parts = by_message.remove(message_id).unwrap_or_default().join(",");
        format!("{{\"info\":{info},\"parts\":[{parts}]}}")
    });
    let messages = messages.collect::<Vec<_>>().join(",");
    format!("{{\"info\":{},\"messages\":[{messages}]}}", info(session)).into_bytes()
}

/// Returns `info` of an export. Releases differ in the columns they have.
fn info(session: &Row) -> Value {
    let mut info = Map::new();
    for (key, column) in [
        ("id", "id"),
        ("slug", "slug"),
        ("projectID", "project_id"),
        ("parentID", "parent_id"),
        ("directory", "directory"),
        ("path", "path"),
        ("title", "title"),
        ("agent", "agent"),
        ("version", "version"),
        ("cost", "cost"),
    ] {
        if let Some(cell) = session.get(column) {
            info.insert(key.to_owned(), cell.json());
        }
    }
    for key in ["model", "permission", "revert"] {
        if let Ok(value) = serde_json::from_str(session.text(key)) {
            info.insert(key.to_owned(), value);
        }
    }
    let number = |key: &str| session.get(key).map_or(Value::from(0), Cell::json);
    let tokens = json!({
        "input": number("tokens_input"),
        "output": number("tokens_output"),
        "reasoning": number("tokens_reasoning"),
        "cache": {"read": number("tokens_cache_read"), "write": number("tokens_cache_write")},
    });
    info.insert("tokens".to_owned(), tokens);
    let time = json!({"created": number("time_created"), "updated": number("time_updated")});
    info.insert("time".to_owned(), time);
    Value::Object(info)
}

/// Returns the JSON object `data` with the ids before its own fields; they are in
/// columns of their own. Anything else becomes the text of the field `data`.
fn with_ids(data: &str, ids: &[(&str, &str)]) -> String {
    let ids: Vec<String> = ids
        .iter()
        .map(|(key, id)| format!("\"{key}\":{}", Value::from(*id)))
        .collect();
    let ids = ids.join(",");
    let is_json = serde_json::from_str::<&RawValue>(data).is_ok();
    match data.trim_start().strip_prefix('{').filter(|_| is_json) {
        Some(rest) if rest.trim_start().starts_with('}') => format!("{{{ids}}}"),
        Some(rest) => format!("{{{ids},{rest}"),
        None => format!("{{{ids},\"data\":{}}}", Value::from(data)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_taken_over_as_it_is() {
        let ids = [("id", "prt_1")];
        let odd = r#"{"text":"\ud800","cost":0.10}"#;
        assert_eq!(
            with_ids(odd, &ids),
            r#"{"id":"prt_1","text":"\ud800","cost":0.10}"#
        );
        assert_eq!(with_ids(" {} ", &ids), r#"{"id":"prt_1"}"#);
        assert_eq!(with_ids("[1", &ids), r#"{"id":"prt_1","data":"[1"}"#);
    }
}
