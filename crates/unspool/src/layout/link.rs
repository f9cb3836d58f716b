//! Renders links in lines: `text (address)`, or clickable text.
//!
//! A clickable link may hide its address only if a terminal can open it safely
//! and its text does not look like a different address.

use std::borrow::Cow;

use crate::doc::{Line, Role, Span};
use crate::layout::Links;

/// Returns true if a back end may make the link clickable: only schemes that
/// open a browser or a mail program, and no address that was cut.
pub fn is_clickable(address: &str) -> bool {
    if address.ends_with('…') {
        return false;
    }
    let lower = address.get(..8).unwrap_or(address).to_ascii_lowercase();
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| lower.starts_with(scheme))
}

/// Adds the address after each link whose address must be visible.
pub(super) fn with_addresses(line: &[Span], links: Links) -> Cow<'_, [Span]> {
    if line.iter().all(|span| span.link.is_none()) {
        return Cow::Borrowed(line);
    }
    let mut output = Line::with_capacity(line.len() + 1);
    for group in line.chunk_by(|a, b| a.link == b.link) {
        output.extend_from_slice(group);
        let Some(address) = group.first().and_then(|span| span.link.as_deref()) else {
            continue;
        };
        let text: String = group.iter().map(|span| span.text.as_str()).collect();
        if shows_address(&text, address, links) {
            let mut span = Span::role(format!(" ({address})"), Role::Accent);
            span.link = Some(address.to_owned());
            output.push(span);
        }
    }
    Cow::Owned(output)
}

fn shows_address(text: &str, address: &str, links: Links) -> bool {
    if address.is_empty() || is_same(text, address) {
        return false;
    }
    let pretends = text.contains("://") || text.starts_with("www.");
    links == Links::Address || pretends || !is_clickable(address)
}

/// Returns true if the text is the address, apart from `mailto:` and a trailing
/// slash.
fn is_same(text: &str, address: &str) -> bool {
    let bare = |address: &'_ str| {
        let address = address.strip_prefix("mailto:").unwrap_or(address);
        address.strip_suffix('/').unwrap_or(address).to_owned()
    };
    bare(text) == bare(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, address: &str, links: Links) -> String {
        let mut span = Span::role(text, Role::Normal);
        span.link = Some(address.to_owned());
        with_addresses(&[span], links)
            .iter()
            .map(|span| span.text.as_str())
            .collect()
    }

    #[test]
    fn the_address_follows_unless_it_equals_the_text() {
        let links = Links::Address;
        assert_eq!(shown("a", "https://b.c", links), "a (https://b.c)");
        assert_eq!(shown("https://b.c", "https://b.c/", links), "https://b.c");
        assert_eq!(shown("a@b.c", "mailto:a@b.c", links), "a@b.c");
        assert_eq!(shown("a", "", links), "a");
    }

    #[test]
    fn clickable_links_show_their_text_only() {
        let links = Links::Text;
        assert_eq!(shown("a", "https://b.c", links), "a");
        assert_eq!(shown("a", "src/a.rs", links), "a (src/a.rs)");
        assert_eq!(shown("a", "vscode://x", links), "a (vscode://x)");
        assert_eq!(
            shown("https://good", "https://evil", links),
            "https://good (https://evil)"
        );
    }
}
