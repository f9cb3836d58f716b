//! The output of the command for every recording, as files in `tests/shown` that
//! a person can read: without colours at four widths, and some as pictures.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anstyle::{Color, RgbColor};
use anstyle_svg::Term;

const WIDTHS: [&str; 4] = ["0", "40", "80", "120"];
/// Bytes that the files of `tests/shown` may have in all.
const LARGEST: u64 = 4_000_000;

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

/// The recordings of a provider, relative to the corpus: each has the snapshot
/// of its events beside it.
fn recordings(provider: &str) -> Vec<String> {
    let corpus = tests().join("corpus");
    let pattern = format!("{}/{provider}/**/*.snap", corpus.display());
    let mut found: Vec<String> = glob::glob(&pattern)
        .unwrap()
        .map(|path| {
            let path = path.unwrap();
            let name = path.strip_prefix(&corpus).unwrap().to_str().unwrap();
            name.strip_suffix(".snap").unwrap().replace('\\', "/")
        })
        .collect();
    found.sort();
    found
}

fn output(arguments: &[&str], files: &[PathBuf]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unspool"));
    let command = command.args(arguments).args(files).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the output of all recordings from one process, each below its name.
fn shown(names: &[String], width: &str) -> Vec<String> {
    let paths = names.iter().map(|name| tests().join("corpus").join(name));
    let files: Vec<PathBuf> = paths.collect();
    let text = output(&["--color", "never", "--width", width], &files);
    let mut rest = text.as_str();
    let mut texts = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let heading = format!("==> {} <==\n", file.display());
        rest = rest.strip_prefix(&heading).unwrap();
        let next = files.get(index + 1);
        let next = next.map(|next| format!("\n==> {} <==\n", next.display()));
        let end = next.map_or(rest.len(), |next| rest.find(&next).unwrap());
        let (text, after) = rest.split_at(end);
        texts.push(text.to_owned());
        rest = after.trim_start_matches('\n');
    }
    texts
}

/// The file that shows a recording: one per case. The folders of ACP are
/// agents, each with a file per case.
fn file_name(recording: &str) -> String {
    let mut parts = recording.split('/');
    let (provider, case) = (parts.next().unwrap(), parts.next().unwrap());
    if provider == "acp" {
        let file = parts.next().unwrap();
        format!("{case}-{}", file.split('.').next().unwrap())
    } else {
        case.to_owned()
    }
}

/// Recordings of one case that show the same stand under one heading.
fn pages(provider: &str) -> BTreeMap<String, String> {
    let names = recordings(provider);
    let at_widths = WIDTHS.map(|width| shown(&names, width));
    let mut pages: BTreeMap<String, Vec<(Vec<&str>, String)>> = BTreeMap::new();
    for (index, name) in names.iter().enumerate() {
        let mut text = String::new();
        for (width, texts) in WIDTHS.iter().zip(&at_widths) {
            let _ = write!(text, "--- width {width}\n{}", texts[index]);
        }
        let sections = pages.entry(file_name(name)).or_default();
        match sections.iter_mut().find(|(_, other)| *other == text) {
            Some((names, _)) => names.push(name),
            None => sections.push((vec![name], text)),
        }
    }
    let page = |sections: Vec<(Vec<&str>, String)>| {
        let mut page = String::new();
        for (names, text) in sections {
            let _ = write!(page, "=== {}\n{text}", names.join("\n=== "));
        }
        page + "=== end"
    };
    pages
        .into_iter()
        .map(|(file, sections)| (file, page(sections)))
        .collect()
}

