//! Writes a run as one self-contained HTML page, or as a Markdown comment.
//!
//! [`crate::page()`] makes a page of bytes in one call. [`Page`] takes events as
//! they come and writes while it reads: memory holds one entry, and a comment.
//! Nothing is redacted here; see `redact`.
//!
//! ```
//! use unspool::event::{Body, Event, Message, User};
//! use unspool::page::{Options, Page};
//!
//! let mut html = Vec::new();
//! let mut page = Page::html(&mut html, Options::default().with_title("run.jsonl"));
//! page.event(Event::new(User::new("Say hello")))?;
//! page.event(Event::new(Body::Text(Message::new("m1", "Hello <b>world</b>"))))?;
//! page.finish()?;
//! let html = String::from_utf8(html).unwrap_or_default();
//! assert!(html.contains("<title>Say hello</title>"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod heading;

use std::io::{self, Write};

use crate::doc::card::{self, Card};
use crate::doc::entry::{Detail, Excerpt};
use crate::event::{Event, Payload};
use crate::output::html::Html;
use crate::output::markdown::Markdown;
use crate::session::Entry;
use crate::transcript::Transcript;
use heading::Heading;

pub use crate::doc::entry::Reasoning;
pub use crate::output::html::Scheme;

/// Cards that wait for the title and the model of the run.
const MOST_WAITING: usize = 64;

/// Bytes of a page after which code is no longer highlighted: a browser would
/// take longer for it than for all the rest.
const MOST_HIGHLIGHTED: usize = 6_000_000;

/// Default maximum bytes of embedded pictures.
const MAX_MEDIA: u64 = 20_000_000;

/// Settings of a [`Page`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The title of a run that neither its session nor a prompt names.
    pub title: String,
    /// The colour scheme of a page; that of the reader's system if not set.
    pub scheme: Option<Scheme>,
    /// The amount of reasoning shown.
    pub reasoning: Reasoning,
    /// Maximum bytes of the pictures that a page embeds; one may take a quarter
    /// of it. 0 embeds none: they are described instead. Pictures are not
    /// redacted, and the events hold them only if the reader was asked for them,
    /// see [`ReaderOptions::with_media`](crate::ReaderOptions::with_media).
    pub max_media: u64,
    /// Maximum bytes of a comment. GitHub takes a few more than the default of
    /// 65,000; less than 4,000 is not possible.
    pub max_size: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            title: String::new(),
            scheme: None,
            reasoning: Reasoning::Title,
            max_media: MAX_MEDIA,
            max_size: 65_000,
        }
    }
}

setters! {
    Options {
        with_title => title: String,
        with_scheme => scheme: Option<Scheme>,
        with_reasoning => reasoning: Reasoning,
        with_max_media => max_media: u64,
        with_max_size => max_size: usize,
    }
}

/// Decides whether an entry is shown.
type Filter<'a> = Box<dyn Fn(&Entry) -> bool + 'a>;

/// A page or a comment that is being written.
///
/// All methods that write fail if the writer does.
pub struct Page<'a, W> {
    options: Options,
    filter: Filter<'a>,
    format: Format,
    state: State<W>,
    heading: Heading,
    transcript: Transcript,
    is_empty: bool,
    /// Bytes of pictures so far.
    embedded: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Html,
    Comment,
}

enum State<W> {
    /// The title is not known, and nothing is written.
    Waiting(W, Vec<Card>),
    Html(Box<Html<W>>),
    Comment(Box<Markdown<W>>),
    Finished,
}

impl<'a, W: Write> Page<'a, W> {
    /// Starts an HTML page.
    pub fn html(out: W, options: Options) -> Self {
        Self::new(out, options, Format::Html)
    }

    /// Starts a comment in Markdown, for a pull request or an issue.
    pub fn comment(out: W, options: Options) -> Self {
        Self::new(out, options, Format::Comment)
    }

