//! How a call is told: a verb and its object, and below it what came of it.
//! The category decides, so that the same work looks the same whichever agent
//! did it; the tools that the agent formatter names have their own words.

use std::borrow::Cow;

use super::entry::{Detail, Part};
use super::{Block, DiffLine, Line, Role, Sign, Span, Style};
use crate::event::{Category, Edit, EditOp, Edits, RawJson, ToolResult, ToolStatus};
use crate::json::{Json, Object};
use crate::patch;
use crate::sanitize;
use crate::session::Tool;
use crate::tool::{self, unwrap_shell};

mod body;
mod named;
mod task;
mod wrapping;

use body::prose;
pub(super) use body::{head_lines, verbatim};
pub(super) use task::delegates;

/// What is seen of a call.
pub(super) fn parts(tool: &Tool, detail: &Detail) -> Vec<Part> {
    let json = tool.call.input.as_ref().map_or(Json::NULL, RawJson::json);
    // The fields of a call's input, also when they came as encoded text.
    let encoded = json.str();
    let decoded = encoded.as_deref().and_then(Json::parse);
    let view = View {
        tool,
        detail,
        input: Input(decoded.unwrap_or(json).object()),
    };
    if let Some(parts) = named::parts(&view) {
        return parts;
    }
    if view.is_bare() {
        return view.unhandled();
    }
    match tool.call.category {
        Category::Execute => view.command(),
        Category::Read => view.silent("Read", Style::of(Role::Normal).bold(), view.subject()),
        Category::List => view.list(),
        Category::Search => view.search(),
        Category::Fetch => view.fetch(),
        Category::Task => task::parts(&view),
        Category::Write | Category::Edit | Category::Delete | Category::Move => view.change(),
        Category::Plan | Category::Think | Category::Other => view.unhandled(),
    }
}

/// What a sub-agent answered, without what its result wraps it in.
pub(super) fn answer_of(output: &str) -> &str {
    wrapping::answer(output)
}

/// The fields of a call's input.
struct Input<'a>(Object<'a>);

impl<'a> Input<'a> {
    fn object(&self) -> &Object<'a> {
        &self.0
    }

    /// The first of these fields that is a non-blank string.
    fn text(&self, keys: &[&str]) -> Option<String> {
        let fields = self.object();
        keys.iter()
            .filter_map(|key| fields.get(key).str())
            .find(|text| !text.trim().is_empty())
            .map(Cow::into_owned)
    }

    fn list(&self, key: &str) -> Vec<String> {
        self.object()
            .get(key)
            .array()
            .iter()
            .filter_map(|item| item.str())
            .map(Cow::into_owned)
            .collect()
    }
}

struct View<'a> {
    tool: &'a Tool,
    detail: &'a Detail,
    input: Input<'a>,
}

