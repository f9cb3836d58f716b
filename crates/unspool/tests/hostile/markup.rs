//! Checks that a page contains only our own elements and attributes. Also used
//! by the fuzzer.

use html5gum::{Token, Tokenizer};

/// The allowed elements with their allowed attributes.
const ELEMENTS: &[(&str, &[&str])] = &[
    ("main", &["id", "tabindex"]),
    ("article", &["id", "class"]),
    ("div", &["class", "tabindex"]),
    ("a", &["href", "rel", "aria-label"]),
    ("time", &["datetime", "title"]),
    ("button", &["class", "type", "title"]),
    ("h2", &["class"]),
    ("h3", &["class"]),
    ("h4", &[]),
    ("h5", &[]),
    ("h6", &[]),
    ("p", &["class"]),
    ("span", &["class"]),
    ("details", &["class", "open"]),
    ("summary", &[]),
    ("b", &[]),
    ("i", &[]),
    ("s", &[]),
    ("code", &[]),
    ("pre", &["class", "tabindex", "data-old"]),
    ("ins", &[]),
    ("del", &[]),
    ("ul", &["class"]),
    ("ol", &["start"]),
    ("li", &["class"]),
    ("blockquote", &[]),
    ("hr", &[]),
    ("table", &[]),
    ("thead", &[]),
    ("tbody", &[]),
    ("tr", &[]),
    ("th", &["class"]),
    ("td", &["class"]),
    (
        "img",
        &["class", "alt", "width", "height", "loading", "src"],
    ),
    ("footer", &[]),
    ("dl", &[]),
    ("dt", &[]),
    ("dd", &[]),
];

/// Returns the part between the top of a page and its script.
pub(crate) fn middle(page: &str) -> &str {
    let start = page.find("<main").unwrap();
    let end = page.rfind("<script>").unwrap();
    page.get(start..end).unwrap()
}

/// Returns the text of a page; fails if it contains foreign elements or
/// attributes.
pub(crate) fn text(html: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut open: Vec<String> = Vec::new();
    for token in Tokenizer::new(html) {
        match token.map_err(|error| error.to_string())? {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                let known = ELEMENTS.iter().find(|(element, _)| *element == name);
                let (_, attributes) = known.ok_or(format!("<{name}>"))?;
                for (attribute, value) in &tag.attributes {
                    let attribute = String::from_utf8_lossy(attribute);
                    let value = String::from_utf8_lossy(value);
                    if !attributes.contains(&attribute.as_ref()) || !is_ours(&attribute, &value) {
                        return Err(format!("<{name} {attribute}={value:?}>"));
                    }
                }
                if !matches!(name.as_str(), "hr" | "img") {
                    open.push(name);
                }
            }
            Token::EndTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                let last = open.pop();
                if last.as_deref() != Some(&name) {
                    return Err(format!("</{name}> in {last:?}"));
                }
            }
            Token::String(string) => text.push_str(&String::from_utf8_lossy(&string)),
            Token::Error(error) => return Err(format!("{error:?}")),
            other => return Err(format!("{other:?}")),
        }
    }
    Ok(text)
}

fn is_ours(attribute: &str, value: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "- ".contains(c);
    match attribute {
        "href" => {
            let schemes = ["#e", "http://", "https://", "mailto:"];
            schemes.iter().any(|scheme| value.starts_with(scheme))
        }
        "datetime" | "title" | "aria-label" => {
            value.chars().all(|c| is_word(c) || ":.".contains(c))
        }
        // The facts of a picture, with the name that the agent gave it.
        "alt" => true,
        "src" => is_picture(value),
        _ => value.chars().all(is_word),
    }
}

/// Returns true for the base64 of a picture that holds no script.
fn is_picture(address: &str) -> bool {
    let types = ["png", "jpeg", "gif", "webp"];
    let content = types
        .iter()
        .find_map(|name| address.strip_prefix(&format!("data:image/{name};base64,")));
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    content.is_some_and(|content| content.chars().all(is_base64))
}
