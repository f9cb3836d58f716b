//! The state machine: lines → events.
//!
//! Nothing marks the start of an answer; it ends with the token counts that every
//! call of a model prints. Lines whose meaning depends on later ones are collected
//! in the *segment*, and the line that closes the segment decides what it was. A
//! marker counts only where the agent prints it, because a model may write any of
//! them into its answer. Without a banner the order is not known: a marker then
//! counts wherever it starts a line outside a fence. Lines that were cut at the
//! terminal's width are joined first.
//!
//! ```text
//!  state    line                                      next     effect
//!  ───────  ────────────────────────────────────────  ───────  ─────────────────────────────
//!  Open     banner, segment empty or at the start     Banner
//!           tool call, segment empty, not at a prompt Call
//!           token counts                              Counts
//!           question that fits the lines before it    Open     segment is its subject or output
//!           prompt, below a gap and the file list     Open     segment is console text; turn ends
//!           interrupt, output loop                    Open     segment is the model's message
//!           explanation of an API error               ApiError segment is the model's message
//!           token limit, in two lines below a gap     Output   segment is the model's message
//!           `N lines of output`                       Open     segment is output
//!           failed edits, segment empty               Report
//!           lint, `Running …`, token limit            Output
//!           dashes, then a role in capitals           Request  (verbose output)
//!           message of the agent, segment empty       Open     notice
//!           line of a tool, segment empty             Open     result
//!           any other                                 Open     joins the segment
//!  Banner   field                                     Banner
//!           any other                                 Open     session; the line is taken again
//!  Counts   rest of the counts                        Counts
//!           line that the agent prints after them     Open     segment is the model's message
//!           any other                                 Open     counts join the segment
//!  Call     line that fits the tool's arguments       Call
//!           any other                                 Open     call; the line is taken again
//!  Report   line before the last sentence             Report
//!           last sentence                             Open     notice
//!  Output   question, prompt, token counts            Open     notice or command; the line is taken again
//!           any other                                 Output
//!  ApiError retry                                     Open     notice
//!           any other                                 Open     notice; the turn failed
//!  Request  `}` that closes the request               Open
//!           any other                                 Request  context blocks
//! ```

use super::call;
use super::counts::Counts;
use super::line::{self, Fence, Kind, Line, classify, is_gap};
use super::marks::{self, Mark};
use super::message;
use super::notes::{self, Notes};
use super::outcome::{self, Report, patched};
use super::question;
use super::request::Request;
use super::round::{Over, Round};
use super::session::{Identity, is_file_line};
use super::wrap::{Columns, Row};
use crate::event::{Level, TurnStatus};
use crate::source::Emitter;
use crate::terminal;

mod blocks;
mod messages;
mod questions;
mod turns;

use questions::Asked;

/// Bytes that a segment may hold; a longer one can only be an answer.
const SEGMENT_LIMIT: usize = 4 << 20;
/// Lines that a block of output may hold; the rest is another notice.
const OUTPUT_LIMIT: usize = 1 << 16;

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
    /// The fence that is open in the segment.
    fence: Fence,
    /// The line before was empty or a rule, or there was none.
    gap: bool,
    /// The same for the line after this one.
    next_gap: bool,
    /// An empty line is below the prompt, before anything else.
    set_off: bool,
    /// A question whose answer may be on the next line.
    question: Option<Asked>,
    /// A line whose rest may be on the next one.
    row: Option<Row>,
    columns: Columns,
    /// The input pauses inside a line.
    is_pausing: bool,
    /// The start of the next line was read in a pause.
    is_rest: bool,
    notes: Notes,
    /// Hashes of the context blocks that were emitted, by name.
    contexts: Vec<(String, u64)>,
    round: Round,
    /// The last line of a tool, which may be cut.
    tool_line: Option<String>,
    turn: Turn,
    /// Commands that a person was asked about and that have not run.
    proposed: Vec<String>,
    /// Commands of the agent that ran, for their ids.
    commands: u64,
}

/// The origin of the lines.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Medium {
    #[default]
    Pipe,
    /// Echoes the words of the person.
    Terminal,
    /// A chat history: the model's words are marked, all other lines are the
    /// agent's.
    History,
}

/// A block of lines that is being read.
#[derive(Clone, Default)]
enum State {
    #[default]
    Open,
    Banner(Vec<String>),
    Counts(Tally),
    Call(call::Block),
    Report(Report),
    Output(Level, Vec<String>),
    /// An API error, which may be followed by a retry.
    ApiError(Vec<String>),
    Request(Request),
}

/// Token counts. They may be cut, and with both kinds of cached tokens the cost has
/// a line of its own.
#[derive(Clone)]
struct Tally {
    lines: Vec<String>,
    /// The same as one line.
    text: String,
    /// `None` as long as some are missing.
    counts: Option<Counts>,
}

