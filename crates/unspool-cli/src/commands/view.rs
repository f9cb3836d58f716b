//! `unspool view`: browses a run full-screen.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use clap::Parser;
use tempfile::NamedTempFile;
use unspool_sessions::open;
use unspool_sessions::resolve;
use unspool_sessions::row::Row;
use unspool_tui::browse::{Browse, End, Host};
use unspool_tui::screen::Screen;
use unspool_tui::transcript::Look as Shown;

use crate::cli::view::View;
use crate::cli::{self, Cli, Look};
use crate::library;
use crate::settings::Settings;
use crate::status::Status;
use crate::{browse_feed, input, terminal};

pub(crate) fn run(arguments: &View) -> anyhow::Result<Status> {
    terminal::demand("`unspool view`", "use `unspool show` to print a run")?;
    let subject = subject(arguments)?;
    let look = Look::of_views(arguments.color, arguments.theme.clone());
    let settings = Settings::new(&look)?;
    let mut screen = Screen::new().context("cannot open the terminal for keys")?;
    Ok(match show(&subject, arguments, &settings, &mut screen)? {
        End::Left | End::Nothing => Status::Success,
        End::Signal(signal) => Status::of_signal(signal),
    })
}

/// Browses a session picked from a list.
pub(crate) fn session(row: &Row, look: &Look, screen: &mut Screen) -> anyhow::Result<End> {
    let settings = Settings::new(look)?;
    let arguments = View::of_list();
    show(&of_row(row.clone()), &arguments, &settings, screen)
}

/// The run to browse.
enum Subject {
    Stdin,
    /// A file, followed as it grows.
    File(PathBuf),
    /// A session that is one of several in its file.
    Session(Box<Row>),
}

impl Subject {
    fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".to_owned(),
            Self::File(path) => path.display().to_string(),
            Self::Session(row) => row.digest.heading(),
        }
    }

    /// Returns the argument for `unspool export`.
    fn exported(&self) -> Option<String> {
        match self {
            Self::Stdin => None,
            Self::File(path) => path.to_str().map(str::to_owned),
            Self::Session(row) => Some(row.digest.id.clone()),
        }
    }
}

fn subject(arguments: &View) -> anyhow::Result<Subject> {
    let folders = &arguments.places.folders;
    match (&arguments.file, &arguments.latest) {
        (Some(_), Some(_)) => bail!("give a session or use --latest, not both"),
        (None, Some(agent)) => {
            let agent = Some(agent.as_str()).filter(|agent| !agent.is_empty());
            Ok(of_row(library::latest(agent, folders)?))
        }
        (None, None) if io::stdin().is_terminal() => {
            bail!("give a session ID or file, or use --latest: see `unspool sessions`")
        }
        (None, None) => Ok(Subject::Stdin),
        (Some(path), None) if path == Path::new("-") => Ok(Subject::Stdin),
        (Some(path), None) => {
            if let Some(id) = resolve::id(path) {
                return Ok(of_row(library::session(id, folders)?));
            }
            // Read errors are reported before the screen is taken.
            drop(input::open(path, arguments.source.from().as_ref())?);
            Ok(Subject::File(path.clone()))
        }
    }
}

fn of_row(row: Row) -> Subject {
    if open::is_whole(&row.path) {
        Subject::Session(Box::new(row))
    } else {
        Subject::File(row.path)
    }
}

