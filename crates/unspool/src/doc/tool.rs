//! Renders a tool call: a verb and its object, with the result below.
//!
//! The category decides, so that the same action looks the same for every
//! agent. Tools that the agent formatter's document names are in
//! `tool/special.rs`.

use std::borrow::Cow;

use super::entry::{self, Detail, Excerpt, Part};
use super::{Block, Line, Role, Span, Style};
use crate::event::{Category, Edit, Plan, RawJson, ToolResult, ToolStatus};
use crate::json::{Json, Object};
use crate::patch;
use crate::sanitize;
use crate::session::{Folder, Tool};
use crate::tool::{self, unwrap_shell};

mod body;
mod checks;
mod edits;
mod envelope;
mod special;
mod target;
mod task;

use body::prose;
pub(super) use body::{excerpt_lines, verbatim};
pub(super) use edits::standalone_edits;
use edits::{edit_parts, edits};
use target::Target;
pub(super) use task::is_delegation;

/// Renders a tool call as parts, with what it returned besides text.
pub(super) fn parts(tool: &Tool, folder: Option<&Folder>, detail: &Detail) -> Vec<Part> {
    let mut parts = text_parts(tool, folder, detail);
    if let Some(media) = media(tool).filter(|_| detail.lines != Some(0)) {
        let mut part = Part::response(vec![media]);
        if !parts.last().is_none_or(Part::is_head) {
            part.first.clone_from(&part.rest);
        }
        parts.push(part);
    }
    parts
}

/// Returns the pictures, sounds and files of the result.
pub(super) fn media(tool: &Tool) -> Option<Block> {
    let media = &tool.result.as_ref()?.media;
    (!media.is_empty()).then(|| Block::Media(media.clone()))
}

/// Renders a tool call without pictures, sounds and files.
pub(super) fn text_parts(tool: &Tool, folder: Option<&Folder>, detail: &Detail) -> Vec<Part> {
    let json = tool.call.input.as_ref().map_or(Json::NULL, RawJson::json);
    // Some agents send the input as a JSON-encoded string.
    let encoded = json.str();
    let decoded = encoded.as_deref().and_then(Json::parse);
    let input = decoded.unwrap_or(json);
    let view = View {
        tool,
        folder,
        detail,
        input: Input(input.object()),
    };
    if let Some(parts) = special::parts(&view) {
        return parts;
    }
    if view.is_bare() {
        return view.generic();
    }
    match tool.call.category {
        Category::Execute => view.command(),
        Category::Read => view.heading_only("Read", Style::of(Role::Normal).bold(), view.subject()),
        Category::List => view.list(),
        Category::Search => view.search(),
        Category::Fetch => view.fetch(),
        Category::Task => task::parts(&view),
        Category::Write | Category::Edit | Category::Delete | Category::Move => view.change(),
        Category::Plan => {
            let plan = tool::plan(&tool.call.name, input);
            plan.map_or_else(|| view.generic(), |plan| view.plan(&plan))
        }
        Category::Think | Category::Other => view.generic(),
    }
}

/// Returns a sub-agent's answer without the envelope of its result.
pub(super) fn answer_of(output: &str) -> &str {
    envelope::answer(output)
}

/// The fields of a call's input.
struct Input<'a>(Object<'a>);

