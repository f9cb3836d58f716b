//! Tests that nothing vanishes: each word that says what a frame or a part of it
//! is (`type`, `role` …) is replaced by one that no agent writes, and the frame
//! must leave a trace.
//!
//! Each word is tested once per provider and place: the words around it, from the
//! outside in. The events of the frame are compared with those of the original.
//! An `unknown` is a trace. Without one, the frame must give as many events as
//! before, and at least one.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Mutex;

use serde_json::Value;
use unspool::event::Body;
use unspool::source::{Input, provider};
use unspool::{Event, Reader, ReaderOptions};

use crate::files;

/// Keys whose values say what an object is.
const DISCRIMINATORS: &[&str] = &[
    "type",
    "item_type",
    "role",
    "subtype",
    "kind",
    "sessionUpdate",
    "method",
    "object",
];
/// Keys with a word that has a fallback: the category of a call, the activity of a
/// sub-agent.
const ATTRIBUTES: &[(&str, &str)] = &[("acp", "kind"), ("codex", "kind")];
/// Fields that hold the data of tools, models and settings, not of the format.
const OPAQUE: &[&str] = &[
    "_meta",
    "action",
    "args",
    "arguments",
    "attachments",
    "changes",
    "commandActions",
    "environment",
    "error",
    "feedback_mode",
    "file_system_sandbox_policy",
    "input",
    "input_schema",
    "internal_chat_message_metadata_passthrough",
    "metadata",
    "operation",
    "parameters",
    "parsed_cmd",
    "permission_profile",
    "rawInput",
    "rawOutput",
    "resultDisplay",
    "sandbox_policy",
    "schema",
    "snapshot",
    "thread_settings",
    "toolUseResult",
    "tool_use_result",
    "tools",
];
/// Places in frames that give no event, whatever the word there is: the rest of
/// the frame says so, or other frames repeat its content.
const QUIET: &[&str] = &[
    // Records of requests, and the message that a stream announces.
    "claude  type=api-request",
    "type=stream_event event: type=message_start message:",
    "claude  type=attachment attachment: type=file content:",
    // Frames about the connection, and items that are repeated when completed.
    "codex  method=thread/",
    "codex  msg: method=thread/",
    "params: item: type=userMessage content:",
    // Events repeat the items of a saved session.
    "codex  type=response_item",
    // The list of messages repeats those before it.
    "gemini  $set: messages:",
    // Durable events repeat the others.
    "opencode  payload: type=sync",
    // Items and parts that were streamed, or will be complete later.
    "openai  type=response.in_progress response:",
    "openai  type=response.output_item.added item: role=",
    "openai  type=response.output_item.done item: role=",
    "openai  type=response.output_item.done item: type=message role=assistant content:",
    "openai  type=response.output_item.done item: type=reasoning summary:",
    "outputs:[] type=",
    "outcome: type=",
    "delta: tool_calls:[] type=function",
    // Content before the call is announced or ends, and prompts that are repeated.
    "sessionUpdate=tool_call",
    "sessionUpdate=user_message",
    "sessionUpdate=session_message",
];
/// Known gaps: blocks in results of Codex that nobody knows are dropped, the rest of
/// the result is shown.
const GAPS: &[(&str, &str)] = &[
    ("codex", "content:[] type=image"),
    ("codex", "output:[] type=input_image"),
];
/// A word that no agent writes.
const UNHEARD: &str = "unheard_of";
/// Bytes by which the events may shrink, because the word is part of them.
const SLACK: usize = 32;
/// Frames that are tested for a place in a quiet one.
const MOST_TRIES: u32 = 12;
/// Longer frames are skipped: they hold large outputs, and others of their kind
/// are short.
const LONGEST: usize = 1 << 16;

#[test]
fn a_renamed_type_leaves_a_trace() {
    let seen = Mutex::new(HashMap::new());
    let vanished = Mutex::new(BTreeSet::new());
    files::everywhere(|recording| {
        let Some(provider) = provider(&recording.provider) else {
            return;
        };
        if provider.input != Input::Json || recording.provider == "unspool" {
            return;
        }
        let text = std::fs::read_to_string(&recording.path).unwrap_or_default();
        let options = ReaderOptions::default()
            .with_from(Some(provider))
            .with_raw(true);
        let mut reader = files::reader_with(recording, options);
        for (before, json) in frames(&text) {
            for (place, pointer) in places(&json) {
                let key = pointer.rsplit('/').next().unwrap_or_default();
                if ATTRIBUTES.contains(&(&recording.provider, key)) {
                    continue;
                }
                let place = format!("{} {place}", recording.provider);
                let tries = *seen.lock().unwrap().get(&place).unwrap_or(&0);
                if tries >= MOST_TRIES {
                    continue;
                }
                let is_gap =
                    |gap: &(&str, &str)| recording.provider == gap.0 && place.ends_with(gap.1);
                if GAPS.iter().any(is_gap) {
                    continue;
                }
                let is_quiet = QUIET.iter().any(|quiet| place.contains(quiet));
                let tries = if is_quiet { tries + 1 } else { MOST_TRIES };
                seen.lock().unwrap().insert(place.clone(), tries);
                if let Some(why) = check(&reader, before, &json, &pointer, is_quiet) {
                    let name = &recording.name;
                    vanished
                        .lock()
                        .unwrap()
                        .insert(format!("{place}: {why} ({name})"));
                }
            }
            push(&mut reader, before, &json);
            reader.events().for_each(drop);
        }
    });
    let vanished = vanished.into_inner().unwrap();
    let tested = seen.into_inner().unwrap().len();
    assert!(tested > 500, "only {tested} words");
    let list: Vec<String> = vanished.into_iter().collect();
    assert!(
        list.is_empty(),
        "{} of {tested} left no trace:\n{}",
        list.len(),
        list.join("\n")
    );
}

