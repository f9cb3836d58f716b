//! OpenCode's database: sessions as the documents that `opencode export`
//! would write.
//!
//! The database may belong to a running agent. It is only read, and nothing is
//! ever written beside it: not even the files that `SQLite` itself would make
//! for a database with a write-ahead log, which is therefore copied first.
//! Only the tables of conversations are looked at; accounts and credentials
//! are in the same file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::error::{Context, Error, Result};

/// Rows of a table that may still be written to.
const LAST_ROWS: usize = 20_000;

/// A session that a person began, with those of its sub-agents.
pub(crate) struct Session {
    /// The session as `opencode export` writes it.
    pub(crate) root: Vec<u8>,
    /// The sub-agents' sessions in the same form: name and document.
    pub(crate) children: Vec<(String, Vec<u8>)>,
}

/// Whether a file that begins with these bytes is a database.
pub(crate) fn is_database(head: &[u8]) -> bool {
    head.starts_with(b"SQLite format 3\0")
}

/// The sessions of the database, the oldest first. Fails when it cannot be
/// read, or has no sessions in the form that OpenCode gives them.
pub(crate) fn sessions(path: &Path) -> Result<Vec<Session>> {
    let database = Database::open(path)?;
    let roots = database.roots();
    roots.map(|root| database.session(root)).collect()
}

/// An open database, and the copy that it was read from, if any.
pub(super) struct Database {
    connection: Connection,
    infos: Vec<Info>,
    /// Which of them were begun by each.
    children: BTreeMap<String, Vec<usize>>,
    _copy: Option<TempDir>,
}

impl Database {
    /// Opens it and reads what sessions there are.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let (connection, copy) = connect(path)?;
        let infos = infos(&connection).map_err(|error| explained(error, &connection))?;
        let mut children: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, info) in infos.iter().enumerate() {
            children.entry(info.parent.clone()).or_default().push(index);
        }
        Ok(Self {
            connection,
            infos,
            children,
            _copy: copy,
        })
    }

    /// The sessions that people began, the oldest first.
    pub(super) fn roots(&self) -> impl Iterator<Item = &Info> {
        let known: BTreeSet<&str> = self.infos.iter().map(|info| info.id.as_str()).collect();
        // One whose parent is gone is nobody's child.
        let is_root = move |info: &&Info| !known.contains(info.parent.as_str());
        self.infos.iter().filter(is_root)
    }

    /// A session with those of its sub-agents.
    pub(super) fn session(&self, root: &Info) -> Result<Session> {
        self.documents(root).map_err(|error| match error {
            Error::Database(error) => explained(error, &self.connection),
            error => error,
        })
    }

    fn documents(&self, root: &Info) -> Result<Session> {
        let documents = self.descendants(root).into_iter().map(|child| {
            let name = format!("{}.json", child.id);
            Ok((name, export(&self.connection, child)?))
        });
        Ok(Session {
            root: export(&self.connection, root)?,
            children: documents.collect::<Result<_>>()?,
        })
    }

    /// The session that a person began in which this sub-agent worked, by the
    /// beginning of its id.
    pub(super) fn root_of(&self, beginning: &str) -> Option<&Info> {
        let begins = |info: &&Info| info.id.to_lowercase().starts_with(beginning);
        self.roots()
            .find(|root| self.descendants(root).iter().any(begins))
    }

    /// What changes when something is written in each session, for
    /// [`Database::stamp`]. OpenCode writes the end of a session into its messages
    /// and their parts alone, seconds after it wrote to the session itself.
    pub(super) fn written(&self) -> HashMap<String, Vec<i64>> {
        let mut written: HashMap<String, Vec<i64>> = HashMap::new();
        for table in ["message", "part"] {
            let rows = newest(&self.connection, table);
            // A version that keeps no such times is known by its sessions' alone.
            for (session, figure) in rows.unwrap_or_default() {
                written.entry(session).or_default().push(figure);
            }
        }
        written
    }

    /// Changes when the session or one of its sub-agents' does.
    pub(super) fn stamp(&self, root: &Info, written: &HashMap<String, Vec<i64>>) -> i64 {
        let family = std::iter::once(root).chain(self.descendants(root));
        let figures = family.flat_map(|info| {
            let written = written.get(&info.id).into_iter().flatten();
            std::iter::once(&info.updated).chain(written)
        });
        figures.fold(0, |stamp: i64, figure| {
            stamp.wrapping_mul(1_000_003).wrapping_add(*figure)
        })
    }

    /// The sessions below `root`, each once.
    fn descendants(&self, root: &Info) -> Vec<&Info> {
        let mut found: Vec<&Info> = Vec::new();
        let mut known = BTreeSet::from([root.id.as_str()]);
        let mut open = vec![root.id.as_str()];
        while let Some(parent) = open.pop() {
            for index in self.children.get(parent).into_iter().flatten() {
                if let Some(child) = self.infos.get(*index)
                    && known.insert(&child.id)
                {
                    found.push(child);
                    open.push(&child.id);
                }
            }
        }
        found
    }
}