impl View<'_> {
    fn result(&self) -> Option<&ToolResult> {
        self.tool.result.as_ref()
    }

    fn is_done(&self) -> bool {
        self.result().is_some()
    }

    /// The colour of the bullet tells how the call stands.
    fn bullet(&self) -> Role {
        match self.result().map(|result| result.status) {
            None => Role::Accent,
            Some(ToolStatus::Ok) => Role::Green,
            Some(_) => Role::Red,
        }
    }

    fn head(&self, spans: Line) -> Part {
        Part::bulleted(self.bullet(), vec![Block::Paragraph(spans)])
    }

    /// Whether it was refused or stopped: what it was to do was not done.
    fn was_stopped(&self) -> bool {
        let status = self.result().map(|result| result.status);
        matches!(status, Some(ToolStatus::Rejected | ToolStatus::Canceled))
    }

    /// `running` until it was done, `done` afterwards.
    fn verb(&self, running: &str, done: &str) -> Span {
        let is_done = self.is_done() && !self.was_stopped();
        let word = if is_done { done } else { running };
        Span::new(word, Style::of(Role::Colorful).bold())
    }

    /// Whether nothing tells what the call is about, as where its arguments
    /// could not be read: its verb would say nothing.
    fn is_bare(&self) -> bool {
        let has_edits = || self.result().is_some_and(|result| !result.edits.is_empty());
        match self.tool.call.category {
            Category::Execute => self.command_text().is_none(),
            Category::Read | Category::Search | Category::Fetch => {
                let told = ["pattern", "query", "regex", "url", "prompt"];
                self.subject().trim().is_empty() && self.input.text(&told).is_none()
            }
            Category::Write | Category::Edit | Category::Delete | Category::Move => {
                self.subject().trim().is_empty() && self.patch().is_empty() && !has_edits()
            }
            _ => false,
        }
    }

    /// What the call is about, in full where the input says it.
    fn subject(&self) -> String {
        self.input
            .text(&[
                "file_path",
                "filePath",
                "path",
                "notebook_path",
                "dir_path",
                "absolute_path",
            ])
            .map_or_else(|| self.tool.call.arg.clone(), exact)
    }

    /// A heading alone, with the error below it if there is one.
    fn silent(&self, word: &str, style: Style, object: String) -> Vec<Part> {
        let mut spans = match self.stop() {
            Some(stop) => vec![stop, spaced(word)],
            None => vec![Span::new(word, style)],
        };
        spans.push(spaced(&object));
        let mut parts = vec![self.head(spans)];
        parts.extend(self.news());
        parts
    }

    /// The verb of a call that was refused or stopped.
    fn stop(&self) -> Option<Span> {
        stop(self.result()?.status)
    }

    /// What stands below the heading of a call whose output is not shown: why
    /// it failed, unless the heading says it all, or what is looked for in it.
    fn news(&self) -> Option<Part> {
        let is_told = self.was_stopped() && wrapping::reason(&self.output()).is_empty();
        let failure = self.failure().filter(|_| !is_told);
        failure
            .or_else(|| self.found())
            .or_else(|| self.everything())
    }

    /// The whole output of a call that looked for something, where all is wanted.
    fn everything(&self) -> Option<Part> {
        let looks = matches!(
            self.tool.call.category,
            Category::Read | Category::List | Category::Search | Category::Fetch
        );
        let is_wanted = self.detail.everything && looks && self.is_done();
        is_wanted.then(|| self.body(&self.output(), Role::Accent))?
    }

    /// The lines of the output that are looked for.
    fn found(&self) -> Option<Part> {
        let wanted = self.detail.wanted.as_ref()?;
        let output = self.output();
        let is_there = output.lines().any(|line| wanted.is(line));
        is_there.then(|| self.body(&output, Role::Accent))?
    }

    /// The line that says why a call failed; `None` unless it did.
    fn failure(&self) -> Option<Part> {
        let result = self.result()?;
        let output = result.output.as_str();
        let reason = wrapping::reason(&output);
        failure(result.status, &reason, self.detail)
    }

    /// The output below the heading, cut to the lines that are wanted.
    fn body(&self, text: &str, role: Role) -> Option<Part> {
        verbatim(head_lines(text, Style::of(role), self.detail))
    }

    /// The output of a command. Of a long one only the first lines are decoded.
    fn command_output(&self, exit_code: Option<i64>) -> Option<Part> {
        let early = self
            .result()
            .and_then(|result| body::opening(&result.output, self.detail, exit_code));
        match early {
            Some(lines) => verbatim(lines),
            None => self.captured(&wrapping::command_output(&self.output(), exit_code)),
        }
    }

    /// The same for what a command printed for a terminal.
    fn captured(&self, text: &str) -> Option<Part> {
        verbatim(body::captured(text, self.detail))
    }

    /// What the call has said so far.
    fn output(&self) -> Cow<'_, str> {
        match self.result() {
            Some(result) => self.so_far().unwrap_or_else(|| result.output.as_str()),
            None => Cow::Borrowed(&self.tool.output),
        }
    }

    /// What a call had written when it was stopped, where nobody says more.
    fn so_far(&self) -> Option<Cow<'_, str>> {
        let result = self.result()?;
        if result.status != ToolStatus::Canceled {
            return None;
        }
        let told = result.output.as_str();
        let output = match wrapping::before_stop(&told) {
            Some(output) => Cow::Owned(output.to_owned()),
            None if wrapping::reason(&told).is_empty() => Cow::Borrowed(self.tool.output.as_str()),
            None if wrapping::is_about_stop(&told) => return None,
            None if self.tool.call.category == Category::Execute => told,
            None => return None,
        };
        (!output.trim().is_empty()).then_some(output)
    }

    fn command(&self) -> Vec<Part> {
        let code = self.result().and_then(|result| result.exit_code);
        let code = code.filter(|code| *code != 0);
        let (running, done) = if self.is_typing() {
            ("Typing", "Typed")
        } else {
            ("Running", "Ran")
        };
        let verb = self.stop().unwrap_or_else(|| self.verb(running, done));
        let text = self.command_text().unwrap_or_default();
        let mut spans = vec![verb, Span::role(" ".to_owned() + &text, Role::Normal)];
        spans.extend(code.map(|code| Span::role(format!(" (exit {code})"), Role::Accent)));
        let goes_on = self.goes_on();
        spans.extend(goes_on.then(in_background));
        let mut parts = vec![self.head(spans)];
        if goes_on {
            // The heading says it all.
        } else if let Some(output) = self.so_far() {
            parts.extend(self.captured(&output));
        } else if code.is_none() && self.bullet() == Role::Red {
            parts.extend(self.news());
        } else {
            parts.extend(self.command_output(code));
        }
        parts
    }

    /// Whether the work goes on in the background, as was asked for.
    fn goes_on(&self) -> bool {
        self.input.object().get("run_in_background").is_true()
            && wrapping::is_in_background(&self.output())
    }

    /// Whether this is not a command, but what one that runs is told.
    fn is_typing(&self) -> bool {
        self.tool.call.name.ends_with("write_stdin") && self.input.text(&["chars"]).is_some()
    }

    /// The command; `None` where the call tells none.
    fn command_text(&self) -> Option<String> {
        let words = self.input.list("command");
        let text = if words.is_empty() {
            self.input.text(&[
                "command",
                "cmd",
                "Command",
                "command_string",
                "script",
                "code",
                "chars",
            ])
        } else {
            Some(crate::tool::command_line(&words))
        };
        let call = &self.tool.call;
        let told = [call.title.as_str(), call.arg.as_str()];
        let told = told.into_iter().find(|told| !told.trim().is_empty());
        let whole = call.input.as_ref().and_then(|input| input.json().str());
        let whole = whole.filter(|_| self.input.object().is_empty());
        let text = text
            .or_else(|| whole.map(Cow::into_owned))
            .or_else(|| told.map(str::to_owned))?;
        let text = exact(text);
        Some(sanitize::text(unwrap_shell(text.trim()).trim()).into_owned())
    }

    fn list(&self) -> Vec<Part> {
        let style = Style::of(Role::Colorful).bold();
        match self.input.text(&["pattern", "glob"]) {
            Some(pattern) => self.silent("Find", style, exact(pattern)),
            None if is_glob(&self.subject()) => self.silent("Find", style, self.subject()),
            None => self.silent("List", style, self.subject()),
        }
    }

    fn search(&self) -> Vec<Part> {
        let pattern = self.input.text(&["pattern", "query", "regex"]);
        let verb = Span::new("Search", Style::of(Role::Colorful).bold());
        let mut spans = match self.stop() {
            Some(stop) => vec![stop, spaced("Search")],
            None => vec![verb],
        };
        let pattern = pattern.map_or_else(|| self.tool.call.arg.clone(), exact);
        spans.push(spaced(&pattern));
        if let Some(path) = self.input.text(&["path", "dir_path", "include", "glob"]) {
            spans.push(Span::role(" in", Role::Accent));
            spans.push(spaced(&exact(path)));
        }
        let mut parts = vec![self.head(spans)];
        parts.extend(self.news());
        parts
    }

    fn fetch(&self) -> Vec<Part> {
        let style = Style::of(Role::Colorful).bold();
        let action = self.input.object().get("action").object();
        let is_page = matches!(&*action.get("type").string(), "open_page" | "openPage");
        if let Some(page) = action.get("url").str().filter(|_| is_page) {
            return self.silent("Fetch", style, exact(page.into_owned()));
        }
        let name = self.tool.call.name.to_ascii_lowercase();
        let is_search = name.contains("search") && self.input.text(&["url"]).is_none();
        let word = if is_search { "Search Web" } else { "Fetch" };
        let address = self.input.text(&["url"]).map(exact);
        let object = address
            .or_else(|| self.input.text(&["query", "prompt"]))
            .or_else(|| tool::within_page(&action).map(exact));
        self.silent(
            word,
            style,
            object.unwrap_or_else(|| self.tool.call.arg.clone()),
        )
    }

    /// What was changed, or what a patch asks for as long as nobody says more.
    fn change(&self) -> Vec<Part> {
        let told = self
            .result()
            .map(|result| result.edits.as_slice())
            .unwrap_or_default();
        let is_red = self.bullet() == Role::Red;
        if !told.is_empty() && !is_red {
            return edits(told, self.bullet(), self.detail);
        }
        let mut asked = self.patch();
        if asked.is_empty() {
            let word = match self.tool.call.category {
                Category::Write => "Add",
                Category::Delete => "Delete",
                Category::Move => "Rename",
                _ => "Edit",
            };
            return self.silent(word, Style::of(Role::Colorful).bold(), self.subject());
        }
        for edit in asked.iter_mut().filter(|_| is_red) {
            edit.hunks.clear();
        }
        let parts = asked
            .iter()
            .flat_map(|edit| edit_parts(edit, self.bullet(), self.stop(), self.detail));
        parts.chain(self.news()).collect()
    }

    /// The changes in the text of a patch.
    fn patch(&self) -> Vec<Edit> {
        let field = self
            .input
            .text(&["patch", "input", "patch_text", "patchText"]);
        // An input that is no object may be the patch itself.
        let whole = self.tool.call.input.as_ref();
        let whole = || whole.and_then(|input| input.json().str().map(Cow::into_owned));
        field
            .or_else(whole)
            .filter(|text| text.contains("*** Begin Patch"))
            .map(|text| patch::begin_patch(&text))
            .unwrap_or_default()
    }

    /// The output of a tool of which nothing is known.
    fn said(&self) -> Option<Part> {
        let output = self.output();
        let text = match wrapping::report(output.trim()) {
            Some(report) => Cow::Owned(report),
            None => pretty(&output),
        };
        let lines = head_lines(&text, Style::of(Role::Normal), self.detail);
        if matches!(text, Cow::Borrowed(_)) && is_prose(&text) {
            return (!lines.is_empty()).then(|| prose(lines));
        }
        verbatim(lines)
    }

    /// What a tool of which nothing is known is called: where the wire only has
    /// one of the protocol's kinds for its name, by its title.
    fn called(&self) -> &str {
        let call = &self.tool.call;
        let is_kind = matches!(
            call.name.as_str(),
            "other" | "think" | "switch_mode" | "read" | "edit" | "search" | "execute" | "fetch"
        );
        if is_kind && !call.title.trim().is_empty() {
            &call.title
        } else {
            &call.name
        }
    }

    /// `Tool name {input}`, and the output, pretty-printed where it is JSON.
    fn unhandled(&self) -> Vec<Part> {
        let mut spans = vec![
            Span::new("Tool", Style::of(Role::Colorful).bold()),
            spaced(self.called()),
        ];
        if let Some(input) = &self.tool.call.input {
            spans.push(Span::role(
                format!(" {}", sanitize::line(input.get())),
                Role::Normal,
            ));
            body::cut(&mut spans, self.detail);
        }
        let mut parts = vec![self.head(spans)];
        match self.failure() {
            Some(failure) => parts.push(failure),
            None => parts.extend(self.said()),
        }
        parts
    }
}

