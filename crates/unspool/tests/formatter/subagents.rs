//! Entries of sub-agents are indented by two blanks per level.

use serde_json::json;
use unspool::layout;

use crate::events::{CODALOTL, Call, plain, shows, texts};

const TESTED: &str = "<test-status ok=\"true\">\n$ go test ./codeai/gocodecontext\nok  \taxi/some/pkg\t0.374s\n</test-status>";

fn tests(depth: u32) -> String {
    let input = json!({"path": "some/pkg", "verbose": true, "test_name": "Some"});
    Call::new("run_tests", &input)
        .depth(depth)
        .succeeded(TESTED)
}

const EXPECTED: [&str; 2] = [
    "«a •» «c* Running Tests» some/pkg -v -run Some",
    "\
«g •» «c* Ran Tests» some/pkg -v -run Some
  «a └» $ go test ./codeai/gocodecontext
    ok      axi/some/pkg    0.374s",
];

/// Adds the indentation to the expected texts.
fn indented(texts: &[&str], cells: usize) -> Vec<String> {
    let margin = " ".repeat(cells);
    let line = |line: &str| format!("{margin}{line}");
    texts
        .iter()
        .map(|text| text.lines().map(line).collect::<Vec<_>>().join("\n"))
        .collect()
}

#[track_caller]
fn indents(depth: u32, width: usize, texts: &[&str], cells: usize) {
    let expected = indented(texts, cells);
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    shows(CODALOTL, &tests(depth), width, &expected);
}

#[test]
fn each_level_adds_two_blanks() {
    for depth in [0, 1, 3] {
        for width in [0, 30, 80, 120] {
            indents(depth, width, &EXPECTED, 2 * depth as usize);
        }
    }
}

#[test]
fn forty_levels_are_indented_on_a_wide_terminal() {
    for width in [0, 30, 120] {
        indents(40, width, &EXPECTED, 80);
    }
}

/// Formatted for 24 columns, the remaining width.
const NARROW: [&str; 2] = [
    "\
«a •» «c* Running Tests» some/pkg
  -v -run Some",
    "\
«g •» «c* Ran Tests» some/pkg -v
  -run Some
  «a └» $ go test ./codeai/
    gocodecontext
    ok      axi/some/pkg
    0.374s",
];

#[test]
fn deep_levels_keep_a_minimum_width() {
    indents(28, 80, &NARROW, 56);
    for (depth, width, indent) in [(34, 80, 68), (40, 80, 68), (9, 31, 18), (u32::MAX, 31, 19)] {
        for text in texts(plain(), CODALOTL, &tests(depth), width) {
            let blanks = |line: &str| line.len() - line.trim_start().len();
            assert_eq!(text.lines().map(blanks).min(), Some(indent), "{text}");
        }
    }
}

#[test]
fn no_line_is_wider_than_the_terminal_at_any_depth() {
    for depth in [0, 1, 3, 40, u32::MAX] {
        for width in [31, 32, 40, 80, 101] {
            for text in texts(plain(), CODALOTL, &tests(depth), width) {
                let widest = text.lines().map(layout::width).max();
                assert!(widest <= Some(width), "{depth} at {width}:\n{text}");
            }
        }
    }
}

#[test]
fn an_absurd_depth_does_not_exhaust_memory() {
    for text in texts(plain(), CODALOTL, &tests(u32::MAX), 0) {
        assert!(text.len() < 10_000, "{} bytes", text.len());
    }
}

#[test]
fn empty_lines_stay_empty() {
    let line = json!({
        "type": "assistant_text", "agent": {"id": "a", "depth": 2}, "content": "One.\n\nTwo `x`."
    });
    let expected = "    «a •» One.\n\n      Two «a x».";
    shows(CODALOTL, &line.to_string(), 80, &[expected]);
}
