//! Effects of actions and menu choices in a chat: stopping, leaving, tabs, modes,
//! settings.

use std::io;
use std::time::{Duration, Instant};

use super::menu::{self, Menu};
use super::tab::Tab;
use super::{App, TabSpec};
use crate::keys::Action;
use crate::screen::Screen;
use unspool_acp::Phase;

/// Time within which a key must be pressed again to confirm it.
const CONFIRM_TIME: Duration = Duration::from_secs(3);

impl App {
    /// Returns true if the same key was pressed a moment ago, and remembers this
    /// press.
    fn pressed_again(&mut self, action: Action) -> bool {
        let now = Instant::now();
        let warned = self.warned.replace((action, now));
        warned.is_some_and(|(last, at)| last == action && now - at < CONFIRM_TIME)
    }

    pub(super) fn act(&mut self, action: Action, screen: &mut Screen) -> io::Result<()> {
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
                    tab.restart(&self.settings, &self.reporter);
                }
            }
            Action::Login => self.menu = self.tab().and_then(|tab| Menu::login(tab.state()?)),
            action => {
                if let Some(tab) = self.tabs.get_mut(self.active) {
                    let host = self.settings.host.as_mut();
                    tab.viewer.act(action, screen, host)?;
                }
            }
        }
        if self.menu.is_none()
            && matches!(action, Action::Mode | Action::Options | Action::Login)
            && let Some(tab) = self.tab()
        {
            tab.viewer
                .set_message("This agent offers nothing to choose here.");
        }
        Ok(())
    }

    fn browse(&mut self, is_browsing: bool) {
        if let Some(tab) = self.tab() {
            tab.browse(is_browsing);
        }
    }

    /// Stops the turn or a shell command if the key is pressed twice.
    fn stop(&mut self) {
        let is_confirmed = self.pressed_again(Action::Stop);
        let Some(tab) = self.tab() else {
            return;
        };
        if !tab.can_stop() {
            return;
        }
        if is_confirmed && tab.is_stopping() {
            self.ask_to_end();
        } else if is_confirmed {
            tab.stop();
        } else {
            tab.viewer.set_message("Press Esc again to stop.");
        }
    }

    /// Asks whether to kill an agent that does not stop.
    fn ask_to_end(&mut self) {
        let Some(tab) = self.tab() else {
            return;
        };
        let question = format!("{} is not stopping. End it?", tab.name());
        self.menu = Some(Menu::confirm(
            menu::Confirmation::EndAgent,
            &question,
            "end it",
        ));
        self.warned = None;
    }

    /// Handles Ctrl-C: cancels a question, clears the prompt, stops the agent or
    /// leaves.
    fn interrupt(&mut self) {
        let is_confirmed = self.pressed_again(Action::Interrupt);
        let Some(tab) = self.tab() else {
            self.is_over = true;
            return;
        };
        // Leaving needs a second press right after the hint, so every other
        // effect resets it.
        if tab.has_question() {
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
        } else if is_confirmed {
            self.quit(false);
        } else {
            tab.viewer.set_message("Press Ctrl-C again to quit.");
        }
    }

    fn turn(&mut self, by: usize) {
        if !self.tabs.is_empty() {
            self.active = (self.active + by) % self.tabs.len();
        }
    }

    fn close_tab(&mut self, is_confirmed: bool) {
        let Some(tab) = self.tabs.get(self.active) else {
            return;
        };
        if tab.is_busy() && !is_confirmed {
            let question = format!(
                "{} is still working. Stop it and close the tab?",
                tab.name()
            );
            self.menu = Some(Menu::confirm(
                menu::Confirmation::CloseTab,
                &question,
                "close it",
            ));
            return;
        }
        let mut tab = self.tabs.remove(self.active);
        tab.abandon();
        drop(tab);
        self.active = self.active.min(self.tabs.len().saturating_sub(1));
        self.is_over = self.tabs.is_empty();
    }

    fn quit(&mut self, is_confirmed: bool) {
        let working = self.tabs.iter().filter(|tab| tab.is_busy()).count();
        if working == 0 || is_confirmed {
            self.is_over = true;
            self.tabs.iter_mut().for_each(Tab::abandon);
            return;
        }
        let question = match working {
            1 => "An agent is still working. Stop it and quit?".to_owned(),
            count => format!("{count} agents are still working. Stop them and quit?"),
        };
        self.menu = Some(Menu::confirm(menu::Confirmation::Quit, &question, "quit"));
    }

    /// Performs the choice made in a menu.
    pub(super) fn chosen(&mut self, chosen: menu::Chosen, screen: &mut Screen) -> io::Result<()> {
        use menu::Chosen;
        if matches!(chosen, Chosen::Nothing) {
            return Ok(());
        }
        self.menu = None;
        match chosen {
            Chosen::Nothing | Chosen::Left => {}
            Chosen::Agent(at) => {
                if let Some(agent) = self.settings.agents.get(at).cloned() {
                    self.start(TabSpec {
                        agent,
                        ..TabSpec::default()
                    });
                }
            }
            Chosen::Confirmed(menu::Confirmation::CloseTab) => self.close_tab(true),
            Chosen::Confirmed(menu::Confirmation::Quit) => self.quit(true),
            Chosen::Confirmed(menu::Confirmation::EndAgent) => {
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
                if let Some(spec) = self.tab().map(|tab| tab.in_new_tab(session)) {
                    self.start(spec);
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
}
