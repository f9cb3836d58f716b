//! Output for GitHub Actions logs: bodies of calls become groups, the failure that ended
//! a turn becomes an annotation, and agent output cannot inject workflow commands.
//!
//! Other failures are no annotations: an agent's failed calls are part of its work, and
//! GitHub shows only ten annotations of a step.

use std::io::{self, Write};

use unspool::Event;
use unspool::event::{Body, TurnStatus};
use unspool::sanitize;
use unspool::session::{Entry, Item};

use super::failure::RunFailure;

/// Writes an entry that is laid out already.
pub(super) fn write(entry: &Entry, text: &str, out: &mut impl Write) -> io::Result<()> {
    let is_call = matches!(entry.item, Item::Tool(_) | Item::Edit(_));
    match text.split_once('\n') {
        // The annotation says it.
        _ if matches!(entry.item, Item::TurnEnd(_)) => Ok(()),
        Some((head, body)) if is_call => {
            writeln!(out, "::group::{}", data(head))?;
            lines(body, out)?;
            writeln!(out, "::endgroup::")
        }
        _ => lines(text, out),
    }
}

/// Makes annotations of turns that failed, were stopped or cut off.
#[derive(Default)]
pub(super) struct Annotations {
    agent: String,
    failure: RunFailure,
}

impl Annotations {
    /// Records an event. Returns the annotation if it ended a turn without success, or
    /// is about input that was skipped. An annotation is one line and never wrapped.
    pub(super) fn event(&mut self, event: &Event) -> Option<String> {
        if let Body::Session(session) = &event.body
            && event.agent.is_none()
            && !session.provider.is_empty()
        {
            self.agent.clone_from(&session.provider);
        }
        self.failure.event(event);
        let command = match &event.body {
            Body::TurnEnd(end) if end.status != TurnStatus::Canceled => "error",
            _ => "warning",
        };
        let words = without_colours(&self.failure.take()?);
        let words = data(&sanitize::line(&words));
        let title = match sanitize::line(&self.agent) {
            agent if agent.is_empty() => String::new(),
            agent => format!(" title={}", property(&agent)),
        };
        Some(format!("::{command}{title}::{words}"))
    }
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

/// Escapes a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Escapes the text of a workflow command.
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
        assert_eq!(data("a%\r\nb: c, d\n"), "a%25%0D%0Ab: c, d");
        assert_eq!(property("a%: b, c\nd"), "a%25%3A b%2C c%0Ad");
    }
}
