//! The fixed phrases that the agents print, in one table.

use std::borrow::Cow;

use crate::event::Level;
use crate::event::ToolStatus::{self, Error, Ok, Rejected};

use Mark::{Added, ApiError, Failure, Noise, Note, Output, Tool};

/// The meaning of a fixed phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A message of the agent.
    Note(Level),
    /// A message of the agent that ends the turn as failed.
    Failure(Level),
    /// The explanation below an API error.
    ApiError,
    /// The first line of output that lasts until a question, a prompt or the next
    /// message.
    Output(Level),
    /// Ends output that goes into the chat.
    Added,
    /// A line of one of these tools, or of any tool if none is named.
    Tool(ToolStatus, &'static str),
    /// Debug output.
    Noise,
}

impl Mark {
    /// Returns the level of a message of the agent.
    pub(super) fn level(self) -> Option<Level> {
        match self {
            Note(level) | Failure(level) => Some(level),
            Added => Some(Level::Info),
            _ => None,
        }
    }
}

/// Printed after calls that were refused or failed.
pub(super) const WENT_ON: &str = "Continuing exploration...";

const EDITORS: &str = "ReplaceText ReplaceAll ReplaceLine ReplaceLines InsertBlock IndentLines \
    DeleteBlock DeleteLine DeleteLines ExtractLines UndoChange UpdateTodoList";

/// Each meaning with its phrases; `*` stands for any text. The first one that fits
/// counts.
#[rustfmt::skip]
const MARKS: &[(Mark, &[&str])] = &[
    (Added, &["Added * lines of output to the chat.", "Added * line of output to the chat."]),
    (Failure(Level::Error), &["Empty response received from LLM.*"]),
    (Failure(Level::Warning), &[
        "Only * reflections allowed, stopping.", "Only * tool calls allowed, stopping.",
    ]),
    (Note(Level::Error), &[
        "Error: Command *", "Invalid command: *", "Ambiguous command: *", "Error applying action *",
    ]),
    (Note(Level::Warning), &[
        "Skipping edits to *", "Please answer with one of: *", "Warning: *",
        "Model Settings File Not Found: *", "Response does not appear to be in patch format.*",
        "Could not parse JSON chunk for tool *", "Tool execution interrupted.*",
        "The last commit was not made by aider*", "This is the first commit in the repository.*",
    ]),
    (Note(Level::Info), &[
        "Applied edit to *", "Did not apply edit to *", "Committing *", "Removed: *", "Now at:  *",
        "You can use /undo to undo and discard each *", "Dropping all files from the chat session.*",
        "All chat history cleared.*", "All files dropped and chat history cleared.*",
        "No changes to display since the last message.*", "No more changes to commit.*",
        "Restored previous conversation history.*", "Scraping http*...", "Multiline mode: *",
        "Please provide a URL to scrape.*", "Analytics have been permanently disabled.*",
        "Detected edit blocks, applying changes within Agent...*",
        "Continuing after applying edits...*", WENT_ON,
        "Added * to the chat", "Added * to the chat.", "Added * to read-only files.",
        "Added * (read-only stub).", "Moved * files in the chat", "Removed * from the chat",
        "* is already in the chat as an editable file",
        // The last lines of commands in 1.x.
        "✓ Listed files*", "✓ Processed read-only files*", "✓ Removed files from chat*",
        "✓ Token report generated*", "✓ Command executed successfully*", "✓ Displayed *",
        "✓ Git command executed successfully*", "✓ Successfully undone last*", "✓ No URL provided*",
        "✓ First commit, cannot undo*", "✓ Changes committed successfully*", "✓ Linting completed*",
        "✓ No more changes to commit*", "✓ All chat history cleared.*",
        "✓ Dropped all files and cleared chat history*",
    ]),
    (ApiError, &[
        "The API provider*", "API connection error*", "API key error*", "Insufficient credits*",
    ]),
    (Output(Level::Warning), &["# Fix any *errors below, if possible."]),
    (Output(Level::Error), &["Model * has hit a token limit!"]),
    (Output(Level::Info), &["Running *"]),
    // Lines of tools, first those of 0.8x.
    (Tool(Ok, EDITORS), &["✅ *"]),
    (Tool(Ok, "View ViewFilesAtGlob"), &["📎 *"]),
    (Tool(Ok, "Ls"), &["📋 *"]),
    (Tool(Ok, "MakeEditable"), &["📝 *", "✨ *"]),
    (Tool(Ok, "MakeReadonly"), &["📚 *"]),
    (Tool(Ok, "Remove"), &["🗑️ *"]),
    (Tool(Ok, "ViewFilesMatching ViewFilesAtGlob Grep"), &["🔍 *"]),
    (Tool(Ok, "ViewFilesWithSymbol"), &["🔎 *"]),
    (Tool(Ok, "Thinking"), &["🧠 *"]),
    (Tool(Ok, "Command CommandInteractive"), &["⚙️ Executing non-interactive shell command*"]),
    (Tool(Ok, "CommandInteractive"), &["⚙️ Executing interactive shell command*"]),
    (Tool(Ok, "ShowNumberedContext"), &["Successfully retrieved context for *"]),
    (Tool(Ok, "ListChanges"), &["Recent changes:*"]),
    (Tool(Rejected, "Command CommandInteractive"), &["Skipped execution of shell command*"]),
    // Those of 1.x.
    (Tool(Ok, "ReadFile"), &["✓ Retrieved context for *", "Earlier contents still valid for *"]),
    (Tool(Error, "ReadFile ExploreCode"), &["Errors encountered for *"]),
    (Tool(Ok, "ExploreCode"), &["✓ All queries successful*"]),
    (Tool(Ok, "Grep"), &[
        "⛭ Counting matches with *", "⛭ Executing rg*", "⛭ Executing grep*", "⚙️ Executing rg*",
    ]),
    (Tool(Ok, "Command"), &[
        "⛭ Executing shell command*", "⛭ Starting background command*", "⏱️ Command exceeded *",
    ]),
    (Tool(Ok, "ResourceManager"), &["⛭ Modifying Context*", "🗀 *", "✗ Removed *"]),
    (Tool(Error, "ResourceManager"), &["⚠ File *"]),
    (Tool(Ok, "UndoChange"), &["✓ Undid *"]),
    (Tool(Ok, "Create"), &["✚ Creator extension update*"]),
    // Those of any tool.
    (Tool(Ok, ""), &["⚙️ *", "No changes made: *", "Dry run: Would *"]),
    (Tool(Error, ""), &["⚠️ *"]),
    (Noise, &[
        "Processing...", "Processing /*", "[DEBUG] *", "PROFILE: *", "Repo-map: generated dict with *",
    ]),
];

