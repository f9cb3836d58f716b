//! Malicious input: whatever an agent writes, however deeply nested, the output
//! is safe, fits the width and takes bounded time.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod comments;
mod fields;
mod findings;
mod large;
mod markup;
mod nesting;
mod pages;
mod samples;
mod spoofing;

use unspool::answer::Answer;
use unspool::doc::entry::{Detail, Reasoning};
use unspool::formatter::{Config, Formatter};
use unspool::session::{Entry, Session};
use unspool::{Event, Reader, ReaderOptions};

/// Reads lines of unspool's own format.
fn events(lines: &[u8]) -> Vec<Event> {
    events_of("unspool", lines)
}

fn events_of(provider: &str, lines: &[u8]) -> Vec<Event> {
    let mut reader = Reader::with_options(
        ReaderOptions::default().with_from(unspool::source::provider(provider)),
    );
    reader.push(lines);
    reader.finish();
    reader.events().collect()
}

/// Returns all entries, including those open after each event, as a live view
/// sees them.
fn entries(events: &[Event]) -> Vec<Entry> {
    let mut session = Session::new();
    let mut entries = Vec::new();
    for event in events {
        session.apply(event.clone(), &mut |entry| entries.push(entry));
        entries.extend(session.open().iter().cloned());
    }
    session.finish(&mut |entry| entries.push(entry));
    entries.dedup();
    entries
}

fn formatter(plain_text: bool) -> Formatter {
    Formatter::new(
        Config::default()
            .with_plain_text(plain_text)
            .with_links(true)
            .with_timestamps(true)
            .with_detail(
                Detail::default()
                    .with_lines(None)
                    .with_reasoning(Reasoning::Full)
                    .with_usage(true)
                    .with_highlight(true),
            ),
    )
}

/// Returns the output of the modes `text` and `verbose` for a terminal.
fn answers(events: &[Event]) -> String {
    let mut out = Vec::new();
    for mut answer in [
        Answer::text().sanitized(true),
        Answer::verbose().sanitized(true),
    ] {
        for event in events {
            answer.event(event, &mut out).unwrap();
        }
        answer.finish(&mut out).unwrap();
    }
    String::from_utf8(out).unwrap()
}
