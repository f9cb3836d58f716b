//! How a call is told: a verb and its object, and below it what came of it.
//! The category decides, so that the same work looks the same whichever agent
//! did it; the tools that the agent formatter names have their own words.

use std::borrow::Cow;

use super::entry::{Detail, Part};
use super::{Block, DiffLine, Line, Role, Sign, Span, Style, markdown, spans_mut};
use crate::event::{Category, Edit, EditOp, RawJson, ToolResult, ToolStatus};
use crate::json::{Json, Object};
use crate::patch;
use crate::sanitize;
use crate::session::Tool;
use crate::tool::unwrap_shell;

mod body;
mod named;
mod wrapping;

pub(super) use body::head_lines;
use body::{prose, rest_line, verbatim};

/// Tools that look after sub-agents, but give them no work: their names say
/// more than their inputs, which are ids.
const MANAGING: &[&str] = &["wait", "wait_agent", "close_agent", "list_agents"];

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
    match tool.call.category {
        Category::Execute => view.command(),
        Category::Read => view.silent("Read", Style::of(Role::Normal).bold(), view.subject()),
        Category::List => view.list(),
        Category::Search => view.search(),
        Category::Fetch => view.fetch(),
        Category::Task => view.task(),
        Category::Write | Category::Edit | Category::Delete | Category::Move => view.change(),
        Category::Plan | Category::Think | Category::Other => view.unhandled(),
    }
}

/// What a sub-agent answered, without what its result wraps it in.
pub(super) fn answer_of(output: &str) -> &str {
    wrapping::answer(output)
}

