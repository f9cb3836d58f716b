//! Questions to the user, and their answers.

use super::*;

#[test]
fn an_update_does_not_close_a_question() {
    let mut world = World::working();
    world.request_permission(json!(7), json!({"toolCallId": "c", "kind": "edit"}));
    world.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress"}),
    );
    world.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}),
    );
    assert_eq!(world.client.phase(), Phase::Asking);
    let id = world.client.questions()[0].id;
    assert!(world.client.answer(id, Answer::Option("y".to_owned())));
    assert_eq!(
        world.sent(),
        json!({"jsonrpc": "2.0", "id": 7, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}})
    );
    assert!(!world.client.answer(id, Answer::Option("y".to_owned())));
    world.nothing_sent();
}

#[test]
fn two_requests_for_one_call_are_two_questions() {
    let mut world = World::working();
    world.request_permission(json!(7), json!({"toolCallId": "c"}));
    world.request_permission(json!("8"), json!({"toolCallId": "c"}));
    // A repeated request is not a new question.
    world.request_permission(json!(7), json!({"toolCallId": "c", "title": "again"}));
    let ids: Vec<QuestionId> = world.client.questions().iter().map(|ask| ask.id).collect();
    assert_eq!(ids.len(), 2);
    world.client.answer(ids[1], Answer::Option("n".to_owned()));
    assert_eq!(world.sent()["id"], "8");
    assert_eq!(world.client.phase(), Phase::Asking);
    // An unknown option counts as no answer.
    world
        .client
        .answer(ids[0], Answer::Option("root".to_owned()));
    assert_eq!(world.sent()["result"]["outcome"]["outcome"], "cancelled");
    assert_eq!(world.client.phase(), Phase::Working);
}

#[test]
fn canceling_answers_open_and_later_questions() {
    let mut world = World::working();
    world.request_permission(json!(7), json!({"toolCallId": "c"}));
    let form = json!({"mode": "form", "message": "Name?", "sessionId": "s", "requestedSchema": {"type": "object"}});
    world.take(json!({"id": 8, "method": "elicitation/create", "params": form}));
    assert_eq!(world.client.questions().len(), 2);
    world.client.cancel();
    assert_eq!(world.sent()["method"], "session/cancel");
    assert_eq!(
        world.sent()["result"],
        json!({"outcome": {"outcome": "cancelled"}})
    );
    assert_eq!(world.sent()["result"], json!({"action": "cancel"}));
    assert!(world.client.questions().is_empty() && world.client.is_canceling());
    world.request_permission(json!(9), json!({"toolCallId": "d"}));
    assert_eq!(
        world.sent(),
        json!({"jsonrpc": "2.0", "id": 9, "result": {"outcome": {"outcome": "cancelled"}}})
    );
    let late =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}});
    let updates = world.update(late);
    assert!(matches!(events(&updates).last(), Some(Body::Text(text)) if text.text == "x"));
    assert_eq!(world.client.phase(), Phase::Working);
    // A second cancel also cancels the prompt's request.
    world.client.cancel();
    assert_eq!(world.sent()["method"], "session/cancel");
    assert_eq!(
        world.sent(),
        json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 2}})
    );
    world.take(json!({"id": 2, "result": {"stopReason": "cancelled"}}));
    assert_eq!(world.client.phase(), Phase::Ready);
    world.request_permission(json!(10), json!({"toolCallId": "e"}));
    assert_eq!(world.client.phase(), Phase::Asking);
}

#[test]
fn a_withdrawn_request_closes_its_question() {
    let mut world = World::working();
    world.request_permission(json!(7), json!({"toolCallId": "c"}));
    let updates = world.take(json!({"method": "$/cancel_request", "params": {"requestId": 7}}));
    assert!(
        updates
            .iter()
            .any(|update| matches!(update, Update::QuestionClosed(_)))
    );
    assert_eq!(world.sent()["error"]["code"], -32800);
    assert_eq!(world.client.phase(), Phase::Working);
    world.take(json!({"method": "$/cancel_request", "params": {"requestId": 7}}));
    world.nothing_sent();
}

