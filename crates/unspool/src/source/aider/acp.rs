//! aider's ACP server. Its messages hold the model's words, edit blocks for the
//! agent, and, between fences of four backticks, lines of the agent's console.
//! [`Speech`] splits them as they arrive: only a possible edit block is held back.

use super::draft::{Draft, may_start};
use super::marks::{self, Mark};
use super::notes;
use crate::event::{Edit, Level, ToolStatus};
use crate::json::Json;

/// The name by which the server introduces itself.
pub(in crate::source) const NAME: &str = "cecli";

/// The notice after calls that were refused or failed.
pub(in crate::source) const WENT_ON: &str = marks::WENT_ON;

/// Opens and closes the console's lines; always at the start of a chunk.
const FENCE: &str = "````\n";
/// Separates thinking and answer where the server sends both as answer.
const END_OF_THOUGHT: &str = "----------";

/// A part of a message.
#[derive(Debug, PartialEq)]
pub(in crate::source) enum Piece {
    Text(String),
    Thought(String),
    Edits(Vec<Edit>),
    Notice(Level, String),
}

/// The open message of a session.
#[derive(Clone, Default)]
pub(in crate::source) struct Speech {
    pub(in crate::source) session: String,
    /// The open line, unless it was passed on.
    line: String,
    /// The start of the open line was passed on.
    in_line: bool,
    draft: Draft,
    /// The console's lines, while it is open.
    console: Option<Vec<String>>,
    /// The text is the model's thinking.
    is_thinking: bool,
}

impl Speech {
    /// Takes a chunk of the model's thinking. If the chunk is a part of the rule
    /// above it, the thinking is sent as answer.
    pub(in crate::source) fn thought(&mut self, chunk: &str) -> Vec<Piece> {
        let is_rule = chunk.contains('-') && chunk.chars().all(|c| matches!(c, '-' | '\n'));
        if is_rule {
            self.is_thinking = true;
            return Vec::new();
        }
        vec![Piece::Thought(chunk.to_owned())]
    }

    /// Takes a chunk of a message.
    pub(in crate::source) fn chunk(&mut self, chunk: &str, pieces: &mut Vec<Piece>) {
        let fenced = chunk.trim_start_matches('\n').strip_prefix(FENCE);
        if let Some(console) = &mut self.console {
            let Some(rest) = fenced else {
                console.extend(chunk.lines().map(str::to_owned));
                return;
            };
            self.close_console(pieces);
            self.text(rest.trim_start_matches('\n'), pieces);
            return;
        }
        match fenced.filter(|lines| lines.ends_with('\n')) {
            Some(lines) => {
                self.end_text(pieces);
                self.console = Some(lines.lines().map(str::to_owned).collect());
            }
            None => self.text(chunk, pieces),
        }
    }

    fn close_console(&mut self, pieces: &mut Vec<Piece>) {
        let lines = self.console.take().unwrap_or_default();
        let notices = notes::console(&lines).into_iter();
        pieces.extend(notices.map(|(level, text)| Piece::Notice(level, text)));
    }

    fn text(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        for part in text.split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') {
                let line = std::mem::take(&mut self.line);
                let is_rest = std::mem::take(&mut self.in_line);
                self.whole_line(line, is_rest, pieces);
            }
        }
        if !self.draft.may_take(&self.line) {
            self.close_draft(pieces);
        }
        if self.draft.is_empty() && (self.in_line || !may_start(&self.line)) {
            self.in_line |= !self.line.is_empty();
            let line = std::mem::take(&mut self.line);
            self.say(line, pieces);
        }
    }

    /// Takes a line, or the rest of one that was passed on.
    fn whole_line(&mut self, line: String, is_rest: bool, pieces: &mut Vec<Piece>) {
        let text = line.trim_end();
        if self.is_thinking && !is_rest && text == END_OF_THOUGHT {
            self.is_thinking = false;
            return;
        }
        if is_rest || self.is_thinking {
            return self.say(line, pieces);
        }
        if !self.draft.takes(&line) {
            self.close_draft(pieces);
            if !self.draft.takes(&line) {
                self.say(line, pieces);
            }
        }
        if self.draft.is_over() {
            self.close_draft(pieces);
        }
    }

    /// Passes on a possible edit block.
    fn close_draft(&mut self, pieces: &mut Vec<Piece>) {
        if self.draft.is_empty() {
            return;
        }
        match self.draft.close() {
            Ok(edits) => pieces.push(Piece::Edits(edits)),
            Err(text) => self.say(text, pieces),
        }
    }

    fn say(&mut self, text: String, pieces: &mut Vec<Piece>) {
        if text.is_empty() {
            return;
        }
        match pieces.last_mut() {
            Some(Piece::Text(open)) if !self.is_thinking => open.push_str(&text),
            Some(Piece::Thought(open)) if self.is_thinking => open.push_str(&text),
            _ if self.is_thinking => pieces.push(Piece::Thought(text)),
            _ => pieces.push(Piece::Text(text)),
        }
    }

    fn end_text(&mut self, pieces: &mut Vec<Piece>) {
        let line = std::mem::take(&mut self.line);
        let is_rest = std::mem::take(&mut self.in_line);
        if !line.is_empty() {
            self.whole_line(line, is_rest, pieces);
        }
        self.close_draft(pieces);
        self.is_thinking = false;
    }

    /// Passes on everything that is held back.
    pub(in crate::source) fn end(&mut self, pieces: &mut Vec<Piece>) {
        self.end_text(pieces);
        self.close_console(pieces);
    }
}

