//! The saved sessions of all agents, as one list.
//!
//! `search` finds the files, `digest` reads them, `store` caches the digests.
//! [`Library::refresh`] brings the list up to date: files that did not change are not
//! opened.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use unspool::source::Provider;

use crate::agents::Agents;
use crate::containers::Container;
use crate::copies;
use crate::digest::{self, Outcome, Session};
use crate::ledger::Ledger;
use crate::places::{Candidate, Places, Skipped};
use crate::progress::Progress;
use crate::related::RelatedCache;
use crate::row::Row;
use crate::search::{Found, is_in_projects};
use crate::store::{Kept, Known, Store};
use crate::sub_agents;

/// Number of files whose digests are written in one transaction.
const BATCH: usize = 200;

/// The sessions in some places.
pub struct Library {
    places: Places,
    store: Option<Store>,
    /// The reason why there is no cache.
    pub without_store: Option<String>,
    rows: Vec<Row>,
    skipped: Vec<Skipped>,
    /// Records of sub-agents among the sessions: their ids, and those of their parents.
    sub_agents: Vec<(String, String)>,
    /// The number of files that were found.
    pub found: usize,
    /// The number of files that were read.
    pub read: usize,
}

impl Library {
    /// Makes the library of the sessions in these places. The list is empty until
    /// it is refreshed.
    pub fn new(places: Places) -> Self {
        let (store, without_store) = match Store::open(places.cache.as_deref()) {
            Ok(store) => (Some(store), None),
            Err(error) => (None, Some(error.full_text())),
        };
        Self {
            places,
            store,
            without_store,
            rows: Vec::new(),
            skipped: Vec::new(),
            sub_agents: Vec::new(),
            found: 0,
            read: 0,
        }
    }

    /// Returns the sessions, the newest first.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the files and folders that could not be read.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Returns the agents that are known.
    pub fn agents(&self) -> Agents {
        self.places.known
    }

    /// Returns the folders that are searched: see [`Places::searched`].
    pub fn searched(&self) -> Vec<(&'static str, Vec<PathBuf>)> {
        self.places.searched()
    }

    /// Returns the folders that are searched besides the agents' own.
    pub fn folders(&self) -> &[PathBuf] {
        &self.places.folders
    }

    /// Returns the records of sub-agents among the sessions: their ids, and those of
    /// their parents.
    pub(crate) fn sub_agents(&self) -> &[(String, String)] {
        &self.sub_agents
    }

    /// Returns the ledger of a session.
    pub(crate) fn ledger(&self, row: &Row) -> Ledger {
        let kept = || self.store.as_ref()?.ledger(row.number?);
        match &row.ledger {
            Some(ledger) => (**ledger).clone(),
            None => kept().unwrap_or_default(),
        }
    }

    /// Brings the list up to date. Only files that changed are read, by as many
    /// threads as the machine has.
    pub fn refresh(&mut self, progress: &mut dyn FnMut(Progress)) {
        let mut cache = self.load();
        let known = self.places.known;
        let mut found = Found::new(known);
        found.places(&self.places.agents, &self.places.environment);
        for folder in &self.places.folders {
            found.below(folder);
        }
        let records = self.places.records.as_ref().map(|own| own.folder.as_path());
        if let Some(folder) = records.filter(|folder| folder.is_dir()) {
            found.below(folder);
        }
        self.rows.clear();
        self.skipped.clear();
        self.sub_agents.clear();
        self.take(std::mem::take(&mut found.candidates), &mut cache, progress);
        let places = self.places.agents.iter().filter_map(|agent| agent.saved);
        if places.flat_map(|saved| saved.places).any(is_in_projects) {
            // The sessions of the other agents name the projects.
            let (rows, skipped) = (self.rows.len(), self.skipped.len());
            let is_other =
                |agent: &Provider| self.places.agents.iter().all(|one| one.name != agent.name);
            let others: Vec<Provider> = known.with_sessions().filter(is_other).collect();
            let silent = found.skipped.len();
            found.places(&others, &self.places.environment);
            found.skipped.truncate(silent);
            self.take(std::mem::take(&mut found.candidates), &mut cache, progress);
            let projects: BTreeSet<PathBuf> = self
                .rows
                .iter()
                .map(|row| PathBuf::from(&row.digest.project))
                .filter(|project| project.is_absolute())
                .collect();
            self.rows.truncate(rows);
            self.drop_skipped(skipped);
            found.projects(&self.places.agents, &projects);
            self.take(std::mem::take(&mut found.candidates), &mut cache, progress);
        }
        copies::drop_records(&mut self.rows);
        copies::complete(&mut self.rows);
        self.skip(found.skipped, &cache);
        self.skipped.sort();
        self.skipped.dedup();
        self.forget(&cache);
        self.rows
            .sort_by(|a, b| (b.started(), &b.path, &b.part).cmp(&(a.started(), &a.path, &a.part)));
    }

