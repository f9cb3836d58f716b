//! Blocks of several lines: which lines they take, and the events they become.

use super::{Flow, Line, OUTPUT_LIMIT, Origin, State};
use crate::event::{Category, Level, RawJson, TurnStatus};
use crate::source::aider::line::{Kind, classify, is_gap};
use crate::source::aider::marks::{self, Mark};
use crate::source::aider::question::{self, Question, Topic};
use crate::source::aider::session::banner_field;
use crate::source::aider::{call, message, wrap};
use crate::source::{Call, Emitter, Outcome};

/// The relation of a line to the open block.
enum Fit {
    Inside,
    Last,
    Outside,
}

impl Flow {
    pub(super) fn step(&mut self, line: Line<'_>, out: &mut Emitter) {
        let mut block = std::mem::take(&mut self.state);
        let fit = match &mut block {
            State::Open => Fit::Outside,
            State::Banner(lines) => self.extend_banner(lines, line.text),
            State::Call(call) => self.extend_call(call, line.text),
            State::Report(report) if report.takes(line.text) => {
                report.push(line.text);
                if report.is_complete() {
                    Fit::Last
                } else {
                    Fit::Inside
                }
            }
            State::Report(_) => Fit::Outside,
            State::Output(_, lines) => self.extend_output(lines, line),
            State::Request(request) => {
                if let Some(context) = request.line(line.text) {
                    self.context(context, out);
                }
                if request.is_open() {
                    Fit::Inside
                } else {
                    Fit::Last
                }
            }
        };
        match fit {
            Fit::Inside => self.state = self.within_limit(block, out),
            Fit::Last => self.close_block(block, out),
            Fit::Outside => {
                self.close_block(block, out);
                self.open(line, out);
            }
        }
    }

    /// Turns a finished block into events.
    pub(super) fn close_block(&mut self, block: State, out: &mut Emitter) {
        match block {
            State::Open | State::Request(_) => {}
            State::Banner(lines) => self.close_banner(lines, out),
            State::Call(call) => {
                self.gap = call.is_below_gap();
                self.who.ensure(out);
                self.round.announce(call.finish(), out);
                self.turn.is_active = true;
                self.origin = Origin::After;
            }
            State::Report(report) => self.notice(Level::Error, &report.text(), out),
            State::Output(level, lines) => self.close_output(level, &lines, out),
        }
    }

    fn within_limit(&mut self, block: State, out: &mut Emitter) -> State {
        match block {
            State::Output(level, lines) if lines.len() > OUTPUT_LIMIT => {
                self.close_output(level, &lines, out);
                State::Output(level, Vec::new())
            }
            block => block,
        }
    }

    fn extend_banner(&self, lines: &mut Vec<String>, text: &str) -> Fit {
        if banner_field(text).is_some() || marks::note(text).is_some() {
            lines.push(text.to_owned());
            return Fit::Inside;
        }
        match lines.last_mut() {
            Some(cut) if !self.is_history() && wrap::continues(cut, text) => {
                wrap::join(cut, text);
                Fit::Inside
            }
            _ => Fit::Outside,
        }
    }

    fn close_banner(&mut self, lines: Vec<String>, out: &mut Emitter) {
        let mut notes = Vec::new();
        for line in lines {
            match banner_field(&line) {
                Some((label, value)) => self.who.field(label, value),
                None => notes.push(line),
            }
        }
        self.who.announce(out);
        self.console_segment(out);
        self.console(&notes, out);
        if self.origin == Origin::Prompt {
            self.origin = Origin::After;
        }
    }

    fn extend_call(&self, call: &mut call::Block, text: &str) -> Fit {
        let is_below_gap = call.is_below_gap();
        let ends = match classify(text) {
            Kind::Question(Question::Whole(prompt, _)) => {
                let topic = question::topic(&prompt.question);
                matches!(topic, Topic::Tools | Topic::Command)
            }
            Kind::Question(Question::Cut) => self.is_terminal(),
            Kind::Counts(counts) => self.fits_counts(counts.as_ref()),
            Kind::Call(server, _) => is_below_gap && self.who.knows_server(&server),
            Kind::Prompt { mode, rest } => {
                let is_unlike_text = !mode.is_empty() || rest.trim().is_empty();
                let fits = mode == self.who.mode && (is_unlike_text || self.is_terminal());
                is_below_gap && fits
            }
            Kind::Mark(mark) => {
                is_below_gap && (mark.level().is_some() || matches!(mark, Mark::Tool(..)))
            }
            _ => false,
        };
        if ends || !call.takes(text) {
            return Fit::Outside;
        }
        call.push(text);
        Fit::Inside
    }

