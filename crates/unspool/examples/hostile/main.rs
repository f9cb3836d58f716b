//! Processes input that is designed to cost more than its size: `hostile CASE
//! BYTES`. Without arguments it lists the cases. `bench/linear` measures the
//! cost of each at several sizes.
//!
//! `cargo run -p unspool --example hostile -- quotes 20000`

mod cases;

use std::io::{self, Write as _};

use unspool::Reader;
use unspool::doc::card;
use unspool::doc::entry::{Detail, Reasoning};
use unspool::formatter::{Config, Formatter};
use unspool::output::About;
use unspool::output::html::Html;
use unspool::output::markdown::Markdown;
use unspool::redact::Redactor;
use unspool::session::{Entry, Item};
use unspool::transcript::Transcript;

/// Size limit of the comment: less than most cases would fill.
const COMMENT: usize = 4000;

/// Characters of an answer per delta.
const PIECE: usize = 64;

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, size] = arguments.as_slice() else {
        for (name, _) in cases::CASES {
            writeln!(out, "{name}")?;
        }
        return Ok(());
    };
    let case = cases::CASES.iter().find(|(known, _)| known == name);
    let (_, make) = case.ok_or_else(|| io::Error::other(format!("no case {name}")))?;
    let size = size.parse().map_err(io::Error::other)?;
    let input = make(size);
    let shown = if name.starts_with("secret-") {
        redact(input.as_bytes())
    } else {
        show(input.as_bytes())?
    };
    writeln!(
        out,
        "{} bytes in, {shown} out, peak {} kB",
        input.len(),
        peak()
    )
}

/// Returns the peak memory of this process, if the system reports it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap_or("?")
        .trim()
        .trim_end_matches(" kB")
        .to_owned()
}

/// Renders an input in all ways: laid out, in pieces, as a page, as a comment.
/// Returns the number of bytes written.
fn show(lines: &[u8]) -> io::Result<usize> {
    let mut reader = Reader::new();
    reader.push(lines);
    reader.finish();
    let mut entries = Vec::new();
    let mut transcript = Transcript::new();
    for event in reader.events() {
        transcript.event(event, &mut |entry| entries.push(entry));
    }
    transcript.finish(&mut |entry| entries.push(entry));
    let formatter = formatter();
    let mut page = Html::new(Vec::new(), &About::default(), None)?;
    let mut comment = Markdown::new(Vec::new(), About::default(), COMMENT);
    let mut written = 0;
    for entry in &entries {
        for width in [0, 80] {
            written += formatter.format_entry(entry, width).len();
        }
        written += in_pieces(&formatter, entry);
        if let Some(card) = card::card(entry, &detail()) {
            page.card(&card)?;
            comment.card(&card);
        }
    }
    Ok(written + page.finish(&[])?.len() + comment.finish(&[])?.len())
}

/// Redacts an input; returns the number of bytes left.
fn redact(lines: &[u8]) -> usize {
    let mut reader = Reader::new();
    reader.push(lines);
    reader.finish();
    let mut redactor = Redactor::new();
    let left = reader.events().map(|mut event| {
        redactor.event(&mut event);
        serde_json::to_string(&event).map_or(0, |line| line.len())
    });
    left.sum()
}

fn detail() -> Detail {
    Detail::default()
        .with_lines(None)
        .with_reasoning(Reasoning::Full)
}

fn formatter() -> Formatter {
    Formatter::new(Config::default().with_detail(detail()).with_links(true))
}

/// Renders an answer as it grows. The open part is bounded by a window and not
/// counted.
fn in_pieces(formatter: &Formatter, entry: &Entry) -> usize {
    let Item::Text(text) = &entry.item else {
        return 0;
    };
    let mut open = formatter.open_text(entry, 80);
    let mut written = 0;
    let mut rest = text.text.as_str();
    while !rest.is_empty() {
        let end = rest
            .char_indices()
            .nth(PIECE)
            .map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        written += open.push(piece).len();
        rest = after;
    }
    written + open.finish().len()
}
