//! The printed arguments of a tool call: the model's JSON, or one by one under
//! their names.

use std::borrow::Cow;

use serde_json::Value;

use crate::event::RawJson;
use crate::source::aider::wrap::{self, Columns};
use crate::source::aider::{marks, message};

/// Names of arguments above their value.
const BLOCK_KEYS: &str = "file_path|diff|start_line|end_line|new_content|content|position|\
    find_text|replace_text|line_number|after_pattern|before_pattern|occurrence|near_context|\
    change_id|dry_run|auto_indent|use_regex|replacement|deletion|insertion|Thoughts|Summary|Wait|\
    Command|Stdin|Code|message|config|Done|Remaining|delegation";

/// Names of arguments on the line of their value.
const INLINE_KEYS: &str = "range|search|investigate|find_references|Options|Background Key|Action|\
    create|remove|view|editable|stop|load_skill|remove_skill|load_mcp|remove_mcp|actions|paging|\
    agent|mode|persist|task|targets|values|action|apply_to";

/// The JSON after `Arguments:`, as far as it came.
#[derive(Clone, Debug, Default)]
pub(super) struct Raw {
    text: String,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    pub(super) is_complete: bool,
}

impl Raw {
    /// Reads the first line.
    pub(super) fn start(line: &str) -> Option<Self> {
        let line = marks::untagged(line);
        let mut raw = Self::default();
        raw.push(line.strip_prefix("Arguments:")?);
        Some(raw)
    }

    pub(super) fn push(&mut self, line: &str) {
        wrap::join(&mut self.text, line);
        for c in line.chars() {
            match c {
                _ if self.is_escaped => self.is_escaped = false,
                '\\' if self.in_string => self.is_escaped = true,
                '"' => self.in_string = !self.in_string,
                '{' | '[' if !self.in_string => self.depth += 1,
                '}' | ']' if !self.in_string => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_complete |= self.depth == 0;
                }
                _ => {}
            }
        }
    }

    /// Returns the JSON; invalid text becomes a string.
    pub(super) fn finish(&self) -> Option<RawJson> {
        let text = self.text.trim();
        RawJson::new(text).or_else(|| RawJson::of(&serde_json::json!({ "Arguments": text })))
    }
}

/// Splits a line `name: value` or `name:` of a known argument.
pub(super) fn key_of(line: &str) -> Option<(String, String)> {
    let line = marks::untagged(line);
    let (name, value) = line.split_once(':')?;
    let value = value.strip_prefix(' ').unwrap_or(value).trim_end();
    let is_known = |keys: &str| keys.split('|').any(|key| key == base(name));
    let is_key = is_known(INLINE_KEYS) || (value.is_empty() && is_known(BLOCK_KEYS));
    is_key.then(|| (name.to_owned(), value.to_owned()))
}

/// Removes the number of a repeated argument from its name.
fn base(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((base, number)) if number.parse::<u32>().is_ok() => base,
        _ => name,
    }
}

/// Reads a line that names an argument of an unknown tool, above its value.
/// Without a tag it counts only below a gap.
pub(super) fn unknown_key(line: &str, is_below_gap: bool) -> Option<String> {
    let text = marks::untagged(line);
    let name = text.trim_end().strip_suffix(':')?;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let counts = is_below_gap || matches!(text, Cow::Owned(_));
    (counts && !name.is_empty() && name.chars().all(fits)).then(|| name.to_owned())
}

/// The place of an argument's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Below the name.
    Block,
    /// On the line of the name.
    Inline,
    /// Further arguments below the name.
    Nested,
}

/// An argument that is shown under its name.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    name: String,
    style: Style,
    lines: Vec<String>,
}

impl Argument {
    /// Reads the first line of an argument; `None` for a line of the open one.
    pub(super) fn start(line: &str, is_below_gap: bool, open: Option<&Self>) -> Option<Self> {
        let Some((name, value)) = key_of(line) else {
            let name = unknown_key(line, is_below_gap)?;
            return Some(Self::new(name, Style::Block, None));
        };
        let style = match base(&name) {
            "delegation" => Style::Nested,
            _ if value.is_empty() => Style::Block,
            _ => Style::Inline,
        };
        let counts = open.is_none_or(|open| match open.style {
            Style::Block => is_below_gap || line.starts_with('['),
            Style::Inline => true,
            Style::Nested => style == Style::Nested,
        });
        let value = (style == Style::Inline).then_some(value);
        counts.then(|| Self::new(name, style, value))
    }

    /// Creates an argument for text before the first name.
    pub(super) fn unnamed(line: &str) -> Self {
        Self::new("text".to_owned(), Style::Block, Some(line.to_owned()))
    }

    fn new(name: String, style: Style, value: Option<String>) -> Self {
        let lines = value.into_iter().collect();
        Self { name, style, lines }
    }

    /// Returns the name, without a number, if the value is below it.
    pub(super) fn open_key(&self) -> Option<&str> {
        (self.style != Style::Inline).then(|| base(&self.name))
    }

    pub(super) fn push(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    pub(super) fn finish(&self, columns: Columns) -> (String, Value) {
        let text = || self.lines.iter().map(String::as_str);
        let is_prose = matches!(self.name.as_str(), "Command" | "Summary");
        let value = match self.style {
            Style::Nested => {
                let arguments = text().filter_map(key_of);
                let arguments = arguments.map(|(name, value)| (name, value.into()));
                Value::Object(arguments.collect())
            }
            Style::Block if !is_prose => message::trim(&self.lines).join("\n").into(),
            Style::Block | Style::Inline => message::trim(&wrap::rejoin(text(), columns))
                .join("\n")
                .into(),
        };
        (self.name.clone(), value)
    }
}
