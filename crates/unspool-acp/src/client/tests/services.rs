//! Files and commands that are done through the client.

use super::*;

#[test]
fn files_are_read_and_written_with_a_diff() {
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
fn writing_where_programs_are_run_from_is_asked_for() {
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
fn a_command_runs_in_a_terminal_to_its_end() {
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
fn live_output_belongs_to_the_call_that_shows_it_and_comes_once() {
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
        let news = world.news.recv_timeout(Duration::from_secs(10)).unwrap();
        let is_end = matches!(
            &news,
            Incoming::Terminal(crate::terminals::TerminalEvent::Exited(_))
        );
        updates.extend(world.client.receive(news));
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
fn a_command_that_is_killed_says_so_and_one_outside_does_not_start() {
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
    assert_eq!(
        (&exit["id"], &exit["result"]["signal"]),
        (&json!(8), &json!("SIGTERM"))
    );
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
fn a_terminal_that_no_call_shows_is_shown_when_it_is_released() {
    let mut world = World::trusting();
    let created = world.request(7, "terminal/create", json!({"command": "echo hi"}));
    let params = json!({"sessionId": "s", "terminalId": created["result"]["terminalId"]});
    world.take(json!({"id": 8, "method": "terminal/wait_for_exit", "params": params}));
    world.sent_later();
    let updates = world.take(json!({"id": 9, "method": "terminal/release", "params": params}));
    assert!(
        events(&updates)
            .iter()
            .any(|body| matches!(body, Body::ToolResult(result) if result.output == "hi\r\n"))
    );
}

/// What is told of the terminal's own call, in short.
fn told(updates: &[Update]) -> Vec<String> {
    let words = |body: &&Body| match body {
        Body::ToolUse(call) => Some(format!("runs {}", call.arg)),
        Body::ToolOutput(output) => Some(format!("says {}", output.text.to_string().trim())),
        Body::ToolResult(result) => Some(format!("ends {:?}", result.exit_code)),
        _ => None,
    };
    events(updates).iter().filter_map(words).collect()
}

#[test]
fn a_terminal_that_no_call_shows_is_seen_while_it_runs() {
    let mut world = World::trusting();
    let run = json!({"command": "read a; echo got $a; read b; exit 3"});
    let created = world.request(7, "terminal/create", run);
    let id = created["result"]["terminalId"].as_str().unwrap().to_owned();
    let updates = world.client.flush_held();
    let command = "runs read a; echo got $a; read b; exit 3";
    assert_eq!(told(&updates), [command]);
    assert!(world.client.has_unattached_terminal());
    assert!(
        told(&world.client.flush_held()).is_empty(),
        "once is enough"
    );
    world.client.services.terminals.write(&id, b"it\n").unwrap();
    let mut updates = Vec::new();
    while !told(&updates).iter().any(|words| words.contains("got it")) {
        let news = world.news.recv_timeout(Duration::from_secs(10)).unwrap();
        updates.extend(world.client.receive(news));
    }
    assert!(world.client.has_unattached_terminal());
    world.client.services.terminals.write(&id, b"\n").unwrap();
    // A call may still take it up, for a while.
    let began = std::time::Instant::now();
    while world.client.has_unattached_terminal() {
        assert!(began.elapsed() < Duration::from_secs(10));
        if let Ok(news) = world.news.recv_timeout(Duration::from_millis(50)) {
            updates.extend(world.client.receive(news));
        }
        updates.extend(world.client.flush_held());
    }
    assert!(began.elapsed() >= Duration::from_millis(900));
    assert_eq!(told(&updates).last().unwrap(), "ends Some(3)");
    let params = json!({"sessionId": "s", "terminalId": id});
    let updates = world.take(json!({"id": 9, "method": "terminal/release", "params": params}));
    assert!(told(&updates).is_empty(), "it was told before");
}

#[test]
fn a_terminal_that_a_call_took_up_is_shown_there_alone() {
    let mut world = World::trusting();
    let created = world.request(7, "terminal/create", json!({"command": "sleep 100"}));
    let terminal = created["result"]["terminalId"].clone();
    world.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "title": "sleep",
        "status": "in_progress", "content": [{"type": "terminal", "terminalId": terminal}]}),
    );
    let told = told(&world.client.flush_held());
    assert!(
        !told.iter().any(|words| words == "runs sleep 100"),
        "{told:?}"
    );
    assert!(!world.client.has_unattached_terminal());
}

/// Goes on until something is told.
fn until(world: &mut World, updates: &mut Vec<Update>, wanted: &str) {
    let began = std::time::Instant::now();
    while !told(updates).iter().any(|words| words.contains(wanted)) {
        assert!(began.elapsed() < Duration::from_secs(10), "{wanted}");
        if let Ok(news) = world.news.recv_timeout(Duration::from_millis(20)) {
            updates.extend(world.client.receive(news));
        }
        updates.extend(world.client.flush_held());
    }
}

#[test]
fn a_call_that_takes_a_terminal_up_late_takes_its_place() {
    let mut world = World::trusting();
    let run = json!({"command": "echo alpha; read a; echo beta; read b"});
    let created = world.request(7, "terminal/create", run);
    let id = created["result"]["terminalId"].as_str().unwrap().to_owned();
    let mut updates = Vec::new();
    until(&mut world, &mut updates, "says alpha");
    let content = json!([{"type": "terminal", "terminalId": id}]);
    let took = world.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "title": "two letters",
        "status": "in_progress", "content": content}),
    );
    updates.extend(took);
    world.client.services.terminals.write(&id, b"\n").unwrap();
    until(&mut world, &mut updates, "says beta");
    updates.extend(world.client.flush_held());
    let ended = world.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}),
    );
    updates.extend(ended);
    world.client.services.terminals.write(&id, b"\n").unwrap();
    until(&mut world, &mut updates, "ends");
    let mut ids = events(&updates).into_iter().filter_map(|body| match body {
        Body::ToolUse(call) => Some(&call.id),
        Body::ToolOutput(output) => Some(&output.id),
        Body::ToolResult(result) => Some(&result.id),
        _ => None,
    });
    assert!(ids.all(|told| *told == id), "{:?}", told(&updates));
    let said = told(&updates).join(" ");
    assert_eq!(said.matches("alpha").count(), 2, "{said}");
    assert!(!world.client.has_unattached_terminal());
}

