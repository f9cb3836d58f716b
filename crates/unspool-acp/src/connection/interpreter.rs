//! Explains why a script cannot be started: if the interpreter in its first line is
//! missing, the system reports that the script itself does not exist.
//!
//! Used before the screen switches to a chat, and when an agent could not be started.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of the first line that the kernel reads.
const LINE_LIMIT: usize = 256;

/// Returns a message if the script's interpreter does not exist.
pub fn missing(script: &Path) -> Option<String> {
    let mut start = Vec::new();
    let file = File::open(script).ok()?;
    file.take(LINE_LIMIT as u64).read_to_end(&mut start).ok()?;
    let interpreter = read_shebang(&start)?;
    let path = Path::new(&interpreter);
    // A relative path depends on the working folder.
    let is_missing = path.is_absolute() && !path.exists();
    let shown = interpreter.escape_debug();
    is_missing.then(|| format!("its first line names {shown}, which is not there"))
}

/// Returns the interpreter in the first line, unless the line is cut off.
fn read_shebang(start: &[u8]) -> Option<String> {
    let line = start.strip_prefix(b"#!")?;
    let end = line.iter().position(|byte| *byte == b'\n');
    let is_whole = line.len() + 2 < LINE_LIMIT;
    let end = end.or(is_whole.then_some(line.len()))?;
    let line = String::from_utf8_lossy(line.get(..end)?).into_owned();
    let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
    words.next().map(str::to_owned)
}

/// Replaces the error of a script whose interpreter is missing.
pub(super) fn explain(error: io::Error, program: &OsStr) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    let message = missing(Path::new(program));
    message.map_or(error, io::Error::other)
}
