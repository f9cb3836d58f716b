//! Exports runs to files: chooses format and destination, and redacts and filters
//! events on the way. The library implements the formats, except for `picture`.

mod page;
mod picture;
mod spool;

use std::fs::{self, File, Permissions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use tempfile::NamedTempFile;
use unspool::Event;
use unspool::redact::{Joiner, Redactor, Report};
use unspool_sessions::input::{Batch, Input, is_left_out};

use spool::Spool;

use crate::cli::{Export, Format};
use crate::filter;
use crate::progress::Bar;
use crate::status::{Status, complain};

/// Returns the requested format, or the one of the output file's extension.
pub(crate) fn format(arguments: &Export) -> anyhow::Result<Format> {
    if let Some(format) = arguments.to {
        return Ok(format);
    }
    let Some(path) = arguments.output.as_deref().filter(|path| !is_folder(path)) else {
        return Ok(Format::Html);
    };
    if is_stdout(path) {
        return Ok(Format::Html);
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    Ok(match ending.to_ascii_lowercase().as_str() {
        "html" | "htm" => Format::Html,
        "md" | "markdown" => Format::Markdown,
        "svg" => Format::Svg,
        "txt" => Format::Text,
        "jsonl" => Format::Jsonl,
        _ => bail!(
            "the file extension of {} is not a known format: add --to html, markdown, svg, text or jsonl",
            path.display()
        ),
    })
}

fn extension(format: Format) -> &'static str {
    match format {
        Format::Html => "html",
        Format::Markdown => "md",
        Format::Svg => "svg",
        Format::Text => "txt",
        Format::Jsonl => "jsonl",
    }
}

/// Returns true for a format that a browser shows, not a terminal.
fn is_markup(format: Format) -> bool {
    matches!(format, Format::Html | Format::Svg)
}

/// Returns true if a path means standard output. It must not be reopened, since that
/// could truncate a redirected file.
fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// Returns true if a path names a folder, even one that does not exist yet.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with('/')
}

/// The destination of an export.
pub(crate) enum Place {
    Stdout,
    File(PathBuf),
    /// One file per run.
    Folder(PathBuf),
}

impl Place {
    pub(crate) fn new(arguments: &Export, format: Format) -> Self {
        match &arguments.output {
            Some(path) if is_stdout(path) => Self::Stdout,
            Some(path) if is_folder(path) => Self::Folder(path.clone()),
            Some(path) => Self::File(path.clone()),
            // Markup is no use on a screen.
            None if is_markup(format) && io::stdout().is_terminal() => Self::Folder(PathBuf::new()),
            None => Self::Stdout,
        }
    }

    /// Returns true if file names are generated.
    pub(crate) fn names_files(&self) -> bool {
        matches!(self, Self::Folder(_))
    }

    /// Creates the folder if it does not exist.
    pub(crate) fn make(&self) -> anyhow::Result<()> {
        match self {
            Self::Folder(folder) if !folder.as_os_str().is_empty() => fs::create_dir_all(folder)
                .with_context(|| format!("cannot create the folder {}", folder.display())),
            _ => Ok(()),
        }
    }

    /// Returns true if several runs can be written.
    pub(crate) fn takes_several(&self, format: Format) -> bool {
        match self {
            Self::Stdout => matches!(format, Format::Text | Format::Jsonl),
            Self::File(_) => false,
            Self::Folder(_) => true,
        }
    }

    /// Returns the file for an input, or `None` for standard output.
    pub(crate) fn file(&self, input: &str, number: usize, format: Format) -> Option<PathBuf> {
        match self {
            Self::Stdout => None,
            Self::File(path) => Some(path.clone()),
            Self::Folder(folder) => {
                let stem = Path::new(input).file_stem().unwrap_or_default();
                let stem = match stem.to_string_lossy().trim_start_matches('.') {
                    "" | "standard input" => "session".to_owned(),
                    stem => stem.to_owned(),
                };
                let first = folder.join(format!("{stem}.{}", extension(format)));
                // Sessions of one database share its name.
                Some(if number > 1 && first.exists() {
                    folder.join(format!("{stem}-{number}.{}", extension(format)))
                } else {
                    first
                })
            }
        }
    }
}

/// An output file that appears only once it is complete.
pub(crate) enum Destination {
    /// A temporary file in the same folder, renamed at the end.
    File {
        written: NamedTempFile,
        path: PathBuf,
        force: bool,
    },
    /// An existing pipe or device.
    Other(File),
}

