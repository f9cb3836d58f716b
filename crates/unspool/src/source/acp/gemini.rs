//! Calls of Gemini CLI, which sends neither a tool's name nor its input. The name
//! is in the call's id; the arguments are in the title, the locations and the text
//! before the call runs. Each tool writes its title in its own way.
//!
//! Arguments that the wire lacks or cuts (texts of edits, prompts of sub-agents,
//! todo lists) are left out.

use serde_json::{Map, Value, json};

use super::calls_in_ids::is_name;
use crate::event::RawJson;
use crate::json::Json;

/// The name in `agentInfo`.
pub(super) const NAME: &str = "gemini-cli";

/// The description of a call.
pub(super) struct Described<'a> {
    /// The tool's name, or the kind if the id has no name.
    pub(super) tool: &'a str,
    pub(super) title: &'a str,
    /// The first location.
    pub(super) path: &'a str,
    pub(super) line: Option<u64>,
    /// The text of a call that has not run.
    pub(super) explanation: &'a str,
    /// The session's folder.
    pub(super) cwd: &'a str,
}

impl Described<'_> {
    /// Returns the tool's input as far as it is known.
    pub(super) fn input(&self) -> Option<RawJson> {
        let fields = self.fields().or_else(|| self.generic())?;
        RawJson::new(&Value::Object(fields).to_string())
    }

    fn fields(&self) -> Option<Map<String, Value>> {
        let title = self.title;
        Some(match self.tool {
            "read_file" | "read" => self.file(title)?,
            "write_file" => self.file(after(title, "Writing to ").unwrap_or(title))?,
            "replace" | "edit" => self.file(edited(title))?,
            "list_directory" => one("dir_path", title)?,
            "glob" => pattern(title, "")?,
            "grep_search" => pattern(title, "include_pattern")?,
            "search_file_content" => pattern(title, "include")?,
            "search" => pattern(title, "include_pattern").or_else(|| one("dir_path", title))?,
            "run_shell_command" | "execute" => self.command()?,
            "google_web_search" => one("query", quoted(title, "Searching the web for: ")?)?,
            "web_fetch" | "fetch" => fetched(title)?,
            "invoke_agent" | "delegate_to_agent" | "think" => one("agent_name", agent(title)?)?,
            "update_topic" => topic(title)?,
            "enter_plan_mode" if title == "Initiating Plan Mode" => Map::new(),
            "enter_plan_mode" => one("reason", title)?,
            "exit_plan_mode" => {
                let path = after(title, "Requesting plan approval for: ")?;
                one("plan_filename", path.rsplit('/').next()?)?
            }
            "activate_skill" => one("name", title.strip_prefix('"')?.split('"').next()?)?,
            "ask_user" => {
                let question = after(title, "Asking user: ")?;
                object(json!({"questions": [{"question": question}]}))
            }
            "get_internal_docs" => one("path", after(title, "Reading internal documentation: ")?)?,
            "read_mcp_resource" => one("uri", after(title, "Read MCP resource: ")?)?,
            "read_background_output" => {
                let pid = after(title, "Reading output for background process ")?;
                object(json!({"pid": pid.parse::<u64>().ok()?}))
            }
            "read_many_files" => object(json!({"include": files(title)?})),
            "tracker_create_task" => one("title", after(title, "Creating task: ")?)?,
            "tracker_update_task" => one("id", after(title, "Updating task ")?)?,
            "tracker_get_task" => one("id", after(title, "Retrieving task ")?)?,
            "tracker_add_dependency" => {
                let ids = after(title, "Adding dependency: ")?;
                let (task, needs) = ids.split_once(" depends on ")?;
                object(json!({"taskId": task, "dependencyId": needs}))
            }
            _ => return None,
        })
    }

    /// Reads the input of tools of servers, extensions and sub-agents, which is JSON
    /// before the call runs; in older versions it is the title.
    fn generic(&self) -> Option<Map<String, Value>> {
        let is_input = |text: &&str| Json::parse(text).is_some_and(Json::is_object);
        let whole = [self.explanation, self.title].into_iter().find(is_input);
        if let Some(Ok(Value::Object(fields))) = whole.map(serde_json::from_str) {
            return Some(fields);
        }
        // Several inputs cannot be told apart.
        let inputs = after(self.title, "Running subagent '")?.split_once("' with inputs: { ")?;
        let (name, value) = inputs.1.strip_suffix(" }")?.split_once(": ")?;
        let is_one = is_name(name) && !value.contains(": ");
        is_one.then(|| one(name, value))?
    }

    /// Returns the file, relative to the session's folder, and the first line.
    fn file(&self, titled: &str) -> Option<Map<String, Value>> {
        let mut fields = one("file_path", self.relative(titled))?;
        if let Some(line) = self.line {
            fields.insert("start_line".to_owned(), line.into());
        }
        Some(fields)
    }

    /// Returns the path of the location inside the session's folder. Without that
    /// folder, the title contains the path, unless it was shortened.
    fn relative<'a>(&'a self, titled: &'a str) -> &'a str {
        let inside = |folder: &str, path: &'a str| {
            let rest = path.strip_prefix(folder)?.strip_prefix('/')?;
            (!rest.is_empty()).then_some(rest)
        };
        let cwd = self.cwd.trim_end_matches('/');
        let known = (!cwd.is_empty()).then(|| inside(cwd, self.path)).flatten();
        let titled_path = || {
            let folder = self.path.strip_suffix(titled)?;
            (!titled.is_empty() && folder.ends_with('/')).then_some(titled)
        };
        match known.or_else(titled_path) {
            Some(path) => path,
            None if self.path.is_empty() => titled,
            None => self.path,
        }
    }

    /// Returns the command, its folder and its description. Older versions have all
    /// of them in the title.
    fn command(&self) -> Option<Map<String, Value>> {
        let (command, details) = match self.explanation {
            "" => split_command(self.title),
            details => (self.title, details),
        };
        let mut fields = one("command", command)?;
        let details = match details.strip_suffix(" [background]") {
            Some(rest) => {
                fields.insert("is_background".to_owned(), true.into());
                rest
            }
            None => details,
        };
        let (folder, description) = match details.split_once("] (") {
            Some((folder, rest)) => (folder, rest.strip_suffix(')').unwrap_or(rest)),
            None => (details.strip_suffix(']').unwrap_or(details), ""),
        };
        if !description.is_empty() {
            fields.insert("description".to_owned(), description.into());
        }
        if let Some(folder) = after(folder, "[in ") {
            fields.insert("dir_path".to_owned(), folder.into());
        }
        Some(fields)
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Returns an input with one field, unless its value is blank.
fn one(key: &str, value: &str) -> Option<Map<String, Value>> {
    let fields = || [(key.to_owned(), Value::from(value))].into_iter().collect();
    (!value.trim().is_empty()).then(fields)
}

fn after<'a>(title: &'a str, start: &str) -> Option<&'a str> {
    title.strip_prefix(start).filter(|rest| !rest.is_empty())
}

