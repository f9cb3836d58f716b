//! The one place where text becomes HTML.
//!
//! What is escaped here is safe between tags and between the quotation marks of
//! an attribute. Text in a document is clean; a control character that got past
//! all other stages is replaced.

/// Adds text between tags.
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

/// Adds the value of an attribute, between its quotation marks.
pub(super) fn attribute(page: &mut String, value: &str) {
    text(page, value);
}

fn is_special(character: char) -> bool {
    matches!(character, '&' | '<' | '>' | '"' | '\'')
        || (character.is_control() && character != '\n')
}
