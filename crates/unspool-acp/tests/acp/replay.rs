//! Replays recorded traffic: the client emits the same events as the reader does for
//! the recording.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use unspool::event::{Agent, Body};
use unspool::{Reader, ReaderOptions};
use unspool_acp::permission::{Action, Rule, Rules};
use unspool_acp::{Answer, QuestionKind, SessionRequest, Update};

use crate::world::World;

type Shown = (Option<Arc<Agent>>, Body);

/// The messages of a recording, each with true if the agent sent it.
type Script = Vec<(bool, Value)>;

/// Methods that the tests can replay. Recordings with others are skipped.
const METHODS: &[&str] = &[
    "initialize",
    "session/new",
    "session/load",
    "session/resume",
    "session/prompt",
    "session/cancel",
    "session/set_mode",
];

fn recordings(agent: &str) -> Vec<PathBuf> {
    let folder = fake_agent::recording("x").parent().unwrap().join(agent);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().ends_with(".acp.jsonl"))
        .filter(|path| is_playable(&script(path, "/")))
        .collect();
    paths.sort();
    paths
}

fn script(path: &Path, root: &str) -> Script {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace(fake_agent::RECORDED_ROOT, root);
    text.lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            (line["dir"] == "agent->client", line["msg"].clone())
        })
        .collect()
}

fn is_playable(script: &Script) -> bool {
    script
        .iter()
        .filter(|(is_agent, _)| !is_agent)
        .all(|(_, message)| {
            let is_second_protocol = message["params"]["protocolVersion"] == 2;
            let method = message["method"].as_str();
            !is_second_protocol && method.is_none_or(|method| METHODS.contains(&method))
        })
}

/// Returns the reader's events of the recording.
fn expected(script: &Script) -> Vec<Shown> {
    let mut reader =
        Reader::with_options(ReaderOptions::default().with_from(unspool::source::provider("acp")));
    for (is_agent, message) in script {
        let dir = if *is_agent {
            "agent->client"
        } else {
            "client->agent"
        };
        reader.push(format!("{{\"dir\":\"{dir}\",\"msg\":{message}}}\n").as_bytes());
    }
    reader.finish();
    reader
        .events()
        .map(|event| (event.agent, event.body))
        .collect()
}

/// Rules that allow everything, like the recorded clients.
fn trusting() -> Rules {
    let allow = |tool: &str| {
        let mut rule = Rule::new(Action::Allow);
        rule.tool = Some(tool.to_owned());
        rule
    };
    Rules::new(&[allow("fs/*"), allow("terminal/*")]).unwrap()
}

/// Plays the recording, with the same actions of the client at the same places.
fn played(path: &Path) -> (Vec<Shown>, Script) {
    let first = first_session(&script(path, "/"));
    let flags = ["--root", "{root}", path.to_str().unwrap()];
    let mut world = World::with(&flags, |config| {
        config.session = first;
        config.rules = trusting();
    });
    let script = script(path, world.root.to_str().unwrap());
    let mut is_opened = false;
    for (index, (is_agent, message)) in script.iter().enumerate() {
        if *is_agent {
            while !world.step() {}
        } else {
            act(&mut world, &script, index, message, &mut is_opened);
        }
    }
    world.client.close();
    world.until(World::is_ended);
    // The recorded clients had no rules.
    let is_rules = |body: &Body| matches!(body, Body::Notice(notice) if notice.text.as_str().starts_with("Rule "));
    let shown = world.updates.into_iter().filter_map(|update| match update {
        Update::Event(event) if is_rules(&event.body) => None,
        Update::Event(event) => Some((event.agent, event.body)),
        _ => None,
    });
    (shown.collect(), script)
}

fn first_session(script: &Script) -> SessionRequest {
    let client = script.iter().filter(|(is_agent, _)| !is_agent);
    let mut opens = client.filter_map(|(_, message)| open(message));
    opens.next().unwrap()
}

fn open(message: &Value) -> Option<SessionRequest> {
    let id = message["params"]["sessionId"].as_str().unwrap_or_default();
    match message["method"].as_str()? {
        "session/new" => Some(SessionRequest::New),
        "session/load" => Some(SessionRequest::Load(id.to_owned())),
        "session/resume" => Some(SessionRequest::Resume(id.to_owned())),
        _ => None,
    }
}

fn act(world: &mut World, script: &Script, index: usize, message: &Value, is_opened: &mut bool) {
    if let Some(open) = open(message) {
        // The client opens the first one by itself.
        if std::mem::replace(is_opened, true) {
            world.client.open_session(open);
        }
    }
    match message["method"].as_str() {
        Some("session/prompt") => {
            let blocks = serde_json::from_value(message["params"]["prompt"].clone());
            assert!(!world.client.prompt(blocks.unwrap()));
        }
        Some("session/cancel") => world.client.cancel(),
        Some("session/set_mode") => {
            let mode = message["params"]["modeId"].as_str().unwrap();
            world.client.set_mode(mode);
        }
        Some(_) => {}
        None => answer(world, script.get(..index).unwrap(), message),
    }
    let new = world.client.take_updates();
    world.updates.extend(new);
}

fn answer(world: &mut World, before: &[(bool, Value)], message: &Value) {
    let is_request = |(is_agent, asked): &&(bool, Value)| {
        *is_agent && asked.get("method").is_some() && asked["id"] == message["id"]
    };
    let (_, asked) = before.iter().rev().find(is_request).unwrap();
    let answer = match asked["method"].as_str().unwrap() {
        "session/request_permission" => match message["result"]["outcome"]["optionId"].as_str() {
            Some(option) => Answer::Option(option.to_owned()),
            None => Answer::Cancel,
        },
        "elicitation/create" => match message["result"]["action"].as_str() {
            Some("accept") => {
                Answer::Accept(message["result"]["content"].as_object().unwrap().clone())
            }
            Some("decline") => Answer::Decline,
            _ => Answer::Cancel,
        },
        _ => return,
    };
    let call = asked["params"]["toolCall"]["toolCallId"].as_str();
    let ask = world.client.questions().iter().find(|ask| match &ask.kind {
        QuestionKind::Permission { call: asked, .. } => Some(&*asked.id) == call,
        _ => call.is_none(),
    });
    // A cancel may have answered it.
    if let Some(id) = ask.map(|ask| ask.id) {
        world.client.answer(id, answer);
    }
}

/// Removes the title of an answer, which only the client adds.
fn as_recorded<T: Clone>((agent, body): &(T, Body)) -> (T, Body) {
    let mut body = body.clone();
    if let Body::Permission(asked) = &mut body
        && !asked.outcome.is_empty()
    {
        asked.title.clear();
    }
    (agent.clone(), body)
}

fn check(agent: &str, at_least: usize) {
    let recordings = recordings(agent);
    assert!(recordings.len() >= at_least, "{recordings:?}");
    for path in recordings {
        let (shown, script) = played(&path);
        let expected = expected(&script);
        let name = path.display();
        for (index, (shown, expected)) in shown.iter().zip(&expected).enumerate() {
            assert_eq!(&as_recorded(shown), expected, "{name}, event {index}");
        }
        assert_eq!(shown.len(), expected.len(), "{name}");
    }
}

#[test]
fn claude() {
    check("claude", 10);
}

#[test]
fn codex() {
    check("codex", 8);
}

#[test]
fn zed_codex() {
    check("codex-zed", 7);
}

#[test]
fn gemini() {
    check("gemini", 6);
}

#[test]
fn qwen() {
    check("qwen", 2);
}

#[test]
fn opencode() {
    check("opencode", 6);
}

#[test]
fn aider() {
    check("aider", 3);
}
