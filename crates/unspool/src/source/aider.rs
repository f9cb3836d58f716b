//! aider, and aider-ce in its two lines (0.8x, and 1.x also called cecli):
//! the text that they print in linear mode, and the chat history they keep.
//!
//! There are no records, only lines for people. Four kinds of input are told
//! apart by the first line: a pipe, a terminal (its lines end with a carriage
//! return, and are drawn on a screen first), a chat history, and whatever a
//! caller says is aider's. The lines then go through one flow.

use std::borrow::Cow;

use super::{Chat, Emitter, Headless, Probe, Provider, Source};
use crate::event::Level;
use crate::frame::Frame;

pub(super) use draft::{Closed, Draft, may_begin};
use flow::Flow;
use history::History;
use screen::Screen;

mod applied;
mod call;
mod draft;
mod dump;
mod edit;
mod flow;
mod history;
mod marker;
mod message;
mod output;
mod report;
mod round;
mod screen;
mod session;
mod sessions;
#[cfg(test)]
mod tests;
mod wrap;

pub(crate) const PROVIDER: Provider = Provider::new("aider", recognise, || Box::<Aider>::default())
    .with_title("aider")
    .with_about("text output and chat history of aider and aider-ce")
    .with_example("aider --no-pretty --no-fancy-input --message \"…\" | unspool events")
    .with_text_input()
    .with_tools(sessions::TOOLS)
    .with_headless(Headless::new(
        "aider",
        &["--no-pretty", "--no-fancy-input", "--message"],
    ))
    .with_chat(Chat::new(&["cecli", "--acp"], "pip install aider-ce"))
    .with_saved(sessions::SAVED);

fn recognise(probe: &Probe<'_>) -> bool {
    if probe.is_json() || !probe.event.is_empty() {
        return false;
    }
    let draws = probe.text.bytes().any(|byte| byte < b' ');
    if draws {
        marker::is_telling(&visible(probe.text))
    } else {
        marker::is_telling(probe.text)
    }
}

/// A line as a terminal shows it, without what came before it.
fn visible(text: &str) -> String {
    let mut screen = Screen::default();
    screen.line(text, false);
    screen.finish().into_iter().next().unwrap_or_default()
}

#[derive(Clone, Default)]
enum Aider {
    #[default]
    Undecided,
    Pipe(Flow),
    Terminal(Flow, Screen),
    History(History),
}

impl Aider {
    /// What the first line that is not empty says of the input.
    fn decide(frame: &Frame<'_>) -> Self {
        let draws = ["\x1b[?25", "\x1b[2K", "\x1b[6n"]
            .iter()
            .any(|sequence| frame.text.contains(sequence));
        if history::is_start(frame.text) {
            Self::History(History::default())
        } else if frame.ending == "\r\n" || draws {
            Self::Terminal(Flow::on_terminal(), Screen::default())
        } else if frame.text.is_empty() {
            Self::Undecided
        } else {
            Self::Pipe(Flow::default())
        }
    }
}

impl Source for Aider {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        if let Self::Undecided = self {
            *self = Self::decide(frame);
        }
        if let Self::Pipe(flow) = self
            && history::is_start(frame.text)
            && !flow.who.is_announced()
        {
            // Verbose output came before the first session of the history.
            let mut history = History::default();
            for line in flow.take_segment() {
                history.line(&line, out);
            }
            *self = Self::History(history);
        }
        if frame.text.is_empty() {
            // An empty line ends what the others began.
            out.of_line_before();
        }
        let line = match frame.ending {
            "\r\n" => Cow::Owned([frame.text, "\r"].concat()),
            _ => Cow::Borrowed(frame.text),
        };
        match self {
            Self::Undecided => {}
            Self::Pipe(flow) => flow.line(&line, out),
            Self::Terminal(flow, screen) => {
                for line in screen.line(frame.text, !frame.ending.is_empty()) {
                    flow.line(&line, out);
                }
            }
            Self::History(history) => history.line(&line, out),
        }
    }

    fn finish(&mut self, out: &mut Emitter) {
        match self {
            Self::Undecided => {}
            Self::Pipe(flow) => flow.finish(out),
            Self::Terminal(flow, screen) => {
                for line in screen.finish() {
                    flow.line(&line, out);
                }
                flow.finish(out);
            }
            Self::History(history) => history.finish(out),
        }
    }
}

/// What is said after calls that were refused or came to nothing.
pub(super) const WENT_ON: &str = marker::WENT_ON;

/// Lines of the console as what is told: each of the agent's own for itself,
/// what stands between them together.
pub(super) fn console(lines: &[String]) -> Vec<(Level, String)> {
    let mut told: Vec<(Level, String)> = Vec::new();
    let mut in_block = false;
    for line in lines.iter().map(|line| line.trim_end()) {
        let is_stop = line.starts_with("^C ");
        let level = is_stop.then_some(Level::Canceled);
        let level = level.or_else(|| marker::note(line));
        match (level, told.last_mut()) {
            (None, _) if line.is_empty() && !in_block => {}
            (None, Some((_, text))) if in_block => text.extend(["\n", line]),
            _ => told.push((level.unwrap_or(Level::Info), line.to_owned())),
        }
        in_block = level.is_none() && (in_block || !line.is_empty());
    }
    told
}

/// Whether a tool says with this that it failed.
pub(super) fn is_failure(text: &str) -> bool {
    round::printed(text).is_some_and(round::Printed::is_failure)
}