    /// Drops the skipped files from a position on without a report. A list of their
    /// agents reports them.
    fn drop_skipped(&mut self, from: usize) {
        let unreported = self.skipped.drain(from..).filter(|one| !one.is_known);
        let unreported: Vec<PathBuf> = unreported.map(|one| one.path).collect();
        if let Some(store) = self.store.as_ref().filter(|_| !unreported.is_empty()) {
            // If this fails, the next list counts them as reported.
            let _ = store.together(|store| store.forget(&unreported));
        }
    }

    /// Adds files that could not be opened, and marks those that were reported before.
    fn skip(&mut self, skipped: Vec<Skipped>, cache: &Cache) {
        for mut one in skipped {
            let known = cache.files.get(&one.path);
            one.is_known = known.is_some_and(|known| known.skipped.as_ref() == Some(&one.reason));
            if let Some(store) = self.store.as_ref().filter(|_| !one.is_known) {
                // If this fails, it is reported again.
                let _ = store.keep_skipped(&one);
            }
            self.skipped.push(one);
        }
    }

    /// Loads the cache, and rebuilds a damaged one.
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

    /// Adds the sessions of these files to the list.
    fn take(
        &mut self,
        mut candidates: Vec<Candidate>,
        cache: &mut Cache,
        progress: &mut dyn FnMut(Progress),
    ) {
        self.found += candidates.len();
        sub_agents::adopt(&mut candidates, &cache.files, self.places.known);
        let records = sub_agents::sub_agents(&candidates, self.places.known);
        self.sub_agents.extend(records);
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
        let total = changed.len() as u64;
        let mut done = Progress { done: 0, total };
        progress(done);
        let mut batch = Vec::new();
        read_all(changed, self.places.known, |content| {
            batch.push(content);
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
        let known = self.places.known;
        let records = self.places.records.as_ref();
        self.rows.extend(kept.into_iter().map(|mut kept| {
            if kept.digest.project.is_empty() {
                // The agent may have written it down meanwhile.
                kept.digest.project = known.project(&kept.digest.agent, &file.path);
            }
            Row {
                number: Some(kept.id),
                ..Row::new(file, kept.part, kept.stamp, kept.digest, records, known)
            }
        }));
    }

    /// Writes sessions to the cache and adds them to the list.
    fn list(&mut self, batch: Vec<FileContent>) {
        let numbers = self.store.as_ref().and_then(|store| {
            let keep = |content: &FileContent| {
                let parts: Vec<&str> = content.parts.iter().map(String::as_str).collect();
                let skipped = content.skipped.as_deref();
                store.keep(&content.file, skipped, &content.sessions, &parts)
            };
            // If this fails, they are read again next time.
            let kept = store.together(|_| batch.iter().map(keep).collect::<Result<Vec<_>, _>>());
            kept.ok()
        });
        let mut numbers = numbers.into_iter().flatten();
        for content in batch {
            let mut ids = numbers.next().into_iter().flatten();
            for session in content.sessions {
                let number = ids.next();
                let stamp = session.stamp_in(&content.file);
                let records = self.places.records.as_ref();
                let known = self.places.known;
                self.rows.push(Row {
                    number,
                    ledger: number.is_none().then(|| Box::new(session.ledger)),
                    ..Row::new(
                        &content.file,
                        session.part,
                        stamp,
                        session.digest,
                        records,
                        known,
                    )
                });
            }
            self.list_kept(&content.file, content.unchanged);
            self.skipped.extend(content.skipped.map(|reason| Skipped {
                path: content.file.path,
                reason,
                is_known: false,
            }));
        }
    }

    /// Deletes files that no longer exist from the cache. Files of other places stay.
    fn forget(&mut self, cache: &Cache) {
        let mut gone: Vec<PathBuf> = cache.files.keys().cloned().collect();
        gone.retain(|path| fs::symlink_metadata(path).is_err());
        gone.sort();
        if let Some(store) = self.store.as_ref().filter(|_| !gone.is_empty()) {
            // If this fails, the next refresh does it.
            let _ = store.together(|store| store.forget(&gone));
        }
    }
}

/// The content of the cache before the refresh.
#[derive(Default)]
struct Cache {
    files: HashMap<PathBuf, Known>,
    sessions: HashMap<PathBuf, Vec<Kept>>,
}

/// Returns true if a file did not change. A file that was skipped is read again: it may
/// be readable now.
fn is_same(known: &Known, candidate: &Candidate) -> bool {
    let now = (candidate.size, candidate.modified, candidate.number);
    known.skipped.is_none()
        && (known.size, known.modified, known.number) == now
        && known.changed == candidate.changed
}

/// Returns true if a file was replaced by another: writing to a file makes it newer.
fn is_replaced(known: &Known, candidate: &Candidate) -> bool {
    known.number != candidate.number || candidate.modified <= known.modified
}

/// The content of a file that changed.
struct FileContent {
    file: Candidate,
    sessions: Vec<Session>,
    /// The sessions of the file that did not change.
    unchanged: Vec<Kept>,
    /// The parts of the file; one empty part if it holds one session.
    parts: Vec<String>,
    skipped: Option<String>,
}

/// Reads files on several threads and hands out their content, in any order.
fn read_all(files: Vec<(Candidate, Vec<Kept>)>, agents: Agents, mut take: impl FnMut(FileContent)) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(files.len());
    let cache = RelatedCache::new(agents);
    let files: Vec<_> = files
        .into_iter()
        .map(|file| std::sync::Mutex::new(Some(file)))
        .collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, content) = mpsc::channel();
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let file = file.lock().ok().and_then(|mut file| file.take());
                    let content = file.map(|(file, kept)| read_file(file, kept, &cache));
                    if let Some(content) = content
                        && sender.send(content).is_err()
                    {
                        break;
                    }
                }
            });
        }
        drop(sender);
        content.iter().for_each(&mut take);
    });
}

fn read_file(file: Candidate, kept: Vec<Kept>, cache: &RelatedCache) -> FileContent {
    let mut content = FileContent {
        sessions: Vec::new(),
        unchanged: Vec::new(),
        parts: Vec::new(),
        skipped: None,
        file,
    };
    let path = content.file.path.clone();
    match Container::open(&path, cache.agents) {
        Ok(Some(container)) => content.container(&container, &path, kept, cache.agents),
        Ok(None) => {
            let own_place = !content.file.agent.is_empty();
            content.outcome(digest::file(&path, own_place, cache));
        }
        Err(error) => content.skipped = Some(digest::reason(&error, &path)),
    }
    content
}

impl FileContent {
    fn container(&mut self, container: &Container, path: &Path, kept: Vec<Kept>, agents: Agents) {
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
                _ => self.outcome(digest::part(container, path, &part, agents)),
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
