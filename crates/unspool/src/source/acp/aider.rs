//! What only aider's adapter does. Its messages hold the model's words, edit
//! blocks that are meant for the agent, and, between fences of four backticks,
//! the lines that the agent prints on its console. Here they are taken apart as
//! they come: only what may be the beginning of an edit block is held back.

use super::Acp;
use super::content;
use crate::event::{Edit, Level, ToolStatus};
use crate::json::{Json, Object};
use crate::source::Emitter;
use crate::source::aider::{self, Closed, Draft, may_begin};

/// How the adapter calls itself.
pub(super) const NAME: &str = "cecli";

/// Opens and closes what the console shows; always at the start of a chunk.
const FENCE: &str = "````\n";
/// Stands between thinking and answer where the adapter did not tell them apart.
const END_OF_THOUGHT: &str = "----------";

/// A piece of what was said.
#[derive(Debug, PartialEq)]
enum Piece {
    Text(String),
    Thought(String),
    Edits(Vec<Edit>),
    Notice(Level, String),
}

/// The message that is being said.
#[derive(Clone, Default)]
pub(super) struct Speech {
    session: String,
    /// A line that has no end yet, unless it was passed on.
    line: String,
    /// The beginning of the open line was passed on.
    in_line: bool,
    draft: Draft,
    /// What closes the code in which no edit block can be.
    code: Option<String>,
    /// The console's lines, while it is open.
    console: Option<Vec<String>>,
    /// The words are still the model's thinking.
    thinks: bool,
}

impl Speech {
    /// Takes a chunk of the model's thinking. Of the line that begins it, a rest
    /// may come alone; the thinking then comes as an answer.
    fn thought(&mut self, chunk: &str) -> Vec<Piece> {
        let is_rule = chunk.contains('-') && chunk.chars().all(|c| matches!(c, '-' | '\n'));
        self.thinks |= is_rule;
        if is_rule {
            return Vec::new();
        }
        vec![Piece::Thought(chunk.to_owned())]
    }

    /// Takes a chunk of a message.
    fn chunk(&mut self, chunk: &str, pieces: &mut Vec<Piece>) {
        let fenced = chunk.trim_start_matches('\n').strip_prefix(FENCE);
        if let Some(console) = &mut self.console {
            let Some(rest) = fenced else {
                console.extend(chunk.lines().map(str::to_owned));
                return;
            };
            self.close_console(pieces);
            self.words(rest.trim_start_matches('\n'), pieces);
            return;
        }
        match fenced.filter(|lines| lines.ends_with('\n')) {
            Some(lines) => {
                self.end_words(pieces);
                self.console = Some(lines.lines().map(str::to_owned).collect());
            }
            None => self.words(chunk, pieces),
        }
    }

    fn close_console(&mut self, pieces: &mut Vec<Piece>) {
        let lines = self.console.take().unwrap_or_default();
        let notices = aider::console(&lines).into_iter();
        pieces.extend(notices.map(|(level, text)| Piece::Notice(level, text)));
    }

    fn words(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        for part in text.split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') {
                let line = std::mem::take(&mut self.line);
                let goes_on = std::mem::take(&mut self.in_line);
                self.whole_line(line, goes_on, pieces);
            }
        }
        if !self.draft.may_take(&self.line) {
            self.close_draft(pieces);
        }
        if self.draft.is_empty() && (self.in_line || !may_begin(&self.line)) {
            self.in_line |= !self.line.is_empty();
            let line = std::mem::take(&mut self.line);
            self.say(line, pieces);
        }
    }

    /// Takes a line, or, where it `goes_on`, the rest of one.
    fn whole_line(&mut self, line: String, goes_on: bool, pieces: &mut Vec<Piece>) {
        let text = line.trim_end();
        if self.thinks && !goes_on && text == END_OF_THOUGHT {
            self.thinks = false;
            return;
        }
        if goes_on || self.thinks {
            return self.say(line, pieces);
        }
        if let Some(fence) = &self.code {
            if text == fence {
                self.code = None;
            }
            return self.say(line, pieces);
        }
        if !self.draft.takes(&line) {
            self.close_draft(pieces);
            let takes = self.code.is_none() && self.draft.takes(&line);
            if !takes {
                self.say(line, pieces);
            }
        }
        if self.draft.is_over() {
            self.close_draft(pieces);
        }
    }

    /// What was held back is an edit block, or words after all.
    fn close_draft(&mut self, pieces: &mut Vec<Piece>) {
        if self.draft.is_empty() {
            return;
        }
        match self.draft.close() {
            Closed::Edits(edits) => pieces.push(Piece::Edits(edits)),
            Closed::Words(words, code) => {
                self.code = code;
                self.say(words, pieces);
            }
        }
    }

    fn say(&mut self, text: String, pieces: &mut Vec<Piece>) {
        if text.is_empty() {
            return;
        }
        match pieces.last_mut() {
            Some(Piece::Text(open)) if !self.thinks => open.push_str(&text),
            Some(Piece::Thought(open)) if self.thinks => open.push_str(&text),
            _ if self.thinks => pieces.push(Piece::Thought(text)),
            _ => pieces.push(Piece::Text(text)),
        }
    }

    fn end_words(&mut self, pieces: &mut Vec<Piece>) {
        let line = std::mem::take(&mut self.line);
        let goes_on = std::mem::take(&mut self.in_line);
        if !line.is_empty() {
            self.whole_line(line, goes_on, pieces);
        }
        self.close_draft(pieces);
        self.code = None;
        self.thinks = false;
    }

    /// Something else follows.
    fn end(&mut self, pieces: &mut Vec<Piece>) {
        self.end_words(pieces);
        self.close_console(pieces);
    }
}

