//! The full-text index: words → sessions, in `words.db` in the cache folder.
//!
//! FTS5 of `SQLite` maps words to passages (`index/passages.rs`). The texts are not
//! stored: the lines of a match are read from the session's own file
//! (`index/snippet.rs`). Sessions that did not change are not read, and only the new
//! passages of a session that grew are written.
//!
//! It is a cache: an index that is damaged, or of another version, is rebuilt. One
//! process writes at a time, and others may search meanwhile. A session whose indexing
//! was interrupted is indexed again.
//!
//! | table | a row |
//! |---|---|
//! | `session` | a session that is indexed; its `stamp` is 0 until all of it is |
//! | `passage` | the passage `place` of a session, and a hash of its text |
//! | `words` | the words of the passage with the same id |

mod passages;
mod query;
mod snippet;

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, params};
use tempfile::TempDir;

use crate::error::{Context, Error, Result};
use crate::progress::Progress;
use crate::related::RelatedCache;
use crate::row::{Opener, Row};
use crate::store;
use passages::{Passage, Passages};

pub use query::Query;
pub use snippet::{Excerpt, excerpt};

/// Version of the tables. A database of another version is deleted.
const VERSION: i64 = 1;
/// Longest wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of text after which a transaction is committed.
const COMMIT_SIZE: usize = 32 << 20;
/// Capacity of the channel of passages to be written.
const WAITING: usize = 64;

const TABLES: &str = "
    CREATE TABLE session (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL,
        part TEXT NOT NULL,
        stamp INTEGER NOT NULL,
        UNIQUE (path, part)
    );
    CREATE TABLE passage (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        place INTEGER NOT NULL,
        hash INTEGER NOT NULL,
        UNIQUE (session, place)
    );
    CREATE VIRTUAL TABLE words USING fts5 (
        said, done, shown,
        content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
    );
    INSERT INTO words (words, rank) VALUES ('hashsize', 33554432);
    INSERT INTO words (words, rank) VALUES ('rank', 'bm25(4.0, 2.0, 1.0)');";

/// The open index.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
    path: PathBuf,
    /// The folder of a temporary index.
    folder: Option<TempDir>,
}

/// A passage that contains the words.
#[derive(Debug)]
pub struct Hit<'a> {
    /// The session.
    pub row: &'a Row,
    /// The number of the passage in the session.
    pub place: usize,
}

impl Index {
    /// Opens the index in the cache folder. Fails if it cannot be written there.
    pub fn open(folder: Option<&Path>) -> Result<Self> {
        let folder = folder.ok_or_else(|| Error::refused("no folder for the index is known"))?;
        let path = folder.join("words.db");
        store::make_folder(folder)
            .map_err(Error::from)
            .and_then(|()| Ok(Self::at(&path)?))
            .with_context(|| format!("cannot open the index {}", path.display()))
    }

    /// Opens an index that is deleted when it is dropped.
    pub fn temporary() -> Result<Self> {
        let folder = TempDir::new().context("cannot make a folder for the index")?;
        let index = Self::at(&folder.path().join("words.db"))?;
        Ok(Self {
            folder: Some(folder),
            ..index
        })
    }

    fn at(path: &Path) -> rusqlite::Result<Self> {
        match Self::connected(path) {
            Err(error) if is_damage(&error) => {
                store::remove(path);
                Self::connected(path)
            }
            opened => opened,
        }
    }

    fn connected(path: &Path) -> rusqlite::Result<Self> {
        store::make_file(path);
        let connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // Indexing writes much at once.
        connection.pragma_update(None, "wal_autocheckpoint", 16384)?;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        match version {
            VERSION => {}
            0 => connection.execute_batch(&format!("{TABLES} PRAGMA user_version = {VERSION};"))?,
            _ => return Err(rusqlite::Error::InvalidQuery),
        }
        connection.execute_batch("COMMIT")?;
        Ok(Self {
            connection,
            path: path.to_owned(),
            folder: None,
        })
    }