/// Whether a call gives work to a sub-agent, and does not only look after one.
pub(super) fn delegates(tool: &Tool) -> bool {
    tool.call.category == Category::Task && !MANAGING.contains(&tool.call.name.as_str())
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
            .unwrap_or_else(|| self.tool.call.arg.clone())
    }

    /// A heading alone, with the error below it if there is one.
    fn silent(&self, word: &str, style: Style, object: String) -> Vec<Part> {
        let spans = vec![Span::new(word, style), spaced(&object)];
        let mut parts = vec![self.head(spans)];
        parts.extend(self.failure());
        parts
    }

    /// The line that says why a call failed; `None` unless it did.
    fn failure(&self) -> Option<Part> {
        let result = self.result()?;
        let word = match result.status {
            ToolStatus::Ok => return None,
            ToolStatus::Error => "Error",
            ToolStatus::Rejected => "Rejected",
            ToolStatus::Canceled => "Canceled",
        };
        let output = result.output.as_str();
        let text = wrapping::reason(&output);
        let red = Style::of(Role::Red);
        let mut lines = head_lines(&text, red, self.detail);
        match lines.first_mut() {
            Some(first) => first.insert(0, Span::new(format!("{word}: "), red)),
            None if text.is_empty() => lines.push(vec![Span::new(format!("{word}."), red)]),
            None => return None,
        }
        Some(prose(lines))
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
            Some(result) => result.output.as_str(),
            None => Cow::Borrowed(&self.tool.output),
        }
    }

    fn command(&self) -> Vec<Part> {
        let code = self.result().and_then(|result| result.exit_code);
        let code = code.filter(|code| *code != 0);
        let status = self.result().map(|result| result.status);
        let done = match status {
            Some(ToolStatus::Rejected) => "Rejected",
            Some(ToolStatus::Canceled) => "Canceled",
            _ => "Ran",
        };
        let word = if self.is_done() { done } else { "Running" };
        let mut spans = vec![Span::new(word, Style::of(Role::Colorful).bold())];
        spans.push(Span::role(
            " ".to_owned() + &self.command_text(),
            Role::Normal,
        ));
        spans.extend(code.map(|code| Span::role(format!(" (exit {code})"), Role::Accent)));
        let mut parts = vec![self.head(spans)];
        if code.is_none() && self.bullet() == Role::Red {
            // Without a reason the heading says it all.
            let is_told = self.was_stopped() && self.output().trim().is_empty();
            parts.extend(self.failure().filter(|_| !is_told));
        } else {
            parts.extend(self.command_output(code));
        }
        parts
    }

    fn command_text(&self) -> String {
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
        let text = text.unwrap_or_else(|| match self.tool.call.title.as_str() {
            "" if self.tool.call.arg.is_empty() => self.tool.call.name.clone(),
            "" => self.tool.call.arg.clone(),
            title => title.to_owned(),
        });
        sanitize::text(unwrap_shell(text.trim()).trim()).into_owned()
    }

    fn list(&self) -> Vec<Part> {
        let style = Style::of(Role::Colorful).bold();
        match self.input.text(&["pattern", "glob"]) {
            Some(pattern) => self.silent("Find", style, pattern),
            None => self.silent("List", style, self.subject()),
        }
    }

    fn search(&self) -> Vec<Part> {
        let pattern = self.input.text(&["pattern", "query", "regex"]);
        let mut spans = vec![
            Span::new("Search", Style::of(Role::Colorful).bold()),
            spaced(&pattern.unwrap_or_else(|| self.tool.call.arg.clone())),
        ];
        if let Some(path) = self.input.text(&["path", "dir_path", "include", "glob"]) {
            spans.push(Span::role(" in", Role::Accent));
            spans.push(spaced(&path));
        }
        let mut parts = vec![self.head(spans)];
        parts.extend(self.failure());
        parts
    }

    fn fetch(&self) -> Vec<Part> {
        let style = Style::of(Role::Colorful).bold();
        let name = self.tool.call.name.to_ascii_lowercase();
        let is_search = name.contains("search") && self.input.text(&["url"]).is_none();
        let word = if is_search { "Search Web" } else { "Fetch" };
        let object = self.input.text(&["url", "query", "prompt"]);
        self.silent(
            word,
            style,
            object.unwrap_or_else(|| self.tool.call.arg.clone()),
        )
    }

    fn task(&self) -> Vec<Part> {
        let name = self.tool.call.name.as_str();
        if name == "sub_agent_activity" {
            return self.unhandled();
        }
        let managing = MANAGING.contains(&name).then(|| name.replace('_', " "));
        let what = managing.or_else(|| {
            self.input
                .text(&["description", "task_name", "prompt", "message"])
        });
        let what = what.unwrap_or_else(|| match self.tool.call.arg.as_str() {
            "" => self.tool.call.name.clone(),
            arg => arg.to_owned(),
        });
        let first = what.trim().lines().next().unwrap_or_default();
        let mut parts = vec![self.head(vec![self.verb("Delegating", "Delegated"), spaced(first)])];
        parts.extend(self.failure().or_else(|| {
            let output = self.output();
            self.answer(wrapping::answer(&output))
        }));
        parts
    }

    /// What a sub-agent came back with: markdown, cut like all bodies.
    fn answer(&self, text: &str) -> Option<Part> {
        let body::Head {
            before,
            text,
            after,
        } = body::head(text, self.detail);
        let text = body::cut_text(text, self.detail);
        let mut blocks = markdown::blocks_of(&text, self.detail.highlight);
        if blocks.is_empty() {
            return None;
        }
        for span in blocks.iter_mut().flat_map(spans_mut) {
            if span.style.role == Role::Normal {
                span.style.role = Role::Accent;
            }
        }
        blocks.splice(..0, rest_line(before).map(Block::Paragraph));
        blocks.extend(rest_line(after).map(Block::Paragraph));
        Some(Part::response(blocks))
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
        let mut parts = edits(&asked, self.bullet(), self.detail);
        parts.extend(self.failure());
        parts
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

    /// `Tool name {input}`, and the output, pretty-printed where it is JSON.
    fn unhandled(&self) -> Vec<Part> {
        let mut spans = vec![
            Span::new("Tool", Style::of(Role::Colorful).bold()),
            spaced(&self.tool.call.name),
        ];
        if let Some(input) = &self.tool.call.input {
            spans.push(Span::role(
                format!(" {}", sanitize::line(input.get())),
                Role::Normal,
            ));
        }
        let mut parts = vec![self.head(spans)];
        match self.failure() {
            Some(failure) => parts.push(failure),
            None => {
                parts.extend(self.body(&pretty(&self.output()), Role::Normal));
            }
        }
        parts
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

/// Changes of files: a heading and the changed lines for each.
pub(super) fn edits(edits: &[Edit], bullet: Role, detail: &Detail) -> Vec<Part> {
    edits
        .iter()
        .flat_map(|edit| edit_parts(edit, bullet, detail))
        .collect()
}

fn edit_parts(edit: &Edit, bullet: Role, detail: &Detail) -> Vec<Part> {
    let word = match edit.op {
        EditOp::Add => "Add",
        EditOp::Delete => "Delete",
        EditOp::Move if edit.hunks.is_empty() => "Rename",
        EditOp::Move | EditOp::Update => "Edit",
    };
    let mut spans = vec![
        Span::new(word, Style::of(Role::Colorful).bold()),
        spaced(&edit.path),
    ];
    if !edit.new_path.is_empty() {
        spans.push(Span::role(" →", Role::Accent));
        spans.push(spaced(&edit.new_path));
    }
    let mut parts = vec![Part::bulleted(bullet, vec![Block::Paragraph(spans)])];
    if edit.op != EditOp::Delete && !edit.hunks.is_empty() && detail.lines != Some(0) {
        parts.push(Part::bare(vec![Block::Diff(diff_lines(edit, detail))]));
    }
    parts
}

/// All hunks of an edit; of a new file only the first lines.
fn diff_lines(edit: &Edit, detail: &Detail) -> Vec<DiffLine> {
    let shown = detail.lines.filter(|_| edit.op == EditOp::Add);
    let shown = shown.unwrap_or(usize::MAX);
    let mut lines = Vec::new();
    for (index, hunk) in edit.hunks.iter().enumerate() {
        if index > 0 && lines.len() < shown {
            lines.push(DiffLine::Gap);
        }
        let (mut old, mut new) = (hunk.old_start, hunk.new_start);
        for line in hunk.lines.iter().take(shown.saturating_sub(lines.len())) {
            let mut chars = line.chars();
            let (sign, number, old) = match chars.next() {
                Some('+') => (Sign::Added, step(&mut new), None),
                Some('-') => (Sign::Removed, step(&mut old), None),
                _ => (Sign::Context, step(&mut new), step(&mut old)),
            };
            let role = match sign {
                Sign::Context => Role::Normal,
                Sign::Added => Role::Green,
                Sign::Removed => Role::Red,
            };
            let mut spans = vec![Span::role(sanitize::line(chars.as_str()), role)];
            body::cut(&mut spans, detail);
            lines.push(DiffLine::Line {
                number,
                old,
                sign,
                spans,
            });
        }
    }
    let all: usize = edit.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    if all > shown && !lines.is_empty() {
        lines.push(DiffLine::More(all - shown));
    }
    lines
}

/// The number, and the next one for the line after.
fn step(number: &mut Option<u64>) -> Option<u64> {
    let current = *number;
    *number = current.map(|number| number.saturating_add(1));
    current
}
