//! Every example of the agentformatter document (`spec/000`), as a whole text.

use unspool::formatter::{Config, Formatter};
use unspool::{Reader, ReaderOptions};

fn formatter() -> Formatter {
    Formatter::new(Config {
        plain_text: true,
        ..Config::default()
    })
}

/// What each of these lines shows, at a width.
fn shown(mut formatter: Formatter, provider: &str, lines: &str, width: usize) -> Vec<String> {
    let mut reader = Reader::with_options(ReaderOptions {
        from: unspool::source::provider(provider),
        ..ReaderOptions::default()
    });
    reader.push(lines.as_bytes());
    reader.push(b"\n");
    reader.finish();
    reader
        .events()
        .filter(|event| !matches!(event.body, unspool::event::Body::TurnEnd(_)))
        .map(|event| formatter.format_event(&event, width))
        .filter(|text| !text.is_empty())
        .collect()
}

fn plain(lines: &str, width: usize) -> String {
    shown(formatter(), "codalotl", lines, width).join("\n")
}

fn own(lines: &str, width: usize) -> String {
    shown(formatter(), "unspool", lines, width).join("\n")
}

/// Escape sequences spelt with `^`.
fn coloured(lines: &str) -> String {
    let formatter = Formatter::new(Config::default());
    let texts = shown(formatter, "codalotl", lines, 80);
    texts.join("\n").replace('\u{1b}', "^")
}

fn message(kind: &str, content: &str) -> String {
    serde_json::json!({"type": kind, "agent": {"id": "a", "depth": 0}, "content": content})
        .to_string()
}

fn call_at(depth: u32, name: &str, input: &str) -> String {
    serde_json::json!({
        "type": "tool_call", "agent": {"id": "a", "depth": depth},
        "tool": {"call_id": "1", "name": name, "type": "function_call", "input": input},
    })
    .to_string()
}

fn call(name: &str, input: &str) -> String {
    call_at(0, name, input)
}

fn complete_at(depth: u32, name: &str, output: &str, is_error: bool) -> String {
    serde_json::json!({
        "type": "tool_complete", "agent": {"id": "a", "depth": depth},
        "tool": {"call_id": "1", "name": name, "type": "function_call"},
        "result": {"output": output, "is_error": is_error},
    })
    .to_string()
}

/// What the call shows while it runs, and what its result shows.
fn both(name: &str, input: &str, output: &str, is_error: bool) -> [String; 2] {
    let lines = format!(
        "{}\n{}",
        call(name, input),
        complete_at(0, name, output, is_error)
    );
    let texts = shown(formatter(), "codalotl", &lines, 120);
    texts.try_into().expect("a call and its result")
}

const LONG: &str = "I'll explain that Codex uses the full pulldown-cmark Markdown parser combined with targeted regex rewriting for specific citation patterns like 【F:...】, which get converted into clickable links. Inline code marked by backticks is only styled as dim text, not linkified, and the linking mechanics rely on actual Markdown links or those citations rather than scanning inline code for paths. I'll reference key code locations that handle these steps for clarity.";

#[test]
fn assistant_text_has_a_bullet_and_a_hanging_indent() {
    assert_eq!(
        plain(&message("assistant_text", LONG), 119),
        "\
• I'll explain that Codex uses the full pulldown-cmark Markdown parser combined with targeted regex rewriting for
  specific citation patterns like 【F:...】, which get converted into clickable links. Inline code marked by backticks
  is only styled as dim text, not linkified, and the linking mechanics rely on actual Markdown links or those citations
  rather than scanning inline code for paths. I'll reference key code locations that handle these steps for clarity."
    );
    for width in [0, 30] {
        assert_eq!(
            plain(&message("assistant_text", LONG), width),
            format!("• {LONG}")
        );
    }
}

#[test]
fn markdown_bullets_are_hyphens() {
    let text = "\
- Codex streams every assistant delta through `MarkdownStreamCollector`, which flushes complete lines only after a newline and renders them by calling `append_markdown` (`codex-rs/tui/src/markdown_stream.rs:38-86`, `codex-rs/tui/src/markdown.rs:32-60`).
- `append_markdown` delegates to `render_markdown_text_with_citations`, which runs the text through `pulldown_cmark::Parser` with the usual CommonMark options, so the UI is backed by a full Markdown parser rather than ad‑hoc regexes (`codex-rs/tui/src/markdown_render.rs:21-118`).";
    assert_eq!(
        plain(&message("assistant_text", text), 120),
        "\
• - Codex streams every assistant delta through MarkdownStreamCollector, which flushes complete lines only after a
    newline and renders them by calling append_markdown (codex-rs/tui/src/markdown_stream.rs:38-86, codex-rs/tui/src/
    markdown.rs:32-60).
  - append_markdown delegates to render_markdown_text_with_citations, which runs the text through pulldown_cmark::Parser
    with the usual CommonMark options, so the UI is backed by a full Markdown parser rather than ad‑hoc regexes (codex-
    rs/tui/src/markdown_render.rs:21-118)."
    );
}

