//! The command `unspool`: arguments, files, and the exit status.
//!
//! The status is 0 when everything was read and the agent's run succeeded, 1 when
//! the run failed or was cut off, or a frame was too long to be read, 2 for a usage
//! error or an input that could not be read (the others are still read), and 128 plus
//! the signal number when a signal ended it. A reader that closes the pipe early is
//! not an error.

mod agents;
mod browse_feed;
mod child;
mod cli;
mod columns;
mod commands;
mod config;
mod export;
mod filter;
mod input;
mod library;
mod meter;
mod pager;
mod playback;
mod progress;
mod settings;
mod status;
mod summary;
mod tail;
mod terminal;
mod themes;
mod view;
mod watch;

use std::process::ExitCode;

use clap::Parser;
use unspool::source::Provider;

use cli::{Cli, Command};
use status::{Status, complain, is_broken_pipe};

/// The agent's run failed or was cut off.
const AGENT_FAILED: u8 = 1;
/// A usage error, or an input that could not be read.
const UNREADABLE: u8 = 2;

/// Runs the command with the arguments of this process, and returns its exit status.
///
/// The program knows these agents: [`unspool::source::BUILTIN`], or a list with agents
/// of one's own.
pub fn main(agents: &'static [Provider]) -> ExitCode {
    agents::set(agents);
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
