//! A tool call, built from its updates.
//!
//! An update replaces the fields that it contains. The source decides when the
//! call becomes a `tool_use`; its end is a `tool_result`.

use std::borrow::Cow;
use std::sync::Arc;

use super::content;
use super::edits;
use super::gemini;
use super::names::{is_word, snake_case};
use super::terminal;
use super::{Program, aider, calls_in_ids, names};
use crate::event::{Agent, Category, Edit, RawJson, ToolStatus};
use crate::json::{Json, Object};
use crate::source::{self, Emitter, codex, opencode};
use crate::tool;

#[cfg(test)]
mod tests;

#[derive(Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact from the wire"
)]
pub(super) struct Call {
    /// An id that is unique on the connection.
    pub(super) id: String,
    /// The agent's id.
    pub(super) own_id: String,
    /// The session of its update.
    pub(super) session: String,
    /// The root session of that session.
    pub(super) root: String,
    pub(super) agent: Option<Arc<Agent>>,
    /// It was emitted as `tool_use`.
    pub(super) announced: bool,
    /// The status if permission was denied or not answered.
    pub(super) refused: Option<ToolStatus>,
    name: String,
    /// The adapter's name for the tool, in `_meta`.
    meta_name: String,
    /// The adapter's category of the tool, in `_meta`.
    meta_kind: Option<Category>,
    first_title: String,
    pub(super) title: String,
    pub(super) kind: String,
    path: String,
    line: Option<u64>,
    /// The text of a call of Gemini that has not run.
    explanation: String,
    /// The folder of the session.
    pub(super) cwd: String,
    pub(super) input: Option<RawJson>,
    /// The input is the wire's own.
    has_input: bool,
    pub(super) content: Option<RawJson>,
    pub(super) raw_output: Option<RawJson>,
    pub(super) edits: Option<Vec<Edit>>,
    pub(super) terminal: Option<String>,
    pub(super) asked: bool,
    pub(super) started: bool,
    /// Claude's reason for not running it.
    pub(super) never_ran: String,
    /// The agent that made it.
    pub(super) program: Program,
    /// It is part of the history of a loaded session.
    pub(super) replayed: bool,
    /// Bytes of the content's text that were emitted while it ran.
    shown: usize,
}

impl Call {
    pub(super) fn new(id: &str, session: &str, root: &str, replayed: bool) -> Self {
        Self {
            id: id.to_owned(),
            own_id: id.to_owned(),
            session: session.to_owned(),
            root: root.to_owned(),
            replayed,
            ..Self::default()
        }
    }

    /// Reads the fields of an announcement or update.
    pub(super) fn update(&mut self, fields: &Object<'_>) {
        self.label(fields);
        let title = fields.get("title").string();
        if !title.is_empty() {
            if self.first_title.is_empty() {
                self.first_title.clone_from(&title);
            }
            self.title = title;
        }
        if !fields.get("rawInput").is_null() {
            self.input = fields.get("rawInput").into();
            self.has_input = true;
        }
        let status = fields.get("status").string();
        if status == "in_progress" {
            self.started = true;
        }
        let waits = matches!(status.as_str(), "" | "pending" | "in_progress");
        if waits && self.is_gemini() {
            self.explain(fields);
        } else {
            self.result(fields);
        }
        self.describe();
    }

    /// Reads the text of a call of Gemini that has not run, which is about its input.
    fn explain(&mut self, fields: &Object<'_>) {
        let text = content::tool_text(fields.get("content"));
        if !text.is_empty() {
            self.explanation = text;
        }
        let has_diff = |item: &Json<'_>| item.get("path").is_string();
        if fields.get("content").array().iter().any(has_diff) {
            self.content = fields.get("content").into();
        }
    }

    /// Builds the input of a call of Gemini, which sends only descriptions. Titles of
    /// loaded calls are names.
    fn describe(&mut self) {
        if self.has_input || self.replayed || !self.is_gemini() {
            return;
        }
        let described = gemini::Described {
            tool: &self.tool(),
            title: &self.title,
            path: &self.path,
            line: self.line,
            explanation: &self.explanation,
            cwd: &self.cwd,
        };
        let input = described.input();
        self.input = input;
    }

