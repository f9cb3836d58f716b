//! Messages of a tab, and agent output as plain text.

use std::path::PathBuf;

use jiff::Timestamp;
use unspool::doc::capture;
use unspool::sanitize;

use crate::prompt::content::Reason;
use unspool_acp::Exit;

/// Number of lines of an agent's error output to show.
const LAST: usize = 8;

/// Interprets output written for a terminal and returns its text.
pub(super) fn printed(text: &str) -> String {
    let lines = capture::lines(text).into_iter();
    let lines = lines.map(|line| line.into_iter().map(|span| span.text).collect::<String>());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns output as a single line of plain text.
pub(super) fn printed_line(text: &str) -> String {
    printed(text.trim()).replace('\n', " ").trim().to_owned()
}

/// Returns the last lines of output as plain text.
pub(super) fn last_printed(text: &str) -> String {
    let text = printed(text);
    let lines: Vec<&str> = text.trim().lines().collect();
    let first = lines.len().saturating_sub(LAST);
    lines.get(first..).unwrap_or_default().join("\n")
}

/// Describes the exit of an agent.
pub(super) fn ended(name: &str, exit: &Exit) -> String {
    match (exit.code, exit.signal) {
        (Some(code @ 1..), _) => format!("{name} exited with status {code}."),
        (None, Some(signal)) => format!("{name} was killed by signal {signal}."),
        _ => format!("{name} exited."),
    }
}

/// Returns true if an error message gives no cause.
pub(super) fn is_vague(message: &str) -> bool {
    const WORDS: [&str; 6] = [
        "closed",
        "internal error",
        "exited",
        "terminated",
        "disconnected",
        "unknown error",
    ];
    let message = message.trim().to_lowercase();
    message.is_empty() || WORDS.iter().any(|word| message.contains(word))
}

/// Returns true if a failed request leaves no session, so that only a restart
/// helps.
pub(super) fn leaves_no_session(what: &str) -> bool {
    matches!(
        what,
        "initialize" | "session/new" | "session/load" | "session/resume"
    )
}

/// Explains which mentioned files are not sent, and the remedy.
pub(super) fn left_out(files: &[(PathBuf, Reason)]) -> Option<String> {
    let mut words: Vec<String> = files.iter().filter_map(reason).collect();
    let is_outside = |reason: &Reason| matches!(reason, Reason::Outside | Reason::Link);
    if files.iter().any(|(_, reason)| is_outside(reason)) {
        words.push("Copy it into the project, or paste the relevant part.".to_owned());
    }
    (!words.is_empty()).then(|| words.join(" "))
}

fn reason((path, reason): &(PathBuf, Reason)) -> Option<String> {
    let path = sanitize::line(&path.to_string_lossy()).into_owned();
    match reason {
        // It may not have been meant as a file.
        Reason::Missing => None,
        Reason::Outside => Some(format!("{path} was not sent: it is outside the project.")),
        Reason::Link => Some(format!(
            "{path} was not sent: a symbolic link leads outside the project."
        )),
        Reason::Unreadable(kind) => Some(format!("{path} was not sent: {kind}.")),
    }
}

/// Describes a failed request.
pub(super) fn failed_request(what: &str) -> &str {
    match what {
        "initialize" => "The connection to the agent failed",
        "authenticate" => "The login failed",
        "session/new" => "No session could be opened",
        "session/load" | "session/resume" => "The session could not be opened",
        "session/prompt" => "The agent could not answer",
        "session/set_mode" => "The mode could not be set",
        "session/set_config_option" | "session/set_model" => "The setting could not be changed",
        "session/list" => "The sessions could not be listed",
        "record" => "The conversation is not recorded",
        other => other,
    }
}

/// Returns a unique file name for a recording.
pub(super) fn file_name(agent: &str, tab: u64) -> String {
    let time = Timestamp::now().strftime("%Y%m%dT%H%M%S");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let agent: String = agent.chars().filter(|c| is_plain(*c)).take(40).collect();
    format!("{time}-{agent}-{}-{tab}.jsonl", std::process::id())
}