/// Whether a path stands for several by a pattern.
fn is_glob(path: &str) -> bool {
    path.contains(['*', '?'])
}

/// Whether a text is made of sentences, which are broken between words: lines
/// of a table, a listing or a program stay as they are.
fn is_prose(text: &str) -> bool {
    let is_plain = |line: &str| !line.starts_with([' ', '\t', '|']) && !line.contains("  ");
    text.lines().all(is_plain)
}

/// Says that the work is not over, though its call is.
fn in_background() -> Span {
    Span::role(" (in the background)", Role::Accent)
}

/// A path, a pattern or a command in which every blank that is none is seen.
fn exact(text: String) -> String {
    match sanitize::exact(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    }
}

/// A blank and a clean text.
fn spaced(text: &str) -> Span {
    Span::role(" ".to_owned() + &sanitize::line(text.trim()), Role::Normal)
}

/// JSON over several lines; anything else as it is.
pub(super) fn pretty(text: &str) -> Cow<'_, str> {
    if !text.trim_start().starts_with(['{', '[']) {
        return Cow::Borrowed(text);
    }
    serde_json::from_str::<serde_json::Value>(text)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Changes outside any call. Of those that were not made only the headings are
/// shown, and why.
pub(super) fn made(made: &Edits, detail: &Detail) -> Vec<Part> {
    if made.status == ToolStatus::Ok {
        return edits(&made.edits, Role::Green, detail);
    }
    let reason = made.reason.as_str();
    let is_told = made.status != ToolStatus::Error && reason.trim().is_empty();
    let heads = made.edits.iter().flat_map(|edit| {
        let edit = Edit {
            hunks: Vec::new(),
            ..edit.clone()
        };
        edit_parts(&edit, Role::Red, stop(made.status), detail)
    });
    let why = failure(made.status, &reason, detail).filter(|_| !is_told);
    heads.chain(why).collect()
}

