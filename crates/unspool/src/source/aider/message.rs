//! The parts of one message of the model: context blocks of the agent before it,
//! reasoning, prose and edit blocks, in order.

use super::edit::{Chat, Finder};
use super::line;
use crate::event::Edit;

/// A part of a message.
#[derive(Debug, PartialEq)]
pub(super) enum Part {
    Reasoning(String),
    Text(String),
    Edits(Vec<Edit>),
    Context(Context),
}

/// A context block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) text: String,
}

impl Context {
    /// Creates a block from its name and the lines inside.
    pub(super) fn new(name: &str, lines: &[String]) -> Self {
        let mut lines = trim(lines);
        let title = lines.first().and_then(|line| line.strip_prefix("## "));
        if title.is_some() {
            lines = trim(lines.get(1..).unwrap_or_default());
        }
        Self {
            name: name.to_owned(),
            title: title.unwrap_or_default().to_owned(),
            text: lines.join("\n"),
        }
    }
}

/// Splits the lines of a message into parts.
pub(super) fn parts(lines: &[String], chat: Chat<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = trim(lines);
    while let Some((context, after)) = context(rest) {
        parts.push(Part::Context(context));
        rest = trim(after);
    }
    if let Some((reasoning, after)) = reasoning(rest) {
        push_text(&mut parts, reasoning, Part::Reasoning);
        rest = after;
    }
    answer(rest, chat, &mut parts);
    parts
}

/// Splits a context block off the start: the agents print theirs before the
/// message, with a known name or under a heading.
fn context(lines: &[String]) -> Option<(Context, &[String])> {
    let name = line::context(lines.first()?)?;
    let headed = lines.get(1).is_some_and(|line| line.starts_with("## "));
    if !headed && !line::is_agent_context(name) {
        return None;
    }
    let end = lines.iter().position(|line| line.trim() == "</context>")?;
    let inside = lines.get(1..end)?;
    Some((Context::new(name, inside), lines.get(end + 1..)?))
}

/// Tags around reasoning, where they were not replaced.
const TAGS: &[&str] = &[
    "think>",
    "thinking>",
    "thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>",
];

fn is_tag(line: &str, start: &str) -> bool {
    line.strip_prefix(start)
        .is_some_and(|tag| TAGS.contains(&tag))
}

/// Splits off the reasoning, which comes first, below a line of 14 dashes. With
/// the heading THINKING it ends at 12 dashes and ANSWER, without at 10 dashes; a
/// closing tag that was not replaced ends both. It may have no end at all.
/// Rendered markdown has a rule instead of the dashes.
fn reasoning(lines: &[String]) -> Option<(&[String], &[String])> {
    let first = lines.first()?.trim_end();
    let ruled = is_dashes(first, 14);
    if is_answer_heading(first) {
        return Some((&[], lines.get(1..)?));
    }
    let heading = lines.iter().take(3).position(|line| is_thinking(line));
    let start = match heading {
        _ if is_tag(first, "<") => 1,
        Some(index) if ruled || index == 0 => index + 1,
        _ if first.len() == 14 && ruled => 1,
        _ => return None,
    };
    let body = lines.get(start..)?;
    let end = (0..body.len()).find_map(|index| Some((index, closes(body, index, heading)?)));
    let (end, after) = end.unwrap_or((body.len(), body.len()));
    Some((body.get(..end)?, body.get(after..)?))
}

/// Returns true for the heading of reasoning.
pub(super) fn is_thinking(line: &str) -> bool {
    matches!(line.trim(), "► **THINKING**" | "► THINKING")
}

fn is_answer_heading(line: &str) -> bool {
    matches!(line.trim(), "► **ANSWER**" | "► ANSWER")
}

