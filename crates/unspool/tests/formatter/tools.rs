//! Each tool that the document names: running, finished and failed.

use serde_json::{Value, json};

use unspool::doc::entry::LineMatcher;
use unspool::formatter::Config;

use crate::events::{CODALOTL, Call, OWN, assert_same, plain, shows, shows_call, texts};
use crate::markup::{self, WHITE_ON_BLACK};

fn shell(command: &str) -> Call {
    let words: Vec<&str> = command.split(' ').collect();
    Call::new("shell", &json!({ "command": words }))
}

#[test]
fn shell_commands_are_shown_running_and_finished() {
    let output = "ok  \taxi/q/termformat\t0.002s\n?   \taxi/q/termformat/cmd\t[no test files]\n";
    shows_call(
        &shell("go test .").succeeded(output),
        [
            "«a •» «c* Running» go test .",
            "\
«g •» «c* Ran» go test .
  «a └» ok      axi/q/termformat    0.002s
    ?       axi/q/termformat/cmd    [no test files]",
        ],
    );
}

#[test]
fn a_call_without_its_arguments_is_shown_by_its_name() {
    shows_call(
        &Call::new("bash", &json!({ "cmd": 5 })).failed("no command"),
        [
            "«a •» «c* Tool» bash {\"cmd\":5}",
            "\
«r •» «c* Tool» bash {\"cmd\":5}
  «a └» «r Error: no command»",
        ],
    );
}

#[test]
fn a_command_without_output_is_one_line() {
    for output in ["", "\n", r#"{"success":true,"content":""}"#] {
        shows_call(
            &shell("gofmt -w .").succeeded(output),
            ["«a •» «c* Running» gofmt -w .", "«g •» «c* Ran» gofmt -w ."],
        );
    }
}

#[test]
fn a_header_before_the_output_of_a_shell_is_not_shown() {
    let output = r#"{"success":true,"content":"Command: ls\nProcess State: exit status 0\nOutput:\na\nb\n"}"#;
    shows_call(
        &shell("ls").succeeded(output),
        [
            "«a •» «c* Running» ls",
            "«g •» «c* Ran» ls\n  «a └» a\n    b",
        ],
    );
}

#[test]
fn more_than_five_lines_are_cut() {
    let lines = |count: u32| {
        let lines: Vec<String> = (1..=count).map(|line| line.to_string()).collect();
        lines.join("\n") + "\n"
    };
    for (count, rest) in [
        (5, ""),
        (6, "\n    «a … +1 line»"),
        (7, "\n    «a … +2 lines»"),
        (18, "\n    «a … +13 lines»"),
    ] {
        let done =
            format!("«g •» «c* Ran» seq {count}\n  «a └» 1\n    2\n    3\n    4\n    5{rest}");
        shows_call(
            &shell(&format!("seq {count}")).succeeded(&lines(count)),
            [&format!("«a •» «c* Running» seq {count}"), &done],
        );
    }
}

#[test]
fn a_failed_tool_shows_its_error_in_red() {
    for output in [
        r#"{"success":false,"error":"go command not found."}"#,
        "go command not found.",
        "Error: go command not found.\n",
    ] {
        shows_call(
            &shell("go test .").failed(output),
            [
                "«a •» «c* Running» go test .",
                "\
«r •» «c* Ran» go test .
  «a └» «r Error: go command not found.»",
            ],
        );
    }
}

#[test]
fn a_command_that_ran_and_failed_shows_its_output() {
    let output = "Command: go test .\nProcess State: exit status 1\nOutput:\n--- FAIL: TestA\n";
    shows_call(
        &shell("go test .").succeeded(output),
        [
            "«a •» «c* Running» go test .",
            "\
«r •» «c* Ran» go test . «a (exit 1)»
  «a └» --- FAIL: TestA",
        ],
    );
}

#[test]
fn list_and_read_show_no_output() {
    for (name, path, heading) in [
        ("ls", "some/path", "«c* List» some/path"),
        ("ls", "some/path ", "«c* List» some/path"),
        ("read_file", "some/file.go", "«* Read» some/file.go"),
    ] {
        shows_call(
            &Call::new(name, &json!({ "path": path })).succeeded("a\nb"),
            [&format!("«a •» {heading}"), &format!("«g •» {heading}")],
        );
    }
}

