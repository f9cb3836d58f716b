//! Reads bytes and yields events: framing, recognition and translation in one
//! object.
//!
//! The provider is recognised by the first frame that only one provider can
//! have written. Until then a few frames are held. Unrecognised frames become
//! text or `unknown`, and recognition continues, so noise before a stream is
//! harmless. `reader/runs.rs` handles several runs in one input.

mod runs;

use crate::event::Event;
use crate::frame::{Frame, Framed, Framer};
use crate::source::{BUILTIN, Emitter, Input, Probe, Provider, Source, raw};
use runs::Run;

/// Maximum frames held before recognition.
const HELD_FRAMES: usize = 16;
/// Maximum bytes held in those frames.
const HELD_BYTES: usize = 1 << 16;

/// Maximum bytes of an incomplete line that is read while the input pauses: a
/// question, and the frames of a spinner after it.
const LONGEST_OPEN: usize = 1 << 20;

/// Settings of a [`Reader`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReaderOptions {
    /// The provider; `None` to recognise it.
    pub from: Option<Provider>,
    /// Frames with more bytes than this become a notice.
    pub frame_limit: usize,
    /// Keeps the source frame on each event.
    pub with_raw: bool,
    /// Keeps the content of pictures, sounds and files, as base64.
    pub with_media: bool,
    /// The providers to recognise, in this order.
    pub providers: Vec<Provider>,
}

impl Default for ReaderOptions {
    fn default() -> Self {
        Self {
            from: None,
            frame_limit: 256 << 20,
            with_raw: false,
            with_media: false,
            providers: BUILTIN.to_vec(),
        }
    }
}

impl ReaderOptions {
    /// Adds a provider, which is asked before all others.
    pub fn with_provider(mut self, provider: &Provider) -> Self {
        self.providers.insert(0, *provider);
        self
    }
}

setters! {
    ReaderOptions {
        with_from => from: Option<Provider>,
        with_frame_limit => frame_limit: usize,
        with_raw => with_raw: bool,
        with_media => with_media: bool,
        with_providers => providers: Vec<Provider>,
    }
}

/// Reads one stream of an agent's output.
///
/// ```
/// use unspool::Reader;
///
/// let mut reader = Reader::new();
/// reader.push(b"{\"type\":\"thread.started\",\"thread_id\":\"t1\"}\n{\"type\":\"item.comp");
/// reader.push(b"leted\",\"item\":{\"id\":\"item_0\",\"type\":\"agent_message\",\"text\":\"Hello\"}}\n");
/// reader.finish();
/// let kinds: Vec<_> = reader.events().map(|event| event.body.kind()).collect();
/// assert_eq!(kinds, ["session", "text", "turn_end"]);
/// ```
#[derive(Clone)]
pub struct Reader {
    framer: Framer,
    translator: Translator,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

impl Reader {
    /// Creates a reader that recognises the provider.
    pub fn new() -> Self {
        Self::with_options(ReaderOptions::default())
    }

    /// Creates a reader with settings.
    pub fn with_options(options: ReaderOptions) -> Self {
        let text_only = options
            .from
            .as_ref()
            .is_some_and(|from| from.input == Input::Text);
        let framer = if text_only {
            Framer::lines(options.frame_limit)
        } else {
            Framer::detecting(options.frame_limit)
        };
        Self {
            framer,
            translator: Translator::new(options),
        }
    }

    /// Processes the next bytes. The events do not depend on the chunks.
    pub fn push(&mut self, bytes: &[u8]) {
        let translator = &mut self.translator;
        self.framer
            .push(bytes, &mut |framed| translator.framed(framed));
    }

    /// Handles a pause of the input. An incomplete last line that waits for a
    /// person, such as a question of aider, becomes events. Frames held for
    /// recognition become events too; recognition continues with later frames.
    /// Events that wait for the result of a plan's call become available; the plan
    /// follows its result.
    pub fn release(&mut self) {
        self.read_open_line();
        if self.translator.source.is_none() && !self.translator.held.is_empty() {
            self.translator.release_held();
        }
        self.translator.out.set_plans_aside();
    }

    /// Returns true if [`Reader::release`] can make more events available.
    pub fn is_holding(&self) -> bool {
        let translator = &self.translator;
        let is_text = |provider: &Provider| provider.input == Input::Text;
        match &translator.provider {
            None => true,
            Some(provider) if is_text(provider) && self.framer.open_line().is_some() => true,
            Some(_) => translator.out.is_waiting_for_plan(),
        }
    }