/// What a failed question means: another database, or one of a version that is
/// not known here.
fn explained(error: rusqlite::Error, connection: &Connection) -> Error {
    let code = error.sqlite_error_code();
    if matches!(
        code,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    ) {
        return Error::refused("it is damaged");
    }
    let names = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'
                 AND (name LIKE '%session%' OR name IN ('message', 'part'))";
    let own: i64 = connection
        .query_row(names, [], |row| row.get(0))
        .unwrap_or_default();
    let text = error.to_string();
    let missing = ["no such table: ", "no such column: "]
        .iter()
        .find_map(|words| Some((words, text.split_once(words)?.1)));
    match missing {
        Some((words, rest)) if own > 0 => {
            let kind = if words.contains("table") {
                "table"
            } else {
                "column"
            };
            let name = rest.split(' ').next().unwrap_or_default();
            Error::refused(format!(
                "it has no {kind} `{name}`: written by a version of OpenCode that is not known here?"
            ))
        }
        _ => Error::Failed {
            operation: "this is not a database of OpenCode".to_owned(),
            source: Box::new(error.into()),
        },
    }
}

fn connect(path: &Path) -> Result<(Connection, Option<TempDir>)> {
    let log = beside(path, "-wal");
    let has_log = fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    if !has_log {
        // No process may change the file while it is read like this; a
        // change needs a log, and there is none.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let uri = format!("file:{}?immutable=1", escaped(path)?);
        return Ok((Connection::open_with_flags(uri, flags)?, None));
    }
    let folder = tempfile::tempdir().context("cannot make a folder for a copy")?;
    let copy = folder.path().join("opencode.db");
    fs::copy(path, &copy).context("cannot copy the database")?;
    fs::copy(&log, beside(&copy, "-wal")).context("cannot copy the database's log")?;
    Ok((Connection::open(&copy)?, Some(folder)))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// The absolute path in a form that may stand in a URI.
fn escaped(path: &Path) -> Result<String> {
    let path = std::path::absolute(path)?;
    let path = path
        .to_str()
        .ok_or_else(|| Error::refused("the path is not valid Unicode"))?
        .replace('\\', "/");
    let mut escaped = String::with_capacity(path.len() + 1);
    if !path.starts_with('/') {
        escaped.push('/');
    }
    for c in path.chars() {
        match c {
            '%' => escaped.push_str("%25"),
            '?' => escaped.push_str("%3F"),
            '#' => escaped.push_str("%23"),
            c => escaped.push(c),
        }
    }
    Ok(escaped)
}

/// One row of the table of sessions.
pub(super) struct Info {
    pub(super) id: String,
    parent: String,
    /// When it was last written, in milliseconds.
    updated: i64,
    /// `info` of an export.
    json: Value,
}

fn infos(connection: &Connection) -> rusqlite::Result<Vec<Info>> {
    let mut statement =
        connection.prepare("SELECT * FROM session ORDER BY time_created, id DESC")?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let rows = statement.query_map([], |row| Ok(info(&fields(row, &columns)?)))?;
    rows.collect()
}

/// Of each session, how many rows a table has, and when the newest was written.
/// Only the last rows are looked at for that: the others hold most of the file, and
/// are not written to any more.
fn newest(connection: &Connection, table: &str) -> rusqlite::Result<Vec<(String, i64)>> {
    let queries = [
        format!("SELECT session_id, count(*) FROM {table} GROUP BY session_id"),
        format!(
            "SELECT session_id, coalesce(max(time_updated), 0) FROM
             (SELECT session_id, time_updated FROM {table} ORDER BY rowid DESC LIMIT {LAST_ROWS})
             GROUP BY session_id"
        ),
    ];
    let mut figures = Vec::new();
    for query in queries {
        let mut statement = connection.prepare(&query)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for row in rows {
            figures.push(row?);
        }
    }
    Ok(figures)
}

/// The columns of a row by name. Releases differ in the columns they have.
fn fields(row: &Row<'_>, columns: &[String]) -> rusqlite::Result<Map<String, Value>> {
    let mut fields = Map::new();
    for (index, name) in columns.iter().enumerate() {
        let value = match row.get_ref(index)? {
            ValueRef::Integer(number) => number.into(),
            ValueRef::Real(number) => number.into(),
            ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
            ValueRef::Null | ValueRef::Blob(_) => continue,
        };
        fields.insert(name.clone(), value);
    }
    Ok(fields)
}

fn info(row: &Map<String, Value>) -> Info {
    let text = |key: &str| {
        let value = row.get(key).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let decoded = |key: &str| {
        let value = row.get(key).and_then(Value::as_str);
        value.and_then(|text| serde_json::from_str::<Value>(text).ok())
    };
    let mut info = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            info.insert(key.to_owned(), value);
        }
    };
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
        put(key, row.get(column).cloned());
    }
    for key in ["model", "permission", "revert"] {
        put(key, decoded(key));
    }
    let number = |key: &str| row.get(key).cloned().unwrap_or(Value::from(0));
    put(
        "tokens",
        Some(json!({
            "input": number("tokens_input"),
            "output": number("tokens_output"),
            "reasoning": number("tokens_reasoning"),
            "cache": {"read": number("tokens_cache_read"), "write": number("tokens_cache_write")},
        })),
    );
    put(
        "time",
        Some(json!({"created": number("time_created"), "updated": number("time_updated")})),
    );
    Info {
        id: text("id"),
        parent: text("parent_id"),
        updated: row
            .get("time_updated")
            .and_then(Value::as_i64)
            .unwrap_or_default(),
        json: Value::Object(info),
    }
}

