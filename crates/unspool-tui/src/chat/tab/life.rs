//! How a tab's agent begins and ends: starting it, and again; logging in; what is
//! said when it fails or is gone, and what waited for it then.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::json;
use unspool::event::{Body, Level, Notice};

use super::Tab;
use crate::chat::words::{self, file_name, plainly};
use crate::chat::{News, Settings, Teller};
use crate::screen::Screen;
use unspool_acp::{self as acp, Client, Exit, Launch, Open, Phase};

impl Tab {
    pub(super) fn connect(&mut self, settings: &Settings, teller: &Teller, first_seq: u64) {
        let agent = &self.opening.agent;
        let launch = Launch {
            argv: agent.argv.clone(),
            env: agent.env.clone(),
            cwd: settings.root.clone(),
        };
        let words: Vec<_> = agent
            .argv
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        let record = self.opening.record.clone().or_else(|| {
            let folder = settings.records.as_deref()?;
            Some(folder.join(file_name(&agent.name, self.id)))
        });
        let client = acp::client::Settings {
            open: self.opening.open.clone(),
            mcp_servers: settings.mcp_servers.clone(),
            rules: settings.rules.clone(),
            record,
            first_seq,
            shell: settings.shell.clone(),
            terminal_login: true,
            left: self.left.clone(),
            about: Some((
                acp::record::ABOUT.to_owned(),
                json!({"agent": agent.name, "command": words}),
            )),
            ..acp::client::Settings::new(&settings.root)
        };
        self.since = Instant::now();
        let (teller, id) = (teller.clone(), self.id);
        let callback = move |incoming| teller.tell(News::Came(id, incoming));
        match Client::start(&launch, client, callback) {
            Ok(client) => {
                self.guard = client.group().and_then(settings.guard);
                self.client = Some(client);
            }
            Err(error) => self.not_started(&error),
        }
    }

    fn not_started(&mut self, error: &io::Error) {
        let agent = &self.opening.agent;
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
        // The agent's own refusals are among the events.
        let is_told = !message.is_empty() && self.last_error.contains(message.trim());
        let helps = if words::leaves_nothing(what) {
            " Ctrl-R starts the agent again."
        } else {
            ""
        };
        if !is_told {
            let message = words::printed_line(message);
            let stop = if message.ends_with(['.', '!', '?']) || helps.is_empty() {
                ""
            } else {
                "."
            };
            let text = format!("{}: {message}{stop}{helps}", plainly(what));
            self.note(Level::Error, text);
        } else if !helps.is_empty() {
            self.note(Level::Info, helps.trim().to_owned());
        }
        if words::is_vague(message) {
            self.explain();
        }
        self.follow_up();
    }

    /// Shows what the agent printed last, for want of a better cause.
    fn explain(&mut self) {
        let last = self.client.as_mut().map(Client::take_stderr);
        let last = words::last_printed(&last.unwrap_or_default());
        if !last.is_empty() {
            let text = format!("{} printed before that:\n{last}", self.name());
            self.note(Level::Warning, text);
        }
    }

    pub(super) fn ended(&mut self, exit: &Exit, stderr: &str) {
        self.question = None;
        self.keep_waiting();
        self.has_failed = exit.code != Some(0);
        let how = words::ended(self.name(), exit);
        // One that ends in the midst of something has a cause, whatever it says.
        let is_sudden = matches!(self.phase, Phase::Starting | Phase::Working | Phase::Asking);
        let level = if self.has_failed {
            Level::Error
        } else {
            Level::Info
        };
        let last = words::last_printed(stderr);
        let helps = "Ctrl-R starts it again.";
        let text = if (self.has_failed || is_sudden) && !last.is_empty() {
            format!("{how} It said:\n{last}\n{helps}")
        } else {
            format!("{how} {helps}")
        };
        self.show(Body::Notice(Notice::new(level, text)));
    }

    /// Starts the agent again, which goes on with its session if it can.
    pub(in crate::chat) fn restart(&mut self, settings: &Settings, teller: &Teller) {
        if !matches!(self.phase, Phase::Ended | Phase::Failed) {
            self.sight.say("The agent is there.");
            return;
        }
        let session = self.state().map(|state| state.session.clone());
        let session = session.filter(|session| !session.is_empty());
        let recording = self.client.as_ref().and_then(Client::recording);
        let recording = recording.map(Path::to_owned);
        self.opening.open = session.map_or(Open::New, Open::Resume);
        self.opening.record = recording.or(self.opening.record.take());
        self.keep_waiting();
        self.conclude();
        self.part();
        self.phase = Phase::Starting;
        self.has_failed = false;
        self.connect(settings, teller, self.last_seq + 1);
        self.follow_up();
    }

    /// Puts all messages that wait back into the prompt: the agent that they were
    /// for is gone.
    fn keep_waiting(&mut self) {
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
        self.sight.say("What waited stands in the prompt again.");
    }

    /// Lets go of an agent, but remembers which calls got no result.
    fn part(&mut self) {
        if let Some(client) = self.client.take() {
            self.left = client.all_left();
        }
    }

    /// Asks the agent to end, and tells of what it leaves open. Nothing is waited
    /// for.
    pub(in crate::chat) fn conclude(&mut self) {
        if let Some(client) = &mut self.client {
            client.close();
            client.conclude();
        }
        self.follow_up();
    }

    /// The same for a person who knows what is at work and leaves.
    pub(in crate::chat) fn abandon(&mut self) {
        self.with_client(Client::cancel);
        self.conclude();
    }

    /// Ends an agent that does not stop, or does not answer.
    pub(in crate::chat) fn end(&mut self) {
        let was_starting = self.phase == Phase::Starting;
        self.keep_waiting();
        self.conclude();
        self.part();
        self.question = None;
        self.has_failed = true;
        self.phase = Phase::Ended;
        self.sight.pane.set_live(false);
        let text = if was_starting {
            "The agent did not answer and was ended. Ctrl-R starts it again."
        } else {
            "The agent did not stop and was ended. Ctrl-R starts it again."
        };
        self.show(Body::Notice(Notice::new(Level::Canceled, text)));
    }

    /// Logs in by one of the agent's ways: by itself, or in the terminal.
    pub(in crate::chat) fn log_in(&mut self, id: &str, screen: &mut Screen) -> io::Result<()> {
        let methods = self.state().map(|state| state.auth_methods.clone());
        let method = methods.into_iter().flatten().find(|method| method.id == id);
        let Some(login) = method.and_then(|method| method.terminal) else {
            self.with_client(|client| client.authenticate(id));
            return Ok(());
        };
        let agent = self.opening.agent.clone();
        let Some((program, before)) = agent.argv.split_first() else {
            return Ok(());
        };
        let mut command = Command::new(program);
        command.args(before).args(login.args);
        command.envs(agent.env).envs(login.env);
        let status = screen.lend(|| command.status())?;
        match status {
            Ok(status) if status.success() => self.with_client(Client::logged_in),
            Ok(status) => self.sight.say(&format!("The login ended with {status}.")),
            Err(error) => self
                .sight
                .say(&format!("The login could not be started: {error}")),
        }
        Ok(())
    }
}
