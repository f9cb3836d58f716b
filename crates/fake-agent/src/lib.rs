//! A scripted agent of the Agent Client Protocol, for tests: where its program
//! is, and what it plays.
//!
//! The program `fake-acp-agent` plays a recording of real traffic
//! (`{"dir","msg"}` a line): it sends what the agent sent, and waits where the
//! recording has a line of the client. It misbehaves on demand; its flags are
//! in `main.rs`. Used by the tests of `unspool-acp` and `unspool-cli`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder that recordings name as their project.
pub const RECORDED_ROOT: &str = "/home/user/project";

/// The program, built if it has to be: a test that runs alone finds it too.
///
/// # Panics
///
/// When it cannot be built.
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

/// The folder that this test was built in: `target` of `target/debug/deps/x`.
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

/// A recording of the corpus, by its name there: `claude/permission`.
pub fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/corpus/acp")
        .join(format!("{name}.acp.jsonl"))
}
