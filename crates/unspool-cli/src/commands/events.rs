//! `unspool events`: the public JSONL.

use std::io::{self, BufWriter, Write};

use crate::Status;
use crate::cli::Events;
use crate::input::{self, Batch, CHUNK};

pub(crate) fn run(arguments: &Events) -> anyhow::Result<Status> {
    let mut out = BufWriter::with_capacity(CHUNK, io::stdout().lock());
    let open = |path: &_| input::open(path, arguments.source.from());
    input::each(&arguments.files, open, |input| {
        input.meter.show(false);
        let options = arguments.source.reader_options(arguments.with_raw);
        let read = input.events(options, |batch| {
            match batch {
                Batch::Event(event) => {
                    serde_json::to_writer(&mut out, &event).map_err(io::Error::from)?;
                    out.write_all(b"\n")?;
                }
                Batch::End => out.flush()?,
            }
            Ok(())
        })?;
        Ok(read.map(|()| Status::Success))
    })
}
