//! Escape sequences that notify the user: bell, desktop notification (OSC 9 and
//! OSC 777), window title.
//!
//! Texts may come from an agent, so control characters are removed and their
//! length is limited. Nothing is sent here; the caller writes the bytes.

use unspool::sanitize;

/// Maximum length of a text, in characters.
const LONGEST: usize = 160;

/// String terminator of a sequence.
const END: &str = "\u{1b}\\";

/// When to notify the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// Never.
    Never,
    /// Only when the terminal has lost the focus.
    #[default]
    Unfocused,
    /// Always.
    Always,
}

/// Ways to notify the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// The bell.
    pub bell: bool,
    /// OSC 9: iTerm2, `WezTerm`, Ghostty, Windows Terminal.
    pub osc9: bool,
    /// OSC 777: urxvt, foot, Konsole, `WezTerm`.
    pub osc777: bool,
}

/// Returns true if the user should be notified. `is_focused` is the terminal's
/// last focus report; without any report the terminal may be hidden.
pub fn is_due(when: When, is_focused: Option<bool>) -> bool {
    match when {
        When::Never => false,
        When::Unfocused => is_focused != Some(true),
        When::Always => true,
    }
}

/// Returns the bytes that notify the user.
pub fn call(ways: Ways, title: &str, text: &str) -> Vec<u8> {
    let mut out = String::new();
    let (title, text) = (clean(title), clean(text));
    if ways.osc9 {
        // A leading number would be a different request, such as a progress bar.
        // So the title comes first, without leading digits.
        let title = title.trim_start_matches(|it: char| it.is_ascii_digit() || it == ';');
        let title = if title.is_empty() { "agent" } else { title };
        out.extend(["\u{1b}]9;", title, ": ", &text, END]);
    }
    if ways.osc777 {
        let title = title.replace(';', ",");
        let text = text.replace(';', ",");
        out.extend(["\u{1b}]777;notify;", &title, ";", &text, END]);
    }
    if ways.bell {
        out.push('\u{7}');
    }
    out.into_bytes()
}

/// Returns the bytes that set the window title.
pub fn title(text: &str) -> Vec<u8> {
    format!("\u{1b}]2;{}{END}", clean(text)).into_bytes()
}

/// Returns one short line without control characters.
fn clean(text: &str) -> String {
    // The rest would be cut anyway.
    let head: String = text.chars().take(LONGEST + 1).collect();
    let line = sanitize::line(&head);
    let mut out: String = line.trim().chars().take(LONGEST).collect();
    if line.trim().chars().count() > LONGEST {
        out.pop();
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Ways = Ways {
        bell: true,
        osc9: true,
        osc777: true,
    };

    fn called(title: &str, text: &str) -> String {
        String::from_utf8(call(ALL, title, text)).unwrap()
    }

    #[test]
    fn each_way_is_sent_only_if_enabled() {
        assert_eq!(
            called("claude", "asks: run tests?"),
            "\u{1b}]9;claude: asks: run tests?\u{1b}\\\u{1b}]777;notify;claude;asks: run tests?\u{1b}\\\u{7}"
        );
        assert_eq!(call(Ways::default(), "a", "b"), b"");
        assert_eq!(
            title("unspool – shop"),
            "\u{1b}]2;unspool – shop\u{1b}\\".as_bytes()
        );
    }

    #[test]
    fn text_cannot_end_or_start_a_sequence() {
        let evil = "4;1;50\u{1b}\\\u{7}\u{9c}\u{1b}]52;c;x\u{202e}\r\n";
        let sent = called(evil, evil);
        let controls = sent.chars().filter(|it| it.is_control()).count();
        assert_eq!(
            controls, 5,
            "two sequences with their ends, and the bell: {sent:?}"
        );
        assert!(!sent.contains("]9;4"), "{sent:?}");
        assert_eq!(sent.matches(';').count(), 1 + 6 + 3, "{sent:?}");
    }

    #[test]
    fn long_texts_are_cut() {
        let sent = title(&"漢\n".repeat(1_000_000));
        assert!(sent.len() < 4 * LONGEST, "{}", sent.len());
        assert!(String::from_utf8(sent).unwrap().contains('…'));
    }

    #[test]
    fn a_focused_terminal_is_not_notified() {
        use When::{Always, Never, Unfocused};
        for (when, focus, expected) in [
            (Never, Some(false), false),
            (Always, Some(true), true),
            (Unfocused, Some(true), false),
            (Unfocused, Some(false), true),
            (Unfocused, None, true),
        ] {
            assert_eq!(is_due(when, focus), expected, "{when:?} {focus:?}");
        }
    }
}
