//! Output modes of a run: answer, transcript or live screen.

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

mod failure;
mod full;
mod github_actions;
mod live;

use failure::RunFailure;
use full::Full;
use live::Live;

pub(crate) use github_actions::harmless;

/// A run in one of the output modes.
pub(crate) enum View<'a> {
    Answer(Answer, RunFailure),
    Full(Box<Full<'a>>),
    Live(Box<Live<'a>>),
}

impl<'a> View<'a> {
    /// Creates a view that only appends.
    pub(crate) fn new(settings: &Settings, filter: &'a Filter) -> Self {
        let answer = |answer: Answer| {
            Self::Answer(
                answer.sanitized(settings.is_terminal),
                RunFailure::default(),
            )
        };
        match settings.display {
            Display::Text => answer(Answer::text()),
            Display::Verbose => answer(Answer::verbose()),
            Display::Full => Self::Full(Box::new(Full::new(settings, filter))),
        }
    }

    /// Creates a view of a running agent. Unfinished entries are repainted if the
    /// terminal allows it.
    pub(crate) fn live(settings: &Settings, filter: &'a Filter) -> Self {
        if settings.live {
            terminal::restore_on_panic();
            let live = Live::new(settings, filter, &terminal::ask());
            Self::Live(Box::new(live))
        } else {
            Self::new(settings, filter)
        }
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: Event, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Answer(answer, failure) => {
                failure.event(&event);
                answer.event(&event, out)
            }
            Self::Full(full) => full.event(event, out),
            Self::Live(live) => {
                live.event(event);
                Ok(())
            }
        }
    }

    /// Paints pending changes after all available events were added.
    pub(crate) fn settle(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Answer(..) | Self::Full(_) => out.flush(),
            Self::Live(live) => live.paint(out),
        }
    }

    /// Returns the time at which [`settle`](Self::settle) is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        match self {
            Self::Answer(..) | Self::Full(_) => None,
            Self::Live(live) => live.due(),
        }
    }

    /// Returns true for a live screen.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self, Self::Live(_))
    }

    /// Returns true if no entry passed the filter.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Full(full) if !full.has_written)
    }

    /// Returns the reason of a failure that the output itself does not show.
    fn failure(&self) -> Option<&str> {
        match self {
            Self::Answer(_, failure) => failure.words(),
            Self::Full(_) | Self::Live(_) => None,
        }
    }

    /// Reports on standard error what the view does not show: why the run failed, and
    /// that a filter by time found no times to compare with.
    pub(crate) fn report_unshown(&self, stats: &Stats, filter: &Filter, name: &str) {
        if let Some(words) = filter::untimed(filter, stats) {
            complain(&anyhow::anyhow!("{name}: {words}"));
        }
        if let Some(words) = self.failure()
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

    /// Adapts to a new terminal size.
    pub(crate) fn resize(&mut self) {
        if let Self::Live(live) = self {
            live.resize();
        }
    }

    /// Removes the unfinished lines, so that something else can write.
    pub(crate) fn leave(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Answer(..) | Self::Full(_) => out.flush(),
            Self::Live(live) => live.leave(out),
        }
    }

    /// Shows the rest at the end of the run.
    pub(crate) fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Answer(answer, _) => answer.finish(out),
            Self::Full(full) => full.finish(out),
            Self::Live(live) => live.finish(out),
        }
    }
}
