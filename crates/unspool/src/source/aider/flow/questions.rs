//! Questions to the person: where they may appear, their subjects and answers.

use super::{Flow, Line, Origin};
use crate::event::Prompt;
use crate::source::Emitter;
use crate::source::aider::line::is_gap;
use crate::source::aider::question::{self, Question, Topic};
use crate::source::aider::session::is_file_line;

/// Commands that one question may be about.
const COMMANDS: usize = 64;

impl Flow {
    pub(super) fn question_line(
        &mut self,
        line: Line<'_>,
        question: Question<'_>,
        out: &mut Emitter,
    ) -> bool {
        match question {
            Question::Whole(prompt, rest) if self.fits_question(&prompt.question) => {
                self.asked(prompt, line.rest(rest), out);
            }
            Question::Cut if self.is_terminal() => {
                self.cut_question = Some(line.text.to_owned());
            }
            _ => return false,
        }
        true
    }

    /// Returns true if a question may follow the segment.
    pub(super) fn fits_question(&self, question: &str) -> bool {
        let topic = question::topic(question);
        let at_prompt = self.origin == Origin::Prompt;
        if self.is_history() || topic == Topic::Output {
            return true;
        }
        if self.segment.is_empty() {
            return !at_prompt || matches!(topic, Topic::Subject | Topic::Other);
        }
        match topic {
            Topic::Command => self.round.is_open(),
            Topic::Subject | Topic::Other if at_prompt => self.is_about_prompt(question),
            Topic::Subject | Topic::Other => !self.segment.iter().any(|line| is_gap(line)),
            Topic::Tools | Topic::Output => false,
        }
    }

    /// Returns true if a question is about a file or an address that the person
    /// named: it comes before the answer, and only that name is between an empty
    /// line and the question.
    fn is_about_prompt(&self, question: &str) -> bool {
        let first = self.segment.first().map_or("", String::as_str);
        let fits = if question.starts_with("Add URL to the chat?") {
            first.starts_with("https://") || first.starts_with("http://")
        } else {
            question.starts_with("Add file to the chat?") && is_file_line(first)
        };
        // A long name is cut into several lines, none of which has a blank.
        let is_name = |line: &String| line.split_whitespace().count() == 1;
        self.set_off && fits && self.segment.iter().all(is_name)
    }

    fn asked(&mut self, mut prompt: Prompt, rest: Line<'_>, out: &mut Emitter) {
        self.who.ensure(out);
        if prompt.question.starts_with("Run shell command") {
            let commands = self.segment.iter().take(COMMANDS);
            self.proposed = commands.map(|line| line.trim().to_owned()).collect();
        }
        self.close_subject(question::topic(&prompt.question), out);
        if !question::precedes_edit(&prompt.question) {
            out.release_edits();
        }
        self.origin = Origin::After;
        self.turn.was_asked = true;
        let typed = rest.text.trim();
        let is_typed = self.is_terminal() || self.is_history() || question::is_answer(typed);
        if is_typed {
            typed.clone_into(&mut prompt.answer);
        }
        if is_typed && typed.is_empty() && self.is_terminal() {
            self.question = Some(prompt);
        } else {
            self.answered(prompt, out);
        }
        self.next_gap = is_typed || typed.is_empty();
        if !self.next_gap {
            self.gap = false;
            self.take(rest, out);
        }
    }

    /// Emits the lines before a question: output, or its subject.
    fn close_subject(&mut self, topic: Topic, out: &mut Emitter) {
        if topic != Topic::Command {
            return self.console_segment(out);
        }
        // The command itself is in the call.
        let lines = self.take_segment();
        if self.round.raw {
            let last = lines.iter().rposition(|line| is_gap(line));
            let output = lines.get(..last.unwrap_or(0)).unwrap_or_default();
            self.round.output(output);
            self.round.close(out);
        }
    }

    /// Takes the answer to a question on a terminal, which may be below it.
    pub(super) fn answer(&mut self, waiting: &str, text: &str, out: &mut Emitter) -> bool {
        let Some(mut prompt) = self.question.take() else {
            return false;
        };
        let is_typed = waiting.starts_with("Awaiting") || question::is_answer(text.trim());
        if is_typed {
            text.trim().clone_into(&mut prompt.answer);
        }
        self.answered(prompt, out);
        is_typed
    }

    pub(super) fn answered(&mut self, prompt: Prompt, out: &mut Emitter) {
        let topic = question::topic(&prompt.question);
        let is_refused = question::is_refusal(&prompt.answer);
        out.prompt(prompt);
        match topic {
            Topic::Tools if is_refused => self.round.reject_all(out),
            Topic::Command if is_refused => self.round.reject_command(out),
            Topic::Command => self.round.asked = true,
            _ => {}
        }
    }
}