    /// Reads the fields of a request for permission, which may describe the request
    /// rather than the call: only missing fields are set.
    pub(super) fn permission(&mut self, fields: &Object<'_>) {
        self.asked = true;
        self.label(fields);
        if self.input.as_ref().is_none_or(is_empty) {
            if !fields.get("rawInput").is_null() {
                self.input = fields.get("rawInput").into();
                self.has_input = true;
            }
            let title = fields.get("title").string();
            if !title.is_empty() && !self.announced {
                self.title = title;
            }
        }
        if self.is_gemini() {
            self.explain(fields);
            self.describe();
            return;
        }
        // Its text is the question; only a diff belongs to the call.
        let content = fields.get("content");
        let has_diff = content
            .array()
            .iter()
            .any(|block| block.get("path").is_string());
        if self.content.is_none() && has_diff {
            self.content = content.into();
        }
    }

    fn label(&mut self, fields: &Object<'_>) {
        let meta = fields.get("_meta");
        let claude = meta.get("claudeCode");
        set(&mut self.name, fields.get("name"));
        set(&mut self.kind, fields.get("kind"));
        if let Some(name) = names::in_meta(meta) {
            self.meta_name = name;
        }
        self.meta_kind = names::kind_in_meta(meta).or(self.meta_kind);
        if let Some(location) = fields.get("locations").array().first() {
            set(&mut self.path, location.get("path"));
            self.line = location.get("line").u64().or(self.line);
        }
        set(&mut self.never_ran, claude.get("nonExecutionKind"));
    }

    fn result(&mut self, fields: &Object<'_>) {
        let progress = fields.get("_meta").get("subagentProgress").is_true();
        if fields.get("content").is_array() && !progress {
            self.content = fields.get("content").into();
            if let Some(id) = terminal::shown_in(fields.get("content")) {
                self.terminal = Some(id);
            }
        }
        if !fields.get("rawOutput").is_null() {
            self.raw_output = fields.get("rawOutput").into();
        }
        let claude = fields.get("_meta").get("claudeCode");
        if let Some(edits) = edits::of_claude(claude.get("toolResponse")) {
            self.edits = Some(edits);
        }
    }

    /// Appends an item to the content.
    pub(super) fn add_content(&mut self, item: Json<'_>) {
        let old = json(self.content.as_ref());
        let items: Vec<&str> = old
            .array()
            .into_iter()
            .chain([item])
            .map(Json::raw)
            .collect();
        self.content = RawJson::new(&format!("[{}]", items.join(",")));
        if let Some(id) = terminal::shown_in(json(self.content.as_ref())) {
            self.terminal = Some(id);
        }
    }

