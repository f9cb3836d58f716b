//! The schema of `docs/events.schema.json` says what the events really are.

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::files;

fn schema() -> Validator {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/events.schema.json");
    let schema = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn every_event_of_every_recording_is_valid() {
    let schema = schema();
    for (recording, events) in files::all_events() {
        for event in events {
            let value = serde_json::to_value(event).unwrap();
            if let Err(error) = schema.validate(&value) {
                panic!("{}: {error}\n{value}", recording.name);
            }
        }
    }
}

#[test]
fn what_is_no_event_is_not_valid() {
    let schema = schema();
    let event = json!({"kind": "text", "seq": 1, "id": "a", "text": "words"});
    assert!(schema.is_valid(&event));
    let changes = [
        ("kind", json!("words")),
        ("seq", json!("1")),
        ("seq", json!(-1)),
        ("text", json!(["words"])),
        ("text", Value::Null),
        ("time", json!("yesterday")),
    ];
    for (field, value) in changes {
        let mut changed = event.clone();
        changed[field] = value;
        assert!(!schema.is_valid(&changed), "{changed}");
    }
}
