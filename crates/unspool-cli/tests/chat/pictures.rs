//! Snapshots of the screen at three sizes.

use crate::picture::svg;
use crate::project::{ESCAPE, HELP, PALETTE, Project, answer, pause, send};
use crate::terminal::Size;
use crate::world::wait_until;

/// Replaces the project's path, which has the same length, so that nothing moves.
const ROOT: &str = "/home/anna/work/project";

fn picture(name: &str, size: Size) {
    let project = Project::new();
    let terminal = project.talk(size, &[], "claude/permission");
    let root = project.root();
    assert_eq!(root.to_str().unwrap().len(), ROOT.len());
    let clean = |text: String| text.replace(root.to_str().unwrap(), ROOT);
    let keep = |what: &str| {
        let svg = svg(&terminal, size, clean);
        insta::assert_binary_snapshot!(&format!("{name}-{what}.svg"), svg);
    };
    send(&terminal, "Make some changes");
    terminal.wait_for("Write src/extra.py");
    terminal.wait_for("reject once");
    pause();
    keep("permission");
    terminal.press(b"a");
    terminal.wait_for("Pending touch rejected.txt");
    pause();
    let lines: Vec<String> = terminal.lines().into_iter().map(clean).collect();
    insta::assert_snapshot!(name, lines.join("\n"));
    terminal.press(b"r");
    answer(&terminal, "Edit README.md", b"a");
    terminal.wait_for("One call was rejected");
    wait_until("the end of the turn", || {
        !terminal.text().contains("asks") && !terminal.text().contains("working")
    });
    pause();
    keep("done");
    terminal.press(HELP);
    terminal.wait_for("Keys");
    keep("help");
    terminal.press(ESCAPE);
    wait_until("the help to go", || !terminal.text().contains("Keys"));
    pause();
    terminal.press(PALETTE);
    terminal.wait_for("Commands");
    keep("palette");
}

/// Takes snapshots of a form with six fields.
fn form(name: &str, size: Size) {
    let project = Project::new();
    let terminal = project.talk(size, &["--form"], "");
    send(&terminal, "Make a release");
    terminal.wait_for("the agent asks");
    pause();
    terminal.press(b"Spring\t");
    terminal.wait_for("Spring");
    let svg = svg(&terminal, size, |text| text);
    insta::assert_binary_snapshot!(&format!("{name}-form.svg"), svg);
}

#[test]
fn narrow() {
    picture("narrow", (40, 20));
    form("narrow", (40, 20));
}

#[test]
fn usual() {
    picture("usual", (80, 24));
    form("usual", (80, 24));
}

#[test]
fn wide() {
    picture("wide", (160, 50));
    form("wide", (160, 50));
}
