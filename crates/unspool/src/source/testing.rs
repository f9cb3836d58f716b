//! Runs a source over a text, for the tests of sources.

use super::Provider;
use crate::event::Event;
use crate::reader::{Reader, ReaderOptions};

/// Returns the events of an input, read by this provider.
pub(crate) fn events(provider: &Provider, input: &str) -> Vec<Event> {
    let mut reader = Reader::with_options(ReaderOptions {
        from: Some(*provider),
        ..ReaderOptions::default()
    });
    reader.push(input.as_bytes());
    reader.finish();
    reader.events().collect()
}
