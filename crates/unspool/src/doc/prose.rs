//! Converts an agent's prose to blocks.
//!
//! Prose is Markdown. Without the feature `markdown` it is shown as it came: a
//! paragraph for each run of lines between empty ones.

use crate::doc::Block;
#[cfg(not(feature = "markdown"))]
use crate::doc::{Span, Style};
#[cfg(not(feature = "markdown"))]
use crate::sanitize;

/// Converts a text to blocks, with or without highlighted code.
#[cfg(feature = "markdown")]
pub(super) fn blocks(text: &str, highlight: bool) -> Vec<Block> {
    super::markdown::blocks_of(text, highlight)
}

/// Converts a text to paragraphs.
#[cfg(not(feature = "markdown"))]
pub(super) fn blocks(text: &str, _highlight: bool) -> Vec<Block> {
    let text = sanitize::text(text);
    let mut paragraphs: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(str::trim_end) {
        match paragraphs.last_mut() {
            _ if line.is_empty() => {}
            Some(paragraph) if is_open => {
                paragraph.push('\n');
                paragraph.push_str(line);
            }
            _ => paragraphs.push(line.to_owned()),
        }
        is_open = !line.is_empty();
    }
    let paragraph = |text| Block::Paragraph(vec![Span::new(text, Style::default())]);
    paragraphs.into_iter().map(paragraph).collect()
}

#[cfg(all(test, not(feature = "markdown")))]
mod tests {
    use super::*;

    #[test]
    fn empty_lines_separate_paragraphs() {
        let paragraph = |text: &str| Block::Paragraph(vec![Span::new(text, Style::default())]);
        assert_eq!(
            blocks("\n# A title\n\n\n- one\n- *two*\n", true),
            [paragraph("# A title"), paragraph("- one\n- *two*")]
        );
    }
}