#[test]
fn rules_answer_permission_requests_and_are_reported() {
    let allow = json!({"action": "allow", "command": "cargo test*"});
    let deny = json!({"action": "deny", "path": "**/.env"});
    let mut world = World::with(|config| config.rules = rules(&[allow, deny]))
        .open()
        .work();
    let call = |line: &str| json!({"toolCallId": "c", "kind": "execute", "title": line, "rawInput": {"command": line}});
    let updates = world.request_permission(json!(7), call("cargo test --lib"));
    assert_eq!(world.sent()["result"]["outcome"]["optionId"], "y");
    assert!(updates.iter().any(|update| matches!(
        update,
        Update::AnsweredByRule {
            rule: 1,
            action: Action::Allow,
            ..
        }
    )));
    assert!(
        events(&updates)
            .iter()
            .any(|body| matches!(body, Body::Permission(answer) if answer.outcome == "y"))
    );
    world.request_permission(json!(8), call("cargo test; rm -rf /"));
    world.nothing_sent();
    let edit = json!({"toolCallId": "e", "kind": "edit", "content": [{"type": "diff", "path": "sub/.env", "oldText": null, "newText": "x"}]});
    world.request_permission(json!(9), edit);
    assert_eq!(world.sent()["result"]["outcome"]["optionId"], "n");
    // A rule never chooses an "always" option.
    let params = json!({"sessionId": "s", "toolCall": call("cargo test"), "options": [{"optionId": "a", "name": "A", "kind": "allow_always"}]});
    world.take(json!({"id": 10, "method": "session/request_permission", "params": params}));
    world.nothing_sent();
}

#[test]
fn a_form_is_answered_with_typed_values() {
    let mut world = World::working();
    let form = json!({"mode": "form", "message": "Who?", "sessionId": "s", "requestedSchema": {"type": "object", "properties": {"n": {"type": "string"}}}});
    world.take(json!({"id": 7, "method": "elicitation/create", "params": form}));
    let id = world.client.questions()[0].id;
    let fields = json!({"n": "x", "age": 5, "yes": true, "list": ["a"], "bad": {"a": 1}});
    world
        .client
        .answer(id, Answer::Accept(fields.as_object().unwrap().clone()));
    assert_eq!(
        world.sent()["result"],
        json!({"action": "accept", "content": {"age": 5, "list": ["a"], "n": "x", "yes": true}})
    );
    world.take(json!({"id": 8, "method": "elicitation/create", "params": {"mode": "url", "url": "https://x", "message": "m"}}));
    let id = world.client.questions()[0].id;
    assert!(
        matches!(&world.client.questions()[0].kind, QuestionKind::Url { url, .. } if url == "https://x")
    );
    world.client.answer(id, Answer::Decline);
    assert_eq!(world.sent()["result"], json!({"action": "decline"}));
}

#[test]
fn a_completed_visit_is_reported_and_closes_its_question() {
    let mut world = World::working();
    let ask = |id: u64, name: &str| {
        let params = json!({"mode": "url", "url": format!("https://x/{name}"), "message": "m", "elicitationId": name});
        json!({"id": id, "method": "elicitation/create", "params": params})
    };
    let done =
        |name: &str| json!({"method": "elicitation/complete", "params": {"elicitationId": name}});
    let says = |updates: &[Update], words: &str| {
        events(updates).iter().any(
            |body| matches!(body, Body::Notice(notice) if notice.text.to_string().contains(words)),
        )
    };
    // While the question is open, and after it was answered.
    world.take(ask(7, "one"));
    world.take(ask(8, "two"));
    let first = world.client.questions()[0].id;
    let updates = world.take(done("one"));
    assert!(says(&updates, "Done at https://x/one"), "{updates:?}");
    let is_settled = |update: &Update| matches!(update, Update::QuestionClosed(id) if *id == first);
    assert!(updates.iter().any(is_settled));
    assert_eq!(world.sent()["result"]["action"], "accept");
    let second = world.client.questions()[0].id;
    world
        .client
        .answer(second, Answer::Accept(serde_json::Map::new()));
    world.sent();
    assert!(says(&world.take(done("two")), "Done at https://x/two"));
    // Unknown and already completed visits are not reported.
    for name in ["two", "three", ""] {
        assert!(!says(&world.take(done(name)), "Done at"), "{name}");
    }
    world.nothing_sent();
}

#[test]
fn a_flood_of_requests_is_bounded() {
    let mut world = World::working();
    for number in 0..400 {
        world.request_permission(json!(number), json!({"toolCallId": format!("c{number}")}));
    }
    assert_eq!(world.client.questions().len(), 256);
    assert_eq!(world.sent.try_iter().count(), 144);
}
