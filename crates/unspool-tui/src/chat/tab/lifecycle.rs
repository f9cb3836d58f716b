//! Lifecycle of a tab's agent: start, restart, login, failure, end.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use unspool::event::{Body, Level, Notice};

use super::Tab;
use crate::chat::messages::{self, failed_request, file_name};
use crate::chat::{Report, Reporter, Settings};
use crate::screen::Screen;
use unspool_acp::record::RecordedAgent;
use unspool_acp::{Client, ClientConfig, Exit, Launch, Phase, SessionRequest};

impl Tab {
    pub(super) fn connect(&mut self, settings: &Settings, reporter: &Reporter, first_seq: u64) {
        let agent = &self.spec.agent;
        let mut launch = Launch::new(agent.argv.clone(), &settings.root);
        launch.env.clone_from(&agent.env);
        let words = agent.argv.iter();
        let words = words.map(|word| word.to_string_lossy().into_owned());
        let mut config = ClientConfig::new(&settings.root);
        config.recorded_agent = Some(RecordedAgent::new(&agent.name, words.collect()));
        config.record = self.spec.record.clone().or_else(|| {
            let folder = settings.records.as_deref()?;
            Some(folder.join(file_name(&agent.name, self.id)))
        });
        config.session = self.spec.open.clone();
        config.mcp_servers.clone_from(&settings.mcp_servers);
        config.rules = settings.rules.clone();
        config.first_seq = first_seq;
        config.shell.clone_from(&settings.shell);
        config.terminal_login = true;
        config.leftover_calls = self.left.clone();
        self.since = Instant::now();
        let (reporter, id) = (reporter.clone(), self.id);
        let callback = move |incoming| reporter.send(Report::Agent(id, incoming));
        match Client::start(&launch, config, callback) {
            Ok(client) => {
                self.guard = client.group().and_then(settings.guard);
                self.client = Some(client);
            }
            Err(error) => self.not_started(&error),
        }
    }

    fn not_started(&mut self, error: &io::Error) {
        let agent = &self.spec.agent;
        let program = agent.argv.first().map(|program| program.to_string_lossy());
        let program = program.unwrap_or_default();
        let text = if error.kind() == io::ErrorKind::NotFound && !agent.install.is_empty() {
            format!(
                "{program} is not installed. {}\nCtrl-R tries again.",
                agent.install
            )
        } else {
            format!("{program} cannot be started: {error}. Ctrl-R tries again.")
        };
        self.phase = Phase::Failed;
        self.has_failed = true;
        self.show(Body::Notice(Notice::new(Level::Error, text)));
    }

    pub(super) fn failed(&mut self, what: &str, message: &str) {
        // Errors reported by the agent are shown as events already.
        let is_shown = !message.is_empty() && self.last_error.contains(message.trim());
        let helps = if messages::leaves_no_session(what) {
            " Ctrl-R restarts the agent."
        } else {
            ""
        };
        if !is_shown {
            let message = messages::printed_line(message);
            let stop = if message.ends_with(['.', '!', '?']) || helps.is_empty() {
                ""
            } else {
                "."
            };
            let text = format!("{}: {message}{stop}{helps}", failed_request(what));
            self.note(Level::Error, text);
        } else if !helps.is_empty() {
            self.note(Level::Info, helps.trim().to_owned());
        }
        if messages::is_vague(message) {
            self.explain();
        }
        self.take_updates();
    }

    /// Shows the end of the agent's error output.
    fn explain(&mut self) {
        let last = self.client.as_mut().map(Client::take_stderr);
        let last = messages::last_printed(&last.unwrap_or_default());
        if !last.is_empty() {
            let text = format!("{} printed before that:\n{last}", self.name());
            self.note(Level::Warning, text);
        }
    }

