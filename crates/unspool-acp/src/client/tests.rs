//! The state machine without a process: every race that real agents were seen
//! to run into, and everything that must not happen.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use unspool::event::{Body, ToolStatus};

use super::*;
use crate::permission::{Rule, Rules};

mod answered;
mod services;
mod unfinished;

struct World {
    client: Client,
    sent: Receiver<String>,
    news: Receiver<Incoming>,
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut ClientConfig)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = ClientConfig::new(folder.path().canonicalize().unwrap());
        change(&mut settings);
        let (sender, sent) = channel();
        let (tell, news) = channel();
        let client = Client::detached(
            settings,
            move |line| {
                let _ = sender.send(line);
            },
            move |incoming| {
                let _ = tell.send(incoming);
            },
        );
        Self {
            client: client.unwrap(),
            sent,
            news,
            folder,
        }
    }

    /// A client with an open session.
    fn opened() -> Self {
        Self::new().open()
    }

    fn open(mut self) -> Self {
        assert_eq!(self.sent()["method"], "initialize");
        self.take(json!({"id": 0, "result": {"protocolVersion": 1}}));
        assert_eq!(self.sent()["method"], "session/new");
        self.take(json!({"id": 1, "result": {"sessionId": "s"}}));
        assert_eq!(self.client.phase(), Phase::Ready);
        self
    }

    /// A client in the middle of a turn: request 2.
    fn working() -> Self {
        Self::opened().work()
    }

    /// The same, where the person has allowed whatever is inside the project.
    fn trusting() -> Self {
        let mut world = Self::working();
        world.client.services.grant_always("edit");
        world.client.services.grant_always("execute");
        world
    }

    fn work(mut self) -> Self {
        self.say("Do it.");
        assert_eq!(self.sent()["method"], "session/prompt");
        assert_eq!(self.client.phase(), Phase::Working);
        self
    }

    fn say(&mut self, text: &str) -> bool {
        self.client.prompt(words(text))
    }

    fn take(&mut self, mut message: Value) -> Vec<Update> {
        message["jsonrpc"] = json!("2.0");
        self.client.receive(Incoming::Line(message.to_string()))
    }

    fn update(&mut self, update: Value) -> Vec<Update> {
        let params = json!({"sessionId": "s", "update": update});
        self.take(json!({"method": "session/update", "params": params}))
    }

    fn asks(&mut self, id: Value, call: Value) -> Vec<Update> {
        let params = json!({"sessionId": "s", "toolCall": call, "options": [
            {"optionId": "y", "name": "Yes", "kind": "allow_once"},
            {"optionId": "a", "name": "Always", "kind": "allow_always"},
            {"optionId": "n", "name": "No", "kind": "reject_once"},
        ]});
        self.take(json!({"id": id, "method": "session/request_permission", "params": params}))
    }

    /// The next message that was sent.
    fn sent(&self) -> Value {
        serde_json::from_str(&self.sent.try_recv().unwrap()).unwrap()
    }

    fn nothing_sent(&self) {
        assert_eq!(self.sent.try_recv().ok(), None);
    }

    /// Takes the news of terminals until something was sent.
    fn sent_later(&mut self) -> Value {
        loop {
            if let Ok(line) = self.sent.try_recv() {
                return serde_json::from_str(&line).unwrap();
            }
            let news = self.news.recv_timeout(Duration::from_secs(10)).unwrap();
            self.client.receive(news);
        }
    }

    fn request(&mut self, id: u64, method: &str, mut params: Value) -> Value {
        params["sessionId"] = json!("s");
        self.take(json!({"id": id, "method": method, "params": params}));
        self.sent()
    }
}

fn words(text: &str) -> Vec<schema::ContentBlock> {
    vec![schema::ContentBlock::Text(schema::TextContent::new(text))]
}

fn events(updates: &[Update]) -> Vec<&Body> {
    updates
        .iter()
        .filter_map(|update| match update {
            Update::Event(event) => Some(&event.body),
            _ => None,
        })
        .collect()
}

fn rules(text: &[Value]) -> Rules {
    let rules: Vec<Rule> = text
        .iter()
        .map(|rule| serde_json::from_value(rule.clone()).unwrap())
        .collect();
    Rules::new(&rules).unwrap()
}

