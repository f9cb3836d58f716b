//! The table of all keys. Key handling, help and palette are generated from it,
//! so they always agree.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// An action that a key triggers.
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
    ResetFolds,
    Search,
    NextMatch,
    PreviousMatch,
    Filter,
    Copy,
    Editor,
    Pager,
    Export,
    SideBySide,
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

/// The part of the app that a key applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// Everywhere, unless something else handles the key.
    Everywhere,
    /// The transcript has the focus.
    Transcript,
    /// The prompt has the focus.
    Prompt,
    /// Everywhere in a chat, unless something else handles the key.
    Chat,
    /// A dialog is open.
    Dialog,
}

impl Context {
    /// Returns the heading in the help.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Everywhere => "Everywhere",
            Self::Transcript => "In the transcript",
            Self::Prompt => "In the prompt",
            Self::Chat => "In a chat",
            Self::Dialog => "In a dialog",
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Keys, each of which triggers the action.
    pub keys: &'static [&'static str],
    /// The action.
    pub action: Action,
    /// Description for help and palette.
    pub words: &'static str,
    /// Where the keys apply.
    pub context: Context,
}

const fn row(keys: &'static [&'static str], action: Action, words: &'static str) -> Binding {
    Binding {
        keys,
        action,
        words,
        context: Context::Transcript,
    }
}

const fn everywhere(keys: &'static [&'static str], action: Action, words: &'static str) -> Binding {
    Binding {
        context: Context::Everywhere,
        ..row(keys, action, words)
    }
}

const fn prompt(keys: &'static [&'static str], action: Action, words: &'static str) -> Binding {
    Binding {
        context: Context::Prompt,
        ..row(keys, action, words)
    }
}

const fn chat(keys: &'static [&'static str], action: Action, words: &'static str) -> Binding {
    Binding {
        context: Context::Chat,
        ..row(keys, action, words)
    }
}

/// All key bindings.
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
    row(&["g", "home"], Action::Top, "to the start"),
    row(&["G", "end"], Action::End, "to the end, and follow"),
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
        "fold or unfold the selection",
    ),
    row(&["l", "right"], Action::More, "show more of the entry"),
    row(&["h", "left"], Action::Less, "show less of the entry"),
    row(&["a"], Action::ExpandAll, "expand all"),
    row(&["z"], Action::FoldAll, "fold all"),
    row(&["="], Action::ResetFolds, "reset folding"),
    row(&["/"], Action::Search, "search"),
    row(&["n"], Action::NextMatch, "next match"),
    row(&["N"], Action::PreviousMatch, "previous match"),
    row(&["f"], Action::Filter, "filter by kind"),
    row(&["y"], Action::Copy, "copy the entry"),
    row(&["v"], Action::Editor, "open the entry in $EDITOR"),
    row(&["w"], Action::Pager, "open the entry in $PAGER"),
    row(&["x"], Action::Export, "export the run as a page"),
    row(&["s"], Action::SideBySide, "toggle side-by-side changes"),
    row(&["t"], Action::Plan, "show or hide the plan"),
    row(&["?"], Action::Help, "all keys"),
    row(&[":"], Action::Palette, "find a command by name"),
    row(&["i"], Action::Write, "back to the prompt, in a chat"),
    prompt(&["esc"], Action::Stop, "pressed twice: stop the agent"),
    prompt(
        &["ctrl-c"],
        Action::Interrupt,
        "clear the prompt; else stop the agent; else leave",
    ),
    prompt(&["tab"], Action::Browse, "go to the transcript"),
    prompt(&["pgup"], Action::PageUp, "a page up"),
    prompt(&["pgdn"], Action::PageDown, "a page down"),
    prompt(&["end"], Action::End, "to the end, and follow"),
    prompt(&["shift-tab"], Action::NextMode, "the agent's next mode"),
    prompt(
        &["ctrl-x"],
        Action::TakeBack,
        "take back the last queued message",
    ),
    prompt(
        &["ctrl-r"],
        Action::Restart,
        "restart an agent that has ended",
    ),
    chat(&["F1"], Action::Help, "all keys"),
    chat(&["F2"], Action::Palette, "find a command by name"),
    chat(&["F3"], Action::Mode, "choose the agent's mode"),
    chat(&["F4"], Action::Options, "the model and other settings"),
    chat(&["F5"], Action::Sessions, "earlier sessions of the agent"),
    chat(&["F6"], Action::Login, "log in"),
    chat(&["F7"], Action::PreviousTab, "previous tab"),
    chat(&["F8"], Action::NextTab, "next tab"),
    chat(&["F9"], Action::NewTab, "open another agent in a new tab"),
    chat(&["F10"], Action::CloseTab, "close the tab"),
    chat(&["ctrl-q"], Action::Quit, "quit"),
    Binding {
        context: Context::Dialog,
        ..row(&["ctrl-c"], Action::Interrupt, "stop the agent")
    },
    everywhere(&["ctrl-l"], Action::Redraw, "redraw the screen"),
    everywhere(&["ctrl-z"], Action::Suspend, "suspend"),
    row(&["esc"], Action::Cancel, "end the search"),
    row(&["q", "ctrl-c"], Action::Leave, "leave"),
];

/// Returns additional search terms for the palette.
pub(crate) fn synonyms(action: Action) -> &'static str {
    match action {
        Action::Export => "export html save",
        Action::Leave | Action::Quit => "quit exit leave",
        Action::Top => "beginning top",
        Action::Search => "find",
        Action::Copy => "yank",
        Action::Options => "config",
        Action::Sessions => "resume history load",
        Action::Login => "authenticate sign in",
        Action::Restart => "restart reconnect",
        Action::NewTab => "open",
        Action::SideBySide => "split diff",
        Action::Help => "help",
        _ => "",
    }
}

/// Returns the action of a key in a context.
pub fn action(key: KeyEvent, context: Context) -> Option<Action> {
    let here = |row: &&Binding| row.context == context || row.context == Context::Everywhere;
    TABLE
        .iter()
        .filter(here)
        .find(|row| row.keys.iter().any(|name| is(name, key)))
        .map(|row| row.action)
}

/// Returns true if a key has this name in the table.
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
    fn no_key_has_two_actions_in_one_context() {
        for (at, row) in TABLE.iter().enumerate() {
            for other in &TABLE[at + 1..] {
                let meet = row.context == other.context
                    || row.context == Context::Everywhere
                    || other.context == Context::Everywhere;
                let shared = row.keys.iter().find(|key| other.keys.contains(key));
                assert!(!meet || shared.is_none(), "{shared:?}");
            }
        }
    }

    #[test]
    fn pages_have_the_same_keys() {
        for key in unspool::output::html::keys::KEYS {
            for name in key.keys {
                let name = match *name {
                    "Enter" => "enter",
                    "Escape" => "esc",
                    name => name,
                };
                let here = |row: &&Binding| row.context == Context::Transcript;
                let row = TABLE
                    .iter()
                    .filter(here)
                    .find(|row| row.keys.contains(&name));
                match row {
                    Some(row) => assert!(row.words.starts_with(key.words), "{name}"),
                    None => assert!(key.is_page_only, "{name} does nothing in the app"),
                }
            }
        }
    }

    #[test]
    fn keys_are_found_by_their_names() {
        let key = |code, modifiers| action(KeyEvent::new(code, modifiers), Context::Transcript);
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
        assert_eq!(action(typed, Context::Prompt), None);
    }
}