/// A session as `opencode export` writes it.
fn export(connection: &Connection, session: &Info) -> Result<Vec<u8>> {
    let mut parts = parts(connection, &session.id)?;
    let mut statement = connection
        .prepare("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id")
        .map_err(|error| explained(error, connection))?;
    let rows = statement.query_map([&session.id], |row| {
        Ok((row.get::<_, String>(0)?, data(row, 1)?))
    })?;
    let mut messages = Vec::new();
    for row in rows {
        let (id, data) = row?;
        let info = with_ids(&data, &[("id", &id), ("sessionID", &session.id)]);
        let parts = parts.remove(&id).unwrap_or_default().join(",");
        messages.push(format!("{{\"info\":{info},\"parts\":[{parts}]}}"));
    }
    let (info, messages) = (&session.json, messages.join(","));
    Ok(format!("{{\"info\":{info},\"messages\":[{messages}]}}").into_bytes())
}

/// The parts of a session by message.
fn parts(connection: &Connection, session: &str) -> Result<BTreeMap<String, Vec<String>>> {
    let mut statement = connection
        .prepare("SELECT id, message_id, data FROM part WHERE session_id = ?1 ORDER BY id")
        .map_err(|error| explained(error, connection))?;
    let rows = statement.query_map([session], |row| {
        let ids = (row.get::<_, String>(0)?, row.get::<_, String>(1)?);
        Ok((ids, data(row, 2)?))
    })?;
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let ((id, message), data) = row?;
        let ids = [
            ("id", &*id),
            ("sessionID", session),
            ("messageID", &message),
        ];
        let part = with_ids(&data, &ids);
        parts.entry(message).or_default().push(part);
    }
    Ok(parts)
}