    /// Deletes the index and creates an empty one.
    pub fn rebuilt(self) -> Result<Self> {
        let _only = self.lock()?;
        let Self {
            connection,
            path,
            folder,
        } = self;
        drop(connection);
        store::remove(&path);
        Ok(Self {
            folder,
            ..Self::connected(&path)?
        })
    }

    /// Returns the sessions that changed since they were indexed, or never were.
    pub fn stale<'a>(&self, rows: &[&'a Row]) -> Result<Vec<&'a Row>> {
        let mut statement = self
            .connection
            .prepare("SELECT path, part, stamp FROM session")?;
        let indexed: HashMap<(Vec<u8>, String), i64> = statement
            .query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let is_stale = |row: &&&Row| {
            let key = (row.path.as_os_str().as_bytes().to_vec(), row.part.clone());
            indexed.get(&key) != Some(&row.stamp)
        };
        Ok(rows.iter().filter(is_stale).copied().collect())
    }

    /// Indexes what is new in these sessions. Waits for another process that does the
    /// same, and indexes the rest.
    pub fn update(&self, rows: &[&Row], progress: &mut dyn FnMut(Progress)) -> Result<()> {
        if self.stale(rows)?.is_empty() {
            return Ok(());
        }
        let _only = self.lock()?;
        self.forget()?;
        let stale = self.stale(rows)?;
        let total = stale.len() as u64;
        let mut done = Progress { done: 0, total };
        progress(done);
        let mut writer = Writer::new(&self.connection)?;
        let mut written = Ok(());
        read_all(&stale, |message| {
            if let Message::End(_) = message {
                done.done += 1;
                progress(done);
            }
            written = writer.take(&stale, message);
            written.is_ok()
        });
        written?;
        writer.finish()?;
        Ok(())
    }

    fn lock(&self) -> Result<File> {
        let lock = File::create(self.path.with_extension("lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    /// Deletes the sessions whose files no longer exist.
    fn forget(&self) -> rusqlite::Result<()> {
        let sessions: Vec<(i64, Vec<u8>)> = self
            .connection
            .prepare("SELECT id, path FROM session")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (id, path) in sessions {
            let path = Path::new(std::ffi::OsStr::from_bytes(&path));
            if fs::symlink_metadata(path).is_err() {
                let transaction = self.connection.unchecked_transaction()?;
                drop_passages(&transaction, id, 0)?;
                transaction.execute("DELETE FROM session WHERE id = ?1", [id])?;
                transaction.commit()?;
            }
        }
        Ok(())
    }

    /// Returns the sessions that contain the words, the best match first, each with its
    /// best passage.
    pub fn search<'a>(
        &self,
        query: &Query,
        rows: &[&'a Row],
        limit: usize,
    ) -> Result<Vec<Hit<'a>>> {
        let wanted = self.numbers(rows)?;
        let mut hits: Vec<Hit<'a>> = Vec::new();
        let mut taken: Vec<i64> = Vec::new();
        let mut take = |session: i64, place: i64, hits: &mut Vec<Hit<'a>>| {
            if let Some(row) = wanted.get(&session)
                && !taken.contains(&session)
            {
                taken.push(session);
                let place = usize::try_from(place).unwrap_or_default();
                hits.push(Hit { row, place });
            }
        };
        let mut ranked = self.connection.prepare_cached(
            "SELECT passage.session, passage.place FROM words JOIN passage ON passage.id = words.rowid
             WHERE words MATCH ?1 ORDER BY words.rank",
        )?;
        let mut found = ranked.query([query.together()])?;
        while let Some(row) = found.next()?
            && hits.len() < limit
        {
            take(row.get(0)?, row.get(1)?, &mut hits);
        }
        // The words may be in different passages.
        if hits.len() < limit && query.terms().len() > 1 {
            for (session, place) in self.apart(query)? {
                if hits.len() < limit {
                    take(session, place, &mut hits);
                }
            }
        }
        Ok(hits)
    }

    /// Counts the sessions that are indexed, also those that changed since.
    pub fn indexed(&self, rows: &[&Row]) -> Result<usize> {
        Ok(self.numbers(rows)?.len())
    }

    /// Returns the sessions that contain all words in any passage, the newest first,
    /// each with the first passage that contains the first word.
    fn apart(&self, query: &Query) -> rusqlite::Result<Vec<(i64, i64)>> {
        let mut all: Option<HashMap<i64, i64>> = None;
        for term in query.terms() {
            let mut statement = self.connection.prepare_cached(
                "SELECT passage.session, min(passage.place) FROM words
                 JOIN passage ON passage.id = words.rowid WHERE words MATCH ?1
                 GROUP BY passage.session",
            )?;
            let with: HashMap<i64, i64> = statement
                .query_map([term], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            match &mut all {
                None => all = Some(with),
                Some(all) => all.retain(|session, _| with.contains_key(session)),
            }
        }
        let mut all: Vec<(i64, i64)> = all.unwrap_or_default().into_iter().collect();
        all.sort_unstable_by_key(|(session, _)| std::cmp::Reverse(*session));
        Ok(all)
    }

    /// Returns the sessions by their numbers in the index.
    fn numbers<'a>(&self, rows: &[&'a Row]) -> rusqlite::Result<HashMap<i64, &'a Row>> {
        let by_place: HashMap<(&[u8], &str), &'a Row> = rows
            .iter()
            .map(|row| ((row.path.as_os_str().as_bytes(), row.part.as_str()), *row))
            .collect();
        let mut statement = self
            .connection
            .prepare("SELECT id, path, part FROM session")?;
        let mut known = statement.query([])?;
        let mut numbers = HashMap::new();
        while let Some(session) = known.next()? {
            let (path, part): (Vec<u8>, String) = (session.get(1)?, session.get(2)?);
            if let Some(row) = by_place.get(&(path.as_slice(), part.as_str())) {
                numbers.insert(session.get(0)?, *row);
            }
        }
        Ok(numbers)
    }
}

