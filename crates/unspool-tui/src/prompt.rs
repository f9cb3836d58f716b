//! The prompt: an input box for messages and shell commands.
//!
//! | key | does |
//! |---|---|
//! | Enter | sends; in a list, takes the selected row |
//! | Shift-Enter, Alt-Enter, Ctrl-J | insert a newline |
//! | Up, Down | move by row; beyond the first and last row, through the history |
//! | `/` at the start, `@` | list commands and files; Tab or Enter takes one, Esc closes |
//! | `!` at the start | switches to shell mode; Backspace at the start or Esc leaves it |
//! | the keys of a shell | edit, see `editor`; Ctrl-_ undoes, Ctrl-^ redoes |
//!
//! [`Prompt::key`] returns [`Outcome::Nothing`] for keys that the caller may use.
//! Text is escaped for display, but sent as written. [`content`] converts a
//! message to content blocks. The caller stores the history.
//!
//! Long pastes are kept as one placeholder each (see `pasted`), so that the cost
//! of a key or frame does not depend on them.

pub mod content;
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

/// The purpose of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// A message to the agent.
    #[default]
    Message,
    /// A shell command.
    Shell,
}

/// A message as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The text, including pastes.
    pub text: String,
    /// Mentioned files, except in long pastes.
    pub mentions: Vec<Mention>,
}

impl Message {
    /// Creates a message from a text.
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            mentions: mention::mentions(text),
        }
    }
}

/// The result of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Not handled.
    Nothing,
    /// The display changed.
    Changed,
    /// Send this message. It is the newest history entry.
    Send(Message),
    /// Run this shell command. The only control characters in it are newlines.
    Shell(String),
}

/// An input box for messages and shell commands.
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
    /// A list closed with Esc, until the cursor leaves the word it completes.
    closed: Option<(Source, usize)>,
    placeholder: String,
    /// True while the prompt has the focus.
    is_focused: bool,
    /// Area of the text in the last frame, and its first visible row.
    area: Rect,
    top: usize,
}

impl Prompt {
    /// Creates an empty prompt. `wake` is called from another thread when files
    /// were found; the caller then calls [`Prompt::refresh`].
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

    /// Sets the hint shown in an empty prompt.
    pub fn set_placeholder(&mut self, words: &str) {
        self.placeholder = paint::shown(words).into_owned();
    }

    /// Sets the focus. Without it no cursor is shown.
    pub fn set_focus(&mut self, is_focused: bool) {
        self.is_focused = is_focused;
    }

    /// Sets the commands that `/` lists, in this order.
    pub fn set_commands(&mut self, commands: Vec<Command>) {
        self.commands = commands.into_iter().map(Command::cleaned).collect();
        self.finder = popup::finder(&self.commands);
        self.complete(true);
    }

    /// Sets the history, oldest entry first.
    pub fn set_history(&mut self, mode: Mode, entries: Vec<String>) {
        *self.history(mode) = History::new(entries);
    }

    /// Replaces the text.
    pub fn set_text(&mut self, text: &str) {
        // Placeholders of the old text must not survive in drafts, undo steps or
        // the kill buffer.
        self.pasted.clear();
        self.editor = Editor::default();
        self.messages.leave();
        self.shell.leave();
        let taken = self.pasted.take(text, 0);
        self.editor.set(taken);
        self.complete(false);
    }

    /// Returns the text, including pastes.
    pub fn text(&self) -> String {
        self.pasted.expanded(self.editor.text())
    }

    /// Returns true if the prompt is empty.
    pub fn is_empty(&self) -> bool {
        self.editor.text().is_empty()
    }

    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns true while a completion list is open.
    pub fn is_listing(&self) -> bool {
        self.popup.is_some()
    }

    /// Returns the preferred number of rows on a screen of this size.
    pub fn height(&self, screen: Rect) -> u16 {
        let room = draw::room(screen.width);
        let rows = Rows::new(self.editor.text(), &self.pasted, room).all.len();
        let most = (screen.height / 3).max(1);
        u16::try_from(rows).unwrap_or(u16::MAX).clamp(1, most)
    }

    /// Paints the prompt, and the list above it, or below where there is more
    /// space.
    pub fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        draw::draw(frame, area, self, theme);
    }

    /// Updates an open file list. Returns true if the display changed.
    pub fn refresh(&mut self) -> bool {
        let is_open = matches!(&self.popup, Some(popup) if popup.source == Source::File);
        if is_open {
            self.take_files(true);
        }
        is_open
    }

    /// Handles pasted text.
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

    /// Handles a key.
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

    /// Updates history and completion after an edit.
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

    /// Returns the rows of the last frame.
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

    /// Shows a history entry, without opening a completion list.
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

    /// Handles a click, which moves the cursor.
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

    /// Handles a key while a list is open. Returns `None` for keys that edit the
    /// text.
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
                // Enter sends a text that is complete already.
                return self.accept(true).then_some(Outcome::Changed);
            }
            _ => return None,
        }
        Some(Outcome::Changed)
    }

    /// Completes the word with the selected row. Returns false if there was
    /// nothing to complete.
    fn accept(&mut self, is_final: bool) -> bool {
        if matches!(&self.popup, Some(popup) if popup.source == Source::File) {
            // The list may belong to an earlier query.
            if !self.files.wait_for_results() {
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
        // Don't add a second space.
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

    /// Returns the list that could complete the current word, and where the word
    /// starts.
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

    /// Opens, updates or closes the list.
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

    /// Lists the files found so far.
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

    /// Returns the argument hint of the command just typed.
    fn hint(&self) -> Option<&str> {
        let name = self.editor.text().strip_prefix('/')?.strip_suffix(' ')?;
        let is_it = |command: &&Command| command.name == name;
        let hint = self.commands.iter().find(is_it)?.hint.as_deref();
        hint.filter(|_| self.popup.is_none() && self.mode == Mode::Message)
    }
}

/// Returns true if a key types its letter. Some keyboard layouts report Ctrl-Alt
/// for `AltGr`.
fn is_typed(key: KeyEvent) -> bool {
    let both = KeyModifiers::CONTROL | KeyModifiers::ALT;
    !key.modifiers.intersects(both) || key.modifiers.contains(both)
}