#[test]
fn reasoning_shows_its_title_or_all_of_it() {
    for text in [
        "**Answering a simple question**\n\nI'm looking at a straightforward question: the capital of France is Paris.",
        "**Answering a simple question**",
    ] {
        let line = message("assistant_reasoning", text);
        assert_eq!(plain(&line, 80), "• Answering a simple question");
        assert_eq!(
            coloured(&line),
            "^[38;5;247m• ^[0;3mAnswering a simple question^[0m"
        );
    }
    let line = message("assistant_reasoning", "No title, `code`.");
    assert_eq!(plain(&line, 80), "• No title, code.");
    assert_eq!(
        coloured(&line),
        "^[38;5;247m• ^[0;3mNo title, ^[38;5;247mcode^[39m.^[0m"
    );
}

#[test]
fn shell_commands_run_and_have_run() {
    let output =
        "ok      axi/q/termformat    0.002s\n?       axi/q/termformat/cmd    [no test files]\n";
    let input = r#"{"command":["go","test","."]}"#;
    assert_eq!(
        both("shell", input, output, false),
        [
            "• Running go test .",
            "\
• Ran go test .
  └ ok      axi/q/termformat    0.002s
    ?       axi/q/termformat/cmd    [no test files]"
        ]
    );
    let lines = format!(
        "{}\n{}",
        call("shell", input),
        complete_at(0, "shell", "ok", false)
    );
    assert_eq!(
        coloured(&lines),
        "\
^[38;5;247m• ^[1;38;5;75mRunning^[0m go test .
^[38;5;29m• ^[1;38;5;75mRan^[0m go test .
^[38;5;247m  └ ^[0mok"
    );
    let [_, silent] = both("shell", r#"{"command":"gofmt -w ."}"#, "", false);
    assert_eq!(silent, "• Ran gofmt -w .");
}

#[test]
fn a_header_before_the_output_of_a_shell_is_not_shown() {
    let output = r#"{"success":true,"content":"Command: ls\nProcess State: exit status 0\nOutput:\na\nb\n"}"#;
    let [_, ran] = both("shell", r#"{"command":["ls"]}"#, output, false);
    assert_eq!(ran, "• Ran ls\n  └ a\n    b");
}

#[test]
fn long_output_is_cut_to_five_lines() {
    let output: Vec<String> = (1..=18).map(|line| line.to_string()).collect();
    let [_, ran] = both(
        "shell",
        r#"{"command":["seq","18"]}"#,
        &output.join("\n"),
        false,
    );
    assert_eq!(
        ran,
        "• Ran seq 18\n  └ 1\n    2\n    3\n    4\n    5\n    … +13 lines"
    );
}

#[test]
fn a_tool_that_failed_says_why_in_red() {
    let input = r#"{"command":["go","test","."]}"#;
    let output = r#"{"success":false,"error":"go command not found."}"#;
    let [_, ran] = both("shell", input, output, true);
    assert_eq!(ran, "• Ran go test .\n  └ Error: go command not found.");
    let lines = format!(
        "{}\n{}",
        call("shell", input),
        complete_at(0, "shell", output, true)
    );
    assert!(coloured(&lines).ends_with(
        "\
^[38;5;167m• ^[1;38;5;75mRan^[0m go test .
^[38;5;247m  └ ^[38;5;167mError: go command not found.^[0m"
    ));
}

#[test]
fn list_and_read_show_no_output() {
    let [call, done] = both("ls", r#"{"path":"some/path"}"#, "a\nb", false);
    assert_eq!([call, done], ["• List some/path", "• List some/path"]);
    let [call, done] = both("read_file", r#"{"path":"some/file.go"}"#, "a\nb", false);
    assert_eq!([call, done], ["• Read some/file.go", "• Read some/file.go"]);
}

const PLAN: &str = r#"{"kind":"plan","explanation":"Need to align.","entries":[{"text":"Inspect","status":"completed"},{"text":"Update","status":"in_progress"},{"text":"Revise","status":"pending"}]}"#;

#[test]
fn a_plan_shows_its_message_and_its_steps() {
    let line = r#"{"kind":"plan","explanation":"Need to align CodeUnit authorizer with updated SPEC behavior for read-only restrictions and adjust tests accordingly.","entries":[{"text":"Inspect SPEC changes and current CodeUnit authorizer implementation","status":"completed"},{"text":"Update codeunit authorizer logic to apply read restrictions only to read_file tool and keep write restrictions for all tools","status":"pending"},{"text":"Revise tests to cover new behavior and run go test for package","status":"pending"}]}"#;
    assert_eq!(
        own(line, 0),
        "\
• Update Plan
  └ Need to align CodeUnit authorizer with updated SPEC behavior for read-only restrictions and adjust tests accordingly.
    ✔ Inspect SPEC changes and current CodeUnit authorizer implementation
    □ Update codeunit authorizer logic to apply read restrictions only to read_file tool and keep write restrictions for all tools
    □ Revise tests to cover new behavior and run go test for package"
    );
    let blank = r#"{"kind":"plan","entries":[{"text":"Inspect","status":"completed"}]}"#;
    assert_eq!(own(blank, 80), "• Update Plan\n  └ ✔ Inspect");
}

#[test]
fn the_first_step_that_is_not_done_stands_out() {
    let formatter = Formatter::new(Config::default());
    let text = shown(formatter, "unspool", PLAN, 80).join("\n");
    assert_eq!(
        text.replace('\u{1b}', "^"),
        "\
^[38;5;29m• ^[1;38;5;75mUpdate Plan^[0m
^[38;5;247m  └ Need to align.^[0m
    ^[38;5;247m✔ Inspect^[0m
    ^[1;38;5;75m□ Update^[0m
    ^[38;5;247m□ Revise^[0m"
    );
}

#[test]
fn public_api() {
    let [call, done] = both(
        "get_public_api",
        r#"{"path":"axi/some/pkg"}"#,
        "text",
        false,
    );
    assert_eq!(call, "• Read Public API axi/some/pkg");
    assert_eq!(done, call);
    let input = r#"{"path":"axi/some/pkg","identifiers":["SomeType","DoThingFunc"]}"#;
    let [_, done] = both("get_public_api", input, "text", false);
    assert_eq!(
        done,
        "• Read Public API axi/some/pkg\n  └ SomeType, DoThingFunc"
    );
}

#[test]
fn clarify_public_api() {
    let input = r#"{"path":"/path/to/something","identifier":"someIdentifier","question":"What does someIdentifier return in its second parameter? Give an example."}"#;
    let answer = "The someIdentifier returns a description in the 2nd parameter. For example, ...";
    assert_eq!(
        both("clarify_public_api", input, answer, false),
        [
            "\
• Clarifying someIdentifier in /path/to/something
  └ What does someIdentifier return in its second parameter? Give an example.",
            "\
• Clarified someIdentifier in /path/to/something
  └ The someIdentifier returns a description in the 2nd parameter. For example, ..."
        ]
    );
    assert_eq!(
        coloured(&call(
            "clarify_public_api",
            r#"{"path":"p","identifier":"x","question":"q"}"#
        )),
        "\
^[38;5;247m• ^[1;38;5;75mClarifying^[0m x^[38;5;247m in^[0m p
^[38;5;247m  └ q^[0m"
    );
}

#[test]
fn update_usage() {
    let input = r#"{"paths":["some/path","other/path","third/path","4","5","6","7"],"instructions":"Update the callsites to conform to this new API..."}"#;
    assert_eq!(
        both("update_usage", input, "done", false),
        [
            "\
• Updating Usage in some/path, other/path, third/path (4 more)
  └ Update the callsites to conform to this new API...",
            "• Updated Usage in some/path, other/path, third/path (4 more)"
        ]
    );
    let [_, few] = both("update_usage", r#"{"paths":["a","b","c"]}"#, "", false);
    assert_eq!(few, "• Updated Usage in a, b, c");
}

#[test]
fn change_api() {
    let input = r#"{"path":"axi/some/pkg","instructions":"Add a new method SomeType.DoThing so downstream callers can avoid duplicating this logic..."}"#;
    assert_eq!(
        both("change_api", input, "done", false),
        [
            "\
• Changing API in axi/some/pkg
  └ Add a new method SomeType.DoThing so downstream callers can avoid duplicating this logic...",
            "• Changed API in axi/some/pkg"
        ]
    );
}

#[test]
fn get_usage_counts_its_results() {
    let input = r#"{"defining_package_path":"axi/some/pkg","identifier":"*SomeType.SomeFunc"}"#;
    let output: Vec<String> = (1..=12).map(|line| format!("{line}: x\n  y\n")).collect();
    let [_, done] = both("get_usage", input, &output.concat(), false);
    assert_eq!(
        done,
        "• Read Usage axi/some/pkg *SomeType.SomeFunc\n  └ Found 12 results."
    );
    let [_, one] = both("get_usage", input, "3: x", false);
    assert!(one.ends_with("Found 1 result."));
}

#[test]
fn module_info() {
    let [call, done] = both("module_info", "{}", "text", false);
    assert_eq!([call, done], ["• Read Module Info", "• Read Module Info"]);
    let input = r#"{"package_search":"agentformatter","include_dependency_packages":true}"#;
    let [call, done] = both("module_info", input, "text", false);
    assert_eq!(
        call,
        "• Read Module Info\n  └ Search: agentformatter; Deps: true"
    );
    assert_eq!(done, call);
    let [_, failed] = both("module_info", "{}", "no module", true);
    assert_eq!(failed, "• Read Module Info\n  └ Error: no module");
}

const TESTS: &str = r#"{"path":"some/pkg","verbose":true,"test_name":"Some"}"#;
const TESTED: &str = "<test-status ok=\"true\">\n$ go test ./codeai/gocodecontext\nok  \taxi/some/pkg\t0.374s\n</test-status>";

#[test]
fn run_tests_shows_what_is_inside_the_tag() {
    let [_, done] = both("run_tests", TESTS, TESTED, false);
    assert_eq!(
        done,
        "\
• Ran Tests some/pkg -v -run Some
  └ $ go test ./codeai/gocodecontext
    ok      axi/some/pkg    0.374s"
    );
}

#[test]
fn sub_agents_are_indented_by_their_depth() {
    for (depth, margin) in [(1, "  "), (3, "      ")] {
        let lines = format!(
            "{}\n{}",
            call_at(depth, "run_tests", TESTS),
            complete_at(depth, "run_tests", TESTED, false)
        );
        let texts = shown(formatter(), "codalotl", &lines, 80);
        let expected = [
            "• Ran Tests some/pkg -v -run Some",
            "  └ $ go test ./codeai/gocodecontext",
            "    ok      axi/some/pkg    0.374s",
        ]
        .map(|line| format!("{margin}{line}"));
        assert_eq!(texts.last(), Some(&expected.join("\n")));
    }
}

fn edit(edit: &str, width: usize) -> String {
    own(
        &format!(r#"{{"kind":"edit","seq":0,"edits":[{edit}]}}"#),
        width,
    )
}

#[test]
fn patches_have_line_numbers() {
    let change = r#"{"op":"update","path":"some/file.go","hunks":[
{"old_start":18,"new_start":18,"lines":[" \t\"axi/codeai/llmstream\"","+\t\"axi/codeai/prompt\""," \t\"axi/codeai/tools/coretools\""]},
{"old_start":22,"new_start":23,"lines":[" ","+const agentName = \"CodAgent\"","+"," func main() {"]},
{"old_start":44,"new_start":47,"lines":[" ","-\tsystemPrompt, err := loadSystemPrompt(sandboxDir)","-\tif err != nil {","-\t\treturn err","-\t}","+\tmodelID := llmstream.ModelID(\"gpt-5\")","+\tsystemPrompt := prompt.GetFullPrompt(agentName, modelID)"," ","-\tagentInstance, err := agent.NewAgent(llmstream.ModelID(\"gpt-5\"), systemPrompt, buildTools(sandboxDir))","+\tagentInstance, err := agent.NewAgent(modelID, systemPrompt, buildTools(sandboxDir))"," \tif err != nil {"]},
{"old_start":116,"new_start":117,"lines":[" \treturn filepath.Clean(cwd), nil","-}","-","-func loadSystemPrompt(repoRoot string) (string, error) {","-\tpath := filepath.Join(repoRoot, \"codeai\", \"agent-prototype\", \"generic-prompt.md\")","-\tdata, err := os.ReadFile(path)","-\tif err != nil {","-\t\treturn \"\", err","-\t}","-\treturn string(data), nil"," }"]}]}"#
        .replace('\n', "");
    assert_eq!(
        edit(&change, 0),
        "\
• Edit some/file.go
     18      \"axi/codeai/llmstream\"
     19 +    \"axi/codeai/prompt\"
     20      \"axi/codeai/tools/coretools\"
        ⋮
     23
     24 +const agentName = \"CodAgent\"
     25 +
     26  func main() {
        ⋮
     47
     45 -    systemPrompt, err := loadSystemPrompt(sandboxDir)
     46 -    if err != nil {
     47 -        return err
     48 -    }
     48 +    modelID := llmstream.ModelID(\"gpt-5\")
     49 +    systemPrompt := prompt.GetFullPrompt(agentName, modelID)
     50
     50 -    agentInstance, err := agent.NewAgent(llmstream.ModelID(\"gpt-5\"), systemPrompt, buildTools(sandboxDir))
     51 +    agentInstance, err := agent.NewAgent(modelID, systemPrompt, buildTools(sandboxDir))
     52      if err != nil {
        ⋮
    117      return filepath.Clean(cwd), nil
    117 -}
    118 -
    119 -func loadSystemPrompt(repoRoot string) (string, error) {
    120 -    path := filepath.Join(repoRoot, \"codeai\", \"agent-prototype\", \"generic-prompt.md\")
    121 -    data, err := os.ReadFile(path)
    122 -    if err != nil {
    123 -        return \"\", err
    124 -    }
    125 -    return string(data), nil
    118  }"
    );
}

#[test]
fn long_lines_of_a_patch_continue_under_the_text() {
    let change = r#"{"op":"update","path":"some/file.go","hunks":[{"old_start":24,"new_start":24,"lines":["+const description = \"This line is very long. It will wrap eventually.\"","+"," func main() {"]}]}"#;
    assert_eq!(
        edit(change, 74),
        "\
• Edit some/file.go
     24 +const description = \"This line is very long. It will wrap eventua
         lly.\"
     25 +
     26  func main() {"
    );
}

#[test]
fn deletions_and_renames() {
    assert_eq!(
        edit(r#"{"op":"delete","path":"some/file.go"}"#, 80),
        "• Delete some/file.go"
    );
    let moved = r#"{"op":"move","path":"some/file.go","new_path":"some/other.go""#;
    assert_eq!(
        edit(&format!("{moved}}}"), 80),
        "• Rename some/file.go → some/other.go"
    );
    let hunks = r#""hunks":[{"old_start":18,"new_start":18,"lines":[" \t\"axi/codeai/llmstream\"","+\t\"axi/codeai/prompt\""," \t\"axi/codeai/tools/coretools\""]}]"#;
    assert_eq!(
        edit(&format!("{moved},{hunks}}}"), 80),
        "\
• Edit some/file.go → some/other.go
     18      \"axi/codeai/llmstream\"
     19 +    \"axi/codeai/prompt\"
     20      \"axi/codeai/tools/coretools\""
    );
}

#[test]
fn a_patch_is_shown_once_it_is_applied() {
    let patch = "*** Begin Patch\n*** Update File: a.go\n@@ func f\n x\n-y\n+z\n*** Delete File: b.go\n*** End Patch";
    let [call, done] = both("apply_patch", patch, "ok", false);
    assert_eq!(call, "• Edit a.go");
    assert_eq!(
        done,
        "\
• Edit a.go
         x
        -y
        +z
• Delete b.go"
    );
}

#[test]
fn other_tools_show_input_and_output() {
    let input = r#"{"path": "path/to/file.go"}"#;
    let [call, done] = both("some_tool", input, r#"{"field":"value"}"#, false);
    assert_eq!(call, r#"• Tool some_tool {"path": "path/to/file.go"}"#);
    assert_eq!(
        done,
        "\
• Tool some_tool {\"path\": \"path/to/file.go\"}
  └ {
      \"field\": \"value\"
    }"
    );
}

#[test]
fn errors_warnings_and_cancellations_are_red() {
    let line = |kind: &str, text: &str| {
        serde_json::json!({"type": kind, "agent": {"id": "a", "depth": 0}, "message": text})
            .to_string()
    };
    assert_eq!(
        plain(&line("error", "some error has occurred."), 80),
        "• Error: some error has occurred."
    );
    assert_eq!(
        plain(&line("warning", "some warning has occurred."), 80),
        "• Warning: some warning has occurred."
    );
    assert_eq!(
        plain(&line("canceled", "deadline exceeded."), 80),
        "• Canceled: deadline exceeded."
    );
    assert_eq!(
        coloured(&line("error", "no.")),
        "^[38;5;167m• ^[1mError^[22m: no.^[0m"
    );
}

#[test]
fn the_end_of_a_turn_shows_nothing() {
    let mut formatter = formatter();
    let end = unspool::Event::from_json(r#"{"kind":"turn_end","status":"completed"}"#);
    assert_eq!(formatter.format_event(&end.expect("an event"), 80), "");
}

#[test]
fn escapes_in_events_are_made_visible() {
    assert_eq!(
        plain(&message("assistant_text", "a\u{1b}[31mb\tc\u{9b}"), 80),
        "• a\\x1B[31mb    c\\x9B"
    );
}
