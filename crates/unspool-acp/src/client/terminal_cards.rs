//! Cards for the commands of an agent that none of its tool calls shows.
//!
//! Most agents put a terminal into a tool call shortly after they created it. The
//! client waits for that a little, and then shows the command itself, as a tool
//! call of its own: the card. If a call of the agent for the same command is open,
//! its output goes there. If a call takes the terminal up later, it replaces the
//! card (`journal.rs`).

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Client;
use super::shell::take_complete;
use super::terminal_requests::MAX_TERMINALS;
use crate::wire::{Message, items, text};

/// Maximum bytes of one terminal's output that are shown while it runs.
const OUTPUT_LIMIT: usize = 1 << 20;
/// Time for the agent to put a terminal into a call.
const GRACE: Duration = Duration::from_millis(60);
/// The same while a call is open that may be about to show it.
pub(super) const LONG_GRACE: Duration = Duration::from_secs(2);
/// The same once the command has ended.
const END_GRACE: Duration = Duration::from_secs(1);

/// The terminals that the agent created.
#[derive(Default)]
pub(super) struct AgentTerminals {
    pub(super) open: BTreeMap<String, AgentTerminal>,
    /// Requests that wait for the end of a command, each with the terminal's id.
    pub(super) waiting: Vec<(Value, String)>,
    /// The latest terminals whose cards showed the whole command.
    ended_cards: VecDeque<String>,
}

pub(super) struct AgentTerminal {
    pub(super) session: String,
    command: String,
    since: Instant,
    /// Bytes of output that were shown.
    shown: usize,
    /// A call of the agent shows it.
    is_embedded: bool,
    card: Card,
    /// The agent's call that is [`Card::Borrowed`].
    borrowed_call: String,
    /// The start of a character whose other bytes have not arrived yet.
    partial: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Card {
    None,
    Running,
    Ended,
    /// A call of the agent replaced it.
    Replaced,
    /// A call of the agent for the same command shows the output, though the agent
    /// did not put the terminal into it.
    Borrowed,
}

impl AgentTerminal {
    pub(super) fn new(session: String, command: String) -> Self {
        Self {
            session,
            command,
            since: Instant::now(),
            shown: 0,
            is_embedded: false,
            card: Card::None,
            borrowed_call: String::new(),
            partial: Vec::new(),
        }
    }
}

impl AgentTerminals {
    /// Withdraws a request that waits for the end of a command; returns false if
    /// there is no such request.
    pub(super) fn stop_waiting(&mut self, request: &Value) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|(waiting, _)| waiting != request);
        self.waiting.len() < before
    }
}

impl Client {
    /// Returns true while a card shows a running command of the agent.
    pub fn has_unattached_terminal(&self) -> bool {
        let mut open = self.agent_terminals.open.values();
        open.any(|terminal| terminal.card == Card::Running)
    }

    /// Returns true if a terminal, or its end, will be shown once some time has
    /// passed: the app should call [`Client::flush_held`] again.
    pub fn has_unshown_terminal(&self) -> bool {
        self.agent_terminals.open.iter().any(|(id, terminal)| {
            let has_ended = self.terminals.exit(id).is_some();
            let is_hidden = terminal.card == Card::None && !terminal.is_embedded;
            is_hidden || terminal.card == Card::Running && has_ended
        })
    }

    pub(super) fn show_terminal_output(&mut self, id: &str) {
        let bytes = self.terminals.take_new(id);
        let is_embedded = self.calls.any_shows_terminal(id);
        let Some(terminal) = self.agent_terminals.open.get_mut(id) else {
            return;
        };
        terminal.is_embedded |= is_embedded;
        if bytes.is_empty() || terminal.shown >= OUTPUT_LIMIT {
            return;
        }
        terminal.shown += bytes.len();
        self.journal.terminal_output(&terminal.session, id, &bytes);
        let call = match terminal.card {
            Card::Running => id.to_owned(),
            Card::Borrowed => terminal.borrowed_call.clone(),
            Card::None | Card::Ended | Card::Replaced => {
                if terminal.since.elapsed() >= GRACE && self.is_card_due(id) {
                    self.show_card(id);
                }
                return;
            }
        };
        let text = take_complete(&mut terminal.partial, bytes);
        self.show_command_output(&call, text);
    }

