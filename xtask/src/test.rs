//! `cargo xtask test`: installs what the tests need, then runs all of them.
//!
//! Tests that need more than Rust are marked `#[ignore = "needs …"]`, so that a plain
//! `cargo test` lists them as ignored, with the reason. Here they all run. Without the
//! real agents, or where no namespace can be made, their tests are skipped and listed at
//! the end; in CI that is an error.

use std::num::NonZero;
use std::thread;

use crate::{Result, agents, cargo, is_ci, namespaces, tools};

/// The variable for the number of tests that run at the same time.
const THREADS: &str = "RUST_TEST_THREADS";

/// A test that cannot be run on this machine.
pub(crate) struct Skip {
    pub(crate) test: &'static str,
    pub(crate) reason: String,
}

/// Prepares the machine and runs the tests.
pub(crate) fn run(arguments: &[String]) -> Result {
    tools::ensure(&tools::TESTS)?;
    let mut skipped = match agents::install() {
        Ok(()) => Vec::new(),
        Err(reason) => agents::missing(&reason),
    };
    skipped.extend(namespaces::missing());
    if is_ci() && !skipped.is_empty() {
        list(&skipped);
        return Err("xtask: in CI no test may be skipped".to_owned());
    }
    let result = run_tests(arguments, &skipped);
    list(&skipped);
    result
}

fn list(skipped: &[Skip]) {
    for skip in skipped {
        println!("xtask: skipped {}: {}", skip.test, skip.reason);
    }
}

/// Runs `cargo test` with these arguments, or with `--workspace`.
fn run_tests(arguments: &[String], skipped: &[Skip]) -> Result {
    let mut parts = arguments.splitn(2, |word| word == "--");
    let (of_cargo, of_tests) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let mut command = cargo();
    command.args(["test", "--locked"]).args(of_cargo);
    if std::env::var_os(THREADS).is_none() {
        // Most tests wait for terminals and agents.
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        command.env(THREADS, (2 * processors).to_string());
    }
    if of_cargo.is_empty() {
        command.arg("--workspace");
    }
    command.args(["--", "--include-ignored"]).args(of_tests);
    for skip in skipped {
        command.args(["--skip", skip.test]);
    }
    crate::run(&mut command)
}
