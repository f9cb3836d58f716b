//! Prompts for input, the words of the person, and the ends of turns.

use super::{Flow, Line, Origin};
use crate::event::{TurnEnd, TurnStatus};
use crate::json::Json;
use crate::source::Emitter;
use crate::source::aider::line::{Family, is_gap};
use crate::source::aider::marks::{self, Mark};
use crate::source::aider::round::Over;
use crate::source::aider::session::is_file_line;

impl Flow {
    pub(super) fn prompt_line(
        &mut self,
        line: Line<'_>,
        mode: &str,
        rest: &str,
        out: &mut Emitter,
    ) -> bool {
        let Some(list) = self.fits_prompt(mode, rest) else {
            return false;
        };
        let lines = self.take_segment();
        let (body, files) = lines.split_at(list);
        if self.round.raw {
            self.round.output(body);
            self.round.close(out);
        } else {
            self.console(body, out);
        }
        self.who.list_files(files, out);
        self.end_turn(out);
        self.who.prompted(mode);
        self.origin = Origin::Prompt;
        // On a pipe, 1.x prints its first line after the prompt.
        let continues = !self.is_terminal() && self.who.family == Family::Cecli;
        self.set_off = continues && rest.trim().is_empty();
        (self.gap, self.next_gap) = (true, true);
        if self.is_terminal() {
            self.user(rest.trim(), out);
        } else if !rest.trim().is_empty() && marks::mark(rest) != Some(Mark::Noise) {
            self.take(line.rest(rest), out);
        }
        true
    }

    /// Returns where the list of files starts in the segment, if a prompt may
    /// follow.
    fn fits_prompt(&self, mode: &str, rest: &str) -> Option<usize> {
        let last_gap = self.segment.iter().rposition(|line| is_gap(line));
        let start = match last_gap {
            Some(index) => index + 1,
            None if self.segment.is_empty() || self.segment_gap => 0,
            None => return None,
        };
        let (before, files) = self.segment.split_at(start);
        let is_below_gap = !files.is_empty() || self.gap || last_gap.is_some();
        let is_list = files.iter().all(|line| is_file_line(line));
        let fits_rest = match self.who.family {
            _ if self.is_terminal() => true,
            Family::Classic => rest.trim().is_empty(),
            Family::Ce => matches!(rest.trim(), "" | "Processing..."),
            Family::Cecli | Family::Unknown => true,
        };
        if self.is_history()
            || !(is_below_gap && is_list && fits_rest && self.who.allows_mode(mode))
        {
            return None;
        }
        // A bare `> ` may be a quotation.
        let is_distinctive = !mode.is_empty() || !files.is_empty();
        let is_unique =
            !self.is_terminal() && matches!(self.who.family, Family::Classic | Family::Ce);
        let fits = match before.iter().rev().find(|line| !is_gap(line)) {
            None => is_distinctive || !self.who.has_files() || self.origin != Origin::Prompt,
            Some(last) => {
                is_distinctive
                    || is_unique
                    || self.turn.verdict.is_some()
                    || marks::note(last).is_some()
                    || last.trim_end() == "Finished."
            }
        };
        fits.then_some(start)
    }

    /// Takes the words of the person.
    pub(in crate::source::aider) fn user(&mut self, text: &str, out: &mut Emitter) {
        if text.is_empty() {
            return;
        }
        self.who.ensure(out);
        if matches!(text, "/exit" | "/quit") {
            // Nothing is asked of the agent: the last turn decides how the run went.
            let left = format!("\"{text}\"");
            out.state("left", Json::parse(&left).unwrap_or(Json::NULL));
            return;
        }
        out.user(text, false);
        self.turn.is_active = true;
        self.turn.is_unfinished = !text.starts_with(['/', '!']);
    }

    /// Ends the turn, if there is one.
    pub(in crate::source::aider) fn end_turn(&mut self, out: &mut Emitter) {
        match self.turn.verdict {
            None | Some((TurnStatus::Completed, _)) if self.is_history() => {
                self.round.end(Over::ContinuedInHistory, out);
            }
            None | Some((TurnStatus::Completed, _)) => self.round.end_turn(out),
            Some(_) => self.round.drop_edits(),
        }
        self.round.end(Over::Cut, out);
        out.release_edits();
        let turn = std::mem::take(&mut self.turn);
        if turn.is_active {
            let (status, reason) = turn.verdict.unwrap_or_default();
            out.turn_end(TurnEnd {
                status,
                reason,
                ..TurnEnd::default()
            });
        }
    }

    /// Decides everything that waits for a later line.
    pub(in crate::source::aider) fn settle(&mut self, out: &mut Emitter) {
        self.flush_row(out);
        if let Some(asked) = self.question.take() {
            self.answered(asked, out);
        }
        self.flush_note(out);
        let block = std::mem::take(&mut self.state);
        self.close_block(block, None, out);
    }

    /// Ends the input, and the turn with it.
    pub(in crate::source::aider) fn finish(&mut self, out: &mut Emitter) {
        self.settle(out);
        let text = self.segment.iter().map(|line| line.trim());
        let text: Vec<&str> = text.filter(|line| !line.is_empty()).collect();
        let is_finished = text.last() == Some(&"Finished.");
        let is_message = !text.is_empty() && text != ["Finished."];
        let has_text = !text.is_empty();
        let mut is_unfinished = self.turn.is_unfinished && self.is_history();
        if self.round.running_tool().is_some() && !is_finished {
            let lines = self.take_segment();
            self.round.output(&lines);
            self.round.cut(out);
        } else if is_message {
            is_unfinished = true;
            self.message(None, out);
        } else if !has_text {
            self.round.cut(out);
        }
        self.take_segment();
        self.flush_note(out);
        let is_cut_off = is_unfinished
            || self.turn.was_asked
            || (self.who.prompts && !self.is_history())
            || (self.round.is_open() && !self.round.ends_turn());
        if is_cut_off && self.turn.verdict.is_none() {
            self.turn.verdict = Some((TurnStatus::Interrupted, String::new()));
        }
        self.end_turn(out);
    }
}
