//! File and terminal requests of the agent, and the grants that they need.

use super::*;

#[test]
fn files_are_read_and_written() {
    let mut world = World::trusting();
    let root = world.folder.path().canonicalize().unwrap();
    std::fs::write(root.join("a.txt"), "1\n2\n3\n").unwrap();
    let path = root.join("a.txt");
    let read = world.request(
        7,
        "fs/read_text_file",
        json!({"path": path, "line": 2, "limit": 1}),
    );
    assert_eq!(read["result"], json!({"content": "2\n"}));
    let missing = world.request(8, "fs/read_text_file", json!({"path": root.join("b.txt")}));
    assert_eq!(missing["error"]["code"], -32002);
    let outside = world.request(9, "fs/read_text_file", json!({"path": "/etc/passwd"}));
    assert_eq!(outside["error"]["code"], -32602);
    let params = json!({"sessionId": "s", "path": path, "content": "new\n"});
    let updates = world.take(json!({"id": 10, "method": "fs/write_text_file", "params": params}));
    assert!(
        updates.iter().any(|update| matches!(update,
        Update::FileWritten(wrote) if wrote.old.as_deref() == Some("1\n2\n3\n") && wrote.new == "new\n"))
    );
    assert_eq!(world.sent()["result"], json!({}));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new\n");
}

#[test]
fn writing_below_git_is_always_asked() {
    let mut world = World::trusting();
    let params = json!({"sessionId": "s", "path": ".GIT/hooks/pre-commit", "content": "evil"});
    world.take(json!({"id": 7, "method": "fs/write_text_file", "params": params}));
    world.nothing_sent();
    let id = world.client.questions()[0].id;
    world.client.answer(id, Answer::Option("reject".to_owned()));
    assert_eq!(world.sent()["error"]["code"], -32603);
    assert!(!world.folder.path().join(".GIT").exists());
    world.take(json!({"id": 8, "method": "fs/write_text_file", "params": params}));
    let id = world.client.questions()[0].id;
    world.client.answer(id, Answer::Option("allow".to_owned()));
    assert_eq!(world.sent()["result"], json!({}));
    assert!(world.folder.path().join(".GIT/hooks/pre-commit").exists());
}

#[test]
fn a_command_runs_to_its_end() {
    let mut world = World::trusting();
    let created = world.request(
        7,
        "terminal/create",
        json!({"command": "printf 'a\\nb'; test -t 1 && exit 4"}),
    );
    let terminal = created["result"]["terminalId"].clone();
    world.update(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "title": "printf",
        "status": "in_progress", "content": [{"type": "terminal", "terminalId": terminal}]}));
    let params = json!({"sessionId": "s", "terminalId": terminal});
    world.take(json!({"id": 8, "method": "terminal/wait_for_exit", "params": params}));
    let exit = world.sent_later();
    assert_eq!(
        (&exit["id"], &exit["result"]),
        (&json!(8), &json!({"exitCode": 4}))
    );
    let output = world.request(9, "terminal/output", params.clone());
    assert_eq!(
        output["result"],
        json!({"output": "a\r\nb", "truncated": false, "exitStatus": {"exitCode": 4}})
    );
    assert_eq!(
        world.request(10, "terminal/release", params.clone())["result"],
        json!({})
    );
    assert_eq!(
        world.request(11, "terminal/output", params)["error"]["code"],
        -32002
    );
}

