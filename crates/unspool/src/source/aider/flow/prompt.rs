//! The prompt for input: what it ends, and what the person typed at it.

use super::{Flow, Line, Origin};
use crate::event::{TurnEnd, TurnStatus};
use crate::json::Json;
use crate::source::Emitter;
use crate::source::aider::marker::{self, Family};
use crate::source::aider::round::Over;
use crate::source::aider::session::is_file_line;

/// Whether a prompt may show this word: the modes and the edit formats.
fn is_mode(word: &str) -> bool {
    const MODES: &[&str] = &[
        "ask",
        "agent",
        "architect",
        "code",
        "context",
        "help",
        "diff",
        "diff-fenced",
        "udiff",
        "udiff-simple",
        "whole",
        "patch",
        "hashline",
        "editor-diff",
        "editor-diff-fenced",
        "editor-whole",
    ];
    MODES.contains(&word)
}

impl Flow {
    pub(super) fn prompt_line(&mut self, line: Line<'_>, out: &mut Emitter) -> bool {
        if self.is_history() {
            return false;
        }
        let Some((mode, rest)) = marker::prompt(line.text) else {
            return false;
        };
        let Some(list) = self.fits_prompt(mode, rest) else {
            return false;
        };
        let lines = self.take_segment();
        let (body, files) = lines.split_at(list);
        if self.round.raw {
            self.round.output(body);
            self.end_output(out);
        } else {
            self.console(body, out);
        }
        self.who.list_files(files, out);
        self.end_turn(out);
        self.who.prompted(mode);
        self.origin = Origin::Prompt;
        // 1.x begins what it prints on the line of the prompt.
        let begins_here = !self.is_terminal() && self.who.family == Family::Cecli;
        self.set_off = begins_here && rest.trim().is_empty();
        self.gap = true;
        self.next_gap = true;
        if self.is_terminal() {
            self.user(rest.trim(), out);
        } else if !rest.trim().is_empty() && !marker::is_noise(rest) {
            self.take(line.rest(rest), out);
        }
        true
    }

    /// Where the list of files begins in the segment, if a prompt may follow.
    fn fits_prompt(&self, mode: &str, rest: &str) -> Option<usize> {
        let last_gap = self.segment.iter().rposition(|line| marker::is_gap(line));
        let start = match last_gap {
            Some(index) => index + 1,
            None if self.segment.is_empty() || self.segment_gap => 0,
            None => return None,
        };
        let files = self.segment.get(start..)?;
        let below_gap = !files.is_empty() || self.gap || last_gap.is_some();
        if !below_gap || !files.iter().all(|line| is_file_line(line)) {
            return None;
        }
        if !self.fits_rest(rest.trim()) || !self.fits_mode(mode) {
            return None;
        }
        let before = self.segment.get(..start)?;
        let last = before.iter().rev().find(|line| !marker::is_gap(line));
        let telling = !mode.is_empty() || !files.is_empty();
        let unique = !self.is_terminal() && matches!(self.who.family, Family::Classic | Family::Ce);
        let fits = match last {
            None => telling || !self.who.has_files() || self.origin != Origin::Prompt,
            Some(last) => {
                telling
                    || unique
                    || self.turn.verdict.is_some()
                    || marker::note(last).is_some()
                    || last.trim_end() == "Finished."
            }
        };
        fits.then_some(start)
    }

    /// Whether this can stand behind a prompt: on a terminal the person's
    /// words, else what the program prints first.
    fn fits_rest(&self, printed: &str) -> bool {
        match self.who.family {
            _ if self.is_terminal() => true,
            Family::Classic => printed.is_empty(),
            Family::Ce => printed.is_empty() || printed == "Processing...",
            Family::Cecli | Family::Unknown => true,
        }
    }

    /// The mode changes only where a banner says so.
    fn fits_mode(&self, mode: &str) -> bool {
        let expected = self.who.may_change_mode() && mode.is_empty();
        expected || is_mode(mode) || (self.who.prompts && mode == self.who.mode)
    }

    /// What a person typed.
    pub(in crate::source::aider) fn user(&mut self, text: &str, out: &mut Emitter) {
        if text.is_empty() {
            return;
        }
        self.who.ensure(out);
        if matches!(text, "/exit" | "/quit") {
            // Nothing is asked of the agent: how the run went is what its last
            // turn came to.
            let left = format!("\"{text}\"");
            out.state("left", Json::parse(&left).unwrap_or(Json::NULL));
            return;
        }
        out.user(text, false);
        self.turn.active = true;
        self.turn.unfinished = !text.starts_with(['/', '!']);
    }

    /// The turn is over, if there was one.
    pub(in crate::source::aider) fn end_turn(&mut self, out: &mut Emitter) {
        match self.turn.verdict {
            None | Some((TurnStatus::Completed, _)) => self.round.end_turn(self.is_history(), out),
            // The calls of a turn that was cut off may not have run.
            Some(_) => self.round.fail(),
        }
        self.round.end(Over::Cut, out);
        self.round.raw = false;
        out.release_edits();
        let turn = std::mem::take(&mut self.turn);
        if turn.active {
            let (status, reason) = turn.verdict.unwrap_or_default();
            out.turn_end(TurnEnd {
                status,
                reason,
                ..TurnEnd::default()
            });
        }
    }

    /// Nothing more belongs to what was held.
    pub(in crate::source::aider) fn settle(&mut self, out: &mut Emitter) {
        if let Some(prompt) = self.question.take() {
            self.answered(prompt, out);
        }
        if let Some(cut) = self.cut.take() {
            self.push(&cut, out);
        }
        self.flush_note(out);
        self.decide_counts(None, out);
        self.retried("end of input", out);
        self.finish_state(out);
    }

    /// The input has ended: what was held is decided, and the turn with it.
    pub(in crate::source::aider) fn finish(&mut self, out: &mut Emitter) {
        self.settle(out);
        let lines = self.take_segment();
        let mut unfinished = self.turn.unfinished && self.is_history();
        let text = lines.iter().map(|line| line.trim());
        let said: Vec<&str> = text.filter(|line| !line.is_empty()).collect();
        if self.round.is_running() && said.last() != Some(&"Finished.") {
            self.round.output(&lines);
            self.round.cut(out);
        } else if !said.is_empty() && said != ["Finished."] {
            unfinished = true;
            self.segment = lines;
            self.message(None, out);
        } else if said.is_empty() {
            self.round.cut(out);
        }
        self.flush_note(out);
        let cut_off = unfinished
            || self.turn.asked
            || (self.who.prompts && !self.is_history())
            || (self.round.is_open() && !self.round.ends_turn());
        if cut_off && self.turn.verdict.is_none() {
            self.turn.verdict = Some((TurnStatus::Interrupted, String::new()));
        }
        self.end_turn(out);
    }
}