    fn read_open_line(&mut self) {
        let translator = &mut self.translator;
        let open = self.framer.open_line();
        let Some(open) = open.filter(|open| open.len() <= LONGEST_OPEN) else {
            return;
        };
        let open = String::from_utf8_lossy(open).into_owned();
        let Some(provider) = translator.text_provider(&open) else {
            return;
        };
        let mut trial = translator.clone();
        let mut framer = self.framer.clone();
        framer.start_lines(&mut |framed| trial.framed(framed));
        if trial.provider.is_none() {
            trial.recognised(&provider);
        }
        let taken = trial.pause(&open);
        if taken > 0 {
            framer.take_open(taken);
            self.framer = framer;
            *translator = trial;
        }
    }

    /// Ends the input: held frames and open turns become events.
    pub fn finish(&mut self) {
        let translator = &mut self.translator;
        self.framer.finish(&mut |framed| translator.framed(framed));
        translator.finish();
    }

    /// Takes the oldest event, if there is one.
    pub fn pop(&mut self) -> Option<Event> {
        self.translator.out.pop()
    }

    /// Takes all events that are ready.
    pub fn events(&mut self) -> impl Iterator<Item = Event> {
        std::iter::from_fn(|| self.translator.out.pop())
    }

    /// Adds a file that belongs to the session, before the bytes that refer to
    /// it: a sub-agent's own record, for example. `name` is its path relative
    /// to the session.
    pub fn attach(&mut self, name: &str, bytes: &[u8]) {
        if let Some(source) = &mut self.translator.source {
            source.attach(name, bytes);
        } else {
            let attachment = (name.to_owned(), bytes.to_vec());
            self.translator.attachments.push(attachment);
        }
    }

    /// Returns the provider, once it is known.
    pub fn provider(&self) -> Option<Provider> {
        self.translator.provider
    }
}

/// Returns the first of the providers that recognises an input by its beginning.
/// `whole` is true if nothing follows these bytes.
///
/// ```
/// use unspool::{recognise, source};
///
/// let line = b"{\"type\":\"thread.started\",\"thread_id\":\"t1\"}\n";
/// let found = recognise(line, false, source::BUILTIN);
/// assert_eq!(found.map(|provider| provider.name), Some("codex"));
/// ```
pub fn recognise(bytes: &[u8], whole: bool, providers: &[Provider]) -> Option<Provider> {
    let mut found: Option<&Provider> = None;
    let mut look = |framed: Framed<'_>| {
        if let (None, Framed::Frame(frame)) = (found, framed) {
            each_item(&frame, &mut |item| {
                found = found.or_else(|| recognised_by(providers, item));
            });
        }
    };
    let mut framer = Framer::detecting(usize::MAX / 2);
    framer.push(bytes, &mut look);
    if whole {
        framer.finish(&mut look);
    }
    found.copied()
}

/// Returns the first provider that recognises the frame.
fn recognised_by<'a>(providers: &'a [Provider], frame: &Frame<'_>) -> Option<&'a Provider> {
    if frame.text.trim().is_empty() {
        return None;
    }
    let probe = Probe::new(frame);
    providers
        .iter()
        .find(|provider| (provider.recognise)(&probe))
}

/// Visits the items of a line that is a JSON array of objects, or else the
/// frame itself.
fn each_item(frame: &Frame<'_>, visit: &mut dyn FnMut(&Frame<'_>)) {
    let items = match frame.json() {
        Some(json) if json.is_array() => json.array(),
        _ => Vec::new(),
    };
    if items.is_empty() || !items.iter().all(|item| item.is_object()) {
        visit(frame);
        return;
    }
    for item in items {
        visit(&Frame {
            text: item.raw(),
            ..*frame
        });
    }
}

/// Translates frames to events and recognises the provider.
struct Translator {
    options: ReaderOptions,
    provider: Option<Provider>,
    source: Option<Box<dyn Source>>,
    /// True if the run continued after an interruption by another run.
    is_resumed: bool,
    /// Runs that have probably not ended.
    paused: Vec<Run>,
    held: Vec<Held>,
    held_bytes: usize,
    attachments: Vec<(String, Vec<u8>)>,
    out: Emitter,
}

impl Clone for Translator {
    fn clone(&self) -> Self {
        Self {
            options: self.options.clone(),
            provider: self.provider,
            source: self.source.as_ref().map(|source| source.fork()),
            is_resumed: self.is_resumed,
            paused: self.paused.clone(),
            held: self.held.clone(),
            held_bytes: self.held_bytes,
            attachments: self.attachments.clone(),
            out: self.out.clone(),
        }
    }
}

#[derive(Clone)]
struct Held {
    text: String,
    ending: String,
    event: String,
}

impl Translator {
    fn new(options: ReaderOptions) -> Self {
        let mut translator = Self {
            provider: None,
            source: None,
            is_resumed: false,
            paused: Vec::new(),
            held: Vec::new(),
            held_bytes: 0,
            attachments: Vec::new(),
            out: Emitter::new(options.with_raw).with_media(options.with_media),
            options,
        };
        if let Some(provider) = translator.options.from {
            translator.recognised(&provider);
        }
        translator
    }

