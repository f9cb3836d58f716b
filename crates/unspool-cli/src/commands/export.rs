//! `unspool export`: a run as a page, a comment, a picture, text or events.

use std::io::{self, BufWriter, IntoInnerError, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use unspool_sessions::input::{CHUNK, Input};

use crate::cli::{Export, Format};
use crate::export::{self, Destination, Place};
use crate::filter;
use crate::input;
use crate::library;
use crate::meter;
use crate::status::{Status, complain};

/// Minimum size of a comment in bytes.
const SMALLEST: usize = 4000;

pub(crate) fn run(arguments: &Export) -> anyhow::Result<Status> {
    let format = export::format(arguments)?;
    let place = Place::new(arguments, format);
    if arguments.files.len() > 1 && !place.takes_several(format) {
        bail!(
            "there is more than one run: choose a folder with -o, so that each gets its own file"
        );
    }
    match arguments.max_size {
        Some(_) if format != Format::Markdown => {
            bail!("--max-size applies only to comments: add --to markdown");
        }
        Some(size) if size < SMALLEST => {
            bail!("--max-size: a comment needs at least {SMALLEST} bytes");
        }
        _ => {}
    }
    if arguments.max_lines.is_some() && format != Format::Svg {
        bail!("--max-lines applies only to pictures: add --to svg");
    }
    let given = filter::given(&arguments.filter);
    if format == Format::Jsonl && !given.is_empty() {
        bail!(
            "{given}: filters apply to entries, not to events; remove the filters or choose another format than jsonl"
        );
    }
    let mut written = 0;
    inputs(arguments, |input| {
        if written > 0 && !place.takes_several(format) {
            bail!(
                "there is more than one run: choose a folder with -o, so that each gets its own file"
            );
        }
        written += 1;
        if matches!(input.is_empty(), Ok(true)) {
            let name = &input.name;
            complain(&anyhow!("{name} is empty: there is nothing to export"));
            return Ok(Ok(Status::Unreadable));
        }
        let path = place.file(&input.name, written, format);
        meter::show(input, path.is_some());
        match path {
            None => {
                let out = BufWriter::with_capacity(CHUNK, io::stdout().lock());
                export::write(input, arguments, format, out)
            }
            Some(path) => {
                place.make()?;
                let file = Destination::new(&path, arguments.force, &input.name)?;
                let mut out = BufWriter::with_capacity(CHUNK, file);
                let read = export::write(input, arguments, format, &mut out)
                    .with_context(|| format!("cannot write {}", path.display()))?;
                let file = out.into_inner().map_err(IntoInnerError::into_error)?;
                file.finish()?;
                if place.names_files() {
                    print_path(&path);
                }
                Ok(read)
            }
        }
    })
}

/// Calls `take` with every selected input.
fn inputs(
    selection: &Export,
    take: impl FnMut(&mut Input) -> anyhow::Result<io::Result<Status>>,
) -> anyhow::Result<Status> {
    let open =
        |path: &Path| library::open(path, selection.source.from().as_ref(), &selection.folders);
    input::each(&selection.files, open, take)
}

/// Prints the path of a written file.
fn print_path(path: &Path) {
    let mut out = io::stdout();
    let path = path.display().to_string();
    // File names may contain escape sequences.
    let path = if out.is_terminal() {
        unspool::sanitize::line(&path)
    } else {
        path.into()
    };
    if let Err(error) = writeln!(out, "{path}") {
        complain(&error.into());
    }
}