/// Returns true for calls that only carry a question.
pub(in crate::source) fn is_question(id: &str) -> bool {
    id.starts_with("cecli-confirm-")
}

/// Returns the question of a request for permission that is not about the call as
/// such: its text, or the title of the call with its subject.
pub(in crate::source) fn question(
    asked: String,
    title: &str,
    subject: Option<&str>,
) -> Option<String> {
    if asked.ends_with('?') && !asked.contains('\n') {
        return Some(asked);
    }
    let subject = subject?.trim();
    let is_new = !subject.is_empty() && !subject.contains('\n') && !title.contains(subject);
    is_new.then(|| format!("{title} ({subject})"))
}

/// Returns true if the output of a tool reports a failure: the server itself
/// reports every call that was not refused as a success.
pub(in crate::source) fn has_failed(text: &str) -> bool {
    if !text.starts_with("{\"result\"") {
        return matches!(marks::mark(text), Some(Mark::Tool(ToolStatus::Error, _)));
    }
    let report = Json::parse(text).map(Json::object).unwrap_or_default();
    report.get("result").array().is_empty() && !report.get("errors").array().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits a message that comes in these chunks.
    fn pieces_of(chunks: &[&str]) -> Vec<Piece> {
        let mut speech = Speech::default();
        let mut pieces = Vec::new();
        for chunk in chunks {
            speech.chunk(chunk, &mut pieces);
        }
        speech.end(&mut pieces);
        pieces
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    const BLOCK: &str = "app.py\n```python\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n";

    #[test]
    fn an_edit_block_is_found_in_chunks_of_any_size() {
        let whole = format!("Now:\n\n{BLOCK}\nDone.\n");
        let expected = |pieces: &[Piece]| {
            let [before, Piece::Edits(edits), after] = pieces else {
                panic!("{pieces:?}");
            };
            assert_eq!((before, after), (&text("Now:\n\n"), &text("\nDone.\n")));
            assert_eq!(edits[0].path, "app.py");
            assert_eq!(edits[0].hunks[0].lines, ["-a", "+b"]);
        };
        expected(&pieces_of(&[&whole]));
        let letters: Vec<String> = whole.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        expected(&pieces_of(&letters));
    }

    #[test]
    fn other_text_is_unchanged() {
        for words in [
            "app.py\n\nis a file.\n",
            "```python\nx = 1\n<<<<<<< SEARCH\n```\nNext.",
            "app.py\n```\n<<<<<<< SEARCH\na\n",
            "<<<<<<< HEAD\na\n",
        ] {
            assert_eq!(pieces_of(&[words]), [text(words)], "{words}");
        }
    }

    #[test]
    fn only_a_possible_block_is_held_back() {
        let mut speech = Speech::default();
        let mut pieces = Vec::new();
        speech.chunk("I will do", &mut pieces);
        assert_eq!(pieces, [text("I will do")]);
        speech.chunk(" it.\napp", &mut pieces);
        assert_eq!(pieces, [text("I will do it.\n")]);
    }

    #[test]
    fn console_lines_are_notices() {
        let pieces = pieces_of(&[
            "Hi.",
            "\n\n````\nApplied edit to a\n",
            "Applied edit to b\n",
            "````\n\n",
            "More.",
        ]);
        let note = |text: &str| Piece::Notice(Level::Info, text.to_owned());
        let notes = [note("Applied edit to a"), note("Applied edit to b")];
        assert_eq!(pieces[0], text("Hi."));
        assert_eq!(pieces[1..3], notes);
        assert_eq!(pieces[3], text("More."));
    }

    #[test]
    fn thinking_sent_as_answer_is_thinking() {
        let mut speech = Speech::default();
        assert_eq!(speech.thought("\n----"), []);
        let mut pieces = Vec::new();
        for chunk in ["Nearly do", "ne.", "\n----------\n\nIt greets"] {
            speech.chunk(chunk, &mut pieces);
        }
        let thought = Piece::Thought("Nearly done.\n".to_owned());
        assert_eq!(pieces, [thought, text("\nIt greets")]);
    }
}
