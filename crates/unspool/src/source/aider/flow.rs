//! Lines → events: which line is whose.
//!
//! Nothing marks the beginning of an answer; its end is the line of token
//! counts that every call of a model prints. Lines whose meaning depends on
//! what follows are therefore collected in the *segment*, and whatever closes
//! the segment says what it was. A marker counts only where the agent prints
//! it: a model may write any of them into its answer.
//!
//! ```text
//!  state    line                                      next     what happens
//!  ───────  ────────────────────────────────────────  ───────  ─────────────────────────────
//!  Open     banner, segment empty or at the start     Banner
//!           tool call, segment empty, not at a prompt Body
//!           token counts, then a line that fits       Open     segment is the model's message
//!           question that fits what stands before it  Open     segment is its subject or output
//!           prompt, below a gap and the file list     Open     segment is console text; turn ends
//!           interrupt, API error, output loop         Open     segment is the model's message
//!           `N lines of output`                       Open     segment is output
//!           failed edits, segment empty               Report
//!           lint, `Running …`, token limit            Block
//!           dashes, then a role in capitals           Dump     (verbose output)
//!           own message, segment empty                Open     notice
//!           line that a tool prints, segment empty    Open     result
//!           any other                                 Open     joins the segment
//!  Banner   field                                     Banner
//!           any other                                 Open     session; the line is taken again
//!  Body     line that fits the tool's arguments       Body
//!           tool call                                 Body     call
//!           any other                                 Open     call; the line is taken again
//!  Report   line before the last sentence             Report
//!           last sentence                             Open     notice
//!  Block    question, prompt, token counts            Open     notice; the line is taken again
//!           any other                                 Block
//!  Dump     `}` that closes the request               Open
//!           any other                                 Dump     context blocks
//! ```

use super::call;
use super::dump::Dump;
use super::marker::{self, Counts, Question, Topic};
use super::report::Report;
use super::round::{self, Round};
use super::session::{Identity, is_file_line};
use super::{message, screen};
use crate::event::{Level, Prompt, TurnStatus};
use crate::source::{Emitter, Outcome};

mod prompt;
mod question;
mod speech;

/// Bytes that a segment may hold; a longer one can only be an answer.
const SEGMENT_LIMIT: usize = 4 << 20;

/// Lines that a block of output may hold; the rest is another notice.
const BLOCK_LIMIT: usize = 1 << 16;

/// Reads the visible lines of a run.
#[derive(Clone, Default)]
pub(super) struct Flow {
    /// A terminal echoes what the person types.
    echoes: bool,
    /// The lines come from a chat history: the model's words are given as
    /// such, and all other lines are the agent's.
    history: bool,
    pub(super) who: Identity,
    state: State,
    origin: Origin,
    pub(super) segment: Vec<String>,
    segment_bytes: usize,
    /// The segment began below a gap.
    segment_gap: bool,
    /// The line before was empty or a rule, or there was none.
    gap: bool,
    /// The same for the line after this one.
    next_gap: bool,
    /// Token counts whose next line has not come.
    counts: Option<(String, Counts)>,
    /// A question whose answer may stand on the next line.
    question: Option<Prompt>,
    /// A question that was cut at the terminal's width.
    cut: Option<String>,
    /// An API error that may be followed by a retry.
    error: Vec<String>,
    /// The agent's last own line, which may go on.
    note: Option<Note>,
    /// Context blocks that were told, by name, with what they said.
    contexts: Vec<(String, u64)>,
    pub(super) round: Round,
    /// What a tool printed last, which may go on.
    printed: Option<String>,
    /// A program runs whose output has no end mark.
    pub(super) raw_output: bool,
    pub(super) turn: Turn,
}

#[derive(Clone, Default)]
enum State {
    #[default]
    Open,
    Banner(Vec<String>),
    Body(call::Block),
    Report(Report),
    Block(Level, Vec<String>),
    Dump(Dump),
}

/// What the segment follows.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Origin {
    #[default]
    Start,
    Prompt,
    /// A message of the model, a question, or something that was printed.
    After,
}

