//! The one table of keys: what each does, where, and in which words. Dispatch, the
//! help and the palette are made from it, so that none of them can lie.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the table says what each does")]
pub enum Action {
    Down,
    Up,
    HalfDown,
    HalfUp,
    PageDown,
    PageUp,
    Top,
    End,
    NextEntry,
    PreviousEntry,
    NextPrompt,
    PreviousPrompt,
    NextError,
    PreviousError,
    NextEdit,
    PreviousEdit,
    Toggle,
    More,
    Less,
    ExpandAll,
    FoldAll,
    FoldAsAtFirst,
    Search,
    NextMatch,
    PreviousMatch,
    Filter,
    Copy,
    Editor,
    Pager,
    Export,
    Sides,
    Plan,
    Help,
    Palette,
    Redraw,
    Suspend,
    Cancel,
    Leave,
    Stop,
    Interrupt,
    Browse,
    Write,
    TakeBack,
    Restart,
    NextMode,
    Mode,
    Options,
    Sessions,
    Login,
    NewTab,
    NextTab,
    PreviousTab,
    CloseTab,
    Quit,
}

/// Where a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Wherever nothing else takes it.
    Everywhere,
    /// While the transcript is what keys go to.
    Transcript,
    /// While something is typed for the agent.
    Prompt,
    /// Wherever nothing else takes it, in a chat.
    Chat,
    /// While something is asked.
    Dialog,
}

impl Place {
    /// Where that is, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Everywhere => "Everywhere",
            Self::Transcript => "In the transcript",
            Self::Prompt => "While you write",
            Self::Chat => "In a chat",
            Self::Dialog => "While something is asked",
        }
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// The keys, each of which does it.
    pub keys: &'static [&'static str],
    /// What they do.
    pub action: Action,
    /// The same in words.
    pub words: &'static str,
    /// Where they do it.
    pub place: Place,
}

const fn row(keys: &'static [&'static str], action: Action, words: &'static str) -> Binding {
    Binding {
        keys,
        action,
        words,
        place: Place::Transcript,
    }
}

const fn everywhere(keys: &'static [&'static str], action: Action, words: &'static str) -> Binding {
    Binding {
        place: Place::Everywhere,
        ..row(keys, action, words)
    }
}

const fn prompt(keys: &'static [&'static str], action: Action, words: &'static str) -> Binding {
    Binding {
        place: Place::Prompt,
        ..row(keys, action, words)
    }
}

const fn chat(keys: &'static [&'static str], action: Action, words: &'static str) -> Binding {
    Binding {
        place: Place::Chat,
        ..row(keys, action, words)
    }
}

/// All keys.
pub const TABLE: &[Binding] = &[
    row(&["j", "down"], Action::Down, "one line down"),
    row(&["k", "up"], Action::Up, "one line up"),
    row(&["ctrl-d"], Action::HalfDown, "half a page down"),
    row(&["ctrl-u"], Action::HalfUp, "half a page up"),
    row(
        &["pgdn", "space", "ctrl-f"],
        Action::PageDown,
        "a page down",
    ),
    row(&["pgup", "b", "ctrl-b"], Action::PageUp, "a page up"),
    row(&["g", "home"], Action::Top, "to the beginning"),
    row(&["G", "end"], Action::End, "to the end, and stay there"),
    row(&["J", "tab"], Action::NextEntry, "next entry"),
    row(&["K", "shift-tab"], Action::PreviousEntry, "previous entry"),
    row(&["p"], Action::NextPrompt, "next prompt"),
    row(&["P"], Action::PreviousPrompt, "previous prompt"),
    row(&["e"], Action::NextError, "next error"),
    row(&["E"], Action::PreviousError, "previous error"),
    row(&["d"], Action::NextEdit, "next edit"),
    row(&["D"], Action::PreviousEdit, "previous edit"),
    row(
        &["enter", "o"],
        Action::Toggle,
        "unfold or fold what is marked",
    ),
    row(&["l", "right"], Action::More, "show more of the entry"),
    row(&["h", "left"], Action::Less, "show less of the entry"),
    row(&["a"], Action::ExpandAll, "expand all"),
    row(&["z"], Action::FoldAll, "fold all"),
    row(&["="], Action::FoldAsAtFirst, "fold as at first"),
    row(&["/"], Action::Search, "search"),
    row(&["n"], Action::NextMatch, "next match"),
    row(&["N"], Action::PreviousMatch, "previous match"),
    row(&["f"], Action::Filter, "choose the kinds that are shown"),
    row(&["y"], Action::Copy, "copy the entry"),
    row(&["v"], Action::Editor, "open the entry in $EDITOR"),
    row(&["w"], Action::Pager, "open the entry in $PAGER"),
    row(&["x"], Action::Export, "write the run as a page"),
    row(&["s"], Action::Sides, "changes side by side, or not"),
    row(&["t"], Action::Plan, "show or hide the plan"),
    row(&["?"], Action::Help, "all keys"),
    row(&[":"], Action::Palette, "find a command by its name"),
    row(&["i"], Action::Write, "back to writing, in a chat"),
    prompt(&["esc"], Action::Stop, "pressed twice: stop the agent"),
    prompt(
        &["ctrl-c"],
        Action::Interrupt,
        "clear what is written; else stop the agent; else leave",
    ),
    prompt(&["tab"], Action::Browse, "go to the transcript"),
    prompt(&["pgup"], Action::PageUp, "a page up"),
    prompt(&["pgdn"], Action::PageDown, "a page down"),
    prompt(&["end"], Action::End, "to the end, and stay there"),
    prompt(&["shift-tab"], Action::NextMode, "the agent's next mode"),
    prompt(
        &["ctrl-x"],
        Action::TakeBack,
        "take the last message that waits back",
    ),
    prompt(
        &["ctrl-r"],
        Action::Restart,
        "start an agent that has ended again",
    ),
    chat(&["F1"], Action::Help, "all keys"),
    chat(&["F2"], Action::Palette, "find a command by its name"),
    chat(&["F3"], Action::Mode, "choose the agent's mode"),
    chat(&["F4"], Action::Options, "the model and other settings"),
    chat(&["F5"], Action::Sessions, "earlier sessions of the agent"),
    chat(&["F6"], Action::Login, "log in"),
    chat(&["F7"], Action::PreviousTab, "previous tab"),
    chat(&["F8"], Action::NextTab, "next tab"),
    chat(
        &["F9"],
        Action::NewTab,
        "talk to another agent in a new tab",
    ),
    chat(&["F10"], Action::CloseTab, "close the tab"),
    chat(&["ctrl-q"], Action::Quit, "leave"),
    Binding {
        place: Place::Dialog,
        ..row(&["ctrl-c"], Action::Interrupt, "stop the agent")
    },
    everywhere(&["ctrl-l"], Action::Redraw, "paint everything anew"),
    everywhere(&["ctrl-z"], Action::Suspend, "stop for a while"),
    row(&["esc"], Action::Cancel, "end the search"),
    row(&["q", "ctrl-c"], Action::Leave, "leave"),
];