#[test]
fn public_api() {
    let call = Call::new("get_public_api", &json!({"path": "axi/some/pkg"}));
    shows_call(
        &call.succeeded("func A()"),
        [
            "«a •» «c* Read Public API» axi/some/pkg",
            "«g •» «c* Read Public API» axi/some/pkg",
        ],
    );
    let identifiers = ["SomeType", "DoThingFunc"];
    let input = json!({"path": "axi/some/pkg", "identifiers": identifiers});
    shows_call(
        &Call::new("get_public_api", &input).succeeded("func A()"),
        [
            "«a •» «c* Read Public API» axi/some/pkg\n  «a └ SomeType, DoThingFunc»",
            "«g •» «c* Read Public API» axi/some/pkg\n  «a └ SomeType, DoThingFunc»",
        ],
    );
}

#[test]
fn clarify_public_api() {
    let input = json!({
        "path": "/path/to/something", "identifier": "someIdentifier",
        "question": "What does someIdentifier return in its second parameter? Give an example.",
    });
    let answer = "The someIdentifier returns a description in the 2nd parameter. For example, ...";
    shows_call(
        &Call::new("clarify_public_api", &input).succeeded(answer),
        [
            "\
«a •» «c* Clarifying» someIdentifier «a in» /path/to/something
  «a └ What does someIdentifier return in its second parameter? Give an example.»",
            "\
«g •» «c* Clarified» someIdentifier «a in» /path/to/something
  «a └ The someIdentifier returns a description in the 2nd parameter. For example, ...»",
        ],
    );
}

#[test]
fn update_usage() {
    let instructions = "Update the callsites to conform to this new API...";
    for (paths, shown) in [
        (
            json!(["some/path", "other/path", "third/path", "4", "5", "6", "7"]),
            "some/path, other/path, third/path «a (4 more)»",
        ),
        (json!(["a", "b", "c", "d"]), "a, b, c «a (1 more)»"),
        (json!(["a", "b", "c"]), "a, b, c"),
        (json!(["a"]), "a"),
    ] {
        let input = json!({"paths": paths, "instructions": instructions});
        shows_call(
            &Call::new("update_usage", &input).succeeded("done"),
            [
                &format!("«a •» «c* Updating Usage» «a in» {shown}\n  «a └ {instructions}»"),
                &format!("«g •» «c* Updated Usage» «a in» {shown}"),
            ],
        );
    }
}

#[test]
fn change_api() {
    let input = json!({
        "path": "axi/some/pkg",
        "instructions": "Add a new method SomeType.DoThing so downstream callers can avoid duplicating this logic...",
    });
    shows_call(
        &Call::new("change_api", &input).succeeded("done"),
        [
            "\
«a •» «c* Changing API» «a in» axi/some/pkg
  «a └ Add a new method SomeType.DoThing so downstream callers can avoid duplicating this logic...»",
            "«g •» «c* Changed API» «a in» axi/some/pkg",
        ],
    );
}

#[test]
fn get_usage_counts_its_results() {
    let input = json!({
        "defining_package_path": "axi/some/pkg", "identifier": "*SomeType.SomeFunc",
    });
    let twelve: Vec<String> = (1..=12)
        .map(|line| format!("{line}: x\n  7: y\n"))
        .collect();
    for (output, found) in [
        (twelve.concat(), "Found 12 results."),
        ("3: x\nno 4: y\n5 : z\n:\n".to_owned(), "Found 1 result."),
        ("nothing".to_owned(), "Found 0 results."),
    ] {
        shows_call(
            &Call::new("get_usage", &input).succeeded(&output),
            [
                "«a •» «c* Read Usage» axi/some/pkg *SomeType.SomeFunc",
                &format!("«g •» «c* Read Usage» axi/some/pkg *SomeType.SomeFunc\n  «a └ {found}»"),
            ],
        );
    }
}

#[test]
fn module_info() {
    for (input, options) in [
        (json!({}), ""),
        (
            json!({"package_search": "", "include_dependency_packages": false}),
            "",
        ),
        (
            json!({"package_search": "agentformatter", "include_dependency_packages": true}),
            "\n  «a └ Search: agentformatter; Deps: true»",
        ),
        (
            json!({"package_search": "agentformatter"}),
            "\n  «a └ Search: agentformatter»",
        ),
        (
            json!({"include_dependency_packages": true}),
            "\n  «a └ Deps: true»",
        ),
    ] {
        shows_call(
            &Call::new("module_info", &input).succeeded("text"),
            [
                &format!("«a •» «c* Read Module Info»{options}"),
                &format!("«g •» «c* Read Module Info»{options}"),
            ],
        );
    }
}

