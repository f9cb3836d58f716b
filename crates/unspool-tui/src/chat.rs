//! `unspool chat`: agents in tabs, each with its transcript, its prompt and what
//! it asks for.
//!
//! One thread paints and decides. Agents, commands and the walk over the
//! project's files live in threads of their own and tell what happened through
//! one channel, which holds so much and then makes them wait. `tab.rs` is one
//! agent, `ask.rs` makes questions of requests, `menu.rs` lists what can be
//! chosen, `words.rs` says what happened, `draw.rs` paints.

mod ask;
mod draw;
mod history;
mod menu;
mod tab;
mod words;

pub use history::History;

use std::any::Any;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, MouseEvent, MouseEventKind,
};
use ratatui::layout::Position;

use crate::keys::{self, Action, Place};
use crate::notify::{self, Ways, When};
use crate::prompt::Outcome;
use crate::screen::{self, Happening, Screen, Waker};
pub use crate::sight::Errands;
use crate::spinner;
use crate::tabs::{self, Tabs};
use crate::transcript::Look;
use draw::Areas;
use menu::Menu;
use tab::Tab;
use unspool_acp::permission::Rules;
use unspool_acp::{Incoming, Open, Phase, schema};

/// Between two frames at least.
const FRAME: Duration = Duration::from_millis(16);
/// What came is taken in for so long before a frame is painted.
const SLICE: Duration = Duration::from_millis(8);
/// What may wait to be taken in; who has more to tell waits too.
const NEWS: usize = 1 << 10;
/// How long a second key may take that confirms the first.
const AGAIN: Duration = Duration::from_secs(3);

/// What the chat needs to know.
pub struct Settings {
    /// How the transcript looks, and the colours.
    pub look: Look,
    /// What needs files and other programs.
    pub errands: Box<dyn Errands>,
    /// The project: all that agents may touch.
    pub root: PathBuf,
    /// The agents that can be started in another tab.
    pub agents: Vec<Known>,
    /// The tabs at the beginning.
    pub tabs: Vec<Opening>,
    /// Answers in the person's stead.
    pub rules: Rules,
    /// Servers that agents are told of.
    pub mcp_servers: Vec<schema::McpServer>,
    /// The folder that conversations are kept in.
    pub records: Option<PathBuf>,
    /// What was written before.
    pub history: History,
    /// When the person is called.
    pub notify: When,
    /// What runs command lines.
    pub shell: OsString,
    /// Sees to it that a group of processes, and all that terminals of the chat
    /// started, end with this process, whatever ends it, for as long as what is
    /// given back lives.
    pub guard: fn(i32) -> Option<Box<dyn Any>>,
}

/// An agent that can be started.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// The command.
    pub argv: Vec<OsString>,
    /// Variables beside those of this process.
    pub env: Vec<(OsString, OsString)>,
    /// How to come by it, in a sentence.
    pub install: String,
    /// Its program was not found.
    pub is_missing: bool,
}

/// What a tab begins with.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// The agent.
    pub agent: Known,
    /// Which of its sessions.
    pub open: Open,
    /// What was said in it before, where that is known.
    pub past: Vec<unspool::Event>,
    /// The file that goes on, if it is not a new one.
    pub record: Option<PathBuf>,
    /// What is said first.
    pub prompt: String,
}

/// What happened in another thread.
enum News {
    /// An agent, by its tab.
    Came(u64, Incoming),
    /// Files were found for the prompt of a tab.
    Files(u64),
}

/// How other threads tell what happened.
#[derive(Clone)]
struct Teller {
    sender: SyncSender<News>,
    waker: Waker,
}

impl Teller {
    fn tell(&self, news: News) {
        // Nobody is there to be told once the chat is over.
        if self.sender.send(news).is_ok() {
            self.waker.wake();
        }
    }
}

/// How a chat ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The person left.
    Left,
    /// The person left, and no agent could be started.
    NotStarted,
    /// A signal asked to end.
    Signal(i32),
}

/// Talks with agents until the person leaves.
pub fn run(screen: &mut Screen, settings: Settings) -> io::Result<End> {
    let (sender, news) = sync_channel(NEWS);
    let teller = Teller {
        sender,
        waker: screen.waker(),
    };
    screen.open()?;
    Screen::watch_focus()?;
    let mut app = App::new(settings, news, teller);
    let signal = app.run(screen);
    // A window that is closed sends more than one signal: none of them may end
    // this process before all agents and commands have ended.
    screen.leave();
    app.conclude();
    let has_started = app.has_started;
    drop(app);
    screen.close();
    Ok(match signal? {
        Some(signal) => End::Signal(signal),
        None if has_started => End::Left,
        None => End::NotStarted,
    })
}

