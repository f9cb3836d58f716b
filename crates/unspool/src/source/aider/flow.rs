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
//!           token limit, in two lines below a gap     Block    segment is the model's message
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
//!  Block    question, prompt, token counts            Open     notice or command; the line is taken again
//!           any other                                 Block
//!  Dump     `}` that closes the request               Open
//!           any other                                 Dump     context blocks
//! ```

use super::applied::{self, patched};
use super::call;
use super::dump::Dump;
use super::marker::{self, Counts};
use super::report::Report;
use super::round::{self, Over, Round};
use super::session::{Identity, is_file_line};
use crate::event::{Level, Prompt, TurnStatus};
use crate::source::{Emitter, Outcome};
use crate::terminal;

use blocks::{block_level, is_block_start};

mod blocks;
mod prompt;
mod question;
mod speech;

/// Bytes that a segment may hold; a longer one can only be an answer.
const SEGMENT_LIMIT: usize = 4 << 20;

/// How 1.x begins its word on an answer that repeats itself.
const LOOP: &str = "Output loop detected while streaming: ";
/// Lines that a block of output may hold; the rest is another notice.
const BLOCK_LIMIT: usize = 1 << 16;

/// Reads the visible lines of a run.
#[derive(Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact about the lines before"
)]
pub(super) struct Flow {
    medium: Medium,
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
    /// An empty line stands below the prompt, before anything else.
    set_off: bool,
    /// Token counts whose next line has not come.
    tally: Option<Tally>,
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
    pub(super) turn: Turn,
    /// Commands that a person was asked about and that have not run.
    proposed: Vec<String>,
    /// Commands of the agent's own that ran, for their ids.
    commands: u64,
}

/// Where the lines come from.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Medium {
    #[default]
    Pipe,
    /// Echoes what the person types.
    Terminal,
    /// A chat history: the model's words are given as such, and all other
    /// lines are the agent's.
    History,
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

/// Token counts that were read last. A line of them may be cut, and where both
/// kinds of cached tokens are counted the cost has a line of its own.
#[derive(Clone)]
struct Tally {
    /// As they came.
    lines: Vec<String>,
    /// As one line.
    text: String,
    /// None as long as some are missing.
    counts: Option<Counts>,
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
}

/// A line: as it came, and as it is seen.
#[derive(Clone, Copy)]
struct Line<'a> {
    raw: &'a str,
    text: &'a str,
}

impl<'a> Line<'a> {
    /// The last part of a line, `text` as it is seen.
    fn rest(self, text: &'a str) -> Self {
        let before = self.text.strip_suffix(text).unwrap_or_default();
        let raw = self.raw.strip_prefix(before).unwrap_or(text);
        Self { raw, text }
    }
}

impl Flow {
    /// A flow whose lines come from a terminal.
    pub(super) fn on_terminal() -> Self {
        Self {
            medium: Medium::Terminal,
            ..Self::default()
        }
    }

    /// A chat history.
    pub(super) fn of_history() -> Self {
        Self {
            medium: Medium::History,
            ..Self::default()
        }
    }

    fn is_terminal(&self) -> bool {
        self.medium == Medium::Terminal
    }

    fn is_history(&self) -> bool {
        self.medium == Medium::History
    }

    /// Takes the next line.
    pub(super) fn line(&mut self, raw: &str, out: &mut Emitter) {
        let shown = terminal::plain(raw);
        let mut text = shown.trim_end_matches('\r');
        let mut waiting = "";
        if self.is_terminal()
            && let Some((spinner, rest)) = marker::spinner(text)
        {
            (waiting, text) = (spinner, rest);
        }
        if self.answer(waiting, text, out) {
            return;
        }
        let joined;
        let mut raw = if self.is_terminal() { text } else { raw };
        if let Some(cut) = self.cut.take() {
            joined = format!("{} {}", cut.trim_end(), text.trim_start());
            (raw, text) = (&joined, &joined);
        }
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
        if self.counts_go_on(line) {
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
            State::Banner(lines) => self.banner_line(lines, line, out),
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
        if self.begins_counts(line.text) {
            self.tally = Some(Tally {
                lines: vec![line.raw.to_owned()],
                text: line.text.trim_end().to_owned(),
                counts: self.counts_in(line.text),
            });
            return;
        }
        if self.prompt_line(line, out) || self.question_line(line, out) {
            return;
        }
        let taken = if self.segment.is_empty() {
            let is_gap = marker::is_gap(line.text);
            self.set_off |= is_gap;
            is_gap || self.marker_line(line, out)
        } else {
            self.closing_line(line, out)
        };
        if taken {
            return;
        }
        if self.is_history() {
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
        if self.who.format() == "patch" && patched(text).is_some() {
            self.push_note(Level::Info, text, out);
            return true;
        }
        false
    }

    fn tool_printed(&mut self, text: &str, printed: round::Printed<'_>, out: &mut Emitter) -> bool {
        let alarm = marker::alarm(text);
        let text = alarm.as_ref().map_or(text, |(_, text)| text);
        self.who.ensure(out);
        if self.round.print(text, printed, out) {
            self.printed = Some(text.to_owned());
            self.round.raw = printed.raw;
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
            applied::stop(out);
            self.push_note(Level::Canceled, stop, out);
            return true;
        }
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
        if self.round.raw
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
            self.round.end(Over::Spoken, out);
            self.state = State::Dump(Dump::new(text));
            return true;
        }
        if let Some(first) = self.limit_above(text) {
            self.message(None, out);
            applied::stop(out);
            self.state = State::Block(block_level(&first), vec![first, text.to_owned()]);
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
}
