//! What events are turned into: an answer, a transcript, or a live screen.

use std::io::{self, Write};

use unspool::Event;
use unspool::answer::Answer;

use crate::cli::{Display, Filter};
use crate::settings::Settings;

mod full;

use full::Full;

/// One run, shown in one of the modes.
pub(crate) enum View<'a> {
    Answer(Answer),
    Full(Box<Full<'a>>),
}

impl<'a> View<'a> {
    /// A view that only ever adds to what is written.
    pub(crate) fn new(settings: &Settings, filter: &'a Filter) -> Self {
        let answer = |answer: Answer| Self::Answer(answer.sanitized(settings.is_terminal));
        match settings.display {
            Display::Text => answer(Answer::text()),
            Display::Verbose => answer(Answer::verbose()),
            Display::Full => Self::Full(Box::new(Full::new(settings, filter))),
        }
    }

    /// Shows what the event adds.
    pub(crate) fn event(&mut self, event: Event, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Answer(answer) => answer.event(&event, out),
            Self::Full(full) => full.event(event, out),
        }
    }

    /// The run is over: shows what was open.
    pub(crate) fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Answer(answer) => answer.finish(out),
            Self::Full(full) => full.finish(out),
        }
    }
}
