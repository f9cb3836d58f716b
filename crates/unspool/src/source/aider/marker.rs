//! The lines that the agents print around the model's words, one recogniser
//! per kind of line. All work on visible text: no escape sequences, no line
//! end. Whether a line that looks like a marker is one depends on where it
//! stands; that is the business of the flow.

use std::borrow::Cow;

use crate::event::{Prompt, Usage};

pub(super) use notes::{WENT_ON, alarm, is_limit, is_noise, is_output_note, missing_word, note};

mod notes;

/// Which of the programs is speaking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Family {
    #[default]
    Unknown,
    /// aider itself.
    Classic,
    /// aider-ce up to 0.88.
    Ce,
    /// aider-ce from 1.0 on, also called cecli.
    Cecli,
}

/// Colours that are written out as tags where colours could not be printed.
const TAGS: &[&str] = &["bold", "red", "green", "blue", "bright_cyan", "yellow"];

/// A line whose leading label lost its tags: `[blue]Tool Call:[/] x` is
/// `Tool Call: x`.
pub(super) fn untagged(line: &str) -> Cow<'_, str> {
    let Some((tag, rest)) = line.strip_prefix('[').and_then(|l| l.split_once(']')) else {
        return line.into();
    };
    if !TAGS.contains(&tag) {
        return line.into();
    }
    let end = format!("[/{tag}]");
    let closed = rest.split_once("[/]").or_else(|| rest.split_once(&end));
    closed.map_or_else(
        || rest.to_owned().into(),
        |(label, rest)| [label, rest].concat().into(),
    )
}

/// Whether a line is one of the rules that separate turns in colour mode.
pub(super) fn is_rule(line: &str) -> bool {
    line.starts_with("────────") && line.trim_end().chars().all(|c| c == '─')
}

/// Whether a line separates: empty, or a rule.
pub(super) fn is_gap(line: &str) -> bool {
    line.trim().is_empty() || is_rule(line)
}

/// The program and version in the first line of a banner.
pub(super) fn banner(line: &str) -> Option<(Family, &str)> {
    let (name, version) = line.trim_end().split_once(" v")?;
    let family = match name {
        "Aider" => Family::Classic,
        "Aider-CE" => Family::Ce,
        "cecli" => Family::Cecli,
        _ => return None,
    };
    let digits = version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.');
    (digits && !version.contains(' ')).then_some((family, version))
}

/// Label and value of the other lines of a banner.
pub(super) fn banner_field(line: &str) -> Option<(&str, &str)> {
    const COLONS: &[&str] = &[
        "Main model",
        "Model",
        "Weak model",
        "Editor model",
        "Agent model",
        "Git repo",
        "Repo-map",
        "MCP servers configured",
    ];
    const COLUMNS: &[&str] = &["Models", "Settings", "Environment"];
    let line = line.trim_end();
    if let Some((label, value)) = line.split_once(": ")
        && COLONS.contains(&label)
    {
        return Some((label, value));
    }
    let branch = line.trim_start();
    let branch = branch.strip_prefix("├─ ").or(branch.strip_prefix("└─ "));
    let (label, value) = branch.unwrap_or(line).split_once("  ")?;
    let known = branch.is_some() || COLUMNS.contains(&label);
    known.then(|| (label, value.trim_start()))
}

/// Whether a line is the rest of one that names a model and its options, which
/// is cut at the width of the terminal.
pub(super) fn is_model_rest(open: &str, line: &str) -> bool {
    const ENDS: &[&str] = &[
        " edit format",
        " think tokens",
        " prompt cache",
        " infinite output",
    ];
    let named = banner_field(open).is_some_and(|(label, _)| label.ends_with("odel"));
    let line = format!(" {}", line.trim_end());
    named && open.contains(" with ") && ENDS.iter().any(|end| line.ends_with(end))
}

/// Server and tool of a tool call's first line.
pub(super) fn header(line: &str) -> Option<(String, String)> {
    let line = untagged(line);
    let (server, tool) = line.strip_prefix("Tool Call: ")?.split_once(" • ")?;
    let (server, tool) = (server.trim(), tool.trim());
    let fits = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
    (fits(server) && fits(tool)).then(|| (server.to_owned(), tool.to_owned()))
}

/// What a line of token counts says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counts {
    pub(super) family: Family,
    pub(super) usage: Usage,
    /// What the session cost so far.
    pub(super) session_cost: Option<f64>,
}

/// Reads `Tokens: 2.6k sent, 75 received. Cost: $0.0072 message, …` and
/// `1.2k ◇ 0.0% ↑ 151 ↓ $0.0046 • 1.4k ◇ 0.0% ↑↓ $0.0046`.
pub(super) fn usage(line: &str) -> Option<Counts> {
    let line = line.trim_end();
    classic_usage(line).or_else(|| cecli_usage(line))
}

