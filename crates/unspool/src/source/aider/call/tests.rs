use super::*;

fn announced(tool: &str, body: &str) -> Announced {
    let mut block = Block::new("local".into(), tool.into(), Columns::default());
    for line in body.lines() {
        assert!(block.takes(line), "{line}");
        block.push(line);
    }
    block.finish()
}

fn input_of(call: &Announced) -> &str {
    call.input.as_ref().unwrap().get()
}

#[test]
fn json_arguments_that_were_cut_are_rejoined() {
    let call = announced(
        "Grep",
        "[blue]Arguments:[/] {\"query\": \"Model Control Protocol specification \nsite:x.io\"}",
    );
    assert_eq!(
        input_of(&call),
        r#"{"query": "Model Control Protocol specification site:x.io"}"#
    );
    assert_eq!(call.arg, "Model Control Protocol specification si…");
    let broken = announced("Grep", "Arguments: {\"x\": ");
    assert_eq!(input_of(&broken), r#"{"Arguments":"{\"x\":"}"#);
}

#[test]
fn arguments_shown_one_by_one_become_an_object() {
    let call = announced(
        "ReplaceLines",
        "\nfile_path:\napp.py\n\nstart_line:\n5\n\nnew_content:\nelse:\n    x()\n\nend",
    );
    assert_eq!(
        input_of(&call),
        r#"{"file_path":"app.py","start_line":"5","new_content":"else:\n    x()\n\nend"}"#
    );
    assert_eq!(call.arg, "app.py");
    assert_eq!(call.edits[0].hunks[0].new_start, Some(5));
}

#[test]
fn every_form_of_arguments_is_read() {
    let read = announced(
        "ReadFile",
        "\nrange_1: app.py • @000 • 000@\nrange_2: b.py • 1 • 2",
    );
    assert_eq!(read.arg, "app.py");
    assert_eq!(
        input_of(&read),
        r#"{"range_1":"app.py • @000 • 000@","range_2":"b.py • 1 • 2"}"#
    );
    let task = announced(
        "Delegate",
        "\ndelegation_1:\nagent: worker\nmode: sync\ntask: Count",
    );
    assert_eq!(task.arg, "Count");
    assert_eq!(
        input_of(&task),
        r#"{"delegation_1":{"agent":"worker","mode":"sync","task":"Count"}}"#
    );
    let shell = announced("Command", "\nCommand:\necho one; echo two\n");
    assert_eq!(shell.arg, "echo one; echo two");
    let code = announced("Orchestrate", "\nvalues: True\nCode:\n  x = 1\n  y = 2");
    assert_eq!(code.arg, "x = 1\n  y = 2");
}

#[test]
fn a_call_that_cannot_be_made_has_a_failure() {
    for line in [
        "(no command provided — call will be rejected)",
        "Invalid Tool JSON",
    ] {
        let call = announced("Command", &format!("\n{line}\n"));
        assert_eq!(call.failure.as_deref(), Some(line));
    }
    let call = announced("Command", "\nCommand:\necho\nInvalid Tool JSON");
    assert_eq!(call.failure, None);
}

#[test]
fn a_hunk_ends_when_it_is_complete() {
    let mut block = Block::new("local".into(), "EditFile".into(), Columns::default());
    for line in [
        "",
        "file_path:",
        "app.py",
        "",
        "replacement:",
        "@@ -1 +1 @@",
        "-a",
        "+b",
    ] {
        assert!(block.takes(line), "{line}");
        block.push(line);
    }
    assert!(!block.takes("And a new file."));
    assert!(!block.takes("- a list"));
    let call = block.finish();
    assert_eq!(call.edits[0].hunks[0].lines, ["-a", "+b"]);
    assert_eq!(call.edits[0].hunks[0].old_start, None);
}

#[test]
fn todo_lists_are_plans() {
    let call = announced("UpdateTodoList", "Done:\n✓ a\n\nRemaining:\n→ b\n○ c");
    let plan = call.plan.unwrap();
    let statuses: Vec<_> = plan.entries.iter().map(|entry| entry.status).collect();
    assert_eq!(
        statuses,
        [
            PlanStatus::Completed,
            PlanStatus::InProgress,
            PlanStatus::Pending
        ]
    );
}