impl<'a> Input<'a> {
    fn object(&self) -> &Object<'a> {
        &self.0
    }

    /// Returns the first of these fields that is a non-blank string.
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
    /// The folder to which paths are shown relative.
    folder: Option<&'a Folder>,
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

    /// Returns the bullet's colour: grey while running, green for success, red
    /// otherwise.
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

    /// Returns true if the call was rejected or canceled, so its action did not
    /// happen.
    fn was_prevented(&self) -> bool {
        let status = self.result().map(|result| result.status);
        matches!(status, Some(ToolStatus::Rejected | ToolStatus::Canceled))
    }

    /// Returns `done` if the call was carried out, otherwise `running`.
    fn verb(&self, running: &str, done: &str) -> Span {
        let is_done = self.is_done() && !self.was_prevented();
        let word = if is_done { done } else { running };
        Span::new(word, Style::of(Role::Colorful).bold())
    }

    /// Returns true if nothing names the call's object, for example because its
    /// arguments could not be read. The verb alone would not help.
    fn is_bare(&self) -> bool {
        let has_edits = || self.result().is_some_and(|result| !result.edits.is_empty());
        match self.tool.call.category {
            Category::Execute => self.command_text().is_none(),
            Category::Read | Category::Search | Category::Fetch => {
                let keys = ["pattern", "query", "regex", "url", "prompt"];
                self.subject().is_blank() && self.input.text(&keys).is_none()
            }
            Category::Write | Category::Edit | Category::Delete | Category::Move => {
                self.subject().is_blank() && self.patch().is_empty() && !has_edits()
            }
            _ => false,
        }
    }

    /// Returns the object of the call, in full if the input has it.
    fn subject(&self) -> Target {
        let path = self.input.text(&[
            "file_path",
            "filePath",
            "path",
            "notebook_path",
            "dir_path",
            "absolute_path",
        ]);
        match path {
            Some(path) => self.path(&path),
            None => Target::path(&self.tool.call.arg, self.folder),
        }
    }

    fn path(&self, path: &str) -> Target {
        Target::path(path, self.folder)
    }

    /// Returns the lines to show of the output.
    fn excerpt(&self) -> Excerpt {
        let has_failed = self.result().is_some_and(|result| {
            result.status == ToolStatus::Error || result.exit_code.is_some_and(|code| code != 0)
        });
        if has_failed {
            self.detail.failed
        } else {
            Excerpt::Head
        }
    }

    /// Renders a heading without output; an error is shown below it.
    fn heading_only(&self, word: &str, style: Style, object: impl Into<Target>) -> Vec<Part> {
        let object = object.into();
        let mut spans = match self.stop() {
            Some(stop) => vec![stop, spaced(word)],
            None => vec![Span::new(word, style)],
        };
        spans.push(spaced(&object.shown));
        let head = Part {
            paths: object.whole,
            ..self.head(spans)
        };
        std::iter::once(head).chain(self.details()).collect()
    }

    /// Returns the verb of a call that was rejected or canceled.
    fn stop(&self) -> Option<Span> {
        stop(self.result()?.status)
    }

    /// Returns the part below a heading without output: the error, unless the
    /// heading already implies it, or the search match, or the output if
    /// everything is shown.
    fn details(&self) -> Option<Part> {
        let is_redundant = self.was_prevented() && envelope::reason(&self.output()).is_empty();
        let failure = self.failure().filter(|_| !is_redundant);
        failure
            .or_else(|| self.search_match())
            .or_else(|| self.everything())
    }

    /// Returns the whole output of a read-only call if [`Detail::everything`]
    /// is set.
    fn everything(&self) -> Option<Part> {
        let looks = matches!(
            self.tool.call.category,
            Category::Read | Category::List | Category::Search | Category::Fetch
        );
        let is_wanted = self.detail.everything && looks && self.is_done();
        is_wanted.then(|| self.body(&self.output(), Role::Accent))?
    }

    /// Returns the lines of the output around a search match.
    fn search_match(&self) -> Option<Part> {
        let search = self.detail.search.as_ref()?;
        let output = self.output();
        let is_there = output.lines().any(|line| search.matches(line));
        is_there.then(|| self.body(&output, Role::Accent))?
    }

    /// Returns the line that explains a failure; `None` if the call did not
    /// fail.
    fn failure(&self) -> Option<Part> {
        let result = self.result()?;
        let output = if result.output.is_empty() {
            Cow::Borrowed(self.tool.output.as_str())
        } else {
            result.output.as_str()
        };
        let reason = envelope::reason(&output);
        failure(result.status, &reason, self.detail)
    }

    /// Returns the output, cut to the line limit.
    fn body(&self, text: &str, role: Role) -> Option<Part> {
        let style = Style::of(role);
        verbatim(excerpt_lines(text, style, self.detail, self.excerpt()))
    }

    /// Returns the output of a command. Decodes only the first lines of a long
    /// output.
    fn command_output(&self, exit_code: Option<i64>) -> Option<Part> {
        let early = self
            .result()
            .filter(|_| self.excerpt() == Excerpt::Head)
            .and_then(|result| body::opening(&result.output, self.detail, exit_code));
        match early {
            Some(lines) => verbatim(lines),
            None => self.captured(&envelope::command_output(&self.output(), exit_code)),
        }
    }

    /// Returns terminal output, cut to the line limit.
    fn captured(&self, text: &str) -> Option<Part> {
        verbatim(body::captured(text, self.detail, self.excerpt()))
    }

    /// Returns the output so far.
    fn output(&self) -> Cow<'_, str> {
        match self.result() {
            Some(result) => self.output_before_cancel().unwrap_or_else(|| {
                if result.output.is_empty() {
                    Cow::Borrowed(&self.tool.output)
                } else {
                    result.output.as_str()
                }
            }),
            None => Cow::Borrowed(&self.tool.output),
        }
    }

    /// Returns the output before a cancellation, if the result has no better
    /// message.
    fn output_before_cancel(&self) -> Option<Cow<'_, str>> {
        let result = self.result()?;
        if result.status != ToolStatus::Canceled {
            return None;
        }
        let text = result.output.as_str();
        let output = match envelope::before_cancel(&text) {
            Some(output) => Cow::Owned(output.to_owned()),
            None if envelope::reason(&text).is_empty() => Cow::Borrowed(self.tool.output.as_str()),
            None if envelope::is_cancel_message(&text) => return None,
            None if self.tool.call.category == Category::Execute => text,
            None => return None,
        };
        (!output.trim().is_empty()).then_some(output)
    }

    fn command(&self) -> Vec<Part> {
        let code = self.result().and_then(|result| result.exit_code);
        let code = code.filter(|code| *code != 0);
        let (running, done) = if self.is_input_to_command() {
            ("Typing", "Typed")
        } else {
            ("Running", "Ran")
        };
        let verb = self.stop().unwrap_or_else(|| self.verb(running, done));
        let text = self.command_text().unwrap_or_default();
        let mut spans = vec![verb, Span::role(" ".to_owned() + &text, Role::Normal)];
        spans.extend(code.map(|code| Span::role(format!(" (exit {code})"), Role::Accent)));
        let runs_in_background = self.runs_in_background();
        spans.extend(runs_in_background.then(background_suffix));
        let mut parts = vec![self.head(spans)];
        if runs_in_background {
            // The heading says it all.
        } else if let Some(output) = self.output_before_cancel() {
            parts.extend(self.captured(&output));
        } else if code.is_none() && self.bullet() == Role::Red && !self.has_terminal_output() {
            parts.extend(self.details());
        } else {
            parts.extend(self.command_output(code));
        }
        parts
    }

    /// Returns true if the output has colours and came over ACP, where it is that of
    /// the command's terminal, not the reason why the call failed.
    fn has_terminal_output(&self) -> bool {
        let call = &self.tool.call;
        let is_acp = call.name == "execute" || !call.title.trim().is_empty();
        is_acp && !self.was_prevented() && self.output().contains('\u{1b}')
    }

    /// Returns true if the work continues in the background, as the input
    /// asked.
    fn runs_in_background(&self) -> bool {
        self.input.object().get("run_in_background").is_true()
            && envelope::is_in_background(&self.output())
    }

    /// Returns true for a call that sends input to a running command.
    fn is_input_to_command(&self) -> bool {
        self.tool.call.name.ends_with("write_stdin") && self.input.text(&["chars"]).is_some()
    }

    /// Returns the command; `None` if the call contains none.
    fn command_text(&self) -> Option<String> {
        let mut words = self.input.list("command");
        if let Some(command) = self
            .input
            .text(&["subcommand"])
            .filter(|_| self.tool.call.name == "codalotl_cli")
        {
            words = ["codalotl".to_owned(), command].into();
            words.extend(self.input.list("argv"));
        }
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
        let labels = [call.title.as_str(), call.arg.as_str()];
        let label = labels.into_iter().find(|text| !text.trim().is_empty());
        let whole = call.input.as_ref().and_then(|input| input.json().str());
        let whole = whole.filter(|_| self.input.object().is_empty());
        let text = text
            .or_else(|| whole.map(Cow::into_owned))
            .or_else(|| label.map(str::to_owned))?;
        let text = exact(text);
        Some(sanitize::text(unwrap_shell(text.trim()).trim()).into_owned())
    }

    fn list(&self) -> Vec<Part> {
        let style = Style::of(Role::Colorful).bold();
        match self.input.text(&["pattern", "glob"]) {
            Some(pattern) => self.heading_only("Find", style, self.path(&pattern)),
            None if is_glob(&self.subject().shown) => {
                self.heading_only("Find", style, self.subject())
            }
            None => self.heading_only("List", style, self.subject()),
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
        let mut paths = String::new();
        if let Some(path) = self.input.text(&["path", "dir_path", "include", "glob"]) {
            let path = self.path(&path);
            spans.push(Span::role(" in", Role::Accent));
            spans.push(spaced(&path.shown));
            paths = path.whole;
        }
        let head = Part {
            paths,
            ..self.head(spans)
        };
        std::iter::once(head).chain(self.details()).collect()
    }

    fn fetch(&self) -> Vec<Part> {
        let style = Style::of(Role::Colorful).bold();
        let action = self.input.object().get("action").object();
        let is_page = matches!(&*action.get("type").string(), "open_page" | "openPage");
        if let Some(page) = action.get("url").str().filter(|_| is_page) {
            return self.heading_only("Fetch", style, exact(page.into_owned()));
        }
        let name = self.tool.call.name.to_ascii_lowercase();
        let is_search = name.contains("search") && self.input.text(&["url"]).is_none();
        let word = if is_search { "Search Web" } else { "Fetch" };
        let address = self.input.text(&["url"]).map(exact);
        let object = address
            .or_else(|| self.input.text(&["query", "prompt"]))
            .or_else(|| tool::within_page(&action).map(exact));
        self.heading_only(
            word,
            style,
            object.unwrap_or_else(|| self.tool.call.arg.clone()),
        )
    }

    /// Renders a call that changes the plan, such as one that the agent refused.
    fn plan(&self, plan: &Plan) -> Vec<Part> {
        let mut parts = entry::plan_parts(plan, self.bullet(), self.detail.marks);
        let failure = self.failure().map(|part| part.below(parts.last()));
        parts.extend(failure);
        parts
    }

    /// Renders the edits of the result, or those that the input asks for until there
    /// is a result or if it failed.
    fn change(&self) -> Vec<Part> {
        let applied = self
            .result()
            .map(|result| result.edits.as_slice())
            .unwrap_or_default();
        let is_red = self.bullet() == Role::Red;
        if !applied.is_empty() && !is_red {
            let changes = edits(applied, self.bullet(), self.folder, self.detail);
            return changes.into_iter().chain(self.change_id()).collect();
        }
        let mut requested = self.requested();
        if requested.is_empty() {
            let word = match self.tool.call.category {
                Category::Write => "Add",
                Category::Delete => "Delete",
                Category::Move => "Rename",
                _ => "Edit",
            };
            return self.heading_only(word, Style::of(Role::Colorful).bold(), self.subject());
        }
        for edit in requested.iter_mut().filter(|_| self.was_prevented()) {
            edit.hunks.clear();
        }
        let parts = requested.iter().flat_map(|edit| {
            edit_parts(edit, self.bullet(), self.stop(), self.folder, self.detail)
        });
        parts.chain(self.details()).collect()
    }

    /// Returns the edits that the input asks for.
    fn requested(&self) -> Vec<Edit> {
        let patch = self.patch();
        let is_ok = self.bullet() == Role::Green;
        match &self.tool.call.input {
            Some(input) if patch.is_empty() && !is_ok && !self.was_prevented() => {
                crate::source::edits::announced(self.tool.call.category, input.json())
            }
            _ => patch,
        }
    }

    /// Returns the line that names a change of aider-ce, which can be undone by its
    /// id, if everything is shown.
    fn change_id(&self) -> Option<Part> {
        let output = self.output();
        let names_change = self.detail.lines.is_none() && output.contains("(change_id: ");
        let lines = || self.body(&output, Role::Normal);
        names_change.then(lines).flatten()
    }

    /// Parses the patch in the input.
    fn patch(&self) -> Vec<Edit> {
        let field = self
            .input
            .text(&["patch", "input", "patch_text", "patchText"]);
        // An input that is not an object may be the patch itself.
        let whole = self.tool.call.input.as_ref();
        let whole = || whole.and_then(|input| input.json().str().map(Cow::into_owned));
        field
            .or_else(whole)
            .filter(|text| text.contains("*** Begin Patch"))
            .map(|text| patch::begin_patch(&text))
            .unwrap_or_default()
    }

    /// Returns the output of a tool without a category.
    fn generic_output(&self) -> Option<Part> {
        let output = self.output();
        let text = match envelope::report(output.trim()) {
            Some(report) => Cow::Owned(report),
            None => pretty(&output),
        };
        let style = Style::of(Role::Normal);
        let lines = excerpt_lines(&text, style, self.detail, self.excerpt());
        if matches!(text, Cow::Borrowed(_)) && is_prose(&text) {
            return (!lines.is_empty()).then(|| prose(lines));
        }
        verbatim(lines)
    }

    /// Returns the name of a tool without a category: its title if the wire has
    /// only an ACP kind as its name.
    fn display_name(&self) -> &str {
        let call = &self.tool.call;
        let is_kind = matches!(
            call.name.as_str(),
            "other" | "think" | "switch_mode" | "read" | "edit" | "search" | "execute" | "fetch"
        );
        let is_unnamed = is_kind || call.name.trim().is_empty();
        if is_unnamed && !call.title.trim().is_empty() {
            &call.title
        } else {
            &call.name
        }
    }

    /// Renders `Tool name {input}` and the output; JSON is pretty-printed.
    fn generic(&self) -> Vec<Part> {
        let name = self.display_name();
        let word = if name.trim().is_empty() {
            "Tool Call"
        } else {
            "Tool"
        };
        let mut spans = vec![
            Span::new(word, Style::of(Role::Colorful).bold()),
            spaced(name),
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
            None => parts.extend(self.generic_output()),
        }
        parts
    }
}