    /// Returns the tool's name if the wire has one, else the kind.
    pub(super) fn tool(&self) -> Cow<'_, str> {
        if let Some(name) = self.codex_tool() {
            return Cow::Owned(name);
        }
        let wanted = json(self.input.as_ref()).get("tool").str();
        if let Some(wanted) = wanted.filter(|tool| self.is_invalid() && !tool.is_empty()) {
            return wanted;
        }
        let kind = if self.kind.is_empty() {
            "other"
        } else {
            &self.kind
        };
        Cow::Borrowed(self.own_name().unwrap_or(kind))
    }

    fn own_name(&self) -> Option<&str> {
        let named = [self.name.as_str(), self.meta_name.as_str()];
        let named = named.into_iter().find(|name| !name.is_empty());
        named
            .or_else(|| self.tool_in_id())
            .or_else(|| self.tool_in_title())
    }

    /// Returns the name in the id, which only agents without another name for the
    /// tool put there.
    fn tool_in_id(&self) -> Option<&str> {
        let is_gemini = self.program == Program::Gemini;
        let has_own = self.has_input && !is_gemini;
        let find = || calls_in_ids::tool(&self.own_id, &self.first_title, is_gemini);
        (!has_own).then(find)?
    }

    /// Returns the name of an MCP tool or of a sub-agent tool, which Codex's adapters
    /// have only in the input and the title.
    fn codex_tool(&self) -> Option<String> {
        let input = json(self.input.as_ref());
        if self.is_between_agents() {
            return Some(snake_case(&self.first_title));
        }
        if let Some((kind, _)) = self.activity() {
            return Some(codex::activity_tool(&kind).to_owned());
        }
        if input.get("action").is_object() && input.get("query").is_string() {
            return Some("web_search".to_owned());
        }
        // Zed's adapter sends Codex's own event, which has no other name.
        if input.get("call_id").is_string() && input.get("command").is_array() {
            return Some("exec_command".to_owned());
        }
        if input.get("call_id").is_string() && input.get("changes").is_object() {
            return Some("apply_patch".to_owned());
        }
        self.arguments()?;
        let (server, tool) = (input.get("server").string(), input.get("tool").string());
        Some(format!("{server}.{tool}"))
    }

    fn is_between_agents(&self) -> bool {
        let sender = json(self.input.as_ref()).get("senderThreadId");
        sender.is_string() && is_word(&self.first_title)
    }

    /// Returns the activity that Codex's adapter reports, and its sub-agent.
    fn activity(&self) -> Option<(String, String)> {
        let input = json(self.input.as_ref());
        let (kind, path) = (input.get("activityKind"), input.get("agentPath"));
        let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
        Some((kind.str()?.into_owned(), name(&path.str()?)?))
    }

    /// Returns true if it only reports the end of a sub-agent.
    fn is_report(&self) -> bool {
        self.activity()
            .is_some_and(|(kind, _)| codex::is_report(&kind))
    }

    /// Returns true if it starts a task of a sub-agent.
    fn is_task(&self) -> bool {
        let input = json(self.input.as_ref());
        let has_agent = ["subagent_type", "agent_type"]
            .iter()
            .any(|key| input.get(key).is_string());
        has_agent && input.get("prompt").is_string()
    }

    /// Returns the arguments of an MCP tool, without the names around them.
    fn arguments(&self) -> Option<RawJson> {
        let input = json(self.input.as_ref());
        let named = input.get("server").is_string() && input.get("tool").is_string();
        let arguments = input.get("arguments");
        (named && arguments.is_object()).then(|| arguments.into())?
    }

    /// Parses the description that Codex's adapter uses instead of a read-only
    /// command: `Read file 'a'`, `List files in 'b'`, `Search for 'c' in d`.
    fn described(&self) -> Option<(Category, &str)> {
        const WORDS: &[(&str, Category)] = &[
            ("Read file", Category::Read),
            ("List files", Category::List),
            ("Search for", Category::Search),
        ];
        if self.input.is_some() || self.is_gemini() || !matches!(&*self.kind, "read" | "search") {
            return None;
        }
        WORDS.iter().find_map(|(start, category)| {
            let object = self.title.strip_prefix(start)?;
            let object = object.strip_prefix(" in").unwrap_or(object);
            let is_whole = object.is_empty() || object.starts_with(' ');
            let object = object.trim();
            // A pattern for file names means a listing, not a search.
            let files = object
                .strip_prefix('\'')
                .and_then(|name| name.split_once('\''));
            let files = files.map(|(name, _)| name).filter(|name| is_glob(name));
            is_whole.then_some(match files {
                Some(files) => (Category::List, files),
                None => (*category, object),
            })
        })
    }

    /// Returns true if a search is for file names.
    fn finds_files(&self) -> bool {
        let pattern = json(self.input.as_ref()).get("pattern");
        pattern.str().is_some_and(|pattern| is_glob(&pattern))
    }

    /// Returns the category where the input says more than the kind: Copilot gives
    /// searches the kind of a read, and all agents that of an edit to new files.
    fn category_by_input(&self) -> Option<Category> {
        let input = json(self.input.as_ref()).object();
        let has = |keys: &[&str]| keys.iter().any(|key| input.get(key).is_string());
        let is_whole = has(&["content", "file_text"]) && has(&["path", "file_path", "filePath"]);
        match self.kind.as_str() {
            "read" | "search" if self.finds_files() => Some(Category::List),
            "read" if has(&["pattern"]) => Some(Category::Search),
            "edit" if is_whole && !has(&["old_string", "old_str", "before"]) => {
                Some(Category::Write)
            }
            _ => None,
        }
    }

    /// Returns the category of changes that are all of one kind.
    fn category_by_diff(&self) -> Option<Category> {
        let changes = json(self.input.as_ref()).get("changes");
        if changes.is_object() {
            return Some(codex::category(&codex::edits(changes)));
        }
        let content = json(self.content.as_ref()).array();
        let mut kinds = content.iter().filter_map(edits::category_of_block);
        let first = kinds.next()?;
        kinds.all(|kind| kind == first).then_some(first)
    }

    /// Returns true for a command, even if Codex gives it another kind.
    fn is_command(&self) -> bool {
        let command = json(self.input.as_ref()).get("command");
        self.own_name().is_none() && command.is_array()
    }

    /// Returns the title if it is a tool's name: of OpenCode, or of an adapter without
    /// a kind for the tool.
    fn tool_in_title(&self) -> Option<&str> {
        let todos = json(self.input.as_ref()).get("todos");
        if self.is_opencode() && todos.is_array() {
            return Some("todowrite");
        }
        if self.is_opencode() && self.is_task() {
            return Some("task");
        }
        if tool::plan(&self.first_title, json(self.input.as_ref())).is_some() {
            return Some(&self.first_title);
        }
        let is_name = (self.is_opencode() && !self.replayed) || self.kind.is_empty();
        if is_name && is_word(&self.first_title) {
            return Some(&self.first_title);
        }
        names::in_title(&self.first_title).filter(|_| !self.is_opencode())
    }

    pub(super) fn is_opencode(&self) -> bool {
        self.session.starts_with("ses_")
    }

    pub(super) fn is_gemini(&self) -> bool {
        let is_named = !self.name.is_empty() || !self.meta_name.is_empty();
        self.program == Program::Gemini || (!is_named && self.tool_in_id().is_some())
    }

    pub(super) fn category(&self) -> Category {
        if let Some((category, _)) = self.described() {
            return category;
        }
        if self.is_command() {
            return Category::Execute;
        }
        if self.is_between_agents() || self.activity().is_some() {
            return Category::Task;
        }
        if self.arguments().is_some() {
            let tool = json(self.input.as_ref()).get("tool").string();
            return codex::mcp_category(&tool);
        }
        if self.own_name().is_none()
            && let Some(category) = self.category_by_input().or_else(|| self.category_by_diff())
        {
            return category;
        }
        let name = self.tool();
        let raw = json(self.raw_output.as_ref());
        if self.is_opencode()
            && let Some(category) =
                opencode::actual_category(&name, &raw.get("metadata").object(), raw.get("output"))
        {
            return category;
        }
        let by_name = crate::source::category(&name);
        if by_name != Category::Other {
            return by_name;
        }
        if self.is_task() {
            return Category::Task;
        }
        if let Some(category) = self.meta_kind {
            return category;
        }
        match self.kind.as_str() {
            "read" => Category::Read,
            "edit" => Category::Edit,
            "delete" => Category::Delete,
            "move" => Category::Move,
            "search" if self.finds_files() => Category::List,
            "search" => Category::Search,
            "execute" => Category::Execute,
            "think" => Category::Think,
            "fetch" => Category::Fetch,
            _ => self.category_by_title(),
        }
    }

    /// Returns the category of a tool name in the title, alone or before a colon.
    fn category_by_title(&self) -> Category {
        let word = self.first_title.split(": ").next().unwrap_or_default();
        if is_word(word) {
            crate::source::category(&snake_case(word))
        } else {
            Category::Other
        }
    }

    /// Returns the preview if the input has none: the file or command of the call.
    fn arg(&self, category: Category) -> Option<Cow<'_, str>> {
        let input = json(self.input.as_ref());
        if !tool::arg(category, input).is_empty() {
            return None;
        }
        if self.arguments().is_some() {
            return None;
        }
        if self.is_invalid() {
            return Some(Cow::Borrowed(""));
        }
        if let Some((_, name)) = self.activity() {
            return Some(Cow::Owned(name));
        }
        if self.is_between_agents() {
            return Some(Cow::Borrowed(""));
        }
        if let Some(arg) = first_item(category, input) {
            return Some(Cow::Owned(arg));
        }
        if is_about_file(category) || (category == Category::List && !self.is_gemini()) {
            let path = match self.path.as_str() {
                "" => edits::first_path(json(self.content.as_ref())),
                path => path.to_owned(),
            };
            if !path.is_empty() {
                return Some(Cow::Owned(path));
            }
        }
        match self.described() {
            Some((Category::List, "")) => return Some(Cow::Borrowed(".")),
            Some((Category::Search, object)) => return Some(Cow::Borrowed(object)),
            Some((_, object)) => return Some(Cow::Borrowed(object.trim_matches('\''))),
            None => {}
        }
        if let Some(file) = self.file_in_title(category) {
            return Some(Cow::Borrowed(file));
        }
        if !self.is_gemini()
            && input.is_null()
            && let Some(argument) = names::argument(&self.first_title)
        {
            return Some(Cow::Borrowed(argument));
        }
        let describes = self.is_gemini() && !self.replayed && input.is_null();
        describes.then_some(Cow::Borrowed(&self.title))
    }

    /// Returns the file in a title such as `Read src/a.rs` or `ReadFile: src/a.rs`.
    /// Before the input is known, the title may be `Read File`.
    fn file_in_title(&self, category: Category) -> Option<&str> {
        let (word, file) = self.title.split_once(' ')?;
        let word = word.trim_end_matches(':');
        let is_done = is_word(word) && crate::source::category(&snake_case(word)) == category;
        let is_told = is_done && is_about_file(category) && !self.is_gemini();
        let file = file.trim();
        (is_told && !file.eq_ignore_ascii_case("file")).then_some(file)
    }

    /// Emits the call as it is known so far.
    pub(super) fn announce(&mut self, out: &mut Emitter) {
        let is_first = !std::mem::replace(&mut self.announced, true);
        let is_no_call = self.program == Program::Aider && aider::is_question(&self.own_id);
        if self.repeats_plan() || self.is_report() || self.is_compaction() || is_no_call {
            if is_first {
                out.hide_call(&self.id, &self.tool());
                if self.repeats_plan() {
                    out.agent(self.agent.clone());
                    out.end_message();
                }
            }
            return;
        }
        let category = self.category();
        out.agent(self.agent.clone());
        let call = source::Call {
            id: &self.id,
            name: &self.tool(),
            category: Some(category),
            arg: self.arg(category),
            // The input of an invalid call only repeats the error.
            input: if self.is_invalid() {
                None
            } else {
                self.arguments().or_else(|| self.input.clone())
            },
            title: self.headline(),
        };
        // Whoever is asked sees the call, also one of a plan tool without its list.
        if self.asked {
            out.tool_use(call);
        } else {
            out.builtin_tool_use(call);
        }
    }

    /// Returns the title if it adds something. That of a plan does not, nor the tool
    /// name that Gemini uses in loaded sessions.
    fn headline(&self) -> &str {
        let is_name = self.is_gemini() && self.replayed && is_word(&self.title);
        if self.is_plan() || is_name || self.is_invalid() {
            ""
        } else {
            &self.title
        }
    }

    /// Returns true for the tool that OpenCode calls instead of an invalid one.
    pub(super) fn is_invalid(&self) -> bool {
        self.is_opencode() && matches!(&*self.title, "invalid" | "Invalid Tool")
    }

    /// Returns true if the adapter reports a compaction with it.
    pub(super) fn is_compaction(&self) -> bool {
        self.title == "Compact conversation" && self.input.is_none()
    }

    /// Returns true if it ends the open message. A plan does not, unless the agent
    /// sends the call too.
    pub(super) fn ends_message(&self) -> bool {
        self.repeats_plan() || !self.is_plan()
    }

    /// Returns true for the call of a plan tool.
    fn is_plan(&self) -> bool {
        self.repeats_plan() || tool::plan(&self.tool(), json(self.input.as_ref())).is_some()
    }

    /// Returns true for aider's plan tool, which is sent as a plan too.
    fn repeats_plan(&self) -> bool {
        self.title == "Update plan" && json(self.input.as_ref()).get("tasks").is_array()
    }

    /// Returns the added output of a running command.
    pub(super) fn new_output(&mut self) -> String {
        if self.category() != Category::Execute || !self.started || self.terminal.is_some() {
            return String::new();
        }
        let text = content::tool_text(json(self.content.as_ref()));
        if text.starts_with("```") {
            return String::new();
        }
        let new = text.get(self.shown..).unwrap_or_default().to_owned();
        self.shown = self.shown.max(text.len());
        new
    }

    /// Returns the name of the sub-agent that this call started.
    pub(super) fn agent_name(&self) -> String {
        let input = json(self.input.as_ref());
        let kind = input.get("subagent_type").string();
        if kind.is_empty() {
            tool::preview(&self.title)
        } else {
            tool::label(&kind)
        }
    }

    pub(super) fn title(&self) -> &str {
        &self.title
    }
}

