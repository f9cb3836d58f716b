//! Titles of answered permission requests.

use super::*;

/// Returns the titles of answers.
fn answers(updates: &[Update]) -> Vec<String> {
    let words = |body: &Body| match body {
        Body::Permission(asked) if !asked.outcome.is_empty() => Some(asked.title.clone()),
        _ => None,
    };
    events(updates).into_iter().filter_map(words).collect()
}

fn call(id: &str, title: &str, command: &str) -> Value {
    json!({"toolCallId": id, "title": title, "kind": "execute", "rawInput": {"command": command}})
}

/// Allows the first open question.
fn allow(world: &mut World) -> Vec<String> {
    let id = world.client.questions()[0].id;
    world.client.answer(id, Answer::Option("y".to_owned()));
    answers(&world.client.take_updates())
}

#[test]
fn an_answer_names_the_command_that_was_shown() {
    let mut world = World::working();
    world.request_permission(json!(7), call("c", "Say hi", "rm -rf x"));
    assert_eq!(allow(&mut world), ["Say hi: rm -rf x"]);
    let other = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
        "title": "echo hi", "rawInput": {"command": "echo hi"}});
    assert!(answers(&world.update(other)).is_empty());

    let path = world.client.files.root().join("src/a.rs");
    let edit = json!({"toolCallId": "e", "title": "Mend it", "kind": "edit",
        "content": [{"type": "diff", "path": path, "oldText": null, "newText": "x"}]});
    world.request_permission(json!(8), edit);
    assert_eq!(allow(&mut world), ["Mend it: src/a.rs"]);
}

#[test]
fn an_answer_names_the_latest_version_of_its_request() {
    let mut world = World::working();
    world.request_permission(json!(7), call("a", "One", "echo one"));
    world.request_permission(json!(7), call("b", "Two", "rm -rf two"));
    assert_eq!(world.client.questions().len(), 1);
    assert_eq!(allow(&mut world), ["Two: rm -rf two"]);
    // Two requests for the same call, with different commands.
    world.request_permission(json!(8), call("c", "One", "echo one"));
    world.request_permission(json!(9), call("c", "One", "rm -rf three"));
    assert_eq!(allow(&mut world), ["One: echo one"]);
    assert_eq!(allow(&mut world), ["One: rm -rf three"]);
}