#[test]
fn run_tests_shows_what_is_inside_the_tag() {
    let input = json!({"path": "some/pkg", "verbose": true, "test_name": "Some"});
    let output = "<test-status ok=\"true\">\n$ go test ./codeai/gocodecontext\nok  \taxi/some/pkg\t0.374s\n</test-status>";
    shows_call(
        &Call::new("run_tests", &input).succeeded(output),
        [
            "«a •» «c* Running Tests» some/pkg -v -run Some",
            "\
«g •» «c* Ran Tests» some/pkg -v -run Some
  «a └» $ go test ./codeai/gocodecontext
    ok      axi/some/pkg    0.374s",
        ],
    );
}

#[test]
fn failing_tests_are_red_but_not_a_tool_error() {
    let call = Call::new("run_tests", &json!({"path": "some/pkg"}));
    let output =
        "<test-status ok=\"false\">\n$ go test ./some/pkg\n--- FAIL: TestA\n</test-status>";
    for lines in [call.succeeded(output), call.failed(output)] {
        shows_call(
            &lines,
            [
                "«a •» «c* Running Tests» some/pkg",
                "\
«r •» «c* Ran Tests» some/pkg
  «a └» $ go test ./some/pkg
    --- FAIL: TestA",
            ],
        );
    }
}