    fn framed(&mut self, framed: Framed<'_>) {
        match framed {
            Framed::Frame(frame) => self.frame(&frame),
            Framed::Oversized { bytes, head } => {
                let limit = self.options.frame_limit;
                let mut text = format!(
                    "A frame of {bytes} bytes is over the limit of {limit} bytes and was left out"
                );
                text += match head {
                    "" => ".",
                    _ => ": ",
                };
                text += head;
                text += if head.is_empty() { "" } else { "…" };
                self.out.begin(&Frame::new(""));
                self.out.left_out(bytes, text);
            }
        }
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        let is_text = self
            .provider
            .as_ref()
            .is_some_and(|provider| provider.input == Input::Text);
        let is_list = !is_text && frame.text.trim_start().starts_with('[');
        // Nobody's list is passed on as it is.
        if is_list && (self.provider.is_some() || self.is_claimed(frame)) {
            each_item(frame, &mut |item| self.single(item));
        } else {
            self.single(frame);
        }
    }

    /// Returns true if a provider recognises an item of a list.
    fn is_claimed(&self, list: &Frame<'_>) -> bool {
        let mut is_claimed = false;
        each_item(list, &mut |item| {
            is_claimed = is_claimed || recognised_by(&self.options.providers, item).is_some();
        });
        is_claimed
    }

    fn single(&mut self, frame: &Frame<'_>) {
        if self.provider.is_none()
            && let Some(provider) = recognised_by(&self.options.providers, frame).copied()
        {
            self.recognised(&provider);
        }
        if self.source.is_some() {
            self.translate(frame);
            return;
        }
        self.held_bytes += frame.text.len();
        self.held.push(Held {
            text: frame.text.to_owned(),
            ending: frame.ending.to_owned(),
            event: frame.event.to_owned(),
        });
        if self.held.len() >= HELD_FRAMES || self.held_bytes >= HELD_BYTES {
            self.release_held();
        }
    }

    /// Switches to the provider's source and translates the held frames.
    fn recognised(&mut self, provider: &Provider) {
        self.provider = Some(*provider);
        if self.source.is_some() {
            // Text before the first recognised frame is not part of the agent's
            // answer.
            self.out.end_message();
        }
        self.out.set_tools(provider.tools);
        let mut source = (provider.open)();
        for (name, bytes) in std::mem::take(&mut self.attachments) {
            source.attach(&name, &bytes);
        }
        self.source = Some(source);
        self.release();
    }

    /// Passes held frames on unrecognised. Recognition continues with later
    /// frames.
    fn release_held(&mut self) {
        self.source = Some((raw::PROVIDER.open)());
        self.release();
    }

    fn release(&mut self) {
        let is_read = self.provider.is_some_and(|p| p.input == Input::Json);
        for held in std::mem::take(&mut self.held) {
            let frame = Frame {
                text: &held.text,
                ending: &held.ending,
                event: &held.event,
            };
            if is_read && held.text.trim_start().starts_with('[') {
                each_item(&frame, &mut |item| self.translate(item));
            } else {
                self.translate(&frame);
            }
        }
    }

    fn translate(&mut self, frame: &Frame<'_>) {
        let is_text = self
            .provider
            .as_ref()
            .is_none_or(|provider| provider.input == Input::Text);
        if !is_text && crate::json::trim(frame.text).is_empty() {
            return;
        }
        self.out.begin(frame);
        if let Some(source) = &mut self.source {
            source.frame(frame, &mut self.out);
        }
        if let Some(provider) = self.other_provider(frame) {
            self.out.take_back();
            self.switch_run(&provider);
            self.translate(frame);
        }
    }

    /// Returns the provider that reads an incomplete line as text.
    fn text_provider(&self, line: &str) -> Option<Provider> {
        let found = || recognised_by(&self.options.providers, &Frame::new(line)).copied();
        let provider = self.provider.or_else(found)?;
        (provider.input == Input::Text).then_some(provider)
    }

    fn pause(&mut self, line: &str) -> usize {
        self.out.begin(&Frame::new(line));
        let source = self.source.as_mut();
        source.map_or(0, |source| source.pause(line, &mut self.out))
    }

    /// Returns the provider of another run if the current source does not know
    /// this frame, but another provider recognises it.
    fn other_provider(&self, frame: &Frame<'_>) -> Option<Provider> {
        let current = self.provider.as_ref()?;
        if self.options.from.is_some() {
            return None;
        }
        if current.input == Input::Text || !self.out.is_unknown(frame) {
            return None;
        }
        recognised_by(&self.options.providers, frame)
            .filter(|other| other.name != current.name && other.input == Input::Json)
            .copied()
    }

    fn finish(&mut self) {
        if self.source.is_none() {
            self.release_held();
        }
        self.out.end_of_input();
        self.finish_runs();
        self.out.release_edits();
        self.out.accept_plans();
    }
}
