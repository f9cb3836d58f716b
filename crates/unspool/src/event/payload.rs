//! Verbatim values that are decoded lazily.
//!
//! Most bytes of an agent's stream are tool output of which a view shows five
//! lines. [`Payload`] therefore keeps a JSON string escaped until it is read,
//! and writes it back unchanged; [`RawJson`] does the same for any JSON value.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::Json;

/// A verbatim string, possibly still escaped as JSON.
#[derive(Clone)]
pub struct Payload(Form);

#[derive(Clone)]
enum Form {
    Plain(String),
    /// A JSON string literal with quotes, known to be valid and to decode
    /// without loss.
    Escaped(Box<str>),
}

/// Shorter literals are decoded at once.
const SHORT: usize = 64;

impl Payload {
    /// Keeps a string literal undecoded; returns `None` for other values.
    pub(crate) fn from_json_string(json: Json<'_>) -> Option<Self> {
        let raw = json.raw();
        if !raw.starts_with('"') {
            return None;
        }
        if raw.len() < SHORT || may_hold_surrogates(raw) {
            return json.str().map(|text| Self::from(text.into_owned()));
        }
        Some(Self(Form::Escaped(raw.into())))
    }

    /// Returns the string.
    pub fn as_str(&self) -> Cow<'_, str> {
        match &self.0 {
            Form::Plain(text) => Cow::Borrowed(text),
            Form::Escaped(raw) => Json::trusted(raw).str().unwrap_or_default(),
        }
    }

    /// Returns the string, consuming the payload.
    pub fn into_string(self) -> String {
        match self.0 {
            Form::Plain(text) => text,
            Form::Escaped(raw) => Json::trusted(&raw).string(),
        }
    }

    /// Returns true if the string is empty.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Form::Plain(text) => text.is_empty(),
            Form::Escaped(raw) => raw.len() <= 2,
        }
    }
}

/// The first lines of a long text.
pub(crate) struct Opening {
    /// The first lines, without the last newline.
    pub(crate) text: String,
    /// The number of lines, without trailing blank ones.
    pub(crate) lines: usize,
    /// True if the text ends with `>`.
    pub(crate) ends_in_tag: bool,
}

impl Payload {
    /// Decodes only the first lines of a long, escaped text. Returns `None` if
    /// the text is decoded, short, or contains control characters other than
    /// tabs, newlines, colours and sequences that stay within a line: these can
    /// move text between lines.
    pub(crate) fn opening(&self, lines: usize) -> Option<Opening> {
        let Form::Escaped(raw) = &self.0 else {
            return None;
        };
        let inner = raw.get(1..raw.len().checked_sub(1)?)?;
        let (end, count) = count_lines(inner.as_bytes(), lines)?;
        let head = format!("\"{}\"", inner.get(..end)?);
        Some(Opening {
            text: Json::trusted(&head).str()?.into_owned(),
            lines: count,
            ends_in_tag: inner.trim_end_matches("\\n").ends_with('>'),
        })
    }
}

