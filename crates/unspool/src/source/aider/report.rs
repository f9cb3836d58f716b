//! The report on edits that could not be made. It repeats the model's blocks
//! and looks like markdown, and the model's next message follows it without a
//! mark: only its own last sentences tell where it ends.

/// A report whose lines are still coming.
#[derive(Clone, Debug)]
pub(super) struct Report {
    lines: Vec<String>,
    /// Its last sentence was read; more blocks may be named below it.
    told: bool,
    complete: bool,
}

const LAST: &[&str] = &[
    "docstrings, etc",
    "opening fence ```",
    "that failed to match.",
];

impl Report {
    pub(super) fn begins(line: &str) -> bool {
        line.starts_with("The LLM did not conform to the edit format.")
            || (line.starts_with("# ") && line.contains(" failed to match!"))
    }

    pub(super) fn new(line: &str) -> Self {
        Self {
            lines: vec![line.to_owned()],
            told: false,
            complete: false,
        }
    }

    /// Whether the line belongs to the report.
    pub(super) fn takes(&self, line: &str) -> bool {
        let more = [
            "## ",
            "# The other ",
            "Don't re-send them.",
            "Just reply with fixed",
        ];
        if line.trim().is_empty() {
            return true;
        }
        if self.told {
            let within = self
                .lines
                .last()
                .is_some_and(|last| last.starts_with("# The other "));
            return within || more.iter().any(|start| line.starts_with(start));
        }
        // Other reports are one paragraph below the address.
        let detail = self.details();
        let ended = self.lines.last().is_some_and(|last| last.trim().is_empty());
        detail.is_none_or(is_long) || !ended && super::marker::note(line).is_none()
    }

    /// The first line below the general words.
    fn details(&self) -> Option<&str> {
        let general = |line: &&str| {
            line.trim().is_empty()
                || line.starts_with("The LLM did not conform")
                || line.starts_with("http")
        };
        self.lines
            .iter()
            .map(String::as_str)
            .find(|line| !general(line))
    }

    pub(super) fn push(&mut self, line: &str) {
        let text = line.trim_end();
        if LAST.iter().any(|last| text.ends_with(last)) {
            self.told = true;
            self.complete = text.ends_with("that failed to match.");
        }
        self.lines.push(text.to_owned());
    }

    /// Nothing can follow.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(super) fn text(&self) -> String {
        super::message::trim(&self.lines).join("\n")
    }
}

/// Reports that have a last sentence.
fn is_long(first: &str) -> bool {
    !first.starts_with("Error applying action")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of the lines belong to the report.
    fn length(lines: &[&str]) -> usize {
        let mut report = Report::new(lines[0]);
        let mut count = 1;
        for line in &lines[1..] {
            if !report.takes(line) {
                break;
            }
            report.push(line);
            count += 1;
            if report.is_complete() {
                break;
            }
        }
        count
    }

    #[test]
    fn the_last_sentence_ends_a_report() {
        let head = [
            "The LLM did not conform to the edit format.",
            "https://x",
            "",
        ];
        let block = [
            "# 1 SEARCH/REPLACE block failed to match!",
            "",
            "<<<<<<< SEARCH",
            ">>>>>>> REPLACE",
            "",
        ];
        let last = [
            "The SEARCH section must exactly match",
            "comments, indentation, docstrings, etc",
            "",
        ];
        let lines = [&head[..], &block, &last, &["Again."]].concat();
        assert_eq!(length(&lines), lines.len() - 1);
        let lines = [
            &head[..],
            &block,
            &last,
            &[
                "# The other 1 block were applied successfully.",
                "Don't re-send them.",
                "Just reply with fixed versions of the block above that failed to match.",
                "You can use /undo",
            ],
        ]
        .concat();
        assert_eq!(length(&lines), lines.len() - 1);
        let lines = [
            &head[..],
            &[
                "No file name:",
                "",
                "^^^ Bad/missing filename. before the",
                "opening fence ```",
                "Still bad.",
            ],
        ]
        .concat();
        assert_eq!(length(&lines), lines.len() - 1);
        let lines = [
            &head[..],
            &[
                "Error applying action 'ADD' to x: already ",
                "exists: x",
                "Commit c45270d feat",
            ],
        ]
        .concat();
        assert_eq!(length(&lines), lines.len() - 1);
    }
}