/// Returns the JSON objects of a recording, each with the text before it on its line.
fn frames(text: &str) -> Vec<(&str, Value)> {
    if let Ok(Value::Object(body)) = serde_json::from_str(text) {
        return vec![("", Value::Object(body))];
    }
    if let Ok(Value::Array(items)) = serde_json::from_str(text) {
        return items.into_iter().map(|item| ("", item)).collect();
    }
    let lines = text.lines().filter(|line| line.len() <= LONGEST);
    lines
        .filter_map(|line| {
            let start = line.find('{')?;
            let (before, json) = line.split_at(start);
            let is_frame = before.is_empty() || before == "data: ";
            let json = serde_json::from_str(json).ok().filter(|_| is_frame)?;
            Some((before, json))
        })
        .collect()
}

fn push(reader: &mut Reader, before: &str, json: &Value) {
    let end = if before.is_empty() { "\n" } else { "\n\n" };
    reader.push(format!("{before}{json}{end}").as_bytes());
}

/// Returns the places of all discriminators: the words from the outside in, and
/// the pointer.
fn places(json: &Value) -> Vec<(String, String)> {
    fn collect(json: &Value, around: &str, pointer: &str, found: &mut Vec<(String, String)>) {
        match json {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    collect(
                        item,
                        &format!("{around}[]"),
                        &format!("{pointer}/{index}"),
                        found,
                    );
                }
            }
            Value::Object(fields) => {
                let mut inside = around.to_owned();
                for (key, value) in fields {
                    if let Value::String(word) = value
                        && DISCRIMINATORS.contains(&key.as_str())
                    {
                        let _ = write!(inside, " {key}={word}");
                        found.push((format!("{around} {key}={word}"), format!("{pointer}/{key}")));
                    }
                }
                for (key, value) in fields {
                    if !OPAQUE.contains(&key.as_str()) {
                        let key_pointer = key.replace('~', "~0").replace('/', "~1");
                        collect(
                            value,
                            &format!("{inside} {key}:"),
                            &format!("{pointer}/{key_pointer}"),
                            found,
                        );
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(json, "", "", &mut found);
    found
}

/// Describes what vanishes if the word at `pointer` is replaced.
fn check(
    reader: &Reader,
    before: &str,
    json: &Value,
    pointer: &str,
    is_quiet: bool,
) -> Option<String> {
    let mut renamed = json.clone();
    *renamed.pointer_mut(pointer)? = UNHEARD.into();
    let (known, known_end) = events(reader, before, json);
    let (new, new_end) = events(reader, before, &renamed);
    let is_unknown = |event: &Event| matches!(event.body, Body::Unknown(_));
    if new.iter().chain(&new_end).any(is_unknown) {
        return None;
    }
    if new.is_empty() && known.is_empty() && bodies(&new_end) == bodies(&known_end) {
        return (!is_quiet).then(|| "silent".to_owned());
    }
    let size = |events: &[Event]| -> usize {
        let events = events
            .iter()
            .map(|event| serde_json::to_string(&event.body).unwrap());
        events.map(|event| event.len()).sum()
    };
    if size(&new) + SLACK < size(&known) {
        return Some(
            format!("{:?} become {:?}", bodies(&known), bodies(&new))
                .chars()
                .take(400)
                .collect(),
        );
    }
    (new.len() < known.len()).then(|| format!("{} events become {}", known.len(), new.len()))
}

/// Returns the events of a frame, and those of the end of the input after it.
fn events(reader: &Reader, before: &str, json: &Value) -> (Vec<Event>, Vec<Event>) {
    let mut reader = reader.clone();
    reader.release();
    reader.events().for_each(drop);
    push(&mut reader, before, json);
    reader.release();
    let during = reader.events().collect();
    reader.finish();
    (during, reader.events().collect())
}

fn bodies(events: &[Event]) -> Vec<&Body> {
    events.iter().map(|event| &event.body).collect()
}
