//! Every saved session of every agent, as one list.
//!
//! `find` knows where they may be, `digest` reads one, `store` keeps what was
//! read, `select` is what people ask for. [`Library::refresh`] brings the list up
//! to date: files that did not change are not opened.

pub(crate) mod digest;
mod family;
pub(crate) mod find;
pub(crate) mod index;
pub(crate) mod ledger;
pub(crate) mod named;
pub(crate) mod records;
pub(crate) mod select;
pub(crate) mod store;
pub(crate) mod tally;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, bail};
use jiff::Timestamp;
use unspool_acp::record;

use crate::agents::{self, Agent, Environment};
use crate::config;
use crate::input::{self, Container, Input, Kin};
use crate::progress::Bar;
use digest::{Digest, Outcome, Session, State};
use find::{Candidate, Found, Skipped};
use ledger::Ledger;
use store::{Kept, Known, Store};

/// Characters of an id that no two agents give by chance.
const UNIQUE: usize = 16;
/// A session that was written to within this time, in milliseconds, may still be
/// going on.
const RECENT: i64 = 60_000;
/// Files whose digests are written at once.
const BATCH: usize = 200;

/// A session of the list.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Its number in the store; it stays the same as long as the session is
    /// there. `None` without a store.
    pub(crate) number: Option<i64>,
    pub(crate) path: PathBuf,
    /// The session within a file that holds several; empty otherwise.
    pub(crate) part: String,
    /// When the file was last written, in nanoseconds; for a chat of aider behind
    /// which others stand, when it began.
    pub(crate) modified: i64,
    /// Changes when the session does.
    pub(crate) stamp: i64,
    pub(crate) digest: Digest,
    /// Kept here only where there is no store.
    ledger: Option<Box<Ledger>>,
}

impl Row {
    /// A session of a file.
    fn new(file: &Candidate, part: String, stamp: i64, digest: Digest) -> Self {
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
        }
    }

    /// How the session is now.
    pub(crate) fn state(&self) -> State {
        self.digest.state(|| self.is_written())
    }

    /// Whether it may still be going on: a conversation of ours tells that, all
    /// others were written to a moment ago.
    fn is_written(&self) -> bool {
        if config::is_record(&self.path) {
            return record::is_written(&self.path);
        }
        (0..RECENT).contains(&now().saturating_sub(self.written()))
    }

    /// When it began, or at least when it was written, in milliseconds.
    pub(crate) fn started(&self) -> i64 {
        self.digest.started.unwrap_or(self.modified / 1_000_000)
    }

    /// When it was last written, in milliseconds: the time of the file, unless
    /// that holds several sessions.
    fn written(&self) -> i64 {
        let of_part = self.digest.ended.filter(|_| !self.part.is_empty());
        of_part.unwrap_or(self.modified / 1_000_000)
    }

    /// When it was last worked on, in milliseconds.
    pub(crate) fn ended(&self) -> i64 {
        self.digest.ended.unwrap_or_else(|| self.started())
    }

    /// When it was last worked on as far as it tells itself, or else when it was
    /// written, in milliseconds.
    pub(crate) fn latest(&self) -> i64 {
        let told = self.digest.ended.or(self.digest.started);
        told.unwrap_or(self.modified / 1_000_000)
    }
}

/// How far a refresh is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Files that were read, of those that have to be.
    pub(crate) done: usize,
    pub(crate) total: usize,
}

/// All sessions in some places.
pub(crate) struct Library {
    agents: Vec<&'static Agent>,
    folders: Vec<PathBuf>,
    store: Option<Store>,
    /// Why there is no store.
    pub(crate) without_store: Option<String>,
    rows: Vec<Row>,
    skipped: Vec<Skipped>,
    /// Records of sub-agents that lie among the sessions: id, and whose it is.
    sub_agents: Vec<(String, String)>,
    /// Files that were found, and those of them that were read.
    pub(crate) found: usize,
    pub(crate) read: usize,
}

