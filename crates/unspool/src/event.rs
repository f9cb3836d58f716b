//! Display events: the common vocabulary of all sources and views.
//!
//! An [`Event`] is also one line of the public JSONL format: it serialises to
//! exactly that line, and [`Event::from_json`] reads it back without loss.
//! Empty fields are omitted. The format only ever grows.
//!
//! Payloads (`text`, `output`, `input`, `hunks`) are verbatim and may contain
//! any character. Labels (`name`, `arg`, `title`, `model`, `path` …) are one
//! clean line; the emitter ensures that.
//!
//! Structs and enums are `#[non_exhaustive]`, because the format grows: make a
//! payload with its `new` and the setters `with_…`, and an event of it with
//! [`Event::new`].

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

pub use media::Media;
#[cfg(feature = "html")]
pub(crate) use media::Raster;
pub use payload::{Payload, RawJson};
pub use texts::Change;

mod construct;
mod media;
mod payload;
mod texts;

/// Something that happened in an agent's run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// Position in the stream: 0, 1, 2 …
    pub seq: u64,
    /// The timestamp (RFC 3339), if the source has one.
    pub time: Option<String>,
    /// The sub-agent; `None` for the root agent.
    pub agent: Option<Arc<Agent>>,
    /// It repeats the history of a loaded session.
    pub replayed: bool,
    /// The content; `kind` and its own fields in JSON.
    pub body: Body,
    /// The source frame, if requested, and always on `unknown`.
    pub raw: Option<String>,
}

impl Event {
    /// Parses a line of the public JSONL format. Fails unless the line is a
    /// JSON object with a known `kind`.
    pub fn from_json(line: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Envelope<'a> {
            #[serde(borrow)]
            kind: std::borrow::Cow<'a, str>,
            #[serde(default)]
            seq: u64,
            #[serde(borrow)]
            time: Option<&'a serde_json::value::RawValue>,
            agent: Option<Agent>,
            #[serde(default)]
            replayed: bool,
            raw: Option<String>,
        }
        let envelope: Envelope<'_> = serde_json::from_str(line)?;
        let time = envelope.time.and_then(|time| {
            let text = serde_json::from_str::<String>(time.get()).ok()?;
            is_time(&text).then_some(text)
        });
        // Invalid timestamps are dropped here and kept in `raw`.
        let is_cut = envelope.time.is_some() && time.is_none();
        Ok(Self {
            body: Body::from_json(&envelope.kind, line)?,
            seq: envelope.seq,
            time,
            agent: envelope.agent.map(Arc::new),
            replayed: envelope.replayed,
            raw: envelope.raw.or_else(|| is_cut.then(|| line.to_owned())),
        })
    }

    /// Returns the nesting depth: 0 for the root agent.
    pub fn depth(&self) -> u32 {
        self.agent.as_ref().map_or(0, |agent| agent.depth)
    }

    /// Returns true for the end of a turn that was cut off.
    pub fn is_interruption(&self) -> bool {
        matches!(&self.body, Body::TurnEnd(end) if end.status == TurnStatus::Interrupted)
    }
}

/// Returns true for an RFC 3339 timestamp.
pub(crate) fn is_time(text: &str) -> bool {
    let marks = [(4, b"-"), (7, b"-"), (10, b"T"), (13, b":"), (16, b":")];
    let bytes = text.as_bytes();
    let has = |(at, mark): &(usize, &[u8; 1])| {
        bytes
            .get(*at)
            .is_some_and(|b| b.eq_ignore_ascii_case(&mark[0]))
    };
    marks.iter().all(has) && !text.contains('[') && text.parse::<jiff::Timestamp>().is_ok()
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line<'a> {
            kind: &'static str,
            seq: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            time: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            agent: Option<&'a Agent>,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            replayed: bool,
            #[serde(flatten)]
            body: &'a Body,
            #[serde(skip_serializing_if = "Option::is_none")]
            raw: Option<&'a str>,
        }
        Line {
            kind: self.body.kind(),
            seq: self.seq,
            time: self.time.as_deref(),
            agent: self.agent.as_deref(),
            replayed: self.replayed,
            body: &self.body,
            raw: self.raw.as_deref(),
        }
        .serialize(serializer)
    }
}

