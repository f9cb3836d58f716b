//! Extracts the message from an API's error body that an agent passed on
//! verbatim.

use std::borrow::Cow;

use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::json::Json;

/// Maximum depth of error bodies inside messages.
const NESTED: usize = 3;

/// Replaces the JSON of an error body with its message; other text stays
/// unchanged.
///
/// ```
/// use unspool::tool::error_message;
///
/// let text = r#"[API Error: {"error":{"code":429,"message":"Too many requests."}}]"#;
/// assert_eq!(error_message(text), "[API Error: Too many requests.]");
/// ```
pub fn error_message(text: &str) -> Cow<'_, str> {
    let mut message_text = Cow::Borrowed(text);
    for _ in 0..NESTED {
        let Some(plainer) = replace_body(&message_text) else {
            break;
        };
        message_text = Cow::Owned(plainer);
    }
    message_text
}

/// Replaces the first JSON object with the message in it.
fn replace_body(text: &str) -> Option<String> {
    let start = text.find('{')?;
    let (before, rest) = text.split_at_checked(start)?;
    let mut values = Deserializer::from_str(rest).into_iter::<&RawValue>();
    let body = Json::parse(values.next()?.ok()?.get())?;
    let after = rest.get(values.byte_offset()..)?;
    Some(format!("{before}{}{after}", message(body)?))
}

fn message(body: Json<'_>) -> Option<String> {
    let error = body.get("error");
    [error.get("message"), error, body.get("message")]
        .into_iter()
        .filter_map(Json::str)
        .map(|message_text| message_text.trim().to_owned())
        .find(|message_text| !message_text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_replaces_its_body() {
        for (text, message_text) in [
            (
                r#"{"message":"Invalid content.","type":"x","param":null}"#,
                "Invalid content.",
            ),
            (r#"{"error": "gone"}"#, "gone"),
            (
                "{\"error\": {\"message\": \"Rate limit\", \"code\": null}}\nRetrying in 1 s.",
                "Rate limit\nRetrying in 1 s.",
            ),
            (
                r#"{"error":{"message":"{\"error\":{\"message\":\"no\"}}"}}"#,
                "no",
            ),
        ] {
            assert_eq!(error_message(text), message_text);
        }
    }

    #[test]
    fn text_without_a_message_stays() {
        for text in [
            "plain",
            "a { b",
            r#"{"error":{"code":4}}"#,
            r#"{"message":""}"#,
            r#"{"message":{"a":1}}"#,
            r#"{"message":"cut"#,
            "{}",
        ] {
            assert_eq!(error_message(text), text);
        }
        let deep = "{\"a\":".repeat(100_000);
        assert_eq!(error_message(&deep), deep);
    }
}
