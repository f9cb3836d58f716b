//! Pages in a real browser: what a reader sees and can do, with the script and
//! without it, and that nothing in a run can do anything to the page.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod chromium;
mod hostile;
mod looks;
mod reading;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A page in a folder of its own.
struct Page {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

/// The page of a recording, relative to `tests`.
fn page(recording: &str) -> Page {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    page_of(&path.join(recording))
}

fn page_of(input: &Path) -> Page {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let mut command = Command::new(env!("CARGO_BIN_EXE_unspool"));
    command.arg("export").arg(input).arg("-o").arg(&path);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
    Page {
        path,
        _folder: folder,
    }
}

/// The page of events.
fn page_of_events(events: &str) -> Page {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("events.jsonl");
    std::fs::write(&input, events).unwrap();
    page_of(&input)
}

const PARITY: &str = "corpus/claude/parity/parity.live.jsonl";
const MARKDOWN: &str = "shown/markdown.jsonl";
const ERRORS: &str = "corpus/claude/errors/errors.live.jsonl";
const NASTY: &str = "corpus/claude/nasty/nasty.live.jsonl";