/// Whether a line is the beginning of `Tokens: …` that was cut before its end.
pub(super) fn is_cut_usage(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "sent,",
        "cache",
        "write,",
        "hit,",
        "received.",
        "Cost:",
        "message,",
    ];
    const LONGEST: usize = 120;
    let is_number = |word: &str| {
        let number = word.strip_prefix('$').unwrap_or(word);
        count(number).is_some()
    };
    let Some(rest) = line
        .strip_prefix("Tokens: ")
        .filter(|_| line.len() <= LONGEST)
    else {
        return false;
    };
    let mut words = rest.split_whitespace();
    words.next().is_some_and(is_number)
        && words.next() == Some("sent,")
        && words.all(|word| WORDS.contains(&word) || is_number(word))
}

/// Whether the cost follows these token counts on a line of its own.
pub(super) fn has_cost_below(line: &str) -> bool {
    let counts = classic_usage(line.trim_end());
    let cached = line.contains(" cache write, ") && line.contains(" cache hit, ");
    cached && counts.is_some_and(|counts| counts.usage.cost_usd.is_none())
}

fn classic_usage(line: &str) -> Option<Counts> {
    let (tokens, cost) = match line.split_once(" Cost: ") {
        Some((tokens, cost)) => (tokens, Some(cost)),
        None => (line, None),
    };
    let mut usage = Usage::default();
    for part in tokens
        .strip_prefix("Tokens: ")?
        .strip_suffix('.')?
        .split(", ")
    {
        let (number, what) = part.split_once(' ')?;
        let number = Some(count(number)?);
        match what {
            "sent" => usage.input_tokens = number,
            "received" => usage.output_tokens = number,
            "cache hit" => usage.cached_tokens = number,
            "cache write" => {}
            _ => return None,
        }
    }
    usage.input_tokens?;
    usage.output_tokens?;
    let mut session_cost = None;
    if let Some(cost) = cost {
        let (message, session) = cost.split_once(" message, ")?;
        usage.cost_usd = Some(dollars(message)?);
        session_cost = Some(dollars(session.strip_suffix(" session.")?)?);
    }
    Some(Counts {
        family: Family::Unknown,
        usage,
        session_cost,
    })
}

fn cecli_usage(line: &str) -> Option<Counts> {
    let (input, rest) = line.split_once(" ◇ ")?;
    let input = count(input)?;
    let (cached, rest) = rest.split_once("% ↑ ")?;
    let cached: f64 = cached.parse().ok()?;
    let (output, rest) = rest.split_once(" ↓")?;
    let output = count(output)?;
    let (turn, session) = rest.split_once(" ↑↓")?;
    let cost = turn.split_whitespace().find_map(dollars);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a rounded count"
    )]
    let hit = (input as f64 * cached / 100.0).round() as u64;
    Some(Counts {
        family: Family::Cecli,
        usage: Usage {
            input_tokens: Some(input),
            output_tokens: Some(output),
            cached_tokens: (hit > 0).then_some(hit),
            cost_usd: cost,
            ..Usage::default()
        },
        session_cost: dollars(session.trim()),
    })
}

/// `75`, `2.6k`, `12k`, `1.1M`.
fn count(text: &str) -> Option<u64> {
    let (number, factor) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1e3),
        None => match text.strip_suffix('M') {
            Some(number) => (number, 1e6),
            None => (text, 1.0),
        },
    };
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let number: f64 = number.replace(',', "").parse().ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "starts with a digit, and a float saturates"
    )]
    Some((number * factor).round() as u64)
}

fn dollars(text: &str) -> Option<f64> {
    let number = text.strip_prefix('$')?;
    number
        .starts_with(|c: char| c.is_ascii_digit())
        .then(|| number.parse().ok())?
}

/// A question found in a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Question<'a> {
    /// The question, and what follows it on the line.
    Whole(Prompt, &'a str),
    /// The line ends before the default answer: the terminal was too narrow.
    Cut,
}

/// Reads `Run tools? (Y)es/(N)o/(A)ll [Yes]: `.
pub(super) fn question(line: &str) -> Option<Question<'_>> {
    const OPTIONS: &[(&str, &str)] = &[
        ("(Y)es", "Yes"),
        ("/(N)o", "No"),
        ("/(T)weak", "Tweak"),
        ("/(A)ll", "All"),
        ("/(S)kip all", "Skip all"),
        ("/(D)on't ask again", "Don't ask again"),
    ];
    let start = line.find("(Y)es/(N)o")?;
    let (question, mut rest) = (line.get(..start)?.trim(), line.get(start..)?);
    if !question.contains('?') {
        return None;
    }
    let mut options = Vec::new();
    for (spelling, name) in OPTIONS {
        if let Some(after) = rest.strip_prefix(spelling) {
            rest = after;
            options.push((*name).to_owned());
        }
    }
    rest = rest.trim_start();
    if rest.is_empty() {
        return Some(Question::Cut);
    }
    let (default, rest) = rest.strip_prefix('[')?.split_once("]:")?;
    let prompt = Prompt {
        question: question.to_owned(),
        options,
        default: default.to_owned(),
        answer: String::new(),
    };
    Some(Question::Whole(
        prompt,
        rest.strip_prefix(' ').unwrap_or(rest),
    ))
}

