//! Questions to the person.

use crate::event::Prompt;

/// A question found in a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Question<'a> {
    /// The question, and the text after it.
    Whole(Prompt, &'a str),
    /// A question cut before its default answer, on a narrow terminal.
    Cut,
}

/// The subject of a question, which decides where it may appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    /// Permission to call the tools.
    Tools,
    /// Permission to run the command of a tool call.
    Command,
    /// A file, an address or commands shown before the question.
    Subject,
    /// Output shown before the question.
    Output,
    Other,
}

/// Reads `Run tools? (Y)es/(N)o/(A)ll [Yes]: `.
pub(super) fn read(line: &str) -> Option<Question<'_>> {
    const OPTIONS: &[(&str, &str)] = &[
        ("(Y)es", "Yes"),
        ("/(N)o", "No"),
        ("/(T)weak", "Tweak"),
        ("/(A)ll", "All"),
        ("/(S)kip all", "Skip all"),
        ("/(D)on't ask again", "Don't ask again"),
    ];
    let (question, mut rest) = line.split_at(line.find("(Y)es/(N)o")?);
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
        question: question.trim().to_owned(),
        options,
        default: default.to_owned(),
        answer: String::new(),
    };
    Some(Question::Whole(
        prompt,
        rest.strip_prefix(' ').unwrap_or(rest),
    ))
}

/// Returns the topic of a question.
pub(super) fn topic(question: &str) -> Topic {
    #[rustfmt::skip]
    const TOPICS: &[(Topic, &[&str])] = &[
        (Topic::Tools, &["Run tools?"]),
        (Topic::Command, &["Allow execution of this ", "Allow this command for the rest of "]),
        (Topic::Output, &[
            "Add command output to the chat?", "Attempt to fix ", "Fix lint errors in ",
            "No files matched ",
        ]),
        (Topic::Subject, &[
            "Create new file?", "Allow edits to file", "Add file to the chat?",
            "Add URL to the chat?", "Run shell command", "Open URL", "Open documentation url",
        ]),
    ];
    if question.starts_with("Add ") && question.ends_with(" of command output to the chat?") {
        return Topic::Output;
    }
    let fits = |starts: &[&str]| starts.iter().any(|start| question.starts_with(start));
    let known = TOPICS.iter().find(|(_, starts)| fits(starts));
    known.map_or(Topic::Other, |(topic, _)| *topic)
}

/// Returns true for questions asked before a change is made; all others follow it.
pub(super) fn precedes_edit(question: &str) -> bool {
    question.starts_with("Create new file?") || question.starts_with("Allow edits to file")
}

/// Returns true for words that a person types as an answer.
pub(super) fn is_answer(word: &str) -> bool {
    const ANSWERS: &[&str] = &[
        "y", "n", "a", "s", "d", "t", "yes", "no", "all", "skip", "skip all", "don't", "tweak",
    ];
    ANSWERS.contains(&word.to_ascii_lowercase().as_str())
}

/// Returns true for answers that refuse.
pub(super) fn is_refusal(answer: &str) -> bool {
    answer
        .trim_start()
        .starts_with(['n', 'N', 's', 'S', 'd', 'D'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_carry_options_default_and_the_text_after_them() {
        let line = "Create new file? (a.py) (Y)es/(N)o [Yes]: Applied edit to app.py";
        let Some(Question::Whole(prompt, rest)) = read(line) else {
            panic!("no question");
        };
        assert_eq!(prompt.question, "Create new file? (a.py)");
        assert_eq!(prompt.options, ["Yes", "No"]);
        assert_eq!(
            (prompt.default.as_str(), rest),
            ("Yes", "Applied edit to app.py")
        );
        let cut = "Allow this? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again ";
        assert_eq!(read(cut), Some(Question::Cut));
    }
}
