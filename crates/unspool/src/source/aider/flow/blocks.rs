//! Blocks of several lines: which lines they take, and the events they become.

use super::{Flow, Line, OUTPUT_LIMIT, Origin, State, Tally};
use crate::event::{Category, Level, RawJson, TurnStatus, Usage};
use crate::source::aider::counts::{self, Counts};
use crate::source::aider::line::{Family, Fit, Kind, classify, is_gap};
use crate::source::aider::marks::{self, Mark};
use crate::source::aider::question::{self, Question, Topic};
use crate::source::aider::session::banner_field;
use crate::source::aider::{call, message, wrap};
use crate::source::{Call, Emitter, Outcome};

impl Flow {
    /// Gives a line to the open block, or to the segment.
    pub(super) fn step(&mut self, line: Line<'_>, out: &mut Emitter) {
        let text = line.text;
        let mut block = std::mem::take(&mut self.state);
        let fit = match &mut block {
            State::Open => Fit::Outside,
            State::Banner(lines) => self.extend_banner(lines, text),
            State::Counts(tally) => self.extend_counts(tally, line),
            State::Call(call) => self.extend_call(call, text),
            State::Report(report) => report.extend(text),
            State::Output(_, lines) => self.extend_output(lines, line),
            State::ApiError(lines) => extend_api_error(lines, text),
            State::Request(request) => {
                if let Some(context) = request.line(text) {
                    self.context(context, out);
                }
                request.fit()
            }
        };
        match fit {
            Fit::Inside => self.state = self.within_limit(block, out),
            Fit::Last => self.close_block(block, None, out),
            Fit::Outside => {
                self.close_block(block, Some(text), out);
                self.open(line, out);
            }
        }
    }

    /// Turns a finished block into events. Some depend on the line after it.
    pub(super) fn close_block(&mut self, block: State, next: Option<&str>, out: &mut Emitter) {
        match block {
            State::Open | State::Request(_) => {}
            State::Banner(lines) => self.close_banner(&lines, out),
            State::Counts(tally) => self.close_counts(tally, next, out),
            State::Call(call) => {
                self.gap = call.is_below_gap();
                self.who.ensure(out);
                self.round.announce(call.finish(), out);
                self.turn.is_active = true;
                self.origin = Origin::After;
            }
            State::Report(report) => self.notice(Level::Error, &report.text(), out),
            State::Output(level, lines) => self.close_output(level, &lines, out),
            State::ApiError(lines) => self.close_api_error(&lines, out),
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
            Some(cut) if !self.is_history() && self.columns.continues(cut, text) => {
                wrap::join(cut, text);
                Fit::Inside
            }
            _ => Fit::Outside,
        }
    }

    fn close_banner(&mut self, lines: &[String], out: &mut Emitter) {
        let fields: Vec<_> = lines.iter().filter_map(|line| banner_field(line)).collect();
        self.who.announce(&fields, out);
        self.console_segment(out);
        let is_note = |line: &&String| banner_field(line).is_none();
        let notes: Vec<String> = lines.iter().filter(is_note).cloned().collect();
        self.console(&notes, out);
        if self.origin == Origin::Prompt {
            self.origin = Origin::After;
        }
    }

    /// Takes the rest of token counts that were cut, or their cost.
    fn extend_counts(&self, tally: &mut Tally, line: Line<'_>) -> Fit {
        let may_continue = match &tally.counts {
            Some(counts) => {
                let has_cost = counts.family == Family::Cecli || counts.usage.cost_usd.is_some();
                !has_cost && line.text.starts_with("Cost: $")
            }
            None => !line.text.trim().is_empty(),
        };
        let text = [tally.text.as_str(), line.text.trim()].join(" ");
        let counts = counts::read(&text).filter(|counts| self.fits_counts(Some(counts)));
        if !may_continue || (counts.is_none() && !counts::is_cut(&text)) {
            return Fit::Outside;
        }
        tally.lines.push(line.raw.to_owned());
        (tally.text, tally.counts) = (text, counts);
        Fit::Inside
    }

    /// Ends a message with its token counts, if the agent prints the next line after
    /// such counts; else they are words of the model.
    fn close_counts(&mut self, tally: Tally, next: Option<&str>, out: &mut Emitter) {
        let is_real = |counts: &Counts| next.is_none_or(|next| self.may_follow(counts, next));
        let Some(counts) = tally.counts.filter(is_real) else {
            for line in &tally.lines {
                self.push(line, out);
            }
            return;
        };
        self.who.ensure(out);
        self.message(Some(&counts), out);
        self.turn.verdict = None;
        self.turn.is_unfinished = false;
        self.origin = Origin::After;
        self.gap = false;
        if self.who.family == Family::Unknown {
            self.who.family = counts.family;
        }
        out.usage(counts.usage);
        out.usage(Usage {
            cost_usd: counts.session_cost,
            cumulative: true,
            ..Usage::default()
        });
    }

    fn extend_call(&self, call: &mut call::Block, text: &str) -> Fit {
        let is_below_gap = call.is_below_gap();
        let ends = match classify(text) {
            Kind::Question(Question(prompt, _)) => {
                let topic = question::topic(&prompt.question);
                matches!(topic, Topic::Tools | Topic::Command)
            }
            Kind::Mark(_) if marks::is_change(text) => true,
            Kind::Alarm(..) => is_below_gap,
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
            Kind::Question(Question(prompt, _)) => self.fits_question(&prompt),
            Kind::Prompt { mode, .. } => self.gap && mode == self.who.mode,
            Kind::Counts(counts) => self.fits_counts(counts.as_ref()),
            Kind::Mark(Mark::Added) => true,
            _ => false,
        };
        let is_next = next.is_some_and(|command| self.proposed.iter().any(|p| p == command));
        if ends || is_next || is_below_code() {
            return Fit::Outside;
        }
        lines.extend(line.raw.split('\n').map(str::to_owned));
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

    fn close_api_error(&mut self, lines: &[String], out: &mut Emitter) {
        let last = lines.last().cloned().unwrap_or_default();
        let level = if last.starts_with(RETRY) {
            Level::Retry
        } else {
            self.turn.verdict = Some((TurnStatus::Failed, last));
            Level::Error
        };
        self.notice(level, &lines.join("\n"), out);
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

/// Announces another attempt after an API error.
const RETRY: &str = "Retrying in ";

fn extend_api_error(lines: &mut Vec<String>, text: &str) -> Fit {
    if text.is_empty() {
        return Fit::Inside;
    }
    if !text.starts_with(RETRY) {
        return Fit::Outside;
    }
    lines.push(text.trim_end().to_owned());
    Fit::Last
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
