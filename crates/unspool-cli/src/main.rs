//! The command `unspool`: arguments, files, and the exit status.
//!
//! The status is 0 when everything was read and the agent's run succeeded, 1 when
//! the run that is shown failed or was cut off, or a frame of it was too long to be
//! read, 2 for wrong use or an input that
//! could not be read (the others are read all the same), 128 and the signal's
//! number when a signal ended it. A reader that closes the pipe early is no
//! error.

mod child;
mod cli;
mod columns;
mod commands;
mod config;
mod export;
mod feed;
mod filter;
mod input;
mod library;
mod meter;
mod pager;
mod playback;
mod progress;
mod settings;
mod summary;
mod tail;
mod terminal;
mod themes;
mod view;
mod watch;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use unspool::event::TurnStatus;
use unspool::stats::Stats;

use cli::{Cli, Command};

/// Text in many small pieces is what the work consists of: with the allocator of
/// most systems a sixth of the time goes into finding room for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The agent's run failed or was cut off.
const AGENT_FAILED: u8 = 1;
/// Wrong use, or an input that could not be read.
const UNREADABLE: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match &cli.command {
        None => commands::show::run(&cli.show),
        Some(Command::Chat(arguments)) => commands::chat::run(arguments),
        Some(Command::Config(arguments)) => commands::config::run(arguments),
        Some(Command::Demo(arguments)) => commands::demo::run(arguments),
        Some(Command::Events(arguments)) => commands::events::run(arguments),
        Some(Command::Export(arguments)) => commands::export::run(arguments),
        Some(Command::Follow(arguments)) => commands::follow::run(arguments),
        Some(Command::Generate(arguments)) => commands::generate::run(arguments),
        Some(Command::Providers(arguments)) => commands::providers::run(arguments),
        Some(Command::Run(arguments)) => commands::run::run(arguments),
        Some(Command::Sessions(arguments)) => commands::sessions::run(arguments),
        Some(Command::Show(arguments)) => commands::show::named(arguments),
        Some(Command::Stats(arguments)) => commands::stats::run(arguments),
        Some(Command::View(arguments)) => commands::view::run(arguments),
        Some(Command::Supervise(arguments)) => Ok(child::supervise::run(arguments)),
    };
    match outcome {
        Ok(Status::Success) => ExitCode::SUCCESS,
        Ok(Status::AgentFailed) => ExitCode::from(AGENT_FAILED),
        Ok(Status::Unreadable) => ExitCode::from(UNREADABLE),
        Ok(Status::Code(code)) => ExitCode::from(code),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::from(UNREADABLE)
        }
    }
}

/// How a command went, when it ran to its end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    Success,
    /// The agent's run failed or was cut off, or is not shown as a whole.
    AgentFailed,
    /// Some input could not be read; it was said.
    Unreadable,
    /// What a command or a signal decided.
    Code(u8),
}

impl Status {
    /// What the last turn of each run says about it, if all of it was read.
    fn of(stats: &Stats) -> Self {
        match stats.earlier.or(stats.status) {
            _ if stats.left_out > 0 => Self::AgentFailed,
            None | Some(TurnStatus::Completed) => Self::Success,
            Some(_) => Self::AgentFailed,
        }
    }

    /// Of what is passed on and not judged: whether all of it was read.
    fn of_reading(is_whole: bool) -> Self {
        if is_whole {
            Self::Success
        } else {
            Self::AgentFailed
        }
    }

    /// Ended by a signal, as shells tell it.
    fn of_signal(signal: i32) -> Self {
        Self::Code(u8::try_from(128 + signal).unwrap_or(u8::MAX))
    }

    /// The more serious of two.
    fn worse(self, other: Self) -> Self {
        self.max(other)
    }
}

/// Says of a run, behind the name of what was read, what its view does not tell:
/// why it failed, and that filters by time had nothing to go by.
fn remark(view: &view::View<'_>, stats: &Stats, filter: &cli::Filter, name: &str) {
    if let Some(words) = filter::untimed(filter, stats) {
        complain(&anyhow::anyhow!("{name}: {words}"));
    }
    if let Some(words) = view.fault()
        && Status::of(stats) == Status::AgentFailed
    {
        complain(&anyhow::anyhow!("{name}: {words}"));
    }
}

/// Says on standard error what went wrong.
fn complain(error: &anyhow::Error) {
    // A file would have been named with it.
    let is_output = is_kind(error, io::ErrorKind::StorageFull) && error.chain().count() == 1;
    let text = if is_output {
        format!("cannot write the output: {error}")
    } else {
        format!("{error:#}")
    };
    let mut err = io::stderr();
    // Names of files may hold anything.
    let text = if err.is_terminal() {
        unspool::sanitize::text(&text)
    } else {
        text.into()
    };
    // Nobody is left to be told when this fails too.
    let _ = writeln!(err, "unspool: {text}");
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    is_kind(error, io::ErrorKind::BrokenPipe)
}

fn is_kind(error: &anyhow::Error, kind: io::ErrorKind) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == kind)
}