#[test]
fn live_output_is_shown_once_in_its_call() {
    let mut world = World::trusting();
    let created = world.request(
        7,
        "terminal/create",
        json!({"command": "echo one; sleep 0.2; echo two"}),
    );
    let terminal = created["result"]["terminalId"].clone();
    let mut updates = world.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "title": "echo",
        "status": "in_progress", "content": [{"type": "terminal", "terminalId": terminal}]}),
    );
    loop {
        let incoming = world.incoming.recv_timeout(PATIENCE).unwrap();
        let is_end = matches!(
            &incoming,
            Incoming::Terminal(crate::terminals::TerminalEvent::Exited(_))
        );
        updates.extend(world.client.receive(incoming));
        if is_end {
            break;
        }
    }
    let params = json!({"sessionId": "s", "terminalId": terminal});
    updates.extend(world.take(json!({"id": 8, "method": "terminal/output", "params": params})));
    updates.extend(world.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}),
    ));
    updates.extend(world.take(json!({"id": 2, "result": {"stopReason": "end_turn"}})));
    let all = events(&updates);
    let live: String = all
        .iter()
        .filter_map(|body| match body {
            Body::ToolOutput(output) if output.id == "c" => Some(output.text.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(live, "one\r\ntwo\r\n");
    assert!(all.iter().any(|body| matches!(body, Body::ToolResult(result) if result.output == "one\r\ntwo\r\n" && result.exit_code == Some(0))));
}

#[test]
fn a_killed_command_reports_its_signal_and_one_outside_is_refused() {
    let mut world = World::trusting();
    let created = world.request(
        7,
        "terminal/create",
        json!({"command": "sleep", "args": ["100"]}),
    );
    let params = json!({"sessionId": "s", "terminalId": created["result"]["terminalId"]});
    world.take(json!({"id": 8, "method": "terminal/wait_for_exit", "params": params}));
    assert_eq!(
        world.request(9, "terminal/kill", params)["result"],
        json!({})
    );
    let exit = world.sent_later();
    assert_eq!(exit["id"], 8);
    // A command that takes long to end, as on a busy machine, is killed.
    let signal = exit["result"]["signal"].as_str();
    assert!(matches!(signal, Some("SIGTERM" | "SIGKILL")), "{exit}");
    let outside = world.request(
        10,
        "terminal/create",
        json!({"command": "ls", "cwd": "/etc"}),
    );
    assert_eq!(outside["error"]["code"], -32602);
    let nothing = world.request(
        11,
        "terminal/create",
        json!({"command": "no-such-program", "args": ["x"]}),
    );
    assert_eq!(nothing["error"]["code"], -32603);
}

#[test]
fn an_impossible_write_is_refused_without_a_question() {
    let mut world = World::working();
    let root = world.folder.path().to_owned();
    std::fs::create_dir(root.join("folder")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(root.join("pipe"))
        .status();
    assert!(made.unwrap().success());
    for (number, path) in ["folder", "pipe", ".", "folder/.."].into_iter().enumerate() {
        let answer = world.request(
            20 + u64::try_from(number).unwrap(),
            "fs/write_text_file",
            json!({"path": path, "content": "x"}),
        );
        assert_eq!(answer["error"]["code"], -32603, "{path}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("not a regular file"), "{path}: {message}");
        assert!(world.client.questions().is_empty(), "{path}");
    }
}

#[test]
fn a_shell_command_is_shown_as_a_call() {
    let mut world = World::opened();
    let id = world.client.run_shell("echo hé; exit 3").unwrap();
    let mut updates = world.client.take_updates();
    while world.client.running_shells().next().is_some() {
        let incoming = world.incoming.recv_timeout(PATIENCE).unwrap();
        updates.extend(world.client.receive(incoming));
    }
    world.nothing_sent();
    let all = events(&updates);
    assert!(all.iter().any(
        |body| matches!(body, Body::ToolUse(call) if call.id == id && call.arg == "echo hé; exit 3")
    ));
    assert!(matches!(all.last(), Some(Body::ToolResult(result))
        if result.output == "hé\r\n" && result.exit_code == Some(3) && result.status == ToolStatus::Error));
}

#[test]
fn rules_apply_to_file_and_terminal_requests() {
    let list = [
        json!({"action": "deny", "path": "secret/**"}),
        json!({"action": "ask", "kind": "edit", "path": "src/**"}),
        json!({"action": "deny", "command": "rm *"}),
    ];
    let mut world = World::with(|config| config.rules = rules(&list))
        .open()
        .work();
    let denied = world.request(7, "fs/read_text_file", json!({"path": "secret/key"}));
    assert_eq!(denied["error"]["code"], -32603);
    let env = json!([{"name": "A", "value": "b"}]);
    for run in [
        json!({"command": "ls; rm x"}),
        json!({"command": "rm x", "env": env}),
        json!({"command": "rm", "args": ["x"], "env": env}),
    ] {
        let denied = world.request(8, "terminal/create", run);
        assert_eq!(denied["error"]["code"], -32603);
    }
    let write = json!({"sessionId": "s", "path": "src/a.rs", "content": "x"});
    world.take(json!({"id": 9, "method": "fs/write_text_file", "params": write}));
    world.nothing_sent();
    world.client.cancel_questions();
    assert_eq!(world.sent()["error"]["code"], -32603);
    // A change that was allowed in this turn is not asked again.
    let content = json!([{"type": "diff", "path": "src/a.rs", "newText": "x"}]);
    let call = json!({"toolCallId": "c", "kind": "edit", "content": content});
    world.request_permission(json!(10), call);
    let id = world.client.questions()[0].id;
    world.client.answer(id, Answer::Option("y".to_owned()));
    world.sent();
    world.take(json!({"id": 11, "method": "fs/write_text_file", "params": write}));
    assert_eq!(world.sent()["result"], json!({}));
}

#[test]
fn a_request_without_a_grant_is_asked() {
    let mut world = World::working();
    let write = json!({"sessionId": "s", "path": "a.rs", "content": "x"});
    world.take(json!({"id": 7, "method": "fs/write_text_file", "params": write}));
    let run = json!({"sessionId": "s", "command": "touch b.rs"});
    world.take(json!({"id": 8, "method": "terminal/create", "params": run}));
    world.nothing_sent();
    let asked: Vec<QuestionId> = world.client.questions().iter().map(|ask| ask.id).collect();
    assert_eq!(asked.len(), 2);
    for id in asked {
        world.client.answer(id, Answer::Option("reject".to_owned()));
        assert_eq!(world.sent()["error"]["code"], -32603);
    }
    assert!(!world.folder.path().join("a.rs").exists());
    assert!(!world.folder.path().join("b.rs").exists());
    // "Always" for files does not cover commands.
    world.take(json!({"id": 9, "method": "fs/write_text_file", "params": write}));
    let id = world.client.questions()[0].id;
    world
        .client
        .answer(id, Answer::Option("allow_always".to_owned()));
    assert_eq!(world.sent()["result"], json!({}));
    world.take(json!({"id": 10, "method": "fs/write_text_file", "params": write}));
    assert_eq!(world.sent()["result"], json!({}));
    world.take(json!({"id": 11, "method": "terminal/create", "params": run}));
    world.nothing_sent();
    assert_eq!(world.client.questions().len(), 1);
}

/// Answers the only open question and returns the command that it showed.
fn allow(world: &mut World, option: &str) -> Option<String> {
    let ask = world.client.questions()[0].clone();
    world
        .client
        .answer(ask.id, Answer::Option(option.to_owned()));
    world.sent();
    match ask.kind {
        crate::QuestionKind::Permission { call, .. } => call.command,
        _ => None,
    }
}

#[test]
fn a_granted_change_does_not_allow_another_one() {
    let mut world = World::working();
    let root = world.folder.path().canonicalize().unwrap();
    let path = root.join("a.txt");
    std::fs::write(&path, "one\ntwo\n").unwrap();
    let content = json!([{"type": "diff", "path": path, "oldText": "two", "newText": "2"}]);
    let call =
        json!({"toolCallId": "c", "kind": "edit", "title": "Edit a.txt", "content": content});
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    world.take(json!({"id": 7, "method": "session/request_permission", "params": params}));
    allow(&mut world, "yes");
    let write = |content: &str| json!({"sessionId": "s", "path": path, "content": content});
    // The granted change is made without another question, and its call shows it.
    let params = write("one\n2\n");
    let updates = world.take(json!({"id": 8, "method": "fs/write_text_file", "params": params}));
    assert_eq!(world.sent()["result"], json!({}));
    let done = updates.iter().find_map(|update| match update {
        Update::FileWritten(done) => Some(done),
        _ => None,
    });
    assert!(world.client.shows_change(done.unwrap()));
    // Any other change is asked, every time.
    for (id, text) in [(9, "evil\n"), (10, "one\n2\nevil\n")] {
        let params = write(text);
        world.take(json!({"id": id, "method": "fs/write_text_file", "params": params}));
        world.nothing_sent();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\n2\n");
        allow(&mut world, "reject");
    }
}

#[test]
fn a_command_is_shown_with_its_variables_and_folder() {
    let mut world = World::working();
    let cases = [
        (
            json!({"command": "bash", "args": ["-c", "echo hi"]}),
            "echo hi",
        ),
        (
            json!({"command": "evil/bash", "args": ["-c", "echo hi"]}),
            "evil/bash -c 'echo hi'",
        ),
        (
            json!({"command": "evil/bash -c 'echo hi'"}),
            "evil/bash -c 'echo hi'",
        ),
        (
            json!({"command": "echo", "args": ["a b; rm -rf x"]}),
            "echo 'a b; rm -rf x'",
        ),
        (
            json!({"command": "echo hi", "env": [{"name": "PATH", "value": "evil bin"}]}),
            "PATH='evil bin' echo hi",
        ),
        (
            json!({"command": "bash", "args": ["-c", "echo hi"], "env": [{"name": "PATH", "value": "evil"}]}),
            "PATH=evil bash -c 'echo hi'",
        ),
    ];
    for (number, (mut params, line)) in cases.into_iter().enumerate() {
        params["sessionId"] = json!("s");
        world.take(json!({"id": 20 + number, "method": "terminal/create", "params": params}));
        assert_eq!(allow(&mut world, "reject").as_deref(), Some(line));
    }
}

#[test]
fn a_folder_outside_is_refused_without_a_question() {
    let mut world = World::working();
    let params = json!({"sessionId": "s", "command": "ls", "cwd": "/etc"});
    world.take(json!({"id": 7, "method": "terminal/create", "params": params}));
    assert_eq!(world.sent()["error"]["code"], -32602);
    assert!(world.client.questions().is_empty());
    std::fs::create_dir(world.folder.path().join("below")).unwrap();
    let below = world.folder.path().join("below");
    let params = json!({"sessionId": "s", "command": "ls", "cwd": below});
    world.take(json!({"id": 8, "method": "terminal/create", "params": params}));
    let crate::QuestionKind::Permission { call, .. } = &world.client.questions()[0].kind else {
        panic!("no permission");
    };
    assert!(call.remarks[0].ends_with("below"), "{:?}", call.remarks);
}

#[test]
fn a_granted_command_runs_once_and_in_the_root() {
    let mut world = World::working();
    std::fs::create_dir(world.folder.path().join("below")).unwrap();
    let below = world.folder.path().join("below");
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let input = json!({"command": "true", "args": ["-x"], "cwd": "/etc"});
    let call = json!({"toolCallId": "c", "kind": "execute", "title": "t", "rawInput": input});
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    world.take(json!({"id": 7, "method": "session/request_permission", "params": params}));
    let crate::QuestionKind::Permission { call, .. } = world.client.questions()[0].kind.clone()
    else {
        panic!("no permission");
    };
    assert_eq!(call.remarks, ["cwd: /etc"]);
    assert_eq!(allow(&mut world, "yes").as_deref(), Some("true -x"));
    let run = json!({"sessionId": "s", "command": "true", "args": ["-x"]});
    let mut elsewhere = run.clone();
    elsewhere["cwd"] = json!(below);
    world.take(json!({"id": 8, "method": "terminal/create", "params": elsewhere}));
    world.nothing_sent();
    allow(&mut world, "reject");
    world.take(json!({"id": 9, "method": "terminal/create", "params": run}));
    assert!(world.sent()["result"]["terminalId"].is_string());
    world.take(json!({"id": 10, "method": "terminal/create", "params": run}));
    world.nothing_sent();
    allow(&mut world, "reject");
    let odd =
        json!({"sessionId": "s", "command": "ls", "env": [{"name": "echo hi ", "value": "x"}]});
    world.take(json!({"id": 11, "method": "terminal/create", "params": odd}));
    assert_eq!(world.sent()["error"]["code"], -32602);
}

#[test]
fn only_allow_options_grant_and_ids_must_be_unique() {
    let mut world = World::working();
    let content = json!([{"type": "diff", "path": "a.txt", "newText": "x"}]);
    let call = json!({"toolCallId": "c", "kind": "edit", "title": "Add", "content": content});
    let ask = |id: u64, options: Value| {
        let params = json!({"sessionId": "s", "toolCall": call, "options": options});
        json!({"id": id, "method": "session/request_permission", "params": params})
    };
    world.take(ask(
        7,
        json!([{"optionId": "x", "name": "Yes", "kind": "allow_always"},
        {"optionId": "x", "name": "No", "kind": "reject_once"}]),
    ));
    assert_eq!(world.sent()["error"]["code"], -32602);
    let write = json!({"sessionId": "s", "path": "a.txt", "content": "x"});
    let mut other = write.clone();
    other["path"] = json!("b.txt");
    let cases = [
        ("allow_never", &write, false),
        ("allow_always", &write, true),
    ];
    for (number, (kind, write, is_allowed)) in cases.into_iter().enumerate() {
        world.take(ask(
            8,
            json!([{"optionId": "x", "name": "No", "kind": kind}]),
        ));
        allow(&mut world, "x");
        let id = 20 + number;
        world.take(json!({"id": id, "method": "fs/write_text_file", "params": write}));
        if is_allowed {
            assert_eq!(world.sent()["result"], json!({}), "{kind}");
        } else {
            world.nothing_sent();
            allow(&mut world, "reject");
        }
    }
    // An agent's own "always" does not cover other files.
    world.take(json!({"id": 30, "method": "fs/write_text_file", "params": other}));
    world.nothing_sent();
    allow(&mut world, "reject");
}

#[test]
fn a_rule_for_reading_allows_nothing_else() {
    let list = [json!({"action": "allow", "kind": "read"})];
    let mut world = World::with(|config| config.rules = rules(&list))
        .open()
        .work();
    let content = json!([{"type": "diff", "path": "a.txt", "newText": "x"}]);
    let call = json!({"toolCallId": "c", "kind": "read", "title": "Read a.txt",
        "rawInput": {"command": "touch b"}, "content": content});
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    world.take(json!({"id": 7, "method": "session/request_permission", "params": params}));
    world.sent();
    let write = json!({"sessionId": "s", "path": "a.txt", "content": "x"});
    world.take(json!({"id": 8, "method": "fs/write_text_file", "params": write}));
    let run = json!({"sessionId": "s", "command": "touch b"});
    world.take(json!({"id": 9, "method": "terminal/create", "params": run}));
    world.nothing_sent();
    assert_eq!(world.client.questions().len(), 2);
}
