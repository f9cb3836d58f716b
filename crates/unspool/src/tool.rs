//! Knowledge about tools by name and input, shared by all agents: the category,
//! the preview of the main argument, plans in plan tools.
//!
//! All functions are pure and never fail.
//!
//! ```
//! use unspool::event::Category;
//! use unspool::tool;
//!
//! assert_eq!(tool::category("Bash"), Category::Execute);
//! assert_eq!(tool::category("write_file"), Category::Write);
//! assert_eq!(tool::unwrap_shell("bash -lc 'make test'"), "make test");
//! ```

use std::borrow::Cow;

use crate::event::{Category, Plan, PlanEntry, PlanStatus};
use crate::json::{Json, Object};

mod failure;
mod guess;
pub(crate) mod status;

pub use failure::error_message;
pub use guess::guess_category;

/// Maximum characters of a preview.
const ARG_LENGTH: usize = 40;
/// Maximum characters of a headline.
const HEADLINE_LENGTH: usize = 80;

/// Returns the category of a tool by a name that several agents use; `other`
/// for every other name. `source::category` knows each agent's own
/// tools too.
pub fn category(name: &str) -> Category {
    let lower = name.to_ascii_lowercase();
    SHARED
        .iter()
        .find(|(_, names)| names.contains(&lower.as_str()))
        .map_or(Category::Other, |(category, _)| *category)
}

/// Names that several agents use, and the kinds of the Agent Client Protocol.
pub(crate) const SHARED: &[(Category, &[&str])] = &[
    (Category::Read, &["read", "read_file", "readfile", "view"]),
    (
        Category::Write,
        &["write", "write_file", "writefile", "create", "create_file"],
    ),
    (
        Category::Edit,
        &[
            "edit",
            "edit_file",
            "editfile",
            "multiedit",
            "multi_edit",
            "replace",
            "str_replace",
            "apply_patch",
            "patch",
        ],
    ),
    (Category::Delete, &["delete", "delete_file"]),
    (Category::Move, &["move", "move_file", "rename"]),
    (Category::Search, &["grep", "grep_search", "search", "lsp"]),
    (
        Category::List,
        &[
            "glob",
            "list",
            "ls",
            "list_directory",
            "listfiles",
            "list_files",
        ],
    ),
    (
        Category::Execute,
        &["bash", "shell", "exec", "execute", "run_shell_command"],
    ),
    (
        Category::Fetch,
        &["fetch", "webfetch", "web_fetch", "websearch", "web_search"],
    ),
    (Category::Think, &["think", "thinking"]),
    (
        Category::Plan,
        &["todowrite", "todo_write", "todoread", "update_plan"],
    ),
    (Category::Task, &["task", "agent", "delegate", "subagent"]),
];

/// Returns the preview of a call: its main argument on one line.
pub fn arg(category: Category, input: Json<'_>) -> String {
    const FIRST_FOR_SEARCH: &[&str] = &["pattern", "query", "glob"];
    const FOR_ALL: &[&str] = &[
        "file_path",
        "path",
        "notebook_path",
        "command",
        "cmd",
        "query",
        "pattern",
        "url",
        "description",
        "prompt",
    ];
    /// Fields of particular agents' tools.
    const OTHERS: &[&str] = &[
        "absolute_path",
        "filename",
        "dir_path",
        "directory",
        "commands",
        "queries",
        "regex",
        "q",
        "uri",
        "patch_text",
        "patch",
        "operation",
        "action",
        "subject",
        "task_id",
        "agent_name",
        "task_name",
        "target",
        "targets",
        "objective",
        "skill",
        "name",
        "title",
        "questions",
        "question",
        "plan_filename",
        "reason",
        "chars",
        "cell_id",
        "pid",
        "include",
        "code",
        "explanation",
        "tool",
        "server",
        "operations",
        "file_text",
        "defining_package_path",
        "import_path",
        "package_search",
        "paths",
    ];
    let decoded = input.str();
    let input = match decoded.as_deref() {
        Some(text) => match Json::parse(text) {
            Some(json) if json.is_object() => json,
            // A free-form input is its own preview.
            _ => return preview(first_patch_path(text).unwrap_or(text)),
        },
        None => input,
    };
    let fields = input.object();
    let first = matches!(category, Category::Search | Category::List)
        .then_some(FIRST_FOR_SEARCH)
        .unwrap_or_default();
    first
        .iter()
        .chain(FOR_ALL)
        .chain(OTHERS)
        .find_map(|key| field_text(&fields, key))
        .map(|text| preview(&text))
        .unwrap_or_default()
}

