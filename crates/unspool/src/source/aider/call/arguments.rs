//! The arguments of a tool call as they are printed: the model's JSON, or one
//! by one under their names.

use serde_json::{Map, Value};

use crate::event::RawJson;
use crate::source::aider::{marker, message, wrap};

/// Names of arguments that stand alone on a line, above their value.
const BLOCK_KEYS: &[&str] = &[
    "file_path",
    "diff",
    "start_line",
    "end_line",
    "new_content",
    "content",
    "position",
    "find_text",
    "replace_text",
    "line_number",
    "after_pattern",
    "before_pattern",
    "occurrence",
    "near_context",
    "change_id",
    "dry_run",
    "auto_indent",
    "use_regex",
    "replacement",
    "deletion",
    "insertion",
    "Thoughts",
    "Summary",
    "Wait",
    "Command",
    "Stdin",
    "Code",
    "message",
    "config",
    "Done",
    "Remaining",
    "delegation",
];

/// Names of arguments with their value on the same line.
const INLINE_KEYS: &[&str] = &[
    "range",
    "search",
    "investigate",
    "find_references",
    "Options",
    "Background Key",
    "Action",
    "create",
    "remove",
    "view",
    "editable",
    "stop",
    "load_skill",
    "remove_skill",
    "load_mcp",
    "remove_mcp",
    "actions",
    "paging",
    "agent",
    "mode",
    "persist",
    "task",
    "targets",
    "values",
    "action",
    "apply_to",
];

/// How deep a JSON text is nested, to see where it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
    complete: bool,
}

impl Nesting {
    pub(super) fn read(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                _ if self.escaped => self.escaped = false,
                '\\' if self.in_string => self.escaped = true,
                '"' => self.in_string = !self.in_string,
                '{' | '[' if !self.in_string => self.depth += 1,
                '}' | ']' if !self.in_string => {
                    self.depth = self.depth.saturating_sub(1);
                    self.complete |= self.depth == 0;
                }
                _ => {}
            }
        }
    }

    pub(super) fn is_complete(self) -> bool {
        self.complete
    }
}

pub(super) fn is_arguments(line: &str) -> bool {
    marker::untagged(line).starts_with("Arguments:")
}

/// A line `name: value` or `name:`.
pub(super) struct Key {
    /// The name without the number that several of a kind carry.
    pub(super) base: &'static str,
    name: String,
    pub(super) value: String,
}

pub(super) fn key_of(line: &str) -> Option<Key> {
    let line = marker::untagged(line);
    let (name, value) = line.split_once(':')?;
    let base = name
        .rsplit_once('_')
        .filter(|(_, number)| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()));
    let base = base.map_or(name, |(base, _)| base);
    let value = value.strip_prefix(' ').unwrap_or(value).trim_end();
    let known = |keys: &'static [&'static str]| keys.iter().copied().find(|key| *key == base);
    let found = if value.is_empty() {
        known(BLOCK_KEYS).or_else(|| known(INLINE_KEYS))
    } else {
        known(INLINE_KEYS)
    }?;
    Some(Key {
        base: found,
        name: name.to_owned(),
        value: value.to_owned(),
    })
}

/// A name that stands alone above its value and is in no list: an argument of
/// a tool that is not known. Without a tag it counts only below a gap.
pub(super) fn unknown_key(line: &str, below_gap: bool) -> Option<String> {
    let text = marker::untagged(line);
    let name = text.trim_end().strip_suffix(':')?;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let counts = below_gap || matches!(text, std::borrow::Cow::Owned(_));
    (counts && !name.is_empty() && name.chars().all(fits)).then(|| name.to_owned())
}

/// The text behind `Arguments:`, put together again.
fn argument_text(lines: &[String]) -> String {
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        if index == 0 {
            let line = marker::untagged(line);
            let value = line.strip_prefix("Arguments:").unwrap_or(&line);
            text.push_str(value.trim_start());
        } else {
            wrap::join(&mut text, line);
        }
    }
    text.trim().to_owned()
}

/// The model's own JSON, where it is shown and valid.
pub(super) fn raw_arguments(lines: &[String]) -> Option<RawJson> {
    is_arguments(lines.first()?).then(|| RawJson::new(&argument_text(lines)))?
}

/// The arguments as they are shown, one by one.
pub(super) fn shown_arguments(lines: &[String]) -> Map<String, Value> {
    if lines.first().is_some_and(|line| is_arguments(line)) {
        return Map::from_iter([("Arguments".to_owned(), argument_text(lines).into())]);
    }
    let mut arguments: Vec<Argument> = Vec::new();
    let mut gap = true;
    for line in lines {
        match Argument::begin(line, gap, arguments.last()) {
            Some(argument) => arguments.push(argument),
            None => match arguments.last_mut() {
                Some(open) => open.lines.push(line.clone()),
                None => arguments.push(Argument::new("text", Style::Block, vec![line.clone()])),
            },
        }
        gap = line.trim().is_empty();
    }
    arguments.into_iter().map(Argument::finish).collect()
}

/// How an argument is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Below its name.
    Block,
    /// On the line of its name.
    Inline,
    /// As arguments below its name.
    Nested,
}

struct Argument {
    name: String,
    style: Style,
    lines: Vec<String>,
}

impl Argument {
    fn new(name: &str, style: Style, lines: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            style,
            lines,
        }
    }

    /// The argument that a line begins, unless it is a line of the open one.
    fn begin(line: &str, gap: bool, open: Option<&Self>) -> Option<Self> {
        let Some(key) = key_of(line) else {
            return unknown_key(line, gap).map(|name| Self::new(&name, Style::Block, Vec::new()));
        };
        let style = match key.base {
            "delegation" => Style::Nested,
            _ if key.value.is_empty() => Style::Block,
            _ => Style::Inline,
        };
        let counts = open.is_none_or(|open| match open.style {
            Style::Block => gap || line.starts_with('['),
            Style::Inline => true,
            Style::Nested => style == Style::Nested,
        });
        let value = (style == Style::Inline).then_some(key.value);
        counts.then(|| Self::new(&key.name, style, value.into_iter().collect()))
    }

    fn finish(self) -> (String, Value) {
        let text = self.lines.iter().map(String::as_str);
        let value = match self.style {
            Style::Nested => {
                let inside = text
                    .filter_map(key_of)
                    .map(|key| (key.name, key.value.into()));
                Value::Object(inside.collect())
            }
            Style::Inline => wrap::rejoin(text).join("\n").into(),
            Style::Block if matches!(self.name.as_str(), "Command" | "Summary") => {
                message::trim(&wrap::rejoin(text)).join("\n").into()
            }
            Style::Block => message::trim(&self.lines).join("\n").into(),
        };
        (self.name, value)
    }
}