impl Library {
    /// The library of these agents and of what lies in these folders. The list
    /// is empty until it is refreshed.
    fn new(agents: Vec<&'static Agent>, folders: Vec<PathBuf>) -> Self {
        let (store, without_store) = match Store::open() {
            Ok(store) => (Some(store), None),
            Err(error) => (None, Some(format!("{error:#}"))),
        };
        Self {
            agents,
            folders,
            store,
            without_store,
            rows: Vec::new(),
            skipped: Vec::new(),
            sub_agents: Vec::new(),
            found: 0,
            read: 0,
        }
    }

    /// The sessions, the newest first.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// What could not be read, and why.
    pub(crate) fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The folders that are looked into beside the agents' own.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The session with this id, or the only one whose id begins like this. Of
    /// one that was skipped it is said why.
    pub(crate) fn by_id(&self, id: &str) -> anyhow::Result<&Row> {
        let found = select::by_id(&self.rows, id);
        let is_missing = |error: &anyhow::Error| error.downcast_ref::<io::Error>().is_some();
        if !found.as_ref().is_err_and(is_missing) {
            return found;
        }
        let wanted = id.to_lowercase();
        let is_meant = |skipped: &&Skipped| {
            let name = skipped.path.file_name().unwrap_or_default();
            let name = name.to_string_lossy().to_lowercase();
            name.starts_with(&wanted) || name.contains(&format!("-{wanted}"))
        };
        if let Some(Skipped { path, reason, .. }) = self.skipped.iter().find(is_meant) {
            bail!("cannot read {}: {reason}", path.display());
        }
        if let Some(parent) = self.with_sub_agent(&wanted) {
            bail!("{id} is a sub-agent: it is shown in its session, unspool show {parent}");
        }
        found
    }

    /// The id of the session in which a sub-agent worked whose id begins like this.
    fn with_sub_agent(&self, beginning: &str) -> Option<String> {
        if beginning.is_empty() {
            return None;
        }
        let parent = |id: &str| {
            let mut records = self.sub_agents.iter();
            records.find(|(record, _)| record.to_lowercase().starts_with(id))
        };
        if let Some((_, found)) = parent(beginning) {
            let is_listed = |id: &str| self.rows.iter().any(|row| row.digest.id == id);
            let mut found = found;
            for _ in 0..self.sub_agents.len() {
                match parent(&found.to_lowercase()) {
                    Some((_, above)) if !is_listed(found) => found = above,
                    _ => break,
                }
            }
            return Some(found.clone());
        }
        let paths = self.rows.iter().map(|row| row.path.as_path());
        if let Some(path) = find::with_sub_agent(paths, beginning) {
            let row = self.rows.iter().find(|row| row.path == path);
            return row.map(|row| row.digest.id.clone());
        }
        let holds_several = self.rows.iter().filter(|row| !row.part.is_empty());
        let files: BTreeSet<&Path> = holds_several.map(|row| row.path.as_path()).collect();
        let mut files = files.into_iter();
        files.find_map(|path| Container::open(path).ok()??.root_of(beginning))
    }

    /// The entries of a session.
    pub(crate) fn ledger(&self, row: &Row) -> Ledger {
        let kept = || self.store.as_ref()?.ledger(row.number?);
        match &row.ledger {
            Some(ledger) => (**ledger).clone(),
            None => kept().unwrap_or_default(),
        }
    }

    /// The inputs of a session, to be shown.
    pub(crate) fn input(row: &Row) -> anyhow::Result<Vec<Input>> {
        Opener::default().inputs(row)
    }

    /// Brings the list up to date; on a terminal it says how far it is when that
    /// takes a while.
    pub(crate) fn refresh_shown(&mut self) {
        let mut bar = Bar::new("Reading sessions");
        self.refresh(&mut |progress| bar.set(progress.done as u64, progress.total as u64));
    }