macro_rules! bodies {
    ($($(#[$doc:meta])* $variant:ident($payload:ty) = $kind:literal,)+) => {
        /// The content of an event. Serialises as its payload's fields beside
        /// `kind`.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum Body {
            $($(#[$doc])* $variant($payload),)+
        }

        impl Body {
            /// Returns the value of the JSON field `kind`.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)+ }
            }

            fn from_json(kind: &str, line: &str) -> Result<Self, serde_json::Error> {
                match kind {
                    $($kind => serde_json::from_str(line).map(Self::$variant),)+
                    other => Err(serde::de::Error::custom(format!("unknown event kind `{other}`"))),
                }
            }
        }
    };
}

bodies! {
    /// The session that follows, or an update of its properties.
    Session(Session) = "session",
    /// A message of the user (or of the calling agent, for a sub-agent).
    User(User) = "user",
    /// Answer text.
    Text(Message) = "text",
    /// The model's reasoning.
    Reasoning(Message) = "reasoning",
    /// The start of a tool call.
    ToolUse(ToolUse) = "tool_use",
    /// Output of a running tool.
    ToolOutput(ToolOutput) = "tool_output",
    /// The end of a tool call.
    ToolResult(ToolResult) = "tool_result",
    /// The complete current plan.
    Plan(Plan) = "plan",
    /// A file change outside any tool call.
    Edit(Edits) = "edit",
    /// A permission request of the agent.
    Permission(Permission) = "permission",
    /// A question of the agent.
    Prompt(Prompt) = "prompt",
    /// Context given to the agent.
    Context(Context) = "context",
    /// A message of the agent itself or of the reader.
    Notice(Notice) = "notice",
    /// Tokens and cost.
    Usage(Usage) = "usage",
    /// The end of a turn.
    TurnEnd(TurnEnd) = "turn_end",
    /// Modes, commands and options, for interactive views.
    State(State) = "state",
    /// A frame that no rule matched.
    Unknown(Unknown) = "unknown",
}

/// The sub-agent of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Agent {
    /// The agent's own id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Id of the tool call that started it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parent: String,
    /// Nesting depth, 1 or more.
    #[serde(default)]
    pub depth: u32,
    /// Its name or type.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// Properties of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Session {
    /// Name of the provider that read it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provider: String,
    /// The agent program's version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The session's id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The working directory.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// The session's title.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The session that this one was forked from. It may start with a copy of
    /// that session, including its usage.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub forked_from: String,
}

/// A user message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct User {
    /// The text.
    #[serde(default, skip_serializing_if = "Payload::is_empty")]
    pub text: Payload,
    /// True if it was sent while the agent was busy.
    #[serde(default, skip_serializing_if = "is_false")]
    pub queued: bool,
    /// Pictures, sounds and files that came with it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Media>,
}

/// A block of answer text or reasoning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// The text.
    #[serde(default, skip_serializing_if = "Payload::is_empty")]
    pub text: Payload,
    /// Identifies a block: deltas with the same id belong together.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// True to append to the open block; otherwise the text replaces the whole
    /// block.
    #[serde(default, skip_serializing_if = "is_false")]
    pub delta: bool,
    /// True if lines must be kept as they are, because the text is not
    /// Markdown.
    #[serde(default, skip_serializing_if = "is_false")]
    pub preformatted: bool,
    /// Pictures, sounds and files that came with it, in order. A piece that is
    /// only a picture has an empty text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Media>,
}

/// The start of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolUse {
    /// The id that the result refers to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The tool's name in the provider's spelling.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The kind of action.
    #[serde(default)]
    pub category: Category,
    /// A preview of the main argument, at most 40 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arg: String,
    /// The input, unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<RawJson>,
    /// The provider's own headline for the call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
}

/// The kind of action of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub enum Category {
    Read,
    Write,
    Edit,
    Delete,
    Move,
    Search,
    List,
    Execute,
    Fetch,
    Think,
    Plan,
    Task,
    #[default]
    #[serde(other)]
    Other,
}

/// Output of a running tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolOutput {
    /// The call's id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The new output.
    #[serde(default, skip_serializing_if = "Payload::is_empty")]
    pub text: Payload,
}

/// The end of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The call's id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The tool's name, if known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The outcome.
    #[serde(default)]
    pub status: ToolStatus,
    /// The output.
    #[serde(default, skip_serializing_if = "Payload::is_empty")]
    pub output: Payload,
    /// The exit code of a command, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The file changes that it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
    /// The duration in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Pictures, sounds and files that it returned, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Media>,
}

/// The outcome of a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolStatus {
    /// It succeeded.
    #[default]
    Ok,
    /// It failed.
    Error,
    /// A person, rule or policy rejected it.
    Rejected,
    /// The call or its turn was stopped.
    Canceled,
}

/// A complete plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Plan {
    /// The steps in order.
    #[serde(default)]
    pub entries: Vec<PlanEntry>,
    /// The reason for a change of plan.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub explanation: String,
}

/// One step of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanEntry {
    /// The description.
    #[serde(default)]
    pub text: String,
    /// The progress.
    #[serde(default)]
    pub status: PlanStatus,
    /// The importance, in the provider's word.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub priority: String,
}

/// The progress of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub enum PlanStatus {
    InProgress,
    Completed,
    Canceled,
    #[default]
    #[serde(other)]
    Pending,
}

