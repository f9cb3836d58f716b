//! Pictures, sounds and files in the blocks of a message or a result.
//!
//! Agents and APIs copy each other's blocks, and sessions mix them, because an
//! agent forwards what a tool returned. So one reader takes all of them: Anthropic
//! (`source`), MCP and ACP (`data`, `resource`), `OpenAI` (`image_url`, `file` …),
//! Gemini (`inlineData`), `OpenCode` (`url`) and Codex (`path`).
//!
//! The content stays undecoded, see [`Media`]. An address is never fetched.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::event::{Media, Payload};
use crate::json::{Json, Object};
use crate::tool;

/// A picture, a sound or a file on the wire.
#[derive(Debug, Default)]
pub(crate) struct Found<'a> {
    mime: Cow<'a, str>,
    name: Cow<'a, str>,
    bytes: Option<u64>,
    content: Content<'a>,
}

/// The content, as it is in a JSON string: possibly with escapes.
#[derive(Clone, Copy, Debug, Default)]
enum Content<'a> {
    /// It is elsewhere.
    #[default]
    None,
    Base64(&'a str),
    /// The text of a `data:` URL without base64.
    Percent(&'a str),
    Text(&'a str),
}

/// Fields that may hold the others.
const HOLDERS: [&str; 10] = [
    "source",
    "resource",
    "image_url",
    "input_audio",
    "audio",
    "file",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
];

const TYPES: [&str; 5] = ["media_type", "mimeType", "mime_type", "mime", "type"];
const NAMES: [&str; 5] = ["filename", "displayName", "name", "title", "display_name"];
const SIZES: [&str; 2] = ["size", "originalSize"];

/// Fields with base64, or a `data:` URL.
const CONTENTS: [&str; 5] = ["data", "base64", "blob", "file_data", "b64_json"];

/// Fields with an address, or a `data:` URL.
const PLACES: [&str; 9] = [
    "url",
    "uri",
    "image_url",
    "file_url",
    "fileUri",
    "file_uri",
    "path",
    "file_id",
    "fileId",
];

/// Returns true if a block holds a picture, a sound or a file.
pub(crate) fn is_media(block: Json<'_>) -> bool {
    Found::in_block(block).is_some()
}

impl<'a> Found<'a> {
    /// Reads a block; `None` if it holds no media.
    pub(crate) fn in_block(block: Json<'a>) -> Option<Self> {
        let fields = block.object();
        let kind = fields.get("type").str().unwrap_or_default();
        let is_inline = || {
            let keys = ["inlineData", "inline_data", "fileData"];
            keys.iter().any(|key| fields.get(key).is_object())
        };
        let default = match &*kind {
            "image"
            | "image_url"
            | "input_image"
            | "output_image"
            | "localImage"
            | "local_image"
            | "computer_screenshot" => "image/*",
            "audio" | "input_audio" | "output_audio" => "audio/*",
            "video" => "video/*",
            "document" | "input_file" | "output_file" => "",
            // Such a block may also hold the text of a file.
            "file" if !fields.has("text") => "",
            "resource" if fields.get("resource").get("blob").is_string() => "",
            "resource_link" if is_no_text(&fields) => "",
            "" if is_inline() => "",
            _ => return None,
        };
        Some(Self::in_fields(&fields, default))
    }

    /// Reads base64 or an address; either may be a `data:` URL.
    pub(crate) fn in_string(content: Json<'a>, mime: &'a str, is_base64: bool) -> Self {
        let mut found = Self {
            mime: mime.into(),
            ..Self::default()
        };
        found.take(content, is_base64);
        found
    }

    /// Reads fields that hold media of this type, unless they name another.
    pub(crate) fn in_fields(fields: &Object<'a>, default: &'a str) -> Self {
        let mut found = Self::default();
        let mut holders = vec![fields.clone()];
        let inner = HOLDERS.iter().map(|key| fields.get(key).object());
        holders.extend(inner.filter(|inner| !inner.is_empty()));
        for fields in holders.iter().rev() {
            found.add(fields);
        }
        if found.mime.is_empty() {
            found.mime = default.into();
        }
        found
    }

    /// Takes what these fields say and was not known.
    fn add(&mut self, fields: &Object<'a>) {
        let first = |keys: &[&str]| {
            let mut texts = keys.iter().filter_map(|key| fields.get(key).str());
            texts.find(|text| !text.is_empty())
        };
        if self.mime.is_empty() {
            let mut types = TYPES.iter().filter_map(|key| fields.get(key).str());
            let mime = types.find(|mime| mime.contains('/'));
            let format = || Some(audio_type(&fields.get("format").str()?));
            self.mime = mime.or_else(format).unwrap_or_default();
        }
        self.bytes = self
            .bytes
            .or_else(|| SIZES.iter().find_map(|key| fields.get(key).u64()));
        if fields.get("type").str().as_deref() == Some("text") && fields.get("data").is_string() {
            self.content = Content::Text(inner(fields.get("data")));
        }
        for key in CONTENTS {
            self.take(fields.get(key), true);
        }
        if let Some(name) = first(&NAMES) {
            self.name = name;
        }
        for key in PLACES {
            self.take(fields.get(key), false);
        }
    }

    /// Takes base64, a `data:` URL or an address.
    fn take(&mut self, value: Json<'a>, is_base64: bool) {
        let text = inner(value);
        if text.is_empty() {
            return;
        }
        let is_new = matches!(self.content, Content::None);
        if let Some((mime, content)) = data_url(text) {
            if is_new {
                self.content = content;
                self.mime = mime;
            }
        } else if !is_base64 {
            if self.name.is_empty() {
                self.name = unescaped(text);
            }
        } else if is_new {
            self.content = Content::Base64(text);
        }
    }

    /// Returns the media with its facts, and with its content if it is kept.
    pub(crate) fn into_media(self, keep: bool) -> Media {
        let mime = essence(&self.mime);
        let kept = |data: &dyn Fn() -> Payload| {
            if keep { data() } else { Payload::default() }
        };
        let encoded = |content: &[u8]| Media {
            bytes: Some(content.len() as u64),
            data: kept(&|| STANDARD.encode(content).into()),
            ..Media::new(&*mime)
        };
        let media = match self.content {
            Content::None => Media {
                mime: type_of_name(&self.name)
                    .filter(|_| mime.is_empty() || mime.ends_with("/*"))
                    .unwrap_or(&mime)
                    .to_owned(),
                bytes: self.bytes,
                ..Media::default()
            },
            Content::Base64(text) => Media {
                data: kept(&|| unescaped(text).into()),
                ..Media::of_base64(&mime, text)
            },
            Content::Percent(text) => encoded(&percent_decoded(&unescaped(text))),
            Content::Text(text) => encoded(unescaped(text).as_bytes()),
        };
        Media {
            mime: tool::label(&media.mime),
            name: tool::label(&self.name),
            ..media
        }
    }
}

/// Returns true for a link to something that is not text.
fn is_no_text(fields: &Object<'_>) -> bool {
    let mime = fields.get("mimeType").str().unwrap_or_default();
    ["image/", "audio/", "video/", "application/pdf"]
        .iter()
        .any(|start| mime.starts_with(start))
}

/// Returns a string without its quotes, still escaped; empty for other values.
fn inner(value: Json<'_>) -> &str {
    let raw = value.raw();
    let inner = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
    inner.unwrap_or_default()
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(Json::trusted(&format!("\"{text}\"")).string())
}

/// Longest start of a `data:` URL, before its comma.
const LONGEST_HEAD: usize = 512;

/// Splits a `data:` URL into its media type and its content.
fn data_url(text: &str) -> Option<(Cow<'_, str>, Content<'_>)> {
    let is_data = text.get(..5)?.eq_ignore_ascii_case("data:");
    let comma = text.bytes().take(LONGEST_HEAD).position(|b| b == b',');
    let (head, content) = text.split_at(comma.filter(|_| is_data)?);
    let content = content.get(1..)?;
    let head = unescaped(head.get(5..)?);
    let is_base64 = head
        .rsplit(';')
        .next()
        .is_some_and(|last| last.trim().eq_ignore_ascii_case("base64"));
    let mime = head.split(';').next().unwrap_or_default().to_owned();
    let content = if is_base64 {
        Content::Base64(content)
    } else {
        Content::Percent(content)
    };
    Some((mime.into(), content))
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut content = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
        let code = digit(0).zip(digit(1)).filter(|_| *first == b'%');
        let code = code.and_then(|(high, low)| u8::try_from(high << 4 | low).ok());
        content.push(code.unwrap_or(*first));
        rest = after
            .get(if code.is_some() { 2 } else { 0 }..)
            .unwrap_or_default();
    }
    content
}

/// Returns the media type in lower case, without parameters.
fn essence(mime: &str) -> Cow<'_, str> {
    let mime = mime.split(';').next().unwrap_or_default().trim();
    if mime.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(mime.to_ascii_lowercase());
    }
    Cow::Borrowed(mime)
}

