//! Tests that sources add no ANSI codes, glyphs or prefixes: if a field
//! contains one, the input did too.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use unspool::Event;

use crate::files::{self, Recording};

/// Glyphs that only the renderer draws.
const GLYPHS: &[&str] = &[
    "\u{1b}", "•", "└", "✔", "□", "⋮", "→", "…", "[tool:", "Running ", "Ran ",
];
/// Fields that are labels: clean, whatever the input contains.
const LABELS: &[&str] = &[
    "name", "arg", "title", "model", "version", "cwd", "id", "path", "new_path", "reason",
];

#[test]
fn sources_add_no_styling() {
    for (recording, events) in files::all_events() {
        let input = everything(recording);
        for event in events {
            for (key, text) in strings(event) {
                for glyph in GLYPHS {
                    let ours = key == "arg" && *glyph == "…" && text.chars().count() == 40;
                    assert!(
                        ours || !text.contains(glyph) || input.contains(glyph),
                        "{}: event {} adds {glyph:?} to {key}: {text:?}",
                        recording.name,
                        event.seq
                    );
                }
            }
        }
    }
}

#[test]
fn labels_are_one_clean_line() {
    for (recording, events) in files::all_events() {
        for event in events {
            for (key, text) in strings(event) {
                if LABELS.contains(&key.as_str()) {
                    let dirty = text.chars().any(char::is_control) || text.contains("  ");
                    assert!(
                        !dirty,
                        "{}: event {}: {key} is {text:?}",
                        recording.name, event.seq
                    );
                }
            }
        }
    }
}

/// Returns the content of the recording, decoded as often as it was encoded.
fn everything(recording: &Recording) -> String {
    let mut bytes = std::fs::read(&recording.path).unwrap();
    for path in files::related(&recording.path) {
        bytes.extend(std::fs::read(path).unwrap());
    }
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    for escape in ["\\u001b", "\\u001B"] {
        text = text.replace(escape, "\u{1b}");
    }
    for glyph in GLYPHS {
        if let [first, ..] = glyph.chars().collect::<Vec<_>>()[..] {
            text = text.replace(&format!("\\u{:04x}", u32::from(first)), &first.to_string());
        }
    }
    let decoded: Vec<String> = base64_data(&text).collect();
    text + &decoded.concat()
}

/// Returns the decoded base64 of fields called `data`.
fn base64_data(text: &str) -> impl Iterator<Item = String> {
    let values = text.split("\"data\":").skip(1).filter_map(|rest| {
        let value = rest.trim_start().strip_prefix('"')?;
        value.split('"').next()
    });
    let bytes = values.filter_map(|value| BASE64_STANDARD.decode(value).ok());
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns all strings of an event with their field names, except those in
/// `input`, `value` and `raw`, which are the wire's own JSON.
fn strings(event: &Event) -> Vec<(String, String)> {
    fn collect(key: &str, value: &Value, found: &mut Vec<(String, String)>) {
        match value {
            Value::String(text) => found.push((key.to_owned(), text.clone())),
            Value::Array(items) => items.iter().for_each(|item| collect(key, item, found)),
            Value::Object(fields) => {
                for (key, value) in fields {
                    if !matches!(key.as_str(), "input" | "value" | "raw") {
                        collect(key, value, found);
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect("", &serde_json::to_value(event).unwrap(), &mut found);
    found
}
