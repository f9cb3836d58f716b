//! Events → cards → a page or a comment.
//!
//! What stands at the top is known only after a few events: cards wait for the
//! first prompt, which names a run that has no title.

use std::io::{self, Write};
use std::path::Path;

use unspool::doc::card::{self, Card};
use unspool::doc::entry::{Detail, Reasoning};
use unspool::event::{Body, Event, Session};
use unspool::output::About;
use unspool::output::html::{self, Html};
use unspool::output::markdown::Markdown;
use unspool::session::{Entry, Item};
use unspool::source;
use unspool::stats::Stats;
use unspool::transcript::Transcript;
use unspool_sessions::input::Input;

use super::events;
use crate::cli::{Export, Format, ReasoningShown, Scheme};
use crate::status::Status;
use crate::{filter, summary};

/// Bytes of a comment, unless something else is asked for: GitHub takes a few more.
const LARGEST: usize = 65_000;

/// Cards that wait for what names the run.
const MOST_WAITING: usize = 64;

/// Bytes of a page from which on code has no colours: a browser takes longer
/// for them than for all the rest.
const MOST_COLOURED: usize = 6_000_000;

/// Characters of a title that is a prompt.
const LONGEST_TITLE: usize = 120;

/// Writes one run. The outer error is about the output, the inner one about the
/// input.
pub(super) fn write(
    input: &mut Input,
    arguments: &Export,
    format: Format,
    out: impl Write,
) -> anyhow::Result<io::Result<Status>> {
    let mut page = Page {
        arguments,
        format,
        name: input.name.clone(),
        back: Back::Waiting(out, Vec::new()),
        session: Session::default(),
        title: String::new(),
        began: None,
        stats: Stats::default(),
        is_empty: true,
    };
    let mut transcript = Transcript::new();
    let read = events(input, arguments, format, |event| {
        page.event(event, &mut transcript)
    })?;
    let mut entries = Vec::new();
    transcript.finish(&mut |entry| entries.push(entry));
    entries.iter().try_for_each(|entry| page.entry(entry))?;
    if page.is_empty {
        super::tell_nothing(arguments, &page.name);
    }
    page.finish()?;
    Ok(read)
}

/// What cards are written to.
enum Back<W> {
    /// Nothing is written yet.
    Waiting(W, Vec<Card>),
    Html(Box<Html<W>>),
    Markdown(Box<Markdown<W>>),
    /// Only between two of the above.
    Gone,
}

struct Page<'a, W> {
    arguments: &'a Export,
    format: Format,
    /// The name of the input.
    name: String,
    back: Back<W>,
    /// What is known of the session.
    session: Session,
    /// The first prompt.
    title: String,
    /// When the first event happened.
    began: Option<String>,
    stats: Stats,
    /// Whether no entry passed the filters.
    is_empty: bool,
}

