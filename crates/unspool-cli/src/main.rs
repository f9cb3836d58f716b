//! The command `unspool`: arguments, files, and the exit status.
//!
//! The status is 0 when everything was read, 2 for wrong use or an input that
//! could not be read (the others are read all the same). A reader that closes
//! the pipe early is no error.

mod cli;
mod commands;
mod input;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

/// Wrong use, or an input that could not be read.
const UNREADABLE: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match &cli.command {
        Command::Events(arguments) => commands::events::run(arguments),
        Command::Providers(arguments) => commands::providers::run(arguments),
    };
    match outcome {
        Ok(Status::Read) => ExitCode::SUCCESS,
        Ok(Status::Unreadable) => ExitCode::from(UNREADABLE),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::from(UNREADABLE)
        }
    }
}

/// How a command went, when it ran to its end.
enum Status {
    Read,
    /// Some input could not be read; it was said.
    Unreadable,
}

/// Says on standard error what went wrong.
fn complain(error: &anyhow::Error) {
    // Nobody is left to be told when this fails too.
    let _ = writeln!(io::stderr(), "unspool: {error:#}");
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
