//! What recorded runs look like where it is easily told wrong: how a thing went,
//! in which order things happened, and the same words for all agents.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "live/environment.rs"]
mod environment;

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn unspool(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unspool"));
    for name in environment::VARIABLES {
        command.env_remove(name);
    }
    command.envs(environment::OURS);
    let command = command.args(arguments).stdin(Stdio::null());
    command.output().unwrap()
}

/// A recording as it is shown, with more options.
fn shown(name: &str, options: &[&str]) -> String {
    let path = corpus(name);
    let output = unspool(&[&[path.as_str(), "--width", "80"], options].concat());
    String::from_utf8(output.stdout).unwrap()
}

fn corpus(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    path.join(name).to_str().unwrap().to_owned()
}

/// The lines that begin with one of these words.
fn lines_with<'a>(text: &'a str, words: &[&str]) -> Vec<&'a str> {
    let begins = |line: &&str| words.iter().any(|word| line.contains(word));
    text.lines().filter(begins).collect()
}

#[test]
fn edits_of_aider_say_whether_they_were_made() {
    for kind in ["txt", "session.md"] {
        let name = format!("aider/classic-bad-edit/classic-bad-edit.{kind}");
        let text = shown(&name, &["--only", "edit"]);
        let failed =
            "• Edit app.py\n  └ Error: This SEARCH block failed to exactly match lines in app.py";
        assert_eq!(text.trim_end(), [failed; 3].join("\n"), "{kind}");
    }
    for name in ["classic-commands", "classic-mentions"] {
        let text = shown(&format!("aider/{name}/{name}.txt"), &["--only", "edit"]);
        let heads = lines_with(&text, &["•"]);
        assert_eq!(heads, ["• Edit app.py", "• Rejected Add lib/extra.py"]);
    }
    let text = shown("aider/classic-patch/classic-patch.txt", &["--only", "edit"]);
    assert!(text.starts_with("• Edit app.py\n         def greet(name):\n"));
    let failed = "• Add lib/extra.py\n  └ Error: ADD Error: File already exists: lib/extra.py\n";
    assert!(text.contains(failed), "{text}");
}

#[test]
fn leaving_aider_does_not_hide_that_it_failed() {
    let failed = corpus("aider/classic-bad-edit/classic-bad-edit.session.md");
    let output = unspool(&[&failed]);
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .ends_with("› /exit\n")
    );
    assert_eq!(output.status.code(), Some(1));
    let fine = corpus("aider/classic-thinking/classic-thinking.session.md");
    assert_eq!(unspool(&[&fine]).status.code(), Some(0));
}

#[test]
fn a_plan_that_was_called_for_ends_the_message() {
    let text = shown("acp/aider/acp-plan.acp.stdout.jsonl", &[]);
    let heads = lines_with(&text, &["•"]);
    let expected = [
        "• Update Plan",
        "• Step 2.",
        "• Update Plan",
        "• Update Plan",
        "• Step 4.",
        "• Update Plan",
        "• All three are done.",
        "• Tool Yield {}",
    ];
    assert_eq!(heads, expected);
}
