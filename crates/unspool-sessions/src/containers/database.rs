//! Sessions in an `SQLite` database, read with the queries of the agent that wrote it.
//!
//! The database may belong to a running agent. It is only read, and no file is
//! written beside it: not even those that `SQLite` itself would make for a database
//! with a write-ahead log. Such a database is copied first.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tempfile::TempDir;
use unspool::source::{self, Cell, Provider, Row};

use crate::agents::Agents;
use crate::error::{Context, Error, Result};

/// A session that a person started, with those of its sub-agents.
pub(crate) struct Session {
    /// The bytes that the agent's source reads.
    pub(crate) root: Vec<u8>,
    /// The sub-agents' sessions in the same form: name and bytes.
    pub(crate) children: Vec<(String, Vec<u8>)>,
}

/// Returns true if a file with this head is a database.
pub(crate) fn is_database(head: &[u8]) -> bool {
    head.starts_with(b"SQLite format 3\0")
}

/// An open database, and the copy that it was read from, if any.
pub(crate) struct Database {
    /// The agent that wrote it.
    pub(crate) agent: Provider,
    queries: source::Database,
    connection: Connection,
    infos: Vec<Info>,
    /// The positions of the sessions that each session started.
    children: BTreeMap<String, Vec<usize>>,
    _copy: Option<TempDir>,
}

/// One session of a database.
pub(crate) struct Info {
    pub(crate) id: String,
    parent: String,
    updated: i64,
    row: Row,
}

impl Database {
    /// Opens a database and lists its sessions. Fails when it cannot be read or no
    /// known agent wrote it.
    pub(crate) fn open(path: &Path, agents: Agents) -> Result<Self> {
        let (connection, copy) = connect(path)?;
        let (agent, queries) = writer(&connection, agents)?;
        let rows = rows(&connection, queries.sessions, None);
        let rows = rows.map_err(|error| explained(error, &agent))?;
        let infos: Vec<Info> = rows
            .into_iter()
            .map(|row| Info::new(row, &queries))
            .collect();
        let mut children: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, info) in infos.iter().enumerate() {
            children.entry(info.parent.clone()).or_default().push(index);
        }
        Ok(Self {
            agent,
            queries,
            connection,
            infos,
            children,
            _copy: copy,
        })
    }

    /// Returns the sessions that people started, the oldest first. One whose parent is
    /// gone counts as started by a person.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Info> {
        let known: BTreeSet<&str> = self.infos.iter().map(|info| info.id.as_str()).collect();
        let is_root = move |info: &&Info| !known.contains(info.parent.as_str());
        self.infos.iter().filter(is_root)
    }

    /// Reads a session with those of its sub-agents.
    pub(crate) fn session(&self, root: &Info) -> Result<Session> {
        let children = self.descendants(root).into_iter().map(|child| {
            let name = format!("{}.json", child.id);
            Ok((name, self.bytes(child)?))
        });
        Ok(Session {
            root: self.bytes(root)?,
            children: children.collect::<Result<_>>()?,
        })
    }

    fn bytes(&self, session: &Info) -> Result<Vec<u8>> {
        let queries = self.queries.contents.iter();
        let contents: rusqlite::Result<Vec<Vec<Row>>> = queries
            .map(|query| rows(&self.connection, query, Some(&session.id)))
            .collect();
        let contents = contents.map_err(|error| explained(error, &self.agent))?;
        Ok((self.queries.compose)(&session.row, &contents))
    }

    /// Returns the session in which the sub-agent with this prefix of an id worked.
    pub(crate) fn root_of(&self, prefix: &str) -> Option<&Info> {
        let is_it = |info: &&Info| info.id.to_lowercase().starts_with(prefix);
        self.roots()
            .find(|root| self.descendants(root).iter().any(is_it))
    }

    /// Returns numbers that differ after a change, by session, for
    /// [`Database::stamp`].
    pub(crate) fn changes(&self) -> HashMap<String, Vec<i64>> {
        let mut changes: HashMap<String, Vec<i64>> = HashMap::new();
        for query in self.queries.changes {
            // Versions that lack such a column are stamped by their sessions alone.
            for (session, number) in pairs(&self.connection, query).unwrap_or_default() {
                changes.entry(session).or_default().push(number);
            }
        }
        changes
    }

    /// Returns a number that differs after the session or one of its sub-agents
    /// changed.
    pub(crate) fn stamp(&self, root: &Info, changes: &HashMap<String, Vec<i64>>) -> i64 {
        let sessions = std::iter::once(root).chain(self.descendants(root));
        let numbers = sessions.flat_map(|info| {
            let changes = changes.get(&info.id).into_iter().flatten();
            std::iter::once(&info.updated).chain(changes)
        });
        numbers.fold(0, |stamp: i64, number| {
            stamp.wrapping_mul(1_000_003).wrapping_add(*number)
        })
    }

    /// Returns the sessions below `root`, each once.
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