    /// Brings the list up to date. Only files that changed are read, by as many
    /// threads as the machine has.
    fn refresh(&mut self, progress: &mut dyn FnMut(Progress)) {
        let mut cache = self.load();
        let mut found = Found::default();
        found.agents(&self.agents, &Environment::new());
        for folder in &self.folders {
            found.below(folder);
        }
        let own = config::records().ok().filter(|folder| folder.is_dir());
        if let Some(own) = &own {
            found.below(own);
        }
        self.rows.clear();
        self.skipped.clear();
        self.sub_agents.clear();
        self.take(std::mem::take(&mut found.candidates), &mut cache, progress);
        if self.agents.iter().any(|agent| agent.name == "aider") {
            // aider writes into projects; the others tell which there are.
            let (rows, skipped) = (self.rows.len(), self.skipped.len());
            let is_other = |agent: &&Agent| self.agents.iter().all(|one| one.name != agent.name);
            let others: Vec<&Agent> = agents::AGENTS.iter().filter(is_other).collect();
            let silent = found.skipped.len();
            found.agents(&others, &Environment::new());
            found.skipped.truncate(silent);
            self.take(std::mem::take(&mut found.candidates), &mut cache, progress);
            let projects: BTreeSet<PathBuf> = self
                .rows
                .iter()
                .map(|row| PathBuf::from(&row.digest.project))
                .filter(|project| project.is_absolute())
                .collect();
            self.rows.truncate(rows);
            self.leave_untold(skipped);
            found.aider(projects.iter().map(PathBuf::as_path));
            self.take(std::mem::take(&mut found.candidates), &mut cache, progress);
        }
        if let Some(own) = &own {
            self.leave_out_copies(own);
        }
        records::complete(&mut self.rows);
        self.skip(found.skipped, &cache);
        self.skipped.sort();
        self.skipped.dedup();
        self.forget(&cache);
        self.rows
            .sort_by(|a, b| (b.started(), &b.path, &b.part).cmp(&(a.started(), &a.path, &a.part)));
    }

    /// A conversation of ours that the agent keeps itself is the agent's. A name
    /// that the person gave to the agent is no other agent; short ids may be.
    fn leave_out_copies(&mut self, own: &Path) {
        let is_own = |row: &Row| row.path.starts_with(own);
        let others = self.rows.iter().filter(|row| !is_own(row));
        let ids = others.map(|row| row.digest.id.clone());
        let kept: BTreeSet<String> = ids.filter(|id| id.len() >= UNIQUE).collect();
        self.rows
            .retain(|row| !is_own(row) || !kept.contains(&row.digest.id));
    }

    /// Drops what was skipped from a place on; who lists those agents is told of it.
    fn leave_untold(&mut self, from: usize) {
        let untold = self.skipped.drain(from..).filter(|one| !one.is_known);
        let untold: Vec<PathBuf> = untold.map(|one| one.path).collect();
        if let Some(store) = self.store.as_ref().filter(|_| !untold.is_empty()) {
            // At worst it is only counted next time.
            let _ = store.together(|store| store.forget(&untold));
        }
    }

    /// Takes in what was not even looked at; what was told before is marked.
    fn skip(&mut self, skipped: Vec<Skipped>, cache: &Cache) {
        for mut one in skipped {
            let known = cache.files.get(&one.path);
            one.is_known = known.is_some_and(|known| known.skipped.as_ref() == Some(&one.reason));
            if let Some(store) = self.store.as_ref().filter(|_| !one.is_known) {
                // What is not kept is told again.
                let _ = store.keep_skipped(&one);
            }
            self.skipped.push(one);
        }
    }

    /// What the store knows. One that is damaged is made anew.
    fn load(&mut self) -> Cache {
        let Some(store) = self.store.take() else {
            return Cache::default();
        };
        let loaded = store
            .files()
            .and_then(|files| Ok((files, store.sessions()?)));
        if let Ok((files, sessions)) = loaded {
            self.store = Some(store);
            return Cache { files, sessions };
        }
        self.store = store.rebuilt().ok();
        Cache::default()
    }

