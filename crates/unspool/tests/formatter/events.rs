//! Formats lines of an agent and compares the result.

use serde_json::{Value, json};
use unspool::event::Body;
use unspool::formatter::{Config, Formatter};
use unspool::{Reader, ReaderOptions};

use crate::markup::{self, WHITE_ON_BLACK};

pub(crate) const CODALOTL: &str = "codalotl";
pub(crate) const OWN: &str = "unspool";

/// Returns the text of each line; skips empty texts and ends of turns.
pub(crate) fn texts(config: Config, provider: &str, lines: &str, width: usize) -> Vec<String> {
    let mut formatter = Formatter::new(config);
    let mut reader = Reader::with_options(
        ReaderOptions::default().with_from(unspool::source::provider(provider)),
    );
    reader.push(lines.as_bytes());
    reader.push(b"\n");
    reader.finish();
    reader
        .events()
        .filter(|event| !matches!(event.body, Body::TurnEnd(_)))
        .map(|event| formatter.format_event(&event, width))
        .filter(|text| !text.is_empty())
        .collect()
}

pub(crate) fn plain() -> Config {
    Config::default().with_plain_text(true)
}

/// Checks the texts of the lines, both with colours (as markup) and plain.
#[track_caller]
pub(crate) fn shows(provider: &str, lines: &str, width: usize, expected: &[&str]) {
    let coloured = texts(Config::default(), provider, lines, width);
    let marked: Vec<String> = coloured
        .iter()
        .map(|text| markup::of(text, &WHITE_ON_BLACK))
        .collect();
    assert_same(&marked, expected);
    let expected: Vec<String> = expected.iter().map(|text| markup::removed(text)).collect();
    assert_same(&texts(plain(), provider, lines, width), &expected);
}

/// Checks the text of one line of codalotl at 120 columns.
#[track_caller]
pub(crate) fn shows_line(line: &str, expected: &str) {
    shows(CODALOTL, line, 120, &[expected]);
}

/// Checks a call while it runs and when it is finished.
#[track_caller]
pub(crate) fn shows_call(lines: &str, expected: [&str; 2]) {
    shows(CODALOTL, lines, 120, &expected);
}

/// Fails with a readable diff of both texts.
#[track_caller]
pub(crate) fn assert_same<A: AsRef<str>, B: AsRef<str>>(shown: &[A], expected: &[B]) {
    let shown: Vec<&str> = shown.iter().map(AsRef::as_ref).collect();
    let expected: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
    assert!(
        shown == expected,
        "shown:\n{}\nexpected:\n{}\n",
        shown.join("\n~~~\n"),
        expected.join("\n~~~\n")
    );
}

/// Returns a line of codalotl's root agent.
pub(crate) fn line(kind: &str, field: &str, text: &str) -> String {
    json!({"type": kind, "agent": {"id": "a", "depth": 0}, field: text}).to_string()
}

pub(crate) fn answer(text: &str) -> String {
    line("assistant_text", "content", text)
}

pub(crate) fn reasoning(text: &str) -> String {
    line("assistant_reasoning", "content", text)
}

/// A tool call and its result.
pub(crate) struct Call {
    depth: u32,
    name: String,
    input: String,
}

impl Call {
    pub(crate) fn new(name: &str, input: &Value) -> Self {
        Self::with_text(name, &input.to_string())
    }

    /// Creates a call whose input need not be JSON.
    pub(crate) fn with_text(name: &str, input: &str) -> Self {
        Self {
            depth: 0,
            name: name.to_owned(),
            input: input.to_owned(),
        }
    }

    pub(crate) fn depth(self, depth: u32) -> Self {
        Self { depth, ..self }
    }

    pub(crate) fn announced(&self) -> String {
        json!({
            "type": "tool_call", "agent": {"id": "a", "depth": self.depth},
            "tool": {"call_id": "1", "name": self.name, "type": "function_call", "input": self.input},
        })
        .to_string()
    }

    pub(crate) fn succeeded(&self, output: &str) -> String {
        self.ended(output, false)
    }

    pub(crate) fn failed(&self, output: &str) -> String {
        self.ended(output, true)
    }

    /// Returns both lines.
    fn ended(&self, output: &str, is_error: bool) -> String {
        let result = json!({
            "type": "tool_complete", "agent": {"id": "a", "depth": self.depth},
            "tool": {"call_id": "1", "name": self.name, "type": "function_call"},
            "result": {"output": output, "is_error": is_error},
        });
        format!("{}\n{result}", self.announced())
    }
}
