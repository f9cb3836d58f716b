//! JSON-RPC messages as logs contain them: bare, or wrapped with their
//! direction.

use std::borrow::Cow;

use crate::json::{Json, Object};

/// The sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sender {
    Agent,
    Client,
}

/// A message, with its sender if the log contains it.
pub(crate) struct Message<'a> {
    pub(crate) sender: Option<Sender>,
    pub(crate) fields: Object<'a>,
}

impl<'a> Message<'a> {
    /// Unwraps a log line `{"dir":…,"msg":…}`; any other value is the message.
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

    /// Returns the id as text: a number equals a string of the same digits.
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
