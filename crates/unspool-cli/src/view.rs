//! What events are turned into: an answer, a transcript, or a live screen.

use std::io::{self, Write};
use std::time::Instant;

use unspool::Event;
use unspool::answer::Answer;
use unspool::doc::Line;
use unspool::stats::Stats;

use crate::cli::{Display, Filter};
use crate::settings::Settings;
use crate::status::{Status, complain};
use crate::{filter, terminal};

mod actions;
mod fault;
mod full;
mod live;

use fault::Fault;
use full::Full;
use live::Live;

pub(crate) use actions::harmless;

/// One run, shown in one of the modes.
pub(crate) enum View<'a> {
    Answer(Answer, Fault),
    Full(Box<Full<'a>>),
    Live(Box<Live<'a>>),
}

impl<'a> View<'a> {
    /// A view that only ever adds to what is written.
    pub(crate) fn new(settings: &Settings, filter: &'a Filter) -> Self {
        let answer =
            |answer: Answer| Self::Answer(answer.sanitized(settings.is_terminal), Fault::default());
        match settings.display {
            Display::Text => answer(Answer::text()),
            Display::Verbose => answer(Answer::verbose()),
            Display::Full => Self::Full(Box::new(Full::new(settings, filter))),
        }
    }

    /// A view of something that still goes on: where the terminal allows it,
    /// what is open is painted anew.
    pub(crate) fn live(settings: &Settings, filter: &'a Filter) -> Self {
        if settings.live {
            terminal::restore_on_panic();
            let live = Live::new(settings, filter, &terminal::ask());
            Self::Live(Box::new(live))
        } else {
            Self::new(settings, filter)
        }
    }

    /// Shows what the event adds.
    pub(crate) fn event(&mut self, event: Event, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Answer(answer, fault) => {
                fault.event(&event);
                answer.event(&event, out)
            }
            Self::Full(full) => full.event(event, out),
            Self::Live(live) => {
                live.event(event);
                Ok(())
            }
        }
    }

    /// All that is known so far was handed over.
    pub(crate) fn settle(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Answer(..) | Self::Full(_) => out.flush(),
            Self::Live(live) => live.paint(out),
        }
    }

    /// When [`settle`](Self::settle) is due again, if nothing else happens.
    pub(crate) fn due(&self) -> Option<Instant> {
        match self {
            Self::Answer(..) | Self::Full(_) => None,
            Self::Live(live) => live.due(),
        }
    }

    /// Whether this paints on a terminal.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self, Self::Live(_))
    }

    /// Whether nothing passed the filter of a transcript.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Full(full) if !full.has_written)
    }

    /// Why the run failed, where what is shown does not tell.
    fn fault(&self) -> Option<&str> {
        match self {
            Self::Answer(_, fault) => fault.words(),
            Self::Full(_) | Self::Live(_) => None,
        }
    }

    /// Reports on standard error what the view does not show: why the run failed, and
    /// that a filter by time found no times to compare with.
    pub(crate) fn report_unshown(&self, stats: &Stats, filter: &Filter, name: &str) {
        if let Some(words) = filter::untimed(filter, stats) {
            complain(&anyhow::anyhow!("{name}: {words}"));
        }
        if let Some(words) = self.fault()
            && Status::of(stats) == Status::AgentFailed
        {
            complain(&anyhow::anyhow!("{name}: {words}"));
        }
    }

    /// Shows lines that are not the agent's output, on a live screen.
    pub(crate) fn aside(&mut self, lines: &[Line]) {
        if let Self::Live(live) = self {
            live.aside(lines);
        }
    }

    /// The terminal may have another size now.
    pub(crate) fn resize(&mut self) {
        if let Self::Live(live) = self {
            live.resize();
        }
    }

    /// Leaves the screen to somebody else for a while.
    pub(crate) fn leave(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Answer(..) | Self::Full(_) => out.flush(),
            Self::Live(live) => live.leave(out),
        }
    }

    /// The run is over: shows what was open.
    pub(crate) fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Answer(answer, _) => answer.finish(out),
            Self::Full(full) => full.finish(out),
            Self::Live(live) => live.finish(out),
        }
    }
}
