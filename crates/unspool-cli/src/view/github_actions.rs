//! Output for GitHub Actions logs: bodies of calls become groups, errors and
//! warnings become annotations, and agent output cannot inject workflow commands.

use std::io::{self, Write};

use unspool::doc::entry::cut_off;
use unspool::doc::{Style, clean_lines};
use unspool::event::{Level, ToolStatus};
use unspool::output::Output;
use unspool::session::{Entry, Item};
use unspool::tool::error_message;

/// Writes an entry that is laid out already.
pub(super) fn write(entry: &Entry, text: &str, out: &mut impl Write) -> io::Result<()> {
    if let Some((command, message)) = annotation(&entry.item) {
        return writeln!(out, "::{command}::{}", data(&message));
    }
    let is_call = matches!(entry.item, Item::Tool(_) | Item::Edit(_));
    match text.split_once('\n') {
        Some((head, body)) if is_call => {
            if is_failed(&entry.item) {
                warn(head, body, out)?;
            }
            writeln!(out, "::group::{}", data(head))?;
            lines(body, out)?;
            writeln!(out, "::endgroup::")
        }
        _ => {
            if is_failed(&entry.item) {
                warn(text, "", out)?;
            }
            lines(text, out)
        }
    }
}

/// Returns true for a failed call, which is not folded so that it is not missed.
fn is_failed(item: &Item) -> bool {
    let status = match item {
        Item::Tool(tool) => tool.result.as_ref().map(|result| result.status),
        Item::Edit(made) => Some(made.status),
        _ => None,
    };
    matches!(status, Some(ToolStatus::Error | ToolStatus::Rejected))
}

/// Maximum number of body lines in an annotation: five and the number of others.
const REASON: usize = 6;

/// Writes an annotation for a failed call: its heading and the reason, without
/// colours.
fn warn(head: &str, body: &str, out: &mut impl Write) -> io::Result<()> {
    let plain = |line: &str| {
        let line = without_colours(line);
        let lines = clean_lines(line.trim_start_matches(['•', '└', ' ']), Style::default());
        Output::Plain.text(&lines).trim_end().to_owned()
    };
    let lines = std::iter::once(head).chain(body.lines().take(REASON));
    let text = lines.map(plain).collect::<Vec<_>>().join("\n");
    writeln!(out, "::warning::{}", data(&text))
}

/// Removes colour codes. Other escape sequences stay.
fn without_colours(text: &str) -> String {
    const START: &str = "\u{1b}[";
    let is_parameter = |c: char| c.is_ascii_digit() || matches!(c, ';' | ':');
    let mut pieces = text.split(START);
    let mut clean = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.trim_start_matches(is_parameter).strip_prefix('m') {
            Some(rest) => clean.push_str(rest),
            None => clean.extend([START, piece]),
        }
    }
    clean
}

/// Returns the annotation of an entry.
fn annotation(item: &Item) -> Option<(&'static str, String)> {
    match item {
        Item::Notice(notice) => {
            let command = match notice.level {
                Level::Error => "error",
                Level::Warning => "warning",
                Level::Canceled => "notice",
                _ => return None,
            };
            let words = error_message(&notice.text.as_str()).into_owned();
            let lines = clean_lines(&without_colours(&words), Style::default());
            Some((command, Output::Plain.text(&lines)))
        }
        Item::TurnEnd(end) => Some(("error", cut_off(end)?)),
        _ => None,
    }
}

pub(super) fn lines(text: &str, out: &mut impl Write) -> io::Result<()> {
    for line in text.split('\n') {
        writeln!(out, "{}", harmless(line))?;
    }
    Ok(())
}

/// Escapes a line that the runner would execute: one that starts with `::` after
/// optional spaces, or contains `##[`.
pub(crate) fn harmless(line: &str) -> String {
    let line = line.replace("##[", "\\x23#[");
    let words = line.trim_start();
    let (blanks, words) = line.split_at(line.len() - words.len());
    match words.strip_prefix("::") {
        Some(rest) => format!("{blanks}\\x3A:{rest}"),
        None => line,
    }
}

/// Escapes text inside a workflow command.
fn data(text: &str) -> String {
    text.trim_end()
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_workflow_commands() {
        assert_eq!(harmless("  ::error::x"), "  \\x3A:error::x");
        assert_eq!(harmless("##[group]x"), "\\x23#[group]x");
        assert_eq!(harmless("a ##[b] ###[c]"), "a \\x23#[b] #\\x23#[c]");
        assert_eq!(harmless("a :: b"), "a :: b");
        assert_eq!(data("a%\nb\n"), "a%25%0Ab");
    }
}
