//! The command `unspool`.

use std::process::ExitCode;

/// Most work is on many small texts; the system's allocator takes a sixth of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    unspool_cli::main(unspool::source::BUILTIN)
}
