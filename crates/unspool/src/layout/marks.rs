//! Replaces styles that carry meaning with characters, for back ends that cannot show
//! them: addresses after links, `~~` around struck-out text.

use std::borrow::Cow;

use crate::doc::{Line, Span};
use crate::layout::{Page, link};

/// Returns the line with marks and addresses added as the page requires.
pub(super) fn written_out(line: &[Span], page: Page) -> Cow<'_, [Span]> {
    let line = link::with_addresses(line, page.links);
    let is_struck = |span: &Span| span.style.strike;
    if !page.marks || !line.iter().any(is_struck) {
        return line;
    }
    let mut output = Line::with_capacity(line.len() + 2);
    for group in line.chunk_by(|a, b| is_struck(a) == is_struck(b)) {
        let mark = group.first().filter(|span| is_struck(span));
        let mark = mark.map(|span| Span::new("~~", span.style));
        output.extend(mark.clone());
        output.extend_from_slice(group);
        output.extend(mark);
    }
    Cow::Owned(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc::Style;

    fn shown(marks: bool) -> String {
        let struck = Style {
            strike: true,
            ..Style::default()
        };
        let line = [
            Span::new("not ", Style::default()),
            Span::new("this", struck),
            Span::new(" one", struck.bold()),
            Span::new(".", Style::default()),
        ];
        let page = Page {
            marks,
            ..Page::default()
        };
        let spans = written_out(&line, page);
        spans.iter().map(|span| span.text.as_str()).collect()
    }

    #[test]
    fn struck_out_text_keeps_its_tildes_without_styles() {
        assert_eq!(shown(true), "not ~~this one~~.");
        assert_eq!(shown(false), "not this one.");
    }
}
