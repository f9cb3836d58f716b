//! A tab: one agent with its client, transcript, prompt and questions. Starting
//! and stopping the agent is in `lifecycle`, sending it
//! messages in `requests`.

mod lifecycle;
mod requests;

use std::any::Any;
use std::cmp::Ordering;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{KeyEvent, MouseEvent};
use unspool::Event;
use unspool::event::{Body, Edits, Level, Notice};
use unspool::patch;

use super::menu::Menu;
use super::messages;
use super::question::{Question, Reply};
use super::{Report, Reporter, Settings, TabSpec};
use crate::keys::Context;
use crate::paint::count;
use crate::prompt::{self, Message, Mode, Prompt};
use crate::tabs;
use crate::viewer::Viewer;
use unspool_acp::files::Files;
use unspool_acp::{self as acp, AgentState, Client, Incoming, Phase, Update};

/// Contexts whose keys the help lists.
const CONTEXTS: [Context; 5] = [
    Context::Prompt,
    Context::Chat,
    Context::Dialog,
    Context::Transcript,
    Context::Everywhere,
];
/// Maximum number of output lines to show that are not protocol messages.
const UNPARSED_LINES: usize = 5;
/// Time after which a starting agent counts as slow.
const SLOW_START: Duration = Duration::from_secs(10);
const TOO_SMALL: &str = "Too small: scroll with PgDn, or enlarge the window.";
/// Idle time after which buffered events are shown without waiting for the next
/// message.
const IDLE_TIME: Duration = Duration::from_millis(60);

pub(super) struct Tab {
    id: u64,
    label: String,
    /// Calls without a result from before the agent was started.
    left: acp::LeftoverCalls,
    spec: TabSpec,
    /// None if the agent could not be started.
    client: Option<Client>,
    /// Ties the agent to the lifetime of this process. Dropped after the client.
    guard: Option<Box<dyn Any>>,
    /// Files of the project, for mentions in the prompt.
    files: Option<Files>,
    phase: Phase,
    /// Start time of the agent.
    since: Instant,
    has_failed: bool,
    pub(super) viewer: Viewer,
    pub(super) prompt: Prompt,
    question: Option<Question>,
    is_browsing: bool,
    /// Time of the last message that may not be shown yet.
    last_received: Option<Instant>,
    /// The last error shown.
    last_error: String,
    /// Sequence number of the last event.
    last_seq: u64,
    /// Number of output lines that were not protocol messages.
    unparsed_lines: usize,
    /// Text of a pending notification.
    call: Option<&'static str>,
    /// A requested list that has arrived.
    pub(super) menu: Option<Menu>,
}

impl Tab {
    /// Starts an agent. If that fails, the transcript shows the reason.
    pub(super) fn start(
        id: u64,
        label: String,
        spec: TabSpec,
        settings: &Settings,
        reporter: &Reporter,
    ) -> Self {
        let files = Files::open(&settings.root);
        let finder = reporter.clone();
        let wake = move || finder.send(Report::FilesFound(id));
        let mut prompt = Prompt::new(&settings.root, wake);
        prompt.set_placeholder("type a message  (/ commands, @ files, ! shell, F1 help)");
        for mode in [Mode::Message, Mode::Shell] {
            prompt.set_history(mode, settings.history.entries(mode));
        }
        let mut tab = Self {
            id,
            label,
            client: None,
            guard: None,
            files: files.ok(),
            phase: Phase::Starting,
            since: Instant::now(),
            has_failed: false,
            viewer: Viewer::new(settings.look.clone(), &CONTEXTS),
            prompt,
            question: None,
            is_browsing: false,
            last_received: None,
            last_error: String::new(),
            last_seq: 0,
            unparsed_lines: 0,
            call: None,
            menu: None,
            left: acp::LeftoverCalls::default(),
            spec,
        };
        tab.viewer.pane.set_focus(false);
        tab.viewer.pane.follow(true);
        let mut past = std::mem::take(&mut tab.spec.past);
        let (ends, left) = acp::close_interrupted(&mut past);
        tab.left = left;
        let next = past.last().map_or(0, |event| event.seq + 1);
        for event in past {
            tab.viewer.pane.event(event);
        }
        tab.connect(settings, reporter, next);
        for body in ends {
            tab.record(body);
        }
        let first = std::mem::take(&mut tab.spec.prompt);
        if !first.trim().is_empty() {
            let message = Message {
                text: first,
                ..Message::default()
            };
            tab.deliver(&message);
        }
        tab.take_updates();
        tab
    }

    /// Adds an event to the transcript only.
    fn show(&mut self, body: Body) {
        self.viewer.pane.event(Event::new(body));
    }

    fn note(&mut self, level: Level, text: String) {
        self.record(Body::Notice(Notice::new(level, text)));
    }

