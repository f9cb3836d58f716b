//! Properties of the output: terminal or not, width, colours.
//!
//! Colours are decided by, strongest first: `--color`, `NO_COLOR`,
//! `CLICOLOR_FORCE` and `FORCE_COLOR`, `CLICOLOR=0`, `TERM=dumb`, and whether it
//! is a terminal.

use std::env;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::bail;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use terminal_colorsaurus::{QueryOptions, ThemeMode, theme_mode};
use unspool::output::RESTORE;
use unspool_sessions::input::CHUNK;
use unspool_tui::screen::is_in_foreground;

use crate::cli::When;

/// Time limit for the terminal's reply about its background.
const PATIENCE: Duration = Duration::from_millis(200);

/// Returns true if standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns standard output, written only on flush, so that a frame goes out as a
/// whole.
pub(crate) fn output() -> io::Result<BufWriter<File>> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(BufWriter::with_capacity(CHUNK, File::from(output)))
}

/// Returns true if colours are written.
pub(crate) fn colours(when: When) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => automatic(|name| env::var(name).ok(), is_terminal()),
    }
}

/// Returns true if messages on standard error are dimmed.
pub(crate) fn dims_errors() -> bool {
    automatic(|name| env::var(name).ok(), io::stderr().is_terminal())
}

/// Returns a dimmed line with a newline.
pub(crate) fn dimmed(line: &str) -> String {
    format!("\u{1b}[2m{line}\u{1b}[22m\n")
}

/// Returns the environment variable that decides on colours, and its decision.
pub(crate) fn colour_variable() -> Option<(&'static str, bool)> {
    decided(|name| env::var(name).ok())
}

fn decided(variable: impl Fn(&str) -> Option<String>) -> Option<(&'static str, bool)> {
    type Decides = fn(&str) -> bool;
    let is = |name: &str, holds: fn(&str) -> bool| {
        let value = variable(name).filter(|value| !value.is_empty());
        value.is_some_and(|value| holds(&value))
    };
    let forced: Decides = |value| value != "0" && value != "false";
    let strongest_first: [(&'static str, Decides, bool); 5] = [
        ("NO_COLOR", |_| true, false),
        ("CLICOLOR_FORCE", forced, true),
        ("FORCE_COLOR", forced, true),
        ("CLICOLOR", |value| value == "0", false),
        ("TERM", |value| value == "dumb", false),
    ];
    let found = strongest_first
        .iter()
        .find(|(name, holds, _)| is(name, *holds));
    found.map(|(name, _, wanted)| (*name, *wanted))
}

fn automatic(variable: impl Fn(&str) -> Option<String>, is_terminal: bool) -> bool {
    decided(variable).map_or(is_terminal, |(_, wanted)| wanted)
}

/// Returns the width of the terminal on standard output: `COLUMNS`, or its size. `None`
/// in a pipe or a file, which have no width: whatever shows them can wrap them.
pub(crate) fn width() -> Option<usize> {
    is_terminal().then(|| columns_variable().unwrap_or_else(|| size().columns))
}

/// Returns the columns of a list: those that were typed, or else the terminal's.
/// `None` is any number.
pub(crate) fn room(typed: Option<usize>) -> Option<usize> {
    match typed {
        Some(width) => Some(width).filter(|width| *width > 0),
        None => width(),
    }
}

/// Returns the width in `COLUMNS`.
pub(crate) fn columns_variable() -> Option<usize> {
    let columns = env::var("COLUMNS").ok()?.trim().parse().ok();
    columns.filter(|width| *width > 0)
}

/// Size of a terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// Returns the size of the terminal on standard output.
pub(crate) fn size() -> Size {
    let size = terminal_size::terminal_size_of(io::stdout());
    let (columns, rows) = size.map_or((80, 24), |(width, height)| (width.0, height.0));
    Size {
        columns: usize::from(columns).max(1),
        rows: usize::from(rows).max(1),
    }
}

/// Restores the terminal's cursor after a panic.
pub(crate) fn restore_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        restore();
        let mut out = io::stdout();
        let _ = out.write_all(format!("\r\n{RESTORE}").as_bytes());
        let _ = out.flush();
        before(info);
    }));
}

/// Returns true in a GitHub Actions job.
pub(crate) fn is_github_actions() -> bool {
    env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true")
}

/// Returns true if the output is a terminal that supports cursor movement.
pub(crate) fn can_repaint() -> bool {
    is_terminal()
        && is_in_foreground(io::stdout())
        && env::var("TERM").is_ok_and(|term| !term.is_empty() && term != "dumb")
}

/// Fails if the terminal cannot show a live view, with the reason and an
/// alternative.
pub(crate) fn demand(what: &str, instead: &str) -> anyhow::Result<()> {
    if can_repaint() {
        return Ok(());
    }
    if !is_terminal() {
        bail!("{what} needs a terminal: {instead}");
    }
    if !is_in_foreground(io::stdout()) {
        bail!("{what} needs the terminal: start it in the foreground");
    }
    let term = env::var("TERM").unwrap_or_default();
    let reason = if term.is_empty() {
        "TERM is not set".to_owned()
    } else {
        format!("TERM={term} does not support it")
    };
    bail!(
        "{what} needs a terminal that can be repainted, but {reason}: if yours can, set TERM, for \
         example to xterm-256color; otherwise {instead}"
    )
}

