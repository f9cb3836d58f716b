//! What a person sees at three sizes.

use crate::project::{HELP, Project, answer, pause, send};
use crate::terminal::Size;
use crate::world::wait_until;

fn picture(name: &str, size: Size) {
    let project = Project::new();
    let terminal = project.talk(size, &[], "claude/permission");
    send(&terminal, "Make some changes");
    answer(&terminal, "Write src/extra.py", b"a");
    terminal.wait_for("Pending touch rejected.txt");
    pause();
    let root = project.root();
    let clean = |text: String| text.replace(root.to_str().unwrap(), "/project");
    let lines: Vec<String> = terminal.lines().into_iter().map(clean).collect();
    insta::assert_snapshot!(name, lines.join("\n"));
    terminal.press(b"r");
    answer(&terminal, "Edit README.md", b"a");
    terminal.wait_for("One call was rejected");
    wait_until("the end of the turn", || {
        !terminal.text().contains("asks") && !terminal.text().contains("working")
    });
    pause();
    let svg = anstyle_svg::Term::new()
        .min_width_px(usize::from(size.0) * 8)
        .render_svg(&clean(terminal.painted()));
    insta::assert_binary_snapshot!(&format!("{name}-done.svg"), svg.into_bytes());
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
