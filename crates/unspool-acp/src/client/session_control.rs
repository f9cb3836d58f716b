//! Control of the open session: mode, options, saved sessions, and its end.

use agent_client_protocol_schema::v1 as schema;
use serde_json::{Value, json};

use super::{Client, Link, Pending, Stage};
use crate::agent_state::ConfigValue;

impl Client {
    /// Sets the mode.
    pub fn set_mode(&mut self, mode: &str) {
        let session = self.state.session.clone();
        let params = schema::SetSessionModeRequest::new(session, mode.to_owned());
        let pending = Pending::Mode(mode.to_owned());
        self.send_request("session/set_mode", &params, pending);
    }

    /// Sets an option to one of its values, or to on or off.
    pub fn set_option(&mut self, option: &str, value: &Value) {
        let session = self.state.session.clone();
        let mut options = self.state.options.iter();
        if options.any(|known| known.id == option && known.is_model_list) {
            let model = value.as_str().unwrap_or_default().to_owned();
            // A method from before options, which the schema no longer has.
            let params = json!({"sessionId": session, "modelId": model});
            self.send_request("session/set_model", &params, Pending::Model(model));
            return;
        }
        let value = match value {
            Value::Bool(value) => schema::SessionConfigOptionValue::Boolean { value: *value },
            value => schema::SessionConfigOptionValue::ValueId {
                value: value.as_str().unwrap_or_default().to_owned().into(),
            },
        };
        let params = schema::SetSessionConfigOptionRequest::new(session, option.to_owned(), value);
        self.send_request("session/set_config_option", &params, Pending::Option);
    }

    pub(super) fn model_was_set(&mut self, model: String) {
        let mut lists = self.state.options.iter_mut();
        let list = lists.find(|option| option.is_model_list);
        if let Some(ConfigValue::Select { current, .. }) = list.map(|list| &mut list.value) {
            *current = model;
        }
    }

    /// Requests the agent's saved sessions of this project. They arrive as
    /// [`Update::Sessions`](super::Update::Sessions).
    pub fn list_sessions(&mut self, cursor: Option<String>) {
        let mut params = schema::ListSessionsRequest::new().cwd(self.config.root.clone());
        params.cursor = cursor;
        self.send_request("session/list", &params, Pending::List);
    }

    /// Deletes a saved session of the agent.
    pub fn delete_session(&mut self, session: &str) {
        let params = schema::DeleteSessionRequest::new(session.to_owned());
        self.send_request("session/delete", &params, Pending::Other("session/delete"));
    }

    /// Closes the session, if the agent supports it, and then the agent's input, which
    /// asks it to end.
    pub fn close(&mut self) {
        if self.state.capabilities.close && matches!(self.stage, Stage::Opened) {
            let params = schema::CloseSessionRequest::new(self.state.session.clone());
            self.send_request("session/close", &params, Pending::Other("session/close"));
        }
        if let Link::Process(connection) = &mut self.link {
            connection.close();
        }
    }
}
