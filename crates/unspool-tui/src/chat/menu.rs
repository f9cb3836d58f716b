//! Menus over the chat: agents, modes, settings, sessions, login methods, and
//! confirmations.
//!
//! A menu stores the meaning of each row, so its caller does not need to.

use std::time::Instant;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use serde_json::Value;
use unspool::doc::title;
use unspool::theme::Theme;

use super::AgentCommand;
use crate::dialog::choice::{self, Choice, Item};
use crate::dialog::confirm::{self, Confirm};
use unspool_acp::AgentState;
use unspool_acp::agent_state::{ConfigOption, ConfigValue, SavedSession};

/// The result of a key in a menu.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Chosen {
    /// Nothing chosen yet.
    Nothing,
    /// Closed without a choice.
    Left,
    /// The agent with this index.
    Agent(usize),
    Mode(String),
    /// A setting whose values to list.
    Options(String),
    Value(String, Value),
    Session(String),
    Login(String),
    Confirmed(Confirmation),
}

/// An action that needs a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confirmation {
    CloseTab,
    EndAgent,
    Quit,
}

/// A list or a confirmation.
pub(super) enum Menu {
    List(Box<Choice>, Vec<Chosen>),
    Question(Box<Confirm>, Confirmation),
}

impl Menu {
    fn list(title: &str, rows: Vec<(Item, Chosen)>) -> Option<Self> {
        let (items, chosen): (Vec<Item>, Vec<Chosen>) = rows.into_iter().unzip();
        let is_empty = items.is_empty();
        let list = Self::List(Box::new(Choice::new(title, items)), chosen);
        (!is_empty).then_some(list)
    }

    /// Lists the agents that can be started.
    pub(super) fn agents(agents: &[AgentCommand]) -> Option<Self> {
        let row = |(at, agent): (usize, &AgentCommand)| {
            let words: Vec<_> = agent
                .argv
                .iter()
                .map(|word| word.to_string_lossy())
                .collect();
            let words = words.join(" ");
            let item = Item {
                name: agent.name.clone(),
                description: if agent.is_missing {
                    format!("not installed: {words}")
                } else {
                    words
                },
                ..Item::default()
            };
            (item, Chosen::Agent(at))
        };
        Self::list(
            "open another agent",
            agents.iter().enumerate().map(row).collect(),
        )
    }

    /// Lists the modes of the session.
    pub(super) fn modes(state: &AgentState) -> Option<Self> {
        let row = |mode: &unspool_acp::agent_state::Mode| {
            let item = Item {
                name: mode.name.clone(),
                description: mode.description.clone(),
                is_current: mode.id == state.mode,
                ..Item::default()
            };
            (item, Chosen::Mode(mode.id.clone()))
        };
        let modes = Self::list("mode", state.modes.iter().map(row).collect());
        // Newer agents offer modes as a setting.
        modes.or_else(|| {
            let mode = state
                .options
                .iter()
                .find(|option| option.category == "mode")?;
            Self::values(state, &mode.id)
        })
    }

    /// Lists the settings of the session.
    pub(super) fn options(state: &AgentState) -> Option<Self> {
        let row = |option: &ConfigOption| {
            let (now, chosen) = match &option.value {
                ConfigValue::Boolean(is_on) => {
                    let value = Chosen::Value(option.id.clone(), Value::Bool(!is_on));
                    (if *is_on { "on" } else { "off" }, value)
                }
                ConfigValue::Select { current, choices } => {
                    let name = choices.iter().find(|choice| choice.value == *current);
                    let name = name.map_or(current.as_str(), |choice| choice.name.as_str());
                    (name, Chosen::Options(option.id.clone()))
                }
            };
            let item = Item {
                name: format!("{}: {now}", option.name),
                description: option.description.clone(),
                ..Item::default()
            };
            (item, chosen)
        };
        Self::list("settings", state.options.iter().map(row).collect())
    }

    /// Lists the values of a setting.
    pub(super) fn values(state: &AgentState, id: &str) -> Option<Self> {
        let option = state.options.iter().find(|option| option.id == id)?;
        let ConfigValue::Select { current, choices } = &option.value else {
            return None;
        };
        let row = |choice: &unspool_acp::agent_state::Choice| {
            let item = Item {
                group: choice.group.clone(),
                name: choice.name.clone(),
                description: choice.description.clone(),
                is_current: choice.value == *current,
            };
            let value = Value::String(choice.value.clone());
            (item, Chosen::Value(option.id.clone(), value))
        };
        Self::list(&option.name, choices.iter().map(row).collect())
    }

    /// Lists the agent's saved sessions.
    pub(super) fn sessions(sessions: &[SavedSession]) -> Option<Self> {
        let row = |session: &SavedSession| {
            let name = if session.title.is_empty() {
                session.id.clone()
            } else {
                title::plain(&session.title)
            };
            let item = Item {
                name,
                description: session.updated.clone(),
                ..Item::default()
            };
            (item, Chosen::Session(session.id.clone()))
        };
        Self::list("earlier sessions", sessions.iter().map(row).collect())
    }

    /// Lists the login methods.
    pub(super) fn login(state: &AgentState) -> Option<Self> {
        let row = |method: &unspool_acp::agent_state::AuthMethod| {
            let item = Item {
                name: method.name.clone(),
                description: method.description.clone(),
                ..Item::default()
            };
            (item, Chosen::Login(method.id.clone()))
        };
        Self::list("log in", state.auth_methods.iter().map(row).collect())
    }

    /// Asks for a confirmation.
    pub(super) fn confirm(confirmation: Confirmation, question: &str, yes: &str) -> Self {
        Self::Question(
            Box::new(Confirm::new(question, yes, "keep going")),
            confirmation,
        )
    }

    /// Returns true for a list, false for a confirmation.
    pub(super) fn is_list(&self) -> bool {
        matches!(self, Self::List(..))
    }

    /// Returns the number of rows of the whole menu.
    pub(super) fn height(&mut self, wide: u16) -> u16 {
        match self {
            Self::List(list, _) => list.height(),
            Self::Question(question, _) => question.height(wide),
        }
    }

    pub(super) fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, now: Instant) {
        match self {
            Self::List(list, _) => list.draw(frame, area, theme),
            Self::Question(question, _) => question.draw(frame, area, theme, now),
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent, now: Instant) -> Chosen {
        match self {
            Self::List(list, chosen) => answer(list.key(key), chosen),
            Self::Question(question, confirmation) => match question.key(key, now) {
                confirm::Answer::Yes => Chosen::Confirmed(*confirmation),
                confirm::Answer::No => Chosen::Left,
                confirm::Answer::Nothing | confirm::Answer::Changed => Chosen::Nothing,
            },
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        if let Self::List(list, _) = self {
            list.paste(text);
        }
    }

    pub(super) fn mouse(&mut self, mouse: MouseEvent) -> Chosen {
        match self {
            Self::List(list, chosen) => answer(list.mouse(mouse), chosen),
            Self::Question(..) => Chosen::Nothing,
        }
    }
}

fn answer(answer: choice::Answer, chosen: &[Chosen]) -> Chosen {
    match answer {
        choice::Answer::Nothing | choice::Answer::Changed => Chosen::Nothing,
        choice::Answer::Chosen(at) => chosen.get(at).cloned().unwrap_or(Chosen::Left),
        choice::Answer::Left => Chosen::Left,
    }
}