impl Destination {
    /// Opens the destination. Fails if the file exists and `force` is not set, and
    /// always if it is the input.
    pub(crate) fn new(path: &Path, force: bool, input: &str) -> anyhow::Result<Self> {
        let real = |path: &Path| path.canonicalize().ok();
        if real(path).is_some_and(|path| real(Path::new(input)) == Some(path)) {
            bail!(
                "{} is the input file: choose another file with -o",
                path.display()
            );
        }
        let cannot_write = || format!("cannot write {}", path.display());
        match fs::metadata(path) {
            Ok(file) if !file.is_file() => {
                let file = File::options().write(true).open(path);
                return Ok(Self::Other(file.with_context(cannot_write)?));
            }
            Ok(_) if !force => bail!(exists(path)),
            _ => {}
        }
        // The target of a link is written, not the link.
        let path = real(path).unwrap_or_else(|| path.to_owned());
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            bail!(
                "the folder {} does not exist: create it first, or add a trailing slash \
                 (-o FOLDER/) to have it created",
                folder.display()
            );
        }
        let written = tempfile::Builder::new()
            .prefix(".unspool-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .with_context(cannot_write)?;
        Ok(Self::File {
            written,
            path,
            force,
        })
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let Self::File {
            written,
            path,
            force,
        } = self
        else {
            return Ok(());
        };
        let kept = if force {
            written.persist(&path)
        } else {
            written.persist_noclobber(&path)
        };
        match kept {
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                bail!(exists(&path))
            }
            kept => kept
                .map(|_| ())
                .with_context(|| format!("cannot write {}", path.display())),
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File { written, .. } => written.write(bytes),
            Self::Other(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File { written, .. } => written.flush(),
            Self::Other(file) => file.flush(),
        }
    }
}

fn exists(path: &Path) -> String {
    format!(
        "{} exists: use --force to overwrite it, or choose another file with -o",
        path.display()
    )
}

/// Writes one run. The outer error is about the output, the inner one about the
/// input.
pub(crate) fn write(
    input: &mut Input,
    arguments: &Export,
    format: Format,
    out: impl Write,
) -> anyhow::Result<io::Result<Status>> {
    match format {
        Format::Html | Format::Markdown => page::write(input, arguments, format, out),
        Format::Svg => picture::svg(input, arguments, out),
        Format::Text => picture::text(input, arguments, out),
        Format::Jsonl => jsonl(input, arguments, out),
    }
}

fn jsonl(
    input: &mut Input,
    arguments: &Export,
    mut out: impl Write,
) -> anyhow::Result<io::Result<Status>> {
    let read = events(input, arguments, Format::Jsonl, |event| {
        serde_json::to_writer(&mut out, &event).map_err(io::Error::from)?;
        Ok(out.write_all(b"\n")?)
    })?;
    out.flush()?;
    if arguments.with_media && arguments.redacts(Format::Jsonl) {
        report_pictures();
    }
    Ok(read)
}

/// Passes the events of an input to `take`, redacted if requested. Every export
/// format gets its events from here.
fn events(
    input: &mut Input,
    arguments: &Export,
    format: Format,
    mut take: impl FnMut(Event) -> anyhow::Result<()>,
) -> anyhow::Result<io::Result<Status>> {
    let options = arguments.source.reader_options(false);
    let has_media = matches!(format, Format::Html | Format::Jsonl);
    let options = options.with_media(arguments.with_media && has_media);
    let mut is_whole = true;
    let mut take = |event: Event| {
        is_whole &= !is_left_out(&event);
        take(event)
    };
    let read = if arguments.redacts(format) {
        let mut joined = Joiner::default();
        let home = std::env::home_dir().unwrap_or_default();
        let mut redactor = Redactor::new().with_home(&home.to_string_lossy());
        // A secret may be recognised only after it was shown.
        let mut spool = Spool::new();
        let mut bar = goes_to_file(arguments, format).then(|| Bar::of_bytes("Writing"));
        let mut give = |mut event: Event| -> anyhow::Result<()> {
            redactor.event(&mut event);
            Ok(spool.push(&event)?)
        };
        let read = input.events(options, |batch| match batch {
            Batch::Event(event) => joined.push(event).into_iter().try_for_each(&mut give),
            Batch::End => Ok(()),
        })?;
        joined.finish().into_iter().try_for_each(&mut give)?;
        spool.read(|mut event, done, total| {
            if let Some(bar) = &mut bar {
                bar.set(done, total);
            }
            redactor.second_pass(&mut event);
            take(event)
        })?;
        report_redactions(redactor.report());
        read
    } else {
        input.events(options, |batch| match batch {
            Batch::Event(event) => take(event),
            Batch::End => Ok(()),
        })?
    };
    Ok(read.map(|()| Status::of_reading(is_whole)))
}

/// Returns true if nothing of the export is printed on a terminal.
fn goes_to_file(arguments: &Export, format: Format) -> bool {
    match &arguments.output {
        Some(path) => path != Path::new("-"),
        None => matches!(format, Format::Html | Format::Svg) && io::stdout().is_terminal(),
    }
}

/// Reports that no entry passed the filters.
fn report_nothing_shown(arguments: &Export, name: &str) {
    if let Some(words) = filter::nothing_matches(&arguments.filter) {
        complain(&anyhow!("{name}: {words}"));
    }
}

/// Reports that redaction does not look into pictures and files.
fn report_pictures() {
    // An error here cannot be reported anywhere.
    let _ = writeln!(
        io::stderr(),
        "unspool: pictures and files are not redacted: look at them before you publish them"
    );
}

/// Reports what was redacted.
fn report_redactions(report: &Report) {
    if !report.is_empty() {
        // An error here cannot be reported anywhere.
        let _ = writeln!(
            io::stderr(),
            "unspool: replaced {report} (--no-redact keeps them)"
        );
    }
}