#[test]
fn what_we_can_do_is_told() {
    let world = World::new();
    let params = world.sent()["params"].clone();
    assert_eq!(params["protocolVersion"], 1);
    let can = &params["clientCapabilities"];
    assert_eq!(
        can["fs"],
        json!({"readTextFile": true, "writeTextFile": true})
    );
    assert_eq!(can["terminal"], true);
    assert_eq!(can["elicitation"], json!({"form": {}, "url": {}}));
    assert_eq!(can["session"]["configOptions"], json!({"boolean": {}}));
    assert!(can["session"]["notices"].is_object() && can["session"]["compaction"].is_object());
    assert_eq!(params["clientInfo"]["name"], "unspool");
}

#[test]
fn noise_before_the_protocol_does_no_harm() {
    let mut world = World::new();
    let updates = world
        .client
        .receive(Incoming::Line("Welcome to zsh!".to_owned()));
    assert!(matches!(&updates[..], [Update::InvalidLine(text)] if text == "Welcome to zsh!"));
    for line in [
        "",
        "{\"half\":",
        "[1,2]",
        "\u{1b}[2J",
        "{}",
        "{\"id\":5}",
        "null",
    ] {
        world.client.receive(Incoming::Line(line.to_owned()));
    }
    world.client.receive(Incoming::Oversized(1 << 27));
    world.open();
}

#[test]
fn a_second_announcement_of_a_call_is_an_update() {
    let mut world = World::working();
    world.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "name": "Bash",
        "title": "Terminal", "kind": "execute", "rawInput": {"command": "ls -l"}}),
    );
    world.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "ls", "rawInput": null}),
    );
    world.asks(json!(7), json!({"toolCallId": "c"}));
    let QuestionKind::Permission { call, options } = &world.client.questions()[0].kind else {
        panic!("no permission");
    };
    assert_eq!(
        (&*call.name, &*call.title, &*call.kind),
        ("Bash", "ls", "execute")
    );
    assert_eq!(call.command.as_deref(), Some("ls -l"));
    assert_eq!(options.len(), 3);
    assert_eq!(call.tool_use().arg, "ls -l");
}

#[test]
fn progress_does_not_take_an_open_request_away() {
    let mut world = World::working();
    world.asks(json!(7), json!({"toolCallId": "c", "kind": "edit"}));
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
    world.asks(json!(7), json!({"toolCallId": "c"}));
    world.asks(json!("8"), json!({"toolCallId": "c"}));
    // The very same request again is not.
    world.asks(json!(7), json!({"toolCallId": "c", "title": "again"}));
    let ids: Vec<QuestionId> = world.client.questions().iter().map(|ask| ask.id).collect();
    assert_eq!(ids.len(), 2);
    world.client.answer(ids[1], Answer::Option("n".to_owned()));
    assert_eq!(world.sent()["id"], "8");
    assert_eq!(world.client.phase(), Phase::Asking);
    // An answer that was not offered is none.
    world
        .client
        .answer(ids[0], Answer::Option("root".to_owned()));
    assert_eq!(world.sent()["result"]["outcome"]["outcome"], "cancelled");
    assert_eq!(world.client.phase(), Phase::Working);
}

#[test]
fn text_after_the_end_of_a_turn_is_shown() {
    let mut world = World::working();
    world.take(json!({"id": 2, "result": {"stopReason": "end_turn"}}));
    assert_eq!(world.client.phase(), Phase::Ready);
    let late = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "late"}});
    let updates = world.update(late);
    assert!(matches!(&events(&updates)[..], [Body::Text(text)] if text.text == "late"));
    assert_eq!(world.client.phase(), Phase::Ready);
}

#[test]
fn canceling_answers_everything_that_is_open_and_that_comes() {
    let mut world = World::working();
    world.asks(json!(7), json!({"toolCallId": "c"}));
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
    world.asks(json!(9), json!({"toolCallId": "d"}));
    assert_eq!(
        world.sent(),
        json!({"jsonrpc": "2.0", "id": 9, "result": {"outcome": {"outcome": "cancelled"}}})
    );
    let late =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}});
    let updates = world.update(late);
    assert!(matches!(events(&updates).last(), Some(Body::Text(text)) if text.text == "x"));
    assert_eq!(world.client.phase(), Phase::Working);
    // Once more: the prompt itself is taken back.
    world.client.cancel();
    assert_eq!(world.sent()["method"], "session/cancel");
    assert_eq!(
        world.sent(),
        json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 2}})
    );
    world.take(json!({"id": 2, "result": {"stopReason": "cancelled"}}));
    assert_eq!(world.client.phase(), Phase::Ready);
    world.asks(json!(10), json!({"toolCallId": "e"}));
    assert_eq!(world.client.phase(), Phase::Asking);
}

