//! The states that last for several lines: banners, the arguments of calls,
//! and blocks of output.

use super::{BLOCK_LIMIT, Flow, Line, Origin, State};
use crate::event::{Category, Level, Prompt, RawJson, TurnStatus};
use crate::source::aider::marker::{self, Question, Topic};
use crate::source::aider::{call, message, round, wrap};
use crate::source::{Call, Emitter, Outcome};

impl Flow {
    pub(super) fn banner_line(
        &mut self,
        mut lines: Vec<String>,
        line: Line<'_>,
        out: &mut Emitter,
    ) {
        let text = line.text;
        let begins = marker::banner_field(text).is_some() || marker::note(text).is_some();
        let open = lines.last_mut().filter(|_| !begins && !self.is_history());
        if begins {
            lines.push(text.to_owned());
        } else if let Some(open) =
            open.filter(|open| wrap::continues(open, text) || marker::is_model_rest(open, text))
        {
            wrap::join(open, text);
        } else {
            self.end_banner(lines, out);
            self.step(line, out);
            return;
        }
        self.state = State::Banner(lines);
    }

    fn end_banner(&mut self, lines: Vec<String>, out: &mut Emitter) {
        let mut notes = Vec::new();
        for line in lines {
            match marker::banner_field(&line) {
                Some((label, value)) => self.who.field(label, value),
                None => notes.push(line),
            }
        }
        let before = self.take_segment();
        self.who.announce(out);
        self.console(&before, out);
        self.console(&notes, out);
        if self.origin == Origin::Prompt {
            self.origin = Origin::After;
        }
    }

    pub(super) fn body_line(&mut self, mut block: call::Block, line: Line<'_>, out: &mut Emitter) {
        let text = line.text;
        let takes = block.takes(text);
        let free = takes && !block.after_gap();
        let asks = match marker::question(text) {
            Some(Question::Whole(prompt, _)) => {
                matches!(
                    marker::topic(&prompt.question),
                    Topic::Tools | Topic::Command
                )
            }
            Some(Question::Cut) => self.is_terminal(),
            None => false,
        };
        let header = marker::header(text).is_some_and(|(server, _)| self.who.knows_server(&server));
        let prompt = marker::prompt(text).is_some_and(|(mode, rest)| {
            mode == self.who.mode
                && (!mode.is_empty() || rest.trim().is_empty() || self.is_terminal())
        });
        let marks =
            header || prompt || round::printed(text).is_some() || marker::note(text).is_some();
        let ends = asks || self.begins_counts(text) || (marks && !free) || !takes;
        if !ends {
            block.push(text);
            self.state = State::Body(block);
            return;
        }
        self.gap = block.after_gap();
        self.announce(block, out);
        self.open(line, out);
    }

    fn announce(&mut self, block: call::Block, out: &mut Emitter) {
        self.who.ensure(out);
        self.round.announce(block.finish(), out);
        self.turn.active = true;
        self.origin = Origin::After;
    }

    pub(super) fn block_line(
        &mut self,
        level: Level,
        mut lines: Vec<String>,
        line: Line<'_>,
        out: &mut Emitter,
    ) {
        let text = line.text;
        let fits = |prompt: &Prompt| self.fits_question(&prompt.question);
        let asks =
            matches!(marker::question(text), Some(Question::Whole(prompt, _)) if fits(&prompt));
        let prompt =
            self.gap && marker::prompt(text).is_some_and(|(mode, _)| mode == self.who.mode);
        let told = lines.iter().any(|line| is_code_line(line))
            && !is_code_line(text)
            && !marker::is_gap(text);
        let running = lines.first().and_then(|first| command_of(first));
        let next = command_of(text).filter(|_| running.is_some());
        let runs = next != running && next.is_some_and(|command| self.is_proposed(command));
        let ends = asks
            || prompt
            || told
            || runs
            || self.begins_counts(text)
            || marker::is_output_note(text);
        if !ends {
            lines.push(line.raw.to_owned());
            if lines.len() > BLOCK_LIMIT {
                self.end_block(level, &lines, out);
                lines.clear();
            }
            self.state = State::Block(level, lines);
            return;
        }
        self.end_block(level, &lines, out);
        self.open(line, out);
    }

    /// Takes the first line on a token limit off the end of an answer that it
    /// cut, if this is the second one.
    pub(super) fn limit_above(&mut self, text: &str) -> Option<String> {
        let [.., before, first] = self.segment.as_slice() else {
            return None;
        };
        let told = text.trim_end() == "Token counts below are approximate."
            && is_token_limit(first)
            && marker::is_gap(before);
        told.then(|| self.segment.pop()).flatten()
    }

    fn end_block(&mut self, level: Level, lines: &[String], out: &mut Emitter) {
        let first = lines.first().map_or("", String::as_str);
        if first.contains(" has hit a token limit!") {
            let output = lines
                .iter()
                .any(|line| line.starts_with("Output tokens: ") && line.contains("possibly"));
            self.turn.active = true;
            self.turn.verdict = Some(if output {
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

    /// Whether a command is one of several that a person allowed together.
    fn is_proposed(&self, command: &str) -> bool {
        self.proposed.iter().any(|proposed| proposed == command)
    }

    /// A command that the model proposed and a person allowed; how it ended is
    /// not told.
    fn ran(&mut self, command: &str, printed: &[String], out: &mut Emitter) {
        self.flush_note(out);
        self.who.ensure(out);
        self.commands += 1;
        let ran = self
            .proposed
            .iter()
            .position(|proposed| proposed == command);
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
        // 1.x prints all of it once more.
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

    pub(super) fn finish_state(&mut self, out: &mut Emitter) {
        match std::mem::take(&mut self.state) {
            State::Open | State::Dump(_) => {}
            State::Banner(lines) => self.end_banner(lines, out),
            State::Body(block) => self.announce(block, out),
            State::Report(report) => self.notice(Level::Error, &report.text(), out),
            State::Block(level, lines) => self.end_block(level, &lines, out),
        }
    }

    pub(super) fn end_output(&mut self, out: &mut Emitter) {
        self.round.close(out);
        self.round.raw = false;
    }
}

/// The command whose output follows, unless the agent only debugs itself.
fn command_of(first: &str) -> Option<&str> {
    let command = first.strip_prefix("Running ")?.trim();
    (!command.is_empty() && !command.starts_with("command: ")).then_some(command)
}

/// Blocks that last until a question, the prompt or the next message.
pub(super) fn is_block_start(text: &str) -> bool {
    let lint = text.starts_with("# Fix any ") && text.contains("errors below, if possible.");
    lint || text.starts_with("Running ") || is_token_limit(text)
}

fn is_token_limit(text: &str) -> bool {
    text.starts_with("Model ") && text.contains(" has hit a token limit!")
}

pub(super) fn block_level(text: &str) -> Level {
    if is_token_limit(text) {
        Level::Error
    } else if text.starts_with('#') {
        Level::Warning
    } else {
        Level::Info
    }
}

/// A numbered line of code at the end of a lint report.
fn is_code_line(line: &str) -> bool {
    let text = line.trim_start();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (text.len() > rest.len() && rest.starts_with(['│', '█'])) || text.starts_with("...⋮...")
}