/// Returns true if a path is a glob pattern.
fn is_glob(path: &str) -> bool {
    path.contains(['*', '?'])
}

/// Returns true if the text consists of sentences, which may wrap between
/// words. Lines of a table, listing or program may not.
fn is_prose(text: &str) -> bool {
    let is_plain = |line: &str| !line.starts_with([' ', '\t', '|']) && !line.contains("  ");
    text.lines().all(is_plain)
}

/// Returns the suffix for work that continues in the background.
fn background_suffix() -> Span {
    Span::role(" (in the background)", Role::Accent)
}

/// Makes unusual whitespace visible in a path, pattern or command.
fn exact(text: String) -> String {
    match sanitize::exact(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    }
}

/// Returns a sanitised span with a space before it, or an empty one.
fn spaced(text: &str) -> Span {
    match text.trim() {
        "" => Span::role("", Role::Normal),
        text => Span::role(" ".to_owned() + &sanitize::line(text), Role::Normal),
    }
}

/// Pretty-prints JSON; returns other text unchanged.
pub(super) fn pretty(text: &str) -> Cow<'_, str> {
    if !text.trim_start().starts_with(['{', '[']) {
        return Cow::Borrowed(text);
    }
    serde_json::from_str::<serde_json::Value>(text)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns the verb for a rejected or canceled action.
fn stop(status: ToolStatus) -> Option<Span> {
    let word = match status {
        ToolStatus::Rejected => "Rejected",
        ToolStatus::Canceled => "Canceled",
        ToolStatus::Ok | ToolStatus::Error => return None,
    };
    Some(Span::new(word, Style::of(Role::Colorful).bold()))
}

/// Returns the line that explains a failure; `None` for success.
fn failure(status: ToolStatus, reason: &str, detail: &Detail) -> Option<Part> {
    let word = match status {
        ToolStatus::Ok => return None,
        ToolStatus::Error => "Error",
        ToolStatus::Rejected => "Rejected",
        ToolStatus::Canceled => "Canceled",
    };
    let red = Style::of(Role::Red);
    let excerpt = match status {
        ToolStatus::Error => detail.failed,
        _ => Excerpt::Head,
    };
    let mut lines = excerpt_lines(reason, red, detail, excerpt);
    match lines.first_mut() {
        Some(first) => first.insert(0, Span::new(format!("{word}: "), red)),
        None if reason.is_empty() => lines.push(vec![Span::new(format!("{word}."), red)]),
        None => return None,
    }
    Some(prose(lines))
}
