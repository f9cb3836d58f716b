//! The words in an API's error body that an agent passes on as it came.

use std::borrow::Cow;

use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::json::Json;

/// Bodies that hold another one as their message.
const NESTED: usize = 3;

/// The text with the message of an error body in the place of its JSON; what holds
/// none stays as it is.
///
/// ```
/// use unspool::tool::error_words;
///
/// let text = r#"[API Error: {"error":{"code":429,"message":"Too many requests."}}]"#;
/// assert_eq!(error_words(text), "[API Error: Too many requests.]");
/// ```
pub fn error_words(text: &str) -> Cow<'_, str> {
    let mut words = Cow::Borrowed(text);
    for _ in 0..NESTED {
        let Some(plainer) = replaced(&words) else {
            break;
        };
        words = Cow::Owned(plainer);
    }
    words
}

/// The text with its first JSON object replaced by the message in it.
fn replaced(text: &str) -> Option<String> {
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
        .map(|words| words.trim().to_owned())
        .find(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_takes_the_place_of_its_body() {
        for (text, words) in [
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
            assert_eq!(error_words(text), words);
        }
    }

    #[test]
    fn what_holds_no_message_stays() {
        for text in [
            "plain",
            "a { b",
            r#"{"error":{"code":4}}"#,
            r#"{"message":""}"#,
            r#"{"message":{"a":1}}"#,
            r#"{"message":"cut"#,
            "{}",
        ] {
            assert_eq!(error_words(text), text);
        }
        let deep = "{\"a\":".repeat(100_000);
        assert_eq!(error_words(&deep), deep);
    }
}
