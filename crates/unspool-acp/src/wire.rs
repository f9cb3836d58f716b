//! JSON-RPC 2.0, one message per line.
//!
//! Messages are read leniently: a missing `jsonrpc`, unknown fields and values of the
//! wrong type are accepted. Outgoing messages are built from the schema's types.
//! Used by `client.rs`.

use agent_client_protocol_schema::v1::Error;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A message from the agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Response {
        id: Value,
        result: Result<Value, Refusal>,
    },
    /// Any other object.
    Other,
}

/// The error in the agent's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) message: String,
}

/// The error code of an agent that requires a login.
pub(crate) const AUTH_REQUIRED: i64 = -32000;
pub(crate) const REQUEST_CANCELLED: i64 = -32800;

/// Parses a line; returns `None` if it is not a JSON object.
pub(crate) fn parse(line: &str) -> Option<Message> {
    if !line.trim_start().starts_with('{') {
        return None;
    }
    let Ok(Value::Object(fields)) = serde_json::from_str(line) else {
        return None;
    };
    Some(message(fields))
}

fn message(mut fields: Map<String, Value>) -> Message {
    let id = fields.remove("id").filter(|id| !id.is_null());
    let params = fields.remove("params").unwrap_or_default();
    if let Some(Value::String(method)) = fields.remove("method") {
        return match id {
            Some(id) => Message::Request { id, method, params },
            None => Message::Notification { method, params },
        };
    }
    let error = fields.remove("error").filter(|error| !error.is_null());
    let result = match (fields.remove("result"), error) {
        (_, Some(error)) => Err(refusal(&error)),
        (Some(result), None) => Ok(result),
        (None, None) => return Message::Other,
    };
    Message::Response {
        id: id.unwrap_or_default(),
        result,
    }
}

fn refusal(error: &Value) -> Refusal {
    let message = text(error, "message");
    let data = error.get("data");
    let detail = data.and_then(|data| {
        let keys = ["message", "details", "reason"].iter();
        let mut texts = keys.filter_map(|key| data.get(key)?.as_str());
        data.as_str().or_else(|| texts.next())
    });
    Refusal {
        code: error
            .get("code")
            .and_then(Value::as_i64)
            .unwrap_or_default(),
        message: match detail {
            Some(detail) if message.is_empty() => detail.to_owned(),
            Some(detail) if !message.contains(detail) => format!("{message}: {detail}"),
            _ => message,
        },
    }
}

/// Returns a string field; empty if it is missing or not a string.
pub(crate) fn text(value: &Value, key: &str) -> String {
    let text = value.get(key).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

/// Returns the items of an array field; empty if it is missing or not an array.
pub(crate) fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let list = value.get(key).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// Returns true if a capability is `true` or an object, even an empty one.
pub(crate) fn has_capability(value: &Value, path: &[&str]) -> bool {
    let mut value = value;
    for key in path {
        match value.get(key) {
            Some(inner) => value = inner,
            None => return false,
        }
    }
    value.as_bool().unwrap_or_else(|| value.is_object())
}

pub(crate) fn request(id: i64, method: &str, params: &impl Serialize) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

pub(crate) fn notification(method: &str, params: &impl Serialize) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

pub(crate) fn answer(id: &Value, result: &impl Serialize) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

pub(crate) fn error(id: &Value, error: &Error) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_classified() {
        let kind = |line| match parse(line) {
            Some(Message::Request { .. }) => "request",
            Some(Message::Notification { .. }) => "notification",
            Some(Message::Response { result: Ok(_), .. }) => "result",
            Some(Message::Response { .. }) => "error",
            Some(Message::Other) => "other",
            None => "none",
        };
        assert_eq!(kind(r#"{"id":"a","method":"m"}"#), "request");
        assert_eq!(kind(r#"{"id":null,"method":"m"}"#), "notification");
        assert_eq!(kind(r#"{"id":1,"result":null}"#), "result");
        assert_eq!(kind(r#"{"id":1,"result":{},"error":null}"#), "result");
        assert_eq!(kind(r#"{"id":1,"error":"no"}"#), "error");
        assert_eq!(kind(r#"{"id":1}"#), "other");
        assert_eq!(kind(r#"{"id":1"#), "none");
        assert_eq!(kind("[1]"), "none");
        assert_eq!(kind("nvm: using node 20"), "none");
    }

    #[test]
    fn the_detail_of_an_error_is_appended() {
        let line = r#"{"id":1,"error":{"code":-32603,"message":"Internal error","data":{"details":"no model"}}}"#;
        let Some(Message::Response {
            result: Err(error), ..
        }) = parse(line)
        else {
            panic!("no error");
        };
        assert_eq!(error.message, "Internal error: no model");
        assert_eq!(error.code, -32603);
    }
}
