//! aider, and aider-ce in its two lines (0.8x, and 1.x, also called cecli): their
//! text output in linear mode, and the chat history they keep.
//!
//! The input has no records, only lines for people. It is a pipe, a terminal (its
//! lines end with a carriage return, and are drawn on a screen first) or a chat
//! history; the first line decides. The lines then go through one [`flow`]. [`acp`]
//! has what is special about aider's ACP server.

use std::borrow::Cow;

use super::{Chat, Emitter, Headless, Probe, Provider, Source};
use crate::frame::Frame;

use flow::{Flow, Medium};
use history::History;
use screen::Screen;

pub(super) mod acp;
mod call;
mod counts;
mod draft;
mod edit;
mod flow;
mod history;
mod line;
mod marks;
mod message;
mod notes;
mod outcome;
mod output;
mod question;
mod request;
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
    if probe.text.bytes().all(|byte| byte >= b' ') {
        return line::is_distinctive(probe.text);
    }
    let mut screen = Screen::default();
    screen.line(probe.text, false);
    let rows = screen.finish();
    rows.first().is_some_and(|row| line::is_distinctive(row))
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
    /// Chooses the kind of input from its first line that is not empty.
    fn decide(frame: &Frame<'_>) -> Self {
        let draws = ["\x1b[?25", "\x1b[2K", "\x1b[6n"]
            .iter()
            .any(|sequence| frame.text.contains(sequence));
        if history::is_start(frame.text) {
            Self::History(History::default())
        } else if frame.ending == "\r\n" || draws {
            Self::Terminal(Flow::new(Medium::Terminal), Screen::default())
        } else if frame.text.is_empty() {
            Self::Undecided
        } else {
            Self::Pipe(Flow::new(Medium::Pipe))
        }
    }
}

impl Source for Aider {
    fn pause(&mut self, line: &str, out: &mut Emitter) -> usize {
        match self {
            Self::Undecided => {
                let mut decided = Self::decide(&Frame::new(line));
                let length = decided.pause(line, out);
                if length > 0 {
                    *self = decided;
                }
                length
            }
            Self::Pipe(flow) => flow.pause(line, out),
            Self::Terminal(flow, screen) => {
                let (mut trial, mut drawn, mut emitted) =
                    (flow.clone(), screen.clone(), out.clone());
                let rows = drawn.pause(line);
                let is_waiting = match rows.split_last() {
                    // The question is above the spinner, and already read.
                    None => trial.show_question(&mut emitted),
                    Some((last, above)) => {
                        for row in above {
                            trial.line(row, &mut emitted);
                        }
                        trial.pause(last, &mut emitted) == last.len()
                    }
                };
                if !is_waiting {
                    return 0;
                }
                (*flow, *screen, *out) = (trial, drawn, emitted);
                line.len()
            }
            Self::History(_) => 0,
        }
    }

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
            // An empty line ends the block before it.
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