    /// Shows the cards that are due, and their ends.
    pub(super) fn show_due_cards(&mut self) {
        let ids: Vec<String> = self.agent_terminals.open.keys().cloned().collect();
        for id in ids {
            if self.is_card_due(&id) {
                self.show_card(&id);
            }
            let ended = self.time_since_end(&id);
            if ended.is_some_and(|ended| ended >= END_GRACE) {
                self.end_card(&id);
            }
        }
    }

    /// Returns true if the agent had its time to show a terminal itself.
    fn is_card_due(&self, id: &str) -> bool {
        let Some(terminal) = self.agent_terminals.open.get(id) else {
            return false;
        };
        let may_embed = self.calls.any_awaits_terminal(&terminal.session);
        if may_embed && terminal.since.elapsed() < LONG_GRACE {
            return false;
        }
        let ended = self.time_since_end(id);
        ended.is_none_or(|ended| ended >= END_GRACE)
    }

    fn time_since_end(&self, id: &str) -> Option<Duration> {
        let terminal = self.agent_terminals.open.get(id)?;
        let (_, ran) = self.terminals.exit(id)?;
        Some(terminal.since.elapsed().saturating_sub(ran))
    }

    /// Replaces cards by the calls of the agent that a message puts their terminals
    /// into. Called before the journal reads the message.
    pub(super) fn replace_cards(&mut self, message: &Message) {
        let Message::Notification { method, params } = message else {
            return;
        };
        let update = params.get("update").unwrap_or(&Value::Null);
        let kind = text(update, "sessionUpdate");
        if method != "session/update" || !matches!(&*kind, "tool_call" | "tool_call_update") {
            return;
        }
        let call = text(update, "toolCallId");
        let content = items(update, "content");
        for item in content {
            let id = text(item, "terminalId");
            if content.len() == 1 && self.agent_terminals.ended_cards.contains(&id) {
                self.journal.suppress_call(&call, &id);
            }
            let Some(terminal) = self.agent_terminals.open.get_mut(&id) else {
                continue;
            };
            let is_replaced = match terminal.card {
                Card::Running => self.journal.replace_card(&call, &id, terminal.shown),
                Card::Borrowed => {
                    if call == terminal.borrowed_call {
                        self.journal.skip_output(&call, terminal.shown);
                    }
                    true
                }
                Card::None | Card::Ended | Card::Replaced => false,
            };
            if is_replaced {
                terminal.card = Card::Replaced;
                terminal.is_embedded = true;
            }
        }
    }

    /// Shows a terminal in a card, unless a call or a card shows it already.
    pub(super) fn show_card(&mut self, id: &str) {
        let is_embedded = self.calls.any_shows_terminal(id);
        let Some(terminal) = self.agent_terminals.open.get_mut(id) else {
            return;
        };
        terminal.is_embedded |= is_embedded;
        if terminal.is_embedded || terminal.card != Card::None {
            return;
        }
        let call = self
            .calls
            .awaiting_terminal(&terminal.session, &terminal.command);
        if let Some(call) = call.filter(|call| self.journal.is_open(call)) {
            terminal.card = Card::Borrowed;
            terminal.borrowed_call.clone_from(&call);
            let output = self.terminals.output(id).unwrap_or_default();
            self.show_command_output(&call, output.text);
            return;
        }
        terminal.card = Card::Running;
        let command = terminal.command.clone();
        self.show_command(id, "terminal", &command);
        let output = self.terminals.output(id).unwrap_or_default();
        self.show_command_output(id, output.text);
        if output.exit.is_some() {
            self.end_card(id);
        }
    }

    /// Shows the end of a card's command.
    pub(super) fn end_card(&mut self, id: &str) {
        let Some(terminal) = self.agent_terminals.open.get_mut(id) else {
            return;
        };
        if terminal.card != Card::Running {
            return;
        }
        terminal.card = Card::Ended;
        let ended_cards = &mut self.agent_terminals.ended_cards;
        if ended_cards.len() >= MAX_TERMINALS {
            ended_cards.pop_front();
        }
        ended_cards.push_back(id.to_owned());
        self.show_command_end(id, "terminal");
    }
}
