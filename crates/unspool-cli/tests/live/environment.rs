//! The environment of every program that a test starts: nothing of the person who runs
//! the tests gets in.

/// Variables that change what is shown, or where sessions are looked for. They are
/// removed.
pub(crate) const REMOVED: [&str; 24] = [
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "CLICOLOR",
    "COLORTERM",
    "GITHUB_ACTIONS",
    "TMUX",
    "WT_SESSION",
    "KITTY_WINDOW_ID",
    "WEZTERM_PANE",
    "GHOSTTY_RESOURCES_DIR",
    "KONSOLE_VERSION",
    "VTE_VERSION",
    "TERM_PROGRAM",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "UNSPOOL_CACHE_DIR",
    "UNSPOOL_DATA_DIR",
    "UNSPOOL_TERMINAL",
];

/// Variables that are set: no settings, no pager that waits for a reader, and a home
/// below `target`, empty or not there.
pub(crate) const SET: [(&str, &str); 3] = [
    ("UNSPOOL_CONFIG", "/dev/null"),
    ("UNSPOOL_PAGER", ""),
    ("HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/home")),
];