/// The ids of calls in events.
fn ids(updates: &[Update]) -> Vec<&str> {
    let calls = events(updates).into_iter().filter_map(|body| match body {
        Body::ToolUse(call) => Some(call.id.as_str()),
        Body::ToolOutput(output) => Some(output.id.as_str()),
        Body::ToolResult(result) => Some(result.id.as_str()),
        _ => None,
    });
    calls.collect()
}

#[test]
fn a_terminal_of_a_call_that_says_so_late_is_shown_in_it_from_the_beginning() {
    let mut world = World::trusting();
    let command = "echo alpha; read a; echo beta";
    let input = json!({"command": command});
    let mut updates = world.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "title": "letters",
        "status": "in_progress", "rawInput": input}),
    );
    let created = world.request(7, "terminal/create", input);
    let id = created["result"]["terminalId"].as_str().unwrap().to_owned();
    until(&mut world, &mut updates, "says alpha");
    let content = json!([{"type": "terminal", "terminalId": id}]);
    let took = world.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": content}),
    );
    updates.extend(took);
    world.client.services.terminals.write(&id, b"\n").unwrap();
    until(&mut world, &mut updates, "says beta");
    let ended = world.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}),
    );
    updates.extend(ended);
    until(&mut world, &mut updates, "ends");
    assert!(
        ids(&updates).iter().all(|id| *id == "c"),
        "{:?}",
        told(&updates)
    );
    let said = told(&updates).join(" ");
    assert_eq!(said.matches("says alpha").count(), 1, "{said}");
}

#[test]
fn a_call_for_a_terminal_that_was_told_to_its_end_is_left_out() {
    for is_released in [false, true] {
        let mut world = World::trusting();
        let created = world.request(7, "terminal/create", json!({"command": "echo alpha"}));
        let id = created["result"]["terminalId"].as_str().unwrap().to_owned();
        let mut updates = Vec::new();
        until(&mut world, &mut updates, "ends");
        if is_released {
            world.request(8, "terminal/release", json!({"terminalId": id}));
        }
        let content = json!([{"type": "terminal", "terminalId": id}]);
        let late = world.update(
            json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "title": "letters",
            "status": "completed", "content": content}),
        );
        updates.extend(late);
        updates.extend(world.client.flush_held());
        assert!(
            ids(&updates).iter().all(|told| *told == id),
            "{:?}",
            told(&updates)
        );
        assert_eq!(told(&updates).join(" ").matches("runs").count(), 1);
        // What shows more than that is a call of its own.
        let content = json!([
            {"type": "terminal", "terminalId": id},
            {"type": "content", "content": {"type": "text", "text": "and more"}},
        ]);
        let more = world.update(
            json!({"sessionUpdate": "tool_call", "toolCallId": "d", "kind": "execute", "title": "letters",
            "status": "completed", "content": content}),
        );
        assert!(ids(&more).contains(&"d"), "{:?}", told(&more));
    }
}

