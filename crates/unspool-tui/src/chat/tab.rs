//! One agent: its client, its transcript, the prompt, and what it asks. How it
//! begins and ends is in `life.rs`.

mod life;

use std::any::Any;
use std::cmp::Ordering;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{KeyEvent, MouseEvent};
use unspool::Event;
use unspool::event::{Body, Edits, Level, Notice};
use unspool::patch;

use super::ask::{Question, Said};
use super::history::History;
use super::menu::Menu;
use super::words;
use super::{News, Opening, Settings, Teller};
use crate::keys::{Action, Place};
use crate::paint::count;
use crate::prompt::blocks::{Takes, blocks};
use crate::prompt::{self, Message, Mode, Prompt};
use crate::sight::Sight;
use crate::tabs;
use unspool_acp::files::{FileError, Files};
use unspool_acp::{self as acp, Client, Incoming, Open, Phase, State, Update};

/// The keys that are told of.
const PLACES: [Place; 5] = [
    Place::Prompt,
    Place::Chat,
    Place::Dialog,
    Place::Transcript,
    Place::Everywhere,
];
/// Of what an agent prints besides its messages, so much is shown.
const STRAYS: usize = 5;
/// Agents have answered after so long.
const LATE: Duration = Duration::from_secs(10);
const TOO_SMALL: &str = "Too small to show what is asked: PgDn scrolls, or enlarge the window.";
/// After so much silence, what waits for the next message is shown.
const QUIET: Duration = Duration::from_millis(60);

pub(super) struct Tab {
    id: u64,
    label: String,
    /// Calls that got no result before the agent was started.
    left: acp::client::Left,
    opening: Opening,
    /// None if it could not be started.
    client: Option<Client>,
    /// Ends the agent with us. It is dropped after the client.
    guard: Option<Box<dyn Any>>,
    /// The same files that the agent may touch, for what the prompt names.
    files: Option<Files>,
    phase: Phase,
    /// When the agent was started.
    since: Instant,
    has_failed: bool,
    pub(super) sight: Sight,
    pub(super) prompt: Prompt,
    question: Option<Question>,
    is_browsing: bool,
    /// When something came last that may not be shown yet.
    came: Option<Instant>,
    /// The last error that was shown.
    last_error: String,
    /// The number of the last event.
    last_seq: u64,
    /// What it printed that is no message.
    strays: usize,
    /// What the person is called for.
    call: Option<&'static str>,
    /// A list that was asked for and has come.
    pub(super) menu: Option<Menu>,
}

