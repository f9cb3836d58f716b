//! Rules that answer permission requests for the user.
//!
//! A rule has an action and conditions; it matches when all its conditions do. The
//! first rule that matches decides. If a call touches several files, each is judged
//! alone and the strictest verdict holds: `deny` before `ask` before `allow`. Without a
//! matching rule the user is asked, so that nothing is allowed by default. Called by
//! `client.rs`.
//!
//! An `allow` has to be certain, a `deny` does not:
//!
//! - A command line that could make a shell do more than run one program (it contains
//!   `;`, `&`, `|`, `<`, `>`, `$`, backticks, parentheses, newlines or control
//!   characters) never matches the `command` of an `allow`. Neither does a line that
//!   the agent gives only as its title.
//! - A `path` does not restrict a command: an `allow` with a `path` and without a
//!   `command` never matches a command.
//! - A path is compared after its links are resolved; one outside the project matches
//!   no `path` of an `allow`.

use regex::Regex;
use serde::Deserialize;

/// The answer of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// Allow this once.
    Allow,
    /// Ask the user, whatever later rules say.
    Ask,
    /// Deny this once.
    Deny,
}

/// A rule of the configuration. A missing condition always matches.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Rule {
    /// The answer.
    pub action: Action,
    /// The tool's name: a pattern with `*` and `?`.
    pub tool: Option<String>,
    /// The kind of the call, as the protocol names it: `read`, `edit`, `delete`,
    /// `move`, `search`, `execute`, `think`, `fetch`, `switch_mode`, `other`.
    pub kind: Option<String>,
    /// A file, relative to the project's root: `*` and `?` match within a folder,
    /// `**` across folders.
    pub path: Option<String>,
    /// The whole command line: a pattern with `*` and `?`, or, if it starts with `^`, a
    /// regular expression.
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

/// An operation to be judged.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Operation {
    /// The tool's name.
    pub tool: String,
    /// The kind of the call.
    pub kind: String,
    /// The files, relative to the root; `None` for one outside.
    pub paths: Vec<Option<String>>,
    /// The command line of the call's input.
    pub command: Option<String>,
    /// The agent's title.
    pub title: String,
}

/// Compiled rules.
#[derive(Clone, Debug, Default)]
pub struct Rules(Vec<CompiledRule>);

/// The answer of the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The answer.
    pub action: Action,
    /// The number of the rule, counted from 1; `None` if none matched.
    pub rule: Option<usize>,
}

#[derive(Clone, Debug)]
struct CompiledRule {
    action: Action,
    tool: Option<Regex>,
    kind: Option<String>,
    path: Option<Regex>,
    command: Option<Regex>,
}

impl Rules {
    /// Compiles rules. Fails, with a message for the user, at an invalid pattern or an
    /// `allow` without a condition.
    pub fn new(rules: &[Rule]) -> Result<Self, String> {
        rules
            .iter()
            .enumerate()
            .map(|(index, rule)| {
                CompiledRule::new(rule).map_err(|error| format!("rule {}: {error}", index + 1))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no rules.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the verdict on an operation.
    pub fn judge(&self, operation: &Operation) -> Verdict {
        if operation.paths.is_empty() {
            return self.first(operation, None);
        }
        let verdicts = operation
            .paths
            .iter()
            .map(|path| self.first(operation, path.as_deref()));
        // Of equal verdicts the first one is reported.
        verdicts
            .reduce(|a, b| if b.action > a.action { b } else { a })
            .unwrap_or_else(|| self.first(operation, None))
    }

    /// Returns the verdict of the first rule that matches. `path` is `None` for a file
    /// outside the root, or if there is no file.
    fn first(&self, operation: &Operation, path: Option<&str>) -> Verdict {
        let rule = self
            .0
            .iter()
            .position(|rule| rule.matches(operation, path))
            .map(|index| index + 1);
        let action = rule
            .and_then(|number| self.0.get(number - 1))
            .map_or(Action::Ask, |rule| rule.action);
        Verdict { action, rule }
    }
}

impl CompiledRule {
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
            tool: compile(&rule.tool, glob)?,
            kind: rule.kind.clone(),
            path: compile(&rule.path, path_glob)?,
            command: compile(&rule.command, command_pattern)?,
        })
    }

    fn matches(&self, operation: &Operation, path: Option<&str>) -> bool {
        let tool = if operation.tool.is_empty() {
            &operation.kind
        } else {
            &operation.tool
        };
        self.tool.as_ref().is_none_or(|regex| regex.is_match(tool))
            && self
                .kind
                .as_ref()
                .is_none_or(|kind| *kind == operation.kind)
            && self.matches_path(operation, path)
            && self.matches_command(operation)
    }

    fn matches_path(&self, operation: &Operation, path: Option<&str>) -> bool {
        let Some(regex) = &self.path else {
            return true;
        };
        let is_command = operation.kind == "execute" || operation.command.is_some();
        if self.action == Action::Allow && is_command && self.command.is_none() {
            return false;
        }
        path.is_some_and(|path| regex.is_match(path))
    }

    fn matches_command(&self, operation: &Operation) -> bool {
        let Some(regex) = &self.command else {
            return true;
        };
        if self.action == Action::Allow {
            let command = operation.command.as_deref();
            return command.is_some_and(|line| is_simple(line) && regex.is_match(line));
        }
        let title = (operation.kind == "execute").then_some(operation.title.as_str());
        let mut lines = operation.command.as_deref().into_iter().chain(title);
        lines.any(|line| {
            // A denied command may be any part of a chain.
            regex.is_match(line) || parts(line).any(|part| regex.is_match(part.trim()))
        })
    }
}

/// Returns true if a shell runs one program with plain arguments.
fn is_simple(line: &str) -> bool {
    !line
        .chars()
        .any(|c| c.is_control() || matches!(c, ';' | '&' | '|' | '<' | '>' | '$' | '`' | '(' | ')'))
}

fn parts(line: &str) -> impl Iterator<Item = &str> {
    line.split([';', '&', '|', '(', ')', '`', '\n', '\r', '{', '}'])
}

/// Translates a pattern: `*` is any text, `?` any character.
fn glob(pattern: &str) -> String {
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

fn command_pattern(pattern: &str) -> String {
    match pattern.strip_prefix('^') {
        Some(expression) => format!(r"\A(?s:{expression})\z"),
        None => glob(pattern),
    }
}

/// Translates a pattern for paths: `**/` is any number of folders, `**` anything below.
fn path_glob(pattern: &str) -> String {
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
