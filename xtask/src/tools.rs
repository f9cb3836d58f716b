//! Programs that the tests use, and their installation with apt-get or brew.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Result, run};

/// A program that must be there.
pub(crate) struct Tool {
    /// Its names; one of them is enough. An absolute path counts too.
    programs: &'static [&'static str],
    /// The tests and scripts that use it.
    purpose: &'static str,
    /// Its Debian packages.
    debian: &'static [&'static str],
    /// Its Homebrew packages.
    brew: &'static [&'static str],
}

/// Used by the tests.
pub(crate) const TESTS: [Tool; 5] = [
    Tool {
        programs: &["cc"],
        purpose: "builds SQLite and the regular expressions of the highlighter",
        debian: &["gcc", "libc6-dev"],
        brew: &["gcc"],
    },
    Tool {
        programs: &["tmux"],
        purpose: "shows the live view and the chat in the tests",
        debian: &["tmux"],
        brew: &["tmux"],
    },
    Tool {
        programs: &["less"],
        purpose: "is the pager of the tests",
        debian: &["less"],
        brew: &["less"],
    },
    Tool {
        programs: &["python3"],
        purpose: "plays agents with a lot of output in the tests",
        debian: &["python3"],
        brew: &["python3"],
    },
    Tool {
        programs: &[
            "chromium",
            "chromium-browser",
            "google-chrome",
            "/Applications/Chromium.app/Contents/MacOS/Chromium",
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        ],
        purpose: "opens exported pages in the tests",
        debian: &["chromium", "fonts-dejavu-core"],
        brew: &["--cask", "chromium"],
    },
];

/// Used by the benchmarks and the fuzzer.
pub(crate) const MEASUREMENTS: [Tool; 2] = [
    Tool {
        programs: &["c++"],
        purpose: "builds the fuzzer",
        debian: &["g++"],
        brew: &["gcc"],
    },
    Tool {
        programs: &["valgrind"],
        purpose: "counts instructions in the benchmarks",
        debian: &["valgrind"],
        brew: &["valgrind"],
    },
];

/// Installs the tools that are missing; fails with the command to type where it cannot.
pub(crate) fn ensure(tools: &[Tool]) -> Result {
    let missing: Vec<&Tool> = tools.iter().filter(|tool| !tool.is_installed()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    for tool in &missing {
        println!("xtask: {} is missing: it {}", tool.name(), tool.purpose);
    }
    let reason = match Installer::find().map(|installer| installer.install(&missing)) {
        Some(Ok(())) => "it is still not in your PATH after the installation".to_owned(),
        Some(Err(error)) => error,
        None => "neither apt-get (as root or with sudo without a password) nor brew can be used"
            .to_owned(),
    };
    let missing: Vec<&Tool> = tools.iter().filter(|tool| !tool.is_installed()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|tool| tool.name()).collect();
    Err(format!(
        "xtask: cannot install {}: {reason}\nInstall it yourself, then try again:\n  {}",
        names.join(", "),
        Installer::for_people().join("\n  ", &missing),
    ))
}

/// Returns true if a program is in `PATH`, or at this absolute path.
pub(crate) fn is_program(name: &str) -> bool {
    if name.starts_with('/') {
        return Path::new(name).exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

impl Tool {
    fn name(&self) -> &'static str {
        self.programs.first().copied().unwrap_or_default()
    }

    fn is_installed(&self) -> bool {
        self.programs.iter().any(|program| is_program(program))
    }
}

/// A package manager that may be used.
enum Installer {
    Apt { sudo: bool },
    Brew,
}

impl Installer {
    /// The one that works here without a question.
    fn find() -> Option<Self> {
        if is_program("apt-get") {
            if succeeds("id", &["-u"], "0\n") {
                return Some(Self::Apt { sudo: false });
            }
            if succeeds("sudo", &["-n", "true"], "") {
                return Some(Self::Apt { sudo: true });
            }
        }
        is_program("brew").then_some(Self::Brew)
    }

    /// The one that a person would use here.
    fn for_people() -> Self {
        if cfg!(target_os = "macos") {
            Self::Brew
        } else {
            Self::Apt { sudo: true }
        }
    }

    fn install(&self, tools: &[&Tool]) -> Result {
        if let Self::Apt { sudo } = self {
            run(command(&apt(*sudo, &["update", "-q"])).env("DEBIAN_FRONTEND", "noninteractive"))?;
        }
        for words in self.commands(tools) {
            run(command(&words).env("DEBIAN_FRONTEND", "noninteractive"))?;
        }
        Ok(())
    }

    /// The commands that install the tools.
    fn commands(&self, tools: &[&Tool]) -> Vec<Vec<&'static str>> {
        match self {
            Self::Apt { sudo } => {
                let mut words = apt(*sudo, &["install", "-qy", "--no-install-recommends"]);
                words.extend(tools.iter().flat_map(|tool| tool.debian));
                vec![words]
            }
            Self::Brew => tools
                .iter()
                .map(|tool| [&["brew", "install"], tool.brew].concat())
                .collect(),
        }
    }

    fn join(&self, separator: &str, tools: &[&Tool]) -> String {
        let lines: Vec<String> = self
            .commands(tools)
            .iter()
            .map(|words| words.join(" "))
            .collect();
        lines.join(separator)
    }
}

fn apt(sudo: bool, arguments: &[&'static str]) -> Vec<&'static str> {
    let sudo: &[&str] = if sudo { &["sudo"] } else { &[] };
    [sudo, &["apt-get"], arguments].concat()
}

fn command(words: &[&str]) -> Command {
    let mut words = words.iter();
    let mut command = Command::new(words.next().copied().unwrap_or_default());
    command.args(words);
    command
}

/// Returns true if a command succeeds and prints this, or if nothing is expected, anything.
pub(crate) fn succeeds(program: &str, arguments: &[&str], expected: &str) -> bool {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    output.is_ok_and(|output| {
        output.status.success() && (expected.is_empty() || output.stdout == expected.as_bytes())
    })
}