    pub(super) fn ended(&mut self, exit: &Exit, stderr: &str) {
        self.question = None;
        self.restore_queued();
        self.has_failed = exit.code != Some(0);
        let how = messages::ended(self.name(), exit);
        // An agent that ends while busy has a reason, even with exit status 0.
        let is_sudden = matches!(self.phase, Phase::Starting | Phase::Working | Phase::Asking);
        let level = if self.has_failed {
            Level::Error
        } else {
            Level::Info
        };
        let last = messages::last_printed(stderr);
        let helps = "Ctrl-R restarts it.";
        let text = if (self.has_failed || is_sudden) && !last.is_empty() {
            format!("{how} Its last output:\n{last}\n{helps}")
        } else {
            format!("{how} {helps}")
        };
        self.show(Body::Notice(Notice::new(level, text)));
    }

    /// Restarts an agent that has ended, and resumes its session if it can.
    pub(in crate::chat) fn restart(&mut self, settings: &Settings, reporter: &Reporter) {
        if !matches!(self.phase, Phase::Ended | Phase::Failed) {
            self.viewer.set_message("The agent is running.");
            return;
        }
        let session = self.state().map(|state| state.session.clone());
        let session = session.filter(|session| !session.is_empty());
        let recording = self.client.as_ref().and_then(Client::record_path);
        let recording = recording.map(Path::to_owned);
        self.spec.open = session.map_or(SessionRequest::New, SessionRequest::Resume);
        self.spec.record = recording.or(self.spec.record.take());
        self.restore_queued();
        self.conclude();
        self.disconnect();
        self.phase = Phase::Starting;
        self.has_failed = false;
        self.connect(settings, reporter, self.last_seq + 1);
        self.take_updates();
    }

    /// Moves all queued messages back into the prompt, because their agent is
    /// gone.
    fn restore_queued(&mut self) {
        let mut texts = self.queued();
        if texts.is_empty() {
            return;
        }
        if let Some(client) = &mut self.client {
            client.clear_queue();
        }
        if !self.prompt.is_empty() {
            texts.push(self.prompt.text());
        }
        self.prompt.set_text(&texts.join("\n"));
        self.viewer
            .set_message("Queued messages are back in the prompt.");
    }

    /// Drops the client but remembers calls without a result.
    fn disconnect(&mut self) {
        if let Some(client) = self.client.take() {
            self.left = client.leftover_calls();
        }
    }

    /// Asks the agent to exit and records its unfinished calls. Does not wait.
    pub(in crate::chat) fn conclude(&mut self) {
        if let Some(client) = &mut self.client {
            client.close();
            client.finish();
        }
        self.take_updates();
    }

    /// Cancels the turn and asks the agent to exit.
    pub(in crate::chat) fn abandon(&mut self) {
        self.with_client(Client::cancel);
        self.conclude();
    }

    /// Ends an agent that does not stop or does not answer.
    pub(in crate::chat) fn end(&mut self) {
        let was_starting = self.phase == Phase::Starting;
        self.restore_queued();
        self.conclude();
        self.disconnect();
        self.question = None;
        self.has_failed = true;
        self.phase = Phase::Ended;
        self.viewer.pane.set_live(false);
        let text = if was_starting {
            "The agent did not answer and was ended. Ctrl-R restarts it."
        } else {
            "The agent did not stop and was ended. Ctrl-R restarts it."
        };
        self.show(Body::Notice(Notice::new(Level::Canceled, text)));
    }

    /// Logs in with one of the agent's methods, over the protocol or in the
    /// terminal.
    pub(in crate::chat) fn log_in(&mut self, id: &str, screen: &mut Screen) -> io::Result<()> {
        let methods = self.state().map(|state| state.auth_methods.clone());
        let method = methods.into_iter().flatten().find(|method| method.id == id);
        let Some(login) = method.and_then(|method| method.terminal) else {
            self.with_client(|client| client.authenticate(id));
            return Ok(());
        };
        let agent = self.spec.agent.clone();
        let Some((program, before)) = agent.argv.split_first() else {
            return Ok(());
        };
        let mut command = Command::new(program);
        command.args(before).args(login.args);
        command.envs(agent.env).envs(login.env);
        let status = screen.lend(|| command.status())?;
        match status {
            Ok(status) if status.success() => self.with_client(Client::retry_after_login),
            Ok(status) => self
                .viewer
                .set_message(&format!("The login ended with {status}.")),
            Err(error) => self
                .viewer
                .set_message(&format!("The login could not be started: {error}")),
        }
        Ok(())
    }
}
