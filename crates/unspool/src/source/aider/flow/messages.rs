//! The model's messages, the token counts that end them, and notices.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Flow, Line, Origin, SEGMENT_LIMIT, State};
use crate::event::{Level, ToolStatus, TurnStatus};
use crate::source::aider::counts::Counts;
use crate::source::aider::line::{Family, Fence, Kind, classify, is_gap, is_rule};
use crate::source::aider::marks::{self, Mark};
use crate::source::aider::message::{self, Context, Part};
use crate::source::aider::notes::Notice;
use crate::source::aider::outcome::{self, patched};
use crate::source::aider::round::Over;
use crate::source::aider::{output, wrap};
use crate::source::{Emitter, Outcome};
use crate::terminal;

/// Names of context blocks that are remembered.
const CONTEXTS: usize = 64;

impl Flow {
    /// Adds a line to the segment.
    pub(in crate::source::aider) fn push(&mut self, line: &str, out: &mut Emitter) {
        if self.segment.is_empty() {
            self.segment_gap = self.gap;
        }
        self.segment_bytes += line.len() + 1;
        for line in line.split('\n') {
            self.fence.line(line);
            self.segment.push(line.to_owned());
        }
        if self.segment_bytes > SEGMENT_LIMIT {
            self.message(None, out);
        }
    }

    pub(in crate::source::aider) fn take_segment(&mut self) -> Vec<String> {
        self.segment_bytes = 0;
        self.fence = Fence::default();
        std::mem::take(&mut self.segment)
    }

    /// Returns true if the agent prints token counts in this form.
    pub(super) fn fits_counts(&self, counts: Option<&Counts>) -> bool {
        let is_cecli = self.who.family == Family::Cecli;
        match counts {
            Some(counts) => {
                let is_same = is_cecli == (counts.family == Family::Cecli);
                is_same || self.who.family == Family::Unknown
            }
            None => !is_cecli && !self.is_history(),
        }
    }

    /// Returns true if the agent prints a line after token counts.
    pub(super) fn may_follow(&self, counts: &Counts, next: &str) -> bool {
        let wraps = matches!(self.who.family, Family::Ce | Family::Cecli);
        let only_answers = matches!(self.who.format(), "ask" | "help" | "context");
        match classify(next) {
            _ if self.is_history() => true,
            Kind::Gap | Kind::Question(_) => true,
            _ if wraps || only_answers || !self.is_plausible(counts) => false,
            Kind::Mark(mark) => mark.level().is_some(),
            Kind::Report => true,
            _ => self.applies_patch(next),
        }
    }

    /// Returns true if the agent starts with this line to apply the patch in the
    /// segment.
    fn applies_patch(&self, text: &str) -> bool {
        let Some(path) = patched(text).filter(|_| self.who.format() == "patch") else {
            return false;
        };
        self.segment.iter().any(|line| {
            let action = line.strip_prefix("*** ");
            let file = action.and_then(|action| action.split_once(" File: "));
            file.is_some_and(|(_, file)| file.trim() == path)
        })
    }

    /// Returns false if the segment is too long for so few tokens.
    fn is_plausible(&self, counts: &Counts) -> bool {
        let letters = |line: &String| line.chars().filter(|c| c.is_alphanumeric()).count();
        let length: usize = self.segment.iter().map(letters).sum();
        let received = counts.usage.output_tokens.unwrap_or(0);
        length as u64 <= received.saturating_add(10).saturating_mul(10)
    }

    /// Emits the segment as a message of the model. Above it may be lines of the
    /// agent, or the output of a program.
    pub(in crate::source::aider) fn message(&mut self, counts: Option<&Counts>, out: &mut Emitter) {
        let mut lines = self.take_segment();
        if self.is_terminal() {
            // Blanks show where lines were cut, and are not the model's.
            for line in &mut lines {
                line.truncate(line.trim_end().len());
            }
        }
        if let Some(tool) = self.round.running_tool() {
            let text = lines.split_off(output::length(&lines, &tool, counts));
            self.round.output(&std::mem::replace(&mut lines, text));
        }
        let is_agent = |line: &String| is_gap(line) || marks::note(line).is_some();
        let above = lines.iter().take_while(|line| is_agent(line)).count();
        let text = lines.split_off(above);
        let over = match counts {
            None if text.is_empty() => Over::Cut,
            _ if self.is_history() => Over::ContinuedInHistory,
            _ => Over::Continued,
        };
        self.round.end(over, out);
        if !text.is_empty() {
            out.release_edits();
        }
        self.console(&lines, out);
        // Without a token the model printed nothing.
        if counts.is_some_and(|counts| counts.usage.output_tokens == Some(0)) {
            return self.console(&text, out);
        }
        if text.is_empty() {
            return;
        }
        self.who.ensure(out);
        for part in message::parts(&text, self.who.chat()) {
            match part {
                Part::Reasoning(text) => out.reasoning(None, text),
                Part::Text(text) => out.text(None, text),
                Part::Edits(edits) => out.proposed_edits(edits),
                Part::Context(context) => self.context(context, out),
            }
        }
        self.turn.is_active = true;
        self.turn.is_unfinished = counts.is_none();
        self.origin = Origin::After;
    }

