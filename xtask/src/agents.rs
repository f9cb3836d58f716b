//! Real agents for the tests of the chat, installed with npm into `target/agents`.

use std::path::PathBuf;
use std::process::Command;

use crate::test::Skip;
use crate::{Result, root, run, tools};

/// An agent that a test talks to.
struct Agent {
    /// Its npm package and version.
    package: &'static str,
    /// Its program.
    program: &'static str,
    /// The test.
    test: &'static str,
}

const AGENTS: [Agent; 5] = [
    Agent {
        package: "@google/gemini-cli@0.61.0",
        program: "gemini",
        test: "real::gemini",
    },
    Agent {
        package: "opencode-ai@1.18.33",
        program: "opencode",
        test: "real::opencode",
    },
    Agent {
        package: "@qwen-code/qwen-code@0.15.10",
        program: "qwen",
        test: "real::qwen",
    },
    Agent {
        package: "@zed-industries/codex-acp@0.16.0",
        program: "codex-acp",
        test: "real::codex",
    },
    Agent {
        package: "@zed-industries/claude-agent-acp@0.23.1",
        program: "claude-agent-acp",
        test: "real::claude",
    },
];

/// Installs the agents that are missing.
pub(crate) fn install() -> Result {
    if AGENTS.iter().all(Agent::is_installed) {
        return Ok(());
    }
    if !tools::is_program("npm") {
        return Err("npm is not installed (Debian: apt-get install npm; brew install npm)".into());
    }
    let folder = folder();
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    run(Command::new("npm")
        .arg("install")
        .arg("--prefix")
        .arg(&folder)
        .args(["--no-audit", "--no-fund", "--loglevel", "error"])
        // A registry that does not answer is given up after two minutes.
        .args(["--fetch-timeout", "60000", "--fetch-retries", "1"])
        .args(AGENTS.iter().map(|agent| agent.package)))
}

/// The tests that cannot be run, because their agents could not be installed.
pub(crate) fn missing(reason: &str) -> Vec<Skip> {
    let missing = AGENTS.iter().filter(|agent| !agent.is_installed());
    let skip = |agent: &Agent| Skip {
        test: agent.test,
        reason: format!("{} is not installed: {reason}", agent.program),
    };
    missing.map(skip).collect()
}

fn folder() -> PathBuf {
    root().join("target/agents")
}

impl Agent {
    fn is_installed(&self) -> bool {
        let programs = folder().join("node_modules/.bin");
        programs.join(self.program).exists()
    }
}