#[test]
fn an_update_without_a_status_does_not_take_the_end_back() {
    let mut world = World::working();
    world.update(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "ls", "kind": "execute", "status": "in_progress"}));
    world.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed",
        "content": [{"type": "content", "content": {"type": "text", "text": "out"}}]}),
    );
    let mut updates = world
        .update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "ls -l"}));
    updates.extend(world.take(json!({"id": 2, "result": {"stopReason": "end_turn"}})));
    let all = events(&updates);
    assert!(
        !all.iter().any(
            |body| matches!(body, Body::ToolResult(result) if result.status != ToolStatus::Ok)
        )
    );
    assert!(matches!(all.last(), Some(Body::TurnEnd(_))));
}

#[test]
fn another_session_does_not_change_ours() {
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
fn messages_wait_for_their_turn_and_can_be_changed() {
    let mut world = World::new();
    assert!(world.say("early"));
    let mut world = world.open_with_queue();
    assert!(world.say("two"));
    assert!(world.say("three"));
    assert!(world.say("four"));
    let ids: Vec<u64> = world
        .client
        .queue()
        .iter()
        .map(|queued| queued.id)
        .collect();
    assert!(world.client.edit_queued(ids[1], words("drei")));
    assert!(world.client.remove_queued(ids[0]).is_some());
    assert!(world.client.remove_queued(ids[0]).is_none());
    world.nothing_sent();
    world.take(json!({"id": 2, "result": {"stopReason": "end_turn"}}));
    assert_eq!(world.sent()["params"]["prompt"][0]["text"], "drei");
    // After a turn that was canceled or failed the rest is held.
    world.client.cancel();
    world.sent();
    world.take(json!({"id": 3, "result": {"stopReason": "cancelled"}}));
    world.nothing_sent();
    assert_eq!(world.client.queue().len(), 1);
    world.client.send_next();
    assert_eq!(world.sent()["params"]["prompt"][0]["text"], "four");
}

impl World {
    fn open_with_queue(mut self) -> Self {
        self.sent();
        self.take(json!({"id": 0, "result": {"protocolVersion": 1}}));
        self.sent();
        self.take(json!({"id": 1, "result": {"sessionId": "s"}}));
        assert_eq!(self.sent()["params"]["prompt"][0]["text"], "early");
        self
    }
}

#[test]
fn a_login_is_asked_for_and_what_failed_is_tried_again() {
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
    // A login that ran out in the middle keeps the message.
    world.say("hello");
    world.sent();
    world.take(json!({"id": 5, "error": {"code": -32000, "message": "expired"}}));
    assert_eq!(world.client.phase(), Phase::NeedsLogin);
    world.client.retry_after_login();
    assert_eq!(world.sent()["params"]["prompt"][0]["text"], "hello");
}

#[test]
fn who_offers_no_login_is_not_waited_for() {
    let mut world = World::opened();
    world.say("hello");
    world.sent();
    world.take(json!({"id": 2, "error": {"code": -32000, "message": "no luck"}}));
    assert_eq!(world.client.phase(), Phase::Ready);
    assert!(world.client.queue().is_empty());
}

#[test]
fn what_nobody_knows_is_refused_or_ignored() {
    let mut world = World::working();
    world.take(json!({"id": "q", "method": "craft/drainMidTurnQueue", "params": {}}));
    let answer = world.sent();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!("q"), &json!(-32601))
    );
    world.take(json!({"method": "_x/y", "params": []}));
    world.take(json!({"id": 99, "result": {"stopReason": "end_turn"}}));
    world.take(json!({"id": null, "error": {"code": -32700, "message": "Parse error"}}));
    world.update(json!({"sessionUpdate": "future_thing"}));
    world.update(json!(null));
    world.take(json!({"method": "session/update"}));
    world.nothing_sent();
    assert_eq!(world.client.phase(), Phase::Working);
    for (method, params) in [
        ("session/request_permission", json!({"sessionId": "s"})),
        ("session/request_permission", json!([])),
        ("fs/read_text_file", json!({"path": 5})),
        ("fs/write_text_file", json!({"path": "x"})),
        ("terminal/create", json!({"sessionId": "s"})),
        ("elicitation/create", json!({"mode": "telepathy"})),
    ] {
        world.take(json!({"id": 50, "method": method, "params": params}));
        assert_eq!(world.sent()["error"]["code"], -32602, "{method}");
    }
}

