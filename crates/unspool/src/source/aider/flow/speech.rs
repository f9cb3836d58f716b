//! What the model says and what the agent says: messages, token counts, API
//! errors and notices.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Flow, Line, Note, Origin, SEGMENT_LIMIT, Tally};
use crate::event::{Level, TurnStatus, Usage};
use crate::source::Emitter;
use crate::source::aider::marker::{self, Counts, Family, Question};
use crate::source::aider::message::{self, Context, Part};
use crate::source::aider::report::Report;
use crate::source::aider::round::Over;
use crate::source::aider::{applied, output, wrap};
use crate::terminal;

/// Names of context blocks that are remembered.
const CONTEXTS: usize = 64;

impl Flow {
    pub(in crate::source::aider) fn push(&mut self, line: &str, out: &mut Emitter) {
        if self.segment.is_empty() {
            self.segment_gap = self.gap;
        }
        self.segment_bytes += line.len() + 1;
        self.segment.push(line.to_owned());
        if self.segment_bytes > SEGMENT_LIMIT {
            self.message(None, out);
        }
    }

    pub(in crate::source::aider) fn take_segment(&mut self) -> Vec<String> {
        self.segment_bytes = 0;
        std::mem::take(&mut self.segment)
    }

    pub(super) fn counts_in(&self, text: &str) -> Option<Counts> {
        let counts = marker::usage(text)?;
        let fits = match self.who.family {
            Family::Unknown => true,
            family => (family == Family::Cecli) == (counts.family == Family::Cecli),
        };
        fits.then_some(counts)
    }

    /// Whether token counts begin with a line, all or only some of them.
    pub(super) fn begins_counts(&self, text: &str) -> bool {
        let cut = self.who.family != Family::Cecli && !self.is_history();
        self.counts_in(text).is_some() || (cut && marker::is_cut_usage(text))
    }

    /// Takes the rest of token counts that were cut, or their cost.
    pub(super) fn counts_go_on(&mut self, line: Line<'_>) -> bool {
        let Some(tally) = &self.tally else {
            return false;
        };
        let may_go_on = match &tally.counts {
            Some(counts) => {
                let priced = counts.family == Family::Cecli || counts.usage.cost_usd.is_some();
                !priced && line.text.starts_with("Cost: $")
            }
            None => !line.text.trim().is_empty(),
        };
        if !may_go_on {
            return false;
        }
        let text = [tally.text.as_str(), line.text.trim()].join(" ");
        let counts = self.counts_in(&text);
        if counts.is_none() && !marker::is_cut_usage(&text) {
            return false;
        }
        if let Some(tally) = &mut self.tally {
            tally.lines.push(line.raw.to_owned());
            (tally.text, tally.counts) = (text, counts);
        }
        true
    }