#[derive(Clone)]
struct Note {
    level: Level,
    text: String,
    last: String,
    /// Unknown lines of a chat history, which may go on.
    listing: bool,
}

/// The turn that is under way.
#[derive(Clone, Default)]
pub(super) struct Turn {
    /// The model was asked something or said something.
    pub(super) active: bool,
    /// A message began that has no end.
    pub(super) unfinished: bool,
    /// A question was asked and nothing followed.
    asked: bool,
    verdict: Option<(TurnStatus, String)>,
    /// Prompts were seen: the run goes on until the next one.
    interactive: bool,
}

/// A line: as it came, and as it is seen.
#[derive(Clone, Copy)]
struct Line<'a> {
    raw: &'a str,
    text: &'a str,
}

impl Flow {
    /// A flow whose lines come from a terminal.
    pub(super) fn on_terminal() -> Self {
        Self {
            echoes: true,
            ..Self::default()
        }
    }

    /// A chat history.
    pub(super) fn of_history() -> Self {
        Self {
            history: true,
            ..Self::default()
        }
    }

    /// Takes the next line.
    pub(super) fn line(&mut self, raw: &str, out: &mut Emitter) {
        let shown = screen::plain(raw);
        let mut text = shown.trim_end_matches('\r');
        let mut waiting = "";
        if self.echoes
            && let Some((spinner, rest)) = marker::spinner(text)
        {
            (waiting, text) = (spinner, rest);
        }
        if self.answer(waiting, text, out) {
            return;
        }
        let joined;
        if let Some(cut) = self.cut.take() {
            joined = format!("{} {}", cut.trim_end(), text.trim_start());
            text = &joined;
        }
        let raw = if text.len() == raw.len() { raw } else { text };
        let raw = if self.echoes { text } else { raw };
        self.take(Line { raw, text }, out);
    }

    fn take(&mut self, line: Line<'_>, out: &mut Emitter) {
        if self.goes_on(line.text) {
            return;
        }
        let listing = self.note.as_ref().is_some_and(|note| note.listing);
        if !listing || !self.may_list(line.text) {
            self.flush_note(out);
        }
        if self.retried(line.text, out) {
            return;
        }
        self.decide_counts(Some(line.text), out);
        if !line.text.trim().is_empty() {
            self.turn.asked = false;
        }
        self.next_gap = marker::is_gap(line.text);
        self.step(line, out);
        self.gap = self.next_gap;
    }

    /// Whether a line may go on with the unknown ones before it, or explains
    /// them.
    fn may_list(&self, text: &str) -> bool {
        let known = marker::note(text).is_some()
            || marker::is_telling(text)
            || marker::alarm(text).is_some()
            || is_block_start(text)
            || round::printed(text).is_some();
        matches!(self.state, State::Open) && !known
    }

    fn step(&mut self, line: Line<'_>, out: &mut Emitter) {
        match std::mem::take(&mut self.state) {
            State::Open => self.open(line, out),
            State::Banner(notes) => self.banner_line(notes, line, out),
            State::Body(block) => self.body_line(block, line, out),
            State::Report(mut report) => {
                if report.takes(line.text) {
                    report.push(line.text);
                    if report.is_complete() {
                        self.notice(Level::Error, &report.text(), out);
                    } else {
                        self.state = State::Report(report);
                    }
                } else {
                    self.notice(Level::Error, &report.text(), out);
                    self.open(line, out);
                }
            }
            State::Block(level, lines) => self.block_line(level, lines, line, out),
            State::Dump(mut dump) => {
                dump.line(line.text);
                while let Some(context) = dump.pop() {
                    self.context(context, out);
                }
                if dump.is_open() {
                    self.state = State::Dump(dump);
                }
            }
        }
    }

    fn open(&mut self, line: Line<'_>, out: &mut Emitter) {
        if let Some(counts) = self.counts_in(line.text) {
            self.counts = Some((line.raw.to_owned(), counts));
        } else if self.prompt_line(line, out) || self.question_line(line, out) {
        } else if self.segment.is_empty() && marker::is_gap(line.text) {
        } else if self.segment.is_empty() && self.marker_line(line, out) {
        } else if !self.segment.is_empty() && self.closing_line(line, out) {
        } else if self.history {
            self.push_listing(line.text);
        } else {
            self.push(line.raw, out);
        }
    }