    fn new(out: W, options: Options, format: Format) -> Self {
        Self {
            options,
            filter: Box::new(|_| true),
            format,
            state: State::Waiting(out, Vec::new()),
            heading: Heading::default(),
            transcript: Transcript::new(),
            is_empty: true,
            embedded: 0,
        }
    }

    /// Shows only the entries for which this is true.
    pub fn with_filter(self, filter: impl Fn(&Entry) -> bool + 'a) -> Self {
        Self {
            filter: Box::new(filter),
            ..self
        }
    }

    /// Takes the next event.
    pub fn event(&mut self, mut event: Event) -> io::Result<()> {
        self.limit_media(&mut event);
        self.heading.event(&event);
        let mut entries = Vec::new();
        self.transcript
            .event(event, &mut |entry| entries.push(entry));
        entries.iter().try_for_each(|entry| self.entry(entry))
    }

    /// Drops the content of pictures that the page does not embed.
    fn limit_media(&mut self, event: &mut Event) {
        let limit = match self.format {
            Format::Html => self.options.max_media,
            Format::Comment => 0,
        };
        for media in event.media_mut() {
            let size = media.data_size();
            let is_within = size <= limit / 4 && size <= limit.saturating_sub(self.embedded);
            if size > 0 && is_within && media.raster().is_some() {
                self.embedded += size;
            } else {
                media.data = Payload::default();
            }
        }
    }

    /// Returns the bytes of embedded pictures.
    pub fn embedded_media(&self) -> u64 {
        self.embedded
    }

    /// Ends the page.
    pub fn finish(&mut self) -> io::Result<()> {
        let mut entries = Vec::new();
        self.transcript.finish(&mut |entry| entries.push(entry));
        entries.iter().try_for_each(|entry| self.entry(entry))?;
        self.begin()?;
        let figures = self.heading.figures();
        match std::mem::replace(&mut self.state, State::Finished) {
            State::Html(html) => html.finish(&figures)?.flush(),
            State::Comment(comment) => comment.finish(&figures)?.flush(),
            State::Waiting(..) | State::Finished => Ok(()),
        }
    }

    /// Returns true if no entry was shown.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        self.heading.entry(entry);
        if !(self.filter)(entry) {
            return Ok(());
        }
        let Some(card) = card::card(entry, &self.detail()) else {
            return Ok(());
        };
        self.is_empty = false;
        match &mut self.state {
            State::Waiting(_, waiting) => {
                waiting.push(card);
                if self.heading.is_complete() || waiting.len() >= MOST_WAITING {
                    self.begin()?;
                }
            }
            State::Html(html) => html.card(&card)?,
            State::Comment(comment) => comment.card(&card),
            State::Finished => {}
        }
        Ok(())
    }

    /// Writes the heading and the cards that wait for it.
    fn begin(&mut self) -> io::Result<()> {
        let (out, waiting) = match std::mem::replace(&mut self.state, State::Finished) {
            State::Waiting(out, waiting) => (out, waiting),
            state => {
                self.state = state;
                return Ok(());
            }
        };
        let about = self.heading.about(&self.options.title);
        self.state = match self.format {
            Format::Html => {
                let mut html = Html::new(out, &about, self.options.scheme)?;
                waiting.iter().try_for_each(|card| html.card(card))?;
                State::Html(Box::new(html))
            }
            Format::Comment => {
                let mut comment = Markdown::new(out, about, self.options.max_size);
                for card in &waiting {
                    comment.card(card);
                }
                State::Comment(Box::new(comment))
            }
        };
        Ok(())
    }

    fn detail(&self) -> Detail {
        let is_large =
            matches!(&self.state, State::Html(html) if html.written() > MOST_HIGHLIGHTED);
        let failed = match self.format {
            Format::Html => Excerpt::Tail,
            // A comment has no folded sections; it cuts outputs itself.
            Format::Comment => Excerpt::Head,
        };
        Detail::default()
            .with_failed(failed)
            .with_relative_paths(true)
            .with_reasoning(self.options.reasoning)
            .with_highlight(self.format == Format::Html && !is_large)
    }
}
