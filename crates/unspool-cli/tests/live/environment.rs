//! The variables that change how things are shown. Every test that starts the
//! program takes them out of its environment; included by each of them.

/// Their names.
pub(crate) const VARIABLES: [&str; 16] = [
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
];

/// What keeps the settings of whoever runs the tests out of them, and lets
/// nothing wait for a reader.
pub(crate) const OURS: [(&str, &str); 2] = [("UNSPOOL_CONFIG", "/dev/null"), ("UNSPOOL_PAGER", "")];
