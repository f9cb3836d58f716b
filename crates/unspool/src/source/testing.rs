//! Reads input with one provider, for the tests of sources.

use serde_json::Value;

use super::Provider;
use crate::event::Event;
use crate::reader::{Reader, ReaderOptions};

/// A PNG of 2×1 pixels and 71 bytes, as base64.
pub(super) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAADklEQVR42mP4z8DwH4QBEfcD/f6tu5kAAAAASUVORK5CYII=";

/// Returns [`PNG`] as it is in an event.
pub(super) fn png() -> Value {
    serde_json::json!([{"mime": "image/png", "bytes": 71, "width": 2, "height": 1}])
}

pub(super) fn reader(provider: &Provider) -> Reader {
    Reader::with_options(ReaderOptions {
        from: Some(*provider),
        ..ReaderOptions::default()
    })
}

/// Returns the events of an input, read by this provider.
pub(super) fn events(provider: &Provider, input: &str) -> Vec<Event> {
    finish(reader(provider), &[input])
}

/// Pushes lines, ends the input and returns the events.
pub(super) fn finish(mut reader: Reader, lines: &[impl AsRef<str>]) -> Vec<Event> {
    for line in lines {
        reader.push(line.as_ref().as_bytes());
        reader.push(b"\n");
    }
    reader.finish();
    reader.events().collect()
}

pub(super) fn kinds(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(|event| event.body.kind()).collect()
}

pub(super) fn values(events: &[Event]) -> Vec<Value> {
    let values = events.iter().map(serde_json::to_value);
    values.collect::<Result<_, _>>().unwrap()
}

/// Returns the kind of each event and the first of these fields that it has.
pub(super) fn outline(events: &[Value], keys: &[&str]) -> Vec<String> {
    let outline = events.iter().map(|event| {
        let field = keys.iter().find_map(|key| event[*key].as_str());
        let kind = event["kind"].as_str().unwrap();
        format!("{kind} {}", field.unwrap_or_default())
    });
    outline.collect()
}
