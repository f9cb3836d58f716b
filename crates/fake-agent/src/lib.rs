//! A scripted ACP agent for tests.
//!
//! The program `fake-acp-agent` replays recorded traffic (`{"dir","msg"}` per
//! line): it sends the agent's messages and waits at those of the client. It can
//! be told to misbehave; its flags are listed in `main.rs`. Used by the tests of
//! `unspool-acp` and `unspool-cli`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The project folder in the recordings.
pub const RECORDED_ROOT: &str = "/home/user/project";

/// Returns the path of the program. Builds it if needed, so that a single test
/// finds it too.
///
/// # Panics
///
/// If the build fails.
pub fn executable() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(build)
}

fn build() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let folder = target_folder();
    let output = Command::new(cargo)
        .args(["build", "--quiet", "--locked", "--package", "fake-agent"])
        .args(["--bin", "fake-acp-agent", "--target-dir"])
        .arg(&folder)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => panic!("cargo cannot be started: {error}"),
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "no fake agent: {errors}");
    folder.join("debug/fake-acp-agent")
}

/// Returns the target folder of this build, such as `target` for
/// `target/debug/deps/x`.
fn target_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    let folder = test
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").exists());
    folder.map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
        Path::to_path_buf,
    )
}

/// Returns a recording of the corpus by name, such as `claude/permission`.
pub fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/corpus/acp")
        .join(format!("{name}.acp.jsonl"))
}
