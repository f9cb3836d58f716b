//! `unspool [FILE…]`: shows a run, as text, with its calls, or in full.

use std::io::{self, BufWriter, Write};

use unspool::ReaderOptions;
use unspool::stats::Stats;

use crate::cli::{Filter, Look, Show};
use crate::input::{self, Batch, CHUNK, Input};
use crate::settings::Settings;
use crate::view::View;
use crate::{Status, summary};

pub(crate) fn run(arguments: &Show) -> anyhow::Result<Status> {
    let mut out = BufWriter::with_capacity(CHUNK, io::stdout().lock());
    if arguments.look.raw {
        return input::each(&arguments.files, input::untouched, |input| {
            let copied = input.pieces(|bytes| {
                out.write_all(bytes)?;
                Ok(out.flush()?)
            })?;
            Ok(copied.map(|()| Status::Success))
        });
    }
    let settings = Settings::new(&arguments.look);
    let open = |path: &_| input::open(path, arguments.source.from());
    input::each(&arguments.files, open, |input| {
        let options = arguments.source.reader_options(false);
        show(input, &settings, &arguments.filter, options, &mut out)
    })
}

/// Shows an input that is no file, to its end.
pub(crate) fn recording(look: &Look, mut input: Input) -> anyhow::Result<Status> {
    let mut out = BufWriter::with_capacity(CHUNK, io::stdout().lock());
    let settings = Settings::new(look);
    let options = ReaderOptions::default();
    Ok(show(
        &mut input,
        &settings,
        &Filter::default(),
        options,
        &mut out,
    )??)
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
    let read = input.events(options, |batch| {
        match batch {
            Batch::Event(event) => {
                stats.event(&event);
                view.event(event, out)?;
            }
            Batch::End => out.flush()?,
        }
        Ok(())
    })?;
    view.finish(out)?;
    if settings.summary {
        summary::write(&stats, settings, out)?;
    }
    out.flush()?;
    Ok(read.map(|()| Status::of(stats.status)))
}
