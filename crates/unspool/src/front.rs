//! The whole pipeline in one call.

use crate::event::Event;
use crate::formatter::{Config, Formatter};
#[cfg(feature = "html")]
use crate::page::{Options, Page};
use crate::reader::Reader;

/// Reads a whole input.
///
/// ```
/// let events = unspool::events(br#"{"type":"thread.started","thread_id":"t1"}"#);
/// assert_eq!(events[0].body.kind(), "session");
/// ```
pub fn events(bytes: &[u8]) -> Vec<Event> {
    let mut reader = Reader::new();
    reader.push(bytes);
    reader.finish();
    reader.events().collect()
}

/// Reads a whole input and formats it as plain text, without a final newline.
/// At a width of 30 columns or less nothing is wrapped.
///
/// ```
/// let run = br#"{"type":"thread.started","thread_id":"t1"}
/// {"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"All **tests** pass."}}
/// {"type":"turn.completed"}"#;
/// assert_eq!(unspool::text(run, 80), "• All tests pass.");
/// ```
pub fn text(bytes: &[u8], width: usize) -> String {
    let formatter = Formatter::new(Config::default().with_plain_text(true));
    formatter.format_run(events(bytes), width)
}

/// Reads a whole input and renders it as one self-contained HTML page. Nothing
/// is redacted.
///
/// ```
/// let run = br#"{"type":"thread.started","thread_id":"t1"}
/// {"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"All tests pass."}}
/// {"type":"turn.completed"}"#;
/// let page = unspool::page(run);
/// assert!(page.starts_with("<!doctype html>"));
/// assert!(page.contains("All tests pass."));
/// ```
#[cfg(feature = "html")]
pub fn page(bytes: &[u8]) -> String {
    let mut html = Vec::new();
    let mut page = Page::html(&mut html, Options::default());
    let mut events = events(bytes).into_iter();
    // A vector takes everything.
    let _ = events
        .try_for_each(|event| page.event(event))
        .and_then(|()| page.finish());
    drop(page);
    String::from_utf8(html).unwrap_or_default()
}