/// Returns true if the index has to be rebuilt before it can be used.
pub fn is_damaged(error: &Error) -> bool {
    matches!(error, Error::Database(error) if is_damage(&error.0))
}

/// Returns true if the database has to be rebuilt before it can be used.
fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::InvalidQuery)
        || matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::DatabaseCorrupt
                    | ErrorCode::NotADatabase
                    | ErrorCode::Unknown
                    | ErrorCode::TypeMismatch
            )
        )
}

/// A message from a reader to the writer, with the position of the session in the
/// list.
enum Message {
    Passage(usize, Passage),
    End(usize),
}

/// Reads the sessions on several threads and hands out their passages, in order within
/// each session, until `take` returns false.
fn read_all(rows: &[&Row], mut take: impl FnMut(Message) -> bool) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let agents = rows.first().map(|row| row.agents).unwrap_or_default();
    let cache = RelatedCache::new(agents);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, messages) = mpsc::sync_channel(WAITING);
        for _ in 0..threads.min(rows.len()) {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                let mut opener = Opener::new(&cache);
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(row) = rows.get(at) else { break };
                    if read(row, at, &mut opener, &sender).is_none() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for message in messages {
            if !take(message) {
                break;
            }
        }
    });
}

/// Reads one session; `None` if the writer has stopped. Of one that cannot be read to
/// its end, the passages before the error are indexed: the list reports the error.
fn read(row: &Row, at: usize, opener: &mut Opener<'_>, sender: &SyncSender<Message>) -> Option<()> {
    let mut listening = true;
    let _ = Passages::of(row, opener, |passage| {
        listening = sender.send(Message::Passage(at, passage)).is_ok();
        listening
    });
    sender.send(Message::End(at)).ok().filter(|()| listening)
}

