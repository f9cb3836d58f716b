//! Up to thirty columns nothing is wrapped; above, everything is.

use serde_json::json;
use unspool::formatter::MIN_TERMINAL_WIDTH;

use crate::events::{CODALOTL, Call, answer, line, shows};

/// Checks the unwrapped form.
#[track_caller]
fn unwrapped(lines: &str, expected: &[&str]) {
    for width in [0, 1, 29, MIN_TERMINAL_WIDTH] {
        shows(CODALOTL, lines, width, expected);
    }
}

#[track_caller]
fn at_31(lines: &str, expected: &[&str]) {
    shows(CODALOTL, lines, MIN_TERMINAL_WIDTH + 1, expected);
}

#[test]
fn the_limit_is_thirty() {
    assert_eq!(MIN_TERMINAL_WIDTH, 30);
}

#[test]
fn paragraphs() {
    let text =
        "The quick brown fox\njumps over the lazy dog.\n\nA second paragraph with `some code`.";
    unwrapped(
        &answer(text),
        &["\
«a •» The quick brown fox jumps over the lazy dog.

A second paragraph with «a some code»."],
    );
    at_31(
        &answer(text),
        &["\
«a •» The quick brown fox jumps
  over the lazy dog.

  A second paragraph with «a some»
  «a code»."],
    );
}

#[test]
fn lists() {
    let text = "\
Two things:

- The first item is longer than a line.
  - A nested one is long as well, too.
- Second.

1. Numbered items hang under their text.";
    unwrapped(
        &answer(text),
        &["\
«a •» Two things:

- The first item is longer than a line.
  - A nested one is long as well, too.
- Second.

1. Numbered items hang under their text."],
    );
    at_31(
        &answer(text),
        &["\
«a •» Two things:

  - The first item is longer
    than a line.
    - A nested one is long as
      well, too.
  - Second.

  1. Numbered items hang under
     their text."],
    );
}

#[test]
fn words_longer_than_a_line_are_cut() {
    let text = "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd 漢字漢字漢字漢字漢字漢字漢字漢字";
    unwrapped(&answer(text), &[&format!("«a •» {text}")]);
    at_31(
        &answer(text),
        &["\
«a •» aaaaaaaaaabbbbbbbbbbccccccccc
  cdddddddddd 漢字漢字漢字漢字
  漢字漢字漢字漢字"],
    );
}

#[test]
fn plans() {
    let call = Call::new(
        "update_plan",
        &json!({
            "explanation": "Because the old plan was not good enough.",
            "plan": [
                {"step": "Look at everything that is there already", "status": "completed"},
                {"step": "Change what has to be changed in the code", "status": "pending"},
                {"step": "Test", "status": "pending"},
            ],
        }),
    );
    unwrapped(
        &call.announced(),
        &["\
«g •» «c* Update Plan»
  «a └ Because the old plan was not good enough.»
    «a ✔ Look at everything that is there already»
    «c* □ Change what has to be changed in the code»
    «a □ Test»"],
    );
    at_31(
        &call.announced(),
        &["\
«g •» «c* Update Plan»
  «a └ Because the old plan was»
    «a not good enough.»
    «a ✔ Look at everything that»
      «a is there already»
    «c* □ Change what has to be»
      «c* changed in the code»
    «a □ Test»"],
    );
}

#[test]
fn output_of_commands_is_wrapped_at_words() {
    let command = "grep --recursive --line-number needle haystack";
    let call = Call::new("shell", &json!({ "command": command }));
    let lines = call.succeeded("haystack/one.txt:12: a needle in here\nb\n");
    unwrapped(
        &lines,
        &[
            &format!("«a •» «c* Running» {command}"),
            &format!(
                "«g •» «c* Ran» {command}\n  «a └» haystack/one.txt:12: a needle in here\n    b"
            ),
        ],
    );
    at_31(
        &lines,
        &[
            "\
«a •» «c* Running» grep --recursive
  --line-number needle haystack",
            "\
«g •» «c* Ran» grep --recursive --line-
  number needle haystack
  «a └» haystack/one.txt:12: a
    needle in here
    b",
        ],
    );
}

#[test]
fn text_below_a_call_is_wrapped() {
    let input = json!({"path": "some/pkg", "identifier": "Identifier", "question": "What?"});
    let call = Call::new("clarify_public_api", &input);
    let lines = call.succeeded("It returns a description of it.\nFor example, nothing.");
    unwrapped(
        &lines,
        &[
            "«a •» «c* Clarifying» Identifier «a in» some/pkg\n  «a └ What?»",
            "\
«g •» «c* Clarified» Identifier «a in» some/pkg
  «a └ It returns a description of it.»
    «a For example, nothing.»",
        ],
    );
    at_31(
        &lines,
        &[
            "«a •» «c* Clarifying» Identifier «a in»\n  some/pkg\n  «a └ What?»",
            "\
«g •» «c* Clarified» Identifier «a in» some/
  pkg
  «a └ It returns a description of»
    «a it.»
    «a For example, nothing.»",
        ],
    );
}

#[test]
fn errors() {
    let call = Call::new("ls", &json!({"path": "p"}));
    let lines = call.failed("there is no directory of that name");
    let running = "«a •» «c* List» p";
    unwrapped(
        &lines,
        &[
            running,
            "«r •» «c* List» p\n  «a └» «r Error: there is no directory of that name»",
        ],
    );
    at_31(
        &lines,
        &[
            running,
            "\
«r •» «c* List» p
  «a └» «r Error: there is no»
    «r directory of that name»",
        ],
    );
    let notice = line("error", "message", "some error has occurred just now.");
    unwrapped(
        &notice,
        &["«r •» «r* Error»«r : some error has occurred just now.»"],
    );
    at_31(
        &notice,
        &["«r •» «r* Error»«r : some error has»\n  «r occurred just now.»"],
    );
}

#[test]
fn patches() {
    let patch = "*** Begin Patch\n*** Add File: some/very/deep/directory/file.go\n+const name = \"value\"\n*** End Patch";
    let lines = Call::with_text("apply_patch", patch).succeeded("ok");
    let shown = |bullet: char, body: &str| format!("«{bullet} •» «c* Add» {body}");
    let body = "some/very/deep/directory/file.go\n      «a 1» «g +const name = \"value\"»";
    unwrapped(&lines, &[&shown('a', body), &shown('g', body)]);
    let body = "some/very/deep/directory/\n  file.go\n      «a 1» «g +const name = \"value\"»";
    at_31(&lines, &[&shown('a', body), &shown('g', body)]);
}

#[test]
fn patch_lines_are_cut_under_their_text() {
    let patch = "*** Begin Patch\n*** Add File: a\n+const description = 100\n*** End Patch";
    let lines = Call::with_text("apply_patch", patch).announced();
    at_31(
        &lines,
        &["«a •» «c* Add» a\n      «a 1» «g +const description = 10»\n         «g 0»"],
    );
}

#[test]
fn other_tools() {
    let call = Call::with_text("some_tool", r#"{"path": "path/to/file.go"}"#);
    let lines = call.succeeded(r#"{"field":"a value that is long enough"}"#);
    unwrapped(
        &lines,
        &[
            r#"«a •» «c* Tool» some_tool {"path": "path/to/file.go"}"#,
            r#"«g •» «c* Tool» some_tool {"path": "path/to/file.go"}
  «a └» {
      "field": "a value that is long enough"
    }"#,
        ],
    );
}
