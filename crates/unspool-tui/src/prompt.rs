//! The prompt: where a person writes to an agent.
//!
//! | key | does |
//! |---|---|
//! | Enter | sends; in a list, takes the marked row |
//! | Shift-Enter, Alt-Enter, Ctrl-J | begin a line |
//! | Up, Down | go by rows; from the first and the last one through what was sent before |
//! | `/` at the start, `@` | list commands and files; Tab or Enter takes one, Esc closes |
//! | `!` at the start | what follows is for the shell; Backspace at the start or Esc leaves |
//! | the keys of a shell | edit, see `editor`; Ctrl-_ undoes, Ctrl-^ takes that back |
//!
//! [`Prompt::key`] says with [`Outcome::Nothing`] that a key is not for it, so
//! that the caller can use it. No character reaches the terminal that could
//! move its cursor; a message is sent as it was written, though. [`blocks`]
//! makes of a message what an agent is sent. The caller stores what was sent,
//! and gives it back as history.
//!
//! Long texts that are pasted are held as one block each (see `pasted`), so that
//! the work for a key or a frame does not depend on them.

pub mod blocks;
mod draw;
mod files;
mod history;
mod mention;
mod pasted;
mod popup;
mod rows;
#[cfg(test)]
mod tests;

pub use mention::Mention;
pub use popup::Command;

use std::path::Path;
use std::sync::Arc;

use ratatui::Frame;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::{Position, Rect};
use unspool::theme::Theme;

use crate::editor::{Editor, Effect};
use crate::matching::Finder;
use crate::paint;
use files::Files;
use history::{History, Recalled};
use pasted::Pasted;
use popup::{Popup, Source};
use rows::Rows;

/// What is written, and to whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// A message to the agent.
    #[default]
    Message,
    /// A command for the shell.
    Shell,
}

/// A message as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The text, with all that was pasted.
    pub text: String,
    /// The files that it names, outside of long pastes.
    pub mentions: Vec<Mention>,
}

impl Message {
    /// A message that was written elsewhere.
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            mentions: mention::mentions(text),
        }
    }
}

/// What a key did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing: the key is the caller's.
    Nothing,
    /// What is seen changed.
    Changed,
    /// This is for the agent. The text is the history's newest entry.
    Send(Message),
    /// This is for the shell. It holds no control character but line ends.
    Shell(String),
}

/// Where a person writes.
pub struct Prompt {
    editor: Editor,
    pasted: Pasted,
    mode: Mode,
    messages: History,
    shell: History,
    commands: Vec<Command>,
    finder: Finder,
    files: Files,
    popup: Option<Popup>,
    /// The list that was closed, until what it completed is left.
    closed: Option<(Source, usize)>,
    placeholder: String,
    /// Whether keys go here.
    is_focused: bool,
    /// Where the text was painted last, and its first row there.
    area: Rect,
    top: usize,
}