/// The verb of what was refused or stopped.
fn stop(status: ToolStatus) -> Option<Span> {
    let word = match status {
        ToolStatus::Rejected => "Rejected",
        ToolStatus::Canceled => "Canceled",
        ToolStatus::Ok | ToolStatus::Error => return None,
    };
    Some(Span::new(word, Style::of(Role::Colorful).bold()))
}

/// The line that says why something failed; `None` unless it did.
fn failure(status: ToolStatus, reason: &str, detail: &Detail) -> Option<Part> {
    let word = match status {
        ToolStatus::Ok => return None,
        ToolStatus::Error => "Error",
        ToolStatus::Rejected => "Rejected",
        ToolStatus::Canceled => "Canceled",
    };
    let red = Style::of(Role::Red);
    let mut lines = head_lines(reason, red, detail);
    match lines.first_mut() {
        Some(first) => first.insert(0, Span::new(format!("{word}: "), red)),
        None if reason.is_empty() => lines.push(vec![Span::new(format!("{word}."), red)]),
        None => return None,
    }
    Some(prose(lines))
}

/// Changes of files: a heading and the changed lines for each.
fn edits(edits: &[Edit], bullet: Role, detail: &Detail) -> Vec<Part> {
    edits
        .iter()
        .flat_map(|edit| edit_parts(edit, bullet, None, detail))
        .collect()
}