    /// Emits a context block if it changed: the agents repeat theirs with every
    /// request.
    pub(super) fn context(&mut self, context: Context, out: &mut Emitter) {
        let mut hasher = DefaultHasher::new();
        (&context.title, &context.text).hash(&mut hasher);
        let hash = hasher.finish();
        let mut known = self.contexts.iter_mut();
        match known.find(|(name, _)| *name == context.name) {
            Some((_, known)) if *known == hash => return,
            Some((_, known)) => *known = hash,
            None => self.contexts.push((context.name.clone(), hash)),
        }
        self.contexts.truncate(CONTEXTS);
        self.who.ensure(out);
        out.context(&context.name, &context.title, context.text);
    }

    /// Emits lines that the agent or a program printed.
    pub(super) fn console(&mut self, lines: &[String], out: &mut Emitter) {
        self.flush_note(out);
        for line in lines {
            let shown = terminal::plain(line);
            let text = shown.trim_end_matches('\r');
            let mark = marks::mark(text);
            let is_noise = mark == Some(Mark::Noise) || is_rule(text);
            if self.joins(text) || is_noise || text.trim_end() == "Finished." {
                continue;
            }
            if let Some(level) = mark.and_then(Mark::level) {
                self.note(level, text, text, out);
            } else {
                let line = if self.is_terminal() {
                    text.trim_end()
                } else {
                    line
                };
                let before = self.notes.list(line);
                self.emit(before, out);
            }
        }
        self.flush_note(out);
    }

    pub(super) fn console_segment(&mut self, out: &mut Emitter) {
        let lines = self.take_segment();
        self.console(&lines, out);
    }

    /// Starts a notice with the end of a line of the agent.
    pub(super) fn note(&mut self, level: Level, text: &str, line: &str, out: &mut Emitter) {
        let before = self.notes.start(level, text, line);
        self.emit(before, out);
        if let Some(Mark::Failure(_)) = marks::mark(text) {
            self.turn.verdict = Some((TurnStatus::Failed, text.trim_end().to_owned()));
        }
        if self.origin == Origin::Prompt {
            self.origin = Origin::After;
        }
        if self.is_history() {
            self.who.add_file(text);
        }
    }

    pub(super) fn flush_note(&mut self, out: &mut Emitter) {
        let note = self.notes.take();
        self.emit(note, out);
    }

    pub(super) fn emit(&mut self, notice: Option<Notice>, out: &mut Emitter) {
        if let Some((level, text)) = notice {
            self.notice(level, &text, out);
        }
    }

    pub(super) fn notice(&mut self, level: Level, text: &str, out: &mut Emitter) {
        if text == marks::WENT_ON {
            self.round.reject_all(out);
        }
        if !text.is_empty() {
            self.who.ensure(out);
            outcome::record(text, out);
            out.notice(level, text);
        }
    }

    /// Takes a line that ends a message before its token counts.
    pub(super) fn ending_line(
        &mut self,
        line: Line<'_>,
        kind: &Kind<'_>,
        out: &mut Emitter,
    ) -> bool {
        match *kind {
            Kind::Mark(Mark::ApiError) => self.api_error(line.text.trim_end(), out),
            Kind::Stop {
                before,
                level,
                note,
            } => {
                if !before.is_empty() {
                    self.push(before, out);
                }
                self.message(None, out);
                if level == Level::Canceled {
                    self.turn.verdict = Some((TurnStatus::Canceled, String::new()));
                    outcome::cancel(out);
                }
                self.note(level, note, line.text, out);
            }
            _ => return false,
        }
        true
    }

    /// Takes a line of a tool; returns false if no tool can have printed it.
    pub(super) fn tool_line(
        &mut self,
        text: &str,
        status: ToolStatus,
        tools: &str,
        out: &mut Emitter,
    ) -> bool {
        let alarm = marks::alarm(text);
        let text = alarm.as_ref().map_or(text, |(_, text)| text);
        self.who.ensure(out);
        if self.round.print(text, status, tools, out) {
            self.tool_line = Some(text.to_owned());
            self.origin = Origin::After;
            self.turn.is_active = true;
        } else if marks::is_change(text) {
            let output = text.into();
            out.tool_result(
                "",
                Outcome {
                    output,
                    ..Outcome::default()
                },
            );
        } else if status == ToolStatus::Error {
            self.note(Level::Error, text, text, out);
        } else {
            return false;
        }
        true
    }

    /// Takes the explanation of an API error, and the error above it out of the
    /// segment.
    pub(super) fn api_error(&mut self, explanation: &str, out: &mut Emitter) {
        let is_error = |text: &str| error_start(text).is_some();
        let note = self.notes.take_if(is_error);
        let mut error: Vec<String> = note.map(|(_, text)| text).into_iter().collect();
        self.flush_note(out);
        let lines = self.segment.iter().enumerate().rev();
        let mut starts = lines.filter_map(|(index, line)| Some((index, error_start(line)?)));
        if let Some((index, column)) = starts.next() {
            error = self.segment.split_off(index);
            if let Some(first) = error.first_mut() {
                let text = first.split_off(column);
                self.segment.push(std::mem::replace(first, text));
            }
        }
        self.message(None, out);
        outcome::cancel(out);
        error.push(explanation.to_owned());
        self.state = State::ApiError(wrap::rejoin(error.iter().map(String::as_str), self.columns));
        self.turn.is_active = true;
    }
}

/// Returns where the text of an API error starts in a line.
fn error_start(line: &str) -> Option<usize> {
    if line.starts_with("{\"error\"") || line.starts_with("{'error'") {
        return Some(0);
    }
    let start = line.find("litellm.")?;
    let name = line.get(start..)?.split(':').next()?;
    (name.ends_with("Error") || name.ends_with("Exception")).then_some(start)
}
