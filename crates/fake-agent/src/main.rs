//! `fake-acp-agent [FLAGS] [RECORDING]`: replays the agent's side of a recording.
//!
//! Messages of the agent are sent, with response ids replaced by those of the
//! actual requests. At a message of the client it waits until the client sends a
//! similar one. After the recording, or without one, each prompt gets a short
//! answer. Requests that are not in the recording are refused, except
//! `session/close`.
//!
//! | flag | effect |
//! |---|---|
//! | `--root FOLDER` | replaces the recorded project folder in all messages |
//! | `--stray TEXT` | prints this before anything else |
//! | `--garbage` | prints lines that are not messages between its own |
//! | `--wrong-ids` | answers requests that were never sent |
//! | `--unknown` | sends unknown notifications, updates and requests |
//! | `--ask-twice` | sends each permission request twice, with different ids |
//! | `--ask-after-cancel` | asks for permission after it was cancelled |
//! | `--text-after-end` | keeps talking after the end of the turn |
//! | `--die-after N` | exits with 3 after N messages |
//! | `--kill-after N` | is killed by a signal after N messages |
//! | `--hang-after N` | stops reading and writing after N messages |
//! | `--flood N` | answers a prompt after the recording with N pieces |
//! | `--big-line N` | sends a line of N bytes before the recording |
//! | `--delay MS` | waits before each message |
//! | `--stderr TEXT` | writes this to standard error first |
//! | `--needs-login` | refuses sessions until `authenticate` was called |
//! | `--ignore-term` | does not exit on SIGTERM or at the end of its input |
//! | `--form` | sends a form with six fields before it answers a prompt |
//! | `--terminal COMMAND` | runs a command in a terminal that no call shows, before it answers |
//! | `--late-call MS` | shows that terminal in a call, this long after it was created |
//! | `--open-call` | announces a call with each prompt and never closes it |
//! | `--until-canceled FILE` | works on a prompt until it is cancelled and this file exists |
//! | `--refuse-prompt TEXT` | refuses every prompt with this text |
//! | `--silent` | answers nothing at all |
//! | `--spawn` | leaves a process behind and writes its id to standard error |

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

fn main() -> ExitCode {
    let mut agent = match Agent::new(std::env::args().skip(1)) {
        Ok(agent) => agent,
        Err(error) => {
            let _ = writeln!(io::stderr(), "fake-acp-agent: {error}");
            return ExitCode::from(2);
        }
    };
    match agent.run() {
        Err(Stop::Code(code)) => ExitCode::from(code),
        Ok(()) | Err(Stop::Input) => {
            if agent.flags.contains_key("ignore-term") {
                hang();
            }
            ExitCode::SUCCESS
        }
    }
}

fn hang() -> ! {
    loop {
        thread::sleep(Duration::from_hours(1));
    }
}

/// The reason why the agent exits.
enum Stop {
    /// The end of the input.
    Input,
    Code(u8),
}

#[derive(Default)]
struct Agent {
    flags: BTreeMap<String, String>,
    script: VecDeque<(bool, Value)>,
    /// The client's ids of the recorded requests.
    ids: BTreeMap<String, Value>,
    /// Messages of the client that were read ahead.
    ahead: VecDeque<Value>,
    sent: usize,
    session: Value,
    is_logged_in: bool,
}

const SWITCHES: &[&str] = &[
    "garbage",
    "wrong-ids",
    "unknown",
    "ask-twice",
    "ask-after-cancel",
    "text-after-end",
    "needs-login",
    "ignore-term",
    "form",
    "open-call",
    "silent",
    "spawn",
];

