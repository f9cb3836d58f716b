//! `unspool export` through the command line.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn export(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unspool"));
    let command = command.arg("export").args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).output().unwrap()
}

fn text(output: &Output) -> String {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn recording(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    path.join(name)
        .canonicalize()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned()
}

const CLAUDE: &str = "corpus/claude/parity/parity.live.jsonl";
const MARKDOWN: &str = "shown/markdown.jsonl";
const NASTY: &str = "corpus/claude/nasty/nasty.live.jsonl";

fn snapshot(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/shown/export");
    insta::with_settings!({
        snapshot_path => folder,
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn pictures_are_included_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording("corpus/claude/images/images.live.jsonl");
    let page = text(&export(folder.path(), &[&run, "--to", "html"]));
    assert!(!page.contains("<img "));
    assert!(page.contains("[image 2×2 PNG, 77 bytes]"));
    let page = export(folder.path(), &[&run, "--to", "html", "--with-media"]);
    let told = String::from_utf8_lossy(&page.stderr);
    assert!(
        told.contains("pictures and files are not redacted"),
        "{told}"
    );
    let page = String::from_utf8_lossy(&page.stdout);
    assert_eq!(page.matches("<img ").count(), 1);
    assert!(page.contains("img-src data:;"));
    let small = ["--with-media", "--max-media", "100"];
    let page = export(
        folder.path(),
        &[&[&*run, "--to", "html"], &small[..]].concat(),
    );
    assert!(!String::from_utf8_lossy(&page.stdout).contains("<img "));
    let events = text(&export(folder.path(), &[&run, "--to", "jsonl"]));
    assert!(!events.contains("\"data\""));
    let events = text(&export(
        folder.path(),
        &[&run, "--to", "jsonl", "--with-media"],
    ));
    assert!(events.contains("\"data\":\"iVBORw0KGgo"));
}

#[test]
fn the_ending_names_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(CLAUDE);
    for (name, start) in [
        ("a.html", "<!doctype html>"),
        ("a.md", "### "),
        ("a.svg", "<svg "),
        ("a.txt", "• I'll start"),
        ("a.jsonl", "{\"kind\":\"session\""),
    ] {
        assert_eq!(text(&export(folder.path(), &[&run, "-o", name])), "");
        let written = fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(written.starts_with(start), "{name}: {written:.60}");
    }
    let output = export(folder.path(), &[&run, "-o", "a.pdf"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not a known format"));
}

#[test]
fn no_file_is_written_over_unless_that_is_meant() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(CLAUDE);
    let old = folder.path().join("a.html");
    fs::write(&old, "old").unwrap();
    let output = export(folder.path(), &[&run, "-o", "a.html"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--force"));
    assert_eq!(fs::read_to_string(&old).unwrap(), "old");
    text(&export(folder.path(), &[&run, "-o", "a.html", "--force"]));
    assert!(
        fs::read_to_string(&old)
            .unwrap()
            .starts_with("<!doctype html>")
    );
}

#[test]
fn each_run_gets_a_file_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (recording(CLAUDE), recording(NASTY));
    let said = text(&export(folder.path(), &[&one, &two, "-o", "new/pages/"]));
    assert_eq!(
        said,
        "new/pages/parity.live.html\nnew/pages/nasty.live.html\n"
    );
    for line in said.lines() {
        let page = fs::read_to_string(folder.path().join(line)).unwrap();
        assert!(page.ends_with("</html>\n"));
    }
    let output = export(folder.path(), &[&one, &two]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("choose a folder"));
    let both = text(&export(folder.path(), &[&one, &two, "--to", "text"]));
    assert!(both.contains("I'll start by") && both.contains("blob.bin"));
}

#[test]
fn no_folder_is_made_for_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(CLAUDE);
    let output = export(folder.path(), &[&run, "-o", "no/such/x.html"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("the folder no/such does not exist: create it first"),
        "{said}"
    );
    assert!(!folder.path().join("no").exists());
    let output = export(folder.path(), &[&run, "--redact", "--no-redact"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cannot be used with"), "{said}");
}

#[test]
fn events_and_text_are_those_of_the_other_commands() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(CLAUDE);
    let other = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unspool"));
        let output = command.args(arguments).stdin(Stdio::null()).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let events = text(&export(folder.path(), &[&run, "--to", "jsonl"]));
    assert_eq!(events, other(&["events", &run]));
    let shown = text(&export(
        folder.path(),
        &[&run, "--to", "text", "--width", "60"],
    ));
    assert_eq!(shown, other(&[&run, "--width", "60", "--color", "never"]));
    // What was read back gives the same page.
    fs::write(folder.path().join("run.jsonl"), events).unwrap();
    let main = |page: String| page.split_once("<main").unwrap().1.to_owned();
    let first = main(text(&export(folder.path(), &[&run])));
    assert_eq!(main(text(&export(folder.path(), &["run.jsonl"]))), first);
}

#[test]
fn filters_and_reasoning_apply() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(MARKDOWN);
    let articles = |arguments: &[&str]| {
        let page = text(&export(
            folder.path(),
            &[&[run.as_str()], arguments].concat(),
        ));
        page.matches("<article").count()
    };
    let all = articles(&[]);
    assert_eq!(articles(&["--only", "user"]), 1);
    assert_eq!(articles(&["--reasoning", "off"]), all - 1);
    assert!(articles(&["--errors"]) < all / 2);
}

#[test]
fn filters_that_leave_nothing_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(MARKDOWN);
    for format in ["html", "markdown", "svg", "text"] {
        let output = export(folder.path(), &[&run, "--to", format, "--grep", "zzzz"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.ends_with(": nothing matches --grep zzzz\n"),
            "{format}: {said}"
        );
    }
    let output = export(folder.path(), &[&run, "--to", "jsonl", "--grep", "a"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

#[test]
fn what_was_too_long_to_be_read_is_told_by_the_status() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(CLAUDE);
    for format in ["html", "markdown", "text", "jsonl"] {
        let status = |limit: &str| {
            let arguments = [&run, "--to", format, "--frame-limit", limit];
            export(folder.path(), &arguments).status.code()
        };
        assert_eq!((status("1K"), status("1M")), (Some(1), Some(0)), "{format}");
    }
}

#[test]
fn the_head_of_a_page_names_agent_and_model() {
    let folder = tempfile::tempdir().unwrap();
    for (recorded, agent, model) in [
        ("claude/parity/parity.live.jsonl", "Claude Code", "opus"),
        ("claude/hello/hello.session.jsonl", "Claude Code", "opus"),
        (
            "gemini/parity/parity.session/project/chats/session-2026-11-15T18-16-33fb7648.jsonl",
            "Gemini CLI",
            "",
        ),
        (
            "aider/classic-mentions/classic-mentions.session.md",
            "aider",
            "",
        ),
        ("acp/gemini/parity.acp.jsonl", "Gemini CLI", ""),
        ("acp/aider/acp-parity.acp.jsonl", "cecli", ""),
    ] {
        let page = text(&export(
            folder.path(),
            &[&recording(&format!("corpus/{recorded}")), "--to", "html"],
        ));
        let head = page.split("</header>").next().unwrap();
        let fact = |name: &str| {
            let value = head.split(&format!("<dt>{name}</dt><dd>")).nth(1);
            value
                .map(|value| value.split('<').next().unwrap().to_owned())
                .unwrap_or_default()
        };
        let shown = fact("Agent");
        let shown = shown.trim_end_matches(|c: char| c.is_ascii_digit() || ". ".contains(c));
        assert_eq!(shown, agent, "{recorded}");
        assert!(
            !fact("Model").is_empty() && fact("Model").contains(model),
            "{recorded}"
        );
    }
}

/// Two sub-agents that take turns, as events.
const TURNS: &str = r#"{"kind":"session","seq":0,"provider":"claude"}
{"kind":"user","seq":1,"text":"Count"}
{"kind":"tool_use","seq":2,"id":"1","name":"Bash","category":"execute","arg":"one","input":{"command":"one"},"agent":{"id":"a","depth":1,"name":"Count *tests*"}}
{"kind":"tool_result","seq":3,"id":"1","name":"Bash","status":"ok","output":"1","agent":{"id":"a","depth":1,"name":"Count *tests*"}}
{"kind":"tool_use","seq":4,"id":"2","name":"Bash","category":"execute","arg":"two","input":{"command":"two"},"agent":{"id":"b","depth":1,"name":"Count functions"}}
{"kind":"tool_result","seq":5,"id":"2","name":"Bash","status":"ok","output":"2","agent":{"id":"b","depth":1,"name":"Count functions"}}
{"kind":"tool_use","seq":6,"id":"3","name":"Bash","category":"execute","arg":"three","input":{"command":"three"},"agent":{"id":"b","depth":1,"name":"Count functions"}}
{"kind":"tool_result","seq":7,"id":"3","name":"Bash","status":"ok","agent":{"id":"b","depth":1,"name":"Count functions"}}
{"kind":"text","seq":8,"id":"t","text":"Two.","agent":{"id":"b","depth":1,"name":"Count functions"}}
{"kind":"turn_end","seq":9,"status":"completed"}
"#;

#[test]
fn whose_work_it_is_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("run.jsonl"), TURNS).unwrap();
    let page = text(&export(folder.path(), &["run.jsonl"]));
    let seen = |who: &str| {
        page.matches(&format!("<h3 class=\"speaker\">{who}"))
            .count()
    };
    assert_eq!(seen("Tool call <span>of Count *tests*"), 1);
    assert_eq!(
        seen("Tool call <span>of Count functions"),
        1,
        "not once more for the next call"
    );
    assert_eq!(seen("Answer <span>of Count functions"), 1);
    let comment = text(&export(folder.path(), &["run.jsonl", "--to", "markdown"]));
    for line in [
        "<details><summary>Count *tests*: <b>Ran</b> <code>one</code></summary>",
        "<details><summary>Count functions: <b>Ran</b> <code>two</code></summary>",
        "- Count functions: **Ran** `three`",
        "*Count functions:*\n\nTwo.",
    ] {
        assert!(comment.contains(line), "{line} in {comment}");
    }
}

#[test]
fn a_comment_keeps_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording("corpus/claude/bigoutput/bigoutput.live.jsonl");
    let whole = text(&export(
        folder.path(),
        &[&run, "--to", "markdown", "--max-size", "1G"],
    ));
    let cut = text(&export(
        folder.path(),
        &[&run, "--to", "markdown", "--max-size", "5000"],
    ));
    assert!(
        whole.len() > 5000 && cut.len() <= 5000,
        "{} {}",
        whole.len(),
        cut.len()
    );
    assert!(cut.contains("Left out to fit 5000 bytes: "));
    assert_eq!(
        cut.matches("<details>").count(),
        cut.matches("</details>").count()
    );
}

#[test]
fn a_picture_holds_hostile_text_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let picture = text(&export(
        folder.path(),
        &[&recording(NASTY), "--to", "svg", "--lines", "all"],
    ));
    assert!(picture.contains("&lt;script&gt;"));
    assert!(!picture.contains("<script"));
    assert!(picture.chars().all(|c| c == '\n' || !c.is_control()));
    let light = text(&export(
        folder.path(),
        &[&recording(CLAUDE), "--to", "svg", "--theme", "light"],
    ));
    assert!(light.contains("#FFFFFF"));
}

/// The middle of a page, without its numbers of bytes.
fn main_of(page: &str) -> String {
    let (_, rest) = page.split_once("<header>").unwrap();
    let (header, rest) = rest.split_once("</header>").unwrap();
    let (main, _) = rest
        .split_once("<main")
        .unwrap()
        .1
        .split_once("<script>")
        .unwrap();
    format!("{header}<main{main}")
}

#[test]
fn pages_and_comments_of_recordings() {
    let folder = tempfile::tempdir().unwrap();
    for (name, run) in [("claude", CLAUDE), ("markdown", MARKDOWN)] {
        let run = recording(run);
        let page = text(&export(folder.path(), &[&run]));
        snapshot(&format!("{name}.html"), &main_of(&page));
        let comment = text(&export(folder.path(), &[&run, "--to", "markdown"]));
        snapshot(&format!("{name}.md"), &comment);
    }
}

#[test]
fn fences_of_a_comment_name_their_language() {
    let folder = tempfile::tempdir().unwrap();
    let call = |id: &str, name: &str, category: &str, input: &str, output: &str| {
        format!(
            r#"{{"kind":"tool_use","seq":0,"id":"{id}","name":"{name}","category":"{category}","input":{input}}}
{{"kind":"tool_result","seq":0,"id":"{id}","name":"{name}","status":"ok","output":"{output}"}}
"#
        )
    };
    let long = format!("crates/{}/src/main.rs", "deep/".repeat(20));
    let path = |path: &str| format!(r#"{{"file_path":"{path}"}}"#);
    let run = [
        r#"{"kind":"text","seq":0,"id":"a","text":"Like this:\n\n```rust,ignore\nlet a = 1;\n```"}"#
            .to_owned() + "\n",
        call("1", "Read", "read", &path("notes.py"), "print(1)"),
        call(
            "2",
            "Read",
            "read",
            &path(&long),
            "     1\\tfn main() {}\\n     2\\t// end",
        ),
        call("3", "Read", "read", &path("x.`evil"), "nothing"),
        call("4", "Bash", "execute", r#"{"command":"ls\nls -l"}"#, "a.rs"),
        call("5", "Odd", "other", r#"{"a":1}"#, r#"{\"b\":2}"#),
    ];
    fs::write(folder.path().join("run.jsonl"), run.concat()).unwrap();
    let comment = text(&export(folder.path(), &["run.jsonl", "--to", "markdown"]));
    for fence in [
        "```rust\nlet a = 1;\n```",
        "```python\nprint(1)\n```",
        "```rust\nfn main() {}\n// end\n```",
        "```\nnothing\n```",
        "```bash\nls\nls -l\n```",
        "```console\na.rs\n```",
        "```json\n{\n  \"b\": 2\n}\n```",
    ] {
        assert!(comment.contains(fence), "{fence}\nin\n{comment}");
    }
}

/// Runs `export` on a terminal of sixty columns and returns what it prints.
fn export_on_a_terminal(folder: &Path, arguments: &[&str]) -> String {
    let (mut pty, pts) = pty_process::blocking::open().unwrap();
    pty.resize(pty_process::Size::new(24, 60)).unwrap();
    let command = pty_process::blocking::Command::new(env!("CARGO_BIN_EXE_unspool"));
    let command = command.env_remove("COLUMNS").arg("export").args(arguments);
    let mut child = command.current_dir(folder).spawn(pts).unwrap();
    let mut said = Vec::new();
    // The terminal is gone when the command has ended.
    let _ = std::io::Read::read_to_end(&mut pty, &mut said);
    assert!(child.wait().unwrap().success());
    String::from_utf8(said).unwrap().replace("\r\n", "\n")
}

#[test]
fn on_a_terminal_pages_and_pictures_go_to_files() {
    let run = recording(CLAUDE);
    for (format, name, start) in [
        ("html", "parity.live.html", "<!doctype html>"),
        ("svg", "parity.live.svg", "<svg "),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let said = export_on_a_terminal(folder.path(), &[&run, "--to", format]);
        assert_eq!(said, format!("{name}\n"));
        let files: Vec<PathBuf> = fs::read_dir(folder.path())
            .unwrap()
            .map(|file| file.unwrap().path())
            .collect();
        assert_eq!(files, [folder.path().join(name)]);
        let written = fs::read_to_string(&files[0]).unwrap();
        assert!(written.starts_with(start), "{written:.60}");
        // In a pipe it is the output.
        let piped = text(&export(folder.path(), &[&run, "--to", format]));
        assert!(piped.starts_with(start), "{piped:.60}");
    }
}

#[test]
fn exported_text_is_wrapped_only_on_a_terminal_or_if_a_width_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(CLAUDE);
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max();
    let arguments = [run.as_str(), "--to", "text"];
    let screen = export_on_a_terminal(folder.path(), &arguments);
    assert_eq!(widest(&screen), Some(60));
    let piped = text(&export(folder.path(), &arguments));
    assert!(widest(&piped) > Some(60), "{piped}");
    let narrow = text(&export(
        folder.path(),
        &[&arguments[..], &["--width", "50"]].concat(),
    ));
    assert_eq!(widest(&narrow), Some(50));
}

#[test]
fn a_picture_has_at_most_the_requested_lines_and_says_how_many_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let line = |n: usize| format!(r#"{{"kind":"text","seq":{n},"id":"{n}","text":"line {n}"}}"#);
    let run: Vec<String> = (0..400).map(line).collect();
    fs::write(folder.path().join("run.jsonl"), run.join("\n")).unwrap();
    let picture = |arguments: &[&str]| {
        let arguments = [&["run.jsonl", "--to", "svg"], arguments].concat();
        let output = export(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0));
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    };
    // Each message but the first has an empty line above it.
    for (arguments, most) in [(&[][..], 500_usize), (&["--max-lines", "9"], 9)] {
        let (shown, said) = picture(arguments);
        assert_eq!(shown.matches("line ").count(), most.div_ceil(2));
        let missing = format!("… {} more lines", 799 - most);
        assert!(shown.contains(&missing), "{arguments:?}");
        let words = format!("the picture shows the first {most} of 799 lines: --max-lines N");
        assert!(said.contains(&words), "{said}");
    }
    for arguments in [&["--max-lines", "all"], &["--max-lines", "799"]] {
        let (shown, said) = picture(arguments);
        assert_eq!(shown.matches("line ").count(), 400);
        assert!(!shown.contains(" more line") && said.is_empty(), "{said}");
    }
    for wrong in [
        &["--max-lines", "0"][..],
        &["--max-lines", "5", "--to", "text"],
    ] {
        let output = export(folder.path(), &[&["run.jsonl"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

/// A run with a secret in everything that is said and done, made up for this.
const SECRETS: &str = r#"{"kind":"session","seq":0,"provider":"claude","cwd":"/home/alice/shop","title":"For alice@example.org"}
{"kind":"user","seq":1,"text":"Deploy with DB_PASSWORD=hunter2x, mail alice@example.org"}
{"kind":"text","seq":2,"id":"a","text":"The token is ghp_aB3dE5gH7j","delta":true}
{"kind":"text","seq":3,"id":"a","text":"K9mN1pQ3sT5vW7yZ9bC2eF","delta":true}
{"kind":"tool_use","seq":4,"id":"1","name":"Bash","category":"execute","arg":"cat /home/alice/shop/.env","input":{"command":"cat /home/alice/shop/.env"}}
{"kind":"tool_result","seq":5,"id":"1","name":"Bash","status":"ok","output":"API_KEY=9f8e7d6c5b4a3210ff\nTOKEN=ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF\n","edits":[{"op":"update","path":"/home/alice/shop/.env","hunks":[{"lines":["-DB_PASSWORD=hunter2x"]}]}]}
{"kind":"turn_end","seq":6,"status":"completed"}
"#;

#[test]
fn what_others_should_not_see_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("run.jsonl"), SECRETS).unwrap();
    let secret = [
        "alice",
        "hunter2x",
        "ghp_",
        "9f8e7d6c5b4a3210ff",
        "example.org",
    ];
    let leaks = |text: &str| secret.iter().filter(|word| text.contains(**word)).count();
    for (format, redacts) in [
        ("html", true),
        ("markdown", true),
        ("svg", false),
        ("text", false),
        ("jsonl", false),
    ] {
        let run = |more: &[&str]| {
            let mut arguments = vec!["run.jsonl", "--to", format, "-o", "-"];
            arguments.extend_from_slice(more);
            let output = export(folder.path(), &arguments);
            let said = String::from_utf8(output.stderr).unwrap();
            (String::from_utf8(output.stdout).unwrap(), said)
        };
        let (usual, said) = run(&[]);
        assert_eq!(leaks(&usual) == 0, redacts, "{format}");
        assert_eq!(!said.is_empty(), redacts, "{format}");
        let (clean, said) = run(&["--redact"]);
        assert_eq!(leaks(&clean), 0, "{format}: {clean}");
        assert_eq!(
            said,
            "unspool: replaced 1 GitHub token (in 2 places), 1 email (in 2 places), \
             1 home directory (in 4 places), 1 key, 1 password (in 2 places) (--no-redact keeps them)\n"
        );
        assert!(
            clean.contains("[GitHub token 1]") || format == "svg",
            "{format}"
        );
        let (open, said) = run(&["--no-redact"]);
        assert!(leaks(&open) >= 4, "{format}");
        assert_eq!(said, "");
    }
}

#[test]
fn a_secret_is_replaced_before_it_is_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let run = r#"{"kind":"user","seq":0,"text":"I chose Sunsh1ne!x for it"}
{"kind":"text","seq":1,"id":"a","text":"Then run `DB_PASSWORD=Sunsh1ne!x ./deploy`."}
{"kind":"tool_result","seq":2,"id":"1","name":"Bash","status":"ok","output":"\u001b[32mSunsh1\u001b[0mne!x is set"}
{"kind":"turn_end","seq":3,"status":"completed"}
"#;
    fs::write(folder.path().join("run.jsonl"), run).unwrap();
    for format in ["html", "markdown", "text", "jsonl"] {
        let arguments = ["run.jsonl", "--to", format, "-o", "-", "--redact"];
        let output = export(folder.path(), &arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains("Sunsh1"), "{format}: {text}");
        assert!(text.contains("I chose"), "{format}: {text}");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "unspool: replaced 1 password (in 3 places) (--no-redact keeps them)\n"
        );
    }
}

#[test]
fn a_token_has_the_same_name_in_the_frame_that_it_came_in() {
    let folder = tempfile::tempdir().unwrap();
    let token = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF";
    let unknown = format!(
        r#"{{"type":"never-seen","note":"use {token}","token":"{token}","password":"hunter2x"}}"#
    );
    let run = format!(
        "{}\n{unknown}\n",
        r#"{"type":"system","subtype":"init","session_id":"s","tools":[],"model":"m","cwd":"/p"}"#
    );
    fs::write(folder.path().join("run.jsonl"), run).unwrap();
    let output = export(folder.path(), &["run.jsonl", "--to", "jsonl", "--redact"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    let last = shown
        .lines()
        .find(|line| line.contains("never-seen"))
        .unwrap();
    let event: serde_json::Value = serde_json::from_str(last).unwrap();
    for name in ["text", "raw"] {
        let frame: serde_json::Value = serde_json::from_str(event[name].as_str().unwrap()).unwrap();
        assert_eq!(frame["note"], "use [GitHub token 1]", "{name}");
        assert_eq!(frame["token"], "[GitHub token 1]", "{name}");
        assert_eq!(frame["password"], "[password 1]", "{name}");
    }
}

#[test]
fn fences_keep_their_language_in_a_comment() {
    let folder = tempfile::tempdir().unwrap();
    let answer = "```rust,ignore\nfn a() {}\n```\n\n- x\n  ```c++ title=\"a\"\n  int b;\n  ```\n\n```<img>\nc\n```\n\n~~~\nd\n~~~\n";
    let line = |delta: bool| serde_json::json!({"kind": "text", "seq": 1, "id": "a", "text": answer, "delta": delta});
    for delta in [true, false] {
        let run = format!(
            "{}\n{}\n{}\n",
            r#"{"kind":"session","seq":0,"provider":"claude"}"#,
            line(delta),
            r#"{"kind":"turn_end","seq":2,"status":"completed"}"#
        );
        fs::write(folder.path().join("run.jsonl"), run).unwrap();
        let comment = text(&export(folder.path(), &["run.jsonl", "--to", "markdown"]));
        for fence in [
            "```rust\nfn a() {}\n```",
            "```c++\n  int b;\n  ```",
            "```\nc\n```",
            "```\nd\n```",
        ] {
            assert!(comment.contains(fence), "{fence}: {comment}");
        }
    }
}

#[test]
fn standard_output_has_other_names() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(CLAUDE);
    let page = text(&export(
        folder.path(),
        &[&run, "-o", "-", "--to", "markdown"],
    ));
    for name in ["/dev/stdout", "/dev/fd/1"] {
        let same = export(folder.path(), &[&run, "-o", name, "--to", "markdown"]);
        assert_eq!(text(&same), page, "{name}");
    }
    // A device is there already.
    text(&export(
        folder.path(),
        &[&run, "-o", "/dev/null", "--to", "text"],
    ));
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(CLAUDE);
    let files = || fs::read_dir(folder.path()).unwrap().count();
    // A file may grow to one block only.
    let limited = |name: &str| {
        let command = format!(
            "ulimit -f 1; trap '' XFSZ; exec {} export {run} -o {name} --force",
            env!("CARGO_BIN_EXE_unspool")
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(folder.path());
        shell.stdin(Stdio::null()).output().unwrap()
    };
    let output = limited("a.html");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), files()), (Some(2), 0), "{said}");
    assert!(said.contains("cannot write a.html"), "{said}");
    fs::write(folder.path().join("b.html"), "old").unwrap();
    assert_eq!(limited("b.html").status.code(), Some(2));
    assert_eq!(files(), 1);
    assert_eq!(
        fs::read_to_string(folder.path().join("b.html")).unwrap(),
        "old"
    );
}

#[test]
fn a_size_is_for_comments() {
    let folder = tempfile::tempdir().unwrap();
    let output = export(
        folder.path(),
        &[&recording(CLAUDE), "-o", "a.html", "--max-size", "9K"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("--max-size applies only to comments")
    );
}

#[test]
fn nothing_is_no_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("empty.jsonl"), "").unwrap();
    let output = export(folder.path(), &["empty.jsonl", "-o", "a.html"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "unspool: empty.jsonl is empty: there is nothing to export\n"
    );
    assert!(!folder.path().join("a.html").exists());
}
