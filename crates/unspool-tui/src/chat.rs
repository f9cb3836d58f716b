//! `unspool chat`: agents in tabs, each with a transcript, a prompt and its
//! questions.
//!
//! One thread paints and handles input. Agents, commands and the file search run
//! in their own threads and report through one bounded channel. `tab` is one
//! agent, `question` turns requests into dialogs, `menu` has the lists to choose
//! from, `messages` the texts, `draw` the frame.

mod draw;
mod history;
mod menu;
mod messages;
mod perform;
mod question;
mod settings;
mod tab;

pub use history::History;
pub use settings::{AgentCommand, Settings, TabSpec};

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, MouseEvent, MouseEventKind,
};
use ratatui::layout::Position;

use crate::keys::{self, Action, Context};
use crate::notify::{self, Ways};
use crate::prompt::Outcome;
use crate::screen::{self, Screen, ScreenEvent, Waker};
use crate::spinner;
use crate::tabs::{self, Tabs};
pub use crate::viewer::Host;
use draw::Areas;
use menu::Menu;
use tab::Tab;
use unspool_acp::{Incoming, Phase};

/// Minimum time between two frames.
const FRAME: Duration = Duration::from_millis(16);
/// Time spent on received events before the next frame.
const SLICE: Duration = Duration::from_millis(8);
/// Capacity of the channel. A thread that is ahead of the app blocks.
const REPORTS: usize = 1 << 10;

/// A report from another thread.
enum Report {
    /// Output of the agent in the tab with this id.
    Agent(u64, Incoming),
    /// Files were found for the prompt of the tab with this id.
    FilesFound(u64),
}

/// Sends reports to the chat and wakes it.
#[derive(Clone)]
struct Reporter {
    sender: SyncSender<Report>,
    waker: Waker,
}

impl Reporter {
    fn send(&self, report: Report) {
        // The receiver is gone once the chat is over.
        if self.sender.send(report).is_ok() {
            self.waker.wake();
        }
    }
}

/// The reason why a chat ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The user left.
    Left,
    /// The user left and no agent could be started.
    NotStarted,
    /// A signal asked the process to terminate.
    Signal(i32),
}

/// Runs the chat until the user leaves.
pub fn run(screen: &mut Screen, settings: Settings) -> io::Result<End> {
    let (sender, reports) = sync_channel(REPORTS);
    let reporter = Reporter {
        sender,
        waker: screen.waker(),
    };
    screen.open()?;
    Screen::watch_focus()?;
    let mut app = App::new(settings, reports, reporter);
    let signal = app.run(screen);
    // Closing a terminal window sends more than one signal. None of them may end
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
    reports: Receiver<Report>,
    reporter: Reporter,
    tabs: Vec<Tab>,
    active: usize,
    last_tab: u64,
    bar: Tabs,
    menu: Option<Menu>,
    areas: Areas,
    /// Last focus report of the terminal.
    is_focused: Option<bool>,
    /// Bytes to write besides frames, such as the bell.
    calls: Vec<u8>,
    title: String,
    tick: usize,
    changed: bool,
    last_frame: Option<Instant>,
    /// The key that must be pressed again to confirm, and when it was pressed.
    warned: Option<(Action, Instant)>,
    is_over: bool,
    /// True if an agent could be started, or none was asked for.
    has_started: bool,
}

