//! Finds and matches the project's files in the background.
//!
//! One thread walks the tree, one matches; typing waits for neither and sees
//! intermediate results. Files ignored by Git are left out, as are names that
//! cannot be typed (not UTF-8, or with invisible characters). Symbolic links are
//! not followed. Dropping the value ends the threads.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ignore::{DirEntry, WalkBuilder};
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use unspool::sanitize;

/// Maximum number of paths.
const MOST: usize = 200_000;
/// Maximum number of matches returned.
const SHOWN: usize = 30;
/// Maximum length of a path, in characters. Longer ones are left out.
const LONGEST: usize = 1_000;
/// Interval at which the walk publishes new paths.
const HANDOVER: Duration = Duration::from_millis(100);
/// Time to wait for the results of the current query.
const MOMENT: Duration = Duration::from_millis(200);
/// Age after which the tree is walked again.
const FRESH: Duration = Duration::from_secs(5);

/// Called when there are new results.
pub(super) type Wake = Arc<dyn Fn() + Send + Sync>;

type Paths = Arc<Vec<Box<str>>>;

/// A matching file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Path relative to the root, with a trailing `/` for a directory.
    pub(super) path: String,
    /// The matching clusters.
    pub(super) marks: Vec<u32>,
}

/// Results so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The best matches for the last query.
    pub(super) found: Vec<Found>,
    /// Total number of paths.
    pub(super) total: usize,
    /// True while more may come.
    pub(super) is_busy: bool,
}

#[derive(Default)]
struct State {
    /// In pieces, so that matching does not copy them.
    pieces: Vec<Paths>,
    is_walking: bool,
    /// End of the last walk.
    walked: Option<Instant>,
    query: String,
    /// Number of queries and pieces so far.
    asked: u64,
    answered: u64,
    found: Vec<Found>,
}

struct Shared {
    root: PathBuf,
    wake: Wake,
    state: Mutex<State>,
    changed: Condvar,
    stops: AtomicBool,
}

/// The files of the project.
pub(super) struct Files {
    shared: Arc<Shared>,
    is_matching: bool,
}

impl Files {
    pub(super) fn new(root: &Path, wake: Wake) -> Self {
        Self {
            shared: Arc::new(Shared {
                root: root.to_owned(),
                wake,
                state: Mutex::default(),
                changed: Condvar::new(),
                stops: AtomicBool::new(false),
            }),
            is_matching: false,
        }
    }

    /// Starts a search, and a new walk if the last one is old.
    pub(super) fn look_for(&mut self, query: &str) {
        self.refresh();
        let mut state = self.shared.lock();
        if state.query != query || state.asked == 0 {
            query.clone_into(&mut state.query);
            state.asked += 1;
            self.shared.changed.notify_all();
        }
        drop(state);
        if !self.is_matching {
            let shared = Arc::clone(&self.shared);
            self.is_matching = spawned("match", move || shared.match_all());
        }
    }

    /// Returns the results so far.
    pub(super) fn known(&self) -> Known {
        let state = self.shared.lock();
        Known {
            found: state.found.clone(),
            total: state.total(),
            is_busy: state.is_walking || state.asked != state.answered,
        }
    }