/// Returns the end of the first lines of an escaped text, and the number of
/// lines without trailing blank ones; `None` if there are no further lines.
fn count_lines(text: &[u8], first: usize) -> Option<(usize, usize)> {
    if memchr::memchr2_iter(0x7F, 0xC2, text).any(|at| is_control(text, at)) {
        return None;
    }
    let (mut end, mut line_ends, mut lines, mut at) = (0, 0, 0, 0);
    // The last lines with a sequence other than a colour, with a colour, and
    // with a visible character.
    let (mut sequences, mut colours, mut graphics) = (0, 0, 0);
    for escape in memchr::memchr_iter(b'\\', text) {
        // Skip the second half of `\\`.
        if escape < at {
            continue;
        }
        let before = text.get(at..escape)?;
        if !is_blank(before) {
            lines = line_ends + 1;
            if before.iter().any(u8::is_ascii_graphic) {
                graphics = lines;
            }
        }
        at = escape + 2;
        match text.get(escape + 1)? {
            b'n' => {
                line_ends += 1;
                if line_ends == first {
                    end = escape;
                }
            }
            b'r' if text.get(at..)?.starts_with(br"\n") => {}
            b't' => {}
            b'"' | b'\\' | b'/' => lines = line_ends + 1,
            b'u' => {
                let digits = std::str::from_utf8(text.get(at..at + 4)?).ok()?;
                at += 4;
                match u16::from_str_radix(digits, 16).ok()? {
                    0x1B => {
                        let (length, last) = harmless_sequence(text.get(at..)?)?;
                        at += length;
                        *(if last == b'm' {
                            &mut colours
                        } else {
                            &mut sequences
                        }) = line_ends + 1;
                    }
                    0xA0.. => lines = line_ends + 1,
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    let rest = text.get(at..)?;
    if !is_blank(rest) {
        lines = line_ends + 1;
        if rest.iter().any(u8::is_ascii_graphic) {
            graphics = lines;
        }
    }
    let is_seen = lines > sequences && (lines > colours || graphics == colours);
    (is_seen && lines > first && end > 0).then_some((end, lines))
}

/// Returns the length and the last letter of a sequence that stays within its
/// line, such as a colour.
fn harmless_sequence(text: &[u8]) -> Option<(usize, u8)> {
    let parameters = text.strip_prefix(b"[")?;
    let is_parameter = |byte: &&u8| (0x20..=0x3F).contains(*byte);
    let length = parameters.iter().take_while(is_parameter).count();
    let last = parameters.get(length)?;
    b"mKCDGhl".contains(last).then_some((length + 2, *last))
}

fn is_blank(text: &[u8]) -> bool {
    text.last().is_none_or(|byte| *byte == b' ') && text.iter().all(|byte| *byte == b' ')
}

/// Returns true if DEL or a C1 control character starts here.
fn is_control(text: &[u8], at: usize) -> bool {
    let next = text.get(at + 1).copied().unwrap_or_default();
    text.get(at) == Some(&0x7F) || (0x80..=0x9F).contains(&next)
}

impl Json<'_> {
    /// Returns the same as [`Json::display`], undecoded if possible.
    pub fn payload(self) -> Payload {
        Payload::from_json_string(self).unwrap_or_else(|| self.display().into())
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self(Form::Plain(String::new()))
    }
}

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Self(Form::Plain(text))
    }
}

impl From<&str> for Payload {
    fn from(text: &str) -> Self {
        Self(Form::Plain(text.to_owned()))
    }
}

impl From<Cow<'_, str>> for Payload {
    fn from(text: Cow<'_, str>) -> Self {
        Self(Form::Plain(text.into_owned()))
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::Escaped(a), Form::Escaped(b)) if a == b => true,
            _ => self.as_str() == other.as_str(),
        }
    }
}

impl Eq for Payload {}

impl PartialEq<str> for Payload {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Payload {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl std::fmt::Debug for Payload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_str().fmt(f)
    }
}

impl std::fmt::Display for Payload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.as_str())
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Form::Plain(text) => serializer.serialize_str(text),
            Form::Escaped(raw) => serialize_raw(raw, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// Returns true if a string literal may contain surrogate escapes.
fn may_hold_surrogates(literal: &str) -> bool {
    let bytes = literal.as_bytes();
    memchr::memmem::find_iter(bytes, br"\u")
        .any(|at| matches!(bytes.get(at + 2), Some(b'd' | b'D')))
}

/// Writes a valid JSON text unchanged.
fn serialize_raw<S: Serializer>(json: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let raw: &RawValue = serde_json::from_str(json).map_err(serde::ser::Error::custom)?;
    raw.serialize(serializer)
}

/// Any JSON value in its original form, on one line.
#[derive(Clone)]
pub struct RawJson(Box<str>);

impl RawJson {
    /// Wraps a JSON text; returns `None` if it is invalid.
    pub fn new(text: &str) -> Option<Self> {
        let valid: &RawValue = serde_json::from_str(text).ok()?;
        Some(Self(single_line(valid.get()).into()))
    }

    /// Serialises any value.
    pub(crate) fn of(value: &impl Serialize) -> Option<Self> {
        serde_json::to_string(value)
            .ok()
            .map(|json| Self(json.into()))
    }

    /// Returns the JSON text.
    pub fn get(&self) -> &str {
        &self.0
    }

    pub(crate) fn json(&self) -> Json<'_> {
        Json::trusted(&self.0)
    }
}

