//! Escapes text for HTML: the only place where text enters a page.
//!
//! The result is safe between tags and inside quoted attributes. Documents
//! contain no control characters; any that remain are replaced.

/// Appends text between tags.
pub(super) fn text(page: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(is_special) {
        let (plain, special) = rest.split_at(at);
        page.push_str(plain);
        let mut characters = special.chars();
        match characters.next() {
            Some('&') => page.push_str("&amp;"),
            Some('<') => page.push_str("&lt;"),
            Some('>') => page.push_str("&gt;"),
            Some('"') => page.push_str("&quot;"),
            Some('\'') => page.push_str("&#39;"),
            _ => page.push(char::REPLACEMENT_CHARACTER),
        }
        rest = characters.as_str();
    }
    page.push_str(rest);
}

/// Appends an attribute value, inside its quotation marks.
pub(super) fn attribute(page: &mut String, value: &str) {
    text(page, value);
}

fn is_special(character: char) -> bool {
    matches!(character, '&' | '<' | '>' | '"' | '\'')
        || (character.is_control() && character != '\n')
}
