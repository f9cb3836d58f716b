//! `unspool demo`: a recorded run that is part of the program.

use unspool_sessions::input::Input;

use crate::cli::Demo;
use crate::commands::show;
use crate::status::Status;

/// A real run of Claude Code.
const RECORDING: &[u8] = include_bytes!("demo/claude.jsonl");

pub(crate) fn run(arguments: &Demo) -> anyhow::Result<Status> {
    let input = Input::new("the recorded run".to_owned(), RECORDING);
    show::recording(&arguments.look, arguments.speed, input)
}
