//! Tool calls and their results.

use super::*;

#[test]
fn a_tool_call_with_tags_is_a_call_and_its_question_a_prompt() {
    let text = "[blue]Tool Call:[/] web-search • full-web-search\n[blue]Arguments:[/] {\"query\": \"Model Control Protocol\"}\nRun tools? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: ";
    let bodies = bodies(text);
    let Body::ToolUse(call) = &bodies[1] else {
        panic!("{bodies:?}");
    };
    assert_eq!(call.name, "web-search.full-web-search");
    assert_eq!(call.arg, "Model Control Protocol");
    let Body::Prompt(prompt) = &bodies[2] else {
        panic!("{bodies:?}");
    };
    assert_eq!(prompt.options, ["Yes", "No", "All", "Skip all"]);
    let Body::TurnEnd(end) = &bodies[3] else {
        panic!("{bodies:?}");
    };
    assert_eq!(end.status, TurnStatus::Interrupted);
}

#[test]
fn tagged_arguments_of_unknown_names_are_an_object() {
    let text = "[blue]Tool Call:[/] x • do\n[blue]first_one:[/]\na\nb\n[blue]second:[/]\nc\nRun tools? (Y)es/(N)o [Yes]: ";
    let Body::ToolUse(call) = &bodies(text)[1] else {
        panic!("no call");
    };
    let input = call.input.as_ref().unwrap().get();
    assert_eq!(input, r#"{"first_one":"a\nb","second":"c"}"#);
}

#[test]
fn results_without_a_call_and_alarms_are_shown() {
    let bodies = bodies(
        "✅ Replaced 5 lines in path/to/file.py (change_id: 1a2b3c-4d5e)\n[red]ERROR:[/] Error in ReplaceText: File 'x' not found\nWARNING: careful\n",
    );
    let Body::ToolResult(result) = &bodies[1] else {
        panic!("{bodies:?}");
    };
    assert_eq!(result.status, ToolStatus::Ok);
    let notices: Vec<_> = bodies
        .iter()
        .filter_map(|body| match body {
            Body::Notice(notice) => Some((notice.level, notice.text.to_string())),
            _ => None,
        })
        .collect();
    assert_eq!(
        notices,
        [
            (
                Level::Error,
                "Error in ReplaceText: File 'x' not found".to_owned()
            ),
            (Level::Warning, "careful".to_owned())
        ]
    );
}

#[test]
fn calls_without_questions_end_where_their_arguments_end() {
    let calls = "Tool Call: local_tools • View\nArguments: {\"file_path\": \"a\"}\n\n📎 Viewed 'a'\nNext.\n\nTokens: 1k sent, 900 received.\n\nagent> Processing...\n";
    assert_eq!(
        kinds(&read(&turn("Hi.", calls))),
        [
            "session",
            "text",
            "usage",
            "tool_use",
            "tool_result",
            "text",
            "usage",
            "turn_end"
        ]
    );
}

#[test]
fn an_error_names_its_tool() {
    let calls = "Tool Call: local_tools • View\nArguments: {}\n\nTool Call: local_tools • Grep\nArguments: {}\nRun tools? (Y)es/(N)o [Yes]: Error in Grep: no\n\nagent> ";
    let events = read(&turn("", calls));
    let Some(Body::ToolResult(result)) = events
        .iter()
        .map(|event| &event.body)
        .find(|body| matches!(body, Body::ToolResult(_)))
    else {
        panic!("{events:?}");
    };
    assert_eq!(
        (result.id.as_str(), result.status),
        ("call-2", ToolStatus::Error)
    );
}

/// Returns ids, statuses and outputs of the results of calls of these tools.
fn outcomes(tools: &[&str], printed: &str) -> Vec<(String, ToolStatus, String)> {
    let calls = tools
        .iter()
        .map(|tool| format!("Tool Call: {tool}\nArguments: {{}}\n\n"));
    let calls: String = calls.collect();
    let after = format!(
        "{calls}Run tools? (Y)es/(N)o [Yes]: \n{printed}\nDone.\n\nTokens: 1k sent, 900 received.\n\nagent> "
    );
    let results = bodies(&turn("Hi.", &after))
        .into_iter()
        .filter_map(|body| match body {
            Body::ToolResult(result) => Some((result.id, result.status, result.output.to_string())),
            _ => None,
        });
    results.collect()
}

#[test]
fn an_edit_is_the_result_of_a_tool_that_edits() {
    let line = "✅ Deleted lines 2-3 in a.py (change_id: 0a1b2c3d)";
    let results = outcomes(
        &[
            "ctx7 • get-docs",
            "local_tools • View",
            "local_tools • DeleteLines",
        ],
        line,
    );
    let of = |id: &str| results.iter().find(|result| result.0 == id).unwrap();
    assert_eq!(of("call-3").2, line);
    assert_eq!((of("call-1").2.as_str(), of("call-2").2.as_str()), ("", ""));
}

#[test]
fn an_error_after_its_label_names_its_tool() {
    let printed = "✅ Replaced text in a.py (change_id: 0a1b2c3d)\n[red]ERROR:[/] Error in DeleteLines: File 'x' not found";
    let results = outcomes(
        &["local_tools • ReplaceText", "local_tools • DeleteLines"],
        printed,
    );
    assert_eq!(results.len(), 2);
    assert_eq!(results[0].1, ToolStatus::Ok);
    assert_eq!(
        (results[1].1, results[1].2.as_str()),
        (
            ToolStatus::Error,
            "Error in DeleteLines: File 'x' not found"
        )
    );
}

#[test]
fn a_refused_call_on_a_terminal_is_rejected() {
    let text = turn("Hi.", "Tool Call: local_tools • View\nArguments: {}\nRun tools? (Y)es/(N)o [Yes]: n\n\nagent> /exit\n").replace('\n', "\r\n");
    let events = read(&text);
    assert!(events.iter().any(
        |event| matches!(&event.body, Body::ToolResult(result) if result.status == ToolStatus::Rejected)
    ));
}

/// Returns the statuses of the results, and the number of their changes.
fn results(after: &str) -> Vec<(ToolStatus, usize)> {
    let text = format!(
        "cecli v1.10.0\nModels         m (main)\nSettings       agent (edit format)\n\nagent> I edit.\n\n1k ◇ 0.0% ↑ 90 ↓ $0.1 • 1k ◇ 0.0% ↑↓ $0.1\n\nTool Call: local • EditFile\n\nfile_path:\na.py\n\nreplacement:\n{after}\n\n1k ◇ 0.0% ↑ 90 ↓ $0.1 • 1k ◇ 0.0% ↑↓ $0.1\n\n\nagent> "
    );
    let results = bodies(&text).into_iter().filter_map(|body| match body {
        Body::ToolResult(result) => Some((result.status, result.edits.len())),
        _ => None,
    });
    results.collect()
}

#[test]
fn a_shown_change_that_was_not_refused_is_a_result() {
    const QUESTION: &str = "Run tools? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: ";
    let shown = format!("@@ -1 +1 @@\n-a\n+b\n{QUESTION}");
    assert_eq!(results(&format!("{shown}Done.")), [(ToolStatus::Ok, 1)]);
    let went_on = format!("{shown}Continuing exploration...\nDone.");
    assert_eq!(results(&went_on), [(ToolStatus::Rejected, 0)]);
    let failed = format!("{shown}Error in EditFile: no such file\nDone.");
    assert_eq!(results(&failed), [(ToolStatus::Error, 0)]);
    let unseen = format!("Preview Unavailable: Content ID Verification Failed\n{QUESTION}Done.");
    assert_eq!(results(&unseen), [(ToolStatus::Error, 0)]);
}

#[test]
fn a_command_that_was_cut_off_has_no_result() {
    let call = "Tool Call: local_tools • Command\nArguments: {\"command_string\": \"make\"}\nRun tools? (Y)es/(N)o [Yes]: ";
    let runs = "⚙️ Executing non-interactive shell command: make\n";
    let events = read(&turn("I run.", &format!("{call}{runs}cc a.c\n\ncc b.")));
    assert_eq!(
        kinds(&events)[3..],
        ["tool_use", "prompt", "tool_output", "turn_end"]
    );
    let Body::ToolOutput(output) = &events[events.len() - 2].body else {
        panic!("{events:?}");
    };
    assert_eq!(output.text, "cc a.c\n\ncc b.");
    let after = |events: &[Event]| kinds(events)[5..].to_vec();
    let own = turn(
        "I run.",
        &format!("{call}⛭ Executing shell command with 30s timeout.\n"),
    );
    assert_eq!(after(&read(&own)), ["tool_output", "turn_end"]);
    let over = turn("I run.", &format!("{call}{runs}cc a.c\n\nagent> "));
    assert_eq!(after(&read(&over)), ["tool_result", "turn_end"]);
    let viewed = turn(
        "I look.",
        &format!("{}📎 Viewed 'a'\n", call.replace("Command", "View")),
    );
    assert_eq!(after(&read(&viewed)), ["tool_result", "turn_end"]);
}

#[test]
fn commands_allowed_together_are_separate_calls() {
    let after = "Tokens: 1k sent, 900 received.\n\nmake all \nmake test\nRun shell commands? (Y)es/(N)o/(D)on't ask again [Yes]: \nRunning make all\nRunning make\nRunning make all\nbuilt\n\nRunning make test\nRunning make all\nAdd command output to the chat? (Y)es/(N)o/(D)on't ask again [Yes]: Added 2 lines of output to the chat.";
    let outputs: Vec<_> = bodies(&classic("diff", "Run.", after))
        .into_iter()
        .filter_map(|body| match body {
            Body::ToolResult(result) => Some(result.output.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(
        outputs,
        ["Running make\nRunning make all\nbuilt", "Running make all"]
    );
}