fn data(row: &Row<'_>, index: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        _ => String::new(),
    })
}

/// The JSON object `data` as it is, after the ids, which stand in columns of
/// their own. What is no object becomes the text of the field `data`.
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

    fn corpus(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/corpus/opencode")
            .join(name)
    }

    /// A copy in a folder of its own, to see what is made beside it.
    fn copy(name: &str) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("open code?.db");
        fs::copy(corpus(name), &path).unwrap();
        (folder, path)
    }

    fn value(document: &[u8]) -> Value {
        serde_json::from_slice(document).unwrap()
    }

    fn files(folder: &TempDir) -> usize {
        fs::read_dir(folder.path()).unwrap().count()
    }

    #[test]
    fn a_session_is_what_export_writes() {
        let (folder, path) = copy("command/command.session/opencode.db");
        let sessions = sessions(&path).unwrap();
        assert_eq!(sessions.len(), 1);
        let exported = fs::read(corpus("command/command.session/export.json")).unwrap();
        let (ours, theirs) = (value(&sessions[0].root), value(&exported));
        assert_eq!(ours["messages"], theirs["messages"]);
        for key in ["id", "directory", "title", "version", "model", "time"] {
            assert_eq!(ours["info"][key], theirs["info"][key], "{key}");
        }
        let [(name, child)] = &sessions[0].children[..] else {
            panic!("one sub-agent");
        };
        assert!(name.starts_with("ses_"));
        let child = value(child);
        assert_eq!(child["info"]["parentID"], ours["info"]["id"]);
        assert_eq!(files(&folder), 1);
    }

    #[test]
    fn what_is_only_in_the_log_is_read_and_nothing_is_left_beside_it() {
        let (folder, path) = copy("command/command.session/opencode.db");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch(
                "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;
                 UPDATE session SET title = 'from the log' WHERE parent_id IS NULL;",
            )
            .unwrap();
        let before = fs::read(beside(&path, "-wal")).unwrap();
        let sessions = sessions(&path).unwrap();
        assert_eq!(value(&sessions[0].root)["info"]["title"], "from the log");
        assert_eq!(fs::read(beside(&path, "-wal")).unwrap(), before);
        // The writer's own: database, log and its index.
        assert_eq!(files(&folder), 3);
        drop(writer);
    }

    #[test]
    fn other_databases_and_broken_ones_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch("CREATE TABLE t(x)")
            .unwrap();
        assert!(is_database(&fs::read(&path).unwrap()));
        let error = format!("{:#}", sessions(&path).err().unwrap());
        assert!(
            error.starts_with("this is not a database of OpenCode"),
            "{error}"
        );
        fs::write(&path, b"SQLite format 3\0 and then nothing").unwrap();
        assert!(sessions(&path).is_err());
    }

    #[test]
    fn tables_that_have_other_names_are_named() {
        for (change, said) in [
            (
                "ALTER TABLE session RENAME TO session_v2",
                "no table `session`",
            ),
            (
                "ALTER TABLE message RENAME TO messages",
                "no table `message`",
            ),
            (
                "ALTER TABLE part RENAME COLUMN message_id TO owner",
                "no column `message_id`",
            ),
        ] {
            let (_folder, path) = copy("command/command.session/opencode.db");
            Connection::open(&path)
                .unwrap()
                .execute_batch(change)
                .unwrap();
            let error = format!("{:#}", sessions(&path).err().unwrap());
            assert!(error.contains(said), "{error}");
            assert!(error.contains("version of OpenCode"), "{error}");
        }
    }

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
