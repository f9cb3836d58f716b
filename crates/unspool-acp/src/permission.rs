//! Rules that answer requests for permission in a person's stead.
//!
//! A rule has an action and conditions; it matches when all its conditions do.
//! Rules are asked in order and the first one that matches decides. Where a
//! call touches several files, each is judged alone and the strictest verdict
//! holds: `deny` before `ask` before `allow`. What no rule matches is asked, so
//! that nothing is allowed that nobody allowed. Called by `client.rs`.
//!
//! An `allow` has to be certain, a `deny` does not:
//!
//! - A command line with anything in it that could make a shell do more than
//!   run one program (`;`, `&`, `|`, `<`, `>`, `$`, backticks, parentheses, line
//!   ends, control characters) never matches the `command` of an `allow`.
//!   Neither does a line that the agent gives only as its headline.
//! - The `path` of a rule says nothing of what a command does: an `allow` with a
//!   `path` and without a `command` never matches a command.
//! - A file counts by the place that it leads to once links are followed; one
//!   outside the project matches no `path` of an `allow`.

use regex::Regex;
use serde::Deserialize;

/// What a rule answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// Yes, this once.
    Allow,
    /// The person is asked, whatever later rules say.
    Ask,
    /// No, this once.
    Deny,
}

/// One rule as it stands in a configuration. A condition that is not there
/// holds for everything.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Rule {
    /// The answer.
    pub action: Action,
    /// The tool's name: a pattern with `*` and `?`.
    pub tool: Option<String>,
    /// The kind of work, in the protocol's word: `read`, `edit`, `delete`,
    /// `move`, `search`, `execute`, `think`, `fetch`, `switch_mode`, `other`.
    pub kind: Option<String>,
    /// A file, relative to the project's root: `*` and `?` stay within a
    /// folder, `**` does not.
    pub path: Option<String>,
    /// The whole command line: a pattern with `*` and `?`, or, if it begins
    /// with `^`, a regular expression for all of it.
    pub command: Option<String>,
}

