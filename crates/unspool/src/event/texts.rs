//! Visits every text of an event that a person may read, for example to redact
//! it.
//!
//! Ids, numbers, times, statuses and the names of models and tools are not
//! texts: views and results refer to them. Neither is the content of media.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Body, Edit, Event, Media, Payload, RawJson};

/// Changes a text; `None` keeps it. The first argument is the key of the
/// enclosing JSON field, if any.
pub type Change<'a> = &'a mut dyn FnMut(Option<&str>, &str) -> Option<String>;

impl Event {
    /// Calls `change` for each text and replaces it with the result. The lines
    /// of a hunk are one text, joined by newlines.
    pub fn change_texts(&mut self, change: Change<'_>) {
        if let Some(agent) = &mut self.agent
            && let Some(name) = change(None, &agent.name)
        {
            Arc::make_mut(agent).name = name;
        }
        if let Some(raw) = &mut self.raw {
            match serde_json::from_str(raw) {
                Ok(value) => {
                    if let Some(changed) = in_value(None, value, change) {
                        *raw = changed.to_string();
                    }
                }
                Err(_) => label(raw, change),
            }
        }
        self.body.change_texts(change);
    }
}

impl Body {
    fn change_texts(&mut self, change: Change<'_>) {
        match self {
            Self::Session(session) => {
                label(&mut session.cwd, change);
                label(&mut session.title, change);
            }
            Self::User(user) => {
                payload(&mut user.text, change);
                names(&mut user.media, change);
            }
            Self::Text(message) | Self::Reasoning(message) => {
                payload(&mut message.text, change);
                names(&mut message.media, change);
            }
            Self::ToolUse(call) => {
                label(&mut call.arg, change);
                label(&mut call.title, change);
                json(&mut call.input, change);
            }
            Self::ToolOutput(output) => payload(&mut output.text, change),
            Self::ToolResult(result) => {
                payload(&mut result.output, change);
                edits(&mut result.edits, change);
                names(&mut result.media, change);
            }
            Self::Plan(plan) => {
                label(&mut plan.explanation, change);
                for entry in &mut plan.entries {
                    label(&mut entry.text, change);
                }
            }
            Self::Edit(group) => {
                edits(&mut group.edits, change);
                payload(&mut group.reason, change);
            }
            Self::Permission(request) => {
                label(&mut request.title, change);
                for option in &mut request.options {
                    label(&mut option.name, change);
                }
            }
            Self::Prompt(prompt) => {
                label(&mut prompt.question, change);
                label(&mut prompt.default, change);
                label(&mut prompt.answer, change);
                for option in &mut prompt.options {
                    label(option, change);
                }
            }
            Self::Context(context) => {
                label(&mut context.name, change);
                label(&mut context.title, change);
                payload(&mut context.text, change);
            }
            Self::Notice(notice) => payload(&mut notice.text, change),
            Self::TurnEnd(end) => label(&mut end.reason, change),
            Self::State(state) => json(&mut state.value, change),
            Self::Unknown(unknown) => payload(&mut unknown.text, change),
            Self::Usage(_) => {}
        }
    }
}

fn label(text: &mut String, change: Change<'_>) {
    if !text.is_empty()
        && let Some(changed) = change(None, text)
    {
        *text = changed;
    }
}

fn payload(text: &mut Payload, change: Change<'_>) {
    if !text.is_empty()
        && let Some(changed) = change(None, &text.as_str())
    {
        *text = Payload::from(changed);
    }
}

fn names(media: &mut [Media], change: Change<'_>) {
    for media in media {
        label(&mut media.name, change);
    }
}

fn edits(edits: &mut [Edit], change: Change<'_>) {
    for edit in edits {
        label(&mut edit.path, change);
        label(&mut edit.new_path, change);
        for hunk in &mut edit.hunks {
            if let Some(changed) = change(None, &hunk.lines.join("\n")) {
                hunk.lines = changed.split('\n').map(str::to_owned).collect();
            }
        }
    }
}

fn json(input: &mut Option<RawJson>, change: Change<'_>) {
    let Some(raw) = input.as_ref().map(RawJson::get) else {
        return;
    };
    match serde_json::from_str(raw) {
        Ok(value) => {
            if let Some(changed) = in_value(None, value, change) {
                *input = RawJson::of(&changed);
            }
        }
        // Nested too deeply for a value: treat it as one text, which becomes a
        // string if it is no longer JSON.
        Err(_) => {
            if let Some(changed) = change(None, raw) {
                *input = RawJson::new(&changed).or_else(|| RawJson::of(&changed));
            }
        }
    }
}

/// Changes the texts of a value; returns `None` if nothing changed.
fn in_value(key: Option<&str>, mut value: Value, change: Change<'_>) -> Option<Value> {
    visit(key, &mut value, change).then_some(value)
}

/// Shorter keys are field names; longer ones may be text.
const LONG_KEY: usize = 16;

fn change_keys(fields: &mut Map<String, Value>, change: Change<'_>) -> bool {
    let mut new_key = |key: &str| {
        let is_long = key.len() >= LONG_KEY;
        is_long.then(|| change(None, key)).flatten()
    };
    let new_keys: Vec<Option<String>> = fields.keys().map(|key| new_key(key)).collect();
    let changed = new_keys.iter().any(Option::is_some);
    if changed {
        let old = std::mem::take(fields).into_iter().zip(new_keys);
        fields.extend(old.map(|((key, value), new)| (new.unwrap_or(key), value)));
    }
    changed
}

fn visit(key: Option<&str>, value: &mut Value, change: Change<'_>) -> bool {
    let mut changed = false;
    match value {
        Value::String(text) => {
            if let Some(new) = change(key, text) {
                *text = new;
                changed = true;
            }
        }
        Value::Array(items) => {
            for item in items {
                changed |= visit(key, item, change);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                changed |= visit(Some(key), field, change);
            }
            changed |= change_keys(fields, change);
        }
        _ => {}
    }
    changed
}
