//! Finds the recordings of the corpus and reads them with their related files.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use unspool::source::{SavedFile, provider};
use unspool::{Event, Reader, ReaderOptions};

/// One recorded input: `tests/corpus/<provider>/<case>/…`.
pub(crate) struct Recording {
    /// The provider's directory.
    pub(crate) provider: String,
    /// Path relative to the corpus, with `/`.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

/// Returns all recordings, without snapshots and related files such as
/// sub-agents' records.
pub(crate) fn recordings() -> &'static [Recording] {
    static FOUND: OnceLock<Vec<Recording>> = OnceLock::new();
    FOUND.get_or_init(find)
}

fn find() -> Vec<Recording> {
    let root = root();
    let mut paths: Vec<PathBuf> = glob::glob(&format!("{}/*/*/**/*", root.display()))
        .unwrap()
        .filter_map(Result::ok)
        .filter(|path| path.is_file() && is_input(path))
        .collect();
    paths.sort();
    let attached: Vec<PathBuf> = paths.iter().flat_map(|path| related(path)).collect();
    paths
        .into_iter()
        .filter(|path| !attached.contains(&path.canonicalize().unwrap()))
        .map(|path| {
            let name = path
                .strip_prefix(&root)
                .unwrap()
                .to_str()
                .unwrap()
                .replace('\\', "/");
            Recording {
                provider: name.split('/').next().unwrap().to_owned(),
                name,
                path,
            }
        })
        .collect()
}

fn is_input(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    matches!(extension, "jsonl" | "json" | "txt" | "md") && !name.ends_with(".meta.json")
}

/// Returns the absolute paths of the files that belong to a saved session.
pub(crate) fn related(path: &Path) -> Vec<PathBuf> {
    let folder = path
        .strip_prefix(root())
        .unwrap()
        .iter()
        .next()
        .unwrap()
        .to_str()
        .unwrap();
    let known = provider(folder).and_then(|provider| provider.saved);
    let Some(related) = known.and_then(|saved| saved.related) else {
        return Vec::new();
    };
    let parent = path.parent().unwrap();
    let look = |pattern: &str| {
        glob::glob(&format!("{}/{pattern}", parent.display()))
            .unwrap()
            .filter_map(Result::ok)
            .filter(|other| other.is_file() && other != path)
            .map(|other| saved(&other.canonicalize().unwrap()))
            .collect()
    };
    let files = related.find(&saved(path), look).into_iter();
    files.map(|file| PathBuf::from(file.path)).collect()
}

fn saved(path: &Path) -> SavedFile {
    let bytes = std::fs::read(path).unwrap();
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)]);
    SavedFile::new(path.to_str().unwrap(), head)
}

/// Creates a reader for the recording with its related files attached.
pub(crate) fn reader(recording: &Recording) -> Reader {
    reader_with(recording, ReaderOptions::default())
}

/// Creates a reader for the recording with these settings.
pub(crate) fn reader_with(recording: &Recording, options: ReaderOptions) -> Reader {
    let mut reader = Reader::with_options(options);
    for path in related(&recording.path) {
        reader.attach(
            path.file_name().unwrap().to_str().unwrap(),
            &std::fs::read(&path).unwrap(),
        );
    }
    reader
}

/// Returns the events of every recording.
pub(crate) fn all_events() -> &'static [(&'static Recording, Vec<Event>)] {
    static READ: OnceLock<Vec<(&Recording, Vec<Event>)>> = OnceLock::new();
    READ.get_or_init(|| {
        recordings()
            .iter()
            .map(|recording| (recording, events(recording)))
            .collect()
    })
}

/// Returns the events of a recording.
pub(crate) fn events(recording: &Recording) -> Vec<Event> {
    let mut reader = reader(recording);
    reader.push(&std::fs::read(&recording.path).unwrap());
    reader.finish();
    reader.events().collect()
}

/// Runs a check on every recording, on all cores.
pub(crate) fn everywhere(check: impl Fn(&Recording) + Sync) {
    let recordings = recordings();
    assert!(
        recordings.len() > 300,
        "only {} recordings",
        recordings.len()
    );
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(recording) = recordings.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(recording);
                }
            });
        }
    });
}
