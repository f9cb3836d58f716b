//! Code that is parsed again and again while it is being written.
//!
//! Colours cost far more than all the rest, so the lines of a block of code are
//! kept, with the state behind them, as long as the text around may still
//! change. A block is known by where it starts in the whole message.

use std::collections::BTreeMap;

use crate::doc::Line;
use crate::doc::code::{self, Highlighter};

/// What code costs.
pub(in crate::doc) enum Code<'a> {
    /// It is parsed this one time.
    Once,
    /// It may be parsed again; the text starts at this byte of the message.
    Kept(&'a mut Highlights, usize),
    /// It has no colours.
    Plain,
}

impl Code<'_> {
    /// The lines of code that starts at this byte of the text.
    pub(super) fn lines(&mut self, at: usize, text: &str, language: &str) -> Vec<Line> {
        match self {
            Self::Once => code::lines(text, language),
            Self::Plain => code::lines(text, ""),
            Self::Kept(highlights, base) => highlights.lines(*base + at, text, language),
        }
    }
}

/// The blocks of code that may be parsed again.
#[derive(Default)]
pub(in crate::doc) struct Highlights(BTreeMap<usize, Kept>);

struct Kept {
    language: String,
    /// The complete lines so far.
    text: String,
    lines: Vec<Line>,
    highlighter: Highlighter,
}

impl Highlights {
    fn lines(&mut self, at: usize, text: &str, language: &str) -> Vec<Line> {
        let kept = self.0.entry(at).or_insert_with(|| Kept::new(language));
        if kept.language != language || !text.starts_with(&kept.text) {
            *kept = Kept::new(language);
        }
        kept.extend(text)
    }

    /// Forgets all code that starts before this byte.
    pub(in crate::doc) fn forget_before(&mut self, at: usize) {
        if self
            .0
            .first_key_value()
            .is_some_and(|(first, _)| *first < at)
        {
            self.0 = self.0.split_off(&at);
        }
    }

    /// Hands over the code that starts at this byte: its complete lines, and
    /// what highlights the next.
    pub(in crate::doc) fn take(&mut self, at: usize) -> Option<(Vec<Line>, Highlighter)> {
        let kept = self.0.remove(&at)?;
        Some((kept.lines, kept.highlighter))
    }
}

impl Kept {
    fn new(language: &str) -> Self {
        Self {
            language: language.to_owned(),
            text: String::new(),
            lines: Vec::new(),
            highlighter: Highlighter::new(language),
        }
    }

    /// All lines of a text that starts with the one that is known.
    fn extend(&mut self, text: &str) -> Vec<Line> {
        let new = text.get(self.text.len()..).unwrap_or_default();
        let (complete, rest) = new.split_at(new.rfind('\n').map_or(0, |end| end + 1));
        for line in complete.lines() {
            self.lines.push(self.highlighter.line(line));
        }
        self.text.push_str(complete);
        let mut lines = self.lines.clone();
        if !rest.is_empty() {
            lines.push(self.highlighter.clone().line(rest));
        }
        lines
    }
}