/// Returns where the answer starts, if the reasoning ends with this line.
fn closes(lines: &[String], index: usize, heading: Option<usize>) -> Option<usize> {
    let line = lines.get(index)?.trim_end();
    if is_tag(line, "</") || (heading.is_none() && line == "----------") {
        return Some(index + 1);
    }
    heading?;
    let is_heading = |line: &String| is_answer_heading(line);
    if is_dashes(line, 12) {
        let below = lines.get(index + 1..)?.iter().take(2);
        let found = below.clone().position(is_heading)?;
        let blank = below.take(found).all(|line| line.trim().is_empty());
        return blank.then_some(index + found + 2);
    }
    is_heading(lines.get(index)?).then_some(index + 1)
}

/// Returns true for a line of so many dashes, or a rule.
pub(super) fn is_dashes(line: &str, count: usize) -> bool {
    let dashes = line.len() == count || line.len() >= 30;
    (dashes && line.chars().all(|c| c == '-')) || line::is_rule(line)
}

fn answer(lines: &[String], chat: Chat<'_>, parts: &mut Vec<Part>) {
    let mut from = 0;
    let mut path = String::new();
    let mut finder = Finder::new(lines, chat);
    while let Some(block) = finder.next(from, &path) {
        let before = lines.get(from..block.begin).unwrap_or_default();
        push_text(parts, before, Part::Text);
        if let Some(edit) = block.edits.last() {
            path.clone_from(&edit.path);
        }
        parts.push(Part::Edits(block.edits));
        from = block.end;
    }
    push_text(parts, lines.get(from..).unwrap_or_default(), Part::Text);
}

fn push_text(parts: &mut Vec<Part>, lines: &[String], part: fn(String) -> Part) {
    let lines = trim(lines);
    if !lines.is_empty() {
        parts.push(part(lines.join("\n")));
    }
}

/// Removes the empty lines at both ends.
pub(super) fn trim(lines: &[String]) -> &[String] {
    let text = |line: &String| !line::is_blank(line);
    let Some(first) = lines.iter().position(text) else {
        return &[];
    };
    let last = lines.iter().rposition(text).unwrap_or(first);
    lines.get(first..=last).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Part> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        parts(&lines, Chat::default())
    }

    #[test]
    fn every_form_of_reasoning_is_split_off() {
        let both = |text: &str, reasoning: &str, answer: &str| {
            let expected = [
                Part::Reasoning(reasoning.to_owned()),
                Part::Text(answer.to_owned()),
            ];
            assert_eq!(read(text), expected, "{text}");
        };
        both(
            "--------------\n► **THINKING**\n\na\n----------\nb\n\n------------\n► **ANSWER**\n\nc\n",
            "a\n----------\nb",
            "c",
        );
        both(
            "--------------\na\n------------\nb\n----------\n\nc\n",
            "a\n------------\nb",
            "c",
        );
        both(
            "--------------\n► **THINKING**\n\na\n</think>\n\nc\n",
            "a",
            "c",
        );
        assert_eq!(
            read("--------------\nShort.\n"),
            [Part::Reasoning("Short.".into())]
        );
    }

    #[test]
    fn dashes_in_the_middle_are_text() {
        let text = "Title\n--------------\n► **THINKING**\nfake";
        assert_eq!(read(text), [Part::Text(text.to_owned())]);
    }

    #[test]
    fn context_blocks_are_split_off_the_start() {
        let text = "<context name=\"gitStatus\">\n## Git Repository Status\n\nCurrent branch: main\n</context>\nHi.";
        assert_eq!(
            read(text),
            [
                Part::Context(Context {
                    name: "gitStatus".into(),
                    title: "Git Repository Status".into(),
                    text: "Current branch: main".into(),
                }),
                Part::Text("Hi.".into())
            ]
        );
        let own = "<context name=\"todo\">\nfake\n</context>\nEnd.";
        assert_eq!(read(own), [Part::Text(own.to_owned())]);
    }

    #[test]
    fn prose_around_edits_stays_in_order() {
        let text = "A\n\na.py\n```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n\nB";
        let kinds: Vec<_> = read(text)
            .iter()
            .map(|part| matches!(part, Part::Edits(_)))
            .collect();
        assert_eq!(kinds, [false, true, false]);
    }
}
