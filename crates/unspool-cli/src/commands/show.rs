//! `unspool [FILE…]`: shows a run, as text, with its calls, or in full.

use std::io::{self, BufWriter, IntoInnerError, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use unspool::doc::{Role, Span, Style};
use unspool::formatter::Formatter;
use unspool::stats::Stats;
use unspool::{Reader, ReaderOptions};
use unspool_sessions::driver::Piece;
use unspool_sessions::input::{Batch, CHUNK, Input};
use unspool_sessions::row::Row;

use super::sessions;
use crate::agents;
use crate::cli::sessions::{Paint, Sessions};
use crate::cli::show::ShowNamed;
use crate::cli::{Display, Filter, Look, Show, Speed};
use crate::filter;
use crate::input;
use crate::library;
use crate::meter;
use crate::pager::Output;
use crate::playback;
use crate::settings::Settings;
use crate::status::{Status, complain};
use crate::view::View;
use crate::watch::{self, End, Pipe, Recording, Subject, Update, Watch};
use crate::{summary, terminal};

/// Name of standard input in messages.
const STDIN: &str = "standard input";
/// Minimum time a person needs to quit a pager. A pager that exits sooner did not
/// wait.
const AT_ONCE: Duration = Duration::from_millis(200);

/// Runs `unspool show`: shows the named sessions or the latest one.
pub(crate) fn named(arguments: &ShowNamed) -> anyhow::Result<Status> {
    let Some(agent) = &arguments.latest else {
        if arguments.show.files.is_empty() && io::stdin().is_terminal() {
            bail!("give a session ID or file, or use --latest: see `unspool sessions`");
        }
        return among(&arguments.show, &arguments.places.folders);
    };
    if !arguments.show.files.is_empty() {
        bail!("give a session or use --latest, not both");
    }
    let agent = Some(agent.as_str()).filter(|agent| !agent.is_empty());
    let row = library::latest(agent, &arguments.places.folders)?;
    let files = [row.path.clone()];
    let file = |path: &Path| Ok(path.to_owned());
    shown(&arguments.show, &files, |_| Ok(row.open()?), file)
}

/// Runs `unspool [FILE|ID…]`, or opens the list of sessions.
pub(crate) fn run(arguments: &Show) -> anyhow::Result<Status> {
    if opens_list(arguments) {
        let look = &arguments.look;
        return sessions::run(&Sessions::all(Paint {
            width: None,
            color: look.color,
            theme: look.theme.clone(),
            no_pager: look.pager() == Some(false),
        }));
    }
    among(arguments, &[])
}

/// Returns true if a person typed `unspool` on a terminal and named no run, neither
/// with a file or a pipe nor with an option that only a run can have.
fn opens_list(arguments: &Show) -> bool {
    arguments.files.is_empty()
        && io::stdin().is_terminal()
        && terminal::is_terminal()
        && !arguments.look.raw
        && !arguments.replay
        && arguments.source.from().is_none()
        && filter::given(&arguments.filter).is_empty()
}

/// Shows the named files and sessions. IDs are also searched in these folders.
fn among(arguments: &Show, folders: &[PathBuf]) -> anyhow::Result<Status> {
    let open = |path: &Path| library::open(path, arguments.source.from().as_ref(), folders);
    let file = |path: &Path| library::file(path, folders);
    shown(arguments, &arguments.files, open, file)
}

/// Shows a session from the list in the pager. Returns false if there was no pager, or
/// one that did not wait for the user.
pub(crate) fn session(row: &Row, settings: &Settings) -> anyhow::Result<bool> {
    let inputs = row.open()?;
    let output = Output::in_pager(settings.pager.as_deref());
    let is_paged = output.is_paged();
    let mut out = BufWriter::with_capacity(CHUNK, output);
    for mut input in inputs {
        let (filter, options) = (Filter::default(), agents::known().reader_options());
        show(&mut input, settings, &filter, options, &mut out)?.context(input.name)?;
    }
    let output = out.into_inner().map_err(IntoInnerError::into_error)?;
    let written = Instant::now();
    output.finish()?;
    Ok(is_paged && written.elapsed() > AT_ONCE)
}

fn shown(
    arguments: &Show,
    files: &[PathBuf],
    open: impl Fn(&Path) -> anyhow::Result<Vec<Input>>,
    file: impl Fn(&Path) -> anyhow::Result<PathBuf>,
) -> anyhow::Result<Status> {
    if arguments.look.raw {
        let mut out = BufWriter::with_capacity(CHUNK, io::stdout().lock());
        let open = |path: &Path| input::open_raw(&file(path)?);
        return input::each(files, open, |input| {
            let copied = input.pieces(|bytes| {
                out.write_all(bytes)?;
                anyhow::Ok(out.flush()?)
            })?;
            Ok(copied.map(|()| Status::Success))
        });
    }
    let settings = Settings::filtered(&arguments.look, &arguments.filter)?;
    if settings.live && is_stdin(files) {
        return watch_stdin(arguments, &settings);
    }
    let mut headings = Headings::new(files, &settings);
    if arguments.replay {
        let speed = arguments.speed.unwrap_or(Speed::Times(1.0));
        return input::each(files, open, |input| {
            headings.write(&input.name, &mut io::stdout())?;
            let options = arguments.source.reader_options(false);
            replay(input, &settings, &arguments.filter, options, speed)
        });
    }
    // Live input is shown as it arrives.
    let pager = settings.pager.as_deref();
    let output = Output::paged(pager.filter(|_| !is_stdin(files)));
    let mut out = BufWriter::with_capacity(CHUNK, output);
    let shown = input::each(files, open, |input| {
        headings.write(&input.name, &mut out)?;
        meter::show(input, false);
        let options = arguments.source.reader_options(false);
        show(input, &settings, &arguments.filter, options, &mut out)
    })?;
    let output = out.into_inner().map_err(IntoInnerError::into_error)?;
    output.finish()?;
    Ok(shown)
}

/// Headings for several files, in the style of `head` and `tail`.
struct Headings {
    formatter: Option<Formatter>,
    is_first: bool,
}

impl Headings {
    fn new(files: &[PathBuf], settings: &Settings) -> Self {
        let wanted = files.len() > 1 && settings.display == Display::Full && !settings.copy_clean();
        Self {
            formatter: wanted.then(|| settings.formatter()),
            is_first: true,
        }
    }

    fn write(&mut self, name: &str, out: &mut impl Write) -> io::Result<()> {
        let Some(formatter) = &self.formatter else {
            return Ok(());
        };
        let name = Span::clean(&format!("==> {name} <=="), Style::of(Role::Accent));
        if !std::mem::take(&mut self.is_first) {
            writeln!(out)?;
        }
        writeln!(out, "{}", formatter.text(&[vec![name]]))?;
        out.flush()
    }
}

/// Returns true if standard input is the only input.
fn is_stdin(files: &[PathBuf]) -> bool {
    match files {
        [] => !io::stdin().is_terminal(),
        [file] => file == Path::new("-"),
        _ => false,
    }
}

/// Shows standard input live on the terminal.
fn watch_stdin(arguments: &Show, settings: &Settings) -> anyhow::Result<Status> {
    let (sender, updates) = watch::channel();
    watch::signals(sender.clone())?;
    thread::spawn(move || {
        let _ = sender.send(Update::Ended(send_stdin(&sender)));
    });
    let options = || arguments.source.reader_options(false);
    let shown = watched(
        STDIN,
        &updates,
        settings,
        &arguments.filter,
        &options,
        &mut Pipe,
    )?;
    Ok(shown.unwrap_or_else(|error| {
        complain(&anyhow::Error::new(error).context(STDIN));
        Status::Unreadable
    }))
}

/// Plays a recording. The outer error is about the output, the inner one about
/// the input.
fn replay(
    input: &mut Input,
    settings: &Settings,
    filter: &Filter,
    options: ReaderOptions,
    speed: Speed,
) -> anyhow::Result<io::Result<Status>> {
    let (sender, updates) = watch::channel();
    watch::signals(sender.clone())?;
    let other = options.clone();
    let mut played = input.take();
    thread::spawn(move || {
        let ended = playback::play(&mut played, options, speed, &sender);
        let _ = sender.send(Update::Ended(ended));
    });
    let options = || other.clone();
    let name = input.name.as_str();
    watched(name, &updates, settings, filter, &options, &mut Recording)
}

/// Watches to the end and returns the outcome. The outer error is about the output,
/// the inner one about the input.
fn watched(
    name: &str,
    updates: &Receiver<Update>,
    settings: &Settings,
    filter: &Filter,
    options: &dyn Fn() -> ReaderOptions,
    subject: &mut dyn Subject,
) -> anyhow::Result<io::Result<Status>> {
    let mut stats = Stats::default();
    let mut out = terminal::output()?;
    let mut view = View::live(settings, filter);
    let end = Watch {
        updates,
        reader: &|| Reader::with_options(options()),
        view: &mut view,
        stats: &mut stats,
        seen: None,
        out: &mut out,
    }
    .run(subject)?;
    if settings.summary {
        summary::write(&stats, settings, &mut out)?;
        out.flush()?;
    }
    view.report_unshown(&stats, filter, name);
    Ok(match end {
        End::Input(read) => read.map(|()| Status::of(&stats)),
        End::Signal(signal) => Ok(Status::of_signal(signal)),
    })
}

/// Sends standard input to its end, or until the receiver is gone.
fn send_stdin(sender: &SyncSender<Update>) -> io::Result<()> {
    let inputs = input::open(Path::new("-"), None).map_err(io::Error::other)?;
    for mut input in inputs {
        let send = |bytes: &[u8]| sender.send(Update::Piece(Piece::Bytes(bytes.to_vec())));
        // The outer error means that the receiver is gone.
        input.pieces(send).unwrap_or(Ok(()))?;
    }
    Ok(())
}

/// Shows a built-in recording: replayed on a terminal, otherwise at once.
pub(crate) fn recording(
    look: &Look,
    speed: Option<Speed>,
    mut input: Input,
) -> anyhow::Result<Status> {
    let settings = Settings::new(look)?;
    let filter = Filter::default();
    let options = agents::known().reader_options();
    let played = settings.live.then_some(Speed::Times(0.4));
    if let Some(speed) = speed.or(played) {
        return Ok(replay(&mut input, &settings, &filter, options, speed)??);
    }
    let mut out = BufWriter::with_capacity(CHUNK, io::stdout().lock());
    Ok(show(&mut input, &settings, &filter, options, &mut out)??)
}

/// Shows one input to its end. The outer error is about the output, the inner
/// one about the input.
fn show(
    input: &mut Input,
    settings: &Settings,
    filter: &Filter,
    options: ReaderOptions,
    out: &mut impl Write,
) -> anyhow::Result<io::Result<Status>> {
    let mut view = View::new(settings, filter);
    let mut stats = Stats::default();
    let mut is_empty = true;
    let read = input.events(options, |batch| {
        match batch {
            Batch::Event(event) => {
                is_empty = false;
                stats.event(&event);
                view.event(event, out)?;
            }
            Batch::End => out.flush()?,
        }
        anyhow::Ok(())
    })?;
    view.finish(out)?;
    if let Some(words) = filter::nothing_matches(filter).filter(|_| view.is_empty()) {
        out.flush()?;
        complain(&anyhow::anyhow!("{}: {words}", input.name));
    }
    if settings.summary {
        summary::write(&stats, settings, out)?;
    }
    out.flush()?;
    if is_empty && input.name == STDIN {
        complain(&anyhow::anyhow!(
            "{STDIN} is empty: pipe in an agent's output, or give a file (see --help)"
        ));
    }
    view.report_unshown(&stats, filter, &input.name);
    Ok(read.map(|()| Status::of(&stats)))
}
