//! Shared by the fuzz targets: bytes → events → output.

use unspool::formatter::{Config, Formatter};
use unspool::session::{Entry, Session};
use unspool::source::Provider;
use unspool::transcript::Transcript;
use unspool::{Event, Reader, ReaderOptions, layout};

/// Creates a reader for one provider, or one that recognises it.
pub fn reader(from: Option<Provider>) -> Reader {
    Reader::with_options(ReaderOptions::default().with_from(from))
}

/// Returns all events of an input.
pub fn events(from: Option<Provider>, bytes: &[u8]) -> Vec<Event> {
    let mut reader = reader(from);
    reader.push(bytes);
    reader.finish();
    reader.events().collect()
}

/// Returns the entries of events, including open ones after each event.
pub fn entries(events: &[Event]) -> Vec<Entry> {
    let mut session = Session::new();
    let mut entries = Vec::new();
    for event in events {
        session.apply(event.clone(), &mut |entry| entries.push(entry));
        entries.extend(session.open().last().cloned());
    }
    session.finish(&mut |entry| entries.push(entry));
    entries.dedup();
    entries
}

/// Returns the formatted events, from top to bottom.
pub fn shown(events: &[Event], width: usize) -> String {
    let formatter = plain();
    let mut transcript = Transcript::new();
    let mut text = String::new();
    let mut write = |entry| {
        text.push_str(&formatter.format_entry(&entry, width));
        text.push('\n');
    };
    for event in events {
        transcript.event(event.clone(), &mut write);
    }
    transcript.finish(&mut write);
    text
}

/// Creates a formatter for plain text.
pub fn plain() -> Formatter {
    Formatter::new(Config::default().with_plain_text(true))
}

/// Panics if text contains a harmful character or a line that is too wide.
pub fn assert_safe(text: &str, width: usize) {
    for line in text.split('\n') {
        let harmful = line.chars().find(|c| is_harmful(*c));
        assert_eq!(harmful, None, "in {line:?}");
        let cells = layout::width(line);
        assert!(
            width <= layout::MIN_COLUMNS || cells <= width,
            "{cells} cells at {width} in {line:?}"
        );
    }
}

fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200B}')
}