fn edit_parts(edit: &Edit, bullet: Role, stop: Option<Span>, detail: &Detail) -> Vec<Part> {
    let word = match edit.op {
        EditOp::Add => "Add",
        EditOp::Delete => "Delete",
        EditOp::Move if edit.hunks.is_empty() => "Rename",
        EditOp::Move | EditOp::Update => "Edit",
    };
    let mut spans = match stop {
        Some(stop) => vec![stop, spaced(word)],
        None => vec![Span::new(word, Style::of(Role::Colorful).bold())],
    };
    spans.push(spaced(&sanitize::exact(&edit.path)));
    if !edit.new_path.is_empty() {
        spans.push(Span::role(" →", Role::Accent));
        spans.push(spaced(&sanitize::exact(&edit.new_path)));
    }
    let mut parts = vec![Part::bulleted(bullet, vec![Block::Paragraph(spans)])];
    if edit.op != EditOp::Delete && !edit.hunks.is_empty() && detail.lines != Some(0) {
        parts.push(Part::bare(vec![Block::Diff(diff_lines(edit, detail))]));
    }
    parts
}

/// Fewer lines than this are asked for only by people who want edits cut too.
const USUAL_LINES: usize = 5;

/// The lines of an edit: of a new file only the first ones, or those around the
/// one that is looked for; of others all, unless few lines are asked for.
fn diff_lines(edit: &Edit, detail: &Detail) -> Vec<DiffLine> {
    let is_cut = |lines: &usize| edit.op == EditOp::Add || *lines < USUAL_LINES;
    let limit = detail.lines.filter(is_cut).unwrap_or(usize::MAX);
    let all: usize = edit.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    let (start, end) = shown_lines(edit, all, limit, detail);
    let mut lines: Vec<DiffLine> = Vec::new();
    let mut at = 0;
    for hunk in &edit.hunks {
        if at > start && at < end {
            lines.push(DiffLine::Gap);
        }
        let (mut old, mut new) = (hunk.old_start, hunk.new_start);
        for line in &hunk.lines {
            let shown = diff_line(line, &mut old, &mut new, detail);
            if (start..end).contains(&at) {
                lines.push(shown);
            }
            at += 1;
            if at >= end {
                break;
            }
        }
    }
    if !lines.is_empty() {
        lines.splice(..0, (start > 0).then_some(DiffLine::More(start)));
        lines.extend((all > end).then(|| DiffLine::More(all - end)));
    }
    lines
}