fn audio_type(format: &str) -> Cow<'static, str> {
    match format {
        "mp3" => Cow::Borrowed("audio/mpeg"),
        other => Cow::Owned(format!("audio/{other}")),
    }
}

/// Returns the media type of a file name or address by its ending.
fn type_of_name(name: &str) -> Option<&'static str> {
    let path = name.split(['?', '#']).next()?;
    let ending = path.rsplit_once('.')?.1.to_ascii_lowercase();
    Some(match ending.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::testing::PNG;

    fn read(block: &str, keep: bool) -> Option<Media> {
        let block = block.replace('@', PNG);
        let found = Found::in_block(Json::parse(&block).unwrap())?;
        Some(found.into_media(keep))
    }

    #[test]
    fn every_form_of_a_picture_is_read() {
        let blocks = [
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"@"}}"#,
            r#"{"type":"image","data":"@","mimeType":"image/png"}"#,
            r#"{"type":"resource","resource":{"uri":"","mimeType":"image/png","blob":"@"}}"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,@"}}"#,
            r#"{"type":"image_url","image_url":"data:image/png;base64,@"}"#,
            r#"{"type":"input_image","detail":"auto","image_url":"DATA:image\/png;BASE64,@"}"#,
            r#"{"type":"file","file":{"file_data":"data:image/png;base64,@"}}"#,
            r#"{"type":"input_file","file_data":"data:image/png;base64,@"}"#,
            r#"{"type":"input_file","file_data":"@"}"#,
            r#"{"inlineData":{"mimeType":"image/png","data":"@"}}"#,
            r#"{"type":"file","mime":"image/png","url":"data:image/png;base64,@"}"#,
            r#"{"type":"image","url":"data:image/png;base64,@"}"#,
            r#"{"type":"image","file":{"base64":"@","type":"image/png","originalSize":1}}"#,
        ];
        for block in blocks {
            let expected = Media::new("image/png")
                .with_bytes(71)
                .with_width(2)
                .with_height(1);
            assert_eq!(read(block, false).as_ref(), Some(&expected), "{block}");
            let kept = expected.with_data(PNG);
            assert_eq!(read(block, true).as_ref(), Some(&kept), "{block}");
        }
    }

    #[test]
    fn names_and_addresses_are_kept_and_not_fetched() {
        let facts = |block: &str| {
            let media = read(block, true).unwrap();
            assert!(media.data.is_empty() || !block.contains("://"), "{block}");
            (media.mime, media.name, media.bytes)
        };
        let cases = [
            (
                r#"{"type":"image_url","image_url":{"url":"https://example.com/a.Png?x=1"}}"#,
                ("image/png", "https://example.com/a.Png?x=1", None),
            ),
            (
                r#"{"type":"image","source":{"type":"url","url":"https://example.com/a"}}"#,
                ("image/*", "https://example.com/a", None),
            ),
            (
                r#"{"fileData":{"mimeType":"application/pdf","fileUri":"gs://b/c"}}"#,
                ("application/pdf", "gs://b/c", None),
            ),
            (
                r#"{"type":"localImage","path":"/tmp/a\u0007b.jpg"}"#,
                ("image/jpeg", "/tmp/ab.jpg", None),
            ),
            (
                r#"{"type":"document","title":"Report","source":{"type":"text","media_type":"text/plain","data":"h\u00e9"}}"#,
                ("text/plain", "Report", Some(3)),
            ),
            (
                r#"{"type":"input_audio","input_audio":{"data":"aGVsbG8=","format":"mp3"}}"#,
                ("audio/mpeg", "", Some(5)),
            ),
            (
                r#"{"type":"file","mime":"image/svg+xml","filename":"a.svg","url":"data:image/svg+xml,%3Csvg%3E%"}"#,
                ("image/svg+xml", "a.svg", Some(6)),
            ),
            (
                r#"{"type":"resource_link","uri":"file:///a.png","name":"a.png","mimeType":"image/png","size":7}"#,
                ("image/png", "a.png", Some(7)),
            ),
            (r#"{"type":"image"}"#, ("image/*", "", None)),
            (
                r#"{"type":"image","data":"<gone>","mimeType":"Image/PNG; q=1"}"#,
                ("image/png", "", None),
            ),
        ];
        for (block, (mime, name, bytes)) in cases {
            assert_eq!(
                facts(block),
                (mime.to_owned(), name.to_owned(), bytes),
                "{block}"
            );
        }
    }

    #[test]
    fn text_is_no_media() {
        let blocks = [
            r#"{"type":"text","text":"data:image/png;base64,@"}"#,
            r#"{"type":"file","path":"a.py","text":"x = 1"}"#,
            r#"{"type":"resource","resource":{"uri":"file:///a","text":"a"}}"#,
            r#"{"type":"resource_link","uri":"file:///a.rs","name":"a.rs"}"#,
            r#"{"type":"tool_use","data":"@"}"#,
            r#"{"text":"hello"}"#,
            r#""@""#,
            "[]",
        ];
        for block in blocks {
            assert_eq!(read(block, true), None, "{block}");
        }
    }
}
