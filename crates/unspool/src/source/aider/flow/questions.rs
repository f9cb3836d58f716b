//! Questions to the person: where they may appear, their subjects and answers.

use super::{Flow, Line, Origin};
use crate::event::Prompt;
use crate::source::Emitter;
use crate::source::aider::line::{Family, is_gap};
use crate::source::aider::question::{self, Question, Topic};
use crate::source::aider::session::is_file_line;

/// Commands that one question may be about.
const COMMANDS: usize = 64;

/// A question whose answer has not come.
#[derive(Clone)]
pub(super) struct Asked {
    prompt: Prompt,
    /// The question was emitted while the input paused.
    is_shown: bool,
}

impl Flow {
    /// Reads an incomplete line if it waits for a person: a question, or the prompt
    /// for input below an answer that has ended. Returns how many bytes were read.
    pub(in crate::source::aider) fn pause(&mut self, line: &str, out: &mut Emitter) -> usize {
        let is_prompt = || {
            line.ends_with("> ")
                && self
                    .segment
                    .iter()
                    .all(|line| is_gap(line) || is_file_line(line))
        };
        let length = match question::end(line) {
            Some(end) => end,
            None if !self.is_terminal() && is_prompt() => line.len(),
            None => return 0,
        };
        let (mut trial, mut emitted) = (self.clone(), out.clone());
        trial.is_pausing = true;
        trial.line(line.get(..length).unwrap_or_default(), &mut emitted);
        trial.is_pausing = false;
        let is_prompt = trial.origin == Origin::Prompt && trial.segment.is_empty();
        if !trial.show_question(&mut emitted) && !is_prompt {
            return 0;
        }
        trial.is_rest = true;
        (*self, *out) = (trial, emitted);
        length
    }

    /// Emits the question that has no answer yet; returns false if there is none.
    pub(in crate::source::aider) fn show_question(&mut self, out: &mut Emitter) -> bool {
        let Some(asked) = self.question.as_mut().filter(|asked| !asked.is_shown) else {
            return false;
        };
        asked.is_shown = true;
        out.prompt(asked.prompt.clone());
        true
    }

    /// Takes the rest of a line whose start was read in a pause, or the answer to a
    /// question on a terminal, which may be below it.
    pub(super) fn rest_of_line(&mut self, waiting: &str, text: &str, out: &mut Emitter) -> bool {
        let is_rest = std::mem::take(&mut self.is_rest);
        let Some(mut asked) = self.question.take() else {
            let is_over = is_rest && text.is_empty();
            // On a pipe, 1.x prints its first line after the prompt.
            self.set_off |= is_over && self.who.family == Family::Cecli;
            return is_over;
        };
        // The terminal may draw the question again, with its answer.
        let (text, is_again) = match question::read(text) {
            Some(Question(again, rest)) if again.question == asked.prompt.question => (rest, true),
            _ => (text, false),
        };
        let typed = text.trim();
        let is_typed = waiting.starts_with("Awaiting")
            || question::is_answer(typed, &asked.prompt.options)
            || (self.is_terminal() && (is_rest || is_again));
        if is_typed {
            typed.clone_into(&mut asked.prompt.answer);
        }
        self.answered(asked, out);
        self.gap = is_typed || typed.is_empty();
        is_typed || (is_rest && typed.is_empty())
    }

    pub(super) fn question_line(
        &mut self,
        line: Line<'_>,
        question: Question<'_>,
        out: &mut Emitter,
    ) -> bool {
        let Question(prompt, rest) = question;
        let fits = self.fits_question(&prompt);
        if fits {
            self.asked(prompt, line.rest(rest), out);
        }
        fits
    }

    /// Returns true if a question may follow the segment.
    pub(super) fn fits_question(&self, prompt: &Prompt) -> bool {
        !self.fence.is_open() && (!self.who.has_version() || self.fits_run(&prompt.question))
    }

    /// Returns true if a run that showed its banner asks here.
    fn fits_run(&self, question: &str) -> bool {
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
        let topic = question::topic(&prompt.question);
        let subject = self.segment.split_off(self.subject(topic));
        if !self.segment.is_empty() {
            self.message(None, out);
        }
        self.segment = subject;
        if prompt.question.starts_with("Run shell command") {
            let commands = self.segment.iter().take(COMMANDS);
            self.proposed = commands.map(|line| line.trim().to_owned()).collect();
        }
        self.close_subject(topic, out);
        if !question::precedes_edit(&prompt.question) {
            out.release_edits();
        }
        self.origin = Origin::After;
        self.turn.was_asked = true;
        self.turn.is_active |= !self.who.has_version();
        let typed = rest.text.trim();
        let is_typed =
            self.is_terminal() || self.is_history() || question::is_answer(typed, &prompt.options);
        if is_typed {
            typed.clone_into(&mut prompt.answer);
        }
        let asked = Asked {
            prompt,
            is_shown: false,
        };
        if typed.is_empty() && (self.is_terminal() || self.is_pausing) {
            self.question = Some(asked);
        } else {
            self.answered(asked, out);
        }
        self.next_gap = is_typed || typed.is_empty();
        if !self.next_gap {
            self.gap = false;
            self.take(rest, out);
        }
    }

    /// Returns where the subject of a question starts in the segment. The lines of
    /// a run that showed its banner are the model's only up to their token counts.
    fn subject(&self, topic: Topic) -> usize {
        let is_shown = |line: &String| is_gap(line) || is_file_line(line) || line.contains("://");
        match topic {
            _ if self.who.has_version() => 0,
            Topic::Output => 0,
            Topic::Subject => {
                let words = self.segment.iter().rposition(|line| !is_shown(line));
                words.map_or(0, |last| last + 1)
            }
            _ => self.segment.len(),
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

    pub(super) fn answered(&mut self, asked: Asked, out: &mut Emitter) {
        let topic = question::topic(&asked.prompt.question);
        let is_refused = question::is_refusal(&asked.prompt.answer);
        if !asked.is_shown || !asked.prompt.answer.is_empty() {
            out.prompt(asked.prompt);
        }
        match topic {
            Topic::Tools if is_refused => self.round.reject_all(out),
            Topic::Command if is_refused => self.round.reject_command(out),
            Topic::Command => self.round.asked = true,
            _ => {}
        }
    }
}
