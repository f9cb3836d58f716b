//! `unspool [FILE…]`: shows a run, as text, with its calls, or in full.

use std::io::{self, BufWriter, Read, Write};

use unspool::answer::Answer;
use unspool::event::{Body, TurnStatus};
use unspool::formatter::Formatter;
use unspool::session::{Entry, Item, Session};
use unspool::stats::Stats;
use unspool::{Event, Reader, ReaderOptions};

use crate::cli::{Display, Filter, Look, Show};
use crate::input::{self, Input};
use crate::settings::Settings;
use crate::{Status, complain, filter, summary, terminal};

/// Bytes read at once.
const CHUNK: usize = 1 << 17;

pub(crate) fn run(arguments: &Show) -> anyhow::Result<Status> {
    let mut out = BufWriter::with_capacity(CHUNK, io::stdout().lock());
    let mut status = Status::Success;
    let show = Showing {
        settings: Settings::new(&arguments.look),
        look: &arguments.look,
        filter: &arguments.filter,
        reader: arguments.source.reader_options(false),
    };
    for path in input::or_stdin(&arguments.files)? {
        let inputs = if arguments.look.raw {
            input::untouched(&path)
        } else {
            input::open(&path, arguments.source.from())
        };
        let inputs = match inputs {
            Ok(inputs) => inputs,
            Err(error) => {
                complain(&error);
                status = Status::Unreadable;
                continue;
            }
        };
        for input in inputs {
            let name = input.name.clone();
            status = match show.input(input, &mut out)? {
                Ok(ended) => status.worse(ended),
                Err(error) => {
                    complain(&anyhow::Error::new(error).context(name));
                    Status::Unreadable
                }
            };
        }
    }
    out.flush()?;
    Ok(status)
}

/// Shows an input that is no file, to its end.
pub(crate) fn recording(look: &Look, input: Input) -> anyhow::Result<Status> {
    let show = Showing {
        settings: Settings::new(look),
        look,
        filter: &Filter::default(),
        reader: ReaderOptions::default(),
    };
    Ok(show.input(input, &mut BufWriter::new(io::stdout().lock()))??)
}

/// Passes the bytes on. The outer error is about the output, the inner one
/// about the input.
fn copy(input: &mut Input, out: &mut impl Write) -> io::Result<io::Result<()>> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match input.bytes.read(&mut chunk) {
            Ok(0) => return Ok(Ok(())),
            Ok(length) => out.write_all(chunk.get(..length).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Ok(Err(error)),
        }
        out.flush()?;
    }
}

/// How inputs are shown.
struct Showing<'a> {
    settings: Settings,
    look: &'a Look,
    filter: &'a Filter,
    reader: ReaderOptions,
}

impl Showing<'_> {
    /// Shows one input to its end. The outer error is about the output, the
    /// inner one about the input.
    fn input(&self, mut input: Input, out: &mut impl Write) -> anyhow::Result<io::Result<Status>> {
        if self.look.raw {
            return Ok(copy(&mut input, out)?.map(|()| Status::Success));
        }
        let mut reader = Reader::with_options(self.reader.clone());
        for (name, bytes) in &input.attachments {
            reader.attach(name, bytes);
        }
        let mut view = View::new(self);
        let mut stats = Stats::default();
        let mut chunk = vec![0; CHUNK];
        let read = loop {
            match input.bytes.read(&mut chunk) {
                Ok(0) => break Ok(()),
                Ok(length) => reader.push(chunk.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
            for event in reader.events() {
                stats.event(&event);
                view.event(event, out)?;
            }
            out.flush()?;
        };
        reader.finish();
        for event in reader.events() {
            stats.event(&event);
            view.event(event, out)?;
        }
        view.finish(out)?;
        if self.settings.summary {
            summary::write(&stats, &self.settings, out)?;
        }
        out.flush()?;
        Ok(read.map(|()| Status::of(stats.status)))
    }
}

/// What the events are turned into.
enum View<'a> {
    Answer(Answer),
    Full(Box<Full<'a>>),
}

impl<'a> View<'a> {
    fn new(show: &'a Showing<'_>) -> Self {
        let answer = |answer: Answer| Self::Answer(answer.sanitized(terminal::is_terminal()));
        match show.look.display {
            Display::Text => answer(Answer::text()),
            Display::Verbose => answer(Answer::verbose()),
            Display::Full => Self::Full(Box::new(Full {
                session: Session::new(),
                formatter: show.settings.formatter(),
                width: show.settings.width,
                filter: show.filter,
                spent: None,
                last: None,
            })),
        }
    }

    fn event(&mut self, event: Event, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Answer(answer) => answer.event(&event, out),
            Self::Full(full) => full.event(event, out),
        }
    }

    fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Answer(answer) => answer.finish(out),
            Self::Full(full) => full.finish(out),
        }
    }
}

/// Entries, each written once when it is finished.
struct Full<'a> {
    session: Session,
    formatter: Formatter,
    width: usize,
    filter: &'a Filter,
    /// Tokens and cost of the turn, however often the agent tells them.
    spent: Option<Stats>,
    /// Whether the last entry was prose, once there was one.
    last: Option<bool>,
}

impl Full<'_> {
    fn event(&mut self, event: Event, out: &mut impl Write) -> io::Result<()> {
        if matches!(event.body, Body::Usage(_)) {
            self.spent.get_or_insert_default().event(&event);
            return Ok(());
        }
        let ends_turn = matches!(event.body, Body::TurnEnd(_)) && event.agent.is_none();
        let mut entries = Vec::new();
        self.session.apply(event, &mut |entry| entries.push(entry));
        entries
            .iter()
            .try_for_each(|entry| self.write(entry, out))?;
        if ends_turn { self.usage(out) } else { Ok(()) }
    }

    /// What was spent since this was last told.
    fn usage(&mut self, out: &mut impl Write) -> io::Result<()> {
        let Some(spent) = self.spent.take() else {
            return Ok(());
        };
        let entry = Entry {
            time: None,
            agent: None,
            item: Item::Usage(spent.usage()),
        };
        self.write(&entry, out)
    }

    fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        let mut entries = Vec::new();
        self.session.finish(&mut |entry| entries.push(entry));
        entries
            .iter()
            .try_for_each(|entry| self.write(entry, out))?;
        self.usage(out)
    }

    /// Calls stand together; prose stands apart.
    fn write(&mut self, entry: &Entry, out: &mut impl Write) -> io::Result<()> {
        if !filter::shows(self.filter, entry) {
            return Ok(());
        }
        let text = self.formatter.format_entry(entry, self.width);
        if text.is_empty() {
            return Ok(());
        }
        let is_prose = matches!(
            entry.item,
            Item::Text(_) | Item::User(_) | Item::Reasoning(_)
        );
        if self.last.is_some_and(|was_prose| was_prose || is_prose) {
            out.write_all(b"\n")?;
        }
        self.last = Some(is_prose);
        writeln!(out, "{text}")
    }
}

impl Status {
    fn of(end: Option<TurnStatus>) -> Self {
        match end {
            None | Some(TurnStatus::Completed) => Self::Success,
            Some(_) => Self::AgentFailed,
        }
    }
}
