//! Questions to the person: where they may stand, what stands before them,
//! and their answers.

use super::{Flow, Line, Origin};
use crate::event::Prompt;
use crate::source::Emitter;
use crate::source::aider::marker::{self, Question, Topic};
use crate::source::aider::session::is_file_line;

/// Commands of one question that are told apart.
const COMMANDS: usize = 64;

impl Flow {
    pub(super) fn question_line(&mut self, line: Line<'_>, out: &mut Emitter) -> bool {
        match marker::question(line.text) {
            Some(Question::Whole(prompt, rest)) if self.fits_question(&prompt.question) => {
                self.asked(prompt, line.rest(rest), out);
                true
            }
            Some(Question::Cut) if self.is_terminal() => {
                self.cut = Some(line.text.to_owned());
                true
            }
            _ => false,
        }
    }

    pub(super) fn fits_question(&self, question: &str) -> bool {
        let topic = marker::topic(question);
        if self.is_history() || topic == Topic::Output {
            return true;
        }
        if self.segment.is_empty() {
            return self.origin != Origin::Prompt || matches!(topic, Topic::Subject | Topic::Other);
        }
        let one_paragraph = !self.segment.iter().any(|line| marker::is_gap(line));
        match topic {
            Topic::Command => self.round.is_open(),
            Topic::Subject | Topic::Other if self.origin == Origin::Prompt => {
                self.is_about_prompt(question)
            }
            Topic::Subject | Topic::Other => one_paragraph,
            Topic::Tools | Topic::Output => false,
        }
    }

    /// Whether a question is about a file or an address that the person named:
    /// it is asked before the model says a word, with nothing but that name
    /// between an empty line and the question.
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
        let topic = marker::topic(&prompt.question);
        if prompt.question.starts_with("Run shell command") {
            let commands = self.segment.iter().take(COMMANDS);
            self.proposed = commands.map(|line| line.trim().to_owned()).collect();
        }
        self.close_subject(topic, out);
        if !marker::asks_to_edit(&prompt.question) {
            out.release_edits();
        }
        self.origin = Origin::After;
        self.turn.asked = true;
        let typed = rest.text.trim();
        if self.is_terminal() || self.is_history() || marker::is_answer(typed) {
            typed.clone_into(&mut prompt.answer);
            if prompt.answer.is_empty() && self.is_terminal() {
                self.question = Some(prompt);
            } else {
                self.answered(prompt, out);
            }
            self.next_gap = true;
            return;
        }
        self.answered(prompt, out);
        self.next_gap = typed.is_empty();
        if !self.next_gap {
            self.gap = false;
            self.take(rest, out);
        }
    }

    /// What stood before a question: output, or the thing that it is about.
    fn close_subject(&mut self, topic: Topic, out: &mut Emitter) {
        let lines = self.take_segment();
        if self.round.raw && topic == Topic::Command {
            let last = lines.iter().rposition(|line| marker::is_gap(line));
            let output = lines.get(..last.unwrap_or(0)).unwrap_or_default();
            self.round.output(output);
            self.end_output(out);
        } else if topic == Topic::Command {
            // The command stands in its call already.
        } else {
            self.console(&lines, out);
        }
    }

    /// The answer to a question on a terminal, which may stand below it.
    pub(super) fn answer(&mut self, waiting: &str, text: &str, out: &mut Emitter) -> bool {
        let Some(mut prompt) = self.question.take() else {
            return false;
        };
        let typed = waiting.starts_with("Awaiting") || marker::is_answer(text.trim());
        if typed {
            text.trim().clone_into(&mut prompt.answer);
        }
        self.answered(prompt, out);
        typed
    }

    pub(super) fn answered(&mut self, prompt: Prompt, out: &mut Emitter) {
        let topic = marker::topic(&prompt.question);
        let refused = marker::is_refusal(&prompt.answer);
        out.prompt(prompt);
        match topic {
            Topic::Tools if refused => self.round.reject(None, out),
            Topic::Command if refused => self.round.reject(Some("Command"), out),
            Topic::Command => self.round.asked = true,
            _ => {}
        }
    }
}
