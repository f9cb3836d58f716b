//! The program and a recorded run to give to it; included by each test that
//! looks at what recordings become.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::environment;

/// Runs the program with these arguments.
pub(crate) fn unspool(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unspool"));
    for name in environment::REMOVED {
        command.env_remove(name);
    }
    command.envs(environment::SET);
    let command = command.args(arguments).stdin(Stdio::null());
    command.output().unwrap()
}

/// The path of a recording.
pub(crate) fn corpus(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    path.join(name).to_str().unwrap().to_owned()
}
