//! Looks up a program before it is started, and reports why it was not.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::{env, io};

use rustix::io::Errno;

use crate::status::{Status, complain};

/// The exit statuses of shells for a command that cannot be started.
pub(super) const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Fails if there is no such program, with the error that starting it would give.
pub(crate) fn check(program: &str) -> io::Result<()> {
    find(program, &env::var_os("PATH").unwrap_or_default())
}

/// Reports why a command could not be started; returns the exit status.
pub(crate) fn not_started(program: &OsStr, error: &io::Error) -> Status {
    let program = program.display();
    let (text, code) = match error.kind() {
        io::ErrorKind::NotFound => (
            format!("{program} is not installed, or not in your PATH"),
            NOT_FOUND,
        ),
        _ => (format!("cannot start {program}: {error}"), NOT_EXECUTABLE),
    };
    complain(&anyhow::anyhow!(text));
    Status::Code(code)
}

/// Looks a program up as `exec` does.
fn find(program: &str, folders: &OsStr) -> io::Result<()> {
    let denied = || io::Error::from(Errno::ACCESS);
    if program.contains('/') {
        let metadata = Path::new(program).metadata()?;
        return is_executable(&metadata).then_some(()).ok_or_else(denied);
    }
    let mut error = io::Error::from(io::ErrorKind::NotFound);
    for folder in env::split_paths(folders) {
        match folder.join(program).metadata() {
            Ok(metadata) if is_executable(&metadata) => return Ok(()),
            Ok(_) => error = denied(),
            Err(_) => {}
        }
    }
    Err(error)
}

fn is_executable(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
}