/// Looks up the fixed phrase in a line.
pub(super) fn mark(line: &str) -> Option<Mark> {
    let line = line.trim_end();
    let first = line.bytes().next()?;
    let fits = |phrase: &&str| {
        let may_fit = phrase
            .bytes()
            .next()
            .is_some_and(|byte| byte == first || byte == b'*');
        may_fit
            && match phrase.split_once('*') {
                Some((start, end)) => line.starts_with(start) && line.ends_with(end),
                None => line == *phrase,
            }
    };
    let is_known = |(_, phrases): &&(Mark, &[&str])| phrases.iter().any(fits);
    let known = MARKS.iter().find(is_known).map(|(mark, _)| *mark);
    known
        .or_else(|| is_commit(line).then_some(Note(Level::Info)))
        .or_else(|| names_failed_tool(line).then_some(Tool(Error, "")))
}

/// Returns the level of a line that is a message of the agent.
pub(super) fn note(line: &str) -> Option<Level> {
    mark(line).and_then(Mark::level)
}

/// `✅ Replaced 5 lines in a.py (change_id: 1a2b3c)`.
pub(super) fn is_change(line: &str) -> bool {
    line.starts_with("✅ ") && line.contains("(change_id: ")
}

/// `Commit 8001b71 message`.
fn is_commit(line: &str) -> bool {
    let rest = line.strip_prefix("Commit ").unwrap_or_default();
    let hash = rest.split_once(' ').map_or("", |(hash, _)| hash);
    hash.len() >= 7 && hash.chars().all(|c| c.is_ascii_hexdigit())
}

/// `Error in View: …`, with or without `ERROR:` before it.
pub(super) fn names_failed_tool(line: &str) -> bool {
    let line = alarm(line).map_or(Cow::Borrowed(line), |(_, text)| text.into());
    let name_before = |end: &str, rest: &str| {
        let name = rest.split_once(end).map_or("", |(name, _)| name);
        !name.is_empty() && !name.contains(' ')
    };
    [
        ("Error in ", ":"),
        ("Error during ", " execution:"),
        ("Malformed JSON arguments in tool ", ":"),
    ]
    .iter()
    .any(|(start, end)| {
        line.strip_prefix(start)
            .is_some_and(|rest| name_before(end, rest))
    }) || line
        .strip_prefix("Executing ")
        .is_some_and(|rest| name_before(" on ", rest) && rest.contains(" failed:"))
}

/// Splits `ERROR: text` and `WARNING: text`.
pub(super) fn alarm(line: &str) -> Option<(Level, String)> {
    let line = untagged(line);
    [("ERROR: ", Level::Error), ("WARNING: ", Level::Warning)]
        .into_iter()
        .find_map(|(word, level)| Some((level, line.strip_prefix(word)?.to_owned())))
}

/// Removes the colour tags around the first word of a line, which are printed
/// where colours could not be: `[blue]Tool Call:[/] x` becomes `Tool Call: x`.
pub(super) fn untagged(line: &str) -> Cow<'_, str> {
    const TAGS: &[&str] = &["bold", "red", "green", "blue", "bright_cyan", "yellow"];
    let tagged = line.strip_prefix('[').and_then(|line| line.split_once(']'));
    let Some((tag, rest)) = tagged.filter(|(tag, _)| TAGS.contains(tag)) else {
        return line.into();
    };
    let end = format!("[/{tag}]");
    let (label, rest) = rest
        .split_once("[/]")
        .or_else(|| rest.split_once(&end))
        .unwrap_or((rest, ""));
    [label, rest].concat().into()
}