impl App {
    fn new(settings: Settings, reports: Receiver<Report>, reporter: Reporter) -> Self {
        let mut app = Self {
            settings,
            reports,
            reporter,
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
        for spec in std::mem::take(&mut app.settings.tabs) {
            app.start(spec);
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
            self.take_reports();
            self.settle();
            self.paint(screen)?;
            match screen.next(self.due())? {
                ScreenEvent::Input(event) => {
                    self.event(event, screen)?;
                    // Handles all pending keys before the next frame.
                    while let Some(event) = screen::pending_input()? {
                        self.event(event, screen)?;
                    }
                }
                ScreenEvent::Repaint => self.changed = true,
                ScreenEvent::Woken | ScreenEvent::Timeout => {}
                ScreenEvent::Signal(signal) => return Ok(Some(signal)),
            }
        }
        Ok(None)
    }

    /// Closes all recordings before waiting for any agent, because a hangup may
    /// be followed by a kill.
    fn conclude(&mut self) {
        for tab in &mut self.tabs {
            tab.conclude();
        }
    }

    /// Opens a tab and activates it.
    fn start(&mut self, spec: TabSpec) {
        self.last_tab += 1;
        let same = self
            .tabs
            .iter()
            .filter(|tab| tab.agent() == spec.agent.name);
        let label = match same.count() {
            0 => spec.agent.name.clone(),
            others => format!("{} {}", spec.agent.name, others + 1),
        };
        let tab = Tab::start(self.last_tab, label, spec, &self.settings, &self.reporter);
        self.has_started = tab.has_client() || !self.tabs.is_empty() && self.has_started;
        self.tabs.push(tab);
        self.active = self.tabs.len() - 1;
        self.changed = true;
    }

    fn tab(&mut self) -> Option<&mut Tab> {
        self.tabs.get_mut(self.active)
    }

    /// Processes reports of other threads for a limited time.
    fn take_reports(&mut self) {
        let began = Instant::now();
        while let Ok(report) = self.reports.try_recv() {
            self.changed = true;
            match report {
                Report::Agent(id, incoming) => {
                    if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.id() == id) {
                        tab.receive(incoming);
                    }
                }
                Report::FilesFound(id) => {
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

    /// Runs due work in all tabs and sends notifications.
    fn settle(&mut self) {
        let now = Instant::now();
        for at in 0..self.tabs.len() {
            let Some(tab) = self.tabs.get_mut(at) else {
                continue;
            };
            // Changes in hidden tabs need no frame.
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
        // The agent stopped after all, so the question is obsolete.
        let asks = matches!(
            self.menu,
            Some(Menu::Question(_, menu::Confirmation::EndAgent))
        );
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

    /// Returns the time of the next due work.
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
            .and_then(|tab| tab.viewer.due(now));
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
            let action = keys::action(key, Context::Chat).filter(|_| menu.is_list());
            if let Some(turn @ (Action::NextTab | Action::PreviousTab)) = action {
                // The menu reopens when this tab is active again.
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
        tab.viewer.clear_message();
        if tab.viewer.overlay.is_some() {
            let wanted = tab.viewer.overlay_key(key);
            return self.maybe_act(wanted, screen);
        }
        if tab.has_question() {
            let action = keys::action(key, Context::Chat);
            let action = action.or_else(|| keys::action(key, Context::Dialog));
            if action.is_none() && tab.dialog_key(key)? {
                return Ok(());
            }
            return self.maybe_act(action, screen);
        }
        if tab.is_browsing() {
            let action = keys::action(key, Context::Transcript);
            let action = action.or_else(|| keys::action(key, Context::Chat));
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
            Outcome::Nothing if key.code == KeyCode::Enter && tab.send_queued() => Ok(()),
            Outcome::Nothing => {
                let action = keys::action(key, Context::Prompt);
                let action = action.or_else(|| keys::action(key, Context::Chat));
                self.maybe_act(action, screen)
            }
        }
    }

    fn maybe_act(&mut self, action: Option<Action>, screen: &mut Screen) -> io::Result<()> {
        action.map_or(Ok(()), |action| self.act(action, screen))
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
        if tab.viewer.overlay.is_some() {
            return Ok(());
        }
        if areas.input.contains(at) {
            tab.input_mouse(mouse);
            return Ok(());
        }
        if !is_click || areas.pane.contains(at) {
            tab.viewer.pane.mouse(mouse);
        }
        Ok(())
    }

    /// Returns the entries of the tab bar.
    fn marks(&self) -> Vec<tabs::Tab> {
        let mark = |tab: &Tab| tabs::Tab {
            name: tab.name().to_owned(),
            status: tab.mark(),
        };
        self.tabs.iter().map(mark).collect()
    }
}

/// Maps an agent's phase to its mark in the tab bar.
fn mark(phase: Phase, failed: bool) -> tabs::Status {
    match phase {
        Phase::Starting => tabs::Status::Starting,
        Phase::Working => tabs::Status::Working,
        Phase::Asking | Phase::NeedsLogin => tabs::Status::Asking,
        Phase::Ready | Phase::Unopened => tabs::Status::Idle,
        Phase::Ended if !failed => tabs::Status::Ended,
        Phase::Failed | Phase::Ended => tabs::Status::Failed,
    }
}