impl From<Json<'_>> for Option<RawJson> {
    fn from(json: Json<'_>) -> Self {
        (!json.is_null()).then(|| RawJson(single_line(json.raw()).into()))
    }
}

/// Removes newlines and the indentation after them. In valid JSON they only
/// occur between tokens.
fn single_line(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let lines = text.split(['\n', '\r']).map(str::trim_ascii_start);
    Cow::Owned(lines.collect())
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl std::fmt::Debug for RawJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.get())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_raw(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(raw.get().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_payload_decodes_and_writes_the_same_json() {
        let literal = format!("\"{}\\n\\u00e9\\\"\"", "x".repeat(80));
        let payload = Payload::from_json_string(Json::parse(&literal).unwrap()).unwrap();
        assert_eq!(payload, format!("{}\né\"", "x".repeat(80)).as_str());
        assert_eq!(serde_json::to_string(&payload).unwrap(), literal);
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        let literal = format!("\"{}\\ud800!\"", "x".repeat(80));
        let payload = Payload::from_json_string(Json::parse(&literal).unwrap()).unwrap();
        assert!(payload.as_str().ends_with("\u{FFFD}!"));
        assert!(may_hold_surrogates(r#""\u001b\uDFFF""#));
        assert!(!may_hold_surrogates(r#""\u001b d\n""#));
    }

    proptest::proptest! {
        #[test]
        fn an_opening_equals_the_start_of_the_text(
            pieces in proptest::collection::vec(
                proptest::sample::select(&[
                    "word", "  ", "\n", "\n", "\t", "\r\n", "\\", "\\n", "\"", "é", "漢", "\u{A0}",
                ]),
                0..40,
            ),
            first in 1usize..6,
        ) {
            let text = "x".repeat(64) + &pieces.concat();
            let literal = serde_json::to_string(&text).unwrap();
            let payload = Payload::from_json_string(Json::parse(&literal).unwrap()).unwrap();
            let count = text.trim_end().split('\n').count();
            // A no-break space is not blank.
            proptest::prop_assume!(!text.ends_with(|c: char| c.is_whitespace() && !c.is_ascii()));
            match payload.opening(first) {
                Some(opening) => {
                    let start: Vec<&str> = text.split('\n').take(first).collect();
                    assert_eq!(opening.text, start.join("\n"));
                    if !text.contains('\u{A0}') {
                        assert_eq!(opening.lines, count);
                    }
                }
                None => assert!(count <= first, "{literal}"),
            }
        }
    }

    #[test]
    fn an_opening_is_refused_with_control_characters() {
        for control in [
            "\u{1b}[31m",
            "\u{1b}[A\nx",
            "\u{1b}]0;\nx",
            "\u{8}",
            "a\rb",
            "\u{7f}",
            "\u{9b}A",
            "\u{c}",
            "\u{0}",
        ] {
            let text = format!("{}\n2\n3\n{control}", "x".repeat(64));
            let literal = serde_json::to_string(&text).unwrap();
            let payload = Payload::from_json_string(Json::parse(&literal).unwrap()).unwrap();
            assert!(payload.opening(1).is_none(), "{control:?}");
        }
    }

    #[test]
    fn pretty_printed_json_is_put_on_one_line() {
        let json = RawJson::new("{\n  \"a\": [\n    1,\r\n    \"b  c\"\n  ]\n}").unwrap();
        assert_eq!(json.get(), r#"{"a": [1,"b  c"]}"#);
    }
}