/// Writes the passages that are new.
struct Writer<'a> {
    connection: &'a Connection,
    /// Sessions that are being written: number, hashes of the indexed passages, and the
    /// number of the next passage.
    open: HashMap<usize, (i64, Vec<i64>, usize)>,
    /// Bytes of text since the last commit.
    fresh: usize,
}

impl<'a> Writer<'a> {
    fn new(connection: &'a Connection) -> rusqlite::Result<Self> {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        Ok(Self {
            connection,
            open: HashMap::new(),
            fresh: 0,
        })
    }

    fn take(&mut self, rows: &[&Row], message: Message) -> rusqlite::Result<()> {
        let (Message::Passage(at, _) | Message::End(at)) = &message;
        let (at, Some(row)) = (*at, rows.get(*at)) else {
            return Ok(());
        };
        if !self.open.contains_key(&at) {
            let begun = self.begin(row)?;
            self.open.insert(at, begun);
        }
        match message {
            Message::Passage(_, passage) => self.passage(at, &passage)?,
            Message::End(_) => {
                if let Some((session, _, place)) = self.open.remove(&at) {
                    drop_passages(self.connection, session, place)?;
                    self.connection
                        .prepare_cached("UPDATE session SET stamp = ?2 WHERE id = ?1")?
                        .execute([session, row.stamp])?;
                }
            }
        }
        if self.fresh >= COMMIT_SIZE {
            self.fresh = 0;
            self.connection.execute_batch("COMMIT; BEGIN IMMEDIATE")?;
        }
        Ok(())
    }

    fn begin(&self, row: &Row) -> rusqlite::Result<(i64, Vec<i64>, usize)> {
        let session = self
            .connection
            .prepare_cached(
                "INSERT INTO session (path, part, stamp) VALUES (?1, ?2, 0)
                 ON CONFLICT (path, part) DO UPDATE SET stamp = 0 RETURNING id",
            )?
            .query_row(params![row.path.as_os_str().as_bytes(), row.part], |row| {
                row.get(0)
            })?;
        let known = self
            .connection
            .prepare_cached("SELECT hash FROM passage WHERE session = ?1 ORDER BY place")?
            .query_map([session], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        Ok((session, known, 0))
    }

    fn passage(&mut self, at: usize, passage: &Passage) -> rusqlite::Result<()> {
        let Some((session, known, place)) = self.open.get_mut(&at) else {
            return Ok(());
        };
        let (session, here) = (*session, *place);
        *place += 1;
        let hash = passage.hash();
        if known.get(here) == Some(&hash) {
            return Ok(());
        }
        if here < known.len() {
            drop_passages(self.connection, session, here)?;
            known.truncate(here);
        }
        let id: i64 = self
            .connection
            .prepare_cached(
                "INSERT INTO passage (session, place, hash) VALUES (?1, ?2, ?3) RETURNING id",
            )?
            .query_row(params![session, to_sql(here), hash], |row| row.get(0))?;
        self.connection
            .prepare_cached("INSERT INTO words (rowid, said, done, shown) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![id, passage.said, passage.done, passage.shown])?;
        self.fresh += passage.len();
        Ok(())
    }

    fn finish(self) -> rusqlite::Result<()> {
        self.connection.execute_batch("COMMIT")
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        // The sessions that were not finished are indexed again.
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

/// Deletes the passages of a session from this place on.
fn drop_passages(connection: &Connection, session: i64, from: usize) -> rusqlite::Result<()> {
    let from = to_sql(from);
    connection
        .prepare_cached(
            "DELETE FROM words WHERE rowid IN
             (SELECT id FROM passage WHERE session = ?1 AND place >= ?2)",
        )?
        .execute([session, from])?;
    connection
        .prepare_cached("DELETE FROM passage WHERE session = ?1 AND place >= ?2")?
        .execute([session, from])?;
    Ok(())
}

fn to_sql(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
