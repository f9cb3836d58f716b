//! The printed arguments of a tool call: the model's JSON, or one by one under
//! their names.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::event::RawJson;
use crate::source::aider::{marks, message, wrap};

/// Names of arguments above their value.
const BLOCK_KEYS: &str = "file_path|diff|start_line|end_line|new_content|content|position|\
    find_text|replace_text|line_number|after_pattern|before_pattern|occurrence|near_context|\
    change_id|dry_run|auto_indent|use_regex|replacement|deletion|insertion|Thoughts|Summary|Wait|\
    Command|Stdin|Code|message|config|Done|Remaining|delegation";

/// Names of arguments on the line of their value.
const INLINE_KEYS: &str = "range|search|investigate|find_references|Options|Background Key|Action|\
    create|remove|view|editable|stop|load_skill|remove_skill|load_mcp|remove_mcp|actions|paging|\
    agent|mode|persist|task|targets|values|action|apply_to";

/// The nesting of a JSON text, to see where it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nesting {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    pub(super) is_complete: bool,
}

impl Nesting {
    pub(super) fn read(&mut self, text: &str) {
        for c in text.chars() {
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
}

/// Returns the text after `Arguments:`.
pub(super) fn arguments(line: &str) -> Option<String> {
    let line = marks::untagged(line);
    line.strip_prefix("Arguments:").map(str::to_owned)
}

/// A line `name: value` or `name:`.
pub(super) struct Key {
    /// The name without the number of repeated arguments.
    pub(super) base: &'static str,
    name: String,
    pub(super) value: String,
}

/// Reads a line that names a known argument.
pub(super) fn key_of(line: &str) -> Option<Key> {
    let line = marks::untagged(line);
    let (name, value) = line.split_once(':')?;
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let numbered = name.rsplit_once('_').filter(|(_, end)| is_number(end));
    let base = numbered.map_or(name, |(base, _)| base);
    let value = value.strip_prefix(' ').unwrap_or(value).trim_end();
    let known = |keys: &'static str| keys.split('|').find(|key| *key == base);
    let block = || known(BLOCK_KEYS).filter(|_| value.is_empty());
    Some(Key {
        base: block().or_else(|| known(INLINE_KEYS))?,
        name: name.to_owned(),
        value: value.to_owned(),
    })
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

/// Reads the arguments of a call: the model's JSON as it is, or an object of the
/// shown ones.
pub(super) fn input(lines: &[String]) -> Option<RawJson> {
    let (first, rest) = lines.split_first()?;
    let Some(mut text) = arguments(first) else {
        return RawJson::of(&shown(lines));
    };
    for line in rest {
        wrap::join(&mut text, line);
    }
    let text = text.trim();
    RawJson::new(text).or_else(|| RawJson::of(&serde_json::json!({ "Arguments": text })))
}

/// Reads arguments that are shown one by one.
fn shown(lines: &[String]) -> Map<String, Value> {
    let mut arguments: Vec<Argument> = Vec::new();
    let mut is_below_gap = true;
    for line in lines {
        match Argument::start(line, is_below_gap, arguments.last()) {
            Some(argument) => arguments.push(argument),
            None => match arguments.last_mut() {
                Some(open) => open.lines.push(line.clone()),
                None => arguments.push(Argument::new("text", Style::Block, Some(line.clone()))),
            },
        }
        is_below_gap = line.trim().is_empty();
    }
    arguments.into_iter().map(Argument::finish).collect()
}

/// The place of an argument's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Below the name.
    Block,
    /// On the line of the name.
    Inline,
    /// Further arguments below the name.
    Nested,
}

struct Argument {
    name: String,
    style: Style,
    lines: Vec<String>,
}

impl Argument {
    fn new(name: &str, style: Style, value: Option<String>) -> Self {
        Self {
            name: name.to_owned(),
            style,
            lines: value.into_iter().collect(),
        }
    }

    /// Reads the first line of an argument; `None` for a line of the open one.
    fn start(line: &str, is_below_gap: bool, open: Option<&Self>) -> Option<Self> {
        let Some(key) = key_of(line) else {
            let name = unknown_key(line, is_below_gap)?;
            return Some(Self::new(&name, Style::Block, None));
        };
        let style = match key.base {
            "delegation" => Style::Nested,
            _ if key.value.is_empty() => Style::Block,
            _ => Style::Inline,
        };
        let counts = open.is_none_or(|open| match open.style {
            Style::Block => is_below_gap || line.starts_with('['),
            Style::Inline => true,
            Style::Nested => style == Style::Nested,
        });
        let value = (style == Style::Inline).then_some(key.value);
        counts.then(|| Self::new(&key.name, style, value))
    }

    fn finish(self) -> (String, Value) {
        let text = self.lines.iter().map(String::as_str);
        let is_prose = matches!(self.name.as_str(), "Command" | "Summary");
        let value = match self.style {
            Style::Nested => text
                .filter_map(key_of)
                .map(|key| (key.name, key.value.into()))
                .collect::<Map<_, _>>()
                .into(),
            Style::Inline => wrap::rejoin(text).join("\n").into(),
            Style::Block if is_prose => message::trim(&wrap::rejoin(text)).join("\n").into(),
            Style::Block => message::trim(&self.lines).join("\n").into(),
        };
        (self.name, value)
    }
}