/// Returns the text of a field in snake or camel case; `None` if it is blank.
fn field_text(fields: &Object<'_>, key: &str) -> Option<String> {
    let mut value = fields.get(key);
    if value.is_null() && key.contains('_') {
        value = fields.get(&camel_case(key));
    }
    let text = match value.str() {
        Some(text) if matches!(key, "command" | "cmd") => unwrap_shell(&text).into_owned(),
        Some(text) if matches!(key, "patch" | "patch_text") => {
            first_patch_path(&text).unwrap_or(&text).to_owned()
        }
        Some(text) => text.into_owned(),
        None if value.is_array() => list_text(key, &value.array()),
        None if value.is_object() => {
            let inner = value.object();
            within_page(&inner).or_else(|| {
                ["query", "path", "url", "pattern", "question", "command"]
                    .iter()
                    .find_map(|key| field_text(&inner, key))
            })?
        }
        None => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

/// Describes a search within a page, in Codex's words.
pub(crate) fn within_page(action: &Object<'_>) -> Option<String> {
    let pattern = field_text(action, "pattern")?;
    Some(format!("'{pattern}' in {}", field_text(action, "url")?))
}

fn list_text(key: &str, items: &[Json<'_>]) -> String {
    let words: Vec<String> = items
        .iter()
        .filter_map(|item| match item.str() {
            Some(word) => Some(word.into_owned()),
            None => field_text(&item.object(), "question"),
        })
        .collect();
    match key {
        "command" | "cmd" => command_line(&words),
        "commands" => words.join("; "),
        "paths" | "targets" | "include" => words.join(", "),
        _ => words.into_iter().next().unwrap_or_default(),
    }
}

fn camel_case(key: &str) -> String {
    let mut words = key.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

/// Returns the path in the first header of a patch text.
fn first_patch_path(patch: &str) -> Option<&str> {
    const HEADERS: &[&str] = &[
        "*** Update File: ",
        "*** Add File: ",
        "*** Delete File: ",
        "+++ b/",
    ];
    patch
        .lines()
        .find_map(|line| HEADERS.iter().find_map(|header| line.strip_prefix(header)))
}

/// Returns the command as a person would type it: joins arguments and removes
/// wrappers such as `/bin/bash -lc '…'`.
pub fn command_line(words: &[String]) -> String {
    match words {
        [shell, flag, script] if is_shell(shell) && is_script_flag(flag) => script.clone(),
        words => words.join(" "),
    }
}

/// Removes a shell wrapper from a command.
pub fn unwrap_shell(command: &str) -> Cow<'_, str> {
    let mut rest = command.trim();
    let mut next_word = || {
        let (word, tail) = rest.split_once(' ')?;
        rest = tail.trim_start();
        Some(word)
    };
    let wrapped = next_word().is_some_and(is_shell) && next_word().is_some_and(is_script_flag);
    if wrapped && let Some(script) = unquote(rest) {
        return script;
    }
    Cow::Borrowed(command)
}

/// Returns true for a shell by its plain name or in a system directory.
/// Elsewhere, a program of that name may be anything.
fn is_shell(word: &str) -> bool {
    let (folder, name) = word.rsplit_once('/').unwrap_or(("", word));
    let is_known = matches!(
        folder,
        "" | "/bin"
            | "/usr/bin"
            | "/usr/local/bin"
            | "/opt/homebrew/bin"
            | "/run/current-system/sw/bin"
    );
    is_known && matches!(name, "bash" | "sh" | "zsh" | "dash" | "fish")
}

fn is_script_flag(word: &str) -> bool {
    matches!(word, "-c" | "-lc" | "-cl" | "-ic" | "-lic" | "-ilc")
}

/// Unquotes one shell word; returns `None` if there is more than one.
fn unquote(word: &str) -> Option<Cow<'_, str>> {
    let mut out = String::new();
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => loop {
                match chars.next()? {
                    '\'' => break,
                    c => out.push(c),
                }
            },
            '"' => loop {
                match chars.next()? {
                    '"' => break,
                    '\\' => match chars.next()? {
                        c @ ('"' | '\\' | '$' | '`') => out.push(c),
                        c => out.extend(['\\', c]),
                    },
                    c => out.push(c),
                }
            },
            '\\' => out.push(chars.next()?),
            c if c.is_whitespace() => return None,
            c => out.push(c),
        }
    }
    Some(Cow::Owned(out))
}

/// Returns a preview: one clean line of at most 40 characters.
pub fn preview(text: &str) -> String {
    let line = label(text);
    if line.chars().count() <= ARG_LENGTH {
        return line;
    }
    line.chars().take(ARG_LENGTH - 1).chain(['…']).collect()
}