impl Prompt {
    /// An empty prompt for a project. `wake` is called from another thread when
    /// files were found; then [`Prompt::refresh`] takes them in.
    pub fn new(root: &Path, wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            editor: Editor::default(),
            pasted: Pasted::default(),
            mode: Mode::default(),
            messages: History::default(),
            shell: History::default(),
            commands: Vec::new(),
            finder: popup::finder(&[]),
            files: Files::new(root, Arc::new(wake)),
            popup: None,
            closed: None,
            placeholder: String::new(),
            is_focused: true,
            area: Rect::new(0, 0, 80, 1),
            top: 0,
        }
    }

    /// What is said where nothing is written yet.
    pub fn set_placeholder(&mut self, words: &str) {
        self.placeholder = paint::shown(words).into_owned();
    }

    /// Says whether keys go here; otherwise there is no cursor.
    pub fn set_focus(&mut self, is_focused: bool) {
        self.is_focused = is_focused;
    }

    /// The commands that `/` lists, in this order.
    pub fn set_commands(&mut self, commands: Vec<Command>) {
        self.commands = commands.into_iter().map(Command::cleaned).collect();
        self.finder = popup::finder(&self.commands);
        self.complete(true);
    }

    /// What was sent before, the oldest first.
    pub fn set_history(&mut self, mode: Mode, entries: Vec<String>) {
        *self.history(mode) = History::new(entries);
    }

    /// Another text; none clears the prompt.
    pub fn set_text(&mut self, text: &str) {
        // Nothing may stand for a block that is gone: no draft, nothing to undo
        // or to put back.
        self.pasted.clear();
        self.editor = Editor::default();
        self.messages.leave();
        self.shell.leave();
        let taken = self.pasted.take(text, 0);
        self.editor.set(taken);
        self.complete(false);
    }

    /// What is written, with all that was pasted.
    pub fn text(&self) -> String {
        self.pasted.expanded(self.editor.text())
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.editor.text().is_empty()
    }

    /// To whom it goes.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether a list is open, which Esc would close.
    pub fn is_listing(&self) -> bool {
        self.popup.is_some()
    }

    /// The rows that it wants on a screen of this size.
    pub fn height(&self, screen: Rect) -> u16 {
        let room = draw::room(screen.width);
        let rows = Rows::new(self.editor.text(), &self.pasted, room).all.len();
        let most = (screen.height / 3).max(1);
        u16::try_from(rows).unwrap_or(u16::MAX).clamp(1, most)
    }

    /// Paints it, and the list above it, or below it where there is more room.
    pub fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        draw::draw(frame, area, self, theme);
    }

    /// Takes in which files were found; whether that changes what is seen.
    pub fn refresh(&mut self) -> bool {
        let is_open = matches!(&self.popup, Some(popup) if popup.source == Source::File);
        if is_open {
            self.take_files(true);
        }
        is_open
    }

    /// Takes a text that is pasted at once.
    pub fn paste(&mut self, text: &str) -> Outcome {
        if text.is_empty() {
            return Outcome::Nothing;
        }
        self.put(text);
        self.changed()
    }

    fn put(&mut self, text: &str) {
        let taken = self.pasted.take(text, self.editor.text().len());
        self.editor.insert(&taken);
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Outcome {
        if key.kind == KeyEventKind::Release {
            return Outcome::Nothing;
        }
        if self.popup.is_some()
            && let Some(outcome) = self.popup_key(key)
        {
            return outcome;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let begins_line = KeyModifiers::SHIFT | KeyModifiers::ALT | KeyModifiers::CONTROL;
        match key.code {
            KeyCode::Enter if key.modifiers.intersects(begins_line) => self.type_in('\n'),
            KeyCode::Char('j') if control => self.type_in('\n'),
            KeyCode::Enter => self.send(),
            KeyCode::Up => self.up(),
            KeyCode::Down => self.down(),
            KeyCode::Char('p') if control => self.up(),
            KeyCode::Char('n') if control => self.down(),
            KeyCode::Esc if self.mode == Mode::Shell => self.turn(Mode::Message),
            KeyCode::Backspace if self.mode == Mode::Shell && self.editor.cursor() == 0 => {
                self.turn(Mode::Message)
            }
            KeyCode::Char('!') if self.mode == Mode::Message && self.editor.cursor() == 0 => {
                self.turn(Mode::Shell)
            }
            KeyCode::Char(letter) if is_typed(key) => self.type_in(letter),
            _ => self.edit(key),
        }
    }

    fn type_in(&mut self, letter: char) -> Outcome {
        let is_text = letter == '\n' || !letter.is_control();
        if !is_text || pasted::is_sign(letter) {
            return Outcome::Nothing;
        }
        self.editor.type_in(letter);
        self.changed()
    }

    fn edit(&mut self, key: KeyEvent) -> Outcome {
        let before = self.editor.text().len();
        match self.editor.key(key) {
            Effect::Ignored | Effect::Unchanged => Outcome::Nothing,
            Effect::Changed if self.editor.text().len() == before => {
                self.complete(false);
                Outcome::Changed
            }
            Effect::Changed => self.changed(),
        }
    }

    /// The text is another one.
    fn changed(&mut self) -> Outcome {
        self.history(self.mode).leave();
        self.complete(false);
        Outcome::Changed
    }

    fn turn(&mut self, mode: Mode) -> Outcome {
        self.mode = mode;
        self.changed()
    }

    fn history(&mut self, mode: Mode) -> &mut History {
        match mode {
            Mode::Message => &mut self.messages,
            Mode::Shell => &mut self.shell,
        }
    }

    fn send(&mut self) -> Outcome {
        let text = self.text();
        if text.trim().is_empty() {
            return Outcome::Nothing;
        }
        let mentions = mention::mentions(self.editor.text());
        let mode = std::mem::take(&mut self.mode);
        let text = match mode {
            Mode::Message => text,
            Mode::Shell => text.replace(|it: char| it.is_control() && it != '\n', " "),
        };
        self.history(mode).add(&text);
        self.set_text("");
        self.top = 0;
        match mode {
            Mode::Message => Outcome::Send(Message { text, mentions }),
            Mode::Shell => Outcome::Shell(text),
        }
    }

    /// The rows as they were painted last.
    fn rows(&self) -> Rows<'_> {
        let room = draw::room(self.area.width);
        Rows::new(self.editor.text(), &self.pasted, room)
    }

    fn up(&mut self) -> Outcome {
        let rows = self.rows();
        let (row, column) = rows.place(self.editor.cursor());
        if let Some(above) = row.checked_sub(1) {
            let place = rows.at(above, column);
            return self.go(place);
        }
        let now = self.editor.text().to_owned();
        let mode = self.mode;
        let recalled = self.history(mode).older(&now);
        self.recall(recalled)
    }

    fn down(&mut self) -> Outcome {
        let rows = self.rows();
        let (row, column) = rows.place(self.editor.cursor());
        if row + 1 < rows.all.len() {
            let place = rows.at(row + 1, column);
            return self.go(place);
        }
        let mode = self.mode;
        let recalled = self.history(mode).newer();
        self.recall(recalled)
    }

    fn go(&mut self, place: usize) -> Outcome {
        self.editor.go(place);
        self.complete(false);
        Outcome::Changed
    }

    /// Puts an entry of the history into the prompt. No list opens for it.
    fn recall(&mut self, recalled: Option<Recalled>) -> Outcome {
        match recalled {
            None => return Outcome::Nothing,
            Some(Recalled::Draft(text)) => self.editor.set(text),
            Some(Recalled::Entry(text)) => {
                let taken = self.pasted.take(&text, 0);
                self.editor.set(taken);
            }
        }
        self.popup = None;
        self.closed = self.completed();
        Outcome::Changed
    }

    /// Takes a click, which puts the cursor there, or the wheel on the list.
    pub fn mouse(&mut self, mouse: MouseEvent) -> Outcome {
        let place = Position::new(mouse.column, mouse.row);
        let is_click = mouse.kind == MouseEventKind::Down(MouseButton::Left);
        if !is_click || !self.area.contains(place) {
            return Outcome::Nothing;
        }
        let row = self.top + usize::from(mouse.row - self.area.y);
        let column = usize::from(mouse.column - self.area.x).saturating_sub(draw::MARGIN);
        let place = self.rows().at(row, column);
        self.go(place)
    }

    /// Keys while a list is open; none is a key for the text.
    fn popup_key(&mut self, key: KeyEvent) -> Option<Outcome> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let popup = self.popup.as_mut()?;
        match key.code {
            KeyCode::Esc => {
                self.closed = Some((popup.source, popup.start));
                self.popup = None;
            }
            KeyCode::Up | KeyCode::BackTab => popup.step(false),
            KeyCode::Down => popup.step(true),
            KeyCode::Char('p') if control => popup.step(false),
            KeyCode::Char('n') if control => popup.step(true),
            KeyCode::Tab => {
                self.accept(false);
            }
            KeyCode::Enter if key.modifiers.is_empty() => {
                // What is written in full already is sent.
                return self.accept(true).then_some(Outcome::Changed);
            }
            _ => return None,
        }
        Some(Outcome::Changed)
    }

    /// Completes what is written by the marked row; whether there was anything
    /// to complete.
    fn accept(&mut self, is_final: bool) -> bool {
        if matches!(&self.popup, Some(popup) if popup.source == Source::File) {
            // The list may be for what was written a moment ago.
            if !self.files.is_answered() {
                return false;
            }
            self.take_files(true);
        }
        let Some(popup) = self.popup.take() else {
            return false;
        };
        let Some(item) = popup.chosen() else {
            return false;
        };
        let text = match popup.source {
            Source::Command => format!("/{} ", item.text),
            Source::File if item.text.ends_with('/') && !is_final => mention::spelled(&item.text)
                .trim_end_matches('"')
                .to_owned(),
            Source::File => format!("{} ", mention::spelled(&item.text)),
        };
        let after = self.editor.after();
        let rest = after.find(char::is_whitespace).unwrap_or(after.len());
        let end = self.editor.cursor() + rest;
        let written = self.editor.text().get(popup.start..end);
        let is_written = written == Some(text.trim_end());
        if is_final && is_written {
            return false;
        }
        // A blank that is there already is enough.
        let text = if after.get(rest..).is_some_and(|rest| rest.starts_with(' ')) {
            text.trim_end()
        } else {
            &text
        };
        self.editor.go(end);
        self.editor.replace_from(popup.start, text);
        self.changed();
        true
    }

    /// What is being written that a list could complete.
    fn completed(&self) -> Option<(Source, usize)> {
        let before = self.editor.before();
        if self.mode == Mode::Shell {
            return None;
        }
        if before.starts_with('/') && !before.contains(char::is_whitespace) {
            return Some((Source::Command, 0)).filter(|_| !self.commands.is_empty());
        }
        mention::open(before).map(|(start, _)| (Source::File, start))
    }

    /// Opens, fills or closes the list.
    fn complete(&mut self, keeps: bool) {
        let Some(completed) = self.completed() else {
            self.popup = None;
            self.closed = None;
            return;
        };
        if self.closed == Some(completed) {
            return;
        }
        self.closed = None;
        let (source, start) = completed;
        let is_same = matches!(&self.popup, Some(it) if (it.source, it.start) == completed);
        if !is_same {
            self.popup = Some(Popup::new(source, start));
        }
        match source {
            Source::Command => self.list_commands(keeps),
            Source::File => self.list_files(keeps),
        }
    }

    fn list_commands(&mut self, keeps: bool) {
        let query = self.editor.before().get(1..).unwrap_or_default();
        let items = popup::commands(&self.commands, &mut self.finder, query);
        if items.is_empty() {
            self.popup = None;
        } else if let Some(popup) = &mut self.popup {
            popup.fill(items, keeps);
        }
    }

    fn list_files(&mut self, keeps: bool) {
        let query = mention::open(self.editor.before()).map_or("", |(_, query)| query);
        self.files.look_for(query);
        self.take_files(keeps);
    }

    /// Lists the files that are known now.
    fn take_files(&mut self, keeps: bool) {
        let known = self.files.known();
        if let Some(popup) = &mut self.popup {
            popup.note = match known.is_busy {
                true => format!(
                    "searching, {} so far",
                    paint::count(known.total, "file", "files")
                ),
                false if known.found.is_empty() => "no file matches".to_owned(),
                false => paint::count(known.total, "file", "files"),
            };
            popup.fill(popup::files(known.found), keeps);
        }
    }

    /// What may be written behind the command that stands there.
    fn hint(&self) -> Option<&str> {
        let name = self.editor.text().strip_prefix('/')?.strip_suffix(' ')?;
        let is_it = |command: &&Command| command.name == name;
        let hint = self.commands.iter().find(is_it)?.hint.as_deref();
        hint.filter(|_| self.popup.is_none() && self.mode == Mode::Message)
    }
}

/// Whether a key types its letter. Some keyboards type with Ctrl and Alt at
/// once.
fn is_typed(key: KeyEvent) -> bool {
    let both = KeyModifiers::CONTROL | KeyModifiers::ALT;
    !key.modifiers.intersects(both) || key.modifiers.contains(both)
}
