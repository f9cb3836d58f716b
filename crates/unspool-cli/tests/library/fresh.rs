//! Later writes are seen: in a database, beside a session, in a folder of
//! its sub-agents.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use serde_json::Value;

use crate::world::{Home, copy, corpus, field};

const DATABASE: &str = ".local/share/opencode/opencode.db";

/// Returns the list from the cache, and from an empty cache.
fn now_and_anew(home: &Home, agent: &str) -> (Vec<Value>, Vec<Value>) {
    let now = home.sessions(&["--agent", agent]);
    let cache = home.path(".cache");
    let aside = home.path(".cache-aside");
    fs::rename(&cache, &aside).unwrap();
    let anew = home.sessions(&["--agent", agent]);
    fs::remove_dir_all(&cache).unwrap();
    fs::rename(&aside, &cache).unwrap();
    (now, anew)
}

fn assert_is_fresh(home: &Home, agent: &str) -> Value {
    let (now, anew) = now_and_anew(home, agent);
    assert_eq!(now, anew);
    now[0].clone()
}

#[test]
fn messages_and_parts_that_come_after_the_session_are_read() {
    let home = Home::new();
    copy(
        &corpus("opencode/command/command.session"),
        &home.path(".local/share/opencode"),
    );
    let database = Connection::open(home.path(DATABASE)).unwrap();
    let root = "(SELECT id FROM session WHERE parent_id IS NULL)";
    let newest = format!(
        "SELECT id, data FROM message WHERE session_id = {root} ORDER BY time_created DESC LIMIT 1"
    );
    let (id, data): (String, String) = database
        .query_row(&newest, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    // The last message has no end yet, and no parts.
    let mut open: Value = serde_json::from_str(&data).unwrap();
    open["time"].as_object_mut().unwrap().remove("completed");
    open.as_object_mut().unwrap().remove("finish");
    let later: i64 = database
        .query_row("SELECT max(time_updated) + 5000 FROM session", [], |row| {
            row.get(0)
        })
        .unwrap();
    let write = "UPDATE message SET data = ?2, time_updated = ?3 WHERE id = ?1";
    database
        .execute(write, params![id, open.to_string(), later - 4000])
        .unwrap();
    let open = assert_is_fresh(&home, "opencode");
    database.execute(write, params![id, data, later]).unwrap();
    let ended = assert_is_fresh(&home, "opencode");
    assert_ne!(open["ended"], ended["ended"]);
    // A sub-agent's part, and nothing else.
    let child = "(SELECT id FROM session WHERE parent_id IS NOT NULL)";
    let part = format!(
        "UPDATE part SET data = json_set(data, '$.state.status', 'error', '$.state.error', 'no'),
         time_updated = ?1
         WHERE id = (SELECT id FROM part WHERE session_id = {child} AND data LIKE '%\"tool\"%' LIMIT 1)"
    );
    assert_eq!(database.execute(&part, [later + 1]).unwrap(), 1);
    let failed = assert_is_fresh(&home, "opencode");
    assert_eq!(failed["failed_tools"], 1);
    // One that is taken away.
    let gone = format!(
        "DELETE FROM part WHERE id = (SELECT id FROM part WHERE session_id = {child} AND data LIKE '%\"tool\"%' LIMIT 1)"
    );
    assert_eq!(database.execute(&gone, []).unwrap(), 1);
    let fewer = assert_is_fresh(&home, "opencode");
    assert_ne!(fewer["tools"], failed["tools"]);
}

#[test]
fn a_database_that_is_written_to_revives_no_old_session() {
    let home = Home::new();
    copy(
        &corpus("opencode/command/command.session"),
        &home.path(".local/share/opencode"),
    );
    let database = Connection::open(home.path(DATABASE)).unwrap();
    database
        .execute_batch(
            "DELETE FROM part WHERE json_extract(data, '$.type') = 'step-finish';
             UPDATE message SET data = json_remove(data, '$.time.completed', '$.finish');",
        )
        .unwrap();
    let listed = home.sessions(&["--agent", "opencode"]);
    assert_eq!(field(&listed, "state"), ["cut off"]);
    // One that is written now is at work.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = i64::try_from(now.unwrap().as_millis()).unwrap();
    database
        .execute(
            "UPDATE message SET data = json_set(data, '$.time.created', ?1), time_created = ?1,
             time_updated = ?1",
            [now],
        )
        .unwrap();
    let listed = home.sessions(&["--agent", "opencode"]);
    assert_eq!(field(&listed, "state"), ["running"]);
}

/// The files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn files_of_the_old_storage_that_come_later_are_read() {
    let home = Home::new();
    copy(
        &corpus("opencode/parity-1.1/parity.session"),
        &home.path(".local/share/opencode"),
    );
    let storage = home.path(".local/share/opencode/storage");
    let sessions: Vec<PathBuf> = files(&storage.join("session"))
        .iter()
        .flat_map(|folder| files(folder))
        .collect();
    assert!(sessions.len() > 1);
    let all = assert_is_fresh(&home, "opencode");
    for session in sessions {
        let messages = files(&storage.join("message").join(session.file_stem().unwrap()));
        let last = messages.last().unwrap();
        // A message and its parts come later: of the session, and of a sub-agent.
        let message = fs::read(last).unwrap();
        fs::remove_file(last).unwrap();
        assert_ne!(assert_is_fresh(&home, "opencode"), all);
        fs::write(last, message).unwrap();
        assert_eq!(assert_is_fresh(&home, "opencode"), all);
        let parts = files(&storage.join("part").join(last.file_stem().unwrap()));
        for path in parts {
            let part = fs::read(&path).unwrap();
            fs::remove_file(&path).unwrap();
            assert_is_fresh(&home, "opencode");
            fs::write(&path, part).unwrap();
            assert_eq!(assert_is_fresh(&home, "opencode"), all);
        }
    }
}

#[test]
fn a_sub_agent_of_gemini_and_its_project_may_come_later() {
    let home = Home::new();
    let folder = home.path(".gemini/tmp/project");
    copy(&corpus("gemini/parity/parity.session/project"), &folder);
    let chats = folder.join("chats");
    let below = chats.join("33fb7648-f46c-48ac-a94d-a177fcd8b1ac");
    let record = files(&below).pop().unwrap();
    let text = fs::read(&record).unwrap();
    fs::remove_dir_all(&below).unwrap();
    let without = assert_is_fresh(&home, "gemini");
    assert_eq!(without["project"], "");
    fs::create_dir(&below).unwrap();
    fs::write(&record, &text).unwrap();
    let with = assert_is_fresh(&home, "gemini");
    let tokens = |session: &Value| session["input_tokens"].as_u64().unwrap();
    assert!(tokens(&with) > tokens(&without));
    home.write(
        ".gemini/projects.json",
        r#"{"projects":{"/home/me/shop":"project"}}"#,
    );
    assert_eq!(assert_is_fresh(&home, "gemini")["project"], "/home/me/shop");
    fs::write(folder.join(".project_root"), "/home/me/store").unwrap();
    // The same file in a folder that is named.
    home.write("runs/chats/session-2026-11-15T18-16-33fb7648.jsonl", {
        fs::read(files(&chats).pop().unwrap()).unwrap()
    });
    let runs = home.path("runs");
    let listed = || home.sessions(&["--in", runs.to_str().unwrap()])[0].clone();
    listed();
    fs::remove_dir_all(home.path(".gemini")).unwrap();
    let alone = listed();
    let name = below.file_name().unwrap().to_str().unwrap();
    home.write(&format!("runs/chats/{name}/a.jsonl"), &text);
    assert!(tokens(&listed()) > tokens(&alone));
}