    /// Takes the sessions of these files into the list.
    fn take(
        &mut self,
        mut candidates: Vec<Candidate>,
        cache: &mut Cache,
        progress: &mut dyn FnMut(Progress),
    ) {
        self.found += candidates.len();
        family::adopt(&mut candidates, &cache.files);
        self.sub_agents.extend(family::sub_agents(&candidates));
        let mut changed = Vec::new();
        let mut skipped_before = HashMap::new();
        for candidate in candidates {
            let mut kept = cache.sessions.remove(&candidate.path).unwrap_or_default();
            match cache.files.remove(&candidate.path) {
                Some(known) if is_same(&known, &candidate) => self.list_kept(&candidate, kept),
                known => {
                    if known
                        .as_ref()
                        .is_some_and(|known| is_replaced(known, &candidate))
                    {
                        kept.clear();
                    }
                    if let Some(reason) = known.and_then(|known| known.skipped) {
                        skipped_before.insert(candidate.path.clone(), reason);
                    }
                    changed.push((candidate, kept));
                }
            }
        }
        self.read += changed.len();
        let total = changed.len();
        let mut done = Progress { done: 0, total };
        progress(done);
        let mut batch = Vec::new();
        read_all(changed, |looked| {
            batch.push(looked);
            if batch.len() >= BATCH {
                self.list(std::mem::take(&mut batch));
            }
            done.done += 1;
            progress(done);
        });
        self.list(batch);
        for skipped in &mut self.skipped {
            skipped.is_known |= skipped_before.get(&skipped.path) == Some(&skipped.reason);
        }
    }

    fn list_kept(&mut self, file: &Candidate, kept: Vec<Kept>) {
        self.rows.extend(kept.into_iter().map(|mut kept| {
            if kept.digest.project.is_empty() {
                // Which one it is may be written down later.
                kept.digest.project = digest::project(&kept.digest.agent, &file.path);
            }
            Row {
                number: Some(kept.id),
                ..Row::new(file, kept.part, kept.stamp, kept.digest)
            }
        }));
    }

    /// Writes what was read to the store and lists it.
    fn list(&mut self, batch: Vec<Looked>) {
        let numbers = self.store.as_ref().and_then(|store| {
            let keep = |looked: &Looked| {
                let parts: Vec<&str> = looked.parts.iter().map(String::as_str).collect();
                let skipped = looked.skipped.as_deref();
                store.keep(&looked.file, skipped, &looked.sessions, &parts)
            };
            // What could not be kept is read again next time.
            let kept = store.together(|_| batch.iter().map(keep).collect::<Result<Vec<_>, _>>());
            kept.ok()
        });
        let mut numbers = numbers.into_iter().flatten();
        for looked in batch {
            let mut ids = numbers.next().into_iter().flatten();
            for session in looked.sessions {
                let number = ids.next();
                let stamp = session.stamp_in(&looked.file);
                self.rows.push(Row {
                    number,
                    ledger: number.is_none().then(|| Box::new(session.ledger)),
                    ..Row::new(&looked.file, session.part, stamp, session.digest)
                });
            }
            self.list_kept(&looked.file, looked.unchanged);
            self.skipped.extend(looked.skipped.map(|reason| Skipped {
                path: looked.file.path,
                reason,
                is_known: false,
            }));
        }
    }

    /// Forgets files that are no longer there. Those of other places are kept.
    fn forget(&mut self, cache: &Cache) {
        let mut gone: Vec<PathBuf> = cache.files.keys().cloned().collect();
        gone.retain(|path| fs::symlink_metadata(path).is_err());
        gone.sort();
        if let Some(store) = self.store.as_ref().filter(|_| !gone.is_empty()) {
            // What is not forgotten now is forgotten next time.
            let _ = store.together(|store| store.forget(&gone));
        }
    }
}

/// Opens sessions one after the other. A file that holds several is opened once
/// as long as the sessions come from it.
#[derive(Default)]
pub(crate) struct Opener<'a> {
    kin: Option<&'a Kin>,
    container: Option<(PathBuf, Container)>,
}

impl<'a> Opener<'a> {
    pub(crate) fn new(kin: &'a Kin) -> Self {
        Self {
            kin: Some(kin),
            container: None,
        }
    }

