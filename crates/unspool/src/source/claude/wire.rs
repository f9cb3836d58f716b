//! The fields of Claude Code's lines that events are made of.
//!
//! Most bytes of a stream are in `assistant`, `user` and `stream_event` lines.
//! They are scanned once: relevant objects are typed, leaves are kept as raw
//! JSON, the rest is skipped. A leaf of an unexpected type therefore costs
//! nothing. Where the scan gives up (a key with an escape), the lenient [`Json`]
//! view fills the same records. Of two equal keys the first counts.

use std::borrow::Cow;

use crate::json::scan::Cursor;
use crate::json::{self, Json, has_valid_escapes};

/// A value that is scanned or taken from the lenient view. It is filled in place
/// because records are large.
pub(super) trait Value<'a>: Default {
    fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()>;
    fn of(json: Json<'a>) -> Self;
    /// Returns true if no value was set yet.
    fn is_vacant(&self) -> bool;
}

/// An object of which some fields are kept.
trait Record<'a> {
    fn read_field(&mut self, key: &str, cursor: &mut Cursor<'a>) -> Option<()>;
    fn set_field(&mut self, key: &str, json: Json<'a>);
}

macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ident = $($key:literal)|+,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Default)]
        pub(super) struct $name<'a> {
            present: bool,
            $(pub(super) $field: $kind<'a>,)+
        }

        impl<'a> Record<'a> for $name<'a> {
            fn read_field(&mut self, key: &str, cursor: &mut Cursor<'a>) -> Option<()> {
                match key {
                    $($($key)|+ if self.$field.is_vacant() => self.$field.read(cursor),)+
                    _ => cursor.skip(),
                }
            }

            fn set_field(&mut self, key: &str, json: Json<'a>) {
                match key {
                    $($($key)|+ if self.$field.is_vacant() => self.$field = $kind::of(json),)+
                    _ => {}
                }
            }
        }

        impl<'a> Value<'a> for $name<'a> {
            fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
                self.present = true;
                match cursor.peek()? {
                    b'{' => cursor.object(|key, cursor| self.read_field(key, cursor)),
                    _ => cursor.skip(),
                }
            }

            fn of(json: Json<'a>) -> Self {
                let mut record = Self { present: true, ..Self::default() };
                for (key, value) in json.object().iter() {
                    record.set_field(key, value);
                }
                record
            }

            fn is_vacant(&self) -> bool {
                !self.present
            }
        }
    };
}

record! {
    /// A line of the stream or of a saved session.
    Line {
        kind: Json = "type",
        message: Message = "message",
        event: StreamEvent = "event",
        parent_call: Json = "parent_tool_use_id",
        tool_use_result: Json = "tool_use_result" | "toolUseResult",
        result_meta: Json = "tool_result_meta",
        call_meta: Json = "tool_use_meta",
        timestamp: Json = "timestamp",
        uuid: Json = "uuid",
        session_id: Json = "session_id",
        saved_in: Json = "sessionId",
        parent_uuid: Json = "parentUuid",
        is_sidechain: Json = "isSidechain",
        agent_id: Json = "agent_id" | "agentId",
        subagent_type: Json = "subagent_type",
        api_message_id: Json = "api_message_id",
        block_index: Json = "apiBlockIndex",
        is_api_error: Json = "is_api_error_message" | "isApiErrorMessage",
        error: Json = "error",
        is_injected: Json = "isSynthetic" | "isMeta",
        is_summary: Json = "isCompactSummary",
        is_aborted: Json = "aborted" | "isAbortedMidStream",
        origin: Json = "origin",
        permission: Json = "permissionDecision",
        denial: Json = "toolDenialKind",
        cwd: Json = "cwd",
        version: Json = "version",
        forked_from: Json = "forkedFrom",
    }
}

record! {
    /// A message of the model or of the user.
    Message {
        id: Json = "id",
        model: Json = "model",
        content: Content = "content",
        stop_reason: Json = "stop_reason",
        usage: Json = "usage",
    }
}

record! {
    /// One block of a message.
    Block {
        kind: Json = "type",
        text: Json = "text",
        thinking: Json = "thinking",
        id: Json = "id",
        name: Json = "name",
        input: Json = "input",
        call: Json = "tool_use_id",
        content: Json = "content",
        source: Json = "source",
        title: Json = "title",
        is_error: Json = "is_error",
    }
}

record! {
    /// An event of the Messages API, inside a `stream_event`.
    StreamEvent {
        kind: Json = "type",
        index: Json = "index",
        message: Json = "message",
        block: Block = "content_block",
        delta: Delta = "delta",
        error: Json = "error",
    }
}

record! {
    /// An addition to a block.
    Delta {
        kind: Json = "type",
        text: Json = "text",
        thinking: Json = "thinking",
    }
}

