//! Every option of `unspool [FILE…]` on one small run: what it changes in what
//! is printed, and the exit status.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "live/environment.rs"]
mod environment;

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A run of six minutes with one thing of each sort.
const RUN: &str = r#"{"kind":"session","seq":0,"provider":"claude","model":"m-1","time":"2026-11-15T10:00:00Z"}
{"kind":"user","seq":1,"text":"Fix it","time":"2026-11-15T10:00:00Z"}
{"kind":"reasoning","seq":2,"id":"r","text":"**Looking around**\n\nFirst the tests.","time":"2026-11-15T10:00:05Z"}
{"kind":"text","seq":3,"id":"a","text":"I run the *tests* of `core`.","time":"2026-11-15T10:01:00Z"}
{"kind":"tool_use","seq":4,"id":"1","name":"Bash","category":"execute","arg":"cargo test","input":{"command":"cargo test"},"time":"2026-11-15T10:02:00Z"}
{"kind":"tool_result","seq":5,"id":"1","name":"Bash","status":"error","exit_code":101,"output":"one\ntwo\nthree\nfour\nfive\nsix\nseven\n","time":"2026-11-15T10:02:30Z"}
{"kind":"tool_use","seq":6,"id":"2","name":"Read","category":"read","arg":"src/core.rs","input":{"file_path":"src/core.rs"},"time":"2026-11-15T10:03:00Z"}
{"kind":"tool_result","seq":7,"id":"2","name":"Read","status":"ok","output":"fn core() {}","time":"2026-11-15T10:03:01Z"}
{"kind":"plan","seq":8,"entries":[{"text":"Mend core","status":"in_progress"}],"time":"2026-11-15T10:04:00Z"}
{"kind":"notice","seq":9,"level":"warning","text":"The context is almost full.","time":"2026-11-15T10:05:00Z"}
{"kind":"usage","seq":10,"input_tokens":1200,"output_tokens":64}
{"kind":"text","seq":11,"id":"b","text":"Done, see [the docs](https://example.com/docs).","time":"2026-11-15T10:06:00Z"}
{"kind":"turn_end","seq":12,"status":"completed"}
"#;

fn unspool() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unspool"));
    for name in environment::REMOVED {
        command.env_remove(name);
    }
    command.envs(environment::SET);
    command
}

fn file(folder: &TempDir, content: &str) -> PathBuf {
    let path = folder.path().join("run.jsonl");
    std::fs::write(&path, content).unwrap();
    path
}

fn run_with(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let folder = TempDir::new().unwrap();
    let mut command = unspool();
    command.arg(file(&folder, RUN)).args(arguments);
    command.envs(variables.iter().copied());
    command.stdin(Stdio::null()).output().unwrap()
}