    /// Waits a moment for the results of the last query. Returns true if they are
    /// there.
    pub(super) fn wait_for_results(&self) -> bool {
        let began = Instant::now();
        loop {
            let state = self.shared.lock();
            if state.asked == state.answered {
                return true;
            }
            drop(state);
            if began.elapsed() >= MOMENT {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn refresh(&mut self) {
        let mut state = self.shared.lock();
        let is_fresh = state.walked.is_some_and(|then| then.elapsed() < FRESH);
        if is_fresh || state.is_walking {
            return;
        }
        state.is_walking = true;
        drop(state);
        let shared = Arc::clone(&self.shared);
        if !spawned("walk", move || shared.walk()) {
            self.shared.lock().is_walking = false;
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        self.shared.stops.store(true, Ordering::Relaxed);
        // Taking the lock once ensures that a thread about to wait sees the flag.
        drop(self.shared.lock());
        self.shared.changed.notify_all();
    }
}

fn spawned(name: &str, work: impl FnOnce() + Send + 'static) -> bool {
    let name = format!("files-{name}");
    thread::Builder::new().name(name).spawn(work).is_ok()
}

impl State {
    fn total(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len()).sum()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stops(&self) -> bool {
        self.stops.load(Ordering::Relaxed)
    }

    /// Walks the project. The first walk publishes intermediate results; a later
    /// one replaces them when complete.
    fn walk(&self) {
        let is_first = self.lock().pieces.is_empty();
        let mut pieces: Vec<Paths> = Vec::new();
        let mut piece: Vec<Box<str>> = Vec::new();
        let mut handed = Instant::now();
        for path in paths(&self.root).take(MOST) {
            if self.stops() {
                return;
            }
            piece.push(path);
            if handed.elapsed() >= HANDOVER {
                handed = Instant::now();
                let full = Arc::new(std::mem::take(&mut piece));
                pieces.push(full);
                if is_first {
                    self.hand_over(pieces.clone(), true);
                }
            }
        }
        pieces.push(Arc::new(piece));
        self.hand_over(pieces, false);
    }

    fn hand_over(&self, pieces: Vec<Paths>, is_walking: bool) {
        let mut state = self.lock();
        state.pieces = pieces;
        state.is_walking = is_walking;
        state.walked = Some(Instant::now());
        state.asked += 1;
        self.changed.notify_all();
    }

    /// Answers queries until the value is dropped.
    fn match_all(&self) {
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        while let Some((asked, query, pieces)) = self.next() {
            let found = best(&pieces, &query, &mut matcher);
            let mut state = self.lock();
            state.answered = asked;
            // A result for an older list of paths is fine, one for another query
            // is not.
            if state.query == query {
                state.found = found;
            }
            drop(state);
            (self.wake)();
        }
    }

    /// Waits for a query. Returns `None` at the end.
    fn next(&self) -> Option<(u64, String, Vec<Paths>)> {
        let mut state = self.lock();
        while state.asked == state.answered && !self.stops() {
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        let next = (state.asked, state.query.clone(), state.pieces.clone());
        (!self.stops()).then_some(next)
    }
}

/// Returns all paths below a root.
fn paths(root: &Path) -> impl Iterator<Item = Box<str>> {
    let is_wanted = |entry: &DirEntry| entry.file_name() != ".git";
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(is_wanted)
        .build();
    let root = root.to_owned();
    walk.filter_map(move |entry| written(&entry.ok()?, &root))
}

fn written(entry: &DirEntry, root: &Path) -> Option<Box<str>> {
    let path = entry.path().strip_prefix(root).ok()?.to_str()?;
    let is_clean = sanitize::line(path) == path && !path.contains('"');
    if path.is_empty() || path.len() > LONGEST || !is_clean {
        return None;
    }
    let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
    Some(if is_dir {
        format!("{path}/").into()
    } else {
        path.into()
    })
}

/// Returns the best matches: by score, then shorter, then alphabetically.
fn best(pieces: &[Paths], query: &str, matcher: &mut Matcher) -> Vec<Found> {
    let pattern = Pattern::new(
        query,
        CaseMatching::Smart,
        Normalization::Smart,
        AtomKind::Fuzzy,
    );
    let mut letters = Vec::new();
    let mut scored: Vec<(Reverse<u32>, usize, &str)> = Vec::new();
    for path in pieces.iter().flat_map(|piece| piece.iter()) {
        let text = Utf32Str::new(path, &mut letters);
        if let Some(score) = pattern.score(text, matcher) {
            let depth = path.trim_end_matches('/').matches('/').count();
            let rank = if query.is_empty() { depth } else { path.len() };
            scored.push((Reverse(score), rank, path));
        }
    }
    if scored.len() > SHOWN {
        scored.select_nth_unstable(SHOWN);
        scored.truncate(SHOWN);
    }
    scored.sort_unstable();
    let mut found = Vec::new();
    for (_, _, path) in scored {
        let mut marks = Vec::new();
        pattern.indices(Utf32Str::new(path, &mut letters), matcher, &mut marks);
        marks.sort_unstable();
        marks.dedup();
        let path = path.to_owned();
        found.push(Found { path, marks });
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc;

    use super::*;

    fn matches(paths: &[&str], query: &str) -> Vec<String> {
        let piece = paths.iter().map(|path| Box::from(*path)).collect();
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let found = best(&[Arc::new(piece)], query, &mut matcher);
        found.into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn the_best_path_comes_first() {
        let paths = [
            "docs/main.md",
            "src/main.rs",
            "src/domain/rs.txt",
            "README.md",
        ];
        assert_eq!(matches(&paths, "main.rs")[0], "src/main.rs");
        assert_eq!(matches(&paths, "smrs")[0], "src/main.rs");
        assert_eq!(matches(&paths, "")[0], "README.md", "the highest first");
        assert_eq!(matches(&paths, "zzz"), [""; 0]);
        let many: Vec<String> = (0..1000).map(|number| format!("f{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(matches(&many, "f").len(), SHOWN);
    }

    #[test]
    fn the_walk_leaves_out_what_git_ignores() {
        let root = tempfile::tempdir().unwrap();
        for dir in ["src", ".git", "target", ".github"] {
            fs::create_dir(root.path().join(dir)).unwrap();
        }
        for (file, text) in [
            (".gitignore", "target\n"),
            ("src/a b.rs", ""),
            ("src/bad\u{202e}.rs", ""),
            (".git/config", ""),
            ("target/x", ""),
        ] {
            fs::write(root.path().join(file), text).unwrap();
        }
        let mut found: Vec<String> = paths(root.path()).map(String::from).collect();
        found.sort();
        assert_eq!(found, [".github/", ".gitignore", "src/", "src/a b.rs"]);
    }

    #[test]
    fn answers_come_from_the_background() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("needle.txt"), "").unwrap();
        fs::write(root.path().join("other.txt"), "").unwrap();
        let (sender, woken) = mpsc::channel();
        let wake = move || sender.send(()).unwrap_or_default();
        let mut files = Files::new(root.path(), Arc::new(wake));
        files.look_for("ndl");
        loop {
            woken.recv_timeout(Duration::from_secs(20)).unwrap();
            let known = files.known();
            if !known.is_busy {
                assert_eq!(known.total, 2);
                assert_eq!(known.found.len(), 1);
                assert_eq!(known.found[0].path, "needle.txt");
                assert_eq!(known.found[0].marks, [0, 3, 4]);
                break;
            }
        }
        drop(files);
        let ended = woken.recv_timeout(Duration::from_secs(20));
        assert_eq!(
            ended,
            Err(mpsc::RecvTimeoutError::Disconnected),
            "no thread is left"
        );
    }
}