#[test]
fn other_tools_show_input_and_output() {
    let call = Call::with_text("some_tool", r#"{"path": "path/to/file.go"}"#);
    shows_call(
        &call.succeeded(r#"{"field":"value"}"#),
        [
            r#"«a •» «c* Tool» some_tool {"path": "path/to/file.go"}"#,
            r#"«g •» «c* Tool» some_tool {"path": "path/to/file.go"}
  «a └» {
      "field": "value"
    }"#,
        ],
    );
    shows_call(
        &Call::with_text("some_tool", "").succeeded("not JSON\n{"),
        [
            "«a •» «c* Tool» some_tool",
            "«g •» «c* Tool» some_tool\n  «a └» not JSON\n    {",
        ],
    );
}

#[test]
fn the_call_that_ends_a_turn_is_shown_only_with_a_message() {
    let bare = Call::with_text("Yield", "{}");
    let report = r#"{"result": [{"content": "Yielded.", "_": {}}], "errors": []}"#;
    for quiet in [bare.announced(), bare.succeeded(""), bare.succeeded(report)] {
        shows(CODALOTL, &quiet, 120, &[]);
    }
    shows(
        CODALOTL,
        &bare.failed("no"),
        120,
        &["«r •» «c* Tool» Yield {}\n  «a └» «r Error: no»"],
    );
    shows(
        CODALOTL,
        &bare.succeeded("Commit eba9ca5"),
        120,
        &["«g •» «c* Tool» Yield {}\n  «a └» Commit eba9ca5"],
    );
    let summary = Call::with_text("Yield", r#"{"summary":"all done"}"#).announced();
    let shown = r#"«a •» «c* Tool» Yield {"summary":"all done"}"#;
    shows(CODALOTL, &summary, 120, &[shown]);
}

/// Returns tools, their inputs, and their headings after a failure.
fn headings() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("shell", json!({"command": ["ls"]}), "«c* Ran» ls"),
        ("ls", json!({"path": "p"}), "«c* List» p"),
        ("read_file", json!({"path": "p"}), "«* Read» p"),
        (
            "get_public_api",
            json!({"path": "p", "identifiers": ["A"]}),
            "«c* Read Public API» p",
        ),
        (
            "clarify_public_api",
            json!({"path": "p", "identifier": "A", "question": "q"}),
            "«c* Clarified» A «a in» p",
        ),
        (
            "update_usage",
            json!({"paths": ["p"], "instructions": "i"}),
            "«c* Updated Usage» «a in» p",
        ),
        (
            "change_api",
            json!({"path": "p", "instructions": "i"}),
            "«c* Changed API» «a in» p",
        ),
        (
            "get_usage",
            json!({"defining_package_path": "p", "identifier": "A"}),
            "«c* Read Usage» p A",
        ),
        (
            "module_info",
            json!({"package_search": ""}),
            "«c* Read Module Info»",
        ),
        ("run_tests", json!({"path": "p"}), "«c* Ran Tests» p"),
        ("run_project_tests", json!({}), "«c* Ran Tests» ./..."),
        (
            "some_tool",
            json!({"a": 1}),
            r#"«c* Tool» some_tool {"a":1}"#,
        ),
    ]
}

#[test]
fn every_tool_has_a_red_bullet_and_an_error_line_when_it_fails() {
    for (name, input, heading) in headings() {
        let call = Call::new(name, &input);
        let wrapped = json!({"success": false, "error": "7: no such thing"}).to_string();
        let failed = format!("«r •» {heading}\n  «a └» «r Error: 7: no such thing»");
        for lines in [call.failed("7: no such thing"), call.succeeded(&wrapped)] {
            let coloured = texts(Config::default(), CODALOTL, &lines, 120);
            let marked = markup::of(&coloured[1], &WHITE_ON_BLACK);
            assert_same(&[marked], &[&failed]);
            let plain = texts(plain(), CODALOTL, &lines, 120);
            assert_same(&plain[1..], &[markup::removed(&failed)]);
        }
    }
}

#[test]
fn a_failure_without_a_message_is_still_shown() {
    let call = Call::new("ls", &json!({"path": "p"}));
    shows_call(
        &call.failed(""),
        ["«a •» «c* List» p", "«r •» «c* List» p\n  «a └» «r Error.»"],
    );
}

#[test]
fn a_long_error_is_cut_like_other_bodies() {
    let call = Call::new("ls", &json!({"path": "p"}));
    shows_call(
        &call.failed("1\n2\n3\n4\n5\n6\n7"),
        [
            "«a •» «c* List» p",
            "\
«r •» «c* List» p
  «a └» «r Error: 1»
    «r 2»
    «r 3»
    «r 4»
    «r 5»
    «a … +2 lines»",
        ],
    );
}

/// Returns a command that ended with this status and output.
fn ended(status: &str, output: &str) -> String {
    let call = json!({"kind": "tool_use", "id": "1", "name": "Bash", "category": "execute", "input": {"command": "rm a"}});
    let result = json!({"kind": "tool_result", "id": "1", "name": "Bash", "status": status, "output": output});
    format!("{call}\n{result}")
}

#[test]
fn a_rejected_or_stopped_command_is_not_shown_as_run() {
    let running = "«a •» «c* Running» rm a";
    for (status, output, expected) in [
        ("rejected", "", "«r •» «c* Rejected» rm a"),
        (
            "rejected",
            "not today",
            "«r •» «c* Rejected» rm a\n  «a └» «r Rejected: not today»",
        ),
        ("canceled", "", "«r •» «c* Canceled» rm a"),
    ] {
        shows(OWN, &ended(status, output), 80, &[running, expected]);
    }
}

#[test]
fn a_very_long_line_is_cut() {
    let output = format!("{}\nnext", "x".repeat(5000));
    let [_, cut] = &texts(plain(), OWN, &ended("ok", &output), 0)[..] else {
        panic!("a call and its result");
    };
    let expected = format!("• Ran rm a\n  └ {}…\n    next", "x".repeat(400));
    assert_eq!(*cut, expected);
    let mut all = plain();
    all.detail.lines = None;
    let whole = texts(all, OWN, &ended("ok", &output), 0);
    assert!(whole.iter().any(|text| text.contains(&"x".repeat(5000))));
    let edit = json!({"kind": "edit", "edits": [{"op": "update", "path": "a", "hunks": [{"lines": [format!("+{}", "y".repeat(5000))]}]}]});
    let shown = texts(plain(), OWN, &edit.to_string(), 0);
    assert!(
        shown[0].ends_with(&format!("+{}…", "y".repeat(400))),
        "{shown:?}"
    );
}

#[test]
fn a_search_match_is_shown_in_a_long_body() {
    let lines: Vec<String> = (1..=20).map(|line| format!("line {line}")).collect();
    let shown = |wanted: &'static str| {
        let mut config = plain();
        config.detail.search = Some(LineMatcher::new(move |line| line.ends_with(wanted)));
        texts(config, OWN, &ended("ok", &lines.join("\n")), 80).pop()
    };
    let expected = "• Ran rm a\n  └ … +10 lines\n    line 11\n    line 12\n    line 13\n    line 14\n    line 15\n    … +5 lines";
    assert_eq!(shown(" 12").as_deref(), Some(expected));
    let first =
        "• Ran rm a\n  └ line 1\n    line 2\n    line 3\n    line 4\n    line 5\n    … +15 lines";
    assert_eq!(shown(" 5").as_deref(), Some(first));
    assert_eq!(shown("nothing").as_deref(), Some(first));
}

