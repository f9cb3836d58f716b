//! A transcript, what lies over it for a moment, and what is done with what is
//! marked in it: what browsing a run and talking to an agent have in common.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::KeyEvent;

use crate::keys::{Action, Place};
use crate::menu::{Menu, Outcome};
use crate::screen::Screen;
use crate::transcript::{Answer, Look, Pane};

/// How long a word in the status line stays.
const STAYS: Duration = Duration::from_secs(5);

/// What cannot be done without files and other programs. Each is called while
/// the terminal is free, and gives back what the status line says.
pub trait Errands {
    /// Opens a text in the editor.
    fn edit(&mut self, text: &str) -> Result<String, String>;
    /// Opens a text in the pager.
    fn page(&mut self, text: &str) -> Result<String, String>;
    /// Writes the run into a file: the one that is read, or the one in which a
    /// conversation is kept.
    fn export(&mut self, recording: Option<&Path>) -> Result<String, String>;
}

/// A transcript with what lies over it.
pub(crate) struct Sight {
    pub(crate) pane: Pane,
    pub(crate) menu: Option<Menu>,
    /// Where keys are told of.
    places: &'static [Place],
    /// The file in which a conversation is kept.
    pub(crate) recording: Option<PathBuf>,
    /// A word for the reader, and since when it stands there.
    said: Option<(String, Instant)>,
    is_changed: bool,
}

impl Sight {
    pub(crate) fn new(look: Look, places: &'static [Place]) -> Self {
        Self {
            pane: Pane::new(look),
            menu: None,
            places,
            recording: None,
            said: None,
            is_changed: true,
        }
    }

    /// Whether a frame would look other than the last one; asked once.
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_changed) || self.pane.is_changed()
    }

    /// When a frame is due though nothing happens.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        let said = self.said.as_ref().map(|(_, since)| *since + STAYS);
        [self.pane.due(now), said].into_iter().flatten().min()
    }

    /// Does what is due.
    pub(crate) fn tick(&mut self) {
        if self.pane.due(Instant::now()).is_some() {
            self.pane.tick();
        }
        let is_over = |(_, since): &(String, Instant)| since.elapsed() >= STAYS;
        if self.said.as_ref().is_some_and(is_over) {
            self.hush();
        }
    }

    /// Says something in the status line, for a while.
    pub(crate) fn say(&mut self, words: &str) {
        let words = unspool::sanitize::line(words.trim()).into_owned();
        self.said = Some((words, Instant::now()));
        self.is_changed = true;
    }

    /// Takes it away.
    pub(crate) fn hush(&mut self) {
        self.is_changed |= self.said.take().is_some();
    }

    /// What the status line says.
    pub(crate) fn said(&self) -> Option<&str> {
        self.said.as_ref().map(|(words, _)| words.as_str())
    }

    /// Gives a key to what lies over the transcript; what is to be done then is
    /// given back.
    pub(crate) fn menu_key(&mut self, key: KeyEvent) -> Option<Action> {
        let menu = self.menu.as_mut()?;
        self.is_changed = true;
        let mut wanted = None;
        match menu.key(key) {
            Outcome::Stay => return None,
            Outcome::Filter(kinds) => {
                self.pane.set_filter(kinds);
                return None;
            }
            Outcome::Close => {}
            Outcome::Search(words) => self.pane.search(&words),
            Outcome::Act(action) => wanted = Some(action),
        }
        self.menu = None;
        wanted
    }

    /// Does what a key or a command asks for; false if it is not for a
    /// transcript.
    pub(crate) fn act(
        &mut self,
        action: Action,
        screen: &mut Screen,
        errands: &mut dyn Errands,
    ) -> io::Result<bool> {
        self.is_changed = true;
        match action {
            Action::Suspend => {
                if !screen.suspend()? {
                    self.say("No shell is there to come back from.");
                }
            }
            Action::Redraw => screen.reopen()?,
            Action::Help => self.menu = Some(Menu::help(self.places)),
            Action::Palette => self.menu = Some(Menu::palette(self.places)),
            Action::Search => self.menu = Some(Menu::search()),
            Action::Filter => self.menu = Some(Menu::Filter(self.pane.filter(), 0)),
            Action::Export => {
                let done = screen.lend(|| errands.export(self.recording.as_deref()))?;
                self.report(done);
            }
            Action::NextMatch | Action::PreviousMatch if self.pane.search_words().is_none() => {
                self.say("nothing is searched: / begins");
            }
            action if sought(action).is_some() => {
                let what = sought(action).unwrap_or_default();
                let before = self.pane.position();
                self.pane.act(action);
                if self.pane.position() == before {
                    self.say(&format!("no further {what}"));
                }
            }
            action => match self.pane.act(action) {
                Answer::Copy(text) => self.copy(&text)?,
                Answer::Open(text) => {
                    let done = if action == Action::Editor {
                        screen.lend(|| errands.edit(&text))?
                    } else {
                        screen.lend(|| errands.page(&text))?
                    };
                    self.report(done);
                }
                Answer::Done => {}
                Answer::NotMine => return Ok(false),
            },
        }
        Ok(true)
    }

    /// Puts a text into the clipboard, and says so.
    pub(crate) fn copy(&mut self, text: &str) -> io::Result<()> {
        let lines = text.lines().count();
        let noun = if lines == 1 { "line" } else { "lines" };
        if Screen::copy(text)? {
            self.say(&format!("copied {lines} {noun}"));
        } else {
            self.say("too long for the clipboard: v opens it in an editor");
        }
        Ok(())
    }

    fn report(&mut self, done: Result<String, String>) {
        let words = done.unwrap_or_else(|error| error);
        if !words.is_empty() {
            self.say(&words);
        }
    }
}

/// What a jump looks for.
fn sought(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::NextPrompt | Action::PreviousPrompt => "prompt",
        Action::NextError | Action::PreviousError => "error",
        Action::NextEdit | Action::PreviousEdit => "edit",
        _ => return None,
    })
}