/// Returns true if calls of this category are about a file.
fn is_about_file(category: Category) -> bool {
    matches!(
        category,
        Category::Read | Category::Write | Category::Edit | Category::Delete | Category::Move
    )
}

/// Returns true for a pattern for file names. No other pattern starts with a star.
fn is_glob(pattern: &str) -> bool {
    pattern.starts_with('*') || pattern.contains("/**/")
}

/// Returns the preview of the first item, for tools with lists.
fn first_item(category: Category, input: Json<'_>) -> Option<String> {
    let fields = input.object();
    let lists = fields.iter().filter_map(|(_, value)| {
        let first = value.array().into_iter().next()?;
        // The symbol is better than the operation.
        let symbol = first.get("symbol").string();
        Some(if symbol.is_empty() {
            tool::arg(category, first)
        } else {
            symbol
        })
    });
    lists.into_iter().find(|arg| !arg.is_empty())
}

fn set(field: &mut String, value: Json<'_>) {
    if let Some(text) = value.str().filter(|text| !text.is_empty()) {
        *field = text.into_owned();
    }
}

pub(super) fn json(value: Option<&RawJson>) -> Json<'_> {
    value.map_or(Json::NULL, RawJson::json)
}

fn is_empty(value: &RawJson) -> bool {
    value.json().is_null() || (value.json().is_object() && value.json().object().is_empty())
}
