//! The line classifier: one kind for each line, from its text alone.
//!
//! A model may print any of these lines in its answer. The flow decides where a
//! kind counts.

use super::counts::{self, Counts};
use super::marks::{self, Mark};
use super::outcome::Report;
use super::question::{self, Question};
use super::{edit, history};
use crate::event::Level;

/// A line as it came, and as a terminal shows it.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) raw: &'a str,
    pub(super) text: &'a str,
}

impl<'a> Line<'a> {
    /// Returns the last part of the line, given as shown.
    pub(super) fn rest(self, text: &'a str) -> Self {
        let before = self.text.strip_suffix(text).unwrap_or_default();
        let raw = self.raw.strip_prefix(before).unwrap_or(text);
        Self { raw, text }
    }
}

/// The relation of a line to a block that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    Inside,
    Last,
    Outside,
}

/// The program that wrote the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Family {
    #[default]
    Unknown,
    /// aider.
    Classic,
    /// aider-ce up to 0.88.
    Ce,
    /// aider-ce from 1.0 on, also called cecli.
    Cecli,
}

/// The kind of a line.
#[derive(Debug)]
pub(super) enum Kind<'a> {
    /// An empty line or a rule.
    Gap,
    /// Token counts; `None` if the line is only their first part.
    Counts(Option<Counts>),
    /// The prompt for input, with the text after it.
    Prompt {
        mode: &'a str,
        rest: &'a str,
    },
    Question(Question<'a>),
    /// The first line of a banner.
    Banner(Family, &'a str),
    /// The first line of a tool call: server and tool.
    Call(String, String),
    /// The first line of a report on edits that failed.
    Report,
    /// The end of a message that was stopped, after the last words of the model.
    Stop {
        before: &'a str,
        level: Level,
        note: &'a str,
    },
    /// `ERROR: …` or `WARNING: …`.
    Alarm(Level, String),
    Mark(Mark),
    Text,
}

/// Classifies a line.
pub(super) fn classify(text: &str) -> Kind<'_> {
    if is_gap(text) {
        Kind::Gap
    } else if let Some(counts) = counts::read(text) {
        Kind::Counts(Some(counts))
    } else if counts::is_cut(text) {
        Kind::Counts(None)
    } else if let Some((mode, rest)) = prompt(text) {
        Kind::Prompt { mode, rest }
    } else if let Some(question) = question::read(text) {
        Kind::Question(question)
    } else if let Some((family, version)) = banner(text) {
        Kind::Banner(family, version)
    } else if let Some((server, tool)) = call(text) {
        Kind::Call(server, tool)
    } else if Report::starts(text) {
        Kind::Report
    } else if let Some(stop) = stop(text) {
        stop
    } else if let Some(mark) = marks::mark(text) {
        Kind::Mark(mark)
    } else if let Some((level, text)) = marks::alarm(text) {
        Kind::Alarm(level, text)
    } else {
        Kind::Text
    }
}

/// Returns true for the rules that separate turns in colour mode.
pub(super) fn is_rule(line: &str) -> bool {
    line.starts_with("────────") && line.trim_end().chars().all(|c| c == '─')
}

/// Returns true for a line of blanks.
pub(super) fn is_blank(line: &str) -> bool {
    // Trimming is slow on lines that are indented or padded.
    let first = line.bytes().find(|byte| *byte != b' ');
    first.is_none_or(|byte| !byte.is_ascii_graphic()) && line.trim().is_empty()
}

/// Returns true for an empty line or a rule.
pub(super) fn is_gap(line: &str) -> bool {
    is_blank(line) || is_rule(line)
}

/// The fence around a block of code whose lines are coming.
#[derive(Clone, Debug, Default)]
pub(super) struct Fence(Option<(char, usize)>);

impl Fence {
    pub(super) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn line(&mut self, line: &str) {
        let text = line.trim();
        let Some(sign) = text.chars().next().filter(|c| "`~".contains(*c)) else {
            return;
        };
        let length = text.chars().take_while(|c| *c == sign).count();
        let info = text.get(length..).unwrap_or_default();
        match self.0 {
            Some((open, least)) if open == sign && length >= least && info.is_empty() => {
                self.0 = None;
            }
            None if length >= 3 && !info.contains('`') => self.0 = Some((sign, length)),
            _ => {}
        }
    }
}

/// Reads the first line of a banner: `Aider v0.86.2`.
fn banner(line: &str) -> Option<(Family, &str)> {
    const NAMES: &[(&str, Family)] = &[
        ("Aider v", Family::Classic),
        ("Aider-CE v", Family::Ce),
        ("cecli v", Family::Cecli),
    ];
    let named = |(name, family): &(&str, Family)| Some((*family, line.strip_prefix(name)?));
    let (family, version) = NAMES.iter().find_map(named)?;
    let version = version.trim_end();
    let digits = version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.');
    (digits && !version.contains(' ')).then_some((family, version))
}

/// Reads `Tool Call: server • tool`.
fn call(line: &str) -> Option<(String, String)> {
    let line = marks::untagged(line);
    let (server, tool) = line.strip_prefix("Tool Call: ")?.split_once(" • ")?;
    let (server, tool) = (server.trim(), tool.trim());
    let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
    (is_name(server) && is_name(tool)).then(|| (server.to_owned(), tool.to_owned()))
}

/// Splits a prompt for input into its mode and the rest of the line.
fn prompt(line: &str) -> Option<(&str, &str)> {
    let (word, rest) = line.split_once('>')?;
    let mode = word.strip_suffix("multi").unwrap_or(word).trim_end();
    let is_mode = mode.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let rest = match rest {
        "" => rest,
        _ => rest.strip_prefix(' ')?,
    };
    (is_mode && !mode.starts_with('-')).then_some((mode, rest))
}

