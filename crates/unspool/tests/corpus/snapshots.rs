//! Snapshots the events of every recording beside it, with long strings cut for
//! readability.

use serde_json::Value;

use crate::files;

/// Maximum characters of a string in a snapshot.
const SHOWN: usize = 160;

#[test]
fn events_of_every_recording() {
    for (recording, events) in files::all_events() {
        let lines: Vec<String> = events
            .iter()
            .map(|event| {
                serde_json::to_string(&shortened(serde_json::to_value(event).unwrap())).unwrap()
            })
            .collect();
        let folder = recording.path.parent().unwrap().to_owned();
        let name = recording
            .path
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        insta::with_settings!({
            snapshot_path => folder,
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name, lines.join("\n"));
        });
    }
}

/// Cuts long strings and removes `raw`, which repeats the input.
fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) if text.chars().count() > SHOWN => {
            let cut: String = text.chars().take(SHOWN).collect();
            format!("{cut}… +{} characters", text.chars().count() - SHOWN).into()
        }
        Value::Array(items) => items.into_iter().map(shortened).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(key, _)| key != "raw")
            .map(|(key, value)| (key, shortened(value)))
            .collect(),
        other => other,
    }
}
