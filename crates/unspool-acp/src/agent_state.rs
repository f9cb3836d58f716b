//! What is known of an agent and its session: what status lines, menus and
//! completion are made of.
//!
//! All of it is read leniently from the agent's messages; strings are as they
//! came and have to be made clean before they are shown.

use std::path::PathBuf;

use serde_json::Value;

use crate::wire::{items, offers, text};

/// What an agent and its session are doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// The agent starts, or a session is being opened.
    #[default]
    Starting,
    /// The agent is there and no session is open.
    Unopened,
    /// The agent wants a login first.
    NeedsLogin,
    /// A prompt can be sent.
    Ready,
    /// A turn runs.
    Working,
    /// A request waits for the person.
    Asking,
    /// No session could be opened.
    Failed,
    /// The agent is gone.
    Ended,
}

/// What the agent can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an answer of its own"
)]
#[non_exhaustive]
pub struct Capabilities {
    /// `session/load`: the history is told again.
    pub load: bool,
    /// `session/resume`: the session goes on, its history is not told.
    pub resume: bool,
    /// `session/list`.
    pub list: bool,
    /// `session/delete`.
    pub delete: bool,
    /// `session/close`.
    pub close: bool,
    /// `logout`.
    pub logout: bool,
    /// Prompts may hold pictures.
    pub image: bool,
    /// Prompts may hold sound.
    pub audio: bool,
    /// Prompts may hold files.
    pub embedded: bool,
}

/// A way to log in.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AuthMethod {
    /// What [`Client::authenticate`](crate::Client::authenticate) takes.
    pub id: String,
    /// Its name.
    pub name: String,
    /// A few words on it.
    pub description: String,
    /// The agent is to be run in a terminal for it.
    pub terminal: Option<TerminalLogin>,
}

/// How the agent is run for a login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TerminalLogin {
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables beside those of this process.
    pub env: Vec<(String, String)>,
}

/// A mode of the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mode {
    /// What [`Client::set_mode`](crate::Client::set_mode) takes.
    pub id: String,
    /// Its name.
    pub name: String,
    /// A few words on it.
    pub description: String,
}

/// A setting of the session: the model, how much it thinks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigOption {
    /// What [`Client::set_option`](crate::Client::set_option) takes.
    pub id: String,
    /// Its name.
    pub name: String,
    /// A few words on it.
    pub description: String,
    /// `mode`, `model`, `model_config`, `thought_level` or another word.
    pub category: String,
    /// Its value and what else it could be.
    pub value: ConfigValue,
    /// It is set with `session/set_model`, the way before options.
    pub is_model_list: bool,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigValue {
    /// One of several.
    Select {
        /// The value that is set.
        current: String,
        /// All values.
        choices: Vec<Choice>,
    },
    /// On or off.
    Boolean(bool),
}

/// One value of a setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The value.
    pub value: String,
    /// Its name.
    pub name: String,
    /// A few words on it.
    pub description: String,
    /// The heading that it stands under.
    pub group: String,
}

/// A command of the agent, sent as `/name …`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it; `None` if nothing does.
    pub hint: Option<String>,
}

/// A session that the agent keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SavedSession {
    /// Its id.
    pub id: String,
    /// Where it ran.
    pub cwd: PathBuf,
    /// Its title.
    pub title: String,
    /// When it last changed.
    pub updated: String,
}

/// What is known of the agent and its session.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AgentState {
    /// The agent's name for people.
    pub agent: String,
    /// Its version.
    pub version: String,
    /// What it can do.
    pub capabilities: Capabilities,
    /// How to log in.
    pub auth_methods: Vec<AuthMethod>,
    /// The open session's id; empty before there is one.
    pub session: String,
    /// The session's title.
    pub title: String,
    /// The modes.
    pub modes: Vec<Mode>,
    /// The id of the mode that is set.
    pub mode: String,
    /// The settings.
    pub options: Vec<ConfigOption>,
    /// The commands.
    pub commands: Vec<Command>,
}

impl AgentState {
    /// Takes the answer to `initialize`.
    pub(crate) fn initialized(&mut self, result: &Value) {
        let info = result.get("agentInfo").unwrap_or(&Value::Null);
        let named = [text(info, "title"), text(info, "name")];
        self.agent = named
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or_default();
        self.version = text(info, "version");
        let agent = result.get("agentCapabilities").unwrap_or(&Value::Null);
        let session = |name| offers(agent, &["sessionCapabilities", name]);
        let prompt = |name| offers(agent, &["promptCapabilities", name]);
        self.capabilities = Capabilities {
            load: offers(agent, &["loadSession"]),
            resume: session("resume"),
            list: session("list"),
            delete: session("delete"),
            close: session("close"),
            logout: offers(agent, &["auth", "logout"]),
            image: prompt("image"),
            audio: prompt("audio"),
            embedded: prompt("embeddedContext"),
        };
        self.auth_methods = items(result, "authMethods")
            .iter()
            .map(auth_method)
            .collect();
    }

    /// Takes what the answer to `session/new` and its like, or to a changed
    /// setting, says.
    pub(crate) fn settings(&mut self, result: &Value) {
        if let Some(modes) = result.get("modes").filter(|modes| modes.is_object()) {
            self.modes = items(modes, "availableModes").iter().map(mode).collect();
            self.mode = text(modes, "currentModeId");
        }
        if result.get("configOptions").is_some_and(Value::is_array) {
            self.set_options(result);
        }
        if let Some(models) = result.get("models").filter(|models| models.is_object())
            && !self.options.iter().any(|option| option.category == "model")
        {
            self.options.push(model_list(models));
        }
    }

    /// Takes one `session/update` of the own session; whether it told of the
    /// state.
    pub(crate) fn update(&mut self, update: &Value) -> bool {
        match update.get("sessionUpdate").and_then(Value::as_str) {
            Some("available_commands_update") => {
                let commands = items(update, "availableCommands");
                self.commands = commands.iter().filter_map(command).collect();
            }
            Some("current_mode_update") => self.mode = text(update, "currentModeId"),
            Some("config_option_update") => self.set_options(update),
            Some("session_info_update") => {
                // `null` takes the title away, a missing one leaves it.
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

    fn set_options(&mut self, fields: &Value) {
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

/// The sessions in the answer to `session/list`.
pub(crate) fn saved(result: &Value) -> Vec<SavedSession> {
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
        name: named(method, "id"),
        description: text(method, "description"),
        terminal: is_terminal.then(|| TerminalLogin {
            args: strings.map(str::to_owned).collect(),
            env: env.collect(),
        }),
    }
}

/// The name, or what stands for it.
fn named(value: &Value, other: &str) -> String {
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
        name: named(mode, "id"),
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
        name: named(option, "id"),
        description: text(option, "description"),
        category: text(option, "category"),
        value,
        is_model_list: false,
        id,
    })
}

/// Choices, which may stand in groups.
fn choices(options: &[Value]) -> Vec<Choice> {
    let mut choices = Vec::new();
    for option in options {
        if option.get("options").is_some_and(Value::is_array) {
            let group = named(option, "group");
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
        name: named(option, key),
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
