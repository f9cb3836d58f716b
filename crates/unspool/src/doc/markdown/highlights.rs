//! Caches highlighted code between repeated parses of a growing message.
//!
//! Highlighting costs far more than parsing, so the lines of a code block and
//! the highlighter's state are kept until the block is final. The key is the
//! block's start offset in the message.

use std::collections::BTreeMap;

use crate::doc::Line;
use crate::doc::code::{self, Highlighter};

/// Highlighting modes for code blocks.
pub(in crate::doc) enum Code<'a> {
    /// Highlights without caching.
    Once,
    /// Caches the result; the text starts at this offset of the message.
    Kept(&'a mut Highlights, usize),
    /// Does not highlight.
    Plain,
}

impl Code<'_> {
    /// Returns the lines of a code block that starts at this offset of the
    /// text.
    pub(super) fn lines(&mut self, at: usize, text: &str, language: &str) -> Vec<Line> {
        match self {
            Self::Once => code::lines(text, language),
            Self::Plain => code::plain_lines(text),
            Self::Kept(highlights, base) => highlights.lines(*base + at, text, language),
        }
    }
}

/// Code blocks that may be parsed again, by offset.
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

    /// Drops the code blocks that start before this offset.
    pub(in crate::doc) fn forget_before(&mut self, at: usize) {
        if self
            .0
            .first_key_value()
            .is_some_and(|(first, _)| *first < at)
        {
            self.0 = self.0.split_off(&at);
        }
    }

    /// Removes the code block at this offset; returns its complete lines and
    /// the highlighter for the next ones.
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

    /// Returns all lines of a text that extends the cached one.
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
