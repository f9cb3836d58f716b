//! Opening sessions, logging in, and the state of a session.

use super::*;

#[test]
fn updates_of_another_session_are_ignored() {
    let mut world = World::opened();
    let update = json!({"sessionUpdate": "session_info_update", "title": "theirs"});
    let params = json!({"sessionId": "other", "update": update});
    world.take(json!({"method": "session/update", "params": params}));
    assert_eq!(world.client.state().title, "");
    world.update(json!({"sessionUpdate": "session_info_update", "title": "ours"}));
    world.update(json!({"sessionUpdate": "session_info_update", "updatedAt": "x"}));
    assert_eq!(world.client.state().title, "ours");
    world.update(json!({"sessionUpdate": "session_info_update", "title": null}));
    assert_eq!(world.client.state().title, "");
}

#[test]
fn a_failed_request_is_retried_after_the_login() {
    let mut world = World::new();
    world.sent();
    let methods = json!([{"id": "key", "name": "A key"},
        {"id": "tty", "name": "Log in", "type": "terminal", "args": ["login"], "env": {"A": "b"}}]);
    world.take(json!({"id": 0, "result": {"protocolVersion": 1, "authMethods": methods}}));
    world.sent();
    world.take(json!({"id": 1, "error": {"code": -32000, "message": "Authentication required"}}));
    assert_eq!(world.client.phase(), Phase::NeedsLogin);
    let methods = &world.client.state().auth_methods;
    assert_eq!(methods[0].terminal, None);
    let terminal = crate::agent_state::TerminalLogin {
        args: vec!["login".to_owned()],
        env: vec![("A".to_owned(), "b".to_owned())],
    };
    assert_eq!(methods[1].terminal, Some(terminal));
    world.client.authenticate("key");
    assert_eq!(world.sent()["params"], json!({"methodId": "key"}));
    world.take(json!({"id": 2, "error": {"code": 1, "message": "no"}}));
    assert_eq!(world.client.phase(), Phase::NeedsLogin);
    world.client.authenticate("key");
    world.sent();
    world.take(json!({"id": 3, "result": {}}));
    assert_eq!(world.sent()["method"], "session/new");
    world.take(json!({"id": 4, "result": {"sessionId": "s"}}));
    // A login that expires during a turn keeps the prompt.
    world.say("hello");
    world.sent();
    world.take(json!({"id": 5, "error": {"code": -32000, "message": "expired"}}));
    assert_eq!(world.client.phase(), Phase::NeedsLogin);
    world.client.retry_after_login();
    assert_eq!(world.sent()["params"]["prompt"][0]["text"], "hello");
}

#[test]
fn without_a_login_method_the_session_fails() {
    let mut world = World::opened();
    world.say("hello");
    world.sent();
    world.take(json!({"id": 2, "error": {"code": -32000, "message": "no luck"}}));
    assert_eq!(world.client.phase(), Phase::Ready);
    assert!(world.client.queue().is_empty());
}

#[test]
fn another_protocol_version_fails() {
    let mut world = World::new();
    world.sent();
    let updates = world.take(json!({"id": 0, "result": {"protocolVersion": 2}}));
    assert_eq!(world.client.phase(), Phase::Failed);
    assert!(
        updates
            .iter()
            .any(|update| matches!(update, Update::Failed { .. }))
    );
}

#[test]
fn saved_sessions_are_loaded_or_resumed_as_the_agent_supports() {
    for (can, wanted, method) in [
        (
            json!({"loadSession": true}),
            SessionRequest::Load("o".into()),
            Some("session/load"),
        ),
        (
            json!({"loadSession": true}),
            SessionRequest::Resume("o".into()),
            Some("session/load"),
        ),
        (
            json!({"sessionCapabilities": {"resume": {}}}),
            SessionRequest::Load("o".into()),
            Some("session/resume"),
        ),
        (
            json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}),
            SessionRequest::Resume("o".into()),
            Some("session/resume"),
        ),
        (
            json!({"sessionCapabilities": {"resume": null}}),
            SessionRequest::Resume("o".into()),
            None,
        ),
    ] {
        let mut world = World::with(|config| config.session = wanted.clone());
        world.sent();
        world.take(json!({"id": 0, "result": {"protocolVersion": 1, "agentCapabilities": can}}));
        let Some(method) = method else {
            assert_eq!(world.client.phase(), Phase::Failed);
            world.nothing_sent();
            continue;
        };
        let sent = world.sent();
        assert_eq!(
            (&sent["method"], &sent["params"]["sessionId"]),
            (&json!(method), &json!("o"))
        );
        world.take(json!({"id": 1, "result": null}));
        assert_eq!(
            (world.client.phase(), &*world.client.state().session),
            (Phase::Ready, "o")
        );
    }
}