impl Rule {
    /// Returns a rule without conditions.
    pub fn new(action: Action) -> Self {
        Self {
            action,
            tool: None,
            kind: None,
            path: None,
            command: None,
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Operation {
    /// The tool's name.
    pub tool: String,
    /// The kind of work.
    pub kind: String,
    /// The files that it touches, relative to the root; `None` for one outside.
    pub paths: Vec<Option<String>>,
    /// The command line, where the call's input has it.
    pub command: Option<String>,
    /// What the agent calls it.
    pub title: String,
}

/// Rules, ready to be asked.
#[derive(Clone, Debug, Default)]
pub struct Rules(Vec<Ready>);

/// What the rules say, and which of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The answer.
    pub action: Action,
    /// The rule's place in the list, counted from 1; `None` if none matched.
    pub rule: Option<usize>,
}

#[derive(Clone, Debug)]
struct Ready {
    action: Action,
    tool: Option<Regex>,
    kind: Option<String>,
    path: Option<Regex>,
    command: Option<Regex>,
}

impl Rules {
    /// Prepares rules. Fails with words for the person at a pattern that is
    /// none, and at an `allow` without any condition.
    pub fn new(rules: &[Rule]) -> Result<Self, String> {
        rules
            .iter()
            .enumerate()
            .map(|(index, rule)| {
                Ready::new(rule).map_err(|error| format!("rule {}: {error}", index + 1))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the rules say.
    pub fn judge(&self, subject: &Operation) -> Verdict {
        if subject.paths.is_empty() {
            return self.first(subject, None);
        }
        let verdicts = subject
            .paths
            .iter()
            .map(|path| self.first(subject, path.as_deref()));
        // Of equal ones the first is named.
        verdicts
            .reduce(|a, b| if b.action > a.action { b } else { a })
            .unwrap_or_else(|| self.first(subject, None))
    }

    /// `path` is the file that is judged; `None` stands for none, and for one
    /// outside.
    fn first(&self, subject: &Operation, path: Option<&str>) -> Verdict {
        let rule = self
            .0
            .iter()
            .position(|rule| rule.matches(subject, path))
            .map(|index| index + 1);
        let action = rule
            .and_then(|number| self.0.get(number - 1))
            .map_or(Action::Ask, |rule| rule.action);
        Verdict { action, rule }
    }
}

impl Ready {
    fn new(rule: &Rule) -> Result<Self, String> {
        let has_condition = rule.tool.is_some()
            || rule.kind.is_some()
            || rule.path.is_some()
            || rule.command.is_some();
        if rule.action == Action::Allow && !has_condition {
            return Err("an `allow` needs a condition; `tool = \"*\"` means all".to_owned());
        }
        let compile = |pattern: &Option<String>, translate: fn(&str) -> String| {
            let expression = pattern.as_deref().map(translate);
            let regex = expression.map(|expression| Regex::new(&expression));
            regex.transpose().map_err(|error| error.to_string())
        };
        Ok(Self {
            action: rule.action,
            tool: compile(&rule.tool, words)?,
            kind: rule.kind.clone(),
            path: compile(&rule.path, path)?,
            command: compile(&rule.command, command)?,
        })
    }

    fn matches(&self, subject: &Operation, path: Option<&str>) -> bool {
        let tool = if subject.tool.is_empty() {
            &subject.kind
        } else {
            &subject.tool
        };
        self.tool.as_ref().is_none_or(|regex| regex.is_match(tool))
            && self.kind.as_ref().is_none_or(|kind| *kind == subject.kind)
            && self.matches_path(subject, path)
            && self.matches_command(subject)
    }

    fn matches_path(&self, subject: &Operation, path: Option<&str>) -> bool {
        let Some(regex) = &self.path else {
            return true;
        };
        let is_command = subject.kind == "execute" || subject.command.is_some();
        if self.action == Action::Allow && is_command && self.command.is_none() {
            return false;
        }
        path.is_some_and(|path| regex.is_match(path))
    }

    fn matches_command(&self, subject: &Operation) -> bool {
        let Some(regex) = &self.command else {
            return true;
        };
        if self.action == Action::Allow {
            let command = subject.command.as_deref();
            return command.is_some_and(|line| is_simple(line) && regex.is_match(line));
        }
        let title = (subject.kind == "execute").then_some(subject.title.as_str());
        let mut lines = subject.command.as_deref().into_iter().chain(title);
        lines.any(|line| {
            // Any part of a chain may be what is denied.
            regex.is_match(line) || parts(line).any(|part| regex.is_match(part.trim()))
        })
    }
}

/// Whether a shell runs one program with plain words.
fn is_simple(line: &str) -> bool {
    !line
        .chars()
        .any(|c| c.is_control() || matches!(c, ';' | '&' | '|' | '<' | '>' | '$' | '`' | '(' | ')'))
}

fn parts(line: &str) -> impl Iterator<Item = &str> {
    line.split([';', '&', '|', '(', ')', '`', '\n', '\r', '{', '}'])
}

/// A pattern for words: `*` is any text, `?` any character.
fn words(pattern: &str) -> String {
    let body: String = pattern
        .chars()
        .map(|c| match c {
            '*' => ".*".to_owned(),
            '?' => ".".to_owned(),
            c => regex::escape(c.encode_utf8(&mut [0; 4])),
        })
        .collect();
    format!(r"\A(?s:{body})\z")
}

fn command(pattern: &str) -> String {
    match pattern.strip_prefix('^') {
        Some(expression) => format!(r"\A(?s:{expression})\z"),
        None => words(pattern),
    }
}

/// A pattern for files: `**/` is any number of folders, `**` anything below.
fn path(pattern: &str) -> String {
    let mut rest = pattern.strip_prefix("./").unwrap_or(pattern);
    let mut body = String::new();
    while let Some(c) = rest.chars().next() {
        let (length, part) = if rest.starts_with("**/") {
            (3, "(?:[^/]+/)*".to_owned())
        } else if rest.starts_with("**") {
            (2, ".*".to_owned())
        } else if c == '*' {
            (1, "[^/]*".to_owned())
        } else if c == '?' {
            (1, "[^/]".to_owned())
        } else {
            (c.len_utf8(), regex::escape(c.encode_utf8(&mut [0; 4])))
        };
        body.push_str(&part);
        rest = rest.get(length..).unwrap_or_default();
    }
    format!(r"\A(?s:{body})\z")
}

#[cfg(test)]
mod tests;
