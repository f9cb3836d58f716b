//! Tests that no rule was fitted to the ids, models or versions of the recordings:
//! with others, the events are the same but for these strings.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex::Regex;
use serde_json::Value;
use unspool::{Event, Reader};

use crate::files::{self, Recording};

/// Keys whose values look like ids and are names that agents choose from.
const NAMES: [&str; 8] = [
    "optionid",
    "modeid",
    "modelid",
    "configid",
    "providerid",
    "currentmodeid",
    "currentmodelid",
    "methodid",
];

/// Collects the strings that are to be changed.
fn collect(
    value: &Value,
    key: &str,
    is_changed: fn(&str, &str) -> bool,
    found: &mut BTreeSet<String>,
) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                collect(value, key, is_changed, found);
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect(item, key, is_changed, found)),
        Value::String(text) if is_changed(key, text) => {
            found.insert(text.clone());
        }
        _ => {}
    }
}

/// Returns true for a string with a digit under a key that ends with `id`.
fn is_id(key: &str, text: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    (key.ends_with("id") || key.ends_with("ids"))
        && !NAMES.contains(&key.as_str())
        && text.len() >= 6
        && text.bytes().all(is_word)
        && text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns true for the name of a model or the version of a program.
fn is_model_or_version(key: &str, text: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let is_key = key.ends_with("model") || key.ends_with("version") || key.ends_with("modelid");
    is_key && text.len() >= 5 && !text.starts_with('<')
}

/// Returns the length of the part of an id that its format defines: the tool in
/// Gemini's calls, the kind of object in OpenCode's ids.
fn defined(id: &str) -> usize {
    let kinds = ["ses_", "msg_", "prt_"];
    let kind = kinds.iter().find(|kind| id.starts_with(**kind));
    let tool = id.find("__").map(|at| at + 2);
    kind.map(|kind| kind.len()).or(tool).unwrap_or(0)
}

/// Replaces ids by others of the same order, without their old shape.
struct Renaming {
    pattern: Regex,
    names: Vec<(String, String)>,
}

impl Renaming {
    fn new(ids: BTreeSet<String>) -> Self {
        let names = ids.into_iter().enumerate().map(|(rank, id)| {
            let (kept, _) = id.split_at(defined(&id));
            let new = format!("{kept}k{rank:05}-x7");
            (id, new)
        });
        let names: Vec<(String, String)> = names.collect();
        let mut sorted: Vec<String> = names.iter().map(|(id, _)| regex::escape(id)).collect();
        sorted.sort_by_key(|id| std::cmp::Reverse(id.len()));
        Self {
            pattern: Regex::new(&sorted.join("|")).unwrap(),
            names,
        }
    }

    fn apply(&self, text: &str) -> String {
        let new = |found: &regex::Captures<'_>| {
            let at = self
                .names
                .binary_search_by(|(id, _)| id.as_str().cmp(&found[0]));
            self.names[at.unwrap()].1.clone()
        };
        self.pattern.replace_all(text, new).into_owned()
    }
}

/// Returns the texts of a recording and of its related files; `None` if one of
/// them is not text.
fn texts(recording: &Recording) -> Option<Vec<(String, String)>> {
    let related = files::related(&recording.path);
    let paths = std::iter::once(&recording.path).chain(&related);
    let text = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?.to_owned();
        let text = String::from_utf8(std::fs::read(path).ok()?).ok()?;
        Some((name, text))
    };
    paths.map(text).collect()
}

fn lines(events: impl IntoIterator<Item = Event>) -> Vec<String> {
    let line = |event: Event| serde_json::to_string(&event).unwrap();
    events.into_iter().map(line).collect()
}

/// Reads a recording with its strings changed, and demands the events of the
/// original with the same strings changed. Returns true if there were any.
fn check(recording: &Recording, is_changed: fn(&str, &str) -> bool) -> bool {
    let Some(texts) = texts(recording) else {
        return false;
    };
    let mut found = BTreeSet::new();
    for (_, text) in &texts {
        let values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        for value in values.map_while(Result::ok) {
            collect(&value, "", is_changed, &mut found);
        }
    }
    if found.is_empty() {
        return false;
    }
    let renaming = Renaming::new(found);
    let mut reader = Reader::new();
    for (name, text) in &texts[1..] {
        reader.attach(&renaming.apply(name), renaming.apply(text).as_bytes());
    }
    reader.push(renaming.apply(&texts[0].1).as_bytes());
    reader.finish();
    let changed = lines(reader.events());
    let original = lines(files::events(recording));
    let original: Vec<String> = original.iter().map(|line| renaming.apply(line)).collect();
    for (changed, original) in changed.iter().zip(&original) {
        assert_eq!(changed, original, "{}", recording.name);
    }
    assert_eq!(changed.len(), original.len(), "{}", recording.name);
    true
}

fn check_all(is_changed: fn(&str, &str) -> bool, at_least: usize) {
    let checked = AtomicUsize::new(0);
    files::everywhere(|recording| {
        let is_checked = check(recording, is_changed);
        checked.fetch_add(usize::from(is_checked), Ordering::Relaxed);
    });
    let checked = checked.into_inner();
    assert!(checked >= at_least, "only {checked} recordings");
}

#[test]
fn other_ids_give_the_same_events() {
    check_all(is_id, 200);
}

#[test]
fn other_models_and_versions_give_the_same_events() {
    check_all(is_model_or_version, 200);
}