/// Finds the end of an answer that a person stopped or that repeats itself.
fn stop(text: &str) -> Option<Kind<'_>> {
    const LOOP: &str = "Output loop detected while streaming: ";
    let stopped = ["^C KeyboardInterrupt", "^C again to exit"]
        .into_iter()
        .find(|note| text.trim_end().ends_with(note));
    let (at, level) = match stopped {
        Some(note) => (text.trim_end().len() - note.len(), Level::Canceled),
        None => (text.find(LOOP)?, Level::Warning),
    };
    let (before, note) = text.split_at_checked(at)?;
    Some(Kind::Stop {
        before,
        level,
        note,
    })
}

/// Splits a spinner frame off the start of a line: its text is glued to the text
/// printed while it ran. Returns the spinner's text and the rest.
pub(super) fn spinner(line: &str) -> Option<(&str, &str)> {
    let frame = |c: char| ('\u{2800}'..='\u{28ff}').contains(&c);
    let rest = line.trim_start_matches(frame);
    if rest.len() == line.len() {
        return None;
    }
    let text = rest.strip_prefix(' ').unwrap_or(rest);
    for fixed in ["Processing Answer...", "Awaiting Confirmation..."] {
        if let Some(rest) = text.strip_prefix(fixed) {
            return Some((fixed, rest));
        }
    }
    if text.starts_with("Generating ") || text.starts_with("Updating repo map") {
        return Some((text, ""));
    }
    let waiting = text.starts_with("Waiting for ");
    let waiting = waiting.then(|| text.split_once(" session")).flatten();
    Some(waiting.unwrap_or(("", rest)))
}

/// Reads the name in the first line of a context block.
pub(super) fn context(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix("<context name=\"")?.split_once('"')?;
    rest.trim_end().ends_with('>').then_some(name)
}

/// Returns true for the names of context blocks that the agents write.
pub(super) fn is_agent_context(name: &str) -> bool {
    const NAMES: &str = "context_summary gitStatus git_status tool_usage_history environment_info \
        directoryStructure directory_structure repo_map repo_map_status symbol_outline todo_list \
        user_input role_and_directives workflow_and_tool_usage critical_reminders sub_agents \
        servers orchestration skills";
    NAMES.split(' ').any(|known| known == name)
}

/// Returns true if only one of the agents can have written a line.
pub(super) fn is_distinctive(line: &str) -> bool {
    let line = line.trim_end();
    let line = spinner(line).map_or(line, |(_, rest)| rest);
    let names_model = || {
        let has = |start: &str, word: &str| line.starts_with(start) && line.contains(word);
        has("Main model: ", " edit format")
            || has("Model: ", " edit format")
            || has("Models         ", " (main)")
    };
    match classify(line) {
        Kind::Banner(..) | Kind::Call(..) | Kind::Counts(_) => true,
        // Other programs ask with options in one pair of brackets.
        Kind::Question(Question(prompt, _)) => {
            let keys = prompt
                .options
                .iter()
                .filter_map(|option| option.chars().next());
            keys.into_iter()
                .all(|key| line.contains(&format!("({key})")))
        }
        _ => {
            names_model()
                || matches!(line, "► **THINKING**" | "► **ANSWER**")
                || line.starts_with("Applied edit to ")
                || marks::is_change(line)
                || (line.starts_with('[') && marks::alarm(line).is_some())
                || edit::is_search(line)
                || edit::is_replace(line)
                || context(line).is_some_and(is_agent_context)
                || line.contains("fzf not found, fuzzy finder features will be disabled.")
                || history::is_start(line)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_calls_are_found_with_and_without_tags() {
        let expected = Some(("web".to_owned(), "search".to_owned()));
        for line in [
            "Tool Call: web • search",
            "[blue]Tool Call:[/] web • search",
            "[bright_cyan]Tool Call:[/bright_cyan] web • search",
        ] {
            assert_eq!(call(line), expected, "{line}");
        }
        assert_eq!(call("Tool Call: a sentence • with words"), None);
    }

    #[test]
    fn prompts_name_the_mode() {
        assert_eq!(prompt("ask> hi"), Some(("ask", "hi")));
        assert_eq!(prompt("multi> "), Some(("", "")));
        assert_eq!(prompt(">"), Some(("", "")));
        assert_eq!(prompt(">>>>>>> REPLACE"), None);
        assert_eq!(prompt("a b> c"), None);
    }

    #[test]
    fn spinners_are_split_off() {
        assert_eq!(
            spinner("⣾ Processing Answer...Tool Call: x"),
            Some(("Processing Answer...", "Tool Call: x"))
        );
        assert_eq!(
            spinner("⣷ Awaiting Confirmation...y"),
            Some(("Awaiting Confirmation...", "y"))
        );
        assert_eq!(spinner("⣻Now"), Some(("", "Now")));
        assert_eq!(spinner("Now"), None);
    }

    #[test]
    fn plain_text_is_not_distinctive() {
        for line in [
            "Commit to the plan.",
            "> a quotation",
            "```python",
            "<<<<<<< HEAD",
            "--------------",
            "Tokens: none",
            "Continue? [y/N]: ",
            "<context>",
            "# A heading",
            "error: Tool Call: failed",
            "Model: a word on models",
        ] {
            assert!(!is_distinctive(line), "{line}");
        }
    }
}