fn check(provider: &str) {
    let folder = tests().join("shown").join(provider);
    let pages = pages(provider);
    for (file, page) in &pages {
        insta::with_settings!({
            snapshot_path => &folder,
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(file.as_str(), page);
        });
    }
    let expected: BTreeSet<String> = pages.keys().map(|file| format!("{file}.snap")).collect();
    let found: BTreeSet<String> = glob::glob(&format!("{}/*.snap", folder.display()))
        .unwrap()
        .map(|path| {
            path.unwrap()
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(found, expected, "a file shows a recording that is gone");
}

macro_rules! providers {
    ($($provider:ident)+) => {
        mod full {
            $(#[test] fn $provider() { super::check(stringify!($provider)); })+
        }
        const PROVIDERS: &[&str] = &[$(stringify!($provider)),+];
    };
}

providers! { acp aider claude codalotl codex gemini openai opencode qwen }

#[test]
fn every_provider_of_the_corpus_is_shown() {
    let mut folders: Vec<String> = std::fs::read_dir(tests().join("corpus"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    folders.sort();
    assert_eq!(folders, PROVIDERS);
}

#[test]
fn the_files_stay_small() {
    let pattern = format!("{}/**/*.*", tests().join("shown").display());
    let sizes = glob::glob(&pattern)
        .unwrap()
        .map(|path| std::fs::metadata(path.unwrap()).unwrap().len());
    let size: u64 = sizes.sum();
    assert!(size < LARGEST, "{size} bytes");
}

/// Pictures: the name, what is shown, and whether on a light background.
const PICTURES: &[(&str, &str, bool)] = &[
    ("acp", "corpus/acp/claude/parity.acp.jsonl", false),
    (
        "aider",
        "corpus/aider/ce-agent-parity/ce-agent-parity.txt",
        false,
    ),
    ("claude", "corpus/claude/parity/parity.live.jsonl", false),
    (
        "claude-light",
        "corpus/claude/parity/parity.live.jsonl",
        true,
    ),
    (
        "codalotl",
        "corpus/codalotl/parity/parity.live.jsonl",
        false,
    ),
    (
        "codex",
        "corpus/codex/appserver-parity/parity.appserver.jsonl",
        false,
    ),
    (
        "codex-light",
        "corpus/codex/appserver-parity/parity.appserver.jsonl",
        true,
    ),
    ("errors", "corpus/claude/errors/errors.live.jsonl", false),
    ("gemini", "corpus/gemini/parity/parity.live.jsonl", false),
    ("markdown", "shown/markdown.jsonl", false),
    ("markdown-light", "shown/markdown.jsonl", true),
    ("nasty", "corpus/claude/nasty/nasty.live.jsonl", false),
    (
        "openai",
        "corpus/openai/chat-parity/chat-parity.messages.json",
        false,
    ),
    (
        "opencode",
        "corpus/opencode/parity/parity.live.jsonl",
        false,
    ),
    ("qwen", "corpus/qwen/parity/parity.live.jsonl", false),
];

const WHITE: Color = Color::Rgb(RgbColor(255, 255, 255));
const BLACK: Color = Color::Rgb(RgbColor(0, 0, 0));

#[test]
fn the_picture_of_the_readme_is_the_demo() {
    let arguments = ["demo", "--color=always", "--theme=dark", "--width=90"];
    let term = Term::new().fg_color(WHITE).bg_color(BLACK);
    let picture = term.render_svg(&output(&arguments, &[]));
    let path = tests().join("../docs/demo.svg");
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, &picture).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), picture);
}

#[test]
fn pictures() {
    for (name, file, light) in PICTURES {
        let (theme, foreground, background) = if *light {
            ("light", BLACK, WHITE)
        } else {
            ("dark", WHITE, BLACK)
        };
        let arguments = ["--color", "always", "--width", "100", "--theme", theme];
        let text = output(&arguments, &[tests().join(file)]);
        let term = Term::new().fg_color(foreground).bg_color(background);
        let picture = term.min_width_px(840).render_svg(&text);
        insta::with_settings!({
            snapshot_path => tests().join("shown/pictures"),
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_binary_snapshot!(&format!("{name}.svg"), picture.into_bytes());
        });
    }
}