impl<W: Write> Page<'_, W> {
    fn event(&mut self, event: Event, transcript: &mut Transcript) -> anyhow::Result<()> {
        self.stats.event(&event);
        if self.began.is_none() {
            self.began.clone_from(&event.time);
        }
        if let (Body::Session(session), None) = (&event.body, &event.agent) {
            learn(&mut self.session, session);
        }
        let mut entries = Vec::new();
        transcript.event(event, &mut |entry| entries.push(entry));
        entries.iter().try_for_each(|entry| self.entry(entry))
    }

    fn entry(&mut self, entry: &Entry) -> anyhow::Result<()> {
        if let (true, None, Item::User(user)) = (self.title.is_empty(), &entry.agent, &entry.item) {
            self.title = first_line(&user.text.as_str());
        }
        if !filter::shows(&self.arguments.filter, entry) {
            return Ok(());
        }
        let Some(card) = card::card(entry, &self.detail()) else {
            return Ok(());
        };
        self.is_empty = false;
        match &mut self.back {
            Back::Waiting(_, waiting) => {
                waiting.push(card);
                let is_named = !self.title.is_empty() || !self.session.title.is_empty();
                if is_named || waiting.len() >= MOST_WAITING {
                    self.begin()?;
                }
            }
            Back::Html(html) => html.card(&card)?,
            Back::Markdown(markdown) => markdown.card(&card),
            Back::Gone => {}
        }
        Ok(())
    }

    /// Writes the top and what waits for it.
    fn begin(&mut self) -> anyhow::Result<()> {
        let Back::Waiting(out, waiting) = std::mem::replace(&mut self.back, Back::Gone) else {
            return Ok(());
        };
        let about = self.about();
        if self.format == Format::Markdown {
            let mut markdown =
                Markdown::new(out, about, self.arguments.max_size.unwrap_or(LARGEST));
            for card in &waiting {
                markdown.card(card);
            }
            self.back = Back::Markdown(Box::new(markdown));
        } else {
            let mut html = Html::new(out, &about, self.scheme())?;
            waiting.iter().try_for_each(|card| html.card(card))?;
            self.back = Back::Html(Box::new(html));
        }
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<()> {
        if matches!(self.back, Back::Waiting(..)) {
            self.begin()?;
        }
        let figures = summary::figures(&self.stats);
        match self.back {
            Back::Html(html) => html.finish(&figures)?.flush()?,
            Back::Markdown(markdown) => markdown.finish(&figures)?.flush()?,
            Back::Waiting(..) | Back::Gone => {}
        }
        Ok(())
    }

    fn scheme(&self) -> Option<html::Scheme> {
        self.arguments.theme.map(|theme| match theme {
            Scheme::Light => html::Scheme::Light,
            Scheme::Dark => html::Scheme::Dark,
        })
    }

    fn detail(&self) -> Detail {
        Detail::default()
            .with_reasoning(match self.arguments.reasoning {
                ReasoningShown::Title => Reasoning::Title,
                ReasoningShown::Full => Reasoning::Full,
                ReasoningShown::Off => Reasoning::Off,
            })
            .with_highlight(
                self.format == Format::Html
                    && !matches!(&self.back, Back::Html(html) if html.written() > MOST_COLOURED),
            )
    }

    /// The name of the file, for a run that nothing else names.
    fn file_name(&self) -> String {
        let name = Path::new(&self.name).file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    fn about(&self) -> About {
        let session = &self.session;
        let provider = source::provider(&session.provider);
        let agent = match provider {
            // Events do not say any more which agent it was.
            Some(provider) if provider.name == "unspool" => "",
            Some(provider) => provider.about.split(':').next().unwrap_or_default(),
            None => &session.provider,
        };
        let agent = format!("{agent} {}", session.version);
        let model = [&session.model, &self.stats.model];
        let model = model.into_iter().find(|model| !model.is_empty());
        let facts = [
            ("Agent", agent.trim().to_owned()),
            ("Model", model.cloned().unwrap_or_default()),
            ("Folder", session.cwd.clone()),
            (
                "Began",
                self.began.as_deref().map(minute).unwrap_or_default(),
            ),
        ];
        let named = [&session.title, &self.title];
        let title = named.into_iter().find(|title| !title.is_empty());
        About {
            title: title.map_or_else(|| self.file_name(), Clone::clone),
            facts: facts
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        }
    }
}

/// Takes over what is said about the session.
fn learn(known: &mut Session, new: &Session) {
    let fields = [
        (&mut known.provider, &new.provider),
        (&mut known.version, &new.version),
        (&mut known.id, &new.id),
        (&mut known.model, &new.model),
        (&mut known.cwd, &new.cwd),
        (&mut known.title, &new.title),
    ];
    for (known, new) in fields {
        if !new.is_empty() {
            known.clone_from(new);
        }
    }
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut title: String = line.chars().take(LONGEST_TITLE).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    title
}

/// A time to the minute.
fn minute(time: &str) -> String {
    let time: Result<jiff::Timestamp, _> = time.parse();
    time.map(|time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
        .unwrap_or_default()
}