fn quoted<'a>(title: &'a str, start: &str) -> Option<&'a str> {
    after(title, start)?.strip_prefix('"')?.strip_suffix('"')
}

/// Reads the file in `Create PATH`, `No file changes to PATH` or `PATH: OLD => NEW`.
fn edited(title: &str) -> &str {
    let named = after(title, "Create ").or_else(|| after(title, "No file changes to "));
    let changed = || Some(title.split_once(": ")?.0);
    named.or_else(changed).unwrap_or_default()
}

/// Reads `'PATTERN' in FILES within FOLDER`.
fn pattern(title: &str, include: &str) -> Option<Map<String, Value>> {
    let title = title
        .strip_suffix(" across all workspace directories")
        .unwrap_or(title);
    let place = title
        .rsplit_once(" within ")
        .filter(|(_, folder)| !folder.ends_with('\''));
    let (rest, folder) = place.unwrap_or((title, ""));
    let rest = rest.strip_prefix('\'')?;
    let (pattern, files) = match rest.strip_suffix('\'') {
        Some(pattern) => (pattern, ""),
        None => rest.rsplit_once("' in ")?,
    };
    let mut fields = one("pattern", pattern)?;
    for (key, value) in [(include, files), ("dir_path", folder)] {
        // The project's own folder, also if the call names none.
        if !value.is_empty() && value != "./" && !key.is_empty() {
            fields.insert(key.to_owned(), value.into());
        }
    }
    Some(fields)
}