/// File changes outside any tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Edits {
    /// The changes, one per file.
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// The outcome; omitted in JSON if the changes were made.
    #[serde(default, skip_serializing_if = "is_ok")]
    pub status: ToolStatus,
    /// The reason why they were not made.
    #[serde(default, skip_serializing_if = "Payload::is_empty")]
    pub reason: Payload,
}

/// The change of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Edit {
    /// The operation.
    #[serde(default)]
    pub op: EditOp,
    /// The file.
    #[serde(default)]
    pub path: String,
    /// The new path, if the file was moved.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub new_path: String,
    /// The changed lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<Hunk>,
}

/// The operation on a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub enum EditOp {
    Add,
    #[default]
    Update,
    Delete,
    Move,
}

/// Consecutive changed lines with their context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hunk {
    /// Number of the first line in the old file, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_start: Option<u64>,
    /// Number of the first line in the new file, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_start: Option<u64>,
    /// The lines, each after its sign: a blank, `-` or `+`.
    #[serde(default)]
    pub lines: Vec<String>,
}

/// A request for permission, or its answer (same `id`, with `outcome`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Permission {
    /// The request's id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The tool call concerned.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool_id: String,
    /// The action that needs permission.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The possible answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<PermissionOption>,
    /// The answer: the id of the chosen option, or the provider's own word.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub outcome: String,
}

/// One possible answer to a request for permission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PermissionOption {
    /// The value to send back.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The label for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// `allow_once`, `allow_always`, `reject_once` or `reject_always`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

/// A question to the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prompt {
    /// The question.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// The answers offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The default answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub default: String,
    /// The answer given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub answer: String,
}

impl Prompt {
    /// The question that aider asks before every tool call.
    pub(crate) const ROUTINE: &str = "Run tools?";

    /// Returns true for the question before every tool call.
    pub(crate) fn is_routine(&self) -> bool {
        self.question.trim() == Self::ROUTINE
    }
}

/// Context given to the agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Context {
    /// The block's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its heading.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Its content.
    #[serde(default, skip_serializing_if = "Payload::is_empty")]
    pub text: Payload,
}

/// A message of the agent itself or of the reader.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Notice {
    /// The severity.
    #[serde(default)]
    pub level: Level,
    /// The text.
    #[serde(default, skip_serializing_if = "Payload::is_empty")]
    pub text: Payload,
    /// Number of input bytes skipped, if that is the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
}

/// The severity of a notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub enum Level {
    Warning,
    Retry,
    Error,
    Canceled,
    #[default]
    #[serde(other)]
    Info,
}

/// Tokens and cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Input tokens, including cached ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Output tokens, including reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Input tokens that came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Output tokens spent on reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Cost in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Tokens in the context window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_used: Option<u64>,
    /// Size of the context window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_size: Option<u64>,
    /// True if the values are totals that replace earlier ones, false if they
    /// are increments.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cumulative: bool,
}

/// The end of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TurnEnd {
    /// The outcome.
    #[serde(default)]
    pub status: TurnStatus,
    /// The reason, in the provider's word.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The duration in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Number of turns or model calls, as the provider counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
}

/// The outcome of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnStatus {
    /// The agent finished.
    #[default]
    Completed,
    /// An error, a limit or a refusal ended it.
    Failed,
    /// The user stopped it.
    Canceled,
    /// The stream ended without a closing event.
    Interrupted,
}

/// Modes, commands, options and the like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct State {
    /// The name of the setting.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The value, unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<RawJson>,
}

impl State {
    /// Name of the state that opens a conversation recorded by unspool. Its value
    /// names the agent and its command.
    pub const CONVERSATION: &str = "unspool";
}

/// A frame that no rule matched; the event's `raw` holds it too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Unknown {
    /// The frame.
    #[serde(default, skip_serializing_if = "Payload::is_empty")]
    pub text: Payload,
    /// True if no provider claims the input: answers pass it on as it is.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unclaimed: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_ok(status: &ToolStatus) -> bool {
    *status == ToolStatus::Ok
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_timestamps_are_dropped_and_kept_in_raw() {
        let read = |time: &str| {
            let line = format!(r#"{{"kind":"user","time":{time},"text":"x"}}"#);
            let event = Event::from_json(&line).unwrap();
            assert_eq!(event.raw, event.time.is_none().then_some(line));
            event.time
        };
        let good = ["2026-11-15T18:24:55Z", "2026-11-15t18:24:55.926+01:00"];
        for time in good {
            assert_eq!(read(&format!("\"{time}\"")).as_deref(), Some(time));
        }
        let bad = [
            "\"yesterday\"",
            "\"2026-11-15\"",
            "\"2026-13-15T18:24:55Z\"",
            "\"2026-11-15T18:24:55\"",
            "7",
        ];
        for time in bad {
            assert_eq!(read(time), None, "{time}");
        }
    }
}
