//! Bytes in, events out: framing, recognition and translation in one object.
//!
//! The provider is recognised by the first frame that only one provider could
//! have written. Until then a few frames are held; what nobody recognises is
//! passed on as text or `unknown`, and recognition goes on, so that noise
//! before a stream does no harm. `reader/runs.rs` knows what becomes of a run
//! that another one comes behind.

mod runs;

use crate::event::Event;
use crate::frame::{Frame, Framed, Framer};
use crate::source::{BUILTIN, Emitter, Input, Probe, Provider, Source, raw};
use runs::Run;

/// Frames held while no provider recognised any.
const HELD_FRAMES: usize = 16;
/// Bytes held in those frames.
const HELD_BYTES: usize = 1 << 16;

/// Settings of a [`Reader`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReaderOptions {
    /// The provider; `None` to recognise it.
    pub from: Option<Provider>,
    /// Frames with more bytes than this become a notice.
    pub frame_limit: usize,
    /// Whether each event carries its source frame.
    pub with_raw: bool,
    /// The providers that are asked, in this order.
    pub providers: Vec<Provider>,
}

impl Default for ReaderOptions {
    fn default() -> Self {
        Self {
            from: None,
            frame_limit: 256 << 20,
            with_raw: false,
            providers: BUILTIN.to_vec(),
        }
    }
}

setters! {
    ReaderOptions {
        with_from => from: Option<Provider>,
        with_frame_limit => frame_limit: usize,
        with_raw => with_raw: bool,
        with_providers => providers: Vec<Provider>,
    }
}

/// Reads one stream of one agent.
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
    /// A reader that recognises the provider.
    pub fn new() -> Self {
        Self::with_options(ReaderOptions::default())
    }

    /// A reader with settings.
    pub fn with_options(options: ReaderOptions) -> Self {
        let text_only = options.from.is_some_and(|from| from.input == Input::Text);
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

    /// Takes the next bytes. However a stream is cut into chunks, it gives the
    /// same events.
    pub fn push(&mut self, bytes: &[u8]) {
        let translator = &mut self.translator;
        self.framer
            .push(bytes, &mut |framed| translator.framed(framed));
    }

    /// Does not wait any longer for a frame that tells the provider: what was
    /// held becomes events. Later frames are still asked.
    pub fn release(&mut self) {
        if self.translator.source.is_none() && !self.translator.held.is_empty() {
            self.translator.give_up_holding();
        }
    }

    /// The input has ended: what was held or open becomes events.
    pub fn finish(&mut self) {
        let translator = &mut self.translator;
        self.framer.finish(&mut |framed| translator.framed(framed));
        translator.finish();
    }

    /// Takes the oldest event out, if there is one.
    pub fn pop(&mut self) -> Option<Event> {
        self.translator.out.pop()
    }

    /// Takes all events out that are ready.
    pub fn events(&mut self) -> impl Iterator<Item = Event> {
        std::iter::from_fn(|| self.translator.out.pop())
    }

    /// Gives the reader a file that belongs to the session, before the bytes
    /// that refer to it: a sub-agent's own record, for example. `name` is its
    /// path relative to the session.
    pub fn attach(&mut self, name: &str, bytes: &[u8]) {
        if let Some(source) = &mut self.translator.source {
            source.attach(name, bytes);
        } else {
            let attachment = (name.to_owned(), bytes.to_vec());
            self.translator.attachments.push(attachment);
        }
    }

    /// The provider, once it is known.
    pub fn provider(&self) -> Option<Provider> {
        self.translator.provider
    }
}

/// The built-in provider of an input that begins with these bytes, without
/// reading any further into it. `whole` says that nothing follows.
pub fn recognise(bytes: &[u8], whole: bool) -> Option<Provider> {
    let mut found = None;
    let mut look = |framed: Framed<'_>| {
        if let (None, Framed::Frame(frame)) = (found, framed) {
            each_item(&frame, &mut |item| {
                found = found.or_else(|| asked(BUILTIN, item));
            });
        }
    };
    let mut framer = Framer::detecting(usize::MAX / 2);
    framer.push(bytes, &mut look);
    if whole {
        framer.finish(&mut look);
    }
    found
}

/// The first of the providers that recognises the frame.
fn asked(providers: &[Provider], frame: &Frame<'_>) -> Option<Provider> {
    if frame.text.trim().is_empty() {
        return None;
    }
    let probe = Probe::new(frame);
    providers
        .iter()
        .copied()
        .find(|provider| (provider.recognise)(&probe))
}

/// A line that is a JSON array of objects stands for its items.
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

/// Frames → events, with the recognition of the provider.
struct Translator {
    options: ReaderOptions,
    provider: Option<Provider>,
    source: Option<Box<dyn Source>>,
    /// The run went on after others had come between.
    goes_on: bool,
    /// Runs that are not over, as far as is known.
    kept: Vec<Run>,
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
            goes_on: self.goes_on,
            kept: self.kept.clone(),
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
            goes_on: false,
            kept: Vec::new(),
            held: Vec::new(),
            held_bytes: 0,
            attachments: Vec::new(),
            out: Emitter::new(options.with_raw),
            options,
        };
        if let Some(provider) = translator.options.from {
            translator.recognised(provider);
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
            .is_some_and(|provider| provider.input == Input::Text);
        if !is_text && frame.text.trim_start().starts_with('[') {
            each_item(frame, &mut |item| self.single(item));
        } else {
            self.single(frame);
        }
    }

    fn single(&mut self, frame: &Frame<'_>) {
        if self.provider.is_none()
            && let Some(provider) = asked(&self.options.providers, frame)
        {
            self.recognised(provider);
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
            self.give_up_holding();
        }
    }

    /// From here on a source translates; what was held goes first.
    fn recognised(&mut self, provider: Provider) {
        self.provider = Some(provider);
        if self.source.is_some() {
            // What was passed on as it is, is no part of the agent's answer.
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

    /// Nobody recognised the beginning. The frames go on as they are, while
    /// later ones are still asked.
    fn give_up_holding(&mut self) {
        self.source = Some((raw::PROVIDER.open)());
        self.release();
    }

    fn release(&mut self) {
        for held in std::mem::take(&mut self.held) {
            self.translate(&Frame {
                text: &held.text,
                ending: &held.ending,
                event: &held.event,
            });
        }
    }

    fn translate(&mut self, frame: &Frame<'_>) {
        let is_text = self
            .provider
            .is_none_or(|provider| provider.input == Input::Text);
        if !is_text && crate::json::trim(frame.text).is_empty() {
            return;
        }
        self.out.begin(frame);
        if let Some(source) = &mut self.source {
            source.frame(frame, &mut self.out);
        }
        if let Some(provider) = self.another(frame) {
            self.out.take_back();
            self.turn_to(provider);
            self.translate(frame);
        }
    }

    /// The provider of another run that begins or goes on with this frame, which
    /// the source does not know and somebody else does.
    fn another(&self, frame: &Frame<'_>) -> Option<Provider> {
        let current = self.provider.filter(|_| self.options.from.is_none())?;
        if current.input == Input::Text || !self.out.is_unknown(frame) {
            return None;
        }
        asked(&self.options.providers, frame)
            .filter(|other| other.name != current.name && other.input == Input::Json)
    }

    fn finish(&mut self) {
        if self.source.is_none() {
            self.give_up_holding();
        }
        self.out.end_of_input();
        self.finish_runs();
        self.out.release_edits();
    }
}
