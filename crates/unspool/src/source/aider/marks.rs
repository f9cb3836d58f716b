//! The fixed phrases that the agents print, in one table.

use std::borrow::Cow;

use crate::event::Level;
use crate::event::ToolStatus::{self, Error, Ok, Rejected};

use Mark::{Added, ApiError, Cut, Failure, Noise, Note, Output, Tool};

/// The meaning of a fixed phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A message of the agent.
    Note(Level),
    /// A message without its last word, which is on the next line.
    Cut(&'static str),
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
            Cut(_) | Added => Some(Level::Info),
            _ => None,
        }
    }
}

/// Printed after calls that were refused or failed.
pub(super) const WENT_ON: &str = "Continuing exploration...";

const EDITORS: &str = "ReplaceText ReplaceAll ReplaceLine ReplaceLines InsertBlock IndentLines \
    DeleteBlock DeleteLine DeleteLines ExtractLines UndoChange UpdateTodoList";

/// Start and end of a line, and its meaning. The first row that fits counts.
#[rustfmt::skip]
const MARKS: &[(&str, &str, Mark)] = &[
    ("Error: Command ", "", Note(Level::Error)),
    ("Invalid command: ", "", Note(Level::Error)),
    ("Ambiguous command: ", "", Note(Level::Error)),
    ("Error applying action ", "", Note(Level::Error)),
    ("Empty response received from LLM.", "", Failure(Level::Error)),
    ("Only ", " reflections allowed, stopping.", Failure(Level::Warning)),
    ("Only ", " tool calls allowed, stopping.", Failure(Level::Warning)),
    ("Skipping edits to ", "", Note(Level::Warning)),
    ("Please answer with one of: ", "", Note(Level::Warning)),
    ("Warning: ", "", Note(Level::Warning)),
    ("Model Settings File Not Found: ", "", Note(Level::Warning)),
    ("Response does not appear to be in patch format.", "", Note(Level::Warning)),
    ("Could not parse JSON chunk for tool ", "", Note(Level::Warning)),
    ("Tool execution interrupted.", "", Note(Level::Warning)),
    ("The last commit was not made by aider", "", Note(Level::Warning)),
    ("This is the first commit in the repository.", "", Note(Level::Warning)),
    ("Applied edit to ", "", Note(Level::Info)),
    ("Did not apply edit to ", "", Note(Level::Info)),
    ("Committing ", "", Note(Level::Info)),
    ("You can use /undo to undo and discard each ", "", Note(Level::Info)),
    ("Removed: ", "", Note(Level::Info)),
    ("Now at:  ", "", Note(Level::Info)),
    ("Dropping all files from the chat session.", "", Note(Level::Info)),
    ("All chat history cleared.", "", Note(Level::Info)),
    ("All files dropped and chat history cleared.", "", Note(Level::Info)),
    ("No changes to display since the last message.", "", Note(Level::Info)),
    ("No more changes to commit.", "", Note(Level::Info)),
    ("Restored previous conversation history.", "", Note(Level::Info)),
    ("Detected edit blocks, applying changes within Agent...", "", Note(Level::Info)),
    ("Continuing after applying edits...", "", Note(Level::Info)),
    (WENT_ON, "", Note(Level::Info)),
    ("Please provide a URL to scrape.", "", Note(Level::Info)),
    ("Multiline mode: ", "", Note(Level::Info)),
    ("Analytics have been permanently disabled.", "", Note(Level::Info)),
    ("Scraping http", "...", Note(Level::Info)),
    ("Added ", " lines of output to the chat.", Added),
    ("Added ", " line of output to the chat.", Added),
    ("Added ", " to the chat", Note(Level::Info)),
    ("Added ", " to the chat.", Note(Level::Info)),
    ("Added ", " to read-only files.", Note(Level::Info)),
    ("Added ", " (read-only stub).", Note(Level::Info)),
    ("Moved ", " files in the chat", Note(Level::Info)),
    ("Moved ", " files in the", Cut("chat")),
    ("Removed ", " from the chat", Note(Level::Info)),
    ("Removed ", " from the", Cut("chat")),
    ("", " is already in the chat as an editable file", Note(Level::Info)),
    ("", " is already in the chat as an editable", Cut("file")),
    // The last lines of commands in 1.x.
    ("✓ Listed files", "", Note(Level::Info)),
    ("✓ Processed read-only files", "", Note(Level::Info)),
    ("✓ Removed files from chat", "", Note(Level::Info)),
    ("✓ Token report generated", "", Note(Level::Info)),
    ("✓ Command executed successfully", "", Note(Level::Info)),
    ("✓ Git command executed successfully", "", Note(Level::Info)),
    ("✓ Successfully undone last", "", Note(Level::Info)),
    ("✓ First commit, cannot undo", "", Note(Level::Info)),
    ("✓ Changes committed successfully", "", Note(Level::Info)),
    ("✓ No more changes to commit", "", Note(Level::Info)),
    ("✓ Linting completed", "", Note(Level::Info)),
    ("✓ Displayed ", "", Note(Level::Info)),
    ("✓ All chat history cleared.", "", Note(Level::Info)),
    ("✓ Dropped all files and cleared chat history", "", Note(Level::Info)),
    ("✓ No URL provided", "", Note(Level::Info)),
    ("The API provider", "", ApiError),
    ("API connection error", "", ApiError),
    ("API key error", "", ApiError),
    ("Insufficient credits", "", ApiError),
    ("# Fix any ", "errors below, if possible.", Output(Level::Warning)),
    ("Model ", " has hit a token limit!", Output(Level::Error)),
    ("Running ", "", Output(Level::Info)),
    // Lines of tools, first those of 0.8x.
    ("✅ ", "", Tool(Ok, EDITORS)),
    ("📎 ", "", Tool(Ok, "View ViewFilesAtGlob")),
    ("📋 ", "", Tool(Ok, "Ls")),
    ("📝 ", "", Tool(Ok, "MakeEditable")),
    ("📚 ", "", Tool(Ok, "MakeReadonly")),
    ("🗑️ ", "", Tool(Ok, "Remove")),
    ("🔍 ", "", Tool(Ok, "ViewFilesMatching ViewFilesAtGlob Grep")),
    ("🔎 ", "", Tool(Ok, "ViewFilesWithSymbol")),
    ("🧠 ", "", Tool(Ok, "Thinking")),
    ("✨ ", "", Tool(Ok, "MakeEditable")),
    ("⚙️ Executing rg", "", Tool(Ok, "Grep")),
    ("⚙️ Executing non-interactive shell command", "", Tool(Ok, "Command CommandInteractive")),
    ("⚙️ Executing interactive shell command", "", Tool(Ok, "CommandInteractive")),
    ("⚙️ ", "", Tool(Ok, "")),
    ("⚠️ ", "", Tool(Error, "")),
    ("Successfully retrieved context for ", "", Tool(Ok, "ShowNumberedContext")),
    ("Recent changes:", "", Tool(Ok, "ListChanges")),
    ("No changes made: ", "", Tool(Ok, "")),
    ("Dry run: Would ", "", Tool(Ok, "")),
    ("Skipped execution of shell command", "", Tool(Rejected, "Command CommandInteractive")),
    // Those of 1.x.
    ("✓ Retrieved context for ", "", Tool(Ok, "ReadFile")),
    ("Earlier contents still valid for ", "", Tool(Ok, "ReadFile")),
    ("Errors encountered for ", "", Tool(Error, "ReadFile ExploreCode")),
    ("⛭ Counting matches with ", "", Tool(Ok, "Grep")),
    ("⛭ Executing rg", "", Tool(Ok, "Grep")),
    ("⛭ Executing grep", "", Tool(Ok, "Grep")),
    ("✓ All queries successful", "", Tool(Ok, "ExploreCode")),
    ("⛭ Executing shell command", "", Tool(Ok, "Command")),
    ("⛭ Starting background command", "", Tool(Ok, "Command")),
    ("⏱️ Command exceeded ", "", Tool(Ok, "Command")),
    ("⛭ Modifying Context", "", Tool(Ok, "ResourceManager")),
    ("🗀 ", "", Tool(Ok, "ResourceManager")),
    ("✗ Removed ", "", Tool(Ok, "ResourceManager")),
    ("⚠ File ", "", Tool(Error, "ResourceManager")),
    ("✓ Undid ", "", Tool(Ok, "UndoChange")),
    ("✚ Creator extension update", "", Tool(Ok, "Create")),
    ("Processing...", "", Noise),
    ("Processing /", "", Noise),
    ("[DEBUG] ", "", Noise),
    ("PROFILE: ", "", Noise),
    ("Repo-map: generated dict with ", "", Noise),
];

/// Looks up the fixed phrase in a line.
pub(super) fn mark(line: &str) -> Option<Mark> {
    let line = line.trim_end();
    let fits = |start: &str, end: &str| line.starts_with(start) && line.ends_with(end);
    let known = MARKS.iter().find(|(start, end, _)| fits(start, end));
    let commit = || is_commit(line).then_some(Note(Level::Info));
    let failure = || names_failed_tool(line).then_some(Tool(Error, ""));
    known
        .map(|(_, _, mark)| *mark)
        .or_else(commit)
        .or_else(failure)
}

/// Returns the level of a line that is a message of the agent.
pub(super) fn note(line: &str) -> Option<Level> {
    mark(line).and_then(Mark::level)
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
