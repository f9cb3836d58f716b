//! A person's habits: the configuration file, the pager, completions and manual
//! pages.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pty_process::Size;
use pty_process::blocking::{Command as OnTerminal, open};
use tempfile::TempDir;

/// A home with a configuration file.
struct Home(TempDir);

impl Home {
    fn with(config: &str) -> Self {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("unspool");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("config.toml"), config).unwrap();
        Self(home)
    }

    fn unspool(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_unspool"))
            .env_clear()
            .env("HOME", self.0.path())
            .env("XDG_CONFIG_HOME", self.0.path())
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn said(&self, arguments: &[&str]) -> String {
        let output = self.unspool(arguments);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn run_file() -> String {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let path = corpus.join("claude/parity/parity.live.jsonl");
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_file_decides_and_the_command_line_is_stronger() {
    let home = Home::with("lines = 0\nusage = false\ndisplay = \"full\"\n");
    let file = run_file();
    let short = home.said(&[&file]);
    assert_eq!(
        short,
        Home::with("").said(&[&file, "--lines", "0", "--no-usage"])
    );
    let long = home.said(&[&file, "--lines", "5", "--usage"]);
    assert_eq!(long, Home::with("").said(&[&file]));
    assert_ne!(short, long);
}

#[test]
fn config_says_what_is_in_force_and_why() {
    let home =
        Home::with("lines = \"all\"\ntheme = \"light\"\n[sessions]\nfolders = [\"/runs\"]\n");
    let said = home.said(&["config", "--reasoning", "off"]);
    let path = home.0.path().join("unspool/config.toml");
    assert!(
        said.starts_with(&format!("# {}\n", path.display())),
        "{said}"
    );
    let line = |name: &str| said.lines().find(|line| line.starts_with(name)).unwrap();
    assert_eq!(
        line("lines")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
        "lines = \"all\" # configuration file"
    );
    assert!(line("reasoning").ends_with("# command line"), "{said}");
    assert!(line("sessions.folders").contains("[\"/runs\"]"), "{said}");
    assert!(line("usage").ends_with("# default"));
    assert!(line("pager").contains("\"less\""));
    assert_eq!(
        home.said(&["config", "--path"]).trim(),
        path.to_str().unwrap()
    );
    // What it prints as an example can be used.
    let again = Home::with(&home.said(&["config", "--example"]));
    assert!(again.said(&["config"]).contains("lines "));
}

#[test]
fn a_mistake_in_the_file_is_named() {
    let home = Home::with("lines = 5\ncolour = \"always\"\n");
    let output = home.unspool(&[&run_file()]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("unspool/config.toml"), "{said}");
    assert!(
        said.contains("line 2") && said.contains("unknown field `colour`"),
        "{said}"
    );
    // To look at what is wrong, and to mend it, still works.
    assert_eq!(home.unspool(&["config", "--path"]).status.code(), Some(0));
}

#[test]
fn another_file_can_be_named_and_must_be_there() {
    let home = Home::with("lines = 0\n");
    let other = home.0.path().join("other.toml");
    let run = |path: &Path| {
        Command::new(env!("CARGO_BIN_EXE_unspool"))
            .env_clear()
            .env("HOME", home.0.path())
            .env("UNSPOOL_CONFIG", path)
            .args(["config"])
            .output()
            .unwrap()
    };
    assert_eq!(run(&other).status.code(), Some(2));
    fs::write(&other, "lines = 9").unwrap();
    let said = String::from_utf8(run(&other).stdout).unwrap();
    let words: Vec<&str> = said.split_whitespace().collect();
    assert!(words.windows(3).any(|three| three == ["lines", "=", "9"]));
}

#[test]
fn a_variable_that_decides_about_colours_is_named() {
    let home = Home::with("");
    let said = |variable: &str, value: &str, arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_unspool"))
            .env_clear()
            .env("HOME", home.0.path())
            .env(variable, value)
            .arg("config")
            .args(arguments)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let line = said.lines().find(|line| line.starts_with("color "));
        line.unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (variable, value, line) in [
        ("NO_COLOR", "1", "color = \"never\" # variable NO_COLOR"),
        ("NO_COLOR", "", "color = \"auto\" # default"),
        (
            "CLICOLOR_FORCE",
            "1",
            "color = \"always\" # variable CLICOLOR_FORCE",
        ),
        ("CLICOLOR_FORCE", "0", "color = \"auto\" # default"),
        ("CLICOLOR", "0", "color = \"never\" # variable CLICOLOR"),
        ("TERM", "dumb", "color = \"never\" # variable TERM"),
    ] {
        assert_eq!(said(variable, value, &[]), line, "{variable}={value}");
    }
    let typed = said("NO_COLOR", "1", &["--color", "always"]);
    assert_eq!(typed, "color = \"always\" # command line");
}

#[test]
fn completions_and_pages_are_made() {
    let home = Home::with("");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = home.said(&["generate", "completions", shell]);
        assert!(
            script.contains("copy-clean") && script.contains("follow"),
            "{shell}"
        );
    }
    let bash = home.0.path().join("completions");
    fs::write(&bash, home.said(&["generate", "completions", "bash"])).unwrap();
    assert!(
        Command::new("bash")
            .arg("-n")
            .arg(&bash)
            .status()
            .unwrap()
            .success()
    );
    for (words, offered) in [
        ("stats --by", "agent model project day tool"),
        ("stats --agent", "aider claude codex gemini opencode qwen"),
        (
            "sessions --agent",
            "aider claude codex gemini opencode qwen",
        ),
    ] {
        let script = format!(
            "source {}; COMP_WORDS=(unspool {words} ''); COMP_CWORD=3; \
             _unspool unspool '' \"${{COMP_WORDS[2]}}\"; echo \"${{COMPREPLY[@]}}\"",
            bash.display()
        );
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(shown.starts_with(offered), "{words}: {shown}");
    }
    let folder = home.0.path().join("man/man1");
    home.said(&["generate", "man", folder.to_str().unwrap()]);
    for page in [
        "unspool.1",
        "unspool-run.1",
        "unspool-follow.1",
        "unspool-config.1",
    ] {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
}

/// Returns the output on a terminal of this many rows, and the pager's input.
fn paged(arguments: &[&str], rows: u16, pager: Option<&str>) -> (String, Option<String>) {
    let arguments = [&["--color", "never", "--no-summary"], arguments].concat();
    paged_as(&arguments, rows, pager)
}

fn paged_as(arguments: &[&str], rows: u16, pager: Option<&str>) -> (String, Option<String>) {
    let home = Home::with("");
    let got = home.0.path().join("paged");
    let script = home.0.path().join("pager");
    fs::write(
        &script,
        format!(
            "#!/bin/sh\necho \"$LESS\" > {0}\ncat >> {0}\n",
            got.display()
        ),
    )
    .unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let pager = pager.map_or(script, PathBuf::from);
    let (mut pty, pts) = open().unwrap();
    pty.resize(Size::new(rows, 80)).unwrap();
    let mut child = OnTerminal::new(env!("CARGO_BIN_EXE_unspool"))
        .env_clear()
        .env("HOME", home.0.path())
        .env("TERM", "xterm-256color")
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("PAGER", &pager)
        .args(arguments)
        .spawn(pts)
        .unwrap();
    let mut written = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = pty.read(&mut chunk) {
        written.extend_from_slice(&chunk[..length]);
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let written = String::from_utf8(written).unwrap().replace("\r\n", "\n");
    (written, fs::read_to_string(got).ok())
}

#[test]
fn what_is_longer_than_the_terminal_goes_to_the_pager() {
    let file = run_file();
    let whole = Home::with("").said(&[&file, "--width", "80"]);
    let (screen, pager) = paged(&[&file], 24, None);
    assert_eq!(screen, "");
    assert_eq!(pager, Some(format!("FRX\n{whole}")));
    let (screen, pager) = paged(&[&file, "--no-pager"], 24, None);
    assert_eq!((screen.as_str(), pager), (whole.as_str(), None));
}

#[test]
fn what_fits_or_has_no_pager_is_just_printed() {
    let file = run_file();
    let whole = Home::with("").said(&[&file, "--width", "80"]);
    let (screen, pager) = paged(&[&file], 2000, None);
    assert_eq!((screen.as_str(), pager), (whole.as_str(), None));
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("pager");
    for none in ["cat", "", missing.to_str().unwrap()] {
        let (screen, _) = paged(&[&file], 24, Some(none));
        assert_eq!(screen, whole, "{none}");
    }
}

#[test]
fn long_lists_go_to_the_pager_too() {
    let file = run_file();
    let home = Home::with("");
    let list = home.said(&["stats", &file, "--width", "80"]);
    for arguments in [
        &["stats", &file, "--color", "never"] as &[&str],
        &["sessions", &file, "--list", "--color", "never"],
    ] {
        let (screen, pager) = paged_as(arguments, 2, None);
        assert_eq!(screen, "", "{arguments:?}");
        let pager = pager.unwrap();
        assert!(pager.starts_with("FRX\n"), "{pager}");
        if arguments[0] == "stats" {
            assert_eq!(pager.trim_start_matches("FRX\n"), list);
        }
        let without = [arguments, &["--no-pager"]].concat();
        assert_eq!(paged_as(&without, 2, None).1, None, "{arguments:?}");
        assert_eq!(paged_as(arguments, 2000, None).1, None, "{arguments:?}");
    }
}

#[test]
fn a_theme_that_is_not_there_is_named() {
    let home = Home::with("theme = \"nosuch\"\n");
    let output = home.unspool(&["config"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("nosuch"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"nosuch\""));
}