/// The element before the segment.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Origin {
    #[default]
    Start,
    Prompt,
    /// A message of the model, a question, or a line of the agent or a tool.
    After,
}

/// The open turn.
#[derive(Clone, Default)]
struct Turn {
    /// The model was asked something or said something.
    is_active: bool,
    /// A message began that has no end.
    is_unfinished: bool,
    /// A question was asked and nothing followed.
    was_asked: bool,
    verdict: Option<(TurnStatus, String)>,
}

impl Flow {
    pub(super) fn new(medium: Medium) -> Self {
        Self {
            medium,
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
            && let Some((spinner, rest)) = line::spinner(text)
        {
            (waiting, text) = (spinner, rest);
        }
        let raw = if self.is_terminal() { text } else { raw };
        if let Some(mut row) = self.row.take() {
            let is_code = matches!(self.state, State::Call(_));
            // The first word of a question has a capital.
            let is_start = !text.starts_with(char::is_lowercase)
                && (notes::is_marker(text) || question::is_cut(text))
                || call::names_argument(text);
            if row.takes(text, &mut self.columns, is_code) && !is_start {
                row.push(raw, text);
                return self.row(row, out);
            }
            self.take_row(&row, out);
        }
        self.columns.observe_rule(text);
        if !self.rest_of_line(waiting, text, out) {
            self.row(Row::new(raw, text), out);
        }
    }

    /// Takes a line, or waits for its rest.
    fn row(&mut self, row: Row, out: &mut Emitter) {
        // Requests are printed as they are. The output of a program directly
        // follows its command.
        let is_apart = matches!(self.state, State::Request(_)) || row.text.starts_with("⚙️ ");
        let may_wrap = !self.is_history() && !is_apart;
        if may_wrap && row.is_cut(self.columns) {
            self.row = Some(row);
        } else {
            self.take_row(&row, out);
        }
    }

    fn take_row(&mut self, row: &Row, out: &mut Emitter) {
        let Row { raw, text, .. } = row;
        self.take(Line { raw, text }, out);
    }

    /// Takes a line whose rest did not come.
    pub(super) fn flush_row(&mut self, out: &mut Emitter) {
        if let Some(row) = self.row.take() {
            self.take_row(&row, out);
        }
    }

    fn take(&mut self, line: Line<'_>, out: &mut Emitter) {
        if self.joins(line.text) {
            return;
        }
        if !self.notes.is_list() || !self.may_list(line.text) {
            self.flush_note(out);
        }
        if !line::is_blank(line.text) {
            self.turn.was_asked = false;
        }
        self.next_gap = is_gap(line.text);
        self.step(line, out);
        self.gap = self.next_gap;
    }

    /// Takes the rest of a line of the agent or a tool that was cut.
    fn joins(&mut self, text: &str) -> bool {
        if self.is_history() {
            return false;
        }
        if self.notes.join(text, self.columns) {
            return true;
        }
        // A search names its folder last.
        let is_cut_search =
            |line: &str| line.starts_with("⛭ ") && line.trim_end().ends_with("' in");
        if let Some(line) = self.tool_line.take()
            && (Columns::default().continues(&line, text) || is_cut_search(&line))
            && !notes::is_marker(text)
        {
            self.round.append(text);
            self.tool_line = Some(text.to_owned());
            return true;
        }
        false
    }

    /// Returns true if a line of a chat history may belong to the unknown ones
    /// before it, or explains them.
    fn may_list(&self, text: &str) -> bool {
        let explains = marks::mark(text) == Some(Mark::ApiError);
        let is_unknown = !notes::is_marker(text) && marks::alarm(text).is_none();
        matches!(self.state, State::Open) && (is_unknown || explains)
    }

    fn open(&mut self, line: Line<'_>, out: &mut Emitter) {
        let is_empty = self.segment.is_empty();
        let is_taken = match classify(line.text) {
            Kind::Counts(counts) if self.fits_counts(counts.as_ref()) => {
                self.state = State::Counts(Tally {
                    lines: vec![line.raw.to_owned()],
                    text: line.text.trim_end().to_owned(),
                    counts,
                });
                true
            }
            Kind::Prompt { mode, rest } => self.prompt_line(line, mode, rest, out),
            Kind::Question(question) => self.question_line(line, question, out),
            Kind::Gap if is_empty => {
                self.set_off = true;
                true
            }
            kind if is_empty => self.marker_line(line, kind, out),
            kind if self.interrupts(line.text, &kind) => {
                let dashes = message::is_thinking(line.text).then(|| self.segment.pop());
                self.message(None, out);
                if let Some(dashes) = dashes.flatten() {
                    self.push(&dashes, out);
                }
                self.marker_line(line, kind, out)
            }
            kind => self.closing_line(line, kind, out),
        };
        if is_taken {
            return;
        }
        if self.is_history() {
            let before = self.notes.list(line.text);
            self.emit(before, out);
        } else {
            self.push(line.raw, out);
        }
    }

    /// Returns true if a line ends the model's words before their token counts. A
    /// run that showed its banner prints the counts first, so that its markers
    /// among the words are the model's, except for calls of its own servers.
    fn interrupts(&self, text: &str, kind: &Kind<'_>) -> bool {
        let is_bare = !self.who.has_version();
        if self.fence.is_open() || self.is_history() || self.round.raw {
            return false;
        }
        match kind {
            Kind::Call(server, _) => is_bare || (self.gap && self.who.lists_server(server)),
            Kind::Alarm(..) => is_bare,
            Kind::Mark(Mark::Tool(..)) => {
                is_bare && (marks::is_change(text) || marks::alarm(text).is_some())
            }
            _ if message::is_thinking(text) => {
                let above = self.segment.last().map_or("", String::as_str);
                is_bare && message::is_dashes(above.trim_end(), 14)
            }
            _ => is_bare && line::context(text).is_some_and(line::is_agent_context),
        }
    }

    /// Takes a marker with nothing before it that it could belong to.
    fn marker_line(&mut self, line: Line<'_>, kind: Kind<'_>, out: &mut Emitter) -> bool {
        let text = line.text;
        let is_after = self.origin != Origin::Prompt;
        match kind {
            Kind::Banner(family, version) => {
                self.who.banner(family, version);
                self.state = State::Banner(Vec::new());
            }
            Kind::Call(server, tool) if is_after && self.who.knows_server(&server) => {
                self.round.close(out);
                self.state = State::Call(call::Block::new(server, tool, self.columns));
            }
            Kind::Report if is_after => self.state = State::Report(Report::new(text)),
            Kind::Mark(Mark::Tool(status, tools)) => {
                if is_after && self.tool_line(text, status, tools, out) {
                    return true;
                }
                let Some((level, text)) = marks::alarm(text) else {
                    return false;
                };
                self.note(level, &text, &text, out);
            }
            Kind::Alarm(level, text) => self.note(level, &text, &text, out),
            Kind::Mark(Mark::Noise) => {}
            Kind::Mark(Mark::Output(level)) => {
                self.state = State::Output(level, vec![text.to_owned()]);
            }
            Kind::Mark(mark) if mark.level().is_some() => {
                // Before the banner the speaker is unknown.
                let is_known = self.who.is_announced() || self.origin != Origin::Start;
                let Some(level) = mark.level().filter(|_| is_known) else {
                    return false;
                };
                self.note(level, text, text, out);
            }
            Kind::Text if is_after && self.who.format() == "patch" && patched(text).is_some() => {
                self.note(Level::Info, text, text, out);
            }
            kind => return self.ending_line(line, &kind, out),
        }
        true
    }

    /// Takes a line that closes the segment.
    fn closing_line(&mut self, line: Line<'_>, kind: Kind<'_>, out: &mut Emitter) -> bool {
        let text = line.text;
        match kind {
            Kind::Mark(Mark::Added) => {
                self.console_segment(out);
                self.note(Level::Info, text, text, out);
                return true;
            }
            Kind::Mark(Mark::Tool(status, tools)) if self.round.raw && self.round.is_open() => {
                let lines = self.take_segment();
                self.round.output(&lines);
                return self.tool_line(text, status, tools, out);
            }
            Kind::Mark(mark) if mark.level().is_some() && self.is_subject() => {
                self.console_segment(out);
                return self.marker_line(line, kind, out);
            }
            Kind::Banner(..) if self.origin == Origin::Start => {
                return self.marker_line(line, kind, out);
            }
            _ => {}
        }
        if Request::starts(self.segment.last().map_or("", String::as_str), text) {
            self.segment.pop();
            self.console_segment(out);
            self.round.end(Over::Continued, out);
            self.state = State::Request(Request::new(text));
            return true;
        }
        if let Some(first) = self.limit_above(text) {
            self.message(None, out);
            outcome::cancel(out);
            self.state = State::Output(Level::Error, vec![first, text.to_owned()]);
            return true;
        }
        self.ending_line(line, &kind, out)
    }

    /// Returns true if the segment is a list of files that a message is about.
    fn is_subject(&self) -> bool {
        self.origin == Origin::After
            && self.segment_gap
            && self.segment.iter().all(|line| is_file_line(line))
    }
}
