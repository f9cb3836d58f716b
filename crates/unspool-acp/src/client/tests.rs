//! The state machine without a process: races that occurred with real agents, and
//! actions that must never happen.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use unspool::event::{Body, ToolStatus};

use super::*;
use crate::agent_state::ConfigValue;
use crate::permission::{Rule, Rules};

mod permission_title;
mod questions;
mod requests;
mod sessions;
mod terminal_cards;
mod unfinished_calls;

/// The time after which a test gives up.
const PATIENCE: Duration = Duration::from_mins(1);

struct World {
    client: Client,
    sent: Receiver<String>,
    incoming: Receiver<Incoming>,
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut ClientConfig)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = ClientConfig::new(folder.path().canonicalize().unwrap());
        change(&mut config);
        let (sender, sent) = channel();
        let (report, incoming) = channel();
        let client = Client::detached(
            config,
            move |line| {
                let _ = sender.send(line);
            },
            move |input| {
                let _ = report.send(input);
            },
        );
        Self {
            client: client.unwrap(),
            sent,
            incoming,
            folder,
        }
    }

    /// Creates a client with an open session.
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

    /// Creates a client during a turn, whose request is number 2.
    fn working() -> Self {
        Self::opened().work()
    }

    /// Creates the same client, with all writes and commands allowed.
    fn trusting() -> Self {
        let mut world = Self::working();
        world.client.grants.add_always("edit");
        world.client.grants.add_always("execute");
        world
    }

    fn work(mut self) -> Self {
        self.say("Do it.");
        assert_eq!(self.sent()["method"], "session/prompt");
        assert_eq!(self.client.phase(), Phase::Working);
        self
    }

    fn say(&mut self, text: &str) -> bool {
        self.client.prompt(text_prompt(text))
    }

    fn take(&mut self, mut message: Value) -> Vec<Update> {
        message["jsonrpc"] = json!("2.0");
        self.client.receive(Incoming::Line(message.to_string()))
    }

    fn update(&mut self, update: Value) -> Vec<Update> {
        let params = json!({"sessionId": "s", "update": update});
        self.take(json!({"method": "session/update", "params": params}))
    }

    fn request_permission(&mut self, id: Value, call: Value) -> Vec<Update> {
        let params = json!({"sessionId": "s", "toolCall": call, "options": [
            {"optionId": "y", "name": "Yes", "kind": "allow_once"},
            {"optionId": "a", "name": "Always", "kind": "allow_always"},
            {"optionId": "n", "name": "No", "kind": "reject_once"},
        ]});
        self.take(json!({"id": id, "method": "session/request_permission", "params": params}))
    }

    /// Returns the next message that was sent.
    fn sent(&self) -> Value {
        serde_json::from_str(&self.sent.try_recv().unwrap()).unwrap()
    }

    fn nothing_sent(&self) {
        assert_eq!(self.sent.try_recv().ok(), None);
    }

    /// Processes terminal events until a message is sent.
    fn sent_later(&mut self) -> Value {
        self.sent_with_updates().0
    }

    /// Waits for a line to the agent; returns also the updates until then.
    fn sent_with_updates(&mut self) -> (Value, Vec<Update>) {
        let mut updates = Vec::new();
        loop {
            if let Ok(line) = self.sent.try_recv() {
                return (serde_json::from_str(&line).unwrap(), updates);
            }
            let incoming = self.incoming.recv_timeout(PATIENCE).unwrap();
            updates.extend(self.client.receive(incoming));
        }
    }

    fn request(&mut self, id: u64, method: &str, mut params: Value) -> Value {
        params["sessionId"] = json!("s");
        self.take(json!({"id": id, "method": method, "params": params}));
        self.sent()
    }
}

fn text_prompt(text: &str) -> Vec<schema::ContentBlock> {
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
fn initialize_lists_the_capabilities() {
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
fn lines_that_are_not_messages_are_reported_and_skipped() {
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
    world.request_permission(json!(7), json!({"toolCallId": "c"}));
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
fn an_update_without_a_status_does_not_reopen_a_call() {
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
fn queued_prompts_can_be_edited_and_removed() {
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
    assert!(world.client.edit_queued(ids[1], text_prompt("drei")));
    assert!(world.client.remove_queued(ids[0]).is_some());
    assert!(world.client.remove_queued(ids[0]).is_none());
    world.nothing_sent();
    world.take(json!({"id": 2, "result": {"stopReason": "end_turn"}}));
    assert_eq!(world.sent()["params"]["prompt"][0]["text"], "drei");
    // After a failed or canceled turn the queue stops.
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
fn unknown_methods_are_refused_or_ignored() {
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
fn the_end_of_the_agent_closes_everything() {
    let mut world = World::working();
    world.request_permission(json!(7), json!({"toolCallId": "c"}));
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
    // All further calls have no effect.
    world.say("x");
    world.client.cancel();
    world.client.set_mode("m");
    world.take(json!({"id": 2, "result": {"stopReason": "end_turn"}}));
    world.client.receive(Incoming::Exited(Exit::default()));
    world.nothing_sent();
}

#[test]
fn unsupported_prompt_content_is_replaced() {
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
fn a_held_result_is_shown_by_a_flush() {
    let mut world = World::working();
    // The next message may have its output.
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
