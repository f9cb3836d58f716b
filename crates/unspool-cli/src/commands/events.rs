//! `unspool events`: the public JSONL.

use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use unspool_sessions::input::{Batch, CHUNK, is_left_out};

use crate::cli::Events;
use crate::input;
use crate::library;
use crate::meter;
use crate::status::Status;

pub(crate) fn run(arguments: &Events) -> anyhow::Result<Status> {
    let is_terminal = io::stdout().is_terminal();
    let mut out = BufWriter::with_capacity(CHUNK, io::stdout().lock());
    let open = |path: &Path| {
        library::open(
            path,
            arguments.source.from().as_ref(),
            &arguments.places.folders,
        )
    };
    input::each(&arguments.files, open, |input| {
        meter::show(input, false);
        let options = arguments.source.reader_options(arguments.with_raw);
        let options = options.with_media(arguments.with_media);
        let mut is_whole = true;
        let read = input.events(options, |batch| {
            if let Batch::Event(event) = &batch {
                is_whole &= !is_left_out(event);
            }
            match batch {
                Batch::Event(event) if is_terminal => {
                    let json = serde_json::to_string(&event).map_err(io::Error::from)?;
                    writeln!(out, "{}", visible(&json))?;
                }
                Batch::Event(event) => {
                    serde_json::to_writer(&mut out, &event).map_err(io::Error::from)?;
                    out.write_all(b"\n")?;
                }
                Batch::End => out.flush()?,
            }
            anyhow::Ok(())
        })?;
        Ok(read.map(|()| Status::of_reading(is_whole)))
    })
}

/// Escapes invisible characters in JSON. Non-ASCII characters occur only in strings,
/// where `\u` escapes are valid.
fn visible(json: &str) -> String {
    let mut visible = String::with_capacity(json.len());
    for character in json.chars() {
        if is_seen(character) {
            visible.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(visible, "\\u{unit:04x}");
        }
    }
    visible
}

fn is_seen(character: char) -> bool {
    if character.is_ascii() {
        return character != '\u{7f}';
    }
    let mut bytes = [0; 4];
    let text: &str = character.encode_utf8(&mut bytes);
    unspool::sanitize::line(text) == text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_invisible_characters() {
        let text = "ä 日\u{9b}31m\u{202e}\u{7f}\u{e0041}\u{1b}";
        let json = serde_json::to_string(text).unwrap();
        let shown = visible(&json);
        assert_eq!(shown, r#""ä 日\u009b31m\u202e\u007f\udb40\udc41\u001b""#);
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }
}