#[test]
fn several_checks_are_summed_up_without_their_tags() {
    let run = || Call::new("run_tests", &json!({"path": "some/pkg"}));
    let tests =
        |ok: &str| format!("<test-status ok=\"{ok}\">\n$ go test .\nsome output\n</test-status>");
    let lints = |ok: &str| {
        format!(
            "<lint-status ok=\"{ok}\">\n<command ok=\"{ok}\">\n$ gofmt -l .\na.go\n</command>\n</lint-status>"
        )
    };
    let shown = |output: &str| {
        let events = run().succeeded(output);
        let all = texts(Config::default(), CODALOTL, &events, 120);
        markup::of(&all[1], &WHITE_ON_BLACK)
    };
    let both = |one: &str, other: &str| format!("{}\n{}", tests(one), lints(other));
    assert_eq!(
        shown(&both("true", "true")),
        "«g •» «c* Ran Tests» some/pkg\n  «a └ Tests: pass | Lints: pass»"
    );
    assert_eq!(
        shown(&both("true", "false")),
        "«r •» «c* Ran Tests» some/pkg\n  «a └ Tests: pass | Lints: fail»\n    $ gofmt -l .\n    a.go"
    );
    assert_eq!(
        shown(&both("false", "unknown")),
        "«r •» «c* Ran Tests» some/pkg\n  «a └ Tests: fail | Lints: unknown»\n    $ go test .\n    some output"
    );
    assert_eq!(
        shown(&tests("false")),
        "«r •» «c* Ran Tests» some/pkg\n  «a └» $ go test .\n    some output"
    );
    assert_eq!(
        shown("no such package"),
        "«g •» «c* Ran Tests» some/pkg\n  «a └» no such package"
    );
}

#[test]
fn checks_of_codalotl_have_words_of_their_own() {
    let status = |name: &str, ok: &str| {
        format!("<{name}-status ok=\"{ok}\">\n$ go build .\nx.go:1: bad\n</{name}-status>")
    };
    let call = |name: &str, output: &str| {
        let call = Call::new(name, &json!({"path": "some/pkg"}));
        texts(plain(), CODALOTL, &call.succeeded(output), 120)
    };
    assert_eq!(
        call("diagnostics", &status("diagnostics", "true")),
        [
            "• Running Diagnostics some/pkg",
            "• Ran Diagnostics some/pkg"
        ]
    );
    assert_eq!(
        call("diagnostics", &status("diagnostics", "false"))[1],
        "• Ran Diagnostics some/pkg\n  └ $ go build .\n    x.go:1: bad"
    );
    assert_eq!(
        call("fix_lints", &status("lint", "true")),
        [
            "• Fixing Lints some/pkg",
            "• Fixed Lints some/pkg\n  └ $ go build .\n    x.go:1: bad"
        ]
    );
    let all = Call::new("run_project_tests", &json!({}));
    assert_eq!(
        texts(plain(), CODALOTL, &all.succeeded(""), 120),
        ["• Running Tests ./...", "• Ran Tests ./..."]
    );
}