impl Info {
    fn new(row: Row, queries: &source::Database) -> Self {
        let [id, parent, updated] = queries.columns;
        Self {
            id: row.text(id).to_owned(),
            parent: row.text(parent).to_owned(),
            updated: row.integer(updated).unwrap_or_default(),
            row,
        }
    }
}

/// Returns the agent that wrote a database, by its tables.
fn writer(connection: &Connection, agents: Agents) -> Result<(Provider, source::Database)> {
    let names = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')";
    let tables = rows(connection, names, None).map_err(unreadable)?;
    let has = |name: &str| tables.iter().any(|table| table.text("name") == name);
    let databases = agents.providers().iter().filter_map(|agent| {
        let database = agent.saved?.database?;
        let missing = database.tables.iter().find(|name| !has(name));
        let present = database.tables.iter().filter(|name| has(name)).count();
        Some((*agent, database, missing, present))
    });
    // One that lacks some tables may be of a version that is not known.
    let best = databases.max_by_key(|(_, _, missing, present)| (missing.is_none(), *present));
    match best {
        Some((agent, database, None, _)) => Ok((agent, database)),
        Some((agent, _, Some(missing), 1..)) => Err(lacks("table", missing, &agent)),
        _ => Err(Error::refused(format!(
            "this is not a database of {}",
            agents.with_databases()
        ))),
    }
}

fn unreadable(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::refused("it is damaged")
        }
        _ => error.into(),
    }
}

/// Returns the meaning of a failed query: damage, or another version of the agent.
fn explained(error: rusqlite::Error, agent: &Provider) -> Error {
    let text = error.to_string();
    let missing = [("table", "no such table: "), ("column", "no such column: ")]
        .iter()
        .find_map(|(kind, words)| Some((kind, text.split_once(words)?.1)));
    match missing {
        Some((kind, rest)) => lacks(kind, rest.split(' ').next().unwrap_or_default(), agent),
        None => unreadable(error),
    }
}

fn lacks(kind: &str, name: &str, agent: &Provider) -> Error {
    Error::refused(format!(
        "it has no {kind} `{name}`: written by a version of {} that is not known here?",
        agent.title
    ))
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
    let copy = folder.path().join("copy.db");
    fs::copy(path, &copy).context("cannot copy the database")?;
    fs::copy(&log, beside(&copy, "-wal")).context("cannot copy the database's log")?;
    Ok((Connection::open(&copy)?, Some(folder)))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the absolute path, escaped for a URI.
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

/// Returns the rows of a query, each with its columns by name.
fn rows(connection: &Connection, query: &str, id: Option<&str>) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare(query)?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut found = statement.query(rusqlite::params_from_iter(id))?;
    let mut rows = Vec::new();
    while let Some(values) = found.next()? {
        let mut row = Row::default();
        for (index, name) in columns.iter().enumerate() {
            let value = match values.get_ref(index)? {
                ValueRef::Integer(number) => Cell::Integer(number),
                ValueRef::Real(number) => Cell::Real(number),
                ValueRef::Text(text) | ValueRef::Blob(text) => {
                    Cell::Text(String::from_utf8_lossy(text).into_owned())
                }
                ValueRef::Null => continue,
            };
            row.push(name, value);
        }
        rows.push(row);
    }
    Ok(rows)
}

fn pairs(connection: &Connection, query: &str) -> rusqlite::Result<Vec<(String, i64)>> {
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    const AGENTS: Agents = Agents::new(source::BUILTIN);

    fn sessions(path: &Path) -> Result<Vec<Session>> {
        let database = Database::open(path, AGENTS)?;
        let roots = database.roots();
        roots.map(|root| database.session(root)).collect()
    }

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
    fn the_log_is_read_and_nothing_is_left_beside_the_database() {
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
}