#[test]
fn a_request_that_is_taken_back_is_closed() {
    let mut world = World::working();
    world.asks(json!(7), json!({"toolCallId": "c"}));
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
fn the_end_of_an_agent_closes_everything() {
    let mut world = World::working();
    world.asks(json!(7), json!({"toolCallId": "c"}));
    world
        .client
        .receive(Incoming::Stderr("out of memory\n".to_owned()));
    let exit = Exit {
        code: Some(3),
        signal: None,
    };
    let updates = world.client.receive(Incoming::Exited(exit.clone()));
    assert!(matches!(events(&updates).last(), Some(Body::TurnEnd(_))));
    assert!(updates.iter().any(|update| matches!(update,
        Update::Ended { exit: how, stderr } if *how == exit && stderr == "out of memory\n")));
    assert_eq!(world.client.phase(), Phase::Ended);
    assert!(world.client.questions().is_empty());
    // Whatever is wanted now goes nowhere, and nothing breaks.
    world.say("x");
    world.client.cancel();
    world.client.set_mode("m");
    world.take(json!({"id": 2, "result": {"stopReason": "end_turn"}}));
    world.client.receive(Incoming::Exited(Exit::default()));
    world.nothing_sent();
}

#[test]
fn an_agent_of_another_protocol_fails() {
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
fn earlier_sessions_are_opened_the_way_the_agent_can() {
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
        let mut world = World::with(|settings| settings.session = wanted.clone());
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
fn modes_options_and_commands_are_known_and_set() {
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
fn the_older_list_of_models_is_a_setting_too() {
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
fn rules_answer_and_that_is_told() {
    let allow = json!({"action": "allow", "command": "cargo test*"});
    let deny = json!({"action": "deny", "path": "**/.env"});
    let mut world = World::with(|settings| settings.rules = rules(&[allow, deny]))
        .open()
        .work();
    let call = |line: &str| json!({"toolCallId": "c", "kind": "execute", "title": line, "rawInput": {"command": line}});
    let updates = world.asks(json!(7), call("cargo test --lib"));
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
    world.asks(json!(8), call("cargo test; rm -rf /"));
    world.nothing_sent();
    let edit = json!({"toolCallId": "e", "kind": "edit", "content": [{"type": "diff", "path": "sub/.env", "oldText": null, "newText": "x"}]});
    world.asks(json!(9), edit);
    assert_eq!(world.sent()["result"]["outcome"]["optionId"], "n");
    // An option that holds for ever is never taken.
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
fn what_is_done_at_an_address_is_told_and_closes_the_question() {
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
    // While the question is still there, and after it was answered.
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
    // What was never asked, and what was told, is not told.
    for name in ["two", "three", ""] {
        assert!(!says(&world.take(done(name)), "Done at"), "{name}");
    }
    world.nothing_sent();
}

#[test]
fn a_flood_of_requests_is_bounded() {
    let mut world = World::working();
    for number in 0..400 {
        world.asks(json!(number), json!({"toolCallId": format!("c{number}")}));
    }
    assert_eq!(world.client.questions().len(), 256);
    assert_eq!(world.sent.try_iter().count(), 144);
}

#[test]
fn blocks_that_an_agent_does_not_take_are_put_in_other_words() {
    let mut world = World::opened();
    let text = schema::TextResourceContents::new("body", "file:///p/a.rs");
    let file =
        schema::EmbeddedResource::new(schema::EmbeddedResourceResource::TextResourceContents(text));
    let picture = schema::ImageContent::new("AAAA", "image/png");
    world.client.prompt(vec![
        schema::ContentBlock::Resource(file),
        schema::ContentBlock::Image(picture),
    ]);
    let blocks = world.sent()["params"]["prompt"].clone();
    assert_eq!(
        blocks[0],
        json!({"type": "resource_link", "name": "a.rs", "uri": "file:///p/a.rs"})
    );
    assert_eq!(blocks[1]["type"], "text");
}

#[test]
fn what_is_held_back_is_shown_when_nothing_follows() {
    let mut world = World::working();
    // Its output may come with the next message.
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "ls", "status": "completed"});
    let updates = world.update(call);
    let is_result = |body: &&Body| matches!(body, Body::ToolResult(_));
    assert_eq!(
        events(&updates)
            .iter()
            .filter(|body| is_result(body))
            .count(),
        0
    );
    let updates = world.client.flush_held();
    assert_eq!(
        events(&updates)
            .iter()
            .filter(|body| is_result(body))
            .count(),
        1
    );
    assert!(events(&world.client.flush_held()).is_empty());
    world.nothing_sent();
}

#[test]
fn another_session_ends_the_turn_of_the_first() {
    let mut world = World::working();
    world.asks(json!(7), json!({"toolCallId": "c"}));
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