/// Returns the task that a call's input gives to a sub-agent, as a headline.
pub fn task_description(input: &Object<'_>) -> Option<String> {
    let texts = ["description", "task_name", "prompt", "message"];
    let texts = texts.iter().filter_map(|key| input.get(key).str());
    texts
        .map(|text| headline(&text))
        .find(|work| !work.is_empty())
}

/// Returns the first non-blank line, cut to 80 characters.
pub fn headline(text: &str) -> String {
    let line = label(text.trim_start().lines().next().unwrap_or_default());
    if line.chars().count() <= HEADLINE_LENGTH {
        return line;
    }
    line.chars()
        .take(HEADLINE_LENGTH - 1)
        .chain(['…'])
        .collect()
}

/// Returns a label: without escape sequences and control characters, and with
/// single blanks.
pub fn label(text: &str) -> String {
    if is_label(text) {
        return text.to_owned();
    }
    cleaned(text)
}

fn cleaned(text: &str) -> String {
    let stripped = strip_escapes(text);
    let mut line = String::with_capacity(stripped.len().min(256));
    let mut gap = false;
    for c in stripped.chars() {
        if c.is_whitespace() {
            gap = true;
        } else if !c.is_control() {
            if gap && !line.is_empty() {
                line.push(' ');
            }
            gap = false;
            line.push(c);
        }
    }
    line
}

/// Returns true if a text is already a label, as most are.
fn is_label(text: &str) -> bool {
    let mut last = b' ';
    let is_clean = text.bytes().all(|byte| {
        let before = std::mem::replace(&mut last, byte);
        matches!(byte, b' '..=b'~') && (byte != b' ' || before != b' ')
    });
    is_clean && (last != b' ' || text.is_empty())
}

/// Removes complete terminal escape sequences. Keeps whitespace control
/// characters.
fn strip_escapes(text: &str) -> Cow<'_, str> {
    struct Printed(String);
    impl vte::Perform for Printed {
        fn print(&mut self, c: char) {
            self.0.push(c);
        }
        fn execute(&mut self, byte: u8) {
            if byte.is_ascii_whitespace() {
                self.0.push(char::from(byte));
            }
        }
    }
    if memchr::memchr(0x1b, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut printed = Printed(String::with_capacity(text.len()));
    vte::Parser::new().advance(&mut printed, text.as_bytes());
    Cow::Owned(printed.0)
}

/// Returns true if the tool's input is the whole plan.
pub fn is_plan_tool(name: &str) -> bool {
    const TOOLS: &[&str] = &["todowrite", "todo_write", "write_todos", "update_plan"];
    let name = name.to_ascii_lowercase();
    TOOLS.contains(&name.rsplit(['.', '/']).next().unwrap_or(&name))
}

/// Parses the plan in a call of a plan tool; returns `None` for other tools and
/// for inputs without a list.
pub fn plan(name: &str, input: Json<'_>) -> Option<Plan> {
    if !is_plan_tool(name) {
        return None;
    }
    let decoded = input.str();
    let input = decoded.as_deref().and_then(Json::parse).unwrap_or(input);
    let fields = input.object();
    let list = ["todos", "plan", "items", "entries"]
        .iter()
        .map(|key| fields.get(key))
        .find(|list| list.is_array())?;
    Some(Plan {
        entries: list.array().into_iter().map(plan_entry).collect(),
        explanation: fields.get("explanation").string(),
    })
}

/// Parses a step of a plan in any agent's spelling.
pub fn plan_entry(json: Json<'_>) -> PlanEntry {
    let fields = json.object();
    let text = [
        "content",
        "step",
        "text",
        "description",
        "title",
        "subject",
        "task",
    ]
    .iter()
    .find_map(|key| fields.get(key).str());
    let status = fields.get("status").string();
    let done = ["completed", "done"]
        .iter()
        .any(|key| fields.get(key).is_true());
    PlanEntry {
        text: text.or_else(|| json.str()).unwrap_or_default().into_owned(),
        status: if done {
            PlanStatus::Completed
        } else {
            plan_status(&status)
        },
        priority: fields.get("priority").string(),
    }
}

