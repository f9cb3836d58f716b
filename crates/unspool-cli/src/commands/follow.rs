//! `unspool follow`: shows a session and follows it as it grows.

use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{anyhow, bail};
use signal_hook::consts::SIGINT;
use unspool::Reader;
use unspool::stats::Stats;
use unspool_sessions::open;
use unspool_sessions::resolve;
use unspool_sessions::search;

use crate::cli::Follow;
use crate::library;
use crate::settings::Settings;
use crate::status::{Status, complain};
use crate::view::View;
use crate::watch::{self, End, Recording, Seen, Update, Watch};
use crate::{agents, tail, terminal};

pub(crate) fn run(arguments: &Follow) -> anyhow::Result<Status> {
    let find = finder(arguments)?;
    let is_named =
        matches!((&find, &arguments.path), (Find::File(file, _), Some(path)) if file == path);
    let settings = Settings::filtered(&arguments.look, &arguments.filter)?;
    let (sender, updates) = watch::channel();
    watch::signals(sender.clone())?;
    if let Find::File(path, _) = &find
        && !is_named
    {
        // The receiver still exists.
        let _ = sender.send(Update::Aside(tail::chosen(path)));
    }
    thread::spawn({
        let find = find.clone();
        move || {
            tail::follow(
                || find.path(),
                find.part().to_owned(),
                &find.waiting(),
                &sender,
            );
        }
    });
    let mut stats = Stats::default();
    let end = Watch {
        updates: &updates,
        reader: &|| {
            let options = arguments.source.reader_options(false);
            // An error in opening it is reported when it is read.
            let from = arguments.source.from();
            let opened = find
                .path()
                .and_then(|path| open::open_part(&path, find.part(), from, agents::known()).ok());
            match opened {
                Some(Some(input)) => input.reader(options),
                _ => Reader::with_options(options),
            }
        },
        view: &mut View::live(&settings, &arguments.filter),
        stats: &mut stats,
        seen: Some(Seen::default()),
        out: terminal::output()?,
    }
    .run(&mut Recording)?;
    Ok(match end {
        // A signal is the normal way to quit.
        End::Signal(SIGINT) | End::Input(_) => Status::Success,
        End::Signal(signal) => Status::of_signal(signal),
    })
}

/// A way to find the session.
#[derive(Clone)]
enum Find {
    /// A file, and the session in it if it holds several.
    File(PathBuf, String),
    In(PathBuf),
}

impl Find {
    fn file(path: PathBuf) -> Self {
        Self::File(path, String::new())
    }

    /// Returns the message to show while waiting.
    fn waiting(&self) -> String {
        let (Self::File(path, _) | Self::In(path)) = self;
        format!("Waiting for a session to appear in {}\n", path.display())
    }

    fn part(&self) -> &str {
        match self {
            Self::File(_, part) => part,
            Self::In(_) => "",
        }
    }

    fn path(&self) -> Option<PathBuf> {
        match self {
            Self::File(path, _) => Some(path.clone()),
            Self::In(folder) => search::latest_in(folder, agents::known()),
        }
    }
}

fn finder(arguments: &Follow) -> anyhow::Result<Find> {
    let folders = &arguments.places.folders;
    match (&arguments.path, &arguments.latest) {
        (Some(path), None) if path == Path::new("-") => {
            bail!("`follow` does not read standard input: use … | unspool")
        }
        (Some(_), Some(_)) => bail!("give a file or a folder, or use --latest, not both"),
        (Some(path), None) if path.is_dir() => {
            // The session is chosen once, whatever is written later.
            Ok(search::latest_in(path, agents::known())
                .map_or_else(|| Find::In(path.clone()), Find::file))
        }
        (Some(path), None) => match resolve::id(path).map(|id| library::session(id, folders)) {
            // A known ID takes precedence; otherwise the file may be created later.
            Some(Ok(row)) => Ok(Find::File(row.path, row.part)),
            Some(Err(_)) => {
                let words = "no session has this ID: waiting for a file with this name";
                complain(&anyhow!("{}: {words}", path.display()));
                Ok(Find::file(path.clone()))
            }
            None => Ok(Find::file(path.clone())),
        },
        (None, agent) => {
            let agent = agent.as_deref().filter(|agent| !agent.is_empty());
            let row = library::latest(agent, folders)?;
            Ok(Find::File(row.path, row.part))
        }
    }
}