/// Where the lines of an edit that are shown begin and end.
fn shown_lines(edit: &Edit, all: usize, limit: usize, detail: &Detail) -> (usize, usize) {
    let lines = || edit.hunks.iter().flat_map(|hunk| &hunk.lines);
    let wanted = detail.wanted.as_ref();
    let found = wanted.and_then(|wanted| lines().position(|line| wanted.is(line)));
    // Context alone would show nothing of the change.
    let found = found.or_else(|| lines().position(|line| line.starts_with(['+', '-'])));
    let window = found.and_then(|found| body::window(found, all, limit));
    window.unwrap_or({
        let end = limit.min(all);
        // One line takes no more room than to say that it is left out.
        (0, if end + 1 == all { all } else { end })
    })
}

/// A line of a diff with its number.
fn diff_line(
    line: &str,
    old: &mut Option<u64>,
    new: &mut Option<u64>,
    detail: &Detail,
) -> DiffLine {
    let mut chars = line.chars();
    let (sign, number, old) = match chars.next() {
        Some('+') => (Sign::Added, step(new), None),
        Some('-') => (Sign::Removed, step(old), None),
        _ => (Sign::Context, step(new), step(old)),
    };
    let role = match sign {
        Sign::Context => Role::Normal,
        Sign::Added => Role::Green,
        Sign::Removed => Role::Red,
    };
    let mut spans = vec![Span::role(sanitize::line(chars.as_str()), role)];
    body::cut(&mut spans, detail);
    DiffLine::Line {
        number,
        old,
        sign,
        spans,
    }
}

/// The number, and the next one for the line after.
fn step(number: &mut Option<u64>) -> Option<u64> {
    let current = *number;
    *number = current.map(|number| number.saturating_add(1));
    current
}
