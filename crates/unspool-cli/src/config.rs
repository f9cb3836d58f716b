//! The configuration file, and the effective settings with their origin: command
//! line, environment, file or default.
//!
//! The file is `unspool/config.toml` in the user's configuration folder, or the
//! path in `UNSPOOL_CONFIG`. Unknown keys are errors, because a setting without
//! effect would go unnoticed.

mod chat;

pub(crate) use chat::Chat;

use std::fmt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use anyhow::Context;
use clap::ValueEnum;
use etcetera::BaseStrategy;
use serde::{Deserialize, Deserializer, de};

use crate::cli::{Display, FailedShown, Lines, Links, Look, ReasoningShown, When, parse_lines};
use crate::terminal;
use crate::themes::Colour;

/// Environment variable with the path of the configuration file.
pub(crate) const VARIABLE: &str = "UNSPOOL_CONFIG";

/// An example file with every key commented out.
pub(crate) const EXAMPLE: &str = include_str!("config/example.toml");

/// Contents of the configuration file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    #[serde(deserialize_with = "word")]
    display: Option<Display>,
    width: Option<usize>,
    #[serde(deserialize_with = "word")]
    color: Option<When>,
    theme: Option<String>,
    fg: Option<Colour>,
    bg: Option<Colour>,
    #[serde(deserialize_with = "lines")]
    lines: Option<Lines>,
    #[serde(deserialize_with = "word")]
    failed: Option<FailedShown>,
    #[serde(deserialize_with = "word")]
    reasoning: Option<ReasoningShown>,
    usage: Option<bool>,
    timestamps: Option<bool>,
    #[serde(deserialize_with = "word")]
    links: Option<Links>,
    summary: Option<bool>,
    marks: Option<bool>,
    pager: Option<Pager>,
    pub(crate) sessions: Sessions,
    pub(crate) chat: Chat,
}

/// Settings about saved sessions.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Sessions {
    /// Additional folders to search.
    pub(crate) folders: Vec<PathBuf>,
}

/// The `pager` setting.
#[derive(Clone, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub(crate) enum Pager {
    /// The default pager, or none.
    Wanted(bool),
    /// This command.
    Command(String),
}

/// Parses a value of the command line's enum.
fn word<'de, T: ValueEnum, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(deserializer)?;
    T::from_str(&text, false).map(Some).map_err(|_| {
        let words: Vec<String> = T::value_variants()
            .iter()
            .filter_map(|variant| Some(format!("`{}`", variant.to_possible_value()?.get_name())))
            .collect();
        de::Error::custom(format!("`{text}` is not one of {}", words.join(", ")))
    })
}

fn lines<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Lines>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a number or \"all\"")]
    enum Either {
        Number(usize),
        Word(String),
    }
    match Either::deserialize(deserializer)? {
        Either::Number(number) => Ok(Some(Lines(Some(number)))),
        Either::Word(word) => parse_lines(&word).map(Some).map_err(de::Error::custom),
    }
}

impl Config {
    /// Reads the file. Missing keys, or a missing file, give defaults.
    pub(crate) fn load() -> anyhow::Result<Self> {
        let path = path()?;
        match fs::read_to_string(&path) {
            Ok(text) => {
                let mut config = Self::parse(&text, &path)?;
                for folder in &mut config.sessions.folders {
                    *folder = resolved(folder, &path);
                }
                Ok(config)
            }
            // A file named explicitly must exist.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && env::var_os(VARIABLE).is_none() =>
            {
                Ok(Self::default())
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    fn parse(text: &str, path: &Path) -> anyhow::Result<Self> {
        toml::from_str(text).with_context(|| format!("in {}", path.display()))
    }
}

/// Expands `~` and resolves a path relative to the folder of the file.
fn resolved(folder: &Path, file: &Path) -> PathBuf {
    match (folder.strip_prefix("~"), env::home_dir(), file.parent()) {
        (Ok(below), Some(home), _) => home.join(below),
        (_, _, Some(beside)) => beside.join(folder),
        _ => folder.to_owned(),
    }
}

/// Returns the path of the file, even if it does not exist.
pub(crate) fn path() -> anyhow::Result<PathBuf> {
    match env::var_os(VARIABLE).filter(|name| !name.is_empty()) {
        Some(name) => Ok(PathBuf::from(name)),
        None => Ok(folder()?.join("config.toml")),
    }
}

/// Returns unspool's configuration folder.
pub(crate) fn folder() -> anyhow::Result<PathBuf> {
    let places = etcetera::choose_base_strategy()?;
    Ok(places.config_dir().join("unspool"))
}

/// Returns the folder of theme files.
pub(crate) fn themes_folder() -> anyhow::Result<PathBuf> {
    Ok(folder()?.join("themes"))
}

/// Environment variable with the data folder.
pub(crate) const DATA_VARIABLE: &str = "UNSPOOL_DATA_DIR";

/// Returns the data folder, for recordings and prompt history.
pub(crate) fn data_folder() -> anyhow::Result<PathBuf> {
    if let Some(name) = env::var_os(DATA_VARIABLE).filter(|name| !name.is_empty()) {
        return Ok(PathBuf::from(name));
    }
    let places = etcetera::choose_base_strategy()?;
    Ok(places.data_dir().join("unspool"))
}

/// Returns the cache folder: `UNSPOOL_CACHE_DIR`, or `unspool` in the user's cache
/// folder.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    if let Some(folder) = env::var_os("UNSPOOL_CACHE_DIR").filter(|folder| !folder.is_empty()) {
        return Some(PathBuf::from(folder));
    }
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.cache_dir().join("unspool"))
}