#[test]
fn modes_options_and_commands_are_read_and_set() {
    let mut world = World::opened();
    world.client.open_session(SessionRequest::New);
    world.sent();
    world.take(json!({"id": 2, "result": {"sessionId": "s", "modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code"}]},
        "configOptions": [
            {"id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "a", "options": [
                {"group": "g", "name": "Group", "options": [{"value": "a", "name": "A"}]}, {"value": "b", "name": "B"}]},
            {"id": "f", "name": "Fast", "type": "boolean", "currentValue": false}, null, {"type": "odd"}]}}));
    let state = world.client.state();
    assert_eq!(
        (&*state.mode, state.modes.len(), state.options.len()),
        ("ask", 2, 2)
    );
    let ConfigValue::Select { current, choices } = &state.options[0].value else {
        panic!("no choice");
    };
    assert_eq!(
        (&**current, &*choices[0].group, &*choices[1].value),
        ("a", "Group", "b")
    );
    world.client.set_option("f", &json!(true));
    assert_eq!(
        world.sent()["params"],
        json!({"sessionId": "s", "configId": "f", "type": "boolean", "value": true})
    );
    world.client.set_option("m", &json!("b"));
    assert_eq!(
        world.sent()["params"],
        json!({"sessionId": "s", "configId": "m", "value": "b"})
    );
    world.client.set_mode("code");
    world.sent();
    assert_eq!(world.client.state().mode, "ask");
    world.take(json!({"id": 5, "result": null}));
    assert_eq!(world.client.state().mode, "code");
    world.update(json!({"sessionUpdate": "available_commands_update", "availableCommands": [
        {"name": "plan", "description": "d", "input": {"hint": "what"}}, {"name": "x", "input": null}, {}]}));
    let commands = &world.client.state().commands;
    assert_eq!(commands.len(), 2);
    assert_eq!(
        (commands[0].hint.as_deref(), &commands[1].hint),
        (Some("what"), &None)
    );
}

#[test]
fn a_list_of_models_becomes_an_option() {
    let mut world = World::opened();
    world.client.open_session(SessionRequest::New);
    world.sent();
    world.take(json!({"id": 2, "result": {"sessionId": "s", "models": {"currentModelId": "a", "availableModels": [{"modelId": "a"}, {"modelId": "b"}]}}}));
    world.client.set_option("model", &json!("b"));
    let sent = world.sent();
    assert_eq!(
        (&sent["method"], &sent["params"]),
        (
            &json!("session/set_model"),
            &json!({"sessionId": "s", "modelId": "b"})
        )
    );
    world.take(json!({"id": 3, "result": {}}));
    assert!(
        matches!(&world.client.state().options[0].value, ConfigValue::Select { current, .. } if current == "b")
    );
}

#[test]
fn opening_a_session_cancels_the_turn() {
    let mut world = World::working();
    world.request_permission(json!(7), json!({"toolCallId": "c"}));
    world.client.open_session(SessionRequest::New);
    assert_eq!(world.sent()["method"], "session/cancel");
    assert_eq!(world.sent()["id"], 7);
    assert_eq!(world.sent()["method"], "session/new");
    world.take(json!({"id": 2, "result": {"stopReason": "cancelled"}}));
    assert_eq!(world.client.phase(), Phase::Starting);
    world.take(json!({"id": 3, "result": {"sessionId": "t"}}));
    assert_eq!(world.client.phase(), Phase::Ready);
    assert_eq!(world.client.state().session, "t");
}
