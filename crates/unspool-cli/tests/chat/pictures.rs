//! What a person sees at three sizes.

use crate::project::{HELP, Project, answer, pause, send};
use crate::terminal::Size;

fn picture(name: &str, size: Size) {
    let project = Project::new();
    let terminal = project.talk(size, &[], "claude/permission");
    send(&terminal, "Make some changes");
    answer(&terminal, "Write src/extra.py", b"a");
    terminal.wait_for("touch rejected.txt");
    pause();
    let root = project.root();
    let clean = |text: String| text.replace(root.to_str().unwrap(), "/project");
    // The time that a call runs changes.
    let seconds = |text: String| {
        let is_time =
            |word: &str| word.ends_with('s') && word.trim_end_matches('s').parse::<u64>().is_ok();
        let words = text
            .split(' ')
            .map(|word| if is_time(word) { "Ns" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    let lines: Vec<String> = terminal
        .lines()
        .into_iter()
        .map(|line| seconds(clean(line)))
        .collect();
    insta::assert_snapshot!(name, lines.join("\n"));
    terminal.press(HELP);
    terminal.wait_for("Keys");
}

#[test]
fn narrow() {
    picture("narrow", (40, 20));
}

#[test]
fn usual() {
    picture("usual", (80, 24));
}

#[test]
fn wide() {
    picture("wide", (160, 50));
}