    /// A line that says itself what it is, with nothing before it that it
    /// could belong to.
    fn marker_line(&mut self, line: Line<'_>, out: &mut Emitter) -> bool {
        let text = line.text;
        if let Some((family, version)) = marker::banner(text) {
            self.who.banner(family, version);
            self.state = State::Banner(Vec::new());
            return true;
        }
        if marker::is_noise(text) {
            return true;
        }
        if self.origin != Origin::Prompt && self.after_message(text, out) {
            return true;
        }
        if self.ending_line(line, out) {
            return true;
        }
        if let Some((level, text)) = marker::alarm(text) {
            self.push_note(level, &text, out);
            return true;
        }
        if is_block_start(text) {
            self.state = State::Block(block_level(text), vec![text.to_owned()]);
            return true;
        }
        match marker::note(text) {
            // Before the banner it is not known who speaks.
            Some(_) if !self.who.is_announced() && self.origin == Origin::Start => false,
            Some(level) => {
                self.push_note(level, text, out);
                true
            }
            None => false,
        }
    }

    /// What can only follow a message of the model.
    fn after_message(&mut self, text: &str, out: &mut Emitter) -> bool {
        if let Some((server, tool)) = marker::header(text)
            && self.who.knows_server(&server)
        {
            self.end_output(out);
            self.state = State::Body(call::Block::new(server, tool));
            return true;
        }
        if Report::begins(text) {
            self.state = State::Report(Report::new(text));
            return true;
        }
        if let Some(printed) = round::printed(text) {
            return self.tool_printed(text, printed, out);
        }
        let patched = ["Updating ", "Adding ", "Deleting "]
            .iter()
            .any(|start| text.strip_prefix(start).is_some_and(is_file_line));
        if patched && self.who.format() == "patch" {
            self.push_note(Level::Info, text, out);
            return true;
        }
        false
    }

    fn tool_printed(&mut self, text: &str, printed: round::Printed<'_>, out: &mut Emitter) -> bool {
        self.who.ensure(out);
        if self.round.print(text, printed, out) {
            self.printed = Some(text.to_owned());
            self.raw_output = printed.raw;
            self.origin = Origin::After;
            self.turn.active = true;
            return true;
        }
        if text.starts_with("✅ ") && text.contains("(change_id: ") {
            out.tool_result(
                "",
                Outcome {
                    output: text.into(),
                    ..Outcome::default()
                },
            );
            return true;
        }
        if printed.is_failure() {
            self.push_note(Level::Error, text, out);
            return true;
        }
        false
    }

    /// What can end a message before its token counts come, or outside one.
    fn ending_line(&mut self, line: Line<'_>, out: &mut Emitter) -> bool {
        let text = line.text.trim_end();
        if marker::is_api_error(text) {
            self.api_error(text, out);
            return true;
        }
        let stop = ["^C KeyboardInterrupt", "^C again to exit"]
            .into_iter()
            .find_map(|stop| Some((text.strip_suffix(stop)?, stop)));
        if let Some((before, stop)) = stop {
            if !before.is_empty() {
                self.push(before, out);
            }
            self.message(None, out);
            self.turn.verdict = Some((TurnStatus::Canceled, String::new()));
            self.push_note(Level::Canceled, stop, out);
            return true;
        }
        const LOOP: &str = "Output loop detected while streaming: ";
        if let Some(start) = text.find(LOOP)
            && let (Some(before), Some(note)) = (text.get(..start), line.text.get(start..))
        {
            if !before.is_empty() {
                self.push(before, out);
            }
            self.message(None, out);
            self.push_note(Level::Warning, note, out);
            if let Some(note) = &mut self.note {
                line.text.clone_into(&mut note.last);
            }
            return true;
        }
        false
    }

