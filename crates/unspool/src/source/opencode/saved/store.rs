//! The attached files of a saved session, and transcripts read from them.

use std::collections::BTreeMap;

use crate::event::Session;
use crate::json::{Json, Object};

/// The texts of attached files, by content.
#[derive(Clone, Default)]
pub(super) struct Store {
    /// Whole exports, by session.
    exports: BTreeMap<String, String>,
    /// Files of sessions, by session.
    sessions: BTreeMap<String, String>,
    /// Files of messages, by session; then by time and id.
    messages: BTreeMap<String, BTreeMap<(i64, String), String>>,
    /// Files of parts, by message; then by id.
    parts: BTreeMap<String, BTreeMap<String, String>>,
}

/// A session with its messages and their parts.
pub(super) struct Transcript<'a> {
    pub(super) info: Json<'a>,
    pub(super) messages: Vec<(Json<'a>, Vec<Json<'a>>)>,
}

impl Store {
    /// Adds a file, unless it contains nothing of a conversation.
    pub(super) fn add(&mut self, text: &str) {
        let Some(json) = Json::parse(text) else {
            return;
        };
        let text = json.raw().to_owned();
        let fields = json.object();
        let id = fields.get("id").string();
        if fields.get("messages").is_array() {
            let id = fields.get("info").get("id").string();
            self.exports.insert(id, text);
        } else if id.starts_with("ses_") {
            self.sessions.insert(id, text);
        } else if id.starts_with("msg_") {
            let time = fields.get("time").get("created").i64().unwrap_or_default();
            let session = fields.get("sessionID").string();
            let messages = self.messages.entry(session).or_default();
            messages.insert((time, id), text);
        } else if id.starts_with("prt_") {
            let message = fields.get("messageID").string();
            self.parts.entry(message).or_default().insert(id, text);
        }
    }

    /// Returns the complete sessions, oldest first.
    pub(super) fn session_ids(&self) -> Vec<String> {
        let mut ids: Vec<&String> = self.exports.keys().chain(self.sessions.keys()).collect();
        // Newer sessions have smaller ids.
        ids.sort_by(|a, b| b.cmp(a));
        ids.dedup();
        ids.into_iter().cloned().collect()
    }

    pub(super) fn transcript(&self, id: &str) -> Option<Transcript<'_>> {
        if let Some(text) = self.exports.get(id) {
            return Some(Transcript::export(&Json::trusted(text).object()));
        }
        Some(Transcript {
            info: Json::trusted(self.sessions.get(id)?),
            messages: self.messages(id),
        })
    }

    /// Returns the messages of a session, in order.
    pub(super) fn messages(&self, session: &str) -> Vec<(Json<'_>, Vec<Json<'_>>)> {
        let messages = self.messages.get(session);
        messages
            .into_iter()
            .flatten()
            .map(|((_, id), text)| (Json::trusted(text), self.parts(id)))
            .collect()
    }

    fn parts(&self, message: &str) -> Vec<Json<'_>> {
        let parts = self.parts.get(message);
        parts
            .into_iter()
            .flat_map(BTreeMap::values)
            .map(|text| Json::trusted(text))
            .collect()
    }
}

impl<'a> Transcript<'a> {
    pub(super) fn export(fields: &Object<'a>) -> Self {
        let messages = fields.get("messages").array();
        Self {
            info: fields.get("info"),
            messages: messages
                .into_iter()
                .map(|message| {
                    let fields = message.object();
                    (fields.get("info"), fields.get("parts").array())
                })
                .collect(),
        }
    }

    /// Returns the session's data. Older versions have the model only in messages.
    pub(super) fn session(&self) -> Session {
        let session = session(&self.info.object());
        Session {
            model: if session.model.is_empty() {
                self.first("modelID")
            } else {
                session.model
            },
            ..session
        }
    }

    /// Returns the name of the agent that wrote it.
    pub(super) fn agent_name(&self) -> String {
        match self.info.get("agent").string() {
            name if name.is_empty() => self.first("agent"),
            name => name,
        }
    }

    fn first(&self, key: &str) -> String {
        self.messages
            .iter()
            .map(|(info, _)| info.get(key).string())
            .find(|value| !value.is_empty())
            .unwrap_or_default()
    }
}

/// Reads the data of a session in any format.
pub(in crate::source::opencode) fn session(info: &Object<'_>) -> Session {
    let title = info.get("title").string();
    let unnamed = title.starts_with("New session - ") || title.starts_with("Child session - ");
    Session {
        provider: super::super::PROVIDER.name.to_owned(),
        version: info.get("version").string(),
        id: info.get("id").string(),
        model: info.get("model").get("id").string(),
        cwd: info.get("directory").string(),
        title: if unnamed { String::new() } else { title },
        ..Session::default()
    }
}