#[test]
fn a_terminal_waits_for_the_call_that_it_was_started_for() {
    let mut world = World::trusting();
    world.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "title": "sleep",
        "status": "pending"}),
    );
    world.request(7, "terminal/create", json!({"command": "sleep 100"}));
    std::thread::sleep(Duration::from_millis(100));
    let early = told(&world.client.flush_held());
    assert!(early.is_empty(), "{early:?}");
    assert!(world.client.has_unshown_terminal());
    std::thread::sleep(super::super::services::LONG_GRACE);
    assert_eq!(told(&world.client.flush_held()), ["runs sleep 100"]);
    assert!(!world.client.has_unshown_terminal());
}

#[test]
fn a_command_ends_with_its_agent_also_in_what_is_shown() {
    let mut world = World::trusting();
    world.request(7, "terminal/create", json!({"command": "sleep 100"}));
    world.client.flush_held();
    let updates = world.client.receive(Incoming::Exited(Exit::default()));
    assert_eq!(told(&updates), ["ends None"]);
    assert!(!world.client.has_unattached_terminal());
}

#[test]
fn what_cannot_be_written_is_not_asked_for() {
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
fn a_persons_command_is_shown_like_a_call() {
    let mut world = World::opened();
    let id = world.client.run_shell("echo hé; exit 3").unwrap();
    let mut updates = world.client.take_updates();
    while world.client.running_shells().next().is_some() {
        let news = world.news.recv_timeout(Duration::from_secs(10)).unwrap();
        updates.extend(world.client.receive(news));
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
fn rules_hold_for_files_and_commands_that_are_done_through_us() {
    let list = [
        json!({"action": "deny", "path": "secret/**"}),
        json!({"action": "ask", "kind": "edit", "path": "src/**"}),
        json!({"action": "deny", "command": "rm *"}),
    ];
    let mut world = World::with(|settings| settings.rules = rules(&list))
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
    world.client.cancel_asks();
    assert_eq!(world.sent()["error"]["code"], -32603);
    // What the person saw and allowed in this turn is not asked for again.
    let content = json!([{"type": "diff", "path": "src/a.rs", "newText": "x"}]);
    let call = json!({"toolCallId": "c", "kind": "edit", "content": content});
    world.asks(json!(10), call);
    let id = world.client.questions()[0].id;
    world.client.answer(id, Answer::Option("y".to_owned()));
    world.sent();
    world.take(json!({"id": 11, "method": "fs/write_text_file", "params": write}));
    assert_eq!(world.sent()["result"], json!({}));
}

#[test]
fn what_was_not_asked_for_is_asked() {
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
    // To allow it always holds for files, but not for commands.
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

/// Allows the only request that is open, and returns the command that was shown.
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
fn a_change_that_was_allowed_is_no_leave_for_another_one() {
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
    // What was shown is done without another question, and its call tells of it.
    let params = write("one\n2\n");
    let updates = world.take(json!({"id": 8, "method": "fs/write_text_file", "params": params}));
    assert_eq!(world.sent()["result"], json!({}));
    let done = updates.iter().find_map(|update| match update {
        Update::FileWritten(done) => Some(done),
        _ => None,
    });
    assert!(world.client.shows_change(done.unwrap()));
    // Anything else is asked for, also once more.
    for (id, text) in [(9, "evil\n"), (10, "one\n2\nevil\n")] {
        let params = write(text);
        world.take(json!({"id": id, "method": "fs/write_text_file", "params": params}));
        world.nothing_sent();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\n2\n");
        allow(&mut world, "reject");
    }
}

#[test]
fn a_command_is_shown_with_all_that_makes_it_what_it_is() {
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
fn a_folder_outside_is_refused_before_anybody_is_asked() {
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
fn a_command_that_was_allowed_is_run_once_and_in_the_root() {
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
fn only_options_that_say_so_allow_and_each_has_a_name_of_its_own() {
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
    // An agent's own "always" is no leave for other files.
    world.take(json!({"id": 30, "method": "fs/write_text_file", "params": other}));
    world.nothing_sent();
    allow(&mut world, "reject");
}

#[test]
fn a_rule_for_reading_lets_nothing_else_through() {
    let list = [json!({"action": "allow", "kind": "read"})];
    let mut world = World::with(|settings| settings.rules = rules(&list))
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