/// Returns the folder for recordings.
pub(crate) fn records() -> anyhow::Result<PathBuf> {
    Ok(data_folder()?.join("sessions"))
}

/// Returns true if a file is a recording of `unspool chat`.
pub(crate) fn is_record(path: &Path) -> bool {
    records().is_ok_and(|records| path.starts_with(records))
}

/// A setting and its origin.
#[derive(Clone)]
pub(crate) struct Chosen<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

/// The origin of a setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    CommandLine,
    Variable(&'static str),
    File,
    Terminal,
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => f.write_str("command line"),
            Self::Variable(name) => write!(f, "variable {name}"),
            Self::File => f.write_str("configuration file"),
            Self::Terminal => f.write_str("terminal"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// Chooses the command line over the file over the default.
fn choose<T>(typed: Option<T>, file: Option<T>, usual: T) -> Chosen<T> {
    let (value, origin) = match (typed, file) {
        (Some(value), _) => (value, Origin::CommandLine),
        (None, Some(value)) => (value, Origin::File),
        (None, None) => (usual, Origin::Default),
    };
    Chosen { value, origin }
}

/// The setting for the closing summary.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Summary {
    /// On a terminal.
    Auto,
    On,
    Off,
}

impl Summary {
    fn asked(is_on: bool) -> Self {
        if is_on { Self::On } else { Self::Off }
    }
}

/// All settings that command line and file share.
pub(crate) struct Choices {
    pub(crate) display: Chosen<Display>,
    /// `None` uses the terminal's width, and does not wrap elsewhere.
    pub(crate) width: Chosen<Option<usize>>,
    pub(crate) color: Chosen<When>,
    /// `None` follows the terminal's background.
    pub(crate) theme: Chosen<Option<String>>,
    pub(crate) fg: Chosen<Option<unspool::theme::Rgb>>,
    pub(crate) bg: Chosen<Option<unspool::theme::Rgb>>,
    pub(crate) lines: Chosen<Lines>,
    pub(crate) failed: Chosen<FailedShown>,
    pub(crate) reasoning: Chosen<ReasoningShown>,
    pub(crate) usage: Chosen<bool>,
    pub(crate) timestamps: Chosen<bool>,
    pub(crate) links: Chosen<Links>,
    pub(crate) summary: Chosen<Summary>,
    pub(crate) marks: Chosen<bool>,
    /// The pager's command; `None` disables it.
    pub(crate) pager: Chosen<Option<String>>,
}

impl Choices {
    pub(crate) fn new(look: &Look, config: Config) -> Self {
        let maybe = |colour: Option<Colour>| colour.map(|colour| Some(colour.0));
        Self {
            display: choose(look.display, config.display, Display::Full),
            width: choose(look.width.map(Some), config.width.map(Some), None),
            color: choose(look.color, config.color, When::Auto),
            theme: choose(look.theme.clone().map(Some), config.theme.map(Some), None),
            fg: choose(look.fg.map(Some), maybe(config.fg), None),
            bg: choose(look.bg.map(Some), maybe(config.bg), None),
            lines: choose(look.lines, config.lines, Lines(Some(5))),
            failed: choose(look.failed, config.failed, FailedShown::Tail),
            reasoning: choose(look.reasoning, config.reasoning, ReasoningShown::Title),
            usage: choose(look.usage(), config.usage, true),
            timestamps: choose(look.timestamps(), config.timestamps, false),
            links: choose(look.links, config.links, Links::Auto),
            summary: choose(
                look.summary().map(Summary::asked),
                config.summary.map(Summary::asked),
                Summary::Auto,
            ),
            marks: choose(look.marks(), config.marks, false),
            pager: pager(look.pager(), config.pager, |name| env::var(name).ok()),
        }
    }
}

/// Chooses the pager: `--no-pager`, then the usual environment variables, then
/// the file.
fn pager(
    typed: Option<bool>,
    file: Option<Pager>,
    variable: impl Fn(&str) -> Option<String>,
) -> Chosen<Option<String>> {
    let none = |origin| Chosen {
        value: None,
        origin,
    };
    match (typed, &file) {
        (Some(false), _) => return none(Origin::CommandLine),
        (None, Some(Pager::Wanted(false))) => return none(Origin::File),
        _ => {}
    }
    let named = |name: &'static str| {
        let command = variable(name)?;
        // An empty value or `cat` disables the pager.
        let wanted = !command.trim().is_empty() && command.trim() != "cat";
        Some(Chosen {
            value: wanted.then_some(command),
            origin: Origin::Variable(name),
        })
    };
    if let Some(own) = named("UNSPOOL_PAGER") {
        return own;
    }
    if let Some(Pager::Command(command)) = file {
        return Chosen {
            value: Some(command),
            origin: Origin::File,
        };
    }
    named("PAGER").unwrap_or(Chosen {
        value: Some("less".to_owned()),
        origin: Origin::Default,
    })
}