/// Splits `COMMAND [in FOLDER] (DESCRIPTION)` before the folder.
fn split_command(title: &str) -> (&str, &str) {
    let marks = [" [current working directory ", " [in "];
    let places = marks.into_iter().filter_map(|mark| title.rfind(mark));
    let is_end = |at: &usize| {
        let details = title.get(*at..).unwrap_or_default();
        let details = details.strip_suffix(" [background]").unwrap_or(details);
        details.ends_with(']') || (details.ends_with(')') && details.contains("] ("))
    };
    match places.filter(is_end).max() {
        Some(at) => {
            let (command, details) = title.split_at(at);
            (command, details.trim_start())
        }
        None => (title, ""),
    }
}

fn fetched(title: &str) -> Option<Map<String, Value>> {
    if let Some(url) = after(title, "Fetching content from: ") {
        return one("url", url);
    }
    one(
        "prompt",
        quoted(title, "Processing URLs and instructions from prompt: ")?,
    )
}

fn agent(title: &str) -> Option<&str> {
    after(title, "Delegating to agent '")?.strip_suffix('\'')
}

fn topic(title: &str) -> Option<Map<String, Value>> {
    match quoted(title, "Update topic to: ") {
        Some(topic) => one("title", topic),
        None => one(
            "strategic_intent",
            quoted(title, "Update tactical intent: ").filter(|intent| *intent != "...")?,
        ),
    }
}

