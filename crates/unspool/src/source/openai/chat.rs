//! Whole chat messages: the choices of a response body, and the messages of a
//! saved conversation.

use super::calls::{CallInput, Calls, content_text, part_text};
use super::think::{self, Part};
use crate::event::Payload;
use crate::json::{Json, Object};
use crate::source::Emitter;

/// Kinds of content in an assistant's message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) calls: bool,
    pub(super) refusal: bool,
}

/// Emits an assistant's message, without annotations and log probabilities.
pub(super) fn assistant(message: &Object<'_>, calls: &mut Calls, out: &mut Emitter) -> Contents {
    out.end_message();
    out.reasoning(None, reasoning(message));
    content(message.get("content"), out);
    out.text(None, message.get("audio").get("transcript").payload());
    media(message, out);
    let refusal = message.get("refusal").payload();
    let mut contents = Contents {
        refusal: !refusal.is_empty() || has_refusal(message.get("content")),
        calls: false,
    };
    out.text(None, refusal);
    for call in message.get("tool_calls").array() {
        contents.calls = true;
        tool_call(&call.object(), calls, out);
    }
    let legacy = message.get("function_call").object();
    if !legacy.is_empty() {
        contents.calls = true;
        let name = legacy.get("name").string();
        calls.legacy_call(&name, &legacy.get("arguments").display(), out);
    }
    contents
}

/// Returns the reasoning of a message or a delta. Vendors use different names, and
/// some send it twice.
pub(super) fn reasoning(message: &Object<'_>) -> Payload {
    ["reasoning_content", "reasoning", "thinking"]
        .iter()
        .map(|key| message.get(key))
        .find(|text| text.is_string() && !text.payload().is_empty())
        .map_or_else(
            || details(message.get("reasoning_details")).into(),
            Json::payload,
        )
}

fn details(list: Json<'_>) -> String {
    list.array()
        .iter()
        .filter_map(|detail| {
            let fields = detail.object();
            fields.get("text").str().or(fields.get("summary").str())
        })
        .collect()
}

/// Emits the sound and the pictures of a message.
fn media(message: &Object<'_>, out: &mut Emitter) {
    let sound = message.get("audio").get("data");
    if sound.is_string() {
        let sound = out.media_string(sound, "audio/*");
        out.text_media(None, sound);
    }
    for picture in out.media_in(message.get("images")) {
        out.text_media(None, picture);
    }
}

fn content(content: Json<'_>, out: &mut Emitter) {
    if content.is_array() {
        for part in content.array() {
            if let Some(media) = out.media(part) {
                out.text_media(None, media);
                continue;
            }
            let thinking = part.get("thinking");
            if thinking.is_null() {
                out.text(None, part_text(part).unwrap_or_default());
            } else {
                out.reasoning(None, content_text(thinking));
            }
        }
        return;
    }
    let text = content.payload();
    if !text.as_str().trim_start().starts_with("<think>") {
        out.text(None, text);
        return;
    }
    think::split(&text.as_str(), &mut |part, text| match part {
        Part::Reasoning => out.reasoning(None, text),
        Part::Answer => out.text(None, text),
    });
}

fn has_refusal(content: Json<'_>) -> bool {
    content
        .array()
        .iter()
        .any(|part| part.get("refusal").is_string())
}

fn tool_call(call: &Object<'_>, calls: &mut Calls, out: &mut Emitter) {
    let id = call.get("id").string();
    let custom = call.get("custom").object();
    if custom.is_empty() {
        let function = call.get("function").object();
        let arguments = function.get("arguments").display();
        let name = function.get("name").string();
        calls.call(&id, &name, &CallInput::Arguments(&arguments), out);
    } else {
        let text = custom.get("input").display();
        let name = custom.get("name").string();
        calls.call(&id, &name, &CallInput::Text(&text), out);
    }
}