impl Acp {
    /// A chunk of a message or of thinking.
    pub(super) fn aider_chunk(
        &mut self,
        session: &str,
        text: &str,
        reasoning: bool,
        out: &mut Emitter,
    ) {
        if reasoning || self.speech.session != session {
            self.end_speech(out);
        }
        session.clone_into(&mut self.speech.session);
        let pieces = if reasoning {
            self.speech.thought(text)
        } else {
            let mut pieces = Vec::new();
            self.speech.chunk(text, &mut pieces);
            pieces
        };
        self.say_pieces(pieces, out);
    }

    /// Says what was held back: something else follows.
    pub(super) fn end_speech(&mut self, out: &mut Emitter) {
        let mut pieces = Vec::new();
        self.speech.end(&mut pieces);
        self.say_pieces(pieces, out);
    }

    fn say_pieces(&mut self, pieces: Vec<Piece>, out: &mut Emitter) {
        let session = self.speech.session.clone();
        if !pieces.is_empty() {
            self.turn_to(&session, out);
        }
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    out.agent(self.sessions.agent_of(&session));
                    self.say(&session, "", &text, false, out);
                }
                Piece::Thought(text) => {
                    out.agent(self.sessions.agent_of(&session));
                    self.say(&session, "", &text, true, out);
                }
                Piece::Edits(edits) => {
                    out.agent(self.sessions.agent_of(&session));
                    out.end_message();
                    out.edits(edits);
                }
                Piece::Notice(level, text) => {
                    if text == aider::WENT_ON {
                        self.refuse_all(&session);
                    }
                    self.others_first(&session, out);
                    out.agent(self.sessions.agent_of(&session));
                    out.end_message();
                    out.notice(level, text);
                }
            }
        }
    }

    /// The agent goes on without the calls that did not begin.
    fn refuse_all(&mut self, session: &str) {
        let waiting = |call: &&mut super::Call| call.session == session && !call.started;
        for call in self.calls.iter_mut().filter(waiting) {
            call.refused.get_or_insert(ToolStatus::Rejected);
        }
    }
}

/// Whether a call only stands for a question that is about no call.
pub(super) fn is_question(id: &str) -> bool {
    id.starts_with("cecli-confirm-")
}

/// What a request for permission asks, where it is not about the call as such:
/// its text, or the title of a call that stands for a question, with what the
/// question is about.
pub(super) fn question(call: &Object<'_>, title: &str, content: Json<'_>) -> Option<String> {
    let asked = content::tool_text(call.get("content"));
    if asked.ends_with('?') && !asked.contains('\n') {
        return Some(asked);
    }
    let subject = content::tool_text(content);
    let subject = content::unfenced(&subject)?.trim();
    let is_news = !subject.is_empty() && !subject.contains('\n') && !title.contains(subject);
    is_news.then(|| format!("{title} ({subject})"))
}

/// Whether the tool says that it could not do what it was asked for: the
/// adapter itself calls every call that was not refused a success.
pub(super) fn has_failed(text: &str) -> bool {
    if !text.starts_with("{\"result\"") {
        return aider::is_failure(text);
    }
    let report = Json::parse(text).map(Json::object).unwrap_or_default();
    report.get("result").array().is_empty() && !report.get("errors").array().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What these chunks come to, with what they have in common joined.
    fn said(chunks: &[&str]) -> Vec<Piece> {
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
    fn an_edit_block_is_a_change_however_it_is_cut() {
        let whole = format!("Now:\n\n{BLOCK}\nDone.\n");
        let expected = |pieces: &[Piece]| {
            let [before, Piece::Edits(edits), after] = pieces else {
                panic!("{pieces:?}");
            };
            assert_eq!((before, after), (&text("Now:\n\n"), &text("\nDone.\n")));
            assert_eq!(edits[0].path, "app.py");
            assert_eq!(edits[0].hunks[0].lines, ["-a", "+b"]);
        };
        expected(&said(&[&whole]));
        let letters: Vec<String> = whole.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        expected(&said(&letters));
    }

    #[test]
    fn what_is_no_edit_block_stays_as_it_is() {
        for words in [
            "app.py\n\nis a file.\n",
            "```python\nx = 1\n<<<<<<< SEARCH\n```\nNext.",
            "app.py\n```\n<<<<<<< SEARCH\na\n",
            "<<<<<<< HEAD\na\n",
        ] {
            assert_eq!(said(&[words]), [text(words)], "{words}");
        }
    }

    #[test]
    fn words_are_passed_on_at_once_unless_they_may_be_a_block() {
        let mut speech = Speech::default();
        let mut pieces = Vec::new();
        speech.chunk("I will do", &mut pieces);
        assert_eq!(pieces, [text("I will do")]);
        speech.chunk(" it.\napp", &mut pieces);
        assert_eq!(pieces, [text("I will do it.\n")]);
    }

    #[test]
    fn the_console_is_not_the_model() {
        let pieces = said(&[
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
    fn thinking_that_came_as_an_answer_is_thinking() {
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
