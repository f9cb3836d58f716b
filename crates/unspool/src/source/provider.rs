//! The descriptor of one agent: all that is known of it, as data.
//!
//! Each agent has its descriptor in its own folder. Detection, help texts,
//! completions, `unspool providers`, the search for saved sessions and the
//! tables in the docs are made from it, so that nothing else knows an agent by
//! name.

use super::{Saved, Source};
use crate::event::Category;
use crate::frame::Frame;
use crate::json::{Json, Object};

/// The form of a provider's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// JSON, as lines, server-sent events or a body.
    Json,
    /// Lines of text.
    Text,
}

/// Tool names in lower case, by category.
pub type ToolNames = &'static [(Category, &'static [&'static str])];

/// One agent, protocol or API that can be read.
///
/// ```
/// use unspool::Frame;
/// use unspool::event::Category;
/// use unspool::source::{Emitter, Headless, Place, Provider, Saved, Source};
///
/// #[derive(Clone)]
/// struct Toy;
///
/// impl Source for Toy {
///     fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
///         match frame.json() {
///             Some(json) => out.text_delta(None, &json.get("toy").string()),
///             None => out.unknown(frame),
///         }
///     }
/// }
///
/// const TOY: Provider = Provider::new("toy", |probe| probe.has(&["toy"]), || Box::new(Toy))
///     .with_title("Toy")
///     .with_about("a made-up agent")
///     .with_tools(&[(Category::Execute, &["wind_up"])])
///     .with_headless(Headless::new("toy", &["--prompt"]))
///     .with_saved(Saved::new(&[Place::home(".toy", &["*.jsonl"])]));
///
/// let command = TOY.headless.unwrap().command("fix it", &[]);
/// assert_eq!(command, ["toy", "--prompt", "fix it"]);
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Provider {
    /// The name, as in `--from NAME` and in `session` events.
    pub name: &'static str,
    /// The name that people use: `Claude Code`.
    pub title: &'static str,
    /// The shapes of input that it reads, in a few words.
    pub about: &'static str,
    /// A command line that shows how to use it.
    pub example: &'static str,
    /// False for a format that no agent writes: raw input, unspool's own events.
    pub is_agent: bool,
    /// The form of its input.
    pub input: Input,
    /// Returns true for a frame that only this provider writes.
    pub recognise: fn(&Probe<'_>) -> bool,
    /// Makes a fresh source.
    pub open: fn() -> Box<dyn Source>,
    /// The agent's own tools, which no other agent may list in another category. Names
    /// that many agents share need no entry.
    pub tools: ToolNames,
    /// The command that works on one prompt and streams.
    pub headless: Option<Headless>,
    /// The command that speaks the Agent Client Protocol.
    pub chat: Option<Chat>,
    /// Where it keeps sessions, and in which form.
    pub saved: Option<Saved>,
}

impl Provider {
    /// A provider with nothing but its reader.
    pub const fn new(
        name: &'static str,
        recognise: fn(&Probe<'_>) -> bool,
        open: fn() -> Box<dyn Source>,
    ) -> Self {
        Self {
            name,
            title: name,
            about: "",
            example: "",
            is_agent: true,
            input: Input::Json,
            recognise,
            open,
            tools: &[],
            headless: None,
            chat: None,
            saved: None,
        }
    }

    /// Sets the name that people use.
    pub const fn with_title(mut self, title: &'static str) -> Self {
        self.title = title;
        self
    }

    /// Sets the words that say what it reads.
    pub const fn with_about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// Sets the example command line.
    pub const fn with_example(mut self, example: &'static str) -> Self {
        self.example = example;
        self
    }

    /// Marks a format that no agent writes.
    pub const fn without_agent(mut self) -> Self {
        self.is_agent = false;
        self
    }

    /// Reads lines of text in place of JSON.
    pub const fn with_text_input(mut self) -> Self {
        self.input = Input::Text;
        self
    }

    /// Sets the agent's own tools.
    pub const fn with_tools(mut self, tools: ToolNames) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the command that works on one prompt.
    pub const fn with_headless(mut self, headless: Headless) -> Self {
        self.headless = Some(headless);
        self
    }

    /// Sets the command that speaks the Agent Client Protocol.
    pub const fn with_chat(mut self, chat: Chat) -> Self {
        self.chat = Some(chat);
        self
    }

    /// Sets where sessions are kept.
    pub const fn with_saved(mut self, saved: Saved) -> Self {
        self.saved = Some(saved);
        self
    }
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A command that works on one prompt and streams its output.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Headless {
    /// The program.
    pub program: &'static str,
    /// Arguments before the prompt.
    pub before: &'static [&'static str],
    /// Arguments after the prompt.
    pub after: &'static [&'static str],
}

impl Headless {
    /// A command that ends with the prompt.
    pub const fn new(program: &'static str, before: &'static [&'static str]) -> Self {
        Self {
            program,
            before,
            after: &[],
        }
    }

    /// Adds arguments after the prompt.
    pub const fn followed_by(mut self, after: &'static [&'static str]) -> Self {
        self.after = after;
        self
    }

    /// Returns the command line for a prompt, with the user's own arguments last.
    pub fn command(&self, prompt: &str, more: &[String]) -> Vec<String> {
        let words = [self.program]
            .into_iter()
            .chain(self.before.iter().copied());
        words
            .chain([prompt])
            .chain(self.after.iter().copied())
            .map(str::to_owned)
            .chain(more.iter().cloned())
            .collect()
    }
}

/// A command that speaks the Agent Client Protocol.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Chat {
    /// The program and its arguments.
    pub command: &'static [&'static str],
    /// The command that installs it, or a hint.
    pub install: &'static str,
}

impl Chat {
    /// A command, and how to install it.
    pub const fn new(command: &'static [&'static str], install: &'static str) -> Self {
        Self { command, install }
    }
}

/// One frame, prepared for recognition.
#[non_exhaustive]
pub struct Probe<'a> {
    /// The frame's text.
    pub text: &'a str,
    /// Its `event` field, for server-sent events.
    pub event: &'a str,
    /// Its top-level fields; empty unless it is a JSON object.
    pub fields: Object<'a>,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(frame: &Frame<'a>) -> Self {
        Self {
            text: frame.text,
            event: frame.event,
            fields: frame.json().map(Json::object).unwrap_or_default(),
        }
    }

    /// Returns true if the frame is a JSON object.
    pub fn is_json(&self) -> bool {
        !self.fields.is_empty()
    }

    /// Returns the text of the field `key`, or an empty string.
    pub fn str(&self, key: &str) -> String {
        self.fields.get(key).string()
    }

    /// Returns true if all these fields are there.
    pub fn has(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.fields.has(key))
    }
}
