//! The cache of digests and ledgers: `library.db` in the cache folder.
//!
//! Everything in it can be read again from the sessions. A database that is damaged,
//! or was written by another version, is deleted and rebuilt. Where no cache can be
//! written, everything works without one. Several processes may use it at once: it
//! has a write-ahead log, and each of them waits for the others.
//!
//! | table | a row |
//! |---|---|
//! | `file` | a file that was read: its size, times and inode then, the reason if it was skipped, and the session that it belongs to if it is a sub-agent's record among sessions |
//! | `session` | a session: the file and the part of it, digest and ledger as JSON; `stamp` changes with the session |

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use crate::digest::{Digest, Session};
use crate::error::{Context, Error, Result};
use crate::ledger::Ledger;
use crate::places::{Candidate, Skipped};

/// Version of the tables. A database of another version is deleted.
const VERSION: i64 = 7;
/// Longest wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(10);
/// Attempts to open a database that another process is creating, and the pause between
/// them.
const ATTEMPTS: usize = 50;
const PAUSE: Duration = Duration::from_millis(20);

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS file (
        path BLOB PRIMARY KEY,
        size INTEGER NOT NULL,
        modified INTEGER NOT NULL,
        number INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        skipped TEXT,
        parent TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS session (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL,
        part TEXT NOT NULL,
        stamp INTEGER NOT NULL,
        digest TEXT NOT NULL,
        ledger TEXT NOT NULL,
        UNIQUE (path, part)
    );";

/// The open cache.
pub(crate) struct Store {
    connection: Connection,
    path: PathBuf,
}

/// The state of a file when it was read.
pub(crate) struct Known {
    pub(crate) size: u64,
    pub(crate) modified: i64,
    pub(crate) number: u64,
    pub(crate) changed: i64,
    pub(crate) skipped: Option<String>,
    pub(crate) parent: String,
}

/// A session in the cache.
pub(crate) struct Kept {
    pub(crate) id: i64,
    pub(crate) part: String,
    pub(crate) stamp: i64,
    pub(crate) digest: Digest,
}

/// Creates the cache folder, readable by its owner only: conversations are private.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// Creates a file that only its owner can read; the files that `SQLite` puts beside it
/// get its mode. Errors are left to the opening of the file, which reports them.
pub(crate) fn make_file(path: &Path) {
    let mut options = fs::File::options();
    options.write(true).create(true).truncate(false).mode(0o600);
    let Ok(file) = options.open(path) else {
        return;
    };
    // An earlier version may have created it readable for others.
    let is_open = |file: fs::Metadata| file.permissions().mode() & 0o077 != 0;
    if file.metadata().is_ok_and(is_open) {
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
    }
}

impl Store {
    /// Opens the cache in a folder. Fails if it cannot be written there.
    pub(crate) fn open(folder: Option<&Path>) -> Result<Self> {
        let folder = folder.ok_or_else(|| Error::refused("no folder for a cache is known"))?;
        let path = folder.join("library.db");
        make_folder(folder)
            .map_err(Error::from)
            .and_then(|()| Ok(Self::at(&path)?))
            .with_context(|| path.display().to_string())
    }

    /// Opens the cache at a path, and rebuilds one that cannot be used.
    fn at(path: &Path) -> rusqlite::Result<Self> {
        for _ in 0..ATTEMPTS {
            match Self::connected(path) {
                // Another process is creating it.
                Err(error) if is_busy(&error) => thread::sleep(PAUSE),
                Err(_) => {
                    remove(path);
                    return Self::connected(path);
                }
                opened => return opened,
            }
        }
        Self::connected(path)
    }

    fn connected(path: &Path) -> rusqlite::Result<Self> {
        make_file(path);
        let connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let has_tables: bool =
            connection.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| {
                row.get(0)
            })?;
        if has_tables && version != VERSION {
            return Err(rusqlite::Error::InvalidQuery);
        }
        if !has_tables {
            // Another process may do the same at the same time.
            connection.execute_batch(&format!(
                "BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;"
            ))?;
        }
        Ok(Self {
            connection,
            path: path.to_owned(),
        })
    }

    /// Deletes the cache and creates an empty one.
    pub(crate) fn rebuilt(self) -> rusqlite::Result<Self> {
        let Self { connection, path } = self;
        drop(connection);
        remove(&path);
        Self::connected(&path)
    }

    /// Returns all files in the cache.
    pub(crate) fn files(&self) -> rusqlite::Result<HashMap<PathBuf, Known>> {
        let mut statement = self
            .connection
            .prepare("SELECT path, size, modified, skipped, parent, number, changed FROM file")?;
        let rows = statement.query_map([], |row| {
            let known = Known {
                size: row.get::<_, i64>(1)?.cast_unsigned(),
                modified: row.get(2)?,
                skipped: row.get(3)?,
                parent: row.get(4)?,
                number: row.get::<_, i64>(5)?.cast_unsigned(),
                changed: row.get(6)?,
            };
            Ok((path_of(&row.get::<_, Vec<u8>>(0)?), known))
        })?;
        rows.collect()
    }

    /// Returns the sessions of all files.
    pub(crate) fn sessions(&self) -> rusqlite::Result<HashMap<PathBuf, Vec<Kept>>> {
        let mut statement = self
            .connection
            .prepare("SELECT path, id, part, stamp, digest FROM session ORDER BY id")?;
        let mut rows = statement.query([])?;
        let mut sessions: HashMap<PathBuf, Vec<Kept>> = HashMap::new();
        while let Some(row) = rows.next()? {
            let digest: String = row.get(4)?;
            // The cache is rebuilt then.
            let Ok(digest) = serde_json::from_str(&digest) else {
                return Err(rusqlite::Error::InvalidQuery);
            };
            let path = path_of(&row.get::<_, Vec<u8>>(0)?);
            sessions.entry(path).or_default().push(Kept {
                id: row.get(1)?,
                part: row.get(2)?,
                stamp: row.get(3)?,
                digest,
            });
        }
        Ok(sessions)
    }

    /// Returns the ledger of a session.
    pub(crate) fn ledger(&self, id: i64) -> Option<Ledger> {
        let ledger = self
            .connection
            .query_row("SELECT ledger FROM session WHERE id = ?1", [id], |row| {
                row.get::<_, String>(0)
            })
            .optional()
            .ok()??;
        serde_json::from_str(&ledger).ok()
    }

    /// Makes several changes in one transaction.
    pub(crate) fn together<T>(
        &self,
        changes: impl FnOnce(&Self) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = changes(self);
        let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
        self.connection.execute_batch(end)?;
        done
    }

    /// Writes the sessions of a file. Returns the number of each session, which stays
    /// the same as long as the session exists.
    pub(crate) fn keep(
        &self,
        file: &Candidate,
        skipped: Option<&str>,
        sessions: &[Session],
        all_parts: &[&str],
    ) -> rusqlite::Result<Vec<i64>> {
        let path = file.path.as_os_str().as_bytes();
        self.connection
            .prepare_cached(
                "INSERT INTO file (path, size, modified, skipped, parent, number, changed)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (path) DO UPDATE
                 SET size = ?2, modified = ?3, skipped = ?4, parent = ?5, number = ?6, changed = ?7",
            )?
            .execute(params![
                path,
                file.size.cast_signed(),
                file.modified,
                skipped,
                file.parent,
                file.number.cast_signed(),
                file.changed
            ])?;
        let ids = sessions
            .iter()
            .map(|session| self.keep_session(path, file, session))
            .collect::<rusqlite::Result<_>>()?;
        let kept: Vec<(i64, String)> = self
            .connection
            .prepare_cached("SELECT id, part FROM session WHERE path = ?1")?
            .query_map([path], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (id, part) in kept {
            if !all_parts.contains(&part.as_str()) {
                self.connection
                    .execute("DELETE FROM session WHERE id = ?1", [id])?;
            }
        }
        Ok(ids)
    }

    fn keep_session(
        &self,
        path: &[u8],
        file: &Candidate,
        session: &Session,
    ) -> rusqlite::Result<i64> {
        let stamp = session.stamp_in(file);
        let digest = serde_json::to_string(&session.digest).unwrap_or_default();
        let ledger = serde_json::to_string(&session.ledger).unwrap_or_default();
        self.connection
            .prepare_cached(
                "INSERT INTO session (path, part, stamp, digest, ledger) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (path, part) DO UPDATE SET stamp = ?3, digest = ?4, ledger = ?5
                 RETURNING id",
            )?
            .query_row(params![path, session.part, stamp, digest, ledger], |row| {
                row.get(0)
            })
    }

    /// Writes the reason why a file was skipped, so that it is reported once.
    pub(crate) fn keep_skipped(&self, skipped: &Skipped) -> rusqlite::Result<()> {
        let nothing = Candidate {
            agent: "",
            path: skipped.path.clone(),
            modified: 0,
            size: 0,
            number: 0,
            changed: 0,
            parent: String::new(),
        };
        self.keep(&nothing, Some(&skipped.reason), &[], &[])?;
        Ok(())
    }

    /// Deletes files that no longer exist.
    pub(crate) fn forget(&self, paths: &[PathBuf]) -> rusqlite::Result<()> {
        for path in paths {
            let path = path.as_os_str().as_bytes();
            for table in ["file", "session"] {
                self.connection
                    .execute(&format!("DELETE FROM {table} WHERE path = ?1"), [path])?;
            }
        }
        Ok(())
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(
        code,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

pub(crate) fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        // The opening of the database reports what could not be removed.
        let _ = fs::remove_file(PathBuf::from(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(path: &str) -> Candidate {
        Candidate {
            agent: "claude",
            path: PathBuf::from(path),
            modified: 5,
            size: 7,
            number: 0,
            changed: 0,
            parent: String::new(),
        }
    }

    fn session(id: &str) -> Session {
        Session {
            part: String::new(),
            stamp: 0,
            digest: Digest {
                id: id.to_owned(),
                ..Digest::default()
            },
            ledger: Ledger::default(),
        }
    }

    fn ids(store: &Store) -> Vec<String> {
        let sessions = store.sessions().unwrap();
        let mut ids: Vec<String> = sessions
            .values()
            .flatten()
            .map(|kept| kept.digest.id.clone())
            .collect();
        ids.sort();
        ids
    }

    #[test]
    fn a_session_keeps_its_number_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(&folder.path().join("library.db")).unwrap();
        let keep = |path: &str, id: &str| {
            let kept = store.keep(&candidate(path), None, &[session(id)], &[""]);
            kept.unwrap()[0]
        };
        let first = keep("/a", "one");
        let other = keep("/b", "two");
        assert_eq!(keep("/a", "three"), first);
        assert_ne!(first, other);
        assert_eq!(ids(&store), ["three", "two"]);
        store
            .keep(&candidate("/a"), Some("broken"), &[], &[])
            .unwrap();
        assert_eq!(ids(&store), ["two"]);
        assert_eq!(
            store.files().unwrap()[Path::new("/a")].skipped.as_deref(),
            Some("broken")
        );
        store.forget(&[PathBuf::from("/b")]).unwrap();
        assert!(ids(&store).is_empty());
    }

    #[test]
    fn an_unusable_cache_is_rebuilt() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.db");
        fs::write(
            &path,
            "no database at all, but long enough to be looked at".repeat(99),
        )
        .unwrap();
        let store = Store::at(&path).unwrap();
        store
            .keep(&candidate("/a"), None, &[session("one")], &[""])
            .unwrap();
        drop(store);
        assert_eq!(ids(&Store::at(&path).unwrap()), ["one"]);
        Connection::open(&path)
            .unwrap()
            .pragma_update(None, "user_version", VERSION + 1)
            .unwrap();
        assert!(ids(&Store::at(&path).unwrap()).is_empty());
    }
}
