//! Input made to do harm: whatever an agent's words hold and however deep they
//! are nested, what is shown is safe, fits the width, and comes in time.

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

/// The events of lines of the own format.
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

/// All entries: those that are open after each event too, as a view that shows
/// work in progress sees them.
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

/// The modes `text` and `verbose`, as for a terminal.
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