/// Returns the colour setting and its origin.
pub(crate) fn color(choices: &Choices) -> Chosen<When> {
    let Chosen { value, origin } = choices.color;
    match terminal::colour_variable() {
        Some((name, wanted)) if value == When::Auto => Chosen {
            value: if wanted { When::Always } else { When::Never },
            origin: Origin::Variable(name),
        },
        _ => Chosen { value, origin },
    }
}

/// Returns the layout width and its origin. 0, which does not wrap, is the default in
/// a pipe or a file.
pub(crate) fn width(choices: &Choices) -> Chosen<usize> {
    if let Some(width) = choices.width.value {
        return Chosen {
            value: width,
            origin: choices.width.origin,
        };
    }
    let Some(value) = terminal::width() else {
        return Chosen {
            value: 0,
            origin: Origin::Default,
        };
    };
    let origin = match terminal::columns_variable() {
        Some(_) => Origin::Variable("COLUMNS"),
        None => Origin::Terminal,
    };
    Chosen { value, origin }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> anyhow::Result<Config> {
        Config::parse(text, Path::new("config.toml"))
    }

    #[test]
    fn the_example_is_right_also_without_its_comment_signs() {
        parsed(EXAMPLE).unwrap();
        let active: String = EXAMPLE
            .lines()
            .filter(|line| !line.starts_with("##"))
            .map(|line| line.strip_prefix("# ").unwrap_or(line).to_owned() + "\n")
            .collect();
        let config = parsed(&active).unwrap();
        assert!(config.lines == Some(Lines(Some(5))));
        assert!(config.pager.is_some() && config.width.is_some());
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, said) in [
            ("lines = 5\ndisplya = 'full'", "unknown field `displya`"),
            (
                "display = 'ful'",
                "`ful` is not one of `text`, `verbose`, `full`",
            ),
            ("lines = 'many'", "expected a number or `all`"),
            ("lines = true", "expected a number or \"all\""),
            ("fg = 'red'", "six hexadecimal digits"),
        ] {
            let error = format!("{:#}", parsed(text).err().unwrap());
            assert!(error.contains(said), "{error}");
            assert!(error.contains("config.toml"), "{error}");
            assert!(error.contains("line "), "{error}");
        }
    }

    #[test]
    fn the_stronger_wins() {
        let config = || parsed("lines = 'all'\ntimestamps = true").unwrap();
        let nothing = Choices::new(&Look::default(), config());
        assert!(nothing.lines.value == Lines(None));
        assert_eq!(nothing.lines.origin, Origin::File);
        assert_eq!(nothing.reasoning.origin, Origin::Default);
        let mut look = Look::default();
        look.lines = Some(Lines(Some(2)));
        let typed = Choices::new(&look, config());
        assert!(typed.lines.value == Lines(Some(2)));
        assert_eq!(typed.lines.origin, Origin::CommandLine);
        assert!(typed.timestamps.value);
    }

    #[test]
    fn the_pager_is_found() {
        let with = |typed, file: Option<Pager>, variables: &[(&str, &str)]| {
            let chosen = pager(typed, file, |name| {
                let found = variables.iter().find(|(key, _)| *key == name)?;
                Some(found.1.to_owned())
            });
            chosen.value.unwrap_or_default()
        };
        let most = || Some(Pager::Command("most".to_owned()));
        assert_eq!(with(None, None, &[]), "less");
        assert_eq!(with(None, None, &[("PAGER", "more")]), "more");
        assert_eq!(with(None, None, &[("PAGER", "cat")]), "");
        assert_eq!(with(None, most(), &[("PAGER", "more")]), "most");
        assert_eq!(with(None, most(), &[("UNSPOOL_PAGER", "bat")]), "bat");
        assert_eq!(with(Some(false), most(), &[]), "");
        assert_eq!(
            with(None, Some(Pager::Wanted(false)), &[("PAGER", "more")]),
            ""
        );
        assert_eq!(with(Some(true), Some(Pager::Wanted(false)), &[]), "less");
    }
}
