//! The output and the exit status of a process.

use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// The exit status of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The exit code.
    pub code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        Self {
            code: status.code(),
            signal: status.signal(),
        }
    }
}

/// Reads the next bytes; returns `None` at the end.
pub(crate) fn read<'a>(input: &mut impl Read, chunk: &'a mut [u8]) -> Option<&'a [u8]> {
    let length = loop {
        match input.read(chunk) {
            Ok(0) => return None,
            Ok(length) => break length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    };
    chunk.get(..length)
}