#[test]
fn work_of_codalotl_s_sub_agents_has_words_of_its_own() {
    let call = |name: &str, input: &Value, output: &str| {
        texts(
            plain(),
            CODALOTL,
            &Call::new(name, input).succeeded(output),
            120,
        )
    };
    let base = json!({"base": "main"});
    let found = r#"{"findings":[{"title":"Leaks","priority":1},{"title":"[P2] Slow","priority":2}],"overall_correctness":"patch is incorrect"}"#;
    assert_eq!(
        call("review", &base, found),
        [
            "• Reviewing main",
            "• Reviewed main\n  └ [P1] Leaks\n    [P2] Slow"
        ]
    );
    assert_eq!(
        call("review", &base, r#"{"findings":[]}"#)[1],
        "• Reviewed main\n  └ No actionable findings."
    );
    assert_eq!(
        call(
            "implement",
            &json!({"path": "a/b", "instructions": "Do it."}),
            "Done."
        ),
        [
            "• Implementing a/b\n  └ Do it.",
            "• Implemented a/b\n  └ Done."
        ]
    );
    let packages = r#"{"a":{"conforms":true},"b":{"conforms":false},"c":{"error":"x"}}"#;
    assert_eq!(
        call("check_spec_conformance", &json!({}), packages)[1],
        "• Checked SPEC conformance\n  └ 1 conforming, 1 non-conforming, 1 error"
    );
    assert_eq!(
        call("refactor", &json!({"name": "dry", "package": "a"}), "")[1],
        "• Refactored dry in a"
    );
    let command = json!({"subcommand": "docs add", "argv": ["--all", "a"]});
    let result = r#"{"success":false,"command":["codalotl"],"exit_code":2,"stdout":"out\n","stderr":"err\n"}"#;
    assert_eq!(
        call("codalotl_cli", &command, result),
        [
            "• Running codalotl docs add --all a",
            "• Ran codalotl docs add --all a (exit 2)\n  └ out\n    err"
        ]
    );
}

#[test]
fn output_of_a_running_call_stays_if_its_result_is_empty() {
    let run = shell("make");
    let ended = run.succeeded("");
    let (announced, result) = ended.split_once('\n').unwrap();
    let output = json!({"type": "tool_output", "agent": {"id": "a", "depth": 0},
        "tool": {"call_id": "1", "name": "shell", "type": "function_call"}, "content": "built\n"});
    let lines = format!("{announced}\n{output}\n{result}");
    let last = texts(plain(), CODALOTL, &lines, 120).pop().unwrap();
    assert_eq!(last, "• Ran make\n  └ built");
}

#[test]
fn a_running_or_failed_edit_shows_its_changes() {
    let input = json!({"path": "a.go", "old_text": "one\n", "new_text": "two\n"});
    let edit = Call::new("edit", &input).failed("not found");
    let diff = "• Edit a.go\n        -one\n        +two";
    assert_eq!(
        texts(plain(), CODALOTL, &edit, 120),
        [diff.to_owned(), format!("{diff}\n  └ Error: not found")]
    );
    let patch = "*** Begin Patch\n*** Update File: b.go\n@@\n-one\n+two\n*** End Patch";
    let patch = Call::with_text("apply_patch", patch).failed("bad");
    let diff = diff.replace("a.go", "b.go");
    assert_eq!(
        texts(plain(), CODALOTL, &patch, 120),
        [diff.clone(), format!("{diff}\n  └ Error: bad")]
    );
}

#[test]
fn a_heading_without_its_object_has_no_double_blank() {
    let usage = Call::new("get_usage", &json!({"identifier": "X"}));
    assert_eq!(
        texts(plain(), CODALOTL, &usage.announced(), 120),
        ["• Read Usage X"]
    );
}

#[test]
fn options_of_a_failed_call_stay_above_its_error() {
    let input = json!({"package_search": "x", "include_dependency_packages": true});
    shows_call(
        &Call::new("module_info", &input).failed("no module"),
        [
            "«a •» «c* Read Module Info»\n  «a └ Search: x; Deps: true»",
            "«r •» «c* Read Module Info»\n  «a └ Search: x; Deps: true»\n    «r Error: no module»",
        ],
    );
}

#[test]
fn a_plan_call_has_the_colour_of_its_status() {
    let call = json!({"kind": "tool_use", "id": "1", "name": "update_plan", "category": "plan",
        "input": {"plan": [{"step": "Look", "status": "pending"}]}});
    let result = |status: &str| json!({"kind": "tool_result", "id": "1", "status": status, "output": "too short"});
    let plan = "«c* Update Plan»\n  «a └» «c* □ Look»";
    for (status, bullet, below) in [
        ("ok", "g", ""),
        ("error", "r", "\n    «r Error: too short»"),
    ] {
        let lines = format!("{call}\n{}", result(status));
        shows(
            OWN,
            &lines,
            120,
            &[
                &format!("«a •» {plan}"),
                &format!("«{bullet} •» {plan}{below}"),
            ],
        );
    }
}

#[test]
fn a_call_without_title_and_name_is_a_tool_call() {
    let call = json!({"kind": "tool_use", "id": "1", "name": "", "category": "other"});
    shows(OWN, &call.to_string(), 120, &["«a •» «c* Tool Call»"]);
    let titled =
        json!({"kind": "tool_use", "id": "1", "name": "", "category": "other", "title": "Look"});
    shows(OWN, &titled.to_string(), 120, &["«a •» «c* Tool» Look"]);
}

#[test]
fn a_failed_command_without_an_exit_code_keeps_its_colours() {
    let call = json!({"kind": "tool_use", "id": "1", "name": "execute", "category": "execute",
        "input": {"command": "make"}});
    let result = json!({"kind": "tool_result", "id": "1", "status": "error",
        "output": "\u{1b}[32mgreen\u{1b}[0m\n"});
    let lines = format!("{call}\n{result}");
    let last = texts(Config::default(), OWN, &lines, 120).pop().unwrap();
    assert!(last.contains("\u{1b}[38;5;2mgreen"), "{last:?}");
    assert!(!last.contains("\\x1B"), "{last:?}");
}
