//! The agents' own messages: notices, warnings, errors, and what is no
//! message at all.

use super::untagged;
use crate::event::Level;

/// The agent's own messages, each on a line of its own, with their level.
pub(in crate::source::aider) fn note(line: &str) -> Option<Level> {
    let line = line.trim_end();
    let is = |list: &[&str]| list.iter().any(|start| line.starts_with(start));
    if is(ERRORS) {
        Some(Level::Error)
    } else if is(WARNINGS) || is_limit(line) {
        Some(Level::Warning)
    } else if is(NOTES)
        || is_success(line)
        || is_commit(line)
        || is_chat_change(line)
        || is_scraping(line)
    {
        Some(Level::Info)
    } else {
        None
    }
}

const ERRORS: &[&str] = &[
    "Error: Command ",
    "Invalid command: ",
    "Ambiguous command: ",
    "Empty response received from LLM.",
    "Error applying action ",
];

const WARNINGS: &[&str] = &[
    "Skipping edits to ",
    "Please answer with one of: ",
    "Warning: ",
    "Model Settings File Not Found: ",
    "Response does not appear to be in patch format.",
    "Could not parse JSON chunk for tool ",
    "Tool execution interrupted.",
    "The last commit was not made by aider",
    "This is the first commit in the repository.",
];

/// What is said after calls that were refused or came to nothing.
pub(in crate::source::aider) const WENT_ON: &str = "Continuing exploration...";

const NOTES: &[&str] = &[
    "Applied edit to ",
    "Did not apply edit to ",
    "Committing ",
    "You can use /undo to undo and discard each ",
    "Removed: ",
    "Now at:  ",
    "Dropping all files from the chat session.",
    "All chat history cleared.",
    "All files dropped and chat history cleared.",
    "No changes to display since the last message.",
    "No more changes to commit.",
    "Restored previous conversation history.",
    "Detected edit blocks, applying changes within Agent...",
    "Continuing after applying edits...",
    WENT_ON,
    "Please provide a URL to scrape.",
    "Multiline mode: ",
    "Analytics have been permanently disabled.",
];

/// A limit that ends the turn.
pub(in crate::source::aider) fn is_limit(line: &str) -> bool {
    line.starts_with("Only ")
        && (line.ends_with(" reflections allowed, stopping.")
            || line.ends_with(" tool calls allowed, stopping."))
}

/// `Commit 8001b71 message`.
fn is_commit(line: &str) -> bool {
    let hash = line
        .strip_prefix("Commit ")
        .and_then(|rest| rest.split_once(' '))
        .map_or("", |(hash, _)| hash);
    hash.len() >= 7 && hash.chars().all(|c| c.is_ascii_hexdigit())
}

/// `Scraping https://example.com...`.
fn is_scraping(line: &str) -> bool {
    let address = line.strip_prefix("Scraping ").unwrap_or_default();
    address.starts_with("http") && !address.contains(' ')
}

/// Files that come and go.
fn is_chat_change(line: &str) -> bool {
    let starts = ["Added ", "Removed ", "Moved "]
        .iter()
        .any(|start| line.starts_with(start));
    let ends = [
        " to the chat",
        " to the chat.",
        " to read-only files.",
        " from the chat",
        " files in the chat",
        " from the",
        " in the",
        " (read-only stub).",
    ]
    .iter()
    .any(|end| line.ends_with(end));
    (starts && ends)
        || line.ends_with(" is already in the chat as an editable")
        || line.ends_with(" is already in the chat as an editable file")
}

/// The word that a message lacks when it was cut before its last one.
pub(in crate::source::aider) fn missing_word(line: &str) -> Option<&'static str> {
    [
        (" is already in the chat as an editable", "file"),
        (" from the", "chat"),
        (" files in the", "chat"),
    ]
    .into_iter()
    .find(|(end, _)| line.trim_end().ends_with(end))
    .map(|(_, word)| word)
}

/// The closing lines of commands in aider-ce 1.x.
fn is_success(line: &str) -> bool {
    const DONE: &[&str] = &[
        "Listed files",
        "Processed read-only files",
        "Removed files from chat",
        "Token report generated",
        "Command executed successfully",
        "Git command executed successfully",
        "Successfully undone last",
        "First commit, cannot undo",
        "Changes committed successfully",
        "No more changes to commit",
        "Linting completed",
        "Displayed repository map",
        "Displayed announcements",
        "All chat history cleared.",
        "Dropped all files and cleared chat history",
        "No URL provided",
    ];
    line.strip_prefix("✓ ")
        .is_some_and(|text| DONE.iter().any(|done| text.starts_with(done)))
}

/// How many lines of output went into the chat.
pub(in crate::source::aider) fn is_output_note(line: &str) -> bool {
    let line = line.trim_end();
    line.starts_with("Added ")
        && (line.ends_with(" lines of output to the chat.")
            || line.ends_with(" line of output to the chat."))
}

/// Messages that say `ERROR:` or `WARNING:` themselves, without the word.
pub(in crate::source::aider) fn alarm(line: &str) -> Option<(Level, String)> {
    let line = untagged(line);
    [("ERROR: ", Level::Error), ("WARNING: ", Level::Warning)]
        .into_iter()
        .find_map(|(word, level)| Some((level, line.strip_prefix(word)?.to_owned())))
}

/// What the agents print while they debug themselves, and the two words that
/// aider-ce puts around a turn: nothing is said in them.
pub(in crate::source::aider) fn is_noise(line: &str) -> bool {
    let line = line.trim_end();
    line == "Processing..."
        || line.starts_with("[DEBUG] ")
        || line.starts_with("PROFILE: ")
        || line.starts_with("Processing /")
        || line.starts_with("Repo-map: generated dict with ")
}
