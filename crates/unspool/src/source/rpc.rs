//! JSON-RPC messages as they stand in logs: alone, or wrapped with the
//! direction in which they went.

use std::borrow::Cow;

use crate::json::{Json, Object};

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sender {
    Agent,
    Client,
}

/// One message: its fields, and its sender where the log says so.
pub(crate) struct Message<'a> {
    pub(crate) sender: Option<Sender>,
    pub(crate) fields: Object<'a>,
}

impl<'a> Message<'a> {
    /// Unwraps a log line `{"dir":…,"msg":…}`, or takes the message itself.
    pub(crate) fn new(json: Json<'a>) -> Self {
        let fields = json.object();
        let inner = fields.get("msg");
        let sender = match fields.get("dir").str().as_deref() {
            Some("agent->client" | "server->client") => Some(Sender::Agent),
            Some("client->agent" | "client->server") => Some(Sender::Client),
            _ => None,
        };
        match sender {
            Some(_) if inner.is_object() => Self {
                sender,
                fields: inner.object(),
            },
            _ => Self {
                sender: None,
                fields,
            },
        }
    }

    pub(crate) fn method(&self) -> Cow<'a, str> {
        self.fields.get("method").str().unwrap_or_default()
    }

    pub(crate) fn params(&self) -> Json<'a> {
        self.fields.get("params")
    }

    /// The id as text: a number and a string of the same digits are the same.
    pub(crate) fn id(&self) -> Option<String> {
        let id = self.fields.get("id");
        (!id.is_null()).then(|| id.display().into_owned())
    }

    pub(crate) fn is_request(&self) -> bool {
        self.fields.has("method") && self.id().is_some()
    }

    pub(crate) fn is_response(&self) -> bool {
        !self.fields.has("method") && (self.fields.has("result") || self.fields.has("error"))
    }
}
