//! Measures redaction: the share of generated secrets that are found, and what
//! is replaced in ordinary text. `bench/redaction` runs it.
//!
//! ```text
//! redaction recall [RULES]          secrets found, by kind and context
//! redaction ordinary [RULES] PATH…  replacements in files, all of them listed
//! redaction speed PATH…             time to redact the files
//! redaction text                    redacts standard input
//! ```
//!
//! `RULES` is `--rules FILE`: regular expressions of another program to measure
//! instead, as JSON (see `bench/redaction`).

mod files;
#[path = "../../tests/redaction/kinds.rs"]
mod kinds;
mod rules;
#[path = "../../tests/redaction/secrets.rs"]
mod secrets;

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Instant;

use unspool::redact::Redactor;

use files::File;
use rules::Rules;

fn main() -> io::Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut finder = Finder::Ours(Box::default());
    if let Some(at) = arguments.iter().position(|argument| argument == "--rules") {
        let file = arguments.get(at + 1).cloned().unwrap_or_default();
        arguments.drain(at..(at + 2).min(arguments.len()));
        finder = Finder::Others(Rules::read(&file)?);
    }
    let paths = || arguments.iter().skip(1).map(PathBuf::from);
    match arguments.first().map(String::as_str) {
        Some("recall") => recall(&mut finder),
        Some("ordinary") => ordinary(&mut finder, &files::read(paths())),
        Some("text") => {
            let text = io::read_to_string(io::stdin())?;
            write!(io::stdout(), "{}", finder.redacted(&text))
        }
        Some("speed") => speed(&mut finder, &files::read(paths())),
        _ => Err(io::Error::other(
            "recall, ordinary, speed or text: see the source",
        )),
    }
}

/// Finds secrets with our redactor or with the rules of another program.
enum Finder {
    Ours(Box<Redactor>),
    Others(Rules),
}

impl Finder {
    /// Returns the text with all secrets replaced.
    fn redacted(&mut self, text: &str) -> String {
        match self {
            Self::Ours(redactor) => redactor.text(text).unwrap_or_else(|| text.to_owned()),
            Self::Others(rules) => rules.redacted(text),
        }
    }
}

fn recall(finder: &mut Finder) -> io::Result<()> {
    let mut by_context: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut by_kind: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut out = io::stdout().lock();
    for case in secrets::cases() {
        // A redactor that has seen the secret before would know it.
        if let Finder::Ours(redactor) = finder {
            **redactor = Redactor::new();
        }
        let redacted = finder.redacted(&case.text);
        let hidden = usize::from(case.is_hidden_in(&redacted));
        let add = |count: &mut (usize, usize)| *count = (count.0 + hidden, count.1 + 1);
        add(by_kind.entry(case.kind).or_default());
        add(by_context.entry(case.context).or_default());
        add(by_context.entry("all").or_default());
        if hidden == 0 {
            writeln!(
                out,
                "missed {} in {}: {redacted:?}",
                case.kind, case.context
            )?;
        }
    }
    for (name, counts) in [("kind", by_kind), ("context", by_context)] {
        writeln!(out, "\n| {name} | found | of | share |\n|---|---|---|---|")?;
        for (name, (hidden, all)) in counts {
            writeln!(
                out,
                "| {name} | {hidden} | {all} | {} |",
                percent(hidden, all)
            )?;
        }
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn percent(part: usize, all: usize) -> String {
    format!("{:.1} %", part as f64 * 100.0 / all as f64)
}

fn ordinary(finder: &mut Finder, files: &[File]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let (mut bytes, mut places) = (0, 0);
    let mut by_kind: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        bytes += file.text.len();
        let redacted = finder.redacted(&file.text);
        if redacted == file.text {
            continue;
        }
        for replaced in files::replaced(&file.text, &redacted) {
            places += replaced.kinds.len();
            for kind in &replaced.kinds {
                *by_kind.entry(kind.clone()).or_default() += 1;
            }
            writeln!(
                out,
                "{}:{}: {}\n    {}",
                file.path.display(),
                replaced.line,
                replaced.before,
                replaced.after
            )?;
        }
    }
    writeln!(out, "\n{by_kind:?}")?;
    #[expect(clippy::cast_precision_loss, reason = "megabytes with one digit")]
    let (megabytes, rate) = (bytes as f64 / 1e6, places as f64 * 1e6 / bytes as f64);
    writeln!(
        out,
        "{} files, {megabytes:.1} MB: {places} replacements, {rate:.3} per MB",
        files.len()
    )
}

fn speed(finder: &mut Finder, files: &[File]) -> io::Result<()> {
    let mut times = Vec::new();
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    for _ in 0..3 {
        let start = Instant::now();
        let left: usize = files
            .iter()
            .map(|file| finder.redacted(&file.text).len())
            .sum();
        std::hint::black_box(left);
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "megabytes with one digit")]
    let megabytes = bytes as f64 / 1e6;
    writeln!(
        io::stdout(),
        "{megabytes:.1} MB: {:.3} s, {:.1} MB/s",
        times[0],
        megabytes / times[0]
    )
}
