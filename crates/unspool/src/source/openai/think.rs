//! Reasoning that servers without a reasoning parser leave in the answer: a
//! `<think>…</think>` at its start, which streaming may split anywhere.
//!
//! The tags and whitespace before the opening tag are removed. Whitespace after
//! the closing tag belongs to the answer, if there is one.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A part of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Reasoning,
    Answer,
}

/// Splits streamed content.
#[derive(Clone, Default)]
pub(super) struct Splitter {
    state: State,
    /// Undecided text: at most whitespace and a part of a tag.
    held: String,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Only whitespace so far.
    #[default]
    Start,
    Thinking,
    /// Only whitespace since the closing tag.
    Closed,
    Answer,
}

impl Splitter {
    /// Adds a piece and passes on what is decided.
    pub(super) fn push(&mut self, piece: &str, sink: &mut dyn FnMut(Part, &str)) {
        if self.state == State::Answer {
            emit(Part::Answer, piece, sink);
            return;
        }
        self.held.push_str(piece);
        if self.state == State::Start {
            self.start();
        }
        if self.state == State::Thinking {
            self.think(sink);
        }
        let begins = matches!(self.state, State::Closed) && !self.held.trim_start().is_empty();
        if begins {
            self.state = State::Answer;
        }
        if self.state == State::Answer {
            emit(Part::Answer, &std::mem::take(&mut self.held), sink);
        }
    }

    /// Passes on the undecided text at the end.
    pub(super) fn finish(&mut self, sink: &mut dyn FnMut(Part, &str)) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            State::Start | State::Answer => emit(Part::Answer, &held, sink),
            State::Thinking => emit(Part::Reasoning, &held, sink),
            State::Closed => {}
        }
        self.state = State::Answer;
    }

    fn start(&mut self) {
        let text = self.held.trim_start();
        if let Some(rest) = text.strip_prefix(OPEN) {
            self.held = rest.to_owned();
            self.state = State::Thinking;
        } else if !OPEN.starts_with(text) {
            self.state = State::Answer;
        }
    }

    fn think(&mut self, sink: &mut dyn FnMut(Part, &str)) {
        if let Some((reasoning, rest)) = self.held.split_once(CLOSE) {
            emit(Part::Reasoning, reasoning, sink);
            self.held = rest.to_owned();
            self.state = State::Closed;
            return;
        }
        let kept = (1..CLOSE.len())
            .rev()
            .find(|length| {
                CLOSE
                    .get(..*length)
                    .is_some_and(|tag| self.held.ends_with(tag))
            })
            .unwrap_or(0);
        let rest = self.held.split_off(self.held.len() - kept);
        emit(Part::Reasoning, &self.held, sink);
        self.held = rest;
    }
}

fn emit(part: Part, text: &str, sink: &mut dyn FnMut(Part, &str)) {
    if !text.is_empty() {
        sink(part, text);
    }
}

/// Splits whole content.
pub(super) fn split(content: &str, sink: &mut dyn FnMut(Part, &str)) {
    let mut splitter = Splitter::default();
    let (mut reasoning, mut answer) = (String::new(), String::new());
    let mut collect = |part, text: &str| match part {
        Part::Reasoning => reasoning.push_str(text),
        Part::Answer => answer.push_str(text),
    };
    splitter.push(content, &mut collect);
    splitter.finish(&mut collect);
    emit(Part::Reasoning, &reasoning, sink);
    emit(Part::Answer, &answer, sink);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns reasoning and answer, which must not depend on the pieces.
    fn parts(content: &str) -> (String, String) {
        let collect = |pieces: &[String]| {
            let (mut reasoning, mut answer) = (String::new(), String::new());
            let mut sink = |part, text: &str| match part {
                Part::Reasoning => reasoning.push_str(text),
                Part::Answer => answer.push_str(text),
            };
            let mut splitter = Splitter::default();
            for piece in pieces {
                splitter.push(piece, &mut sink);
            }
            splitter.finish(&mut sink);
            (reasoning, answer)
        };
        let whole = collect(&[content.to_owned()]);
        let letters: Vec<char> = content.chars().collect();
        for size in 1..letters.len().max(1) {
            let pieces: Vec<String> = letters.chunks(size).map(|c| c.iter().collect()).collect();
            assert_eq!(collect(&pieces), whole, "pieces of {size}");
        }
        whole
    }

    fn expect(content: &str, reasoning: &str, answer: &str) {
        assert_eq!(parts(content), (reasoning.to_owned(), answer.to_owned()));
    }

    #[test]
    fn a_leading_block_is_reasoning() {
        expect(
            "<think>a < b</thin </think>\n\nHi",
            "a < b</thin ",
            "\n\nHi",
        );
        expect(
            "\n<think></think>Hi <think>x</think>",
            "",
            "Hi <think>x</think>",
        );
    }

    #[test]
    fn anything_else_is_the_answer() {
        expect("Hi <think>x</think>", "", "Hi <think>x</think>");
        expect("  <thin", "", "  <thin");
        expect("", "", "");
    }

    #[test]
    fn a_block_that_never_ends_is_all_reasoning() {
        expect("<think>so far</thi", "so far</thi", "");
    }

    #[test]
    fn whitespace_alone_is_not_an_answer() {
        expect("<think>x</think>\n\n", "x", "");
    }
}