/// What a question is about, which tells where it may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    /// May the tools be called?
    Tools,
    /// May the command of a tool call be run?
    Command,
    /// About a file, an address or commands that are shown before it.
    Subject,
    /// About output that is shown before it.
    Output,
    Other,
}

pub(super) fn topic(question: &str) -> Topic {
    const TOPICS: &[(Topic, &[&str])] = &[
        (Topic::Tools, &["Run tools?"]),
        (
            Topic::Command,
            &[
                "Allow execution of this command?",
                "Allow execution of this background command?",
                "Allow this command for the rest of the session?",
            ],
        ),
        (
            Topic::Output,
            &[
                "Add command output to the chat?",
                "Attempt to fix lint errors?",
                "Attempt to fix test errors?",
                "Fix lint errors in ",
                "No files matched ",
            ],
        ),
        (
            Topic::Subject,
            &[
                "Create new file?",
                "Allow edits to file",
                "Add file to the chat?",
                "Add URL to the chat?",
                "Run shell command",
                "Open URL",
                "Open documentation url",
            ],
        ),
    ];
    if question.starts_with("Add ") && question.ends_with(" of command output to the chat?") {
        return Topic::Output;
    }
    TOPICS
        .iter()
        .find(|(_, starts)| starts.iter().any(|start| question.starts_with(start)))
        .map_or(Topic::Other, |(topic, _)| *topic)
}

/// Whether it is asked before a change is made; all others come after it.
pub(super) fn asks_to_edit(question: &str) -> bool {
    question.starts_with("Create new file?") || question.starts_with("Allow edits to file")
}

/// Whether a word is an answer that a person types to a question.
pub(super) fn is_answer(word: &str) -> bool {
    const ANSWERS: &[&str] = &[
        "y", "n", "a", "s", "d", "t", "yes", "no", "all", "skip", "skip all", "don't", "tweak",
    ];
    ANSWERS.contains(&word.to_ascii_lowercase().as_str())
}

/// Whether an answer refuses.
pub(super) fn is_refusal(answer: &str) -> bool {
    answer
        .trim_start()
        .starts_with(['n', 'N', 's', 'S', 'd', 'D'])
}

/// The mode and the rest of a line that begins with the prompt for input.
pub(super) fn prompt(line: &str) -> Option<(&str, &str)> {
    let (word, rest) = line.split_once('>')?;
    let mode = word.strip_suffix("multi").unwrap_or(word).trim_end();
    if !mode.chars().all(|c| c.is_ascii_lowercase() || c == '-') || mode.starts_with('-') {
        return None;
    }
    let rest = if rest.is_empty() {
        rest
    } else {
        rest.strip_prefix(' ')?
    };
    Some((mode, rest))
}

/// Takes a frame of a spinner off the front of a line: its text is glued to
/// what was printed while it ran. Gives the spinner's text and the rest.
pub(super) fn spinner(line: &str) -> Option<(&str, &str)> {
    let frame = |c: char| ('\u{2800}'..='\u{28ff}').contains(&c);
    if !line.starts_with(frame) {
        return None;
    }
    let line = line.trim_start_matches(frame);
    let text = line.strip_prefix(' ').unwrap_or(line);
    for fixed in ["Processing Answer...", "Awaiting Confirmation..."] {
        if let Some(rest) = text.strip_prefix(fixed) {
            return Some((fixed, rest));
        }
    }
    if text.starts_with("Waiting for ")
        && let Some((waiting, rest)) = text.split_once(" session")
    {
        return Some((waiting, rest));
    }
    if text.starts_with("Generating ") || text.starts_with("Updating repo map") {
        return Some((text, ""));
    }
    Some(("", line))
}

/// Explanations that follow an error of the provider's API.
pub(super) fn is_api_error(line: &str) -> bool {
    const EXPLANATIONS: &[&str] = &[
        "The API provider's servers are down",
        "The API provider's server is down",
        "The API provider has rate limited you",
        "The API provider is not able to authenticate you",
        "The API provider has refused the request",
        "The API provider timed out",
        "API connection error",
        "API key error",
        "Insufficient credits",
        "The API provider",
    ];
    EXPLANATIONS.iter().any(|start| line.starts_with(start))
}

