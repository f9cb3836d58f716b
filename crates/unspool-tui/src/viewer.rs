//! Transcript pane, overlay and status message, shared by `view` and `chat`.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::KeyEvent;

use crate::keys::{Action, Context};
use crate::overlay::{Outcome, Overlay};
use crate::screen::Screen;
use crate::transcript::{Answer, Look, Pane};

/// Time after which a message in the status line disappears.
const MESSAGE_TIME: Duration = Duration::from_secs(5);

/// Callbacks into the program around the app. Each runs on the restored terminal
/// and returns a message for the status line.
pub trait Host {
    /// Opens a text in the editor.
    fn edit(&mut self, text: &str) -> Result<String, String>;
    /// Opens a text in the pager.
    fn page(&mut self, text: &str) -> Result<String, String>;
    /// Exports the run to a file. In a chat, `recording` is the file of the
    /// conversation.
    fn export(&mut self, recording: Option<&Path>) -> Result<String, String>;
}

/// A transcript with its overlay and status message.
pub(crate) struct Viewer {
    pub(crate) pane: Pane,
    pub(crate) overlay: Option<Overlay>,
    /// Contexts whose keys help and palette list.
    contexts: &'static [Context],
    /// Recording of the conversation.
    pub(crate) recording: Option<PathBuf>,
    /// The status message and when it was set.
    message: Option<(String, Instant)>,
    is_changed: bool,
}

impl Viewer {
    pub(crate) fn new(look: Look, contexts: &'static [Context]) -> Self {
        Self {
            pane: Pane::new(look),
            overlay: None,
            contexts,
            recording: None,
            message: None,
            is_changed: true,
        }
    }

    /// Returns true if the display changed since the last call.
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_changed) || self.pane.is_changed()
    }

    /// Returns the time of the next due work.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        let message = self
            .message
            .as_ref()
            .map(|(_, since)| *since + MESSAGE_TIME);
        [self.pane.due(now), message].into_iter().flatten().min()
    }

    /// Runs due work.
    pub(crate) fn tick(&mut self) {
        if self.pane.due(Instant::now()).is_some() {
            self.pane.tick();
        }
        let is_over = |(_, since): &(String, Instant)| since.elapsed() >= MESSAGE_TIME;
        if self.message.as_ref().is_some_and(is_over) {
            self.clear_message();
        }
    }

    /// Shows a message in the status line for a while.
    pub(crate) fn set_message(&mut self, words: &str) {
        let words = unspool::sanitize::line(words.trim()).into_owned();
        self.message = Some((words, Instant::now()));
        self.is_changed = true;
    }

    /// Removes the message.
    pub(crate) fn clear_message(&mut self) {
        self.is_changed |= self.message.take().is_some();
    }

    /// Returns the message in the status line.
    pub(crate) fn message(&self) -> Option<&str> {
        self.message.as_ref().map(|(words, _)| words.as_str())
    }

    /// Passes a key to the overlay. Returns the action it chose.
    pub(crate) fn overlay_key(&mut self, key: KeyEvent) -> Option<Action> {
        let overlay = self.overlay.as_mut()?;
        self.is_changed = true;
        let mut wanted = None;
        match overlay.key(key) {
            Outcome::Stay => return None,
            Outcome::Filter(kinds) => {
                self.pane.set_filter(kinds);
                return None;
            }
            Outcome::Close => {}
            Outcome::Search(words) => self.pane.search(&words),
            Outcome::Act(action) => wanted = Some(action),
        }
        self.overlay = None;
        wanted
    }

    /// Performs an action. Returns false if it is not about the transcript.
    pub(crate) fn act(
        &mut self,
        action: Action,
        screen: &mut Screen,
        host: &mut dyn Host,
    ) -> io::Result<bool> {
        self.is_changed = true;
        match action {
            Action::Suspend => {
                if !screen.suspend()? {
                    self.set_message("Cannot suspend: no shell could resume it.");
                }
            }
            Action::Redraw => screen.reopen()?,
            Action::Help => self.overlay = Some(Overlay::help(self.contexts)),
            Action::Palette => self.overlay = Some(Overlay::palette(self.contexts)),
            Action::Search => self.overlay = Some(Overlay::search()),
            Action::Filter => self.overlay = Some(Overlay::Filter(self.pane.filter(), 0)),
            Action::Export => {
                let done = screen.lend(|| host.export(self.recording.as_deref()))?;
                self.report(done);
            }
            Action::NextMatch | Action::PreviousMatch if self.pane.search_words().is_none() => {
                self.set_message("no search yet: / starts one");
            }
            action if jump_target(action).is_some() => {
                let what = jump_target(action).unwrap_or_default();
                let before = self.pane.position();
                self.pane.act(action);
                if self.pane.position() == before {
                    self.set_message(&format!("no more {what}s"));
                }
            }
            action => match self.pane.act(action) {
                Answer::Copy(text) => self.copy(&text)?,
                Answer::Open(text) => {
                    let done = if action == Action::Editor {
                        screen.lend(|| host.edit(&text))?
                    } else {
                        screen.lend(|| host.page(&text))?
                    };
                    self.report(done);
                }
                Answer::Done => {}
                Answer::NotMine => return Ok(false),
            },
        }
        Ok(true)
    }

    /// Copies a text to the clipboard and reports it.
    pub(crate) fn copy(&mut self, text: &str) -> io::Result<()> {
        let lines = text.lines().count();
        let noun = if lines == 1 { "line" } else { "lines" };
        if Screen::copy(text)? {
            self.set_message(&format!("copied {lines} {noun}"));
        } else {
            self.set_message("too long for the clipboard: v opens it in an editor");
        }
        Ok(())
    }

    fn report(&mut self, done: Result<String, String>) {
        let words = done.unwrap_or_else(|error| error);
        if !words.is_empty() {
            self.set_message(&words);
        }
    }
}

/// Returns the name of the target of a jump.
fn jump_target(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::NextPrompt | Action::PreviousPrompt => "prompt",
        Action::NextError | Action::PreviousError => "error",
        Action::NextEdit | Action::PreviousEdit => "edit",
        _ => return None,
    })
}