/// Terminal settings before echo was disabled.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Disables echo, which would move the cursor, and keeps pending output when
/// Ctrl-C is pressed.
pub(crate) fn hush() {
    let Ok(mut before) = BEFORE.lock() else {
        return;
    };
    if before.is_some() || !is_in_foreground(io::stdout()) {
        return;
    }
    if let Ok(modes) = tcgetattr(io::stdout()) {
        let mut quiet = modes.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        quiet.local_modes.insert(LocalModes::NOFLSH);
        // On failure, typed characters stay visible.
        let _ = tcsetattr(io::stdout(), OptionalActions::Now, &quiet);
        *before = Some(modes);
    }
}

/// Restores the terminal settings.
pub(crate) fn restore() {
    if let Ok(mut before) = BEFORE.lock()
        && let Some(modes) = before.take()
        && is_in_foreground(io::stdout())
    {
        let _ = tcsetattr(io::stdout(), OptionalActions::Now, &modes);
    }
}

/// Capabilities reported by the terminal.
#[derive(Clone, Copy, Default)]
pub(crate) struct Answers {
    /// Supports synchronized output (mode 2026).
    pub(crate) synchronises: bool,
    /// The cursor's row, counted from 0.
    pub(crate) row: Option<usize>,
}

/// Queries the terminal. Without a reply all capabilities are absent.
pub(crate) fn ask() -> Answers {
    let answer = can_repaint().then(answer).and_then(Result::ok);
    answer.map_or_else(Answers::default, |answer| Answers::of(&answer))
}

impl Answers {
    fn of(answer: &str) -> Self {
        let state = answer
            .split_once("?2026;")
            .and_then(|(_, state)| state.split_once("$y"));
        let row = answer
            .split('\u{1b}')
            .filter_map(|answer| answer.strip_prefix('[')?.split_once('R'))
            .filter_map(|(place, _)| place.split_once(';')?.0.parse::<usize>().ok())
            .next_back();
        Self {
            synchronises: matches!(state, Some(("1" | "2" | "3", _))),
            row: row.map(|row| row.saturating_sub(1)),
        }
    }
}

/// Queries mode 2026 and the cursor position, then a report that every terminal
/// sends, to detect the end of the reply.
fn answer() -> io::Result<String> {
    let mut terminal = terminal_trx::terminal()?;
    let mut lock = terminal.lock();
    let mut raw = lock.enable_raw_mode()?;
    raw.write_all(b"\x1b[?2026$p\x1b[6n\x1b[c")?;
    raw.flush()?;
    let deadline = Instant::now() + PATIENCE;
    let mut answer = Vec::new();
    while !answer.ends_with(b"c") {
        let rest = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(rest).unwrap_or_default();
        let mut descriptors = [PollFd::new(&raw, PollFlags::IN)];
        if poll(&mut descriptors, Some(&timeout))? == 0 {
            break;
        }
        let mut bytes = [0; 64];
        let length = raw.read(&mut bytes)?;
        if length == 0 {
            break;
        }
        answer.extend(bytes.iter().take(length));
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Returns true for a light background. Queries the terminal only if the output
/// is one; defaults to dark.
pub(crate) fn is_light() -> bool {
    if !is_terminal() || !is_in_foreground(io::stdout()) {
        return false;
    }
    let mut options = QueryOptions::default();
    options.timeout = PATIENCE;
    matches!(theme_mode(options), Ok(ThemeMode::Light))
}

/// Returns true if the terminal is known to support OSC 8 links.
pub(crate) fn shows_links() -> bool {
    let known = [
        "WT_SESSION",
        "KITTY_WINDOW_ID",
        "WEZTERM_PANE",
        "GHOSTTY_RESOURCES_DIR",
        "KONSOLE_VERSION",
    ];
    let program = env::var("TERM_PROGRAM").unwrap_or_default();
    let vte = env::var("VTE_VERSION")
        .ok()
        .and_then(|version| version.parse::<u32>().ok());
    is_terminal()
        && env::var_os("TMUX").is_none()
        && (known.iter().any(|name| env::var_os(name).is_some())
            || matches!(
                program.as_str(),
                "iTerm.app" | "WezTerm" | "ghostty" | "vscode"
            )
            || vte.is_some_and(|version| version >= 5000))
}

#[cfg(test)]
mod tests {
    use super::{Answers, automatic};

    fn with(variables: &[(&str, &str)], is_terminal: bool) -> bool {
        automatic(
            |name| {
                variables
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| (*value).to_owned())
            },
            is_terminal,
        )
    }

    #[test]
    fn colours_follow_the_conventions() {
        assert!(with(&[], true));
        assert!(!with(&[], false));
        assert!(!with(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], true));
        assert!(with(&[("NO_COLOR", "")], true));
        assert!(with(&[("FORCE_COLOR", "1")], false));
        assert!(with(&[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")], false));
        assert!(!with(&[("FORCE_COLOR", "0")], false));
        assert!(!with(&[("CLICOLOR", "0")], true));
        assert!(!with(&[("TERM", "dumb")], true));
    }

    #[test]
    fn answers_are_read() {
        let answers = Answers::of("\u{1b}[?2026;2$y\u{1b}[12;5R\u{1b}[?6c");
        assert_eq!((answers.synchronises, answers.row), (true, Some(11)));
        let answers = Answers::of("\u{1b}[?2026;0$yx\u{1b}[?6c");
        assert_eq!((answers.synchronises, answers.row), (false, None));
    }
}
