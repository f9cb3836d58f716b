//! Requests of the user to a tab's agent: messages, shell commands, stopping, modes.

use std::io;
use std::path::Path;

use unspool::event::Level;
use unspool_acp::files::{FileError, Files};
use unspool_acp::{Client, Phase, SessionRequest};

use super::Tab;
use crate::chat::history::History;
use crate::chat::{TabSpec, messages};
use crate::keys::Action;
use crate::prompt::content::{self, Supports, blocks};
use crate::prompt::{Message, Mode};

impl Tab {
    /// Sends a message and adds it to the history.
    pub(in crate::chat) fn send(&mut self, message: &Message, history: &mut History) {
        self.remember(Mode::Message, &message.text, history);
        self.deliver(message);
        self.viewer.pane.act(Action::End);
    }

    pub(super) fn deliver(&mut self, message: &Message) {
        let is_running = !matches!(self.phase, Phase::Ended | Phase::Failed);
        let Some(client) = self.client.as_mut().filter(|_| is_running) else {
            self.prompt.set_text(&message.text);
            self.viewer
                .set_message("The agent is not running. Ctrl-R restarts it.");
            return;
        };
        let can = client.state().capabilities;
        let supports = Supports {
            embedded: can.embedded,
            images: can.image,
        };
        let files = self.files.as_ref();
        let read = |path: &Path| match files {
            Some(files) => files.bytes(path, content::MAX_READ),
            None => Err(FileError::NotFound),
        };
        let root = files.map_or(Path::new("/"), Files::root);
        let built = blocks(message, root, supports, read);
        let was_queued = client.prompt(built.blocks);
        if let Some(words) = messages::left_out(&built.left_out) {
            self.note(Level::Warning, words);
        } else if was_queued {
            self.viewer
                .set_message("Queued until the agent is done (Ctrl-X takes it back).");
        }
        self.take_updates();
    }

    /// Runs a shell command.
    pub(in crate::chat) fn shell(&mut self, command: &str, history: &mut History) {
        self.remember(Mode::Shell, command, history);
        let started = match &mut self.client {
            Some(client) => client.run_shell(command).map(|_| ()),
            None => Err(io::Error::other("the agent is not running")),
        };
        if let Err(error) = started {
            self.viewer
                .set_message(&format!("The command could not be started: {error}"));
        }
        self.take_updates();
        self.viewer.pane.act(Action::End);
    }

    fn remember(&mut self, mode: Mode, text: &str, history: &mut History) {
        if let Err(error) = history.add(mode, text) {
            self.viewer
                .set_message(&format!("The history could not be saved: {error}"));
        }
    }

    pub(in crate::chat) fn can_stop(&self) -> bool {
        matches!(self.phase, Phase::Working | Phase::Asking) || self.runs_command()
    }

    /// Stops running shell commands, otherwise the agent's turn.
    pub(in crate::chat) fn stop(&mut self) {
        self.with_client(|client| {
            let shells: Vec<String> = client.running_shells().map(str::to_owned).collect();
            if shells.is_empty() {
                client.cancel();
            }
            for id in shells {
                client.stop_shell(&id);
            }
        });
        self.viewer.set_message("Stopping…");
    }

    /// Cancels the agent's turn and all its requests.
    pub(in crate::chat) fn cancel(&mut self) {
        self.with_client(Client::cancel);
        self.viewer.set_message("Stopping…");
    }

    /// Moves the last queued message back into the prompt.
    pub(in crate::chat) fn take_back(&mut self) {
        let Some(client) = &mut self.client else {
            return;
        };
        let last = client.queue().back().map(|queued| queued.id);
        let Some(queued) = last.and_then(|id| client.remove_queued(id)) else {
            self.viewer.set_message("No message is queued.");
            return;
        };
        self.prompt.set_text(&content::text_of(&queued.blocks));
        self.take_updates();
    }

    pub(in crate::chat) fn next_mode(&mut self) {
        let Some(state) = self.state() else {
            return;
        };
        let now = state.modes.iter().position(|mode| mode.id == state.mode);
        let next = now.map_or(0, |now| (now + 1) % state.modes.len());
        match state.modes.get(next).map(|mode| mode.id.clone()) {
            Some(mode) => self.with_client(|client| client.set_mode(&mode)),
            None => self.viewer.set_message("This agent has no modes."),
        }
    }

    pub(in crate::chat) fn list_sessions(&mut self) {
        let can = self.state().map(|state| state.capabilities.list);
        if can == Some(true) {
            self.with_client(|client| client.list_sessions(None));
        } else {
            self.viewer
                .set_message("This agent does not list its sessions.");
        }
    }

    /// Returns another session of the same agent, for a new tab.
    pub(in crate::chat) fn in_new_tab(&self, session: String) -> TabSpec {
        TabSpec {
            agent: self.spec.agent.clone(),
            open: SessionRequest::Load(session),
            ..TabSpec::default()
        }
    }

    /// Returns true if the agent was asked to stop and has not stopped yet.
    pub(in crate::chat) fn is_stopping(&self) -> bool {
        self.client.as_ref().is_some_and(Client::is_canceling)
    }

    /// Sends the next queued message after a stopped turn.
    pub(in crate::chat) fn send_queued(&mut self) -> bool {
        let waits = self.phase == Phase::Ready && !self.queued().is_empty();
        if waits {
            self.with_client(Client::send_next);
        }
        waits
    }
}