/// Reads the patterns in the title of `read_many_files`.
fn files(title: &str) -> Option<Vec<&str>> {
    let (_, rest) = title.split_once("using patterns:")?;
    let (list, _) = rest.split_once("(within target directory:")?;
    let list = list.trim().trim_matches('`');
    let files: Vec<&str> = list.split("`, `").filter(|file| !file.is_empty()).collect();
    (!files.is_empty()).then_some(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described<'a>(tool: &'a str, title: &'a str) -> Described<'a> {
        Described {
            tool,
            title,
            path: "",
            line: None,
            explanation: "",
            cwd: "",
        }
    }

    fn input(tool: &str, title: &str) -> String {
        let input = described(tool, title).input();
        input
            .map(|input| input.get().to_owned())
            .unwrap_or_default()
    }

    #[test]
    fn the_title_of_each_tool_has_its_arguments() {
        for (tool, title, expected) in [
            ("glob", "'**/*.rs'", r#"{"pattern":"**/*.rs"}"#),
            (
                "glob",
                "'**/*.rs' within src",
                r#"{"pattern":"**/*.rs","dir_path":"src"}"#,
            ),
            (
                "glob",
                "'a' within b' within c",
                r#"{"pattern":"a' within b","dir_path":"c"}"#,
            ),
            ("grep_search", "'x' within ./", r#"{"pattern":"x"}"#),
            (
                "grep_search",
                "'it's' in *.md within docs",
                r#"{"pattern":"it's","include_pattern":"*.md","dir_path":"docs"}"#,
            ),
            (
                "grep_search",
                "'x' across all workspace directories",
                r#"{"pattern":"x"}"#,
            ),
            ("list_directory", "src/a b", r#"{"dir_path":"src/a b"}"#),
            (
                "google_web_search",
                "Searching the web for: \"a \"b\"\"",
                r#"{"query":"a \"b\""}"#,
            ),
            (
                "web_fetch",
                "Fetching content from: https://x/",
                r#"{"url":"https://x/"}"#,
            ),
            (
                "web_fetch",
                "Processing URLs and instructions from prompt: \"Read https://x/\"",
                r#"{"prompt":"Read https://x/"}"#,
            ),
            (
                "invoke_agent",
                "Delegating to agent 'helper'",
                r#"{"agent_name":"helper"}"#,
            ),
            (
                "update_topic",
                "Update topic to: \"Tests\"",
                r#"{"title":"Tests"}"#,
            ),
            ("update_topic", "Update tactical intent: \"...\"", ""),
            (
                "activate_skill",
                "\"pdf\": Reads files",
                r#"{"name":"pdf"}"#,
            ),
            (
                "ask_user",
                "Asking user: Why?",
                r#"{"questions":[{"question":"Why?"}]}"#,
            ),
            (
                "exit_plan_mode",
                "Requesting plan approval for: /p/plans/a.md",
                r#"{"plan_filename":"a.md"}"#,
            ),
            (
                "tracker_create_task",
                "Creating task: Do it",
                r#"{"title":"Do it"}"#,
            ),
            ("tracker_update_task", "Updating task a1", r#"{"id":"a1"}"#),
            (
                "read_background_output",
                "Reading output for background process 7",
                r#"{"pid":7}"#,
            ),
            (
                "read_many_files",
                "Will attempt to read and concatenate files using patterns:\na.md`, `src/**\n (within target directory:\n/p\n) . Excluding: none",
                r#"{"include":["a.md","src/**"]}"#,
            ),
            ("mcp_docs_find", r#"{"q":"x","n":1}"#, r#"{"q":"x","n":1}"#),
            (
                "codebase_investigator",
                "Running subagent 'codebase_investigator' with inputs: { objective: Look }",
                r#"{"objective":"Look"}"#,
            ),
            ("mcp_docs_find", "find (docs MCP Server)", ""),
            ("write_todos", "Set 3 todo(s)", ""),
            ("glob", "**/*.rs", ""),
            ("glob", "''", ""),
            ("grep_search", "'", ""),
        ] {
            assert_eq!(input(tool, title), expected, "{tool}: {title}");
        }
    }

    #[test]
    fn a_file_is_relative_to_the_folder_of_the_session() {
        let file = |tool: &str, title: &str, path: &str, cwd: &str| {
            let call = Described {
                path,
                cwd,
                ..described(tool, title)
            };
            let input = call.input().unwrap();
            input.json().get("file_path").string()
        };
        assert_eq!(file("read_file", "a/b.rs", "/p/a/b.rs", "/p"), "a/b.rs");
        assert_eq!(file("read_file", "a/b.rs", "/p/a/b.rs", ""), "a/b.rs");
        assert_eq!(
            file("read_file", "a/.../c.rs", "/p/a/b/c.rs", "/p/"),
            "a/b/c.rs"
        );
        assert_eq!(
            file("read_file", "a/.../c.rs", "/p/a/b/c.rs", ""),
            "/p/a/b/c.rs"
        );
        assert_eq!(file("read_file", "../q/c.rs", "/q/c.rs", "/p"), "/q/c.rs");
        assert_eq!(file("write_file", "Writing to a.rs", "/p/a.rs", ""), "a.rs");
        assert_eq!(file("replace", "a.rs: x => y", "/p/a.rs", ""), "a.rs");
        assert_eq!(file("replace", "Create a.rs", "/p/a.rs", ""), "a.rs");
        assert_eq!(file("read", "a.rs", "", ""), "a.rs");
    }

    #[test]
    fn a_command_has_its_folder_and_description() {
        let command = |title: &str, explanation: &str| {
            let call = Described {
                explanation,
                ..described("run_shell_command", title)
            };
            call.input().unwrap().get().to_owned()
        };
        let whole = r#"{"command":"ls [in x]","description":"List (all)","dir_path":"src"}"#;
        assert_eq!(command("ls [in x]", "[in src] (List (all))"), whole);
        assert_eq!(
            command("make &", "[current working directory /p] [background]"),
            r#"{"command":"make &","is_background":true}"#
        );
        assert_eq!(
            command("ls -la [current working directory /p] (List)", ""),
            r#"{"command":"ls -la","description":"List"}"#
        );
        assert_eq!(
            command("ls [in src]", ""),
            r#"{"command":"ls","dir_path":"src"}"#
        );
        assert_eq!(command("echo (a)", ""), r#"{"command":"echo (a)"}"#);
    }
}
