//! The state of an agent and its session, for status lines, menus and completion.
//!
//! It is read leniently from the agent's messages. Strings are unchanged and have to
//! be sanitized before they are shown.

use std::path::PathBuf;

use serde_json::Value;

use crate::wire::{has_capability, items, text};

/// The phase of an agent and its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// The agent is starting, or a session is being opened.
    #[default]
    Starting,
    /// The agent runs, and no session is open.
    Unopened,
    /// The agent requires a login.
    NeedsLogin,
    /// A prompt can be sent.
    Ready,
    /// A turn is in progress.
    Working,
    /// A question waits for the user.
    Asking,
    /// No session could be opened.
    Failed,
    /// The agent's process ended.
    Ended,
}

/// The capabilities of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a capability of the protocol"
)]
#[non_exhaustive]
pub struct Capabilities {
    /// `session/load`: opens a session and replays its history.
    pub load: bool,
    /// `session/resume`: opens a session without its history.
    pub resume: bool,
    /// `session/list`.
    pub list: bool,
    /// `session/delete`.
    pub delete: bool,
    /// `session/close`.
    pub close: bool,
    /// `logout`.
    pub logout: bool,
    /// Prompts may contain images.
    pub image: bool,
    /// Prompts may contain audio.
    pub audio: bool,
    /// Prompts may contain files.
    pub embedded: bool,
}

/// A login method.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AuthMethod {
    /// The argument of [`Client::authenticate`](crate::Client::authenticate).
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Set if the agent has to run in a terminal for it.
    pub terminal: Option<TerminalLogin>,
}

/// The command to run the agent for a login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TerminalLogin {
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables to add.
    pub env: Vec<(String, String)>,
}

/// A mode of the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mode {
    /// The argument of [`Client::set_mode`](crate::Client::set_mode).
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
}

/// An option of the session, such as the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigOption {
    /// The argument of [`Client::set_option`](crate::Client::set_option).
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// `mode`, `model`, `model_config`, `thought_level` or another category.
    pub category: String,
    /// Its value and choices.
    pub value: ConfigValue,
    /// It is set with `session/set_model`, which predates options.
    pub is_model_list: bool,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigValue {
    /// One of several choices.
    Select {
        /// The current value.
        current: String,
        /// The possible values.
        choices: Vec<Choice>,
    },
    /// On or off.
    Boolean(bool),
}

/// A possible value of an option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The value.
    pub value: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The group that it is listed in; may be empty.
    pub group: String,
}

/// A slash command of the agent, sent as `/name …`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// Its name, without the slash.
    pub name: String,
    /// Its description.
    pub description: String,
    /// A hint on its argument; `None` if it takes none.
    pub hint: Option<String>,
}

/// A saved session of the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SavedSession {
    /// Its id.
    pub id: String,
    /// Its working folder.
    pub cwd: PathBuf,
    /// Its title.
    pub title: String,
    /// The time of its last change.
    pub updated: String,
}

/// The state of an agent and its session.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AgentState {
    /// The agent's display name.
    pub agent: String,
    /// Its version.
    pub version: String,
    /// Its capabilities.
    pub capabilities: Capabilities,
    /// Its login methods.
    pub auth_methods: Vec<AuthMethod>,
    /// The id of the open session; empty without one.
    pub session: String,
    /// The session's title.
    pub title: String,
    /// The modes.
    pub modes: Vec<Mode>,
    /// The id of the current mode.
    pub mode: String,
    /// The options.
    pub options: Vec<ConfigOption>,
    /// The commands.
    pub commands: Vec<Command>,
}

impl AgentState {
    /// Reads the answer to `initialize`.
    pub(crate) fn set_agent(&mut self, result: &Value) {
        let info = result.get("agentInfo").unwrap_or(&Value::Null);
        let names = [text(info, "title"), text(info, "name")];
        self.agent = names
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or_default();
        self.version = text(info, "version");
        let agent = result.get("agentCapabilities").unwrap_or(&Value::Null);
        let session = |name| has_capability(agent, &["sessionCapabilities", name]);
        let prompt = |name| has_capability(agent, &["promptCapabilities", name]);
        self.capabilities = Capabilities {
            load: has_capability(agent, &["loadSession"]),
            resume: session("resume"),
            list: session("list"),
            delete: session("delete"),
            close: session("close"),
            logout: has_capability(agent, &["auth", "logout"]),
            image: prompt("image"),
            audio: prompt("audio"),
            embedded: prompt("embeddedContext"),
        };
        self.auth_methods = items(result, "authMethods")
            .iter()
            .map(auth_method)
            .collect();
    }

    /// Forgets the open session.
    pub(crate) fn clear_session(&mut self) {
        self.session.clear();
        self.title.clear();
        self.mode.clear();
        self.modes.clear();
        self.options.clear();
        self.commands.clear();
    }

    /// Reads modes and options from the answer to `session/new` and its like, or to a
    /// changed option.
    pub(crate) fn set_options(&mut self, result: &Value) {
        if let Some(modes) = result.get("modes").filter(|modes| modes.is_object()) {
            self.modes = items(modes, "availableModes").iter().map(mode).collect();
            self.mode = text(modes, "currentModeId");
        }
        if result.get("configOptions").is_some_and(Value::is_array) {
            self.set_config_options(result);
        }
        if let Some(models) = result.get("models").filter(|models| models.is_object())
            && !self.options.iter().any(|option| option.category == "model")
        {
            self.options.push(model_list(models));
        }
    }

