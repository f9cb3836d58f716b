//! The files of the project, found and matched in the background.
//!
//! One thread walks, one matches; the person who types waits for neither, and
//! sees what was found so far. What Git ignores is left out, and so is what
//! cannot be written in a prompt (names that are no text, or hold characters
//! that cannot be seen). Links are not followed. The threads end with the value.

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

/// Paths that are kept.
const MOST: usize = 200_000;
/// Matches that are given back.
const SHOWN: usize = 30;
/// Letters of a path that are kept; longer ones are left out.
const LONGEST: usize = 1_000;
/// How often what was found is handed over.
const HANDOVER: Duration = Duration::from_millis(100);
/// How long who chooses waits for what is written to be looked for.
const MOMENT: Duration = Duration::from_millis(200);
/// How long a walk is good.
const FRESH: Duration = Duration::from_secs(5);

/// Tells that there is something new.
pub(super) type Wake = Arc<dyn Fn() + Send + Sync>;

type Paths = Arc<Vec<Box<str>>>;

/// A file that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its path below the root, with `/` at the end if it is a directory.
    pub(super) path: String,
    /// The clusters that match.
    pub(super) marks: Vec<u32>,
}

/// What is known now.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The best matches, for the query that was asked last.
    pub(super) found: Vec<Found>,
    /// How many paths there are.
    pub(super) total: usize,
    /// Whether more may come.
    pub(super) is_busy: bool,
}

#[derive(Default)]
struct State {
    /// In pieces, so that looking at them copies nothing.
    pieces: Vec<Paths>,
    is_walking: bool,
    /// When the last walk ended.
    walked: Option<Instant>,
    query: String,
    /// Counts queries and pieces.
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

    /// Looks for another query; a walk that is old is done again.
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

    /// What is known now.
    pub(super) fn known(&self) -> Known {
        let state = self.shared.lock();
        Known {
            found: state.found.clone(),
            total: state.total(),
            is_busy: state.is_walking || state.asked != state.answered,
        }
    }

    /// Whether what is known is for the query that was asked last; waits a
    /// moment for that.
    pub(super) fn is_answered(&self) -> bool {
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
        // Whoever holds the lock sees the flag before it waits again.
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

    /// Walks the project. A first walk shows what it has; a later one replaces
    /// what there is when it is done.
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

    /// Answers the last query, again and again.
    fn match_all(&self) {
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        while let Some((asked, query, pieces)) = self.next() {
            let found = best(&pieces, &query, &mut matcher);
            let mut state = self.lock();
            state.answered = asked;
            // An older answer is better than none, but not for another query.
            if state.query == query {
                state.found = found;
            }
            drop(state);
            (self.wake)();
        }
    }

    /// Waits for a query; none when it is over.
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

/// All paths below a root, as they are written.
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

/// The best matches: by score, then the shorter, then in the order of the
/// alphabet.
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