/// Other words by which people look for it.
pub(crate) fn synonyms(action: Action) -> &'static str {
    match action {
        Action::Export => "export html save",
        Action::Leave | Action::Quit => "quit exit",
        Action::Search => "find",
        Action::Copy => "yank",
        Action::Options => "config",
        Action::Sessions => "resume history load",
        Action::Login => "authenticate sign in",
        Action::Restart => "restart reconnect",
        Action::NewTab => "open",
        Action::Sides => "split diff",
        Action::Help => "help",
        _ => "",
    }
}

/// What a key does in this place.
pub fn action(key: KeyEvent, place: Place) -> Option<Action> {
    let here = |row: &&Binding| row.place == place || row.place == Place::Everywhere;
    TABLE
        .iter()
        .filter(here)
        .find(|row| row.keys.iter().any(|name| is(name, key)))
        .map(|row| row.action)
}

/// Whether this is the name of the key.
fn is(name: &str, key: KeyEvent) -> bool {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    if let Some(letter) = name.strip_prefix("ctrl-") {
        let is_letter = matches!(key.code, KeyCode::Char(c) if letter.chars().eq([c]));
        return control && !alt && is_letter;
    }
    if control || alt {
        return false;
    }
    match key.code {
        KeyCode::Char(' ') => name == "space",
        KeyCode::Char(character) => name.chars().eq([character]),
        KeyCode::Up => name == "up",
        KeyCode::Down => name == "down",
        KeyCode::Left => name == "left",
        KeyCode::Right => name == "right",
        KeyCode::PageUp => name == "pgup",
        KeyCode::PageDown => name == "pgdn",
        KeyCode::Home => name == "home",
        KeyCode::End => name == "end",
        KeyCode::Enter => name == "enter",
        KeyCode::Esc => name == "esc",
        KeyCode::Tab => name == "tab",
        KeyCode::BackTab => name == "shift-tab",
        KeyCode::F(number) => name.strip_prefix('F') == Some(&*number.to_string()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_does_two_things_in_one_place() {
        for (at, row) in TABLE.iter().enumerate() {
            for other in &TABLE[at + 1..] {
                let meet = row.place == other.place
                    || row.place == Place::Everywhere
                    || other.place == Place::Everywhere;
                let shared = row.keys.iter().find(|key| other.keys.contains(key));
                assert!(!meet || shared.is_none(), "{shared:?}");
            }
        }
    }

    #[test]
    fn keys_are_found_by_their_names() {
        let key = |code, modifiers| action(KeyEvent::new(code, modifiers), Place::Transcript);
        let none = KeyModifiers::NONE;
        assert_eq!(key(KeyCode::Char('j'), none), Some(Action::Down));
        assert_eq!(
            key(KeyCode::Char('G'), KeyModifiers::SHIFT),
            Some(Action::End)
        );
        assert_eq!(
            key(KeyCode::Char('d'), KeyModifiers::CONTROL),
            Some(Action::HalfDown)
        );
        assert_eq!(key(KeyCode::Char('j'), KeyModifiers::ALT), None);
        assert_eq!(key(KeyCode::PageDown, none), Some(Action::PageDown));
        let typed = KeyEvent::new(KeyCode::Char('j'), none);
        assert_eq!(action(typed, Place::Prompt), None);
    }
}
