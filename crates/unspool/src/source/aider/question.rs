//! Questions to the person.

use crate::event::Prompt;

/// A question found in a line, and the text after it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question<'a>(pub(super) Prompt, pub(super) &'a str);

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

/// Reads `Run tools? (Y)es/(N)o/(A)ll [Yes]: ` and any other question of this form:
/// `Question? (options) [default]: `. An indented or quoted one is text.
pub(super) fn read(line: &str) -> Option<Question<'_>> {
    let (question, options, rest) = split(line)?;
    let (default, rest) = rest.strip_prefix('[')?.split_once("]:")?;
    let prompt = Prompt {
        question: question.trim().to_owned(),
        options,
        default: default.to_owned(),
        answer: String::new(),
    };
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    Some(Question(prompt, rest))
}

/// Returns true for a question that was cut after its first options.
pub(super) fn is_cut(line: &str) -> bool {
    split(line).is_some_and(|(_, _, rest)| rest.is_empty())
}

/// Splits a line into a question, its options and the rest.
fn split(line: &str) -> Option<(&str, Vec<String>, &str)> {
    if !line.starts_with(char::is_alphanumeric) {
        return None;
    }
    let (asked, _) = line.split_once('?')?;
    let mut starts = line.match_indices(" (").map(|(at, _)| at + 1);
    starts.find_map(|at| {
        let question = line.get(..at).filter(|_| at > asked.len())?;
        let (options, rest) = options(line.get(at..)?)?;
        Some((question, options, rest.trim_start()))
    })
}

/// Splits `(Y)es/(N)o` or `(yes/no)` off the start of a text.
fn options(text: &str) -> Option<(Vec<String>, &str)> {
    let (key, rest) = text.strip_prefix('(')?.split_once(')')?;
    if key.chars().count() > 1 {
        let names: Vec<String> = key.split('/').map(str::to_owned).collect();
        let is_default = |name: &String| rest.trim_start().starts_with(&format!("[{name}]:"));
        return names.iter().any(is_default).then_some((names, rest));
    }
    let end = text.find(" [").unwrap_or(text.trim_end().len());
    let (listed, rest) = text.split_at_checked(end)?;
    let name = |option: &str| {
        let (key, name) = option.strip_prefix('(')?.split_once(')')?;
        (key.chars().count() == 1).then(|| format!("{key}{name}"))
    };
    let names: Vec<String> = listed.split('/').map(name).collect::<Option<_>>()?;
    (names.len() > 1).then_some((names, rest))
}

/// Returns where the last question of a line ends, if it is complete.
pub(super) fn end(line: &str) -> Option<usize> {
    let mut end = None;
    let mut rest = line;
    while let Some(Question(_, after)) = read(rest) {
        end = Some(line.len() - after.len());
        rest = after;
    }
    end
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

/// Returns true for words that a person types as an answer: an option or its key.
pub(super) fn is_answer(word: &str, options: &[String]) -> bool {
    const SHORT: &[&str] = &["skip", "don't"];
    let is_option = |option: &String| {
        let key = option.chars().next().map(String::from).unwrap_or_default();
        word.eq_ignore_ascii_case(option) || word.eq_ignore_ascii_case(&key)
    };
    options.iter().any(is_option) || SHORT.iter().any(|short| word.eq_ignore_ascii_case(short))
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
        let Some(Question(prompt, rest)) = read(line) else {
            panic!("no question");
        };
        assert_eq!(prompt.question, "Create new file? (a.py)");
        assert_eq!(prompt.options, ["Yes", "No"]);
        assert_eq!(
            (prompt.default.as_str(), rest),
            ("Yes", "Applied edit to app.py")
        );
    }

    #[test]
    fn questions_may_have_any_options() {
        for (line, expected) in [
            (
                "Edit the files? (Y)es/(N)o/(T)weak [Yes]:",
                &["Yes", "No", "Tweak"][..],
            ),
            (
                "Proceed? (C)ontinue/(R)etry it/(Q)uit [Retry it]: ",
                &["Continue", "Retry it", "Quit"],
            ),
            ("Which? (main/weak) [main]: ", &["main", "weak"]),
        ] {
            let Some(Question(prompt, "")) = read(line) else {
                panic!("{line}");
            };
            assert_eq!(prompt.options, expected);
        }
        for text in [
            "> Run tools? (Y)es/(N)o [Yes]: ",
            "    Run tools? (Y)es/(N)o [Yes]: ",
            "Is it so? (see a/b) [1]: https://x.org",
            "Run tools (Y)es/(N)o [Yes]: ",
            "Why? (I) think [so]: yes",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn the_last_of_several_questions_ends_the_line() {
        let line = "Run? (Y)es/(N)o [Yes]: Allow? (Y)es/(N)o [No]: and";
        assert_eq!(end(line), Some(line.len() - 3));
        assert_eq!(end("Run? (Y)es/(N)o [Yes]:"), Some(22));
        assert_eq!(end("Run? (Y)es/(N)o [Yes]"), None);
    }
}
