//! What runs a script: its first line names a program, and without that the system
//! says of the script itself that there is no such file.
//!
//! Asked before a screen is taken for an agent, and when one could not be started.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a first line that the system looks at.
const LINE: usize = 256;

/// What is said of a script whose interpreter is not there.
pub fn missing(script: &Path) -> Option<String> {
    let mut start = Vec::new();
    let file = File::open(script).ok()?;
    file.take(LINE as u64).read_to_end(&mut start).ok()?;
    let named = named(&start)?;
    let path = Path::new(&named);
    // One that is named from the project's folder is left to the system.
    let is_missing = path.is_absolute() && !path.exists();
    let shown = named.escape_debug();
    is_missing.then(|| format!("its first line names {shown}, which is not there"))
}

/// The interpreter in a script's first line. What does not end there is not judged.
fn named(start: &[u8]) -> Option<String> {
    let line = start.strip_prefix(b"#!")?;
    let end = line.iter().position(|byte| *byte == b'\n');
    let is_whole = line.len() + 2 < LINE;
    let end = end.or(is_whole.then_some(line.len()))?;
    let line = String::from_utf8_lossy(line.get(..end)?).into_owned();
    let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
    words.next().map(str::to_owned)
}

/// Why a program could not be started, in better words if there are any.
pub(super) fn explained(error: io::Error, program: &OsStr) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    let why = missing(Path::new(program));
    why.map_or(error, io::Error::other)
}