fn show(
    subject: &Subject,
    arguments: &View,
    settings: &Settings,
    screen: &mut Screen,
) -> anyhow::Result<End> {
    screen.set_synchronized(terminal::ask().synchronises);
    let look = Shown {
        formatter: settings.formatter(),
        detail: settings.detail(),
    };
    let (mut browse, feed) = Browse::new(look, &subject.name(), screen);
    let options = arguments.source.reader_options(false);
    let from = arguments.source.from();
    let mut piped = None;
    match subject {
        Subject::Stdin => {
            // The copy is optional: it is only needed for export.
            let (copy, file) = browse_feed::Copy::new().ok().unzip();
            piped = file;
            let open = move || input::open(Path::new("-"), from.as_ref());
            browse_feed::inputs(open, options, copy, feed);
        }
        Subject::File(path) => browse_feed::file(path, options, feed),
        Subject::Session(row) => {
            let row = row.clone();
            browse_feed::inputs(move || Ok(row.open()?), options, None, feed);
        }
    }
    if let Some(text) = &arguments.search {
        browse.search(text);
    } else if arguments.end || arguments.latest.is_some() || matches!(subject, Subject::Stdin) {
        browse.follow();
    }
    let mut host = Programs {
        exported: subject.exported(),
        piped,
        pager: settings.pager.clone(),
    };
    match browse.run(screen, &mut host)? {
        End::Nothing if browse.last_status().is_empty() => {
            bail!("{}: nothing to read", subject.name())
        }
        End::Nothing => bail!("{}", browse.last_status()),
        end => Ok(end),
    }
}

/// External programs and the export, called from the view.
pub(super) struct Programs {
    pub(super) exported: Option<String>,
    /// The copy of the events from a pipe.
    pub(super) piped: Option<NamedTempFile>,
    pub(super) pager: Option<String>,
}

impl Host for Programs {
    fn edit(&mut self, text: &str) -> Result<String, String> {
        let named = ["VISUAL", "EDITOR"];
        let mut named = named.iter().filter_map(|name| std::env::var(name).ok());
        let editor = named.find(|command| !command.trim().is_empty());
        opened(editor.as_deref().unwrap_or("vi"), text).map_err(|error| format!("{error:#}"))
    }

    fn page(&mut self, text: &str) -> Result<String, String> {
        let pager = self.pager.as_deref().unwrap_or("less");
        opened(pager, text).map_err(|error| format!("{error:#}"))
    }

    fn export(&mut self, recording: Option<&Path>) -> Result<String, String> {
        let piped = self.piped.as_ref().and_then(|file| file.path().to_str());
        let recording = recording.and_then(Path::to_str);
        let named = self.exported.as_deref().or(recording);
        let written = match (named, piped) {
            (Some(named), _) => exported(named, &stem(named)),
            (None, Some(piped)) => exported(piped, "run"),
            (None, None) => return Err("there is nothing to export yet".to_owned()),
        };
        written.map_err(|error| format!("{error:#}"))
    }
}

/// Opens a text in a program that takes over the terminal.
fn opened(command: &str, text: &str) -> anyhow::Result<String> {
    let mut file = tempfile::Builder::new()
        .prefix("unspool-")
        .suffix(".md")
        .tempfile()
        .context("cannot write a temporary file")?;
    writeln!(file, "{text}")?;
    let words = shlex::split(command).filter(|words| !words.is_empty());
    let words = words.with_context(|| format!("cannot parse the command {command:?}"))?;
    let mut program = Command::new(words.first().map_or("vi", String::as_str));
    program.args(words.iter().skip(1)).arg(file.path());
    if !io::stdin().is_terminal() {
        program.stdin(Stdio::from(File::open("/dev/tty")?));
    }
    let status = program
        .status()
        .with_context(|| format!("cannot start {command}"))?;
    if !status.success() {
        bail!("{command} exited with {status}");
    }
    Ok(String::new())
}

/// Returns the file stem for the page of a run.
fn stem(named: &str) -> String {
    let stem = Path::new(named).file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Exports the page of a run under a file name that is not taken.
fn exported(named: &str, stem: &str) -> anyhow::Result<String> {
    let name = |number: usize| match number {
        0 => format!("{stem}.html"),
        number => format!("{stem}-{}.html", number + 1),
    };
    let free = (0..1000).map(name).find(|name| fs::metadata(name).is_err());
    let free = free.context("too many pages of this run already exist")?;
    let words = ["unspool", "export", named, "-o", &free];
    let Some(cli::Command::Export(arguments)) = Cli::try_parse_from(words)?.command else {
        bail!("cannot export {named}");
    };
    super::export::run(&arguments)?;
    Ok(format!("wrote {free}"))
}