/// The content of a message.
#[derive(Clone, Default)]
pub(super) enum Content<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

/// The model's name in messages that Claude Code itself wrote.
pub(super) const SYNTHETIC: &str = "<synthetic>";

impl<'a> Line<'a> {
    /// Reads a line; `None` when it is not JSON.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let text = json::trim(text);
        let mut cursor = Cursor::new(text);
        let mut line = Self::default();
        if line.read(&mut cursor).is_some() && cursor.skip_to_end() && has_valid_escapes(text) {
            return Some(line);
        }
        Json::parse(text).map(Self::of)
    }

    /// Returns true for a record of a saved session.
    pub(super) fn is_saved(&self) -> bool {
        !self.saved_in.is_null()
    }

    /// Returns true if Claude Code itself wrote the message.
    pub(super) fn is_synthetic(&self) -> bool {
        self.is_api_error.is_true() || self.message.model.str().is_some_and(|m| m == SYNTHETIC)
    }

    /// Returns true if the message is an API error. Old versions have only its
    /// text, later ones its name, current ones a flag.
    pub(super) fn is_error(&self) -> bool {
        const WORDS: &[&str] = &[
            "API Error",
            "Claude AI usage limit reached|",
            "Credit balance is too low",
            "Invalid API key",
            "Prompt is too long",
        ];
        let says = |text: &str| WORDS.iter().any(|words| text.starts_with(words));
        self.is_api_error.is_true()
            || self.is_synthetic()
                && (self.error.is_string()
                    || match &self.message.content {
                        Content::Text(text) => says(text),
                        Content::Blocks(blocks) => blocks
                            .iter()
                            .any(|block| block.text.str().is_some_and(|text| says(&text))),
                        Content::Nothing => false,
                    })
    }

    /// Returns the session that the line was copied from; empty if none.
    pub(super) fn origin_session(&self) -> String {
        self.forked_from.get("sessionId").string()
    }
}

impl<'a> Value<'a> for Json<'a> {
    fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        *self = cursor.value()?;
        Some(())
    }

    fn of(json: Json<'a>) -> Self {
        json
    }

    fn is_vacant(&self) -> bool {
        self.is_null()
    }
}

impl<'a> Value<'a> for Content<'a> {
    fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        match cursor.peek()? {
            b'"' => *self = Self::Text(cursor.value()?.str()?),
            b'[' => {
                let mut blocks = Vec::with_capacity(1);
                let mut block = Block::default();
                cursor.array(|cursor| {
                    block.read(cursor)?;
                    blocks.push(std::mem::take(&mut block));
                    Some(())
                })?;
                *self = Self::Blocks(blocks);
            }
            _ => cursor.skip()?,
        }
        Some(())
    }

    fn of(json: Json<'a>) -> Self {
        match json.str() {
            Some(text) => Self::Text(text),
            None => Self::Blocks(json.array().into_iter().map(Block::of).collect()),
        }
    }

    fn is_vacant(&self) -> bool {
        matches!(self, Self::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the texts of the blocks, read in both ways.
    fn texts(line: &str) -> [Vec<String>; 2] {
        let of = |line: Line<'_>| match line.message.content {
            Content::Blocks(blocks) => blocks.iter().map(|block| block.text.string()).collect(),
            Content::Text(text) => vec![text.into_owned()],
            Content::Nothing => Vec::new(),
        };
        [
            of(Line::parse(line).unwrap()),
            of(Line::of(Json::parse(line).unwrap())),
        ]
    }

    #[test]
    fn both_ways_of_reading_agree() {
        for (line, expected) in [
            (
                r#"{"message":{"content":[{"text":"a"},{"text":5},7]}}"#,
                vec!["a", "", ""],
            ),
            (r#"{"message":{"content":"a\nb"}}"#, vec!["a\nb"]),
            (r#"{"message":"words","type":5}"#, vec![]),
            (r#"{"message":[1,{"a":2}],"event":3.5}"#, vec![]),
            (r#"{"message":{"content":{"a":1}}}"#, vec![]),
            (
                r#"{"message":{"content":[{"text":"a","text":"b"}]},"message":{}}"#,
                vec!["a"],
            ),
            (r#"{"message":{"content":"a\ud800b"}}"#, vec!["a\u{FFFD}b"]),
            (
                r#"{"\ud800":1,"mess\u0061ge":{"content":[{"text":"a"}]}}"#,
                vec!["a"],
            ),
        ] {
            let [walked, looked_up] = texts(line);
            assert_eq!(walked, expected, "{line}");
            assert_eq!(looked_up, expected, "{line}");
        }
    }

    #[test]
    fn a_line_that_is_not_json() {
        assert!(Line::parse(r#"{"type":"assistant","message":{"con"#).is_none());
        assert!(Line::parse("{} {}").is_none());
        assert!(Line::parse("Warning: something").is_none());
    }
}