/// Parses the status of a step in any agent's spelling.
pub fn plan_status(word: &str) -> PlanStatus {
    match word {
        "in_progress" | "inProgress" | "in-progress" | "active" => PlanStatus::InProgress,
        "completed" | "complete" | "done" => PlanStatus::Completed,
        "cancelled" | "canceled" | "deleted" => PlanStatus::Canceled,
        _ => PlanStatus::Pending,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arg_of(category: Category, input: &str) -> String {
        arg(category, Json::parse(input).unwrap())
    }

    proptest::proptest! {
        #[test]
        fn labels_need_no_cleaning(
            pieces in proptest::collection::vec(
                proptest::sample::select(&["a", "bc", " ", " ", "\t", "\u{1b}[1m", "\u{7f}", "é"]),
                0..5,
            ),
        ) {
            let text = pieces.concat();
            proptest::prop_assert_eq!(label(&text), cleaned(&text));
        }
    }

    #[test]
    fn arg_is_the_first_known_field() {
        let read = r#"{"limit":5,"file_path":"src/main.rs","description":"x"}"#;
        assert_eq!(arg_of(Category::Read, read), "src/main.rs");
        assert_eq!(arg_of(Category::Read, r#"{"filePath":"a.rs"}"#), "a.rs");
        let grep = r#"{"path":"src","pattern":"fn main"}"#;
        assert_eq!(arg_of(Category::Search, grep), "fn main");
        assert_eq!(arg_of(Category::Other, grep), "src");
        assert_eq!(
            arg_of(Category::Read, r#"{"file_path":"  ","command":"ls"}"#),
            "ls"
        );
    }

    /// Tools of older versions of Codex, Gemini CLI and Qwen Code.
    #[test]
    fn older_tools_are_known() {
        let read = r#"{"absolute_path":"/p/a.rs","limit":3}"#;
        assert_eq!(arg_of(Category::Read, read), "/p/a.rs");
    }

    #[test]
    fn a_search_within_a_page_names_its_pattern() {
        let find = r#"{"query":"","action":{"type":"find_in_page","url":"https://a.b/c","pattern":"foo"}}"#;
        assert_eq!(arg_of(Category::Fetch, find), "'foo' in https://a.b/c");
        let open = r#"{"action":{"type":"open_page","url":"https://a.b/c"}}"#;
        assert_eq!(arg_of(Category::Fetch, open), "https://a.b/c");
    }

    #[test]
    fn arg_without_a_known_field_is_empty() {
        assert_eq!(arg_of(Category::Other, r#"{"x":1,"file_path":7}"#), "");
        assert_eq!(arg(Category::Other, Json::NULL), "");
    }

    #[test]
    fn arg_is_one_line_of_at_most_40_characters() {
        let long = r#"{"command":"echo  one\n\ttwo three four five six seven eight nine"}"#;
        assert_eq!(
            arg_of(Category::Execute, long),
            "echo one two three four five six seven …"
        );
        assert_eq!(arg_of(Category::Execute, long).chars().count(), 40);
        let escaped = r#"{"command":"\u001b[31mred\u001b[0m \u0007x"}"#;
        assert_eq!(arg_of(Category::Execute, escaped), "red x");
    }

    #[test]
    fn arg_is_read_from_encoded_arguments_and_shell_wrappers() {
        assert_eq!(arg_of(Category::Read, r#""{\"path\":\"a b\"}""#), "a b");
        let wrapped = r#"{"command":"/bin/bash -lc 'ls -la | grep '\\''x'\\'''"}"#;
        assert_eq!(arg_of(Category::Execute, wrapped), "ls -la | grep 'x'");
        assert_eq!(
            arg_of(Category::Execute, r#"{"command":["bash","-lc","ls -la"]}"#),
            "ls -la"
        );
        assert_eq!(
            arg_of(Category::Execute, r#"{"command":["git","log"]}"#),
            "git log"
        );
        assert_eq!(arg_of(Category::Execute, r#"{"cmd":"bash -lc ls"}"#), "ls");
        assert_eq!(
            arg_of(Category::Execute, r#"{"cmd":"bash -c ls -la"}"#),
            "bash -c ls -la"
        );
    }

    #[test]
    fn plan_tools_of_every_agent_give_the_full_list() {
        let todo = r#"{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress","priority":"high"}]}"#;
        let plan = plan("TodoWrite", Json::parse(todo).unwrap()).unwrap();
        assert_eq!(plan.entries[0].status, PlanStatus::Completed);
        assert_eq!(plan.entries[1].priority, "high");
        let steps = r#"{"explanation":"why","plan":[{"step":"a","status":"pending"}]}"#;
        let plan = super::plan("update_plan", Json::parse(steps).unwrap()).unwrap();
        assert_eq!(
            (plan.explanation.as_str(), plan.entries[0].text.as_str()),
            ("why", "a")
        );
        assert!(super::plan("Read", Json::parse(todo).unwrap()).is_none());
    }
}