fn shown(arguments: &[&str]) -> String {
    let output = run_with(arguments, &[]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

/// The lines that begin an entry.
fn heads(arguments: &[&str]) -> Vec<String> {
    let text = shown(arguments);
    let heads = text.lines().filter(|line| line.starts_with(['•', '›']));
    heads.map(str::to_owned).collect()
}

const ALL: [&str; 9] = [
    "› Fix it",
    "• Looking around",
    "• I run the tests of core.",
    "• Ran cargo test (exit 101)",
    "• Read src/core.rs",
    "• Update Plan",
    "• Warning: The context is almost full.",
    "• Done, see the docs (https://example.com/docs).",
    "• Usage: 1200 in, 64 out",
];

/// The entries with these numbers.
fn some(numbers: &[usize]) -> Vec<&'static str> {
    numbers.iter().map(|number| ALL[*number]).collect()
}

#[test]
fn without_options_everything_is_shown() {
    assert_eq!(heads(&[]), ALL);
}

#[test]
fn only_and_hide_choose_by_kind() {
    assert_eq!(heads(&["--only", "text"]), some(&[2, 7]));
    assert_eq!(heads(&["--only", "user,plan,notice"]), some(&[0, 5, 6]));
    assert_eq!(
        heads(&["--only", "reasoning", "--only", "usage"]),
        some(&[1, 8])
    );
    assert_eq!(
        heads(&["--hide", "user,reasoning,usage"]),
        some(&[2, 3, 4, 5, 6, 7])
    );
    assert_eq!(
        heads(&["--only", "text,tool", "--hide", "text"]),
        some(&[3, 4])
    );
}

#[test]
fn tool_chooses_by_name_or_category() {
    assert_eq!(heads(&["--tool", "bash"]), some(&[3]));
    assert_eq!(heads(&["--tool", "execute"]), some(&[3]));
    assert_eq!(heads(&["--tool", "Read", "--tool", "Bash"]), some(&[3, 4]));
}

#[test]
fn grep_looks_into_inputs_and_outputs_too() {
    assert_eq!(heads(&["--grep", "seven"]), some(&[3]));
    assert_eq!(heads(&["--grep", "(?i)CORE"]), some(&[2, 4, 5]));
    assert_eq!(heads(&["--grep", "^Done"]), some(&[7]));
}

/// Events without a time, here the usage, count as old as the one before.
#[test]
fn since_and_until_choose_by_time() {
    assert_eq!(
        heads(&["--since", "2026-11-15T10:04:00Z"]),
        some(&[5, 6, 7, 8])
    );
    assert_eq!(heads(&["--until", "2026-11-15T10:01:00Z"]), some(&[0, 1]));
    let both = [
        "--since",
        "2026-11-15T10:01:00Z",
        "--until",
        "2026-11-15T10:03:00Z",
    ];
    assert_eq!(heads(&both), some(&[2, 3]));
    assert_eq!(heads(&["--since", "2000-01-01"]), ALL);
}

#[test]
fn errors_shows_what_went_wrong() {
    assert_eq!(heads(&["--errors"]), some(&[3, 6]));
    assert_eq!(heads(&["--errors", "--only", "tool"]), some(&[3]));
}

#[test]
fn filters_leave_the_exit_status_as_it_is() {
    assert_eq!(
        run_with(&["--only", "plan"], &[]).status.code(),
        Some(0),
        "the run succeeded, though a call failed"
    );
}

#[test]
fn filters_that_nothing_passes_say_so() {
    let output = run_with(&["--tool", "nosuch", "--grep", "x+"], &[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.ends_with("run.jsonl: nothing matches --tool nosuch --grep x+\n"),
        "{said}"
    );
    let output = run_with(&["--only", "context,unknown"], &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.ends_with("nothing matches --only context,unknown\n"),
        "{said}"
    );
}

#[test]
fn a_match_is_shown_also_where_output_is_not() {
    assert_eq!(
        shown(&["--grep", r"fn core\(\)"]),
        "• Read src/core.rs\n  └ fn core() {}\n"
    );
    assert_eq!(shown(&["--grep", "core.rs"]), "• Read src/core.rs\n");
}

#[test]
fn lines_of_output() {
    let bash = |lines: &str| shown(&["--tool", "bash", "--failed", "head", "--lines", lines]);
    let head = "• Ran cargo test (exit 101)\n";
    assert_eq!(bash("0"), head);
    assert_eq!(
        bash("2"),
        format!("{head}  └ one\n    two\n    … +5 lines\n")
    );
    assert_eq!(
        bash("6"),
        format!("{head}  └ one\n    two\n    three\n    four\n    five\n    six\n    … +1 line\n")
    );
    let all =
        format!("{head}  └ one\n    two\n    three\n    four\n    five\n    six\n    seven\n");
    assert_eq!(bash("all"), all);
    assert_eq!(bash("7"), all);
}

#[test]
fn a_failed_call_ends_with_its_last_lines() {
    let tail = "• Ran cargo test (exit 101)\n  └ one\n    … +2 lines\n    four\n    five\n    six\n    seven\n";
    assert_eq!(shown(&["--tool", "bash"]), tail);
    assert_eq!(shown(&["--errors", "--only", "tool"]), tail);
    let head = shown(&["--tool", "bash", "--failed", "head"]);
    assert!(head.ends_with("    five\n    … +2 lines\n"), "{head}");
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "failed = 'head'\n").unwrap();
    let variables = [("UNSPOOL_CONFIG", config.to_str().unwrap())];
    let output = run_with(&["--tool", "bash"], &variables);
    assert_eq!(String::from_utf8_lossy(&output.stdout), head);
    let log = run_with(&["--tool", "bash"], &[("GITHUB_ACTIONS", "true")]);
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(log.contains("    seven\n"), "{log}");
}

#[test]
fn reasoning() {
    let only = |what: &str| shown(&["--only", "reasoning", "--reasoning", what]);
    assert_eq!(only("title"), "• Looking around\n");
    assert_eq!(only("full"), "• Looking around\n\nFirst the tests.\n");
    let marked = shown(&["--only", "reasoning", "--reasoning", "full", "--marks"]);
    assert_eq!(marked, "◦ Looking around\n\nFirst the tests.\n");
    let off = run_with(&["--only", "reasoning", "--reasoning", "off"], &[]);
    assert_eq!(String::from_utf8_lossy(&off.stdout), "");
}

#[test]
fn usage_can_be_left_out() {
    assert_eq!(heads(&["--no-usage"]), ALL[..8]);
}

#[test]
fn timestamps() {
    assert_eq!(
        shown(&["--timestamps", "--tool", "read"]),
        "• 10:03:00 Read src/core.rs\n"
    );
}

#[test]
fn copy_clean_has_nothing_but_the_words() {
    let text = shown(&["--copy-clean", "--color", "always", "--width", "31"]);
    assert!(text.starts_with("Fix it\n\nLooking around\n\nI run the tests of core.\n\n"));
    assert!(!text.contains(['•', '›', '└', '\u{1b}']), "{text}");
    assert!(text.contains("\nDone, see the docs (https://example.com/docs).\n"));
}

#[test]
fn links() {
    let last = |how: &str| {
        shown(&[
            "--only", "text", "--grep", "^Done", "--links", how, "--color", "always",
        ])
        .replace('\u{1b}', "^")
    };
    assert!(last("osc8").contains("^]8;;https://example.com/docs^\\^[4mthe docs^]8;;^\\"));
    assert!(!last("osc8").contains("(https://"));
    for how in ["text", "auto"] {
        assert!(last(how).contains("the docs"), "{}", last(how));
        assert!(last(how).contains("(https://example.com/docs)"));
        assert!(!last(how).contains("^]8"));
    }
}

/// The colour of the verb of a call, and of the text of a link's address.
fn colours(arguments: &[&str]) -> String {
    let always = ["--tool", "bash", "--lines", "0", "--color", "always"];
    shown(&[&always, arguments].concat()).replace('\u{1b}', "^")
}

#[test]
fn themes() {
    let dark = "^[38;5;167m• ^[1;38;5;75mRan^[0m cargo test^[38;5;247m (exit 101)^[0m\n";
    assert_eq!(colours(&[]), dark);
    assert_eq!(colours(&["--theme", "dark"]), dark);
    let light = colours(&["--theme", "light"]);
    assert_eq!(
        light,
        "^[38;5;167m• ^[1;38;5;33mRan^[0m cargo test^[38;5;241m (exit 101)^[0m\n"
    );
    assert_eq!(colours(&["--fg", "000000", "--bg", "ffffff"]), light);
    assert_eq!(colours(&["--fg", "#000000", "--bg", "#FFFFFF"]), light);
    let mono = colours(&["--theme", "mono"]);
    assert!(mono.contains("^[1mRan^[0m"), "{mono}");
    assert!(!mono.contains("38;5"), "{mono}");
}

#[test]
fn colours_follow_the_environment() {
    let has = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = run_with(arguments, variables);
        output.stdout.contains(&0x1b)
    };
    assert!(!has(&[], &[]), "a pipe");
    assert!(has(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(has(&[], &[("FORCE_COLOR", "1")]));
    assert!(!has(&[], &[("CLICOLOR_FORCE", "0")]));
    assert!(!has(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(has(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!has(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn output_to_a_pipe_is_wrapped_only_if_a_width_is_given() {
    let widest = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = run_with(arguments, variables);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.chars().count()).max().unwrap()
    };
    assert_eq!(widest(&[], &[]), 48);
    // COLUMNS is the width of a terminal, and there is none.
    assert_eq!(widest(&[], &[("COLUMNS", "40")]), 48);
    assert!(widest(&["--width", "35"], &[("COLUMNS", "40")]) <= 35);
    assert_eq!(widest(&["--width", "0"], &[("COLUMNS", "40")]), 48);
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "width = 40\n").unwrap();
    let config = [("UNSPOOL_CONFIG", config.to_str().unwrap())];
    assert!(widest(&[], &config) <= 40);
}

#[test]
fn a_long_paragraph_in_a_file_is_one_line() {
    let words = "word ".repeat(200);
    let run = format!(r#"{{"kind":"text","seq":0,"id":"a","text":"{words}"}}"#);
    let folder = TempDir::new().unwrap();
    let path = file(&folder, &run);
    let to = folder.path().join("run.txt");
    let shown = |arguments: &[&str]| {
        let mut command = unspool();
        command.arg(&path).args(arguments).stdin(Stdio::null());
        let written = std::fs::File::create(&to).unwrap();
        assert!(command.stdout(written).status().unwrap().success());
        std::fs::read_to_string(&to).unwrap()
    };
    assert_eq!(shown(&[]), format!("• {}\n", words.trim_end()));
    assert!(shown(&["--width", "60"]).lines().count() > 15);
}

#[test]
fn text_without_colours_keeps_the_marks_of_struck_out_words() {
    let text = "Use ~~the old~~ the **new** API. ~~Not\\nthis.~~";
    let run = format!(r#"{{"kind":"text","seq":0,"id":"a","text":"{text}"}}"#);
    let folder = TempDir::new().unwrap();
    let path = file(&folder, &run);
    let shown = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = unspool();
        command.arg(&path).args(arguments).stdin(Stdio::null());
        command.envs(variables.iter().copied());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let plain = "Use ~~the old~~ the new API. ~~Not this.~~\n";
    assert_eq!(shown(&[], &[]), format!("• {plain}"));
    let forced = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    assert_eq!(shown(&[], &forced), format!("• {plain}"));
    assert_eq!(shown(&["--copy-clean"], &[]), plain);
    for theme in ["dark", "mono"] {
        let styled = shown(&["--color", "always", "--theme", theme], &[]);
        assert!(!styled.contains('~'), "{styled}");
        assert!(
            styled.contains(";9m") || styled.contains("[9m"),
            "{styled:?}"
        );
    }
}

#[test]
fn wrong_use_is_status_2_and_says_why() {
    for (arguments, word) in [
        (&["--only", "nonsense"][..], "nonsense"),
        (&["--grep", "("], "regex"),
        (&["--since", "yesteryear"], "expected a date"),
        (&["--lines", "some"], "a number or `all`"),
        (&["--fg", "12345"], "six hexadecimal digits"),
        (&["--from", "nobody"], "nobody"),
        (&["--theme", "pink"], "pink"),
        (&["--width", "wide"], "wide"),
        (
            &["--display", "text", "--only", "tool"],
            "--only tool: filters need",
        ),
        (
            &["--display", "verbose", "--hide", "tool"],
            "`--display full`",
        ),
        (&["--display", "text", "--tool", "Bash"], "--tool Bash: "),
        (&["--display", "text", "--grep", "x"], "--grep x: "),
        (&["--display", "text", "--errors"], "--errors: "),
        (&["--display", "text", "--since", "2h"], "--since "),
        (&["--display", "text", "--until", "2h"], "--until "),
    ] {
        let output = run_with(arguments, &[]);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(word), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn filters_are_refused_wherever_the_display_comes_from() {
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "display = \"text\"\n").unwrap();
    let text = [("UNSPOOL_CONFIG", config.to_str().unwrap())];
    assert_eq!(run_with(&["--errors"], &text).status.code(), Some(2));
    let full = run_with(&["--errors", "--display", "full"], &text);
    assert_eq!(full.status.code(), Some(0));
    let raw = run_with(&["--errors", "--raw"], &text);
    assert_eq!(raw.status.code(), Some(0), "nothing is shown that could be");
}

#[test]
fn the_exit_status_tells_how_the_run_ended() {
    let folder = TempDir::new().unwrap();
    for (status, code) in [
        ("completed", 0),
        ("failed", 1),
        ("canceled", 1),
        ("interrupted", 1),
    ] {
        let path = file(
            &folder,
            &RUN.replace("\"completed\"", &format!("\"{status}\"")),
        );
        for display in ["full", "text", "verbose"] {
            let output = unspool().arg(&path).args(["--display", display]).output();
            assert_eq!(output.unwrap().status.code(), Some(code), "{status}");
        }
        let raw = unspool().arg(&path).arg("--raw").output().unwrap();
        assert_eq!(raw.status.code(), Some(0), "raw does not judge");
    }
}

#[test]
fn an_input_that_cannot_be_read_does_not_hide_the_others() {
    let folder = TempDir::new().unwrap();
    let path = file(&folder, RUN);
    let output = unspool().arg("no-such-file").arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("• Read src/core.rs"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-such-file"));
}

#[test]
fn the_summary_is_printed_to_a_pipe_if_asked_for() {
    let usage = "• Usage: 1200 in, 64 out\n";
    let summary =
        "\n1 turn · 2 tool calls (1 failed) · 6 min 0 s · 1.2k tokens in · 64 tokens out · m-1\n";
    assert!(shown(&[]).ends_with(usage));
    assert!(shown(&["--no-summary"]).ends_with(usage));
    let text = shown(&["--summary"]);
    assert!(text.ends_with(&format!("{usage}{summary}")), "{text}");
    // What is typed holds for every display, what is in the file for the full one.
    let answer = shown(&["--summary", "--display", "text"]);
    assert!(answer.ends_with(&format!("docs).\n{summary}")), "{answer}");
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "summary = true\n").unwrap();
    let config = [("UNSPOOL_CONFIG", config.to_str().unwrap())];
    let with_file = |arguments: &[&str]| {
        let output = run_with(arguments, &config);
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(with_file(&[]).ends_with(summary));
    assert!(with_file(&["--no-summary"]).ends_with(usage));
    assert!(!with_file(&["--display", "text"]).contains("1 turn"));
}

#[test]
fn the_summary_cannot_command_github_actions() {
    let run = r#"{"kind":"session","seq":0,"provider":"claude","model":"::stop-commands::x"}
{"kind":"notice","seq":1,"level":"info","text":"Hello."}
"#;
    let folder = TempDir::new().unwrap();
    let mut command = unspool();
    command.arg(file(&folder, run)).arg("--summary");
    let output = command.env("GITHUB_ACTIONS", "true").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with("\n\\x3A:stop-commands::x\n"), "{text}");
}

/// The reader of the pipe goes away after the first bytes, long before the end.
#[test]
fn a_closed_pipe_is_no_error() {
    let folder = TempDir::new().unwrap();
    let line = r#"{"kind":"text","seq":0,"id":"a","text":"Words, words, words."}"#;
    let long = format!("{line}\n").repeat(100_000);
    let path = file(&folder, &long);
    for display in ["full", "text", "verbose"] {
        let mut child = unspool()
            .arg(&path)
            .args(["--display", display])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdout.take().unwrap();
        pipe.read_exact(&mut [0; 64]).unwrap();
        drop(pipe);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{display}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{display}");
    }
}

#[test]
fn several_files_stand_below_their_names() {
    let folder = TempDir::new().unwrap();
    let path = file(&folder, RUN);
    let name = path.to_str().unwrap();
    let shown = |files: &[&str], more: &[&str]| {
        let mut command = unspool();
        command.args(files).args(["--only", "user"]).args(more);
        let output = command.stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let both = format!("==> {name} <==\n› Fix it\n\n==> {name} <==\n› Fix it\n");
    assert_eq!(shown(&[name, name], &[]), both);
    assert_eq!(shown(&[name], &[]), "› Fix it\n");
    let answers = shown(&[name, name], &["--display", "text"]);
    assert!(!answers.contains("==>"), "{answers}");
    assert_eq!(shown(&[name, name], &["--raw"]), RUN.repeat(2));
}

#[test]
fn a_pattern_shows_its_line_of_a_long_body() {
    let text = shown(&["--grep", "seven", "--lines", "2"]);
    let expected = "• Ran cargo test (exit 101)\n  └ … +5 lines\n    six\n    seven\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn what_tells_no_times_says_that_none_were_compared() {
    let run: String = RUN
        .lines()
        .map(|line| match line.split_once(r#","time":"#) {
            Some((words, _)) => format!("{words}}}\n"),
            None => format!("{line}\n"),
        })
        .collect();
    let folder = TempDir::new().unwrap();
    let path = file(&folder, &run);
    let mut command = unspool();
    command.arg(&path).args(["--since", "2h"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("Done"), "{out}");
    let said = String::from_utf8(output.stderr).unwrap();
    let words = "this run has no timestamps: --since has no effect\n";
    assert_eq!(said, format!("unspool: {}: {words}", path.display()));
}

#[test]
fn what_a_turn_took_is_as_old_as_its_end() {
    let run = RUN.replace(
        r#""seq":12,"status":"completed"}"#,
        r#""seq":12,"status":"completed","time":"2026-11-15T10:06:00Z"}"#,
    );
    let folder = TempDir::new().unwrap();
    let path = file(&folder, &run);
    let usage_since = |time: &str| {
        let mut command = unspool();
        command.arg(&path).args(["--since", time]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().contains("Usage")
    };
    assert!(usage_since("2026-11-15T10:05:30Z"));
    assert!(!usage_since("2026-11-15T10:07:00Z"));
}

#[test]
fn text_of_other_programs_keeps_its_lines() {
    let folder = TempDir::new().unwrap();
    let path = file(&folder, "total 2\n-rw a\n-rw  *b*\n");
    let output = unspool().arg(path).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "• total 2\n-rw a\n-rw  *b*\n");
    // Wrapped at words, as all that programs print.
    let path = file(&folder, "It could not be repaired automatically, but\n");
    let mut command = unspool();
    command.arg(path).args(["--width", "40"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "• It could not be repaired\n  automatically, but\n");
}

/// Returns the output for a run that ended like this: standard output, standard error,
/// and the exit status.
fn ended(arguments: &[&str], end: &str) -> (String, String, Option<i32>) {
    let run = format!(
        r#"{{"kind":"session","seq":0,"provider":"claude","id":"s"}}
{{"kind":"text","seq":1,"id":"a","text":"I look."}}
{end}"#
    );
    let folder = TempDir::new().unwrap();
    let mut command = unspool();
    command.current_dir(&folder);
    file(&folder, &run);
    command.arg("run.jsonl").args(arguments);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        text(output.stdout),
        text(output.stderr),
        output.status.code(),
    )
}

#[test]
fn answers_alone_leave_the_reason_of_a_failure_to_standard_error() {
    let error = r#"{"kind":"notice","seq":2,"level":"error","text":"Overloaded.\nTry again.\n\nSee the log."}"#;
    let turn = |status: &str, reason: &str| {
        format!(r#"{{"kind":"turn_end","seq":3,"status":"{status}","reason":"{reason}"}}"#)
    };
    let failed = format!("{error}\n{}", turn("failed", "api_error"));
    let limited = format!("{error}\n{}", turn("failed", "Only 3 reflections allowed."));
    let again = format!("{failed}\n{}", turn("completed", ""));
    let (left_out, complete) = (
        r#"{"kind":"notice","seq":2,"level":"warning","text":"A line was too long.","left_out":9}"#,
        turn("completed", ""),
    );
    let cases = [
        (failed.as_str(), "the run failed: Overloaded. Try again.", 1),
        (&limited, "the run failed: Only 3 reflections allowed.", 1),
        (&turn("canceled", ""), "the run was canceled", 1),
        (
            &turn("interrupted", ""),
            "the stream ended before the agent finished",
            1,
        ),
        (
            &format!("{left_out}\n{complete}"),
            "A line was too long.",
            1,
        ),
        (&again, "", 0),
        (&complete, "", 0),
    ];
    for display in ["text", "verbose"] {
        for (end, why, status) in cases {
            let said = match why {
                "" => String::new(),
                why => format!("unspool: run.jsonl: {why}\n"),
            };
            let shown = ended(&["--display", display], end);
            assert_eq!(shown, ("I look.\n".to_owned(), said, Some(status)));
        }
    }
    let (out, err, _) = ended(&[], &failed);
    assert!(out.contains("Error: Overloaded."), "{out}");
    assert_eq!(err, "", "the view tells it itself");
}

#[test]
fn copy_clean_draws_nothing_beside_the_words() {
    let text = "> Quoted\\n\\n---\\n\\n| a | b |\\n|---|---|\\n| 1 | two |\\n\\n- x\\n\\n  > y";
    let run = format!(r#"{{"kind":"text","seq":0,"id":"a","text":"{text}"}}"#);
    let folder = TempDir::new().unwrap();
    let mut command = unspool();
    command.arg(file(&folder, &run)).arg("--copy-clean");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "Quoted\n\na  b\n1  two\n\n- x\n\n  y\n");
    // Lines of a program that is no agent are written as they come.
    let long = "word ".repeat(30);
    let mut command = unspool();
    command
        .arg(file(&folder, &format!("a\n{long}\n")))
        .arg("--copy-clean");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, format!("a\n{}\n", long.trim_end()));
}

#[test]
fn an_empty_standard_input_is_said_to_be_empty() {
    let output = unspool().stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("unspool: standard input is empty: pipe in"),
        "{said}"
    );
}

#[test]
fn blank_lines_alone_are_nothing() {
    let folder = TempDir::new().unwrap();
    let shown = |content: &str| {
        let mut command = unspool();
        command.arg(file(&folder, content));
        let output = command.stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(shown("\n\n \n"), "");
    assert_eq!(shown("\n\n  a\n\nb\n"), "•   a\n\nb\n");
}

#[test]
fn sub_agents_are_called_by_their_whole_work() {
    let work = "Count the unit tests in tests/test_tally.py and say how many there are";
    let run = format!(
        r#"{{"kind":"tool_use","seq":0,"id":"t","name":"Task","category":"task","arg":"Count the unit tests in tests/test_tall…","input":{{"prompt":"{work}"}}}}
{{"kind":"text","seq":1,"id":"x","text":"Meanwhile."}}
{{"kind":"text","seq":2,"id":"a","text":"Three.","agent":{{"id":"s","parent":"t","depth":1,"name":"w"}}}}"#
    );
    let folder = TempDir::new().unwrap();
    let mut command = unspool();
    command.arg(file(&folder, &run)).args(["--width", "120"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&format!("\n  {work}:\n")), "{text}");
}

#[test]
fn what_a_command_printed_before_it_was_stopped_is_no_reason() {
    let run = r#"{"kind":"tool_use","seq":0,"id":"t","name":"Bash","category":"execute","arg":"make","input":{"command":"make"}}
{"kind":"tool_result","seq":1,"id":"t","name":"Bash","status":"canceled","output":"begin"}
"#;
    let folder = TempDir::new().unwrap();
    let output = unspool().arg(file(&folder, run)).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "• Canceled make\n  └ begin\n");
}