    /// Reads a `session/update` of the open session; returns true if it is about the
    /// state.
    pub(crate) fn update(&mut self, update: &Value) -> bool {
        match update.get("sessionUpdate").and_then(Value::as_str) {
            Some("available_commands_update") => {
                let commands = items(update, "availableCommands");
                self.commands = commands.iter().filter_map(command).collect();
            }
            Some("current_mode_update") => self.mode = text(update, "currentModeId"),
            Some("config_option_update") => self.set_config_options(update),
            Some("session_info_update") => {
                // `null` clears the title, a missing one keeps it.
                if let Some(title) = update.get("title") {
                    title
                        .as_str()
                        .unwrap_or_default()
                        .clone_into(&mut self.title);
                }
            }
            _ => return false,
        }
        true
    }

    fn set_config_options(&mut self, fields: &Value) {
        let options = items(fields, "configOptions");
        self.options.retain(|option| option.is_model_list);
        let options: Vec<_> = options.iter().filter_map(config_option).collect();
        if options.iter().any(|option| option.category == "model") {
            self.options.clear();
        }
        self.options.extend(options);
        let mode = self.options.iter().find(|option| option.category == "mode");
        if let Some(ConfigValue::Select { current, .. }) = mode.map(|option| &option.value)
            && self.modes.iter().any(|mode| mode.id == *current)
        {
            self.mode.clone_from(current);
        }
    }
}

/// Reads the answer to `session/list`.
pub(crate) fn saved_sessions(result: &Value) -> Vec<SavedSession> {
    let sessions = items(result, "sessions").iter();
    sessions
        .map(|session| SavedSession {
            id: text(session, "sessionId"),
            cwd: text(session, "cwd").into(),
            title: text(session, "title"),
            updated: text(session, "updatedAt"),
        })
        .filter(|session| !session.id.is_empty())
        .collect()
}

fn auth_method(method: &Value) -> AuthMethod {
    let strings = items(method, "args").iter().filter_map(Value::as_str);
    let env = method.get("env").and_then(Value::as_object);
    let env = env.into_iter().flatten().filter_map(|(name, value)| {
        let value = value.as_str()?;
        Some((name.clone(), value.to_owned()))
    });
    let is_terminal = text(method, "type") == "terminal";
    AuthMethod {
        id: text(method, "id"),
        name: name_or(method, "id"),
        description: text(method, "description"),
        terminal: is_terminal.then(|| TerminalLogin {
            args: strings.map(str::to_owned).collect(),
            env: env.collect(),
        }),
    }
}

/// Returns the name, or another field if there is none.
fn name_or(value: &Value, other: &str) -> String {
    let name = text(value, "name");
    if name.is_empty() {
        text(value, other)
    } else {
        name
    }
}

fn mode(mode: &Value) -> Mode {
    Mode {
        id: text(mode, "id"),
        name: name_or(mode, "id"),
        description: text(mode, "description"),
    }
}

fn command(command: &Value) -> Option<Command> {
    let name = text(command, "name");
    let input = command.get("input").filter(|input| input.is_object());
    (!name.is_empty()).then(|| Command {
        name: name.trim_start_matches('/').to_owned(),
        description: text(command, "description"),
        hint: input.map(|input| text(input, "hint")),
    })
}

fn config_option(option: &Value) -> Option<ConfigOption> {
    let id = text(option, "id");
    let current = option.get("currentValue");
    let value = match (current, current.and_then(Value::as_bool)) {
        (_, Some(flag)) => ConfigValue::Boolean(flag),
        _ if id.is_empty() => return None,
        _ => ConfigValue::Select {
            current: text(option, "currentValue"),
            choices: choices(items(option, "options")),
        },
    };
    Some(ConfigOption {
        name: name_or(option, "id"),
        description: text(option, "description"),
        category: text(option, "category"),
        value,
        is_model_list: false,
        id,
    })
}

/// Reads choices, which may be grouped.
fn choices(options: &[Value]) -> Vec<Choice> {
    let mut choices = Vec::new();
    for option in options {
        if option.get("options").is_some_and(Value::is_array) {
            let group = name_or(option, "group");
            let inner = items(option, "options").iter();
            choices.extend(inner.map(|option| choice(option, "value", &group)));
        } else {
            choices.push(choice(option, "value", ""));
        }
    }
    choices
}

fn choice(option: &Value, key: &str, group: &str) -> Choice {
    Choice {
        value: text(option, key),
        name: name_or(option, key),
        description: text(option, "description"),
        group: group.to_owned(),
    }
}

fn model_list(models: &Value) -> ConfigOption {
    let available = items(models, "availableModels").iter();
    ConfigOption {
        id: "model".to_owned(),
        name: "Model".to_owned(),
        description: String::new(),
        category: "model".to_owned(),
        value: ConfigValue::Select {
            current: text(models, "currentModelId"),
            choices: available
                .map(|model| choice(model, "modelId", ""))
                .collect(),
        },
        is_model_list: true,
    }
}