impl Agent {
    fn new(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut agent = Self {
            session: json!("fake-session"),
            ..Self::default()
        };
        let mut recording = None;
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some(name) if SWITCHES.contains(&name) => {
                    agent.flags.insert(name.to_owned(), String::new());
                }
                Some(name) => {
                    let value = words
                        .next()
                        .ok_or_else(|| format!("--{name} needs a value"))?;
                    agent.flags.insert(name.to_owned(), value);
                }
                None => recording = Some(word),
            }
        }
        if let Some(path) = recording {
            let text =
                std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
            agent.script = agent.script(&text)?;
        }
        Ok(agent)
    }

    fn script(&self, text: &str) -> Result<VecDeque<(bool, Value)>, String> {
        let text = match self.flags.get("root") {
            Some(root) => text.replace("/home/user/project", root),
            None => text.to_owned(),
        };
        text.lines()
            .map(|line| {
                let mut line: Value =
                    serde_json::from_str(line).map_err(|error| error.to_string())?;
                let is_agent = line["dir"] == "agent->client";
                Ok((is_agent, line["msg"].take()))
            })
            .collect()
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.contains_key(flag)
    }

    fn number(&self, flag: &str) -> Option<usize> {
        self.flags.get(flag)?.parse().ok()
    }

    fn run(&mut self) -> Result<(), Stop> {
        if self.has("ignore-term") {
            let seen = Arc::new(AtomicBool::new(false));
            let _ = signal_hook::flag::register(signal_hook::consts::SIGTERM, seen);
        }
        if let Some(text) = self.flags.get("stderr") {
            let _ = writeln!(io::stderr(), "{text}");
        }
        if self.has("spawn") {
            let child = std::process::Command::new("sleep").arg("3600").spawn();
            let number = child.map(|child| child.id()).unwrap_or_default();
            let _ = writeln!(io::stderr(), "{number}");
        }
        if let Some(text) = self.flags.get("stray").cloned() {
            print(&text)?;
        }
        if let Some(bytes) = self.number("big-line") {
            print(&"x".repeat(bytes))?;
        }
        while let Some((is_agent, message)) = self.script.pop_front() {
            if is_agent {
                self.play(message)?;
            } else {
                self.wait_for(&message)?;
            }
        }
        self.improvise()
    }

    fn send(&mut self, message: &Value) -> Result<(), Stop> {
        if let Some(pause) = self.number("delay") {
            thread::sleep(Duration::from_millis(pause as u64));
        }
        if self.has("garbage") {
            print("\u{1b}[2J nvm: now using node 20")?;
            print("{\"half\":")?;
        }
        print(&message.to_string())?;
        self.sent += 1;
        if self.number("die-after") == Some(self.sent) {
            return Err(Stop::Code(3));
        }
        if self.number("kill-after") == Some(self.sent) {
            let _ = signal_hook::low_level::raise(signal_hook::consts::SIGKILL);
        }
        if self.number("hang-after") == Some(self.sent) {
            hang();
        }
        Ok(())
    }

    /// Sends a recorded message of the agent.
    fn play(&mut self, mut message: Value) -> Result<(), Stop> {
        if message.get("method").is_none() {
            let recorded = message["id"].to_string();
            if let Some(id) = self.ids.get(&recorded) {
                message["id"] = id.clone();
            }
            if self.has("wrong-ids") {
                self.send(
                    &json!({"jsonrpc": "2.0", "id": 987_654, "result": {"stopReason": "end_turn"}}),
                )?;
                self.send(
                    &json!({"jsonrpc": "2.0", "id": "none", "error": {"code": 1, "message": "x"}}),
                )?;
            }
            if let Some(session) = message["result"].get("sessionId") {
                self.session = session.clone();
            }
        }
        if self.has("unknown") && message["method"] == "session/update" {
            self.be_strange()?;
        }
        let is_question = message["method"] == "session/request_permission";
        let is_end = message["result"].get("stopReason").is_some();
        self.send(&message)?;
        if is_question && self.has("ask-twice") {
            let mut again = message;
            again["id"] = json!(format!("again-{}", again["id"]));
            self.send(&again)?;
        }
        if is_end && self.has("text-after-end") {
            self.say("And one more thing.")?;
        }
        Ok(())
    }

    fn be_strange(&mut self) -> Result<(), Stop> {
        let session = self.session.clone();
        self.send(&json!({"jsonrpc": "2.0", "method": "_fake/notice", "params": {"a": 1}}))?;
        let update = json!({"sessionUpdate": "future_thing", "x": null});
        let params = json!({"sessionId": session, "update": update});
        self.send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))?;
        self.send(
            &json!({"jsonrpc": "2.0", "id": "strange", "method": "future/method", "params": null}),
        )
    }

    fn say(&mut self, text: &str) -> Result<(), Stop> {
        let content = json!({"type": "text", "text": text});
        self.update(json!({"sessionUpdate": "agent_message_chunk", "content": content}))
    }

    fn update(&mut self, update: Value) -> Result<(), Stop> {
        let params = json!({"sessionId": self.session, "update": update});
        self.send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
    }

    /// Waits until the client sends a message like the recorded one.
    fn wait_for(&mut self, recorded: &Value) -> Result<(), Stop> {
        if let Some(at) = self
            .ahead
            .iter()
            .position(|message| is_like(message, recorded))
        {
            let message = self.ahead.remove(at).unwrap_or_default();
            return self.came(recorded, &message);
        }
        loop {
            let message = next()?;
            if self.wants_login(&message)? {
                continue;
            }
            if is_like(&message, recorded) {
                return self.came(recorded, &message);
            }
            // Responses may come earlier than recorded; other requests are never
            // reordered.
            if message.get("method").is_none() || message.get("id").is_none() {
                self.ahead.push_back(message);
            } else {
                self.refuse(&message)?;
            }
        }
    }

    fn came(&mut self, recorded: &Value, message: &Value) -> Result<(), Stop> {
        if recorded.get("method").is_some() && recorded.get("id").is_some() {
            self.ids
                .insert(recorded["id"].to_string(), message["id"].clone());
        }
        if message["method"] == "session/cancel" && self.has("ask-after-cancel") {
            let call = json!({"toolCallId": "late", "title": "Too late", "kind": "execute"});
            let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
            let params = json!({"sessionId": self.session, "toolCall": call, "options": options});
            self.send(&json!({"jsonrpc": "2.0", "id": "late", "method": "session/request_permission", "params": params}))?;
            self.wait_for(&json!({"id": "late", "result": {}}))?;
        }
        Ok(())
    }

    /// Refuses a session before the login. Returns true if it did.
    fn wants_login(&mut self, message: &Value) -> Result<bool, Stop> {
        if !self.has("needs-login") || self.is_logged_in {
            return Ok(false);
        }
        let id = &message["id"];
        if message["method"] == "authenticate" {
            self.is_logged_in = true;
            self.send(&json!({"jsonrpc": "2.0", "id": id, "result": {}}))?;
            return Ok(true);
        }
        if message["method"] == "session/new" {
            let error = json!({"code": -32000, "message": "Authentication required"});
            self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}))?;
            return Ok(true);
        }
        Ok(false)
    }

    fn refuse(&mut self, request: &Value) -> Result<(), Stop> {
        if request["method"] == "session/close" {
            return self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": {}}));
        }
        let error = json!({"code": -32601, "message": "not in the recording"});
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
    }

    /// Answers without a recording.
    fn improvise(&mut self) -> Result<(), Stop> {
        loop {
            let message = match self.ahead.pop_front() {
                Some(message) => message,
                None => next()?,
            };
            if self.has("silent") || message.get("id").is_none() {
                continue;
            }
            if self.wants_login(&message)? {
                continue;
            }
            let result = match message["method"].as_str() {
                Some("initialize") => {
                    let info = json!({"name": "fake", "title": "Fake Agent", "version": "1.0"});
                    let method = json!({"id": "key", "name": "A key"});
                    json!({"protocolVersion": 1, "agentInfo": info, "authMethods": [method], "agentCapabilities": {"loadSession": true}})
                }
                Some("session/new" | "session/load") => json!({"sessionId": self.session}),
                Some("session/prompt") if self.has("refuse-prompt") => {
                    let error = json!({"code": -32603, "message": self.flags["refuse-prompt"]});
                    self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error}))?;
                    continue;
                }
                Some("session/prompt") => self.answer(&message)?,
                Some("session/set_mode" | "authenticate") => json!({}),
                Some(_) => {
                    self.refuse(&message)?;
                    continue;
                }
                None => continue,
            };
            self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))?;
        }
    }

    fn answer(&mut self, message: &Value) -> Result<Value, Stop> {
        let blocks = message["params"]["prompt"].as_array();
        let words = blocks
            .into_iter()
            .flatten()
            .filter_map(|block| block["text"].as_str());
        let words: Vec<&str> = words.collect();
        if self.has("form") {
            self.ask_form()?;
        }
        if let Some(command) = self.flags.get("terminal").cloned() {
            self.run_in_terminal(&command)?;
        }
        if self.has("open-call") {
            self.update(json!({"sessionUpdate": "tool_call", "toolCallId": format!("open-{}", self.sent), "title": "make a mess", "kind": "execute", "status": "in_progress"}))?;
        }
        if let Some(file) = self.flags.get("until-canceled").map(PathBuf::from) {
            while next()?["method"] != "session/cancel" {}
            while !file.exists() {
                thread::sleep(Duration::from_millis(20));
            }
            return Ok(json!({"stopReason": "cancelled"}));
        }
        self.say(&format!("You said: {}", words.join(" ")))?;
        for number in 0..self.number("flood").unwrap_or_default() {
            self.say(&format!(" {number}"))?;
        }
        Ok(json!({"stopReason": "end_turn"}))
    }

    /// Sends a request to the client and waits for the response.
    fn ask(&mut self, method: &str, mut params: Value) -> Result<Value, Stop> {
        params["sessionId"] = self.session.clone();
        let id = json!(format!("ask-{method}"));
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let message = next()?;
            if message["id"] == id {
                return Ok(message["result"].clone());
            }
        }
    }

    fn ask_form(&mut self) -> Result<(), Stop> {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Name of the release", "minLength": 2},
                "notes": {"type": "string", "description": "What changed, in a sentence."},
                "copies": {"type": "integer", "title": "Copies", "minimum": 1, "default": 1},
                "signed": {"type": "boolean", "title": "Signed", "default": true},
                "channel": {"type": "string", "title": "Channel", "oneOf": [
                    {"const": "stable", "title": "Stable"},
                    {"const": "beta", "title": "Beta", "description": "for those who try"},
                ]},
                "targets": {"type": "array", "title": "Targets", "minItems": 1,
                    "items": {"type": "string", "enum": ["linux", "macos", "windows"]},
                    "default": ["linux"]},
            },
            "required": ["name", "channel", "targets"],
        });
        let params = json!({
            "mode": "form",
            "message": "The release needs a few words before it can be made.",
            "requestedSchema": schema,
        });
        let answer = self.ask("elicitation/create", params)?;
        self.say(&format!("The form: {answer}. "))
    }

    fn run_in_terminal(&mut self, command: &str) -> Result<(), Stop> {
        let created = self.ask("terminal/create", json!({"command": command}))?;
        let terminal = json!({"terminalId": created["terminalId"]});
        if let Some(pause) = self.number("late-call") {
            thread::sleep(Duration::from_millis(pause as u64));
            let content = json!([{"type": "terminal", "terminalId": created["terminalId"]}]);
            self.update(json!({"sessionUpdate": "tool_call", "toolCallId": "late", "title": command, "kind": "execute", "status": "in_progress", "content": content}))?;
        }
        let exit = self.ask("terminal/wait_for_exit", terminal.clone())?;
        if self.has("late-call") {
            self.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "late", "status": "completed"}))?;
        }
        self.ask("terminal/release", terminal)?;
        self.say(&format!("The terminal: {exit}. "))
    }
}

/// Returns true if a message corresponds to the recorded one.
fn is_like(message: &Value, recorded: &Value) -> bool {
    match recorded.get("method") {
        Some(method) => message.get("method") == Some(method),
        None => message.get("method").is_none() && message.get("id") == recorded.get("id"),
    }
}

fn print(line: &str) -> Result<(), Stop> {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    written.map_err(|_| Stop::Input)
}

/// Returns the next message of the client.
fn next() -> Result<Value, Stop> {
    loop {
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => return Err(Stop::Input),
            Ok(_) => {}
        }
        if let Ok(message) = serde_json::from_str(&line) {
            return Ok(message);
        }
    }
}