    /// A line that shows what the segment was.
    fn closing_line(&mut self, line: Line<'_>, out: &mut Emitter) -> bool {
        let text = line.text;
        if marker::is_output_note(text) {
            let lines = self.take_segment();
            self.console(&lines, out);
            self.push_note(Level::Info, text, out);
            return true;
        }
        if self.raw_output
            && let Some(printed) = round::printed(text)
            && self.round.is_open()
        {
            let lines = self.take_segment();
            self.round.output(&lines);
            return self.tool_printed(text, printed, out);
        }
        if Dump::begins(self.segment.last().map_or("", String::as_str), text) {
            self.segment.pop();
            let lines = self.take_segment();
            self.console(&lines, out);
            self.round.end(out);
            self.state = State::Dump(Dump::new(text));
            return true;
        }
        if self.origin == Origin::Start && marker::banner(text).is_some() {
            return self.marker_line(line, out);
        }
        let subject = self.origin == Origin::After
            && self.segment_gap
            && self.segment.iter().all(|line| is_file_line(line));
        if subject && marker::note(text).is_some() {
            let lines = self.take_segment();
            self.console(&lines, out);
            return self.marker_line(line, out);
        }
        self.ending_line(line, out)
    }

    fn banner_line(&mut self, mut notes: Vec<String>, line: Line<'_>, out: &mut Emitter) {
        if let Some((label, value)) = marker::banner_field(line.text) {
            self.who.field(label, value);
            self.state = State::Banner(notes);
        } else if marker::note(line.text).is_some() {
            notes.push(line.text.to_owned());
            self.state = State::Banner(notes);
        } else {
            self.end_banner(&notes, out);
            self.step(line, out);
        }
    }

    fn end_banner(&mut self, notes: &[String], out: &mut Emitter) {
        let before = self.take_segment();
        self.who.announce(out);
        self.console(&before, out);
        self.console(notes, out);
        if self.origin == Origin::Prompt {
            self.origin = Origin::After;
        }
    }

    fn body_line(&mut self, mut block: call::Block, line: Line<'_>, out: &mut Emitter) {
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
            Some(Question::Cut) => self.echoes,
            None => false,
        };
        let header = marker::header(text).is_some_and(|(server, _)| self.who.knows_server(&server));
        let prompt = marker::prompt(text).is_some_and(|(mode, rest)| {
            mode == self.who.mode && (!mode.is_empty() || rest.trim().is_empty() || self.echoes)
        });
        let marks =
            header || prompt || round::printed(text).is_some() || marker::note(text).is_some();
        let ends = asks || self.counts_in(text).is_some() || (marks && !free) || !takes;
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

    fn block_line(
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
        let ends = asks
            || prompt
            || told
            || self.counts_in(text).is_some()
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

    fn end_block(&mut self, level: Level, lines: &[String], out: &mut Emitter) {
        let first = lines.first().map_or("", String::as_str);
        if first.contains(" has hit a token limit!") {
            let output = lines
                .iter()
                .any(|line| line.starts_with("Output tokens: ") && line.contains("possibly"));
            self.turn.verdict = Some(if output {
                (TurnStatus::Completed, "length".to_owned())
            } else {
                (TurnStatus::Failed, first.to_owned())
            });
        }
        self.notice(level, &message::trim(lines).join("\n"), out);
        self.origin = Origin::After;
    }

    fn finish_state(&mut self, out: &mut Emitter) {
        match std::mem::take(&mut self.state) {
            State::Open | State::Dump(_) => {}
            State::Banner(notes) => self.end_banner(&notes, out),
            State::Body(block) => self.announce(block, out),
            State::Report(report) => self.notice(Level::Error, &report.text(), out),
            State::Block(level, lines) => self.end_block(level, &lines, out),
        }
    }

    fn end_output(&mut self, out: &mut Emitter) {
        self.round.close(out);
        self.raw_output = false;
    }
}

/// Blocks that last until a question, the prompt or the next message.
fn is_block_start(text: &str) -> bool {
    let lint = text.starts_with("# Fix any ") && text.contains("errors below, if possible.");
    lint || text.starts_with("Running ") || is_token_limit(text)
}

fn is_token_limit(text: &str) -> bool {
    text.starts_with("Model ") && text.contains(" has hit a token limit!")
}

fn block_level(text: &str) -> Level {
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
