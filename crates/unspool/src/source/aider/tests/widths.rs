//! The same runs on terminals of other widths.

use std::fs;
use std::path::Path;

use super::*;
use crate::source::aider::screen::Screen;
use crate::source::aider::{line, question};

/// Runs whose console lines are wrapped at 80 columns. Their paths were not
/// shortened after that.
const RUNS: &[&str] = &[
    "ce-agent-parity",
    "ce-agent-decline",
    "ce-agent-parallel",
    "ce-agent-plan",
    "ce-mcp",
    "ce-agent-pty-plain",
    "ce-agent-pty-pretty",
    "ce-agent-pty-fancy",
    "ce-mcp-pty-pretty",
    "ce088-agent-parity",
    "ce088-agent-decline",
    "ce088-agent-parallel",
    "ce088-agent-plan",
    "ce088-mcp",
    "ce088-agent-pty-plain",
    "ce088-agent-pty-pretty",
    "ce088-agent-pty-fancy",
    "ce088-mcp-pty-pretty",
    "ce-mentions",
    "ce-diff-pty-pretty",
    "ce-architect",
];

fn recording(name: &str) -> String {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/aider");
    fs::read_to_string(corpus.join(name).join(format!("{name}.txt"))).unwrap()
}

/// Returns the lines that a terminal shows.
fn rows(text: &str) -> Vec<String> {
    let mut screen = Screen::default();
    let mut rows = Vec::new();
    for line in text.split_inclusive('\n') {
        let ended = line.strip_suffix('\n');
        let line = ended.unwrap_or(line);
        rows.extend(screen.line(line.trim_end_matches('\r'), ended.is_some()));
    }
    rows.extend(screen.finish());
    rows
}

/// Undoes the wrapping at 80 columns.
fn unwrapped(rows: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut is_cut = false;
    for row in rows {
        match lines.last_mut() {
            Some(open) if is_cut && !row.trim().is_empty() => open.push_str(row),
            _ => lines.push(row.clone()),
        }
        is_cut = row.ends_with(' ') && !row.ends_with("]: ") && !row.ends_with("> ");
    }
    lines
}

/// Returns true for a prompt with the words of the person, which the agent does not
/// print.
fn is_typed(line: &str) -> bool {
    let mode = line.split_once("> ").map(|(mode, _)| mode);
    mode.is_some_and(|mode| mode.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
}

/// Wraps a line as the agents do: a line keeps the blank before the next word.
fn wrapped(line: &str, width: usize) -> String {
    if line::is_rule(line) {
        return "─".repeat(width);
    }
    let mut wrapped = String::new();
    let mut column = 0;
    for word in line.split_inclusive(' ') {
        let length = word.trim_end().chars().count();
        if column > 0 && column + length > width && !word.trim().is_empty() {
            wrapped.push('\n');
            column = 0;
        }
        let mut chars: Vec<char> = word.chars().collect();
        while chars.len() > width && length > width {
            let rest = chars.split_off(width);
            wrapped.extend(chars);
            wrapped.push('\n');
            chars = rest;
        }
        column += chars.len();
        wrapped.extend(chars);
    }
    let lines = wrapped
        .split('\n')
        .map(|line| match line.strip_suffix(' ') {
            Some(full) if full.chars().count() >= width => full,
            _ => line,
        });
    lines.collect::<Vec<_>>().join("\n")
}

/// Calls, questions and results, without the blanks in which they differ.
fn happened(name: &str, text: &str) -> Vec<String> {
    let joined = |text: &str| text.split_whitespace().collect::<String>();
    let events = read(text);
    let happened = events.iter().filter_map(|event| match &event.body {
        Body::ToolUse(call) => {
            let input = call.input.as_ref().map_or("", |input| input.get());
            Some(format!(
                "{} {}",
                call.name,
                joined(&input.replace("\\n", ""))
            ))
        }
        Body::Prompt(prompt) => Some(format!("{prompt:?}")),
        Body::ToolResult(result) => {
            // 0.88 prints the output of programs, whose start no mark shows.
            let is_own = name.starts_with("ce-");
            let output = joined(&result.output.to_string());
            let output = if is_own { output.as_str() } else { "" };
            Some(format!("{} {:?} {output}", result.id, result.status))
        }
        Body::Plan(plan) => Some(format!("{plan:?}")),
        _ => None,
    });
    happened.collect()
}

#[test]
fn calls_questions_and_results_do_not_depend_on_the_width() {
    let mut wrong = Vec::new();
    for name in RUNS {
        let text = recording(name);
        let is_terminal = name.contains("-pty-");
        let rows = if is_terminal {
            rows(&text)
        } else {
            text.lines().map(str::to_owned).collect()
        };
        let lines = unwrapped(&rows);
        let end = if is_terminal { "\r\n" } else { "\n" };
        let expected = happened(name, &text);
        assert!(!expected.is_empty(), "{name}");
        for width in [40, 60, 100, 132] {
            let wrap = |line: &String| match question::end(line) {
                _ if is_typed(line) => line.clone(),
                // On a pipe questions are not wrapped.
                Some(end) if !is_terminal => {
                    let (asked, rest) = line.split_at(end);
                    [asked, &wrapped(rest, width)].concat()
                }
                _ => match line::spinner(line) {
                    Some((_, rest)) => {
                        let (spinner, rest) = line.split_at(line.len() - rest.len());
                        [spinner, &wrapped(rest, width)].concat()
                    }
                    None => wrapped(line, width),
                },
            };
            let narrow: String = lines.iter().map(|line| wrap(line) + "\n").collect();
            let narrow = narrow.replace('\n', end);
            let found = happened(name, &narrow);
            let mut pairs = found.iter().zip(&expected);
            let differs = pairs.find(|(found, expected)| found != expected);
            if found != expected {
                wrong.push(format!("{name} at {width}: {differs:#?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
