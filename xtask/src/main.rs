//! Commands for people who work on unspool: `cargo xtask test` and its relatives.
//!
//! Uses the standard library alone, so that it is built in seconds.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line program"
)]

mod agents;
mod conformance;
mod dependencies;
mod features;
mod licenses;
mod manifest;
mod namespaces;
mod package;
mod test;
mod tools;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// An error message for a person.
type Result<T = ()> = std::result::Result<T, String>;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test [CARGO-TEST-ARGUMENTS]  installs what the tests need, then runs all of them
  setup                        installs what the tests, the benchmarks and the fuzzer need
  conformance                  runs the tests that docs/conformance.md names
  dependencies                 finds dependencies that are unused or may not be used
  features                     builds the library with each feature, without the others'
                               dependencies
  package                      packages what is published, and builds it from the packages
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((command, rest)) if command == "test" => test::run(rest),
        Some((command, [])) if command == "setup" => setup(),
        Some((command, [])) if command == "conformance" => conformance::check(),
        Some((command, [])) if command == "dependencies" => dependencies::check(),
        Some((command, [])) if command == "features" => features::check(),
        Some((command, [])) if command == "package" => package::check(),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{}", message.trim_end());
            ExitCode::FAILURE
        }
    }
}

/// Installs everything, so that what follows only runs.
fn setup() -> Result {
    tools::ensure(&tools::TESTS)?;
    tools::ensure(&tools::MEASUREMENTS)?;
    if let Err(reason) = agents::install() {
        println!("xtask: no real agents: {reason}");
    }
    Ok(())
}

/// The root of the repository.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Returns true in CI, where nothing may be skipped.
fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// The cargo that runs this program.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Prints a command, runs it, and fails if it fails.
fn run(command: &mut Command) -> Result {
    let line = line(command);
    println!("xtask: {line}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("xtask: {line}: {status}")),
        Err(error) => Err(format!("xtask: {line}: {error}")),
    }
}

/// Runs a command and returns what it prints.
fn output(command: &mut Command) -> Result<String> {
    let line = line(command);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("xtask: {line}: {error}"))?;
    if !output.status.success() {
        return Err(format!("xtask: {line}: {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A command as one line, without the folder of its program.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