    /// Adds an event to the transcript and the recording.
    fn record(&mut self, body: Body) {
        match &mut self.client {
            Some(client) => client.add_event(body),
            None => self.show(body),
        }
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Returns the label of the tab.
    pub(super) fn name(&self) -> &str {
        &self.label
    }

    /// Returns true if the agent could be started.
    pub(super) fn has_client(&self) -> bool {
        self.client.is_some()
    }

    /// Returns the agent's name.
    pub(super) fn agent(&self) -> &str {
        &self.spec.agent.name
    }

    pub(super) fn state(&self) -> Option<&AgentState> {
        self.client.as_ref().map(Client::state)
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns true if the agent takes unusually long to start.
    pub(super) fn is_slow(&self) -> bool {
        self.phase == Phase::Starting && self.since.elapsed() >= SLOW_START
    }

    pub(super) fn mark(&self) -> tabs::Status {
        super::mark(self.phase, self.has_failed)
    }

    /// Returns the window title.
    pub(super) fn title(&self) -> String {
        let doing = match self.phase {
            Phase::Asking | Phase::NeedsLogin => "? ",
            Phase::Working => "… ",
            _ => "",
        };
        format!("{doing}{} · unspool", self.name())
    }

    /// Returns the queued messages, one line each.
    pub(super) fn queued(&self) -> Vec<String> {
        let queue = self.client.iter().flat_map(Client::queue);
        queue
            .map(|queued| prompt::content::text_of(&queued.blocks))
            .collect()
    }

    pub(super) fn is_busy(&self) -> bool {
        matches!(self.phase, Phase::Starting | Phase::Working | Phase::Asking)
            || self.runs_command()
            || self
                .client
                .as_ref()
                .is_some_and(Client::has_unattached_terminal)
    }

    fn runs_command(&self) -> bool {
        let mut clients = self.client.iter();
        clients.any(|client| client.running_shells().next().is_some())
    }

    pub(super) fn is_browsing(&self) -> bool {
        self.is_browsing
    }

    pub(super) fn browse(&mut self, is_browsing: bool) {
        self.is_browsing = is_browsing;
        self.viewer.pane.set_focus(is_browsing);
    }

    /// Supports the pending notification.
    pub(super) fn take_call(&mut self) -> Option<&'static str> {
        self.call.take()
    }

    /// Handles a message from the agent.
    pub(super) fn receive(&mut self, incoming: Incoming) {
        if let Some(client) = &mut self.client {
            let updates = client.receive(incoming);
            self.last_received = Some(Instant::now());
            self.updates(updates);
        }
    }

    /// Returns the time at which buffered events are shown.
    pub(super) fn due(&self) -> Option<Instant> {
        self.last_received.map(|received| received + IDLE_TIME)
    }

    /// Runs due work. Returns true if something changed.
    pub(super) fn settle(&mut self, now: Instant) -> bool {
        self.viewer.tick();
        let mut changed = self.viewer.take_changed();
        if self
            .last_received
            .is_some_and(|received| received + IDLE_TIME <= now)
            && let Some(client) = &mut self.client
        {
            let updates = client.flush_held();
            self.last_received = client.has_unshown_terminal().then_some(now);
            changed |= !updates.is_empty();
            self.updates(updates);
        }
        changed
    }

    pub(super) fn with_client(&mut self, work: impl FnOnce(&mut Client)) {
        if let Some(client) = &mut self.client {
            work(client);
        }
        self.take_updates();
    }

    /// Handles the updates caused by our own requests.
    fn take_updates(&mut self) {
        if let Some(client) = &mut self.client {
            let updates = client.take_updates();
            self.updates(updates);
        }
    }

    fn updates(&mut self, updates: Vec<Update>) {
        for update in updates {
            self.update(update);
        }
        let is_live = self.is_busy() || self.viewer.pane.is_empty();
        self.viewer.pane.set_live(is_live);
        let left = self.client.iter().flat_map(Client::leftover_ids);
        self.viewer.pane.set_left(left.map(str::to_owned).collect());
        let recording = self.client.as_ref().and_then(Client::record_path);
        if recording != self.viewer.recording.as_deref() && recording.is_some() {
            self.viewer.recording = recording.map(Path::to_owned);
        }
    }

    fn update(&mut self, update: Update) {
        match update {
            Update::Event(event) => {
                if let Body::Notice(notice) = &event.body
                    && notice.level == Level::Error
                {
                    self.last_error = notice.text.to_string();
                }
                self.last_seq = event.seq;
                self.viewer.pane.event(event);
            }
            Update::Phase(phase) => self.set_phase(phase),
            Update::StateChanged => self.update_commands(),
            Update::QuestionAdded(id) => {
                // The same question may have been asked again.
                self.question.take_if(|question| question.id() == id);
                self.ask();
            }
            Update::QuestionClosed(id) => {
                self.question.take_if(|question| question.id() == id);
                self.ask();
            }
            Update::FileWritten(wrote) => self.show_write(&wrote),
            Update::Sessions(sessions, _) => {
                self.menu = Menu::sessions(&sessions);
                if self.menu.is_none() {
                    self.viewer
                        .set_message("This agent has no earlier sessions of this project.");
                }
            }
            Update::Failed { what, message } => self.failed(&what, &message),
            Update::InvalidLine(text) => {
                self.unparsed(&text);
            }
            Update::Ended { exit, stderr } => self.ended(&exit, &stderr),
            // A rule's answer is also an event.
            _ => {}
        }
    }

    /// Shows output that is not a protocol message, such as a shell's greeting or
    /// a flood of logs.
    fn unparsed(&mut self, text: &str) {
        let (name, count) = (self.name().to_owned(), self.unparsed_lines);
        self.unparsed_lines += 1;
        match count.cmp(&UNPARSED_LINES) {
            Ordering::Less => {
                let text = messages::printed_line(text);
                // Only cursor movement or colours.
                if text.is_empty() {
                    return;
                }
                self.note(Level::Info, format!("{name} printed: {text}"));
            }
            Ordering::Equal => {
                let text =
                    format!("{name} printed more that is not a protocol message; it is hidden.");
                self.note(Level::Warning, text);
            }
            Ordering::Greater => return,
        }
        self.take_updates();
    }

    fn set_phase(&mut self, phase: Phase) {
        let before = std::mem::replace(&mut self.phase, phase);
        // Messages about the turn are obsolete now.
        if before == Phase::Working {
            self.viewer.clear_message();
        }
        self.call = match phase {
            Phase::Asking => Some("asks for permission"),
            Phase::NeedsLogin => Some("needs you to log in"),
            Phase::Ready if before == Phase::Working => Some("is done"),
            Phase::Failed | Phase::Ended => Some("has ended"),
            _ => self.call,
        };
        if phase == Phase::NeedsLogin {
            self.menu = self.state().and_then(Menu::login);
            if self.menu.is_none() {
                let text = "The agent requires a login but offers no way to do it here. Log in with its own command.";
                self.note(Level::Error, text.to_owned());
                self.take_updates();
            }
        }
    }

    /// Passes the agent's commands on to the prompt.
    fn update_commands(&mut self) {
        let Some(state) = self.state() else {
            return;
        };
        let commands = state.commands.iter().map(|command| prompt::Command {
            name: command.name.clone(),
            description: command.description.clone(),
            hint: command.hint.clone(),
        });
        let commands = commands.collect();
        self.prompt.set_commands(commands);
    }

    /// Shows the oldest question, unless one is shown already.
    fn ask(&mut self) {
        let Some(client) = &self.client else {
            return;
        };
        if self.question.is_none() {
            self.question = client.questions().first().map(Question::new);
        }
        if let Some(question) = &mut self.question {
            question.set_waiting(client.questions().len().saturating_sub(1));
        }
    }

    /// Shows a file written through us that the agent does not report itself.
    fn show_write(&mut self, wrote: &acp::files::WrittenFile) {
        let path = wrote.path.to_string_lossy();
        let edit = patch::from_texts(&path, wrote.old.as_deref(), &wrote.new, true);
        let edits = vec![edit];
        if let Some(client) = &mut self.client
            && !client.shows_change(wrote)
        {
            client.add_event(Body::Edit(Edits::new(edits)));
        }
        self.take_updates();
    }

    pub(super) fn has_question(&self) -> bool {
        self.question.is_some()
    }

    pub(super) fn question(&mut self) -> Option<&mut Question> {
        self.question.as_mut()
    }

    /// Passes a key to the open question.
    pub(super) fn dialog_key(&mut self, key: KeyEvent) -> io::Result<bool> {
        let Some(question) = &mut self.question else {
            return Ok(false);
        };
        match question.key(key, Instant::now()) {
            Reply::Copy(text) => {
                self.viewer.copy(&text)?;
            }
            reply => self.answer(reply),
        }
        Ok(true)
    }

    /// Removes the warning about a small window after a resize.
    pub(super) fn resized(&mut self) {
        if self.viewer.message() == Some(TOO_SMALL) {
            self.viewer.clear_message();
        }
    }

    fn answer(&mut self, reply: Reply) {
        match reply {
            Reply::Nothing | Reply::Copy(_) => {}
            Reply::Stop => self.cancel(),
            Reply::Unseen => self.viewer.set_message(TOO_SMALL),
            Reply::Unread(rows) => {
                let rows = count(rows, "line", "lines");
                let words = format!("{rows} unread: PgDn, or press again");
                self.viewer.set_message(&words);
            }
            Reply::Missing(what) => {
                let words = format!("The agent does not offer to {what}.");
                self.viewer.set_message(&words);
            }
            Reply::Answer(id, answer) => self.with_client(|client| {
                client.answer(id, answer);
            }),
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        if let Some(question) = &mut self.question {
            question.paste(text);
        } else {
            self.browse(false);
            self.prompt.paste(text);
        }
    }

    pub(super) fn input_mouse(&mut self, mouse: MouseEvent) {
        if let Some(question) = &mut self.question {
            let reply = question.mouse(mouse);
            self.answer(reply);
        } else {
            self.prompt.mouse(mouse);
        }
    }
}