struct App {
    settings: Settings,
    news: Receiver<News>,
    teller: Teller,
    tabs: Vec<Tab>,
    active: usize,
    last_tab: u64,
    bar: Tabs,
    menu: Option<Menu>,
    areas: Areas,
    /// What the terminal told last.
    is_focused: Option<bool>,
    /// What is to be written to the terminal besides frames.
    calls: Vec<u8>,
    title: String,
    tick: usize,
    changed: bool,
    last_frame: Option<Instant>,
    /// When the person was told to press the key again.
    warned: Option<(Action, Instant)>,
    is_over: bool,
    /// Whether an agent could be started, or none was wanted.
    has_started: bool,
}

impl App {
    fn new(settings: Settings, news: Receiver<News>, teller: Teller) -> Self {
        let mut app = Self {
            settings,
            news,
            teller,
            tabs: Vec::new(),
            active: 0,
            last_tab: 0,
            bar: Tabs::default(),
            menu: None,
            areas: Areas::default(),
            is_focused: None,
            calls: Vec::new(),
            title: String::new(),
            tick: 0,
            changed: true,
            last_frame: None,
            warned: None,
            is_over: false,
            has_started: true,
        };
        for opening in std::mem::take(&mut app.settings.tabs) {
            app.start(opening);
        }
        app.active = 0;
        if app.tabs.is_empty() {
            app.menu = Menu::agents(&app.settings.agents);
        }
        app
    }

    fn run(&mut self, screen: &mut Screen) -> io::Result<Option<i32>> {
        while !self.is_over {
            if self.tabs.is_empty() && self.menu.is_none() {
                break;
            }
            self.take_news();
            self.settle();
            self.paint(screen)?;
            match screen.next(self.due())? {
                Happening::Event(event) => {
                    self.event(event, screen)?;
                    // What was typed meanwhile is not painted key by key.
                    while let Some(event) = screen::waiting()? {
                        self.event(event, screen)?;
                    }
                }
                Happening::Back => self.changed = true,
                Happening::Woken | Happening::Due => {}
                Happening::Signal(signal) => return Ok(Some(signal)),
            }
        }
        Ok(None)
    }

    /// Closes all recordings before any agent is waited for: whoever hangs up may
    /// kill next.
    fn conclude(&mut self) {
        for tab in &mut self.tabs {
            tab.conclude();
        }
    }

    /// Opens a tab, which is the active one then.
    fn start(&mut self, opening: Opening) {
        self.last_tab += 1;
        let same = self
            .tabs
            .iter()
            .filter(|tab| tab.agent() == opening.agent.name);
        let label = match same.count() {
            0 => opening.agent.name.clone(),
            others => format!("{} {}", opening.agent.name, others + 1),
        };
        let tab = Tab::start(self.last_tab, label, opening, &self.settings, &self.teller);
        self.has_started = tab.has_agent() || !self.tabs.is_empty() && self.has_started;
        self.tabs.push(tab);
        self.active = self.tabs.len() - 1;
        self.changed = true;
    }

    fn tab(&mut self) -> Option<&mut Tab> {
        self.tabs.get_mut(self.active)
    }