    pub(crate) fn inputs(&mut self, row: &Row) -> anyhow::Result<Vec<Input>> {
        if row.part.is_empty() {
            return input::open_among(&row.path, None, self.kin);
        }
        let open = self.container.take().filter(|(path, _)| *path == row.path);
        let (path, container) = if let Some(open) = open {
            open
        } else {
            let container = Container::open(&row.path)?.with_context(|| {
                let path = row.path.display();
                format!("{path} does not hold several sessions any more")
            })?;
            (row.path.clone(), container)
        };
        let input = container.input(&row.part);
        self.container = Some((path, container));
        Ok(vec![input?])
    }
}

/// What the store knew before.
#[derive(Default)]
struct Cache {
    files: HashMap<PathBuf, Known>,
    sessions: HashMap<PathBuf, Vec<Kept>>,
}

/// What was skipped may be readable now, though it did not change.
fn is_same(known: &Known, candidate: &Candidate) -> bool {
    let now = (candidate.size, candidate.modified, candidate.number);
    known.skipped.is_none()
        && (known.size, known.modified, known.number) == now
        && known.changed == candidate.changed
}

/// Whether it is not the file that it was: what is written to gets newer.
fn is_replaced(known: &Known, candidate: &Candidate) -> bool {
    known.number != candidate.number || candidate.modified <= known.modified
}

/// What a look into a changed file gave.
struct Looked {
    file: Candidate,
    sessions: Vec<Session>,
    /// Sessions of the file that did not change.
    unchanged: Vec<Kept>,
    /// The parts of the file; an empty one if it is one session.
    parts: Vec<String>,
    skipped: Option<String>,
}

/// Reads files on several threads and hands out what they hold, in no order.
fn read_all(files: Vec<(Candidate, Vec<Kept>)>, mut take: impl FnMut(Looked)) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(files.len());
    let kin = Kin::default();
    let files: Vec<_> = files
        .into_iter()
        .map(|file| std::sync::Mutex::new(Some(file)))
        .collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, looked) = mpsc::channel();
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let file = file.lock().ok().and_then(|mut file| file.take());
                    let looked = file.map(|(file, kept)| look(file, kept, &kin));
                    if let Some(looked) = looked
                        && sender.send(looked).is_err()
                    {
                        break;
                    }
                }
            });
        }
        drop(sender);
        looked.iter().for_each(&mut take);
    });
}

fn look(file: Candidate, kept: Vec<Kept>, kin: &Kin) -> Looked {
    let mut looked = Looked {
        sessions: Vec::new(),
        unchanged: Vec::new(),
        parts: Vec::new(),
        skipped: None,
        file,
    };
    let path = looked.file.path.clone();
    match Container::open(&path) {
        Ok(Some(container)) => looked.container(&container, &path, kept),
        Ok(None) => {
            let own_place = !looked.file.agent.is_empty();
            looked.outcome(digest::file(&path, own_place, kin));
        }
        Err(error) => looked.skipped = Some(digest::reason(&error, &path)),
    }
    looked
}

impl Looked {
    fn container(&mut self, container: &Container, path: &Path, kept: Vec<Kept>) {
        let mut kept: HashMap<String, Kept> = kept
            .into_iter()
            .map(|one| (one.part.clone(), one))
            .collect();
        for part in container.parts() {
            match kept.remove(&part.id) {
                Some(same) if same.stamp == self.file.stamp_of_part(part.stamp) => {
                    self.parts.push(part.id);
                    self.unchanged.push(same);
                }
                _ => self.outcome(digest::part(container, path, &part)),
            }
        }
    }

    fn outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Session(session) => {
                self.parts.push(session.part.clone());
                self.sessions.push(*session);
            }
            Outcome::Nothing => {}
            Outcome::Skipped(reason) => self.skipped = Some(reason),
        }
    }
}

/// The time, in milliseconds.
fn now() -> i64 {
    Timestamp::now().as_millisecond()
}
