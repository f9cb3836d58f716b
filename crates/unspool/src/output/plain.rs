//! Text without any codes.

use crate::doc::Span;
use crate::output::visible;

/// Adds a line, without its line end.
pub(super) fn push(line: &[Span], text: &mut String) {
    for (_, part) in visible(line) {
        text.push_str(&part);
    }
}
