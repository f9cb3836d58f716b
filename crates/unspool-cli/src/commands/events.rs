//! `unspool events`: the public JSONL.

use std::io::{self, BufWriter, Read, Write};

use unspool::Reader;

use crate::cli::Events;
use crate::input::{self, Input};
use crate::{Status, complain};

/// Bytes read at once.
const CHUNK: usize = 1 << 17;

pub(crate) fn run(arguments: &Events) -> anyhow::Result<Status> {
    let mut out = BufWriter::with_capacity(CHUNK, io::stdout().lock());
    let mut status = Status::Success;
    for path in input::or_stdin(&arguments.files)? {
        let inputs = match input::open(&path, arguments.source.from()) {
            Ok(inputs) => inputs,
            Err(error) => {
                complain(&error);
                status = Status::Unreadable;
                continue;
            }
        };
        for input in inputs {
            let name = input.name.clone();
            match print(arguments, input, &mut out)? {
                Ok(()) => {}
                Err(error) => {
                    complain(&anyhow::Error::new(error).context(name));
                    status = Status::Unreadable;
                }
            }
        }
    }
    Ok(status)
}

/// Prints all events of one input. The outer error is about the output, the
/// inner one about the input.
fn print(
    arguments: &Events,
    mut input: Input,
    out: &mut impl Write,
) -> anyhow::Result<io::Result<()>> {
    let mut reader = Reader::with_options(arguments.source.reader_options(arguments.with_raw));
    for (name, bytes) in &input.attachments {
        reader.attach(name, bytes);
    }
    let mut chunk = vec![0; CHUNK];
    let read = loop {
        match input.bytes.read(&mut chunk) {
            Ok(0) => break Ok(()),
            Ok(length) => reader.push(chunk.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => break Err(error),
        }
        write(&mut reader, out)?;
    };
    reader.finish();
    write(&mut reader, out)?;
    Ok(read)
}

/// Writes the events that are ready, and nothing stays behind in a buffer.
fn write(reader: &mut Reader, out: &mut impl Write) -> anyhow::Result<()> {
    for event in reader.events() {
        serde_json::to_writer(&mut *out, &event).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}