/// Where the text of an API error begins in a line.
pub(super) fn api_error_start(line: &str) -> Option<usize> {
    if line.starts_with("{\"error\"") || line.starts_with("{'error'") {
        return Some(0);
    }
    let start = line.find("litellm.")?;
    let name = line.get(start..)?.split(':').next()?;
    (name.ends_with("Error") || name.ends_with("Exception")).then_some(start)
}

/// The name in a context block's first line.
pub(super) fn context(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("<context name=\"")?;
    let (name, rest) = rest.split_once('"')?;
    rest.trim_end().ends_with('>').then_some(name)
}

/// Names of context blocks that the agents make.
pub(super) fn is_agent_context(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "context_summary",
        "gitStatus",
        "git_status",
        "tool_usage_history",
        "environment_info",
        "directoryStructure",
        "directory_structure",
        "repo_map",
        "repo_map_status",
        "symbol_outline",
        "todo_list",
        "user_input",
        "role_and_directives",
        "workflow_and_tool_usage",
        "critical_reminders",
        "sub_agents",
        "servers",
        "orchestration",
        "skills",
    ];
    NAMES.contains(&name)
}

/// Whether a line can only come from one of the agents.
pub(super) fn is_telling(line: &str) -> bool {
    let line = line.trim_end();
    let line = spinner(line).map_or(line, |(_, rest)| rest);
    banner(line).is_some()
        || (["Main model: ", "Model: "]
            .iter()
            .any(|start| line.starts_with(start))
            && line.contains(" edit format"))
        || (line.starts_with("Models         ") && line.contains(" (main)"))
        || header(line).is_some()
        || usage(line).is_some()
        || is_cut_usage(line)
        || matches!(line, "► **THINKING**" | "► **ANSWER**")
        || line.starts_with("Applied edit to ")
        || matches!(question(line), Some(Question::Whole(..)))
        || super::edit::is_search(line)
        || super::edit::is_replace(line)
        || context(line).is_some_and(is_agent_context)
        || line.contains("fzf not found, fuzzy finder features will be disabled.")
        || super::history::is_start(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_in_every_spelling() {
        let expected = Some(("web".to_owned(), "search".to_owned()));
        for line in [
            "Tool Call: web • search",
            "[blue]Tool Call:[/] web • search",
            "[bright_cyan]Tool Call:[/bright_cyan] web • search",
        ] {
            assert_eq!(header(line), expected, "{line}");
        }
        assert_eq!(header("Tool Call: a sentence • with words"), None);
    }

    #[test]
    fn token_counts_are_read() {
        let counts = usage("Tokens: 2.6k sent, 1.1k cache write, 12k cache hit, 75 received. Cost: $0.0072 message, $0.01 session.").unwrap();
        assert_eq!(counts.usage.input_tokens, Some(2600));
        assert_eq!(counts.usage.cached_tokens, Some(12_000));
        assert_eq!(counts.usage.output_tokens, Some(75));
        assert_eq!(counts.usage.cost_usd, Some(0.0072));
        assert_eq!(counts.session_cost, Some(0.01));
        assert!(usage("Tokens: 255 sent, 2 received.").is_some());
        assert!(usage("Tokens: many sent, few received.").is_none());
        assert!(is_cut_usage(
            "Tokens: 12k sent, 8.2k cache hit, 345 received. Cost: $0.05 message, "
        ));
        assert!(!is_cut_usage("Tokens: 12k sent, which is a lot"));
        let counts = usage("1.2k ◇ 50.0% ↑ 151 ↓ $0.0046 • 1.4k ◇ 0.0% ↑↓ $0.0046").unwrap();
        assert_eq!(counts.usage.output_tokens, Some(151));
        assert_eq!(counts.usage.cached_tokens, Some(600));
        assert!(usage("1.2k ◇ 0.0% ↑ 151 ↓ 1.4k ◇ 0.0% ↑↓").is_some());
    }

    #[test]
    fn questions_carry_options_default_and_what_follows() {
        let line = "Create new file? (a.py) (Y)es/(N)o [Yes]: Applied edit to app.py";
        let Some(Question::Whole(prompt, rest)) = question(line) else {
            panic!("no question");
        };
        assert_eq!(prompt.question, "Create new file? (a.py)");
        assert_eq!(prompt.options, ["Yes", "No"]);
        assert_eq!(
            (prompt.default.as_str(), rest),
            ("Yes", "Applied edit to app.py")
        );
        let cut = "Allow this? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again ";
        assert_eq!(question(cut), Some(Question::Cut));
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
    fn spinners_are_taken_off() {
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
}
