//! Constructors of events and payloads.

use std::sync::Arc;

use super::{
    Agent, Body, Category, Context, Edit, EditOp, Edits, Event, Hunk, Level, Media, Message,
    Notice, Payload, Permission, PermissionOption, Plan, PlanEntry, PlanStatus, Prompt, RawJson,
    Session, State, ToolOutput, ToolResult, ToolStatus, ToolUse, TurnEnd, TurnStatus, Unknown,
    Usage, User,
};

impl Event {
    /// Creates an event of the root agent, with `seq` 0 and without a time.
    ///
    /// ```
    /// use unspool::event::{Event, Session};
    ///
    /// let session = Session::new("toy").with_model("toy-1");
    /// let event = Event::new(session).with_time("2026-11-15T18:24:55Z");
    /// assert_eq!(
    ///     serde_json::to_string(&event)?,
    ///     r#"{"kind":"session","seq":0,"time":"2026-11-15T18:24:55Z","provider":"toy","model":"toy-1"}"#
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn new(body: impl Into<Body>) -> Self {
        Self {
            seq: 0,
            time: None,
            agent: None,
            replayed: false,
            body: body.into(),
            raw: None,
        }
    }

    /// Sets [`seq`](Self::seq).
    pub fn with_seq(self, seq: u64) -> Self {
        Self { seq, ..self }
    }

    /// Sets [`time`](Self::time).
    pub fn with_time(self, time: impl Into<String>) -> Self {
        Self {
            time: Some(time.into()),
            ..self
        }
    }

    /// Sets [`agent`](Self::agent).
    pub fn with_agent(self, agent: impl Into<Arc<Agent>>) -> Self {
        Self {
            agent: Some(agent.into()),
            ..self
        }
    }

    /// Sets [`replayed`](Self::replayed).
    pub fn with_replayed(self, replayed: bool) -> Self {
        Self { replayed, ..self }
    }

    /// Sets [`raw`](Self::raw).
    pub fn with_raw(self, raw: impl Into<String>) -> Self {
        Self {
            raw: Some(raw.into()),
            ..self
        }
    }
}

constructors! {
    /// Creates a sub-agent at this depth, which is 1 or more.
    Agent(id: String, depth: u32) {
        with_parent => parent: String,
        with_name => name: String,
    }
    /// Creates a session read by this provider.
    Session(provider: String) {
        with_version => version: String,
        with_id => id: String,
        with_model => model: String,
        with_cwd => cwd: String,
        with_title => title: String,
        with_forked_from => forked_from: String,
    }
    /// Creates a user message.
    User(text: Payload) {
        with_queued => queued: bool,
        with_media => media: Vec<Media>,
    }
    /// Creates a complete block of text or reasoning.
    Message(id: String, text: Payload) {
        with_delta => delta: bool,
        with_preformatted => preformatted: bool,
        with_media => media: Vec<Media>,
    }
    /// Creates a call of this tool, with the category `other`.
    ToolUse(id: String, name: String) {
        with_category => category: Category,
        with_arg => arg: String,
        with_input => input: Option<RawJson>,
        with_title => title: String,
    }
    /// Creates further output of this call.
    ToolOutput(id: String, text: Payload) {}
    /// Creates the end of this call.
    ToolResult(id: String, status: ToolStatus) {
        with_name => name: String,
        with_output => output: Payload,
        with_exit_code => exit_code: Option<i64>,
        with_edits => edits: Vec<Edit>,
        with_duration_ms => duration_ms: Option<u64>,
        with_media => media: Vec<Media>,
    }
    /// Creates a picture, a sound or a file of this media type.
    Media(mime: String) {
        with_bytes => bytes: Option<u64>,
        with_width => width: Option<u32>,
        with_height => height: Option<u32>,
        with_name => name: String,
        with_data => data: Payload,
    }
    /// Creates a plan with these steps.
    Plan(entries: Vec<PlanEntry>) {
        with_explanation => explanation: String,
    }
    /// Creates a step.
    PlanEntry(text: String, status: PlanStatus) {
        with_priority => priority: String,
    }
    /// Creates edits that were made.
    Edits(edits: Vec<Edit>) {
        with_status => status: ToolStatus,
        with_reason => reason: Payload,
    }
    /// Creates the change of this file.
    Edit(op: EditOp, path: String) {
        with_new_path => new_path: String,
        with_hunks => hunks: Vec<Hunk>,
    }
    /// Creates a hunk without line numbers.
    Hunk(lines: Vec<String>) {
        with_old_start => old_start: Option<u64>,
        with_new_start => new_start: Option<u64>,
    }
    /// Creates a request.
    Permission(id: String, title: String) {
        with_tool_id => tool_id: String,
        with_options => options: Vec<PermissionOption>,
        with_outcome => outcome: String,
    }
    /// Creates an option.
    PermissionOption(id: String, name: String, kind: String) {}
    /// Creates a question with free-form answers.
    Prompt(question: String) {
        with_options => options: Vec<String>,
        with_default => default: String,
        with_answer => answer: String,
    }
    /// Creates a block of context.
    Context(name: String, text: Payload) {
        with_title => title: String,
    }
    /// Creates a notice of this level.
    Notice(level: Level, text: Payload) {
        with_left_out => left_out: Option<u64>,
    }
    /// Creates the end of a turn.
    TurnEnd(status: TurnStatus) {
        with_reason => reason: String,
        with_duration_ms => duration_ms: Option<u64>,
        with_turns => turns: Option<u64>,
    }
    /// Creates a state with its value.
    State(name: String, value: Option<RawJson>) {}
    /// Creates an event for a frame that no rule matched.
    Unknown(text: Payload) {
        with_unclaimed => unclaimed: bool,
    }
}

setters! {
    Usage {
        with_input_tokens => input_tokens: Option<u64>,
        with_output_tokens => output_tokens: Option<u64>,
        with_cached_tokens => cached_tokens: Option<u64>,
        with_reasoning_tokens => reasoning_tokens: Option<u64>,
        with_cost_usd => cost_usd: Option<f64>,
        with_context_used => context_used: Option<u64>,
        with_context_size => context_size: Option<u64>,
        with_cumulative => cumulative: bool,
    }
}

macro_rules! bodies_from {
    ($($variant:ident($payload:ident),)+) => {$(
        impl From<$payload> for Body {
            fn from(payload: $payload) -> Self {
                Self::$variant(payload)
            }
        }
    )+};
}

// `Message` is missing, because it can be text or reasoning.
bodies_from! {
    Session(Session),
    User(User),
    ToolUse(ToolUse),
    ToolOutput(ToolOutput),
    ToolResult(ToolResult),
    Plan(Plan),
    Edit(Edits),
    Permission(Permission),
    Prompt(Prompt),
    Context(Context),
    Notice(Notice),
    Usage(Usage),
    TurnEnd(TurnEnd),
    State(State),
    Unknown(Unknown),
}