    /// Takes in what happened in other threads, for a while.
    fn take_news(&mut self) {
        let began = Instant::now();
        while let Ok(news) = self.news.try_recv() {
            self.changed = true;
            match news {
                News::Came(id, incoming) => {
                    if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.id() == id) {
                        tab.came(incoming);
                    }
                }
                News::Files(id) => {
                    if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.id() == id) {
                        tab.prompt.refresh();
                    }
                }
            }
            if began.elapsed() > SLICE {
                break;
            }
        }
    }

    /// Does what has become due in the tabs, and calls the person.
    fn settle(&mut self) {
        let now = Instant::now();
        for at in 0..self.tabs.len() {
            let Some(tab) = self.tabs.get_mut(at) else {
                continue;
            };
            // What is not seen need not be painted.
            let changed = tab.settle(now);
            self.changed |= changed && at == self.active;
            if at == self.active && self.menu.is_none() {
                self.menu = tab.menu.take();
            }
            let Some(words) = tab.take_call() else {
                continue;
            };
            let name = tab.name().to_owned();
            if notify::is_due(self.settings.notify, self.is_focused) {
                let ways = Ways {
                    bell: true,
                    osc9: true,
                    osc777: true,
                };
                self.calls.extend(notify::call(ways, &name, words));
            }
        }
        // An agent that has stopped after all is not to be ended.
        let asks = matches!(self.menu, Some(Menu::Question(_, menu::Sure::EndAgent)));
        if asks && self.tab().is_none_or(|tab| !tab.is_stopping()) {
            self.menu = None;
            self.changed = true;
        }
        let title = self.tab().map(|tab| tab.title()).unwrap_or_default();
        if title != self.title {
            self.title.clone_from(&title);
            self.calls.extend(notify::title(&title));
        }
    }

    /// When the next thing is to be done, if nothing else happens.
    fn due(&self) -> Option<Instant> {
        let frame = self.changed.then(|| {
            self.last_frame
                .map_or_else(Instant::now, |last| last + FRAME)
        });
        let works = self.tabs.iter().any(Tab::is_busy);
        let tick = self
            .last_frame
            .filter(|_| works)
            .map(|last| last + spinner::INTERVAL);
        let now = Instant::now();
        let seen = self
            .tabs
            .get(self.active)
            .and_then(|tab| tab.sight.due(now));
        let quiet = self.tabs.iter().filter_map(Tab::due);
        quiet.chain(seen).chain(frame).chain(tick).min()
    }

    fn paint(&mut self, screen: &mut Screen) -> io::Result<()> {
        let now = Instant::now();
        let works = self.tabs.iter().any(Tab::is_busy);
        let since = self
            .last_frame
            .map(|last| now.saturating_duration_since(last));
        if works && since.is_some_and(|since| since >= spinner::INTERVAL) {
            self.tick = self.tick.wrapping_add(1);
            self.changed = true;
        }
        if self.changed && since.is_none_or(|since| since >= FRAME) {
            self.changed = false;
            self.last_frame = Some(now);
            screen.draw(|frame| self.draw(frame, now))?;
        }
        if !self.calls.is_empty() {
            Screen::send(&std::mem::take(&mut self.calls))?;
        }
        Ok(())
    }

    fn event(&mut self, event: Event, screen: &mut Screen) -> io::Result<()> {
        self.changed = true;
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key, screen)?,
            Event::Paste(text) => self.paste(&text),
            Event::Mouse(mouse) => self.mouse(mouse, screen)?,
            Event::Resize(..) => self.tabs.iter_mut().for_each(Tab::resized),
            Event::FocusGained => self.is_focused = Some(true),
            Event::FocusLost => self.is_focused = Some(false),
            Event::Key(_) => {}
        }
        Ok(())
    }

    fn paste(&mut self, text: &str) {
        if let Some(menu) = &mut self.menu {
            menu.paste(text);
        } else if let Some(tab) = self.tab() {
            tab.paste(text);
        }
    }

    fn key(&mut self, key: KeyEvent, screen: &mut Screen) -> io::Result<()> {
        if let Some(menu) = &mut self.menu {
            let action = keys::action(key, Place::Chat).filter(|_| menu.is_list());
            if let Some(turn @ (Action::NextTab | Action::PreviousTab)) = action {
                // It is there again when the tab is.
                let menu = self.menu.take();
                if let Some(tab) = self.tab() {
                    tab.menu = menu;
                }
                return self.act(turn, screen);
            }
            let chosen = menu.key(key, Instant::now());
            return self.chosen(chosen, screen);
        }
        let Some(tab) = self.tabs.get_mut(self.active) else {
            return Ok(());
        };
        tab.sight.hush();
        if tab.sight.menu.is_some() {
            let wanted = tab.sight.menu_key(key);
            return self.maybe_act(wanted, screen);
        }
        if tab.is_asked() {
            let action = keys::action(key, Place::Chat);
            let action = action.or_else(|| keys::action(key, Place::Dialog));
            if action.is_none() && tab.dialog_key(key)? {
                return Ok(());
            }
            return self.maybe_act(action, screen);
        }
        if tab.is_browsing() {
            let action = keys::action(key, Place::Transcript);
            let action = action.or_else(|| keys::action(key, Place::Chat));
            return self.maybe_act(action, screen);
        }
        match tab.prompt.key(key) {
            Outcome::Changed => Ok(()),
            Outcome::Send(message) => {
                tab.send(&message, &mut self.settings.history);
                Ok(())
            }
            Outcome::Shell(command) => {
                tab.shell(&command, &mut self.settings.history);
                Ok(())
            }
            Outcome::Nothing if key.code == KeyCode::Enter && tab.send_waiting() => Ok(()),
            Outcome::Nothing => {
                let action = keys::action(key, Place::Prompt);
                let action = action.or_else(|| keys::action(key, Place::Chat));
                self.maybe_act(action, screen)
            }
        }
    }

    fn maybe_act(&mut self, action: Option<Action>, screen: &mut Screen) -> io::Result<()> {
        action.map_or(Ok(()), |action| self.act(action, screen))
    }

    /// Whether the person was told to press this key again, a moment ago.
    fn is_again(&mut self, action: Action) -> bool {
        let now = Instant::now();
        let warned = self.warned.replace((action, now));
        warned.is_some_and(|(last, at)| last == action && now - at < AGAIN)
    }

    fn act(&mut self, action: Action, screen: &mut Screen) -> io::Result<()> {
        match action {
            Action::Stop => self.stop(),
            Action::Interrupt => self.interrupt(),
            Action::Leave | Action::Write => self.browse(false),
            Action::Browse => self.browse(true),
            Action::NewTab => self.menu = Menu::agents(&self.settings.agents),
            Action::NextTab => self.turn(1),
            Action::PreviousTab => self.turn(self.tabs.len().saturating_sub(1)),
            Action::CloseTab => self.close_tab(false),
            Action::Quit => self.quit(false),
            Action::Mode => self.menu = self.tab().and_then(|tab| Menu::modes(tab.state()?)),
            Action::Options => self.menu = self.tab().and_then(|tab| Menu::options(tab.state()?)),
            Action::NextMode => {
                if let Some(tab) = self.tab() {
                    tab.next_mode();
                }
            }
            Action::Sessions => {
                if let Some(tab) = self.tab() {
                    tab.list_sessions();
                }
            }
            Action::TakeBack => {
                if let Some(tab) = self.tab() {
                    tab.take_back();
                }
            }
            Action::Restart => {
                if let Some(tab) = self.tabs.get_mut(self.active) {
                    tab.restart(&self.settings, &self.teller);
                }
            }
            Action::Login => self.menu = self.tab().and_then(|tab| Menu::login(tab.state()?)),
            action => {
                if let Some(tab) = self.tabs.get_mut(self.active) {
                    let errands = self.settings.errands.as_mut();
                    tab.sight.act(action, screen, errands)?;
                }
            }
        }
        if self.menu.is_none()
            && matches!(action, Action::Mode | Action::Options | Action::Login)
            && let Some(tab) = self.tab()
        {
            tab.sight.say("This agent offers nothing to choose here.");
        }
        Ok(())
    }

    fn browse(&mut self, is_browsing: bool) {
        if let Some(tab) = self.tab() {
            tab.browse(is_browsing);
        }
    }

    /// Stops the agent's turn, or a command; asks for the key a second time.
    fn stop(&mut self) {
        let is_again = self.is_again(Action::Stop);
        let Some(tab) = self.tab() else {
            return;
        };
        if !tab.can_stop() {
            return;
        }
        if is_again && tab.is_stopping() {
            self.ask_to_end();
        } else if is_again {
            tab.stop();
        } else {
            tab.sight.say("Press Esc again to stop.");
        }
    }

    /// Asks whether to end an agent that was told to stop and does not.
    fn ask_to_end(&mut self) {
        let Some(tab) = self.tab() else {
            return;
        };
        let question = format!("{} does not stop. End it?", tab.name());
        self.menu = Some(Menu::confirm(menu::Sure::EndAgent, &question, "end it"));
        self.warned = None;
    }

    /// Ctrl-C: away with what is asked, what is written, or the agent's turn; or
    /// leave.
    fn interrupt(&mut self) {
        let is_again = self.is_again(Action::Interrupt);
        let Some(tab) = self.tab() else {
            self.is_over = true;
            return;
        };
        // Only who was told that it leaves, leaves with the same key again.
        if tab.is_asked() {
            tab.cancel();
            self.warned = None;
        } else if !tab.prompt.is_empty() {
            tab.prompt.set_text("");
            self.warned = None;
        } else if tab.can_stop() && tab.is_stopping() {
            self.ask_to_end();
        } else if tab.can_stop() {
            tab.stop();
            self.warned = None;
        } else if tab.phase() == Phase::Starting {
            tab.end();
            self.warned = None;
        } else if is_again {
            self.quit(false);
        } else {
            tab.sight.say("Press Ctrl-C again to leave.");
        }
    }

    fn turn(&mut self, by: usize) {
        if !self.tabs.is_empty() {
            self.active = (self.active + by) % self.tabs.len();
        }
    }

    fn close_tab(&mut self, is_sure: bool) {
        let Some(tab) = self.tabs.get(self.active) else {
            return;
        };
        if tab.is_busy() && !is_sure {
            let question = format!("{} is at work. Stop it and close the tab?", tab.name());
            self.menu = Some(Menu::confirm(menu::Sure::CloseTab, &question, "close it"));
            return;
        }
        let mut tab = self.tabs.remove(self.active);
        tab.abandon();
        drop(tab);
        self.active = self.active.min(self.tabs.len().saturating_sub(1));
        self.is_over = self.tabs.is_empty();
    }

    fn quit(&mut self, is_sure: bool) {
        let working = self.tabs.iter().filter(|tab| tab.is_busy()).count();
        if working == 0 || is_sure {
            self.is_over = true;
            self.tabs.iter_mut().for_each(Tab::abandon);
            return;
        }
        let question = match working {
            1 => "An agent is at work. Stop it and leave?".to_owned(),
            count => format!("{count} agents are at work. Stop them and leave?"),
        };
        self.menu = Some(Menu::confirm(menu::Sure::Quit, &question, "leave"));
    }

    /// Does what was chosen in the menu.
    fn chosen(&mut self, chosen: menu::Chosen, screen: &mut Screen) -> io::Result<()> {
        use menu::Chosen;
        if matches!(chosen, Chosen::Nothing) {
            return Ok(());
        }
        self.menu = None;
        match chosen {
            Chosen::Nothing | Chosen::Left => {}
            Chosen::Agent(at) => {
                if let Some(agent) = self.settings.agents.get(at).cloned() {
                    self.start(Opening {
                        agent,
                        ..Opening::default()
                    });
                }
            }
            Chosen::Sure(menu::Sure::CloseTab) => self.close_tab(true),
            Chosen::Sure(menu::Sure::Quit) => self.quit(true),
            Chosen::Sure(menu::Sure::EndAgent) => {
                if let Some(tab) = self.tab() {
                    tab.end();
                }
            }
            Chosen::Options(option) => {
                self.menu = self
                    .tab()
                    .and_then(|tab| Menu::values(tab.state()?, &option));
            }
            Chosen::Mode(mode) => self.with_client(|client| client.set_mode(&mode)),
            Chosen::Value(option, value) => {
                self.with_client(|client| client.set_option(&option, &value));
            }
            Chosen::Session(session) => {
                if let Some(opening) = self.tab().map(|tab| tab.elsewhere(session)) {
                    self.start(opening);
                }
            }
            Chosen::Login(method) => {
                if let Some(tab) = self.tabs.get_mut(self.active) {
                    tab.log_in(&method, screen)?;
                }
            }
        }
        Ok(())
    }

    fn with_client(&mut self, work: impl FnOnce(&mut unspool_acp::Client)) {
        if let Some(tab) = self.tab() {
            tab.with_client(work);
        }
    }

    fn mouse(&mut self, mouse: MouseEvent, screen: &mut Screen) -> io::Result<()> {
        if let Some(menu) = &mut self.menu {
            let chosen = menu.mouse(mouse);
            return self.chosen(chosen, screen);
        }
        let at = Position::new(mouse.column, mouse.row);
        let is_click = matches!(mouse.kind, MouseEventKind::Down(_));
        if is_click && let Some(tab) = self.bar.at(mouse.column, mouse.row) {
            self.active = tab;
            return Ok(());
        }
        let areas = self.areas;
        let Some(tab) = self.tab() else {
            return Ok(());
        };
        if tab.sight.menu.is_some() {
            return Ok(());
        }
        if areas.input.contains(at) {
            tab.input_mouse(mouse);
            return Ok(());
        }
        if !is_click || areas.pane.contains(at) {
            tab.sight.pane.mouse(mouse);
        }
        Ok(())
    }

    /// What the bar of tabs shows.
    fn marks(&self) -> Vec<tabs::Tab> {
        let mark = |tab: &Tab| tabs::Tab {
            name: tab.name().to_owned(),
            state: tab.mark(),
        };
        self.tabs.iter().map(mark).collect()
    }
}

/// What a phase is called in a tab.
fn mark(phase: Phase, failed: bool) -> tabs::State {
    match phase {
        Phase::Starting => tabs::State::Starting,
        Phase::Working => tabs::State::Working,
        Phase::Asking | Phase::NeedsLogin => tabs::State::Asking,
        Phase::Ready | Phase::Unopened => tabs::State::Idle,
        Phase::Ended if !failed => tabs::State::Ended,
        Phase::Failed | Phase::Ended => tabs::State::Failed,
    }
}
