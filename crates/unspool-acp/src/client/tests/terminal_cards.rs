//! Cards for terminals that no tool call shows.

use super::*;

#[test]
fn a_card_is_shown_on_release() {
    let mut world = World::trusting();
    let created = world.request(7, "terminal/create", json!({"command": "echo hi"}));
    let params = json!({"sessionId": "s", "terminalId": created["result"]["terminalId"]});
    // On a busy machine the card is due before the release.
    let wait = json!({"id": 8, "method": "terminal/wait_for_exit", "params": params});
    let mut updates = world.take(wait);
    updates.extend(world.sent_with_updates().1);
    updates.extend(world.take(json!({"id": 9, "method": "terminal/release", "params": params})));
    let results = events(&updates).into_iter().filter_map(|body| match body {
        Body::ToolResult(result) => Some((result.output.to_string(), result.exit_code)),
        _ => None,
    });
    let results: Vec<_> = results.collect();
    assert_eq!(results, [("hi\r\n".to_owned(), Some(0))]);
}

/// Summarizes the events of tool calls.
fn summary(updates: &[Update]) -> Vec<String> {
    let words = |body: &&Body| match body {
        Body::ToolUse(call) => Some(format!("runs {}", call.arg)),
        Body::ToolOutput(output) => Some(format!("says {}", output.text.to_string().trim())),
        Body::ToolResult(result) => Some(format!("ends {:?}", result.exit_code)),
        _ => None,
    };
    events(updates).iter().filter_map(words).collect()
}

#[test]
fn a_card_is_shown_while_the_command_runs() {
    let mut world = World::trusting();
    let run = json!({"command": "read a; echo got $a; read b; exit 3"});
    let created = world.request(7, "terminal/create", run);
    let id = created["result"]["terminalId"].as_str().unwrap().to_owned();
    let updates = world.client.flush_held();
    let command = "runs read a; echo got $a; read b; exit 3";
    assert_eq!(summary(&updates), [command]);
    assert!(world.client.has_unattached_terminal());
    assert!(
        summary(&world.client.flush_held()).is_empty(),
        "the card is shown once"
    );
    world.client.terminals.write(&id, b"it\n").unwrap();
    let mut updates = Vec::new();
    while !summary(&updates)
        .iter()
        .any(|words| words.contains("got it"))
    {
        let incoming = world.incoming.recv_timeout(PATIENCE).unwrap();
        updates.extend(world.client.receive(incoming));
    }
    assert!(world.client.has_unattached_terminal());
    world.client.terminals.write(&id, b"\n").unwrap();
    // A call may still replace the card for a while.
    let began = std::time::Instant::now();
    while world.client.has_unattached_terminal() {
        assert!(began.elapsed() < PATIENCE);
        if let Ok(incoming) = world.incoming.recv_timeout(Duration::from_millis(50)) {
            updates.extend(world.client.receive(incoming));
        }
        updates.extend(world.client.flush_held());
    }
    assert!(began.elapsed() >= Duration::from_millis(900));
    assert_eq!(summary(&updates).last().unwrap(), "ends Some(3)");
    let params = json!({"sessionId": "s", "terminalId": id});
    let updates = world.take(json!({"id": 9, "method": "terminal/release", "params": params}));
    assert!(summary(&updates).is_empty(), "the card has shown it");
}

#[test]
fn a_terminal_in_a_call_gets_no_card() {
    let mut world = World::trusting();
    let created = world.request(7, "terminal/create", json!({"command": "sleep 100"}));
    let terminal = created["result"]["terminalId"].clone();
    world.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "title": "sleep",
        "status": "in_progress", "content": [{"type": "terminal", "terminalId": terminal}]}),
    );
    let summary = summary(&world.client.flush_held());
    assert!(
        !summary.iter().any(|words| words == "runs sleep 100"),
        "{summary:?}"
    );
    assert!(!world.client.has_unattached_terminal());
}

/// Processes input until the summary contains a text.
fn until(world: &mut World, updates: &mut Vec<Update>, wanted: &str) {
    let began = std::time::Instant::now();
    while !summary(updates).iter().any(|words| words.contains(wanted)) {
        assert!(began.elapsed() < PATIENCE, "{wanted}");
        if let Ok(incoming) = world.incoming.recv_timeout(Duration::from_millis(20)) {
            updates.extend(world.client.receive(incoming));
        }
        updates.extend(world.client.flush_held());
    }
}

#[test]
fn a_late_call_replaces_the_card() {
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
    world.client.terminals.write(&id, b"\n").unwrap();
    until(&mut world, &mut updates, "says beta");
    updates.extend(world.client.flush_held());
    let ended = world.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}),
    );
    updates.extend(ended);
    world.client.terminals.write(&id, b"\n").unwrap();
    until(&mut world, &mut updates, "ends");
    let mut ids = events(&updates).into_iter().filter_map(|body| match body {
        Body::ToolUse(call) => Some(&call.id),
        Body::ToolOutput(output) => Some(&output.id),
        Body::ToolResult(result) => Some(&result.id),
        _ => None,
    });
    assert!(ids.all(|call| *call == id), "{:?}", summary(&updates));
    let text = summary(&updates).join(" ");
    assert_eq!(text.matches("alpha").count(), 2, "{text}");
    assert!(!world.client.has_unattached_terminal());
}

/// Returns the call ids of events.
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
fn output_is_shown_in_the_open_call_of_the_same_command() {
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
    world.client.terminals.write(&id, b"\n").unwrap();
    until(&mut world, &mut updates, "says beta");
    let ended = world.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}),
    );
    updates.extend(ended);
    until(&mut world, &mut updates, "ends");
    assert!(
        ids(&updates).iter().all(|id| *id == "c"),
        "{:?}",
        summary(&updates)
    );
    let text = summary(&updates).join(" ");
    assert_eq!(text.matches("says alpha").count(), 1, "{text}");
}

#[test]
fn a_call_after_the_end_of_its_card_is_suppressed() {
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
            ids(&updates).iter().all(|call| *call == id),
            "{:?}",
            summary(&updates)
        );
        assert_eq!(summary(&updates).join(" ").matches("runs").count(), 1);
        // A call that shows more than the terminal is not suppressed.
        let content = json!([
            {"type": "terminal", "terminalId": id},
            {"type": "content", "content": {"type": "text", "text": "and more"}},
        ]);
        let more = world.update(
            json!({"sessionUpdate": "tool_call", "toolCallId": "d", "kind": "execute", "title": "letters",
            "status": "completed", "content": content}),
        );
        assert!(ids(&more).contains(&"d"), "{:?}", summary(&more));
    }
}

#[test]
fn a_card_waits_for_an_open_command_call() {
    let mut world = World::trusting();
    world.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "title": "sleep",
        "status": "pending"}),
    );
    world.request(7, "terminal/create", json!({"command": "sleep 100"}));
    std::thread::sleep(Duration::from_millis(100));
    let early = summary(&world.client.flush_held());
    assert!(early.is_empty(), "{early:?}");
    assert!(world.client.has_unshown_terminal());
    std::thread::sleep(crate::client::terminal_cards::LONG_GRACE);
    assert_eq!(summary(&world.client.flush_held()), ["runs sleep 100"]);
    assert!(!world.client.has_unshown_terminal());
}

#[test]
fn a_card_ends_with_the_agent() {
    let mut world = World::trusting();
    world.request(7, "terminal/create", json!({"command": "sleep 100"}));
    world.client.flush_held();
    let updates = world.client.receive(Incoming::Exited(Exit::default()));
    assert_eq!(summary(&updates), ["ends None"]);
    assert!(!world.client.has_unattached_terminal());
}
