//! One session of the list.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::agents::Agents;
use crate::containers::Container;
use crate::digest::{Digest, State};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::ledger::Ledger;
use crate::open::open_among;
use crate::places::{Candidate, Records};
use crate::related::RelatedCache;

/// A session that was written to within this time, in milliseconds, may still be
/// running.
const RECENT: i64 = 60_000;

/// A session of the list.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its number in the cache, which stays the same as long as the session exists.
    /// `None` without a cache.
    pub number: Option<i64>,
    /// The file.
    pub path: PathBuf,
    /// The session within a file that holds several; empty otherwise.
    pub part: String,
    /// When the file was last written, in nanoseconds; for an earlier session
    /// of a file with several, when it started.
    pub modified: i64,
    /// Differs after the session changed.
    pub stamp: i64,
    /// The summary of the session.
    pub digest: Digest,
    /// The ledger, if there is no cache.
    pub(crate) ledger: Option<Box<Ledger>>,
    /// Set for a conversation that unspool itself recorded: returns true while it
    /// is being written.
    pub(crate) is_being_written: Option<fn(&Path) -> bool>,
    pub(crate) agents: Agents,
}

impl Row {
    /// Makes the row of a session in a file.
    pub(crate) fn new(
        file: &Candidate,
        part: String,
        stamp: i64,
        digest: Digest,
        records: Option<&Records>,
        agents: Agents,
    ) -> Self {
        let end = file.stamp_of_part(file.size.cast_signed());
        let is_earlier = !part.is_empty() && digest.ended.is_none() && stamp != end;
        let began = digest.started.filter(|_| is_earlier);
        Self {
            number: None,
            path: file.path.clone(),
            part,
            modified: began.map_or(file.modified, |began| began.saturating_mul(1_000_000)),
            stamp,
            digest,
            ledger: None,
            is_being_written: records
                .filter(|records| file.path.starts_with(&records.folder))
                .map(|records| records.is_being_written),
            agents,
        }
    }

    /// Returns true for a conversation that unspool itself recorded.
    pub fn is_record(&self) -> bool {
        self.is_being_written.is_some()
    }

    /// Opens the session.
    pub fn open(&self) -> Result<Vec<Input>> {
        Opener::default().inputs(self)
    }

    /// Returns the current state of the session.
    pub fn state(&self) -> State {
        self.digest.state(|| self.is_written())
    }

    /// Returns true if the session may still be running: if it is a record that is being
    /// written, or was written to a moment ago.
    fn is_written(&self) -> bool {
        if let Some(is_being_written) = self.is_being_written {
            return is_being_written(&self.path);
        }
        (0..RECENT).contains(&now().saturating_sub(self.written()))
    }

    /// Returns the name of the agent that people use.
    pub fn agent_title(&self) -> &str {
        self.agents.title(&self.digest.agent)
    }

    /// Returns the start of the session, or else the time of its file, in milliseconds.
    pub fn started(&self) -> i64 {
        self.digest.started.unwrap_or(self.modified / 1_000_000)
    }

    /// Returns the time of the last write, in milliseconds: that of the file, unless it
    /// holds several sessions.
    fn written(&self) -> i64 {
        let of_part = self.digest.ended.filter(|_| !self.part.is_empty());
        of_part.unwrap_or(self.modified / 1_000_000)
    }

    /// Returns the end of the session, or else its start, in milliseconds.
    pub fn ended(&self) -> i64 {
        self.digest.ended.unwrap_or_else(|| self.started())
    }

    /// Returns the last time in the session, or else the time of its file, in
    /// milliseconds.
    pub fn latest(&self) -> i64 {
        let recorded = self.digest.ended.or(self.digest.started);
        recorded.unwrap_or(self.modified / 1_000_000)
    }
}

/// Opens sessions one after the other. A file that holds several is opened once for
/// consecutive sessions.
#[derive(Default)]
pub(crate) struct Opener<'a> {
    cache: Option<&'a RelatedCache>,
    container: Option<(PathBuf, Container)>,
}

impl<'a> Opener<'a> {
    pub(crate) fn new(cache: &'a RelatedCache) -> Self {
        Self {
            cache: Some(cache),
            container: None,
        }
    }

    pub(crate) fn inputs(&mut self, row: &Row) -> Result<Vec<Input>> {
        if row.part.is_empty() {
            return open_among(&row.path, None, row.agents, self.cache);
        }
        let open = self.container.take().filter(|(path, _)| *path == row.path);
        let (path, container) = if let Some(open) = open {
            open
        } else {
            let container = Container::open(&row.path, row.agents)?.ok_or_else(|| {
                let path = row.path.display();
                Error::refused(format!("{path} does not hold several sessions any more"))
            })?;
            (row.path.clone(), container)
        };
        let input = container.input(&row.part);
        self.container = Some((path, container));
        Ok(vec![input?])
    }
}

/// Returns the current time in milliseconds.
fn now() -> i64 {
    Timestamp::now().as_millisecond()
}