    fn extend_output(&self, lines: &mut Vec<String>, line: Line<'_>) -> Fit {
        let text = line.text;
        let running = lines.first().and_then(|first| command_of(first));
        let next = command_of(text).filter(|_| running.is_some() && running != command_of(text));
        let is_below_code = || {
            let has_code = lines.iter().any(|line| is_code_line(line));
            has_code && !is_code_line(text) && !is_gap(text)
        };
        let ends = match classify(text) {
            Kind::Question(Question::Whole(prompt, _)) => self.fits_question(&prompt.question),
            Kind::Prompt { mode, .. } => self.gap && mode == self.who.mode,
            Kind::Counts(counts) => self.fits_counts(counts.as_ref()),
            Kind::Mark(Mark::Added) => true,
            _ => false,
        };
        let is_next = next.is_some_and(|command| self.proposed.iter().any(|p| p == command));
        if ends || is_next || is_below_code() {
            return Fit::Outside;
        }
        lines.push(line.raw.to_owned());
        Fit::Inside
    }

    fn close_output(&mut self, level: Level, lines: &[String], out: &mut Emitter) {
        let first = lines.first().map_or("", String::as_str);
        if is_token_limit(first) {
            let is_exhausted =
                |line: &String| line.starts_with("Output tokens: ") && line.contains("possibly");
            self.turn.is_active = true;
            self.turn.verdict = Some(if lines.iter().any(is_exhausted) {
                (TurnStatus::Completed, "length".to_owned())
            } else {
                (TurnStatus::Failed, first.to_owned())
            });
        }
        match command_of(first) {
            Some(command) => self.ran(command, lines.get(1..).unwrap_or_default(), out),
            None => self.notice(level, &message::trim(lines).join("\n"), out),
        }
        self.origin = Origin::After;
    }

    /// Removes the first line on a token limit from the end of the answer that it
    /// cut, if this is the second one.
    pub(super) fn limit_above(&mut self, text: &str) -> Option<String> {
        let [.., before, first] = self.segment.as_slice() else {
            return None;
        };
        let is_limit = text.trim_end() == "Token counts below are approximate."
            && is_token_limit(first)
            && is_gap(before);
        is_limit.then(|| self.segment.pop()).flatten()
    }

    /// Emits a command that the model proposed and a person allowed; its exit
    /// status is not printed.
    fn ran(&mut self, command: &str, printed: &[String], out: &mut Emitter) {
        self.flush_note(out);
        self.who.ensure(out);
        self.commands += 1;
        let mut proposed = self.proposed.iter();
        let ran = proposed.position(|proposed| proposed == command);
        self.proposed.drain(..ran.map_or(0, |index| index + 1));
        let id = format!("shell-{}", self.commands);
        out.tool_use(Call {
            id: &id,
            name: "shell",
            category: Some(Category::Execute),
            arg: Some(command.into()),
            input: RawJson::of(&serde_json::json!({ "command": command })),
            title: "",
        });
        // 1.x prints the output twice.
        let again = format!("Output from {command}");
        let printed = printed.split(|line| line.trim_end() == again).next();
        let output = message::trim(printed.unwrap_or_default()).join("\n");
        out.tool_result(
            &id,
            Outcome {
                output: output.into(),
                ..Outcome::default()
            },
        );
    }
}

/// Returns the command whose output follows, except in debug output.
fn command_of(first: &str) -> Option<&str> {
    let command = first.strip_prefix("Running ")?.trim();
    (!command.is_empty() && !command.starts_with("command: ")).then_some(command)
}

fn is_token_limit(text: &str) -> bool {
    marks::mark(text) == Some(Mark::Output(Level::Error))
}

/// Returns true for a numbered line of code at the end of a lint report.
fn is_code_line(line: &str) -> bool {
    let text = line.trim_start();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (text.len() > rest.len() && rest.starts_with(['│', '█'])) || text.starts_with("...⋮...")
}
