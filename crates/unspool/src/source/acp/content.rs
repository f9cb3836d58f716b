//! Texts in content blocks and in `rawOutput`.

use std::borrow::Cow;

use crate::event::{Media, Payload};
use crate::json::{Json, Object};
use crate::source::{Emitter, gemini_shared, media};
use crate::tool;

/// Returns the text of a content block, or its URI; empty for a picture, a sound
/// or a file.
pub(super) fn block_text(block: Json<'_>) -> Cow<'_, str> {
    let fields = block.object();
    let text = match fields.get("type").str().as_deref() {
        Some("image" | "audio") => None,
        Some("resource_link") if media::is_media(block) => None,
        Some("resource_link") => fields.get("uri").str(),
        Some("resource") => {
            let resource = fields.get("resource");
            let has_blob = resource.get("blob").is_string();
            let uri = || resource.get("uri").str().filter(|_| !has_blob);
            resource.get("text").str().or_else(uri)
        }
        _ => fields.get("text").str(),
    };
    text.unwrap_or_default()
}

/// A user's message. Its text contains the names of attached files, but not their
/// contents.
#[derive(Clone, Default)]
pub(super) struct UserText {
    pub(super) text: String,
    pub(super) files: Vec<AttachedFile>,
    pub(super) media: Vec<Media>,
    after_address: bool,
}

/// A file with its text.
#[derive(Clone)]
pub(super) struct AttachedFile {
    pub(super) uri: String,
    pub(super) kind: String,
    pub(super) text: String,
}

impl UserText {
    /// Reads a block or a list of blocks.
    pub(super) fn of(content: Json<'_>, out: &Emitter) -> Self {
        let mut text = Self::default();
        if content.is_array() {
            for block in content.array() {
                text.add(block, out);
            }
        } else {
            text.add(content, out);
        }
        text
    }

    /// Returns true if there is nothing to show.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.media.is_empty()
    }

    /// Appends a block. Texts are joined as they are; an address gets a line of its
    /// own.
    pub(super) fn add(&mut self, block: Json<'_>, out: &Emitter) {
        if let Some(media) = out.media(block) {
            self.media.push(media);
            return;
        }
        let is_address = !block.get("text").is_string();
        let text = self.block_text(block);
        if (is_address || self.after_address) && !text.is_empty() {
            end_line(&mut self.text);
        }
        self.text.push_str(&text);
        self.after_address = is_address;
    }

    fn block_text(&mut self, block: Json<'_>) -> String {
        let resource = block.get("resource").object();
        let uri = resource.get("uri").string();
        if let Some(text) = resource.get("text").str().filter(|_| !uri.is_empty()) {
            self.files.push(AttachedFile {
                uri: uri.clone(),
                kind: resource.get("mimeType").string(),
                text: text.into_owned(),
            });
            return uri;
        }
        match block_text(block) {
            // The person's message keeps a block that nobody knows.
            text if text.is_empty() && !is_known_block(block) => block.raw().to_owned(),
            text => text.into_owned(),
        }
    }
}

/// Returns true if a block has no type, or one of the protocol's.
fn is_known_block(block: Json<'_>) -> bool {
    matches!(
        block.get("type").str().as_deref(),
        None | Some("text" | "image" | "audio" | "resource" | "resource_link")
    )
}