impl Tab {
    /// Starts an agent. If that fails, the tab says why.
    pub(super) fn start(
        id: u64,
        label: String,
        opening: Opening,
        settings: &Settings,
        teller: &Teller,
    ) -> Self {
        let files = Files::open(&settings.root);
        let finder = teller.clone();
        let wake = move || finder.tell(News::Files(id));
        let mut prompt = Prompt::new(&settings.root, wake);
        prompt.set_placeholder("say what is to be done  (/ commands, @ files, ! shell, F1 help)");
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
            sight: Sight::new(settings.look.clone(), &PLACES),
            prompt,
            question: None,
            is_browsing: false,
            came: None,
            last_error: String::new(),
            last_seq: 0,
            strays: 0,
            call: None,
            menu: None,
            left: acp::client::Left::default(),
            opening,
        };
        tab.sight.pane.set_focus(false);
        tab.sight.pane.follow(true);
        let mut past = std::mem::take(&mut tab.opening.past);
        let (ends, left) = acp::client::ends_of(&mut past);
        tab.left = left;
        let next = past.last().map_or(0, |event| event.seq + 1);
        for event in past {
            tab.sight.pane.event(event);
        }
        tab.connect(settings, teller, next);
        for body in ends {
            tab.tell(body);
        }
        let first = std::mem::take(&mut tab.opening.prompt);
        if !first.trim().is_empty() {
            let message = Message {
                text: first,
                ..Message::default()
            };
            tab.deliver(&message);
        }
        tab.follow_up();
        tab
    }

    /// Something of our own, in the transcript.
    fn show(&mut self, body: Body) {
        self.sight.pane.event(Event::new(body));
    }

    fn note(&mut self, level: Level, text: String) {
        self.tell(Body::Notice(Notice::new(level, text)));
    }

    /// Something that belongs to the conversation, and is kept with it.
    fn tell(&mut self, body: Body) {
        match &mut self.client {
            Some(client) => client.tell(body),
            None => self.show(body),
        }
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// What the tab is called.
    pub(super) fn name(&self) -> &str {
        &self.label
    }

    /// Whether the agent could be started.
    pub(super) fn has_agent(&self) -> bool {
        self.client.is_some()
    }

    /// The agent's name.
    pub(super) fn agent(&self) -> &str {
        &self.opening.agent.name
    }

    pub(super) fn state(&self) -> Option<&State> {
        self.client.as_ref().map(Client::state)
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether it takes longer to answer than agents do.
    pub(super) fn is_late(&self) -> bool {
        self.phase == Phase::Starting && self.since.elapsed() >= LATE
    }

    pub(super) fn mark(&self) -> tabs::State {
        super::mark(self.phase, self.has_failed)
    }

    /// What the window is called.
    pub(super) fn title(&self) -> String {
        let doing = match self.phase {
            Phase::Asking | Phase::NeedsLogin => "? ",
            Phase::Working => "… ",
            _ => "",
        };
        format!("{doing}{} · unspool", self.name())
    }

    /// What waits for its turn, in one line each.
    pub(super) fn queued(&self) -> Vec<String> {
        let queue = self.client.iter().flat_map(Client::queue);
        queue
            .map(|queued| prompt::blocks::words(&queued.blocks))
            .collect()
    }

    pub(super) fn is_busy(&self) -> bool {
        matches!(self.phase, Phase::Starting | Phase::Working | Phase::Asking)
            || self.runs_command()
            || self.client.as_ref().is_some_and(Client::runs_terminal)
    }

    fn runs_command(&self) -> bool {
        let mut clients = self.client.iter();
        clients.any(|client| client.shells().next().is_some())
    }

    pub(super) fn is_browsing(&self) -> bool {
        self.is_browsing
    }

    pub(super) fn browse(&mut self, is_browsing: bool) {
        self.is_browsing = is_browsing;
        self.sight.pane.set_focus(is_browsing);
    }

    /// What the person is called for, once.
    pub(super) fn take_call(&mut self) -> Option<&'static str> {
        self.call.take()
    }

    /// Takes what came from the agent.
    pub(super) fn came(&mut self, incoming: Incoming) {
        if let Some(client) = &mut self.client {
            let updates = client.take(incoming);
            self.came = Some(Instant::now());
            self.updates(updates);
        }
    }

    /// When what waits is to be shown.
    pub(super) fn due(&self) -> Option<Instant> {
        self.came.map(|came| came + QUIET)
    }

    /// Does what has become due; whether something changed.
    pub(super) fn settle(&mut self, now: Instant) -> bool {
        self.sight.tick();
        let mut changed = self.sight.take_changed();
        if self.came.is_some_and(|came| came + QUIET <= now)
            && let Some(client) = &mut self.client
        {
            let updates = client.quiet();
            self.came = client.is_unsettled().then_some(now);
            changed |= !updates.is_empty();
            self.updates(updates);
        }
        changed
    }

    pub(super) fn with_client(&mut self, work: impl FnOnce(&mut Client)) {
        if let Some(client) = &mut self.client {
            work(client);
        }
        self.follow_up();
    }

    /// Takes in what our own doing changed.
    fn follow_up(&mut self) {
        if let Some(client) = &mut self.client {
            let updates = client.drain();
            self.updates(updates);
        }
    }

    fn updates(&mut self, updates: Vec<Update>) {
        for update in updates {
            self.update(update);
        }
        let is_live = self.is_busy() || self.sight.pane.is_empty();
        self.sight.pane.set_live(is_live);
        let left = self.client.iter().flat_map(Client::left);
        self.sight.pane.set_left(left.map(str::to_owned).collect());
        let recording = self.client.as_ref().and_then(Client::recording);
        if recording != self.sight.recording.as_deref() && recording.is_some() {
            self.sight.recording = recording.map(Path::to_owned);
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
                self.sight.pane.event(event);
            }
            Update::Phase(phase) => self.turned(phase),
            Update::State => self.learned(),
            Update::Asked(id) => {
                // The same question may have been asked anew.
                self.question.take_if(|question| question.id() == id);
                self.ask();
            }
            Update::Settled(id) => {
                self.question.take_if(|question| question.id() == id);
                self.ask();
            }
            // It is among the events too.
            Update::Automatic { .. } => {}
            Update::Wrote(wrote) => self.wrote(&wrote),
            Update::Sessions(sessions, _) => {
                self.menu = Menu::sessions(&sessions);
                if self.menu.is_none() {
                    self.sight
                        .say("This agent keeps no earlier sessions of this project.");
                }
            }
            Update::Failed { what, message } => self.failed(&what, &message),
            Update::Stray(text) => {
                self.stray(&text);
            }
            Update::Ended { exit, stderr } => self.ended(&exit, &stderr),
        }
    }

    /// Something that is no message: a shell's greeting, or a flood of logs.
    fn stray(&mut self, text: &str) {
        let (name, count) = (self.name().to_owned(), self.strays);
        self.strays += 1;
        match count.cmp(&STRAYS) {
            Ordering::Less => {
                let text = words::printed_line(text);
                // It moved the cursor, or changed a colour.
                if text.is_empty() {
                    return;
                }
                self.note(Level::Info, format!("{name} printed: {text}"));
            }
            Ordering::Equal => {
                let text = format!("{name} prints more that is no message: it is not shown.");
                self.note(Level::Warning, text);
            }
            Ordering::Greater => return,
        }
        self.follow_up();
    }

    fn turned(&mut self, phase: Phase) {
        let before = std::mem::replace(&mut self.phase, phase);
        // What was said of the turn is over with it.
        if before == Phase::Working {
            self.sight.hush();
        }
        self.call = match phase {
            Phase::Asking => Some("asks for permission"),
            Phase::NeedsLogin => Some("wants you to log in"),
            Phase::Ready if before == Phase::Working => Some("is done"),
            Phase::Failed | Phase::Ended => Some("has ended"),
            _ => self.call,
        };
        if phase == Phase::NeedsLogin {
            self.menu = self.state().and_then(Menu::login);
            if self.menu.is_none() {
                let text = "The agent wants a login and offers no way to do it here: log in with its own command.";
                self.note(Level::Error, text.to_owned());
                self.follow_up();
            }
        }
    }

    /// The agent told of its commands and settings.
    fn learned(&mut self) {
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

    /// Shows the oldest question, if none is shown.
    fn ask(&mut self) {
        let Some(client) = &self.client else {
            return;
        };
        if self.question.is_none() {
            self.question = client.asks().first().map(Question::new);
        }
        if let Some(question) = &mut self.question {
            question.set_waiting(client.asks().len().saturating_sub(1));
        }
    }

    /// What an agent wrote through us and does not tell of itself.
    fn wrote(&mut self, wrote: &acp::files::Wrote) {
        let path = wrote.path.to_string_lossy();
        let edit = patch::from_texts(&path, wrote.old.as_deref(), &wrote.new, true);
        let edits = vec![edit];
        if let Some(client) = &mut self.client
            && !client.shows(wrote)
        {
            client.tell(Body::Edit(Edits::new(edits)));
        }
        self.follow_up();
    }

    /// Sends a message, and remembers it.
    pub(super) fn send(&mut self, message: &Message, history: &mut History) {
        self.remember(Mode::Message, &message.text, history);
        self.deliver(message);
        self.sight.pane.act(Action::End);
    }

    fn deliver(&mut self, message: &Message) {
        let is_there = !matches!(self.phase, Phase::Ended | Phase::Failed);
        let Some(client) = self.client.as_mut().filter(|_| is_there) else {
            self.prompt.set_text(&message.text);
            self.sight
                .say("The agent is not there: Ctrl-R starts it again.");
            return;
        };
        let can = client.state().capabilities;
        let takes = Takes {
            embedded: can.embedded,
            images: can.image,
        };
        let files = self.files.as_ref();
        let read = |path: &Path| match files {
            Some(files) => files.bytes(path, prompt::blocks::READ_MOST),
            None => Err(FileError::NotFound),
        };
        let root = files.map_or(Path::new("/"), Files::root);
        let built = blocks(message, root, takes, read);
        let was_queued = client.prompt(built.blocks);
        if let Some(words) = words::left_out(&built.left_out) {
            self.note(Level::Warning, words);
        } else if was_queued {
            self.sight
                .say("It is sent when the agent is done (Ctrl-X takes it back).");
        }
        self.follow_up();
    }

    /// Runs a command of the person.
    pub(super) fn shell(&mut self, command: &str, history: &mut History) {
        self.remember(Mode::Shell, command, history);
        let started = match &mut self.client {
            Some(client) => client.shell(command).map(|_| ()),
            None => Err(io::Error::other("the agent is not there")),
        };
        if let Err(error) = started {
            self.sight
                .say(&format!("The command could not be started: {error}"));
        }
        self.follow_up();
        self.sight.pane.act(Action::End);
    }

    fn remember(&mut self, mode: Mode, text: &str, history: &mut History) {
        if let Err(error) = history.add(mode, text) {
            self.sight
                .say(&format!("It is not kept for the next time: {error}"));
        }
    }

    pub(super) fn can_stop(&self) -> bool {
        matches!(self.phase, Phase::Working | Phase::Asking) || self.runs_command()
    }

    /// Stops the person's commands, or else the agent's turn.
    pub(super) fn stop(&mut self) {
        self.with_client(|client| {
            let shells: Vec<String> = client.shells().map(str::to_owned).collect();
            if shells.is_empty() {
                client.cancel();
            }
            for id in shells {
                client.stop_shell(&id);
            }
        });
        self.sight.say("Stopping…");
    }

    /// Stops the agent's turn, and answers all that it asks with that.
    pub(super) fn cancel(&mut self) {
        self.with_client(Client::cancel);
        self.sight.say("Stopping…");
    }

    /// Puts the last message that waits back into the prompt.
    pub(super) fn take_back(&mut self) {
        let Some(client) = &mut self.client else {
            return;
        };
        let last = client.queue().back().map(|queued| queued.id);
        let Some(queued) = last.and_then(|id| client.remove_queued(id)) else {
            self.sight.say("No message waits.");
            return;
        };
        self.prompt.set_text(&prompt::blocks::words(&queued.blocks));
        self.follow_up();
    }

    pub(super) fn next_mode(&mut self) {
        let Some(state) = self.state() else {
            return;
        };
        let now = state.modes.iter().position(|mode| mode.id == state.mode);
        let next = now.map_or(0, |now| (now + 1) % state.modes.len());
        match state.modes.get(next).map(|mode| mode.id.clone()) {
            Some(mode) => self.with_client(|client| client.set_mode(&mode)),
            None => self.sight.say("This agent has no modes."),
        }
    }

    pub(super) fn list_sessions(&mut self) {
        let can = self.state().map(|state| state.capabilities.list);
        if can == Some(true) {
            self.with_client(|client| client.list(None));
        } else {
            self.sight.say("This agent does not list its sessions.");
        }
    }

    /// Another session of the same agent, for a tab of its own.
    pub(super) fn elsewhere(&self, session: String) -> Opening {
        Opening {
            agent: self.opening.agent.clone(),
            open: Open::Load(session),
            ..Opening::default()
        }
    }

    /// Whether it was told to stop and has not.
    pub(super) fn is_stopping(&self) -> bool {
        self.client.as_ref().is_some_and(Client::is_canceling)
    }

    /// Sends what waits, after a turn that was stopped.
    pub(super) fn send_waiting(&mut self) -> bool {
        let waits = self.phase == Phase::Ready && !self.queued().is_empty();
        if waits {
            self.with_client(Client::send_next);
        }
        waits
    }

    pub(super) fn is_asked(&self) -> bool {
        self.question.is_some()
    }

    pub(super) fn question(&mut self) -> Option<&mut Question> {
        self.question.as_mut()
    }

    /// A key for the question that is shown.
    pub(super) fn dialog_key(&mut self, key: KeyEvent) -> io::Result<bool> {
        let Some(question) = &mut self.question else {
            return Ok(false);
        };
        match question.key(key, Instant::now()) {
            Said::Copy(text) => {
                self.sight.copy(&text)?;
            }
            said => self.answer(said),
        }
        Ok(true)
    }

    /// The window has another size: it may not be too small any more.
    pub(super) fn resized(&mut self) {
        if self.sight.said() == Some(TOO_SMALL) {
            self.sight.hush();
        }
    }

    fn answer(&mut self, said: Said) {
        match said {
            Said::Nothing | Said::Copy(_) => {}
            Said::Stop => self.cancel(),
            Said::Unseen => self.sight.say(TOO_SMALL),
            Said::Unread(rows) => {
                let rows = count(rows, "line", "lines");
                let words = format!("{rows} unread: PgDn, or press again");
                self.sight.say(&words);
            }
            Said::Missing(what) => {
                let words = format!("The agent does not offer to {what}.");
                self.sight.say(&words);
            }
            Said::Answer(id, answer) => self.with_client(|client| {
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
            let said = question.mouse(mouse);
            self.answer(said);
        } else {
            self.prompt.mouse(mouse);
        }
    }
}