    /// A line that looks like token counts is believed when the next one is
    /// what the agent prints after them.
    pub(super) fn decide_counts(&mut self, next: Option<&str>, out: &mut Emitter) {
        let Some(Tally { lines, counts, .. }) = self.tally.take() else {
            return;
        };
        let follows = |counts: &Counts, next: &str| {
            let edits = || {
                let follows = marker::note(next).is_some()
                    || Report::begins(next)
                    || self.applies_patch(next);
                follows && !self.who.only_answers() && self.plausible(counts)
            };
            let wraps = matches!(self.who.family, Family::Ce | Family::Cecli);
            marker::is_gap(next)
                || self.is_history()
                || matches!(marker::question(next), Some(Question::Whole(..)))
                || (!wraps && edits())
        };
        let believed = counts.filter(|counts| next.is_none_or(|next| follows(counts, next)));
        let Some(counts) = believed else {
            for line in &lines {
                self.push(line, out);
            }
            return;
        };
        self.who.ensure(out);
        self.message(Some(&counts), out);
        self.turn.verdict = None;
        self.turn.unfinished = false;
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

    /// Whether the agent begins with a line to apply the patch in the segment.
    fn applies_patch(&self, text: &str) -> bool {
        let Some(path) = applied::patched(text).filter(|_| self.who.format() == "patch") else {
            return false;
        };
        let names = |line: &String| {
            let action = line.strip_prefix("*** ");
            let file = action.and_then(|action| action.split_once(" File: "));
            file.is_some_and(|(_, file)| file.trim() == path)
        };
        self.segment.iter().any(names)
    }

    /// A few tokens cannot be a long text.
    fn plausible(&self, counts: &Counts) -> bool {
        let letters = |line: &String| line.chars().filter(|c| c.is_alphanumeric()).count();
        let said: usize = self.segment.iter().map(letters).sum();
        let received = counts.usage.output_tokens.unwrap_or(0);
        said as u64 <= received.saturating_add(10).saturating_mul(10)
    }

    /// The segment is a message of the model, perhaps below lines that the
    /// agent printed before it was known who speaks, or below the output of a
    /// program.
    pub(in crate::source::aider) fn message(&mut self, counts: Option<&Counts>, out: &mut Emitter) {
        let mut lines = self.take_segment();
        if self.round.raw {
            let tool = self.round.printing_tool().unwrap_or_default();
            let text = lines.split_off(output::length(&lines, tool, counts));
            self.round.output(&std::mem::replace(&mut lines, text));
            self.round.raw = false;
        }
        let own = |line: &String| marker::is_gap(line) || marker::note(line).is_some();
        let over = match counts {
            None if lines.iter().all(own) => Over::Cut,
            _ if self.is_history() => Over::SpokenOfOld,
            _ => Over::Spoken,
        };
        self.round.end(over, out);
        if lines.iter().any(|line| !own(line)) {
            out.release_edits();
        }
        // No token was written: whatever was printed, the model did not say it.
        if counts.is_some_and(|counts| counts.usage.output_tokens == Some(0)) {
            self.console(&lines, out);
            return;
        }
        let text = lines.split_off(lines.iter().take_while(|line| own(line)).count());
        self.console(&lines, out);
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
        self.turn.active = true;
        self.turn.unfinished = counts.is_none();
        self.origin = Origin::After;
    }

    /// A context block; the agents repeat theirs with every request, so it is
    /// told only if it changed.
    pub(super) fn context(&mut self, context: Context, out: &mut Emitter) {
        let mut hasher = DefaultHasher::new();
        (&context.title, &context.text).hash(&mut hasher);
        let digest = hasher.finish();
        let mut told = self.contexts.iter_mut();
        match told.find(|(name, _)| *name == context.name) {
            Some((_, told)) if *told == digest => return,
            Some((_, told)) => *told = digest,
            None => self.contexts.push((context.name.clone(), digest)),
        }
        self.contexts.truncate(CONTEXTS);
        self.who.ensure(out);
        out.context(&context.name, &context.title, context.text);
    }

    /// Lines that the agent or a program printed. Each of the agent's own is a
    /// notice; what stands between them stays together.
    pub(super) fn console(&mut self, lines: &[String], out: &mut Emitter) {
        self.flush_note(out);
        let mut block: Vec<String> = Vec::new();
        for line in lines {
            let shown = terminal::plain(line);
            let text = shown.trim_end_matches('\r');
            let nothing = marker::is_noise(text) || marker::is_rule(text);
            if self.goes_on(text) || nothing || text.trim_end() == "Finished." {
                continue;
            }
            self.flush_note(out);
            if let Some(level) = marker::note(text) {
                let before = std::mem::take(&mut block);
                self.notice(Level::Info, &message::trim(&before).join("\n"), out);
                self.push_note(level, text, out);
            } else {
                block.push(line.clone());
            }
        }
        self.notice(Level::Info, &message::trim(&block).join("\n"), out);
        self.flush_note(out);
    }

    /// A line of the agent's own; it may go on in the next.
    pub(super) fn push_note(&mut self, level: Level, text: &str, out: &mut Emitter) {
        self.flush_note(out);
        let text = text.trim_end_matches('\r');
        if marker::is_limit(text.trim_end()) || text.starts_with("Empty response received") {
            self.turn.verdict = Some((TurnStatus::Failed, text.trim_end().to_owned()));
        }
        if self.origin == Origin::Prompt {
            self.origin = Origin::After;
        }
        if self.is_history() {
            self.who.add_file(text);
        }
        self.note = Some(Note {
            level,
            text: text.to_owned(),
            last: text.to_owned(),
            listing: false,
        });
    }

    /// A line of a chat history that is the agent's and not known. Several
    /// such lines stay together.
    pub(super) fn push_listing(&mut self, text: &str) {
        let note = self.note.get_or_insert_with(|| Note {
            level: Level::Info,
            text: String::new(),
            last: String::new(),
            listing: true,
        });
        if !note.text.is_empty() {
            note.text.push('\n');
        }
        note.text.push_str(text);
    }

    /// Takes the rest of a line that was cut.
    pub(super) fn goes_on(&mut self, text: &str) -> bool {
        if self.is_history() {
            return false;
        }
        if let Some(note) = &mut self.note
            && (wrap::continues(&note.last, text)
                || marker::missing_word(&note.text) == Some(text.trim_end()))
            && !marker::is_telling(text)
            && marker::note(text).is_none()
        {
            wrap::join(&mut note.text, text);
            text.clone_into(&mut note.last);
            return true;
        }
        if let Some(printed) = self.printed.take()
            && (wrap::continues(&printed, text) || is_cut_search(&printed))
            && !marker::is_telling(text)
            && super::super::round::printed(text).is_none()
        {
            self.round.append(text);
            self.printed = Some(text.to_owned());
            return true;
        }
        false
    }

    pub(super) fn flush_note(&mut self, out: &mut Emitter) {
        if let Some(note) = self.note.take() {
            self.notice(note.level, note.text.trim_end(), out);
        }
    }

    pub(super) fn notice(&mut self, level: Level, text: &str, out: &mut Emitter) {
        if text == marker::WENT_ON {
            self.round.reject(None, out);
        }
        if !text.is_empty() {
            self.who.ensure(out);
            applied::decide(text, out);
            out.notice(level, text);
        }
    }

    pub(super) fn api_error(&mut self, explanation: &str, out: &mut Emitter) {
        let mut lines = self.take_segment();
        let start = lines
            .iter()
            .enumerate()
            .rev()
            .find_map(|(index, line)| Some((index, marker::api_error_start(line)?)));
        let mut error = Vec::new();
        if let Some(note) = self
            .note
            .take_if(|note| marker::api_error_start(&note.text).is_some())
        {
            error.push(note.text);
        }
        self.flush_note(out);
        if let Some((index, column)) = start {
            error = lines.split_off(index);
            if let Some(first) = error.first_mut() {
                let text = first.split_off(column);
                lines.push(std::mem::replace(first, text));
            }
        }
        self.segment = lines;
        self.message(None, out);
        applied::stop(out);
        error.push(explanation.to_owned());
        self.error = wrap::rejoin(error.iter().map(String::as_str));
        self.turn.active = true;
    }

    /// After an API error the agent tries again, or gives up.
    pub(super) fn retried(&mut self, next: &str, out: &mut Emitter) -> bool {
        if self.error.is_empty() || next.is_empty() {
            return false;
        }
        let mut lines = std::mem::take(&mut self.error);
        if next.starts_with("Retrying in ") {
            lines.push(next.trim_end().to_owned());
            self.notice(Level::Retry, &lines.join("\n"), out);
            return true;
        }
        let reason = lines.last().cloned().unwrap_or_default();
        self.turn.verdict = Some((TurnStatus::Failed, reason));
        self.notice(Level::Error, &lines.join("\n"), out);
        false
    }
}

/// A search names the folder that it searches last.
fn is_cut_search(printed: &str) -> bool {
    printed.starts_with("⛭ ") && printed.trim_end().ends_with("' in")
}