/// Returns true if an item of a call's content has a type that is read.
pub(super) fn is_known_item(item: Json<'_>) -> bool {
    match item.get("type").str().as_deref() {
        Some("content") => is_known_block(item.get("content")),
        Some("diff" | "terminal") => true,
        _ => is_known_block(item),
    }
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Returns the text of a message: a block or a list. Texts are joined as they are;
/// a URI gets a line of its own.
pub(super) fn message_text(content: Json<'_>) -> String {
    if !content.is_array() {
        return block_text(content).into_owned();
    }
    let mut message = String::new();
    let mut after_address = false;
    for block in content.array() {
        let is_address = !block.get("text").is_string();
        if is_address || after_address {
            end_line(&mut message);
        }
        message.push_str(&block_text(block));
        after_address = is_address;
    }
    message
}

/// Returns the pictures, sounds and files of a message: a block or a list.
pub(super) fn message_media(content: Json<'_>, out: &Emitter) -> Vec<Media> {
    if content.is_array() {
        return out.media_in(content);
    }
    out.media(content).into_iter().collect()
}

/// Joins the texts in a tool call's content with newlines.
pub(super) fn tool_text(content: Json<'_>) -> String {
    let texts: Vec<_> = content
        .array()
        .into_iter()
        .map(|item| item.get("content"))
        .filter(|block| block.is_object())
        .map(block_text)
        .filter(|text| !text.is_empty())
        .collect();
    texts.join("\n")
}

/// Returns the pictures, sounds and files that a call returned, from the same
/// place as its output.
pub(super) fn output_media(
    last: &Object<'_>,
    content: Json<'_>,
    raw: Json<'_>,
    out: &Emitter,
) -> Vec<Media> {
    for content in [last.get("content"), content] {
        let blocks = content.array().into_iter().map(|item| item.get("content"));
        let media: Vec<Media> = blocks.filter_map(|block| out.media(block)).collect();
        if !media.is_empty() {
            return media;
        }
    }
    let last_raw = last.get("rawOutput");
    let raw = if last_raw.is_null() { raw } else { last_raw };
    let lists = raw_blocks(raw).into_iter();
    let media = lists.map(|blocks| out.media_in(blocks));
    media
        .into_iter()
        .find(|media| !media.is_empty())
        .unwrap_or_default()
}

/// Returns the lists of blocks that `rawOutput` may hold.
fn raw_blocks(raw: Json<'_>) -> [Json<'_>; 4] {
    let fields = raw.object();
    let result = fields.get("result").get("content");
    [
        raw,
        result,
        fields.get("content"),
        fields.get("attachments"),
    ]
}

/// Returns the output of a call without a terminal. `last` is the message that
/// ended it; `content` and `raw` come from earlier ones.
pub(super) fn output(last: &Object<'_>, content: Json<'_>, raw: Json<'_>) -> Payload {
    let last_raw = last.get("rawOutput");
    let raw = if last_raw.is_null() { raw } else { last_raw };
    if let Some(output) = command_output(raw, last.get("content")) {
        return output;
    }
    // Before the end the content may be a description or a question, so it is
    // used only if the last message has none.
    let text = if last.get("content").is_array() {
        tool_text(last.get("content"))
    } else if last_raw.is_null() {
        tool_text(content)
    } else {
        String::new()
    };
    if text.is_empty() {
        return raw_output(raw);
    }
    match fenced(&text) {
        // The raw output repeats the text, so a fence inside it closes nothing.
        Some((_, inner)) if raw.str().is_some_and(|raw| same(&raw, inner)) => raw.payload(),
        _ => unfenced(&text).unwrap_or(&text).into(),
    }
}

fn same(a: &str, b: &str) -> bool {
    a.trim_end() == b.trim_end()
}

/// Returns the plain output of a command, if the adapter also sends a report.
fn command_output(raw: Json<'_>, content: Json<'_>) -> Option<Payload> {
    let fields = raw.object();
    if fields.get("type").str().as_deref() == Some("shell_result") {
        let shell = gemini_shared::shell_display(&fields, &tool_text(content))?;
        return Some(shell.output.into());
    }
    if fields.get("aggregated_output").is_string() {
        return Some(fields.get("aggregated_output").payload());
    }
    let text = raw.str()?;
    exec_report(&text).map(|(_, output)| output.into())
}

/// Parses Codex's report of a command: exit code and output.
pub(super) fn exec_report(text: &str) -> Option<(i64, &str)> {
    let (head, output) = text.split_once("\nOutput:\n")?;
    let code = head
        .lines()
        .find_map(|line| line.strip_prefix("Process exited with code "))?;
    Some((code.trim().parse().ok()?, output))
}

/// Returns the text in `rawOutput`.
fn raw_output(raw: Json<'_>) -> Payload {
    if raw.is_array() {
        return blocks_text(raw).into();
    }
    if !raw.is_object() {
        return raw.payload();
    }
    let fields = raw.object();
    for list in raw_blocks(raw) {
        let text = blocks_text(list);
        if !text.is_empty() || list.array().into_iter().any(media::is_media) {
            return text.into();
        }
    }
    let error = fields.get("error");
    let candidates = [
        fields.get("output"),
        error,
        error.get("message"),
        fields.get("stdout"),
        fields.get("message"),
    ];
    if let Some(found) = candidates.into_iter().find(|json| json.is_string()) {
        return found.payload();
    }
    let says_no_words = ["exit_code", "fileDiff", "changes", "metadata"];
    if fields.is_empty() || says_no_words.iter().any(|key| fields.has(key)) {
        return Payload::default();
    }
    raw.payload()
}

fn blocks_text(list: Json<'_>) -> String {
    let texts: Vec<_> = list
        .array()
        .into_iter()
        .map(block_text)
        .filter(|text| !text.is_empty())
        .collect();
    texts.join("\n")
}

/// Removes the fence that adapters put around an output.
pub(super) fn unfenced(text: &str) -> Option<&str> {
    let (fence, inner) = fenced(text)?;
    let closed_before = inner.lines().any(|line| line.trim_end() == fence);
    (!closed_before).then_some(inner)
}

/// Splits a fenced block into its fence and the text inside.
fn fenced(text: &str) -> Option<(&str, &str)> {
    let fence_length = text.chars().take_while(|c| *c == '`').count();
    if fence_length < 3 {
        return None;
    }
    let fence = text.get(..fence_length)?;
    let body = text.split_once('\n')?.1;
    let inner = body.trim_end().strip_suffix(fence)?;
    let inner = match inner.strip_suffix('\n') {
        Some(inner) => inner,
        None if inner.is_empty() => inner,
        None => return None,
    };
    Some((fence, inner))
}

/// Returns the message of a JSON-RPC error.
pub(super) fn error_text(error: Json<'_>) -> String {
    let fields = error.object();
    let message = fields.get("message").string();
    let message = tool::error_message(&message).into_owned();
    let data = fields.get("data");
    let detail = data.str().or_else(|| {
        let data = data.object();
        data.get("details")
            .str()
            .or_else(|| data.get("message").str())
    });
    match detail {
        Some(detail) if message.is_empty() => detail.into_owned(),
        Some(detail) if !message.contains(&*detail) => format!("{message}: {detail}"),
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_that_is_one_block_loses_its_fence() {
        assert_eq!(unfenced("```sh\na\nb\n```"), Some("a\nb"));
        assert_eq!(unfenced("````\n```\nx\n```\n````\n"), Some("```\nx\n```"));
        assert_eq!(unfenced("```\na\n```\ntext\n```\nb\n```"), None);
        assert_eq!(unfenced("a ``` b"), None);
    }

    #[test]
    fn an_output_with_fences_is_compared_with_the_raw_output() {
        let last = r#"{"rawOutput":"a\n```\nb\n```\nc","content":[{"type":"content","content":{"type":"text","text":"```console\na\n```\nb\n```\nc\n```"}}]}"#;
        let last = Json::parse(last).unwrap().object();
        let output = output(&last, Json::NULL, Json::NULL);
        assert_eq!(output.as_str(), "a\n```\nb\n```\nc");
    }

    #[test]
    fn a_report_of_codex_is_parsed() {
        let report = "Chunk ID: 1\nProcess exited with code 3\nOutput:\nhi\n";
        assert_eq!(exec_report(report), Some((3, "hi\n")));
        assert_eq!(exec_report("Output:\n"), None);
    }

    #[test]
    fn messages_of_errors() {
        let text = |error| error_text(Json::parse(error).unwrap());
        assert_eq!(
            text(r#"{"code":1,"message":"a","data":{"details":"b"}}"#),
            "a: b"
        );
        assert_eq!(
            text(r#"{"message":"{\"error\":{\"message\":\"no\"}}"}"#),
            "no"
        );
        assert_eq!(text(r#"{"message":7,"data":"x"}"#), "x");
    }
}
